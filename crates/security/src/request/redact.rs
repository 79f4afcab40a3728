//! Replaces what was found in a request.
//!
//! First it is settled what is to be replaced, stretch by stretch: what was found in it, and the
//! same values wherever else they stand. That is remembered, so that a further turn costs its own
//! text and the number of its findings. Only then, when all words are known that no placeholder may
//! be, placeholders are made.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use bytestring::ByteString;
use sluice_core::filtering::FilterAction;
use sluice_core::json::RawJson;
use sluice_core::source::{EditedMessage, EditedMessages, Source, SourceMember};

use super::compose::{Composer, Form, Unit};
use super::edits::{Edit, Replacement, apply, apply_moving, clip, edits, leave_none_empty};
use super::groups::{Group, Stretch};
use super::known::{Known, KnownBlock, Placed, Spot};
use super::memory::{Keys, Memory, Recalled};
use super::report::Report;
use super::spots::spots;
use super::spread::Spread;
use super::{Failure, Filter, Filtered, Found, Subject, offset_in};
use crate::finding::{Finding, settle};
use crate::kind::Kind;
use crate::map::{RedactionMap, TakenWords};
use crate::placeholder::PlaceholderKey;

/// What was read of a request.
pub(super) struct Read<'a, 'm> {
    pub(super) groups: Vec<Group<'a>>,
    pub(super) stretches: Vec<Stretch<'a>>,
    /// What is known about each group.
    pub(super) known: Vec<Arc<Known>>,
    pub(super) memory: Option<(&'m Memory, &'m Keys)>,
}

/// The request with everything replaced that was found, wherever it stands. Fails where that cannot
/// be looked for.
pub(super) fn redact(
    filter: &Filter,
    subject: &Subject<'_>,
    source: &Source,
    read: &Read<'_, '_>,
    mut report: Report,
) -> Result<Filtered, Failure> {
    let mut composer = Composer::default();
    let values = read.values(&mut composer);
    let mut search = Search {
        values: &values,
        spread: None,
        composer: &mut composer,
        taken: TakenWords::new(filter.surrogates),
    };
    let recalled = read.places(&mut search)?;
    let taken = search.taken;
    let key = PlaceholderKey::new(&filter.secret, subject.account);
    let mut redaction = Redaction {
        key: &key,
        taken: &taken,
        map: RedactionMap::new(filter.surrogates),
        found: Vec::new(),
        changes: BTreeMap::new(),
        messages: Some(EditedMessages::default()),
    };
    for ((group, known), recalled) in read.groups.iter().zip(&read.known).zip(&recalled) {
        let of_units =
            recalled.placed.chunk_by(|a, b| (a.block, a.spot.unit) == (b.block, b.spot.unit));
        // A message with many parts is taken apart once.
        let mut units: Option<(usize, Vec<Unit<'_>>)> = None;
        for placed in of_units {
            let Some(first) = placed.first() else { continue };
            let Some(block) = known.blocks.get(first.block) else { continue };
            let at = offset_in(value_of(source, group.member), group.text) + block.range.start;
            redaction.touch(group, first.block, at..at + block.range.len());
            if !redaction.plain(group, block, at, placed) {
                let of_block = match &mut units {
                    Some((block, units)) if *block == first.block => units,
                    units => {
                        let of_block = group.units(first.block, block.range.clone());
                        &mut units.insert((first.block, of_block)).1
                    }
                };
                if let Some(unit) = of_block.get(first.spot.unit) {
                    redaction.composed(source, group, unit, placed, &mut composer);
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
        changes.apply(member, messages.as_mut().filter(|messages| messages.member == i));
    }
    found.sort_by_key(|found| (found.member, found.at));
    report.redactions = map.counts();
    report.action = FilterAction::Redact;
    Ok(Filtered { members: Some(members), messages, map, found, report })
}

impl<'a> Read<'a, '_> {
    /// The values that were found, in the request's order, each with the kind that it had first.
    fn values(&self, composer: &mut Composer) -> Vec<(Cow<'a, str>, Kind)> {
        let mut values = Vec::new();
        let mut seen: HashSet<Cow<'a, str>> = HashSet::new();
        let mut add = |value: Cow<'a, str>, kind| {
            if seen.insert(value.clone()) {
                values.push((value, kind));
            }
        };
        for (group, known) in self.groups.iter().zip(&self.known) {
            // A message with many parts is taken apart once.
            let mut taken: Option<(usize, Vec<Unit<'a>>)> = None;
            for of_unit in in_units(&known.findings) {
                let Some(first) = of_unit.first() else { continue };
                let Some(block) = known.blocks.get(first.block) else { continue };
                let text: &'a str = group.text.get(block.range.clone()).unwrap_or_default();
                if of_unit.iter().all(|placed| placed.spot.plain.is_some()) {
                    for Spot { finding, plain, .. } in of_unit.iter().map(|placed| &placed.spot) {
                        let value = plain.as_ref().map(|plain| plain.value(text));
                        add(value.unwrap_or_default(), finding.kind);
                    }
                    continue;
                }
                let units = match &mut taken {
                    Some((block, units)) if *block == first.block => units,
                    taken => {
                        let units = group.units(first.block, block.range.clone());
                        &mut taken.insert((first.block, units)).1
                    }
                };
                let Some(unit) = units.get(first.spot.unit) else { continue };
                let text = composer.compose(unit).text;
                for Spot { finding, .. } in of_unit.iter().map(|placed| &placed.spot) {
                    let value = text.get(finding.range()).unwrap_or_default();
                    add(Cow::Owned(value.to_owned()), finding.kind);
                }
            }
        }
        values
    }

    /// Where in each group something is replaced.
    fn places(&self, search: &mut Search<'_>) -> Result<Vec<Arc<Recalled>>, Failure> {
        let memory = self.memory.map(|(memory, keys)| (memory, keys.of_values(search.values)));
        let mut places = Vec::with_capacity(self.groups.len());
        for (group, known) in self.groups.iter().zip(&self.known) {
            let recalled = memory
                .as_ref()
                .zip(group.key)
                .and_then(|((memory, keys), key)| memory.spread(keys.of_stretch(key)));
            if let Some(recalled) = recalled.as_ref().filter(|recalled| recalled.anew.is_empty()) {
                places.push(Arc::clone(recalled));
                continue;
            }
            places.push(Arc::new(search.group(group, known, recalled.as_deref())?));
        }
        if let Some((memory, keys)) = memory {
            for stretch in self.stretches.iter().filter(|s| s.is_lasting(&self.known)) {
                let recalled = self.joined(stretch, &places);
                memory.remember_spread(keys.of_stretch(stretch.key), recalled);
            }
        }
        Ok(places)
    }

    /// What a stretch is made of.
    fn joined(&self, stretch: &Stretch<'_>, places: &[Arc<Recalled>]) -> Recalled {
        let mut joined = Recalled::default();
        for (i, ahead, blocks) in stretch.groups(&self.known) {
            let of_group = &places[i];
            let is_anew = |block: usize| of_group.anew.binary_search(&block).is_ok();
            let placed = of_group.placed.iter().filter(|p| p.block < blocks && !is_anew(p.block));
            joined.placed.extend(
                placed.map(|placed| Placed {
                    block: placed.block + ahead,
                    spot: placed.spot.clone(),
                }),
            );
            let anew = of_group.anew.iter().filter(|block| **block < blocks);
            joined.anew.extend(anew.map(|block| block + ahead));
        }
        joined
    }
}

/// What was found, unit by unit.
fn in_units(placed: &[Placed]) -> impl Iterator<Item = &[Placed]> {
    placed.chunk_by(|a, b| (a.block, a.spot.unit) == (b.block, b.spot.unit))
}

/// Whether one of `findings`, which are in order, is of the same stretch and outdoes `other`.
fn is_among(findings: &[Finding], other: &Finding) -> bool {
    let place = findings.binary_search_by_key(&other.start, |finding| finding.start);
    place.ok().and_then(|i| findings.get(i)).is_some_and(|finding| {
        finding.end == other.end && (finding.kind.is_secret() || !other.kind.is_secret())
    })
}

fn value_of(source: &Source, member: usize) -> &str {
    source.members.get(member).map_or("", |member| member.value.as_str())
}

/// Looks for values in texts.
struct Search<'s> {
    values: &'s [(Cow<'s, str>, Kind)],
    /// What looks for them, made when it is needed first.
    spread: Option<Option<Spread>>,
    composer: &'s mut Composer,
    /// The placeholders that stand in the request already.
    taken: TakenWords,
}

impl Search<'_> {
    /// Looks through the blocks of a group; where most is remembered, through the others only.
    fn group(
        &mut self,
        group: &Group<'_>,
        known: &Known,
        recalled: Option<&Recalled>,
    ) -> Result<Recalled, Failure> {
        let mut places = Recalled::default();
        let mut remembered =
            recalled.map(|recalled| recalled.placed.as_slice()).unwrap_or_default();
        for (i, block) in known.blocks.iter().enumerate() {
            if recalled.is_some_and(|recalled| recalled.anew.binary_search(&i).is_err()) {
                let (of_block, rest) =
                    remembered.split_at(remembered.partition_point(|placed| placed.block <= i));
                places.placed.extend_from_slice(of_block);
                remembered = rest;
            } else if self.block(i, group, block, known.found_in(i), &mut places.placed)? {
                places.anew.push(i);
            }
        }
        Ok(places)
    }

    /// Looks through a block for what was found in it, and for what was found elsewhere. Returns
    /// whether something in it looks like a placeholder.
    fn block(
        &mut self,
        i: usize,
        group: &Group<'_>,
        block: &KnownBlock,
        found: &[Placed],
        placed: &mut Vec<Placed>,
    ) -> Result<bool, Failure> {
        let values = self.values.iter().map(|(value, kind)| (&**value, *kind));
        let spread = match &mut self.spread {
            Some(spread) => spread,
            spread => spread.insert(Spread::new(values)?),
        };
        let mut has_placeholders = false;
        for (n, unit) in group.units(i, block.range.clone()).into_iter().enumerate() {
            let from = found.partition_point(|placed| placed.spot.unit < n);
            let to = found.partition_point(|placed| placed.spot.unit <= n);
            let own = found.get(from..to).unwrap_or_default();
            let mut findings: Vec<Finding> = own.iter().map(|placed| placed.spot.finding).collect();
            let text = self.composer.compose(&unit).text;
            has_placeholders |= self.taken.collect(text);
            if let Some(spread) = spread {
                let mut others = Vec::new();
                spread.find(text, &mut others);
                others.retain(|other| !is_among(&findings, other));
                findings.append(&mut others);
            }
            if findings.len() == own.len() {
                let again = own.iter().map(|placed| placed.spot.clone());
                placed.extend(again.map(|spot| Placed { block: i, spot }));
                continue;
            }
            settle(&mut findings);
            let (text, layout) = self.composer.layout(&unit);
            let findings = clip(&findings, &layout, text, unit.joined);
            let bytes = group.text.get(block.range.clone()).unwrap_or_default();
            let spots = spots(bytes, n, &unit, text, &layout, &findings);
            placed.extend(spots.into_iter().map(|spot| Placed { block: i, spot }));
        }
        Ok(has_placeholders)
    }
}

/// Makes placeholders, and the edits that put them into the request.
struct Redaction<'r> {
    key: &'r PlaceholderKey,
    taken: &'r TakenWords,
    map: RedactionMap,
    found: Vec<Found>,
    /// What changes in which member.
    changes: BTreeMap<usize, Changes>,
    /// The messages among what changes; `None` where something else does, too.
    messages: Option<EditedMessages>,
}

/// What changes in a member.
#[derive(Default)]
struct Changes {
    name: Option<String>,
    value: Vec<Edit>,
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

    fn placeholder(&mut self, finding: &Finding, value: &str) -> String {
        let is_taken = |word: &str| self.taken.contains(word);
        self.map.placeholder(self.key, finding.kind, value, is_taken).to_owned()
    }

    /// Replaces what was found in a unit, if all of it stands in the request's bytes in one piece.
    /// The block begins at `at` of its member.
    fn plain(
        &mut self,
        group: &Group<'_>,
        block: &KnownBlock,
        at: usize,
        placed: &[Placed],
    ) -> bool {
        if placed.iter().any(|placed| placed.spot.plain.is_none()) {
            return false;
        }
        let text = group.text.get(block.range.clone()).unwrap_or_default();
        for Placed { spot: Spot { finding, plain, .. }, .. } in placed {
            let Some(plain) = plain else { continue };
            let with = self.placeholder(finding, &plain.value(text));
            let range = plain.moved(at);
            self.found.push(Found {
                member: group.member,
                at: range.start,
                kind: finding.kind,
                rule: finding.rule,
                placeholder: with.clone(),
            });
            let changes = self.changes.entry(group.member).or_default();
            changes.value.push(Edit { range, with, begins: 0..1 });
        }
        true
    }

    /// The same for a unit whose text has to be composed for it: something in it is encoded, a
    /// number, or in several pieces.
    fn composed(
        &mut self,
        source: &Source,
        group: &Group<'_>,
        unit: &Unit<'_>,
        placed: &[Placed],
        composer: &mut Composer,
    ) {
        let (text, layout) = composer.layout(unit);
        let mut replacements: Vec<(Finding, String)> = Vec::with_capacity(placed.len());
        for Placed { spot: Spot { finding, .. }, .. } in placed {
            let value = text.get(finding.range()).unwrap_or_default();
            replacements.push((*finding, self.placeholder(finding, value)));
        }
        let with: Vec<Replacement<'_>> = replacements
            .iter()
            .map(|(finding, placeholder)| Replacement { range: finding.range(), with: placeholder })
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
        replacements: &[(Finding, String)],
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
            changes.value.extend(piece_edits.into_iter().map(|edit| Edit {
                range: edit.range.start + offset..edit.range.end + offset,
                ..edit
            }));
        }
    }
}

impl Changes {
    /// Changes `member`. The places of its messages become those that they have then.
    fn apply(mut self, member: &mut SourceMember, messages: Option<&mut EditedMessages>) {
        if let Some(name) = self.name {
            member.name = ByteString::from(name);
        }
        if !self.value.is_empty() {
            // Units of a block interleave: identifiers are read apart from what is around them.
            self.value.sort_by_key(|edit| edit.range.start);
            let messages = messages.map_or(&mut [][..], |edited| &mut edited.messages);
            let ranges = messages.iter().map(|message| &message.range);
            let mut places: Vec<usize> =
                ranges.flat_map(|range| [range.start, range.end]).collect();
            let value = apply_moving(member.value.as_str(), &self.value, &mut places);
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
    replacements: &[(Finding, String)],
    found: &mut Vec<Found>,
) {
    for edit in edits {
        for (finding, placeholder) in replacements.get(edit.begins.clone()).unwrap_or_default() {
            found.push(Found {
                member,
                at: offset + edit.range.start,
                kind: finding.kind,
                rule: finding.rule,
                placeholder: placeholder.clone(),
            });
        }
    }
}
