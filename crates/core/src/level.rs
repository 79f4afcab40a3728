//! How strictly a request is filtered.

use serde::{Deserialize, Serialize};

/// The three documented levels, from the mildest to the strictest.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum SecurityLevel {
    /// Default measures.
    #[default]
    Standard,
    /// Enhanced protocols.
    High,
    /// Highest security, compliance mode.
    Maximum,
}

impl SecurityLevel {
    /// Every level, from the mildest to the strictest.
    pub const ALL: [Self; 3] = [Self::Standard, Self::High, Self::Maximum];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::High => "high",
            Self::Maximum => "maximum",
        }
    }

    /// The level that a word on the wire stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }
}
