//! Provider keys of accounts, departments and teams.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, ProviderKeyId};
use sluice_core::organisation::Subject;
use sluice_core::secret::Secret;

use crate::database::{Row, Statement, Transaction, Value, sql};
use crate::error::StorageError;
use crate::keyring::DataKey;
use crate::organisation::{Which, rows};

/// What the sealing key is derived for.
const PURPOSE: &str = "own provider keys";

/// Who is billed by the provider for a request, where there is a provider key beside the deployment's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BilledBy {
    /// Whoever owns the provider key: the provider bills them.
    Provider,
    /// The deployment: its key was used after theirs had failed.
    Deployment,
}

impl BilledBy {
    const ALL: [Self; 2] = [Self::Provider, Self::Deployment];

    /// The word in records and headers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Deployment => "deployment",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

/// How a request stood to a provider key that was there for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderKeyUse {
    /// The key.
    pub id: ProviderKeyId,
    /// Who was billed.
    pub billed_by: BilledBy,
    /// Whether budgets count its cost.
    pub counts: bool,
}

/// A sealed provider key. Nothing of it is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedKey {
    text: String,
    key_id: String,
}

impl SealedKey {
    /// The account's key with which it is sealed.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }
}

impl fmt::Debug for SealedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A provider key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderKeyRecord {
    /// Its id.
    pub id: ProviderKeyId,
    /// The account of its subject.
    pub account_id: AccountId,
    /// Whose requests are sent with it: an account, a department or a team.
    #[serde(serialize_with = "as_text")]
    pub subject: Subject,
    /// The provider to which it is sent.
    pub provider: String,
    /// Where that provider was when the key was given. It is sent nowhere else.
    pub base_url: String,
    /// The key; `None` where it was removed.
    #[serde(skip)]
    pub sealed: Option<SealedKey>,
    /// Its last characters, by which people know it again.
    pub hint: String,
    /// Whether the deployment's key is used where this one fails.
    pub falls_back: bool,
    /// Whether budgets of money count what it costs.
    pub counts: bool,
    /// When it was added.
    pub created_at: UnixMillis,
    /// When the key itself was given last.
    pub rotated_at: UnixMillis,
    /// When it was removed.
    pub removed_at: Option<UnixMillis>,
    /// The number of the change that touched it last; 0 where it is not written yet.
    #[serde(skip)]
    pub changed: u64,
}

pub(crate) fn as_text<S: serde::Serializer>(
    subject: &Subject,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(subject)
}

impl ProviderKeyRecord {
    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        self.removed_at.is_none()
    }

    /// What it is sealed with: in another place, for somebody else or for another address it cannot be
    /// read.
    fn place(&self) -> String {
        let Self { id, account_id, subject, provider, base_url, .. } = self;
        [id.as_str(), account_id.as_str(), &subject.to_string(), provider, base_url].join("\n")
    }

    /// Seals the key itself with the key of its account.
    pub fn seal(&mut self, key: &DataKey, secret: &Secret<String>) -> Result<(), StorageError> {
        let text = key.sealer(PURPOSE).seal(secret.expose().as_bytes(), &self.place())?;
        self.sealed = Some(SealedKey { text, key_id: key.id().to_owned() });
        Ok(())
    }

    /// The key itself; `None` where it was removed, or was sealed with another key or for another place.
    pub fn open(&self, key: &DataKey) -> Option<Secret<String>> {
        if *key.account() != self.account_id {
            return None;
        }
        let sealed = self.sealed.as_ref().filter(|sealed| sealed.key_id == key.id())?;
        let opened = key.sealer(PURPOSE).open(&sealed.text, &self.place())?;
        std::str::from_utf8(opened.expose()).ok().map(|text| Secret::new(text.to_owned()))
    }
}

/// All provider keys, by whose requests are sent with them; those that were removed, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderKeys(HashMap<Subject, Vec<ProviderKeyRecord>>);

impl ProviderKeys {
    /// Those of a subject that are there.
    pub fn of(&self, subject: &Subject) -> impl Iterator<Item = &ProviderKeyRecord> {
        self.0.get(subject).into_iter().flatten().filter(|key| key.is_there())
    }

    /// Every one, also those that were removed.
    pub fn iter(&self) -> impl Iterator<Item = &ProviderKeyRecord> {
        self.0.values().flatten()
    }

    /// Whether there was never one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts what was read of a later moment in the place of what was known.
    pub fn take_over(&mut self, later: Self) {
        for key in later.0.into_values().flatten() {
            self.put(key);
        }
    }

    fn put(&mut self, key: ProviderKeyRecord) {
        let of_subject = self.0.entry(key.subject.clone()).or_default();
        match of_subject.iter_mut().find(|it| it.id == key.id) {
            Some(known) => *known = key,
            None => of_subject.push(key),
        }
    }
}

impl FromIterator<ProviderKeyRecord> for ProviderKeys {
    fn from_iter<T: IntoIterator<Item = ProviderKeyRecord>>(keys: T) -> Self {
        let mut all = Self::default();
        keys.into_iter().for_each(|key| all.put(key));
        all
    }
}

/// Where provider keys are kept: the identity first, then everything else.
pub(crate) const PROVIDER_KEYS: (&str, &[&str]) = (
    "provider_keys",
    &[
        "id",
        "account_id",
        "subject",
        "provider",
        "base_url",
        "secrets",
        "secrets_key",
        "hint",
        "falls_back",
        "counts",
        "created_at",
        "rotated_at",
        "removed_at",
        "changed",
    ],
);

/// In the order of [`PROVIDER_KEYS`], without the last.
pub(crate) fn provider_key_values(it: &ProviderKeyRecord) -> Vec<Value> {
    vec![
        it.id.as_str().into(),
        it.account_id.as_str().into(),
        it.subject.to_string().into(),
        (&it.provider).into(),
        (&it.base_url).into(),
        it.sealed.as_ref().map(|sealed| sealed.text.as_str()).into(),
        it.sealed.as_ref().map(|sealed| sealed.key_id.as_str()).into(),
        (&it.hint).into(),
        it.falls_back.into(),
        it.counts.into(),
        it.created_at.into(),
        it.rotated_at.into(),
        it.removed_at.into(),
    ]
}

fn read(row: &Row) -> Result<ProviderKeyRecord, StorageError> {
    let sealed = row.string_opt("secrets")?.zip(row.string_opt("secrets_key")?);
    Ok(ProviderKeyRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        subject: row.word("subject", Subject::parse)?,
        provider: row.string("provider")?,
        base_url: row.string("base_url")?,
        sealed: sealed.map(|(text, key_id)| SealedKey { text, key_id }),
        hint: row.string("hint")?,
        falls_back: row.flag("falls_back")?,
        counts: row.flag("counts")?,
        created_at: row.moment("created_at")?,
        rotated_at: row.moment("rotated_at")?,
        removed_at: row.moment_opt("removed_at")?,
        changed: row.count("changed")?,
    })
}

pub(crate) async fn read_provider_keys(
    tx: &mut Transaction,
    which: Which<'_>,
    doing: &'static str,
) -> Result<ProviderKeys, StorageError> {
    rows(tx, PROVIDER_KEYS.0, which, doing).await?.iter().map(read).collect()
}

/// Those of some subjects that are there.
pub(crate) async fn read_provider_keys_of(
    tx: &mut Transaction,
    subjects: impl Iterator<Item = Subject>,
    doing: &'static str,
) -> Result<ProviderKeys, StorageError> {
    let mut query: Statement =
        sql("SELECT * FROM provider_keys WHERE removed_at IS NULL AND subject IN (''");
    for subject in subjects {
        query.push(", ");
        query.push_bind(subject.to_string());
    }
    query.push(")");
    let rows = query.fetch_all(tx).await.map_err(StorageError::database(doing))?;
    rows.iter().map(read).collect()
}
