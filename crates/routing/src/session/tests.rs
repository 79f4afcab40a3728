use serde_json::json;
use sluice_core::chat::{CacheBreakpoint, ReasoningBlock, Role, ToolCall};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{ModelId, ProviderId};

use super::*;
use crate::classify::Judgement;
use crate::decide::Lock;
use crate::task::TaskType;
use crate::testing::{chat, judgement, with_extra};

const NOON: UnixMillis = UnixMillis(1_800_000_000_000);
const MINUTE: u64 = 60_000;

fn session() -> Session {
    Session {
        model: ModelId::from("small"),
        provider: ProviderId::from("one"),
        last_asked: NOON,
        prompt_tokens: 5000.0,
        task: Some(TaskType::Code),
        lasting_complexity: 0.5,
        lesser_turns: 0,
    }
}

fn hold(minutes: u64, idle_allowed_ms: u64, lock: Option<Lock>) -> Option<crate::decide::Held> {
    let judgement = judgement(TaskType::Code, 0.3);
    let now = UnixMillis(NOON.0 + minutes * MINUTE);
    session().hold(3, true, &Return { judgement: &judgement, now, idle_allowed_ms, lock })
}

#[test]
fn a_session_holds_while_its_cache_may_live() {
    let cached = |minutes, allowed| hold(minutes, allowed, None).map(|held| held.cached_tokens);
    for (minutes, allowed, expected) in [
        (0, IDLE_MS, Some(5000.0)),
        (5, IDLE_MS, Some(5000.0)),
        // The cache has run out, but the model is kept for a while.
        (6, IDLE_MS, Some(0.0)),
        (10, IDLE_MS, Some(0.0)),
        (11, IDLE_MS, None),
        (11, LONG_IDLE_MS, Some(5000.0)),
        (60, LONG_IDLE_MS, Some(5000.0)),
        (61, LONG_IDLE_MS, None),
    ] {
        assert_eq!(cached(minutes, allowed), expected, "{minutes} minutes of {allowed}");
    }
}

#[test]
fn a_lock_does_not_open_by_waiting() {
    let held = hold(120, IDLE_MS, Some(Lock::ToolCalls)).unwrap();
    assert_eq!((held.contender, held.cached_tokens), (3, 0.0));
}

#[test]
fn a_provider_without_a_cache_has_nothing_in_it() {
    let judgement = judgement(TaskType::Code, 0.3);
    let request = Return { judgement: &judgement, now: NOON, idle_allowed_ms: IDLE_MS, lock: None };
    assert_eq!(session().hold(0, false, &request).unwrap().cached_tokens, 0.0);
}

#[test]
fn only_a_clear_change_of_task_is_one() {
    let mixed = |code: f32, other: f32| {
        let mut mixed = judgement(TaskType::Code, 0.5);
        mixed.probabilities[TaskType::Code.index()] = code;
        mixed.probabilities[TaskType::Write.index()] = other;
        mixed
    };
    assert!(session().has_turned(&mixed(0.05, 0.8)));
    assert!(!session().has_turned(&mixed(0.05, 0.5)), "not certain enough");
    assert!(!session().has_turned(&mixed(0.2, 0.7)), "it may still be the old task");
    assert!(!session().has_turned(&judgement(TaskType::Code, 0.9)));
    let step = Judgement { agent_step: true, ..mixed(0.0, 1.0) };
    assert!(!session().has_turned(&step), "a tool's result is no new question");
}

#[test]
fn a_long_cache_keeps_a_session_for_long() {
    let plain = chat(&[(Role::User, "Hello")]);
    let retention = |value| with_extra(plain.clone(), "prompt_cache_retention", &json!(value));
    let breakpoint = |ttl: Option<&str>| {
        let mut chat = plain.clone();
        chat.messages[0].cache_breakpoint = Some(CacheBreakpoint { ttl: ttl.map(Into::into) });
        chat
    };
    for (chat, expected) in [
        (plain.clone(), IDLE_MS),
        (breakpoint(None), IDLE_MS),
        (breakpoint(Some("5m")), IDLE_MS),
        (breakpoint(Some("1h")), LONG_IDLE_MS),
        (retention("in_memory"), IDLE_MS),
        (retention("24h"), LONG_IDLE_MS),
    ] {
        assert_eq!(idle_allowed_ms(&chat), expected);
    }
}

#[test]
fn open_turns_lock() {
    let call = |signature: Option<&str>| ToolCall {
        id: "call_1".into(),
        name: "read".into(),
        arguments: "{}".into(),
        signature: signature.map(Into::into),
        cache_breakpoint: None,
    };
    let turns = |last: &[(Role, &str)]| {
        let mut messages = vec![(Role::User, "Fix it."), (Role::Assistant, "")];
        messages.extend_from_slice(last);
        chat(&messages)
    };
    assert_eq!(lock(&chat(&[(Role::User, "Hello")])), None);
    let mut open = turns(&[(Role::Tool, "done")]);
    assert_eq!(lock(&open), Some(Lock::ToolCalls));
    open.messages[1].tool_calls.push(call(Some("proof")));
    assert_eq!(lock(&open), Some(Lock::SignedThinking));
    // Agents put reminders behind a tool's results.
    let reminded = turns(&[(Role::Tool, "done"), (Role::User, "Remember the plan.")]);
    assert_eq!(lock(&reminded), Some(Lock::ToolCalls));
    // A finished turn binds nobody, signed or not.
    let mut finished = turns(&[(Role::Tool, "done"), (Role::Assistant, "ok"), (Role::User, "So?")]);
    finished.messages[1].tool_calls.push(call(Some("proof")));
    finished.messages[1].reasoning.push(ReasoningBlock::Redacted { data: "x".into() });
    assert_eq!(lock(&finished), None);
    let stored = with_extra(finished, "previous_response_id", &json!("resp_1"));
    assert_eq!(lock(&stored), Some(Lock::PreviousResponse));
}

#[test]
fn the_store_is_bounded_and_forgets_the_idle_first() {
    let sessions = Sessions::new(64);
    let at =
        |minutes: u64| Session { last_asked: UnixMillis(NOON.0 + minutes * MINUTE), ..session() };
    // Keys of one shard, two of which have room.
    sessions.put(32, at(0));
    sessions.put(64, at(1));
    sessions.put(96, at(2));
    assert_eq!([32, 64, 96].map(|key| sessions.get(key).is_some()), [false, true, true]);
    // After an hour and more, all that are idle go at once.
    sessions.put(128, at(100));
    assert_eq!([64, 96, 128].map(|key| sessions.get(key).is_some()), [false, false, true]);
}
