//! Service keys: made, found, changed, rotated, revoked.

use std::time::Duration;

use sluice_core::clock::UnixMillis;
use sluice_core::ids::KeyId;
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_routing::catalog::Catalog;
use sluice_storage::{KeyRecord, Replacement};

use crate::admin::{Admin, AdminError, checked_name};
use crate::service_key::{PREFIX, ServiceKey, random_name};

/// How long a rotated key still works, unless its owner picks something else.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// The key to make.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// What people call it.
    pub name: String,
    /// Sets its requests an hour and tokens a day.
    pub class: KeyClass,
    /// The id or name of its account; `None`: the default account.
    pub account: Option<String>,
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
    /// From when on it no longer works.
    pub expires_at: Option<UnixMillis>,
}

impl NewKey {
    /// A key with everything as its class has it.
    pub fn named(name: &str, class: KeyClass) -> Self {
        Self {
            name: name.to_owned(),
            class,
            account: None,
            models: None,
            regions: None,
            region: None,
            minimum_level: SecurityLevel::Standard,
            zero_retention: false,
            audit: false,
            max_tokens: MaxTokensBound::Documented,
            requests_per_hour: None,
            tokens_per_day: None,
            owner: None,
            expires_at: None,
        }
    }
}

/// What to change about a key; what is `None` stays. Where a setting may be missing, the inner
/// `None` takes it away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyChange {
    /// See [`NewKey::name`].
    pub name: Option<String>,
    /// See [`NewKey::class`].
    pub class: Option<KeyClass>,
    /// The id or name of its account.
    pub account: Option<String>,
    /// See [`NewKey::models`].
    pub models: Option<Option<Vec<String>>>,
    /// See [`NewKey::regions`].
    pub regions: Option<Option<Vec<Region>>>,
    /// See [`NewKey::region`].
    pub region: Option<Option<Region>>,
    /// See [`NewKey::minimum_level`].
    pub minimum_level: Option<SecurityLevel>,
    /// See [`NewKey::zero_retention`].
    pub zero_retention: Option<bool>,
    /// See [`NewKey::audit`].
    pub audit: Option<bool>,
    /// See [`NewKey::max_tokens`].
    pub max_tokens: Option<MaxTokensBound>,
    /// See [`NewKey::requests_per_hour`].
    pub requests_per_hour: Option<Option<u64>>,
    /// See [`NewKey::tokens_per_day`].
    pub tokens_per_day: Option<Option<u64>>,
    /// See [`NewKey::owner`].
    pub owner: Option<Option<String>>,
    /// See [`NewKey::expires_at`].
    pub expires_at: Option<Option<UnixMillis>>,
}

/// A new key. This is the only time that its text is there.
#[derive(Debug)]
pub struct CreatedKey {
    /// The key itself.
    pub key: ServiceKey,
    /// Its record.
    pub record: KeyRecord,
}

/// A rotated key.
#[derive(Debug)]
pub struct Rotation {
    /// The key in place of the old one.
    pub new: CreatedKey,
    /// The old key.
    pub old: KeyRecord,
    /// From when on the old key no longer works.
    pub old_expires_at: UnixMillis,
}

/// A revoked key.
#[derive(Debug)]
pub struct Revocation {
    /// The key's record, as it is now.
    pub record: KeyRecord,
    /// Whether it had been revoked before; nothing changed then.
    pub already: bool,
}

/// What can be wrong about a key.
struct Asked<'a> {
    expires_at: Option<UnixMillis>,
    requests_per_hour: Option<u64>,
    tokens_per_day: Option<u64>,
    models: Option<&'a [String]>,
    regions: Option<&'a [Region]>,
    region: Option<Region>,
    catalog: Option<&'a Catalog>,
}

impl Admin<'_> {
    /// Makes a key. With a catalogue, the models it may ask for are looked up.
    pub async fn create_key(
        &self,
        wish: NewKey,
        catalog: Option<&Catalog>,
    ) -> Result<CreatedKey, AdminError> {
        let name = checked_name(&wish.name)?;
        self.check(&Asked {
            expires_at: wish.expires_at,
            requests_per_hour: wish.requests_per_hour,
            tokens_per_day: wish.tokens_per_day,
            models: wish.models.as_deref(),
            regions: wish.regions.as_deref(),
            region: wish.region,
            catalog,
        })?;
        let account = match &wish.account {
            Some(id_or_name) => self.account(id_or_name).await?,
            None => self.default_account().await?,
        };
        let key = ServiceKey::generate()?;
        let record = KeyRecord {
            id: format!("key_{}", random_name(16)?).into(),
            account_id: account.id,
            name,
            prefix: key.prefix().to_owned(),
            hash: self.master_key.key_hasher().hash(key.expose()),
            class: wish.class,
            models: wish.models,
            regions: wish.regions,
            region: wish.region,
            minimum_level: wish.minimum_level,
            zero_retention: wish.zero_retention,
            audit: wish.audit,
            max_tokens: wish.max_tokens,
            requests_per_hour: wish.requests_per_hour,
            tokens_per_day: wish.tokens_per_day,
            owner: wish.owner,
            created_at: self.now,
            expires_at: wish.expires_at,
            revoked_at: None,
            replaced_by: None,
        };
        self.store.insert_key(&record).await?;
        Ok(CreatedKey { key, record })
    }

    /// Changes a key and returns it as it is now. With a catalogue, models that are named anew are
    /// looked up; what stays is not judged again.
    pub async fn change_key(
        &self,
        text: &str,
        change: KeyChange,
        catalog: Option<&Catalog>,
    ) -> Result<KeyRecord, AdminError> {
        let old = self.key(text).await?;
        let new = KeyRecord {
            name: match change.name {
                Some(name) => checked_name(&name)?,
                None => old.name.clone(),
            },
            account_id: match &change.account {
                Some(id_or_name) => self.account(id_or_name).await?.id,
                None => old.account_id.clone(),
            },
            class: change.class.unwrap_or(old.class),
            models: change.models.clone().unwrap_or_else(|| old.models.clone()),
            regions: change.regions.unwrap_or_else(|| old.regions.clone()),
            region: change.region.unwrap_or(old.region),
            minimum_level: change.minimum_level.unwrap_or(old.minimum_level),
            zero_retention: change.zero_retention.unwrap_or(old.zero_retention),
            audit: change.audit.unwrap_or(old.audit),
            max_tokens: change.max_tokens.unwrap_or(old.max_tokens),
            requests_per_hour: change.requests_per_hour.unwrap_or(old.requests_per_hour),
            tokens_per_day: change.tokens_per_day.unwrap_or(old.tokens_per_day),
            owner: change.owner.unwrap_or_else(|| old.owner.clone()),
            expires_at: change.expires_at.unwrap_or(old.expires_at),
            ..old.clone()
        };
        self.check(&Asked {
            expires_at: change.expires_at.flatten(),
            requests_per_hour: new.requests_per_hour,
            tokens_per_day: new.tokens_per_day,
            models: change.models.as_ref().and_then(|models| models.as_deref()),
            regions: new.regions.as_deref(),
            region: new.region,
            catalog,
        })?;
        if !self.store.change_key(&old, &new).await? {
            return Err(AdminError::ChangedMeanwhile);
        }
        Ok(new)
    }

    fn check(&self, asked: &Asked<'_>) -> Result<(), AdminError> {
        if let Some(expiry) = asked.expires_at
            && expiry <= self.now
        {
            let (given, now) = (expiry.to_rfc3339(), self.now.to_rfc3339());
            return Err(AdminError::AlreadyExpired { given, now });
        }
        if asked.requests_per_hour == Some(0) {
            return Err(AdminError::ZeroLimit { limit: "requests_per_hour" });
        }
        if asked.tokens_per_day == Some(0) {
            return Err(AdminError::ZeroLimit { limit: "tokens_per_day" });
        }
        if let Some(models) = asked.models {
            if models.is_empty() {
                return Err(AdminError::EmptyList { what: "models" });
            }
            for model in models {
                if asked.catalog.is_some_and(|catalog| catalog.get(model).is_none()) {
                    return Err(AdminError::UnknownModel(model.clone()));
                }
            }
        }
        match (asked.regions, asked.region) {
            (Some([]), _) => Err(AdminError::EmptyList { what: "regions" }),
            (Some(regions), Some(region)) if !regions.contains(&region) => {
                let words: Vec<&str> = regions.iter().map(|region| region.as_str()).collect();
                let (region, allowed) = (region.as_str(), words.join(", "));
                Err(AdminError::RegionNotAllowed { region, allowed })
            }
            _ => Ok(()),
        }
    }

    /// All keys, also those that no longer work, in the order of their creation.
    pub async fn keys(&self) -> Result<Vec<KeyRecord>, AdminError> {
        Ok(self.store.keys().await?)
    }

    /// The key that `text` names: its id, its first characters, or (who finds a leaked key has
    /// nothing else) the key itself.
    pub async fn key(&self, text: &str) -> Result<KeyRecord, AdminError> {
        let hash =
            ServiceKey::parse(text).ok().map(|key| self.master_key.key_hasher().hash(key.expose()));
        // Keys are shown as `svc_ent_Ab12…`.
        let first = text.trim_end_matches('…');
        let fits = |it: &KeyRecord| match hash {
            Some(hash) => it.hash == hash,
            None => {
                it.id.as_str() == text
                    || (first.len() > PREFIX.len()
                        && first.starts_with(PREFIX)
                        && it.prefix.starts_with(first))
            }
        };
        let mut keys = self.store.keys().await?;
        keys.retain(fits);
        match keys.len() {
            0 => Err(AdminError::NoSuchKey),
            1 => Ok(keys.swap_remove(0)),
            _ => Err(AdminError::AmbiguousKey {
                ids: keys.into_iter().map(|key| key.id.to_string()).collect(),
            }),
        }
    }

    /// Makes a key with the same settings in place of another, which works on for `grace`.
    ///
    /// Where the old key had an expiry, the new one lives as long as the old one was meant to.
    pub async fn rotate_key(&self, text: &str, grace: Duration) -> Result<Rotation, AdminError> {
        let old = self.key(text).await?;
        let refused = |state| Err(AdminError::NotRotatable { id: old.id.to_string(), state });
        if old.revoked_at.is_some() {
            return refused("was revoked");
        }
        if let Some(by) = &old.replaced_by {
            let (id, by) = (old.id.to_string(), by.to_string());
            return Err(AdminError::AlreadyReplaced { id, by });
        }
        if !old.is_valid_at(self.now) {
            return refused("has expired");
        }
        let key = ServiceKey::generate()?;
        let id: KeyId = format!("key_{}", random_name(16)?).into();
        let record = KeyRecord {
            id,
            prefix: key.prefix().to_owned(),
            hash: self.master_key.key_hasher().hash(key.expose()),
            created_at: self.now,
            expires_at: old.expires_at.map(|expiry| self.now.plus(expiry.since(old.created_at))),
            ..old.clone()
        };
        let grace_ends = self.now.plus(grace);
        let old_expires_at = old.expires_at.map_or(grace_ends, |expiry| expiry.min(grace_ends));
        let replacement = Replacement { old: &old.id, old_expires_at, new: &record };
        if !self.store.replace_key(replacement).await? {
            return refused("was changed meanwhile");
        }
        Ok(Rotation { new: CreatedKey { key, record }, old, old_expires_at })
    }

    /// Revokes a key for good. Revoking it again changes nothing.
    pub async fn revoke_key(&self, text: &str) -> Result<Revocation, AdminError> {
        let key = self.key(text).await?;
        let revoked = self.store.revoke_key(&key.id, self.now).await?;
        let record = self.store.key(&key.id).await?.ok_or(AdminError::NoSuchKey)?;
        Ok(Revocation { record, already: !revoked })
    }
}
