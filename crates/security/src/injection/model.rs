//! The model: one small weight for each feature, as it lies in the artefact.

use std::sync::LazyLock;

use super::features::BUCKETS;
use super::{Origin, PROMISING};

/// What an artefact begins with: name and version.
const MAGIC: &[u8; 8] = b"sluicei3";
const HEADER: usize = MAGIC.len() + 4 * 5;

static USUAL: LazyLock<Option<Model>> =
    LazyLock::new(|| Model::parse(include_bytes!("../../models/injection.bin")));

/// A linear model with quantised weights. Sums are whole numbers, so they are the same everywhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What a weight of 1 stands for, in log-odds.
    pub unit: f32,
    /// The score of what people say.
    pub of_user: Curve,
    /// The score of what tools return: texts full of orders, most of them to people.
    pub of_tool: Curve,
    /// The features' weights.
    pub weights: Vec<i8>,
}

/// How a sum's log-odds become a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Where on the curve a sum of 0 lies.
    pub shift: f32,
    /// How far on it the sum's log-odds lead.
    pub slope: f32,
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
        let curve = |at| Some(Curve { shift: float(at)?, slope: float(at + 1)? });
        let (unit, of_user, of_tool) = (float(0)?, curve(1)?, curve(3)?);
        // With others a score would be no number, or would fall where it should rise.
        let is_sound =
            |curve: Curve| curve.shift.is_finite() && curve.slope.is_finite() && curve.slope > 0.0;
        if !(unit.is_finite() && unit > 0.0 && is_sound(of_user) && is_sound(of_tool)) {
            return None;
        }
        let weights = weights.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
        Some(Self { unit, of_user, of_tool, weights })
    }

    /// The artefact.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let Self { unit, of_user, of_tool, .. } = self;
        for float in [*unit, of_user.shift, of_user.slope, of_tool.shift, of_tool.slope] {
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
        let Curve { shift, slope } =
            if origin == Origin::Tool { self.of_tool } else { self.of_user };
        let x = slope * (sum as f32 * self.unit - doubt) + shift;
        // Below the threshold it falls twice as fast, so that ordinary texts are near 0.
        let x = if x < 0.0 { 2.0 * x } else { x };
        0.5 + 0.5 * x / (1.0 + x * x).sqrt()
    }
}
