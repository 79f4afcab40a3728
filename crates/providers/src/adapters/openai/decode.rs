//! A whole answer: OpenAI's `chat.completion` object.

use bytes::Bytes;
use bytestring::ByteString;
use serde_json::value::RawValue;
use sluice_core::answer::{AnswerMessage, ChatAnswer, Choice};
use sluice_core::chat::ToolCall;
use sluice_core::wire::Str;
use sluice_core::wire_object;

use super::classify::error_in_body;
use super::wire::{self, WireMessage, WireUsage};
use crate::adapter::DecodeError;
use crate::counted::Counted;
use crate::error::MalformedAnswer;

wire_object! {
    struct WireAnswer<'a> {
        id: Str<'a>,
        object: Str<'a>,
        created: &'a RawValue,
        model: Str<'a>,
        choices: Vec<WireChoice<'a>>,
        usage: Counted<WireUsage<'a>>,
        error: &'a RawValue,
    }
}

wire_object! {
    struct WireChoice<'a> {
        index: u32,
        message: WireMessage<'a>,
        finish_reason: Str<'a>,
        logprobs: &'a RawValue,
    }
}

pub(super) fn decode(body: Bytes) -> Result<ChatAnswer, DecodeError> {
    let source = ByteString::try_from(body)
        .map_err(|_| MalformedAnswer("the body is not valid UTF-8".into()))?;
    let answer: WireAnswer<'_> =
        serde_json::from_str(&source).map_err(|error| MalformedAnswer(json_problem(&error)))?;
    if let Some(error) = answer.error {
        return Err(DecodeError::Provider(error_in_body(error.get())));
    }
    let Some(wire_choices) = answer.choices else {
        return Err(MalformedAnswer("`choices` is missing".into()).into());
    };
    if wire_choices.is_empty() {
        return Err(MalformedAnswer("`choices` is empty".into()).into());
    }
    let mut choices = Vec::with_capacity(wire_choices.len());
    for (position, choice) in wire_choices.iter().enumerate() {
        choices.push(decode_choice(&source, choice, position)?);
    }
    let is_silent = |(choice, wire): (&Choice, &WireChoice<'_>)| {
        wire.finish_reason.as_deref().is_none_or(str::is_empty) && says_nothing(&choice.message)
    };
    if choices.iter().zip(&wire_choices).all(is_silent) {
        return Err(MalformedAnswer("no choice says anything or why it stopped".into()).into());
    }
    let copy = |text: &Option<Str<'_>>| {
        text.as_ref().map(|text| ByteString::from(&**text)).unwrap_or_default()
    };
    Ok(ChatAnswer {
        id: copy(&answer.id),
        upstream_model: copy(&answer.model),
        choices,
        usage: answer.usage.and_then(|counted| counted.0).map(|usage| usage.usage()),
        extra: wire::members(&source, &answer.rest),
    })
}

fn decode_choice(
    source: &ByteString,
    choice: &WireChoice<'_>,
    position: usize,
) -> Result<Choice, MalformedAnswer> {
    let Some(message) = &choice.message else {
        return Err(MalformedAnswer(format!("`choices[{position}].message` is missing")));
    };
    let said = wire::said(source, message)?;
    let mut tool_calls = Vec::new();
    for call in message.tool_calls.iter().flatten() {
        let function = call.function.as_ref();
        let part = |raw: Option<&RawValue>, what| {
            wire::opt_text(source, raw, what).map(|text| text.unwrap_or_else(|| "".into()))
        };
        tool_calls.push(ToolCall {
            id: part(call.id, "a tool call's id")?,
            name: part(function.and_then(|f| f.name), "a tool call's name")?,
            arguments: part(function.and_then(|f| f.arguments), "a tool call's arguments")?,
            signature: wire::thought_signature(call.extra_content),
            cache_breakpoint: None,
        });
    }
    Ok(Choice {
        index: choice.index.unwrap_or_else(|| u32::try_from(position).unwrap_or(u32::MAX)),
        finish_reason: wire::finish_reason(choice.finish_reason.as_deref().unwrap_or("stop")),
        message: AnswerMessage {
            content: said.content,
            reasoning: said.reasoning,
            reasoning_details: wire::reasoning_details(message.reasoning_details),
            refusal: wire::opt_text(source, message.refusal, "refusal")?,
            tool_calls,
            extra: wire::members(source, &message.rest),
        },
        logprobs: choice.logprobs.map(|logprobs| wire::raw(source, logprobs)),
        extra: wire::members(source, &choice.rest),
    })
}

fn says_nothing(message: &AnswerMessage) -> bool {
    let texts = [&message.content, &message.reasoning, &message.refusal];
    texts.into_iter().flatten().all(|text| text.is_empty())
        && message.tool_calls.is_empty()
        && message.reasoning_details.is_empty()
        && message.extra.is_empty()
}

/// Where a JSON text breaks, without quoting any of it.
pub(super) fn json_problem(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Eof => "the JSON text ends early",
        serde_json::error::Category::Data => "a member has another type than documented",
        _ => "not a JSON text",
    };
    format!("{what}, at line {} column {}", error.line(), error.column())
}
