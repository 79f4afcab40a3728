//! What a request uses, and what of it counts against a limit.

use sluice_core::measure::Measure;
use sluice_core::money::PicoUsd;

use super::allowance::Allowance;

/// What a request uses, or will probably use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spend {
    /// Tokens of all classes.
    pub tokens: u64,
    /// Money.
    pub cost: PicoUsd,
    /// The most that it can cost: what it reserves where a limit of money must not be exceeded.
    pub most: PicoUsd,
}

impl Allowance {
    /// How much a request that wants `spend` reserves of what this limits; `None` where its size does
    /// not matter.
    pub(super) fn of(&self, spend: Spend) -> Option<u64> {
        match self.quantity.meter()?.measure {
            Measure::Usd if self.hard => Some(spend.most.0),
            measure => spend.of(measure),
        }
    }
}

impl Spend {
    /// How much of `measure` it is; `None` for requests, which are counted one by one.
    pub(super) fn of(self, measure: Measure) -> Option<u64> {
        match measure {
            Measure::Requests => None,
            Measure::Tokens => Some(self.tokens),
            Measure::Usd => Some(self.cost.0),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.plus(other.cost),
            most: self.most.plus(other.most),
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: self.cost.minus(other.cost),
            most: self.most.minus(other.most),
        }
    }
}
