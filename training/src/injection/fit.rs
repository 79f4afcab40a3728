//! Fits the linear model: logistic regression by stochastic gradient descent with a step per feature
//! (AdaGrad), in single precision and in a fixed order, without functions whose result depends on
//! the machine.
//!
//! A text's score is that of its most suspicious window, so that window is what learns: a harmless
//! text's worst one is pushed down, an attack's most telling one up.

use std::ops::Range;

use sluice_security::injection::features::{BUCKETS, length_feature};
use sluice_security::injection::windows;

use crate::chance::Chance;

/// A text as the model sees it.
pub(crate) struct Bag {
    /// Where each token's features end.
    pub(crate) ends: Vec<u32>,
    /// The features of all tokens.
    pub(crate) values: Vec<u32>,
    /// The tokens among which an attack's window must be; all of them where it is not known.
    pub(crate) telling: Range<usize>,
    /// Whether it is an attack.
    pub(crate) is_attack: bool,
    /// Which source it is from.
    pub(crate) source: usize,
}

/// How to fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// How often each text is seen.
    pub(crate) epochs: usize,
    /// The first step's length.
    pub(crate) rate: f32,
    /// How much weights shrink at each step, as a share of the step's length.
    pub(crate) decay: f32,
    /// The share of features that are not looked at in a step, so that none is relied on alone.
    pub(crate) dropout: f32,
}

/// The weights that tell the bags' attacks from the rest. Each bag comes with how much it counts.
pub(crate) fn fit(bags: &[(&Bag, f32)], settings: Settings) -> Vec<f32> {
    let mut fitter = Fitter {
        bounds: bounds(bags),
        weights: vec![0.0; BUCKETS],
        squares: vec![0.01; BUCKETS],
        sums: Vec::new(),
        chance: Chance::new(1),
        settings,
    };
    let mut means = vec![0.0; BUCKETS];
    let mut averaged = 0.0;
    let mut order: Vec<usize> = (0..bags.len()).collect();
    for epoch in 0..settings.epochs {
        fitter.chance.shuffle(&mut order);
        for &i in &order {
            let (bag, weight) = bags[i];
            fitter.learn(bag, weight, epoch == 0);
        }
        // The mean over the later epochs is steadier than where the last step happened to lead.
        if 2 * epoch >= settings.epochs {
            averaged += 1.0;
            for (mean, weight) in means.iter_mut().zip(&fitter.weights) {
                *mean += (weight - *mean) / averaged;
            }
        }
    }
    means
}

/// The log-odds of a text under `weights`: those of its most suspicious window.
pub(crate) fn log_odds(weights: &[f32], bag: &Bag) -> f32 {
    let mut sums = Vec::new();
    prefix_sums(weights, bag, &mut sums);
    let all = windows::all(bag.ends.len());
    all.map(|window| window_sum(weights, &sums, &window)).fold(f32::NEG_INFINITY, f32::max)
}

struct Fitter {
    bounds: Vec<(bool, bool)>,
    weights: Vec<f32>,
    squares: Vec<f32>,
    sums: Vec<f64>,
    chance: Chance,
    settings: Settings,
}

impl Fitter {
    fn learn(&mut self, bag: &Bag, weight: f32, is_first: bool) {
        let mut sums = std::mem::take(&mut self.sums);
        prefix_sums(&self.weights, bag, &mut sums);
        if let Some((window, log_odds)) = self.choose(bag, &sums, is_first) {
            self.learn_window(bag, &window, log_odds, weight);
        }
        self.sums = sums;
    }

    fn learn_window(&mut self, bag: &Bag, window: &Range<usize>, log_odds: f32, weight: f32) {
        let target = if bag.is_attack { 1.0 } else { 0.0 };
        let error = logistic(log_odds) - target;
        if error.abs() < 0.002 {
            return;
        }
        let gradient = error * weight;
        self.step(length_feature(window.len()), gradient);
        let from = if window.start == 0 { 0 } else { bag.ends[window.start - 1] as usize };
        let to = bag.ends[window.end - 1] as usize;
        let dropped = (self.settings.dropout * 1024.0) as usize;
        for &feature in &bag.values[from..to] {
            if dropped > 0 && self.chance.below(1024) < dropped {
                continue;
            }
            self.step(feature, gradient);
        }
    }

    /// The window that learns: any in the first epoch, while nothing is known, then the worst.
    fn choose(&mut self, bag: &Bag, sums: &[f64], is_first: bool) -> Option<(Range<usize>, f32)> {
        let tells = |window: &Range<usize>| {
            !bag.is_attack
                || (window.start < bag.telling.end.max(1) && bag.telling.start < window.end)
        };
        let candidates = windows::all(bag.ends.len()).filter(tells);
        if is_first {
            let candidates: Vec<_> = candidates.collect();
            let window = self.chance.pick(&candidates)?.clone();
            let log_odds = window_sum(&self.weights, sums, &window);
            return Some((window, log_odds));
        }
        let mut best: Option<(Range<usize>, f32)> = None;
        for window in candidates {
            let log_odds = window_sum(&self.weights, sums, &window);
            if best.as_ref().is_none_or(|(_, most)| log_odds > *most) {
                best = Some((window, log_odds));
            }
        }
        best
    }

    fn step(&mut self, feature: u32, gradient: f32) {
        let i = feature as usize;
        let weight = &mut self.weights[i];
        let gradient = gradient + self.settings.decay * *weight;
        self.squares[i] += gradient * gradient;
        *weight -= self.settings.rate * gradient / self.squares[i].sqrt();
        let (may_rise, may_fall) = self.bounds[i];
        if (*weight > 0.0 && !may_rise) || (*weight < 0.0 && !may_fall) {
            *weight = 0.0;
        }
    }
}

/// For each feature whether it may speak for an attack and whether against: only what several
/// sources have in common says anything about others.
fn bounds(bags: &[(&Bag, f32)]) -> Vec<(bool, bool)> {
    let mut seen = vec![(Seen::default(), Seen::default()); BUCKETS];
    for (bag, _) in bags {
        let from = bag.telling.start.checked_sub(1).map_or(0, |before| bag.ends[before] as usize);
        let to = bag.telling.end.checked_sub(1).map_or(0, |last| bag.ends[last] as usize);
        for &feature in &bag.values[from..to] {
            let (attacks, harmless) = &mut seen[feature as usize];
            let seen = if bag.is_attack { attacks } else { harmless };
            seen.add(bag.source);
        }
    }
    seen.iter().map(|(attacks, harmless)| (attacks.several(), harmless.several())).collect()
}

/// In which sources a feature was seen, as far as that matters.
#[derive(Clone, Copy, Default)]
struct Seen {
    sources: u128,
    texts: u32,
}

impl Seen {
    fn add(&mut self, source: usize) {
        self.sources |= 1 << (source % 128);
        self.texts += 1;
    }

    fn several(self) -> bool {
        self.sources.count_ones() >= 2 && self.texts >= 3
    }
}

fn prefix_sums(weights: &[f32], bag: &Bag, sums: &mut Vec<f64>) {
    sums.clear();
    sums.push(0.0);
    let mut sum = 0.0;
    let mut from = 0;
    for &end in &bag.ends {
        for &feature in &bag.values[from..end as usize] {
            sum += f64::from(weights[feature as usize]);
        }
        from = end as usize;
        sums.push(sum);
    }
}

fn window_sum(weights: &[f32], sums: &[f64], window: &Range<usize>) -> f32 {
    let length = weights[length_feature(window.len()) as usize];
    (sums[window.end] - sums[window.start]) as f32 + length
}

/// 1 / (1 + e^-x) by multiplication and division only: the same on every machine.
pub(super) fn logistic(x: f32) -> f32 {
    let x = x.clamp(-20.0, 20.0);
    // e^-x as (e^(-x / 256))^256; the inner one by its series.
    let y = -x / 256.0;
    let mut e = 1.0 + y * (1.0 + y / 2.0 * (1.0 + y / 3.0 * (1.0 + y / 4.0)));
    for _ in 0..8 {
        e *= e;
    }
    1.0 / (1.0 + e)
}
