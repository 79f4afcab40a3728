//! Service keys: everything about a key but the key itself.

use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, KeyId};
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::changes;
use crate::error::StorageError;
use crate::master_key::KeyHash;
use crate::open::Store;
use crate::row::{Columns, list_to_db, to_db, to_db_opt};

/// A service key's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id: what records and commands name it by.
    pub id: KeyId,
    /// Whose key it is.
    pub account_id: AccountId,
    /// What people call it.
    pub name: String,
    /// Its first characters, for display.
    pub prefix: String,
    /// Its keyed hash. Never printed.
    pub hash: KeyHash,
    /// Sets its requests an hour and tokens a day.
    pub class: KeyClass,
    /// The models it may ask for; `None`: every model of its account.
    pub models: Option<Vec<String>>,
    /// The regions it may ask for; `None`: every region.
    pub regions: Option<Vec<Region>>,
    /// Where its requests are processed when they do not say.
    pub region: Option<Region>,
    /// The mildest level that its requests may have.
    pub minimum_level: SecurityLevel,
    /// Whether nothing about its requests is stored.
    pub zero_retention: bool,
    /// Whether each of its requests leaves an audit entry.
    pub audit: bool,
    /// What bounds `max_tokens`.
    pub max_tokens: MaxTokensBound,
    /// Requests an hour; `None`: the class's.
    pub requests_per_hour: Option<u64>,
    /// Tokens a day; `None`: the class's.
    pub tokens_per_day: Option<u64>,
    /// The person, team or department that is responsible for it.
    pub owner: Option<String>,
    /// When it was made.
    pub created_at: UnixMillis,
    /// From when on it no longer works.
    pub expires_at: Option<UnixMillis>,
    /// When it was revoked.
    pub revoked_at: Option<UnixMillis>,
    /// The key that a rotation put in its place.
    pub replaced_by: Option<KeyId>,
}

impl KeyRecord {
    /// Whether the key works at `now`.
    pub fn is_valid_at(&self, now: UnixMillis) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expiry| now < expiry)
    }
}

/// A rotation: a key is replaced by a new one and works on for a while.
#[derive(Debug)]
pub struct Replacement<'a> {
    /// The key that is replaced.
    pub old: &'a KeyId,
    /// From when on it no longer works.
    pub old_expires_at: UnixMillis,
    /// The key in its place.
    pub new: &'a KeyRecord,
}

impl Store {
    /// Adds a key.
    pub async fn insert_key(&self, key: &KeyRecord) -> Result<(), StorageError> {
        const DOING: &str = "create the key";
        let mut tx = self.begin_write(DOING).await?;
        insert(&mut tx, key, DOING).await?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit().await.map_err(StorageError::database(DOING))?;
        self.sync(DOING).await
    }

    /// Adds a key in place of another, which then expires; both or neither.
    ///
    /// `false`: there is no such key any more, since it was revoked or replaced meanwhile.
    pub async fn replace_key(&self, replacement: Replacement<'_>) -> Result<bool, StorageError> {
        const DOING: &str = "rotate the key";
        let mut tx = self.begin_write(DOING).await?;
        insert(&mut tx, replacement.new, DOING).await?;
        let done = sqlx::query(
            "UPDATE service_keys SET replaced_by = $1, expires_at = $2 \
             WHERE id = $3 AND replaced_by IS NULL AND revoked_at IS NULL",
        )
        .bind(replacement.new.id.as_str())
        .bind(to_db(replacement.old_expires_at.0))
        .bind(replacement.old.as_str())
        .execute(&mut *tx)
        .await
        .map_err(StorageError::database(DOING))?;
        if done.rows_affected() == 0 {
            tx.rollback().await.map_err(StorageError::database(DOING))?;
            return Ok(false);
        }
        changes::bump(&mut tx, DOING).await?;
        tx.commit().await.map_err(StorageError::database(DOING))?;
        self.sync(DOING).await?;
        Ok(true)
    }

    /// All keys, also those that no longer work, in the order of their creation.
    pub async fn keys(&self) -> Result<Vec<KeyRecord>, StorageError> {
        sqlx::query("SELECT * FROM service_keys ORDER BY created_at, id")
            .fetch_all(self.pool())
            .await
            .map_err(StorageError::database("list the keys"))?
            .iter()
            .map(read)
            .collect()
    }

    /// The key with this id.
    pub async fn key(&self, id: &KeyId) -> Result<Option<KeyRecord>, StorageError> {
        sqlx::query("SELECT * FROM service_keys WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(self.pool())
            .await
            .map_err(StorageError::database("read the key"))?
            .as_ref()
            .map(read)
            .transpose()
    }

    /// The key with this hash: one that a caller presents.
    pub async fn key_of_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StorageError> {
        sqlx::query("SELECT * FROM service_keys WHERE hash = $1")
            .bind(hash.to_hex())
            .fetch_optional(self.pool())
            .await
            .map_err(StorageError::database("look up the key"))?
            .as_ref()
            .map(read)
            .transpose()
    }

    /// Revokes a key for good. `false` where there is no such key, or it is revoked already.
    pub async fn revoke_key(&self, id: &KeyId, at: UnixMillis) -> Result<bool, StorageError> {
        const DOING: &str = "revoke the key";
        let mut tx = self.begin_write(DOING).await?;
        let done = sqlx::query(
            "UPDATE service_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL",
        )
        .bind(to_db(at.0))
        .bind(id.as_str())
        .execute(&mut *tx)
        .await
        .map_err(StorageError::database(DOING))?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit().await.map_err(StorageError::database(DOING))?;
        self.sync(DOING).await?;
        Ok(done.rows_affected() > 0)
    }

    /// Writes what may change about a key. Its secret, its creation, its revocation and what
    /// replaced it stay.
    ///
    /// `false`: the key is not as `old` says any more, or there is none; nothing changes.
    pub async fn change_key(&self, old: &KeyRecord, new: &KeyRecord) -> Result<bool, StorageError> {
        const DOING: &str = "change the key";
        let mut tx = self.begin_write(DOING).await?;
        let found = sqlx::query("SELECT * FROM service_keys WHERE id = $1")
            .bind(old.id.as_str())
            .fetch_optional(&mut *tx)
            .await
            .map_err(StorageError::database(DOING))?;
        if found.as_ref().map(read).transpose()?.as_ref() != Some(old) {
            tx.rollback().await.map_err(StorageError::database(DOING))?;
            return Ok(false);
        }
        sqlx::query(
            "UPDATE service_keys SET account_id = $1, name = $2, class = $3, models = $4, \
             regions = $5, region = $6, minimum_level = $7, zero_retention = $8, audit = $9, \
             max_tokens = $10, requests_per_hour = $11, tokens_per_day = $12, owner = $13, \
             expires_at = $14 WHERE id = $15",
        )
        .bind(new.account_id.as_str())
        .bind(&new.name)
        .bind(new.class.as_str())
        .bind(list_to_db(new.models.as_ref()))
        .bind(list_to_db(new.regions.as_ref()))
        .bind(new.region.map(Region::as_str))
        .bind(new.minimum_level.as_str())
        .bind(new.zero_retention)
        .bind(new.audit)
        .bind(new.max_tokens.as_str())
        .bind(to_db_opt(new.requests_per_hour))
        .bind(to_db_opt(new.tokens_per_day))
        .bind(&new.owner)
        .bind(new.expires_at.map(|moment| to_db(moment.0)))
        .bind(old.id.as_str())
        .execute(&mut *tx)
        .await
        .map_err(StorageError::database(DOING))?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit().await.map_err(StorageError::database(DOING))?;
        self.sync(DOING).await?;
        Ok(true)
    }
}

async fn insert(
    tx: &mut SqliteConnection,
    key: &KeyRecord,
    doing: &'static str,
) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO service_keys (id, account_id, name, prefix, hash, class, models, regions, \
         region, minimum_level, zero_retention, audit, max_tokens, requests_per_hour, \
         tokens_per_day, owner, created_at, expires_at, revoked_at, replaced_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, \
         $19, $20)",
    )
    .bind(key.id.as_str())
    .bind(key.account_id.as_str())
    .bind(&key.name)
    .bind(&key.prefix)
    .bind(key.hash.to_hex())
    .bind(key.class.as_str())
    .bind(list_to_db(key.models.as_ref()))
    .bind(list_to_db(key.regions.as_ref()))
    .bind(key.region.map(Region::as_str))
    .bind(key.minimum_level.as_str())
    .bind(key.zero_retention)
    .bind(key.audit)
    .bind(key.max_tokens.as_str())
    .bind(to_db_opt(key.requests_per_hour))
    .bind(to_db_opt(key.tokens_per_day))
    .bind(&key.owner)
    .bind(to_db(key.created_at.0))
    .bind(key.expires_at.map(|moment| to_db(moment.0)))
    .bind(key.revoked_at.map(|moment| to_db(moment.0)))
    .bind(key.replaced_by.as_ref().map(KeyId::as_str))
    .execute(tx)
    .await
    .map_err(|source| match source.as_database_error() {
        Some(error) if error.is_unique_violation() => StorageError::Exists { what: "such a key" },
        _ => StorageError::Database { doing, source },
    })?;
    Ok(())
}

fn read(row: &SqliteRow) -> Result<KeyRecord, StorageError> {
    let row = Columns(row);
    Ok(KeyRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        name: row.plain("name")?,
        prefix: row.plain("prefix")?,
        hash: KeyHash::from_hex(&row.plain::<String>("hash")?)
            .ok_or_else(|| StorageError::Unreadable { column: "hash", value: "***".to_owned() })?,
        class: row.word("class", KeyClass::parse)?,
        models: row.list("models")?,
        regions: row.list("regions")?,
        region: row.word_opt("region", Region::parse)?,
        minimum_level: row.word("minimum_level", SecurityLevel::parse)?,
        zero_retention: row.plain("zero_retention")?,
        audit: row.plain("audit")?,
        max_tokens: row.word("max_tokens", MaxTokensBound::parse)?,
        requests_per_hour: row.count_opt("requests_per_hour")?,
        tokens_per_day: row.count_opt("tokens_per_day")?,
        owner: row.plain("owner")?,
        created_at: row.moment("created_at")?,
        expires_at: row.moment_opt("expires_at")?,
        revoked_at: row.moment_opt("revoked_at")?,
        replaced_by: row.text_opt("replaced_by")?,
    })
}
