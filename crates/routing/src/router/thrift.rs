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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Model;
    use crate::quality::Quality;
    use crate::router::Member;
    use crate::router::pool::tests::priced;

    /// A router over models with these prices in US dollars and qualities.
    fn fastest(models: &[(u64, f64)]) -> Router {
        Router::new("svc/thrifty", Policy::Fastest, members(models))
    }

    fn members(models: &[(u64, f64)]) -> Vec<Member> {
        let member = |(at, (price, quality)): (usize, &(u64, f64))| {
            let quality = Some(Quality::even(*quality));
            let model = Model { quality, ..priced(&format!("m{at}"), *price, *price) };
            Member::new(model.into(), 1.0)
        };
        models.iter().enumerate().map(member).collect()
    }

    #[test]
    fn it_spends_less_than_half_of_a_balanced_one_however_far_members_lie_apart() {
        for gap in [0.1, 0.2, 0.4] {
            let router = fastest(&[(30, 0.95), (3, 0.95 - gap), (1, 0.95 - 1.5 * gap)]);
            let balanced = spent(&router, Policy::Balanced.trade());
            let own = spent(&router, router.trade);
            assert!(own <= SHARE * balanced, "{gap}: {own} of {balanced}");
        }
    }

    #[test]
    fn members_that_cost_the_same_leave_the_weight_of_the_policy() {
        let router = fastest(&[(3, 0.9), (3, 0.6)]);
        assert_eq!(router.trade, Policy::Fastest.trade());
    }

    #[test]
    fn over_other_members_it_is_found_anew_unless_somebody_gave_it() {
        let router = fastest(&[(30, 0.95), (3, 0.55)]);
        let others = [(30, 0.95), (3, 0.85)];
        let anew = fastest(&others);
        assert!(router.trade.cost > anew.trade.cost, "{:?}, {:?}", router.trade, anew.trade);
        assert_eq!(router.over(members(&others)).trade, anew.trade);
        let given = Router { trade: Trade { cost: 0.2, time: 0.1 }, ..router };
        assert_eq!(given.over(members(&others)).trade, given.trade);
    }
}
