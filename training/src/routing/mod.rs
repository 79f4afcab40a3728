//! Trains the model that tells task type and complexity, and judges it on what it has not seen.

pub(crate) mod fit;
pub(crate) mod held;
pub(crate) mod measure;
pub(crate) mod rows;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use sluice_routing::classify::model::{Blend, COLUMNS, Model};
use sluice_routing::task::TASK_TYPES;

use self::fit::{Fitted, Pace, Settings};
use self::rows::Examples;
use crate::data::Provenance;

/// Where labelled data for routing lies unless somebody says otherwise, from the repository's root.
pub(crate) const USUAL_FOLDER: &str = "../shared/data/routing";

const MODEL: &str = "crates/routing/models/task.bin";
const RECORD: &str = "crates/routing/models/task.json";

/// Chosen by leaving authors, subjects and benchmarks out.
pub(crate) const SETTINGS: Settings = Settings {
    epochs: 16,
    task: Pace { rate: 0.03, decay: 0.001 },
    field: Pace { rate: 0.015, decay: 0.002 },
    gain: Pace { rate: 0.02, decay: 0.03 },
    exam: Pace { rate: 0.02, decay: 0.001 },
    dropout: 0.2,
    smoothing: 0.15,
};

/// How complexity is made of its parts: chosen by hand from cross-validated figures.
pub(crate) const BLEND: Blend = Blend {
    exam_shift: -0.3,
    exam_gain: 3.0,
    exam_length: 0.55,
    math_length: 0.8,
    field_length: 0.12,
    field: 1.3,
};

/// Smoothed labels make the fitted probabilities too modest; this sharpens them to what
/// held-back authors show (the calibration table of the evaluation).
pub(crate) const SHARPNESS: f32 = 1.7;

/// What is written beside the model.
#[derive(Serialize)]
struct Record {
    model: &'static str,
    blake3: String,
    bytes: usize,
    settings: String,
    blend: String,
    data: Vec<Provenance>,
    figures: &'static str,
}

/// Trains the model on all data in `folder` and writes it with its record; with `check`, compares
/// instead.
pub(crate) fn train(folder: &Path, check: bool) -> Result<()> {
    let examples = rows::read(folder, Path::new("."))?;
    println!("{} prompts", examples.all.len());
    let bytes = model(&examples).to_bytes();
    if check {
        let committed = fs::read(MODEL).with_context(|| format!("cannot read {MODEL}"))?;
        if committed != bytes {
            bail!("{MODEL} is not what this data and this code give");
        }
        println!("{MODEL} is what this data and this code give");
        return Ok(());
    }
    let record = Record {
        model: MODEL,
        blake3: blake3::hash(&bytes).to_hex().to_string(),
        bytes: bytes.len(),
        settings: format!("{SETTINGS:?}"),
        blend: format!("{BLEND:?}, sharpness {SHARPNESS}"),
        data: examples.provenance,
        figures: "cargo xtask eval routing",
    };
    fs::write(MODEL, &bytes).with_context(|| format!("cannot write {MODEL}"))?;
    let mut json = serde_json::to_string_pretty(&record)?;
    json.push('\n');
    fs::write(RECORD, json).with_context(|| format!("cannot write {RECORD}"))?;
    println!("{MODEL}: {} bytes", bytes.len());
    Ok(())
}

/// The model of all examples.
fn model(examples: &Examples) -> Model {
    quantise(&fit::fit(&examples.all, SETTINGS, |_| true))
}

/// Each column's weights as whole numbers of a unit of its own.
fn quantise(fitted: &Fitted) -> Model {
    let mut units = [1.0; COLUMNS];
    for (column, unit) in units.iter_mut().enumerate() {
        let of_column = fitted.weights.iter().map(|row| row[column].abs());
        let mut sizes: Vec<f32> = of_column.filter(|size| *size > 0.0).collect();
        sizes.sort_by(f32::total_cmp);
        // The few largest are cut, so that the many small keep their differences.
        let largest = sizes.get(sizes.len() * 9995 / 10000).copied().unwrap_or(1.0);
        *unit = largest / 127.0;
    }
    let row = |row: &[f32; COLUMNS]| {
        std::array::from_fn(|i| (row[i] / units[i]).round().clamp(-127.0, 127.0) as i8)
    };
    let weights = fitted.weights.iter().map(row).collect();
    let sharp = |i: usize| if i < TASK_TYPES { SHARPNESS } else { 1.0 };
    let shifts = std::array::from_fn(|i| fitted.shifts[i] * sharp(i));
    Model { units: std::array::from_fn(|i| units[i] * sharp(i)), shifts, blend: BLEND, weights }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slow without optimisation: `cargo test --release -p sluice-training -- --ignored`.
    #[test]
    #[ignore = "takes minutes without optimisation"]
    fn training_gives_the_committed_bytes() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let data = root.join(USUAL_FOLDER);
        if !data.exists() {
            println!("skipped: there is no {}", data.display());
            return;
        }
        let examples = rows::read(&data, &root).unwrap();
        let committed = fs::read(root.join(MODEL)).unwrap();
        assert!(
            model(&examples).to_bytes() == committed,
            "the artefact is out of date: run `cargo xtask train routing`"
        );
    }
}
