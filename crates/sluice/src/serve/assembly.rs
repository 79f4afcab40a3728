//! From checked settings to what serves requests.

use std::collections::HashMap;
use std::sync::Arc;

use sluice_api::Cors;
use sluice_core::clock::Clock;
use sluice_core::ids::ProviderId;
use sluice_core::key::{AccountTier, KeyClass};
use sluice_core::level::SecurityLevel;
use sluice_gateway::health::ProviderHealth;
use sluice_gateway::limits::Limits;
use sluice_gateway::snapshot::{Provider, Rules, Snapshot, TierRules, Timeouts};
use sluice_providers::adapter::Adapter;
use sluice_providers::adapters::anthropic::AnthropicMessages;
use sluice_providers::adapters::gemini::GeminiGenerateContent;
use sluice_providers::adapters::openai::OpenAiChat;
use sluice_providers::endpoint::Endpoint;
use sluice_providers::presets::WireDialect;
use sluice_providers::simulator::{Pace, Simulator};
use sluice_providers::transport::HttpUpstream;
use sluice_providers::upstream::Upstream;

use crate::config::{ProviderSettings, Settings};

/// What outlives a change of the configuration: connections to providers.
pub(crate) struct Assembly {
    network: Arc<dyn Upstream>,
    simulator: Arc<dyn Upstream>,
}

impl Assembly {
    /// Opens no connection yet.
    pub(crate) fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Self {
        Self {
            network: Arc::new(HttpUpstream::new(settings.timeouts.connect_seconds.duration())),
            simulator: Arc::new(Simulator::new(clock, Pace::Realistic)),
        }
    }

    /// The snapshot that `settings` amount to. What `old` knows of providers' health is kept.
    pub(crate) fn snapshot(&self, settings: &Settings, old: Option<&Snapshot>) -> Snapshot {
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
                let endpoint = Arc::new(endpoint(provider));
                let health = health(&provider.id);
                (provider.id.clone(), Provider { endpoint, upstream, health })
            })
            .collect();
        Snapshot {
            catalog: settings.catalog.clone(),
            providers,
            rules: rules(settings),
            timeouts: Timeouts {
                first_token: settings.timeouts.first_token_seconds.duration(),
                idle: settings.timeouts.idle_seconds.duration(),
                total: settings.timeouts.total_seconds.duration(),
                keep_alive: settings.server.keep_alive_seconds.duration(),
            },
        }
    }
}

/// What `settings` say about HTTP.
pub(crate) fn api_settings(settings: &Settings) -> sluice_api::Settings {
    let origins = &settings.server.cors_allowed_origins;
    sluice_api::Settings {
        request_body_limit_mib: usize::try_from(settings.server.request_body_limit_mib.0)
            .unwrap_or(usize::MAX),
        cors: Cors::new(origins.iter().map(|origin| origin.0.clone()).collect()),
    }
}

fn endpoint(provider: &ProviderSettings) -> Endpoint {
    let adapter: Arc<dyn Adapter> = match provider.dialect {
        WireDialect::OpenAi | WireDialect::Simulator => Arc::new(OpenAiChat),
        WireDialect::Anthropic => Arc::new(AnthropicMessages),
        WireDialect::Gemini => Arc::new(GeminiGenerateContent),
    };
    Endpoint {
        id: provider.id.clone(),
        adapter,
        base_url: provider.base_url.clone(),
        query: provider.query.clone(),
        auth: provider.auth.clone(),
        credential: provider.credential.clone(),
        headers: provider.headers.clone(),
        quirks: provider.quirks,
        region: provider.region,
    }
}

fn rules(settings: &Settings) -> Rules {
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
        minimum_level: SecurityLevel::Standard,
    }
}
