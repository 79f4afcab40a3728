//! What of a whole request counts.

use sluice_core::chat::{ChatRequest, Content, Message, Part, ReasoningEffort, Role, Tool};

use super::judge;
use super::text::Turn;

fn parts(texts: &[&str]) -> Message {
    let part = |text: &&str| Part::Text { text: (*text).into(), cache_breakpoint: None };
    Message {
        content: Content::Parts(texts.iter().map(part).collect()),
        ..Message::new(Role::User, "")
    }
}

fn chat(messages: Vec<Message>) -> ChatRequest {
    ChatRequest::new("svc/auto", messages)
}

fn tool() -> Tool {
    Tool {
        name: "read".into(),
        description: None,
        parameters: None,
        strict: None,
        cache_breakpoint: None,
        other: None,
    }
}

#[test]
fn only_the_latest_user_text_is_read() {
    let asked = chat(vec![
        Message::new(Role::System, "You are a careful reviewer of pull requests."),
        Message::new(Role::User, "write a poem"),
        Message::new(Role::Assistant, "Roses are red."),
        Message::new(Role::User, "rename foo to bar"),
        Message::new(Role::Assistant, ""),
        Message::new(Role::Tool, "TypeError: x is undefined"),
    ]);
    assert_eq!(Turn::of(&asked).text(), "rename foo to bar");
    assert_eq!(
        judge(&asked).task(),
        judge(&chat(vec![Message::new(Role::User, "rename foo to bar")])).task()
    );
}

#[test]
fn reminders_around_the_words_and_fenced_code_are_left_out() {
    let text = "<system-reminder>\nplan first\n</system-reminder>fix the test\n```rust\nfn x() {}\n```\
                <environment_details>\nfiles: a, b </environment_details> please";
    let turn = Turn::of(&chat(vec![Message::new(Role::User, text)]));
    let words: Vec<&str> = turn.text().split_whitespace().collect();
    assert_eq!(words, ["fix", "the", "test", "please"]);
    assert_eq!(turn.fences, 1);
    assert!(turn.stripped > 30);
}

#[test]
fn other_tags_are_the_persons_words() {
    let turn = Turn::of(&chat(vec![Message::new(Role::User, "center the <div> in <main>")]));
    assert_eq!(turn.text(), "center the <div> in <main>");
}

#[test]
fn the_last_part_with_words_counts() {
    let message =
        parts(&["translate this", "explain monads", "<system-reminder>be brief</system-reminder>"]);
    assert_eq!(Turn::of(&chat(vec![message])).text(), "explain monads");
}

#[test]
fn a_long_reminder_does_not_hide_the_question_behind_it() {
    let text = format!(
        "<environment_details>{}</environment_details>why does the build fail?",
        "src/main.rs\n".repeat(20_000)
    );
    assert_eq!(
        Turn::of(&chat(vec![Message::new(Role::User, &text)])).text().trim(),
        "why does the build fail?"
    );
}

#[test]
fn a_step_of_an_agent_has_tools_and_ends_with_one() {
    let messages = vec![Message::new(Role::User, "fix it"), Message::new(Role::Tool, "ok")];
    let step = ChatRequest { tools: vec![tool()], ..chat(messages.clone()) };
    assert!(judge(&step).agent_step);
    assert!(!judge(&chat(messages)).agent_step);
    let asked =
        ChatRequest { tools: vec![tool()], ..chat(vec![Message::new(Role::User, "fix it")]) };
    assert!(!judge(&asked).agent_step);
}

#[test]
fn more_thinking_asked_for_is_more_complexity() {
    let complexity = |effort| {
        let asked = chat(vec![Message::new(Role::User, "explain the borrow checker")]);
        judge(&ChatRequest { reasoning_effort: effort, ..asked }).complexity
    };
    let efforts = [
        Some(ReasoningEffort::None),
        Some(ReasoningEffort::Low),
        None,
        Some(ReasoningEffort::High),
        Some(ReasoningEffort::XHigh),
    ];
    assert!(efforts.map(complexity).is_sorted());
}

#[test]
fn a_request_without_words_is_judged_too() {
    for messages in
        [vec![], vec![Message::new(Role::User, "")], vec![Message::new(Role::Assistant, "hi")]]
    {
        let judgement = judge(&chat(messages));
        assert!((0.0..=1.0).contains(&judgement.complexity));
    }
}
