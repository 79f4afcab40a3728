//! How well a model is expected to do, and what that rests on.
//!
//! Whoever runs the gateway knows best ([`Basis::Yours`], [`Basis::Measured`]). What is left out
//! comes from a table of well-known models ([`table`]): of the model itself ([`Basis::Prior`]), or
//! of its nearest relative ([`Basis::Family`]). What nobody knows is placed by its price
//! ([`Basis::Price`]).

pub mod leaderboard;
pub mod line;
pub mod name;
pub mod table;

use std::sync::OnceLock;

use sluice_core::chat::ReasoningEffort;
use sluice_core::money::Price;
pub use sluice_core::routing::Basis;

use self::table::PriceLine;
use crate::task::{TASK_TYPES, TaskType};

/// The share of ordinary requests that a model answers well, 0 to 1: by task type, and on average.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// On average: what counts where the task type is uncertain.
    pub average: f64,
    /// By task type, in the order of [`TaskType::ALL`].
    pub by_task: [f64; TASK_TYPES],
    /// What these figures rest on.
    pub basis: Basis,
    /// The same where a request asks for a thinking effort that the model was measured at, from
    /// the least effort to the most. Empty where no effort was measured apart.
    pub efforts: Vec<(ReasoningEffort, Self)>,
}

impl Quality {
    /// The same for every task, as the operator says.
    pub fn even(average: f64) -> Self {
        Self { average, by_task: [average; TASK_TYPES], basis: Basis::Yours, efforts: Vec::new() }
    }

    /// `average` except where `by_task` says otherwise. Without an average, that of what is said.
    pub fn of(average: Option<f64>, by_task: &[(TaskType, f64)]) -> Option<Self> {
        #[expect(clippy::cast_precision_loss, reason = "thirteen at most")]
        let mean = || {
            let sum: f64 = by_task.iter().map(|(_, quality)| quality).sum();
            (!by_task.is_empty()).then(|| sum / by_task.len() as f64)
        };
        let mut quality = Self::even(average.or_else(mean)?);
        for (task, value) in by_task {
            quality.by_task[task.index()] = *value;
        }
        Some(quality)
    }

    /// The figures for a request that asks for this thinking effort. Where the model was measured
    /// at neither it nor its neighbour (`xhigh` for `high`, `minimal` for `none`), and without an
    /// effort, what the model does by itself.
    pub fn at(&self, effort: Option<ReasoningEffort>) -> &Self {
        let measured = |effort| {
            let mut efforts = self.efforts.iter();
            efforts.find_map(|(measured, quality)| (*measured == effort).then_some(quality))
        };
        let Some(effort) = effort else { return self };
        let neighbour = match effort {
            ReasoningEffort::None => ReasoningEffort::Minimal,
            ReasoningEffort::Minimal => ReasoningEffort::None,
            ReasoningEffort::Low | ReasoningEffort::Medium => effort,
            ReasoningEffort::High => ReasoningEffort::XHigh,
            ReasoningEffort::XHigh => ReasoningEffort::High,
        };
        measured(effort).or_else(|| measured(neighbour)).unwrap_or(self)
    }

    /// A guess from what the model costs: makers price by ability, but what is dear is often only
    /// old. The line is fitted to the models of [`table`] and their list prices.
    ///
    /// Without a price, what the cheapest would have.
    pub fn guess(price: Option<&Price>) -> Self {
        static LINE: OnceLock<PriceLine> = OnceLock::new();
        // A test reads it: it cannot fail here.
        let line = LINE.get_or_init(|| {
            table::record().map_or(PriceLine { one_dollar: 0.8, tenfold: 0.5 }, |of| of.price)
        });
        Self { basis: Basis::Price, ..Self::even(line.share(price)) }
    }

    /// Expected on a request whose task is `probabilities`, before its complexity is seen.
    ///
    /// Task fit helps where the task is certain and hurts where it is not, so that it gives way to
    /// the average as the likeliest task loses weight. Probabilities count by their squares: what
    /// is left for a dozen unlikely tasks is mostly noise, and would level all models.
    pub fn expected(&self, probabilities: &[f32; TASK_TYPES]) -> f64 {
        let (mut fit, mut weights) = (0.0, 0.0);
        let mut largest: f64 = 0.0;
        for (probability, quality) in probabilities.iter().zip(&self.by_task) {
            let probability = f64::from(*probability);
            fit += probability * probability * quality;
            weights += probability * probability;
            largest = largest.max(probability);
        }
        let certainty = ((largest - UNCERTAIN) / (CERTAIN - UNCERTAIN)).clamp(0.0, 1.0);
        if certainty == 0.0 {
            return self.average;
        }
        let trust = certainty * TRUST;
        trust * (fit / weights) + (1.0 - trust) * self.average
    }
}

/// Up to this probability of the likeliest task only the average counts, …
const UNCERTAIN: f64 = 0.2;
/// … and from this one on the fit to the tasks as much as it ever does.
const CERTAIN: f64 = 0.5;
/// How much the fit to a task counts where the task is certain; the rest is the average. A figure by
/// task rests on few examples of it, and the next request of the kind may be another sort of it: with
/// more trust, replayed outcomes lost accuracy on benchmarks that nothing was learnt of.
const TRUST: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_falls_back() {
        let code = [(TaskType::Code, 0.9), (TaskType::Math, 0.5)];
        let quality = Quality::of(Some(0.6), &code).unwrap();
        assert_eq!(quality.by_task[TaskType::Code.index()], 0.9);
        assert_eq!(quality.by_task[TaskType::Write.index()], 0.6);
        // Without an average: the mean of what is said.
        let quality = Quality::of(None, &code).unwrap();
        assert_eq!((quality.average, quality.by_task[TaskType::Write.index()]), (0.7, 0.7));
        assert_eq!(Quality::of(None, &[]), None);
    }

    #[test]
    fn task_fit_counts_as_far_as_the_task_is_certain() {
        let quality = Quality::of(Some(0.6), &[(TaskType::Code, 0.9)]).unwrap();
        let expected = |code: f32| {
            let mut probabilities = [(1.0 - code) / 12.0; TASK_TYPES];
            probabilities[TaskType::Code.index()] = code;
            quality.expected(&probabilities)
        };
        assert_eq!(expected(1.0 / 13.0), 0.6);
        assert_eq!(expected(0.19), 0.6);
        assert!(expected(0.35) > 0.63 && expected(0.35) < expected(0.6), "{}", expected(0.35));
        assert!((expected(1.0) - (0.7 * 0.9 + 0.3 * 0.6)).abs() < 1e-6);
    }

    #[test]
    fn a_dearer_model_is_guessed_to_be_better() {
        let guess = |input, output| Quality::guess(Some(&crate::testing::price(input, output)));
        assert!(guess(0.1, 0.4).average < guess(3.0, 15.0).average);
        assert_eq!(guess(3.0, 15.0).basis, Basis::Price);
        assert_eq!(Quality::guess(None), guess(0.001, 0.001), "nothing is known to be cheaper");
    }
}
