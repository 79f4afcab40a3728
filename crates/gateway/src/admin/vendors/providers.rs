//! Providers: listed, put in, changed, removed.

use std::collections::BTreeMap;

use sluice_core::region::Region;
use sluice_core::secret::Secret;
use sluice_providers::presets;
use sluice_storage::{Item, ModelRecord, ProviderRecord, SealedSecrets};

use super::models::creations;
use super::{Origin, settings};
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError};
use crate::vendors::{
    self, Given, ModelSpec, ProviderSecrets, ProviderSettings, ProviderSpec, Unreadable, Vendors,
    secrets_of,
};

/// The provider to put in.
#[derive(Debug, Clone, Default)]
pub struct NewProvider {
    /// Its name, which no other provider has.
    pub name: String,
    /// Its settings.
    pub spec: ProviderSpec,
    /// Its credential and the values of its headers.
    pub secrets: ProviderSecrets,
}

/// What to change about a provider; what is `None` stays. Where a setting may be missing, the inner
/// `None` takes it away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderChange {
    /// See [`ProviderSpec::base_url`]. Another address needs the credential again.
    pub base_url: Option<Option<String>>,
    /// See [`ProviderSpec::region`].
    pub region: Option<Option<Region>>,
    /// See [`ProviderSpec::api_version`].
    pub api_version: Option<Option<String>>,
    /// See [`ProviderSpec::quirks`].
    pub quirks: Option<Option<Vec<String>>>,
    /// See [`ProviderSecrets::credential`].
    pub credential: Option<Option<Secret<String>>>,
    /// See [`ProviderSecrets::headers`]: all of them.
    pub headers: Option<BTreeMap<String, Secret<String>>>,
}

/// A provider, as everybody may see it who is signed in.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderView {
    /// Its name.
    pub name: String,
    /// Who put it in.
    pub origin: Origin,
    /// Its preset.
    pub kind: String,
    /// Where it is.
    pub base_url: String,
    /// Where it processes requests.
    pub region: Option<Region>,
    /// Whether it has a credential.
    pub has_credential: bool,
    /// How many models are served there.
    pub models: usize,
    /// Why it is not served; `None`: it is.
    pub left_out: Option<String>,
    /// Its record; `None` for what the file has.
    pub record: Option<ProviderRecord>,
}

impl Admin<'_> {
    /// All providers, those of the file first.
    pub async fn providers(&self, given: &Given) -> Result<Vec<ProviderView>, AdminError> {
        self.may(Verb::SeeProvider).await?;
        let vendors = Vendors::read(self.store, self.master_key).await?;
        let served = vendors::serve(given, &vendors);
        let models_of = |name: &str| {
            let models = served.catalog.models().iter();
            models
                .filter(|model| model.deployments.iter().any(|it| it.provider.as_str() == name))
                .count()
        };
        let of_file = served.providers.iter().filter(|it| given.has_provider(it.id.as_str()));
        let mut views: Vec<ProviderView> = of_file
            .map(|it| ProviderView {
                name: it.id.to_string(),
                origin: Origin::File,
                kind: it.kind.to_owned(),
                base_url: it.base_url.clone(),
                region: it.region,
                has_credential: it.credential.is_some(),
                models: models_of(it.id.as_str()),
                left_out: None,
                record: None,
            })
            .collect();
        for (record, _) in vendors.providers {
            let left_out =
                served.left_out.iter().find(|it| it.kind == "provider" && it.name == record.name);
            let spec: ProviderSpec =
                serde_json::from_value(record.settings.clone()).unwrap_or_default();
            let usual = || presets::find(&spec.kind).and_then(|preset| preset.base_url.clone());
            views.push(ProviderView {
                name: record.name.clone(),
                origin: Origin::Database,
                base_url: spec.base_url.clone().or_else(usual).unwrap_or_default(),
                kind: spec.kind,
                region: spec.region,
                has_credential: record.credential_set_at.is_some(),
                models: if left_out.is_none() { models_of(&record.name) } else { 0 },
                left_out: left_out.map(|it| it.why.clone()),
                record: Some(record),
            });
        }
        Ok(views)
    }

    /// The provider of this name.
    pub async fn provider(&self, given: &Given, name: &str) -> Result<ProviderView, AdminError> {
        let found = self.providers(given).await?.into_iter().find(|it| it.name == name);
        found.ok_or_else(|| AdminError::NoSuchProvider { name: name.to_owned() })
    }

    /// Puts a provider in, and these models with it: all of it, or nothing.
    pub async fn create_provider(
        &self,
        given: &Given,
        wish: NewProvider,
        models: Vec<(String, ModelSpec)>,
    ) -> Result<ProviderRecord, AdminError> {
        let view = self.may(Verb::CreateProvider).await?;
        not_the_files_provider(given, &wish.name)?;
        let spec =
            ProviderSpec { headers: wish.secrets.headers.keys().cloned().collect(), ..wish.spec };
        check(&wish.name, &spec, &wish.secrets)?;
        let record = ProviderRecord {
            settings: settings(&spec)?,
            secrets: self.sealed(&wish.name, &wish.secrets)?,
            credential_set_at: wish.secrets.credential.is_some().then_some(self.now),
            created_at: self.now,
            changed: 0,
            name: wish.name,
        };
        // The models run at the provider, which is not there yet.
        let mut vendors = self.store.vendors().await?;
        vendors.providers.push(record.clone());
        let new = Item::Provider(record.clone());
        let mut deeds = vec![(Verb::CreateProvider, None, Some(new))];
        deeds.extend(creations(&self.new_models(given, &vendors, models)?));
        self.carry_out_vendors(&view, deeds).await?;
        Ok(record)
    }

    /// Changes a provider, puts these models in with it, and returns it as it is now: all of it, or
    /// nothing.
    pub async fn change_provider(
        &self,
        given: &Given,
        name: &str,
        change: ProviderChange,
        models: Vec<(String, ModelSpec)>,
    ) -> Result<ProviderRecord, AdminError> {
        let view = self.may(Verb::ChangeProvider).await?;
        not_the_files_provider(given, name)?;
        let vendors = self.store.vendors().await?;
        let old = provider_record(&vendors.providers, name)?;
        let renews = change.credential.is_some() || change.headers.is_some();
        let credential = change.credential.as_ref().map(Option::is_some);
        let NewProvider { spec, secrets, .. } = self.changed(&old, change)?;
        check(name, &spec, &secrets)?;
        let new = ProviderRecord {
            settings: settings(&spec)?,
            secrets: match renews {
                true => self.sealed(name, &secrets)?,
                false => old.secrets.clone(),
            },
            credential_set_at: match credential {
                Some(is_set) => is_set.then_some(self.now),
                None => old.credential_set_at,
            },
            ..old.clone()
        };
        let (old, now) = (Item::Provider(old), Item::Provider(new.clone()));
        let mut deeds = vec![(Verb::ChangeProvider, Some(old), Some(now))];
        deeds.extend(creations(&self.new_models(given, &vendors, models)?));
        self.carry_out_vendors(&view, deeds).await?;
        Ok(new)
    }

    /// Removes a provider and its credential; with `models`, the models that run nowhere else, too.
    /// Returns the ids of models that were removed. Where the configuration file has taken the name,
    /// the models stay: they run at the file's provider.
    pub async fn remove_provider(
        &self,
        given: &Given,
        name: &str,
        models: bool,
    ) -> Result<Vec<String>, AdminError> {
        let view = self.may(Verb::RemoveProvider).await?;
        let vendors = self.store.vendors().await?;
        // One whose name the file has taken can be removed as well.
        let is_taken = given.has_provider(name);
        let old = match provider_record(&vendors.providers, name) {
            Err(_) if is_taken => return Err(managed_by_file(name)),
            found => Item::Provider(found?),
        };
        let mut deeds = Vec::new();
        let (mut removed, mut concerned) = (Vec::new(), Vec::new());
        for model in vendors.models.into_iter().filter(|_| !is_taken) {
            let Ok(mut spec) = serde_json::from_value::<ModelSpec>(model.settings.clone()) else {
                continue;
            };
            if !spec.provider.iter().any(|it| it == name) {
                continue;
            }
            concerned.push(model.id.clone());
            spec.provider.retain(|it| it != name);
            let before = Some(Item::Model(model.clone()));
            if spec.provider.is_empty() {
                removed.push(model.id.clone());
                deeds.push((Verb::RemoveModel, before, None));
            } else {
                let new = ModelRecord { settings: settings(&spec)?, ..model };
                deeds.push((Verb::ChangeModel, before, Some(Item::Model(new))));
            }
        }
        if !concerned.is_empty() && !models {
            let what = format!("provider {name}");
            return Err(AdminError::HasModels { what, models: concerned });
        }
        deeds.push((Verb::RemoveProvider, Some(old), None));
        self.carry_out_vendors(&view, deeds).await?;
        Ok(removed)
    }

    /// What `record` becomes by `change`. What is stored in secret does not follow to another address
    /// by itself: whoever may change the address must not be sent what they may not read.
    pub(super) fn changed(
        &self,
        record: &ProviderRecord,
        change: ProviderChange,
    ) -> Result<NewProvider, AdminError> {
        let before: ProviderSpec =
            serde_json::from_value(record.settings.clone()).unwrap_or_default();
        let stored = secrets_of(record, self.master_key);
        let (has_credential, has_headers) = match &stored {
            Ok(stored) => (stored.credential.is_some(), !stored.headers.is_empty()),
            // They can be read again once the right master key is back.
            Err(Unreadable) => (true, !before.headers.is_empty()),
        };
        let keeps_secrets = (has_credential && change.credential.is_none())
            || (has_headers && change.headers.is_none());
        // What cannot be read any more is given again, all of it.
        let stored = stored.unwrap_or_default();
        let secrets = ProviderSecrets {
            credential: change.credential.unwrap_or(stored.credential),
            headers: change.headers.unwrap_or(stored.headers),
        };
        let spec = ProviderSpec {
            base_url: change.base_url.unwrap_or_else(|| before.base_url.clone()),
            region: change.region.unwrap_or(before.region),
            api_version: change.api_version.unwrap_or(before.api_version),
            quirks: change.quirks.unwrap_or(before.quirks),
            headers: secrets.headers.keys().cloned().collect(),
            kind: before.kind,
        };
        if spec.base_url != before.base_url && keeps_secrets {
            return Err(AdminError::CredentialNeeded { name: record.name.clone() });
        }
        Ok(NewProvider { name: record.name.clone(), spec, secrets })
    }

    fn sealed(
        &self,
        name: &str,
        secrets: &ProviderSecrets,
    ) -> Result<Option<SealedSecrets>, AdminError> {
        if secrets.is_empty() {
            return Ok(None);
        }
        Ok(Some(SealedSecrets::seal(self.master_key, name, &secrets.to_text())?))
    }
}

/// Whether all of it fits together.
pub(super) fn check(
    name: &str,
    spec: &ProviderSpec,
    secrets: &ProviderSecrets,
) -> Result<ProviderSettings, AdminError> {
    vendors::check(name, spec, secrets)
        .map(|provider| provider.settings)
        .map_err(AdminError::Settings)
}

fn not_the_files_provider(given: &Given, name: &str) -> Result<(), AdminError> {
    match given.has_provider(name) {
        true => Err(managed_by_file(name)),
        false => Ok(()),
    }
}

fn managed_by_file(name: &str) -> AdminError {
    AdminError::ManagedByFile { what: format!("provider {name}") }
}

fn provider_record(providers: &[ProviderRecord], name: &str) -> Result<ProviderRecord, AdminError> {
    let found = providers.iter().find(|it| it.name == name).cloned();
    found.ok_or_else(|| AdminError::NoSuchProvider { name: name.to_owned() })
}
