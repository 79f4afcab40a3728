//! Replaces what was found in a request.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bytestring::ByteString;
use sluice_core::filtering::FilterAction;
use sluice_core::json::RawJson;
use sluice_core::source::{Source, SourceMember};

use super::compose::{Composer, Form, Items, Unit};
use super::dissect::{Block, What};
use super::edits::{Edit, Replacement, apply, clip, edits, leave_none_empty};
use super::memory::{Group, Placed};
use super::reader::{Examined, Reader};
use super::report::Report;
use super::spread::Spread;
use super::{Failure, Filtered, Found, offset_in};
use crate::finding::{Finding, settle};
use crate::kind::Kind;
use crate::map::{RedactionMap, TakenWords};
use crate::placeholder::PlaceholderKey;

/// A unit in which something is replaced.
struct Work<'a> {
    /// Index of its block among the request's.
    block: usize,
    /// Index of the unit among the block's.
    n: usize,
    unit: Unit<'a>,
    text: String,
    layout: Vec<Items>,
    findings: Vec<Finding>,
}

/// What was read of a request.
pub(super) struct Read<'a> {
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) groups: Vec<Group>,
    pub(super) examined: Vec<Arc<Examined>>,
}

/// The request with everything replaced that was found, wherever it stands. Fails where that cannot
/// be looked for.
pub(super) fn redact(
    source: &Source,
    read: &Read<'_>,
    reader: &mut Reader<'_>,
    mut report: Report,
) -> Result<Filtered, Failure> {
    let values = values(read, &mut reader.composer);
    let mut collector = Collector {
        spread: Spread::new(values.iter().map(|(value, kind)| (value.as_str(), *kind)))?,
        composer: &mut reader.composer,
        taken: TakenWords::new(reader.filter.surrogates),
        works: Vec::new(),
    };
    let memory = &reader.filter.memory;
    let spread_keys = reader.keys.as_ref().map(|keys| keys.of_values(&values));
    for group in &read.groups {
        let key = spread_keys.as_ref().zip(group.key).map(|(keys, key)| keys.of_group(key));
        if let Some(known) = key.and_then(|key| memory.spread(key)) {
            collector.recall(read, group, &known);
            continue;
        }
        let from = collector.works.len();
        let mut has_placeholders = false;
        for i in group.blocks.clone() {
            has_placeholders |= collector.collect(i, &read.blocks[i], &read.examined[i]);
        }
        // Placeholders that stand in a text are looked for anew each time.
        if let Some(key) = key
            && !has_placeholders
        {
            let works = collector.works.get(from..).unwrap_or_default();
            memory.remember_spread(key, works.iter().flat_map(|w| w.placed(group)).collect());
        }
    }
    let Collector { taken, works, .. } = collector;
    let key = PlaceholderKey::new(&reader.filter.secret, reader.subject.account);
    let mut map = RedactionMap::new(reader.filter.surrogates);
    let mut found = Vec::new();
    let mut changes: BTreeMap<usize, Changes> = BTreeMap::new();
    for work in &works {
        let replacements: Vec<(Finding, String)> = (work.findings.iter())
            .map(|finding| {
                let value = &work.text[finding.range()];
                let is_taken = |word: &str| taken.contains(word);
                (*finding, map.placeholder(&key, finding.kind, value, is_taken).to_owned())
            })
            .collect();
        let member = read.blocks[work.block].member;
        let changes = changes.entry(member).or_default();
        changes.add(source, member, work, &replacements, &mut found);
    }
    let mut members = source.members.clone();
    for (i, changes) in changes {
        if let Some(member) = members.get_mut(i) {
            changes.apply(member);
        }
    }
    found.sort_by_key(|found| (found.member, found.at));
    report.redactions = map.counts();
    report.action = FilterAction::Redact;
    Ok(Filtered { members: Some(members), map, found, report })
}

/// The values that were found, in the request's order, each with the kind that it had first.
fn values(read: &Read<'_>, composer: &mut Composer) -> Vec<(String, Kind)> {
    let mut values = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    for (block, known) in read.blocks.iter().zip(&read.examined) {
        if known.findings.is_empty() {
            continue;
        }
        for (i, unit) in block.units().iter().enumerate() {
            let mut findings = known.findings.iter().filter(|(of, _)| *of == i).peekable();
            if findings.peek().is_none() {
                continue;
            }
            let text = composer.compose(unit).text;
            for (_, finding) in findings {
                let value = text.get(finding.range()).unwrap_or_default();
                if seen.insert(value.to_owned()) {
                    values.push((value.to_owned(), finding.kind));
                }
            }
        }
    }
    values
}

/// Gathers the units in which something is replaced.
struct Collector<'c, 'a> {
    spread: Option<Spread>,
    composer: &'c mut Composer,
    /// The placeholders that stand in the request already.
    taken: TakenWords,
    works: Vec<Work<'a>>,
}

impl<'a> Collector<'_, 'a> {
    /// Looks through a block for what was found in it, and for what was found elsewhere. Returns
    /// whether something in it looks like a placeholder.
    fn collect(&mut self, i: usize, block: &Block<'a>, known: &Examined) -> bool {
        let mut has_placeholders = false;
        for (n, unit) in block.units().into_iter().enumerate() {
            let own = known.findings.iter().filter(|(of, _)| *of == n);
            let mut findings: Vec<Finding> = own.map(|(_, finding)| *finding).collect();
            let text = self.composer.compose(&unit).text;
            has_placeholders |= self.taken.collect(text);
            if let Some(spread) = &self.spread {
                let own = findings.len();
                spread.find(text, &mut findings);
                if findings.len() > own {
                    settle(&mut findings);
                }
            }
            if findings.is_empty() {
                continue;
            }
            let (text, layout) = self.composer.layout(&unit);
            let findings = clip(&findings, &layout, text, unit.joined);
            let text = text.to_owned();
            self.works.push(Work { block: i, n, unit, text, layout, findings });
        }
        has_placeholders
    }

    /// The same for a group of which all that is known.
    fn recall(&mut self, read: &Read<'a>, group: &Group, known: &[Placed]) {
        for of_block in known.chunk_by(|a, b| a.block == b.block) {
            let i = group.blocks.start + of_block[0].block;
            let Some(block) = read.blocks.get(i) else { continue };
            for (n, unit) in block.units().into_iter().enumerate() {
                let of_unit = of_block.iter().filter(|placed| placed.unit == n);
                let findings: Vec<Finding> = of_unit.map(|placed| placed.finding).collect();
                if !findings.is_empty() {
                    let (text, layout) = self.composer.layout(&unit);
                    let text = text.to_owned();
                    self.works.push(Work { block: i, n, unit, text, layout, findings });
                }
            }
        }
    }
}

impl Work<'_> {
    /// What is remembered of it.
    fn placed(&self, group: &Group) -> impl Iterator<Item = Placed> {
        let (block, unit) = (self.block - group.blocks.start, self.n);
        self.findings.iter().map(move |finding| Placed { block, unit, finding: *finding })
    }
}

/// What changes in a member.
#[derive(Default)]
struct Changes {
    name: Option<String>,
    value: Vec<Edit>,
}

impl Changes {
    fn add(
        &mut self,
        source: &Source,
        index: usize,
        work: &Work<'_>,
        replacements: &[(Finding, String)],
        found: &mut Vec<Found>,
    ) {
        let Some(member) = source.members.get(index) else { return };
        let with: Vec<Replacement<'_>> = replacements
            .iter()
            .map(|(finding, placeholder)| Replacement { range: finding.range(), with: placeholder })
            .collect();
        let pieces = &work.unit.pieces;
        let mut of_pieces: Vec<Vec<Edit>> = Vec::with_capacity(pieces.len());
        for (piece, items) in pieces.iter().zip(&work.layout) {
            let mut piece_edits = Vec::new();
            edits(items, piece.text, &with, 0, &mut piece_edits);
            of_pieces.push(piece_edits);
        }
        if work.unit.joined {
            let texts: Vec<&str> = pieces.iter().map(|piece| piece.text).collect();
            leave_none_empty(&texts, &with, &mut of_pieces);
        }
        for (piece, piece_edits) in pieces.iter().zip(of_pieces) {
            if piece.form == Form::Plain {
                note(&piece_edits, 0, index, replacements, found);
                if !piece_edits.is_empty() {
                    self.name = Some(apply(piece.text, &piece_edits));
                }
                continue;
            }
            let offset = offset_in(member.value.as_str(), piece.text);
            note(&piece_edits, offset, index, replacements, found);
            self.value.extend(piece_edits.into_iter().map(|edit| Edit {
                range: edit.range.start + offset..edit.range.end + offset,
                ..edit
            }));
        }
    }

    fn apply(mut self, member: &mut SourceMember) {
        if let Some(name) = self.name {
            member.name = ByteString::from(name);
        }
        if !self.value.is_empty() {
            // Units of a block interleave: identifiers are read apart from what is around them.
            self.value.sort_by_key(|edit| edit.range.start);
            let value = apply(member.value.as_str(), &self.value);
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

impl Block<'_> {
    /// Where the block is, in the words of a refusal: `messages[3].content`.
    pub(super) fn place(&self, unit: Option<usize>) -> String {
        match &self.what {
            What::Message(i, _) => {
                let units = self.units();
                let unit = unit.and_then(|unit| units.get(unit));
                match unit.map(|unit| (unit.part, unit.origin.is_some())) {
                    Some((Some(part), _)) => format!("messages[{i}].content[{part}]"),
                    Some((None, true)) => format!("messages[{i}].content"),
                    _ => format!("messages[{i}]"),
                }
            }
            What::Tool(i) => format!("tools[{i}]"),
            // The name of a member that nobody knows is content.
            What::Member(name) => match super::dissect::known(name) {
                Some(name) => name.to_owned(),
                None => "an unknown member".to_owned(),
            },
        }
    }
}
