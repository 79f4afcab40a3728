//! The simulator's models, as data: what the catalogue lists and what the pace follows.

use std::time::Duration;

/// One model of the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedModel {
    /// What a caller puts in `model`, and its name at the simulator: `demo/chat`.
    pub id: &'static str,
    /// What it does, as a sentence that says that it is simulated.
    pub description: &'static str,
    /// Most tokens of prompt that it takes; a longer one is refused as OpenAI refuses it.
    pub context_window: u32,
    /// Most tokens that it generates; a larger `max_tokens` is lowered to this.
    pub output_limit: u32,
    /// How fast it generates.
    pub tokens_per_second: u32,
    /// How long it waits before the first token.
    pub time_to_first_token: Duration,
    /// What it answers with.
    pub behaviour: Behaviour,
}

/// What a simulated model answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// The last user message, exactly. Takes no triggers and calls no tools.
    Echo,
    /// A marked text, tool calls, or JSON, whichever the request asks for.
    Chat,
    /// The same, after thinking.
    Reason,
}

/// All models of the simulator.
pub const MODELS: &[SimulatedModel] = &[
    SimulatedModel {
        id: "demo/chat",
        description: "Simulated. Describes the request, calls tools, answers with JSON.",
        context_window: 1_000_000,
        output_limit: 32_768,
        tokens_per_second: 90,
        time_to_first_token: Duration::from_millis(250),
        behaviour: Behaviour::Chat,
    },
    SimulatedModel {
        id: "demo/echo",
        description: "Simulated. Repeats the last user message exactly.",
        context_window: 1_000_000,
        output_limit: 1_000_000,
        tokens_per_second: 120,
        time_to_first_token: Duration::from_millis(200),
        behaviour: Behaviour::Echo,
    },
    SimulatedModel {
        id: "demo/reasoner",
        description: "Simulated. Thinks first, then answers as demo/chat does.",
        context_window: 1_000_000,
        output_limit: 65_536,
        tokens_per_second: 60,
        time_to_first_token: Duration::from_millis(400),
        behaviour: Behaviour::Reason,
    },
];

/// The model of that name, if it is one of the simulator's.
pub fn find(id: &str) -> Option<&'static SimulatedModel> {
    MODELS.iter().find(|model| model.id == id)
}
