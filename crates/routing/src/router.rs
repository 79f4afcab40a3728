//! What a router is: members, a policy, and what the operator wants beside it.

pub mod pool;
mod thrift;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::ModelId;
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;

use crate::catalog::{Capabilities, Model};
use crate::quality::Quality;
use crate::speed::Pace;
use crate::task::TaskType;

/// The most members of a router.
pub const MOST_MEMBERS: usize = 32;

/// What every router's identifier begins with.
pub const PREFIX: &str = "svc/";

/// The router of a request that names none.
pub const AUTO: &str = "svc/auto";

/// The routers that every deployment has, over all its models.
pub const BUILT_IN: [(&str, Policy); 3] =
    [(AUTO, Policy::Balanced), ("svc/orbit", Policy::Fastest), ("svc/nebula", Policy::Strongest)];

/// The day on which the built-in routers were last changed.
const BUILT_IN_CHANGED: &str = "2026-11-22";

/// How a router chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Quality, cost and time (`svc/auto`).
    Balanced,
    /// Cheap and fast first (`svc/orbit`).
    Fastest,
    /// Quality first (`svc/nebula`).
    Strongest,
    /// By weights alone, the same for all of a session.
    Weighted,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Self; 4] = [Self::Balanced, Self::Fastest, Self::Strongest, Self::Weighted];

    /// The word in configuration and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Fastest => "fastest",
            Self::Strongest => "strongest",
            Self::Weighted => "weighted",
        }
    }

    /// The policy that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == word)
    }

    /// How much cost and time count.
    ///
    /// Balanced: on replayed outcomes, RouterArena's score rises with the weight of cost up to .03,
    /// while accuracy on benchmarks that nothing was learnt of falls below that of the best single
    /// model from .009 on.
    pub fn trade(self) -> Trade {
        match self {
            Self::Balanced | Self::Weighted => Trade { cost: 0.007, time: 0.006 },
            Self::Fastest => Trade { cost: 0.03, time: 0.03 },
            Self::Strongest => Trade { cost: 0.001, time: 0.001 },
        }
    }
}

/// What quality is traded for: how much of it (of 1) a doubling is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trade {
    /// A doubling of the cost.
    pub cost: f64,
    /// A doubling of the time.
    pub time: f64,
}

/// How far a router can be relied upon to stay as it is: what its card says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stability {
    /// It stays as it is.
    Stable,
    /// Its choices may still change.
    Preview,
    /// It is being tried out.
    Experimental,
    /// It will go.
    Deprecated,
}

impl Stability {
    /// Every label.
    pub const ALL: [Self; 4] = [Self::Stable, Self::Preview, Self::Experimental, Self::Deprecated];

    /// The word in configuration and on cards.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Preview => "preview",
            Self::Experimental => "experimental",
            Self::Deprecated => "deprecated",
        }
    }
}

/// A model identifier that stands for several models.
#[derive(Debug, Clone)]
pub struct Router {
    /// What a caller puts in `model`.
    pub id: ModelId,
    /// How it chooses.
    pub policy: Policy,
    /// What quality is traded for.
    pub trade: Trade,
    /// What it chooses from, at most [`MOST_MEMBERS`].
    pub members: Vec<Member>,
    /// The most that one request may be expected to cost, in US dollars.
    pub max_cost: Option<f64>,
    /// The longest that a request may be expected to wait for its first token.
    pub max_first_token_ms: Option<f64>,
    /// Tasks that always go to one member.
    pub pins: Vec<(TaskType, ModelId)>,
    /// The day of its last change (`2026-11-22`), where somebody said so.
    pub last_changed: Option<String>,
    /// How far it can be relied upon to stay as it is, where somebody said so.
    pub stability: Option<Stability>,
}

impl Router {
    /// A router that trades as its policy does, without bounds and pins.
    pub fn new(id: impl Into<ModelId>, policy: Policy, members: Vec<Member>) -> Self {
        let mut router = Self {
            id: id.into(),
            policy,
            trade: policy.trade(),
            members,
            max_cost: None,
            max_first_token_ms: None,
            pins: Vec::new(),
            last_changed: None,
            stability: None,
        };
        if policy == Policy::Fastest {
            router.trade.cost = thrift::cost_weight(&router);
        }
        router
    }

    /// The same router over other members: a weight of cost that was found for its own ones is found
    /// anew.
    #[must_use]
    pub fn over(&self, members: Vec<Member>) -> Self {
        let is_found =
            self.policy == Policy::Fastest && self.trade.cost == thrift::cost_weight(self);
        let mut router = Self { members, ..self.clone() };
        if is_found {
            router.trade.cost = thrift::cost_weight(&router);
        }
        router
    }

    /// The routers that every deployment of `models` has.
    pub fn built_in(models: &[Arc<Model>]) -> Vec<Self> {
        let members = pool::members(models);
        let router = |(id, policy): (&str, Policy)| Self {
            last_changed: Some(BUILT_IN_CHANGED.to_owned()),
            ..Self::new(id, policy, members.clone())
        };
        BUILT_IN.into_iter().map(router).collect()
    }

    /// Its entry among the models that callers can ask for: all that its members can do together,
    /// under the mildest of their conditions. Which of them fits is seen with each request.
    pub fn entry(&self) -> Model {
        let models = || self.members.iter().map(|member| &member.model);
        let changed = self.last_changed.as_deref().and_then(UnixMillis::parse);
        Model {
            id: self.id.clone(),
            created: changed.map_or(0, UnixMillis::seconds),
            owned_by: "sluice".to_owned(),
            context_window: models().filter_map(|model| model.context_window).max(),
            output_limit: models().filter_map(|model| model.output_limit).max(),
            capabilities: Capabilities {
                vision: any(models().map(|model| model.capabilities.vision)),
                tools: any(models().map(|model| model.capabilities.tools)),
                json_schema: any(models().map(|model| model.capabilities.json_schema)),
                reasoning: any(models().map(|model| model.capabilities.reasoning)),
                prompt_cache: any(models().map(|model| model.capabilities.prompt_cache)),
            },
            price: None,
            price_source: None,
            suite: models().map(|model| model.suite).min().unwrap_or(Suite::Basic),
            minimum_level: models()
                .map(|model| model.minimum_level)
                .min()
                .unwrap_or(SecurityLevel::Standard),
            simulated: models().all(|model| model.simulated),
            alias_of: None,
            quality: None,
            pace: None,
            deployments: Vec::new(),
        }
    }
}

/// Whether one of several can: unknown where none is known to, and one is unknown.
fn any(abilities: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut found = Some(false);
    for ability in abilities {
        match ability {
            Some(true) => return Some(true),
            Some(false) => {}
            None => found = None,
        }
    }
    found
}

/// One model of a router.
#[derive(Debug, Clone)]
pub struct Member {
    /// The model.
    pub model: Arc<Model>,
    /// Its share in a weighted split; any unit.
    pub weight: f64,
    /// How well it is expected to do.
    pub quality: Quality,
    /// How fast it is expected to be before anybody has measured it.
    pub prior: Pace,
}

impl Member {
    /// A member with what the catalogue says of `model`.
    pub fn new(model: Arc<Model>, weight: f64) -> Self {
        let quality = model.expected_quality();
        let prior = model.pace.unwrap_or_default();
        Self { model, weight, quality, prior }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::pool::tests::{model, priced};

    #[test]
    fn a_router_offers_all_that_its_members_can_under_the_mildest_conditions() {
        let small = Model {
            context_window: Some(8_000),
            output_limit: Some(4_000),
            capabilities: Capabilities {
                vision: Some(false),
                tools: Some(true),
                json_schema: Some(false),
                ..Capabilities::default()
            },
            suite: Suite::Full,
            minimum_level: SecurityLevel::High,
            ..model("small")
        };
        let large = Model {
            context_window: Some(200_000),
            capabilities: Capabilities {
                vision: Some(false),
                tools: Some(false),
                ..Capabilities::default()
            },
            suite: Suite::Basic,
            minimum_level: SecurityLevel::Maximum,
            ..priced("large", 1, 2)
        };
        let members = vec![Member::new(small.into(), 1.0), Member::new(large.into(), 1.0)];
        let mut router = Router::new("svc/mix", Policy::Balanced, members);
        router.last_changed = Some("1970-01-02".to_owned());
        let entry = router.entry();
        assert_eq!((entry.id.as_str(), entry.owned_by.as_str()), ("svc/mix", "sluice"));
        assert_eq!((entry.context_window, entry.output_limit), (Some(200_000), Some(4_000)));
        assert_eq!(entry.capabilities.vision, Some(false), "none of them can");
        assert_eq!(entry.capabilities.tools, Some(true), "one of them can");
        assert_eq!(entry.capabilities.json_schema, None, "one of them may be able to");
        assert_eq!((entry.suite, entry.minimum_level), (Suite::Basic, SecurityLevel::High));
        assert_eq!((entry.created, entry.price, entry.deployments.len()), (86_400, None, 0));
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for policy in Policy::ALL {
            assert_eq!(Policy::parse(policy.as_str()), Some(policy));
        }
        assert_eq!(Policy::parse("best"), None);
        let labels: Vec<&str> = Stability::ALL.into_iter().map(Stability::as_str).collect();
        assert_eq!(labels, ["stable", "preview", "experimental", "deprecated"]);
    }
}
