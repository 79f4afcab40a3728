//! The sections about what callers can ask for: models and routers, as written in the file.

use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_routing::router::{Policy, Stability};

use super::figures::{Day, Pins, Positive, QualityTable, Share};
use super::read::{Repeated, Schema, section};
use super::values::{Dollars, Moment, OneOrMore, Text};
use super::words::Capability;

section! {
    /// A model that callers can ask for. A provider without any serves all models of the
    /// built-in catalogue as PROVIDER/MODEL. What is left out here is taken from there.
    ModelSection {
        /// What callers put in `model`.
        id: Text => "mock-fast",
        /// The provider that has it, or several in order of preference: ["lab", "lab-2"].
        provider: Option<OneOrMore> => "lab",
        /// Another model that answers, instead of provider; makes this one a second name.
        same_as: Option<Text> as "lab/other",
        /// Its name at the provider. Default: the id.
        upstream_model: Option<Text> => "mock-fast",
        /// US dollars per million tokens. Without cached_input and cache_write, those cost what
        /// input does; without reasoning, thinking costs what output does.
        price: Option<PriceSection> => {
            input = "1.00", cached_input = "0.10", cache_write = "1.25", output = "4.00", reasoning = "4.00"
        },
        /// Prompt and answer together, in tokens.
        context_window: Option<u32> => 128_000,
        /// Most tokens of one answer.
        output_limit: Option<u32> => 16_384,
        /// The share of ordinary requests that it answers well, 0 to 1: one figure, or by task
        /// type, with `default` for all others. Default: a guess from its price. Routers go by it.
        quality: Option<QualityTable> => { default = 0.8, code = 0.85 },
        /// How long it usually takes to begin, for routers that have not measured it yet.
        first_token_ms: Option<Positive> => 900,
        /// How fast it usually writes, for routers that have not measured it yet.
        tokens_per_second: Option<Positive> => 60,
        /// What it can do; what is missing here it cannot. Any of vision, tools, json_schema,
        /// reasoning, prompt_cache.
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
    /// are always there, over all models: svc/auto (balanced), svc/orbit (fastest) and svc/nebula
    /// (strongest); an entry with one of these ids takes its place. See docs/routing.md.
    RouterSection {
        /// What callers put in `model`. It begins with svc/.
        id: Text => "svc/mix",
        /// How it chooses: balanced, fastest (cheap and quick first), strongest (good first) or
        /// weighted (by weights, always the same for a conversation).
        policy: Policy = "balanced",
        /// What it chooses from: ids of at most 32 models. A second name counts as its model.
        members: Vec<Text> => ["mock-fast"],
        /// For policy weighted: each member's share, in any unit.
        weights: Option<Vec<Positive>> as [3],
        /// How much quality (of 1) half the cost is worth, in place of what the policy has.
        cost_weight: Option<Share> => 0.006,
        /// How much quality (of 1) half the time is worth, in place of what the policy has.
        time_weight: Option<Share> => 0.008,
        /// The most that one request may be expected to cost, in US dollars.
        max_cost: Option<Positive> => 0.25,
        /// The longest that a request may be expected to wait for its first token.
        max_first_token_ms: Option<Positive> => 5_000,
        /// Task types that always go to one member: code, edit, debug, test, review, document,
        /// plan, explain, ops, math, knowledge, write, transform.
        pins: Option<Pins> => { debug = "mock-fast" },
        /// The least strict level at which it answers. Default: the mildest of its members.
        minimum_security_level: Option<SecurityLevel> => "standard",
        /// The smallest suite that has it. Default: the smallest of its members.
        suite: Option<Suite> => "basic",
        /// For its card: the day of its last change.
        last_changed: Option<Day> => "2026-11-22",
        /// For its card: stable, preview, experimental or deprecated. Default: stable where the
        /// price and the quality of all its members are known, else preview.
        stability: Option<Stability> => "stable",
    }
}

impl Repeated for RouterSection {
    const ENTRY: &'static Schema = Self::SCHEMA;
}
