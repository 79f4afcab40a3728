//! What a router would choose for a request, and why: a server's own decision, under what a fresh one
//! knows. The members have their expected pace, nobody rests, there is no session, and chance is left
//! out, so that the same request always gets the same answer.

use std::time::{Duration, Instant};

use sluice_core::chat::{ChatRequest, Content, Message, Part, ResponseFormat, Role};
use sluice_core::ids::ModelId;
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_core::routing::RouteCandidate;
use sluice_routing::card;
use sluice_routing::classify::{Judgement, judge};
use sluice_routing::decide::{
    Contender, Decision, MOST_CONTENDERS, Needs, Reason, Situation, decide, exclusion, name_hash,
};
use sluice_routing::router::Router;

use crate::estimate::Ratio;

/// What holds for the request whatever it says itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Floor {
    /// The least strict level.
    pub level: SecurityLevel,
    /// Where it is processed when it does not say.
    pub region: Option<Region>,
}

/// A decision.
#[derive(Debug, Clone)]
pub struct Choice {
    /// What the request was taken for.
    pub judgement: Judgement,
    /// The model that it would go to; `None` where none can answer.
    pub chosen: Option<ModelId>,
    /// Every member at each of its providers: in the order in which they would be asked, then those
    /// that cannot answer.
    pub candidates: Vec<RouteCandidate>,
    /// Why, in sentences. The first begins with the reason's word.
    pub reasons: Vec<String>,
    /// How long the decision took.
    pub took: Duration,
}

impl Choice {
    /// What `router` would choose for a prompt alone. A weighted split chooses the same for the same
    /// prompt.
    pub fn of_prompt(router: &Router, prompt: &str, floor: &Floor) -> Self {
        let chat = ChatRequest::new(router.id.as_str(), vec![Message::new(Role::User, prompt)]);
        Self::of(router, &chat, floor, name_hash(prompt))
    }

    /// What `router` would choose for `chat`. A weighted split chooses the same for the same `session`.
    pub fn of(router: &Router, chat: &ChatRequest, floor: &Floor, session: u64) -> Self {
        let needs = needs(chat, floor);
        let contenders = contenders(router, &needs);
        let begun = Instant::now();
        let judgement = judge(chat);
        let situation = Situation {
            judgement: &judgement,
            input_tokens: needs.input_tokens,
            output_bound: chat.max_tokens.map(f64::from),
            effort: chat.reasoning_effort,
            held: None,
            session,
            chance: 0,
        };
        let decision = decide(router, &contenders, &situation);
        let took = begun.elapsed();
        let first = decision.order.first();
        Self {
            chosen: first.map(|i| router.members[contenders[*i].member].model.id.clone()),
            candidates: candidates_of(router, &contenders, &decision),
            reasons: reasons(router, &contenders, &decision),
            judgement,
            took,
        }
    }
}

/// What the request needs, for somebody who may use everything.
fn needs(chat: &ChatRequest, floor: &Floor) -> Needs {
    let estimate = Ratio::default().estimate(chat);
    let is_image = |part: &Part| matches!(part, Part::Image { .. });
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    Needs {
        suite: Suite::Full,
        region: chat.options.region.or(floor.region),
        level: chat.options.security_level.unwrap_or_default().max(floor.level),
        input_tokens: estimate.prompt_tokens as f64,
        output_tokens: Needs::room(chat.max_tokens),
        vision: chat.messages.iter().any(|message| match &message.content {
            Content::Parts(parts) => parts.iter().any(is_image),
            _ => false,
        }),
        tools: !chat.tools.is_empty(),
        json_schema: matches!(chat.response_format, Some(ResponseFormat::JsonSchema { .. })),
    }
}

/// The members at each of their providers. One without a provider is a candidate of the line: it
/// runs wherever it has to.
fn contenders(router: &Router, needs: &Needs) -> Vec<Contender> {
    let mut contenders = Vec::new();
    for (member, of) in router.members.iter().enumerate() {
        let model = &of.model;
        let contender = |deployment, exclusion| Contender {
            member,
            deployment,
            exclusion,
            pace: of.prior,
            stale: false,
        };
        if model.deployments.is_empty() {
            let anywhere = Needs { region: None, ..*needs };
            contenders.push(contender(0, exclusion(&anywhere, model, None, |_| true)));
        }
        for (i, deployment) in model.deployments.iter().enumerate() {
            contenders.push(contender(i, exclusion(needs, model, deployment.region, |_| true)));
        }
    }
    contenders.truncate(MOST_CONTENDERS);
    contenders
}

/// The candidates in the order in which they would be asked, then those that cannot answer.
fn candidates_of(
    router: &Router,
    contenders: &[Contender],
    decision: &Decision,
) -> Vec<RouteCandidate> {
    let excluded = (0..contenders.len()).filter(|i| decision.exclusions[*i].is_some());
    let order = decision.order.iter().copied().chain(excluded);
    order
        .map(|i| {
            let (contender, score) = (&contenders[i], &decision.scores[i]);
            let model = &router.members[contender.member].model;
            RouteCandidate {
                model: model.id.clone(),
                provider: model.deployments.get(contender.deployment).map(|d| d.provider.clone()),
                utility: rounded(score.utility, 6),
                quality: rounded(score.quality, 6),
                basis: Some(router.members[contender.member].quality.basis),
                cost_usd: score.priced.then(|| rounded(score.cost_usd, 9)),
                first_token_ms: rounded(score.first_token_ms, 1),
                seconds: rounded(score.seconds, 3),
                excluded: decision.exclusions[i].map(|why| why.as_str().to_owned()),
            }
        })
        .collect()
}

/// Why, in sentences. The first begins with the reason's word.
fn reasons(router: &Router, contenders: &[Contender], decision: &Decision) -> Vec<String> {
    let name = |i: usize| &router.members[contenders[i].member].model.id;
    let mut reasons = Vec::new();
    match decision.reason {
        None => reasons.push("none: no candidate can answer".to_owned()),
        Some(reason) => reasons.push(format!("{}: {}", reason.as_str(), meaning(reason))),
    }
    if let [first, second, ..] = decision.order[..] {
        let (best, next) = (&decision.scores[first], &decision.scores[second]);
        reasons.push(format!(
            "next would be {}: utility {:.4} against {:.4} (quality {:.3} against {:.3}, {} against \
             {}, {:.1} s against {:.1} s)",
            name(second),
            next.utility,
            best.utility,
            next.quality,
            best.quality,
            dollars(next.priced, next.cost_usd),
            dollars(best.priced, best.cost_usd),
            next.seconds,
            best.seconds,
        ));
    }
    reasons.extend(card::rests_on(router).map(|bases| format!("quality: {bases}")));
    for (i, exclusion) in decision.exclusions.iter().enumerate() {
        if let Some(exclusion) = exclusion {
            reasons.push(format!("{} cannot: {exclusion}", name(i)));
        }
    }
    reasons
}

fn dollars(is_known: bool, cost: f64) -> String {
    if is_known { format!("${cost:.6}") } else { "an unknown cost".to_owned() }
}

fn meaning(reason: Reason) -> String {
    match reason {
        Reason::Best => "the highest expected quality after what cost and time are worth".into(),
        Reason::NearTie => "as good as the best; chance spreads the load".into(),
        Reason::Explored => "nearly as good as the best, and not asked for a while".into(),
        Reason::Session => "the conversation's model; leaving it is not worth it".into(),
        Reason::Locked(_) => "the conversation's model, which this request cannot leave".into(),
        Reason::Escalated => "the conversation needs a better model from here on".into(),
        Reason::Faster => {
            "the conversation's model got slow; this one is as good, or not much less".into()
        }
        Reason::FellBack => "the conversation has done without its better model".into(),
        Reason::Released => "the conversation has turned to another task".into(),
        Reason::Replaced => "the conversation's model cannot answer this request".into(),
        Reason::Pinned(task) => format!("the task type {} is pinned to it", task.as_str()),
        Reason::Weighted => "its share of the split".into(),
        Reason::Only => "no other candidate can answer".into(),
    }
}

/// Only so many decimals.
fn rounded(figure: f64, decimals: i32) -> f64 {
    let unit = 10_f64.powi(decimals);
    (figure * unit).round() / unit
}
