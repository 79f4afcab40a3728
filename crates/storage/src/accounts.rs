//! Accounts: who pays, and what holds for all keys of one.

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_core::key::AccountTier;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;

use crate::database::{Row, Value, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::organisation::{Suspension, read_suspension, suspension_values};

/// An account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountRecord {
    /// Its id.
    pub id: AccountId,
    /// Its name; no other account may have it.
    pub name: String,
    /// Sets limits for all its keys together, and its model suite.
    pub tier: AccountTier,
    /// When it was made.
    pub created_at: UnixMillis,
    /// Requests an hour; `None`: the tier's.
    pub requests_per_hour: Option<u64>,
    /// Tokens a day; `None`: the tier's.
    pub tokens_per_day: Option<u64>,
    /// Requests at once; `None`: the tier's.
    pub concurrent_requests: Option<u64>,
    /// Where its requests are processed when neither request nor key says.
    pub region: Option<Region>,
    /// The mildest level that its requests may have.
    pub minimum_level: SecurityLevel,
    /// Whether nothing about its requests is stored.
    pub zero_retention: bool,
    /// Whether each of its requests leaves an audit entry.
    pub audit: bool,
    /// Whether all its keys are suspended.
    #[serde(default)]
    pub suspended: Option<Suspension>,
}

/// Where accounts are kept: the identity first, then everything else.
pub(crate) const ACCOUNTS: (&str, &[&str]) = (
    "accounts",
    &[
        "id",
        "name",
        "tier",
        "created_at",
        "requests_per_hour",
        "tokens_per_day",
        "concurrent_requests",
        "region",
        "minimum_level",
        "zero_retention",
        "audit",
        "suspended_at",
        "suspended_reason",
        "changed",
    ],
);

impl Store {
    /// All accounts, in the order of their creation.
    pub async fn accounts(&self) -> Result<Vec<AccountRecord>, StorageError> {
        sql("SELECT * FROM accounts ORDER BY created_at, id")
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database("list the accounts"))?
            .iter()
            .map(read)
            .collect()
    }

    /// The account with this id.
    pub async fn account(&self, id: &AccountId) -> Result<Option<AccountRecord>, StorageError> {
        sql("SELECT * FROM accounts WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(self.database())
            .await
            .map_err(StorageError::database("read the account"))?
            .as_ref()
            .map(read)
            .transpose()
    }
}

/// In the order of [`ACCOUNTS`], without the last.
pub(crate) fn account_values(account: &AccountRecord) -> Vec<Value> {
    let mut values = vec![
        account.id.as_str().into(),
        (&account.name).into(),
        account.tier.as_str().into(),
        account.created_at.into(),
        account.requests_per_hour.into(),
        account.tokens_per_day.into(),
        account.concurrent_requests.into(),
        account.region.map(Region::as_str).into(),
        account.minimum_level.as_str().into(),
        account.zero_retention.into(),
        account.audit.into(),
    ];
    values.extend(suspension_values(account.suspended.as_ref()));
    values
}

pub(crate) fn read(row: &Row) -> Result<AccountRecord, StorageError> {
    Ok(AccountRecord {
        id: row.text("id")?,
        name: row.string("name")?,
        tier: row.word("tier", AccountTier::parse)?,
        created_at: row.moment("created_at")?,
        requests_per_hour: row.count_opt("requests_per_hour")?,
        tokens_per_day: row.count_opt("tokens_per_day")?,
        concurrent_requests: row.count_opt("concurrent_requests")?,
        region: row.word_opt("region", Region::parse)?,
        minimum_level: row.word("minimum_level", SecurityLevel::parse)?,
        zero_retention: row.flag("zero_retention")?,
        audit: row.flag("audit")?,
        suspended: read_suspension(row)?,
    })
}
