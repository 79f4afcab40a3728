//! Sums a day and key: what remains of a request once its record is gone, and all there
//! ever is of a request in zero-retention mode.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, DepartmentId, KeyId, ModelId, TeamId};
use sluice_core::money::PicoUsd;
use sluice_core::organisation::{Attribution, Holder};
use sluice_core::usage::Usage;

use crate::assumed::Assumed;
use crate::attribution::{self, holder};
use crate::database::{Transaction, add_saturating, insert_many, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::usage::{UsageRecord, picos, read_tokens};
use crate::windows::{DAY_SECONDS, Used, window_start};

/// Usage without a request's identity: what zero-retention mode writes in place of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSum {
    /// The key.
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
    /// The quarter of an hour, in seconds since the Unix epoch. Nothing finer is kept. Earlier
    /// versions kept the full hour under that name.
    #[serde(alias = "hour")]
    pub quarter: u64,
    /// The model that answered; `None` where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// How many requests.
    pub requests: u64,
    /// Their tokens.
    pub usage: Usage,
    /// What they cost; `None` where the price is not known. In JSON: whole pico-dollars.
    #[serde(default, with = "picos", skip_serializing_if = "Option::is_none")]
    pub cost: Option<PicoUsd>,
    /// What of that budgets do not count: see [`UsageRecord::uncounted_cost`].
    #[serde(default, with = "picos", skip_serializing_if = "Option::is_none")]
    pub uncounted_cost: Option<PicoUsd>,
    /// What limits count on top of tokens and cost.
    #[serde(default, skip_serializing_if = "Assumed::is_nothing")]
    pub assumed: Assumed,
}

impl UsageSum {
    /// What limits count of them.
    pub(crate) fn counted(&self) -> Used {
        let cost = self.cost.unwrap_or_default().minus(self.uncounted_cost.unwrap_or_default());
        Used {
            requests: self.requests,
            tokens: self.usage.total_tokens().saturating_add(self.assumed.tokens),
            cost: cost.plus(self.assumed.cost),
        }
    }

    /// The beginning of its quarter.
    pub(crate) fn moment(&self) -> UnixMillis {
        UnixMillis(self.quarter.saturating_mul(1000))
    }

    /// Whose it was.
    pub(crate) fn attribution(&self) -> Attribution {
        Attribution {
            account: self.account_id.clone(),
            department: self.department_id.clone(),
            team: self.team_id.clone(),
            holder: self.holder.clone(),
            key: self.key_id.clone(),
        }
    }
}

/// What a key used on a day (UTC).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DaySum {
    /// The day's first second, in seconds since the Unix epoch.
    pub day: u64,
    /// The key.
    pub key_id: KeyId,
    /// Its account.
    pub account_id: AccountId,
    /// Its department at that time.
    pub department_id: Option<DepartmentId>,
    /// Its team at that time.
    pub team_id: Option<TeamId>,
    /// Its person or service at that time.
    #[serde(serialize_with = "holder::serialize")]
    pub holder: Option<Holder>,
    /// How many requests were answered.
    pub requests: u64,
    /// Their tokens.
    pub usage: Usage,
    /// What they cost, without those that have no known price. In JSON: whole pico-dollars.
    #[serde(serialize_with = "whole_picos")]
    pub cost: PicoUsd,
    /// How many of them have no known price.
    pub unpriced_requests: u64,
}

fn whole_picos<S: serde::Serializer>(cost: &PicoUsd, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(cost.0)
}

impl Store {
    /// The sums of the days from `since` to before `until`, in the order of days.
    pub async fn usage_sums(
        &self,
        since: UnixMillis,
        until: UnixMillis,
    ) -> Result<Vec<DaySum>, StorageError> {
        sql("SELECT * FROM usage_sums WHERE day >= $1 AND day < $2 \
             ORDER BY day, account_id, key_id, team_id, department_id, holder")
        .bind(window_start(since, DAY_SECONDS))
        .bind(until.seconds())
        .fetch_all(self.database())
        .await
        .map_err(StorageError::database("read the sums of usage"))?
        .iter()
        .map(|row| {
            let whose = attribution::read(row)?;
            Ok(DaySum {
                day: row.count("day")?,
                key_id: whose.key,
                account_id: whose.account,
                department_id: whose.department,
                team_id: whose.team,
                holder: whose.holder,
                requests: row.count("requests")?,
                usage: read_tokens(row)?,
                cost: PicoUsd(row.count("cost")?),
                unpriced_requests: row.count("unpriced_requests")?,
            })
        })
        .collect()
    }
}

/// What a batch of records adds to the sums.
#[derive(Debug, Default)]
pub(crate) struct SumAdditions(BTreeMap<(u64, Attribution), Totals>);

#[derive(Debug, Default)]
struct Totals {
    requests: u64,
    usage: Usage,
    cost: PicoUsd,
    unpriced_requests: u64,
    uncounted_cost: PicoUsd,
    assumed: Assumed,
}

impl SumAdditions {
    /// Counts one record.
    pub(crate) fn count_record(&mut self, record: &UsageRecord) {
        let day = window_start(record.started_at, DAY_SECONDS);
        let costs = (record.cost, record.uncounted_cost(), record.assumed);
        self.add((day, record.attribution()), 1, &record.usage, costs);
    }

    /// Counts a sum.
    pub(crate) fn count_sum(&mut self, sum: &UsageSum) {
        let day = window_start(sum.moment(), DAY_SECONDS);
        let costs = (sum.cost, sum.uncounted_cost, sum.assumed);
        self.add((day, sum.attribution()), sum.requests, &sum.usage, costs);
    }

    fn add(
        &mut self,
        key: (u64, Attribution),
        requests: u64,
        usage: &Usage,
        (cost, uncounted, assumed): (Option<PicoUsd>, Option<PicoUsd>, Assumed),
    ) {
        let totals = self.0.entry(key).or_default();
        totals.requests = totals.requests.saturating_add(requests);
        let sum = &mut totals.usage;
        sum.uncached_input = sum.uncached_input.saturating_add(usage.uncached_input);
        sum.cache_read = sum.cache_read.saturating_add(usage.cache_read);
        sum.cache_write = sum.cache_write.saturating_add(usage.cache_write);
        sum.output = sum.output.saturating_add(usage.output);
        sum.reasoning = sum.reasoning.saturating_add(usage.reasoning);
        totals.uncounted_cost = totals.uncounted_cost.plus(uncounted.unwrap_or_default());
        totals.assumed = totals.assumed.plus(assumed);
        match cost {
            Some(cost) => totals.cost = totals.cost.plus(cost),
            None => totals.unpriced_requests = totals.unpriced_requests.saturating_add(requests),
        }
    }

    /// Adds everything to the database.
    pub(crate) async fn store(&self, tx: &mut Transaction) -> Result<(), StorageError> {
        let added = COLUMNS[IDENTITY..].iter().map(|column| add_saturating("usage_sums", column));
        let conflict = format!(
            " ON CONFLICT ({}) DO UPDATE SET {}",
            COLUMNS[..IDENTITY].join(", "),
            added.collect::<Vec<_>>().join(", ")
        );
        let rows = self.0.iter().map(|((day, whose), totals)| {
            let mut row = vec![(*day).into()];
            row.extend(attribution::values(whose));
            row.extend([
                totals.requests.into(),
                totals.usage.uncached_input.into(),
                totals.usage.cache_read.into(),
                totals.usage.cache_write.into(),
                totals.usage.output.into(),
                totals.usage.reasoning.into(),
                totals.cost.0.into(),
                totals.unpriced_requests.into(),
                totals.uncounted_cost.0.into(),
                totals.assumed.tokens.into(),
                totals.assumed.cost.0.into(),
            ]);
            row
        });
        insert_many(tx, ("usage_sums", &COLUMNS), &conflict, rows.collect(), |_, _| {})
            .await
            .map_err(StorageError::database("add to the sums of usage"))
    }
}

/// How many columns say what is added up.
const IDENTITY: usize = 6;

/// Those, and the figures that are added up.
const COLUMNS: [&str; 17] = [
    "day",
    "account_id",
    "department_id",
    "team_id",
    "holder",
    "key_id",
    "requests",
    "uncached_input",
    "cache_read",
    "cache_write",
    "output",
    "reasoning",
    "cost",
    "unpriced_requests",
    "uncounted_cost",
    "assumed_tokens",
    "assumed_cost",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_an_earlier_version_is_read_by_its_hour() {
        let old = r#"{"key_id":"k","account_id":"a","hour":7200,"requests":1,"usage":{
            "uncached_input":0,"cache_read":0,"cache_write":0,"output":4,"reasoning":0}}"#;
        let sum: UsageSum = serde_json::from_str(old).unwrap();
        assert_eq!((sum.quarter, sum.model.clone(), sum.attribution().team), (7200, None, None));
        let whose =
            UsageSum { holder: Holder::parse("person:p"), team_id: Some("t".into()), ..sum };
        let text = serde_json::to_string(&whose).unwrap();
        assert!(text.contains(r#""holder":"person:p""#) && text.contains(r#""quarter":7200"#));
        assert_eq!(serde_json::from_str::<UsageSum>(&text).unwrap(), whose);
    }
}
