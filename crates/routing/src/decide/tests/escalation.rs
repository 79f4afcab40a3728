//! A session gets a better model at once, and a lesser one only after several turns without need.

use super::conversation::{Conversation, strong_and_cheap};
use crate::task::TaskType::Code;
use crate::testing::judgement;

#[test]
fn escalates_at_the_hard_turn_and_falls_back_slowly() {
    let mut conversation = Conversation::new(strong_and_cheap());
    // Complexity of the turn, who answers, why.
    let turns = [
        (0.0, "cheap", "best"),
        (0.0, "cheap", "session"),
        (0.9, "strong", "escalated"),
        // What was hard a moment ago counts for a while, …
        (0.0, "strong", "session"),
        (0.0, "strong", "session"),
        (0.0, "strong", "session"),
        (0.0, "strong", "session"),
        (0.0, "strong", "session"),
        // … and a new hard turn begins all over.
        (0.9, "strong", "session"),
        (0.0, "strong", "session"),
    ];
    for (turn, (complexity, model, reason)) in turns.into_iter().enumerate() {
        let answer = conversation.turn(&judgement(Code, complexity), None);
        assert_eq!(answer, (model.to_owned(), reason), "turn {turn}");
    }
    let mut turns_until = 0;
    loop {
        turns_until += 1;
        match conversation.turn(&judgement(Code, 0.0), None) {
            (model, "session") if model == "strong" => assert!(turns_until < 30, "never"),
            answer => {
                assert_eq!(answer, ("cheap".to_owned(), "fell_back"));
                break;
            }
        }
    }
    assert!(turns_until >= 5, "after {turns_until} turns");
}
