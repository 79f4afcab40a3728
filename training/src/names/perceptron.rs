//! An averaged structured perceptron in whole numbers: the same bytes on every machine.

use serde::Serialize;
use sluice_security::names::training::{GROUPS, LABELS, Region, Row, Tagger, Transitions, tagger};

use super::examples::Sequence;
use super::generate::Rng;

/// How it is trained.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Settings {
    /// Rows of the weights' table, as a power of two.
    pub(super) row_bits: u32,
    pub(super) rounds: usize,
    /// By how much the right labels have to win: the margin.
    pub(super) margin: i32,
    /// What more it takes for words without a name to be safe, in prose, mixed text, code and text in
    /// lower case.
    pub(super) caution: [i32; 4],
    /// How many of a hundred times the words around a name are hidden.
    pub(super) dropout: usize,
    pub(super) seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { row_bits: 16, rounds: 8, margin: 12, caution: [4, 16, 30, 10], dropout: 40, seed: 7 }
    }
}

/// Features with words around a name. Where they are hidden, the model has to tell names by what
/// they are, and does not rely on the templates' words.
const LEXICAL: [usize; 8] = [2, 3, 4, 5, 6, 16, 17, 19];

/// Weights in training: the sums of all rounds' values come from `spent` at the end.
struct Weights {
    rows: Vec<[i32; LABELS]>,
    rows_spent: Vec<[i64; LABELS]>,
    moves: [[[i32; LABELS]; LABELS]; GROUPS],
    moves_spent: [[[i64; LABELS]; LABELS]; GROUPS],
    step: i64,
}

/// Learns from `sequences`.
pub(super) fn train(sequences: &[Sequence], settings: &Settings) -> Tagger {
    let rows = 1_usize << settings.row_bits;
    let mut weights = Weights {
        rows: vec![[0; LABELS]; rows],
        rows_spent: vec![[0; LABELS]; rows],
        moves: Default::default(),
        moves_spent: Default::default(),
        step: 1,
    };
    let mut order: Vec<usize> = Vec::new();
    for (i, sequence) in sequences.iter().enumerate() {
        order.extend(std::iter::repeat_n(i, sequence.times));
    }
    let mut rng = Rng::new(settings.seed);
    let mut decoder = Decoder::default();
    for _ in 0..settings.rounds {
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i + 1));
        }
        for i in &order {
            let sequence = &sequences[*i];
            let caution = match sequence.region {
                Region::Prose => settings.caution[0],
                Region::Mixed => settings.caution[1],
                Region::Code => settings.caution[2],
                Region::Lower => settings.caution[3],
            };
            let hidden = rng.chance(settings.dropout);
            decoder.decode(&weights, sequence, settings.margin, caution, hidden);
            if decoder.best != sequence.gold {
                weights.learn(sequence, &decoder.best, hidden);
            }
            weights.step += 1;
        }
    }
    weights.averaged()
}

impl Weights {
    fn learn(&mut self, sequence: &Sequence, wrong: &[u8], hidden: bool) {
        let mask = self.rows.len() - 1;
        let (mut gold_before, mut wrong_before) = (0, 0);
        for (i, row) in sequence.rows.iter().enumerate() {
            let (gold, wrong) = (usize::from(sequence.gold[i]), usize::from(wrong[i]));
            if gold != wrong {
                for feature in visible(row, hidden) {
                    let at = *feature as usize & mask;
                    self.rows[at][gold] += 1;
                    self.rows[at][wrong] -= 1;
                    self.rows_spent[at][gold] += self.step;
                    self.rows_spent[at][wrong] -= self.step;
                }
            }
            if gold != wrong || gold_before != wrong_before {
                let group = sequence.groups[i];
                self.moves[group][gold_before][gold] += 1;
                self.moves[group][wrong_before][wrong] -= 1;
                self.moves_spent[group][gold_before][gold] += self.step;
                self.moves_spent[group][wrong_before][wrong] -= self.step;
            }
            (gold_before, wrong_before) = (gold, wrong);
        }
    }

    /// The averages over all steps, scaled so that nearly all fit eight bits.
    fn averaged(&self) -> Tagger {
        // Thousandths of the average; the scale takes them away again.
        let average =
            |weight: i32, spent: i64| (i64::from(weight) * self.step - spent) * 1000 / self.step;
        let rows: Vec<[i64; LABELS]> = self
            .rows
            .iter()
            .zip(&self.rows_spent)
            .map(|(row, spent)| std::array::from_fn(|i| average(row[i], spent[i])))
            .collect();
        let mut sizes: Vec<i64> =
            rows.iter().flatten().map(|weight| weight.abs()).filter(|weight| *weight > 0).collect();
        sizes.sort_unstable();
        let largest = sizes.get(sizes.len() * 9995 / 10_000).copied().unwrap_or(1).max(1);
        let scaled = |weight: i64| (2 * weight * 127 + largest * weight.signum()) / (2 * largest);
        let quantised = rows
            .iter()
            .map(|row| row.map(|weight| scaled(weight).clamp(-127, 127) as i8))
            .collect();
        let mut moves: Transitions = Default::default();
        for (group, spent) in moves.iter_mut().zip(0..GROUPS) {
            for (from, row) in group.iter_mut().enumerate() {
                for (to, quantised) in row.iter_mut().enumerate() {
                    let weight =
                        average(self.moves[spent][from][to], self.moves_spent[spent][from][to]);
                    *quantised = scaled(weight).clamp(-3000, 3000) as i16;
                }
            }
        }
        tagger(quantised, moves)
    }
}

/// The features of `row`, without those of the words around where they are hidden.
fn visible(row: &Row, hidden: bool) -> impl Iterator<Item = &u32> {
    row.iter()
        .enumerate()
        .filter(move |(i, _)| !(hidden && LEXICAL.contains(i)))
        .map(|(_, hash)| hash)
}

/// Finds the best labels for the weights of the moment.
#[derive(Default)]
struct Decoder {
    best: Vec<u8>,
    back: Vec<[u8; LABELS]>,
}

impl Decoder {
    /// Wrong labels get `margin` for free, so that right ones have to win by that; wrong names where
    /// there are none get `caution` too.
    fn decode(
        &mut self,
        weights: &Weights,
        sequence: &Sequence,
        margin: i32,
        caution: i32,
        hidden: bool,
    ) {
        let mask = weights.rows.len() - 1;
        self.back.clear();
        let mut total = [0_i32; LABELS];
        for (i, row) in sequence.rows.iter().enumerate() {
            let gold = usize::from(sequence.gold[i]);
            let mut scores = [margin + if gold == 0 { caution } else { 0 }; LABELS];
            scores[gold] = 0;
            for feature in visible(row, hidden) {
                for (score, weight) in
                    scores.iter_mut().zip(&weights.rows[*feature as usize & mask])
                {
                    *score += weight;
                }
            }
            let moves = &weights.moves[sequence.groups[i]];
            let mut next = [0; LABELS];
            let mut back = [0; LABELS];
            for label in 0..LABELS {
                let (mut from, mut best) = (0, total[0] + moves[0][label]);
                if i > 0 {
                    for candidate in 1..LABELS {
                        let score = total[candidate] + moves[candidate][label];
                        if score > best {
                            (from, best) = (candidate, score);
                        }
                    }
                }
                next[label] = best + scores[label];
                back[label] = from as u8;
            }
            total = next;
            self.back.push(back);
        }
        let mut label = 0;
        for candidate in 1..LABELS {
            if total[candidate] > total[label] {
                label = candidate;
            }
        }
        self.best.clear();
        self.best.resize(sequence.rows.len(), 0);
        for i in (0..sequence.rows.len()).rev() {
            self.best[i] = label as u8;
            label = usize::from(self.back[i][label]);
        }
    }
}
