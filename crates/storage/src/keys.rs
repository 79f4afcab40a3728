//! Service keys: everything about a key but the key itself.

use serde::Serialize;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, KeyId};
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;

use crate::changes;
use crate::database::{Row, Target, Value, insert_one, sql, update_one};
use crate::error::StorageError;
use crate::master_key::KeyHash;
use crate::open::Store;

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

/// Where keys are kept: the identity first, then everything else.
const TABLE: (&str, &[&str]) = (
    "service_keys",
    &[
        "id",
        "account_id",
        "name",
        "prefix",
        "hash",
        "class",
        "models",
        "regions",
        "region",
        "minimum_level",
        "zero_retention",
        "audit",
        "max_tokens",
        "requests_per_hour",
        "tokens_per_day",
        "owner",
        "created_at",
        "expires_at",
        "revoked_at",
        "replaced_by",
    ],
);

impl Store {
    /// Adds a key.
    pub async fn insert_key(&self, key: &KeyRecord) -> Result<(), StorageError> {
        const DOING: &str = "create the key";
        let mut tx = self.begin_write(DOING).await?;
        insert_one(&mut tx, TABLE, values(key)).await.map_err(refused(DOING))?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit(DOING).await?;
        self.sync(DOING).await
    }

    /// Adds a key in place of another, which then expires; both or neither.
    ///
    /// `false`: there is no such key any more, since it was revoked or replaced meanwhile.
    pub async fn replace_key(&self, replacement: Replacement<'_>) -> Result<bool, StorageError> {
        const DOING: &str = "rotate the key";
        let mut tx = self.begin_write(DOING).await?;
        insert_one(&mut tx, TABLE, values(replacement.new)).await.map_err(refused(DOING))?;
        let replaced = sql("UPDATE service_keys SET replaced_by = $1, expires_at = $2 \
             WHERE id = $3 AND replaced_by IS NULL AND revoked_at IS NULL")
        .bind(replacement.new.id.as_str())
        .bind(replacement.old_expires_at)
        .bind(replacement.old.as_str())
        .execute(&mut tx)
        .await
        .map_err(StorageError::database(DOING))?;
        if replaced == 0 {
            tx.rollback(DOING).await?;
            return Ok(false);
        }
        changes::bump(&mut tx, DOING).await?;
        tx.commit(DOING).await?;
        self.sync(DOING).await?;
        Ok(true)
    }

    /// All keys, also those that no longer work, in the order of their creation.
    pub async fn keys(&self) -> Result<Vec<KeyRecord>, StorageError> {
        sql("SELECT * FROM service_keys ORDER BY created_at, id")
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database("list the keys"))?
            .iter()
            .map(read)
            .collect()
    }

    /// The key with this id.
    pub async fn key(&self, id: &KeyId) -> Result<Option<KeyRecord>, StorageError> {
        find(self.database(), id, "read the key").await
    }

    /// The key with this hash: one that a caller presents.
    pub async fn key_of_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StorageError> {
        sql("SELECT * FROM service_keys WHERE hash = $1")
            .bind(hash.to_hex())
            .fetch_optional(self.database())
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
        let revoked =
            sql("UPDATE service_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL")
                .bind(at)
                .bind(id.as_str())
                .execute(&mut tx)
                .await
                .map_err(StorageError::database(DOING))?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit(DOING).await?;
        self.sync(DOING).await?;
        Ok(revoked > 0)
    }

    /// Writes what may change about a key. Its secret, its creation, its revocation and what
    /// replaced it stay.
    ///
    /// `false`: the key is not as `old` says any more, or there is none; nothing changes.
    pub async fn change_key(&self, old: &KeyRecord, new: &KeyRecord) -> Result<bool, StorageError> {
        const DOING: &str = "change the key";
        let mut tx = self.begin_write(DOING).await?;
        if find(&mut tx, &old.id, DOING).await?.as_ref() != Some(old) {
            tx.rollback(DOING).await?;
            return Ok(false);
        }
        let old = old.clone();
        let new = KeyRecord {
            id: old.id,
            prefix: old.prefix,
            hash: old.hash,
            created_at: old.created_at,
            revoked_at: old.revoked_at,
            replaced_by: old.replaced_by,
            ..new.clone()
        };
        update_one(&mut tx, TABLE, values(&new)).await.map_err(refused(DOING))?;
        changes::bump(&mut tx, DOING).await?;
        tx.commit(DOING).await?;
        self.sync(DOING).await?;
        Ok(true)
    }
}

async fn find<'c>(
    on: impl Into<Target<'c>>,
    id: &KeyId,
    doing: &'static str,
) -> Result<Option<KeyRecord>, StorageError> {
    sql("SELECT * FROM service_keys WHERE id = $1")
        .bind(id.as_str())
        .fetch_optional(on)
        .await
        .map_err(StorageError::database(doing))?
        .as_ref()
        .map(read)
        .transpose()
}

fn refused(doing: &'static str) -> impl FnOnce(sqlx::Error) -> StorageError {
    move |source| match source.as_database_error() {
        Some(error) if error.is_unique_violation() => StorageError::Exists { what: "such a key" },
        _ => StorageError::Database { doing, source },
    }
}

/// In the order of [`TABLE`].
fn values(key: &KeyRecord) -> Vec<Value> {
    vec![
        key.id.as_str().into(),
        key.account_id.as_str().into(),
        (&key.name).into(),
        (&key.prefix).into(),
        key.hash.to_hex().into(),
        key.class.as_str().into(),
        list_to_db(key.models.as_ref()).into(),
        list_to_db(key.regions.as_ref()).into(),
        key.region.map(Region::as_str).into(),
        key.minimum_level.as_str().into(),
        key.zero_retention.into(),
        key.audit.into(),
        key.max_tokens.as_str().into(),
        key.requests_per_hour.into(),
        key.tokens_per_day.into(),
        (&key.owner).into(),
        key.created_at.into(),
        key.expires_at.into(),
        key.revoked_at.into(),
        key.replaced_by.as_ref().map(KeyId::as_str).into(),
    ]
}

/// A list as the database keeps it: JSON text.
fn list_to_db<T: Serialize>(list: Option<&Vec<T>>) -> Option<String> {
    list.and_then(|list| serde_json::to_string(list).ok())
}

fn read(row: &Row) -> Result<KeyRecord, StorageError> {
    Ok(KeyRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        name: row.string("name")?,
        prefix: row.string("prefix")?,
        hash: KeyHash::from_hex(&row.string("hash")?)
            .ok_or_else(|| StorageError::Unreadable { column: "hash", value: "***".to_owned() })?,
        class: row.word("class", KeyClass::parse)?,
        models: row.json_opt("models")?,
        regions: row.json_opt("regions")?,
        region: row.word_opt("region", Region::parse)?,
        minimum_level: row.word("minimum_level", SecurityLevel::parse)?,
        zero_retention: row.flag("zero_retention")?,
        audit: row.flag("audit")?,
        max_tokens: row.word("max_tokens", MaxTokensBound::parse)?,
        requests_per_hour: row.count_opt("requests_per_hour")?,
        tokens_per_day: row.count_opt("tokens_per_day")?,
        owner: row.string_opt("owner")?,
        created_at: row.moment("created_at")?,
        expires_at: row.moment_opt("expires_at")?,
        revoked_at: row.moment_opt("revoked_at")?,
        replaced_by: row.text_opt("replaced_by")?,
    })
}
