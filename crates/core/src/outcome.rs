//! How a request ended.

use serde::{Deserialize, Serialize};

/// How a request ended, as a usage record says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The answer was complete.
    Completed,
    /// The caller hung up before the end.
    Cancelled,
    /// The provider refused the request for what it is.
    Rejected,
    /// The filter refused the request, or stopped its answer.
    Blocked,
    /// The provider failed, or broke off.
    UpstreamError,
    /// The provider was too slow.
    UpstreamTimeout,
    /// Sluice itself failed.
    InternalError,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 7] = [
        Self::Completed,
        Self::Cancelled,
        Self::Rejected,
        Self::Blocked,
        Self::UpstreamError,
        Self::UpstreamTimeout,
        Self::InternalError,
    ];

    /// What counts as failed: refused by a provider, or broken by one or by Sluice. What callers gave
    /// up and what the filter stopped is not.
    pub const FAILED: [Self; 4] =
        [Self::Rejected, Self::UpstreamError, Self::UpstreamTimeout, Self::InternalError];

    /// The outcome that a word in a record stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }

    /// The word in records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Rejected => "rejected",
            Self::Blocked => "blocked",
            Self::UpstreamError => "upstream_error",
            Self::UpstreamTimeout => "upstream_timeout",
            Self::InternalError => "internal_error",
        }
    }
}
