//! What this crate's tests are made of.

use std::sync::Arc;

use serde_json::Value;
use sluice_core::chat::{ChatRequest, Message, Role};
use sluice_core::ids::ModelId;
use sluice_core::json::{Member as JsonMember, RawJson};
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::money::{Price, TokenPrice};

use crate::catalog::{Capabilities, Model};
use crate::classify::Judgement;
use crate::decide::{Contender, Situation};
use crate::quality::Quality;
use crate::router::{Member, Policy, Router};
use crate::speed::Pace;
use crate::task::{TASK_TYPES, TaskType};

/// A conversation of these messages.
pub(crate) fn chat(messages: &[(Role, &str)]) -> ChatRequest {
    let messages = messages.iter().map(|(role, text)| Message::new(*role, text)).collect();
    ChatRequest::new("svc/auto", messages)
}

/// `chat` with a member beside those that have a name.
pub(crate) fn with_extra(mut chat: ChatRequest, name: &str, value: &Value) -> ChatRequest {
    let value = RawJson::from_value(value).unwrap();
    chat.extra.push(JsonMember { name: name.into(), value });
    chat
}

/// A model that costs so many US dollars per million tokens, prompt and answer.
pub(crate) fn model(id: &str, price: Option<(f64, f64)>, quality: Quality) -> Model {
    Model {
        id: ModelId::from(id),
        created: 0,
        owned_by: String::new(),
        context_window: None,
        output_limit: None,
        capabilities: Capabilities::default(),
        price: price.map(|(input, output)| self::price(input, output)),
        price_source: None,
        suite: Suite::Basic,
        minimum_level: SecurityLevel::Standard,
        simulated: false,
        alias_of: None,
        quality: Some(quality),
        pace: None,
        deployments: Vec::new(),
    }
}

/// A tenth of the input's price for what is read from a cache.
pub(crate) fn price(input: f64, output: f64) -> Price {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small price")]
    let picos = |dollars: f64| TokenPrice((dollars * 1e6).round() as u64);
    Price {
        input: picos(input),
        cache_read: picos(input / 10.0),
        cache_write: picos(input),
        output: picos(output),
        reasoning: picos(output),
        version: "test".into(),
    }
}

/// A router of these models, each with its weight.
pub(crate) fn router(policy: Policy, models: Vec<(Model, f64)>) -> Router {
    let member = |(model, weight)| Member::new(Arc::new(model), weight);
    Router::new("svc/auto", policy, models.into_iter().map(member).collect())
}

/// One contender for each member, so fast.
pub(crate) fn contenders(paces: &[(f64, f64)]) -> Vec<Contender> {
    let contender = |(member, (first_token_ms, tokens_per_second)): (usize, &(f64, f64))| {
        let pace = Pace { first_token_ms: *first_token_ms, tokens_per_second: *tokens_per_second };
        Contender { member, deployment: 0, exclusion: None, pace, stale: false }
    };
    paces.iter().enumerate().map(contender).collect()
}

/// Certain of `task`.
pub(crate) fn judgement(task: TaskType, complexity: f32) -> Judgement {
    let mut probabilities = [0.0; TASK_TYPES];
    probabilities[task.index()] = 1.0;
    Judgement { probabilities, complexity, agent_step: false }
}

/// A request of a thousand tokens outside any session, without chance.
pub(crate) fn situation(judgement: &Judgement) -> Situation<'_> {
    Situation {
        judgement,
        input_tokens: 1000.0,
        output_bound: None,
        effort: None,
        held: None,
        session: 0,
        chance: 0,
    }
}
