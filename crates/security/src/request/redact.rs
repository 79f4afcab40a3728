//! Replaces what was found in a request.
//!
//! First it is settled what is to be replaced, stretch by stretch: what was found in it, and the
//! same values wherever else they stand. That is remembered, so that a further turn costs its own
//! text and the number of its findings. Only then, when all words are known that no placeholder may
//! be, placeholders are made.

use std::collections::BTreeMap;
use std::ops::Range;

use bytestring::ByteString;
use sluice_core::filtering::FilterAction;
use sluice_core::json::RawJson;
use sluice_core::source::{EditedMessage, EditedMessages, Source, SourceMember};

use super::compose::{Composer, Form, Unit};
use super::edits::{Edit, Replacement, apply, apply_moving, edits, leave_none_empty};
use super::groups::Group;
use super::known::{KnownBlock, Plain, Spot, in_units};
use super::report::Report;
use super::values::{Read, Search, Values};
use super::{Failure, Filter, Filtered, Found, Subject, offset_in};
use crate::finding::Finding;
use crate::kind::Kind;
use crate::map::{RedactionMap, TakenWords};
use crate::placeholder::PlaceholderKey;
use crate::restore::spelling::{Stood, is_usual_json};

/// The request with everything replaced that was found, wherever it stands. Fails where that cannot
/// be looked for.
pub(super) fn redact<'a>(
    filter: &Filter,
    subject: &Subject<'_>,
    source: &Source,
    read: &Read<'a, '_>,
    composer: &mut Composer<'a>,
    mut report: Report,
) -> Result<Filtered, Failure> {
    let values = read.values(composer);
    let taken = TakenWords::new(filter.surrogates);
    let mut search = Search::new(&values, composer, taken);
    let recalled = read.places(&mut search)?;
    let taken = search.taken;
    let key = PlaceholderKey::new(&filter.secret, subject.account);
    let mut redaction = Redaction {
        values: &values,
        of_values: vec![NONE; values.len()],
        key: &key,
        taken: &taken,
        map: RedactionMap::new(filter.surrogates),
        found: Vec::new(),
        left_to_read: MOST_READ,
        changes: BTreeMap::new(),
        messages: Some(EditedMessages::default()),
    };
    redaction.map.reserve(values.len());
    let count = read.known.iter().zip(&recalled).map(|(known, r)| r.spots(known).len()).sum();
    redaction.found.reserve(count);
    let groups = read.groups.iter().zip(&read.known).zip(values.of_groups(&read.known));
    for (((group, known), numbers), recalled) in groups.zip(&recalled) {
        // The values are known by their numbers where all of them are replaced where they were found.
        let mut numbers = if recalled.spots.is_none() { numbers } else { &[] };
        // A message with many parts is taken apart once.
        let mut units: Option<(usize, Vec<Unit<'a>>)> = None;
        for spots in in_units(recalled.spots(known)) {
            let numbers = numbers.split_off(..spots.len()).unwrap_or_default();
            let Some(first) = spots.first() else { continue };
            let Some(block) = known.blocks.get(first.block()) else { continue };
            let at = offset_in(value_of(source, group.member), group.text) + block.range.start;
            redaction.touch(group, first.block(), at..at + block.range.len());
            if !redaction.plain(group, block, at, spots, numbers) {
                let of_block = match &mut units {
                    Some((block, units)) if *block == first.block() => units,
                    units => {
                        let of_block = group.units(first.block(), block.range.clone());
                        &mut units.insert((first.block(), of_block)).1
                    }
                };
                if let Some(unit) = of_block.get(first.unit()) {
                    redaction.composed(source, group, unit, spots, composer);
                }
            }
        }
    }
    let Redaction { map, mut found, changes, mut messages, .. } = redaction;
    let mut members = source.members.clone();
    for (i, changes) in changes {
        let Some(member) = members.get_mut(i) else { continue };
        if changes.name.is_some() {
            messages = None;
        }
        let messages = messages.as_mut().filter(|messages| messages.member == i);
        changes.apply(member, &map, messages);
    }
    let place = |found: &Found| (found.member, found.at);
    if !found.is_sorted_by_key(place) {
        found.sort_by_key(place);
    }
    report.redactions = map.counts();
    report.action = FilterAction::Redact;
    Ok(Filtered { members: Some(members), messages, map, found, report })
}

fn value_of(source: &Source, member: usize) -> &str {
    source.members.get(member).map_or("", |member| member.value.as_str())
}

/// Makes placeholders, and the edits that put them into the request.
struct Redaction<'r> {
    values: &'r Values,
    /// For each of the values, the number of its redaction.
    of_values: Vec<u32>,
    key: &'r PlaceholderKey,
    taken: &'r TakenWords,
    map: RedactionMap,
    found: Vec<Found>,
    /// Around how many more places may be read.
    left_to_read: usize,
    /// What changes in which member.
    changes: BTreeMap<usize, Changes>,
    /// The messages among what changes; `None` where something else does, too.
    messages: Option<EditedMessages>,
}

/// Around how many places of a request is read how values are written there, and around how many of
/// each value: some kilobytes each, where a text of nothing but findings has one every few bytes.
const MOST_READ: usize = 1024;
const MOST_READ_OF_VALUE: usize = 16;

/// The number of no redaction: this value has none yet.
const NONE: u32 = u32::MAX;

/// What changes in a member.
#[derive(Default)]
struct Changes {
    name: Option<String>,
    value: Vec<Change>,
}

/// A stretch of a member's value that becomes another one.
struct Change {
    range: Range<usize>,
    with: With,
}

enum With {
    /// The placeholder of a redaction.
    Placeholder(usize),
    /// Something around or within one, or a part of one.
    Text(Box<str>),
}

impl Redaction<'_> {
    /// Notes that a block changes, which stands at `range` of its member.
    fn touch(&mut self, group: &Group<'_>, block: usize, range: Range<usize>) {
        let Some(index) = group.message(block) else {
            self.messages = None;
            return;
        };
        if let Some(edited) = &mut self.messages {
            edited.member = group.member;
            // The units of a block come one after the other.
            if edited.messages.last().is_none_or(|last| last.index != index) {
                edited.messages.push(EditedMessage { index, range });
            }
        }
    }

    /// The number of the redaction that stands for a value.
    fn of_text(&mut self, kind: Kind, value: &str) -> usize {
        match self.values.number(value) {
            Some(number) => self.of_value(kind, number),
            None => self.map.number(self.key, kind, value, |word| self.taken.contains(word)),
        }
    }

    /// The same for one of the values that were found, by its number among them.
    fn of_value(&mut self, kind: Kind, number: usize) -> usize {
        let value = self.values.text(number);
        let Some(known) = self.of_values.get_mut(number) else { return 0 };
        if *known != NONE {
            self.map.count(*known as usize);
            return *known as usize;
        }
        let redaction = self.map.add(self.key, kind, value, |word| self.taken.contains(word));
        *known = redaction as u32;
        redaction
    }

    /// Replaces what was found in a unit, if all of it stands in the request's bytes in one piece.
    /// The block begins at `at` of its member; `numbers` are those of the values, if they are known.
    fn plain(
        &mut self,
        group: &Group<'_>,
        block: &KnownBlock,
        at: usize,
        spots: &[Spot],
        numbers: &[u32],
    ) -> bool {
        if spots.iter().any(|spot| spot.plain.is_none()) {
            return false;
        }
        let text = group.text.get(block.range.clone()).unwrap_or_default();
        let mut changes = std::mem::take(&mut self.changes.entry(group.member).or_default().value);
        changes.reserve(spots.len());
        for (i, spot) in spots.iter().enumerate() {
            let Some(plain) = spot.plain else { continue };
            let Finding { kind, rule, .. } = spot.finding();
            let redaction = match numbers.get(i) {
                Some(number) => self.of_value(kind, *number as usize),
                None => self.of_text(kind, &plain.value(text)),
            };
            self.note_surroundings(text, plain, redaction);
            let Range { start, end } = plain.range();
            let range = at + start..at + end;
            self.found.push(Found { member: group.member, at: range.start, kind, rule, redaction });
            changes.push(Change { range, with: With::Placeholder(redaction) });
        }
        self.changes.entry(group.member).or_default().value = changes;
        true
    }

    /// Notes how a value stands in a block, so that it comes back in the same way.
    fn note_surroundings(&mut self, block: &str, plain: Plain, redaction: usize) {
        let Some(crate::map::Redaction { value, count, .. }) = self.map.redaction(redaction) else {
            return;
        };
        if count > MOST_READ_OF_VALUE {
            return;
        }
        let before = block.get(..plain.range().start).unwrap_or_default();
        let stood = Stood::behind(before, value, plain.decoded(), &mut self.left_to_read);
        let Some(stood) = stood else {
            // What was noted of the value already says more.
            if self.map.stood(redaction) == Stood::default() {
                self.map.note(redaction, Stood::ANYWHERE);
            }
            return;
        };
        // The first escapes are the request's own.
        let spelling = (plain.decoded() > 1)
            .then(|| plain.read(block, plain.decoded() - 1))
            .filter(|spelling| !is_usual_json(spelling, value));
        self.map.note(redaction, stood);
        if let Some(spelling) = spelling {
            self.map.note_spelling(redaction, &spelling);
        }
    }

    /// The same for a unit whose text has to be composed for it: something in it is encoded, a
    /// number, or in several pieces.
    fn composed<'a>(
        &mut self,
        source: &Source,
        group: &Group<'a>,
        unit: &Unit<'a>,
        spots: &[Spot],
        composer: &mut Composer<'a>,
    ) {
        let (text, layout) = composer.layout(unit);
        let mut replacements: Vec<(Finding, usize)> = Vec::with_capacity(spots.len());
        for finding in spots.iter().map(Spot::finding) {
            let value = text.get(finding.range()).unwrap_or_default();
            replacements.push((finding, self.of_text(finding.kind, value)));
        }
        let with = |(finding, number): &(Finding, usize)| (finding.range(), self.map.word(*number));
        let with: Vec<Replacement<'_>> = (replacements.iter().map(with))
            .map(|(range, with)| Replacement { range, with })
            .collect();
        let mut of_pieces: Vec<Vec<Edit>> = Vec::with_capacity(unit.pieces.len());
        for (piece, items) in unit.pieces.iter().zip(&layout) {
            let mut piece_edits = Vec::new();
            edits(items, piece.text, &with, 0, &mut piece_edits);
            of_pieces.push(piece_edits);
        }
        if unit.joined {
            let texts: Vec<&str> = unit.pieces.iter().map(|piece| piece.text).collect();
            leave_none_empty(&texts, &with, &mut of_pieces);
        }
        self.change(value_of(source, group.member), group.member, unit, of_pieces, &replacements);
    }

    /// Notes the edits of a unit's pieces.
    fn change(
        &mut self,
        value: &str,
        member: usize,
        unit: &Unit<'_>,
        of_pieces: Vec<Vec<Edit>>,
        replacements: &[(Finding, usize)],
    ) {
        let changes = self.changes.entry(member).or_default();
        for (piece, piece_edits) in unit.pieces.iter().zip(of_pieces) {
            if piece.form == Form::Plain {
                note(&piece_edits, 0, member, replacements, &mut self.found);
                if !piece_edits.is_empty() {
                    changes.name = Some(apply(piece.text, &piece_edits));
                }
                continue;
            }
            let offset = offset_in(value, piece.text);
            note(&piece_edits, offset, member, replacements, &mut self.found);
            changes.value.extend(piece_edits.into_iter().map(|Edit { range, with, .. }| Change {
                range: range.start + offset..range.end + offset,
                with: With::Text(with.into()),
            }));
        }
    }
}

impl Changes {
    /// Changes `member`. The places of its messages become those that they have then.
    fn apply(
        mut self,
        member: &mut SourceMember,
        map: &RedactionMap,
        messages: Option<&mut EditedMessages>,
    ) {
        if let Some(name) = self.name {
            member.name = ByteString::from(name);
        }
        if !self.value.is_empty() {
            // Units of a block interleave: identifiers are read apart from what is around them.
            if !self.value.is_sorted_by_key(|change| change.range.start) {
                self.value.sort_by_key(|change| change.range.start);
            }
            let messages = messages.map_or(&mut [][..], |edited| &mut edited.messages);
            let ranges = messages.iter().map(|message| &message.range);
            let mut places: Vec<usize> =
                ranges.flat_map(|range| [range.start, range.end]).collect();
            let edits = self.value.iter().map(|Change { range, with }| match with {
                With::Placeholder(number) => (range.clone(), map.word(*number)),
                With::Text(text) => (range.clone(), &**text),
            });
            let value = apply_moving(member.value.as_str(), edits, &mut places);
            let (pairs, _) = places.as_chunks();
            for (message, [start, end]) in messages.iter_mut().zip(pairs) {
                message.range = *start..*end;
            }
            member.value = RawJson::trusted(ByteString::from(value));
        }
    }
}

/// Notes what was replaced where.
fn note(
    edits: &[Edit],
    offset: usize,
    member: usize,
    replacements: &[(Finding, usize)],
    found: &mut Vec<Found>,
) {
    for edit in edits {
        for (finding, redaction) in replacements.get(edit.begins.clone()).unwrap_or_default() {
            let Finding { kind, rule, .. } = *finding;
            let at = offset + edit.range.start;
            found.push(Found { member, at, kind, rule, redaction: *redaction });
        }
    }
}
