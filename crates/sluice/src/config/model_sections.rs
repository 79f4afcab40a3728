//! The sections about what callers can ask for: models and routers, as written in the file.

use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_routing::router::{Policy, Stability};

use super::figures::{Day, Pins, Positive, QualityTable, Share};
use super::read::{Repeated, Schema, section};
use super::values::{Dollars, Moment, OneOrMore, Text};
use super::words::Capability;

section! {
    /// A model that callers can ask for. A provider that no entry names serves all models of
    /// the built-in catalogue as PROVIDER/MODEL. What an entry leaves out comes from the
    /// catalogue.
    ModelSection {
        /// What callers put in `model`.
        id: Text => "mock-fast",
        /// The provider that runs it, or several in order of preference: ["lab", "lab-2"].
        provider: Option<OneOrMore> => "lab",
        /// Instead of provider: the model that answers. This id is then a second name of it.
        same_as: Option<Text> as "lab/other",
        /// Its name at the provider. Default: the id.
        upstream_model: Option<Text> => "mock-fast",
        /// US dollars per million tokens. Without cached_input and cache_write, these tokens cost
        /// as much as input; without reasoning, thinking costs as much as output.
        price: Option<PriceSection> => {
            input = "1.00", cached_input = "0.10", cache_write = "1.25", output = "4.00", reasoning = "4.00"
        },
        /// Prompt and answer together, in tokens.
        context_window: Option<u32> => 128_000,
        /// The most tokens of one answer.
        output_limit: Option<u32> => 16_384,
        /// The share of ordinary requests that it answers well, 0 to 1: one figure, or figures by
        /// task type, with `default` for all others. Default: a guess from its price. Routers use
        /// it.
        quality: Option<QualityTable> => { default = 0.8, code = 0.85 },
        /// The usual time to its first token, for routers that have not measured it yet.
        first_token_ms: Option<Positive> => 900,
        /// Its usual speed, for routers that have not measured it yet.
        tokens_per_second: Option<Positive> => 60,
        /// Everything that it can do. Any of vision, tools, json_schema, reasoning, prompt_cache.
        capabilities: Option<Vec<Capability>> => ["tools", "json_schema"],
        /// The smallest suite that has it: basic, standard or full. Default: standard.
        suite: Option<Suite> => "basic",
        /// The least strict level at which it answers: standard, high or maximum.
        minimum_security_level: Option<SecurityLevel> => "standard",
        /// Who made it. Default: the provider.
        owned_by: Option<Text> => "research",
        /// When it was made: a day, or seconds since 1970.
        created: Option<Moment> => "2026-11-21",
    }
}

impl Repeated for ModelSection {
    const ENTRY: &'static Schema = Self::SCHEMA;
}

section! {
    /// US dollars per million tokens, by class.
    PriceSection {
        /// Tokens of the prompt.
        input: Dollars => "1.00",
        /// Tokens of the prompt that the provider's cache had.
        cached_input: Option<Dollars> => "0.10",
        /// Tokens of the prompt that were written to the provider's cache.
        cache_write: Option<Dollars> => "1.25",
        /// Generated tokens.
        output: Dollars => "4.00",
        /// Generated tokens of thinking.
        reasoning: Option<Dollars> => "4.00",
    }
}

section! {
    /// A router: an id that stands for several models, one of which answers each request. Three
    /// routers over all models always exist: svc/auto (balanced), svc/orbit (fastest) and
    /// svc/nebula (strongest). An entry with one of these ids replaces that router. See
    /// docs/routing.md.
    RouterSection {
        /// What callers put in `model`. It must begin with svc/.
        id: Text => "svc/mix",
        /// How it chooses: balanced, fastest (prefers cheap and quick), strongest (prefers good) or
        /// weighted (by weights; a conversation stays with its model).
        policy: Policy = "balanced",
        /// What it chooses from: ids of at most 32 models. A second name counts as its model.
        members: Vec<Text> => ["mock-fast"],
        /// For policy weighted: each member's share, in any unit.
        weights: Option<Vec<Positive>> as [3],
        /// How much quality (of 1) halving the cost is worth, instead of the policy's figure.
        cost_weight: Option<Share> => 0.006,
        /// How much quality (of 1) halving the time is worth, instead of the policy's figure.
        time_weight: Option<Share> => 0.008,
        /// The highest expected cost of a request, in US dollars.
        max_cost: Option<Positive> => 0.25,
        /// The longest expected wait for a request's first token.
        max_first_token_ms: Option<Positive> => 5_000,
        /// Task types that always go to one member: code, edit, debug, test, review, document,
        /// plan, explain, ops, math, knowledge, write, transform.
        pins: Option<Pins> => { debug = "mock-fast" },
        /// The least strict level at which it answers. Default: the least strict of its members.
        minimum_security_level: Option<SecurityLevel> => "standard",
        /// The smallest suite that has it. Default: the smallest of its members.
        suite: Option<Suite> => "basic",
        /// For its card: the day of its last change.
        last_changed: Option<Day> => "2026-11-22",
        /// For its card: stable, preview, experimental or deprecated. Default: stable if the price
        /// and the quality of all its members are known, else preview.
        stability: Option<Stability> => "stable",
    }
}

impl Repeated for RouterSection {
    const ENTRY: &'static Schema = Self::SCHEMA;
}
