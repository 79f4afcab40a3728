//! What a decision says of itself, in full: figures that change here change for everybody.

use std::fmt::Write as _;

use crate::decide::{Contender, Decision, Exclusion, Held, Situation, decide};
use crate::quality::Quality;
use crate::router::{Policy, Router};
use crate::task::TaskType::{Code, Math};
use crate::testing::{self, judgement};

/// The contenders as the decision ranks them, then those that could not answer.
fn explain(router: &Router, contenders: &[Contender], decision: &Decision) -> String {
    let mut text = format!("{}\n", decision.reason.map_or("nobody", |reason| reason.as_str()));
    let excluded = (0..contenders.len()).filter(|i| decision.exclusions[*i].is_some());
    for i in decision.order.iter().copied().chain(excluded) {
        let (id, score) = (&router.members[contenders[i].member].model.id, &decision.scores[i]);
        let _ = write!(
            text,
            "{id}: utility {:.4}, quality {:.4}, ${:.6}, {:.0} ms, {:.2} s",
            score.utility, score.quality, score.cost_usd, score.first_token_ms, score.seconds
        );
        if let Some(why) = decision.exclusions[i] {
            let _ = write!(text, "; {}: {why}", why.as_str());
        }
        text.push('\n');
    }
    text
}

fn pool() -> (Router, Vec<Contender>) {
    let small = Quality::of(Some(0.65), &[(Code, 0.6), (Math, 0.5)]).unwrap();
    let coder = Quality::of(Some(0.75), &[(Code, 0.85), (Math, 0.6)]).unwrap();
    let models = vec![
        (testing::model("small", Some((0.1, 0.4)), small), 1.0),
        (testing::model("coder", Some((0.5, 2.0)), coder), 1.0),
        (testing::model("large", Some((5.0, 25.0)), Quality::even(0.9)), 1.0),
    ];
    let paces = [(300.0, 200.0), (500.0, 120.0), (1200.0, 60.0)];
    (testing::router(Policy::Balanced, models), testing::contenders(&paces))
}

#[test]
fn a_new_session() {
    let (router, mut contenders) = pool();
    contenders[0].exclusion = Some(Exclusion::Tools);
    let judgement = judgement(Code, 0.5);
    let decision = decide(&router, &contenders, &testing::situation(&judgement));
    assert_eq!(explain(&router, &contenders, &decision), NEW_SESSION);
}

#[test]
fn an_easy_turn_of_a_session_with_a_cached_prefix() {
    let (router, contenders) = pool();
    let judgement = judgement(Math, 0.1);
    let held = Held {
        contender: 2,
        cached_tokens: 30_000.0,
        lock: None,
        released: false,
        lesser_turns: 0,
        lasting_complexity: 0.2,
    };
    let situation =
        Situation { held: Some(held), input_tokens: 32_000.0, ..testing::situation(&judgement) };
    let decision = decide(&router, &contenders, &situation);
    assert_eq!(explain(&router, &contenders, &decision), EASY_TURN);
}

#[test]
fn nobody_can_answer() {
    let (mut router, mut contenders) = pool();
    router.max_cost = Some(0.001);
    contenders[0].exclusion = Some(Exclusion::Resting(20));
    contenders[1].exclusion = Some(Exclusion::ContextWindow(8192));
    let judgement = judgement(Code, 1.0);
    let decision = decide(&router, &contenders, &testing::situation(&judgement));
    assert_eq!(explain(&router, &contenders, &decision), NOBODY);
}

const NEW_SESSION: &str = "\
best
large: utility 0.7884, quality 0.9000, $0.022500, 1200 ms, 12.87 s
coder: utility 0.7439, quality 0.8200, $0.001900, 500 ms, 6.33 s
small: utility 0.5593, quality 0.6150, $0.000380, 300 ms, 3.80 s; tools: cannot call functions
";

const EASY_TURN: &str = "\
session
large: utility 0.8465, quality 0.9587, $0.032875, 1200 ms, 6.45 s
coder: utility 0.7432, quality 0.8391, $0.016630, 500 ms, 3.13 s
small: utility 0.7115, quality 0.7844, $0.003326, 300 ms, 1.88 s
";

const NOBODY: &str = "\
nobody
small: utility 0.3164, quality 0.3782, $0.000520, 300 ms, 5.55 s; resting: its provider asked to be \
left alone for 20 s
coder: utility 0.5899, quality 0.6724, $0.002600, 500 ms, 9.25 s; context_window: its context \
window of 8192 tokens is too small
large: utility 0.6899, quality 0.8100, $0.031250, 1200 ms, 18.70 s; max_cost: would cost about \
$0.031250, above max_cost
";
