//! What a request asks for: task type and complexity.
//!
//! The latest user turn is cleaned ([`text`]), read once into hashed features ([`features`]), and a
//! small linear model says how likely each task type is and how much it takes ([`model`]). It was
//! trained by `cargo xtask train routing`. Languages that the model has hardly seen leave it the
//! look and the length of a text, so that it says little with little certainty.

pub mod features;
mod hash;
mod lexicon;
mod looks;
pub mod model;
mod reader;
mod shape;
mod structure;
pub mod text;
mod words;

use sluice_core::chat::ChatRequest;

use self::features::Features;
use self::model::Model;
use self::text::Turn;
use crate::task::{TASK_TYPES, TaskType};

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// How likely each task type is, in the order of [`TaskType::ALL`]; they sum to 1.
    pub probabilities: [f32; TASK_TYPES],
    /// How much it takes to answer well, 0 to 1.
    pub complexity: f32,
    /// Whether it is a step of an agent at work: tools are there, and the last word is a tool's.
    pub agent_step: bool,
}

impl Judgement {
    /// The likeliest task type.
    pub fn task(&self) -> TaskType {
        let mut best = 0;
        for (i, probability) in self.probabilities.iter().enumerate() {
            if *probability > self.probabilities[best] {
                best = i;
            }
        }
        TaskType::ALL[best]
    }

    /// How likely the likeliest task type is.
    pub fn certainty(&self) -> f32 {
        self.probabilities[self.task().index()]
    }
}

/// What `chat` asks for. Nothing is allocated.
pub fn judge(chat: &ChatRequest) -> Judgement {
    let agent_step = structure::is_agent_step(chat);
    Judgement { agent_step, ..judge_turn(&Turn::of(chat), structure::weight(chat)) }
}

/// What a turn asks for, where what stands around it adds `weight` to the log-odds of complexity.
pub fn judge_turn(turn: &Turn, weight: f32) -> Judgement {
    let Some(model) = Model::usual() else { return UNKNOWN };
    let features = Features::of(turn);
    let columns = model.columns(&features);
    let probabilities = model::softmax(&columns);
    let log_odds = model.blend.log_odds(&columns, &probabilities, features.size);
    Judgement { probabilities, complexity: model::logistic(log_odds + weight), agent_step: false }
}

/// Brings the model into memory, so that the first request does not pay for it.
pub fn warm_up() {
    let _ = Model::usual();
    lexicon::warm_up();
}

/// Of a request that nothing is known of.
const UNKNOWN: Judgement = Judgement {
    #[expect(clippy::cast_precision_loss, reason = "thirteen")]
    probabilities: [1.0 / TASK_TYPES as f32; TASK_TYPES],
    complexity: 0.5,
    agent_step: false,
};

#[cfg(test)]
mod conversation_tests;
#[cfg(test)]
mod tests;
