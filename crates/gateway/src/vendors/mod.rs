//! Providers and their models: those of the configuration file or the environment, and beside them
//! those that people put into the database.
//!
//! What is served is made of both by [`serve`], which is pure. What the file has wins: a name that it
//! has is taken. What does not fit, or no longer, is left out and told; it never stops a start.

mod documented;
mod model;
mod nearest;
mod provider;
mod router;
#[cfg(test)]
mod tests;
mod wrong;

use std::collections::HashSet;
use std::sync::Arc;

use sluice_core::ids::ModelId;
use sluice_providers::presets::{self, Preset, WireDialect};
use sluice_routing::catalog::facts::FactList;
use sluice_routing::catalog::{Catalog, Model, OwnRouter};
use sluice_storage::{MasterKey, ModelRecord, ProviderRecord, RouterRecord, StorageError, Store};

pub use documented::{documented_level, second_name};
pub use model::{ModelSettings, ModelSpec, all_models, model, pace};
pub use nearest::nearest;
pub(crate) use provider::check;
pub use provider::{
    BASE_URL_FIX, CheckedProvider, ProviderCheck, ProviderSecrets, ProviderSettings, ProviderSpec,
    checked_base_url,
};
pub use router::{AroundRouter, RouterSpec, checked_router_name};
pub use sluice_routing::catalog::facts::ListPrice;
pub use sluice_routing::router::{Policy as RouterPolicy, Router};
pub use wrong::Wrong;
pub(crate) use wrong::listed;

/// What routers are called among what is left out.
const ROUTER: &str = "router";

/// The documented kinds of providers that somebody can connect.
pub fn kinds() -> impl Iterator<Item = &'static Preset> {
    presets::all().iter().filter(|preset| preset.dialect != WireDialect::Simulator)
}

/// What the configuration file gives, or what was found where there is none.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Whether the providers were found rather than configured.
    pub found: bool,
    /// The providers.
    pub providers: Vec<CheckedProvider>,
    /// The models that run at them.
    pub models: Vec<Model>,
    /// Second names of models.
    pub second_names: Vec<Model>,
    /// The routers, each with its entry among the models.
    pub routers: Vec<(Router, Model)>,
    /// The ids of models and routers that the file itself has.
    pub named: HashSet<String>,
    /// What is known about models.
    pub facts: FactList,
}

impl Given {
    /// Whether a provider of this name is in it.
    pub fn has_provider(&self, name: &str) -> bool {
        self.providers.iter().any(|provider| provider.settings.id.as_str() == name)
    }

    /// Whether a model or router of this id is in it.
    pub fn has_model(&self, id: &str) -> bool {
        self.named.contains(id) || self.models.iter().any(|model| model.id.as_str() == id)
    }

    /// The models without the routers, as they would be served without anything in the database.
    pub fn without_routers(&self) -> Catalog {
        plain(self.models.clone(), self.second_names.clone(), |id| self.named.contains(id))
    }

    /// Whether there is only the simulator, since nothing else was found: it makes room.
    fn is_a_stopgap(&self) -> bool {
        let simulates = |it: &CheckedProvider| it.settings.dialect == WireDialect::Simulator;
        self.found && self.named.is_empty() && self.providers.iter().all(simulates)
    }
}

/// What people put into the database, with its secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vendors {
    /// The providers. The secrets of one that was sealed under another key cannot be read.
    pub providers: Vec<(ProviderRecord, Result<ProviderSecrets, Unreadable>)>,
    /// The models.
    pub models: Vec<ModelRecord>,
    /// The routers.
    pub routers: Vec<RouterRecord>,
}

/// Secrets were sealed under another master key, or damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its secrets were sealed under another master key; give it its credential again")]
pub struct Unreadable;

impl Vendors {
    /// Everything that is in the database now.
    pub async fn read(store: &Store, master: &MasterKey) -> Result<Self, StorageError> {
        let records = store.vendors().await?;
        let providers = records.providers.into_iter().map(|record| {
            let secrets = secrets_of(&record, master);
            (record, secrets)
        });
        Ok(Self {
            providers: providers.collect(),
            models: records.models,
            routers: records.routers,
        })
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty() && self.models.is_empty() && self.routers.is_empty()
    }
}

/// The secrets of a provider.
pub(crate) fn secrets_of(
    record: &ProviderRecord,
    master: &MasterKey,
) -> Result<ProviderSecrets, Unreadable> {
    let Some(sealed) = &record.secrets else { return Ok(ProviderSecrets::default()) };
    let text = sealed.open(master, &record.name).ok_or(Unreadable)?;
    ProviderSecrets::of_text(&text).ok_or(Unreadable)
}

/// What is served.
#[derive(Debug, Clone, Default)]
pub struct Served {
    /// The providers.
    pub providers: Vec<ProviderSettings>,
    /// The models that they have, and the routers over them.
    pub catalog: Catalog,
    /// What of the database is not served.
    pub left_out: Vec<LeftOut>,
}

/// Something of the database that is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// `provider`, `model` or `router`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Why, and what to do about it.
    pub why: String,
}

/// What `given` and `vendors` amount to together.
pub fn serve(given: &Given, vendors: &Vendors) -> Served {
    let mut own = Own { given, providers: Vec::new(), left_out: Vec::new() };
    for (record, secrets) in &vendors.providers {
        own.provider(record, secrets);
    }
    let (models, second_names) = own.models(&vendors.models);
    let Own { providers: own, mut left_out, .. } = own;

    let is_replaced = given.is_a_stopgap() && models.iter().any(|model| !model.simulated);
    let given_models = if is_replaced { &[] } else { given.models.as_slice() };
    let given_providers = if is_replaced { &[] } else { given.providers.as_slice() };
    let models: Vec<Model> = given_models.iter().cloned().chain(models).collect();
    let second_names: Vec<Model> = given.second_names.iter().cloned().chain(second_names).collect();
    let own_ids: HashSet<&str> = vendors.models.iter().map(|model| model.id.as_str()).collect();
    let is_defined = |id: &str| given.named.contains(id) || own_ids.contains(id);
    let models = plain(models, second_names, is_defined);

    let (mut routers, mut entries): (Vec<Router>, Vec<Model>) =
        given.routers.iter().cloned().unzip();
    for router in Router::built_in(models.models()) {
        let id = router.id.as_str();
        let is_taken = given.named.contains(id) || models.get(id).is_some();
        if !is_taken && !router.members.is_empty() {
            entries.push(router.entry());
            routers.push(router);
        }
    }
    let mut catalog = models.with_models(entries).with_routers(routers);
    for record in &vendors.routers {
        match own_router(record, &catalog) {
            Ok((own, missing)) => {
                catalog = catalog.with_own_router(record.account_id.clone(), own);
                left_out.extend(missing.map(|why| LeftOut::router(record, why)));
            }
            Err(why) => left_out.push(LeftOut::router(record, why)),
        }
    }
    let providers = given_providers.iter().chain(&own);
    Served {
        providers: providers.map(|provider| provider.settings.clone()).collect(),
        catalog,
        left_out,
    }
}

impl LeftOut {
    fn router(record: &RouterRecord, why: String) -> Self {
        Self { kind: ROUTER, name: router_name(record), why }
    }

    /// Whether it is this router.
    pub(crate) fn is_router(&self, record: &RouterRecord) -> bool {
        self.kind == ROUTER && self.name == router_name(record)
    }
}

/// The name of a router with what tells it from one of another account.
fn router_name(record: &RouterRecord) -> String {
    format!("{} ({})", record.name, record.id)
}

/// What a router of the database amounts to over the models of `catalog`. One that has lost members
/// goes on with the others, and says so; one that has lost all is left out.
fn own_router(
    record: &RouterRecord,
    catalog: &Catalog,
) -> Result<(OwnRouter, Option<String>), String> {
    let name = record.name.as_str();
    if catalog.get(name).is_some() {
        let why = "the configuration file has a model or router of this name; remove one of them";
        return Err(why.to_owned());
    }
    let spec = serde_json::from_value::<RouterSpec>(record.settings.clone())
        .map_err(|error| format!("its settings cannot be read: {error}"))?;
    let (spec, missing) = spec.without_missing(|member| catalog.get(member).is_some());
    let last_changed =
        record.changed_at.to_rfc3339().split_once('T').map(|(day, _)| day.to_owned());
    let spec = RouterSpec { last_changed, ..spec };
    let (router, entry) =
        spec.checked(name, &around(catalog)).map_err(|problems| listed(&problems))?;
    let own = OwnRouter {
        id: record.id.clone(),
        of: record.subject.clone(),
        router: Arc::new(router),
        entry: Arc::new(entry),
    };
    let names: Vec<String> = missing.iter().map(|name| format!("{name:?}")).collect();
    let without = (!missing.is_empty())
        .then(|| format!("it goes on without {}, which is not served", names.join(" and ")));
    Ok((own, without))
}

/// What routers of the database are checked against.
pub(crate) fn around(catalog: &Catalog) -> AroundRouter<'_> {
    AroundRouter {
        models: catalog,
        is_router: Box::new(|name| catalog.router(name).is_some()),
        is_excused: Box::new(|_| false),
        fix: "`sluice models list` names all models",
    }
}

/// Models, second names of them, and the documented identifiers that nobody has defined.
fn plain(
    models: Vec<Model>,
    second_names: Vec<Model>,
    is_defined: impl Fn(&str) -> bool,
) -> Catalog {
    let documented = documented::documented(is_defined, &models);
    Catalog::new(models.into_iter().chain(second_names).chain(documented))
}

/// What of the database is served, as far as it has been looked at.
struct Own<'a> {
    given: &'a Given,
    providers: Vec<CheckedProvider>,
    left_out: Vec<LeftOut>,
}

impl Own<'_> {
    fn leave_out(&mut self, kind: &'static str, name: &str, why: impl Into<String>) {
        self.left_out.push(LeftOut { kind, name: name.to_owned(), why: why.into() });
    }

    fn provider(&mut self, record: &ProviderRecord, secrets: &Result<ProviderSecrets, Unreadable>) {
        let name = record.name.as_str();
        if self.given.has_provider(name) {
            let why = "the configuration file has a provider of this name; remove one of them";
            return self.leave_out("provider", name, why);
        }
        let spec = match serde_json::from_value::<ProviderSpec>(record.settings.clone()) {
            Ok(spec) => spec,
            Err(error) => {
                let why = format!("its settings cannot be read: {error}");
                return self.leave_out("provider", name, why);
            }
        };
        let secrets = match secrets {
            Ok(secrets) => secrets,
            Err(error) => return self.leave_out("provider", name, error.to_string()),
        };
        match check(name, &spec, secrets) {
            Ok(provider) => self.providers.push(provider),
            Err(problems) => self.leave_out("provider", name, listed(&problems)),
        }
    }

    fn find(&self, name: &str) -> Option<&CheckedProvider> {
        let all = self.given.providers.iter().chain(&self.providers);
        all.into_iter().find(|provider| provider.settings.id.as_str() == name)
    }

    /// The models that run somewhere, and second names of models.
    fn models(&mut self, records: &[ModelRecord]) -> (Vec<Model>, Vec<Model>) {
        let (mut models, mut second) = (Vec::new(), Vec::new());
        let mut named: HashSet<String> = HashSet::new();
        for record in records {
            let id = record.id.as_str();
            let spec = serde_json::from_value::<ModelSpec>(record.settings.clone());
            if let Ok(spec) = &spec {
                named.extend(spec.provider.iter().cloned());
            }
            if self.given.has_model(id) {
                let why = "the configuration file has a model of this name; remove one of them";
                self.leave_out("model", id, why);
                continue;
            }
            let spec = match spec {
                Ok(spec) => spec,
                Err(error) => {
                    self.leave_out("model", id, format!("its settings cannot be read: {error}"));
                    continue;
                }
            };
            match spec.checked(id) {
                Ok(settings) if spec.same_as.is_none() => {
                    models.extend(self.model(id, &spec, &settings));
                }
                Ok(settings) => second.push((id, spec, settings)),
                Err(problems) => self.leave_out("model", id, listed(&problems)),
            }
        }
        let mut ids: HashSet<ModelId> =
            self.given.models.iter().chain(&models).map(|model| model.id.clone()).collect();
        ids.extend(
            self.given.named.iter().chain(records.iter().map(|it| &it.id)).map(|id| (&**id).into()),
        );
        for provider in self.providers.iter().filter(|it| !named.contains(it.settings.id.as_str()))
        {
            let all = all_models(provider, &self.given.facts);
            models.extend(all.into_iter().filter(|model| ids.insert(model.id.clone())));
        }
        let second = second.into_iter().filter_map(|(id, spec, settings)| {
            let target = spec.same_as.as_deref().unwrap_or_default();
            let found = self.given.models.iter().chain(&models).find(|it| it.id.as_str() == target);
            if found.is_none() {
                let why = format!("there is no model {target:?} that it could be a name of");
                self.left_out.push(LeftOut { kind: "model", name: id.to_owned(), why });
            }
            found.map(|target| second_name_of(id, &settings, target))
        });
        let second = second.collect();
        (models, second)
    }

    fn model(&mut self, id: &str, spec: &ModelSpec, settings: &ModelSettings) -> Option<Model> {
        let (there, missing): (Vec<_>, Vec<_>) =
            spec.provider.iter().partition(|name| self.find(name).is_some());
        if there.is_empty() {
            let names: Vec<String> = missing.iter().map(|name| format!("{name:?}")).collect();
            let why = format!("there is no provider {} that is served", names.join(" or "));
            self.leave_out("model", id, why);
            return None;
        }
        let providers: Vec<&CheckedProvider> =
            there.iter().filter_map(|name| self.find(name)).collect();
        Some(model(id, settings, &providers, &self.given.facts))
    }
}

/// A second name of a model, with what is said of it.
fn second_name_of(id: &str, said: &ModelSettings, target: &Model) -> Model {
    let mut alias = second_name(id, target);
    alias.minimum_level = alias.minimum_level.max(said.minimum_level);
    alias.suite = said.suite.unwrap_or(alias.suite);
    alias.created = said.created.unwrap_or(alias.created);
    if let Some(owner) = &said.owned_by {
        alias.owned_by.clone_from(owner);
    }
    alias
}
