//! What one key or one account has used, and what is reserved.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sluice_core::clock::UnixMillis;

use super::{LimitExceeded, REQUEST_WINDOW_SECONDS, TOKEN_WINDOW_SECONDS, UNLIMITED};

/// The figures that hold for one key or account. `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Requests in a clock hour.
    pub requests_per_hour: Option<u64>,
    /// Tokens in a UTC day.
    pub tokens_per_day: Option<u64>,
    /// Requests at once.
    pub concurrent_requests: Option<u64>,
    /// Where the configuration sets them (`limits.highest`), for whoever meets one; empty where
    /// they are a key's or an account's own.
    pub section: &'static str,
}

/// One window's count, as the database keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowUse {
    /// First second of the window, Unix time.
    pub start: u64,
    /// What was used in it.
    pub used: u64,
}

/// The request window, as the rate-limit headers tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateView {
    /// Requests allowed in the window.
    pub limit: u64,
    /// Requests left in it.
    pub remaining: u64,
    /// Unix time at which it ends, in seconds.
    pub reset: u64,
    /// Its length in seconds.
    pub window: u64,
}

/// A request that asks for admission.
#[derive(Debug, Clone, Copy)]
pub struct Admission {
    /// Names the reservation; settling by it twice counts once.
    pub lease: u64,
    /// Tokens that the request will probably use.
    pub tokens: u64,
    /// When the reservation lapses by itself.
    pub expires: UnixMillis,
}

/// What one key or one account has used and reserved.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    requests: WindowUse,
    tokens: WindowUse,
    reserved: u64,
    leases: HashMap<u64, Lease>,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    tokens: u64,
    expires: UnixMillis,
}

impl Ledger {
    /// Takes over what the database knows of the current windows; keeps what is higher.
    pub fn restore(&self, requests: Option<WindowUse>, tokens: Option<WindowUse>) {
        let mut state = self.lock();
        for (window, stored) in [requests, tokens].into_iter().enumerate() {
            let current = if window == 0 { &mut state.requests } else { &mut state.tokens };
            if let Some(stored) = stored
                && (stored.start, stored.used) > (current.start, current.used)
            {
                *current = stored;
            }
        }
    }

    /// The request window at `now`.
    pub fn rate(&self, limits: &Limits, now: UnixMillis) -> RateView {
        let mut state = self.lock();
        state.roll(now);
        state.rate(limits)
    }

    /// Tokens used and reserved in the current day.
    pub fn tokens_used(&self, now: UnixMillis) -> u64 {
        let mut state = self.lock();
        state.roll(now);
        state.tokens.used.saturating_add(state.reserved)
    }

    /// Requests under way.
    pub fn in_flight(&self, now: UnixMillis) -> u64 {
        let mut state = self.lock();
        state.expire(now);
        state.leases.len() as u64
    }

    /// Counts the request and reserves its tokens, in one step; or says why it may not go ahead,
    /// and changes nothing.
    pub(super) fn admit(
        &self,
        subject: &'static str,
        limits: &Limits,
        admission: &Admission,
        now: UnixMillis,
    ) -> Result<(), LimitExceeded> {
        let mut state = self.lock();
        state.roll(now);
        state.check(subject, limits, admission, now)?;
        state.requests.used = state.requests.used.saturating_add(1);
        state.reserved = state.reserved.saturating_add(admission.tokens);
        let lease = Lease { tokens: admission.tokens, expires: admission.expires };
        state.leases.insert(admission.lease, lease);
        Ok(())
    }

    /// Takes a reservation back, together with its request: another limit stood in the way.
    pub(super) fn unreserve(&self, lease: u64) {
        let mut state = self.lock();
        if state.release(lease) {
            state.requests.used = state.requests.used.saturating_sub(1);
        }
    }

    /// Replaces a reservation by what was really used. The second time, and for a lease that has
    /// lapsed in the meantime, only the part that is not yet done is done.
    pub(super) fn settle(&self, lease: u64, tokens: u64, started: UnixMillis, now: UnixMillis) {
        let mut state = self.lock();
        state.roll(now);
        state.release(lease);
        // What was used belongs to the day in which the request began, as in its record.
        if state.tokens.start == window_start(started, TOKEN_WINDOW_SECONDS) {
            state.tokens.used = state.tokens.used.saturating_add(tokens);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole at every step, so a thread that panicked leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Begins new windows where the old ones are over.
    fn roll(&mut self, now: UnixMillis) {
        for (window, seconds) in
            [(&mut self.requests, REQUEST_WINDOW_SECONDS), (&mut self.tokens, TOKEN_WINDOW_SECONDS)]
        {
            let start = window_start(now, seconds);
            // A clock that was set back does not open an old window again.
            if start > window.start {
                *window = WindowUse { start, used: 0 };
            }
        }
    }

    fn check(
        &mut self,
        subject: &'static str,
        limits: &Limits,
        admission: &Admission,
        now: UnixMillis,
    ) -> Result<(), LimitExceeded> {
        let refuse = |limit, what, name: &str, detail, retry_after| {
            let setting = match limits.section {
                "" => String::new(),
                section => format!("{section}.{name}"),
            };
            Err(LimitExceeded { subject, limit, what, detail, setting, retry_after })
        };
        if let Some(limit) = limits.requests_per_hour
            && self.requests.used >= limit
        {
            let wait = until_end(&self.requests, REQUEST_WINDOW_SECONDS, now);
            return refuse(limit, "requests an hour", "requests_per_hour", String::new(), wait);
        }
        if let Some(limit) = limits.concurrent_requests
            && self.leases.len() as u64 >= limit
        {
            self.expire(now);
            if self.leases.len() as u64 >= limit {
                let wait = Duration::from_secs(1);
                return refuse(
                    limit,
                    "requests at once",
                    "concurrent_requests",
                    String::new(),
                    wait,
                );
            }
        }
        if let Some(limit) = limits.tokens_per_day
            && self.tokens_wanted(admission) > limit
        {
            self.expire(now);
            if self.tokens_wanted(admission) > limit {
                let alone = if admission.tokens > limit {
                    "; this request alone is too large for it"
                } else {
                    ""
                };
                let detail = format!(
                    " ({} used, {} reserved, about {} wanted{alone})",
                    self.tokens.used, self.reserved, admission.tokens
                );
                // What is reserved and not used comes back soon; what is used, tomorrow.
                let used_alone = self.tokens.used.saturating_add(admission.tokens) > limit;
                let wait = if used_alone {
                    until_end(&self.tokens, TOKEN_WINDOW_SECONDS, now)
                } else {
                    Duration::from_secs(1)
                };
                return refuse(limit, "tokens a day", "tokens_per_day", detail, wait);
            }
        }
        Ok(())
    }

    fn tokens_wanted(&self, admission: &Admission) -> u64 {
        self.tokens.used.saturating_add(self.reserved).saturating_add(admission.tokens)
    }

    fn rate(&self, limits: &Limits) -> RateView {
        let limit = limits.requests_per_hour.unwrap_or(UNLIMITED);
        RateView {
            limit,
            remaining: limit.saturating_sub(self.requests.used),
            reset: self.requests.start + REQUEST_WINDOW_SECONDS,
            window: REQUEST_WINDOW_SECONDS,
        }
    }

    fn release(&mut self, lease: u64) -> bool {
        match self.leases.remove(&lease) {
            Some(lease) => {
                self.reserved = self.reserved.saturating_sub(lease.tokens);
                true
            }
            None => false,
        }
    }

    /// Lets leases lapse whose time is over. Looked at only when a limit would refuse.
    fn expire(&mut self, now: UnixMillis) {
        let reserved = &mut self.reserved;
        self.leases.retain(|_, lease| {
            let alive = lease.expires > now;
            if !alive {
                *reserved = reserved.saturating_sub(lease.tokens);
            }
            alive
        });
    }
}

/// First second of the window that holds `now`.
pub(super) fn window_start(now: UnixMillis, window_seconds: u64) -> u64 {
    now.seconds() - now.seconds() % window_seconds
}

fn until_end(window: &WindowUse, window_seconds: u64, now: UnixMillis) -> Duration {
    Duration::from_secs((window.start + window_seconds).saturating_sub(now.seconds()).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

    fn admission(lease: u64, tokens: u64) -> Admission {
        Admission { lease, tokens, expires: NOW.plus(Duration::from_secs(600)) }
    }

    fn admit(ledger: &Ledger, limits: &Limits, lease: u64, now: UnixMillis) -> Result<(), String> {
        let outcome = ledger.admit("this key", limits, &admission(lease, 100), now);
        outcome.map_err(|exceeded| exceeded.what.to_owned())
    }

    #[test]
    fn the_request_window_refuses_and_opens_again() {
        let limits = Limits { requests_per_hour: Some(2), ..Limits::default() };
        let ledger = Ledger::default();
        assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
        assert_eq!(admit(&ledger, &limits, 2, NOW), Ok(()));
        assert_eq!(admit(&ledger, &limits, 3, NOW), Err("requests an hour".into()));
        assert_eq!(ledger.rate(&limits, NOW).remaining, 0);
        let next_hour = UnixMillis(ledger.rate(&limits, NOW).reset * 1000);
        assert_eq!(admit(&ledger, &limits, 4, next_hour), Ok(()));
        assert_eq!(ledger.rate(&limits, next_hour).remaining, 1);
    }

    #[test]
    fn reserved_tokens_count_until_they_are_settled() {
        let limits = Limits { tokens_per_day: Some(250), ..Limits::default() };
        let ledger = Ledger::default();
        assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
        assert_eq!(admit(&ledger, &limits, 2, NOW), Ok(()));
        assert_eq!(admit(&ledger, &limits, 3, NOW), Err("tokens a day".into()));
        ledger.settle(1, 10, NOW, NOW);
        assert_eq!(ledger.tokens_used(NOW), 110);
        assert_eq!(admit(&ledger, &limits, 3, NOW), Ok(()));
        // Settling again changes only what was used, never what others have reserved.
        ledger.settle(1, 0, NOW, NOW);
        assert_eq!(ledger.tokens_used(NOW), 210);
    }

    #[test]
    fn a_lease_that_never_settles_lapses() {
        let limits =
            Limits { concurrent_requests: Some(1), tokens_per_day: Some(150), ..Limits::default() };
        let ledger = Ledger::default();
        assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
        assert_eq!(admit(&ledger, &limits, 2, NOW), Err("requests at once".into()));
        let later = NOW.plus(Duration::from_secs(601));
        assert_eq!(admit(&ledger, &limits, 2, later), Ok(()));
    }

    #[test]
    fn a_restart_keeps_the_higher_count() {
        let limits = Limits { requests_per_hour: Some(5), ..Limits::default() };
        let ledger = Ledger::default();
        let start = window_start(NOW, REQUEST_WINDOW_SECONDS);
        ledger.restore(Some(WindowUse { start, used: 4 }), None);
        assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
        assert_eq!(admit(&ledger, &limits, 2, NOW), Err("requests an hour".into()));
        ledger.restore(Some(WindowUse { start, used: 1 }), None);
        assert_eq!(ledger.rate(&limits, NOW).remaining, 0);
    }

    #[test]
    fn a_clock_set_back_opens_no_old_window() {
        let limits = Limits { requests_per_hour: Some(1), ..Limits::default() };
        let ledger = Ledger::default();
        assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
        let before = UnixMillis(NOW.0 - 7_200_000);
        assert_eq!(admit(&ledger, &limits, 2, before), Err("requests an hour".into()));
    }
}
