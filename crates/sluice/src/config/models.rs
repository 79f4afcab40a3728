//! Models: those of the file, and those of the built-in catalogue for providers without any.

use std::collections::HashSet;

use sluice_core::ids::ModelId;
use sluice_gateway::vendors::{ModelSettings, all_models, model, pace};
use sluice_routing::catalog::facts::{FactList, ListPrice};
use sluice_routing::catalog::{Capabilities, Model};

use super::aliases;
use super::problem::nearest;
use super::providers::CheckedProvider;
use super::read::{Entry, Reader};
use super::sections::{ModelSection, PriceSection, ProviderSection, Root};
use super::words::Capability;

/// The models that run somewhere, and second names of them.
pub(super) fn build(
    root: &Root,
    providers: &[CheckedProvider],
    facts: &FactList,
    reader: &mut Reader<'_>,
    warnings: &mut Vec<String>,
) -> (Vec<Model>, Vec<Model>) {
    let sections = &root.models;
    let builder = Builder { declared: &root.providers, providers, facts };
    let mut models = builder.configured(sections, reader);
    builder.listed(sections, &mut models, warnings);
    let second_names = aliases::second_names(sections, &models, reader);
    if models.is_empty() && reader.problems.is_empty() {
        let fix = "add [[models]] with the models of your providers";
        reader.wrong_at("models", None, "no model is served", fix);
    }
    warn_about_prices(&models, warnings);
    (models, second_names)
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
                    let providers = self.named(&names.0, &mut wrong);
                    if !providers.is_empty() {
                        let id = section.id.0.as_str();
                        models.push(model(id, &settings(section), &providers, self.facts));
                    }
                }
            }
        }
        models
    }

    /// The providers of these names.
    fn named(
        &self,
        names: &[String],
        wrong: &mut impl FnMut(&str, String, &str),
    ) -> Vec<&'a CheckedProvider> {
        let mut providers = Vec::new();
        for name in names {
            if let Some(provider) = self.provider(name) {
                providers.push(provider);
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
        providers
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
            let found = all_models(provider, self.facts);
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

/// What the file says of a model.
fn settings(section: &ModelSection) -> ModelSettings {
    ModelSettings {
        upstream_model: section.upstream_model.as_ref().map(|name| name.0.clone()),
        price: section.price.as_ref().map(price),
        context_window: section.context_window,
        output_limit: section.output_limit,
        quality: section.quality.as_ref().map(|table| table.0.clone()),
        pace: pace(
            section.first_token_ms.map(|ms| ms.0),
            section.tokens_per_second.map(|rate| rate.0),
        ),
        capabilities: section.capabilities.as_ref().map(|listed| only(listed)),
        suite: section.suite,
        minimum_level: section.minimum_security_level.unwrap_or_default(),
        owned_by: section.owned_by.as_ref().map(|owner| owner.0.clone()),
        created: section.created.map(|at| at.0),
    }
}

pub(super) fn price(section: &PriceSection) -> ListPrice {
    ListPrice {
        input: section.input.0,
        cached_input: section.cached_input.map(|price| price.0),
        cache_write: section.cache_write.map(|price| price.0),
        output: section.output.0,
        reasoning: section.reasoning.map(|price| price.0),
    }
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
