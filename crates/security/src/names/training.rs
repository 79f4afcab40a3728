//! What training needs: the windows and features that are labelled at run time, and the parts of a
//! model.

use super::tagger::Weights;
use super::{features, gate};
use crate::detectors::Budget;
use crate::finding::{Finding, settle};
use crate::kind::Kinds;

pub use super::features::{FEATURES, Row};
pub use super::gate::Region;
pub use super::gazetteer::{Flags, Gazetteer};
pub use super::model::{Model, REGIONS, Thresholds};
pub use super::tagger::{GROUPS, LABELS, Tagger, Transitions};

/// Words that follow each other and can be parts of names.
#[derive(Debug, Clone)]
pub struct Run {
    /// The words.
    pub words: Vec<Word>,
    /// What surrounds them.
    pub region: Region,
}

/// A word that is labelled.
#[derive(Debug, Clone)]
pub struct Word {
    /// Its first byte.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
    /// Its features.
    pub row: Row,
    /// Which transitions lead to it.
    pub group: usize,
}

/// The words of `text` that are labelled. `hide` other than 0 hides a fourth of the gazetteer's
/// names, another one for each value.
pub fn runs(text: &str, gazetteer: &Gazetteer, hide: u32) -> Vec<Run> {
    let mut runs = Vec::new();
    let budget = Budget::new(super::KINDS, 0);
    gate::windows(text, gazetteer, (super::KINDS, hide), &budget, &mut |_| {}, |window| {
        let mut run: Option<Run> = None;
        for (i, token) in window.tokens.iter().enumerate() {
            if !token.possible {
                runs.extend(run.take());
                continue;
            }
            run.get_or_insert_with(|| Run { words: Vec::new(), region: window.region }).words.push(
                Word {
                    start: token.start,
                    end: token.end,
                    row: features::of(text, window.tokens, i, window.region),
                    group: token.gap.group(),
                },
            );
        }
        runs.extend(run);
    });
    runs
}

/// A tagger of trained weights, of which there must be a power of two of rows.
pub fn tagger(rows: Vec<[i8; LABELS]>, transitions: Transitions) -> Tagger {
    Tagger { rows: rows.into_iter().map(|row| Weights::new(&row)).collect(), transitions }
}

/// What `model` finds in `text`, as [`super::find`] would with it.
pub fn find(model: &Model, text: &str, kinds: Kinds) -> Vec<Finding> {
    let mut findings = Vec::new();
    super::find_with(model, text, kinds, &Budget::new(kinds, 0), &mut findings);
    settle(&mut findings);
    findings
}
