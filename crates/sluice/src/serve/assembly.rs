//! From checked settings to what serves requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sluice_api::Cors;
use sluice_core::clock::Clock;
use sluice_core::ids::ProviderId;
use sluice_core::key::{AccountTier, KeyClass};
use sluice_core::secret::Secret;
use sluice_gateway::health::ProviderHealth;
use sluice_gateway::limits::Limits;
use sluice_gateway::snapshot::{
    AuditRules, Provider, Rules, Snapshot, Speeds, TierRules, Timeouts,
};
use sluice_providers::presets::WireDialect;
use sluice_providers::simulator::{Pace, Simulator};
use sluice_providers::transport::HttpUpstream;
use sluice_providers::upstream::Upstream;
use sluice_security::request::Filter;
use sluice_security::scan::SettingsProblem;
use sluice_storage::MasterKey;

use crate::config::Settings;
use crate::config::sections::SecuritySettings;

/// What the placeholders' secret is derived with.
pub(crate) const FILTER_LABEL: &str = "placeholders";

/// What outlives a change of the configuration: connections to providers, and the filter as long as
/// its own settings stay the same.
pub(crate) struct Assembly {
    filter_secret: Secret<[u8; 32]>,
    filter: Mutex<Option<(SecuritySettings, Arc<Filter>)>>,
    network: Arc<dyn Upstream>,
    simulator: Arc<dyn Upstream>,
}

impl Assembly {
    /// Opens no connection yet.
    pub(crate) fn new(settings: &Settings, clock: Arc<dyn Clock>, master_key: &MasterKey) -> Self {
        Self {
            filter_secret: master_key.derive(FILTER_LABEL),
            filter: Mutex::default(),
            network: Arc::new(HttpUpstream::new(settings.timeouts.connect_seconds.duration())),
            simulator: Arc::new(Simulator::new(clock, Pace::Realistic)),
        }
    }

    /// The filter that `settings` amount to. The same as before where nothing of it has changed, so
    /// that what it remembers is not lost.
    fn filter(&self, settings: &SecuritySettings) -> Result<Arc<Filter>, SettingsProblem> {
        let mut kept = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, filter)) = &*kept
            && of == settings
        {
            return Ok(filter.clone());
        }
        let filter = Arc::new(Filter::new(&settings.filter(), *self.filter_secret.expose())?);
        *kept = Some((settings.clone(), filter.clone()));
        Ok(filter)
    }

    /// The snapshot that `settings` amount to. What `old` knows of providers' health is kept.
    pub(crate) fn snapshot(
        &self,
        settings: &Settings,
        old: Option<&Snapshot>,
    ) -> Result<Snapshot, SettingsProblem> {
        let health = |id: &ProviderId| {
            old.and_then(|old| old.providers.get(id))
                .map_or_else(|| Arc::new(ProviderHealth::default()), |known| known.health.clone())
        };
        let providers: HashMap<ProviderId, Provider> = settings
            .providers
            .iter()
            .map(|provider| {
                let upstream = match provider.dialect {
                    WireDialect::Simulator => self.simulator.clone(),
                    _ => self.network.clone(),
                };
                let endpoint = Arc::new(provider.endpoint());
                let health = health(&provider.id);
                (provider.id.clone(), Provider { endpoint, upstream, health })
            })
            .collect();
        Ok(Snapshot {
            speeds: Speeds::new(&settings.catalog, old),
            catalog: settings.catalog.clone(),
            given: settings.given.clone(),
            providers,
            rules: rules(settings),
            timeouts: Timeouts {
                first_token: settings.timeouts.first_token_seconds.duration(),
                whole_answer: settings.timeouts.whole_answer_seconds.duration(),
                idle: settings.timeouts.idle_seconds.duration(),
                total: settings.timeouts.total_seconds.duration(),
                keep_alive: settings.server.keep_alive_seconds.duration(),
            },
            filter: self.filter(&settings.security)?,
        })
    }
}

/// What `settings` say about HTTP.
pub(crate) fn api_settings(settings: &Settings) -> sluice_api::Settings {
    let origins = &settings.server.cors_allowed_origins;
    let mib = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    sluice_api::Settings {
        request_body_limit_mib: mib(settings.server.request_body_limit_mib.0),
        body_memory_mib: mib(settings.server.body_memory_mib.0),
        cors: Cors::new(origins.iter().map(|origin| origin.0.clone()).collect()),
    }
}

/// The limits that `settings` give to classes and tiers, and what else holds for all.
pub(crate) fn rules(settings: &Settings) -> Rules {
    let classes = KeyClass::ALL.into_iter().map(|class| {
        let of = settings.keys.of(class);
        let limits = Limits {
            requests_per_hour: of.requests_per_hour.0,
            tokens_per_day: of.tokens_per_day.0,
            concurrent_requests: None,
            section: match class {
                KeyClass::Development => "keys.development",
                KeyClass::Production => "keys.production",
                KeyClass::Enterprise => "keys.enterprise",
            },
        };
        (class, limits)
    });
    let tiers = AccountTier::ALL.into_iter().map(|tier| {
        let of = settings.limits.of(tier);
        let limits = Limits {
            requests_per_hour: of.requests_per_hour.0,
            tokens_per_day: of.tokens_per_day.0,
            concurrent_requests: of.concurrent_requests.0,
            section: match tier {
                AccountTier::Lowest => "limits.lowest",
                AccountTier::Middle => "limits.middle",
                AccountTier::Highest => "limits.highest",
            },
        };
        (tier, TierRules { limits, suite: of.suite })
    });
    Rules {
        classes: classes.collect(),
        tiers: tiers.collect(),
        default_region: settings.default_region,
        minimum_level: settings.security.minimum_level,
        rotate_after_days: settings.keys.rotation_advice_days.into(),
        audit: AuditRules {
            content_bytes: usize::try_from(settings.audit.content_kib.0 << 10)
                .unwrap_or(usize::MAX),
            content_days: settings.audit.content_days.0,
            retention_days: settings.audit.retention_days.0,
        },
        fallback_price: settings.limits.fallback().map(Arc::new),
    }
}
