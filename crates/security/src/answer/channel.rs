//! One channel of text on its way back: examined in segments, then restored.
//!
//! Where nothing can be withheld, text passes at once and is examined as its lines become complete.
//! Where something can, it waits for the verdict on its segment. A whole answer goes the same way as
//! a stream, as one piece.

use std::ops::Range;
use std::sync::Arc;

use sluice_core::json::JsonText;

use super::examine::{Carry, Examiner, Treatment};
use super::report::AnswerReport;
use super::window::Window;
use crate::flag::Flag;
use crate::kind::Kind;
use crate::map::RedactionMap;
use crate::restore::{Restorer, Surrounding};

/// One channel of text of one answer.
pub(super) struct Channel {
    outlet: Outlet,
    window: Window,
    carry: Carry,
    surrounding: Surrounding,
    waits: bool,
    /// Nothing can be withheld and nothing restored: texts are only looked at.
    passes: bool,
    /// The first half of a surrogate pair that was cut by the end of a literal: `\ud83d`.
    half_pair: String,
}

/// Where text leaves a channel.
struct Outlet {
    restorer: Restorer,
    /// Whether something was withheld.
    withheld: bool,
    /// Whether what the restorer holds began where nothing is restored.
    began_forbidden: bool,
}

impl Channel {
    pub(super) fn new(map: &Arc<RedactionMap>, surrounding: Surrounding, waits: bool) -> Self {
        let restorer = Restorer::new(Arc::clone(map), surrounding);
        Self {
            outlet: Outlet { restorer, withheld: false, began_forbidden: false },
            window: Window::new(surrounding, waits),
            carry: Carry::new(surrounding),
            surrounding,
            waits,
            passes: !waits && map.is_empty(),
            half_pair: String::new(),
        }
    }

    /// The channel of an answer's text.
    pub(super) fn of_content(map: &Arc<RedactionMap>, waits: bool) -> Self {
        Self { carry: Carry::of_content(), ..Self::new(map, Surrounding::Text, waits) }
    }

    /// Whether something of the channel was withheld.
    pub(super) fn has_withheld(&self) -> bool {
        self.outlet.withheld
    }

    /// Whether something of the channel is held back.
    pub(super) fn holds(&self) -> bool {
        self.outlet.restorer.held() > 0 || self.waits && self.window.pending() > 0
    }

    /// A text that comes as a whole: what of it may go on. It is given back as it came where nothing
    /// changes.
    pub(super) fn whole(&mut self, text: JsonText, examiner: &mut Examiner) -> Option<JsonText> {
        self.pass(text, true, examiner)
    }

    /// The next piece: what of it, and of what was held back, may go on. A piece in which nothing
    /// changes is given back as it came.
    pub(super) fn step(&mut self, piece: JsonText, examiner: &mut Examiner) -> Option<JsonText> {
        let piece = if self.passes { piece } else { self.whole_pairs(piece) };
        self.pass(piece, false, examiner)
    }

    fn pass(&mut self, piece: JsonText, over: bool, examiner: &mut Examiner) -> Option<JsonText> {
        let text = piece.decode();
        let mut out = String::new();
        self.feed(&text, over, examiner, &mut out);
        if self.passes || out == *text {
            drop(text);
            return Some(piece);
        }
        (!out.is_empty()).then(|| JsonText::plain(out))
    }

    /// What was held back: the channel is at its end.
    pub(super) fn finish(&mut self, examiner: &mut Examiner) -> Option<JsonText> {
        let mut out = String::new();
        if !self.half_pair.is_empty() {
            self.half_pair.clear();
            self.feed("\u{FFFD}", false, examiner, &mut out);
        }
        self.feed("", true, examiner, &mut out);
        (!out.is_empty()).then(|| JsonText::plain(out))
    }

    /// Ends the segment: what follows in other channels comes after it. What may become a
    /// placeholder is still held back.
    pub(super) fn end_segment(&mut self, examiner: &mut Examiner) -> Option<JsonText> {
        let mut out = String::new();
        if self.waits {
            self.examine(true, examiner, &mut out);
        }
        (!out.is_empty()).then(|| JsonText::plain(out))
    }

    /// What may have become a placeholder: the answer is ended.
    pub(super) fn flush(&mut self, examiner: &mut Examiner) -> Option<JsonText> {
        let mut out = String::new();
        examiner.conclude(&mut self.carry);
        self.outlet.finish(examiner, &mut out);
        (!out.is_empty()).then(|| JsonText::plain(out))
    }

    fn feed(&mut self, text: &str, over: bool, examiner: &mut Examiner, out: &mut String) {
        if !self.waits && !self.passes {
            self.outlet.restore(text, true, examiner, out);
        }
        self.window.push(text);
        self.examine(over, examiner, out);
        if over {
            examiner.conclude(&mut self.carry);
            self.outlet.finish(examiner, out);
        }
    }

    /// Examines all segments that are complete. Those that waited are written to `out`.
    fn examine(&mut self, over: bool, examiner: &mut Examiner, out: &mut String) {
        while !examiner.is_stopped() {
            let surrounding = self.surrounding;
            let end = self.window.segment_end(over, |text| examiner.need(text, surrounding));
            let Some(end) = end else { return };
            let (text, from) = self.window.examined(end);
            let treatments = examiner.examine(text, from, &mut self.carry);
            if self.waits {
                self.outlet.write(self.window.segment(end), &treatments, examiner, out);
            }
            self.window.advance(end);
        }
    }

    /// `piece` with the half of a surrogate pair in front of it that the last piece ended with, and
    /// without the half that it ends with. Clients join literals; texts cannot hold halves.
    fn whole_pairs(&mut self, piece: JsonText) -> JsonText {
        let JsonText::Literal(literal) = &piece else {
            if self.half_pair.is_empty() {
                return piece;
            }
            self.half_pair.clear();
            return JsonText::plain(format!("\u{FFFD}{}", piece.decode()));
        };
        let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or("");
        let half = first_half_at_end(inner);
        if half == 0 && self.half_pair.is_empty() || inner.is_empty() {
            return piece;
        }
        let (head, tail) = inner.split_at(inner.len() - half);
        let whole = format!("\"{}{head}\"", self.half_pair);
        self.half_pair.clear();
        self.half_pair.push_str(tail);
        JsonText::trusted_literal(whole.into())
    }
}

impl Outlet {
    /// Writes a segment as it was decided.
    fn write(
        &mut self,
        segment: &str,
        treatments: &[(Range<usize>, Treatment)],
        examiner: &mut Examiner,
        out: &mut String,
    ) {
        let mut written = 0;
        for (range, treatment) in treatments {
            self.restore(&segment[written..range.start], true, examiner, out);
            written = range.end;
            match treatment {
                Treatment::LeavePlaceholders => {
                    self.restore(&segment[range.clone()], false, examiner, out);
                }
                Treatment::Withhold(mark) => {
                    self.withheld = true;
                    self.finish(examiner, out);
                    out.push_str(mark);
                }
                Treatment::Stop => {
                    self.withheld = true;
                    self.finish(examiner, out);
                    examiner.stop();
                    return;
                }
            }
        }
        self.restore(&segment[written..], true, examiner, out);
    }

    /// Takes `text` through the restorer. A placeholder that began where none is restored stays as
    /// it is wherever it ends: a model may break it over a line to get it out of its link.
    fn restore(&mut self, text: &str, allowed: bool, examiner: &mut Examiner, out: &mut String) {
        let report = &mut examiner.report;
        let mut began_forbidden = self.began_forbidden;
        self.restorer.push_if(text, out, &mut |_, redaction| {
            let allowed = allowed && !std::mem::take(&mut began_forbidden);
            account(report, redaction.kind, allowed);
            allowed
        });
        self.began_forbidden = self.restorer.held() > 0 && (began_forbidden || !allowed);
    }

    fn finish(&mut self, examiner: &mut Examiner, out: &mut String) {
        let report = &mut examiner.report;
        let mut began_forbidden = std::mem::take(&mut self.began_forbidden);
        self.restorer.finish_if(out, &mut |_, redaction| {
            let allowed = !std::mem::take(&mut began_forbidden);
            account(report, redaction.kind, allowed);
            allowed
        });
    }
}

fn account(report: &mut AnswerReport, kind: Kind, allowed: bool) {
    if allowed {
        report.restored(kind);
    } else {
        report.withheld(kind);
        report.flag(Flag::Exfiltration);
    }
}

/// Length of the escape of a pair's first half that the inside of a literal ends with, or 0.
fn first_half_at_end(inner: &str) -> usize {
    let Some(start) = inner.len().checked_sub(6) else { return 0 };
    let bytes = inner.as_bytes();
    let [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _] = bytes[start..]
    else {
        return 0;
    };
    let backslashes = bytes[..=start].iter().rev().take_while(|byte| **byte == b'\\').count();
    if backslashes % 2 == 1 { 6 } else { 0 }
}
