//! Judgements of prompts by models that have not seen them.

use std::collections::BTreeSet;
use std::thread;

use sluice_routing::classify::model::{logistic, softmax};
use sluice_routing::task::{TASK_TYPES, TaskType};

use super::fit::{self, Fitted};
use super::rows::{Example, Kind};
use super::{BLEND, SETTINGS, SHARPNESS};

/// What a model that has not seen a prompt says of it.
#[derive(Clone, Copy)]
pub(crate) struct Judged<'a> {
    pub(crate) example: &'a Example,
    pub(crate) probabilities: [f32; TASK_TYPES],
    pub(crate) complexity: f32,
}

impl Judged<'_> {
    /// The likeliest task type.
    pub(crate) fn task(&self) -> TaskType {
        let mut best = 0;
        for (i, probability) in self.probabilities.iter().enumerate() {
            if *probability > self.probabilities[best] {
                best = i;
            }
        }
        TaskType::ALL[best]
    }

    /// Whether the likeliest task type is one of those that are acceptable.
    pub(crate) fn is_acceptable(&self) -> bool {
        let task = self.task();
        self.example.label == Some(task) || self.example.also.contains(&task)
    }
}

/// The names of the project's own authors.
pub(crate) fn authors(examples: &[Example]) -> Vec<&str> {
    let own = examples.iter().filter(|example| example.kind == Kind::Field);
    let names: BTreeSet<&str> = own.map(|example| example.source.as_str()).collect();
    names.into_iter().collect()
}

/// Leaves each fold out of training in turn and judges it: `fold` says to which one of `folds` an
/// example belongs that is judged, and `is_kin` what else may not be learned from with that fold.
pub(crate) fn judge<'a>(
    examples: &'a [Example],
    folds: usize,
    fold: impl Fn(&Example) -> Option<usize> + Sync,
    is_kin: impl Fn(&Example, usize) -> bool + Sync,
) -> Vec<Judged<'a>> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(folds);
    let work = |worker: usize| -> Vec<Judged<'a>> {
        let mut judged = Vec::new();
        for out in (worker..folds).step_by(workers) {
            let keep = |example: &Example| fold(example) != Some(out) && !is_kin(example, out);
            let fitted = fit::fit(examples, SETTINGS, keep);
            let held = examples.iter().filter(|example| fold(example) == Some(out));
            judged.extend(held.map(|example| say(&fitted, example)));
        }
        judged
    };
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    })
}

fn say<'a>(fitted: &Fitted, example: &'a Example) -> Judged<'a> {
    let mut columns = fitted.columns(example);
    for column in &mut columns[..TASK_TYPES] {
        *column *= SHARPNESS;
    }
    let probabilities = softmax(&columns);
    let complexity = logistic(BLEND.log_odds(&columns, &probabilities, example.size));
    Judged { example, probabilities, complexity }
}
