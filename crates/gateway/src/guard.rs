//! Slows down whoever guesses keys: a window of failed attempts for each address.
//!
//! A valid key is never refused for what others behind the same address did. The log is told of each
//! address once a minute, and of some at most; a line at the minute's end counts the rest.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sluice_core::clock::UnixMillis;

use crate::limits::{Amount, LimitExceeded, RateView};
use crate::principal::Unrecognised;

/// Failed attempts that an address has in a window.
const ATTEMPTS: u64 = 60;
/// Length of the window, in seconds.
const WINDOW_SECONDS: u64 = 60;
/// Addresses that are remembered in one window. Past it the rest share one count, so that a flood
/// of addresses costs no memory.
const MOST_ADDRESSES: usize = 10_000;
/// Addresses that the log is told of in one window.
const MOST_TOLD: u64 = 50;

/// Failed attempts by address.
#[derive(Debug, Default)]
pub struct GuessGuard(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    start: u64,
    attempts: HashMap<Option<IpAddr>, u64>,
    /// Attempts that the log was told of.
    told: u64,
}

/// A failed attempt, and what the log is told of it.
#[derive(Debug)]
pub struct Failed {
    /// The window of its address.
    pub rate: RateView,
    /// Set where the address has to slow down.
    pub exceeded: Option<LimitExceeded>,
    /// Whether it is the first of its address in the window.
    is_first: bool,
    /// Attempts in the window before, of which the log was not told.
    untold: u64,
}

impl Failed {
    /// Tells the log of it, unless the log knows of its address.
    pub fn log(&self, address: Option<IpAddr>, reason: &Unrecognised) {
        if self.untold > 0 {
            tracing::warn!(attempts = self.untold, "more sign-ins failed in the minutes before");
        }
        if self.is_first {
            let address = address.map(tracing::field::display);
            tracing::warn!(address, reason = reason.as_str(), "sign-in failed");
        }
    }
}

impl GuessGuard {
    /// The window of `address`, without an attempt.
    pub fn view(&self, address: Option<IpAddr>, now: UnixMillis) -> RateView {
        let window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = now.seconds() - now.seconds() % WINDOW_SECONDS;
        let attempts = match window.start == start {
            true => window.attempts.get(&address.map(network)).copied().unwrap_or(0),
            false => 0,
        };
        RateView {
            limit: ATTEMPTS,
            remaining: ATTEMPTS.saturating_sub(attempts),
            reset: start + WINDOW_SECONDS,
            window: WINDOW_SECONDS,
        }
    }

    /// Counts a failed attempt from `address`.
    pub fn failed(&self, address: Option<IpAddr>, now: UnixMillis) -> Failed {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = now.seconds() - now.seconds() % WINDOW_SECONDS;
        let mut untold = 0;
        if window.start != start {
            let all =
                window.attempts.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
            untold = all.saturating_sub(window.told);
            window.start = start;
            window.told = 0;
            window.attempts.clear();
        }
        let known = address.map(network);
        let full = window.attempts.len() >= MOST_ADDRESSES;
        let slot = if full && !window.attempts.contains_key(&known) { None } else { known };
        let attempts = window.attempts.entry(slot).or_default();
        *attempts = attempts.saturating_add(1);
        let attempts = *attempts;
        let is_first = attempts == 1 && window.told < MOST_TOLD;
        window.told += u64::from(is_first);
        let rate = RateView {
            limit: ATTEMPTS,
            remaining: ATTEMPTS.saturating_sub(attempts),
            reset: start + WINDOW_SECONDS,
            window: WINDOW_SECONDS,
        };
        let wait = rate.reset.saturating_sub(now.seconds()).max(1);
        let exceeded = (attempts > ATTEMPTS).then(|| LimitExceeded {
            subject: "this address",
            limit: Amount::Count(ATTEMPTS),
            what: "failed sign-ins a minute",
            detail: Box::default(),
            setting: Arc::default(),
            more: None,
            retry_after: Some(Duration::from_secs(wait)),
            too_large: None,
        });
        Failed { rate, exceeded, is_first, untold }
    }
}

/// What one caller can easily have: an IPv4 address, or an IPv6 network of 64 bits.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            if let Some(v4) = v6.to_ipv4_mapped() {
                return IpAddr::V4(v4);
            }
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn guessing_is_slowed_down_and_forgiven() {
        let guard = GuessGuard::default();
        let now = UnixMillis(1_800_000_000_000);
        let address: IpAddr = "192.0.2.7".parse().unwrap();
        for attempt in 0..ATTEMPTS {
            let failed = guard.failed(Some(address), now);
            assert_eq!(failed.exceeded, None);
            assert_eq!(failed.rate.remaining, ATTEMPTS - attempt - 1);
        }
        assert!(guard.failed(Some(address), now).exceeded.is_some());
        assert_eq!(guard.failed(Some("192.0.2.8".parse().unwrap()), now).exceeded, None);
        let later = now.plus(Duration::from_secs(WINDOW_SECONDS));
        assert_eq!(guard.failed(Some(address), later).exceeded, None);
    }

    #[test]
    fn the_log_is_told_of_each_address_once_and_of_the_rest_in_one_line() {
        let guard = GuessGuard::default();
        let now = UnixMillis(1_800_000_000_000);
        let mut lines = 0;
        for address in 0..1_000_u32 {
            let address = IpAddr::V4(Ipv4Addr::from(address));
            for attempt in 0..3 {
                let failed = guard.failed(Some(address), now);
                assert!(attempt == 0 || !failed.is_first);
                assert_eq!(failed.untold, 0);
                lines += u64::from(failed.is_first);
            }
        }
        assert_eq!(lines, MOST_TOLD);
        let later = now.plus(Duration::from_secs(WINDOW_SECONDS));
        let failed = guard.failed(None, later);
        assert_eq!((failed.is_first, failed.untold), (true, 3_000 - MOST_TOLD));
        assert_eq!(guard.failed(None, later).untold, 0);
    }
}
