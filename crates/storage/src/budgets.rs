//! Budgets: what a subject may use, beside the figures of classes and tiers.
//!
//! A budget begins at zero: it counts what is used from its beginning on. Sums are kept by day for
//! good, so what was used before it on its first day is kept with it.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, BudgetId};
use sluice_core::measure::{Limited, Measure};
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Subject;
use sluice_core::window::Window;

use crate::database::{Row, Statement, Transaction, Value, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::organisation::{MANAGED_BY_FILE, Which, rows};
use crate::usage::{read_assumed, read_tokens};
use crate::windows::{
    DAY_SECONDS, QUARTER_SECONDS, SubjectKind, Used, column_text, floor, read_day_sums, read_used,
    sums_of_days, sums_of_quarters,
};

/// An amount on top of a budget's limit, for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopUp {
    /// How much: requests, tokens or pico-dollars.
    pub amount: u64,
    /// Since when.
    pub from: UnixMillis,
    /// Until when.
    pub until: UnixMillis,
}

/// A budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BudgetRecord {
    /// Its id.
    pub id: BudgetId,
    /// The account of its subject.
    pub account_id: AccountId,
    /// Whose use it limits.
    #[serde(serialize_with = "as_text")]
    pub subject: Subject,
    /// Whether each session has so much to itself. Its window is the session's life, so it has no
    /// other.
    pub each_session: bool,
    /// What it limits.
    pub limited: Limited,
    /// The time zone whose calendar its window follows, by its IANA name.
    pub zone: String,
    /// How much: requests, tokens or pico-dollars. 0 blocks.
    pub limit: u64,
    /// Whether a request that does not fit is refused. A soft one is only noted.
    pub hard: bool,
    /// It counts what is used from this moment on.
    pub counts_from: UnixMillis,
    /// What was used on that day before it, by days in UTC.
    #[serde(skip)]
    pub used_before: Used,
    /// What was granted on top.
    pub top_ups: Vec<TopUp>,
    /// Who alone may change it; `None`: everybody who has the right. See [`MANAGED_BY_FILE`].
    pub managed_by: Option<String>,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When it was removed.
    pub removed_at: Option<UnixMillis>,
    /// The number of the change that touched it last; 0 where it is not written yet.
    #[serde(skip)]
    pub changed: u64,
}

fn as_text<S: serde::Serializer>(subject: &Subject, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(subject)
}

impl TopUp {
    /// The end of one that has none: what no calendar has, and every database keeps.
    pub const NEVER: UnixMillis = UnixMillis(i64::MAX as u64);

    /// When it ends; `None` where it never does.
    pub fn ends(&self) -> Option<UnixMillis> {
        (self.until < Self::NEVER).then_some(self.until)
    }

    /// Whether it holds at `now`.
    pub fn holds_at(&self, now: UnixMillis) -> bool {
        self.from <= now && now < self.until
    }
}

impl BudgetRecord {
    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        self.removed_at.is_none()
    }

    /// Whether the configuration file holds it.
    pub fn is_the_files(&self) -> bool {
        self.managed_by.as_deref() == Some(MANAGED_BY_FILE)
    }

    /// The limit at `now`, with what was granted on top.
    pub fn limit_at(&self, now: UnixMillis) -> u64 {
        let granted = self.top_ups.iter().filter(|it| it.holds_at(now)).map(|it| it.amount);
        granted.fold(self.limit, u64::saturating_add)
    }
}

/// All budgets, by whose use they limit; those that were removed, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budgets(HashMap<Subject, Vec<BudgetRecord>>);

impl Budgets {
    /// Those of a subject that are there, in the order of their creation.
    pub fn of(&self, subject: &Subject) -> impl Iterator<Item = &BudgetRecord> {
        self.0.get(subject).into_iter().flatten().filter(|budget| budget.is_there())
    }

    /// Every budget, also those that were removed.
    pub fn iter(&self) -> impl Iterator<Item = &BudgetRecord> {
        self.0.values().flatten()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts what was read of a later moment in the place of what was known.
    pub fn take_over(&mut self, later: Self) {
        for budget in later.0.into_values().flatten() {
            self.put(budget);
        }
    }

    fn put(&mut self, budget: BudgetRecord) {
        let of_subject = self.0.entry(budget.subject.clone()).or_default();
        match of_subject.iter_mut().find(|it| it.id == budget.id) {
            Some(known) => *known = budget,
            None => {
                of_subject.push(budget);
                of_subject.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
            }
        }
    }
}

impl FromIterator<BudgetRecord> for Budgets {
    fn from_iter<T: IntoIterator<Item = BudgetRecord>>(budgets: T) -> Self {
        let mut all = Self::default();
        budgets.into_iter().for_each(|budget| all.put(budget));
        all
    }
}

/// Where budgets are kept: the identity first, then everything else.
pub(crate) const BUDGETS: (&str, &[&str]) = (
    "budgets",
    &[
        "id",
        "account_id",
        "subject",
        "measure",
        "lasts",
        "zone",
        "amount",
        "hard",
        "counts_from",
        "before_requests",
        "before_tokens",
        "before_cost",
        "top_ups",
        "managed_by",
        "created_at",
        "removed_at",
        "each_session",
        "changed",
    ],
);

/// In the order of [`BUDGETS`], without the last.
pub(crate) fn budget_values(it: &BudgetRecord) -> Vec<Value> {
    vec![
        it.id.as_str().into(),
        it.account_id.as_str().into(),
        it.subject.to_string().into(),
        it.limited.measure_word().into(),
        it.limited.window().map_or("", Window::as_str).into(),
        (&it.zone).into(),
        it.limit.into(),
        it.hard.into(),
        it.counts_from.into(),
        it.used_before.requests.into(),
        it.used_before.tokens.into(),
        it.used_before.cost.0.into(),
        serde_json::to_string(&it.top_ups).unwrap_or_default().into(),
        (&it.managed_by).into(),
        it.created_at.into(),
        it.removed_at.into(),
        it.each_session.into(),
    ]
}

fn read(row: &Row) -> Result<BudgetRecord, StorageError> {
    let limited = match row.string("measure")?.as_str() {
        Limited::CONCURRENCY => Limited::Concurrency,
        _ => Limited::Used {
            measure: row.word("measure", Measure::parse)?,
            window: row.word("lasts", Window::parse)?,
        },
    };
    Ok(BudgetRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        subject: row.word("subject", Subject::parse)?,
        each_session: row.flag("each_session")?,
        limited,
        zone: row.string("zone")?,
        limit: row.count("amount")?,
        hard: row.flag("hard")?,
        counts_from: row.moment("counts_from")?,
        used_before: Used {
            requests: row.count("before_requests")?,
            tokens: row.count("before_tokens")?,
            cost: PicoUsd(row.count("before_cost")?),
        },
        top_ups: row.word("top_ups", |text| serde_json::from_str(text).ok())?,
        managed_by: row.string_opt("managed_by")?,
        created_at: row.moment("created_at")?,
        removed_at: row.moment_opt("removed_at")?,
        changed: row.count("changed")?,
    })
}

pub(crate) async fn read_budgets(
    tx: &mut Transaction,
    which: Which<'_>,
    doing: &'static str,
) -> Result<Budgets, StorageError> {
    rows(tx, "budgets", which, doing).await?.iter().map(read).collect()
}

/// Those of some subjects that are there.
pub(crate) async fn read_budgets_of(
    tx: &mut Transaction,
    subjects: impl Iterator<Item = Subject>,
    doing: &'static str,
) -> Result<Budgets, StorageError> {
    let mut query: Statement =
        sql("SELECT * FROM budgets WHERE removed_at IS NULL AND subject IN (");
    for (number, subject) in subjects.enumerate() {
        if number > 0 {
            query.push(", ");
        }
        query.push_bind(subject.to_string());
    }
    query.push(")");
    let rows = query.fetch_all(tx).await.map_err(StorageError::database(doing))?;
    rows.iter().map(read).collect()
}

/// What a request used that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastRequest {
    /// When it counted.
    pub started_at: UnixMillis,
    /// How long it lasted, in milliseconds.
    pub duration_ms: u64,
    /// What it used.
    pub used: Used,
}

impl Store {
    /// Shows `look` the requests of a subject between two moments, in the order in which they counted.
    /// Those that left no record of their own are not among them.
    pub async fn past_requests(
        &self,
        subject: &Subject,
        (from, until): (UnixMillis, UnixMillis),
        mut look: impl FnMut(&PastRequest),
    ) -> Result<(), StorageError> {
        const DOING: &str = "read past requests";
        const AT_ONCE: u64 = 2_000;
        let kind = SubjectKind::of(subject);
        let (mut at, mut id) = (from, String::new());
        loop {
            let rows = sql(format!(
                "SELECT request_id, started_at, duration_ms, cost, uncounted_cost, assumed_tokens, \
                 assumed_cost, uncached_input, cache_read, cache_write, output, reasoning FROM usage_records \
                 WHERE {} = $1 AND started_at < $2 AND started_at >= $3 \
                 AND (started_at > $3 OR (started_at = $3 AND request_id > $4)) \
                 ORDER BY started_at, request_id LIMIT $5",
                kind.column()
            ))
            .bind(column_text(subject))
            .bind(until)
            .bind(at)
            .bind(id.as_str())
            .bind(AT_ONCE)
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database(DOING))?;
            for row in &rows {
                let cost = row.count_opt("cost")?.map(PicoUsd).unwrap_or_default();
                let cost = cost.minus(PicoUsd(row.count_opt("uncounted_cost")?.unwrap_or(0)));
                let assumed = read_assumed(row)?;
                let tokens = read_tokens(row)?.total_tokens().saturating_add(assumed.tokens);
                (at, id) = (row.moment("started_at")?, row.string("request_id")?);
                look(&PastRequest {
                    started_at: at,
                    duration_ms: row.count("duration_ms")?,
                    used: Used { requests: 1, tokens, cost: cost.plus(assumed.cost) },
                });
            }
            if (rows.len() as u64) < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// What a subject used between two moments, of which each is the beginning of a quarter of an hour,
    /// as far as the database knows. Beyond forty days, to the day in UTC.
    pub async fn used_in(
        &self,
        subject: &Subject,
        (start, end): (u64, u64),
    ) -> Result<Used, StorageError> {
        let kind = SubjectKind::of(subject);
        let since = self.used_since(kind, start, Some(subject)).await?;
        let since = since.first().map_or(Used::default(), |it| it.used);
        let after = match end {
            u64::MAX => Vec::new(),
            end => self.used_since(kind, end, Some(subject)).await?,
        };
        Ok(after.first().map_or(since, |it| since.minus(it.used)))
    }

    /// What a subject used since `start`, by days in UTC or by quarters of an hour, with the first second
    /// of each; those without use are left out.
    pub async fn used_by_time(
        &self,
        subject: &Subject,
        start: u64,
        by_day: bool,
    ) -> Result<Vec<(u64, Used)>, StorageError> {
        const DOING: &str = "read how a budget was used";
        let (time, table, sums) = match by_day {
            true => ("day", "usage_sums", sums_of_days()),
            false => ("quarter", "usage_quarters", sums_of_quarters()),
        };
        let column = SubjectKind::of(subject).column();
        let query = sql(format!(
            "SELECT {time} AS at, {sums} FROM {table} WHERE {time} >= $1 AND {column} = $2 \
             GROUP BY {time} ORDER BY {time}"
        ));
        let length = if by_day { DAY_SECONDS } else { QUARTER_SECONDS };
        let rows = query.bind(floor(start, length)).bind(column_text(subject));
        let rows = rows.fetch_all(self.database()).await;
        let read = |row: &Row| {
            let used = if by_day { read_day_sums(row)? } else { read_used(row)? };
            Ok((row.count("at")?, used))
        };
        rows.map_err(StorageError::database(DOING))?.iter().map(read).collect()
    }

    /// What each budget that is there counts since its beginning. Those that began before `since` are
    /// left out, but for those that last for ever.
    pub async fn used_since_budgets_began(
        &self,
        since: UnixMillis,
    ) -> Result<BTreeMap<BudgetId, Used>, StorageError> {
        const DOING: &str = "read what budgets have counted";
        let mut used = BTreeMap::new();
        for kind in SubjectKind::ALL {
            let from = format!(
                "budgets JOIN usage_sums ON {} AND day >= counts_from / 1000 - counts_from / 1000 % {DAY_SECONDS} \
                 WHERE removed_at IS NULL AND (counts_from >= $1 OR lasts = 'total')",
                kind.is_subject("usage_sums")
            );
            let query = format!(
                "SELECT budgets.id AS id, {} FROM {from} GROUP BY budgets.id",
                sums_of_days()
            );
            let rows = sql(query).bind(since).fetch_all(self.database()).await;
            for row in &rows.map_err(StorageError::database(DOING))? {
                used.insert(row.text::<BudgetId>("id")?, read_day_sums(row)?);
            }
        }
        let kept = self.organisation().await?;
        for budget in kept.budgets.iter() {
            if let Some(all) = used.get_mut(&budget.id) {
                *all = all.minus(budget.used_before);
            }
        }
        Ok(used)
    }

    /// What a subject used on the day of `now`, by days in UTC, as far as the database knows.
    pub async fn used_today(
        &self,
        subject: &Subject,
        now: UnixMillis,
    ) -> Result<Used, StorageError> {
        let midnight = floor(now.seconds(), DAY_SECONDS);
        let used = self.used_since(SubjectKind::of(subject), midnight, Some(subject)).await?;
        Ok(used.first().map_or(Used::default(), |it| it.used))
    }
}
