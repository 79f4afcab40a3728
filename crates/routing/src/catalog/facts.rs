//! What is publicly known about models: limits, capabilities, prices.
//!
//! One list is built in (`data/models.json`); an operator can import a newer one over it. Both
//! have one format:
//!
//! ```json
//! {"source": "a price list", "date": "2026-11-21", "models": [
//!   {"kind": "openai", "model": "gpt-5-mini", "owned_by": "openai", "context_window": 272000,
//!    "can": ["vision", "tools"], "cannot": ["reasoning"],
//!    "price": {"input": "0.25", "cached_input": "0.025", "output": "2"}}]}
//! ```
//!
//! Prices are US dollars per million tokens. What a list does not say stays unknown.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use sluice_core::key::Suite;
use sluice_core::money::{Price, TokenPrice};

use super::{Capabilities, PriceSource};
use crate::quality::Quality;
use crate::quality::table::QualityTable;

/// A list of facts, one entry for each model of each kind of provider.
#[derive(Debug, Clone, Default)]
pub struct FactList {
    entries: Vec<Facts>,
    index: HashMap<(String, String), usize>,
    qualities: QualityTable,
}

/// What is known about one model at one kind of provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The provider's preset: `openai`.
    pub kind: String,
    /// The model's name there.
    pub model: String,
    /// Who made it.
    pub owned_by: String,
    /// When it was made, seconds since the Unix epoch; 0 where nobody knows.
    pub created: u64,
    /// Prompt and answer together, in tokens.
    pub context_window: Option<u32>,
    /// Most tokens of one answer.
    pub output_limit: Option<u32>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What it costs; `None` where unknown.
    pub price: Option<ListPrice>,
    /// The list that says so.
    pub source: PriceSource,
}

/// US dollars per million tokens, as a list has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListPrice {
    /// Prompt tokens.
    pub input: TokenPrice,
    /// Prompt tokens from the provider's cache; `None` where they cost what the others do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<TokenPrice>,
    /// Prompt tokens into the provider's cache; `None` where they cost what the others do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<TokenPrice>,
    /// Generated tokens.
    pub output: TokenPrice,
    /// Generated tokens of thinking; `None` where they cost what the others do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<TokenPrice>,
}

impl ListPrice {
    /// The price of every class, under the name `version`.
    pub fn for_each_class(&self, version: String) -> Price {
        Price {
            input: self.input,
            cache_read: self.cached_input.unwrap_or(self.input),
            cache_write: self.cache_write.unwrap_or(self.input),
            output: self.output,
            reasoning: self.reasoning.unwrap_or(self.output),
            version,
        }
    }
}

impl Facts {
    /// The price of every class; `None` where unknown. Its version names the list and its day.
    pub fn price(&self) -> Option<Price> {
        let version = format!("{} {}", self.source.source, self.source.date);
        self.price.map(|price| price.for_each_class(version))
    }

    /// The smallest suite that has a model of this price: up to two dollars a million generated
    /// tokens basic, from twenty on full, standard in between and where the price is unknown.
    pub fn suite(&self) -> Suite {
        const BASIC: TokenPrice = TokenPrice(2_000_000);
        const FULL: TokenPrice = TokenPrice(20_000_000);
        match self.price {
            Some(price) if price.output <= BASIC => Suite::Basic,
            Some(price) if price.output >= FULL => Suite::Full,
            _ => Suite::Standard,
        }
    }
}

/// Why a text is no list of facts.
#[derive(Debug, thiserror::Error)]
#[error("it is no list of models and prices: {0}")]
pub struct InvalidList(#[from] serde_json::Error);

impl FactList {
    /// The list that is a part of the program.
    pub fn built_in() -> Self {
        // A test reads it: it cannot fail here.
        let list = Self::parse(include_str!("../../data/models.json")).unwrap_or_default();
        Self { qualities: QualityTable::built_in(), ..list }
    }

    /// A list of `entries`; of two about one model the later one counts.
    pub fn new(entries: impl IntoIterator<Item = Facts>) -> Self {
        let mut list = Self::default();
        list.add(entries);
        list
    }

    /// Reads a list.
    pub fn parse(text: &str) -> Result<Self, InvalidList> {
        let file: File = serde_json::from_str(text)?;
        let FileHead { source, date } = file.head;
        Ok(Self::new(file.models.into_iter().map(|row| row.into_facts(&source, &date))))
    }

    /// Writes a list: what [`FactList::parse`] reads, one model a line.
    pub fn to_json(&self, source: &str, date: &str) -> Result<String, serde_json::Error> {
        let head = FileHead { source: source.to_owned(), date: date.to_owned() };
        let mut rows = Vec::new();
        for facts in &self.entries {
            rows.push(format!("  {}", serde_json::to_string(&Row::from_facts(facts, source))?));
        }
        let head = serde_json::to_string(&head)?;
        let head = head.strip_suffix('}').unwrap_or(&head);
        Ok(format!("{head},\"models\":[\n{}\n]}}\n", rows.join(",\n")))
    }

    /// Takes over the entries of `newer`, which count before these.
    pub fn overlay(&mut self, newer: Self) {
        self.add(newer.entries);
    }

    /// How good models are.
    pub fn qualities(&self) -> &QualityTable {
        &self.qualities
    }

    /// This list with other figures of how good models are.
    #[must_use]
    pub fn with_qualities(self, qualities: QualityTable) -> Self {
        Self { qualities, ..self }
    }

    /// How good a model with these names is; `None` where nothing is known of any of them.
    pub fn quality(&self, names: &[&str]) -> Option<Quality> {
        self.qualities.of(names)
    }

    /// What is known about a model of a kind of provider.
    pub fn get(&self, kind: &str, model: &str) -> Option<&Facts> {
        self.index.get(&(kind.to_owned(), model.to_owned())).map(|&at| &self.entries[at])
    }

    /// The models of a kind of provider, in the order of the list.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Facts> {
        self.entries.iter().filter(move |facts| facts.kind == kind)
    }

    /// All entries.
    pub fn entries(&self) -> &[Facts] {
        &self.entries
    }

    fn add(&mut self, entries: impl IntoIterator<Item = Facts>) {
        for facts in entries {
            let key = (facts.kind.clone(), facts.model.clone());
            match self.index.get(&key) {
                Some(&at) => self.entries[at] = facts,
                None => {
                    self.index.insert(key, self.entries.len());
                    self.entries.push(facts);
                }
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
struct FileHead {
    source: String,
    date: String,
}

#[derive(Deserialize)]
struct File {
    #[serde(flatten)]
    head: FileHead,
    models: Vec<Row>,
}

/// A model as it stands in a list.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    kind: String,
    model: String,
    owned_by: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    created: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context_window: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_limit: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    can: Vec<Ability>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cannot: Vec<Ability>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    price: Option<ListPrice>,
    /// Where this entry is from, when that is not the list's own source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(seconds: &u64) -> bool {
    *seconds == 0
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ability {
    Vision,
    Tools,
    JsonSchema,
    Reasoning,
    PromptCache,
}

impl Ability {
    const ALL: [Self; 5] =
        [Self::Vision, Self::Tools, Self::JsonSchema, Self::Reasoning, Self::PromptCache];

    fn of(self, capabilities: &mut Capabilities) -> &mut Option<bool> {
        match self {
            Self::Vision => &mut capabilities.vision,
            Self::Tools => &mut capabilities.tools,
            Self::JsonSchema => &mut capabilities.json_schema,
            Self::Reasoning => &mut capabilities.reasoning,
            Self::PromptCache => &mut capabilities.prompt_cache,
        }
    }
}

impl Row {
    fn into_facts(self, source: &str, date: &str) -> Facts {
        let mut capabilities = Capabilities::default();
        for ability in self.can {
            *ability.of(&mut capabilities) = Some(true);
        }
        for ability in self.cannot {
            *ability.of(&mut capabilities) = Some(false);
        }
        let source = self.source.unwrap_or_else(|| source.to_owned());
        Facts {
            kind: self.kind,
            model: self.model,
            owned_by: self.owned_by,
            created: self.created,
            context_window: self.context_window,
            output_limit: self.output_limit,
            capabilities,
            price: self.price,
            source: PriceSource { source, date: date.to_owned() },
        }
    }

    fn from_facts(facts: &Facts, source: &str) -> Self {
        let with = |answer| {
            let mut capabilities = facts.capabilities;
            let is = |ability: &Ability| *ability.of(&mut capabilities) == Some(answer);
            Ability::ALL.into_iter().filter(is).collect()
        };
        Self {
            kind: facts.kind.clone(),
            model: facts.model.clone(),
            owned_by: facts.owned_by.clone(),
            created: facts.created,
            context_window: facts.context_window,
            output_limit: facts.output_limit,
            can: with(true),
            cannot: with(false),
            price: facts.price,
            source: (facts.source.source != source).then(|| facts.source.source.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_list_is_read_and_has_every_kind() {
        let list = FactList::parse(include_str!("../../data/models.json")).unwrap();
        assert!(list.entries().len() > 100);
        for kind in [
            "openai",
            "anthropic",
            "gemini",
            "groq",
            "mistral",
            "deepseek",
            "xai",
            "openrouter",
            "together",
            "fireworks",
            "cerebras",
            "azure",
        ] {
            assert!(list.of_kind(kind).count() >= 2, "{kind}");
        }
        for facts in list.entries() {
            let name = format!("{}/{}", facts.kind, facts.model);
            if let Some(price) = facts.price {
                assert!(price.input.0 > 0 && price.output >= price.input, "{name}");
                assert!(price.cached_input.is_none_or(|cached| cached <= price.input), "{name}");
            }
            assert!(!facts.owned_by.is_empty() && facts.source.date.len() == 10, "{name}");
        }
        let suites: Vec<Suite> = list.entries().iter().map(Facts::suite).collect();
        for suite in [Suite::Basic, Suite::Standard, Suite::Full] {
            assert!(suites.iter().filter(|s| **s == suite).count() > 10, "{suite:?}");
        }
    }

    #[test]
    fn a_list_survives_being_written() {
        let list = FactList::built_in();
        let text = list.to_json("LiteLLM", "2026-11-21").unwrap();
        let again = FactList::parse(&text).unwrap();
        assert_eq!(again.entries(), list.entries());
    }

    #[test]
    fn classes_without_a_price_of_their_own_cost_what_the_others_do() {
        let price: ListPrice = serde_json::from_str(r#"{"input":"1","output":"4"}"#).unwrap();
        let price = price.for_each_class("v".to_owned());
        assert_eq!((price.cache_read, price.cache_write), (price.input, price.input));
        assert_eq!(price.reasoning, price.output);
    }

    #[test]
    fn a_newer_list_counts_first_and_adds_what_is_new() {
        let row = |model: &str, output| {
            format!(
                r#"{{"kind":"k","model":"{model}","owned_by":"o","price":{{"input":"1","output":"{output}"}}}}"#
            )
        };
        let list = |rows: &[String]| {
            let rows = rows.join(",");
            let text = format!(r#"{{"source":"s","date":"2026-01-01","models":[{rows}]}}"#);
            FactList::parse(&text).unwrap()
        };
        let mut facts = list(&[row("a", 2), row("b", 2)]);
        facts.overlay(list(&[row("b", 3), row("c", 3)]));
        let models: Vec<(&str, String)> = facts
            .entries()
            .iter()
            .map(|facts| (facts.model.as_str(), facts.price.unwrap().output.to_string()))
            .collect();
        assert_eq!(models, [("a", "2".into()), ("b", "3".into()), ("c", "3".into())]);
        assert_eq!(facts.get("k", "b").unwrap().price().unwrap().version, "s 2026-01-01");
    }
}
