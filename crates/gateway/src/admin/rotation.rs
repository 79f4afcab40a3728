//! A key's secrets: when one should be changed, how it is changed, and taken away for good.

use std::time::Duration;

use sluice_core::clock::{DAY_MILLIS, UnixMillis};
use sluice_storage::{KeyRecord, Organisation, SecretRecord};

use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, CreatedKey};
use crate::service_key::{NoRandomness, ServiceKey};

/// How long the old secret of a key still works, unless its owner picks something else.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether the newest secret of a key is so many days old, and the key works: what does not work
/// needs no rotation.
pub fn is_due(key: &KeyRecord, organisation: &Organisation, days: u64, now: UnixMillis) -> bool {
    is_due_alone(key, days, now) && organisation.suspension(key).is_none()
}

/// The same without a look at what the key belongs to.
pub(crate) fn is_due_alone(key: &KeyRecord, days: u64, now: UnixMillis) -> bool {
    let age = now.0.saturating_sub(newest_secret_at(key).0);
    age / DAY_MILLIS >= days && key.is_valid_at(now)
}

/// When the newest secret of a key was made.
pub fn newest_secret_at(key: &KeyRecord) -> UnixMillis {
    key.newest_secret().map_or(key.created_at, |secret| secret.created_at)
}

/// A key with a new secret.
#[derive(Debug)]
pub struct Rotation {
    /// The new secret, and the key as it is now.
    pub new: CreatedKey,
    /// From when on the secrets before it no longer work.
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

impl Admin<'_> {
    /// A new secret, and what is kept of it.
    pub(super) fn new_secret(&self) -> Result<(ServiceKey, SecretRecord), NoRandomness> {
        let key = ServiceKey::generate()?;
        let secret = SecretRecord {
            hash: self.master_key.key_hasher().hash(key.expose()),
            prefix: key.prefix().to_owned(),
            created_at: self.now,
            expires_at: None,
            revoked_at: None,
        };
        Ok((key, secret))
    }

    /// Adds a secret to a key; those before work on for `grace`. The key keeps its id, settings,
    /// limits and history, and its own end.
    ///
    /// At most two work at a time: with a third, nobody could say which of them is still in use.
    pub async fn rotate_key(&self, text: &str, grace: Duration) -> Result<Rotation, AdminError> {
        let view = self.view().await?;
        let old = self.find_key(&view, text).await?;
        let refused = |state| Err(AdminError::NotRotatable { id: old.id.to_string(), state });
        if old.revoked_at.is_some() {
            return refused("was revoked");
        }
        if old.expires_at.is_some_and(|expiry| expiry <= self.now) {
            return refused("has expired");
        }
        let mut living = old.secrets.iter().filter(|secret| secret.is_valid_at(self.now));
        if let (Some(older), Some(_), false) = (living.next(), living.next(), grace.is_zero()) {
            let until = older.expires_at.map_or_else(String::new, UnixMillis::to_rfc3339);
            return Err(AdminError::TwoSecrets { id: old.id.to_string(), until });
        }
        let grace_ends = self.now.plus(grace);
        let (key, secret) = self.new_secret()?;
        let mut new = old.clone();
        for secret in new.secrets.iter_mut().filter(|secret| secret.is_valid_at(self.now)) {
            secret.expires_at =
                Some(secret.expires_at.map_or(grace_ends, |expiry| expiry.min(grace_ends)));
        }
        new.secrets.push(secret);
        let old_expires_at = old.expires_at.map_or(grace_ends, |expiry| expiry.min(grace_ends));
        let record = self.change(&view, Verb::RotateKey, old, new).await?;
        Ok(Rotation { new: CreatedKey { key, record }, old_expires_at })
    }

    /// Revokes a key for good. Revoking it again changes nothing.
    pub async fn revoke_key(&self, text: &str) -> Result<Revocation, AdminError> {
        let view = self.view().await?;
        let old = self.find_key(&view, text).await?;
        if old.revoked_at.is_some() {
            return Ok(Revocation { record: old, already: true });
        }
        let new = KeyRecord { revoked_at: Some(self.now), ..old.clone() };
        let record = self.change(&view, Verb::RevokeKey, old, new).await?;
        Ok(Revocation { record, already: false })
    }
}
