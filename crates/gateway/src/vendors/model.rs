//! What settings of a model amount to, whoever says them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::money::{Price, TokenPrice};
use sluice_providers::presets::WireDialect;
use sluice_providers::simulator::{MODELS, SimulatedModel};
use sluice_routing::catalog::facts::{FactList, Facts, ListPrice};
use sluice_routing::catalog::{Capabilities, Deployment, Model, PriceSource};
use sluice_routing::quality::Quality;
use sluice_routing::speed::Pace;
use sluice_routing::task::TaskType;

use super::documented::documented_level;
use super::nearest;
use super::provider::CheckedProvider;
use super::wrong::Wrong;

/// What the simulator's tokens pretend to cost, so that a first try shows what costs look like:
/// 0.10, 0.01 and 0.40 dollars per million tokens.
const SIMULATED_PRICE: ListPrice = ListPrice {
    input: TokenPrice(100_000),
    cached_input: Some(TokenPrice(10_000)),
    cache_write: None,
    output: TokenPrice(400_000),
    reasoning: None,
};

/// What a model can do, by the words of the configuration file.
const CAPABILITIES: [&str; 5] = ["vision", "tools", "json_schema", "reasoning", "prompt_cache"];

/// The settings of a model, by the names of the configuration file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSpec {
    /// The providers that run it, in order of preference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub provider: Vec<String>,
    /// Instead of providers: the model that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// Its name at the providers; `None`: its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_model: Option<String>,
    /// What it costs; `None`: what the catalogue says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<ListPrice>,
    /// Prompt and answer together, in tokens; `None`: what the catalogue says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u32>,
    /// The most tokens of one answer; `None`: what the catalogue says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u32>,
    /// The share of requests that it answers well, by task type, with `default` for all others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub quality: BTreeMap<String, f64>,
    /// The usual time to its first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<f64>,
    /// Its usual speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_second: Option<f64>,
    /// Everything that it can do; `None`: what the catalogue says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
    /// The smallest suite that has it; `None`: by its price in the catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    /// The least strict level at which it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_security_level: Option<SecurityLevel>,
    /// Who made it; `None`: what the catalogue says, else the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owned_by: Option<String>,
    /// When it was made, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<u64>,
}

/// The same, checked.
#[derive(Debug, Clone, Default)]
pub struct ModelSettings {
    /// See [`ModelSpec::upstream_model`].
    pub upstream_model: Option<String>,
    /// See [`ModelSpec::price`].
    pub price: Option<ListPrice>,
    /// See [`ModelSpec::context_window`].
    pub context_window: Option<u32>,
    /// See [`ModelSpec::output_limit`].
    pub output_limit: Option<u32>,
    /// See [`ModelSpec::quality`].
    pub quality: Option<Quality>,
    /// What [`ModelSpec::first_token_ms`] and [`ModelSpec::tokens_per_second`] say.
    pub pace: Option<Pace>,
    /// See [`ModelSpec::capabilities`].
    pub capabilities: Option<Capabilities>,
    /// See [`ModelSpec::suite`].
    pub suite: Option<Suite>,
    /// See [`ModelSpec::minimum_security_level`].
    pub minimum_level: SecurityLevel,
    /// See [`ModelSpec::owned_by`].
    pub owned_by: Option<String>,
    /// See [`ModelSpec::created`].
    pub created: Option<u64>,
}

/// The pace that is said; what is left out of the two is what ordinary models do.
pub fn pace(first_token_ms: Option<f64>, tokens_per_second: Option<f64>) -> Option<Pace> {
    let usual = Pace::default();
    (first_token_ms.is_some() || tokens_per_second.is_some()).then(|| Pace {
        first_token_ms: first_token_ms.unwrap_or(usual.first_token_ms),
        tokens_per_second: tokens_per_second.unwrap_or(usual.tokens_per_second),
    })
}

impl ModelSpec {
    /// Its checked settings, or all that is wrong. Whether its providers are there is for the caller
    /// to see.
    pub(crate) fn checked(&self, id: &str) -> Result<ModelSettings, Vec<Wrong>> {
        let mut problems = Vec::new();
        let mut wrong = |key: &str, what: String, fix: &str| {
            problems.push(Wrong::new(key, what, fix));
        };
        let is_text = |text: &str| {
            (1..=200).contains(&text.chars().count())
                && text.trim() == text
                && !text.chars().any(char::is_control)
        };
        if !is_text(id) {
            let fix = "use 1 to 200 characters without line breaks, such as \"openai/gpt-5-mini\"";
            wrong("id", format!("{id:?} is no name of a model"), fix);
        }
        match (&self.same_as, self.provider.as_slice()) {
            (Some(_), [_, ..]) => {
                wrong("same_as", "and provider are both set".to_owned(), "keep one of them");
            }
            (None, []) => wrong(
                "provider",
                "missing: nothing says where it runs".to_owned(),
                "name a provider, or same_as for a second name of a model",
            ),
            _ => {}
        }
        if self.same_as.is_some() {
            for (key, is_set) in [
                ("upstream_model", self.upstream_model.is_some()),
                ("price", self.price.is_some()),
                ("context_window", self.context_window.is_some()),
                ("output_limit", self.output_limit.is_some()),
                ("capabilities", self.capabilities.is_some()),
                ("quality", !self.quality.is_empty()),
                ("first_token_ms", self.first_token_ms.is_some()),
                ("tokens_per_second", self.tokens_per_second.is_some()),
            ] {
                if is_set {
                    wrong(key, "comes from the model that answers".to_owned(), "leave it out");
                }
            }
        }
        for (key, text) in [("upstream_model", &self.upstream_model), ("owned_by", &self.owned_by)]
        {
            if text.as_ref().is_some_and(|text| !is_text(text)) {
                wrong(key, "is no name".to_owned(), "use 1 to 200 characters without line breaks");
            }
        }
        for (key, count) in
            [("context_window", self.context_window), ("output_limit", self.output_limit)]
        {
            if count == Some(0) {
                wrong(key, "is 0".to_owned(), "set at least 1");
            }
        }
        for (key, figure) in
            [("first_token_ms", self.first_token_ms), ("tokens_per_second", self.tokens_per_second)]
        {
            if figure.is_some_and(|it| !it.is_finite() || it <= 0.0) {
                wrong(key, "is not above 0".to_owned(), "set more than 0");
            }
        }
        for word in self.capabilities.iter().flatten() {
            if !CAPABILITIES.contains(&word.as_str()) {
                let fix = match nearest(word, CAPABILITIES) {
                    Some(meant) => format!("did you mean \"{meant}\"?"),
                    None => format!("use any of {}", CAPABILITIES.join(", ")),
                };
                wrong("capabilities", format!("{word:?} is none"), &fix);
            }
        }
        let (mut average, mut by_task) = (None, Vec::new());
        for (name, share) in &self.quality {
            if !(0.0..=1.0).contains(share) {
                wrong("quality", format!("{share} of {name:?} is out of bounds"), "set 0 to 1");
            }
            match TaskType::parse(name) {
                _ if name == "default" => average = Some(*share),
                Some(task) => by_task.push((task, *share)),
                None => {
                    let words: Vec<&str> =
                        TaskType::ALL.into_iter().map(TaskType::as_str).collect();
                    let fix = format!("use default or some of {}", words.join(", "));
                    wrong("quality", format!("{name:?} is no task type"), &fix);
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(ModelSettings {
            upstream_model: self.upstream_model.clone(),
            price: self.price,
            context_window: self.context_window,
            output_limit: self.output_limit,
            quality: Quality::of(average, &by_task),
            pace: pace(self.first_token_ms, self.tokens_per_second),
            capabilities: self.capabilities.as_ref().map(|listed| {
                let has = |word: &str| Some(listed.iter().any(|it| it == word));
                Capabilities {
                    vision: has("vision"),
                    tools: has("tools"),
                    json_schema: has("json_schema"),
                    reasoning: has("reasoning"),
                    prompt_cache: has("prompt_cache"),
                }
            }),
            suite: self.suite,
            minimum_level: self.minimum_security_level.unwrap_or_default(),
            owned_by: self.owned_by.clone(),
            created: self.created,
        })
    }
}

/// The model `id` at these providers, in order of preference. What `said` leaves out comes from
/// `known_models`.
pub fn model(
    id: &str,
    said: &ModelSettings,
    providers: &[&CheckedProvider],
    known_models: &FactList,
) -> Model {
    let upstream = said.upstream_model.as_deref().unwrap_or(id);
    let deployments = providers.iter().map(|provider| Deployment {
        provider: provider.settings.id.clone(),
        upstream_model: upstream.to_owned(),
        region: provider.settings.region,
    });
    let facts =
        providers.iter().find_map(|provider| known_models.get(provider.catalog_kind?, upstream));
    let simulated = providers.iter().all(|p| p.settings.dialect == WireDialect::Simulator);
    let (price, price_source) = match (&said.price, facts) {
        (Some(price), _) => {
            let source = PriceSource { source: "configuration".into(), date: String::new() };
            (Some(said_price(price)), Some(source))
        }
        (None, Some(facts)) => (facts.price(), facts.price.map(|_| facts.source.clone())),
        (None, None) if simulated => simulated_price(),
        (None, None) => (None, None),
    };
    let owner = || providers.first().map_or_else(String::new, |p| p.settings.id.to_string());
    Model {
        id: id.into(),
        created: said.created.unwrap_or_else(|| facts.map_or(0, |facts| facts.created)),
        owned_by: match &said.owned_by {
            Some(owner) => owner.clone(),
            None => facts.map_or_else(owner, |facts| facts.owned_by.clone()),
        },
        context_window: said.context_window.or(facts.and_then(|f| f.context_window)),
        output_limit: said.output_limit.or(facts.and_then(|f| f.output_limit)),
        capabilities: match said.capabilities {
            Some(listed) => listed,
            None => facts.map_or_else(Capabilities::default, |facts| facts.capabilities),
        },
        price,
        price_source,
        suite: said.suite.unwrap_or_else(|| facts.map_or(Suite::default(), Facts::suite)),
        minimum_level: said.minimum_level.max(documented_level(id)),
        simulated,
        alias_of: None,
        quality: said.quality.clone().or_else(|| known_models.quality(&[upstream, id])),
        pace: said.pace,
        deployments: deployments.collect(),
    }
}

/// The models of a provider of which nobody has named any: those of the catalogue, as
/// PROVIDER/MODEL; those that it listed itself; the simulator's under their own names.
pub fn all_models(provider: &CheckedProvider, facts: &FactList) -> Vec<Model> {
    if provider.settings.dialect == WireDialect::Simulator {
        return MODELS.iter().map(|model| simulated(model, provider)).collect();
    }
    match provider.catalog_kind {
        Some(kind) => {
            let known = facts.of_kind(kind);
            known.map(|of| with_quality(from_facts(of, provider), &of.model, facts)).collect()
        }
        None => {
            let listed = provider.listed.iter();
            listed.map(|name| with_quality(unknown(name, provider), name, facts)).collect()
        }
    }
}

/// `model`, which is called `upstream` at its provider, as good as `facts` knows it to be.
fn with_quality(model: Model, upstream: &str, facts: &FactList) -> Model {
    Model { quality: facts.quality(&[upstream, model.id.as_str()]), ..model }
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

fn simulated_price() -> (Option<Price>, Option<PriceSource>) {
    let source = PriceSource { source: "simulated, nobody pays".to_owned(), date: String::new() };
    (Some(SIMULATED_PRICE.for_each_class("simulated".to_owned())), Some(source))
}

/// A price that somebody said. Its version spells it out, so that a usage record can be checked
/// after it has changed.
fn said_price(price: &ListPrice) -> Price {
    let mut price = price.for_each_class(String::new());
    price.version = format!(
        "configuration {}/{}/{}/{}/{}",
        price.input, price.cache_read, price.cache_write, price.output, price.reasoning
    );
    price
}
