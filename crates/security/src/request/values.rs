//! Which values were found in a request, and where all of them stand.

use std::ops::Range;
use std::sync::Arc;

use super::Failure;
use super::compose::{Blobs, Composer, Unit};
use super::edits::clip;
use super::groups::{Group, Stretch};
use super::known::{Known, KnownBlock, Spot, in_units};
use super::memory::{Keys, Memory, Recalled};
use super::spellings::may_be_in;
use super::spots::{spots, spots_in_literal};
use super::spread::{Own, Spread};
use crate::finding::{Finding, settle};
use crate::kind::Kind;
use crate::map::{Hash, Numbers, TakenWords};

/// A shorter value may stand by chance in what a provider sealed, which must not be changed.
const NO_CHANCE: usize = 16;

/// What was read of a request.
pub(super) struct Read<'a, 'm> {
    pub(super) groups: Vec<Group<'a>>,
    pub(super) stretches: Vec<Stretch<'a>>,
    /// What is known about each group.
    pub(super) known: Vec<Arc<Known>>,
    pub(super) memory: Option<(&'m Memory, &'m Keys)>,
}

/// Values, in the order in which they were found, each with the kind that it had first.
#[derive(Default)]
pub(super) struct Values {
    /// One behind the other.
    texts: String,
    /// Where each ends, and what it is.
    list: Vec<(usize, Kind)>,
    numbers: Numbers,
    /// For everything that was found, group by group, the number of its value.
    of_findings: Vec<u32>,
}

impl Values {
    fn add(&mut self, value: &str, kind: Kind) {
        let hash = self.numbers.hash(value.as_bytes());
        let number = self.find(hash, value).unwrap_or_else(|| {
            self.texts.push_str(value);
            self.list.push((self.texts.len(), kind));
            self.numbers.add(hash, self.list.len() - 1);
            self.list.len() - 1
        });
        self.of_findings.push(number as u32);
    }

    fn find(&self, hash: Hash, value: &str) -> Option<usize> {
        self.numbers.find(hash, |number| self.text(number) == value)
    }

    /// The number of a value, if it was found.
    pub(super) fn number(&self, value: &str) -> Option<usize> {
        self.find(self.numbers.hash(value.as_bytes()), value)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// A value, by its number.
    pub(super) fn text(&self, number: usize) -> &str {
        let end_of = |number: usize| self.list.get(number).map(|(end, _)| *end);
        let start = number.checked_sub(1).and_then(end_of).unwrap_or_default();
        self.texts.get(start..end_of(number).unwrap_or(start)).unwrap_or_default()
    }

    /// All of them, with what they are.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, Kind)> {
        self.list.iter().enumerate().map(|(number, (_, kind))| (self.text(number), *kind))
    }

    /// The numbers of the values of what was found in each of these groups, finding by finding.
    pub(super) fn of_groups(&self, known: &[Arc<Known>]) -> impl Iterator<Item = &[u32]> {
        let mut rest = self.of_findings.as_slice();
        known.iter().map(move |known| {
            let (of_group, others) = rest.split_at(known.findings.len().min(rest.len()));
            rest = others;
            of_group
        })
    }
}

impl<'a> Read<'a, '_> {
    /// The values that were found, in the request's order.
    pub(super) fn values(&self, composer: &mut Composer<'a>) -> Values {
        let mut values = Values::default();
        let count = self.known.iter().map(|known| known.findings.len()).sum();
        values.list.reserve(count);
        values.numbers.reserve(count);
        values.of_findings.reserve(count);
        for (group, known) in self.groups.iter().zip(&self.known) {
            // A message with many parts is taken apart once.
            let mut taken: Option<(usize, Vec<Unit<'a>>)> = None;
            for of_unit in in_units(&known.findings) {
                let Some(first) = of_unit.first() else { continue };
                let range = known.blocks.get(first.block()).map(|block| block.range.clone());
                let range = range.unwrap_or_default();
                let text: &'a str = group.text.get(range.clone()).unwrap_or_default();
                if of_unit.iter().all(|spot| spot.plain.is_some()) {
                    for spot in of_unit {
                        let value = spot.plain.map(|plain| plain.value(text));
                        values.add(&value.unwrap_or_default(), spot.kind());
                    }
                    continue;
                }
                let units = match &mut taken {
                    Some((block, units)) if *block == first.block() => units,
                    taken => {
                        let units = group.units(first.block(), range);
                        &mut taken.insert((first.block(), units)).1
                    }
                };
                let text = units.get(first.unit()).map(|unit| composer.compose(unit).text);
                let text = text.unwrap_or_default();
                for finding in of_unit.iter().map(Spot::finding) {
                    let value = text.get(finding.range()).unwrap_or_default();
                    values.add(value, finding.kind);
                }
            }
        }
        values
    }

    /// Where in each group something is replaced.
    pub(super) fn places(
        &self,
        search: &mut Search<'_, 'a>,
    ) -> Result<Vec<Arc<Recalled>>, Failure> {
        let values = search.values;
        let memory = self.memory.map(|(memory, keys)| (memory, keys.of_values(values.iter())));
        let mut places = Vec::with_capacity(self.groups.len());
        let groups = self.groups.iter().zip(&self.known).zip(values.of_groups(&self.known));
        for ((group, known), numbers) in groups {
            let recalled = memory
                .as_ref()
                .zip(group.key)
                .and_then(|((memory, keys), key)| memory.spread(keys.of_stretch(key)));
            if let Some(recalled) =
                recalled.as_ref().filter(|it| it.anew.is_empty() && known.is_lasting())
            {
                places.push(Arc::clone(recalled));
                continue;
            }
            let found = FoundIn { known, numbers };
            places.push(Arc::new(search.group(group, found, recalled.as_deref())?));
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
        let mut groups = stretch.groups(&self.known);
        if groups.all(|(i, ..)| places[i].spots.is_none() && places[i].anew.is_empty()) {
            return joined;
        }
        let spots = joined.spots.get_or_insert_default();
        for (i, ahead, blocks) in stretch.groups(&self.known) {
            let of_group = &places[i];
            let is_anew = |block: usize| of_group.anew.binary_search(&block).is_ok();
            let lasting = of_group.spots(&self.known[i]).iter();
            let lasting = lasting.filter(|spot| spot.block() < blocks && !is_anew(spot.block()));
            spots.extend(lasting.map(|spot| spot.behind(ahead)));
            let anew = of_group.anew.iter().filter(|block| **block < blocks);
            joined.anew.extend(anew.map(|block| block + ahead));
        }
        joined
    }
}

/// Looks for values in texts.
pub(super) struct Search<'s, 'a> {
    values: &'s Values,
    /// What looks for them, made when it is needed first.
    spread: Option<Option<Spread>>,
    composer: &'s mut Composer<'a>,
    /// The placeholders that stand in the request already.
    pub(super) taken: TakenWords,
}

/// What was found in a group.
#[derive(Clone, Copy)]
struct FoundIn<'k> {
    known: &'k Known,
    /// The number of the value of each finding.
    numbers: &'k [u32],
}

/// The places of a group's values, as they become known.
struct Places<'k> {
    found: FoundIn<'k>,
    /// None as long as they are those of what was found there.
    spots: Option<Vec<Spot>>,
}

impl Places<'_> {
    /// Adds those of a unit: these, where they are not what was found there, which stands at `own`
    /// among what was found in the group.
    fn add(&mut self, own: Range<usize>, spots: Option<Vec<Spot>>) {
        let found = &self.found.known.findings;
        match (&mut self.spots, spots) {
            (None, None) => {}
            (Some(all), None) => all.extend_from_slice(found.get(own).unwrap_or_default()),
            (all, Some(mut spots)) => all
                .get_or_insert_with(|| found.get(..own.start).unwrap_or_default().to_vec())
                .append(&mut spots),
        }
    }
}

impl<'s, 'a> Search<'s, 'a> {
    pub(super) fn new(
        values: &'s Values,
        composer: &'s mut Composer<'a>,
        taken: TakenWords,
    ) -> Self {
        Self { values, spread: None, composer, taken }
    }

    /// Looks through the blocks of a group; where most is remembered, through the others only.
    fn group(
        &mut self,
        group: &Group<'a>,
        found: FoundIn<'_>,
        recalled: Option<&Recalled>,
    ) -> Result<Recalled, Failure> {
        let known = found.known;
        let mut anew = Vec::new();
        let mut places = Places { found, spots: recalled.map(|_| Vec::new()) };
        let mut remembered = recalled.map(|r| r.spots(known)).unwrap_or_default();
        for (i, block) in known.blocks.iter().enumerate() {
            if recalled.is_some_and(|recalled| recalled.anew.binary_search(&i).is_err()) {
                let (of_block, rest) =
                    remembered.split_at(remembered.partition_point(|spot| spot.block() <= i));
                places.spots.get_or_insert_default().extend_from_slice(of_block);
                remembered = rest;
            } else if self.block(i, group, block, &mut places)? {
                anew.push(i);
            }
        }
        Ok(Recalled { spots: places.spots, anew })
    }

    /// Looks through a block for what was found in it, and for what was found elsewhere. Returns
    /// whether something in it looks like a placeholder.
    fn block(
        &mut self,
        i: usize,
        group: &Group<'a>,
        block: &KnownBlock,
        places: &mut Places<'_>,
    ) -> Result<bool, Failure> {
        let bytes = group.text.get(block.range.clone()).unwrap_or_default();
        let mut has_placeholders = false;
        let FoundIn { known, numbers } = places.found;
        let mut own = known.found_in(i);
        for (n, unit) in group.units(i, block.range.clone()).into_iter().enumerate() {
            let found = known.findings.get(own.clone()).unwrap_or_default();
            let found = &found[..found.partition_point(|spot| spot.unit() <= n)];
            let of_unit = own.start..own.start + found.len();
            own.start = of_unit.end;
            let composed = self.composer.compose(&unit);
            let (text, is_flat) = (composed.text, composed.is_flat);
            has_placeholders |= self.taken.collect(text);
            let spread = match &mut self.spread {
                Some(Some(spread)) if spread.overlooks(text) => {
                    self.spread.insert(Spread::new(self.values.iter(), true)?)
                }
                Some(spread) => spread,
                spread => spread.insert(Spread::new(self.values.iter(), may_be_in(text))?),
            };
            let mut findings = Vec::new();
            if let Some(spread) = spread {
                let mut among = Among { found, next: 0 };
                let numbers = numbers.get(of_unit.clone()).unwrap_or_default();
                let own = found.iter().zip(numbers).map(|(spot, value)| Own::of(spot, *value));
                let least = if unit.blobs == Blobs::Sealed { NO_CHANCE } else { 0 };
                spread.find(text, &own.collect::<Vec<_>>(), &mut |other| {
                    if !among.has(&other) && other.range().len() >= least {
                        findings.push(other);
                    }
                });
            }
            if findings.is_empty() {
                places.add(of_unit, None);
                continue;
            }
            // What was found there goes first, as it did when it was found.
            findings.splice(..0, found.iter().map(Spot::finding));
            settle(&mut findings);
            let mut spots = if let Some(literal) = unit.whole_literal().filter(|_| is_flat) {
                spots_in_literal(bytes, n, literal, text, &findings)
            } else {
                let (text, layout) = self.composer.layout(&unit);
                let findings = clip(&findings, &layout, text, unit.joined);
                spots(bytes, n, &unit, text, &layout, &findings)
            };
            for spot in &mut spots {
                spot.block = i as u32;
            }
            places.add(of_unit, Some(spots));
        }
        Ok(has_placeholders)
    }
}

impl Own {
    fn of(spot: &Spot, value: u32) -> Self {
        let Finding { start, end, kind, .. } = spot.finding();
        Self { start, end, is_secret: kind.is_secret(), value }
    }
}

/// What was found in a text, in order.
struct Among<'k> {
    found: &'k [Spot],
    /// The first of them that the next question may be about: questions are in order, mostly.
    next: usize,
}

impl Among<'_> {
    /// Whether one of them is of the same stretch as `other` and outdoes it.
    fn has(&mut self, other: &Finding) -> bool {
        let begins_ahead = |spot: &Spot| spot.finding().start < other.start;
        if self
            .next
            .checked_sub(1)
            .and_then(|i| self.found.get(i))
            .is_some_and(|s| !begins_ahead(s))
        {
            self.next = 0;
        }
        let rest = self.found.get(self.next..).unwrap_or_default();
        // One of the next few, or far away.
        const NEAR: usize = 8;
        let near = rest.iter().take(NEAR).take_while(|spot| begins_ahead(spot)).count();
        self.next += if near < NEAR { near } else { rest.partition_point(begins_ahead) };
        self.found.get(self.next).map(Spot::finding).is_some_and(|own| {
            (own.start, own.end) == (other.start, other.end)
                && (own.kind.is_secret() || !other.kind.is_secret())
        })
    }
}
