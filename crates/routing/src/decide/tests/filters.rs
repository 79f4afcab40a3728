//! Bounds, pins, and what a session does when its model cannot answer.

use std::sync::Arc;

use sluice_core::ids::ModelId;

use super::conversation::strong_and_cheap;
use crate::decide::{Contender, Decision, Exclusion, Held, Lock, Situation, decide};
use crate::quality::Quality;
use crate::router::{Member, Policy, Router};
use crate::task::TaskType::{Code, Ops};
use crate::testing::{self, judgement};

const STRONG: usize = 0;
const CHEAP: usize = 1;

fn held(contender: usize, lock: Option<Lock>) -> Option<Held> {
    Some(Held {
        contender,
        cached_tokens: 0.0,
        lock,
        released: false,
        lesser_turns: 0,
        lasting_complexity: 0.0,
    })
}

fn decided(router: &Router, contenders: &[Contender], held: Option<Held>) -> Decision {
    let judgement = judgement(Code, 0.6);
    decide(router, contenders, &Situation { held, ..testing::situation(&judgement) })
}

fn reason(decision: &Decision) -> &'static str {
    decision.reason.unwrap().as_str()
}

#[test]
fn whoever_is_too_dear_is_out() {
    let (mut router, contenders) = strong_and_cheap();
    router.max_cost = Some(0.002);
    let decision = decided(&router, &contenders, None);
    assert_eq!((decision.order.as_slice(), reason(&decision)), (&[CHEAP][..], "only"));
    let why = decision.exclusions[STRONG].unwrap();
    assert!(matches!(why, Exclusion::MaxCost(cost) if cost > 0.002), "{why}");
}

#[test]
fn an_unknown_price_passes_no_bound_and_gains_nothing() {
    let (mut router, contenders) = strong_and_cheap();
    let unpriced = testing::model("unpriced", None, Quality::even(0.7));
    router.members[CHEAP] = Member::new(Arc::new(unpriced), 1.0);
    let decision = decided(&router, &contenders, None);
    let [strong, unpriced] = [STRONG, CHEAP].map(|i| decision.scores[i]);
    assert_eq!((strong.cost_usd, unpriced.priced), (unpriced.cost_usd, false));
    router.max_cost = Some(1.0);
    let decision = decided(&router, &contenders, None);
    assert_eq!(decision.exclusions[CHEAP], Some(Exclusion::UnknownCost));
}

#[test]
fn whoever_begins_too_late_is_out() {
    let (mut router, mut contenders) = strong_and_cheap();
    router.max_first_token_ms = Some(1500.0);
    contenders[STRONG].pace.first_token_ms = 1600.0;
    let decision = decided(&router, &contenders, None);
    assert_eq!(decision.order[..], [CHEAP]);
    assert_eq!(decision.exclusions[STRONG], Some(Exclusion::MaxFirstToken(1600.0)));
}

#[test]
fn with_nobody_left_there_is_no_reason() {
    let (router, mut contenders) = strong_and_cheap();
    contenders.iter_mut().for_each(|c| c.exclusion = Some(Exclusion::Vision));
    let decision = decided(&router, &contenders, held(STRONG, Some(Lock::ToolCalls)));
    assert!(decision.order.is_empty() && decision.reason.is_none());
    assert_eq!(decision.exclusions[..], [Some(Exclusion::Vision); 2]);
    assert!(decided(&router, &[], None).order.is_empty());
}

#[test]
fn a_pinned_task_goes_to_its_member() {
    let (mut router, mut contenders) = strong_and_cheap();
    router.pins = vec![(Ops, ModelId::from("strong")), (Code, ModelId::from("cheap"))];
    for held in [None, held(STRONG, None)] {
        let decision = decided(&router, &contenders, held);
        assert_eq!((decision.order[0], reason(&decision)), (CHEAP, "pinned"));
    }
    let locked = decided(&router, &contenders, held(STRONG, Some(Lock::ToolCalls)));
    assert_eq!(locked.order[0], STRONG, "a lock is no wish");
    // A pin that nobody can keep gives way.
    contenders.push(Contender { deployment: 1, ..contenders[STRONG] });
    contenders[CHEAP].exclusion = Some(Exclusion::Failing(5));
    assert_eq!(reason(&decided(&router, &contenders, None)), "best");
}

#[test]
fn a_session_without_its_model_gets_the_best_other() {
    let (router, mut contenders) = strong_and_cheap();
    contenders.push(Contender { deployment: 1, ..contenders[CHEAP] });
    contenders[CHEAP].exclusion = Some(Exclusion::Resting(20));
    let decision = decided(&router, &contenders, held(CHEAP, None));
    assert_eq!((decision.order[0], reason(&decision)), (STRONG, "replaced"));
}

#[test]
fn a_locked_session_keeps_its_model_at_another_provider() {
    let (router, mut contenders) = strong_and_cheap();
    // At its other provider the cheap model is slow: without a lock nobody would go there.
    let mut elsewhere = Contender { deployment: 1, ..contenders[CHEAP] };
    elsewhere.pace.first_token_ms = 20_000.0;
    contenders.push(elsewhere);
    let decision = decided(&router, &contenders, held(CHEAP, Some(Lock::ToolCalls)));
    assert_eq!(decision.order[..], [CHEAP, 2, STRONG], "the same model is next");
    contenders[CHEAP].exclusion = Some(Exclusion::Resting(20));
    let decision = decided(&router, &contenders, held(CHEAP, Some(Lock::ToolCalls)));
    assert_eq!(decision.order[..], [2, STRONG]);
    assert_eq!(reason(&decision), "locked_tool_calls");
}

#[test]
fn policies_differ_where_there_is_a_choice() {
    let (mut router, mut contenders) = strong_and_cheap();
    contenders[CHEAP].pace = crate::speed::Pace { first_token_ms: 200.0, tokens_per_second: 300.0 };
    let mut first = |policy: Policy, complexity: f32| {
        router.policy = policy;
        router.trade = policy.trade();
        let judgement = judgement(Code, complexity);
        decide(&router, &contenders, &testing::situation(&judgement)).order[0]
    };
    let mut choices = |policy| [0.0, 0.5, 1.0].map(|complexity| first(policy, complexity));
    assert_eq!(choices(Policy::Balanced), [CHEAP, STRONG, STRONG]);
    assert_eq!(choices(Policy::Fastest), [CHEAP, CHEAP, STRONG]);
    // Where everybody does equally well, even the strongest is not asked for nothing.
    assert_eq!(choices(Policy::Strongest), [CHEAP, STRONG, STRONG]);
}
