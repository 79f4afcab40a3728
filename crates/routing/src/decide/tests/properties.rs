//! What holds for any request to any pool.

use proptest::prelude::*;

use crate::classify::Judgement;
use crate::decide::{Contender, Decision, Exclusion, Held, Lock, Situation, decide};
use crate::quality::Quality;
use crate::router::{Policy, Router};
use crate::task::{TASK_TYPES, TaskType};
use crate::testing;

/// A member: quality on average and at code, prices of prompt and answer, first token, speed.
#[derive(Debug, Clone)]
struct Traits {
    average: f64,
    code: f64,
    input: f64,
    output: f64,
    first_token_ms: f64,
    tokens_per_second: f64,
    excluded: bool,
}

fn traits() -> impl Strategy<Value = Traits> {
    let quality = || 0.0..1.0_f64;
    (quality(), quality(), 0.05..20.0_f64, 0.1..80.0_f64, 50.0..9000.0_f64, 5.0..400.0_f64, 0..5)
        .prop_map(|(average, code, input, output, first_token_ms, tokens_per_second, excluded)| {
            let excluded = excluded == 0;
            Traits { average, code, input, output, first_token_ms, tokens_per_second, excluded }
        })
}

fn pool() -> impl Strategy<Value = Vec<Traits>> {
    proptest::collection::vec(traits(), 1..8)
}

fn judgements() -> impl Strategy<Value = Judgement> {
    (proptest::collection::vec(0.001..1.0_f32, TASK_TYPES), 0.0..1.0_f32).prop_map(
        |(weights, complexity)| {
            // Cubed, so that some are certain and some are not.
            let sum: f32 = weights.iter().map(|weight| weight.powi(3)).sum();
            let mut probabilities = [0.0; TASK_TYPES];
            for (probability, weight) in probabilities.iter_mut().zip(&weights) {
                *probability = weight.powi(3) / sum;
            }
            Judgement { probabilities, complexity, agent_step: false }
        },
    )
}

fn policies() -> impl Strategy<Value = Policy> {
    prop_oneof![Just(Policy::Balanced), Just(Policy::Fastest), Just(Policy::Strongest)]
}

fn build(policy: Policy, pool: &[Traits]) -> (Router, Vec<Contender>) {
    let model = |(i, of): (usize, &Traits)| {
        let quality = Quality::of(Some(of.average), &[(TaskType::Code, of.code)]).unwrap();
        (testing::model(&format!("m{i}"), Some((of.input, of.output)), quality), 1.0)
    };
    let paces: Vec<_> = pool.iter().map(|of| (of.first_token_ms, of.tokens_per_second)).collect();
    let mut contenders = testing::contenders(&paces);
    for (contender, of) in contenders.iter_mut().zip(pool) {
        contender.exclusion = of.excluded.then_some(Exclusion::Failing(1));
    }
    (testing::router(policy, pool.iter().enumerate().map(model).collect()), contenders)
}

fn decision(policy: Policy, pool: &[Traits], judgement: &Judgement) -> Decision {
    let (router, contenders) = build(policy, pool);
    decide(&router, &contenders, &testing::situation(judgement))
}

fn rank(decision: &Decision, contender: usize) -> Option<usize> {
    decision.order.iter().position(|i| *i == contender)
}

proptest! {
    #[test]
    fn cheaper_faster_or_better_never_ranks_lower(
        pool in pool(),
        judgement in judgements(),
        policy in policies(),
        which in any::<prop::sample::Index>(),
        gain in 0.0..1.0_f64,
        what in 0..6,
    ) {
        let which = which.index(pool.len());
        let mut better = pool.clone();
        let of = &mut better[which];
        match what {
            0 => of.input *= gain,
            1 => of.output *= gain,
            2 => of.first_token_ms *= gain,
            3 => of.tokens_per_second *= 1.0 + gain,
            4 => of.average += (1.0 - of.average) * gain,
            _ => of.code += (1.0 - of.code) * gain,
        }
        let before = rank(&decision(policy, &pool, &judgement), which);
        let after = rank(&decision(policy, &better, &judgement), which);
        prop_assert!(after <= before, "{before:?} → {after:?}");
    }

    #[test]
    fn whoever_is_better_faster_and_cheaper_than_all_others_is_first(
        pool in pool(),
        judgement in judgements(),
        policy in policies(),
        which in any::<prop::sample::Index>(),
    ) {
        let mut pool = pool;
        let least = |of: fn(&Traits) -> f64| pool.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = |of: fn(&Traits) -> f64| pool.iter().map(of).fold(0.0, f64::max);
        let best = Traits {
            average: most(|of| of.average).midpoint(1.0),
            code: most(|of| of.code).midpoint(1.0),
            input: least(|of| of.input) * 0.9,
            output: least(|of| of.output) * 0.9,
            first_token_ms: least(|of| of.first_token_ms) * 0.9,
            tokens_per_second: most(|of| of.tokens_per_second) * 1.1,
            excluded: false,
        };
        let which = which.index(pool.len());
        pool[which] = best;
        prop_assert_eq!(decision(policy, &pool, &judgement).order[0], which);
    }

    #[test]
    fn the_order_holds_exactly_who_can_answer_once_each(
        pool in pool(),
        judgement in judgements(),
        policy in prop::sample::select(&Policy::ALL[..]),
        held in any::<prop::sample::Index>(),
        lock in prop::option::of(Just(Lock::ToolCalls)),
        is_held in any::<bool>(),
        chance in any::<u64>(),
        max_cost in prop::option::of(0.0001..0.1_f64),
        max_first_token_ms in prop::option::of(100.0..5000.0_f64),
    ) {
        let (mut router, contenders) = build(policy, &pool);
        router.max_cost = max_cost;
        router.max_first_token_ms = max_first_token_ms;
        router.pins = vec![(TaskType::Code, router.members[0].model.id.clone())];
        let held = is_held.then_some(Held {
            contender: held.index(pool.len()),
            cached_tokens: 500.0,
            lock,
            released: false,
            lesser_turns: 1,
            lasting_complexity: 0.5,
        });
        let situation =
            Situation { held, chance, session: chance, ..testing::situation(&judgement) };
        let decision = decide(&router, &contenders, &situation);
        let mut order = decision.order.to_vec();
        order.sort_unstable();
        let able: Vec<usize> =
            (0..pool.len()).filter(|i| decision.exclusions[*i].is_none()).collect();
        prop_assert_eq!(order, able);
        prop_assert_eq!(decision.reason.is_some(), !decision.order.is_empty());
        for (i, contender) in contenders.iter().enumerate() {
            let score = &decision.scores[i];
            let fits = max_cost.is_none_or(|most| score.cost_usd <= most)
                && max_first_token_ms.is_none_or(|most| score.first_token_ms <= most);
            prop_assert_eq!(
                decision.exclusions[i].is_none(),
                contender.exclusion.is_none() && fits
            );
            prop_assert!((0.0..=1.0).contains(&score.quality) && score.utility.is_finite());
        }
        if let Some(held) = held.filter(|held| lock.is_some() && rank(&decision, held.contender).is_some()) {
            prop_assert_eq!(decision.order[0], held.contender, "locked");
        }
    }

    #[test]
    fn the_same_request_is_decided_the_same_way(pool in pool(), judgement in judgements()) {
        let once = decision(Policy::Balanced, &pool, &judgement);
        prop_assert_eq!(once, decision(Policy::Balanced, &pool, &judgement));
    }
}
