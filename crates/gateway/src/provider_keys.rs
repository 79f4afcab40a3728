//! Provider keys of accounts, departments and teams, as requests use them.
//!
//! Each has a health and speeds of its own: that a provider refuses one key says nothing about
//! another. It is only sent where the provider was when it was given.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{ModelId, ProviderId, ProviderKeyId};
use sluice_core::organisation::{Attribution, Subject};
use sluice_core::secret::Secret;
use sluice_providers::endpoint::Endpoint;
use sluice_routing::speed::DeploymentSpeed;
use sluice_storage::{BilledBy, DataKey, Organisation, ProviderKeyRecord, ProviderKeyUse};

use crate::health::ProviderHealth;
use crate::snapshot::{Provider, Snapshot};

/// A provider key of an account, a department or a team.
pub struct OwnKey {
    id: ProviderKeyId,
    /// Whether the deployment's key is used where this one fails.
    pub(crate) falls_back: bool,
    counts: bool,
    /// The provider, asked with this key; `None` where it cannot be used.
    pub(crate) provider: Option<Provider>,
    speeds: Arc<Speeds>,
}

type Speeds = Mutex<HashMap<(ModelId, usize), Arc<DeploymentSpeed>>>;

impl OwnKey {
    /// How fast a deployment has been with this key.
    pub(crate) fn speed(&self, model: &ModelId, deployment: usize) -> Arc<DeploymentSpeed> {
        lock(&self.speeds).entry((model.clone(), deployment)).or_default().clone()
    }

    /// Whether the deployment's key goes first at `now`: where it may be used, and this one rests, has
    /// been failing there, or cannot be used.
    pub(crate) fn gives_way(&self, model: &ModelId, deployment: usize, now: UnixMillis) -> bool {
        self.falls_back
            && self.provider.as_ref().is_none_or(|provider| {
                provider.health.is_resting(now)
                    || self.speed(model, deployment).failing(now).is_some()
            })
    }

    /// What the record of a request says that was billed like this.
    pub(crate) fn usage(&self, billed_by: BilledBy) -> ProviderKeyUse {
        ProviderKeyUse { id: self.id.clone(), billed_by, counts: self.counts }
    }

    /// Whether budgets of money leave out what it costs.
    pub(crate) fn is_uncounted(&self) -> bool {
        !self.counts
    }
}

impl fmt::Debug for OwnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// All provider keys that requests have needed so far, and what opens them.
#[derive(Default)]
pub struct OwnKeys {
    data_keys: ArcSwap<BTreeMap<String, DataKey>>,
    known: Mutex<HashMap<ProviderKeyId, Known>>,
}

/// What is kept of a provider key, whatever becomes of the configuration.
struct Known {
    record: ProviderKeyRecord,
    credential: Option<Secret<String>>,
    health: Arc<ProviderHealth>,
    speeds: Arc<Speeds>,
}

impl OwnKeys {
    /// Takes over the keys of the accounts, with which provider keys are sealed, and says whether these
    /// are others than before.
    pub(crate) fn replace_data_keys(&self, keys: BTreeMap<String, DataKey>) -> bool {
        let keys = Arc::new(keys);
        let before = self.data_keys.swap(keys.clone());
        !before.keys().eq(keys.keys())
    }

    /// Those with which the requests of somebody are sent: for each provider the nearest.
    pub(crate) fn of(
        &self,
        whose: &Attribution,
        organisation: &Organisation,
        snapshot: &Snapshot,
    ) -> Vec<(ProviderId, Arc<OwnKey>)> {
        let keys = &organisation.provider_keys;
        let mut found: Vec<(ProviderId, Arc<OwnKey>)> = Vec::new();
        if keys.is_empty() {
            return found;
        }
        let has_keys = |it: &Subject| {
            matches!(it, Subject::Team(_) | Subject::Department(_) | Subject::Account(_))
        };
        for subject in whose.subjects().filter(has_keys) {
            for record in keys.of(&subject) {
                let provider = ProviderId::from(record.provider.as_str());
                if found.iter().all(|(known, _)| *known != provider) {
                    let served = snapshot.providers.get(&provider);
                    found.push((provider, Arc::new(self.made(record, served))));
                }
            }
        }
        found
    }

    /// Forgets the keys that are no longer there, or whose secret is another one by now.
    pub(crate) fn forget_removed(&self, organisation: &Organisation) {
        lock(&self.known).retain(|id, known| {
            let mut there = organisation.provider_keys.of(&known.record.subject);
            there.any(|now| now.id == *id && now.rotated_at == known.record.rotated_at)
        });
    }

    /// How a provider key has been doing; `None`: nothing was sent with it yet.
    pub(crate) fn health(&self, id: &ProviderKeyId) -> Option<Arc<ProviderHealth>> {
        lock(&self.known).get(id).map(|known| known.health.clone())
    }

    fn made(&self, record: &ProviderKeyRecord, served: Option<&Provider>) -> OwnKey {
        let mut all = lock(&self.known);
        let known = match all.get(&record.id) {
            Some(known) if known.record == *record && known.credential.is_some() => known,
            before => {
                // Another key has another health; another setting of the same key has not.
                let same = before.filter(|known| known.record.rotated_at == record.rotated_at);
                let kept = same.map(|known| (known.health.clone(), known.speeds.clone()));
                let (health, speeds) = kept.unwrap_or_default();
                let data_keys = self.data_keys.load();
                let key = record.sealed.as_ref().and_then(|it| data_keys.get(it.key_id()));
                let credential = key.and_then(|key| record.open(key));
                let known = Known { record: record.clone(), credential, health, speeds };
                all.insert(record.id.clone(), known);
                &all[&record.id]
            }
        };
        let usable = served.zip(known.credential.clone());
        let usable = usable.filter(|(served, _)| served.endpoint.base_url == record.base_url);
        OwnKey {
            id: record.id.clone(),
            falls_back: record.falls_back,
            counts: record.counts,
            provider: usable.map(|(served, credential)| Provider {
                endpoint: Arc::new(with_credential(&served.endpoint, credential)),
                upstream: served.upstream.clone(),
                health: known.health.clone(),
            }),
            speeds: known.speeds.clone(),
        }
    }
}

/// The same endpoint with another credential.
pub(crate) fn with_credential(endpoint: &Endpoint, credential: Secret<String>) -> Endpoint {
    Endpoint {
        id: endpoint.id.clone(),
        adapter: endpoint.adapter.clone(),
        base_url: endpoint.base_url.clone(),
        query: endpoint.query.clone(),
        auth: endpoint.auth.clone(),
        credential: Some(credential),
        headers: endpoint.headers.clone(),
        quirks: endpoint.quirks,
        region: endpoint.region,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::NOW;

    #[test]
    fn what_was_removed_or_given_anew_is_forgotten() {
        let record = ProviderKeyRecord {
            id: "pky_1".into(),
            account_id: "acc_1".into(),
            subject: Subject::Team("team_1".into()),
            provider: "lab".to_owned(),
            base_url: "http://lab.invalid/v1".to_owned(),
            sealed: None,
            hint: String::new(),
            falls_back: false,
            counts: false,
            created_at: NOW,
            rotated_at: NOW,
            removed_at: None,
            changed: 1,
        };
        let changed = ProviderKeyRecord { falls_back: true, changed: 2, ..record.clone() };
        let rotated = ProviderKeyRecord { rotated_at: UnixMillis(NOW.0 + 1), ..record.clone() };
        let removed = ProviderKeyRecord { removed_at: Some(NOW), ..record.clone() };
        for (now, stays) in [
            (vec![record.clone()], true),
            (vec![changed], true),
            (vec![rotated], false),
            (vec![removed], false),
            (vec![], false),
        ] {
            let keys = OwnKeys::default();
            keys.made(&record, None);
            let organisation = Organisation {
                provider_keys: now.into_iter().collect(),
                ..Organisation::default()
            };
            keys.forget_removed(&organisation);
            assert_eq!(keys.health(&record.id).is_some(), stays, "{organisation:?}");
        }
    }
}
