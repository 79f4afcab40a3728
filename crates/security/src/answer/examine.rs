//! Judges segments of text: what in them is new, what would send something out, what does harm.
//!
//! What was noticed goes into the report. What is to be done about it is told to the channel, in
//! places of the text as it was written. At `standard` nothing is done.

use std::ops::Range;
use std::sync::Arc;

use super::GuardParts;
use super::commands::does_harm;
use super::exfiltration::{
    GoesOn, Hosts, Way, end_of_statement, payloads, takes_local_secrets, ways,
};
use super::obeyed;
use super::report::AnswerReport;
use super::request::Request;
use super::secrets::{is_key, is_new};
use super::triggers::{Need, Trigger, need, triggers};
use super::view::View;
use crate::finding::Finding;
use crate::flag::Flag;
use crate::kind::Kind;
use crate::level::{Action, FailureAction, NEW_IN_ANSWERS};
use crate::map::RedactionMap;
use crate::request::guarded;
use crate::restore::{Restorer, Surrounding};
use crate::scan::{Coverage, Scanner};

/// What stands for a secret that was withheld.
const SECRET_WITHHELD: &str = "[withheld by security filter: secret]";
/// What stands for a value that was on its way out.
const PAYLOAD_WITHHELD: &str = "[withheld by security filter: exfiltration]";
/// The same where JSON expects a value.
const SECRET_WITHHELD_QUOTED: &str = "\"[withheld by security filter: secret]\"";

/// What is done with a stretch of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// It passes, its placeholders as they are.
    LeavePlaceholders,
    /// It is replaced by this mark.
    Withhold(&'static str),
    /// The answer ends before it.
    Stop,
}

/// What one segment of a channel tells about the next.
pub(super) struct Carry {
    surrounding: Surrounding,
    /// Whether the segment begins within a JSON string.
    in_string: bool,
    /// A way out that goes on.
    way: Option<GoesOn>,
    /// What is withheld goes on.
    withheld: Option<Withheld>,
    /// The answer's beginning, where it is read for obedience.
    opening: Option<String>,
}

/// How a withheld value goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Withheld {
    /// To the end of the word.
    Word,
    /// To the end of the private key.
    Key,
}

impl Carry {
    pub(super) fn new(surrounding: Surrounding) -> Self {
        Self { surrounding, in_string: false, way: None, withheld: None, opening: None }
    }

    /// The channel is an answer's text, whose beginning tells whether an attack was obeyed.
    pub(super) fn of_content() -> Self {
        Self { opening: Some(String::new()), ..Self::new(Surrounding::Text) }
    }
}

/// Judges the segments of all channels of an answer.
pub(super) struct Examiner {
    scanner: Arc<Scanner>,
    map: Arc<RedactionMap>,
    request: Request,
    action: Action,
    failure: FailureAction,
    /// What the search in earlier segments cost beyond their share.
    debt: usize,
    /// A segment could not be searched as a whole.
    failed: bool,
    /// The answer that is being judged has ended.
    stopped: bool,
    pub(super) report: AnswerReport,
}

impl Examiner {
    pub(super) fn new(parts: GuardParts) -> Self {
        Self {
            scanner: parts.scanner,
            map: parts.map,
            request: Request::new(parts.request, parts.suspect),
            action: parts.rules.answer,
            failure: parts.rules.failure,
            debt: 0,
            failed: false,
            stopped: false,
            report: AnswerReport::default(),
        }
    }

    /// Whether there is text that was not searched for secrets.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether an answer was ended since this was last asked.
    pub(super) fn take_stop(&mut self) -> bool {
        std::mem::take(&mut self.stopped)
    }

    /// How much of the rest of its line has to be seen with `text`.
    pub(super) fn need(&self, text: &str, surrounding: Surrounding) -> Need {
        // In a call, where a value goes may be said behind it.
        let is_sent =
            surrounding == Surrounding::JsonString && self.map.find_in(text).next().is_some();
        if is_sent { Need::Line } else { need(text) }
    }

    /// Judges the segment that begins at `from` in `written`. What is to be done is in order, without
    /// overlaps, in offsets into the segment.
    pub(super) fn examine(
        &mut self,
        written: &str,
        from: usize,
        carry: &mut Carry,
    ) -> Vec<(Range<usize>, Treatment)> {
        let view = View::new(written, carry.surrounding);
        let start = view.viewed(from);
        let text = &*view.text;
        self.aside(|examiner| examiner.read_opening(&text[start..], carry));

        let mut verdict = Verdict::default();
        let triggers: Vec<_> = triggers(text).collect();
        self.secrets(text, start, carry, &mut verdict);
        self.aside(|examiner| examiner.ways_out(&view, start, &triggers, carry, &mut verdict));
        self.aside(|examiner| {
            if !examiner.report.flags.contains(Flag::DangerousCommand)
                && does_harm(text, start, &triggers, &mut examiner.request)
            {
                examiner.report.flag(Flag::DangerousCommand);
            }
        });

        let in_string = carry.in_string;
        carry.in_string ^= view.quotes(start..text.len() + 1).len() % 2 == 1;
        if self.action == Action::Flag {
            return Vec::new();
        }
        let treatments = verdict.treatments(&view, start, in_string, self.action);
        let place = |at: usize| view.written(at).saturating_sub(from);
        treatments.into_iter().map(|(range, t)| (place(range.start)..place(range.end), t)).collect()
    }

    /// Runs a part of the analysis that finds no secret. Where the level closes for secrets alone,
    /// and nothing is kept back anyhow, the answer goes on without a part that fails.
    pub(super) fn aside(&mut self, part: impl FnOnce(&mut Self)) {
        if self.failure == FailureAction::Close || self.action != Action::Flag {
            part(self);
        } else if guarded(|| part(self)).is_err() {
            self.report.flag(Flag::FilterFailed);
        }
    }

    /// New secrets and personal data.
    fn secrets(&mut self, text: &str, from: usize, carry: &mut Carry, verdict: &mut Verdict) {
        let mut begin = from;
        if let Some(withheld) = carry.withheld.take() {
            let length = match withheld {
                Withheld::Word => text[from..].find(ends_word),
                Withheld::Key => end_of_key(&text[from..]),
            };
            let end = length.map_or(text.len(), |length| from + length);
            verdict.continued = Some(from..end);
            if length.is_none() {
                carry.withheld = Some(withheld);
                return;
            }
            begin = end;
        }
        self.private_keys(text, begin, carry, verdict);
        let mut findings = Vec::new();
        let coverage = self.scanner.scan_with(text, NEW_IN_ANSWERS, &mut self.debt, &mut findings);
        // Nobody knows what is in the rest of a flood: the answer ends.
        self.failed |= coverage == Coverage::Partial;
        for finding in findings {
            if finding.end <= begin {
                continue;
            }
            let is_cut = finding.end == text.len() && !text.ends_with(ends_word);
            let is_known = match (finding.kind.is_secret(), self.action) {
                // One that goes on tells where the next segment's text begins.
                (true, Action::Flag) => !is_cut && self.report.flags.contains(Flag::SecretInAnswer),
                (true, _) => false,
                (false, _) => self.report.flags.contains(Flag::PersonalDataInAnswer),
            };
            if is_known {
                verdict.unjudged.push(finding);
                continue;
            }
            if !is_new(text, &finding, &mut self.request, &self.map) {
                continue;
            }
            if !finding.kind.is_secret() {
                self.report.flag(Flag::PersonalDataInAnswer);
                continue;
            }
            self.report.flag(Flag::SecretInAnswer);
            if self.action >= Action::Withhold {
                self.report.withheld(finding.kind);
            }
            verdict.withheld.push(finding.start.max(begin)..finding.end);
            if is_cut && carry.withheld.is_none() {
                carry.withheld = Some(Withheld::Word);
            }
        }
    }

    /// Private keys, whose lines come one after the other.
    fn private_keys(&mut self, text: &str, from: usize, carry: &mut Carry, verdict: &mut Verdict) {
        // More of them than fit are no keys.
        for (found, _) in text[from..].match_indices("-----BEGIN ").take(8) {
            let start = from + found;
            let end = end_of_key(&text[start + 5..]).map(|length| start + 5 + length);
            let key = &text[start..end.unwrap_or(text.len())];
            let first = key.lines().next().unwrap_or_default();
            let body = key
                .split(['\n', '\\'])
                .find(|line| line.len() >= 40 && !line.contains(':') && !line.contains("-----"));
            let body = body.map(|line| line.trim_start_matches(['n', 'r']).trim());
            if !first.contains("PRIVATE KEY")
                || !is_key(key)
                || body.is_some_and(|body| self.request.holds(body))
            {
                continue;
            }
            self.report.flag(Flag::SecretInAnswer);
            if self.action >= Action::Withhold {
                self.report.withheld(Kind::PrivateKey);
            }
            verdict.withheld.push(start..end.unwrap_or(text.len()));
            if end.is_none() {
                carry.withheld = Some(Withheld::Key);
                return;
            }
        }
    }

    /// What would send something to a host that the request did not name.
    fn ways_out(
        &mut self,
        view: &View<'_>,
        from: usize,
        triggers: &[(usize, &'static str, Trigger)],
        carry: &mut Carry,
        verdict: &mut Verdict,
    ) {
        let text = &*view.text;
        let mut hosts = Hosts { request: &mut self.request, map: &self.map };
        let mut ways = ways(view, from, triggers, &mut hosts);
        if let Some(goes_on) = carry.way.take() {
            let rest = &text[from..];
            let end = match goes_on {
                GoesOn::Link => rest.find(|c: char| ends_word(c) || c == '>'),
                GoesOn::Statement => end_of_statement(rest),
                GoesOn::Channel => None,
            };
            let goes_on = end.is_none().then_some(goes_on);
            ways.push(Way { range: from..end.map_or(text.len(), |end| from + end), goes_on });
        }
        carry.way = ways.iter().filter_map(|way| way.goes_on).max();
        for way in ways {
            let payloads = payloads(text, &way.range, &self.map);
            // Also one that is broken over a line and goes on behind the link.
            let reach = (way.range.end + Restorer::MOST_HELD).min(text.len());
            let around = &text[way.range.start..text.floor_char_boundary(reach)];
            let begins_within = |place: &Range<usize>| place.start < way.range.len();
            let has_placeholder = self.map.find_in(around).any(|(place, _)| begins_within(&place));
            let has_secret = verdict
                .withheld
                .iter()
                .any(|secret| secret.start < way.range.end && way.range.start < secret.end)
                || self.sends_unjudged(text, &way.range, &verdict.unjudged);
            let range = way.range.start.max(from)..way.range.end;
            if has_placeholder
                || has_secret
                || !payloads.is_empty()
                || takes_local_secrets(&text[way.range])
            {
                self.report.flag(Flag::Exfiltration);
                if has_placeholder || !payloads.is_empty() {
                    verdict.stops.push(range.start);
                }
            }
            for payload in payloads {
                if payload.end > from {
                    if self.action >= Action::Withhold {
                        self.report.withheld(Kind::Secret);
                    }
                    verdict.payloads.push(payload.start.max(from)..payload.end);
                }
            }
            verdict.ways.push(range);
        }
    }

    /// Whether a secret that was not judged, as the answer is known to have one, is on its way out.
    fn sends_unjudged(&mut self, text: &str, way: &Range<usize>, unjudged: &[Finding]) -> bool {
        // Flagged already: nothing is to be told any more.
        !self.report.flags.contains(Flag::Exfiltration)
            && unjudged.iter().any(|finding| {
                finding.kind.is_secret()
                    && finding.start < way.end
                    && way.start < finding.end
                    && is_new(text, finding, &mut self.request, &self.map)
            })
    }

    /// Reads the answer's beginning for signs that an attack was obeyed.
    fn read_opening(&mut self, text: &str, carry: &mut Carry) {
        if !self.request.is_suspect() {
            return;
        }
        let Some(opening) = &mut carry.opening else { return };
        let room = obeyed::READ.saturating_sub(opening.len());
        opening.push_str(&text[..text.floor_char_boundary(room)]);
        if opening.len() + 4 > obeyed::READ {
            self.conclude(carry);
        }
    }

    /// The channel is at its end, or what was kept of it for the end is enough.
    pub(super) fn conclude(&mut self, carry: &mut Carry) {
        let opening = carry.opening.take().unwrap_or_default();
        if opening.is_empty() {
            return;
        }
        self.aside(|examiner| {
            if obeyed::shows_obedience(&opening, &examiner.request) {
                examiner.report.flag(Flag::InjectionObeyed);
            }
        });
    }
}

/// What was noticed in a segment, in places of the view.
#[derive(Default)]
struct Verdict {
    /// The rest of a value that is withheld already.
    continued: Option<Range<usize>>,
    withheld: Vec<Range<usize>>,
    /// Where nothing is withheld: what would tell no more than is flagged already, by itself.
    unjudged: Vec<Finding>,
    payloads: Vec<Range<usize>>,
    ways: Vec<Range<usize>>,
    stops: Vec<usize>,
}

impl Verdict {
    /// What is to be done, in order and without overlaps.
    fn treatments(
        self,
        view: &View<'_>,
        from: usize,
        in_string: bool,
        action: Action,
    ) -> Vec<(Range<usize>, Treatment)> {
        if action == Action::Block {
            let secrets = self.withheld.iter().chain(&self.payloads).map(|range| range.start);
            let stop = secrets.chain(self.stops).min().map(|at| at.max(from));
            let mut treatments = Self::leave(self.ways, &[], stop.unwrap_or(usize::MAX));
            treatments.extend(stop.map(|at| (at..at, Treatment::Stop)));
            return treatments;
        }
        let mut marks: Vec<(Range<usize>, Treatment)> = Vec::new();
        if let Some(range) = self.continued {
            let rest = withhold(view, range, from, in_string);
            marks.extend(rest.into_iter().map(|(range, _)| (range, Treatment::Withhold(""))));
        }
        for range in merged(self.withheld) {
            marks.extend(withhold(view, range, from, in_string));
        }
        let taken: Vec<_> = marks.iter().map(|(range, _)| range.clone()).collect();
        let is_free = |range: &Range<usize>| {
            taken.iter().all(|mark| mark.end <= range.start || range.end <= mark.start)
        };
        let payloads = merged(self.payloads).into_iter().filter(is_free);
        marks.extend(payloads.map(|range| (range, Treatment::Withhold(PAYLOAD_WITHHELD))));
        marks.sort_by_key(|(range, _)| range.start);
        let taken: Vec<_> = marks.iter().map(|(range, _)| range.clone()).collect();
        marks.extend(Self::leave(self.ways, &taken, usize::MAX));
        marks.sort_by_key(|(range, _)| range.start);
        marks
    }

    /// The ways' stretches between those that are `taken`, up to `end`.
    fn leave(
        ways: Vec<Range<usize>>,
        taken: &[Range<usize>],
        end: usize,
    ) -> Vec<(Range<usize>, Treatment)> {
        let mut left = Vec::new();
        for way in merged(ways) {
            let mut at = way.start;
            let way_end = way.end.min(end);
            for mark in taken.iter().filter(|mark| mark.start < way_end && way.start < mark.end) {
                if at < mark.start {
                    left.push((at..mark.start, Treatment::LeavePlaceholders));
                }
                at = mark.end;
            }
            if at < way_end {
                left.push((at..way_end, Treatment::LeavePlaceholders));
            }
        }
        left
    }
}

/// Marks for a withheld value. In JSON, the quotes around and within it stay, so that what is left is
/// JSON still.
fn withhold(
    view: &View<'_>,
    range: Range<usize>,
    from: usize,
    in_string: bool,
) -> Vec<(Range<usize>, Treatment)> {
    let before = view.quotes(from..range.start).len();
    let mut inside = in_string ^ (before % 2 == 1);
    let quotes = view.quotes(range.clone());
    if quotes.is_empty() && (inside || view.is_plain()) {
        return vec![(range, Treatment::Withhold(SECRET_WITHHELD))];
    }
    if quotes.is_empty() {
        // A number, or a word that is no JSON at all.
        let value = view.text[range.clone()].trim();
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        let mark = if is_number { SECRET_WITHHELD_QUOTED } else { SECRET_WITHHELD };
        return vec![(range, Treatment::Withhold(mark))];
    }
    let mut marks = Vec::new();
    let mut at = range.start;
    for end in quotes.iter().copied().chain([range.end]) {
        if inside && at < end {
            marks.push((at..end, Treatment::Withhold(SECRET_WITHHELD)));
        }
        inside = !inside;
        at = end + 1;
    }
    marks
}

/// `ranges` in order, those that touch as one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Whether a character ends a value.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<')
}

/// The end of the private key that `text` is in the midst of.
fn end_of_key(text: &str) -> Option<usize> {
    let end = text.find("-----END")?;
    let rest = &text[end + 8..];
    Some(end + 8 + rest.find("-----").map_or(rest.len(), |dashes| dashes + 5))
}
