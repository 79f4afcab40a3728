//! Trains the model of names and addresses, and says how good it is on what it has not seen.
//!
//! The artefact is trained on one part of the data only: sentences whose template, files whose
//! repository and rows whose number fall into the held-back part never enter it, and neither do the
//! generated records of `pii_dev.jsonl`. So whoever judges the product on that part judges fairly.

mod addresses;
mod corpus;
mod evaluate;
mod examples;
mod generate;
mod lists;
mod perceptron;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use sluice_security::names::training::{Gazetteer, LABELS, Model, REGIONS};

use crate::data::Provenance;

/// Where the artefact lies, from the repository's root.
const ARTEFACT: &str = "crates/security/models/names.bin";
/// What it was made of.
const RECORD: &str = "crates/security/models/names.json";

/// What an artefact was made of, and how.
#[derive(Debug, Serialize)]
struct Record {
    model: &'static str,
    artefact_blake3: String,
    artefact_bytes: usize,
    data: Vec<Provenance>,
    corpus: Vec<Provenance>,
    settings: perceptron::Settings,
    held_back: &'static str,
}

/// Trains on the data in `folder`. Writes the artefact and its record, or, to `check`, compares the
/// artefact with the one that is there.
pub(crate) fn train(folder: &Path, check: bool, verbose: bool) -> Result<()> {
    let corpus = corpus::read(folder)?;
    let settings = perceptron::Settings::default();
    let model = fit(&corpus, &settings);
    let bytes = model.to_bytes();
    evaluate::report(&model, &corpus, verbose);
    if check {
        let committed = fs::read(ARTEFACT).context(ARTEFACT)?;
        ensure!(committed == bytes, "{ARTEFACT} is not what this data and this code give");
        println!("{ARTEFACT} is what this data and this code give");
        return Ok(());
    }
    let record = Record {
        model: "averaged perceptron over words, five labels, with a gazetteer",
        artefact_blake3: blake3::hash(&bytes).to_hex().to_string(),
        artefact_bytes: bytes.len(),
        data: corpus.provenance,
        corpus: lists::provenance(),
        settings,
        held_back: "a fifth of the templates, rows and repositories, and all generated records: see training/src/names/corpus.rs",
    };
    fs::write(ARTEFACT, &bytes).context(ARTEFACT)?;
    fs::write(RECORD, serde_json::to_string_pretty(&record)? + "\n").context(RECORD)?;
    println!("{ARTEFACT}: {} bytes", bytes.len());
    Ok(())
}

/// The model of the corpus's training part.
fn fit(corpus: &corpus::Corpus, settings: &perceptron::Settings) -> Model {
    let gazetteer = gazetteer(corpus);
    let sequences = examples::sequences(corpus, &gazetteer);
    println!(
        "{} sequences, {} words",
        sequences.len(),
        sequences.iter().map(|sequence| sequence.gold.len()).sum::<usize>()
    );
    let tagger = perceptron::train(&sequences, settings);
    Model { gazetteer, tagger, thresholds: [[0; LABELS]; REGIONS] }
}

fn gazetteer(corpus: &corpus::Corpus) -> Gazetteer {
    let mut words = lists::flagged_words();
    words.extend(corpus.ordinary_words());
    Gazetteer::build(words.iter().map(|(word, flags)| (word.as_str(), *flags)))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Slow without optimisation: `cargo test --release -p sluice-training -- --ignored`.
    #[test]
    #[ignore = "takes minutes without optimisation"]
    fn training_gives_the_committed_bytes() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let data = root.join(crate::data::USUAL_FOLDER);
        if !data.exists() {
            println!("skipped: there is no {}", data.display());
            return;
        }
        let corpus = corpus::read(&data).unwrap();
        let model = fit(&corpus, &perceptron::Settings::default());
        let committed = fs::read(root.join(ARTEFACT)).unwrap();
        assert!(
            model.to_bytes() == committed,
            "the artefact is out of date: run `cargo xtask train names`"
        );
    }
}
