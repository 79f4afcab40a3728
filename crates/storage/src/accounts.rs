//! Accounts: who pays, and what holds for all keys of one.

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_core::key::AccountTier;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sqlx::sqlite::SqliteRow;

use crate::changes;
use crate::error::StorageError;
use crate::open::Store;
use crate::row::{Columns, to_db, to_db_opt};

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

impl Store {
    /// Adds an account. Its id and name must be new.
    pub async fn insert_account(&self, account: &AccountRecord) -> Result<(), StorageError> {
        const DOING: &str = "create the account";
        let mut tx = self.begin_write(DOING).await?;
        sqlx::query(
            "INSERT INTO accounts (id, name, tier, created_at, requests_per_hour, tokens_per_day, \
             concurrent_requests, region, minimum_level, zero_retention, audit) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(account.id.as_str())
        .bind(&account.name)
        .bind(account.tier.as_str())
        .bind(to_db(account.created_at.0))
        .bind(to_db_opt(account.requests_per_hour))
        .bind(to_db_opt(account.tokens_per_day))
        .bind(to_db_opt(account.concurrent_requests))
        .bind(account.region.map(Region::as_str))
        .bind(account.minimum_level.as_str())
        .bind(account.zero_retention)
        .bind(account.audit)
        .execute(&mut *tx)
        .await
        .map_err(refused(DOING))?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit().await.map_err(StorageError::database(DOING))?;
        self.sync(DOING).await
    }

    /// All accounts, in the order of their creation.
    pub async fn accounts(&self) -> Result<Vec<AccountRecord>, StorageError> {
        sqlx::query("SELECT * FROM accounts ORDER BY created_at, id")
            .fetch_all(self.pool())
            .await
            .map_err(StorageError::database("list the accounts"))?
            .iter()
            .map(read)
            .collect()
    }

    /// The account with this id.
    pub async fn account(&self, id: &AccountId) -> Result<Option<AccountRecord>, StorageError> {
        sqlx::query("SELECT * FROM accounts WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(self.pool())
            .await
            .map_err(StorageError::database("read the account"))?
            .as_ref()
            .map(read)
            .transpose()
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
        let found = sqlx::query("SELECT * FROM accounts WHERE id = $1")
            .bind(old.id.as_str())
            .fetch_optional(&mut *tx)
            .await
            .map_err(StorageError::database(DOING))?;
        if found.as_ref().map(read).transpose()?.as_ref() != Some(old) {
            tx.rollback().await.map_err(StorageError::database(DOING))?;
            return Ok(false);
        }
        sqlx::query(
            "UPDATE accounts SET name = $1, tier = $2, requests_per_hour = $3, \
             tokens_per_day = $4, concurrent_requests = $5, region = $6, minimum_level = $7, \
             zero_retention = $8, audit = $9 WHERE id = $10",
        )
        .bind(&new.name)
        .bind(new.tier.as_str())
        .bind(to_db_opt(new.requests_per_hour))
        .bind(to_db_opt(new.tokens_per_day))
        .bind(to_db_opt(new.concurrent_requests))
        .bind(new.region.map(Region::as_str))
        .bind(new.minimum_level.as_str())
        .bind(new.zero_retention)
        .bind(new.audit)
        .bind(old.id.as_str())
        .execute(&mut *tx)
        .await
        .map_err(refused(DOING))?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit().await.map_err(StorageError::database(DOING))?;
        self.sync(DOING).await?;
        Ok(true)
    }
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

fn read(row: &SqliteRow) -> Result<AccountRecord, StorageError> {
    let row = Columns(row);
    Ok(AccountRecord {
        id: row.text("id")?,
        name: row.plain("name")?,
        tier: row.word("tier", AccountTier::parse)?,
        created_at: row.moment("created_at")?,
        requests_per_hour: row.count_opt("requests_per_hour")?,
        tokens_per_day: row.count_opt("tokens_per_day")?,
        concurrent_requests: row.count_opt("concurrent_requests")?,
        region: row.word_opt("region", Region::parse)?,
        minimum_level: row.word("minimum_level", SecurityLevel::parse)?,
        zero_retention: row.plain("zero_retention")?,
        audit: row.plain("audit")?,
    })
}
