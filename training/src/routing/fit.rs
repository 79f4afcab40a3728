//! Fits the linear model: logistic regression by stochastic gradient descent with a step per weight
//! (AdaGrad), in single precision and in a fixed order, without functions whose result depends on
//! the machine.

use sluice_routing::classify::features::BUCKETS;
use sluice_routing::classify::model::{COLUMNS, EXAM, FIELD, GAIN, logistic, softmax};
use sluice_routing::task::TASK_TYPES;

use super::rows::{Example, Kind};
use crate::chance::Chance;

/// How to fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// How often each prompt is seen.
    pub(crate) epochs: usize,
    /// The first step's length, and how much weights shrink at each step as a share of it: of the
    /// task types' columns, …
    pub(crate) task: Pace,
    /// … of what people say of complexity, …
    pub(crate) field: Pace,
    /// … of what a strong model gains, …
    pub(crate) gain: Pace,
    /// … and of whether it is an exam's question.
    pub(crate) exam: Pace,
    /// The share of features that are not looked at in a step.
    pub(crate) dropout: f32,
    /// What a label says of the others, too.
    pub(crate) smoothing: f32,
}

/// How fast a column learns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// The first step's length.
    pub(crate) rate: f32,
    /// How much weights shrink at each step, as a share of the step's length.
    pub(crate) decay: f32,
}

impl Settings {
    fn paces(&self) -> [Pace; COLUMNS] {
        std::array::from_fn(|column| match column {
            FIELD => self.field,
            GAIN => self.gain,
            EXAM => self.exam,
            _ => self.task,
        })
    }
}

/// Weights before they are quantised.
pub(crate) struct Fitted {
    pub(crate) weights: Vec<[f32; COLUMNS]>,
    pub(crate) shifts: [f32; COLUMNS],
}

impl Fitted {
    /// Each column's log-odds.
    pub(crate) fn columns(&self, example: &Example) -> [f32; COLUMNS] {
        columns(&self.weights, &self.shifts, example)
    }
}

/// What an example teaches: how much, and towards what, by column.
struct Lesson {
    weights: [f32; COLUMNS],
    targets: [f32; COLUMNS],
}

/// Fits on the examples that `keep` lets through.
pub(crate) fn fit(
    examples: &[Example],
    settings: Settings,
    keep: impl Fn(&Example) -> bool,
) -> Fitted {
    let kept: Vec<&Example> = examples.iter().filter(|example| keep(example)).collect();
    let lessons: Vec<Lesson> = kept.iter().map(|example| lesson(example, settings)).collect();
    let mut weights = vec![[0.0; COLUMNS]; BUCKETS];
    let mut squares = vec![[0.05; COLUMNS]; BUCKETS];
    let mut shifts = [0.0; COLUMNS];
    let mut shift_squares = [1.0; COLUMNS];
    let mut means = vec![[0.0; COLUMNS]; BUCKETS];
    let mut mean_shifts = [0.0; COLUMNS];
    let mut averaged = 0.0;
    let mut chance = Chance::new(4);
    let mut order: Vec<usize> = (0..kept.len()).collect();
    let paces = settings.paces();
    let dropped = (settings.dropout * 1024.0) as usize;
    for epoch in 0..settings.epochs {
        chance.shuffle(&mut order);
        for &i in &order {
            let (example, lesson) = (kept[i], &lessons[i]);
            let errors = errors(&columns(&weights, &shifts, example), lesson);
            step(&mut shifts, &mut shift_squares, &errors, &lesson.weights, 1.0, &paces);
            let words = example.words.iter().map(|bucket| (*bucket, example.word_weight));
            let dense = example.dense.iter().map(|bucket| (*bucket, 1.0));
            for (bucket, value) in words.chain(dense) {
                if dropped > 0 && chance.below(1024) < dropped {
                    continue;
                }
                let at = usize::from(bucket);
                let (row, squares) = (&mut weights[at], &mut squares[at]);
                step(row, squares, &errors, &lesson.weights, value, &paces);
            }
        }
        // The mean over the later epochs is steadier than where the last step happened to lead.
        if 2 * epoch >= settings.epochs {
            averaged += 1.0;
            for (mean, row) in means.iter_mut().zip(&weights) {
                average(mean, row, averaged);
            }
            average(&mut mean_shifts, &shifts, averaged);
        }
    }
    Fitted { weights: means, shifts: mean_shifts }
}

fn average(mean: &mut [f32; COLUMNS], row: &[f32; COLUMNS], averaged: f32) {
    for (mean, weight) in mean.iter_mut().zip(row) {
        *mean += (weight - *mean) / averaged;
    }
}

fn step(
    row: &mut [f32; COLUMNS],
    squares: &mut [f32; COLUMNS],
    errors: &[f32; COLUMNS],
    active: &[f32; COLUMNS],
    value: f32,
    paces: &[Pace; COLUMNS],
) {
    for i in 0..COLUMNS {
        let gradient = (errors[i] * value + paces[i].decay * row[i]) * active[i];
        squares[i] += gradient * gradient;
        row[i] -= paces[i].rate * gradient / squares[i].sqrt();
    }
}

fn columns(
    weights: &[[f32; COLUMNS]],
    shifts: &[f32; COLUMNS],
    example: &Example,
) -> [f32; COLUMNS] {
    let sum = |buckets: &[u16]| {
        let mut sum = [0.0; COLUMNS];
        for bucket in buckets {
            for (sum, weight) in sum.iter_mut().zip(&weights[usize::from(*bucket)]) {
                *sum += weight;
            }
        }
        sum
    };
    let (words, dense): ([f32; COLUMNS], [f32; COLUMNS]) =
        (sum(&example.words), sum(&example.dense));
    std::array::from_fn(|i| words[i] * example.word_weight + dense[i] + shifts[i])
}

fn errors(columns: &[f32; COLUMNS], lesson: &Lesson) -> [f32; COLUMNS] {
    let tasks = softmax(columns);
    std::array::from_fn(|i| {
        let said = if i < TASK_TYPES { tasks[i] } else { logistic(columns[i]) };
        if lesson.weights[i] > 0.0 { said - lesson.targets[i] } else { 0.0 }
    })
}

fn lesson(example: &Example, settings: Settings) -> Lesson {
    let mut lesson = Lesson { weights: [0.0; COLUMNS], targets: [0.0; COLUMNS] };
    if let Some(task) = &example.task {
        let weight = match example.kind {
            Kind::Field => 1.0,
            Kind::Real if example.label.is_some() => 1.3,
            Kind::Real => 1.0,
            Kind::Benchmark => 0.4,
            Kind::Template | Kind::Outcome => 0.2,
        };
        for (i, share) in task.iter().enumerate() {
            lesson.weights[i] = weight;
            lesson.targets[i] =
                share * (1.0 - settings.smoothing) + settings.smoothing / TASK_TYPES as f32;
        }
    }
    if let Some(complexity) = example.complexity {
        lesson.weights[FIELD] = 1.0;
        lesson.targets[FIELD] = 0.1 + 0.2 * f32::from(complexity - 1);
    }
    if let Some((strong, weak)) = example.outcome {
        lesson.weights[GAIN] = 1.0;
        lesson.targets[GAIN] = (strong - weak + 1.0) / 2.0;
    }
    lesson.weights[EXAM] = match example.kind {
        Kind::Field | Kind::Real => 1.0,
        Kind::Template | Kind::Benchmark | Kind::Outcome => 0.3,
    };
    let is_exam = example.kind == Kind::Outcome || example.source.starts_with("LLMRouter/");
    lesson.targets[EXAM] = if is_exam { 0.98 } else { 0.02 };
    lesson
}
