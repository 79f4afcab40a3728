//! A cached prefix holds a session while it lives, and no longer.

use super::conversation::{Conversation, set_quality, strong_and_cheap};
use crate::task::TaskType::Code;
use crate::testing::judgement;

const MINUTE: u64 = 60_000;

/// A long conversation with the dear model while the other one has become just as good: only what
/// the provider still has in its cache speaks for staying.
fn long_conversation() -> Conversation {
    let mut conversation = Conversation::new(strong_and_cheap());
    assert_eq!(conversation.turn(&judgement(Code, 0.8), None).0, "strong");
    // Read from its cache, the dear model costs no more than the other one anew.
    conversation.router.members[1].model = conversation.router.members[0].model.clone();
    let half =
        crate::testing::model("other", Some((1.5, 15.0)), crate::quality::Quality::even(0.9));
    conversation.router.members[1].model = std::sync::Arc::new(half);
    set_quality(&mut conversation.router, 1, 0.9);
    conversation.prompt_tokens = 100_000.0;
    if let Some(session) = &mut conversation.session {
        session.prompt_tokens = 100_000.0;
    }
    conversation
}

#[test]
fn the_model_stays_while_its_cache_lives() {
    let mut conversation = long_conversation();
    for turn in 0..10 {
        let answer = conversation.turn(&judgement(Code, 0.8), None);
        assert_eq!(answer, ("strong".to_owned(), "session"), "turn {turn}");
    }
}

#[test]
fn the_model_goes_once_nobody_has_asked_for_longer_than_that() {
    let mut conversation = long_conversation();
    conversation.now.0 += 15 * MINUTE;
    let answer = conversation.turn(&judgement(Code, 0.8), None);
    assert_eq!(answer, ("other".to_owned(), "best"));
}
