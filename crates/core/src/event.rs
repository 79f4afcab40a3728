//! A streamed answer in Sluice's own terms: the events between a provider's stream and the
//! caller's.

use bytestring::ByteString;

use crate::answer::FinishReason;
use crate::chat::ReasoningBlock;
use crate::json::{JsonText, Member, RawJson};
use crate::usage::Usage;

/// One thing that a provider said while it streamed an answer.
#[derive(Debug, Clone)]
pub enum StreamEvent {
    /// The answer begins; at most once, and before any delta.
    Start(AnswerHead),
    /// The answer goes on.
    Delta(Delta),
    /// What the provider counted. A later one replaces an earlier one.
    Usage(Usage),
    /// The provider's own end mark: the answer is complete. Without it, it was cut.
    End,
}

/// What is said once about a streamed answer.
#[derive(Debug, Clone, Default)]
pub struct AnswerHead {
    /// The provider's identifier of the completion; empty where it gave none.
    pub id: ByteString,
    /// The model's name at the provider; empty where it gave none.
    pub upstream_model: ByteString,
    /// Members that the provider repeats on every chunk (`system_fingerprint`, …).
    pub extra: Vec<Member>,
}

/// One step of one answer.
#[derive(Debug, Clone, Default)]
pub struct Delta {
    /// Which of the answers.
    pub choice: u32,
    /// More text.
    pub content: Option<JsonText>,
    /// More of what the model thinks.
    pub reasoning: Option<JsonText>,
    /// Pieces of thinking that the provider wants back in the next turn.
    pub reasoning_details: Vec<ReasoningBlock>,
    /// More of why the model will not answer.
    pub refusal: Option<JsonText>,
    /// More of the function calls.
    pub tool_calls: Vec<ToolCallDelta>,
    /// Set on the answer's last step.
    pub finish_reason: Option<FinishReason>,
    /// Log probabilities, in OpenAI's form.
    pub logprobs: Option<RawJson>,
    /// Members of the delta without a name here (`annotations`, …).
    pub extra: Vec<Member>,
}

impl Delta {
    /// Whether the caller would learn anything from this step. Providers send empty first steps;
    /// "time to first token" ends with the first step that is not empty.
    pub fn says_something(&self) -> bool {
        let some = |text: &Option<JsonText>| text.as_ref().is_some_and(|text| !text.is_empty());
        some(&self.content)
            || some(&self.reasoning)
            || some(&self.refusal)
            || !self.tool_calls.is_empty()
            || !self.reasoning_details.is_empty()
    }
}

/// One step of one function call.
#[derive(Debug, Clone, Default)]
pub struct ToolCallDelta {
    /// Which of the answer's calls.
    pub index: u32,
    /// The call's name for itself; on its first step.
    pub id: Option<JsonText>,
    /// The function's name; on the call's first step.
    pub name: Option<JsonText>,
    /// More of the arguments.
    pub arguments: Option<JsonText>,
    /// See [`crate::chat::ToolCall::signature`].
    pub signature: Option<JsonText>,
}
