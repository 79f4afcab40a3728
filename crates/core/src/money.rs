//! Money in whole pico-dollars, so that no sum ever loses a fraction of a cent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::usage::Usage;

/// US dollars in units of 10⁻¹² dollars.
///
/// 64 bits hold 18 million dollars. On the wire it is a decimal number of dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct PicoUsd(pub u64);

/// Pico-dollars in a dollar.
const PICOS: u64 = 1_000_000_000_000;

impl PicoUsd {
    /// The amount in dollars, rounded to the nearest floating-point number: for display and JSON.
    #[expect(clippy::cast_precision_loss, reason = "a figure is rounded once, where it is shown")]
    pub fn to_dollars(self) -> f64 {
        self.0 as f64 / PICOS as f64
    }

    /// What is left of it without `other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The sum, which stays at the largest amount where it would not fit.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for PicoUsd {
    /// The exact amount in dollars, without trailing zeros: `0.0375`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut part) = (self.0 / PICOS, self.0 % PICOS);
        if part == 0 {
            return write!(f, "{whole}");
        }
        let mut digits = 12;
        while part.is_multiple_of(10) {
            part /= 10;
            digits -= 1;
        }
        write!(f, "{whole}.{part:0digits$}")
    }
}

/// Why a text is not an amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected US dollars with at most 12 decimals, such as \"0.25\"")]
pub struct InvalidAmount;

impl FromStr for PicoUsd {
    type Err = InvalidAmount;

    /// Reads US dollars, exactly: `"0.0375"`. At most nine million, which databases can keep.
    fn from_str(text: &str) -> Result<Self, InvalidAmount> {
        let picos = decimal(text, 12).filter(|picos| i64::try_from(*picos).is_ok());
        picos.map(Self).ok_or(InvalidAmount)
    }
}

/// A decimal number in units of 10 to the power of minus `decimals`; `None` where it has more of
/// them, does not fit or is none.
fn decimal(text: &str, decimals: usize) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > decimals {
        return None;
    }
    let part: u64 = format!("{part:0<decimals$}").parse().ok()?;
    let unit = 10_u64.checked_pow(u32::try_from(decimals).ok()?)?;
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(part)
}

/// What one token costs. A price of one dollar a million tokens is 1 000 000 pico-dollars a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct TokenPrice(pub u64);

impl TokenPrice {
    /// What `tokens` cost.
    pub fn times(self, tokens: u64) -> PicoUsd {
        PicoUsd(self.0.saturating_mul(tokens))
    }
}

impl fmt::Display for TokenPrice {
    /// US dollars per million tokens: `0.0375`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PicoUsd(self.0.saturating_mul(1_000_000)).fmt(f)
    }
}

/// Why a text is not a price.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected US dollars per million tokens with at most 6 decimals, such as \"0.25\"")]
pub struct InvalidPrice;

impl FromStr for TokenPrice {
    type Err = InvalidPrice;

    /// Reads US dollars per million tokens, exactly: `"0.0375"`.
    fn from_str(text: &str) -> Result<Self, InvalidPrice> {
        decimal(text, 6).map(Self).ok_or(InvalidPrice)
    }
}

impl Serialize for TokenPrice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TokenPrice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What a model's tokens cost, by class of [`Usage`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// Prompt tokens.
    pub input: TokenPrice,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: TokenPrice,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: TokenPrice,
    /// Generated tokens.
    pub output: TokenPrice,
    /// Generated tokens of thinking.
    pub reasoning: TokenPrice,
    /// Names this set of prices; a usage record keeps it.
    pub version: String,
}

impl Price {
    /// What `usage` costs, exactly.
    pub fn cost(&self, usage: &Usage) -> PicoUsd {
        self.input
            .times(usage.uncached_input)
            .plus(self.cache_read.times(usage.cache_read))
            .plus(self.cache_write.times(usage.cache_write))
            .plus(self.output.times(usage.output))
            .plus(self.reasoning.times(usage.reasoning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_and_written_exactly() {
        for text in ["0", "1", "0.25", "0.0375", "15.5", "0.000001", "1000"] {
            let price: TokenPrice = text.parse().unwrap();
            assert_eq!(price.to_string(), text);
        }
        assert_eq!("1.00".parse(), Ok(TokenPrice(1_000_000)));
        for text in ["", ".", "1.", ".5", "-1", "1e3", "0.0000001", "1,5", "99999999999999999999"] {
            assert_eq!(text.parse::<TokenPrice>(), Err(InvalidPrice), "{text}");
        }
    }

    #[test]
    fn amounts_are_read_and_written_exactly() {
        for text in ["0", "1", "0.25", "0.000000000001", "9000000"] {
            assert_eq!(text.parse::<PicoUsd>().unwrap().to_string(), text);
        }
        for text in ["", "-1", "1e3", "1,5", "$5", "0.0000000000001", "10000000"] {
            assert_eq!(text.parse::<PicoUsd>(), Err(InvalidAmount), "{text}");
        }
    }

    #[test]
    fn each_class_is_billed_once_at_its_own_price() {
        let price = Price {
            input: TokenPrice(1_000_000),
            cache_read: TokenPrice(100_000),
            cache_write: TokenPrice(1_250_000),
            output: TokenPrice(4_000_000),
            reasoning: TokenPrice(4_000_000),
            version: "test".into(),
        };
        let usage =
            Usage { uncached_input: 10, cache_read: 100, cache_write: 4, output: 5, reasoning: 2 };
        assert_eq!(price.cost(&usage), PicoUsd(10_000_000 + 10_000_000 + 5_000_000 + 28_000_000));
        assert_eq!(price.cost(&usage).to_string(), "0.000053");
    }
}
