//! What is limited: requests at once, or what adds up in a window.

use serde::{Deserialize, Serialize};

use crate::window::Window;

/// What is added up in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Requests.
    Requests,
    /// Tokens of all classes together.
    Tokens,
    /// US dollars; counted in pico-dollars.
    Usd,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Self; 3] = [Self::Requests, Self::Tokens, Self::Usd];

    /// The word in records and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Tokens => "tokens",
            Self::Usd => "usd",
        }
    }

    /// The measure that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.as_str() == word)
    }
}

/// What a budget limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limited {
    /// Requests at once.
    Concurrency,
    /// What adds up in a window.
    #[serde(untagged)]
    Used {
        /// Of what.
        measure: Measure,
        /// For how long.
        window: Window,
    },
}

impl Limited {
    /// The word for requests at once.
    pub const CONCURRENCY: &'static str = "concurrency";

    /// The word for what is measured: `requests`, `tokens`, `usd`, `concurrency`.
    pub fn measure_word(self) -> &'static str {
        match self {
            Self::Concurrency => Self::CONCURRENCY,
            Self::Used { measure, .. } => measure.as_str(),
        }
    }

    /// The window; `None` for requests at once.
    pub fn window(self) -> Option<Window> {
        match self {
            Self::Concurrency => None,
            Self::Used { window, .. } => Some(window),
        }
    }

    /// Whether it is money.
    pub fn is_money(self) -> bool {
        matches!(self, Self::Used { measure: Measure::Usd, .. })
    }
}
