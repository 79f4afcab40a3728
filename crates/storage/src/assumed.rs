//! What limits count of requests beside what is known of them.
//!
//! A call that was sent and of which nobody said what it came to may be billed all the same, and a
//! model without a known price costs something. Reports show what is known; limits count both.

use serde::{Deserialize, Serialize};
use sluice_core::money::PicoUsd;

/// Tokens and money that limits count on top of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Assumed {
    /// Tokens.
    pub tokens: u64,
    /// Money. In JSON: whole pico-dollars.
    #[serde(with = "whole_picos")]
    pub cost: PicoUsd,
}

impl Assumed {
    /// Whether nothing was assumed, as of most requests.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The sum, which stays at the largest figures where it would not fit.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), cost: self.cost.plus(other.cost) }
    }
}

mod whole_picos {
    use serde::{Deserialize, Deserializer, Serializer};
    use sluice_core::money::PicoUsd;

    pub(super) fn serialize<S: Serializer>(cost: &PicoUsd, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(cost.0)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PicoUsd, D::Error> {
        u64::deserialize(from).map(PicoUsd)
    }
}
