//! Trying providers: with what they have, or with what they would have.

use std::sync::Arc;
use std::time::Duration;

use sluice_core::ids::ProviderId;
use sluice_providers::presets;
use sluice_providers::probe::{self, Reached};
use sluice_providers::transport::HttpUpstream;
use sluice_providers::upstream::Upstream;

use super::providers::{NewProvider, ProviderChange, check};
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError};
use crate::snapshot::Snapshot;
use crate::vendors::{Given, ProviderSettings, ProviderSpec};

/// How long connecting to a provider may take that is only tried.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

impl Admin<'_> {
    /// What `wish` amounts to, without putting it in: to be tried first.
    pub fn checked_provider(&self, wish: &NewProvider) -> Result<ProviderSettings, AdminError> {
        check(&wish.name, &wish.spec, &wish.secrets)
    }

    /// Makes one cheap call of a provider that its credential has to be good for. `known` are names of
    /// its models there, for a provider without a list of them.
    pub async fn test_provider(
        &self,
        provider: &ProviderSettings,
        known: &[String],
        upstream: &dyn Upstream,
    ) -> Result<Reached, AdminError> {
        self.may(Verb::TestProvider).await?;
        let Some(preset) = presets::find(provider.kind) else {
            return Err(AdminError::NoSuchProvider { name: provider.id.to_string() });
        };
        let endpoint = Arc::new(provider.endpoint());
        Ok(probe::reach(&endpoint, preset, known, upstream).await?)
    }

    /// Asks one model of a provider, by its name there, for an answer of one token; how long that took.
    pub async fn test_model(
        &self,
        provider: &ProviderSettings,
        upstream_model: &str,
        upstream: &dyn Upstream,
    ) -> Result<Duration, AdminError> {
        self.may(Verb::TestProvider).await?;
        let endpoint = Arc::new(provider.endpoint());
        Ok(probe::answer(&endpoint, upstream_model, upstream).await?)
    }

    /// Asks a provider that is not put in yet, as it would be. `known` are names of its models.
    pub async fn try_provider(
        &self,
        wish: &NewProvider,
        known: &[String],
    ) -> Result<Reached, AdminError> {
        self.may(Verb::TestProvider).await?;
        let headers = wish.secrets.headers.keys().cloned().collect();
        let spec = ProviderSpec { headers, ..wish.spec.clone() };
        let provider = check(&wish.name, &spec, &wish.secrets)?;
        self.test_provider(&provider, known, &HttpUpstream::new(CONNECT_PATIENCE)).await
    }

    /// Asks a provider of the database as it would be after `change`, which is not made. `known` are
    /// names of its models there. Fails as [`Admin::change_provider`] does.
    pub async fn try_change(
        &self,
        given: &Given,
        name: &str,
        change: ProviderChange,
        known: &[String],
    ) -> Result<Reached, AdminError> {
        let Some(record) = self.provider(given, name).await?.record else {
            return Err(AdminError::ManagedByFile { what: format!("provider {name}") });
        };
        self.try_provider(&self.changed(&record, change)?, known).await
    }

    /// Asks a provider that is served.
    pub async fn test_served(
        &self,
        snapshot: &Snapshot,
        name: &str,
    ) -> Result<Reached, AdminError> {
        self.may(Verb::TestProvider).await?;
        let missing = || AdminError::NoSuchProvider { name: name.to_owned() };
        let kind = self.provider(&snapshot.given, name).await?.kind;
        let preset = presets::find(&kind).ok_or_else(missing)?;
        let served = snapshot.providers.get(&ProviderId::from(name)).ok_or_else(missing)?;
        let at = snapshot.catalog.models().iter().flat_map(|model| &model.deployments);
        let known = at.filter(|at| at.provider.as_str() == name);
        let known: Vec<String> = known.map(|at| at.upstream_model.clone()).take(1).collect();
        Ok(probe::reach(&served.endpoint, preset, &known, &*served.upstream).await?)
    }

    /// The names of the models that a provider lists itself.
    pub async fn discover(
        &self,
        provider: &ProviderSettings,
        upstream: &dyn Upstream,
    ) -> Result<Vec<String>, AdminError> {
        self.may(Verb::TestProvider).await?;
        let Some(preset) = presets::find(provider.kind) else {
            return Err(AdminError::NoSuchProvider { name: provider.id.to_string() });
        };
        let endpoint = Arc::new(provider.endpoint());
        Ok(probe::list(&endpoint, preset, upstream).await?)
    }
}
