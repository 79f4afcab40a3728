//! What the windows of limits hold, so that a restart forgets nothing.
//!
//! A server counts in memory. What it counted is in the journal too, and the ingester adds it up
//! here by quarters of an hour; a start ingests the rest of the journal first and then asks what was
//! used since each window began. In every time zone a day begins with a quarter of an hour. Whole
//! days in UTC are in the sums by day, which are few; only the rest needs the quarters.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::measure::Measure;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::{Attribution, Holder, Subject};
use sluice_core::usage::Usage;

use crate::attribution;
use crate::database::{Row, Statement, Transaction, add_saturating, insert_many, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::tail::JournalTail;

/// Seconds in a quarter of an hour: what is kept of usage for limits.
pub const QUARTER_SECONDS: u64 = 900;
/// Seconds in a day: what is kept of usage for good.
pub const DAY_SECONDS: u64 = 86_400;

/// The second since the Unix epoch at which the window around `at` began.
pub fn window_start(at: UnixMillis, window_seconds: u64) -> u64 {
    floor(at.seconds(), window_seconds.max(1))
}

pub(crate) fn floor(seconds: u64, window_seconds: u64) -> u64 {
    seconds - seconds % window_seconds
}

/// A window of five hours that began: the journal's word for it, for nothing else tells when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowBegan {
    /// Whose, as text: `key:ID`.
    pub subject: String,
    /// Its first second, Unix time.
    pub start: u64,
}

/// The kinds of subjects whose use can be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectKind {
    /// Accounts.
    Account,
    /// Departments.
    Department,
    /// Teams.
    Team,
    /// People and services.
    Holder,
    /// Keys.
    Key,
}

/// What a subject used since a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectUse {
    /// Who.
    pub subject: Subject,
    /// How much.
    pub used: Used,
}

/// Requests, and what they used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// How many requests.
    pub requests: u64,
    /// Tokens of all classes.
    pub tokens: u64,
    /// What they cost, without those that have no known price.
    pub cost: PicoUsd,
}

impl SubjectKind {
    /// Every kind.
    pub(crate) const ALL: [Self; 5] =
        [Self::Account, Self::Department, Self::Team, Self::Holder, Self::Key];

    /// The kind of `subject`.
    pub fn of(subject: &Subject) -> Self {
        match subject {
            Subject::Account(_) => Self::Account,
            Subject::Department(_) => Self::Department,
            Subject::Team(_) => Self::Team,
            Subject::Person(_) | Subject::Service(_) => Self::Holder,
            Subject::Key(_) => Self::Key,
        }
    }

    /// The column that says whose a request was.
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Account => "account_id",
            Self::Department => "department_id",
            Self::Team => "team_id",
            Self::Holder => "holder",
            Self::Key => "key_id",
        }
    }

    /// Whether `subject` is the one that the column of `table` stands for, in SQL.
    pub(crate) fn is_subject(self, table: &str) -> String {
        let column = format!("{table}.{}", self.column());
        match self {
            Self::Account => format!("subject = 'account:' || {column}"),
            Self::Department => format!("subject = 'department:' || {column}"),
            Self::Team => format!("subject = 'team:' || {column}"),
            Self::Key => format!("subject = 'key:' || {column}"),
            Self::Holder => format!("subject = {column}"),
        }
    }

    /// The subject that the column's text stands for.
    fn subject(self, text: &str) -> Option<Subject> {
        Some(match self {
            Self::Account => Subject::Account(text.into()),
            Self::Department => Subject::Department(text.into()),
            Self::Team => Subject::Team(text.into()),
            Self::Key => Subject::Key(text.into()),
            Self::Holder => match Holder::parse(text)? {
                Holder::Person(id) => Subject::Person(id),
                Holder::Service(id) => Subject::Service(id),
            },
        })
    }
}

/// What the columns of a subject's kind hold for it.
pub(crate) fn column_text(subject: &Subject) -> String {
    match subject {
        Subject::Person(_) | Subject::Service(_) => subject.to_string(),
        _ => subject.id().to_owned(),
    }
}

impl Used {
    /// How much of it is what `measure` measures.
    pub fn of(self, measure: Measure) -> u64 {
        match measure {
            Measure::Requests => self.requests,
            Measure::Tokens => self.tokens,
            Measure::Usd => self.cost.0,
        }
    }

    /// The sum, which stays at the largest figures where it would not fit.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.plus(other.cost),
        }
    }

    /// What is left of it without `other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(other.requests),
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: self.cost.minus(other.cost),
        }
    }
}

/// A column of counts, and the names of its sum's halves.
type Halves = (&'static str, &'static str, &'static str);

const REQUESTS: Halves = ("requests", "requests_high", "requests_low");
const TOKENS: Halves = ("tokens", "tokens_high", "tokens_low");
const COST: Halves = ("cost", "cost_high", "cost_low");
/// What of the cost budgets do not count. Quarters of an hour have it left out already.
const UNCOUNTED: Halves = ("uncounted_cost", "uncounted_high", "uncounted_low");
/// What limits count on top of tokens and cost. Quarters of an hour have it already.
const ASSUMED: [Halves; 2] = [
    ("assumed_tokens", "assumed_tokens_high", "assumed_tokens_low"),
    ("assumed_cost", "assumed_cost_high", "assumed_cost_low"),
];
/// The classes of tokens, in the order of [`Usage`].
const CLASSES: [Halves; 5] = [
    ("uncached_input", "uncached_input_high", "uncached_input_low"),
    ("cache_read", "cache_read_high", "cache_read_low"),
    ("cache_write", "cache_write_high", "cache_write_low"),
    ("output", "output_high", "output_low"),
    ("reasoning", "reasoning_high", "reasoning_low"),
];

/// What sums of days are read from.
const DAY_COLUMNS: [Halves; 10] = [
    REQUESTS, COST, UNCOUNTED, ASSUMED[0], ASSUMED[1], CLASSES[0], CLASSES[1], CLASSES[2],
    CLASSES[3], CLASSES[4],
];

/// The sum of a column, in halves that no database overflows with.
///
/// SQLite refuses a sum that does not fit, and PostgreSQL makes it a number of another type.
fn sum_of((column, high, low): Halves) -> String {
    const HALF: u64 = 1 << 32;
    format!(
        "CAST(SUM({column} / {HALF}) AS BIGINT) AS {high}, \
         CAST(SUM({column} % {HALF}) AS BIGINT) AS {low}"
    )
}

fn read_sum(row: &Row, (_, high, low): Halves) -> Result<u64, StorageError> {
    let high = u128::from(row.count_opt(high)?.unwrap_or(0));
    let low = u128::from(row.count_opt(low)?.unwrap_or(0));
    Ok(u64::try_from((high << 32) + low).unwrap_or(u64::MAX))
}

/// The sums of `columns` by subject, from `table` where `condition` holds.
fn sums(kind: SubjectKind, columns: &[Halves], from: &str) -> String {
    let id = kind.column();
    let sums: Vec<String> = columns.iter().copied().map(sum_of).collect();
    format!("SELECT {id} AS subject, {} FROM {from} AND {id} <> ''", sums.join(", "))
}

const DOING: &str = "read what the limits' windows hold";

impl Store {
    /// What each subject of a kind, or `only` one of them, used since `start`. That is the beginning
    /// of a quarter of an hour; else all of its quarter counts.
    pub async fn used_since(
        &self,
        kind: SubjectKind,
        start: u64,
        only: Option<&Subject>,
    ) -> Result<Vec<SubjectUse>, StorageError> {
        self.used_between(kind, start, u64::MAX, only).await
    }

    /// The same, as far as it is not later than `now`: a clock that ran ahead wrote what is.
    pub async fn used_until(
        &self,
        kind: SubjectKind,
        start: u64,
        now: UnixMillis,
    ) -> Result<Vec<SubjectUse>, StorageError> {
        self.used_between(kind, start, now.seconds().saturating_add(1), None).await
    }

    async fn used_between(
        &self,
        kind: SubjectKind,
        start: u64,
        end: u64,
        only: Option<&Subject>,
    ) -> Result<Vec<SubjectUse>, StorageError> {
        let midnight = start.saturating_add(DAY_SECONDS - 1) / DAY_SECONDS * DAY_SECONDS;
        let mut used: BTreeMap<Subject, Used> = BTreeMap::new();
        let mut note = |row: &Row, more: Used| {
            let Some(subject) = kind.subject(&row.string("subject")?) else { return Ok(()) };
            let sum = used.entry(subject).or_default();
            *sum = sum.plus(more);
            Ok(())
        };
        let of_kind = |mut query: Statement| {
            if let Some(only) = only {
                query.push(&format!(" AND {} = ", kind.column()));
                query.push_bind(column_text(only));
            }
            query.push(&format!(" GROUP BY {}", kind.column()));
            query
        };
        let quarters = "usage_quarters WHERE quarter >= $1 AND quarter < $2";
        let query = sql(sums(kind, &[REQUESTS, TOKENS, COST], quarters))
            .bind(floor(start, QUARTER_SECONDS))
            .bind(midnight.min(end));
        let rows = of_kind(query).fetch_all(self.database()).await;
        for row in &rows.map_err(StorageError::database(DOING))? {
            note(row, read_used(row)?)?;
        }
        let query = sql(sums(kind, &DAY_COLUMNS, "usage_sums WHERE day >= $1 AND day < $2"))
            .bind(midnight)
            .bind(end);
        let rows = of_kind(query).fetch_all(self.database()).await;
        for row in &rows.map_err(StorageError::database(DOING))? {
            note(row, read_day_sums(row)?)?;
        }
        Ok(used.into_iter().map(|(subject, used)| SubjectUse { subject, used }).collect())
    }

    /// What `subject` used since `start`, to the second as far as records tell: of a quarter of an
    /// hour, what has no record counts as a whole.
    pub async fn used_exactly_since(
        &self,
        subject: &Subject,
        start: u64,
    ) -> Result<Used, StorageError> {
        let kind = SubjectKind::of(subject);
        let since = self.used_since(kind, start, Some(subject)).await?;
        let since = since.first().map_or(Used::default(), |it| it.used);
        let row = sql(format!(
            "SELECT {} FROM usage_records \
             WHERE started_at >= $1 AND started_at < $2 AND {} = $3",
            sums_of_records(),
            kind.column()
        ))
        .bind(floor(start, QUARTER_SECONDS).saturating_mul(1000))
        .bind(start.saturating_mul(1000))
        .bind(column_text(subject))
        .fetch_one(self.database())
        .await
        .map_err(StorageError::database(DOING))?;
        Ok(since.minus(read_records(&row)?))
    }

    /// What each subject of a kind used in its window of five hours, where that began at `since` or
    /// later. As exact as [`Store::used_exactly_since`]; two questions serve all subjects.
    pub async fn used_in_five_hours(
        &self,
        kind: SubjectKind,
        since: u64,
    ) -> Result<Vec<SubjectUse>, StorageError> {
        let id = kind.column();
        let quarter = format!("(start - start % {QUARTER_SECONDS})");
        let quarters = format!(
            "five_hour_windows JOIN usage_quarters ON {} AND quarter >= {quarter} \
             WHERE start >= $1 AND quarter >= $2",
            kind.is_subject("usage_quarters")
        );
        let query = sums(kind, &[REQUESTS, TOKENS, COST], &quarters);
        let since_quarter = floor(since, QUARTER_SECONDS);
        let rows = sql(format!("{query} GROUP BY {id}"))
            .bind(since)
            .bind(since_quarter)
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database(DOING))?;
        let mut used = BTreeMap::new();
        for row in &rows {
            let Some(subject) = kind.subject(&row.string("subject")?) else { continue };
            used.insert(subject, read_used(row)?);
        }
        let records = format!(
            "five_hour_windows JOIN usage_records ON {} AND started_at >= {quarter} * 1000 \
             AND started_at < start * 1000 WHERE start >= $1 AND started_at >= $2 \
             AND {id} IS NOT NULL GROUP BY {id}",
            kind.is_subject("usage_records")
        );
        let rows = sql(format!("SELECT {id} AS subject, {} FROM {records}", sums_of_records()))
            .bind(since)
            .bind(since_quarter.saturating_mul(1000))
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database(DOING))?;
        for row in &rows {
            let subject = kind.subject(&row.string("subject")?);
            if let Some(used) = subject.and_then(|subject| used.get_mut(&subject)) {
                *used = used.minus(read_records(row)?);
            }
        }
        Ok(used.into_iter().map(|(subject, used)| SubjectUse { subject, used }).collect())
    }

    /// The windows of five hours that began last, from `since` on: whose, and their first second.
    pub async fn five_hour_windows(&self, since: u64) -> Result<Vec<(Subject, u64)>, StorageError> {
        sql("SELECT subject, start FROM five_hour_windows WHERE start >= $1")
            .bind(since)
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database(DOING))?
            .iter()
            .map(|row| Ok((row.word("subject", Subject::parse)?, row.count("start")?)))
            .collect()
    }

    /// The first seconds of the last windows of five hours of a subject, the latest first.
    pub async fn past_five_hours(
        &self,
        subject: &Subject,
        limit: u32,
    ) -> Result<Vec<u64>, StorageError> {
        sql("SELECT start FROM past_five_hours WHERE subject = $1 ORDER BY start DESC LIMIT $2")
            .bind(subject.to_string())
            .bind(limit)
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database(DOING))?
            .iter()
            .map(|row| row.count("start"))
            .collect()
    }

    /// Forgets the quarters and the windows of five hours that began before `start`, and says how
    /// many.
    pub async fn prune_quarters(&self, start: u64) -> Result<u64, StorageError> {
        const DOING: &str = "delete old quarters of usage";
        let mut tx = self.begin_write(DOING).await?;
        let mut deleted = 0;
        for table in [
            "DELETE FROM usage_quarters WHERE quarter < $1",
            "DELETE FROM five_hour_windows WHERE start < $1",
            "DELETE FROM past_five_hours WHERE start < $1",
        ] {
            let of_table = sql(table).bind(start).execute(&mut tx).await;
            deleted += of_table.map_err(StorageError::database(DOING))?;
        }
        tx.commit(DOING).await?;
        Ok(deleted)
    }
}

/// What [`read_used`] reads.
pub(crate) fn sums_of_quarters() -> String {
    [REQUESTS, TOKENS, COST].map(sum_of).join(", ")
}

/// What rows of quarters come to.
pub(crate) fn read_used(row: &Row) -> Result<Used, StorageError> {
    Ok(Used {
        requests: read_sum(row, REQUESTS)?,
        tokens: read_sum(row, TOKENS)?,
        cost: PicoUsd(read_sum(row, COST)?),
    })
}

/// What [`read_day_sums`] reads.
pub(crate) fn sums_of_days() -> String {
    DAY_COLUMNS.map(sum_of).join(", ")
}

/// What sums of days come to.
pub(crate) fn read_day_sums(row: &Row) -> Result<Used, StorageError> {
    Ok(Used { requests: read_sum(row, REQUESTS)?, ..read_counted(row)? })
}

/// What [`read_records`] reads.
fn sums_of_records() -> String {
    let columns = [COST, UNCOUNTED].into_iter().chain(ASSUMED).chain(CLASSES);
    let sums: Vec<String> = columns.map(sum_of).collect();
    format!("COUNT(*) AS requests, {}", sums.join(", "))
}

/// What records come to.
fn read_records(row: &Row) -> Result<Used, StorageError> {
    Ok(Used { requests: row.count("requests")?, ..read_counted(row)? })
}

/// What limits count of tokens and money.
fn read_counted(row: &Row) -> Result<Used, StorageError> {
    let [assumed_tokens, assumed_cost] = ASSUMED.map(|it| read_sum(row, it));
    let known = PicoUsd(read_sum(row, COST)?).minus(PicoUsd(read_sum(row, UNCOUNTED)?));
    Ok(Used {
        requests: 0,
        tokens: read_classes(row)?.total_tokens().saturating_add(assumed_tokens?),
        cost: known.plus(PicoUsd(assumed_cost?)),
    })
}

fn read_classes(row: &Row) -> Result<Usage, StorageError> {
    let [uncached_input, cache_read, cache_write, output, reasoning] =
        CLASSES.map(|class| read_sum(row, class));
    Ok(Usage {
        uncached_input: uncached_input?,
        cache_read: cache_read?,
        cache_write: cache_write?,
        output: output?,
        reasoning: reasoning?,
    })
}

impl JournalTail {
    /// What a subject used since `start`, as far as it is still in the journal. `is_of` says whether
    /// a request is the subject's, by whom the request is attributed to. A sum counts where its
    /// quarter of an hour began at `start` or later.
    pub fn used_since(&self, start: u64, is_of: impl Fn(&Attribution) -> bool) -> Used {
        let records = self.usage.iter();
        let records = records.map(|it| (it.started_at.seconds(), it.attribution(), it.counted()));
        let sums = self.sums.iter().map(|it| (it.quarter, it.attribution(), it.counted()));
        records
            .chain(sums)
            .filter(|(at, whose, _)| *at >= start && is_of(whose))
            .fold(Used::default(), |sum, (_, _, used)| sum.plus(used))
    }
}

/// What a batch of records adds to the quarters.
#[derive(Debug, Default)]
pub(crate) struct QuarterAdditions {
    quarters: BTreeMap<(u64, Attribution), Used>,
    began: BTreeMap<String, u64>,
    all_began: BTreeSet<(String, u64)>,
}

impl QuarterAdditions {
    /// Counts requests and what they used.
    pub(crate) fn count(&mut self, whose: Attribution, at: UnixMillis, used: Used) {
        let quarter = window_start(at, QUARTER_SECONDS);
        let sum = self.quarters.entry((quarter, whose)).or_default();
        *sum = sum.plus(used);
    }

    /// Notes that a window of five hours began; of several, the one that is noted last.
    pub(crate) fn note_began(&mut self, began: &WindowBegan) {
        self.began.insert(began.subject.clone(), began.start);
        self.all_began.insert((began.subject.clone(), began.start));
    }

    /// Adds everything to the database.
    pub(crate) async fn store(&self, tx: &mut Transaction) -> Result<(), StorageError> {
        const TABLE: (&str, &[&str]) = (
            "usage_quarters",
            &[
                "quarter",
                "account_id",
                "department_id",
                "team_id",
                "holder",
                "key_id",
                "requests",
                "tokens",
                "cost",
            ],
        );
        let added = ["requests", "tokens", "cost"].map(|it| add_saturating("usage_quarters", it));
        let conflict = format!(
            " ON CONFLICT (quarter, {}) DO UPDATE SET {}",
            attribution::COLUMNS.join(", "),
            added.join(", ")
        );
        let rows = self.quarters.iter().map(|((quarter, whose), used)| {
            let mut row = vec![(*quarter).into()];
            row.extend(attribution::values(whose));
            row.extend([used.requests.into(), used.tokens.into(), used.cost.0.into()]);
            row
        });
        insert_many(tx, TABLE, &conflict, rows.collect(), |_, _| {})
            .await
            .map_err(StorageError::database("add to the quarters of usage"))?;
        let rows = self.all_began.iter();
        let rows = rows.map(|(subject, start)| vec![subject.into(), (*start).into()]).collect();
        let past = ("past_five_hours", ["subject", "start"].as_slice());
        insert_many(tx, past, " ON CONFLICT (subject, start) DO NOTHING", rows, |_, _| {})
            .await
            .map_err(StorageError::database("note which windows began"))?;
        let rows = self.began.iter().map(|(subject, start)| vec![subject.into(), (*start).into()]);
        let conflict = " ON CONFLICT (subject) DO UPDATE SET start = excluded.start";
        insert_many(
            tx,
            ("five_hour_windows", &["subject", "start"]),
            conflict,
            rows.collect(),
            |_, _| {},
        )
        .await
        .map_err(StorageError::database("note when windows began"))
    }
}
