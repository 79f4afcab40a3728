//! Accounts: who pays, and what holds for all keys of one.

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_core::key::AccountTier;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;

use crate::changes;
use crate::database::{Row, Target, Value, insert_one, sql, update_one};
use crate::error::StorageError;
use crate::open::Store;

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
}

/// Where accounts are kept: the identity first, then everything else.
const TABLE: (&str, &[&str]) = (
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
    ],
);

impl Store {
    /// Adds an account. Its id and name must be new.
    pub async fn insert_account(&self, account: &AccountRecord) -> Result<(), StorageError> {
        const DOING: &str = "create the account";
        let mut tx = self.begin_write(DOING).await?;
        insert_one(&mut tx, TABLE, values(account)).await.map_err(refused(DOING))?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit(DOING).await?;
        self.sync(DOING).await
    }

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
        find(self.database(), id, "read the account").await
    }

    /// Writes what may change about an account: everything but its id and its creation.
    ///
    /// `false`: the account is not as `old` says any more, or there is none; nothing changes.
    pub async fn change_account(
        &self,
        old: &AccountRecord,
        new: &AccountRecord,
    ) -> Result<bool, StorageError> {
        const DOING: &str = "change the account";
        let mut tx = self.begin_write(DOING).await?;
        if find(&mut tx, &old.id, DOING).await?.as_ref() != Some(old) {
            tx.rollback(DOING).await?;
            return Ok(false);
        }
        let new = AccountRecord { id: old.id.clone(), created_at: old.created_at, ..new.clone() };
        update_one(&mut tx, TABLE, values(&new)).await.map_err(refused(DOING))?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit(DOING).await?;
        self.sync(DOING).await?;
        Ok(true)
    }
}

async fn find<'c>(
    on: impl Into<Target<'c>>,
    id: &AccountId,
    doing: &'static str,
) -> Result<Option<AccountRecord>, StorageError> {
    sql("SELECT * FROM accounts WHERE id = $1")
        .bind(id.as_str())
        .fetch_optional(on)
        .await
        .map_err(StorageError::database(doing))?
        .as_ref()
        .map(read)
        .transpose()
}

/// A name that another account has is the only thing that the database itself refuses.
fn refused(doing: &'static str) -> impl FnOnce(sqlx::Error) -> StorageError {
    move |source| match source.as_database_error() {
        Some(error) if error.is_unique_violation() => {
            StorageError::Exists { what: "an account of this name" }
        }
        _ => StorageError::Database { doing, source },
    }
}

/// In the order of [`TABLE`].
fn values(account: &AccountRecord) -> Vec<Value> {
    vec![
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
    ]
}

fn read(row: &Row) -> Result<AccountRecord, StorageError> {
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
    })
}
