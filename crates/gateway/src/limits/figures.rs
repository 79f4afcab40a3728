//! The figures of classes, tiers, keys and accounts, as allowances.

use std::sync::Arc;

use super::allowance::{Allowance, Meter, Quantity, Source};

/// The figures that hold for one key or account. `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Requests in a clock hour.
    pub requests_per_hour: Option<u64>,
    /// Tokens in a UTC day.
    pub tokens_per_day: Option<u64>,
    /// Requests at once.
    pub concurrent_requests: Option<u64>,
    /// Where the configuration sets them (`limits.highest`), for whoever meets one. A figure that
    /// is a key's or an account's own is not set there: see [`OwnFigures`].
    pub section: &'static str,
}

/// Which figures are a key's or an account's own, rather than those of its class or tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnFigures {
    /// [`Limits::requests_per_hour`] is.
    pub requests_per_hour: bool,
    /// [`Limits::tokens_per_day`] is.
    pub tokens_per_day: bool,
    /// [`Limits::concurrent_requests`] is.
    pub concurrent_requests: bool,
}

impl Limits {
    /// The same as allowances, in the order in which they answer. `word` says whose figures those
    /// are that are not the subject's own: `class` or `tier`.
    pub fn allowances(&self, word: &'static str, own: OwnFigures) -> Arc<[Allowance]> {
        let figures = [
            (
                Quantity::Used(Meter::REQUESTS_AN_HOUR),
                self.requests_per_hour,
                own.requests_per_hour,
                "requests_per_hour",
            ),
            (
                Quantity::Concurrency,
                self.concurrent_requests,
                own.concurrent_requests,
                "concurrent_requests",
            ),
            (
                Quantity::Used(Meter::TOKENS_A_DAY),
                self.tokens_per_day,
                own.tokens_per_day,
                "tokens_per_day",
            ),
        ];
        let allowance = |(quantity, limit, is_own, name): (Quantity, Option<u64>, bool, &str)| {
            let source =
                if is_own { Source::own() } else { Source::setting(word, self.section, name) };
            Some(Allowance { quantity, limit: limit?, hard: true, source, budget: None })
        };
        figures.into_iter().filter_map(allowance).collect()
    }
}
