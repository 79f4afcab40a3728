//! Hours of figures, gathered into the hours or days of a time zone.

use sluice_core::clock::UnixMillis;
use sluice_storage::{Figures, HOUR_SECONDS, HourFigures, RecordsFilter};

use crate::limits::{Span, Window, Zone};

/// The most that a chart has. Of a longer period, its end is shown.
const MOST_BUCKETS: usize = 1_000;

/// From a moment to before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The first moment.
    pub since: UnixMillis,
    /// The first moment after it.
    pub until: UnixMillis,
}

/// How long the parts of a chart are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Full hours of UTC.
    Hour,
    /// Days of the calendar. Figures are kept by full hours of UTC: where a day begins in the midst
    /// of one, that hour counts to the day before.
    Day,
}

/// An hour or a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Its first moment.
    pub since: UnixMillis,
    /// The first moment after it.
    pub until: UnixMillis,
    /// What it came to, as far as it lies in the period.
    pub figures: Figures,
}

impl Period {
    /// The period of the same length that ends where this one begins.
    #[must_use]
    pub fn before(self) -> Self {
        let length = self.until.0.saturating_sub(self.since.0);
        Self { since: UnixMillis(self.since.0.saturating_sub(length)), until: self.since }
    }

    /// Everything in it.
    pub fn filter(self) -> RecordsFilter {
        RecordsFilter {
            since: Some(self.since),
            until: Some(self.until),
            ..RecordsFilter::default()
        }
    }
}

/// The buckets of a period, one after the other, also those of no request. `hours` are in order.
pub(super) fn buckets(
    period: Period,
    step: Step,
    zone: &Zone,
    hours: &[HourFigures],
) -> Vec<Bucket> {
    let until = period.until.0.div_ceil(1000);
    let (length, window, zone) = match step {
        Step::Hour => (HOUR_SECONDS, Window::Hour, &Zone::UTC),
        Step::Day => (24 * HOUR_SECONDS, Window::Day, zone),
    };
    let most = length.saturating_mul(MOST_BUCKETS as u64);
    let mut at = period.since.seconds().max(until.saturating_sub(most));
    let mut hours = hours.iter().peekable();
    let mut buckets: Vec<Bucket> = Vec::new();
    while at < until && buckets.len() < MOST_BUCKETS {
        let Span { start, end } = window.span(zone, at);
        let mut figures = Figures::default();
        let first = buckets.is_empty();
        while let Some(hour) = hours.next_if(|hour| hour.start < end) {
            // What the shortened period leaves out lies before its first bucket; the hour in which
            // the period begins does not.
            if !first || hour.start + HOUR_SECONDS > start {
                figures = figures.plus(hour.figures);
            }
        }
        let moment = |seconds: u64| UnixMillis(seconds.saturating_mul(1000));
        buckets.push(Bucket { since: moment(start), until: moment(end), figures });
        at = end.max(at + 1);
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: u64 = HOUR_SECONDS * 1000;

    fn moment(text: &str) -> UnixMillis {
        UnixMillis::parse(text).unwrap()
    }

    fn every_hour(period: Period) -> Vec<HourFigures> {
        let hours = period.since.0 / HOUR_MS..period.until.0.div_ceil(HOUR_MS);
        let figures = Figures { requests: 1, ..Figures::default() };
        hours.map(|hour| HourFigures { start: hour * HOUR_SECONDS, figures }).collect()
    }

    #[test]
    fn days_follow_the_calendar_where_clocks_are_changed() {
        let zone = Zone::parse("Europe/Berlin").unwrap();
        // Clocks go back on the 25th.
        let period =
            Period { since: moment("2026-10-23T22:00:00Z"), until: moment("2026-10-26T23:00:00Z") };
        let buckets = buckets(period, Step::Day, &zone, &every_hour(period));
        let hours: Vec<u64> = buckets.iter().map(|it| it.figures.requests).collect();
        assert_eq!(hours, [24, 25, 24]);
        assert_eq!(buckets[1].since, moment("2026-10-24T22:00:00Z"));
        assert_eq!(buckets[1].until, moment("2026-10-25T23:00:00Z"));
    }

    #[test]
    fn every_hour_is_in_one_bucket_whatever_the_zone() {
        for name in ["UTC", "Asia/Kolkata", "America/New_York", "Pacific/Chatham"] {
            let zone = Zone::parse(name).unwrap();
            let period = Period {
                since: moment("2026-11-20T18:30:00Z"),
                until: moment("2026-11-23T09:12:00Z"),
            };
            let hours = every_hour(period);
            for step in [Step::Hour, Step::Day] {
                let buckets = buckets(period, step, &zone, &hours);
                let sum: u64 = buckets.iter().map(|it| it.figures.requests).sum();
                assert_eq!(sum, hours.len() as u64, "{name} {step:?}");
                assert!(buckets.windows(2).all(|two| two[0].until == two[1].since));
            }
        }
    }

    #[test]
    fn what_is_empty_is_there_and_what_is_too_long_is_cut() {
        let day =
            Period { since: moment("2026-11-20T00:00:00Z"), until: moment("2026-11-21T00:00:00Z") };
        let empty = buckets(day, Step::Hour, &Zone::UTC, &[]);
        assert_eq!(empty.len(), 24);
        let long = Period { since: UnixMillis(0), ..day };
        let cut = buckets(long, Step::Hour, &Zone::UTC, &every_hour(day));
        assert_eq!(cut.len(), MOST_BUCKETS);
        assert_eq!(cut.last().map(|it| it.until), Some(day.until));
        let requests: Vec<u64> = cut.iter().map(|it| it.figures.requests).collect();
        assert_eq!((requests[975], requests[976], requests[999]), (0, 1, 1));
    }
}
