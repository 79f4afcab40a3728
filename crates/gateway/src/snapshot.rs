//! One view of the configuration, from a request's beginning to its end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sluice_core::ids::{ModelId, ProviderId};
use sluice_core::key::{AccountTier, KeyClass, Suite};
use sluice_core::level::SecurityLevel;
use sluice_core::money::Price;
use sluice_core::region::Region;
use sluice_providers::endpoint::Endpoint;
use sluice_providers::upstream::Upstream;
use sluice_routing::catalog::{Catalog, Deployment, Model};
use sluice_routing::speed::DeploymentSpeed;
use sluice_security::request::Filter;
use sluice_storage::{AccountRecord, KeyRecord};

use crate::health::ProviderHealth;
use crate::limits::{Allowance, Limits, OwnFigures};
use crate::vendors::Given;

/// Everything that the configuration file says about requests. Never changed, only replaced.
pub struct Snapshot {
    /// Models and prices.
    pub catalog: Catalog,
    /// What of both is the configuration file's, or was found where there is none.
    pub given: Arc<Given>,
    /// Providers, by name.
    pub providers: HashMap<ProviderId, Provider>,
    /// How fast the models are at each of their providers.
    pub speeds: Speeds,
    /// What classes, tiers and keys may do.
    pub rules: Rules,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// What must not leave, and what must not come back.
    pub filter: Arc<Filter>,
}

/// How fast each deployment of each model has been, shared by all requests.
#[derive(Debug, Default)]
pub struct Speeds(HashMap<ModelId, Vec<Arc<DeploymentSpeed>>>);

impl Speeds {
    /// Room for the deployments of `catalog`. What `old` knows of those that it had is kept.
    pub fn new(catalog: &Catalog, old: Option<&Snapshot>) -> Self {
        let known = |model: &ModelId, at: &Deployment| {
            let old = old?;
            let before = old.catalog.get(model.as_str())?;
            let same =
                |d: &Deployment| d.provider == at.provider && d.upstream_model == at.upstream_model;
            let place = before.deployments.iter().position(same)?;
            old.speeds.of(model).get(place).cloned()
        };
        let of = |model: &Arc<Model>| {
            let speeds =
                model.deployments.iter().map(|at| known(&model.id, at).unwrap_or_default());
            (model.id.clone(), speeds.collect())
        };
        Self(catalog.models().iter().map(of).collect())
    }

    /// The speeds of a model's deployments, in their order.
    pub fn of(&self, model: &ModelId) -> &[Arc<DeploymentSpeed>] {
        self.0.get(model).map_or(&[], Vec::as_slice)
    }
}

/// A provider, and what sends to it.
#[derive(Clone)]
pub struct Provider {
    /// Where and in which dialect.
    pub endpoint: Arc<Endpoint>,
    /// What sends: the network, or the simulator.
    pub upstream: Arc<dyn Upstream>,
    /// How it has been doing. Kept over changes of the configuration.
    pub health: Arc<ProviderHealth>,
}

/// Timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a stream's first content.
    pub first_token: Duration,
    /// For a whole answer, as long as another provider could be asked instead.
    pub whole_answer: Duration,
    /// Between two pieces of a stream.
    pub idle: Duration,
    /// For a whole request, all attempts together.
    pub total: Duration,
    /// After how much silence a stream gets a comment, so that nobody in between hangs up.
    pub keep_alive: Duration,
}

/// What holds for classes of keys and tiers of accounts.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Requests an hour and tokens a day, by class.
    pub classes: HashMap<KeyClass, Limits>,
    /// Limits of all keys of an account together, by tier.
    pub tiers: HashMap<AccountTier, TierRules>,
    /// Where requests are processed when neither request, key nor account says.
    pub default_region: Option<Region>,
    /// The least strict level of all requests.
    pub minimum_level: SecurityLevel,
    /// The age, in days, at which a key's secret should be replaced.
    pub rotate_after_days: u64,
    /// What is kept of the audit trail, and for how long.
    pub audit: AuditRules,
    /// What budgets of money count where a model's price is not known; `None`: nothing, and where
    /// they must not be exceeded it is not asked.
    pub fallback_price: Option<Arc<Price>>,
}

/// What is kept of the audit trail, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuditRules {
    /// How many bytes of redacted content are kept beside an entry that asks for it; 0: none.
    pub content_bytes: usize,
    /// How many days they are kept.
    pub content_days: u64,
    /// How many days entries are kept; 0: for ever.
    pub retention_days: u64,
}

/// What holds for one tier.
#[derive(Debug, Clone, Copy)]
pub struct TierRules {
    /// The figures.
    pub limits: Limits,
    /// The models.
    pub suite: Suite,
}

impl Rules {
    /// The figures of one key: its own, else those of its class.
    pub fn key_limits(&self, key: &KeyRecord) -> Limits {
        let class = self.classes.get(&key.class).copied().unwrap_or_default();
        Limits {
            requests_per_hour: key.requests_per_hour.or(class.requests_per_hour),
            tokens_per_day: key.tokens_per_day.or(class.tokens_per_day),
            concurrent_requests: class.concurrent_requests,
            section: class.section,
        }
    }

    /// The same as allowances.
    pub fn key_allowances(&self, key: &KeyRecord) -> Arc<[Allowance]> {
        self.key_limits(key).allowances("class", Self::key_own(key))
    }

    /// The allowances of a key of a class that has no figures of its own.
    pub fn class_allowances(&self, class: KeyClass) -> Arc<[Allowance]> {
        let limits = self.classes.get(&class).copied().unwrap_or_default();
        limits.allowances("class", OwnFigures::default())
    }

    /// Which of [`Rules::key_limits`] are the key's own.
    pub fn key_own(key: &KeyRecord) -> OwnFigures {
        OwnFigures {
            requests_per_hour: key.requests_per_hour.is_some(),
            tokens_per_day: key.tokens_per_day.is_some(),
            concurrent_requests: false,
        }
    }

    /// The figures and the models of one account: its own, else those of its tier.
    pub fn account_rules(&self, account: &AccountRecord) -> TierRules {
        let tier = self
            .tiers
            .get(&account.tier)
            .copied()
            .unwrap_or(TierRules { limits: Limits::default(), suite: Suite::Basic });
        let limits = Limits {
            requests_per_hour: account.requests_per_hour.or(tier.limits.requests_per_hour),
            tokens_per_day: account.tokens_per_day.or(tier.limits.tokens_per_day),
            concurrent_requests: account.concurrent_requests.or(tier.limits.concurrent_requests),
            section: tier.limits.section,
        };
        TierRules { limits, suite: tier.suite }
    }

    /// The figures of [`Rules::account_rules`] as allowances.
    pub fn account_allowances(&self, account: &AccountRecord) -> Arc<[Allowance]> {
        self.account_rules(account).limits.allowances("tier", Self::account_own(account))
    }

    /// Which of the figures of [`Rules::account_rules`] are the account's own.
    pub fn account_own(account: &AccountRecord) -> OwnFigures {
        OwnFigures {
            requests_per_hour: account.requests_per_hour.is_some(),
            tokens_per_day: account.tokens_per_day.is_some(),
            concurrent_requests: account.concurrent_requests.is_some(),
        }
    }
}
