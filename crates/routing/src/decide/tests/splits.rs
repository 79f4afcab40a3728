//! Weighted splits: the shares that were asked for, session by session.

use crate::decide::{Contender, Exclusion, Situation, decide};
use crate::quality::Quality;
use crate::router::{Policy, Router};
use crate::task::TaskType::Code;
use crate::testing::{self, judgement};

const SESSIONS: u64 = 20_000;

fn split(weights: &[f64]) -> (Router, Vec<Contender>) {
    let names = ["a", "b", "c", "d", "e"];
    let model = |(id, weight): (&str, &f64)| {
        (testing::model(id, Some((1.0, 4.0)), Quality::even(0.8)), *weight)
    };
    let models = names.into_iter().zip(weights).map(model).collect();
    let paces = vec![(800.0, 80.0); weights.len()];
    (testing::router(Policy::Weighted, models), testing::contenders(&paces))
}

fn of_session(router: &Router, contenders: &[Contender], session: u64) -> usize {
    let judgement = judgement(Code, 0.5);
    let situation = Situation { session, ..testing::situation(&judgement) };
    let decision = decide(router, contenders, &situation);
    assert_eq!(decision.reason.unwrap().as_str(), "weighted");
    decision.order[0]
}

fn shares(weights: &[f64]) -> Vec<f64> {
    let (router, contenders) = split(weights);
    let mut got = vec![0.0; weights.len()];
    for session in 0..SESSIONS {
        #[expect(clippy::cast_precision_loss, reason = "twenty thousand")]
        let share = 1.0 / SESSIONS as f64;
        got[of_session(&router, &contenders, session)] += share;
    }
    got
}

#[test]
fn shares_match_the_weights_whatever_they_sum_to() {
    for weights in [
        &[0.7, 0.3][..],
        &[70.0, 30.0],
        &[1.0, 1.0, 1.0],
        &[0.01, 0.02, 0.03, 0.04],
        &[5.0, 0.0, 3.0, 2.0],
    ] {
        let sum: f64 = weights.iter().sum();
        for (share, weight) in shares(weights).iter().zip(weights) {
            assert!((share - weight / sum).abs() < 0.015, "{share} of {weight} in {weights:?}");
        }
    }
}

#[test]
fn a_session_always_gets_the_same_member() {
    let (router, contenders) = split(&[2.0, 1.0, 1.0]);
    for session in 0..100 {
        let first = of_session(&router, &contenders, session);
        assert!((0..5).all(|_| of_session(&router, &contenders, session) == first));
    }
}

#[test]
fn a_member_that_goes_away_moves_only_its_own_sessions() {
    let (router, contenders) = split(&[2.0, 1.0, 1.0, 3.0]);
    let mut without = contenders.clone();
    without[1].exclusion = Some(Exclusion::Failing(30));
    for session in 0..2000 {
        let (before, after) =
            (of_session(&router, &contenders, session), of_session(&router, &without, session));
        assert_ne!(after, 1);
        assert!(before == 1 || before == after, "session {session}: {before} → {after}");
    }
}

#[test]
fn a_member_without_weight_is_only_a_last_resort() {
    let (router, mut contenders) = split(&[1.0, 0.0, 1.0]);
    assert!((0..500).all(|session| of_session(&router, &contenders, session) != 1));
    let judgement = judgement(Code, 0.5);
    let decision = decide(&router, &contenders, &testing::situation(&judgement));
    assert_eq!(decision.order.last(), Some(&1));
    contenders[0].exclusion = Some(Exclusion::Failing(30));
    contenders[2].exclusion = Some(Exclusion::Failing(30));
    let decision = decide(&router, &contenders, &testing::situation(&judgement));
    assert_eq!(decision.order[..], [1]);
}

#[test]
fn of_two_deployments_of_a_member_the_faster_one_answers() {
    let (router, mut contenders) = split(&[1.0, 1.0]);
    contenders.push(Contender { member: 0, deployment: 1, ..contenders[0] });
    contenders[0].pace.first_token_ms = 5000.0;
    for session in 0..100 {
        assert_ne!(of_session(&router, &contenders, session), 0);
    }
}
