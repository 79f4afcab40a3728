//! Hard filters: why a contender cannot answer a request.

use std::fmt;

use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;

use super::utility::Score;
use crate::catalog::Model;
use crate::router::Router;

/// Why a contender cannot answer a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Exclusion {
    /// The account's suite does not have the model.
    Suite(Suite),
    /// A policy does not allow the model.
    Policy,
    /// The provider key that has to be used there cannot be used.
    ProviderKey,
    /// Its provider does not process requests where this one has to be.
    Region(Option<Region>),
    /// It answers only at a stricter level than the request's.
    Level(SecurityLevel),
    /// Prompt and answer do not fit.
    ContextWindow(u32),
    /// It cannot read images.
    Vision,
    /// It cannot call functions.
    Tools,
    /// It cannot answer by a JSON schema.
    JsonSchema,
    /// Its provider asked to be left alone for so many seconds.
    Resting(u64),
    /// Its last calls failed; it is tried again in so many seconds.
    Failing(u64),
    /// It is expected to cost more than the router allows, in US dollars.
    MaxCost(f64),
    /// The router bounds the cost, and nobody knows its price.
    UnknownCost,
    /// It is expected to begin later than the router allows, in milliseconds.
    MaxFirstToken(f64),
}

impl Exclusion {
    /// The word in records and metrics.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Suite(_) | Self::Policy => "permission",
            Self::ProviderKey => "provider_key",
            Self::Region(_) => "region",
            Self::Level(_) => "level",
            Self::ContextWindow(_) => "context_window",
            Self::Vision => "vision",
            Self::Tools => "tools",
            Self::JsonSchema => "json_schema",
            Self::Resting(_) => "resting",
            Self::Failing(_) => "failing",
            Self::MaxCost(_) | Self::UnknownCost => "max_cost",
            Self::MaxFirstToken(_) => "max_first_token_ms",
        }
    }

    /// Seconds until it may be otherwise, where time alone helps.
    pub fn passes_in(&self) -> Option<u64> {
        match self {
            Self::Resting(seconds) | Self::Failing(seconds) => Some(*seconds),
            _ => None,
        }
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suite(suite) => write!(f, "belongs to the {} suite", suite.as_str()),
            Self::Policy => f.write_str("is not among the models that policies allow"),
            Self::ProviderKey => {
                f.write_str("its own provider key cannot be used; it has to be given again")
            }
            Self::Region(Some(region)) => write!(f, "processes requests in {}", region.as_str()),
            Self::Region(None) => f.write_str("its provider has no configured region"),
            Self::Level(level) => write!(f, "answers at level {} only", level.as_str()),
            Self::ContextWindow(window) => {
                write!(f, "its context window of {window} tokens is too small")
            }
            Self::Vision => f.write_str("cannot read images"),
            Self::Tools => f.write_str("cannot call functions"),
            Self::JsonSchema => f.write_str("cannot answer by a JSON schema"),
            Self::Resting(seconds) => {
                write!(f, "its provider asked to be left alone for {seconds} s")
            }
            Self::Failing(seconds) => write!(f, "its last calls failed; next try in {seconds} s"),
            Self::MaxCost(cost) => write!(f, "would cost about ${cost:.6}, above max_cost"),
            Self::UnknownCost => f.write_str("its price is unknown, and the router has a max_cost"),
            Self::MaxFirstToken(ms) => {
                write!(f, "would begin after about {ms:.0} ms, above max_first_token_ms")
            }
        }
    }
}

/// What a request needs of whoever answers it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// What the account has.
    pub suite: Suite,
    /// Where it has to be processed, where somebody said so.
    pub region: Option<Region>,
    /// How strictly it is filtered.
    pub level: SecurityLevel,
    /// Tokens of the prompt, estimated.
    pub input_tokens: f64,
    /// Tokens of the longest answer that the request allows.
    pub output_tokens: f64,
    /// It holds images.
    pub vision: bool,
    /// It offers functions.
    pub tools: bool,
    /// It asks for an answer by a JSON schema.
    pub json_schema: bool,
}

impl Needs {
    /// The room, in tokens, that an answer needs beside the prompt: what the request allows, as far
    /// as models of any size have it. A request that does not say gets what answers usually take.
    pub fn room(max_tokens: Option<u32>) -> f64 {
        const USUAL: f64 = 1024.0;
        const MOST: f64 = 4096.0;
        max_tokens.map_or(USUAL, f64::from).min(MOST)
    }
}

/// Why the deployment of `model` in `region` cannot answer what needs `needs`; what is unknown of a
/// model does not stand against it.
pub fn exclusion(
    needs: &Needs,
    model: &Model,
    region: Option<Region>,
    may_be_in: impl Fn(Option<Region>) -> bool,
) -> Option<Exclusion> {
    let can = &model.capabilities;
    if needs.suite < model.suite {
        Some(Exclusion::Suite(model.suite))
    } else if needs.region.is_some_and(|wanted| region != Some(wanted)) || !may_be_in(region) {
        Some(Exclusion::Region(region))
    } else if needs.level < model.minimum_level {
        Some(Exclusion::Level(model.minimum_level))
    } else if needs.vision && can.vision == Some(false) {
        Some(Exclusion::Vision)
    } else if needs.tools && can.tools == Some(false) {
        Some(Exclusion::Tools)
    } else if needs.json_schema && can.json_schema == Some(false) {
        Some(Exclusion::JsonSchema)
    } else {
        let window = model.context_window?;
        (needs.input_tokens + needs.output_tokens > f64::from(window))
            .then_some(Exclusion::ContextWindow(window))
    }
}

/// Whether it would cost or take more than `router` allows.
pub(super) fn by_score(router: &Router, score: &Score) -> Option<Exclusion> {
    if router.max_cost.is_some() && !score.priced {
        Some(Exclusion::UnknownCost)
    } else if router.max_cost.is_some_and(|most| score.cost_usd > most) {
        Some(Exclusion::MaxCost(score.cost_usd))
    } else if router.max_first_token_ms.is_some_and(|most| score.first_token_ms > most) {
        Some(Exclusion::MaxFirstToken(score.first_token_ms))
    } else {
        None
    }
}
