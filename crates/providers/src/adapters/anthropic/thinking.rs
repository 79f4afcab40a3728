//! `reasoning_effort` in Anthropic's words.
//!
//! Newer models take the word itself (`output_config.effort`) and think as they see fit; older ones
//! take a budget of tokens, which is a share of the bound on all generated tokens. Source: the
//! Anthropic documentation, "Extended thinking", "Adaptive thinking", "Effort".
//!
//! Anthropic refuses to think in some conversations. The effort is a wish about how, not about
//! what, so the request then goes without thinking:
//! - a function has to be called (`tool_choice` `required` or a name),
//! - the bound on tokens leaves no room for the smallest budget (1 024),
//! - with a budget: the assistant turn whose calls were just answered came without its signed
//!   thoughts (another model's, or a client that drops them), or is itself to be gone on with.

use serde::Deserialize;
use sluice_core::chat::{ChatRequest, Message, ReasoningBlock, ReasoningEffort, Role, ToolChoice};
use sluice_core::json::RawJson;

use super::model::{Model, ThinkingForm};
use super::unsupported;
use super::wire::Thinking;
use crate::error::Unsupported;

/// The smallest budget that Anthropic takes, in tokens.
const SMALLEST_BUDGET: u32 = 1_024;

/// How a request asks to think.
#[derive(Default)]
pub(super) struct Plan<'a> {
    pub(super) thinking: Option<Thinking<'a>>,
    pub(super) effort: Option<&'static str>,
}

impl Plan<'_> {
    /// Whether the request asks for thoughts, which restricts its sampling parameters.
    pub(super) fn thinks(&self) -> bool {
        match &self.thinking {
            Some(Thinking::Enabled { .. } | Thinking::Adaptive { .. }) => true,
            Some(Thinking::AsSent(thinking)) => !is_disabled(thinking),
            Some(Thinking::Disabled) | None => false,
        }
    }
}

/// How `chat` asks `model` to think. `as_sent` is Anthropic's own member `thinking`, which goes on
/// as it is where no effort was named.
pub(super) fn plan<'a>(
    chat: &ChatRequest,
    model: Model,
    max_tokens: u32,
    as_sent: Option<&'a RawJson>,
) -> Result<Plan<'a>, Unsupported> {
    let Some(effort) = chat.reasoning_effort else {
        return Ok(Plan { thinking: as_sent.map(Thinking::AsSent), effort: None });
    };
    let forced = matches!(chat.tool_choice, Some(ToolChoice::Required | ToolChoice::Function(_)));
    match (model.thinking_form(), effort) {
        (ThinkingForm::Adaptive, ReasoningEffort::None) if model.always_thinks => {
            Err(unsupported("reasoning_effort", "is none, but this model always thinks"))
        }
        (ThinkingForm::Adaptive, ReasoningEffort::None) if model.thinks_unasked() => {
            Ok(Plan { thinking: Some(Thinking::Disabled), effort: None })
        }
        (_, ReasoningEffort::None) => Ok(Plan::default()),
        (ThinkingForm::Never, _) => {
            Err(unsupported("reasoning_effort", "is set, but this model does not think"))
        }
        (ThinkingForm::Adaptive, effort) => {
            // Newer models leave the text of their thoughts out unless it is asked for.
            let display = model.hides_its_thoughts().then_some("summarized");
            let thinking = (!forced).then_some(Thinking::Adaptive { display });
            Ok(Plan { thinking, effort: Some(word(effort, model)) })
        }
        (ThinkingForm::Budget, effort) => {
            let possible = !forced && max_tokens > SMALLEST_BUDGET && allows_budget(&chat.messages);
            let thinking =
                possible.then(|| Thinking::Enabled { budget_tokens: budget(effort, max_tokens) });
            Ok(Plan { thinking, effort: None })
        }
    }
}

fn word(effort: ReasoningEffort, model: Model) -> &'static str {
    match effort {
        ReasoningEffort::None | ReasoningEffort::Minimal | ReasoningEffort::Low => "low",
        ReasoningEffort::Medium => "medium",
        ReasoningEffort::High => "high",
        ReasoningEffort::XHigh if model.knows_xhigh() => "xhigh",
        ReasoningEffort::XHigh => "max",
    }
}

/// A share of all generated tokens, with at least one left for the answer.
fn budget(effort: ReasoningEffort, max_tokens: u32) -> u32 {
    let percent: u64 = match effort {
        ReasoningEffort::None | ReasoningEffort::Minimal => 10,
        ReasoningEffort::Low => 20,
        ReasoningEffort::Medium => 50,
        ReasoningEffort::High => 80,
        ReasoningEffort::XHigh => 95,
    };
    let share = u64::from(max_tokens) * percent / 100;
    u32::try_from(share).unwrap_or(u32::MAX).max(SMALLEST_BUDGET).min(max_tokens - 1)
}

/// Whether the conversation stands where thinking with a budget may begin.
fn allows_budget(messages: &[Message]) -> bool {
    let spoken = |message: &&Message| !matches!(message.role, Role::System | Role::Developer);
    let open = messages.iter().rev().filter(spoken).find(|message| message.role != Role::Tool);
    let Some(open) = open.filter(|message| message.role == Role::Assistant) else {
        return true;
    };
    let is_signed = |block: &ReasoningBlock| match block {
        ReasoningBlock::Text { signature, .. } => {
            signature.as_ref().is_some_and(|signature| !signature.is_empty())
        }
        ReasoningBlock::Redacted { .. } => true,
    };
    let answered = messages.iter().rev().find(spoken).is_some_and(|last| last.role == Role::Tool);
    answered && open.reasoning.iter().any(is_signed)
}

fn is_disabled(thinking: &RawJson) -> bool {
    #[derive(Deserialize)]
    struct Kind {
        r#type: String,
    }
    thinking.decode::<Kind>().is_ok_and(|kind| kind.r#type == "disabled")
}
