//! Trains the model that tells attacks on the model, and judges it on sources that it has not seen.

mod corpus;
mod fit;
mod gate;
mod judge;
mod rows;

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use sluice_security::injection::features::{self, Features};
use sluice_security::injection::model::Model;
use sluice_security::injection::prefilter::{Prefilter, Weighted};

use self::corpus::Example;
use self::fit::{Bag, Settings};
use self::gate::Gate;
use crate::data::Provenance;

/// Where the project's own texts lie, from the repository's root.
const CORPUS: &str = "training/corpus/injection";
const MODEL: &str = "crates/security/models/injection.bin";
const PHRASES: &str = "crates/security/models/phrases.txt";
const RECORD: &str = "crates/security/models/injection.json";

const SETTINGS: Settings = Settings { epochs: 8, rate: 0.015, decay: 0.0003, dropout: 0.3 };

const GATE: gate::Settings = gate::Settings {
    epochs: 6,
    rate: 0.1,
    thrift: 0.01,
    keys: 100.0,
    harmless: 1.0,
    written: 0.7,
    phrases: 1500,
    opened: 0.05,
};

/// What the list of phrases begins with.
const ABOUT_PHRASES: &str = "\
# Phrases that make a place of a text worth a look at: weight, where the first key begins, phrase (· is
# a space). Made by `cargo xtask train injection`.
";

/// What is written beside the model.
#[derive(Serialize)]
struct Record {
    model: &'static str,
    blake3: String,
    settings: String,
    phrases: &'static str,
    phrases_blake3: String,
    phrases_settings: String,
    data: Vec<Provenance>,
    figures: judge::Figures,
}

/// Trains the model on all data and writes it with its record; with `check`, compares instead.
pub(crate) fn train(folder: &Path, check: bool) -> Result<()> {
    let examples = rows::read(folder, corpus::read(Path::new(CORPUS))?)?;
    println!("{} texts", examples.all.len());
    let sources: BTreeSet<&str> = examples.all.iter().map(|e| e.source.as_str()).collect();
    let sources: Vec<&str> = sources.into_iter().collect();
    let bags: Vec<Bag> = examples.all.iter().map(|example| bag(example, &sources)).collect();
    let gate = Gate::new(&examples.all, &sources)?;
    let phrases = list(&gate.choose(&examples.all, &sources, GATE, &[]));
    let choose =
        |fold: &[String]| Prefilter::new(&gate.choose(&examples.all, &sources, GATE, fold));
    let judged = judge::judge(&examples.all, &bags, &choose, SETTINGS);
    println!("{}", judged.figures);

    let weights = fit_on(&examples.all, &bags, SETTINGS, |_| true);
    let model = quantise(&weights, &judged);
    let bytes = model.to_bytes();
    let artefacts = [(MODEL, bytes.as_slice()), (PHRASES, phrases.as_bytes())];
    if check {
        for (path, bytes) in artefacts {
            let committed = fs::read(path).with_context(|| format!("cannot read {path}"))?;
            if committed != bytes {
                bail!("{path} is not what this data and this code give");
            }
            println!("{path} is what this data and this code give");
        }
        return Ok(());
    }
    let record = Record {
        model: MODEL,
        blake3: blake3::hash(&bytes).to_hex().to_string(),
        settings: format!("{SETTINGS:?}"),
        phrases: PHRASES,
        phrases_blake3: blake3::hash(phrases.as_bytes()).to_hex().to_string(),
        phrases_settings: format!("{GATE:?}"),
        data: examples.provenance,
        figures: judged.figures,
    };
    for (path, bytes) in artefacts {
        fs::write(path, bytes).with_context(|| format!("cannot write {path}"))?;
    }
    let mut json = serde_json::to_string_pretty(&record)?;
    json.push('\n');
    fs::write(RECORD, json).with_context(|| format!("cannot write {RECORD}"))?;
    Ok(())
}

/// The phrases as they are committed, one a line.
fn list(phrases: &[Weighted]) -> String {
    let lines = phrases.iter().map(|phrase| phrase.to_line() + "\n");
    std::iter::once(ABOUT_PHRASES.to_owned()).chain(lines).collect()
}

/// Fits a model on the examples that `keep` lets through.
fn fit_on(
    examples: &[Example],
    bags: &[Bag],
    settings: Settings,
    keep: impl Fn(&Example) -> bool,
) -> Vec<f32> {
    let kept: Vec<usize> = (0..examples.len()).filter(|i| keep(&examples[*i])).collect();
    let of: Vec<&Example> = kept.iter().map(|i| &examples[*i]).collect();
    let weights = rows::weights(&of);
    let bags: Vec<(&Bag, f32)> = kept.iter().map(|i| &bags[*i]).zip(weights).collect();
    fit::fit(&bags, settings)
}

/// A text to learn from.
fn bag(example: &Example, sources: &[&str]) -> Bag {
    let features = features::extract(&example.text, example.origin);
    let telling = match &example.payload {
        Some(range) => {
            let at = |offset: usize| features.starts.partition_point(|s| (*s as usize) < offset);
            at(range.start)..at(range.end)
        }
        None => 0..features.starts.len(),
    };
    let source = sources.iter().position(|source| *source == example.source).unwrap_or(0);
    new_bag(features, telling, example.is_attack, source)
}

/// What scoring looks at in a text: places, and each with what stands around it.
fn looked_at(prefilter: &Prefilter, example: &Example) -> Vec<(Bag, Bag)> {
    let bag = |features| new_bag(features, 0..0, example.is_attack, 0);
    let places = features::extract_places(prefilter, &example.text, example.origin).into_iter();
    places.map(|place| (bag(place.near), bag(place.wide))).collect()
}

fn new_bag(features: Features, telling: Range<usize>, is_attack: bool, source: usize) -> Bag {
    Bag { ends: features.ends, values: features.values, telling, is_attack, source }
}

fn quantise(weights: &[f32], judged: &judge::Judged) -> Model {
    let mut sizes: Vec<f32> = weights.iter().map(|w| w.abs()).filter(|w| *w > 0.0).collect();
    sizes.sort_by(f32::total_cmp);
    // The few largest are cut, so that the many small keep their differences.
    let largest = sizes.get(sizes.len() * 9995 / 10000).copied().unwrap_or(1.0);
    let unit = largest / 127.0;
    let quantised = weights.iter().map(|w| (w / unit).round().clamp(-127.0, 127.0) as i8).collect();
    let judge::Judged { of_user, of_tool, .. } = *judged;
    Model { unit, of_user, of_tool, weights: quantised }
}
