//! How well a model is expected to do.

use sluice_core::money::Price;

use crate::task::{TASK_TYPES, TaskType};

/// The share of ordinary requests that a model answers well, 0 to 1: by task type, and on average.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// On average: what counts where the task type is uncertain.
    pub average: f64,
    /// By task type, in the order of [`TaskType::ALL`].
    pub by_task: [f64; TASK_TYPES],
    /// Whether somebody said so; otherwise it is a guess.
    pub known: bool,
}

impl Quality {
    /// The same for every task.
    pub fn even(average: f64) -> Self {
        Self { average, by_task: [average; TASK_TYPES], known: true }
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

    /// A guess from what the model costs: makers price by ability. A tenfold price is worth .12;
    /// one dollar per million tokens, three parts prompt to one part answer, stands for .68.
    ///
    /// Without a price, what an ordinary small model would have.
    pub fn guess(price: Option<&Price>) -> Self {
        const MISSING: f64 = 0.6;
        let average = price.map_or(MISSING, |price| {
            #[expect(clippy::cast_precision_loss, reason = "a price of a token is a small number")]
            let blend = (price.input.0 as f64 * 3.0 + price.output.0 as f64) / 4.0 / 1e6;
            (0.68 + 0.12 * blend.max(0.01).log10()).clamp(0.4, 0.92)
        });
        Self { known: false, ..Self::even(average) }
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
        assert!(!guess(3.0, 15.0).known);
        assert_eq!(Quality::guess(None).average, 0.6);
    }
}
