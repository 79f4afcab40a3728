//! What one key or one account has used, and what is reserved.

use std::collections::{HashMap, HashSet};
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

/// Whose limits are asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// `this key` or `this account`.
    pub(super) name: &'static str,
    /// The figures.
    pub(super) limits: &'a Limits,
    /// Which of them are its own.
    pub(super) own: OwnFigures,
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
    /// Names the reservation. Settling by it counts once, however often it is done.
    pub lease: u64,
    /// Tokens that the request will probably use.
    pub tokens: u64,
    /// When the reservation lapses by itself.
    pub expires: UnixMillis,
}

/// How far a reading of the clock may lie before a window that another thread has begun, without
/// meaning that the clock was set back.
const CLOCK_SKEW_SECONDS: u64 = 60;

/// What one key or one account has used and reserved.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    requests: WindowUse,
    tokens: WindowUse,
    reserved: u64,
    leases: HashMap<u64, Lease>,
    /// Leases that lapsed today and may still settle.
    lapsed: HashSet<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    tokens: u64,
    expires: UnixMillis,
    /// First second of the window that its request was counted in; `None` while it only holds a
    /// place among the requests at once.
    counted_in: Option<u64>,
}

impl Subject<'_> {
    /// Whether so many tokens fit into an empty window; where they do not, waiting never helps.
    pub(super) fn has_room_for(&self, tokens: u64) -> Result<(), LimitExceeded> {
        let Some(limit) = self.limits.tokens_per_day.filter(|limit| tokens > *limit) else {
            return Ok(());
        };
        let own = self.own.tokens_per_day;
        let wait = Duration::from_secs(TOKEN_WINDOW_SECONDS);
        let refusal = self.refusal(limit, "tokens a day", "tokens_per_day", own, wait);
        Err(LimitExceeded { too_large: Some(tokens), ..refusal })
    }

    fn refusal(
        &self,
        limit: u64,
        what: &'static str,
        setting: &str,
        is_own: bool,
        retry_after: Duration,
    ) -> LimitExceeded {
        LimitExceeded {
            subject: self.name,
            limit,
            what,
            detail: String::new(),
            setting: self.setting(setting, is_own),
            retry_after,
            too_large: None,
        }
    }

    /// The setting behind a figure; empty where the figure is the subject's own.
    fn setting(&self, name: &str, is_own: bool) -> String {
        match self.limits.section {
            "" => String::new(),
            _ if is_own => String::new(),
            section => format!("{section}.{name}"),
        }
    }
}

impl Ledger {
    /// Takes over what the database knows of the windows at `now`; keeps what is higher. Windows
    /// that are over count for nothing, and neither do those that lie ahead: a wrong clock wrote
    /// them.
    pub fn restore(&self, requests: Option<WindowUse>, tokens: Option<WindowUse>, now: UnixMillis) {
        let mut state = self.lock();
        state.roll(now);
        if let Some(stored) = requests {
            state.requests.take_over(stored);
        }
        if let Some(stored) = tokens {
            state.tokens.take_over(stored);
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

    /// Takes a place among the requests at once, for a request whose size is not known yet. It is
    /// neither counted nor reserves tokens; where there is no request left to be counted, there is
    /// no place either.
    pub(super) fn hold(
        &self,
        subject: Subject<'_>,
        lease: u64,
        expires: UnixMillis,
        now: UnixMillis,
    ) -> Result<(), LimitExceeded> {
        let mut state = self.lock();
        state.roll(now);
        state.check_requests(subject, lease, now)?;
        state.leases.insert(lease, Lease { tokens: 0, expires, counted_in: None });
        Ok(())
    }

    /// Counts the request that holds the place `lease`, without admitting it: it was refused only
    /// after it had been work.
    pub(super) fn count(&self, lease: u64, now: UnixMillis) {
        let mut state = self.lock();
        state.roll(now);
        let State { requests, leases, .. } = &mut *state;
        if let Some(Lease { counted_in: counted_in @ None, .. }) = leases.get_mut(&lease) {
            requests.used = requests.used.saturating_add(1);
            *counted_in = Some(requests.start);
        }
    }

    /// Counts the request and reserves its tokens, in one step; or says why it may not go ahead,
    /// and changes nothing. The place that the request holds already becomes its reservation.
    pub(super) fn admit(
        &self,
        subject: Subject<'_>,
        admission: &Admission,
        now: UnixMillis,
    ) -> Result<(), LimitExceeded> {
        let mut state = self.lock();
        state.roll(now);
        state.check(subject, admission, now)?;
        state.requests.used = state.requests.used.saturating_add(1);
        state.reserved = state.reserved.saturating_add(admission.tokens);
        let lease = Lease {
            tokens: admission.tokens,
            expires: admission.expires,
            counted_in: Some(state.requests.start),
        };
        state.leases.insert(admission.lease, lease);
        state.lapsed.remove(&admission.lease);
        Ok(())
    }

    /// Takes a reservation back, together with its request: another limit stood in the way.
    pub(super) fn unreserve(&self, lease: u64) {
        let mut state = self.lock();
        // The request of an earlier hour is forgotten already. One of a later hour was counted
        // before the clock was set back, and is in the current window.
        if let Some(Lease { counted_in: Some(counted_in), .. }) = state.release(lease)
            && counted_in >= state.requests.start
        {
            state.requests.used = state.requests.used.saturating_sub(1);
        }
    }

    /// Gives a reservation back without any use; its request stays counted.
    pub(super) fn give_back(&self, lease: u64) {
        let mut state = self.lock();
        state.release(lease);
        state.lapsed.remove(&lease);
    }

    /// Replaces a reservation by what was really used, even where it has lapsed in the meantime.
    /// The second time does nothing.
    pub(super) fn settle(&self, lease: u64, tokens: u64, started: UnixMillis, now: UnixMillis) {
        let mut state = self.lock();
        if state.release(lease).is_none() && !state.lapsed.remove(&lease) {
            return;
        }
        state.roll(now);
        // What was used belongs to the day in which the request began, as in its record. A day
        // that lies ahead is one of a clock that was set back: then it belongs to today.
        if window_start(started, TOKEN_WINDOW_SECONDS) >= state.tokens.start {
            state.tokens.used = state.tokens.used.saturating_add(tokens);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole at every step, so a thread that panicked leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WindowUse {
    /// Begins a new window where this one is over; says whether it did.
    fn roll(&mut self, now: UnixMillis, seconds: u64) -> bool {
        let start = window_start(now, seconds);
        if start > self.start {
            *self = Self { start, used: 0 };
            return true;
        }
        // A clock that was set back opens no fresh window, and blocks nobody for longer than one.
        if now.seconds().saturating_add(CLOCK_SKEW_SECONDS) < self.start {
            self.start = start;
        }
        false
    }

    fn take_over(&mut self, stored: Self) {
        if stored.start == self.start {
            self.used = self.used.max(stored.used);
        }
    }
}

impl State {
    /// Begins new windows where the old ones are over.
    fn roll(&mut self, now: UnixMillis) {
        self.requests.roll(now, REQUEST_WINDOW_SECONDS);
        if self.tokens.roll(now, TOKEN_WINDOW_SECONDS) {
            // What they settle belongs to a day that is over.
            self.lapsed.clear();
        }
    }

    fn check(
        &mut self,
        subject: Subject<'_>,
        admission: &Admission,
        now: UnixMillis,
    ) -> Result<(), LimitExceeded> {
        self.check_requests(subject, admission.lease, now)?;
        let Some(limit) = subject.limits.tokens_per_day else { return Ok(()) };
        if self.tokens_wanted(admission) <= limit {
            return Ok(());
        }
        self.expire(now);
        if self.tokens_wanted(admission) <= limit {
            return Ok(());
        }
        let detail = format!(
            " ({} used, {} reserved, about {} wanted)",
            self.tokens.used, self.reserved, admission.tokens
        );
        // What is reserved and not used comes back soon; what is used, tomorrow.
        let used_alone = self.tokens.used.saturating_add(admission.tokens) > limit;
        let wait = if used_alone {
            until_end(&self.tokens, TOKEN_WINDOW_SECONDS, now)
        } else {
            Duration::from_secs(1)
        };
        let own = subject.own.tokens_per_day;
        let refusal = subject.refusal(limit, "tokens a day", "tokens_per_day", own, wait);
        Err(LimitExceeded { detail, ..refusal })
    }

    /// The limits that hold whatever a request's size: requests an hour, and requests at once
    /// beside the one that `lease` names.
    fn check_requests(
        &mut self,
        subject: Subject<'_>,
        lease: u64,
        now: UnixMillis,
    ) -> Result<(), LimitExceeded> {
        let Subject { limits, own, .. } = subject;
        if let Some(limit) = limits.requests_per_hour
            && self.requests.used >= limit
        {
            let wait = until_end(&self.requests, REQUEST_WINDOW_SECONDS, now);
            let own = own.requests_per_hour;
            return Err(subject.refusal(limit, "requests an hour", "requests_per_hour", own, wait));
        }
        if let Some(limit) = limits.concurrent_requests
            && self.beside(lease) >= limit
        {
            self.expire(now);
            if self.beside(lease) >= limit {
                let (what, name) = ("requests at once", "concurrent_requests");
                let wait = Duration::from_secs(1);
                return Err(subject.refusal(limit, what, name, own.concurrent_requests, wait));
            }
        }
        Ok(())
    }

    /// How many places are taken by others than `lease`.
    fn beside(&self, lease: u64) -> u64 {
        let own = usize::from(self.leases.contains_key(&lease));
        (self.leases.len() - own) as u64
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

    fn release(&mut self, lease: u64) -> Option<Lease> {
        let lease = self.leases.remove(&lease)?;
        self.reserved = self.reserved.saturating_sub(lease.tokens);
        Some(lease)
    }

    /// Lets leases lapse whose time is over. Looked at only when a limit would refuse.
    fn expire(&mut self, now: UnixMillis) {
        let (reserved, lapsed) = (&mut self.reserved, &mut self.lapsed);
        self.leases.retain(|id, lease| {
            let alive = lease.expires > now;
            if !alive {
                *reserved = reserved.saturating_sub(lease.tokens);
                lapsed.insert(*id);
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
    let left = window.start.saturating_add(window_seconds).saturating_sub(now.seconds());
    Duration::from_secs(left.clamp(1, window_seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

    fn admission(lease: u64, tokens: u64) -> Admission {
        Admission { lease, tokens, expires: NOW.plus(Duration::from_secs(600)) }
    }

    fn admit(ledger: &Ledger, limits: &Limits, lease: u64, now: UnixMillis) -> Result<(), String> {
        let subject = Subject { name: "this key", limits, own: OwnFigures::default() };
        let outcome = ledger.admit(subject, &admission(lease, 100), now);
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
        // Settling again changes neither what was used nor what others have reserved.
        ledger.settle(1, 10, NOW, NOW);
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
        ledger.restore(Some(WindowUse { start, used: 4 }), None, NOW);
        assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
        assert_eq!(admit(&ledger, &limits, 2, NOW), Err("requests an hour".into()));
        ledger.restore(Some(WindowUse { start, used: 1 }), None, NOW);
        assert_eq!(ledger.rate(&limits, NOW).remaining, 0);
    }

    #[test]
    fn windows_that_lie_ahead_or_are_over_are_not_restored() {
        let limits = Limits { requests_per_hour: Some(5), ..Limits::default() };
        let ledger = Ledger::default();
        let start = window_start(NOW, REQUEST_WINDOW_SECONDS);
        for start in [start - 3_600, start + 3_600, start + 400 * 86_400] {
            ledger.restore(Some(WindowUse { start, used: 5 }), None, NOW);
        }
        assert_eq!(ledger.rate(&limits, NOW).remaining, 5);
    }

    #[test]
    fn a_clock_set_back_opens_no_fresh_window_and_blocks_for_one_at_most() {
        const YEARS: u64 = 10 * 365 * 86_400;
        let limits =
            Limits { requests_per_hour: Some(1), tokens_per_day: Some(150), ..Limits::default() };
        let subject = Subject { name: "this key", limits: &limits, own: OwnFigures::default() };
        let ledger = Ledger::default();
        let wrong = NOW.plus(Duration::from_secs(YEARS));
        assert_eq!(admit(&ledger, &limits, 1, wrong), Ok(()));
        // What began under the wrong clock counts today.
        ledger.settle(1, 120, wrong, NOW);
        assert_eq!(ledger.tokens_used(NOW), 120);
        let refused = ledger.admit(subject, &admission(2, 100), NOW).unwrap_err();
        assert_eq!(refused.what, "requests an hour");
        assert!(refused.retry_after <= Duration::from_secs(REQUEST_WINDOW_SECONDS));
        let next_hour = NOW.plus(refused.retry_after);
        let refused = ledger.admit(subject, &admission(2, 100), next_hour).unwrap_err();
        assert_eq!(refused.what, "tokens a day");
        assert!(refused.retry_after <= Duration::from_secs(TOKEN_WINDOW_SECONDS));
        assert_eq!(admit(&ledger, &limits, 2, next_hour.plus(refused.retry_after)), Ok(()));
    }

    #[test]
    fn a_reading_that_is_a_moment_late_does_not_begin_the_window_again() {
        let limits = Limits { requests_per_hour: Some(2), ..Limits::default() };
        let ledger = Ledger::default();
        assert_eq!(NOW.seconds() % REQUEST_WINDOW_SECONDS, 0);
        assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
        assert_eq!(admit(&ledger, &limits, 2, UnixMillis(NOW.0 - 5)), Ok(()));
        assert_eq!(admit(&ledger, &limits, 3, NOW), Err("requests an hour".into()));
    }

    #[test]
    fn what_is_taken_back_after_the_hour_is_not_taken_from_the_next() {
        let limits = Limits { requests_per_hour: Some(5), ..Limits::default() };
        let ledger = Ledger::default();
        assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
        let next_hour = NOW.plus(Duration::from_secs(REQUEST_WINDOW_SECONDS));
        assert_eq!(admit(&ledger, &limits, 2, next_hour), Ok(()));
        ledger.unreserve(1);
        assert_eq!(ledger.rate(&limits, next_hour).remaining, 4);
        ledger.unreserve(2);
        assert_eq!(ledger.rate(&limits, next_hour).remaining, 5);
    }

    #[test]
    fn a_lapsed_lease_settles_once() {
        let limits = Limits { concurrent_requests: Some(1), ..Limits::default() };
        let ledger = Ledger::default();
        assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
        let later = NOW.plus(Duration::from_secs(601));
        assert_eq!(ledger.in_flight(later), 0);
        for _ in 0..2 {
            ledger.settle(1, 30, NOW, later);
            assert_eq!(ledger.tokens_used(later), 30);
        }
    }

    #[test]
    fn a_request_that_can_never_fit_says_so_and_only_configured_figures_name_a_setting() {
        let limits = Limits {
            requests_per_hour: Some(1),
            tokens_per_day: Some(50),
            section: "limits.lowest",
            ..Limits::default()
        };
        let ledger = Ledger::default();
        let refused = |own, tokens| {
            let subject = Subject { name: "this account", limits: &limits, own };
            let fits = subject.has_room_for(tokens);
            let admitted = fits.and_then(|()| ledger.admit(subject, &admission(1, tokens), NOW));
            admitted.unwrap_err().to_string()
        };
        let text = refused(OwnFigures::default(), 100);
        assert!(text.contains("never") && text.contains("`max_tokens`"), "{text}");
        assert!(text.contains("raise `limits.lowest.tokens_per_day`"), "{text}");
        assert!(!text.contains("retry in"), "{text}");
        let own = OwnFigures { tokens_per_day: true, ..OwnFigures::default() };
        assert!(!refused(own, 100).contains("limits.lowest"));
        ledger.restore(Some(WindowUse { start: NOW.seconds(), used: 1 }), None, NOW);
        let text = refused(own, 10);
        assert!(text.contains("retry in 3600 s, or ask the operator"), "{text}");
        assert!(text.contains("`limits.lowest.requests_per_hour`"), "{text}");
    }
}
