//! Slows down whoever guesses keys: a window of failed attempts for each address.
//!
//! A valid key is never refused for what others behind the same address did.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sluice_core::clock::UnixMillis;

use crate::limits::{LimitExceeded, RateView};

/// Failed attempts that an address has in a window.
const ATTEMPTS: u64 = 60;
/// Length of the window, in seconds.
const WINDOW_SECONDS: u64 = 60;
/// Addresses that are remembered in one window. Past it the rest share one count, so that a flood
/// of addresses costs no memory.
const MOST_ADDRESSES: usize = 10_000;

/// Failed attempts by address.
#[derive(Debug, Default)]
pub struct GuessGuard(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    start: u64,
    attempts: HashMap<Option<IpAddr>, u64>,
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

    /// Counts a failed attempt from `address`; an error where there have been too many.
    pub fn failed(
        &self,
        address: Option<IpAddr>,
        now: UnixMillis,
    ) -> (RateView, Result<(), LimitExceeded>) {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = now.seconds() - now.seconds() % WINDOW_SECONDS;
        if window.start != start {
            window.start = start;
            window.attempts.clear();
        }
        let known = address.map(network);
        let full = window.attempts.len() >= MOST_ADDRESSES;
        let slot = if full && !window.attempts.contains_key(&known) { None } else { known };
        let attempts = window.attempts.entry(slot).or_default();
        *attempts = attempts.saturating_add(1);
        let view = RateView {
            limit: ATTEMPTS,
            remaining: ATTEMPTS.saturating_sub(*attempts),
            reset: start + WINDOW_SECONDS,
            window: WINDOW_SECONDS,
        };
        if *attempts <= ATTEMPTS {
            return (view, Ok(()));
        }
        let wait = view.reset.saturating_sub(now.seconds()).max(1);
        let exceeded = LimitExceeded {
            subject: "this address",
            limit: ATTEMPTS,
            what: "failed sign-ins a minute",
            detail: String::new(),
            setting: String::new(),
            retry_after: Duration::from_secs(wait),
            too_large: None,
        };
        (view, Err(exceeded))
    }
}

/// What one caller can easily have: an IPv4 address, or an IPv6 network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
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
    use super::*;

    #[test]
    fn guessing_is_slowed_down_and_forgiven() {
        let guard = GuessGuard::default();
        let now = UnixMillis(1_800_000_000_000);
        let address: IpAddr = "192.0.2.7".parse().unwrap();
        for attempt in 0..ATTEMPTS {
            let (view, outcome) = guard.failed(Some(address), now);
            assert!(outcome.is_ok());
            assert_eq!(view.remaining, ATTEMPTS - attempt - 1);
        }
        assert!(guard.failed(Some(address), now).1.is_err());
        assert!(guard.failed(Some("192.0.2.8".parse().unwrap()), now).1.is_ok());
        let later = now.plus(Duration::from_secs(WINDOW_SECONDS));
        assert!(guard.failed(Some(address), later).1.is_ok());
    }
}
