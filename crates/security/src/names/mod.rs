//! Persons, addresses, places and organisations: what no pattern describes.
//!
//! A gate ([`gate`]) walks the whole text and stops only where something could be a name: at a
//! known given or family name, at two capitalised words in a row, at a title. Around such a place a
//! window of words ([`token`]) is labelled by a small linear sequence model ([`tagger`]) over hashed
//! features ([`features`]): the words, their shapes, what a gazetteer ([`gazetteer`]) knows about
//! them, the key in front of them (`author:`, `"name":`) and whether they stand among code. Where
//! code stands, single words are never taken for persons ([`accept`]).
//!
//! Beside the model stand two rules: a field's name says what its value is ([`field`]), and what
//! stands around a street belongs to its address ([`address`]). Some persons are told by what stands
//! beside them ([`beside`]), some by a table's column or a phrase ([`told`]).
//!
//! The model is trained by the `train names` command of the `training` package, which sees the text
//! through [`training`]: the very same windows and features.

mod accept;
mod address;
mod beside;
mod blocks;
mod columns;
mod features;
mod field;
mod gate;
mod gazetteer;
mod introduces;
mod key;
mod mail;
mod model;
mod native;
mod native_places;
mod native_words;
mod record;
mod tagger;
mod things;
mod token;
mod told;
pub mod training;
mod word;

use std::sync::LazyLock;

use crate::detectors::Budget;
use crate::finding::{Finding, settle};
use crate::kind::{Kind, Kinds};
use model::Model;
pub(crate) use told::{Column, introduced, mentioned, owner};

/// The trained model. `models/names.json` says what it was trained on.
static MODEL: LazyLock<Model> = LazyLock::new(|| {
    Model::parse(include_bytes!("../../models/names.bin")).unwrap_or_else(Model::empty)
});

/// What labelling a word costs, in about nanoseconds.
const COST_OF_A_WORD: usize = 100;
/// What it costs at least, beside names that pay for it: less, so that long tables are read.
const LEAST_COST_OF_A_WORD: usize = 34;
/// What a name costs at least, for the same reason half of what it takes.
const COST_OF_A_NAME: usize = 170;
/// How many words of a window a name pays for: its own and those beside it.
const WORDS_OF_A_NAME: usize = 8;

/// What this module finds.
pub const KINDS: Kinds =
    Kinds::of(&[Kind::Person, Kind::Address, Kind::Location, Kind::Organization]);

/// Adds the names of `kinds` in `text` to `out`.
pub fn find(text: &str, kinds: Kinds, out: &mut Vec<Finding>) {
    find_within(text, kinds, &Budget::new(kinds, 0), out);
    settle(out);
}

/// The same, as far as `budget` reaches.
pub(crate) fn find_within(text: &str, kinds: Kinds, budget: &Budget, out: &mut Vec<Finding>) {
    if kinds.intersects(KINDS) {
        find_with(&MODEL, text, kinds, budget, out);
    }
}

fn find_with(model: &Model, text: &str, kinds: Kinds, budget: &Budget, out: &mut Vec<Finding>) {
    let mut labels = tagger::Labels::default();
    let mut covered = 0;
    let mut natives = Vec::new();
    let mut native = |block: usize| {
        if kinds.contains(Kind::Person) && budget.has(block) {
            budget.spend(native::find(text, block, &mut natives));
        }
    };
    gate::windows(text, &model.gazetteer, (kinds, 0), budget, &mut native, |window| {
        let found = out.len();
        tagger::label(&model.tagger, window, &mut labels);
        accept::collect(text, window, &labels, &model.thresholds, kinds, &mut covered, out);
        let names = out.len().saturating_sub(found);
        let words = window.tokens.len();
        let in_vain = words.saturating_sub(WORDS_OF_A_NAME * names);
        let least = (LEAST_COST_OF_A_WORD * words).max(COST_OF_A_NAME * names);
        budget.spend(least.max(COST_OF_A_WORD * in_vain));
    });
    out.append(&mut natives);
    record::find(text, kinds, budget, out);
}

#[cfg(test)]
mod tests;
