//! Usage records: one for each answered request whose policy allows one.

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::filtering::{FilterAction, FilterRecord};
use sluice_core::ids::{AccountId, KeyId, ModelId, ProviderId, RequestId};
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::outcome::Outcome;
use sluice_core::region::Region;
use sluice_core::routing::RouteRecord;
use sluice_core::usage::{Usage, UsageSource};
use sqlx::query_builder::Separated;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::error::StorageError;
use crate::open::Store;
use crate::row::{Columns, to_db, to_db_opt};

/// What one request was, used and cost. Nothing in it is content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsageRecord {
    /// The request, and the record's identity. Ids that begin with the time make adding a record
    /// three times as cheap, since the index then grows at its end.
    pub request_id: RequestId,
    /// The key it came with.
    pub key_id: KeyId,
    /// The key's account.
    pub account_id: AccountId,
    /// When it arrived.
    pub started_at: UnixMillis,
    /// The calling application's address (`HTTP-Referer`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_url: Option<String>,
    /// The calling application's name (`X-Title`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_title: Option<String>,
    /// The model or router that was asked.
    pub model_asked: String,
    /// The model that answered; `None` where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// The provider that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderId>,
    /// Where it was processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// How strictly it was filtered.
    pub level: SecurityLevel,
    /// Whether the answer was streamed.
    pub stream: bool,
    /// The tokens.
    pub usage: Usage,
    /// Where the token figures come from.
    pub usage_source: UsageSource,
    /// What it cost; `None` where the price is not known. In JSON: whole pico-dollars.
    #[serde(default, with = "picos", skip_serializing_if = "Option::is_none")]
    pub cost: Option<PicoUsd>,
    /// The set of prices that the cost was computed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_version: Option<String>,
    /// From arrival to the first piece of content, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_to_first_token_ms: Option<u64>,
    /// From arrival to the end, in milliseconds.
    pub duration_ms: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// How many calls of providers it took.
    pub attempts: u32,
    /// The audit entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_id: Option<String>,
    /// Whether the built-in simulator answered.
    #[serde(default)]
    pub simulated: bool,
    /// What the filter did.
    #[serde(default, skip_serializing_if = "FilterRecord::is_quiet")]
    pub filter: FilterRecord,
    /// What a router decided; `None` where a model was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteRecord>,
}

/// Optional amounts of money as whole pico-dollars, exactly.
pub(crate) mod picos {
    use serde::{Deserialize, Deserializer, Serializer};
    use sluice_core::money::PicoUsd;

    #[expect(clippy::ref_option, reason = "the signature that serde's `with` asks for")]
    pub(crate) fn serialize<S: Serializer>(
        cost: &Option<PicoUsd>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match cost {
            Some(PicoUsd(picos)) => serializer.serialize_some(picos),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PicoUsd>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(PicoUsd))
    }
}

/// Which usage records to list. The default is all of them, newest first.
#[derive(Debug, Clone, Default)]
pub struct UsageFilter {
    /// Only of this key.
    pub key_id: Option<KeyId>,
    /// Only of this account.
    pub account_id: Option<AccountId>,
    /// Only where this model was asked or answered.
    pub model: Option<String>,
    /// Only with this outcome.
    pub outcome: Option<Outcome>,
    /// Only what arrived then or later.
    pub since: Option<UnixMillis>,
    /// Only what arrived before.
    pub until: Option<UnixMillis>,
    /// At most so many.
    pub limit: Option<u32>,
    /// In which order, and so which end of the list a limit keeps.
    pub order: Order,
}

/// The order of a list by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The latest first.
    #[default]
    NewestFirst,
    /// The earliest first.
    OldestFirst,
}

impl UsageFilter {
    /// Whether a record belongs into the list; the same conditions as in SQL.
    pub(crate) fn admits(&self, record: &UsageRecord) -> bool {
        let model = |asked: &String| {
            record.model_asked == *asked
                || record.model.as_ref().is_some_and(|model| model.as_str() == asked)
        };
        self.key_id.as_ref().is_none_or(|key| record.key_id == *key)
            && self.account_id.as_ref().is_none_or(|account| record.account_id == *account)
            && self.model.as_ref().is_none_or(model)
            && self.outcome.is_none_or(|outcome| record.outcome == outcome)
            && self.since.is_none_or(|since| record.started_at >= since)
            && self.until.is_none_or(|until| record.started_at < until)
    }

    fn query(&self) -> QueryBuilder<Sqlite> {
        let mut query = QueryBuilder::new("SELECT * FROM usage_records WHERE 1 = 1");
        if let Some(key) = &self.key_id {
            query.push(" AND key_id = ").push_bind(key.as_str());
        }
        if let Some(account) = &self.account_id {
            query.push(" AND account_id = ").push_bind(account.as_str());
        }
        if let Some(model) = &self.model {
            query.push(" AND (model_asked = ").push_bind(model);
            query.push(" OR model = ").push_bind(model).push(")");
        }
        if let Some(outcome) = self.outcome {
            query.push(" AND outcome = ").push_bind(outcome.as_str());
        }
        if let Some(since) = self.since {
            query.push(" AND started_at >= ").push_bind(to_db(since.0));
        }
        if let Some(until) = self.until {
            query.push(" AND started_at < ").push_bind(to_db(until.0));
        }
        query.push(match self.order {
            Order::NewestFirst => " ORDER BY started_at DESC, request_id DESC",
            Order::OldestFirst => " ORDER BY started_at, request_id",
        });
        if let Some(limit) = self.limit {
            query.push(" LIMIT ").push_bind(i64::from(limit));
        }
        query
    }
}

impl Store {
    /// The usage records in the database that `filter` admits.
    ///
    /// The newest are still in the journal; [`Store::usage_with_tail`] lists them too.
    pub async fn usage(&self, filter: &UsageFilter) -> Result<Vec<UsageRecord>, StorageError> {
        filter
            .query()
            .build()
            .fetch_all(self.pool())
            .await
            .map_err(StorageError::database("list the usage records"))?
            .iter()
            .map(read)
            .collect()
    }

    /// The usage record of a request.
    pub async fn usage_of(&self, id: &RequestId) -> Result<Option<UsageRecord>, StorageError> {
        sqlx::query("SELECT * FROM usage_records WHERE request_id = $1")
            .bind(id.as_str())
            .fetch_optional(self.pool())
            .await
            .map_err(StorageError::database("read the usage record"))?
            .as_ref()
            .map(read)
            .transpose()
    }

    /// Deletes up to `limit` usage records from before `before`, the oldest first, and says how
    /// many. Call it until it says fewer than `limit`: short transactions let others write in
    /// between. Sums stay.
    pub async fn prune_usage(&self, before: UnixMillis, limit: u32) -> Result<u64, StorageError> {
        const DOING: &str = "delete old usage records";
        let mut tx = self.begin_write(DOING).await?;
        let done = sqlx::query(
            "DELETE FROM usage_records WHERE request_id IN (SELECT request_id FROM usage_records \
             WHERE started_at < $1 ORDER BY started_at LIMIT $2)",
        )
        .bind(to_db(before.0))
        .bind(i64::from(limit))
        .execute(&mut *tx)
        .await
        .map_err(StorageError::database(DOING))?;
        tx.commit().await.map_err(StorageError::database(DOING))?;
        Ok(done.rows_affected())
    }
}

/// How many rows go into one statement: as many as fit of the first, then of the next.
///
/// A statement is a message to the database's thread and back, which costs more than a row. There
/// are few sizes, so that each text is prepared once.
const IN_BULK: [usize; 3] = [64, 8, 1];
const SINGLY: [usize; 1] = [1];

/// Adds records whose request has none yet, and returns those.
///
/// `None`: some of them were there already, and a statement for many rows does not tell which. The
/// transaction is of no use then; [`insert_new_singly`] can tell in another one.
pub(crate) async fn insert_new<'r>(
    tx: &mut SqliteConnection,
    records: &[&'r UsageRecord],
) -> Result<Option<Vec<&'r UsageRecord>>, StorageError> {
    insert_in(&IN_BULK, tx, records).await
}

/// Adds records whose request has none yet, one by one, and returns those.
pub(crate) async fn insert_new_singly<'r>(
    tx: &mut SqliteConnection,
    records: &[&'r UsageRecord],
) -> Result<Vec<&'r UsageRecord>, StorageError> {
    Ok(insert_in(&SINGLY, tx, records).await?.unwrap_or_default())
}

async fn insert_in<'r>(
    sizes: &[usize],
    tx: &mut SqliteConnection,
    records: &[&'r UsageRecord],
) -> Result<Option<Vec<&'r UsageRecord>>, StorageError> {
    let mut new = Vec::with_capacity(records.len());
    let mut rest = records;
    for size in sizes {
        while let Some((rows, behind)) = rest.split_at_checked(*size) {
            match insert(tx, rows).await? {
                0 => {}
                added if added == rows.len() => new.extend_from_slice(rows),
                _ => return Ok(None),
            }
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
    }
    Ok(Some(new))
}

/// Adds records in one statement and returns how many were not there.
async fn insert(
    tx: &mut SqliteConnection,
    records: &[&UsageRecord],
) -> Result<usize, StorageError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT INTO usage_records (request_id, key_id, account_id, started_at, app_url, \
         app_title, model_asked, model, provider, region, level, stream, uncached_input, \
         cache_read, cache_write, output, reasoning, usage_source, cost, price_version, \
         time_to_first_token_ms, duration_ms, outcome, attempts, audit_id, simulated, \
         filter_action, filter_record, route_record) ",
    );
    query.push_values(records, |row, record| bind(row, record));
    query.push(" ON CONFLICT (request_id) DO NOTHING");
    let done =
        query.build().execute(tx).await.map_err(StorageError::database("add usage records"))?;
    Ok(usize::try_from(done.rows_affected()).unwrap_or(usize::MAX))
}

/// One row, in the order of the columns in [`insert`].
fn bind(mut row: Separated<'_, Sqlite, &'static str>, record: &UsageRecord) {
    row.push_bind(record.request_id.as_str());
    row.push_bind(record.key_id.as_str());
    row.push_bind(record.account_id.as_str());
    row.push_bind(to_db(record.started_at.0));
    row.push_bind(record.app_url.as_deref());
    row.push_bind(record.app_title.as_deref());
    row.push_bind(&*record.model_asked);
    row.push_bind(record.model.as_ref().map(ModelId::as_str));
    row.push_bind(record.provider.as_ref().map(ProviderId::as_str));
    row.push_bind(record.region.map(Region::as_str));
    row.push_bind(record.level.as_str());
    row.push_bind(record.stream);
    row.push_bind(to_db(record.usage.uncached_input));
    row.push_bind(to_db(record.usage.cache_read));
    row.push_bind(to_db(record.usage.cache_write));
    row.push_bind(to_db(record.usage.output));
    row.push_bind(to_db(record.usage.reasoning));
    row.push_bind(record.usage_source.as_str());
    row.push_bind(record.cost.map(|cost| to_db(cost.0)));
    row.push_bind(record.price_version.as_deref());
    row.push_bind(to_db_opt(record.time_to_first_token_ms));
    row.push_bind(to_db(record.duration_ms));
    row.push_bind(record.outcome.as_str());
    row.push_bind(i64::from(record.attempts));
    row.push_bind(record.audit_id.as_deref());
    row.push_bind(record.simulated);
    row.push_bind(record.filter.action.as_str());
    row.push_bind(filter_to_db(&record.filter));
    row.push_bind(record.route.as_ref().and_then(|route| serde_json::to_string(route).ok()));
}

fn read(row: &SqliteRow) -> Result<UsageRecord, StorageError> {
    let row = Columns(row);
    let small = |column| row.count(column).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    Ok(UsageRecord {
        request_id: row.text("request_id")?,
        key_id: row.text("key_id")?,
        account_id: row.text("account_id")?,
        started_at: row.moment("started_at")?,
        app_url: row.plain("app_url")?,
        app_title: row.plain("app_title")?,
        model_asked: row.plain("model_asked")?,
        model: row.text_opt("model")?,
        provider: row.text_opt("provider")?,
        region: row.word_opt("region", Region::parse)?,
        level: row.word("level", SecurityLevel::parse)?,
        stream: row.plain("stream")?,
        usage: read_tokens(&row)?,
        usage_source: row.word("usage_source", UsageSource::parse)?,
        cost: row.count_opt("cost")?.map(PicoUsd),
        price_version: row.plain("price_version")?,
        time_to_first_token_ms: row.count_opt("time_to_first_token_ms")?,
        duration_ms: row.count("duration_ms")?,
        outcome: row.word("outcome", Outcome::parse)?,
        attempts: small("attempts")?,
        audit_id: row.plain("audit_id")?,
        simulated: row.plain("simulated")?,
        filter: read_filter(&row)?,
        route: read_route(&row)?,
    })
}

/// What the filter did, as the database keeps it: JSON text, nothing where there is nothing to tell.
fn filter_to_db(filter: &FilterRecord) -> Option<String> {
    (!filter.is_quiet()).then(|| serde_json::to_string(filter).ok()).flatten()
}

fn read_filter(row: &Columns<'_>) -> Result<FilterRecord, StorageError> {
    let action = row.word("filter_action", FilterAction::parse)?;
    let Some(text) = row.plain::<Option<String>>("filter_record")? else {
        return Ok(FilterRecord { action, ..FilterRecord::default() });
    };
    serde_json::from_str(&text)
        .map_err(|_| StorageError::Unreadable { column: "filter_record", value: text })
}

fn read_route(row: &Columns<'_>) -> Result<Option<RouteRecord>, StorageError> {
    let Some(text) = row.plain::<Option<String>>("route_record")? else { return Ok(None) };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|_| StorageError::Unreadable { column: "route_record", value: text })
}

/// The five classes of tokens, which records and sums keep in columns of the same names.
pub(crate) fn read_tokens(row: &Columns<'_>) -> Result<Usage, StorageError> {
    Ok(Usage {
        uncached_input: row.count("uncached_input")?,
        cache_read: row.count("cache_read")?,
        cache_write: row.count("cache_write")?,
        output: row.count("output")?,
        reasoning: row.count("reasoning")?,
    })
}
