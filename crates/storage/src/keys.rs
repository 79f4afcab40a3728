//! Service keys, and beside them their secrets: a key keeps its id, settings and history when its
//! secret is changed.

use std::collections::HashMap;

use serde::Serialize;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, KeyId, TeamId};
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::organisation::{Holder, KeyScope};
use sluice_core::region::Region;

use crate::attribution::holder;
use crate::database::{Row, Transaction, Value, sql};
use crate::error::StorageError;
use crate::master_key::KeyHash;
use crate::open::Store;
use crate::organisation::{Suspension, Which, read_suspension, suspension_values};

/// A service key's record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyRecord {
    /// Its id: what records and commands name it by.
    pub id: KeyId,
    /// Whose key it is.
    pub account_id: AccountId,
    /// What people call it.
    pub name: String,
    /// Its team; `None`: it belongs to the account.
    pub team_id: Option<TeamId>,
    /// The person or service that it belongs to.
    #[serde(serialize_with = "holder::serialize")]
    pub holder: Option<Holder>,
    /// What it may do.
    pub scopes: Vec<KeyScope>,
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
    /// A note of who is responsible, from versions that knew no people.
    pub owner: Option<String>,
    /// When it was made.
    pub created_at: UnixMillis,
    /// From when on it no longer works.
    pub expires_at: Option<UnixMillis>,
    /// When it was revoked.
    pub revoked_at: Option<UnixMillis>,
    /// Whether it is suspended itself.
    pub suspended: Option<Suspension>,
    /// All its secrets, in the order of their creation.
    pub secrets: Vec<SecretRecord>,
}

/// What a caller presents for a key: everything about it but itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretRecord {
    /// Its keyed hash. Never printed.
    #[serde(skip)]
    pub hash: KeyHash,
    /// Its first characters, for display.
    pub prefix: String,
    /// When it was made.
    pub created_at: UnixMillis,
    /// From when on it no longer works.
    pub expires_at: Option<UnixMillis>,
    /// When it was revoked.
    pub revoked_at: Option<UnixMillis>,
}

impl SecretRecord {
    /// Whether it works at `now`, as long as its key does.
    pub fn is_valid_at(&self, now: UnixMillis) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expiry| now < expiry)
    }
}

impl KeyRecord {
    /// Whether the key works at `now`. Whether what it belongs to is suspended is for
    /// [`Organisation::suspension`](crate::Organisation::suspension) to say.
    pub fn is_valid_at(&self, now: UnixMillis) -> bool {
        self.revoked_at.is_none()
            && self.suspended.is_none()
            && self.expires_at.is_none_or(|expiry| now < expiry)
            && self.secrets.iter().any(|secret| secret.is_valid_at(now))
    }

    /// Whether it may do this.
    pub fn has(&self, scope: KeyScope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Its newest secret.
    pub fn newest_secret(&self) -> Option<&SecretRecord> {
        self.secrets.last()
    }

    /// The first characters of its newest secret.
    pub fn prefix(&self) -> &str {
        self.newest_secret().map_or("", |secret| &secret.prefix)
    }
}

/// Where keys are kept: the identity first, then everything else.
pub(crate) const KEYS: (&str, &[&str]) = (
    "keys",
    &[
        "id",
        "account_id",
        "name",
        "team_id",
        "holder",
        "scopes",
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
        "suspended_at",
        "suspended_reason",
        "changed",
    ],
);

/// Where their secrets are kept.
pub(crate) const SECRETS: (&str, &[&str]) =
    ("key_secrets", &["hash", "key_id", "prefix", "created_at", "expires_at", "revoked_at"]);

impl Store {
    /// Whether there is any key, working or not.
    pub async fn has_keys(&self) -> Result<bool, StorageError> {
        let found = sql("SELECT 1 FROM keys LIMIT 1").fetch_optional(self.database()).await;
        Ok(found.map_err(StorageError::database("look for keys"))?.is_some())
    }

    /// The key with this id.
    pub async fn key(&self, id: &KeyId) -> Result<Option<KeyRecord>, StorageError> {
        const DOING: &str = "read the key";
        let mut tx = self.begin_read(DOING).await?;
        Ok(read_all(&mut tx, Which::Id(id.as_str()), DOING).await?.pop())
    }

    /// The key with this secret: one that a caller presents.
    pub async fn key_of_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StorageError> {
        let condition = "id IN (SELECT key_id FROM key_secrets WHERE hash = $1)";
        let mut found = self.keys_where(condition, hash.to_hex()).await?;
        Ok(found.pop())
    }

    /// The keys that have a secret which begins with `first`.
    pub async fn keys_of_prefix(&self, first: &str) -> Result<Vec<KeyRecord>, StorageError> {
        let condition = "id IN (SELECT key_id FROM key_secrets \
                         WHERE substr(prefix, 1, length($1)) = $1)";
        self.keys_where(condition, first).await
    }

    /// The keys of this name.
    pub async fn keys_named(&self, name: &str) -> Result<Vec<KeyRecord>, StorageError> {
        self.keys_where("name = $1", name).await
    }

    /// The keys that belong to a person or service.
    pub async fn keys_of_holder(&self, holder: &Holder) -> Result<Vec<KeyRecord>, StorageError> {
        self.keys_where("holder = $1", holder.to_string()).await
    }

    /// The keys of a team.
    pub async fn keys_of_team(&self, team: &TeamId) -> Result<Vec<KeyRecord>, StorageError> {
        self.keys_where("team_id = $1", team.as_str()).await
    }

    async fn keys_where(
        &self,
        condition: &str,
        value: impl Into<Value>,
    ) -> Result<Vec<KeyRecord>, StorageError> {
        const DOING: &str = "look up the key";
        let mut tx = self.begin_read(DOING).await?;
        read_where(&mut tx, condition, Some(value.into()), DOING).await
    }
}

/// Keys with all their secrets.
pub(crate) async fn read_all(
    tx: &mut Transaction,
    which: Which<'_>,
    doing: &'static str,
) -> Result<Vec<KeyRecord>, StorageError> {
    let (condition, value) = which.condition();
    read_where(tx, condition, value, doing).await
}

async fn read_where(
    tx: &mut Transaction,
    condition: &str,
    value: Option<Value>,
    doing: &'static str,
) -> Result<Vec<KeyRecord>, StorageError> {
    let mut keys = sql(format!("FROM keys WHERE {condition} ORDER BY created_at, id"))
        .bind_all(value.clone())
        .read_all(KEYS.1, tx, doing, read)
        .await?;
    // All secrets are read without a look at each key.
    let of_these = match &value {
        None => String::new(),
        Some(_) => format!(" WHERE key_id IN (SELECT id FROM keys WHERE {condition})"),
    };
    let secrets = sql(format!("FROM key_secrets{of_these} ORDER BY created_at, hash"))
        .bind_all(value)
        .read_all(SECRETS.1, tx, doing, |row| Ok((row.text("key_id")?, read_secret(row)?)))
        .await?;
    let mut by_key: HashMap<KeyId, Vec<SecretRecord>> = HashMap::with_capacity(keys.len());
    for (key, secret) in secrets {
        by_key.entry(key).or_default().push(secret);
    }
    for key in &mut keys {
        key.secrets = by_key.remove(&key.id).unwrap_or_default();
        // Most keys have one, and there may be a hundred thousand of them.
        key.secrets.shrink_to_fit();
    }
    Ok(keys)
}

/// In the order of [`KEYS`], without the last.
pub(crate) fn key_values(key: &KeyRecord) -> Vec<Value> {
    let mut values = vec![
        key.id.as_str().into(),
        key.account_id.as_str().into(),
        (&key.name).into(),
        key.team_id.as_ref().map(TeamId::as_str).into(),
        key.holder.as_ref().map(ToString::to_string).into(),
        list_to_db(Some(&key.scopes)).unwrap_or_default().into(),
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
    ];
    values.extend(suspension_values(key.suspended.as_ref()));
    values
}

/// In the order of [`SECRETS`].
pub(crate) fn secret_values(key: &KeyId, secret: &SecretRecord) -> Vec<Value> {
    vec![
        secret.hash.to_hex().into(),
        key.as_str().into(),
        (&secret.prefix).into(),
        secret.created_at.into(),
        secret.expires_at.into(),
        secret.revoked_at.into(),
    ]
}

/// A list as the database keeps it: JSON text.
fn list_to_db<T: Serialize>(list: Option<&Vec<T>>) -> Option<String> {
    list.and_then(|list| serde_json::to_string(list).ok())
}

/// Without its secrets.
fn read(row: &Row) -> Result<KeyRecord, StorageError> {
    Ok(KeyRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        name: row.string("name")?,
        team_id: row.text_opt("team_id")?,
        holder: row.word_opt("holder", Holder::parse)?,
        scopes: row.json_opt("scopes")?.unwrap_or_default(),
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
        suspended: read_suspension(row)?,
        secrets: Vec::new(),
    })
}

fn read_secret(row: &Row) -> Result<SecretRecord, StorageError> {
    Ok(SecretRecord {
        hash: KeyHash::from_hex(&row.string("hash")?)
            .ok_or_else(|| StorageError::Unreadable { column: "hash", value: "***".to_owned() })?,
        prefix: row.string("prefix")?,
        created_at: row.moment("created_at")?,
        expires_at: row.moment_opt("expires_at")?,
        revoked_at: row.moment_opt("revoked_at")?,
    })
}
