//! Tells text that attacks the model: orders to set its instructions aside, to reveal them, to play
//! somebody without rules, to send or destroy things, hidden in what a tool returned.
//!
//! A linear model looks at words and at the ideas that they stand for in many languages, in windows
//! of a text; the most suspicious window decides, so that one sentence in a long document is seen.
//! Figures by source are in `models/injection.json`, with the data that the model was trained on.

pub mod features;
mod lexicon;
pub mod model;
mod normalise;
mod prefilter;
mod tokens;
pub mod windows;

use std::ops::Range;

use features::Reader;
use lexicon::Lexicon;
use model::Model;
use tokens::{Token, tokenise};

/// Where a text comes from, as far as the caller knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Origin {
    /// The deployment's own instructions. Not attacked from: scored like a user's text if asked.
    System = 0,
    /// What a person typed.
    User = 1,
    /// What a model answered earlier.
    Assistant = 2,
    /// What a tool returned, or a document: nobody there has a say in what the model does.
    Tool = 3,
}

/// From this score on a text is flagged.
pub const USUAL: f32 = 0.5;
/// From this score on a text is refused where even rare mistakes matter.
pub const STRICT: f32 = 0.9;

/// How much a text looks like an attack on the model, from 0 to 1.
pub fn score(text: &str, origin: Origin) -> f32 {
    let Some(model) = Model::usual() else { return 0.0 };
    score_with(model, text, origin)
}

/// [`score`] with a model of one's own.
pub fn score_with(model: &Model, text: &str, origin: Origin) -> f32 {
    Scorer::new(model, origin).worst(text).map_or(0.0, |worst| model.calibrate(worst.sum))
}

/// Why a text has its score, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The score.
    pub score: f32,
    /// The most suspicious part of the text, in bytes.
    pub place: Range<usize>,
    /// The ideas that speak most for an attack there, the strongest first: `override`, `reveal`.
    pub ideas: Vec<&'static str>,
}

/// Why `text` has its score; `None` where nothing in it is worth a look.
pub fn explain(text: &str, origin: Origin) -> Option<Explanation> {
    explain_with(Model::usual()?, text, origin)
}

/// [`explain`] with a model of one's own.
pub fn explain_with(model: &Model, text: &str, origin: Origin) -> Option<Explanation> {
    let mut scorer = Scorer::new(model, origin);
    let worst = scorer.worst(text)?;
    let score = model.calibrate(worst.sum);
    let ideas = scorer.ideas(text, &worst);
    Some(Explanation { score, place: worst.bytes, ideas })
}

/// Scores one place after the other.
struct Scorer<'a> {
    model: &'a Model,
    reader: Reader,
    tokens: Vec<Token>,
    /// The sum of the weights of all tokens before each.
    sums: Vec<i32>,
}

/// The most suspicious window.
struct Worst {
    sum: i32,
    /// The place that it is in.
    place: Range<usize>,
    /// Its tokens, counted from the place's beginning.
    window: Range<usize>,
    /// Its bytes in the whole text.
    bytes: Range<usize>,
}

impl<'a> Scorer<'a> {
    fn new(model: &'a Model, origin: Origin) -> Self {
        Self { model, reader: Reader::new(origin), tokens: Vec::new(), sums: Vec::new() }
    }

    fn worst(&mut self, text: &str) -> Option<Worst> {
        let mut worst: Option<Worst> = None;
        for place in prefilter::places(text) {
            self.read(text, &place);
            let Some((sum, window)) = self.worst_window() else { continue };
            if worst.as_ref().is_none_or(|worst| sum > worst.sum) {
                let start = self.tokens[window.start].start as usize;
                let end = self.tokens.get(window.end).map_or(place.end, |next| next.start as usize);
                worst = Some(Worst { sum, place, window, bytes: start..end });
            }
        }
        worst
    }

    fn read(&mut self, text: &str, place: &Range<usize>) {
        self.tokens.clear();
        self.sums.clear();
        let Some(part) = text.get(place.clone()) else { return };
        tokenise(part, place.start, &mut self.tokens);
        let mut sum = 0;
        self.sums.push(sum);
        for i in 0..self.tokens.len() {
            self.reader.read(&self.tokens, i, |feature| sum += self.model.weight(feature));
            self.sums.push(sum);
        }
        self.reader.restart(self.tokens.len());
    }

    fn worst_window(&self) -> Option<(i32, Range<usize>)> {
        let judged = windows::all(self.tokens.len()).map(|window| {
            let length = self.model.weight(features::length_feature(window.len()));
            (self.sums[window.end] - self.sums[window.start] + length, window)
        });
        judged.max_by_key(|(sum, _)| *sum)
    }

    /// The ideas in a window whose tokens add most to its sum.
    fn ideas(&mut self, text: &str, worst: &Worst) -> Vec<&'static str> {
        self.read(text, &worst.place);
        let lexicon = Lexicon::usual();
        let mut found: Vec<(i32, &'static str)> = Vec::new();
        for i in worst.window.clone() {
            let weight = self.sums[i + 1] - self.sums[i];
            let name = lexicon.name(self.tokens[i].idea);
            if weight <= 0 || name.is_empty() {
                continue;
            }
            match found.iter_mut().find(|(_, known)| *known == name) {
                Some((sum, _)) => *sum += weight,
                None => found.push((weight, name)),
            }
        }
        found.sort_by_key(|(sum, _)| -sum);
        found.into_iter().map(|(_, name)| name).take(5).collect()
    }
}

#[cfg(test)]
mod tests;
