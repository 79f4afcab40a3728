use serde_json::{Value, json};
use sluice_core::chat::{ChatRequest, Content, Part, Role};
use sluice_core::json::JsonText;

use super::{Named, nameless};
use crate::testing::{chat, with_extra};

const SECRET: u64 = 7;

/// The same with one header, `svc-session-id`.
fn key(
    secret: u64,
    whose: &str,
    own: Option<&str>,
    chat: &ChatRequest,
    may_be_hashed: bool,
) -> Option<u64> {
    super::key(secret, whose, Named { own, by_client: None }, chat, may_be_hashed)
}

/// Sluice's own header, the body's id, a client's header, and what else the body says: in this order.
#[test]
fn what_names_a_conversation_has_an_order() {
    let plain = question("You are terse.", "Fix the build.");
    let cached = with_extra(plain.clone(), "prompt_cache_key", &json!("c"));
    let named = with_extra(cached.clone(), "session_id", &json!("s"));
    let of = |own, by_client, chat: &ChatRequest| {
        super::key(SECRET, "key_1", Named { own, by_client }, chat, true).unwrap()
    };
    assert_eq!(of(Some("a"), Some("x"), &named), of(Some("a"), None, &plain));
    assert_eq!(of(None, Some("x"), &named), of(None, None, &named));
    assert_eq!(of(Some(" "), Some("x"), &cached), of(None, Some("x"), &plain));
    assert_ne!(of(None, Some("x"), &plain), of(Some("x"), None, &plain));
    assert_ne!(of(None, None, &cached), of(None, None, &plain));
    assert_ne!(nameless(SECRET, "key_1"), nameless(SECRET, "key_2"));
}

fn key_of(chat: &ChatRequest) -> u64 {
    key(SECRET, "key_1", None, chat, true).unwrap()
}

fn question(system: &str, user: &str) -> ChatRequest {
    chat(&[(Role::System, system), (Role::User, user)])
}

#[test]
fn a_conversation_keeps_its_key_as_it_grows() {
    let first = question("You are terse.", "Fix the build.");
    let later = chat(&[
        (Role::System, "You are terse."),
        (Role::User, "Fix the build."),
        (Role::Assistant, "Which one?"),
        (Role::User, "The nightly one."),
    ]);
    assert_eq!(key_of(&first), key_of(&later));
}

#[test]
fn whatever_names_a_conversation_tells_it_from_others() {
    let base = question("You are terse.", "Fix the build.");
    let key_for = |secret, whose, named| key(secret, whose, named, &base, true).unwrap();
    let mut keys = vec![
        key_of(&base),
        key_for(SECRET + 1, "key_1", None),
        key_for(SECRET, "key_2", None),
        key_for(SECRET, "key_1", Some("a")),
        key_for(SECRET, "key_1", Some("b")),
        key_of(&question("You are terse!", "Fix the build.")),
        key_of(&question("You are terse.", "Fix the test.")),
        key_of(&chat(&[(Role::User, "Fix the build.")])),
        key_of(&with_extra(base.clone(), "session_id", &json!("a"))),
        key_of(&with_extra(base.clone(), "prompt_cache_key", &json!("a"))),
    ];
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

#[test]
fn the_most_explicit_name_counts() {
    let named = |header: Option<&str>, members: &[(&str, Value)], user: &str| {
        let plain = question("You are terse.", user);
        let chat = members.iter().fold(plain, |chat, (name, value)| with_extra(chat, name, value));
        key(SECRET, "key_1", header, &chat, true).unwrap()
    };
    let cache = ("prompt_cache_key", json!("c"));
    let session = ("session_id", json!("s"));
    // A header beats the body, `session_id` beats `prompt_cache_key`, and both beat content.
    let both = [cache.clone(), session.clone()];
    assert_eq!(named(Some("h"), &both, "one"), named(Some(" h "), &[], "two"));
    assert_eq!(named(None, &both, "one"), named(None, &[session], "two"));
    assert_eq!(named(None, std::slice::from_ref(&cache), "one"), named(None, &[cache], "two"));
    // What is empty names nothing.
    let empty = [("session_id", json!("")), ("prompt_cache_key", Value::Null)];
    assert_eq!(named(Some("  "), &empty, "one"), named(None, &[], "one"));
    assert_ne!(named(Some("  "), &empty, "one"), named(None, &[], "two"));
}

#[test]
fn where_nothing_may_be_kept_only_an_explicit_name_counts() {
    let plain = question("You are terse.", "Fix the build.");
    let with_id = with_extra(plain.clone(), "session_id", &json!("a"));
    assert_eq!(key(SECRET, "key_1", None, &plain, false), None);
    assert!(key(SECRET, "key_1", Some("a"), &plain, false).is_some());
    assert_eq!(
        key(SECRET, "key_1", None, &with_id, false),
        key(SECRET, "key_1", None, &with_id, true),
    );
    assert_eq!(key(SECRET, "key_1", None, &chat(&[(Role::System, "Hello")]), true), None);
}

#[test]
fn moving_a_boundary_makes_another_conversation() {
    for (one, other) in [
        (question("ab", "c"), question("a", "bc")),
        (question("", "abc"), question("abc", "")),
        (chat(&[(Role::User, "abc")]), question("", "abc")),
        (parts(&["ab", "c"]), parts(&["a", "bc"])),
        (parts(&["abc"]), parts(&["abc", ""])),
    ] {
        assert_ne!(key_of(&one), key_of(&other));
    }
    let one = chat(&[(Role::User, "x")]);
    assert_ne!(
        key(SECRET, "key_1a", Some("b"), &one, true),
        key(SECRET, "key_1", Some("ab"), &one, true),
    );
}

fn parts(texts: &[&str]) -> ChatRequest {
    let mut chat = chat(&[(Role::User, "")]);
    let part = |text: &&str| Part::Text { text: (*text).into(), cache_breakpoint: None };
    chat.messages[0].content = Content::Parts(texts.iter().map(part).collect());
    chat
}

#[test]
fn of_a_long_text_head_tail_and_length_count() {
    let long = |head: &str, middle: usize, tail: &str| {
        let text = format!("{head}{}{tail}", "é".repeat(middle));
        key_of(&question(&text, "Go on."))
    };
    assert_eq!(long("head", 100_000, "tail"), long("head", 100_000, "tail"));
    assert_ne!(long("head", 100_000, "tail"), long("Head", 100_000, "tail"));
    assert_ne!(long("head", 100_000, "tail"), long("head", 100_000, "taiL"));
    assert_ne!(long("head", 100_000, "tail"), long("head", 100_001, "tail"));
}

#[test]
fn a_text_is_the_same_received_or_rewritten() {
    let mut received = question("You are terse.", "Fix the build.");
    let literal = JsonText::trusted_literal("\"Fix the build.\"".into());
    received.messages[1].content = Content::Text(literal);
    assert_eq!(key_of(&received), key_of(&question("You are terse.", "Fix the build.")));
}
