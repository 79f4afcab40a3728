//! Usage records: one for each answered request whose policy allows one.

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::filtering::{FilterAction, FilterRecord};
use sluice_core::ids::{AccountId, DepartmentId, KeyId, ModelId, ProviderId, RequestId, TeamId};
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::{Attribution, Holder};
use sluice_core::outcome::Outcome;
use sluice_core::region::Region;
use sluice_core::routing::RouteRecord;
use sluice_core::usage::{Usage, UsageSource};

use crate::assumed::Assumed;
use crate::attribution::holder;
use crate::database::{Row, Statement, Transaction, Value, insert_many, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::provider_keys::{BilledBy, ProviderKeyUse};
use crate::windows::Used;

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
    /// The key's department at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department_id: Option<DepartmentId>,
    /// The key's team at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<TeamId>,
    /// The key's person or service at that time.
    #[serde(default, with = "holder", skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
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
    /// The bound on generated tokens, where a budget lowered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens_lowered: Option<u32>,
    /// The provider key beside the deployment's that was there for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_key: Option<ProviderKeyUse>,
    /// What limits count on top of tokens and cost.
    #[serde(default, skip_serializing_if = "Assumed::is_nothing")]
    pub assumed: Assumed,
    /// Its session, where it counts against a budget of each session: a keyed hash in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl UsageRecord {
    /// What of its cost budgets do not count: a provider bills it to whoever owns the provider key.
    pub fn uncounted_cost(&self) -> Option<PicoUsd> {
        let own = self.provider_key.as_ref()?;
        let is_uncounted = own.billed_by == BilledBy::Provider && !own.counts;
        is_uncounted.then(|| self.cost.unwrap_or_default())
    }

    /// What limits count of it.
    pub fn counted(&self) -> Used {
        let cost = self.cost.unwrap_or_default().minus(self.uncounted_cost().unwrap_or_default());
        Used {
            requests: 1,
            tokens: self.usage.total_tokens().saturating_add(self.assumed.tokens),
            cost: cost.plus(self.assumed.cost),
        }
    }

    /// Whose it was.
    pub fn attribution(&self) -> Attribution {
        Attribution {
            account: self.account_id.clone(),
            department: self.department_id.clone(),
            team: self.team_id.clone(),
            holder: self.holder.clone(),
            key: self.key_id.clone(),
        }
    }
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

    fn statement(&self) -> Statement {
        let mut query = sql("SELECT * FROM usage_records WHERE 1 = 1");
        if let Some(key) = &self.key_id {
            query.push(" AND key_id = ");
            query.push_bind(key.as_str());
        }
        if let Some(account) = &self.account_id {
            query.push(" AND account_id = ");
            query.push_bind(account.as_str());
        }
        if let Some(model) = &self.model {
            query.push(" AND (model_asked = ");
            query.push_bind(model);
            query.push(" OR model = ");
            query.push_bind(model);
            query.push(")");
        }
        if let Some(outcome) = self.outcome {
            query.push(" AND outcome = ");
            query.push_bind(outcome.as_str());
        }
        if let Some(since) = self.since {
            query.push(" AND started_at >= ");
            query.push_bind(since);
        }
        if let Some(until) = self.until {
            query.push(" AND started_at < ");
            query.push_bind(until);
        }
        query.push(match self.order {
            Order::NewestFirst => " ORDER BY started_at DESC, request_id DESC",
            Order::OldestFirst => " ORDER BY started_at, request_id",
        });
        if let Some(limit) = self.limit {
            query.push(" LIMIT ");
            query.push_bind(limit);
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
            .statement()
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database("list the usage records"))?
            .iter()
            .map(read)
            .collect()
    }

    /// The usage record of a request.
    pub async fn usage_of(&self, id: &RequestId) -> Result<Option<UsageRecord>, StorageError> {
        sql("SELECT * FROM usage_records WHERE request_id = $1")
            .bind(id.as_str())
            .fetch_optional(self.database())
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
        let deleted = sql(
            "DELETE FROM usage_records WHERE request_id IN (SELECT request_id FROM usage_records \
             WHERE started_at < $1 ORDER BY started_at LIMIT $2)",
        )
        .bind(before)
        .bind(limit)
        .execute(&mut tx)
        .await
        .map_err(StorageError::database(DOING))?;
        tx.commit(DOING).await?;
        Ok(deleted)
    }
}

/// Where records are kept.
pub(crate) const TABLE: (&str, &[&str]) = (
    "usage_records",
    &[
        "request_id",
        "key_id",
        "account_id",
        "started_at",
        "app_url",
        "app_title",
        "model_asked",
        "model",
        "provider",
        "region",
        "level",
        "stream",
        "uncached_input",
        "cache_read",
        "cache_write",
        "output",
        "reasoning",
        "usage_source",
        "cost",
        "price_version",
        "time_to_first_token_ms",
        "duration_ms",
        "outcome",
        "attempts",
        "audit_id",
        "simulated",
        "filter_action",
        "filter_record",
        "route_record",
        "department_id",
        "team_id",
        "holder",
        "max_tokens_lowered",
        "provider_key_id",
        "billed_by",
        "uncounted_cost",
        "assumed_tokens",
        "assumed_cost",
        "session_id",
        "series_id",
    ],
);

/// A record, and the number of its series in the rollup.
pub(crate) type Numbered<'r> = (&'r UsageRecord, i64);

/// What is to be done with a record whose request has one already.
const CONFLICT: &str = " ON CONFLICT (request_id) DO NOTHING";

/// Adds records whose request has none yet, and returns those.
///
/// `None`: some of them were there already, and a statement for many rows does not tell which. The
/// transaction is of no use then; [`insert_new_singly`] can tell in another one.
pub(crate) async fn insert_new<'r>(
    tx: &mut Transaction,
    records: &[Numbered<'r>],
) -> Result<Option<Vec<Numbered<'r>>>, StorageError> {
    let mut new = Vec::with_capacity(records.len());
    let mut is_told = true;
    let rows = records.iter().map(|(record, series)| values(record, *series)).collect();
    insert_many(tx, TABLE, CONFLICT, rows, |range, added| match usize::try_from(added) {
        Ok(0) => {}
        Ok(added) if added == range.len() => {
            new.extend_from_slice(records.get(range).unwrap_or_default());
        }
        _ => is_told = false,
    })
    .await
    .map_err(StorageError::database("add usage records"))?;
    Ok(is_told.then_some(new))
}

/// Adds records whose request has none yet, one by one, and returns those.
pub(crate) async fn insert_new_singly<'r>(
    tx: &mut Transaction,
    records: &[Numbered<'r>],
) -> Result<Vec<Numbered<'r>>, StorageError> {
    let mut new = Vec::new();
    for record in records {
        new.extend(insert_new(tx, &[*record]).await?.unwrap_or_default());
    }
    Ok(new)
}

/// In the order of [`TABLE`].
pub(crate) fn values(record: &UsageRecord, series: i64) -> Vec<Value> {
    vec![
        record.request_id.as_str().into(),
        record.key_id.as_str().into(),
        record.account_id.as_str().into(),
        record.started_at.into(),
        (&record.app_url).into(),
        (&record.app_title).into(),
        (&record.model_asked).into(),
        record.model.as_ref().map(ModelId::as_str).into(),
        record.provider.as_ref().map(ProviderId::as_str).into(),
        record.region.map(Region::as_str).into(),
        record.level.as_str().into(),
        record.stream.into(),
        record.usage.uncached_input.into(),
        record.usage.cache_read.into(),
        record.usage.cache_write.into(),
        record.usage.output.into(),
        record.usage.reasoning.into(),
        record.usage_source.as_str().into(),
        record.cost.map(|cost| cost.0).into(),
        (&record.price_version).into(),
        record.time_to_first_token_ms.into(),
        record.duration_ms.into(),
        record.outcome.as_str().into(),
        record.attempts.into(),
        (&record.audit_id).into(),
        record.simulated.into(),
        record.filter.action.as_str().into(),
        filter_to_db(&record.filter).into(),
        record.route.as_ref().and_then(|route| serde_json::to_string(route).ok()).into(),
        record.department_id.as_ref().map(DepartmentId::as_str).into(),
        record.team_id.as_ref().map(TeamId::as_str).into(),
        record.holder.as_ref().map(ToString::to_string).into(),
        record.max_tokens_lowered.map(u64::from).into(),
        record.provider_key.as_ref().map(|it| it.id.as_str()).into(),
        record.provider_key.as_ref().map(|it| it.billed_by.as_str()).into(),
        record.uncounted_cost().map(|cost| cost.0).into(),
        (!record.assumed.is_nothing()).then_some(record.assumed.tokens).into(),
        (!record.assumed.is_nothing()).then_some(record.assumed.cost.0).into(),
        (&record.session).into(),
        series.into(),
    ]
}

pub(crate) fn read(row: &Row) -> Result<UsageRecord, StorageError> {
    let small = |column| row.count(column).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    Ok(UsageRecord {
        request_id: row.text("request_id")?,
        key_id: row.text("key_id")?,
        account_id: row.text("account_id")?,
        department_id: row.text_opt("department_id")?,
        team_id: row.text_opt("team_id")?,
        holder: row.word_opt("holder", Holder::parse)?,
        started_at: row.moment("started_at")?,
        app_url: row.string_opt("app_url")?,
        app_title: row.string_opt("app_title")?,
        model_asked: row.string("model_asked")?,
        model: row.text_opt("model")?,
        provider: row.text_opt("provider")?,
        region: row.word_opt("region", Region::parse)?,
        level: row.word("level", SecurityLevel::parse)?,
        stream: row.flag("stream")?,
        usage: read_tokens(row)?,
        usage_source: row.word("usage_source", UsageSource::parse)?,
        cost: row.count_opt("cost")?.map(PicoUsd),
        price_version: row.string_opt("price_version")?,
        time_to_first_token_ms: row.count_opt("time_to_first_token_ms")?,
        duration_ms: row.count("duration_ms")?,
        outcome: row.word("outcome", Outcome::parse)?,
        attempts: small("attempts")?,
        audit_id: row.string_opt("audit_id")?,
        simulated: row.flag("simulated")?,
        filter: read_filter(row)?,
        route: row.json_opt("route_record")?,
        max_tokens_lowered: row
            .count_opt("max_tokens_lowered")?
            .map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX)),
        provider_key: read_provider_key(row)?,
        assumed: read_assumed(row)?,
        session: row.string_opt("session_id")?,
    })
}

fn read_provider_key(row: &Row) -> Result<Option<ProviderKeyUse>, StorageError> {
    let Some(id) = row.text_opt("provider_key_id")? else { return Ok(None) };
    let billed_by = row.word_opt("billed_by", BilledBy::parse)?.unwrap_or(BilledBy::Provider);
    let counts = row.count_opt("uncounted_cost")?.is_none();
    Ok(Some(ProviderKeyUse { id, billed_by, counts }))
}

pub(crate) fn read_assumed(row: &Row) -> Result<Assumed, StorageError> {
    let tokens = row.count_opt("assumed_tokens")?.unwrap_or(0);
    Ok(Assumed { tokens, cost: PicoUsd(row.count_opt("assumed_cost")?.unwrap_or(0)) })
}

/// What the filter did, as the database keeps it: JSON text, nothing where there is nothing to tell.
fn filter_to_db(filter: &FilterRecord) -> Option<String> {
    (!filter.is_quiet()).then(|| serde_json::to_string(filter).ok()).flatten()
}

fn read_filter(row: &Row) -> Result<FilterRecord, StorageError> {
    let action = row.word("filter_action", FilterAction::parse)?;
    let told = row.json_opt("filter_record")?;
    Ok(told.unwrap_or(FilterRecord { action, ..FilterRecord::default() }))
}

/// The five classes of tokens, which records and sums keep in columns of the same names.
pub(crate) fn read_tokens(row: &Row) -> Result<Usage, StorageError> {
    Ok(Usage {
        uncached_input: row.count("uncached_input")?,
        cache_read: row.count("cache_read")?,
        cache_write: row.count("cache_write")?,
        output: row.count("output")?,
        reasoning: row.count("reasoning")?,
    })
}
