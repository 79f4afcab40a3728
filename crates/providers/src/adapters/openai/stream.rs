//! A streamed answer: OpenAI's `chat.completion.chunk` objects.

use bytestring::ByteString;
use serde_json::value::RawValue;
use sluice_core::event::{AnswerHead, Delta, StreamEvent, ToolCallDelta};
use sluice_core::wire::Str;
use sluice_core::wire_object;

use super::classify::error_in_body;
use super::decode::json_problem;
use super::wire::{self, WireMessage, WireUsage};
use crate::adapter::StreamDecoder;
use crate::counted::Counted;
use crate::error::{MalformedAnswer, StreamError};
use crate::framing::sse::Frame;

wire_object! {
    struct WireChunk<'a> {
        id: Str<'a>,
        object: &'a RawValue,
        created: &'a RawValue,
        model: Str<'a>,
        choices: Vec<WireChoice<'a>>,
        usage: Counted<WireUsage<'a>>,
        error: &'a RawValue,
        obfuscation: &'a RawValue,
    }
}

wire_object! {
    struct WireChoice<'a> {
        index: u32,
        delta: WireMessage<'a>,
        finish_reason: Str<'a>,
        logprobs: &'a RawValue,
    }
}

/// Remembers what has been said of the answer as a whole.
#[derive(Default)]
pub(super) struct OpenAiStream {
    started: bool,
    ended: bool,
    /// Choices that have begun and not been finished.
    open: Vec<u32>,
    finished: bool,
}

impl StreamDecoder for OpenAiStream {
    fn frame(&mut self, frame: &Frame, events: &mut Vec<StreamEvent>) -> Result<(), StreamError> {
        let data = &frame.data;
        if self.ended || data.is_empty() {
            return Ok(());
        }
        if data.trim_end() == "[DONE]" {
            self.ended = true;
            events.push(StreamEvent::End);
            return Ok(());
        }
        let chunk: WireChunk<'_> = serde_json::from_str(data)
            .map_err(|error| MalformedAnswer(format!("a chunk: {}", json_problem(&error))))?;
        if let Some(error) = chunk.error {
            return Err(error_in_body(error.get()).into());
        }
        // Azure OpenAI sends the filter's verdict on the prompt first, in a chunk without a name.
        let says_more = chunk.choices.as_ref().is_some_and(|choices| !choices.is_empty());
        if !self.started && (says_more || chunk.usage.is_some()) {
            self.started = true;
            let copy = |text: &Option<Str<'_>>| {
                text.as_ref().map(|text| ByteString::from(&**text)).unwrap_or_default()
            };
            events.push(StreamEvent::Start(AnswerHead {
                id: copy(&chunk.id),
                upstream_model: copy(&chunk.model),
                extra: wire::members(data, &chunk.rest),
            }));
        }
        for choice in chunk.choices.iter().flatten() {
            let delta = decode_choice(data, choice)?;
            self.note(&delta);
            events.push(StreamEvent::Delta(delta));
        }
        if let Some(Counted(Some(usage))) = &chunk.usage {
            events.push(StreamEvent::Usage(usage.usage()));
        }
        Ok(())
    }

    fn end(&mut self, events: &mut Vec<StreamEvent>) {
        // Some services leave `[DONE]` out; a body that ended in order after every answer had its
        // reason for stopping is complete all the same.
        if !self.ended && self.finished && self.open.is_empty() {
            self.ended = true;
            events.push(StreamEvent::End);
        }
    }
}

impl OpenAiStream {
    fn note(&mut self, delta: &Delta) {
        if delta.finish_reason.is_some() {
            self.finished = true;
            self.open.retain(|open| *open != delta.choice);
        } else if !self.open.contains(&delta.choice) && (!self.finished || delta.says_something()) {
            self.open.push(delta.choice);
        }
    }
}

fn decode_choice(source: &ByteString, choice: &WireChoice<'_>) -> Result<Delta, MalformedAnswer> {
    let mut delta = Delta {
        choice: choice.index.unwrap_or(0),
        // Some services say an empty reason with every chunk.
        finish_reason: choice
            .finish_reason
            .as_deref()
            .filter(|word| !word.is_empty())
            .map(wire::finish_reason),
        logprobs: choice.logprobs.map(|logprobs| wire::raw(source, logprobs)),
        ..Delta::default()
    };
    let Some(wire_delta) = &choice.delta else { return Ok(delta) };
    let said = wire::said(source, wire_delta)?;
    delta.content = said.content;
    delta.reasoning = said.reasoning;
    delta.refusal = wire::opt_text(source, wire_delta.refusal, "refusal")?;
    delta.reasoning_details = wire::reasoning_details(wire_delta.reasoning_details);
    delta.extra = wire::members(source, &wire_delta.rest);
    for (position, call) in wire_delta.tool_calls.iter().flatten().enumerate() {
        let function = call.function.as_ref();
        delta.tool_calls.push(ToolCallDelta {
            index: call.index.unwrap_or_else(|| u32::try_from(position).unwrap_or(0)),
            id: wire::opt_text(source, call.id, "a tool call's id")?,
            name: wire::opt_text(source, function.and_then(|f| f.name), "a tool call's name")?,
            arguments: wire::opt_text(
                source,
                function.and_then(|f| f.arguments),
                "a tool call's arguments",
            )?,
            signature: wire::thought_signature(call.extra_content),
        });
    }
    Ok(delta)
}
