//! Which model a router chose and why, as records and commands tell it: never content.

use serde::{Deserialize, Serialize};

use crate::ids::{ModelId, ProviderId};

/// A router's decision about one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RouteRecord {
    /// The router.
    pub router: ModelId,
    /// How it chooses: `balanced`, `fastest`, `strongest`, `weighted`.
    pub policy: String,
    /// What the request asks for.
    pub task_type: String,
    /// How certain that is, 0 to 1.
    pub certainty: f64,
    /// How much it takes to answer well, 0 to 1.
    pub complexity: f64,
    /// Whether it was a step of an agent at work.
    pub agent_step: bool,
    /// Why the first candidate is first: `best`, `session`, `escalated`, …
    pub reason: String,
    /// What the router looked at, the best first; those that could not answer last.
    pub candidates: Vec<RouteCandidate>,
}

/// What a figure of a model's quality rests on, from the best to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The operator says so, with the model.
    Yours,
    /// An evaluation that the operator has imported.
    Measured,
    /// Public leaderboards, of this very model.
    Prior,
    /// Public leaderboards, of its nearest relative: another version or size of the family.
    Family,
    /// Nothing but the price.
    Price,
}

impl Basis {
    /// Every basis, from the best to the weakest.
    pub const ALL: [Self; 5] =
        [Self::Yours, Self::Measured, Self::Prior, Self::Family, Self::Price];

    /// The word in records, on cards and in explanations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yours => "yours",
            Self::Measured => "measured",
            Self::Prior => "prior",
            Self::Family => "family",
            Self::Price => "price",
        }
    }

    /// What it means, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Yours => "as you say",
            Self::Measured => "an evaluation that was imported",
            Self::Prior => "public leaderboards",
            Self::Family => "a guess, from public figures of a relative",
            Self::Price => "a guess, from the price alone",
        }
    }

    /// Whether it is a guess: nobody has measured the model itself.
    pub fn is_guess(self) -> bool {
        matches!(self, Self::Family | Self::Price)
    }
}

/// One candidate of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RouteCandidate {
    /// The model.
    pub model: ModelId,
    /// The provider that it runs at; empty where a decision was made without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderId>,
    /// What decided: quality minus what cost and time are worth.
    pub utility: f64,
    /// The expected quality, 0 to 1.
    pub quality: f64,
    /// What that rests on; empty in records from before this was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// The expected cost in US dollars; `None` where the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The expected time to the first token, in milliseconds.
    pub first_token_ms: f64,
    /// The expected time to the end, in seconds.
    pub seconds: f64,
    /// Why it could not answer: `region`, `vision`, `resting`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
}
