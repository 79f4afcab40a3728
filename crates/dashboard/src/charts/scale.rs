//! From values to places: round steps, and the words at them.

use sluice_core::money::PicoUsd;

use crate::format;

/// What the values of a chart are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Pico-dollars.
    Money,
    /// A number of things.
    Count,
    /// Tokens.
    Tokens,
    /// Milliseconds.
    Millis,
}

impl Unit {
    /// A value as it stands in a table or title.
    pub fn shown(self, value: u64) -> String {
        match self {
            Self::Money => format::money(PicoUsd(value)),
            Self::Count | Self::Tokens => format::count(value),
            Self::Millis => format::duration(value),
        }
    }

    /// A value as a file has it: a number, money in dollars.
    pub(super) fn plain(self, value: u64) -> String {
        match self {
            Self::Money => PicoUsd(value).to_string(),
            Self::Count | Self::Tokens | Self::Millis => value.to_string(),
        }
    }

    /// A value as it stands at an axis: round ones are short.
    fn at_axis(self, value: u64) -> String {
        match self {
            Self::Money if value >= 10_000 * 1_000_000_000_000 => {
                format!("${}", format::compact(value / 1_000_000_000_000))
            }
            Self::Money => format::money_exact(PicoUsd(value)),
            Self::Count | Self::Tokens if value < 10_000 => format::count(value),
            Self::Count | Self::Tokens => format::compact(value),
            Self::Millis if value == 0 => "0".to_owned(),
            Self::Millis if value.is_multiple_of(1_000) => format!("{} s", value / 1_000),
            Self::Millis => format::duration(value),
        }
    }
}

/// An axis from zero to a round number that is no less than the largest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    step: u64,
    steps: u64,
}

impl Scale {
    /// An axis with at most `most` steps.
    pub(super) fn for_largest(largest: u64, most: u64) -> Self {
        let most = most.max(1);
        let mut power: u64 = 1;
        loop {
            for factor in [1, 2, 5] {
                // Beyond the numbers that there are, the largest step has to do.
                let Some(step) = power.checked_mul(factor) else { return Self::beyond(largest) };
                let steps = largest.div_ceil(step).max(1);
                if steps <= most {
                    return Self { step, steps };
                }
            }
            let Some(next) = power.checked_mul(10) else { return Self::beyond(largest) };
            power = next;
        }
    }

    fn beyond(largest: u64) -> Self {
        Self { step: largest.max(1), steps: 1 }
    }

    /// How much of the axis `value` takes, 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a place on a screen has four digits at most")]
    pub(super) fn share(self, value: u64) -> f64 {
        let top = self.step as f64 * self.steps as f64;
        (value as f64 / top).clamp(0.0, 1.0)
    }

    /// The values at the axis with their words, from zero up.
    pub(super) fn ticks(self, unit: Unit) -> impl Iterator<Item = (u64, String)> {
        (0..=self.steps).map(move |place| {
            let value = self.step.saturating_mul(place);
            (value, unit.at_axis(value))
        })
    }
}
