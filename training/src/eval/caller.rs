//! What a caller sees of an answer, once the filter has analysed and restored it.

use std::sync::Arc;

use anyhow::Result;
use serde_json::json;
use sluice_core::answer::{AnswerMessage, ChatAnswer, Choice, FinishReason};
use sluice_core::chat::ToolCall;
use sluice_core::event::{Delta, ToolCallDelta};
use sluice_core::json::{JsonText, RawJson};
use sluice_core::level::SecurityLevel;
use sluice_core::source::SourceMember;
use sluice_security::answer::{AnswerGuard, AnswerReport, GuardParts};
use sluice_security::level::Rules;
use sluice_security::map::RedactionMap;
use sluice_security::scan::Scanner;

/// Where in an answer a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    Content,
    Reasoning,
    /// The arguments of a call.
    Arguments,
}

/// Somebody who has sent a request, and now gets answers to it.
pub(super) struct Caller {
    level: SecurityLevel,
    parts: GuardParts,
}

impl Caller {
    /// A caller whose request `map` was made from. The request names the hosts that answers link to
    /// rightfully.
    pub(super) fn new(
        scanner: &Arc<Scanner>,
        map: &Arc<RedactionMap>,
        level: SecurityLevel,
    ) -> Result<Self> {
        let values: Vec<&str> = map.redactions().iter().map(|one| one.value).collect();
        let said = format!("Use https://shop.example/ with:\n{}", values.join("\n"));
        let messages = json!([{ "role": "user", "content": said }]);
        let messages =
            SourceMember { name: "messages".into(), value: RawJson::from_value(&messages)? };
        let parts = GuardParts {
            scanner: Arc::clone(scanner),
            map: Arc::clone(map),
            rules: Rules::of(level),
            request: vec![messages],
            suspect: false,
        };
        Ok(Self { level, parts })
    }

    /// The level at which the request was filtered.
    pub(super) fn level(&self) -> SecurityLevel {
        self.level
    }

    /// What the caller sees of a whole answer that says `text`.
    pub(super) fn whole(&self, channel: Channel, text: &str) -> String {
        self.judged(channel, text).0
    }

    /// The same, with what was noticed.
    pub(super) fn judged(&self, channel: Channel, text: &str) -> (String, AnswerReport) {
        let text = JsonText::plain(text);
        let mut message = AnswerMessage::default();
        match channel {
            Channel::Content => message.content = Some(text),
            Channel::Reasoning => message.reasoning = Some(text),
            Channel::Arguments => message.tool_calls.push(ToolCall {
                id: JsonText::plain("call_1"),
                name: JsonText::plain("shell"),
                arguments: text,
                signature: None,
                cache_breakpoint: None,
            }),
        }
        let mut answer = ChatAnswer {
            id: "1".into(),
            upstream_model: "m".into(),
            choices: vec![Choice {
                index: 0,
                message,
                finish_reason: FinishReason::Stop,
                logprobs: None,
                extra: Vec::new(),
            }],
            usage: None,
            extra: Vec::new(),
        };
        let mut guard = AnswerGuard::new(self.parts.clone());
        guard.whole(&mut answer);
        let Some(choice) = answer.choices.pop() else { return (String::new(), guard.report()) };
        let said = match channel {
            Channel::Content => choice.message.content,
            Channel::Reasoning => choice.message.reasoning,
            Channel::Arguments => choice.message.tool_calls.into_iter().next().map(|c| c.arguments),
        };
        (said.map(|text| text.decode().into_owned()).unwrap_or_default(), guard.report())
    }

    /// What the caller sees in the end of an answer that is streamed in `chunks`.
    pub(super) fn streamed(&self, channel: Channel, chunks: &[&str]) -> String {
        let mut guard = AnswerGuard::new(self.parts.clone());
        let mut out = Vec::new();
        for (i, chunk) in chunks.iter().enumerate() {
            guard.delta(delta(0, channel, chunk, i == 0), &mut out);
        }
        end(&mut guard, 1, &mut out);
        said(&out, 0, channel)
    }

    /// What the caller sees of several answers whose chunks come in turn.
    pub(super) fn interleaved(&self, answers: &[String]) -> Vec<String> {
        let mut guard = AnswerGuard::new(self.parts.clone());
        let mut out = Vec::new();
        let longest = answers.iter().map(|answer| answer.len()).max().unwrap_or(0);
        for i in (0..longest).step_by(4) {
            for (choice, answer) in (0..).zip(answers) {
                let end = (i + 4).min(answer.len());
                let chunk = answer.get(i..end).unwrap_or("");
                guard.delta(delta(choice, Channel::Content, chunk, false), &mut out);
            }
        }
        end(&mut guard, answers.len(), &mut out);
        (0..).zip(answers).map(|(choice, _)| said(&out, choice, Channel::Content)).collect()
    }
}

/// The end of a stream of `choices` answers.
fn end(guard: &mut AnswerGuard, choices: usize, out: &mut Vec<Delta>) {
    for (choice, _) in (0..).zip(0..choices) {
        let last = Delta { choice, finish_reason: Some(FinishReason::Stop), ..Delta::default() };
        guard.delta(last, out);
    }
    guard.finish(out);
}

/// One step of a stream.
fn delta(choice: u32, channel: Channel, text: &str, is_first: bool) -> Delta {
    let text = Some(JsonText::plain(text));
    let delta = Delta { choice, ..Delta::default() };
    match channel {
        Channel::Content => Delta { content: text, ..delta },
        Channel::Reasoning => Delta { reasoning: text, ..delta },
        Channel::Arguments => {
            let word = |word| is_first.then(|| JsonText::plain(word));
            let call = ToolCallDelta {
                id: word("call_1"),
                name: word("shell"),
                arguments: text,
                ..ToolCallDelta::default()
            };
            Delta { tool_calls: vec![call], ..delta }
        }
    }
}

/// All that the steps of one answer say.
fn said(deltas: &[Delta], choice: u32, channel: Channel) -> String {
    let mut out = String::new();
    for delta in deltas.iter().filter(|delta| delta.choice == choice) {
        let texts: Vec<&JsonText> = match channel {
            Channel::Content => delta.content.iter().collect(),
            Channel::Reasoning => delta.reasoning.iter().collect(),
            Channel::Arguments => {
                delta.tool_calls.iter().filter_map(|call| call.arguments.as_ref()).collect()
            }
        };
        texts.iter().for_each(|text| out.push_str(&text.decode()));
    }
    out
}
