//! Who asks: a key and its account, with what they have used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, KeyId};
use sluice_core::key::Suite;
use sluice_storage::{
    AccountRecord, KeyHash, KeyHasher, KeyRecord, WindowCount, WindowKind, WindowSubject,
};

use crate::limits::{Ledger, LimitSubjects, WindowUse};
use crate::service_key::ServiceKey;
use crate::snapshot::Rules;

/// A key and its account.
#[derive(Debug)]
pub struct Principal {
    /// The key's record.
    pub key: KeyRecord,
    /// Its account's record.
    pub account: AccountRecord,
    /// The models that the account's tier has.
    pub suite: Suite,
    /// What requests count against.
    pub subjects: LimitSubjects,
}

/// Why nobody could be recognised. All of them are 401, and begin with the words that people and
/// tools look for. Only who presents a whole key learns that it once worked and has expired; one
/// that was revoked looks like one that never was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unrecognised {
    /// No key was presented.
    #[error(
        "Invalid API key: none was sent; send `Authorization: Bearer svc_ent_…`, or the header \
         `svc-api-key`"
    )]
    Missing,
    /// What was presented has not the form of a service key.
    #[error("Invalid API key: {0}")]
    Malformed(String),
    /// Two different keys were presented.
    #[error("Invalid API key: `Authorization` and `svc-api-key` hold different keys; send one")]
    Conflicting,
    /// A header was sent several times, with different values.
    #[error("Invalid API key: `{0}` was sent several times with different values; send it once")]
    Contradictory(&'static str),
    /// No such key.
    #[error("Invalid API key: it is not known here, or was revoked")]
    Unknown,
    /// The key's time is over.
    #[error("Invalid API key: it expired at {0}")]
    Expired(String),
}

impl Unrecognised {
    /// The word in logs, which tells nothing of what was presented.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Malformed(_) => "malformed",
            Self::Conflicting => "conflicting",
            Self::Unknown => "unknown",
            Self::Contradictory(_) => "contradictory",
            Self::Expired(_) => "expired",
        }
    }
}

/// All keys that may ask, in memory: recognising one never waits for a database.
#[derive(Default, Clone)]
pub struct Directory {
    /// Hashes are keyed and compared in constant time: a look-up tells nothing about other keys.
    by_hash: HashMap<KeyHash, Arc<Principal>>,
}

impl Directory {
    /// The directory of `keys` that are not revoked.
    pub fn new(
        keys: Vec<KeyRecord>,
        accounts: Vec<AccountRecord>,
        rules: &Rules,
        ledgers: &Ledgers,
    ) -> Self {
        let accounts: HashMap<AccountId, AccountRecord> =
            accounts.into_iter().map(|account| (account.id.clone(), account)).collect();
        let mut directory = Self::default();
        for key in keys {
            if let Some(account) = accounts.get(&key.account_id) {
                directory.add(key, account.clone(), rules, ledgers);
            }
        }
        directory
    }

    /// Adds `key` of `account`, unless it is revoked.
    pub(crate) fn add(
        &mut self,
        key: KeyRecord,
        account: AccountRecord,
        rules: &Rules,
        ledgers: &Ledgers,
    ) {
        if key.revoked_at.is_some() {
            return;
        }
        let account_rules = rules.account_rules(&account);
        let principal = Principal {
            suite: account_rules.suite,
            subjects: LimitSubjects {
                key: ledgers.key(&key.id),
                key_limits: rules.key_limits(&key),
                key_own: Rules::key_own(&key),
                account: ledgers.account(&account.id),
                account_limits: account_rules.limits,
                account_own: Rules::account_own(&account),
            },
            account,
            key,
        };
        self.by_hash.insert(principal.key.hash, Arc::new(principal));
    }

    /// Whether somebody presents a key with this hash.
    pub(crate) fn holds(&self, hash: &KeyHash) -> bool {
        self.by_hash.contains_key(hash)
    }

    /// Who presents `key`, at `now`.
    pub fn recognise(
        &self,
        key: &ServiceKey,
        hasher: &KeyHasher,
        now: UnixMillis,
    ) -> Result<&Arc<Principal>, Unrecognised> {
        let hash = hasher.hash(key.expose());
        let principal = self.by_hash.get(&hash).ok_or(Unrecognised::Unknown)?;
        match principal.key.expires_at {
            Some(expires_at) if expires_at <= now => {
                Err(Unrecognised::Expired(expires_at.to_rfc3339()))
            }
            _ => Ok(principal),
        }
    }
}

/// What keys and accounts have used. Outlives every directory, so that a change of keys or of the
/// configuration forgets nothing.
#[derive(Default)]
pub struct Ledgers {
    keys: Mutex<HashMap<KeyId, Arc<Ledger>>>,
    accounts: Mutex<HashMap<AccountId, Arc<Ledger>>>,
}

impl Ledgers {
    /// Takes over the windows that the database knows, as far as they are those of `now`.
    pub fn restore(&self, counts: &[WindowCount], now: UnixMillis) {
        for count in counts {
            let ledger = match &count.subject {
                WindowSubject::Key(id) => self.key(id),
                WindowSubject::Account(id) => self.account(id),
            };
            let window = WindowUse { start: count.window_start, used: count.amount };
            match count.kind {
                WindowKind::Requests => ledger.restore(Some(window), None, now),
                WindowKind::Tokens => ledger.restore(None, Some(window), now),
            }
        }
    }

    fn key(&self, id: &KeyId) -> Arc<Ledger> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.entry(id.clone()).or_default().clone()
    }

    fn account(&self, id: &AccountId) -> Arc<Ledger> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.entry(id.clone()).or_default().clone()
    }
}
