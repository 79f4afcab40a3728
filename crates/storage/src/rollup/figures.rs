//! What requests came to: counts, tokens, cost, times.

use sluice_core::money::PicoUsd;
use sluice_core::outcome::Outcome;
use sluice_core::usage::Usage;

/// How many ranges of times to first token are told apart.
pub(crate) const RANGES: usize = 12;
/// The longest time of the first range; each range after it reaches twice as far, the last for ever.
const FIRST_RANGE_MS: u64 = 50;

/// What requests came to. A figure that was not asked for is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// How many requests.
    pub requests: u64,
    /// How they ended.
    pub outcomes: Outcomes,
    /// How many have no known price.
    pub unpriced_requests: u64,
    /// How many the filter changed, kept something back from, or blocked.
    pub filtered_requests: u64,
    /// Their tokens.
    pub usage: Usage,
    /// What they cost, without those that have no known price.
    pub cost: PicoUsd,
    /// How long they took, added up, in milliseconds.
    pub duration_ms: u64,
    /// Their times to first token.
    pub first_tokens: FirstTokens,
}

/// How many requests ended in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcomes {
    pub(crate) of: [u64; Outcome::ALL.len()],
    /// Requests under zero retention: how they ended is not kept.
    pub summed: u64,
}

impl Outcomes {
    /// How many ended so.
    pub fn of(&self, outcome: Outcome) -> u64 {
        let found = Outcome::ALL.iter().zip(self.of).find(|(it, _)| **it == outcome);
        found.map_or(0, |(_, count)| count)
    }

    pub(crate) fn add(&mut self, outcome: Outcome, count: u64) {
        for (_, of) in Outcome::ALL.iter().zip(&mut self.of).filter(|(it, _)| **it == outcome) {
            *of = of.saturating_add(count);
        }
    }

    /// How many failed ([`Outcome::FAILED`]).
    pub fn errors(&self) -> u64 {
        Outcome::FAILED.iter().fold(0, |sum, outcome| sum.saturating_add(self.of(*outcome)))
    }

    fn with(self, other: Self, by: fn(u64, u64) -> u64) -> Self {
        let mut of = self.of;
        for (one, other) in of.iter_mut().zip(other.of) {
            *one = by(*one, other);
        }
        Self { of, summed: by(self.summed, other.summed) }
    }
}

/// How many requests had their first token within which range of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FirstTokens(pub(crate) [u64; RANGES]);

impl FirstTokens {
    /// Counts one.
    pub(crate) fn add(&mut self, milliseconds: u64) {
        let mut bound = FIRST_RANGE_MS;
        let Some((last, ranges)) = self.0.split_last_mut() else { return };
        for range in ranges {
            if milliseconds <= bound {
                *range = range.saturating_add(1);
                return;
            }
            bound = bound.saturating_mul(2);
        }
        *last = last.saturating_add(1);
    }

    /// How many requests had a first token.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, range| sum.saturating_add(*range))
    }

    /// The time within which so many thousandths of them had it, in milliseconds; `None` where there
    /// are none. Within a range, times are taken to be spread evenly on a logarithmic scale.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate between 0 and some hundred thousand"
    )]
    pub fn permille(&self, permille: u32) -> Option<u64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let wanted = count as f64 * f64::from(permille.min(1000)) / 1000.0;
        let (mut before, mut bound) = (0.0, FIRST_RANGE_MS as f64);
        for (at, range) in self.0.iter().enumerate() {
            let range = *range as f64;
            if range > 0.0 && before + range >= wanted {
                let part = ((wanted - before) / range).clamp(0.0, 1.0);
                // The first range begins at 0, where a logarithmic scale does not.
                let ms = if at == 0 { bound * part } else { bound / 2.0 * 2.0_f64.powf(part) };
                return Some(ms.round() as u64);
            }
            before += range;
            bound *= 2.0;
        }
        None
    }
}

impl Figures {
    /// Tokens that were sent, also those that a provider had kept.
    pub fn tokens_in(&self) -> u64 {
        self.usage.prompt_tokens()
    }

    /// Tokens that were generated.
    pub fn tokens_out(&self) -> u64 {
        self.usage.completion_tokens()
    }

    /// The sum, which stays at the largest figures where it would not fit.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// What is left without `other`, which is a part of it.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }

    fn with(self, other: Self, by: fn(u64, u64) -> u64) -> Self {
        let mut first_tokens = self.first_tokens;
        for (one, other) in first_tokens.0.iter_mut().zip(other.first_tokens.0) {
            *one = by(*one, other);
        }
        Self {
            requests: by(self.requests, other.requests),
            outcomes: self.outcomes.with(other.outcomes, by),
            unpriced_requests: by(self.unpriced_requests, other.unpriced_requests),
            filtered_requests: by(self.filtered_requests, other.filtered_requests),
            usage: Usage {
                uncached_input: by(self.usage.uncached_input, other.usage.uncached_input),
                cache_read: by(self.usage.cache_read, other.usage.cache_read),
                cache_write: by(self.usage.cache_write, other.usage.cache_write),
                output: by(self.usage.output, other.usage.output),
                reasoning: by(self.usage.reasoning, other.usage.reasoning),
            },
            cost: PicoUsd(by(self.cost.0, other.cost.0)),
            duration_ms: by(self.duration_ms, other.duration_ms),
            first_tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A range is twice as long as the one before it, and so is the error at most.
        #[test]
        fn a_median_is_within_its_range(mut times in proptest::collection::vec(0_u64..60_000, 1..40)) {
            let mut ranges = FirstTokens::default();
            times.iter().for_each(|ms| ranges.add(*ms));
            prop_assert_eq!(ranges.count(), times.len() as u64);
            times.sort_unstable();
            let exact = times[(times.len() - 1) / 2];
            let told = ranges.permille(500).unwrap();
            prop_assert!(told <= (2 * exact).max(50) && 2 * told + 1 >= exact || exact <= 50, "{told} {exact}");
            prop_assert!(ranges.permille(950) >= ranges.permille(500));
        }
    }

    #[test]
    fn of_nothing_there_is_no_median() {
        assert_eq!(FirstTokens::default().permille(500), None);
        let mut late = FirstTokens::default();
        late.add(u64::MAX);
        assert!(late.permille(500) > Some(51_200));
    }

    #[test]
    fn only_failures_are_errors() {
        let mut outcomes = Outcomes::default();
        Outcome::ALL.into_iter().for_each(|outcome| outcomes.add(outcome, 1));
        assert_eq!((outcomes.errors(), outcomes.of(Outcome::Blocked)), (4, 1));
    }
}
