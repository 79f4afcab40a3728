//! Who asks: a key and its account, with what they have used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_core::key::{KeyClass, Suite};
use sluice_core::organisation::{Attribution, Subject};
use sluice_storage::{AccountRecord, KeyHash, KeyHasher, KeyRecord, Organisation, SecretRecord};

use crate::limits::{Allowance, Bound, Ledger, LimitSubjects, OwnFigures};
use crate::service_key::ServiceKey;
use crate::snapshot::Rules;

/// A key and its account.
#[derive(Debug)]
pub struct Principal {
    /// The key's record.
    pub key: KeyRecord,
    /// The secret of it that is presented.
    pub secret: SecretRecord,
    /// Whose its requests are.
    pub attribution: Attribution,
    /// Why it may not be used for now, though it is known.
    pub suspended: Option<String>,
    /// Its account's record.
    pub account: AccountRecord,
    /// The models that the account's tier has.
    pub suite: Suite,
    /// What requests count against.
    pub subjects: LimitSubjects,
}

impl Principal {
    /// From when on what was presented no longer works: the key's end or its secret's, whichever
    /// comes first.
    pub fn expires_at(&self) -> Option<UnixMillis> {
        self.key.expires_at.into_iter().chain(self.secret.expires_at).min()
    }
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
    /// The directory of `keys` that are not revoked, and of what they belong to.
    pub fn new(
        keys: Vec<KeyRecord>,
        organisation: &Organisation,
        rules: &Rules,
        ledgers: &Ledgers,
    ) -> Self {
        let mut directory = Self::default();
        let mut shared = Shared::default();
        for key in keys {
            directory.insert(&key, organisation, rules, |key, account| {
                shared.subjects(key, account, rules, ledgers)
            });
        }
        directory
    }

    /// Adds `key` by all its secrets, unless it is revoked.
    pub(crate) fn add(
        &mut self,
        key: &KeyRecord,
        organisation: &Organisation,
        rules: &Rules,
        ledgers: &Ledgers,
    ) {
        self.insert(key, organisation, rules, |key, account| {
            Shared::default().subjects(key, account, rules, ledgers)
        });
    }

    fn insert(
        &mut self,
        key: &KeyRecord,
        organisation: &Organisation,
        rules: &Rules,
        subjects: impl FnOnce(&KeyRecord, &AccountRecord) -> LimitSubjects,
    ) {
        let account = organisation.accounts.get(&key.account_id);
        let (Some(account), None) = (account, key.revoked_at) else { return };
        let subjects = subjects(key, account);
        for secret in key.secrets.iter().filter(|secret| secret.revoked_at.is_none()) {
            let principal = Principal {
                suite: rules.account_rules(account).suite,
                subjects: subjects.clone(),
                attribution: organisation.attribution(key),
                suspended: organisation.suspension(key),
                secret: secret.clone(),
                account: account.clone(),
                key: key.clone(),
            };
            self.by_hash.insert(secret.hash, Arc::new(principal));
        }
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
        match principal.expires_at() {
            Some(expires_at) if expires_at <= now => {
                Err(Unrecognised::Expired(expires_at.to_rfc3339()))
            }
            _ => Ok(principal),
        }
    }
}

/// What many keys have in common while a directory is made: thousands of keys of a class have its
/// allowances once.
#[derive(Default)]
struct Shared {
    classes: HashMap<KeyClass, Arc<[Allowance]>>,
    accounts: HashMap<AccountId, Bound>,
}

impl Shared {
    /// What the requests of `key` count against. Departments, teams and holders have no allowances
    /// yet, and what nothing binds needs no ledger.
    fn subjects(
        &mut self,
        key: &KeyRecord,
        account: &AccountRecord,
        rules: &Rules,
        ledgers: &Ledgers,
    ) -> LimitSubjects {
        let allowances = match Rules::key_own(key) == OwnFigures::default() {
            true => {
                let of_class = self.classes.entry(key.class);
                of_class.or_insert_with(|| rules.key_allowances(key)).clone()
            }
            false => rules.key_allowances(key),
        };
        let subject = Subject::Key(key.id.clone());
        let own = Bound { ledger: ledgers.of(&subject), subject, allowances };
        let of_account = self.accounts.entry(account.id.clone()).or_insert_with(|| {
            let subject = Subject::Account(account.id.clone());
            let allowances = rules.account_allowances(account);
            Bound { ledger: ledgers.of(&subject), subject, allowances }
        });
        LimitSubjects::new([own, of_account.clone()])
    }
}

/// What every subject has used. Outlives every directory, so that a change of keys or of the
/// configuration forgets nothing.
#[derive(Default)]
pub struct Ledgers(Mutex<HashMap<Subject, Arc<Ledger>>>);

impl Ledgers {
    /// The ledger of `subject`; a new one where it has none yet.
    pub fn of(&self, subject: &Subject) -> Arc<Ledger> {
        let mut ledgers = self.lock();
        if let Some(ledger) = ledgers.get(subject) {
            return ledger.clone();
        }
        ledgers.entry(subject.clone()).or_default().clone()
    }

    /// The ledger of `subject`, if it has one.
    pub(crate) fn known(&self, subject: &Subject) -> Option<Arc<Ledger>> {
        self.lock().get(subject).cloned()
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<(Subject, Arc<Ledger>)> {
        self.lock().iter().map(|(subject, ledger)| (subject.clone(), ledger.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Subject, Arc<Ledger>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
