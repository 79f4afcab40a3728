//! Models: those of the file, and those of the built-in catalogue for providers without any.

use std::collections::HashSet;

use sluice_core::ids::ModelId;
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::money::TokenPrice;
use sluice_providers::presets::WireDialect;
use sluice_providers::simulator::{MODELS, SimulatedModel};
use sluice_routing::catalog::facts::{FactList, Facts, ListPrice};
use sluice_routing::catalog::{Capabilities, Catalog, Deployment, Model, PriceSource};
use sluice_routing::speed::Pace;

use super::aliases;
use super::problem::nearest;
use super::providers::CheckedProvider;
use super::read::{Entry, Reader};
use super::sections::{ModelSection, PriceSection, ProviderSection, Root};
use super::words::Capability;

/// What the simulator's tokens pretend to cost, so that a first try shows what costs look like:
/// 0.10, 0.01 and 0.40 dollars per million tokens.
const SIMULATED_PRICE: ListPrice = ListPrice {
    input: TokenPrice(100_000),
    cached_input: Some(TokenPrice(10_000)),
    cache_write: None,
    output: TokenPrice(400_000),
    reasoning: None,
};

/// All models that are served, without routers.
pub(super) fn build(
    root: &Root,
    providers: &[CheckedProvider],
    facts: &FactList,
    reader: &mut Reader<'_>,
    warnings: &mut Vec<String>,
) -> Catalog {
    let sections = &root.models;
    let builder = Builder { declared: &root.providers, providers, facts };
    let mut models = builder.configured(sections, reader);
    builder.listed(sections, &mut models, warnings);
    let aliases = aliases::second_names(sections, &models, reader);
    let documented = aliases::documented(root, &models);
    if models.is_empty() && reader.problems.is_empty() {
        let fix = "add [[models]] with the models of your providers";
        reader.wrong_at("models", None, "no model is served", fix);
    }
    warn_about_prices(&models, warnings);
    Catalog::new(models.into_iter().chain(aliases).chain(documented))
}

struct Builder<'a> {
    declared: &'a [Entry<ProviderSection>],
    providers: &'a [CheckedProvider],
    facts: &'a FactList,
}

impl<'a> Builder<'a> {
    /// The models of the file that run somewhere.
    fn configured(&self, sections: &[Entry<ModelSection>], reader: &mut Reader<'_>) -> Vec<Model> {
        let mut seen = HashSet::new();
        let mut models = Vec::new();
        for entry in sections {
            let mut wrong = |key: &str, what: String, fix: &str| {
                reader.wrong_at(format!("{}.{key}", entry.path), entry.line, what, fix);
            };
            if let Some(id) = &entry.id
                && !seen.insert(id.as_str())
            {
                let fix = "rename one of them, or list several providers in one entry";
                wrong("id", format!("another model is called \"{id}\" as well"), fix);
            }
            let Some(section) = &entry.value else { continue };
            match (&section.provider, &section.same_as) {
                (Some(_), Some(_)) => {
                    wrong("same_as", "both provider and same_as are set".to_owned(), "keep one");
                }
                (None, None) => {
                    let what = "missing: nothing says where it runs".to_owned();
                    let fix = "add `provider` (or `same_as`, for a second name of a model)";
                    wrong("provider", what, fix);
                }
                (None, Some(_)) => {}
                (Some(names), None) => {
                    let deployments = self.deployments(&names.0, section, &mut wrong);
                    if deployments.is_empty() {
                        continue;
                    }
                    models.push(self.model(section, deployments));
                }
            }
        }
        models
    }

    fn deployments(
        &self,
        names: &[String],
        section: &ModelSection,
        wrong: &mut impl FnMut(&str, String, &str),
    ) -> Vec<Deployment> {
        let mut deployments = Vec::new();
        for name in names {
            if let Some(provider) = self.provider(name) {
                deployments.push(Deployment {
                    provider: provider.settings.id.clone(),
                    upstream_model: upstream_name(section).to_owned(),
                    region: provider.settings.region,
                });
                continue;
            }
            if self.declared.iter().any(|entry| entry.id.as_deref() == Some(name)) {
                // It is there, and its own problem is on the list already.
                continue;
            }
            let known: Vec<&str> = self.provider_names().collect();
            let fix = match nearest(name, known.iter().copied()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None if known.is_empty() => "add it as [[providers]]".to_owned(),
                None => format!("add it as [[providers]], or use one of {}", known.join(", ")),
            };
            wrong("provider", format!("there is no provider \"{name}\""), &fix);
        }
        deployments
    }

    fn model(&self, section: &ModelSection, deployments: Vec<Deployment>) -> Model {
        let providers: Vec<&CheckedProvider> =
            deployments.iter().filter_map(|d| self.provider(d.provider.as_str())).collect();
        let upstream = upstream_name(section);
        let facts =
            providers.iter().find_map(|provider| self.facts.get(provider.catalog_kind?, upstream));
        let simulated = providers.iter().all(|p| p.settings.dialect == WireDialect::Simulator);
        let (price, price_source) = match (&section.price, facts) {
            (Some(price), _) => {
                let price = configured_price(price);
                let source = PriceSource { source: "configuration".into(), date: String::new() };
                (Some(price), Some(source))
            }
            (None, Some(facts)) => (facts.price(), facts.price.map(|_| facts.source.clone())),
            (None, None) if simulated => simulated_price(),
            (None, None) => (None, None),
        };
        let id = section.id.0.as_str();
        let owner = || providers.first().map_or_else(String::new, |p| p.settings.id.to_string());
        Model {
            id: id.into(),
            created: section.created.map_or_else(|| facts.map_or(0, |f| f.created), |at| at.0),
            owned_by: match &section.owned_by {
                Some(owner) => owner.0.clone(),
                None => facts.map_or_else(owner, |facts| facts.owned_by.clone()),
            },
            context_window: section.context_window.or(facts.and_then(|f| f.context_window)),
            output_limit: section.output_limit.or(facts.and_then(|f| f.output_limit)),
            capabilities: match &section.capabilities {
                Some(listed) => only(listed),
                None => facts.map_or_else(Capabilities::default, |facts| facts.capabilities),
            },
            price,
            price_source,
            suite: section.suite.unwrap_or_else(|| facts.map_or(Suite::default(), Facts::suite)),
            minimum_level: section
                .minimum_security_level
                .unwrap_or_default()
                .max(aliases::documented_level(id)),
            simulated,
            alias_of: None,
            quality: section.quality.as_ref().map(|table| table.0.clone()),
            pace: configured_pace(section),
            deployments,
        }
    }

    /// Appends the models of the providers that the file has no models of.
    fn listed(
        &self,
        sections: &[Entry<ModelSection>],
        models: &mut Vec<Model>,
        warnings: &mut Vec<String>,
    ) {
        let named: HashSet<&str> = sections
            .iter()
            .filter_map(|entry| entry.value.as_ref()?.provider.as_ref())
            .flat_map(|names| names.0.iter().map(String::as_str))
            .collect();
        let mut ids: HashSet<ModelId> = models.iter().map(|model| model.id.clone()).collect();
        ids.extend(sections.iter().filter_map(|entry| Some(entry.id.as_deref()?.into())));
        for provider in self.providers {
            let id = provider.settings.id.as_str();
            if named.contains(id) {
                continue;
            }
            let mut found: Vec<Model> = Vec::new();
            if provider.settings.dialect == WireDialect::Simulator {
                found.extend(MODELS.iter().map(|model| simulated(model, provider)));
            } else if let Some(kind) = provider.catalog_kind {
                found.extend(self.facts.of_kind(kind).map(|facts| from_facts(facts, provider)));
            } else {
                found.extend(provider.listed.iter().map(|name| unknown(name, provider)));
            }
            if found.is_empty() {
                warnings.push(format!(
                    "provider \"{id}\" has no models: add [[models]] with provider = \"{id}\""
                ));
            }
            models.extend(found.into_iter().filter(|model| ids.insert(model.id.clone())));
        }
    }

    fn provider(&self, name: &str) -> Option<&'a CheckedProvider> {
        self.providers.iter().find(|provider| provider.settings.id.as_str() == name)
    }

    fn provider_names(&self) -> impl Iterator<Item = &str> {
        let declared = self.declared.iter().filter_map(|entry| entry.id.as_deref());
        let found = self.providers.iter().map(|provider| provider.settings.id.as_str());
        // Without a file's providers, those that were found have names, too.
        declared.chain(found.filter(|_| self.declared.is_empty()))
    }
}

fn upstream_name(section: &ModelSection) -> &str {
    section.upstream_model.as_ref().map_or(&section.id.0, |name| &name.0)
}

/// A model of the built-in catalogue at a provider: `provider/model`.
fn from_facts(facts: &Facts, provider: &CheckedProvider) -> Model {
    Model {
        created: facts.created,
        owned_by: facts.owned_by.clone(),
        context_window: facts.context_window,
        output_limit: facts.output_limit,
        capabilities: facts.capabilities,
        price: facts.price(),
        price_source: facts.price.map(|_| facts.source.clone()),
        suite: facts.suite(),
        ..unknown(&facts.model, provider)
    }
}

/// A model of which nothing is known but its name.
fn unknown(name: &str, provider: &CheckedProvider) -> Model {
    let settings = &provider.settings;
    Model {
        id: format!("{}/{name}", settings.id).into(),
        created: 0,
        owned_by: settings.id.to_string(),
        context_window: None,
        output_limit: None,
        capabilities: Capabilities::default(),
        price: None,
        price_source: None,
        suite: Suite::default(),
        minimum_level: SecurityLevel::Standard,
        simulated: false,
        alias_of: None,
        quality: None,
        pace: None,
        deployments: vec![Deployment {
            provider: settings.id.clone(),
            upstream_model: name.to_owned(),
            region: settings.region,
        }],
    }
}

/// A model of the simulator, under its own name.
fn simulated(model: &SimulatedModel, provider: &CheckedProvider) -> Model {
    let (price, price_source) = simulated_price();
    Model {
        id: model.id.into(),
        owned_by: "sluice-simulator".to_owned(),
        context_window: Some(model.context_window),
        output_limit: Some(model.output_limit),
        price,
        price_source,
        suite: Suite::Basic,
        simulated: true,
        ..unknown(model.id, provider)
    }
}

fn simulated_price() -> (Option<sluice_core::money::Price>, Option<PriceSource>) {
    let source = PriceSource { source: "simulated, nobody pays".to_owned(), date: String::new() };
    (Some(SIMULATED_PRICE.for_each_class("simulated".to_owned())), Some(source))
}

/// A price of the file. Its version spells it out, so that a usage record can be checked after
/// the file has changed.
fn configured_price(section: &PriceSection) -> sluice_core::money::Price {
    let price = ListPrice {
        input: section.input.0,
        cached_input: section.cached_input.map(|price| price.0),
        cache_write: section.cache_write.map(|price| price.0),
        output: section.output.0,
        reasoning: section.reasoning.map(|price| price.0),
    };
    let mut price = price.for_each_class(String::new());
    price.version = format!(
        "configuration {}/{}/{}/{}/{}",
        price.input, price.cache_read, price.cache_write, price.output, price.reasoning
    );
    price
}

/// The pace that the file names; what it leaves out of the two is what ordinary models do.
fn configured_pace(section: &ModelSection) -> Option<Pace> {
    let (first, rate) = (section.first_token_ms, section.tokens_per_second);
    let usual = Pace::default();
    (first.is_some() || rate.is_some()).then(|| Pace {
        first_token_ms: first.map_or(usual.first_token_ms, |ms| ms.0),
        tokens_per_second: rate.map_or(usual.tokens_per_second, |rate| rate.0),
    })
}

/// The capabilities of the list, and no others.
fn only(listed: &[Capability]) -> Capabilities {
    let has = |capability| Some(listed.contains(&capability));
    Capabilities {
        vision: has(Capability::Vision),
        tools: has(Capability::Tools),
        json_schema: has(Capability::JsonSchema),
        reasoning: has(Capability::Reasoning),
        prompt_cache: has(Capability::PromptCache),
    }
}

fn warn_about_prices(models: &[Model], warnings: &mut Vec<String>) {
    let unpriced: Vec<&str> =
        models.iter().filter(|model| model.price.is_none()).map(|m| m.id.as_str()).collect();
    if unpriced.is_empty() {
        return;
    }
    let shown = unpriced.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = if unpriced.len() > 5 { ", …" } else { "" };
    warnings.push(format!(
        "{} of {} models have no known price, so that their cost is unknown: {shown}{more}; \
         set `price`, or use `sluice catalog import`",
        unpriced.len(),
        models.len(),
    ));
}
