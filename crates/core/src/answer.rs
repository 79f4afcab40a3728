//! A whole answer in Sluice's own terms.

use bytestring::ByteString;

use crate::chat::{ReasoningBlock, ToolCall};
use crate::json::{JsonText, Member, RawJson};
use crate::usage::Usage;

/// A model's whole answer.
#[derive(Debug, Clone)]
pub struct ChatAnswer {
    /// The provider's identifier of the completion; empty where it gave none.
    pub id: ByteString,
    /// The model's name at the provider; empty where it gave none.
    pub upstream_model: ByteString,
    /// The answers, by index.
    pub choices: Vec<Choice>,
    /// What the provider counted; `None` where it counted nothing.
    pub usage: Option<Usage>,
    /// Members without a name here (`system_fingerprint`, `service_tier`, …).
    pub extra: Vec<Member>,
}

/// One of a request's answers.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Its position.
    pub index: u32,
    /// What the model said.
    pub message: AnswerMessage,
    /// Why it stopped.
    pub finish_reason: FinishReason,
    /// Log probabilities, in OpenAI's form.
    pub logprobs: Option<RawJson>,
    /// Members without a name here.
    pub extra: Vec<Member>,
}

/// What the model said.
#[derive(Debug, Clone, Default)]
pub struct AnswerMessage {
    /// The text.
    pub content: Option<JsonText>,
    /// What the model thought, as one text.
    pub reasoning: Option<JsonText>,
    /// What the model thought, in the pieces that the provider wants back. Empty where the
    /// provider wants nothing back.
    pub reasoning_details: Vec<ReasoningBlock>,
    /// Why the model would not answer.
    pub refusal: Option<JsonText>,
    /// Functions that the model calls.
    pub tool_calls: Vec<ToolCall>,
    /// Members without a name here (`annotations`, `audio`, …).
    pub extra: Vec<Member>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done, or met a stop text.
    Stop,
    /// It reached the bound on tokens.
    Length,
    /// It calls functions.
    ToolCalls,
    /// A filter stopped it.
    ContentFilter,
}

impl FinishReason {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
        }
    }
}
