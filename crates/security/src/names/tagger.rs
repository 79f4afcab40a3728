//! A linear sequence model: a label for each word, the best sequence by dynamic programming.

use super::features::{self, FEATURES, Row};
use super::gate::Window;

/// How many labels there are: none, and one for each kind of name.
pub const LABELS: usize = 5;
/// Where neighbouring words' labels depend on what stands between them.
pub const GROUPS: usize = 4;

/// Scores of neighbouring labels.
pub type Transitions = [[[i16; LABELS]; LABELS]; GROUPS];

/// The weights.
#[derive(Debug, Clone)]
pub struct Tagger {
    /// A power of two of rows. Three values of each row are padding.
    pub(super) rows: Vec<[i8; 8]>,
    pub(super) transitions: Transitions,
}

/// What the words of a window are.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// The label of each word.
    pub(super) best: Vec<u8>,
    /// How much better it is for each word than none.
    pub(super) margin: Vec<i32>,
    scores: Vec<[i32; LABELS]>,
    back: Vec<[u8; LABELS]>,
}

impl Tagger {
    /// A tagger that labels nothing.
    pub(super) fn empty() -> Self {
        Self { rows: vec![[0; 8]], transitions: [[[0; LABELS]; LABELS]; GROUPS] }
    }

    /// The scores of a word's labels.
    #[inline]
    fn scores(&self, row: &Row) -> [i32; LABELS] {
        let mask = self.rows.len() - 1;
        let mut sums = [0_i16; 8];
        for feature in row {
            let weights = &self.rows[*feature as usize & mask];
            for (sum, weight) in sums.iter_mut().zip(weights) {
                // 26 features of at most 127 stay below 16 bits.
                *sum = sum.wrapping_add(i16::from(*weight));
            }
        }
        std::array::from_fn(|label| i32::from(sums[label]))
    }
}

const _: () = assert!(FEATURES * 127 < i16::MAX as usize);

/// Labels the words of `window`.
pub(super) fn label(tagger: &Tagger, window: &Window<'_>, labels: &mut Labels) {
    let tokens = window.tokens;
    labels.best.clear();
    labels.best.resize(tokens.len(), 0);
    labels.margin.clear();
    labels.margin.resize(tokens.len(), 0);
    let mut start = 0;
    while start < tokens.len() {
        if !tokens[start].possible {
            start += 1;
            continue;
        }
        let len = tokens[start..].iter().take_while(|token| token.possible).count();
        label_run(tagger, window, start, start + len, labels);
        start += len;
    }
}

/// Labels words that follow each other, all of which can be parts of names.
fn label_run(tagger: &Tagger, window: &Window<'_>, start: usize, end: usize, labels: &mut Labels) {
    labels.scores.clear();
    labels.back.clear();
    let mut total = [0_i32; LABELS];
    for i in start..end {
        let row = features::of(window.text, window.tokens, i, window.region);
        let scores = tagger.scores(&row);
        let moves = &tagger.transitions[window.tokens[i].gap.group()];
        let mut next = [0; LABELS];
        let mut back = [0; LABELS];
        for (label, best) in next.iter_mut().enumerate() {
            // What stands before the run has no label.
            let (from, score) = if i == start {
                (0, i32::from(moves[0][label]))
            } else {
                best_move(&total, moves, label)
            };
            *best = score + scores[label];
            back[label] = from;
        }
        total = next;
        labels.scores.push(scores);
        labels.back.push(back);
    }
    let mut label = 0;
    for (candidate, score) in total.iter().enumerate() {
        if *score > total[label] {
            label = candidate;
        }
    }
    for i in (start..end).rev() {
        labels.best[i] = label as u8;
        let scores = &labels.scores[i - start];
        labels.margin[i] = scores[label] - scores[0];
        label = usize::from(labels.back[i - start][label]);
    }
}

#[inline]
fn best_move(total: &[i32; LABELS], moves: &[[i16; LABELS]; LABELS], to: usize) -> (u8, i32) {
    let mut best = (0, total[0] + i32::from(moves[0][to]));
    for from in 1..LABELS {
        let score = total[from] + i32::from(moves[from][to]);
        if score > best.1 {
            best = (from as u8, score);
        }
    }
    best
}
