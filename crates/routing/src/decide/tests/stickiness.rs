//! Twenty turns of an agent at work: its model stays, whatever the requests in between look like.

use super::conversation::{Conversation, set_quality, strong_and_cheap};
use crate::classify::Judgement;
use crate::decide::Lock;
use crate::quality::Quality;
use crate::task::TaskType::{self, Code, Debug, Ops, Test};
use crate::testing::judgement;

#[test]
fn an_agent_loop_keeps_its_model() {
    let mut conversation = Conversation::new(strong_and_cheap());
    let (model, reason) = conversation.turn(&judgement(Code, 0.6), None);
    assert_eq!((model.as_str(), reason), ("strong", "best"));
    // What the classifier makes of the latest words changes from step to step.
    let looks: [(TaskType, f32); 4] = [(Code, 0.4), (Test, 0.6), (Debug, 0.5), (Ops, 0.3)];
    for turn in 1..20 {
        let (task, complexity) = looks[turn % looks.len()];
        let step = Judgement { agent_step: true, ..judgement(task, complexity) };
        let answer = conversation.turn(&step, Some(Lock::ToolCalls));
        assert_eq!(answer, ("strong".to_owned(), "locked_tool_calls"), "turn {turn}");
    }
}

#[test]
fn a_lock_holds_against_any_gain() {
    for lock in [Lock::ToolCalls, Lock::SignedThinking, Lock::PreviousResponse] {
        let mut conversation = Conversation::new(strong_and_cheap());
        assert_eq!(conversation.turn(&judgement(Code, 0.0), None).0, "cheap");
        for _ in 0..20 {
            let answer = conversation.turn(&judgement(Code, 1.0), Some(lock));
            assert_eq!(answer, ("cheap".to_owned(), lock.as_str()));
        }
    }
}

#[test]
fn follow_ups_of_about_the_same_weight_keep_the_model() {
    let mut conversation = Conversation::new(strong_and_cheap());
    let first = conversation.turn(&judgement(Code, 0.5), None).0;
    for turn in 0..20_u8 {
        let complexity = 0.45 + f32::from(turn % 3) * 0.05;
        assert_eq!(
            conversation.turn(&judgement(Code, complexity), None),
            (first.clone(), "session")
        );
    }
}

#[test]
fn what_lies_at_a_provider_goes_nowhere_else() {
    let mut conversation = Conversation::new(strong_and_cheap());
    assert_eq!(conversation.turn(&judgement(Code, 0.8), None).0, "strong");
    let decision = conversation.decide(&judgement(Code, 0.1), Some(Lock::PreviousResponse));
    assert_eq!(decision.order[..], [0], "nobody else has what was said before");
    let decision = conversation.decide(&judgement(Code, 0.1), Some(Lock::ToolCalls));
    assert_eq!(decision.order[..], [0, 1], "another one can read what a tool said");
}

#[test]
fn a_provider_that_gets_slow_is_left_at_once() {
    let mut conversation = Conversation::new(strong_and_cheap());
    let other = crate::testing::model("other", Some((3.0, 15.0)), Quality::even(0.9));
    conversation.router.members[1].model = other.into();
    set_quality(&mut conversation.router, 1, 0.9);
    let (first, _) = conversation.turn(&judgement(Code, 0.5), None);
    let held = usize::from(first != "strong");
    conversation.contenders[held].pace.first_token_ms = 60_000.0;
    let (then, reason) = conversation.turn(&judgement(Code, 0.5), None);
    assert_ne!(then, first);
    assert_eq!(reason, "faster");
}
