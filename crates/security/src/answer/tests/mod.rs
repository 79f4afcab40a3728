//! What must hold for every answer, whole or streamed: by subject, with what they share.

mod failing;
mod judging;
mod restoring;

use std::sync::Arc;

use sluice_core::answer::{AnswerMessage, ChatAnswer, Choice, FinishReason};
use sluice_core::chat::{ReasoningBlock, ToolCall};
use sluice_core::event::{Delta, ToolCallDelta};
use sluice_core::json::{JsonText, Member, RawJson};
use sluice_core::level::SecurityLevel;
use sluice_core::source::SourceMember;

use super::{AnswerAction, AnswerGuard, AnswerReport, GuardParts};
use crate::kind::Kind;
use crate::level::Rules;
use crate::map::RedactionMap;
use crate::placeholder::PlaceholderKey;
use crate::scan::{Scanner, ScannerSettings};

pub(super) const MAIL: &str = "ada@ministry.example";
/// A value that has to be escaped in JSON.
pub(super) const PASSWORD: &str = "q\"8\\zT\nw";

/// A secret that nobody would invent.
pub(super) const TOKEN: &str = "ghp_9dK2vQ7xTz4LmW8sRbYc1NfHj6PgUe3AoV0i";
/// A line of a private key.
pub(super) const KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9vK3zTqR7wLmXc2P";

pub(super) struct Scene {
    pub(super) map: Arc<RedactionMap>,
    pub(super) mail: String,
    pub(super) password: String,
}

impl Scene {
    pub(super) fn new() -> Self {
        let key = PlaceholderKey::new(&[7; 32], "account");
        let mut map = RedactionMap::default();
        let mail = map.placeholder(&key, Kind::Email, MAIL, |_| false).to_owned();
        let password = map.placeholder(&key, Kind::Password, PASSWORD, |_| false).to_owned();
        Self { map: Arc::new(map), mail, password }
    }

    pub(super) fn guard(&self, level: SecurityLevel, request: &str) -> AnswerGuard {
        self.guard_of(level, request, false)
    }

    pub(super) fn guard_of(
        &self,
        level: SecurityLevel,
        request: &str,
        suspect: bool,
    ) -> AnswerGuard {
        AnswerGuard::new(self.parts(level, request, suspect))
    }

    fn parts(&self, level: SecurityLevel, request: &str, suspect: bool) -> GuardParts {
        let mut literal = Vec::new();
        sluice_core::json::write_escaped(request, &mut literal);
        let value = RawJson::parse(std::str::from_utf8(&literal).unwrap()).unwrap();
        GuardParts {
            scanner: Arc::new(Scanner::new(&ScannerSettings::default()).unwrap()),
            map: Arc::clone(&self.map),
            rules: Rules::of(level),
            request: vec![SourceMember { name: "messages".into(), value }],
            suspect,
        }
    }
}

/// What a model says, choice by choice.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    pub(super) reasoning: String,
    pub(super) content: String,
    pub(super) calls: Vec<String>,
}

/// What reaches the caller.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Heard {
    pub(super) reasoning: String,
    pub(super) content: String,
    pub(super) calls: Vec<String>,
    pub(super) finish: Option<FinishReason>,
}

fn text(text: &str) -> Option<JsonText> {
    (!text.is_empty()).then(|| text.into())
}

fn heard(text: &Option<JsonText>) -> String {
    text.as_ref().map(|text| text.decode().into_owned()).unwrap_or_default()
}

pub(super) fn whole(guard: &mut AnswerGuard, said: &[Said]) -> Vec<Heard> {
    let choice = |(index, said): (usize, &Said)| Choice {
        index: index as u32,
        message: AnswerMessage {
            content: text(&said.content),
            reasoning: text(&said.reasoning),
            tool_calls: said
                .calls
                .iter()
                .map(|arguments| ToolCall {
                    id: "call".into(),
                    name: "f".into(),
                    arguments: arguments.as_str().into(),
                    signature: None,
                    cache_breakpoint: None,
                })
                .collect(),
            ..AnswerMessage::default()
        },
        finish_reason: FinishReason::Stop,
        logprobs: None,
        extra: Vec::new(),
    };
    let mut answer = ChatAnswer {
        id: "a".into(),
        upstream_model: "m".into(),
        choices: said.iter().enumerate().map(choice).collect(),
        usage: None,
        extra: Vec::new(),
    };
    guard.whole(&mut answer);
    let hear = |choice: Choice| Heard {
        reasoning: heard(&choice.message.reasoning),
        content: heard(&choice.message.content),
        calls: choice
            .message
            .tool_calls
            .iter()
            .map(|call| call.arguments.decode().into_owned())
            .collect(),
        finish: Some(choice.finish_reason),
    };
    answer.choices.into_iter().map(hear).collect()
}

/// The same, streamed: each text in pieces of the lengths of `cuts`, the choices by turns.
pub(super) fn streamed(guard: &mut AnswerGuard, said: &[Said], cuts: &[usize]) -> Vec<Heard> {
    streamed_on(guard, said, cuts, usize::MAX)
}

/// The same by a provider that gives its finish reasons after `steps` steps, and goes on.
pub(super) fn streamed_on(
    guard: &mut AnswerGuard,
    said: &[Said],
    cuts: &[usize],
    steps: usize,
) -> Vec<Heard> {
    let mut queues: Vec<Vec<Delta>> = Vec::new();
    for (index, said) in said.iter().enumerate() {
        let choice = index as u32;
        let mut deltas = vec![Delta { choice, ..Delta::default() }];
        for piece in pieces(&said.reasoning, cuts) {
            deltas.push(Delta { choice, reasoning: Some(piece), ..Delta::default() });
        }
        for piece in pieces(&said.content, cuts) {
            deltas.push(Delta { choice, content: Some(piece), ..Delta::default() });
        }
        for (index, arguments) in said.calls.iter().enumerate() {
            let call = ToolCallDelta {
                index: index as u32,
                id: Some("call".into()),
                name: Some("f".into()),
                arguments: Some("".into()),
                signature: None,
            };
            deltas.push(Delta { choice, tool_calls: vec![call], ..Delta::default() });
            for piece in pieces(arguments, cuts) {
                let index = index as u32;
                let call =
                    ToolCallDelta { index, arguments: Some(piece), ..ToolCallDelta::default() };
                deltas.push(Delta { choice, tool_calls: vec![call], ..Delta::default() });
            }
        }
        let finish_reason = Some(FinishReason::Stop);
        let finish = Delta { choice, finish_reason, ..Delta::default() };
        deltas.insert(steps.min(deltas.len()), finish);
        deltas.reverse();
        queues.push(deltas);
    }
    let mut out = Vec::new();
    while queues.iter().any(|queue| !queue.is_empty()) {
        for queue in &mut queues {
            if let Some(delta) = queue.pop() {
                guard.delta(delta, &mut out);
            }
        }
    }
    guard.finish(&mut out);
    let mut all = vec![Heard::default(); said.len()];
    for delta in out {
        let all = &mut all[delta.choice as usize];
        assert!(all.finish.is_none() || steps < usize::MAX, "something follows the finish reason");
        assert_ne!(all.finish, Some(FinishReason::ContentFilter), "something follows the end");
        all.reasoning += &heard(&delta.reasoning);
        all.content += &heard(&delta.content);
        for call in &delta.tool_calls {
            let index = call.index as usize;
            assert!(index <= all.calls.len());
            if index == all.calls.len() {
                assert!(call.id.is_some() && call.name.is_some());
                all.calls.push(String::new());
            }
            all.calls[index] += &heard(&call.arguments);
        }
        all.finish = delta.finish_reason.or(all.finish);
    }
    all
}

/// `text` in pieces, some as literals and some plain.
fn pieces(text: &str, cuts: &[usize]) -> Vec<JsonText> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut lengths = cuts.iter().cycle();
    while !rest.is_empty() {
        let length = lengths.next().copied().unwrap_or(rest.len()).clamp(1, rest.len());
        let (piece, tail) = rest.split_at(rest.ceil_char_boundary(length));
        rest = tail;
        pieces.push(if length % 2 == 0 {
            JsonText::plain(piece)
        } else {
            let mut literal = Vec::new();
            sluice_core::json::write_escaped(piece, &mut literal);
            JsonText::trusted_literal(String::from_utf8(literal).unwrap().into())
        });
    }
    pieces
}
