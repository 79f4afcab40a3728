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
mod plain;
pub mod prefilter;
mod tokens;
pub mod windows;

use std::cell::Cell;
use std::iter;
use std::ops::Range;

use features::{Reader, Recent};
use lexicon::Lexicon;
use model::Model;
use prefilter::{Prefilter, widened};
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

/// How many bytes more on either side are read of a place that looks like an attack.
const FURTHER: usize = 160;
/// From which log-odds on it does.
pub const PROMISING: f32 = -1.0;

/// A text of so many bytes is short: what a tool returned, and anything else.
const SHORT_OF_TOOL: usize = 600;
const SHORT: usize = 200;

/// Reads the model and makes the tables, which otherwise the first text has to wait for.
pub(crate) fn warm() {
    Model::usual();
    Lexicon::usual();
    prefilter::warm();
}

/// How much a text looks like an attack on the model, from 0 to 1.
pub fn score(text: &str, origin: Origin) -> f32 {
    let Some(model) = Model::usual() else { return 0.0 };
    score_with(Prefilter::usual(), model, text, origin)
}

/// [`score`] with a prefilter and a model of one's own.
pub fn score_with(prefilter: &Prefilter, model: &Model, text: &str, origin: Origin) -> f32 {
    Scorer::new(prefilter, model, origin)
        .worst(text)
        .map_or(0.0, |worst| worst.score(model, origin))
}

/// The places of `text` that are worth a look, in order.
///
/// A short text is looked at whole: it may attack in words that no phrase foresees, and costs little.
/// Of what a tool returned more is short, since there an attack need not even sound like one.
fn places(prefilter: &Prefilter, text: &str, origin: Origin) -> Vec<Range<usize>> {
    let is_short = match origin {
        Origin::Tool => text.len() <= SHORT_OF_TOOL,
        Origin::User => text.len() <= SHORT,
        Origin::System | Origin::Assistant => false,
    };
    if is_short { iter::once(0..text.len()).collect() } else { prefilter.places(text) }
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
    let model = Model::usual()?;
    let mut scorer = Scorer::new(Prefilter::usual(), model, origin);
    let worst = scorer.worst(text)?;
    let score = worst.score(model, origin);
    let ideas = scorer.ideas(text, &worst);
    Some(Explanation { score, place: worst.bytes, ideas })
}

/// Scores one place after the other.
struct Scorer<'a> {
    prefilter: &'a Prefilter,
    model: &'a Model,
    origin: Origin,
    /// None until there is something to score, which most texts have not.
    buffers: Option<Buffers>,
}

/// What a place is scored with. It is larger than most texts, and so is used again and again.
struct Buffers {
    recent: Recent,
    tokens: Vec<Token>,
    /// The sum of the weights of all tokens before each.
    sums: Vec<i32>,
}

thread_local! {
    static BUFFERS: Cell<Option<Buffers>> = const { Cell::new(None) };
}

impl Buffers {
    /// Buffers as if they were new.
    fn take() -> Self {
        BUFFERS.take().unwrap_or_else(|| Self {
            recent: Recent::new(),
            tokens: Vec::new(),
            sums: Vec::new(),
        })
    }
}

impl Drop for Scorer<'_> {
    fn drop(&mut self) {
        // After a panic they may be in any state.
        if let Some(buffers) = self.buffers.take().filter(|_| !std::thread::panicking()) {
            BUFFERS.set(Some(buffers));
        }
    }
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
    /// How many tokens were looked at to find it.
    looked_at: usize,
}

impl Worst {
    fn score(&self, model: &Model, origin: Origin) -> f32 {
        model.calibrate(self.sum, windows::doubt(self.looked_at), origin)
    }
}

impl<'a> Scorer<'a> {
    fn new(prefilter: &'a Prefilter, model: &'a Model, origin: Origin) -> Self {
        Self { prefilter, model, origin, buffers: None }
    }

    fn worst(&mut self, text: &str) -> Option<Worst> {
        let mut worst: Option<Worst> = None;
        let mut looked_at = 0;
        let model = self.model;
        for mut place in places(self.prefilter, text, self.origin) {
            let Some((mut sum, mut window)) = self.read(text, &place).worst_window(model) else {
                continue;
            };
            // What stands around is read only where it may matter.
            if model.is_promising(sum) {
                place = widened(text, &place, FURTHER);
                let wide = self.read(text, &place).worst_window(model);
                (sum, window) = wide.unwrap_or((sum, window));
            }
            let buffers = self.buffers();
            looked_at += buffers.tokens.len();
            if worst.as_ref().is_none_or(|worst| sum > worst.sum) {
                let start_of = |i: usize| buffers.tokens.get(i).map(|token| token.start as usize);
                let start = start_of(window.start).unwrap_or(place.start);
                let end = start_of(window.end).unwrap_or(place.end);
                worst = Some(Worst { sum, place, window, bytes: start..end, looked_at });
            }
        }
        worst.map(|worst| Worst { looked_at, ..worst })
    }

    fn buffers(&mut self) -> &mut Buffers {
        self.buffers.get_or_insert_with(Buffers::take)
    }

    fn read(&mut self, text: &str, place: &Range<usize>) -> &Buffers {
        let (model, origin) = (self.model, self.origin);
        let buffers = self.buffers();
        let Buffers { recent, tokens, sums } = buffers;
        recent.restart(tokens.len());
        tokens.clear();
        sums.clear();
        if let Some(part) = text.get(place.clone()) {
            tokenise(part, place.start, tokens);
        }
        let mut reader = Reader::new(origin);
        let mut sum = 0;
        sums.push(sum);
        for i in 0..tokens.len() {
            let number = recent.number(i);
            reader.read(tokens, i, |feature| {
                if recent.is_new(feature, number) {
                    sum += model.weight(feature);
                }
            });
            sums.push(sum);
        }
        buffers
    }

    /// The ideas in a window whose tokens add most to its sum.
    fn ideas(&mut self, text: &str, worst: &Worst) -> Vec<&'static str> {
        let buffers = self.read(text, &worst.place);
        let lexicon = Lexicon::usual();
        let mut found: Vec<(i32, &'static str)> = Vec::new();
        for i in worst.window.clone() {
            let weight = buffers.sums[i + 1] - buffers.sums[i];
            let name = lexicon.name(buffers.tokens[i].idea);
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

impl Buffers {
    fn worst_window(&self, model: &Model) -> Option<(i32, Range<usize>)> {
        let judged = windows::all(self.tokens.len()).map(|window| {
            let length = model.weight(features::length_feature(window.len()));
            (self.sums[window.end] - self.sums[window.start] + length, window)
        });
        judged.max_by_key(|(sum, _)| *sum)
    }
}

#[cfg(test)]
mod tests;
