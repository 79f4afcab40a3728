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
    /// A power of two of rows.
    pub(super) rows: Vec<Weights>,
    pub(super) transitions: Transitions,
}

/// What a feature says for each label.
///
/// A byte each, with 128 added to it, in one word: so all of a row's are added up at once, in lanes of
/// 16 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights(u64);

impl Weights {
    /// What is added to each: no lane goes below zero.
    const OFFSET: i32 = 128;

    pub(super) fn new(weights: &[i8; LABELS]) -> Self {
        let byte = |weight: &i8| u64::from(weight.cast_unsigned() ^ 0x80);
        Self(weights.iter().rev().fold(0, |all, weight| all << 8 | byte(weight)))
    }

    /// The weights, as the model's file has them.
    pub(super) fn bytes(self) -> impl Iterator<Item = u8> {
        self.0.to_le_bytes().into_iter().take(LABELS).map(|byte| byte ^ 0x80)
    }
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
        Self {
            rows: vec![Weights::new(&[0; LABELS])],
            transitions: [[[0; LABELS]; LABELS]; GROUPS],
        }
    }

    /// The scores of a word's labels.
    #[inline]
    fn scores(&self, row: &Row) -> [i32; LABELS] {
        const LANES: u64 = 0x00FF_00FF_00FF_00FF;
        let mask = self.rows.len() - 1;
        let (mut even, mut odd) = (0, 0);
        for feature in row {
            let Weights(weights) = self.rows[*feature as usize & mask];
            even += weights & LANES;
            odd += weights >> 8 & LANES;
        }
        let lane = |lanes: u64, i: u32| {
            (lanes >> (16 * i) & 0xFFFF) as i32 - Weights::OFFSET * FEATURES as i32
        };
        [lane(even, 0), lane(odd, 0), lane(even, 1), lane(odd, 1), lane(even, 2)]
    }
}

const _: () = assert!(FEATURES * 255 <= u16::MAX as usize);

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
