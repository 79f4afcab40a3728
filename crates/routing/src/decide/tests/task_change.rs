//! A conversation that turns to another task is free to go, and takes nothing of the old one along.

use super::conversation::{Conversation, set_quality, strong_and_cheap};
use crate::router::Router;
use crate::task::TaskType::{self, Code, Transform};
use crate::testing::judgement;

fn good_at(router: &mut Router, member: usize, task: TaskType, quality: f64) {
    router.members[member].quality.by_task[task.index()] = quality;
}

#[test]
fn a_clear_change_of_task_releases_the_session() {
    let mut conversation = Conversation::new(strong_and_cheap());
    good_at(&mut conversation.router, 1, Transform, 0.9);
    assert_eq!(conversation.turn(&judgement(Code, 0.8), None).0, "strong");
    let answer = conversation.turn(&judgement(Transform, 0.2), None);
    assert_eq!(answer, ("cheap".to_owned(), "released"));
    // The old task's complexity is gone with it.
    assert!(conversation.session.unwrap().lasting_complexity < 0.3);
}

#[test]
fn without_a_gain_it_stays_all_the_same() {
    let mut conversation = Conversation::new(strong_and_cheap());
    set_quality(&mut conversation.router, 1, 0.5);
    assert_eq!(conversation.turn(&judgement(Code, 0.8), None).0, "strong");
    let answer = conversation.turn(&judgement(Transform, 0.6), None);
    assert_eq!(answer, ("strong".to_owned(), "session"));
}

#[test]
fn a_vague_word_does_not_change_what_it_is_about() {
    let mut conversation = Conversation::new(strong_and_cheap());
    conversation.turn(&judgement(Code, 0.8), None);
    let mut vague = judgement(Code, 0.2);
    vague.probabilities = [1.0 / 13.0; 13];
    conversation.turn(&vague, None);
    assert_eq!(conversation.session.unwrap().task, Some(Code));
}
