//! A whole answer: Anthropic's `message` object, and what it shares with the streamed form.

use bytes::Bytes;
use bytestring::ByteString;
use serde::Deserialize;
use serde_json::value::RawValue;
use sluice_core::answer::{AnswerMessage, ChatAnswer, Choice, FinishReason};
use sluice_core::chat::{ReasoningBlock, ToolCall};
use sluice_core::json::JsonText;
use sluice_core::usage::Usage;
use sluice_core::wire::Str;

use super::classify;
use crate::adapter::DecodeError;
use crate::counted::Counted;
use crate::error::MalformedAnswer;

/// Source: the Anthropic API reference, "Message". Every member is optional here: an absent one
/// costs its own meaning, not the answer.
#[derive(Deserialize)]
pub(super) struct WireMessage<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) model: Option<Str<'a>>,
    #[serde(borrow)]
    content: Option<Vec<WireBlock<'a>>>,
    #[serde(borrow)]
    stop_reason: Option<Str<'a>>,
    #[serde(borrow)]
    stop_details: Option<&'a RawValue>,
    pub(super) usage: Option<Counted<WireUsage>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A content block. Which members it has depends on its type.
#[derive(Deserialize)]
pub(super) struct WireBlock<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) signature: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) data: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

/// What Anthropic counted. In a stream the figures are cumulative.
#[derive(Deserialize, Default, Clone, Copy)]
pub(super) struct WireUsage {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<WireOutputDetails>,
}

#[derive(Deserialize, Clone, Copy)]
struct WireOutputDetails {
    thinking_tokens: Option<u64>,
}

impl WireUsage {
    /// Takes over what `later` says anew.
    pub(super) fn update(&mut self, later: Self) {
        let Self {
            input_tokens,
            cache_read_input_tokens,
            cache_creation_input_tokens,
            output_tokens,
            output_tokens_details,
        } = later;
        self.input_tokens = input_tokens.or(self.input_tokens);
        self.cache_read_input_tokens = cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.cache_creation_input_tokens =
            cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.output_tokens = output_tokens.or(self.output_tokens);
        self.output_tokens_details = output_tokens_details.or(self.output_tokens_details);
    }

    /// The figures in disjoint classes. `input_tokens` leave out what the cache read and wrote;
    /// `output_tokens` include the thoughts.
    pub(super) fn usage(self) -> Usage {
        let output = self.output_tokens.unwrap_or(0);
        let thinking = self.output_tokens_details.and_then(|details| details.thinking_tokens);
        let reasoning = thinking.unwrap_or(0).min(output);
        Usage {
            uncached_input: self.input_tokens.unwrap_or(0),
            cache_read: self.cache_read_input_tokens.unwrap_or(0),
            cache_write: self.cache_creation_input_tokens.unwrap_or(0),
            output: output - reasoning,
            reasoning,
        }
    }
}

pub(super) fn decode(body: Bytes) -> Result<ChatAnswer, DecodeError> {
    let source = ByteString::try_from(body)
        .map_err(|_| MalformedAnswer("the body is not valid UTF-8".to_owned()))?;
    let answer: WireMessage<'_> =
        serde_json::from_str(&source).map_err(|error| malformed("the body", &error))?;
    if answer.kind.as_deref() == Some("error") || answer.error.is_some() {
        return Err(DecodeError::Provider(classify::error_in_answer(answer.error)));
    }
    let Some(blocks) = &answer.content else {
        return Err(MalformedAnswer("`content` is missing".to_owned()).into());
    };
    let mut message = AnswerMessage::default();
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    for block in blocks {
        match block.kind.as_deref() {
            Some("text") => texts.extend(text(&source, block.text)),
            Some("thinking") => {
                let thought = text(&source, block.thinking);
                thoughts.extend(thought.clone().filter(|thought| !thought.is_empty()));
                let signature = text(&source, block.signature);
                if let Some(signature) = signature.filter(|signature| !signature.is_empty()) {
                    message.reasoning_details.push(ReasoningBlock::Text {
                        text: thought.unwrap_or_else(|| "".into()),
                        signature: Some(signature),
                    });
                }
            }
            Some("redacted_thinking") => message
                .reasoning_details
                .extend(text(&source, block.data).map(|data| ReasoningBlock::Redacted { data })),
            Some("tool_use") => message.tool_calls.push(tool_call(&source, block)?),
            // Tools that ran at the provider, and types to come: what they found is in the text.
            _ => {}
        }
    }
    message.content = joined(texts);
    message.reasoning = joined(thoughts);
    message.refusal = refusal(&source, answer.stop_details);
    let finish_reason = finish_reason(answer.stop_reason.as_deref());
    let choice = Choice { index: 0, message, finish_reason, logprobs: None, extra: Vec::new() };
    Ok(ChatAnswer {
        id: owned(answer.id.as_ref()),
        upstream_model: owned(answer.model.as_ref()),
        choices: vec![choice],
        usage: answer.usage.and_then(|counted| counted.0).map(WireUsage::usage),
        extra: Vec::new(),
    })
}

fn tool_call(source: &ByteString, block: &WireBlock<'_>) -> Result<ToolCall, MalformedAnswer> {
    let (Some(id), Some(name)) = (text(source, block.id), text(source, block.name)) else {
        return Err(MalformedAnswer("a `tool_use` block has no `id` or no `name`".to_owned()));
    };
    let arguments = JsonText::plain(arguments(block.input));
    Ok(ToolCall { id, name, arguments, signature: None, cache_breakpoint: None })
}

/// A call's input as a compact JSON text. Only space between tokens goes; numbers and the order of
/// members stay as the model wrote them.
pub(super) fn arguments(input: Option<&RawValue>) -> String {
    let input = input.map_or("{}", RawValue::get);
    let mut compact = String::with_capacity(input.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in input.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            in_string = c == '"';
        }
        compact.push(c);
    }
    compact
}

/// Why the model stopped. A word that is not known, or none, is an answer that just ended.
pub(super) fn finish_reason(stop_reason: Option<&str>) -> FinishReason {
    match stop_reason {
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("tool_use") => FinishReason::ToolCalls,
        Some("refusal") => FinishReason::ContentFilter,
        // `end_turn`, `stop_sequence`; `pause_turn`: a tool of the provider took too long.
        _ => FinishReason::Stop,
    }
}

/// Why the model would not answer, where Anthropic explains it (`stop_details`).
pub(super) fn refusal(source: &ByteString, details: Option<&RawValue>) -> Option<JsonText> {
    #[derive(Deserialize)]
    struct StopDetails<'a> {
        #[serde(borrow)]
        explanation: Option<&'a RawValue>,
    }
    let details: StopDetails<'_> = serde_json::from_str(details?.get()).ok()?;
    text(source, details.explanation)
}

/// A string of `source`, as the literal that it is there; `None` where it is no string.
pub(super) fn text(source: &ByteString, raw: Option<&RawValue>) -> Option<JsonText> {
    let raw = raw?.get();
    raw.starts_with('"').then(|| JsonText::trusted_literal(source.slice_ref(raw)))
}

pub(super) fn owned(text: Option<&Str<'_>>) -> ByteString {
    text.map(|text| ByteString::from(&**text)).unwrap_or_default()
}

/// Where a JSON text breaks, without quoting any of it.
pub(super) fn malformed(what: &str, error: &serde_json::Error) -> MalformedAnswer {
    let how = match error.classify() {
        serde_json::error::Category::Eof => "ends early",
        serde_json::error::Category::Data => "has a member of another type than documented",
        _ => "is not JSON",
    };
    MalformedAnswer(format!("{what} {how}, at line {} column {}", error.line(), error.column()))
}

fn joined(texts: Vec<JsonText>) -> Option<JsonText> {
    match texts.as_slice() {
        [] => None,
        [text] => Some(text.clone()),
        texts => Some(texts.iter().map(|text| text.decode()).collect::<String>().into()),
    }
}
