//! What of a whole request counts.

use sluice_core::chat::{
    ChatRequest, Content, Message, Part, ReasoningEffort, RequestOptions, Role, Tool,
};
use sluice_core::source::{Dialect, Source};

use super::judge;
use super::text::Turn;

fn says(role: Role, text: &str) -> Message {
    Message {
        role,
        content: Content::Text(text.into()),
        name: None,
        tool_calls: Vec::new(),
        tool_call_id: None,
        reasoning: Vec::new(),
        cache_breakpoint: None,
        extra: Vec::new(),
    }
}

fn parts(texts: &[&str]) -> Message {
    let part = |text: &&str| Part::Text { text: (*text).into(), cache_breakpoint: None };
    Message { content: Content::Parts(texts.iter().map(part).collect()), ..says(Role::User, "") }
}

fn chat(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        model: "svc/auto".into(),
        messages,
        tools: Vec::new(),
        tool_choice: None,
        parallel_tool_calls: None,
        response_format: None,
        max_tokens: None,
        temperature: None,
        top_p: None,
        frequency_penalty: None,
        presence_penalty: None,
        stop: Vec::new(),
        seed: None,
        n: 1,
        logprobs: false,
        top_logprobs: None,
        reasoning_effort: None,
        user: None,
        stream: false,
        include_usage: false,
        options: RequestOptions::default(),
        extra: Vec::new(),
        source: Source {
            dialect: Dialect::OpenAiChat,
            members: Vec::new(),
            body_bytes: 100,
            reader: |_| None,
        },
    }
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
        says(Role::System, "You are a careful reviewer of pull requests."),
        says(Role::User, "write a poem"),
        says(Role::Assistant, "Roses are red."),
        says(Role::User, "rename foo to bar"),
        says(Role::Assistant, ""),
        says(Role::Tool, "TypeError: x is undefined"),
    ]);
    assert_eq!(Turn::of(&asked).text(), "rename foo to bar");
    assert_eq!(
        judge(&asked).task(),
        judge(&chat(vec![says(Role::User, "rename foo to bar")])).task()
    );
}

#[test]
fn reminders_around_the_words_and_fenced_code_are_left_out() {
    let text = "<system-reminder>\nplan first\n</system-reminder>fix the test\n```rust\nfn x() {}\n```\
                <environment_details>\nfiles: a, b </environment_details> please";
    let turn = Turn::of(&chat(vec![says(Role::User, text)]));
    let words: Vec<&str> = turn.text().split_whitespace().collect();
    assert_eq!(words, ["fix", "the", "test", "please"]);
    assert_eq!(turn.fences, 1);
    assert!(turn.stripped > 30);
}

#[test]
fn other_tags_are_the_persons_words() {
    let turn = Turn::of(&chat(vec![says(Role::User, "center the <div> in <main>")]));
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
        Turn::of(&chat(vec![says(Role::User, &text)])).text().trim(),
        "why does the build fail?"
    );
}

#[test]
fn a_step_of_an_agent_has_tools_and_ends_with_one() {
    let messages = vec![says(Role::User, "fix it"), says(Role::Tool, "ok")];
    let step = ChatRequest { tools: vec![tool()], ..chat(messages.clone()) };
    assert!(judge(&step).agent_step);
    assert!(!judge(&chat(messages)).agent_step);
    let asked = ChatRequest { tools: vec![tool()], ..chat(vec![says(Role::User, "fix it")]) };
    assert!(!judge(&asked).agent_step);
}

#[test]
fn more_thinking_asked_for_is_more_complexity() {
    let complexity = |effort| {
        let asked = chat(vec![says(Role::User, "explain the borrow checker")]);
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
    for messages in [vec![], vec![says(Role::User, "")], vec![says(Role::Assistant, "hi")]] {
        let judgement = judge(&chat(messages));
        assert!((0.0..=1.0).contains(&judgement.complexity));
    }
}
