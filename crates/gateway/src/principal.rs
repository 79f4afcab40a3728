//! Who asks: a key and its account, with what they have used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sluice_core::clock::{Moment, UnixMillis};
use sluice_core::ids::ProviderId;
use sluice_core::key::Suite;
use sluice_core::organisation::{Attribution, Subject};
use sluice_security::request::Filter;
use sluice_storage::{AccountRecord, KeyRecord, Organisation, SecretRecord};

use crate::limits::{Allowance, AllowanceView, Bound, Ledger, LimitSubjects, SessionLedgers};
use crate::policy::{self, Filters, Ruling};
use crate::provider_keys::{OwnKey, OwnKeys};
use crate::snapshot::Snapshot;

/// A key and its account.
#[derive(Debug)]
pub struct Principal {
    /// The key's record.
    pub key: Arc<KeyRecord>,
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
    /// What each session of whom has to itself; empty where there is no such budget.
    pub of_sessions: Vec<(Subject, Arc<[Allowance]>)>,
    /// What holds for its requests.
    pub ruling: Ruling,
    /// What filters them, where that is not the deployment's filter.
    pub filter: Option<Arc<Filter>>,
    /// The provider keys that they are sent with, instead of the deployment's.
    pub own_keys: Vec<(ProviderId, Arc<OwnKey>)>,
}

impl Principal {
    /// The provider key that its requests are sent to a provider with, instead of the deployment's.
    pub(crate) fn own_key(&self, provider: &ProviderId) -> Option<&Arc<OwnKey>> {
        self.own_keys.iter().find(|(id, _)| id == provider).map(|(_, key)| key)
    }

    /// Every allowance that binds its requests, with what is left of it. What each session has to
    /// itself is only named.
    pub fn views(&self, now: Moment) -> Vec<AllowanceView> {
        let mut views = self.subjects.views(now);
        let of_sessions = self.of_sessions.iter().flat_map(|(_, allowances)| &**allowances);
        let budgets = of_sessions.filter_map(|allowance| allowance.budget.as_ref());
        views.extend(budgets.map(|budget| AllowanceView::of_session(budget, now.wall)));
        views
    }

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

impl Principal {
    /// Who presents `secret` of `key`; `None` where the key's account is not known.
    pub(crate) fn new(
        key: &Arc<KeyRecord>,
        secret: &SecretRecord,
        organisation: &Organisation,
        snapshot: &Snapshot,
        shared: &Shared,
    ) -> Option<Self> {
        let Shared { ledgers, filters, own_keys, .. } = shared;
        let rules = &snapshot.rules;
        let account = organisation.accounts.get(&key.account_id)?;
        let attribution = organisation.attribution(key);
        let (mut bounds, mut of_sessions) = (Vec::new(), Vec::new());
        for subject in attribution.subjects() {
            // What nothing binds needs no ledger, but for keys and accounts, whose use is shown.
            let (figures, is_counted) = match &subject {
                Subject::Key(_) => (rules.key_allowances(key), true),
                Subject::Account(_) => (rules.account_allowances(account), true),
                _ => (Arc::default(), false),
            };
            let (sessions, budgets): (Vec<_>, Vec<_>) = organisation
                .budgets
                .of(&subject)
                .map(Allowance::of_budget)
                .partition(Allowance::is_of_each_session);
            if !sessions.is_empty() {
                of_sessions.push((subject.clone(), sessions.into()));
            }
            if budgets.is_empty() && !is_counted {
                ledgers.forget(&subject);
                continue;
            }
            let allowances: Arc<[Allowance]> = match budgets.is_empty() {
                true => figures,
                false => figures.iter().cloned().chain(budgets).collect(),
            };
            let ledger = ledgers.of(&subject);
            // Nobody makes a principal of an older organisation meanwhile: it is locked.
            ledger.forget_all_but(&allowances);
            bounds.push(Bound { ledger, subject, allowances });
        }
        let subjects = LimitSubjects::new(bounds);
        let ruling = Ruling::of(&policy::sources(key, account, organisation, rules));
        let mut suspended = organisation.suspension(key);
        let filter = filters.of(&snapshot.filter, &ruling.filter).unwrap_or_else(|problem| {
            // What must not leave would leave: nothing does.
            tracing::error!(%problem, "the filter of a policy cannot be made; its keys are refused");
            suspended.get_or_insert_with(|| {
                "a policy asks for a filter that cannot be made; the server's log says why".to_owned()
            });
            None
        });
        Some(Self {
            suite: rules.account_rules(account).suite,
            subjects,
            of_sessions,
            ruling,
            filter,
            own_keys: own_keys.of(&attribution, organisation, snapshot),
            attribution,
            suspended,
            secret: secret.clone(),
            account: account.clone(),
            key: key.clone(),
        })
    }
}

/// What principals are made of beside records. Outlives all of them.
#[derive(Default)]
pub(crate) struct Shared {
    /// What every subject has used.
    pub(crate) ledgers: Ledgers,
    /// What each session has used of budgets of each session.
    pub(crate) sessions: SessionLedgers,
    /// Filters that look for more than the deployment's.
    pub(crate) filters: Filters,
    /// Provider keys beside the deployment's.
    pub(crate) own_keys: OwnKeys,
}

/// What every subject has used. Outlives every principal, so that a change of keys or of the
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

    /// Nothing limits `subject` any more: what was counted for it is forgotten.
    fn forget(&self, subject: &Subject) {
        if let Some(ledger) = self.lock().get(subject) {
            ledger.forget_all_but(&[]);
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Subject, Arc<Ledger>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
