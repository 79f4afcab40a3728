//! A page of records, the latest first, between two of them.
//!
//! Three ways lead to a page. Most pages are read along the index by time. Where few records are
//! meant, that would go past many others: they are read along the index by series. What is known by
//! the beginning of its id is found by that. A page is found among short entries of an index, and
//! only its own records are read whole.

use std::fmt;

use sluice_core::clock::UnixMillis;
use sluice_core::ids::{KeyId, RequestId};

use super::{Reach, RecordsFilter, Sight};
use crate::database::{Row, Statement, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::usage::{UsageRecord, read};

const DOING: &str = "list the requests";

/// The most records of a page.
const LONGEST: u32 = 100;
/// Up to so many records are read along the index by series.
const FEW: u64 = 20_000;
/// Of the ids that begin alike, the latest so many are looked at.
const ALIKE: u32 = 1_000;

/// A place in the list: that of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordCursor {
    /// When it arrived.
    pub at: UnixMillis,
    /// Its request, which tells those of a moment apart.
    pub request_id: RequestId,
}

impl RecordCursor {
    fn of(record: &UsageRecord) -> Self {
        Self { at: record.started_at, request_id: record.request_id.clone() }
    }

    /// The place that a text stands for.
    pub fn parse(text: &str) -> Option<Self> {
        let (at, request_id) = text.split_once('-')?;
        Some(Self { at: UnixMillis(at.parse().ok()?), request_id: request_id.into() })
    }
}

impl fmt::Display for RecordCursor {
    /// As it stands in an address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.at.0, self.request_id)
    }
}

/// Which page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Turn<C> {
    /// That of the latest.
    #[default]
    First,
    /// The next one of what is older than this.
    Older(C),
    /// The next one of what is newer than this.
    Newer(C),
}

/// What a page shows, the latest first, and where it goes on.
pub(crate) struct Paged<T, C> {
    pub(crate) items: Vec<T>,
    /// The way to what is newer, if there is any.
    pub(crate) newer: Option<C>,
    /// The way to what is older, if there is any.
    pub(crate) older: Option<C>,
}

impl<C> Turn<C> {
    /// The page of what was `found`: it was read from where this turn begins, and one more than
    /// `limit`, which tells whether there is another page that way.
    pub(crate) fn page<T>(
        &self,
        mut found: Vec<T>,
        limit: u32,
        cursor: impl Fn(&T) -> C,
    ) -> Paged<T, C> {
        let has_more = found.len() > limit as usize;
        found.truncate(limit as usize);
        if let Self::Newer(_) = self {
            found.reverse();
        }
        let (newest, oldest) = (found.first().map(&cursor), found.last().map(&cursor));
        let (newer, older) = match self {
            Self::First => (None, oldest.filter(|_| has_more)),
            Self::Older(_) => (newest, oldest.filter(|_| has_more)),
            Self::Newer(_) => (newest.filter(|_| has_more), oldest),
        };
        Paged { items: found, newer, older }
    }
}

/// A record, and what its key is called now.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenRecord {
    /// The record.
    pub record: UsageRecord,
    /// The key's name.
    pub key_name: Option<String>,
}

/// A page of records, the latest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordsPage {
    /// The records.
    pub records: Vec<SeenRecord>,
    /// The way to what is newer, if there is any.
    pub newer: Option<RecordCursor>,
    /// The way to what is older, if there is any.
    pub older: Option<RecordCursor>,
}

/// How the records of a page are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Along the index by time, all that there are.
    Time,
    /// The same, past those of other series.
    PastOthers,
    /// Along the index by series.
    Series,
    /// Along the index by id.
    Prefix,
}

impl Store {
    /// A page of the records that `sight` reaches and `filter` admits, at most `limit` of them and
    /// never more than 100. What is still in the journal is not in it yet.
    pub async fn records(
        &self,
        sight: &Sight,
        filter: &RecordsFilter,
        turn: &Turn<RecordCursor>,
        limit: u32,
    ) -> Result<RecordsPage, StorageError> {
        let limit = limit.clamp(1, LONGEST);
        let way = self.way(sight, filter, turn).await?;
        let query = statement(sight, filter, turn, way, limit + 1);
        let rows = self.read(query, DOING).await?;
        let found = rows.iter().map(read_seen).collect::<Result<Vec<_>, _>>()?;
        let page = turn.page(found, limit, |it| RecordCursor::of(&it.record));
        Ok(RecordsPage { records: page.items, newer: page.newer, older: page.older })
    }

    /// The record of a request, if `sight` reaches it.
    pub async fn record(
        &self,
        sight: &Sight,
        id: &RequestId,
    ) -> Result<Option<SeenRecord>, StorageError> {
        let mut query = begin();
        query.push("r.request_id = ");
        query.push_bind(id.as_str());
        sight.push_conditions(&mut query, "r", true);
        self.read(query, DOING).await?.first().map(read_seen).transpose()
    }

    /// What these keys are called now, by id; without those that are gone.
    pub async fn key_names(&self, ids: &[KeyId]) -> Result<Vec<(KeyId, String)>, StorageError> {
        let mut query = sql("SELECT id, name FROM keys WHERE id IN (");
        for (at, id) in ids.iter().enumerate() {
            query.push(if at == 0 { "" } else { ", " });
            query.push_bind(id.as_str());
        }
        query.push(if ids.is_empty() { "NULL)" } else { ")" });
        let rows = self.read(query, "read the names of keys").await?;
        rows.iter().map(|row| Ok((row.text("id")?, row.string("name")?))).collect()
    }

    async fn way(
        &self,
        sight: &Sight,
        filter: &RecordsFilter,
        turn: &Turn<RecordCursor>,
    ) -> Result<Way, StorageError> {
        if filter.id_prefix.is_some() {
            return Ok(Way::Prefix);
        }
        if !filter.narrows() && sight.reach == Reach::Account {
            return Ok(Way::Time);
        }
        // The rest of an account's records may be millions: what is meant is counted so far as to
        // say that it is not few.
        let mut query =
            sql("SELECT COUNT(*) AS count FROM (SELECT 1 FROM usage_records AS f WHERE ");
        push_among_series(&mut query, "f.series_id", sight, filter);
        push_period(&mut query, "f", filter, turn);
        query.push(" LIMIT ");
        query.push_bind(FEW + 1);
        query.push(") AS few");
        let rows = self.read(query, DOING).await?;
        let count = rows.first().map_or(Ok(0), |row| row.count("count"))?;
        Ok(if count <= FEW { Way::Series } else { Way::PastOthers })
    }
}

fn begin() -> Statement {
    sql("SELECT r.*, k.name AS key_name FROM usage_records AS r \
         LEFT JOIN keys AS k ON k.id = r.key_id WHERE ")
}

fn read_seen(row: &Row) -> Result<SeenRecord, StorageError> {
    Ok(SeenRecord { record: read(row)?, key_name: row.string_opt("key_name")? })
}

/// That a column is the number of a series that is seen and meant.
fn push_among_series(query: &mut Statement, column: &str, sight: &Sight, filter: &RecordsFilter) {
    query.push(column);
    query.push(" IN (SELECT s.id FROM usage_series AS s WHERE s.model_asked <> ''");
    sight.push_conditions(query, "s", true);
    filter.push_series_conditions(query);
    query.push(")");
}

fn statement(
    sight: &Sight,
    filter: &RecordsFilter,
    turn: &Turn<RecordCursor>,
    way: Way,
    limit: u32,
) -> Statement {
    let mut query = begin();
    query.push("r.request_id IN (SELECT f.request_id FROM usage_records AS f WHERE ");
    match way {
        Way::Time | Way::PastOthers => {
            query.push("f.account_id = ");
            query.push_bind(sight.account.as_str());
            if way == Way::PastOthers {
                // The sign keeps the databases from the index by series.
                push_among_series(&mut query, " AND +f.series_id", sight, filter);
            }
        }
        Way::Series => push_among_series(&mut query, "f.series_id", sight, filter),
        Way::Prefix => {
            let prefix = filter.id_prefix.as_deref().unwrap_or_default();
            query.push("f.request_id >= ");
            query.push_bind(prefix);
            query.push(" AND f.request_id < ");
            query.push_bind(format!("{prefix}\u{10ffff}"));
            push_among_series(&mut query, " AND +f.series_id", sight, filter);
        }
    }
    push_period(&mut query, "f", filter, turn);
    // A sum is in no index, and tempts the databases to none.
    let by = match way {
        Way::Time | Way::PastOthers => ["f.started_at", "f.request_id"].as_slice(),
        Way::Series => &["f.started_at + 0", "f.request_id"],
        Way::Prefix => &["f.request_id"],
    };
    push_order(&mut query, by, turn);
    query.push_bind(if way == Way::Prefix { ALIKE } else { limit });
    query.push(")");
    push_order(&mut query, &["r.started_at", "r.request_id"], turn);
    query.push_bind(limit);
    query
}

fn push_order(query: &mut Statement, by: &[&str], turn: &Turn<RecordCursor>) {
    let direction = match turn {
        Turn::Newer(_) => "",
        Turn::First | Turn::Older(_) => " DESC",
    };
    let by: Vec<String> = by.iter().map(|by| format!("{by}{direction}")).collect();
    query.push(&format!(" ORDER BY {} LIMIT ", by.join(", ")));
}

/// The period, and the side of the cursor.
fn push_period(
    query: &mut Statement,
    table: &str,
    filter: &RecordsFilter,
    turn: &Turn<RecordCursor>,
) {
    if let Some(since) = filter.since {
        query.push(&format!(" AND {table}.started_at >= "));
        query.push_bind(since);
    }
    if let Some(until) = filter.until {
        query.push(&format!(" AND {table}.started_at < "));
        query.push_bind(until);
    }
    let (sign, cursor) = match turn {
        Turn::First => return,
        Turn::Older(cursor) => ("<", cursor),
        Turn::Newer(cursor) => (">", cursor),
    };
    query.push(&format!(" AND ({table}.started_at, {table}.request_id) {sign} ("));
    query.push_bind(cursor.at);
    query.push(", ");
    query.push_bind(cursor.request_id.as_str());
    query.push(")");
}

#[cfg(test)]
mod tests {
    use sluice_core::filtering::FilterAction;

    use super::*;

    /// No way to a page goes past all records.
    #[tokio::test]
    async fn every_way_is_along_an_index() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let plain = RecordsFilter::default();
        let blocked = RecordsFilter { actions: vec![FilterAction::Block], ..plain.clone() };
        let begun = RecordsFilter { id_prefix: Some("req_0".to_owned()), ..plain.clone() };
        let cursor = RecordCursor { at: UnixMillis(5), request_id: "req".into() };
        let sights = [Reach::Account, Reach::Own("p".into()), Reach::Departments(vec!["d".into()])];
        for reach in sights {
            let sight = Sight { account: "a".into(), reach };
            for turn in [Turn::First, Turn::Older(cursor.clone()), Turn::Newer(cursor.clone())] {
                for (way, filter, index) in [
                    (Way::Time, &plain, "usage_records_by_account"),
                    (Way::PastOthers, &plain, "usage_records_by_account"),
                    (Way::PastOthers, &blocked, "usage_records_by_account"),
                    (Way::Series, &plain, "usage_records_by_series"),
                    (Way::Prefix, &begun, "sqlite_autoindex_usage_records_1"),
                ] {
                    let mut query = sql("EXPLAIN QUERY PLAN ");
                    query.push(statement(&sight, filter, &turn, way, 51).text());
                    let rows = store.read(query, "test").await.unwrap();
                    let plan: Vec<String> =
                        rows.iter().map(|row| row.string("detail").unwrap()).collect();
                    let found = plan.iter().find(|line| line.contains(" f USING ")).unwrap();
                    assert!(found.starts_with("SEARCH") && found.contains(index), "{plan:#?}");
                    assert!(!plan.iter().any(|line| line.starts_with("SCAN")), "{plan:#?}");
                    // Only the page itself is sorted, and what is few.
                    let sorts = plan.iter().filter(|line| line.contains("FOR ORDER BY")).count();
                    assert_eq!(sorts, if way == Way::Series { 2 } else { 1 }, "{plan:#?}");
                }
            }
        }
    }
}
