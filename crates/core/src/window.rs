//! Windows of the calendar: when the one around a moment begins and ends.
//!
//! Pure arithmetic over Unix seconds. A ledger asks for a window once and then compares two numbers
//! until it is over, so that nothing here is in a request's way. Time zones come from the database
//! that is built into the program: a container needs none of its own, and every machine agrees.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use serde::{Deserialize, Serialize};

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;
/// The first Monday after the Unix epoch, which was a Thursday.
const FIRST_MONDAY: u64 = 4 * DAY;

/// How long an allowance lasts before it is whole again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// A clock hour.
    Hour,
    /// Five hours from the first use on, to the second.
    FiveHours,
    /// A day of the calendar: 23 or 25 hours where clocks are changed.
    Day,
    /// A week of the calendar, from Monday on.
    Week,
    /// A month of the calendar.
    Month,
    /// For ever.
    Total,
}

/// The time zone whose calendar a window follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// A name that stands for no time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time zone; expected an IANA name such as `Europe/Berlin`, or `UTC`")]
pub struct UnknownZone(String);

/// From a first second to the one after the last, in Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first second.
    pub start: u64,
    /// The first second after it; [`u64::MAX`] for what never ends.
    pub end: u64,
}

impl Window {
    /// Every window.
    pub const ALL: [Self; 6] =
        [Self::Hour, Self::FiveHours, Self::Day, Self::Week, Self::Month, Self::Total];

    /// The word in records and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::FiveHours => "five_hours",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Total => "total",
        }
    }

    /// The window that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|window| window.as_str() == word)
    }

    /// Whether the calendar of a time zone decides when it begins.
    pub fn follows_the_calendar(self) -> bool {
        !matches!(self, Self::FiveHours | Self::Total)
    }

    /// The window around `at`. One of five hours begins at `at`, for only its first use tells.
    ///
    /// Windows follow each other without a gap: one begins where the one before it ends.
    pub fn span(self, zone: &Zone, at: u64) -> Span {
        match self {
            Self::FiveHours => Span { start: at, end: at.saturating_add(5 * HOUR) },
            Self::Total => Span { start: 0, end: u64::MAX },
            Self::Hour | Self::Day | Self::Week if *zone == Zone::UTC => self.epoch_span(at),
            Self::Hour => zone.clock_hour(at).unwrap_or_else(|| self.epoch_span(at)),
            _ => self.calendar_span(zone, at).unwrap_or_else(|| self.epoch_span(at)),
        }
    }

    /// The window in UTC without a calendar; also for moments that no calendar has.
    fn epoch_span(self, at: u64) -> Span {
        let (length, first) = match self {
            Self::Hour | Self::FiveHours => (HOUR, 0),
            Self::Day | Self::Total => (DAY, 0),
            Self::Week => (WEEK, FIRST_MONDAY),
            Self::Month => (31 * DAY, 0),
        };
        let start = at.saturating_sub(at.saturating_sub(first) % length).min(at);
        let start = if at < first { 0 } else { start };
        let end = if at < first { first } else { start.saturating_add(length) };
        Span { start, end }
    }

    fn calendar_span(self, zone: &Zone, at: u64) -> Option<Span> {
        let mut first = self.first_day(zone.0.to_datetime(timestamp(at)?).date())?;
        let mut start = zone.beginning_of(first)?;
        loop {
            let next = self.first_day_after(first)?;
            let end = zone.beginning_of(next)?;
            // Where clocks are set back over midnight, the last minutes of a day come twice. The
            // day that has begun in between goes on. A day that the calendar leaves out is empty.
            if at < end {
                return Some(Span { start: start.min(at), end });
            }
            (first, start) = (next, end);
        }
    }

    /// The first day of the window that holds `day`.
    fn first_day(self, day: Date) -> Option<Date> {
        match self {
            Self::Month => Some(day.first_of_month()),
            Self::Week => {
                let since_monday = day.weekday().since(Weekday::Monday);
                day.checked_sub(jiff::Span::new().days(since_monday)).ok()
            }
            _ => Some(day),
        }
    }

    /// The first day of the next window.
    fn first_day_after(self, first: Date) -> Option<Date> {
        let length = match self {
            Self::Month => jiff::Span::new().months(1),
            Self::Week => jiff::Span::new().weeks(1),
            _ => jiff::Span::new().days(1),
        };
        first.checked_add(length).ok()
    }
}

impl Span {
    /// The moment at which it ends, if it ever does.
    pub fn reset(self) -> Option<u64> {
        (self.end != u64::MAX).then_some(self.end)
    }

    /// Whether `at` lies within it.
    pub fn contains(self, at: u64) -> bool {
        (self.start..self.end).contains(&at)
    }

    /// How many seconds it lasts.
    pub fn seconds(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// The zone with this name.
    pub fn parse(name: &str) -> Result<Self, UnknownZone> {
        if name.eq_ignore_ascii_case("utc") {
            return Ok(Self::UTC);
        }
        TimeZone::get(name).map(Self).map_err(|_| UnknownZone(name.to_owned()))
    }

    /// The hour between two full hours of the zone's clocks. Where clocks are changed by half an
    /// hour, one hour is cut short.
    fn clock_hour(&self, at: u64) -> Option<Span> {
        let moment = timestamp(at)?;
        let (now, hour) = (i64::try_from(at).ok()?, i64::try_from(HOUR).ok()?);
        let local = now + i64::from(self.0.to_offset(moment).seconds());
        let start = now - local.rem_euclid(hour);
        let (mut start, mut end) = (start, start + hour);
        if let Some(change) = self.0.preceding(timestamp(at + 1)?).next() {
            start = start.max(change.timestamp().as_second());
        }
        if let Some(change) = self.0.following(moment).next() {
            end = end.min(change.timestamp().as_second());
        }
        Some(Span { start: u64::try_from(start).unwrap_or(0), end: u64::try_from(end).ok()? })
    }

    /// The first second of a day, in Unix seconds. 0 before the Unix epoch.
    fn beginning_of(&self, day: Date) -> Option<u64> {
        let midnight = day.to_datetime(Time::midnight());
        let beginning = match self.0.to_ambiguous_timestamp(midnight).offset() {
            // Of two midnights the first.
            AmbiguousOffset::Unambiguous { offset }
            | AmbiguousOffset::Fold { before: offset, .. } => offset.to_timestamp(midnight).ok()?,
            // There is no midnight: the day begins when the clocks are changed.
            AmbiguousOffset::Gap { before, .. } => {
                let after = before.to_timestamp(midnight).ok()?.as_second() + 1;
                self.0.preceding(Timestamp::from_second(after).ok()?).next()?.timestamp()
            }
        };
        Some(u64::try_from(beginning.as_second()).unwrap_or(0))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.iana_name().unwrap_or("UTC"))
    }
}

fn timestamp(seconds: u64) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
}
