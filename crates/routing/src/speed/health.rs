//! Deployments that fail again and again are left alone for a while.
//!
//! After three failures in a row nobody is sent there for 5 s, then one call is let through to see.
//! If it fails as well, the next pause is twice as long, up to a minute; a first token opens the
//! deployment again, and a complete answer makes good for all failures.

use std::sync::atomic::{AtomicU64, Ordering};

use sluice_core::clock::UnixMillis;

/// So many failures in a row, and nobody else is sent there.
const FAILURES: u64 = 3;
/// The first pause. Each further failure doubles it, …
const FIRST_PAUSE_MS: u64 = 5000;
/// … up to this one.
const LONGEST_PAUSE_MS: u64 = 60_000;
/// How long the one that was let through is waited for, before another is.
const TRY_MS: u64 = 60_000;
/// No more failures than these are counted, since the pause grows no longer.
const MOST_FAILURES: u64 = 10;

/// The lower bits hold the time until which it is closed (0: it is not), the upper ones the number
/// of failures in a row.
const TIME_BITS: u32 = 48;
const TIME: u64 = (1 << TIME_BITS) - 1;

/// How a deployment's last calls went.
#[derive(Debug, Default)]
pub(super) struct Health(AtomicU64);

/// What a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// The deployment is open.
    Open,
    /// It is closed, and this is the call that is let through.
    Try(Lease),
    /// It is closed for so many seconds.
    Closed(u64),
}

/// The right to see whether a closed deployment answers again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lease {
    until: u64,
}

#[derive(Clone, Copy)]
struct State {
    failures: u64,
    until: u64,
}

impl State {
    /// Milliseconds for which nobody is let through; `None` where everybody is.
    fn closed_ms(self, now: UnixMillis) -> Option<u64> {
        if self.failures < FAILURES || self.until == 0 {
            return None;
        }
        let left = self.until.saturating_sub(now.0);
        // No pause is that long: the clock was set back.
        Some(if left > LONGEST_PAUSE_MS.max(TRY_MS) { 0 } else { left })
    }
}

impl Health {
    /// Seconds until the deployment is tried again; `None` where it may be asked now.
    pub(super) fn failing(&self, now: UnixMillis) -> Option<u64> {
        let left = self.load().closed_ms(now)?;
        (left > 0).then(|| left.div_ceil(1000))
    }

    /// Asks for a call to be let through.
    pub(super) fn claim(&self, now: UnixMillis) -> Claim {
        let until = at(now, TRY_MS);
        let mut claim = Claim::Open;
        self.update(|state| match state.closed_ms(now) {
            None => {
                claim = Claim::Open;
                None
            }
            Some(0) => {
                claim = Claim::Try(Lease { until });
                Some(State { until, ..state })
            }
            Some(left) => {
                claim = Claim::Closed(left.div_ceil(1000));
                None
            }
        });
        claim
    }

    /// A first token came: others may ask again. The failures still count until an answer is
    /// complete, as some break off in the middle.
    pub(super) fn content_came(&self) {
        self.update(|state| (state.until != 0).then_some(State { until: 0, ..state }));
    }

    /// An answer was complete. Whether that ends a row of failures that closed the deployment.
    pub(super) fn succeeded(&self) -> bool {
        if self.0.load(Ordering::Relaxed) == 0 {
            return false;
        }
        unpack(self.0.swap(0, Ordering::Relaxed)).failures >= FAILURES
    }

    /// Whether it was closed, and no answer has been complete since.
    pub(super) fn is_on_trial(&self) -> bool {
        self.load().failures >= FAILURES
    }

    /// A call failed. Those that were under way when the deployment was closed say nothing new.
    pub(super) fn failed(&self, lease: Option<Lease>, now: UnixMillis) {
        self.update(|state| {
            let is_closed = state.closed_ms(now).is_some_and(|left| left > 0);
            let is_try = lease.is_some_and(|lease| lease.until == state.until);
            if is_closed && !is_try {
                return None;
            }
            let failures = (state.failures + 1).min(MOST_FAILURES);
            let until = if failures < FAILURES {
                0
            } else {
                at(now, (FIRST_PAUSE_MS << (failures - FAILURES)).min(LONGEST_PAUSE_MS))
            };
            Some(State { failures, until })
        });
    }

    /// The call that was let through ended and showed nothing: another may go.
    pub(super) fn gave_back(&self, lease: Lease) {
        self.update(|state| {
            let until = lease.until.saturating_sub(TRY_MS).max(1);
            (state.until == lease.until).then_some(State { until, ..state })
        });
    }

    fn load(&self) -> State {
        unpack(self.0.load(Ordering::Relaxed))
    }

    fn update(&self, mut change: impl FnMut(State) -> Option<State>) {
        // It is not an error where there is nothing to change.
        let _ = self.0.try_update(Ordering::Relaxed, Ordering::Relaxed, |packed| {
            let state = change(unpack(packed))?;
            Some(state.failures << TIME_BITS | state.until)
        });
    }
}

fn unpack(packed: u64) -> State {
    State { failures: packed >> TIME_BITS, until: packed & TIME }
}

fn at(now: UnixMillis, later_ms: u64) -> u64 {
    now.0.saturating_add(later_ms).clamp(1, TIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: UnixMillis = UnixMillis(1_790_000_000_000);

    fn later(ms: u64) -> UnixMillis {
        UnixMillis(BEGIN.0 + ms)
    }

    fn failed(times: usize) -> Health {
        let health = Health::default();
        for _ in 0..times {
            health.failed(None, BEGIN);
        }
        health
    }

    fn lease(claim: Claim) -> Lease {
        match claim {
            Claim::Try(lease) => lease,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn three_failures_in_a_row_close_it_and_two_do_not() {
        assert_eq!(failed(2).failing(BEGIN), None);
        assert_eq!(failed(3).failing(BEGIN), Some(5));
        let health = failed(2);
        health.succeeded();
        health.failed(None, BEGIN);
        assert_eq!(health.failing(BEGIN), None);
    }

    #[test]
    fn one_call_is_let_through_after_the_pause_and_others_wait_for_it() {
        let health = failed(3);
        assert_eq!(health.claim(later(4999)), Claim::Closed(1));
        assert_eq!(health.failing(later(5000)), None);
        let lease = lease(health.claim(later(5000)));
        assert_eq!(health.claim(later(5000)), Claim::Closed(60));
        assert_eq!(health.failing(later(6000)), Some(59));
        health.gave_back(lease);
        assert!(matches!(health.claim(later(6000)), Claim::Try(_)));
    }

    #[test]
    fn each_failed_try_doubles_the_pause_up_to_a_minute() {
        let health = failed(3);
        let mut now = BEGIN;
        for pause in [5, 10, 20, 40, 60, 60, 60, 60, 60, 60] {
            assert_eq!(health.failing(now), Some(pause));
            now = UnixMillis(now.0 + pause * 1000);
            health.failed(Some(lease(health.claim(now))), now);
        }
        health.succeeded();
        assert_eq!(health.failing(now), None);
        health.failed(None, now);
        assert_eq!(health.failing(now), None);
    }

    #[test]
    fn calls_that_were_under_way_do_not_make_the_pause_longer() {
        let health = failed(50);
        assert_eq!(health.failing(BEGIN), Some(5));
    }

    #[test]
    fn a_try_that_never_ends_does_not_block_for_ever() {
        let health = failed(3);
        let lost = lease(health.claim(later(5000)));
        assert_eq!(health.failing(later(5000 + TRY_MS)), None);
        let next = lease(health.claim(later(5000 + TRY_MS)));
        // The lost one comes back, and takes nothing from the one that was let through after it.
        health.gave_back(lost);
        health.failed(Some(lost), later(6000 + TRY_MS));
        assert_eq!(health.failing(later(6000 + TRY_MS)), Some(59));
        health.failed(Some(next), later(6000 + TRY_MS));
        assert_eq!(health.failing(later(6000 + TRY_MS)), Some(10));
    }

    #[test]
    fn a_first_token_opens_it_but_does_not_make_good_for_answers_that_break_off() {
        let health = failed(3);
        let lease = lease(health.claim(later(5000)));
        health.content_came();
        assert_eq!(health.claim(later(5100)), Claim::Open);
        health.failed(Some(lease), later(5200));
        assert_eq!(health.failing(later(5200)), Some(10));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_keep_it_closed() {
        let health = failed(3);
        let back = UnixMillis(BEGIN.0 - 3_600_000);
        assert_eq!(health.failing(back), None);
        health.failed(Some(lease(health.claim(back))), back);
        assert_eq!(health.failing(back), Some(10));
    }

    #[test]
    fn exactly_one_of_many_threads_is_let_through() {
        let health = failed(3);
        let now = later(5000);
        let mut tries = 0;
        std::thread::scope(|scope| {
            let claim = || matches!(health.claim(now), Claim::Try(_));
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(claim)).collect();
            for thread in threads {
                tries += usize::from(thread.join().unwrap());
            }
        });
        assert_eq!(tries, 1);
    }
}
