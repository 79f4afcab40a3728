//! How a provider has been doing, from the calls themselves: no probes that cost money.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use sluice_core::clock::UnixMillis;
use sluice_providers::error::ProviderErrorKind;

/// How many failures in a row make a provider count as failing.
const FAILING_AFTER: u32 = 3;
/// How many streams in a row that break off in the middle do.
const BREAKING_AFTER: u32 = 3;
/// How long broken streams are held against it: whoever is asked for whole answers only, or not at
/// all since then, has no stream to finish.
const BREAKS_LAPSE_AFTER: Duration = Duration::from_secs(10 * 60);

/// How one provider has been doing.
#[derive(Debug, Default)]
pub struct ProviderHealth {
    failures_in_a_row: AtomicU32,
    /// Streams that began and broke off. Whole answers say nothing about them: what cuts streams
    /// lets those through.
    breaks_in_a_row: AtomicU32,
    last_break_at: AtomicU64,
    /// Until when it asked to be left alone, in milliseconds since the epoch.
    rests_until: AtomicU64,
    last_answer_at: AtomicU64,
}

/// A provider's state, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderState {
    /// Nobody has asked it since the start.
    Unknown,
    /// It answers.
    Ok,
    /// Its last calls failed, or its last streams broke off.
    Failing,
    /// It asked to be left alone for a while.
    Resting,
}

impl ProviderState {
    /// The word in `/health`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Ok => "ok",
            Self::Failing => "failing",
            Self::Resting => "resting",
        }
    }
}

impl ProviderHealth {
    /// It began to answer.
    pub fn began(&self, now: UnixMillis) {
        self.last_answer_at.store(now.0, Ordering::Relaxed);
        clear(&self.failures_in_a_row);
    }

    /// A stream of it came to its end.
    pub fn finished_stream(&self) {
        clear(&self.breaks_in_a_row);
    }

    /// A stream of it broke off after it had begun.
    pub fn broke_stream(
        &self,
        kind: ProviderErrorKind,
        retry_after: Option<Duration>,
        now: UnixMillis,
    ) {
        if !kind.is_the_providers() {
            return;
        }
        if self.breaks_have_lapsed(now) {
            clear(&self.breaks_in_a_row);
        }
        self.last_break_at.fetch_max(now.0, Ordering::Relaxed);
        self.breaks_in_a_row.fetch_add(1, Ordering::Relaxed);
        self.rest(retry_after, now);
    }

    /// It failed, or refused for a reason of its own.
    pub fn failed(&self, kind: ProviderErrorKind, retry_after: Option<Duration>, now: UnixMillis) {
        if !kind.is_the_providers() {
            return;
        }
        if kind != ProviderErrorKind::RateLimited {
            self.failures_in_a_row.fetch_add(1, Ordering::Relaxed);
        }
        self.rest(retry_after, now);
    }

    /// Whether it asked to be left alone and the time is not over.
    pub fn is_resting(&self, now: UnixMillis) -> bool {
        self.rests_for(now).is_some()
    }

    /// The seconds, begun ones counted whole, for which it still wants to be left alone.
    pub fn rests_for(&self, now: UnixMillis) -> Option<u64> {
        let left = self.rests_until.load(Ordering::Relaxed).saturating_sub(now.0);
        (left > 0).then(|| left.div_ceil(1000))
    }

    /// Its state at `now`.
    pub fn state(&self, now: UnixMillis) -> ProviderState {
        if self.is_resting(now) {
            ProviderState::Resting
        } else if self.failures_in_a_row.load(Ordering::Relaxed) >= FAILING_AFTER
            || self.breaks_in_a_row.load(Ordering::Relaxed) >= BREAKING_AFTER
                && !self.breaks_have_lapsed(now)
        {
            ProviderState::Failing
        } else if self.last_answer_at.load(Ordering::Relaxed) > 0 {
            ProviderState::Ok
        } else {
            ProviderState::Unknown
        }
    }

    /// When it last began to answer; `None`: not since the start.
    pub fn last_answer(&self) -> Option<UnixMillis> {
        let at = self.last_answer_at.load(Ordering::Relaxed);
        (at > 0).then_some(UnixMillis(at))
    }

    fn breaks_have_lapsed(&self, now: UnixMillis) -> bool {
        let last = UnixMillis(self.last_break_at.load(Ordering::Relaxed));
        now >= last.plus(BREAKS_LAPSE_AFTER)
    }

    fn rest(&self, retry_after: Option<Duration>, now: UnixMillis) {
        if let Some(wait) = retry_after {
            self.rests_until.fetch_max(now.plus(wait).0, Ordering::Relaxed);
        }
    }
}

/// Written only when it changes: all requests share this line of memory.
fn clear(count: &AtomicU32) {
    if count.load(Ordering::Relaxed) != 0 {
        count.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

    #[test]
    fn a_provider_fails_after_three_failures_and_recovers_with_one_answer() {
        let health = ProviderHealth::default();
        assert_eq!(health.state(NOW), ProviderState::Unknown);
        health.began(NOW);
        for expected in [ProviderState::Ok, ProviderState::Ok, ProviderState::Failing] {
            health.failed(ProviderErrorKind::Connection, None, NOW);
            assert_eq!(health.state(NOW), expected);
        }
        health.began(NOW);
        assert_eq!(health.state(NOW), ProviderState::Ok);
    }

    #[test]
    fn streams_that_begin_well_and_break_off_are_failures() {
        let health = ProviderHealth::default();
        for expected in [ProviderState::Ok, ProviderState::Ok, ProviderState::Failing] {
            health.began(NOW);
            health.broke_stream(ProviderErrorKind::Connection, None, NOW);
            assert_eq!(health.state(NOW), expected);
        }
        // A whole answer, or a stream that has only begun, makes nothing good.
        health.began(NOW);
        assert_eq!(health.state(NOW), ProviderState::Failing);
        health.finished_stream();
        assert_eq!(health.state(NOW), ProviderState::Ok);
    }

    #[test]
    fn broken_streams_are_forgotten_after_a_while() {
        let health = ProviderHealth::default();
        let breaks = |now| health.broke_stream(ProviderErrorKind::Connection, None, now);
        health.began(NOW);
        let last = NOW.plus(Duration::from_secs(500));
        [NOW, NOW, last].into_iter().for_each(breaks);
        assert_eq!(health.state(last.plus(Duration::from_secs(599))), ProviderState::Failing);
        let later = last.plus(Duration::from_secs(600));
        assert_eq!(health.state(later), ProviderState::Ok);
        // They do not count beside new ones either.
        [later; 2].into_iter().for_each(breaks);
        assert_eq!(health.state(later), ProviderState::Ok);
        breaks(later);
        assert_eq!(health.state(later), ProviderState::Failing);
    }

    #[test]
    fn the_callers_fault_is_not_the_providers() {
        let health = ProviderHealth::default();
        for kind in [
            ProviderErrorKind::BadRequest,
            ProviderErrorKind::ContextLength,
            ProviderErrorKind::ContentBlocked,
        ] {
            for _ in 0..5 {
                health.failed(kind, Some(Duration::from_secs(60)), NOW);
            }
        }
        assert_eq!(health.state(NOW), ProviderState::Unknown);
    }

    #[test]
    fn a_rest_lasts_as_long_as_was_asked_for() {
        let health = ProviderHealth::default();
        health.failed(ProviderErrorKind::RateLimited, Some(Duration::from_secs(5)), NOW);
        // A shorter wish does not end a longer one.
        health.failed(ProviderErrorKind::RateLimited, Some(Duration::from_secs(1)), NOW);
        assert_eq!(health.state(NOW), ProviderState::Resting);
        assert!(health.is_resting(NOW.plus(Duration::from_millis(4_999))));
        assert!(!health.is_resting(NOW.plus(Duration::from_secs(5))));
        // Being asked to slow down is no failure.
        assert_eq!(health.state(NOW.plus(Duration::from_secs(5))), ProviderState::Unknown);
    }
}
