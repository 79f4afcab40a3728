//! Nothing that was not judged reaches the caller.

use super::*;
use crate::answer::Judge;
use crate::answer::examine::Examiner;
use crate::flag::Flag;

/// Passes what it is given, up to the text that it cannot bear.
#[derive(Default)]
struct Fragile {
    fails_at_the_end: bool,
}

const UNBEARABLE: &str = "unbearable";

fn fail_on(text: &Option<JsonText>) {
    assert!(heard(text) != UNBEARABLE, "{UNBEARABLE}");
}

impl Judge for Fragile {
    fn whole(&mut self, answer: &mut ChatAnswer) {
        for choice in &mut answer.choices {
            choice.message.content = Some("half of it".into());
            fail_on(&choice.message.reasoning);
        }
    }

    fn delta(&mut self, delta: Delta, out: &mut Vec<Delta>) {
        out.push(delta.clone());
        fail_on(&delta.content);
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        out.push(Delta { content: Some("the rest".into()), ..Delta::default() });
        assert!(!self.fails_at_the_end);
    }

    fn report(&self) -> AnswerReport {
        AnswerReport::default()
    }
}

fn step(choice: u32, content: &str, finish_reason: Option<FinishReason>) -> Delta {
    Delta { choice, content: Some(content.into()), finish_reason, ..Delta::default() }
}

/// Choice, content and finish reason of each step.
fn told(out: &[Delta]) -> Vec<(u32, String, Option<FinishReason>)> {
    out.iter().map(|delta| (delta.choice, heard(&delta.content), delta.finish_reason)).collect()
}

fn assert_failed(guard: &AnswerGuard) {
    let report = guard.report();
    assert!(guard.has_failed() && report.flags.contains(Flag::FilterFailed));
    assert_eq!(report.action, AnswerAction::Block);
}

#[test]
fn a_stream_ends_where_judging_it_fails() {
    let mut guard = AnswerGuard::with(Box::new(Fragile::default()));
    let mut out = Vec::new();
    let stop = Some(FinishReason::Stop);
    let ended = Some(FinishReason::ContentFilter);
    guard.delta(step(0, "a", None), &mut out);
    guard.delta(step(1, "b", stop), &mut out);
    guard.delta(step(2, "c", None), &mut out);
    assert!(!guard.has_failed() && guard.report().flags.is_empty());
    guard.delta(step(0, UNBEARABLE, None), &mut out);
    assert_failed(&guard);
    // What follows is swallowed; a choice that had not begun ends at once.
    guard.delta(step(2, "d", stop), &mut out);
    guard.delta(step(3, "e", None), &mut out);
    guard.delta(step(3, "f", stop), &mut out);
    guard.finish(&mut out);
    let text = |text: &str| text.to_owned();
    let expected = [
        (0, text("a"), None),
        (1, text("b"), stop),
        (2, text("c"), None),
        (0, text(""), ended),
        (2, text(""), ended),
        (3, text(""), ended),
    ];
    assert_eq!(told(&out), expected);
}

#[test]
fn what_was_held_back_is_lost_where_the_end_fails() {
    let mut guard = AnswerGuard::with(Box::new(Fragile { fails_at_the_end: true }));
    let mut out = Vec::new();
    guard.delta(step(0, "a", None), &mut out);
    guard.finish(&mut out);
    assert_failed(&guard);
    let ended = (0, String::new(), Some(FinishReason::ContentFilter));
    assert_eq!(told(&out), [(0, "a".to_owned(), None), ended]);
}

#[test]
fn nothing_is_left_of_a_whole_answer_where_judging_it_fails() {
    let mut guard = AnswerGuard::with(Box::new(Fragile::default()));
    let said = Said {
        reasoning: UNBEARABLE.to_owned(),
        content: "text".to_owned(),
        calls: vec!["{}".to_owned()],
    };
    let heard = whole(&mut guard, &[Said::default(), said]);
    assert_failed(&guard);
    let nothing = Heard { finish: Some(FinishReason::ContentFilter), ..Heard::default() };
    assert_eq!(heard, [nothing.clone(), nothing]);
}

#[test]
fn a_flood_ends_the_answer_before_what_is_not_searched() {
    let scene = Scene::new();
    // Names of secrets whose values lead nowhere, again and again, and then a secret.
    let flood = "key=(),x".repeat(120) + " ";
    let content = flood.repeat(400) + "password=vT7#qLw92xZr";
    let said = [Said { content, ..Said::default() }];
    for level in SecurityLevel::ALL {
        let mut guard = scene.guard(level, "a request");
        let heard = whole(&mut guard, &said);
        assert_failed(&guard);
        let nothing = Heard { finish: Some(FinishReason::ContentFilter), ..Heard::default() };
        assert_eq!(heard, [nothing], "{level:?}");

        let mut guard = scene.guard(level, "a request");
        let heard = streamed(&mut guard, &said, &[1000]);
        assert_failed(&guard);
        assert_eq!(heard[0].finish, Some(FinishReason::ContentFilter), "{level:?}");
        assert!(!heard[0].content.contains("password"), "{level:?}");
    }
}

#[test]
fn an_answer_full_of_names_is_no_flood() {
    let scene = Scene::new();
    let content =
        "let token = tokens.next(); // the key of the token, no password=${X}\n".repeat(2000);
    let said = [Said { content: content.clone(), ..Said::default() }];
    for level in SecurityLevel::ALL {
        let mut guard = scene.guard(level, "a request");
        let heard = streamed(&mut guard, &said, &[100]);
        assert!(!guard.has_failed() && heard[0].content == content, "{level:?}");
    }
}

#[test]
fn parts_that_find_no_secret_may_fail_where_the_level_closes_for_secrets_alone() {
    let scene = Scene::new();
    for level in SecurityLevel::ALL {
        let outcome = std::panic::catch_unwind(|| {
            let mut examiner = Examiner::new(scene.parts(level, "", false));
            examiner.aside(|_| panic!("a part failed"));
            examiner.report
        });
        match (level, outcome) {
            (SecurityLevel::Standard, Ok(report)) => {
                assert_eq!(report.flags.to_string(), "filter_failed");
                assert_eq!(report.action, AnswerAction::Pass);
            }
            (SecurityLevel::High | SecurityLevel::Maximum, Err(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}
