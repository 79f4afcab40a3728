//! The time, as an argument: whatever depends on it is tested by moving it.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The milliseconds of 24 hours.
pub const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// Milliseconds since the Unix epoch.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// Whole seconds since the Unix epoch.
    pub fn seconds(self) -> u64 {
        self.0 / 1000
    }

    /// The moment `later` after this one.
    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(later.as_millis()).unwrap_or(u64::MAX)))
    }

    /// How long ago `earlier` was; zero where it has not been yet.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// RFC 3339 in UTC, to the second: `2026-11-21T09:30:00Z`.
    pub fn to_rfc3339(self) -> String {
        i64::try_from(self.seconds())
            .ok()
            .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())
            .map_or_else(|| "out of range".to_owned(), |timestamp| timestamp.to_string())
    }

    /// Reads a day (`2027-01-31`: its first second in UTC) or an RFC 3339 time.
    pub fn parse(text: &str) -> Option<Self> {
        let timestamp = if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
            timestamp
        } else {
            let date: jiff::civil::Date = text.parse().ok()?;
            date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp()
        };
        u64::try_from(timestamp.as_millisecond()).ok().map(Self)
    }
}

/// Milliseconds by a clock that only goes forward and that nobody sets. It says how long something
/// lasts; it starts anew with the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SteadyMillis(pub u64);

impl SteadyMillis {
    /// The moment `later` after this one.
    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(later.as_millis()).unwrap_or(u64::MAX)))
    }

    /// How long ago `earlier` was; zero where it has not been yet.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// A moment by both clocks: the calendar's, which people and time servers set, and the steady one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// The time of day.
    pub wall: UnixMillis,
    /// The same moment by the steady clock.
    pub steady: SteadyMillis,
}

/// What tells the time.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> UnixMillis;

    /// The current time of the steady clock.
    fn steady(&self) -> SteadyMillis;

    /// The current moment by both clocks.
    fn moment(&self) -> Moment {
        Moment { wall: self.now(), steady: self.steady() }
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
    fn now(&self) -> UnixMillis {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn steady(&self) -> SteadyMillis {
        static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        SteadyMillis(u64::try_from(BEGIN.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// A clock that tests move.
#[derive(Debug, Default)]
pub struct ManualClock {
    wall: AtomicU64,
    steady: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at `now`.
    pub fn at(now: UnixMillis) -> Self {
        Self { wall: AtomicU64::new(now.0), steady: AtomicU64::new(0) }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.wall.fetch_add(millis, Ordering::SeqCst);
        self.steady.fetch_add(millis, Ordering::SeqCst);
    }

    /// Somebody sets the time of day, and no time passes.
    pub fn set(&self, now: UnixMillis) {
        self.wall.store(now.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.wall.load(Ordering::SeqCst))
    }

    fn steady(&self) -> SteadyMillis {
        SteadyMillis(self.steady.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times_are_read() {
        assert_eq!(UnixMillis::parse("1970-01-02"), Some(UnixMillis(86_400_000)));
        assert_eq!(UnixMillis::parse("1970-01-01T00:00:01Z"), Some(UnixMillis(1000)));
        assert_eq!(UnixMillis::parse("tomorrow"), None);
        assert_eq!(UnixMillis(1000).to_rfc3339(), "1970-01-01T00:00:01Z");
    }
}
