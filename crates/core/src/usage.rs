//! Tokens of one request, in classes that never overlap.
//!
//! Providers count differently: OpenAI's `prompt_tokens` include the cached ones, Anthropic's
//! `input_tokens` do not, Gemini's `candidatesTokenCount` leaves thoughts out. Adapters sort all
//! of them into these classes, so that nothing is billed twice.

use serde::{Deserialize, Serialize};

/// Tokens of one request. Each token is in exactly one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to the provider's cache.
    pub uncached_input: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// Generated tokens that the caller sees.
    pub output: u64,
    /// Generated tokens that the model thought with.
    pub reasoning: u64,
}

impl Usage {
    /// All tokens of the prompt: `usage.prompt_tokens`.
    pub fn prompt_tokens(&self) -> u64 {
        self.uncached_input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// All generated tokens: `usage.completion_tokens`.
    pub fn completion_tokens(&self) -> u64 {
        self.output.saturating_add(self.reasoning)
    }

    /// All tokens: `usage.total_tokens`, and what counts against limits.
    pub fn total_tokens(&self) -> u64 {
        self.prompt_tokens().saturating_add(self.completion_tokens())
    }
}

/// Where the figures of a [`Usage`] come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageSource {
    /// The provider counted.
    Measured,
    /// Sluice counted or estimated: the provider did not say, what it said cannot be true, or the
    /// answer did not come to its end.
    Estimated,
}

impl UsageSource {
    /// The word in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Estimated => "estimated",
        }
    }

    /// The source that a word in a record stands for.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Measured, Self::Estimated].into_iter().find(|source| source.as_str() == word)
    }
}
