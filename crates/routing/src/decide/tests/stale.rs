//! Old figures are renewed: rarely, by new sessions, among models that are nearly as good.

use crate::decide::{Contender, Situation, decide};
use crate::quality::Quality;
use crate::router::{Policy, Router};
use crate::task::TaskType::Code;
use crate::testing::{self, judgement};

const DRAWS: u64 = 10_000;

/// Three models of one price, of which one is nearly as good as the best and one is not.
fn pool() -> (Router, Vec<Contender>) {
    let model = |id, quality| (testing::model(id, Some((1.0, 4.0)), Quality::even(quality)), 1.0);
    let models = vec![model("best", 0.85), model("nearly", 0.837), model("lesser", 0.6)];
    let router = testing::router(Policy::Balanced, models);
    (router, testing::contenders(&[(800.0, 80.0); 3]))
}

/// How many of many new sessions each contender gets, and how many of them as an exploration.
fn shares(router: &Router, contenders: &[Contender]) -> ([u64; 3], u64) {
    let judgement = judgement(Code, 0.5);
    let (mut got, mut explored) = ([0; 3], 0);
    for chance in 1..=DRAWS {
        let situation = Situation { chance, ..testing::situation(&judgement) };
        let decision = decide(router, contenders, &situation);
        got[decision.order[0]] += 1;
        explored += u64::from(decision.reason.unwrap().as_str() == "explored");
    }
    (got, explored)
}

#[test]
fn fresh_figures_are_not_explored() {
    let (router, contenders) = pool();
    assert_eq!(shares(&router, &contenders), ([DRAWS, 0, 0], 0));
}

#[test]
fn a_stale_near_equal_is_asked_rarely() {
    let (router, mut contenders) = pool();
    contenders[1].stale = true;
    contenders[2].stale = true;
    let rarely = DRAWS / 50;
    assert_eq!(shares(&router, &contenders), ([DRAWS - rarely, rarely, 0], rarely));
}

#[test]
fn where_the_best_is_stale_itself_nobody_else_is_asked() {
    let (router, mut contenders) = pool();
    contenders.iter_mut().for_each(|contender| contender.stale = true);
    assert_eq!(shares(&router, &contenders), ([DRAWS, 0, 0], 0));
}

#[test]
fn exploring_costs_no_more_than_the_best() {
    let (mut router, mut contenders) = pool();
    let dear = testing::model("nearly", Some((1.3, 5.2)), Quality::even(0.845));
    router.members[1] = crate::router::Member::new(std::sync::Arc::new(dear), 1.0);
    contenders[1].stale = true;
    assert_eq!(shares(&router, &contenders).1, 0);
}
