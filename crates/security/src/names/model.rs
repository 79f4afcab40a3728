//! The trained model's bytes: the gazetteer, the weights and the thresholds in one file.
//!
//! `SNM1`, the numbers of slots and rows (u32), transitions and thresholds (i16), slots (u32), rows
//! (five i8 each). All little endian.

use super::gazetteer::Gazetteer;
use super::tagger::{GROUPS, LABELS, Tagger, Transitions, Weights};

const MAGIC: &[u8; 4] = b"SNM1";

/// How many regions have thresholds of their own.
pub const REGIONS: usize = 4;

/// By how much a name's label has to be better than none: for each region and label.
pub type Thresholds = [[i16; LABELS]; REGIONS];

/// Everything that was trained.
#[derive(Debug, Clone)]
pub struct Model {
    /// What is known about single words.
    pub gazetteer: Gazetteer,
    /// The weights.
    pub tagger: Tagger,
    /// How sure the tagger has to be.
    pub thresholds: Thresholds,
}

impl Model {
    /// A model that finds nothing.
    pub(super) fn empty() -> Self {
        Self {
            gazetteer: Gazetteer::build(std::iter::empty()),
            tagger: Tagger::empty(),
            thresholds: [[0; LABELS]; REGIONS],
        }
    }

    /// The model in `bytes`; `None` where they are none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        if reader.take::<4>()? != *MAGIC {
            return None;
        }
        let slots = u32::from_le_bytes(reader.take()?) as usize;
        let rows = u32::from_le_bytes(reader.take()?) as usize;
        let mut transitions: Transitions = [[[0; LABELS]; LABELS]; GROUPS];
        for weight in transitions.as_flattened_mut().as_flattened_mut() {
            *weight = i16::from_le_bytes(reader.take()?);
        }
        let mut thresholds: Thresholds = [[0; LABELS]; REGIONS];
        for threshold in thresholds.as_flattened_mut() {
            *threshold = i16::from_le_bytes(reader.take()?);
        }
        if reader.0.len() != slots.checked_mul(4)?.checked_add(rows.checked_mul(LABELS)?)?
            || !rows.is_power_of_two()
        {
            return None;
        }
        let (slots, rows) = reader.0.split_at(4 * slots);
        let slots = slots.chunks_exact(4).map(|slot| Reader(slot).take().map(u32::from_le_bytes));
        let (rows, _) = rows.as_chunks::<LABELS>();
        let rows = rows.iter().map(|row| Weights::new(&row.map(u8::cast_signed)));
        Some(Self {
            gazetteer: Gazetteer::from_slots(slots.collect::<Option<_>>()?)?,
            tagger: Tagger { rows: rows.collect(), transitions },
            thresholds,
        })
    }

    /// The bytes that [`Self::parse`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let slots = self.gazetteer.slots();
        let mut bytes = MAGIC.to_vec();
        bytes.extend((slots.len() as u32).to_le_bytes());
        bytes.extend((self.tagger.rows.len() as u32).to_le_bytes());
        let transitions = self.tagger.transitions.as_flattened().as_flattened();
        for value in transitions.iter().chain(self.thresholds.as_flattened()) {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
        for row in &self.tagger.rows {
            bytes.extend(row.bytes());
        }
        bytes
    }
}

/// Reads from the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }
}

#[cfg(test)]
mod tests {
    use super::super::gazetteer::Flags;
    use super::*;

    #[test]
    fn reads_what_it_wrote_and_nothing_else() {
        let mut model = Model::empty();
        model.gazetteer = Gazetteer::build([("anna", Flags::FIRST)].into_iter());
        model.tagger.rows = vec![Weights::new(&[1, -2, 3, -128, 127]); 4];
        model.tagger.transitions[3][4][2] = -300;
        model.thresholds[2][1] = 77;
        let bytes = model.to_bytes();
        assert_eq!(Model::parse(&bytes).map(|read| read.to_bytes()), Some(bytes.clone()));
        for len in 0..bytes.len() {
            assert!(Model::parse(&bytes[..len]).is_none(), "{len} bytes");
        }
    }
}
