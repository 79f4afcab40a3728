//! A streamed answer: Anthropic's events.
//!
//! Source: the Anthropic documentation, "Streaming messages": `message_start`, then each content
//! block with `content_block_start`, `_delta` and `_stop`, then `message_delta`, `message_stop`;
//! `ping` and `error` at any place. Events and blocks of other types are ignored, as it asks for.

use bytestring::ByteString;
use serde::Deserialize;
use serde_json::value::RawValue;
use sluice_core::chat::ReasoningBlock;
use sluice_core::event::{AnswerHead, Delta, StreamEvent, ToolCallDelta};
use sluice_core::json::JsonText;
use sluice_core::wire::Str;

use super::classify;
use super::decode::{
    WireBlock, WireMessage, WireUsage, arguments, finish_reason, malformed, owned, refusal, text,
};
use crate::adapter::StreamDecoder;
use crate::counted::Counted;
use crate::error::{MalformedAnswer, StreamError};
use crate::framing::sse::Frame;

#[derive(Deserialize)]
struct WireEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'a>>,
    index: Option<u64>,
    #[serde(borrow)]
    message: Option<WireMessage<'a>>,
    #[serde(borrow)]
    content_block: Option<WireBlock<'a>>,
    #[serde(borrow)]
    delta: Option<WireDelta<'a>>,
    usage: Option<Counted<WireUsage>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// What an event adds to a block (`content_block_delta`) or to the message (`message_delta`).
#[derive(Deserialize)]
struct WireDelta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    partial_json: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    signature: Option<&'a RawValue>,
    #[serde(borrow)]
    stop_reason: Option<Str<'a>>,
    #[serde(borrow)]
    stop_details: Option<&'a RawValue>,
}

/// Remembers open blocks and what was counted.
#[derive(Default)]
pub(super) struct MessagesStream {
    open: Vec<(u64, Open)>,
    /// How many calls have begun: the next one's index.
    calls: u32,
    usage: WireUsage,
    ended: bool,
}

/// A content block that has begun and not ended.
enum Open {
    /// A thought, whose signature is given out when it ends.
    Thought { signature: String },
    /// A call; `unsaid` are arguments to give out at its end if none have come by then.
    Call { index: u32, unsaid: Option<String> },
    /// Text, or a block that means nothing to the caller.
    Other,
}

impl StreamDecoder for MessagesStream {
    fn frame(&mut self, frame: &Frame, events: &mut Vec<StreamEvent>) -> Result<(), StreamError> {
        let source = &frame.data;
        if self.ended || source.is_empty() {
            return Ok(());
        }
        let event: WireEvent<'_> = match serde_json::from_str(source) {
            Ok(event) => event,
            Err(_) if is_of_an_unknown_type(source) => return Ok(()),
            Err(error) => return Err(malformed("an event", &error).into()),
        };
        match event.kind.as_deref().unwrap_or(&frame.event) {
            "message_start" => {
                let Some(message) = &event.message else {
                    return Ok(());
                };
                events.push(StreamEvent::Start(AnswerHead {
                    id: owned(message.id.as_ref()),
                    upstream_model: owned(message.model.as_ref()),
                    extra: Vec::new(),
                }));
                self.count(message.usage, events);
            }
            "content_block_start" => {
                if let (Some(index), Some(block)) = (event.index, &event.content_block) {
                    self.start_block(index, block, source, events)?;
                }
            }
            "content_block_delta" => {
                if let (Some(index), Some(delta)) = (event.index, &event.delta) {
                    self.add(index, delta, source, events)?;
                }
            }
            "content_block_stop" => self.end_blocks(event.index, events),
            "message_delta" => {
                self.finish(event.delta.as_ref(), source, events);
                self.count(event.usage, events);
            }
            "message_stop" => {
                self.ended = true;
                events.push(StreamEvent::End);
            }
            "error" => return Err(classify::error_in_answer(event.error).into()),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _events: &mut Vec<StreamEvent>) {
        // `message_stop` is the end mark; without it the answer was cut.
    }
}

impl MessagesStream {
    fn start_block(
        &mut self,
        index: u64,
        block: &WireBlock<'_>,
        source: &ByteString,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), MalformedAnswer> {
        let open = match block.kind.as_deref() {
            Some("text") => {
                say(events, Delta { content: some_text(source, block.text), ..Delta::default() });
                Open::Other
            }
            Some("thinking") => {
                let thought = some_text(source, block.thinking);
                let signature = some_text(source, block.signature);
                let signature = signature.as_ref().map(|text| text.decode().into_owned());
                let open = Open::Thought { signature: signature.unwrap_or_default() };
                if thought.is_some() {
                    say(events, thought_goes_on(thought));
                }
                open
            }
            Some("redacted_thinking") => {
                let data = some_text(source, block.data);
                let reasoning_details =
                    data.map(|data| ReasoningBlock::Redacted { data }).into_iter().collect();
                say(events, Delta { reasoning_details, ..Delta::default() });
                Open::Other
            }
            Some("tool_use") => {
                let (Some(id), Some(name)) = (text(source, block.id), text(source, block.name))
                else {
                    let what = "a `tool_use` block has no `id` or no `name`";
                    return Err(MalformedAnswer(what.to_owned()));
                };
                let call = ToolCallDelta {
                    index: self.calls,
                    id: Some(id),
                    name: Some(name),
                    arguments: Some("".into()),
                    signature: None,
                };
                self.calls += 1;
                let open = Open::Call { index: call.index, unsaid: Some(arguments(block.input)) };
                say(events, Delta { tool_calls: vec![call], ..Delta::default() });
                open
            }
            _ => Open::Other,
        };
        self.open.push((index, open));
        Ok(())
    }

    fn add(
        &mut self,
        index: u64,
        delta: &WireDelta<'_>,
        source: &ByteString,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), MalformedAnswer> {
        let Some((_, open)) = self.open.iter_mut().find(|(at, _)| *at == index) else {
            return Err(MalformedAnswer(format!("block {index} goes on before it begins")));
        };
        match (delta.kind.as_deref(), open) {
            (Some("text_delta"), _) => {
                say(events, Delta { content: some_text(source, delta.text), ..Delta::default() });
            }
            (Some("thinking_delta"), Open::Thought { .. }) => {
                say(events, thought_goes_on(some_text(source, delta.thinking)));
            }
            (Some("signature_delta"), Open::Thought { signature }) => {
                let more = some_text(source, delta.signature);
                signature.extend(more.as_ref().map(JsonText::decode));
            }
            (Some("input_json_delta"), Open::Call { index, unsaid }) => {
                if let Some(arguments) = some_text(source, delta.partial_json) {
                    *unsaid = None;
                    say(events, call_goes_on(*index, arguments));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the block at `index`, or every block where none is named.
    fn end_blocks(&mut self, index: Option<u64>, events: &mut Vec<StreamEvent>) {
        let ends = |(at, _): &mut (u64, Open)| index.is_none_or(|index| *at == index);
        for (_, open) in self.open.extract_if(.., ends) {
            match open {
                Open::Thought { signature } if !signature.is_empty() => {
                    let signature = Some(signature.into());
                    let block = ReasoningBlock::Text { text: "".into(), signature };
                    say(events, Delta { reasoning_details: vec![block], ..Delta::default() });
                }
                Open::Call { index, unsaid: Some(arguments) } => {
                    say(events, call_goes_on(index, arguments.into()));
                }
                Open::Thought { .. } | Open::Call { .. } | Open::Other => {}
            }
        }
    }

    fn finish(
        &mut self,
        delta: Option<&WireDelta<'_>>,
        source: &ByteString,
        events: &mut Vec<StreamEvent>,
    ) {
        let Some(delta) = delta else { return };
        let Some(stop_reason) = delta.stop_reason.as_deref() else {
            return;
        };
        self.end_blocks(None, events);
        events.push(StreamEvent::Delta(Delta {
            refusal: refusal(source, delta.stop_details),
            finish_reason: Some(finish_reason(Some(stop_reason))),
            ..Delta::default()
        }));
    }

    fn count(&mut self, usage: Option<Counted<WireUsage>>, events: &mut Vec<StreamEvent>) {
        let Some(Counted(Some(usage))) = usage else { return };
        self.usage.update(usage);
        events.push(StreamEvent::Usage(self.usage.usage()));
    }
}

/// More of a thought: for people as `reasoning`, and for the next turn as a piece of the block
/// that its signature ends. Clients that show one of them show each thought once.
fn thought_goes_on(thought: Option<JsonText>) -> Delta {
    let piece = thought.clone().map(|text| ReasoningBlock::Text { text, signature: None });
    Delta { reasoning: thought, reasoning_details: piece.into_iter().collect(), ..Delta::default() }
}

fn call_goes_on(index: u32, arguments: JsonText) -> Delta {
    let call = ToolCallDelta { index, arguments: Some(arguments), ..ToolCallDelta::default() };
    Delta { tool_calls: vec![call], ..Delta::default() }
}

/// Whether an event is of a type that has no meaning here, so that its members may be anything.
fn is_of_an_unknown_type(source: &str) -> bool {
    #[derive(Deserialize)]
    struct Kind {
        r#type: String,
    }
    let Ok(Kind { r#type }) = serde_json::from_str(source) else {
        return false;
    };
    let known = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
    ];
    !known.contains(&r#type.as_str())
}

/// Gives `delta` out if it says something.
fn say(events: &mut Vec<StreamEvent>, delta: Delta) {
    if delta.says_something() {
        events.push(StreamEvent::Delta(delta));
    }
}

fn some_text(source: &ByteString, raw: Option<&RawValue>) -> Option<JsonText> {
    text(source, raw).filter(|text| !text.is_empty())
}
