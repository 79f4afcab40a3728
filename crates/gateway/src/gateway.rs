//! The application: what all requests share.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::{ArcSwap, Guard};
use sluice_core::clock::{Clock, Moment, UnixMillis};
use sluice_core::ids::{ModelId, ProviderKeyId};
use sluice_core::organisation::{Actor, KeyScope};
use sluice_routing::catalog::Model;
use sluice_routing::classify;
use sluice_storage::{
    BudgetRecord, DataKey, KeyHash, KeyHasher, KeyRecord, Known, SecretRecord, StorageError, Store,
};

use crate::accounting::Accounting;
use crate::changes::Changes;
use crate::directory::Directory;
use crate::estimate::Calibration;
use crate::guard::GuessGuard;
use crate::health::ProviderState;
use crate::limits::{
    self, Allowance, AllowanceView, Bound, LimitExceeded, LimitSubjects, RateView,
};
use crate::live::Live;
use crate::metrics::Metrics;
use crate::newcomers::Newcomers;
use crate::policy::{is_listed, resolve};
use crate::principal::{Principal, Shared, Unrecognised};
use crate::route::Conversations;
use crate::service_key::ServiceKey;
use crate::shutdown::Shutdown;
use crate::snapshot::Snapshot;

/// The application without HTTP.
pub struct Gateway {
    snapshot: ArcSwap<Snapshot>,
    directory: Directory,
    pub(crate) principals: Shared,
    hasher: KeyHasher,
    guard: GuessGuard,
    newcomers: Newcomers,
    /// When each model was first served, in seconds since the Unix epoch.
    first_served: ArcSwap<HashMap<ModelId, u64>>,
    pub(crate) calibration: Calibration,
    pub(crate) conversations: Conversations,
    pub(crate) accounting: Arc<Accounting>,
    changes: Changes,
    /// Where pages are served, without a slash at the end.
    pages_url: OnceLock<String>,
    draining: AtomicBool,
    pub(crate) shutdown: Shutdown,
    records_are_stuck: AtomicBool,
    database_is_down: AtomicBool,
}

/// The credentials that a request presents, as sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Presented<'a> {
    /// The value of `Authorization`.
    pub authorization: Option<&'a str>,
    /// The value of `svc-api-key`.
    pub svc_api_key: Option<&'a str>,
    /// One of the two that was sent several times, with different values.
    pub contradictory: Option<&'static str>,
}

/// Nobody was recognised.
#[derive(Debug)]
pub struct SignInFailure {
    /// Why.
    pub reason: Unrecognised,
    /// The window of failed attempts from the same address.
    pub rate: RateView,
    /// Set where the address has to slow down.
    pub exceeded: Option<Box<LimitExceeded>>,
}

impl Gateway {
    /// A gateway without any keys loaded: see [`Gateway::replace_directory`].
    pub fn new(snapshot: Snapshot, hasher: KeyHasher, accounting: Accounting) -> Self {
        classify::warm_up();
        let conversations = Conversations::new(hasher.derived("conversations"));
        Self {
            snapshot: ArcSwap::from_pointee(snapshot),
            directory: Directory::default(),
            principals: Shared::default(),
            hasher,
            guard: GuessGuard::default(),
            newcomers: Newcomers::default(),
            first_served: ArcSwap::default(),
            calibration: Calibration::default(),
            conversations,
            accounting: Arc::new(accounting),
            changes: Changes::default(),
            pages_url: OnceLock::new(),
            draining: AtomicBool::new(false),
            shutdown: Shutdown::default(),
            records_are_stuck: AtomicBool::new(false),
            database_is_down: AtomicBool::new(false),
        }
    }

    /// The same, which looks keys up in `store` that it does not know: one that was just made works
    /// at once.
    #[must_use]
    pub fn with_store(mut self, store: Store) -> Self {
        self.newcomers = Newcomers::of(store);
        self
    }

    /// Pages are served at this address: refusals name them from now on.
    pub fn serves_pages_at(&self, url: &str) {
        // Nobody moves them while the server runs.
        let _ = self.pages_url.set(url.to_owned());
    }

    pub(crate) fn pages_url(&self) -> Option<&str> {
        self.pages_url.get().map(String::as_str)
    }

    /// Requests as they end, for whoever watches.
    pub fn live(&self) -> &Live {
        &self.accounting.live
    }

    /// The configuration as it is now. A request takes it once.
    pub fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.snapshot.load()
    }

    /// The same, to be kept while something is waited for.
    pub(crate) fn snapshot_for_long(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Takes over a new configuration, for requests that begin from now on.
    pub fn replace_snapshot(&self, snapshot: Snapshot) {
        self.snapshot.store(Arc::new(snapshot));
        // Limits come from the configuration.
        self.directory.renew();
    }

    /// Takes over all keys and what they belong to. What they have used stays.
    pub fn replace_directory(&self, known: Known) {
        self.directory.replace(known);
        self.forget_removed_provider_keys();
    }

    /// Takes over the keys of the accounts, with which their provider keys are sealed. They come before
    /// the directory.
    pub fn replace_data_keys(&self, keys: BTreeMap<String, DataKey>) {
        if self.principals.own_keys.replace_data_keys(keys) {
            self.directory.renew();
        }
    }

    /// How a provider key of an account, department or team has been doing.
    pub fn provider_key_state(&self, id: &ProviderKeyId, now: UnixMillis) -> ProviderState {
        let health = self.principals.own_keys.health(id);
        health.map_or(ProviderState::Unknown, |health| health.state(now))
    }

    /// Takes over the keys that have changed, and what has changed of what keys belong to.
    pub fn change_directory(&self, changed: Known) {
        self.directory.change(changed);
        self.forget_removed_provider_keys();
    }

    fn forget_removed_provider_keys(&self) {
        // Under the lock under which principals are made: none of them brings one back.
        self.directory.with_organisation(|it| self.principals.own_keys.forget_removed(it));
    }

    /// What tells that something was changed, and that it is in force.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The number of changes that were taken over.
    pub fn directory_version(&self) -> u64 {
        self.directory.version()
    }

    /// Takes over what was used before a restart. The directory comes first: it says what is
    /// counted.
    pub async fn restore_windows(&self, store: &Store) -> Result<(), StorageError> {
        let counted = self.directory.counted(&self.snapshot().rules);
        let now = self.clock().moment();
        self.principals.sessions.restore(&counted.of_sessions, store, now).await?;
        limits::restore(&self.principals.ledgers, counted, store, now.wall).await
    }

    /// Who asks. Counts a failure against `remote`.
    pub async fn sign_in(
        &self,
        presented: Presented<'_>,
        remote: Option<IpAddr>,
    ) -> Result<Arc<Principal>, SignInFailure> {
        let now = self.now();
        let recognised = match Self::key_of(presented) {
            Ok(key) => {
                let hash = self.hasher.hash(key.expose());
                let known = self.recognise(&hash, now);
                match known {
                    // Boxed: what a few requests need must not make all of them larger.
                    Err(Unrecognised::Unknown) => Box::pin(self.look_up(&hash, remote, now)).await,
                    known => known,
                }
            }
            Err(reason) => Err(reason),
        };
        recognised.map_err(|reason| {
            let failed = self.guard.failed(remote, now);
            failed.log(remote, &reason);
            SignInFailure { reason, rate: failed.rate, exceeded: failed.exceeded.map(Box::new) }
        })
    }

    /// Looks a key up that the directory does not hold. Whoever guesses too often is not looked up.
    async fn look_up(
        &self,
        hash: &KeyHash,
        remote: Option<IpAddr>,
        now: UnixMillis,
    ) -> Result<Arc<Principal>, Unrecognised> {
        if self.guard.view(remote, now).remaining == 0 {
            return Err(Unrecognised::Unknown);
        }
        self.newcomers.look_up(hash, now, &self.directory).await;
        self.recognise(hash, now)
    }

    /// What something that is presented is known by.
    pub(crate) fn hash(&self, presented: &str) -> KeyHash {
        self.hasher.hash(presented)
    }

    /// Who presents `secret` of a key that belongs where it says, wherever the key itself is kept.
    pub(crate) fn principal_with(
        &self,
        key: &Arc<KeyRecord>,
        secret: &SecretRecord,
    ) -> Option<Principal> {
        let snapshot = self.snapshot();
        self.directory.with_organisation(|organisation| {
            Principal::new(key, secret, organisation, &snapshot, &self.principals)
        })
    }

    fn recognise(&self, hash: &KeyHash, now: UnixMillis) -> Result<Arc<Principal>, Unrecognised> {
        self.directory.recognise(hash, now, |key, secret, organisation| {
            Principal::new(key, secret, organisation, &self.snapshot(), &self.principals)
        })
    }

    /// What binds a key and what it belongs to, with what is used of it and what running requests
    /// hold; nothing for a key that does not work. Whether somebody may know is for the caller to ask.
    pub fn allowances(&self, key: &KeyRecord, now: UnixMillis) -> Vec<AllowanceView> {
        let mut secrets = key.secrets.iter().filter(|secret| secret.is_valid_at(now));
        let principal = secrets.find_map(|secret| self.recognise(&secret.hash, now).ok());
        principal.map_or_else(Vec::new, |principal| principal.views(self.at(now)))
    }

    /// How many sessions there are that have a budget of each session to themselves.
    pub fn sessions_of_budget(&self, budget: &BudgetRecord, now: UnixMillis) -> u64 {
        self.principals.sessions.fullest(budget, self.at(now)).0
    }

    /// What is used of a budget, and what running requests hold; of one that each session has to itself,
    /// by the session that has the least left. Whether somebody may know is for the
    /// caller to ask.
    pub fn budget(&self, budget: &BudgetRecord, now: UnixMillis) -> Option<AllowanceView> {
        if budget.each_session {
            return Some(self.principals.sessions.fullest(budget, self.at(now)).1);
        }
        let subject = budget.subject.clone();
        let ledger = self.principals.ledgers.of(&subject);
        let allowances = [Allowance::of_budget(budget)].into();
        let subjects = LimitSubjects::new([Bound { subject, ledger, allowances }]);
        subjects.views(self.at(now)).pop()
    }

    /// The key that is presented.
    fn key_of(presented: Presented<'_>) -> Result<ServiceKey, Unrecognised> {
        if let Some(header) = presented.contradictory {
            return Err(Unrecognised::Contradictory(header));
        }
        let bearer = presented.authorization.map(|value| {
            let (scheme, token) = value.split_once(' ').unwrap_or(("", value));
            if scheme.eq_ignore_ascii_case("bearer") { token.trim() } else { value.trim() }
        });
        let parse = |text: &str| {
            ServiceKey::parse(text).map_err(|error| Unrecognised::Malformed(error.to_string()))
        };
        // Clients that always send the header leave it empty where they have no key for it.
        let own = presented.svc_api_key.map(str::trim).filter(|own| !own.is_empty());
        let key = match (bearer, own) {
            (None, None) => return Err(Unrecognised::Missing),
            (Some(bearer), None) => parse(bearer)?,
            (None, Some(own)) => parse(own)?,
            (Some(bearer), Some(own)) => {
                let own = parse(own)?;
                // Integrations leave a provider's key in `Authorization`; only two service keys
                // contradict each other.
                if ServiceKey::parse(bearer).is_ok_and(|bearer| bearer != own) {
                    return Err(Unrecognised::Conflicting);
                }
                own
            }
        };
        Ok(key)
    }

    /// The window of failed attempts from `remote`: what a response without a principal tells.
    pub fn guesses(&self, remote: Option<IpAddr>) -> RateView {
        self.guard.view(remote, self.now())
    }

    /// The models that `principal` may use, in the catalogue's order, its own routers last.
    pub fn models(&self, principal: &Principal) -> Vec<Arc<Model>> {
        let snapshot = self.snapshot();
        let catalog = &snapshot.catalog;
        let of_all = catalog.models().iter();
        let own = catalog.own_routers(&principal.account.id).map(|own| &own.entry);
        of_all
            .chain(own)
            .filter(|model| {
                resolve(catalog, &principal.attribution, model.id.as_str())
                    .is_ok_and(|model| is_listed(&principal.ruling, principal.suite, &model))
            })
            .cloned()
            .collect()
    }

    /// The models that a key may ask; none where it may ask no model at all.
    pub fn models_of_key(&self, key: &KeyRecord) -> Vec<Arc<Model>> {
        let principal = key
            .newest_secret()
            .filter(|_| key.scopes.contains(&KeyScope::Chat))
            .and_then(|secret| self.principal_with(&Arc::new(key.clone()), secret));
        principal.map(|it| self.models(&it)).unwrap_or_default()
    }

    /// Takes over when each model was first served.
    pub fn note_first_served(&self, times: HashMap<ModelId, u64>) {
        self.first_served.store(Arc::new(times));
    }

    /// When `model` was made, as far as that is known, else when it was first served here; in
    /// seconds since the Unix epoch, never 0.
    pub fn created(&self, model: &Model) -> u64 {
        if model.created > 0 {
            return model.created;
        }
        let noted = self.first_served.load().get(&model.id).copied();
        noted.unwrap_or_else(|| self.now().seconds())
    }

    /// The metrics as Prometheus scrapes them, with the server's state at this moment.
    pub fn scrape(&self) -> String {
        let (unwritten, lost) = match self.accounting.journal.unwritten() {
            Some(unwritten) => (unwritten.waiting, unwritten.lost),
            None => (0, 0),
        };
        self.metrics().note_state(self.is_ready(), unwritten, lost);
        self.metrics().render()
    }

    /// The metrics that Prometheus scrapes.
    pub fn metrics(&self) -> &Metrics {
        &self.accounting.metrics
    }

    /// The same, for whoever counts something of its own.
    pub fn shared_metrics(&self) -> Arc<Metrics> {
        self.accounting.metrics.clone()
    }

    /// Whether everything that is asked is written down: `false` while the journal cannot be.
    pub fn journal_is_healthy(&self) -> bool {
        self.accounting.journal.healthy()
    }

    /// Whether what must be audited can be: there is room for it, and the journal is written.
    pub fn keeps_audits(&self) -> bool {
        self.accounting.journal.healthy() && self.accounting.journal.has_room()
    }

    /// Notes whether the database could be reached.
    pub fn note_database(&self, healthy: bool) {
        self.database_is_down.store(!healthy, Ordering::Relaxed);
    }

    /// Whether the database could be reached the last time. Requests go on without it.
    pub fn database_is_healthy(&self) -> bool {
        !self.database_is_down.load(Ordering::Relaxed)
    }

    /// Notes whether records get into the database, or may be expected to soon.
    pub fn note_records(&self, kept: bool) {
        self.records_are_stuck.store(!kept, Ordering::Relaxed);
    }

    /// How many providers fail, or asked to be left alone.
    pub fn failing_providers(&self, now: UnixMillis) -> u64 {
        let snapshot = self.snapshot();
        let states = snapshot.providers.values().map(|provider| provider.health.state(now));
        let failing =
            |it: &ProviderState| matches!(it, ProviderState::Failing | ProviderState::Resting);
        states.filter(failing).count() as u64
    }

    /// How many keys are due for rotation, and may be rotated by whoever acts. Nothing is read but
    /// what is in memory.
    pub fn keys_to_rotate(&self, actor: &Actor, now: UnixMillis) -> u64 {
        self.directory.due_for_rotation(actor, self.snapshot().rules.rotate_after_days, now)
    }

    /// Whether new requests may come: not while the process is about to stop, nor while what is
    /// asked cannot be written down for good.
    pub fn is_ready(&self) -> bool {
        !self.is_draining()
            && self.journal_is_healthy()
            && !self.records_are_stuck.load(Ordering::Relaxed)
    }

    /// The current time.
    pub fn now(&self) -> UnixMillis {
        self.accounting.clock.now()
    }

    /// The moment that a caller takes for this one.
    fn at(&self, wall: UnixMillis) -> Moment {
        Moment { wall, steady: self.clock().steady() }
    }

    /// The clock that tells it.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.accounting.clock
    }

    /// From now on `/readyz` says no: new requests should go elsewhere.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    /// Cuts off every answer under way; a stream ends with an error event.
    pub fn cut(&self) {
        self.shutdown.now();
    }

    /// Whether the process is about to stop.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }
}
