//! How fast a deployment is: time to first token and tokens per second.
//!
//! | What | Where |
//! | --- | --- |
//! | what is measured of one call, and what it counts for | [`Call`] |
//! | what is expected of the next one | [`DeploymentSpeed::expected`] |
//! | samples that fade | `histogram` |
//! | calls that nobody answers | `silence` |
//! | deployments that fail again and again | `health` |
//!
//! Durations come from the caller, who measures them with a clock that never jumps. `now` only ages
//! what is known; when it jumps back, what was known is forgotten and nothing else happens.

mod call;
mod deployment;
mod health;
mod histogram;
mod silence;

pub use call::Call;
pub use deployment::DeploymentSpeed;

/// Time to first token and tokens per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Milliseconds to the first token.
    pub first_token_ms: f64,
    /// Tokens per second after it.
    pub tokens_per_second: f64,
}

impl Default for Pace {
    /// What an ordinary hosted model does.
    fn default() -> Self {
        Self { first_token_ms: 900.0, tokens_per_second: 60.0 }
    }
}

impl Pace {
    /// Seconds until an answer of `tokens` tokens is complete.
    pub fn seconds(&self, tokens: f64) -> f64 {
        self.first_token_ms / 1000.0 + tokens / self.tokens_per_second.max(0.1)
    }
}

/// What is expected of a deployment now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Its pace, on average: what is slow now and then counts as often as it happens.
    pub pace: Pace,
    /// Whether the figures are old, or nobody's.
    pub stale: bool,
}

#[cfg(test)]
mod tests;
