//! The period that a page shows.

use sluice_core::clock::UnixMillis;
use sluice_gateway::records::{Bucket, Period, Step};

use crate::components::{BOUNDS, Filter, PERIOD, Query, Text};
use crate::format::Calendar;
use crate::web::{Ask, Failure};

const HOUR: u64 = 60 * 60 * 1000;
/// The longest period that is told by hours.
const BY_HOURS: u64 = 7 * 24 * HOUR;

/// A period that was chosen: by a word of the address (`period=7d`), which ends now, or by its bounds
/// (`since=2026-11-22T14:00:00Z&until=…`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// From when to when. It begins with a full hour, since sums are kept by hours: the rows of a
    /// list are as many as its total says.
    pub(crate) period: Period,
    /// How long the parts of its charts are.
    pub(crate) step: Step,
    /// Its word; `None` where the address has its bounds.
    word: Option<&'static str>,
}

impl Chosen {
    /// The period of the address; `default` where it names none that there is.
    pub(crate) fn of(ask: &Ask, default: &str) -> Self {
        let [since, until] = BOUNDS.map(|name| ask.query.get(name).and_then(UnixMillis::parse));
        // What is being recorded at this moment belongs to it.
        let now = UnixMillis(ask.now.0.saturating_add(1));
        let (since, until, word) = match (since, until) {
            (None, None) => {
                let hours = |word: &str| WORDS.into_iter().find(|(known, _)| *known == word);
                let chosen = hours(ask.asked(PERIOD)).or_else(|| hours(default));
                let (word, hours) = chosen.unwrap_or(("24h", 24));
                (UnixMillis(now.0.saturating_sub(hours * HOUR)), now, Some(word))
            }
            (since, until) => {
                let until = until.unwrap_or(now);
                let since = since.unwrap_or(UnixMillis(until.0.saturating_sub(24 * HOUR)));
                (since.min(until), until, None)
            }
        };
        let since = UnixMillis(since.0 - since.0 % HOUR);
        let length = until.0.saturating_sub(since.0);
        let step = if length <= BY_HOURS + HOUR { Step::Hour } else { Step::Day };
        Self { period: Period { since, until }, step, word }
    }

    /// The list of requests of this period, whatever its own default is.
    pub(crate) fn requests(&self) -> Query {
        let query = Query::new("/requests", "");
        match self.word {
            Some(word) => query.having(PERIOD, word),
            None => {
                let [since, until] = BOUNDS;
                let Period { since: from, until: to } = self.period;
                query.having(since, &from.to_rfc3339()).having(until, &to.to_rfc3339())
            }
        }
    }

    /// The list of the requests of the shortest period that a moment is in.
    pub(crate) fn that_has(at: UnixMillis, now: UnixMillis) -> Query {
        let age = now.0.saturating_sub(at.0);
        let query = Query::new("/requests", "");
        match WORDS.into_iter().find(|(_, hours)| age < hours * HOUR) {
            Some((word, _)) => query.having(PERIOD, word),
            None => {
                let since = UnixMillis(at.0 - at.0 % HOUR);
                let until = UnixMillis(since.0.saturating_add(24 * HOUR));
                let [from, to] = BOUNDS;
                query.having(from, &since.to_rfc3339()).having(to, &until.to_rfc3339())
            }
        }
    }

    /// The list of requests of a bar, which `query` leads to otherwise.
    pub(crate) fn of_bar(query: &Query, bucket: &Bucket) -> String {
        let [since, until] = BOUNDS;
        let (from, to) = (bucket.since.to_rfc3339(), bucket.until.to_rfc3339());
        query.changed(&[PERIOD], &[(since, &from), (until, &to)])
    }

    /// Of whom and of when the figures are, for the head of the page.
    pub(crate) fn stamp(&self, ask: &Ask) -> Result<String, Failure> {
        let calendar = ask.calendar();
        Ok(format!(
            "{} · {} · as of {}",
            ask.session()?.account().name,
            self.words(&calendar),
            calendar.clock(ask.now),
        ))
    }

    fn words(&self, calendar: &Calendar) -> String {
        let Period { since, until } = self.period;
        format!(
            "{} to {}, {}",
            calendar.minute(since),
            calendar.minute(until),
            calendar.zone_name()
        )
    }

    /// The chip of a period that the address bounds: it can only be taken back.
    pub(crate) fn chip(&self, query: &Query, calendar: &Calendar) -> Option<Filter> {
        let Period { since, until } = self.period;
        let words = format!("{} to {}", calendar.minute(since), calendar.minute(until));
        self.word.is_none().then(|| Filter {
            label: "time",
            chosen: Some(Text::new(words)),
            clear: query.changed(&BOUNDS, &[]),
            choices: Vec::new(),
        })
    }
}

/// The words, and how many hours they stand for.
const WORDS: [(&str, u64); 5] =
    [("24h", 24), ("7d", 7 * 24), ("14d", 14 * 24), ("30d", 30 * 24), ("90d", 90 * 24)];
