//! What requests came to by hour and by day: what the figures and charts of people are read from.
//!
//! The ingester adds to it in the transaction that stores the records. There are four grains, so that
//! each question reads few rows: hours of an account and of its keys, for curves; hours and days of
//! whole combinations, for what is told apart by model, application or provider. Whole days in UTC
//! are read as days, and only what is left at both ends of a period as hours.

mod figures;
mod read;
mod series;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use sluice_core::filtering::FilterAction;
use sluice_core::money::PicoUsd;

use crate::database::{Transaction, Value, add_saturating, add_up_to, insert_many};
use crate::error::StorageError;
use crate::sums::UsageSum;
use crate::usage::UsageRecord;
use crate::windows::{DAY_SECONDS, window_start};

pub use figures::{Figures, FirstTokens, Outcomes};
pub use read::{By, Detail, HourFigures, Part, Question};
pub(crate) use series::{Numbers, Series, cut, number};

/// Seconds in an hour: the finest that is kept here.
pub const HOUR_SECONDS: u64 = 3600;

/// The most that a figure but money can come to in one row: a million million. So sums of millions
/// of rows fit whatever a provider claims.
const MOST: u64 = 1 << 40;

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grain {
    /// An hour of an account.
    AccountHour = 0,
    /// An hour of a key.
    KeyHour = 1,
    /// An hour of a whole combination.
    Hour = 2,
    /// A day of a whole combination, in UTC.
    Day = 3,
}

impl Grain {
    fn seconds(self) -> u64 {
        match self {
            Self::Day => DAY_SECONDS,
            Self::AccountHour | Self::KeyHour | Self::Hour => HOUR_SECONDS,
        }
    }

    fn number(self) -> i64 {
        self as i64
    }

    /// What of `series` it tells apart.
    fn of(self, series: &Series) -> Series {
        match self {
            Self::AccountHour => series.of_account(),
            Self::KeyHour => series.of_key(),
            Self::Hour | Self::Day => series.clone(),
        }
    }

    const ALL: [Self; 4] = [Self::AccountHour, Self::KeyHour, Self::Hour, Self::Day];
}

/// How many columns say what is added up.
const IDENTITY: usize = 4;

/// Those, and the figures that are added up.
const COLUMNS: [&str; 26] = [
    "account_id",
    "grain",
    "start",
    "series_id",
    "requests",
    "unpriced_requests",
    "filtered_requests",
    "uncached_input",
    "cache_read",
    "cache_write",
    "output",
    "reasoning",
    "cost",
    "duration_ms",
    "first_0",
    "first_1",
    "first_2",
    "first_3",
    "first_4",
    "first_5",
    "first_6",
    "first_7",
    "first_8",
    "first_9",
    "first_10",
    "first_11",
];

/// What a batch of records adds to the rollup.
#[derive(Debug, Default)]
pub(crate) struct RollupAdditions(BTreeMap<Series, BTreeMap<u64, Figures>>);

impl RollupAdditions {
    /// Counts one record, whose series is given.
    pub(crate) fn count_record(&mut self, record: &UsageRecord, series: &Series) {
        let mut one = Figures {
            requests: 1,
            unpriced_requests: u64::from(record.cost.is_none()),
            filtered_requests: u64::from(record.filter.action != FilterAction::Pass),
            usage: record.usage,
            cost: record.cost.unwrap_or_default(),
            duration_ms: record.duration_ms,
            ..Figures::default()
        };
        if let Some(ms) = record.time_to_first_token_ms {
            one.first_tokens.add(ms);
        }
        let hour = window_start(record.started_at, HOUR_SECONDS);
        // Most records of a batch are of a series that is there already.
        match self.0.get_mut(series) {
            Some(hours) => add(hours, hour, one),
            None => add(self.0.entry(series.clone()).or_default(), hour, one),
        }
    }

    /// Counts a sum.
    pub(crate) fn count_sum(&mut self, sum: &UsageSum) {
        let figures = Figures {
            requests: sum.requests,
            unpriced_requests: if sum.cost.is_none() { sum.requests } else { 0 },
            usage: sum.usage,
            cost: sum.cost.unwrap_or_default(),
            ..Figures::default()
        };
        let hours = self.0.entry(Series::of_sum(sum)).or_default();
        add(hours, window_start(sum.moment(), HOUR_SECONDS), figures);
    }

    /// All series that have rows of their own by this.
    pub(crate) fn series(&self) -> BTreeSet<Series> {
        let of = |series| Grain::ALL.into_iter().map(move |grain: Grain| grain.of(series));
        self.0.keys().flat_map(of).collect()
    }

    /// Adds everything to the database.
    pub(crate) async fn store(
        &self,
        tx: &mut Transaction,
        numbers: &Numbers,
    ) -> Result<(), StorageError> {
        let mut rows: BTreeMap<(&str, Grain, u64, i64), Figures> = BTreeMap::new();
        for (series, hours) in &self.0 {
            for grain in Grain::ALL {
                let Some(number) = numbers.get(&grain.of(series)) else { continue };
                for (hour, figures) in hours {
                    let start = hour - hour % grain.seconds();
                    let sum = rows.entry((series.account(), grain, start, *number)).or_default();
                    *sum = sum.plus(*figures);
                }
            }
        }
        let added = COLUMNS[IDENTITY..].iter().map(|column| match *column {
            "cost" => add_saturating("usage_rollup", column),
            _ => add_up_to("usage_rollup", column, to_i64(MOST)),
        });
        let conflict = format!(
            " ON CONFLICT ({}) DO UPDATE SET {}",
            COLUMNS[..IDENTITY].join(", "),
            added.collect::<Vec<_>>().join(", ")
        );
        let rows = rows.into_iter().map(|((account, grain, start, number), figures)| {
            let mut row: Vec<Value> =
                vec![account.into(), grain.number().into(), start.into(), number.into()];
            row.extend(values(&figures));
            row
        });
        insert_many(tx, ("usage_rollup", &COLUMNS), &conflict, rows.collect(), |_, _| {})
            .await
            .map_err(StorageError::database("add to the rollup of usage"))
    }
}

fn add(hours: &mut BTreeMap<u64, Figures>, hour: u64, figures: Figures) {
    let sum = hours.entry(hour).or_default();
    *sum = sum.plus(figures);
}

fn to_i64(figure: u64) -> i64 {
    i64::try_from(figure).unwrap_or(i64::MAX)
}

/// In the order of [`COLUMNS`], without the identity.
fn values(figures: &Figures) -> impl Iterator<Item = Value> {
    let Figures { requests, unpriced_requests, filtered_requests, usage, cost, .. } = *figures;
    let PicoUsd(cost) = cost;
    let counts = [
        requests,
        unpriced_requests,
        filtered_requests,
        usage.uncached_input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
        usage.reasoning,
    ];
    let times = [figures.duration_ms].into_iter().chain(figures.first_tokens.0);
    let most = |figure: u64| Value::from(figure.min(MOST));
    counts.into_iter().map(most).chain([cost.into()]).chain(times.map(most))
}
