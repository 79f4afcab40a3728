//! How much cost has to count so that a router is cheap: that depends on its members.
//!
//! With one fixed weight, a router whose members lie close together in quality always takes the
//! cheapest, and one whose members lie far apart saves next to nothing.

use super::{Policy, Router, Trade};
use crate::classify::Judgement;
use crate::decide::{Contender, Situation, decide};
use crate::task::TASK_TYPES;

/// The most that a thrifty router spends of what a balanced one over the same members does.
const SHARE: f64 = 0.45;
/// How far apart the weights are that are tried, from the lowest.
const STEP: f64 = 0.0005;
/// How many of them: the last is about .13, where a model that costs twice as much has to do an
/// eighth more of all requests well.
const STEPS: u32 = 200;
/// The complexities of ordinary requests.
const COMPLEXITIES: [f32; 10] = [0.05, 0.15, 0.25, 0.3, 0.35, 0.45, 0.5, 0.6, 0.8, 0.95];
/// Tokens of an ordinary prompt.
const INPUT_TOKENS: f64 = 500.0;

/// The lowest weight of cost, from that of the policy on, at which ordinary requests cost no more
/// than [`SHARE`] of what they cost a balanced router. That of the policy where no weight brings it
/// about: where all members cost the same, say.
pub(super) fn cost_weight(router: &Router) -> f64 {
    let own = router.policy.trade();
    let balanced = spent(router, Policy::Balanced.trade());
    let weights = (0..STEPS).map(|step| ((own.cost + STEP * f64::from(step)) * 1e4).round() / 1e4);
    let is_thrifty =
        |weight: &f64| spent(router, Trade { cost: *weight, ..own }) <= SHARE * balanced;
    weights.into_iter().find(is_thrifty).unwrap_or(own.cost)
}

/// What ordinary requests are expected to cost a router over these members that trades so.
fn spent(router: &Router, trade: Trade) -> f64 {
    let router = Router { trade, max_cost: None, pins: Vec::new(), ..router.clone() };
    let contenders: Vec<Contender> = (0..router.members.len())
        .map(|member| Contender {
            member,
            deployment: 0,
            exclusion: None,
            pace: router.members[member].prior,
            stale: false,
        })
        .collect();
    let cost = |complexity: f32| {
        let judgement = Judgement {
            probabilities: [1.0 / TASK_TYPES as f32; TASK_TYPES],
            complexity,
            agent_step: false,
        };
        let situation = Situation {
            judgement: &judgement,
            input_tokens: INPUT_TOKENS,
            output_bound: None,
            effort: None,
            held: None,
            session: 0,
            chance: 0,
        };
        let decision = decide(&router, &contenders, &situation);
        decision.order.first().map_or(0.0, |first| decision.scores[*first].cost_usd)
    };
    COMPLEXITIES.into_iter().map(cost).sum()
}
