//! Questions to the rollup, as whoever may see a part of it.

use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;
use sluice_core::outcome::Outcome;
use sluice_core::usage::Usage;

use super::{Figures, FirstTokens, Grain, HOUR_SECONDS, Outcomes};
use crate::database::{Row, Statement, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::records::{Reach, RecordsFilter, Sight};
use crate::windows::DAY_SECONDS;

const DOING: &str = "add up what was used";

/// What to add up.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// Of what may be seen …
    pub sight: &'a Sight,
    /// … what this admits. Its period counts by the full hour; the beginning of a request's id is
    /// left out of account.
    pub filter: &'a RecordsFilter,
    /// Whether requests under zero retention count, which have no records.
    pub with_sums: bool,
    /// Which figures.
    pub detail: Detail,
}

/// How much is told. Each figure takes its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// How many requests, and how they ended.
    Requests,
    /// Tokens and cost as well.
    Usage,
    /// Times as well.
    Times,
}

/// What sums are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// The key's id.
    Key,
    /// The model that answered.
    Model,
    /// The application's name.
    App,
    /// The provider that answered.
    Provider,
    /// The strongest thing that the filter did.
    Action,
    /// How it ended.
    Outcome,
    /// The team's id.
    Team,
    /// The department's id.
    Department,
    /// `person:ID` or `service:ID`.
    Holder,
}

impl By {
    fn column(self) -> &'static str {
        match self {
            Self::Key => "key_id",
            Self::Model => "model",
            Self::App => "app",
            Self::Provider => "provider",
            Self::Action => "action",
            Self::Outcome => "outcome",
            Self::Team => "team_id",
            Self::Department => "department_id",
            Self::Holder => "holder",
        }
    }
}

/// One of the parts of a sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is told apart by.
    pub by: By,
    /// Which one; empty: none, or not known under zero retention.
    pub value: String,
    /// What it came to.
    pub figures: Figures,
}

/// What an hour or a day came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourFigures {
    /// Its first second, in seconds since the Unix epoch.
    pub start: u64,
    /// What it came to.
    pub figures: Figures,
}

impl Store {
    /// What the period came to.
    pub async fn total(&self, question: &Question<'_>) -> Result<Figures, StorageError> {
        let lines = question.lines();
        let pieces = match lines {
            Grain::AccountHour => vec![question.hours_of(lines)],
            _ => question.pieces(),
        };
        let mut query = question.select("", &pieces, lines == Grain::AccountHour);
        query.push(") AS all_of_it");
        let rows = self.read(query, DOING).await?;
        rows.first().map_or(Ok(Figures::default()), read_figures)
    }

    /// The largest parts of what the period came to, at most `top` of each kind: by cost, or by
    /// requests where cost is not asked for.
    pub async fn parts(
        &self,
        question: &Question<'_>,
        kinds: &[By],
        top: u32,
    ) -> Result<Vec<Part>, StorageError> {
        let any = RecordsFilter::default();
        let kinds: Vec<(By, &RecordsFilter)> = kinds.iter().map(|by| (*by, &any)).collect();
        self.parts_of_each(question, &kinds, top).await
    }

    /// The same, each kind of what a filter of its own admits, whose period is left out of account.
    /// The rows are gone through once for all of them.
    pub async fn parts_of_each(
        &self,
        question: &Question<'_>,
        kinds: &[(By, &RecordsFilter)],
        top: u32,
    ) -> Result<Vec<Part>, StorageError> {
        let mut query = sql("WITH part AS MATERIALIZED (SELECT u.series_id AS series_id, ");
        query.push(&sums_of_rows(question.detail));
        query.push(" FROM ");
        question.push_source(&mut query, &question.pieces(), false);
        query.push(" GROUP BY u.series_id)");
        for (at, (by, filter)) in kinds.iter().enumerate() {
            let column = by.column();
            query.push(if at == 0 { " " } else { " UNION ALL " });
            query.push(&format!(
                "SELECT * FROM (SELECT '{column}' AS kind, s.{column} AS value, {} \
                 FROM part AS u",
                sums_of_parts(question.detail)
            ));
            push_series(&mut query, question.with_sums);
            if filter.narrows() {
                query.push(if question.with_sums { " WHERE 1 = 1" } else { "" });
                filter.push_series_conditions(&mut query);
            }
            query.push(&format!(
                " GROUP BY s.{column} ORDER BY {}SUM(u.requests) DESC, s.{column} LIMIT ",
                match question.detail {
                    Detail::Requests => "",
                    _ => "SUM(u.cost_high) + SUM(u.cost_low) / 4294967296.0 DESC, ",
                }
            ));
            query.push_bind(top);
            query.push(&format!(") AS by_{column}"));
        }
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.read(query, DOING).await?;
        rows.iter()
            .map(|row| {
                let kind = row.string("kind")?;
                let by = kinds.iter().map(|(by, _)| *by).find(|by| by.column() == kind);
                Ok(Part {
                    by: by.ok_or(StorageError::Unreadable { column: "kind", value: kind })?,
                    value: row.string("value")?,
                    figures: read_figures(row)?,
                })
            })
            .collect()
    }

    /// What each hour of the period came to, in their order; without those of no request.
    pub async fn hours(&self, question: &Question<'_>) -> Result<Vec<HourFigures>, StorageError> {
        self.by_start(question, &[question.hours_of(question.lines())]).await
    }

    /// The same for whole days of UTC, with the hours at both ends of the period: far fewer rows are
    /// read for it.
    pub async fn days(&self, question: &Question<'_>) -> Result<Vec<HourFigures>, StorageError> {
        match question.lines() {
            Grain::AccountHour => self.hours(question).await,
            _ => self.by_start(question, &question.pieces()).await,
        }
    }

    async fn by_start(
        &self,
        question: &Question<'_>,
        pieces: &[Piece],
    ) -> Result<Vec<HourFigures>, StorageError> {
        let of_accounts = question.lines() == Grain::AccountHour;
        let mut query = question.select("u.start AS start, ", pieces, of_accounts);
        query.push(" GROUP BY u.start) AS by_hour ORDER BY start");
        let rows = self.read(query, DOING).await?;
        rows.iter()
            .map(|row| Ok(HourFigures { start: row.count("start")?, figures: read_figures(row)? }))
            .collect()
    }
}

/// A stretch of time in one grain: its beginnings from the first second to before the second one.
type Piece = (Grain, u64, u64);

impl Question<'_> {
    /// The period, to the full hours around it.
    fn period(&self) -> (u64, u64) {
        let since = self.filter.since.map_or(0, UnixMillis::seconds);
        let until = self.filter.until.map_or(u64::MAX, |until| until.0.div_ceil(1000));
        let until = match until % HOUR_SECONDS {
            0 => until,
            over => until.saturating_add(HOUR_SECONDS - over),
        };
        (since - since % HOUR_SECONDS, until)
    }

    fn hours_of(&self, grain: Grain) -> Piece {
        let (since, until) = self.period();
        (grain, since, until)
    }

    /// The period in days, and in hours at both ends.
    fn pieces(&self) -> Vec<Piece> {
        let (since, until) = self.period();
        let first = since.div_ceil(DAY_SECONDS).saturating_mul(DAY_SECONDS);
        let last = if until == u64::MAX { until } else { until - until % DAY_SECONDS };
        let pieces = match first < last {
            true => vec![
                (Grain::Hour, since, first),
                (Grain::Day, first, last),
                (Grain::Hour, last, until),
            ],
            false => vec![(Grain::Hour, since, until)],
        };
        let is_something = |(_, from, to): &Piece| from < to;
        pieces.into_iter().filter(is_something).collect()
    }

    /// The coarsest grain of hours that tells apart what the question does.
    fn lines(&self) -> Grain {
        let filter = self.filter;
        if filter.tells_requests_apart() {
            Grain::Hour
        } else if self.sight.reach == Reach::Account && !filter.tells_keys_apart() {
            Grain::AccountHour
        } else {
            Grain::KeyHour
        }
    }

    /// `SELECT * FROM (SELECT … FROM …`, with what each row of it is told apart by.
    fn select(&self, apart: &str, pieces: &[Piece], of_accounts: bool) -> Statement {
        let mut query = sql(format!(
            "SELECT * FROM (SELECT {apart}{}, {} FROM ",
            sums_of_rows(self.detail),
            sums_of_outcomes()
        ));
        self.push_source(&mut query, pieces, of_accounts);
        push_series(&mut query, self.with_sums);
        if of_accounts {
            self.filter.push_outcomes(&mut query, if self.with_sums { " WHERE " } else { " AND " });
        }
        query
    }

    /// The rows of `pieces` as `u`, as far as they are seen and meant.
    fn push_source(&self, query: &mut Statement, pieces: &[Piece], of_accounts: bool) {
        query.push("(");
        for (at, (grain, from, to)) in pieces.iter().enumerate() {
            if at > 0 {
                query.push(" UNION ALL ");
            }
            query.push(&format!(
                "SELECT * FROM usage_rollup WHERE grain = {} AND account_id = ",
                grain.number()
            ));
            query.push_bind(self.sight.account.as_str());
            query.push(" AND start >= ");
            query.push_bind(*from);
            query.push(" AND start < ");
            query.push_bind(*to);
            // Lines of accounts are nobody's but the account's, whose whole is seen.
            if !of_accounts && (self.filter.narrows() || self.sight.reach != Reach::Account) {
                query.push(" AND series_id IN (SELECT s.id FROM usage_series AS s WHERE 1 = 1");
                self.sight.push_conditions(query, "s", true);
                self.filter.push_series_conditions(query);
                query.push(")");
            }
        }
        if pieces.is_empty() {
            query.push("SELECT * FROM usage_rollup WHERE 1 = 0");
        }
        query.push(") AS u");
    }
}

/// What makes rows of the rollup, `u`, and their series, `s`, those that are meant.
fn push_series(query: &mut Statement, with_sums: bool) {
    query.push(" JOIN usage_series AS s ON s.id = u.series_id");
    if !with_sums {
        query.push(" WHERE s.outcome <> ''");
    }
}

/// The columns of counts that `detail` takes, without money.
fn columns(detail: Detail) -> Vec<&'static str> {
    let mut columns = vec!["requests"];
    if detail >= Detail::Usage {
        columns.extend(["unpriced_requests", "filtered_requests"]);
        columns.extend(["uncached_input", "cache_read", "cache_write", "output", "reasoning"]);
    }
    if detail >= Detail::Times {
        columns.push("duration_ms");
        columns.extend(FIRST);
    }
    columns
}

const FIRST: [&str; super::figures::RANGES] = [
    "first_0", "first_1", "first_2", "first_3", "first_4", "first_5", "first_6", "first_7",
    "first_8", "first_9", "first_10", "first_11",
];

fn sum(of: &str, name: &str) -> String {
    format!("CAST(SUM({of}) AS BIGINT) AS {name}")
}

/// Sums of rows by series: no outcomes yet, since each series has one.
fn sums_of_rows(detail: Detail) -> String {
    let columns = columns(detail);
    let mut sums: Vec<String> = columns.iter().map(|it| sum(&format!("u.{it}"), it)).collect();
    if detail >= Detail::Usage {
        // In halves: neither database can add up the largest amounts.
        sums.push(sum("u.cost / 4294967296", "cost_high"));
        sums.push(sum("u.cost % 4294967296", "cost_low"));
    }
    sums.join(", ")
}

/// Sums of what [`sums_of_rows`] gave.
fn sums_of_parts(detail: Detail) -> String {
    let mut columns = columns(detail);
    if detail >= Detail::Usage {
        columns.extend(["cost_high", "cost_low"]);
    }
    let mut sums: Vec<String> = columns.iter().map(|it| sum(&format!("u.{it}"), it)).collect();
    sums.push(sums_of_outcomes());
    sums.join(", ")
}

fn sums_of_outcomes() -> String {
    let of = |outcome: &str, name: &str| {
        let requests = format!("CASE WHEN s.outcome = '{outcome}' THEN u.requests ELSE 0 END");
        sum(&requests, name)
    };
    let mut sums = vec![of("", "outcome_summed")];
    sums.extend(Outcome::ALL.iter().zip(OUTCOMES).map(|(it, name)| of(it.as_str(), name)));
    sums.join(", ")
}

/// The columns of [`Outcome::ALL`].
const OUTCOMES: [&str; Outcome::ALL.len()] =
    ["outcome_0", "outcome_1", "outcome_2", "outcome_3", "outcome_4", "outcome_5", "outcome_6"];

/// What a row of sums says; a column that was not asked for is not there, and a sum of nothing is
/// missing.
fn read_figures(row: &Row) -> Result<Figures, StorageError> {
    let sum = |column: &'static str| -> Result<u64, StorageError> {
        if row.has(column) { Ok(row.count_opt(column)?.unwrap_or(0)) } else { Ok(0) }
    };
    let mut outcomes = Outcomes { summed: sum("outcome_summed")?, ..Outcomes::default() };
    for (outcome, column) in Outcome::ALL.into_iter().zip(OUTCOMES) {
        outcomes.add(outcome, sum(column)?);
    }
    let mut first_tokens = FirstTokens::default();
    for (range, column) in first_tokens.0.iter_mut().zip(FIRST) {
        *range = sum(column)?;
    }
    let cost = (u128::from(sum("cost_high")?) << 32) + u128::from(sum("cost_low")?);
    Ok(Figures {
        requests: sum("requests")?,
        outcomes,
        unpriced_requests: sum("unpriced_requests")?,
        filtered_requests: sum("filtered_requests")?,
        usage: Usage {
            uncached_input: sum("uncached_input")?,
            cache_read: sum("cache_read")?,
            cache_write: sum("cache_write")?,
            output: sum("output")?,
            reasoning: sum("reasoning")?,
        },
        cost: PicoUsd(u64::try_from(cost).unwrap_or(u64::MAX)),
        duration_ms: sum("duration_ms")?,
        first_tokens,
    })
}
