//! What is known about a stretch of a request that was read: places, kinds and scores, and nothing
//! of its content.

use std::borrow::Cow;
use std::num::NonZeroU8;
use std::ops::Range;

use memchr::memchr;
use sluice_core::json::unescape;

use super::cache::Weight;
use super::compose::DEEPEST;
use crate::finding::Finding;
use crate::flag::{Flag, Flags};
use crate::injection;
use crate::kind::Kind;
use crate::level::{InjectionAction, Rules, UnreadableAction};

/// What is known about a block: places in its units' texts, never their content.
#[derive(Debug, Default)]
pub(super) struct Examined {
    /// In order, without overlaps, within what can be replaced.
    pub(super) findings: Vec<Spot>,
    pub(super) verdict: Verdict,
}

/// What is to be thought of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Verdict {
    pub(super) flags: Flags,
    /// The unit that cannot be read.
    pub(super) unreadable: Option<usize>,
    /// The highest score of what the caller says, and the unit that has it.
    pub(super) of_caller: (f32, usize),
    /// The same among tool results and documents.
    pub(super) of_documents: (f32, usize),
    /// Which of these are flagged: a bit for each unit, the last one for all units behind it as well.
    flagged_documents: u64,
}

/// A finding in a block, or in a stretch of blocks. A request may consist of findings, and so they
/// are kept small: no block that is read is longer than [`LONGEST`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    /// Index of the block in its stretch; 0 in a block by itself.
    pub(super) block: u32,
    /// Index of the unit in the block.
    pub(super) unit: u32,
    start: u32,
    end: u32,
    kind: Kind,
    rule: &'static str,
    /// Where it is in the block's bytes, if they have it in one piece.
    pub(super) plain: Option<Plain>,
}

/// The longest text in which places are kept: a few bytes less than 4 GiB.
pub(super) const LONGEST: usize = u32::MAX as usize;

/// A value that stands in the bytes of a request in one piece: replacing it replaces these bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain {
    start: u32,
    end: u32,
    /// In how many literals it stands, and one more: so often its escapes are to be decoded.
    depth: NonZeroU8,
}

/// A block of a stretch.
#[derive(Debug, Clone)]
pub(super) struct KnownBlock {
    /// Where it stands in the stretch.
    pub(super) range: Range<usize>,
    /// What is to be thought of it.
    pub(super) verdict: Verdict,
}

/// What is known about a stretch: one block or several that follow each other.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) blocks: Vec<KnownBlock>,
    /// What was found in them, in order.
    pub(super) findings: Vec<Spot>,
    /// The worst of each kind that there is to be said about any of them.
    pub(super) worst: Verdict,
}

impl Known {
    /// Room for what is known about so many blocks.
    pub(super) fn with_room(blocks: usize) -> Self {
        Self { blocks: Vec::with_capacity(blocks), ..Self::default() }
    }

    /// Adds a block.
    pub(super) fn push(&mut self, range: Range<usize>, examined: Examined) {
        let Examined { mut findings, verdict } = examined;
        let block = self.blocks.len() as u32;
        for spot in &mut findings {
            spot.block = block;
        }
        match self.findings.is_empty() {
            true => self.findings = findings,
            false => self.findings.append(&mut findings),
        }
        self.worst.add(&verdict);
        self.blocks.push(KnownBlock { range, verdict });
    }

    /// Adds the first `count` blocks of another stretch, which begins at `at`.
    pub(super) fn extend(&mut self, other: &Self, count: usize, at: usize) {
        let ahead = self.blocks.len();
        let found = other.findings.iter().take_while(|spot| spot.block() < count);
        self.findings.extend(found.map(|spot| spot.behind(ahead)));
        for KnownBlock { range, verdict } in other.blocks.iter().take(count) {
            self.worst.add(verdict);
            let range = range.start + at..range.end + at;
            self.blocks.push(KnownBlock { range, verdict: *verdict });
        }
    }

    /// What was found in a block.
    pub(super) fn found_in(&self, block: usize) -> Range<usize> {
        let from = self.findings.partition_point(|spot| spot.block() < block);
        from..self.findings.partition_point(|spot| spot.block() <= block)
    }

    /// Whether it would be the same the next time.
    pub(super) fn is_lasting(&self) -> bool {
        !self.worst.flags.contains(Flag::FilterFailed)
    }
}

impl Weight for Known {
    fn weight(&self) -> usize {
        self.blocks.capacity() * size_of::<KnownBlock>()
            + self.findings.capacity() * size_of::<Spot>()
    }
}

impl Verdict {
    fn add(&mut self, other: &Self) {
        let higher = |a: (f32, usize), b: (f32, usize)| if b.0 > a.0 { b } else { a };
        self.flags = self.flags.with(other.flags);
        self.unreadable = self.unreadable.or(other.unreadable);
        self.of_caller = higher(self.of_caller, other.of_caller);
        self.of_documents = higher(self.of_documents, other.of_documents);
        self.flagged_documents |= other.flagged_documents;
    }

    /// Notes the score of a unit.
    pub(super) fn suspect(&mut self, score: f32, unit: usize, document: bool) {
        if score >= injection::USUAL {
            self.flags.raise(Flag::PromptInjection);
            self.flagged_documents |= if document { bit(unit) } else { 0 };
        }
        let known = if document { &mut self.of_documents } else { &mut self.of_caller };
        if score > known.0 {
            *known = (score, unit);
        }
    }

    /// The highest score, and the unit that has it.
    pub(super) fn suspicion(&self) -> (f32, usize) {
        if self.of_documents.0 > self.of_caller.0 { self.of_documents } else { self.of_caller }
    }

    /// Whether the rules keep any of it from the model.
    pub(super) fn withholds_any(&self, rules: &Rules) -> bool {
        rules.injection == InjectionAction::Withhold && self.flagged_documents != 0
    }

    /// Whether a unit, which is a document, is flagged.
    pub(super) fn is_flagged_document(&self, unit: usize) -> bool {
        self.flagged_documents & bit(unit) != 0
    }

    /// The score for which, and the unit in which, the rules refuse an attack.
    pub(super) fn attack(&self, rules: &Rules) -> Option<(f32, usize)> {
        match rules.injection {
            InjectionAction::Off | InjectionAction::Flag => None,
            InjectionAction::BlockStrict => {
                Some(self.of_documents).filter(|(score, _)| *score >= injection::STRICT)
            }
            InjectionAction::Withhold => {
                Some(self.of_caller).filter(|(score, _)| *score >= injection::STRICT)
            }
            InjectionAction::Block => {
                Some(self.suspicion()).filter(|(score, _)| *score >= injection::USUAL)
            }
        }
    }

    /// The unit that the rules refuse for want of being readable.
    pub(super) fn refused_unread(&self, rules: &Rules) -> Option<usize> {
        self.unreadable.filter(|_| rules.unreadable == UnreadableAction::Refuse)
    }
}

/// The bit of a unit among those of a block.
fn bit(unit: usize) -> u64 {
    1 << unit.min(63)
}

impl Spot {
    /// What was found in unit `unit` of a block.
    pub(super) fn new(unit: usize, finding: &Finding, plain: Option<Plain>) -> Self {
        let Finding { start, end, kind, rule } = *finding;
        let (unit, start, end) = (unit as u32, start as u32, end as u32);
        Self { block: 0, unit, start, end, kind, rule, plain }
    }

    /// Where it is in the unit's composed text, and what it is.
    pub(super) fn finding(&self) -> Finding {
        let (start, end) = (self.start as usize, self.end as usize);
        Finding { start, end, kind: self.kind, rule: self.rule }
    }

    /// What it is.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Index of the block in its stretch.
    pub(super) fn block(&self) -> usize {
        self.block as usize
    }

    /// Index of the unit in its block.
    pub(super) fn unit(&self) -> usize {
        self.unit as usize
    }

    /// The same in a longer stretch, in which so many more blocks are ahead of it.
    pub(super) fn behind(&self, ahead: usize) -> Self {
        Self { block: self.block + ahead as u32, ..*self }
    }
}

/// What was found, unit by unit.
pub(super) fn in_units(spots: &[Spot]) -> impl Iterator<Item = &[Spot]> {
    spots.chunk_by(|a, b| (a.block, a.unit) == (b.block, b.unit))
}

impl Plain {
    /// The stretch of `text` at `range`, if decoding its escapes some times over gives `value`.
    pub(super) fn new(text: &str, range: Range<usize>, value: &str) -> Option<Self> {
        let (start, end) = (range.start as u32, range.end as u32);
        let mut plain = Self { start, end, depth: NonZeroU8::MIN };
        for _ in 0..=DEEPEST + 1 {
            if plain.value(text) == value {
                return Some(plain);
            }
            plain.depth = plain.depth.saturating_add(1);
        }
        None
    }

    /// The stretch at `range`, where that is the value as it stands.
    pub(super) fn verbatim(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32, depth: NonZeroU8::MIN }
    }

    /// Where it stands.
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// How often its escapes are to be decoded.
    pub(super) fn decoded(&self) -> usize {
        usize::from(self.depth.get() - 1)
    }

    /// The value, in the same text.
    pub(super) fn value<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.read(text, self.decoded())
    }

    /// The same where its escapes are decoded so many times over.
    pub(super) fn read<'t>(&self, text: &'t str, times: usize) -> Cow<'t, str> {
        let mut value = Cow::Borrowed(text.get(self.range()).unwrap_or_default());
        for _ in 0..times {
            if memchr(b'\\', value.as_bytes()).is_none() {
                break;
            }
            let mut decoded = Vec::with_capacity(value.len() + 64);
            unescape(&value, &mut decoded);
            value = Cow::Owned(String::from_utf8(decoded).unwrap_or_default());
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_where_they_stand() {
        for (text, value, depth) in [
            ("ada@x.org", "ada@x.org", Some(0)),
            (r"p\u0040ss", "p@ss", Some(1)),
            (r#"a\\\"b"#, r#"a\"b"#, Some(1)),
            (r#"a\\\"b"#, r#"a"b"#, Some(2)),
            ("p%40ss", "p@ss", None),
        ] {
            let plain = Plain::new(text, 0..text.len(), value);
            assert_eq!(plain.map(|plain| plain.depth.get() - 1), depth, "{text}");
            assert!(plain.is_none_or(|plain| plain.value(text) == value));
        }
    }
}
