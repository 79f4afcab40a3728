//! The model: sixteen small weights for each feature, as they lie in the artefact.

use std::sync::LazyLock;

use super::features::{BUCKETS, Features};
use crate::task::{TASK_TYPES, TaskType};

/// Columns of the table: a task type each, and three for complexity.
pub const COLUMNS: usize = 16;
/// How much it takes, as people who work with software say.
pub const FIELD: usize = 13;
/// What a strong model gains over a weak one, as outcomes of benchmarks say.
pub const GAIN: usize = 14;
/// Whether it is a question like those of benchmarks.
pub const EXAM: usize = 15;

/// What an artefact begins with: name and version.
const MAGIC: &[u8; 8] = b"sluicer1";
const SCALARS: usize = 2 * COLUMNS + Blend::SCALARS;
const HEADER: usize = MAGIC.len() + SCALARS * 4;

static USUAL: LazyLock<Option<Model>> =
    LazyLock::new(|| Model::parse(include_bytes!("../../models/task.bin")));

/// A linear model with quantised weights. Sums are whole numbers, so they are the same everywhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What a weight of 1 stands for, in log-odds, by column.
    pub units: [f32; COLUMNS],
    /// What is added, by column.
    pub shifts: [f32; COLUMNS],
    /// How complexity is made of its parts.
    pub blend: Blend,
    /// The features' weights.
    pub weights: Vec<[i8; COLUMNS]>,
}

/// How complexity is made of its parts. No factor is negative: more of a part is never less
/// complexity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blend {
    /// What is added for questions like those of benchmarks.
    pub exam_shift: f32,
    /// What the gain counts for them.
    pub exam_gain: f32,
    /// What a doubling of the length counts for them, …
    pub exam_length: f32,
    /// … and what it counts for calculations without answers to choose from, where the gain says
    /// nothing of others.
    pub math_length: f32,
    /// What a doubling of the length counts for others.
    pub field_length: f32,
    /// What people say counts for others.
    pub field: f32,
}

/// What of a text's size and form counts for complexity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// The binary logarithm of its bytes.
    pub log_length: f32,
    /// Whether answers to choose from are listed.
    pub has_choices: bool,
}

impl Blend {
    const SCALARS: usize = 6;

    fn of(scalars: [f32; Self::SCALARS]) -> Self {
        let [exam_shift, exam_gain, exam_length, math_length, field_length, field] = scalars;
        Self { exam_shift, exam_gain, exam_length, math_length, field_length, field }
    }

    fn scalars(&self) -> [f32; Self::SCALARS] {
        let Self { exam_shift, exam_gain, exam_length, math_length, field_length, field } = *self;
        [exam_shift, exam_gain, exam_length, math_length, field_length, field]
    }

    /// Complexity as log-odds, from the columns, the task types' probabilities and the text's size.
    pub fn log_odds(&self, columns: &[f32; COLUMNS], tasks: &[f32; TASK_TYPES], size: Size) -> f32 {
        // Sharper than it was learned: outcomes of exams say nothing of what is probably none.
        let exam = logistic(2.0 * columns[EXAM] - 2.0);
        // Around the length of an ordinary message.
        let length = size.log_length - 7.5;
        let math = if size.has_choices { 0.0 } else { tasks[TaskType::Math.index()] };
        let gain = self.exam_gain * columns[GAIN] + self.exam_length * length;
        let as_exam = self.exam_shift + (1.0 - math) * gain + math * self.math_length * length;
        let as_field = self.field * columns[FIELD] + self.field_length * length;
        exam * as_exam + (1.0 - exam) * as_field
    }
}

impl Model {
    /// The model that comes with the router; `None` if its artefact is broken, which a test forbids.
    pub fn usual() -> Option<&'static Self> {
        USUAL.as_ref()
    }

    /// Reads an artefact.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (header, weights) = bytes.split_at_checked(HEADER)?;
        if !header.starts_with(MAGIC) || weights.len() != BUCKETS * COLUMNS {
            return None;
        }
        let mut scalars = [0.0; SCALARS];
        for (scalar, bytes) in scalars.iter_mut().zip(header[MAGIC.len()..].chunks_exact(4)) {
            *scalar = f32::from_le_bytes(*bytes.first_chunk()?);
        }
        let (units, rest) = scalars.split_first_chunk()?;
        let (shifts, rest) = rest.split_first_chunk()?;
        let blend = Blend::of(*rest.first_chunk()?);
        let row = |row: &[u8]| std::array::from_fn(|i| i8::from_le_bytes([row[i]]));
        let weights = weights.chunks_exact(COLUMNS).map(row).collect();
        Some(Self { units: *units, shifts: *shifts, blend, weights })
    }

    /// The artefact.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for scalar in self.units.iter().chain(&self.shifts).chain(&self.blend.scalars()) {
            bytes.extend(scalar.to_le_bytes());
        }
        bytes.extend(self.weights.iter().flatten().flat_map(|weight| weight.to_le_bytes()));
        bytes
    }

    /// Each column's log-odds.
    pub fn columns(&self, features: &Features) -> [f32; COLUMNS] {
        let words = self.sum(&features.words);
        let dense = self.sum(&features.dense);
        let weight = features.word_weight();
        std::array::from_fn(|i| {
            #[expect(clippy::cast_precision_loss, reason = "below 2^24")]
            let sum = words[i] as f32 * weight + dense[i] as f32;
            sum * self.units[i] + self.shifts[i]
        })
    }

    fn sum(&self, buckets: &[u16]) -> [i32; COLUMNS] {
        let mut sum = [0; COLUMNS];
        // So many that a block's sums fit in sixteen bits.
        for block in buckets.chunks(256) {
            let mut part = [0_i16; COLUMNS];
            for bucket in block {
                let row = &self.weights[usize::from(*bucket)];
                for (part, weight) in part.iter_mut().zip(row) {
                    *part += i16::from(*weight);
                }
            }
            for (sum, part) in sum.iter_mut().zip(part) {
                *sum += i32::from(part);
            }
        }
        sum
    }
}

/// Probabilities of the task types from their log-odds.
pub fn softmax(columns: &[f32; COLUMNS]) -> [f32; TASK_TYPES] {
    let largest = columns[..TASK_TYPES].iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut all: [f32; TASK_TYPES] = std::array::from_fn(|i| exp(columns[i] - largest));
    let sum: f32 = all.iter().sum();
    for each in &mut all {
        *each /= sum;
    }
    all
}

/// 1 / (1 + e^-x).
pub fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// e^x between e^-20 and e^20, from operations that give the same bits on every machine.
pub fn exp(x: f32) -> f32 {
    // e^x as (e^(x / 256))^256; the inner one by its series.
    let y = x.clamp(-20.0, 20.0) / 256.0;
    let mut e = 1.0 + y * (1.0 + y / 2.0 * (1.0 + y / 3.0 * (1.0 + y / 4.0)));
    for _ in 0..8 {
        e *= e;
    }
    e
}
