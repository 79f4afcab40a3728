//! The model: one small weight for each feature, as it lies in the artefact.

use std::sync::LazyLock;

use super::features::BUCKETS;
use super::{Origin, PROMISING};

/// What an artefact begins with: name and version.
const MAGIC: &[u8; 8] = b"sluicei2";
const HEADER: usize = MAGIC.len() + 4 * 4;

static USUAL: LazyLock<Option<Model>> =
    LazyLock::new(|| Model::parse(include_bytes!("../../models/injection.bin")));

/// A linear model with quantised weights. Sums are whole numbers, so they are the same everywhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What a weight of 1 stands for, in log-odds.
    pub unit: f32,
    /// Where on the score's curve a sum of 0 lies.
    pub shift: f32,
    /// Where one lies of what a tool returned: texts full of orders, most of them to people.
    pub shift_of_tool: f32,
    /// How far on it the sum's log-odds lead.
    pub slope: f32,
    /// The features' weights.
    pub weights: Vec<i8>,
}

impl Model {
    /// The model that comes with the filter; `None` if its artefact is broken, which a test forbids.
    pub fn usual() -> Option<&'static Self> {
        USUAL.as_ref()
    }

    /// Reads an artefact.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (header, weights) = bytes.split_at_checked(HEADER)?;
        if !header.starts_with(MAGIC) || weights.len() != BUCKETS {
            return None;
        }
        let float = |at: usize| -> Option<f32> {
            let bytes = header.get(MAGIC.len() + 4 * at..)?.first_chunk()?;
            Some(f32::from_le_bytes(*bytes))
        };
        let (unit, shift, shift_of_tool, slope) = (float(0)?, float(1)?, float(2)?, float(3)?);
        // With others a score would be no number, or would fall where it should rise.
        let is_sound = [unit, shift, shift_of_tool, slope].iter().all(|float| float.is_finite())
            && unit > 0.0
            && slope > 0.0;
        if !is_sound {
            return None;
        }
        let weights = weights.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
        Some(Self { unit, shift, shift_of_tool, slope, weights })
    }

    /// The artefact.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for float in [self.unit, self.shift, self.shift_of_tool, self.slope] {
            bytes.extend(float.to_le_bytes());
        }
        bytes.extend(self.weights.iter().flat_map(|weight| weight.to_le_bytes()));
        bytes
    }

    /// What a feature adds to the sum.
    pub fn weight(&self, feature: u32) -> i32 {
        self.weights.get(feature as usize).map_or(0, |weight| i32::from(*weight))
    }

    /// Whether a sum is so near to the threshold that it is worth to look at what stands around.
    pub(super) fn is_promising(&self, sum: i32) -> bool {
        sum as f32 * self.unit > PROMISING
    }

    /// The score of a sum from whose log-odds `doubt` is taken, from 0 to 1: a half at the usual
    /// threshold of texts of that origin.
    ///
    /// The curve nears its ends slowly, so that texts far from the threshold still differ in the
    /// third decimal place, which is all that callers see.
    pub fn calibrate(&self, sum: i32, doubt: f32, origin: Origin) -> f32 {
        let shift = if origin == Origin::Tool { self.shift_of_tool } else { self.shift };
        let x = self.slope * (sum as f32 * self.unit - doubt) + shift;
        0.5 + 0.5 * x / (1.0 + x * x).sqrt()
    }
}
