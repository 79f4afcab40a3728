//! Policies: what the deployment, accounts, departments, teams, people, services and keys say about
//! requests.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_core::organisation::Subject;
use sluice_core::policy::PolicyRules;

use crate::database::{Row, Statement, Transaction, Value, sql};
use crate::error::StorageError;
use crate::organisation::{MANAGED_BY_FILE, Which, rows};

/// Whose requests a policy is about. As text: `deployment`, or `team:ID`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicySubject {
    /// All requests.
    Deployment,
    /// Those of a subject.
    Of(Subject),
}

impl PolicySubject {
    /// What `deployment` is called in texts.
    pub const DEPLOYMENT: &'static str = "deployment";

    fn parse(text: &str) -> Option<Self> {
        match text {
            Self::DEPLOYMENT => Some(Self::Deployment),
            other => Subject::parse(other).map(Self::Of),
        }
    }
}

impl fmt::Display for PolicySubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deployment => f.write_str(Self::DEPLOYMENT),
            Self::Of(subject) => subject.fmt(f),
        }
    }
}

impl Serialize for PolicySubject {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyRecord {
    /// Whose requests it is about. There is one policy for each.
    pub subject: PolicySubject,
    /// The account of its subject; that of whoever set it for a deployment's.
    pub account_id: AccountId,
    /// What it says.
    pub rules: PolicyRules,
    /// Who alone may change it; `None`: everybody who has the right. See [`MANAGED_BY_FILE`].
    pub managed_by: Option<String>,
    /// When it was changed last.
    pub changed_at: UnixMillis,
    /// The number of the change that touched it last; 0 where it is not written yet.
    #[serde(skip)]
    pub changed: u64,
}

impl PolicyRecord {
    /// Whether the configuration file holds it.
    pub fn is_the_files(&self) -> bool {
        self.managed_by.as_deref() == Some(MANAGED_BY_FILE)
    }
}

/// All policies, by whose requests they are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policies(HashMap<PolicySubject, PolicyRecord>);

impl Policies {
    /// The record about a subject, also where it says nothing any more.
    pub fn record(&self, subject: &PolicySubject) -> Option<&PolicyRecord> {
        self.0.get(subject)
    }

    /// What is said about a subject.
    pub fn of(&self, subject: &PolicySubject) -> Option<&PolicyRules> {
        self.0.get(subject).map(|it| &it.rules).filter(|rules| !rules.is_empty())
    }

    /// Those that say something.
    pub fn iter(&self) -> impl Iterator<Item = &PolicyRecord> {
        self.0.values().filter(|it| !it.rules.is_empty())
    }

    /// Whether nothing was ever said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts what was read of a later moment in the place of what was known.
    pub fn take_over(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}

impl FromIterator<PolicyRecord> for Policies {
    fn from_iter<T: IntoIterator<Item = PolicyRecord>>(policies: T) -> Self {
        Self(policies.into_iter().map(|it| (it.subject.clone(), it)).collect())
    }
}

/// Where policies are kept: the identity first, then everything else.
pub(crate) const POLICIES: (&str, &[&str]) =
    ("policies", &["id", "account_id", "rules", "managed_by", "changed_at", "changed"]);

/// In the order of [`POLICIES`], without the last.
pub(crate) fn policy_values(it: &PolicyRecord) -> Vec<Value> {
    vec![
        it.subject.to_string().into(),
        it.account_id.as_str().into(),
        serde_json::to_string(&it.rules).unwrap_or_default().into(),
        (&it.managed_by).into(),
        it.changed_at.into(),
    ]
}

fn read(row: &Row) -> Result<PolicyRecord, StorageError> {
    Ok(PolicyRecord {
        subject: row.word("id", PolicySubject::parse)?,
        account_id: row.text("account_id")?,
        rules: row.word("rules", |text| serde_json::from_str(text).ok())?,
        managed_by: row.string_opt("managed_by")?,
        changed_at: row.moment("changed_at")?,
        changed: row.count("changed")?,
    })
}

pub(crate) async fn read_policies(
    tx: &mut Transaction,
    which: Which<'_>,
    doing: &'static str,
) -> Result<Policies, StorageError> {
    rows(tx, POLICIES.0, which, doing).await?.iter().map(read).collect()
}

/// Those about some subjects, and the deployment's.
pub(crate) async fn read_policies_of(
    tx: &mut Transaction,
    subjects: impl Iterator<Item = Subject>,
    doing: &'static str,
) -> Result<Policies, StorageError> {
    let mut query: Statement = sql("SELECT * FROM policies WHERE id IN (");
    query.push_bind(PolicySubject::DEPLOYMENT);
    for subject in subjects {
        query.push(", ");
        query.push_bind(subject.to_string());
    }
    query.push(")");
    let rows = query.fetch_all(tx).await.map_err(StorageError::database(doing))?;
    rows.iter().map(read).collect()
}
