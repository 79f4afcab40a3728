//! What stands around the latest turn: the conversation, tools, images, the thinking asked for.
//!
//! Nobody has labelled conversations, so these few weights are set by hand. They move complexity a
//! little and never say what a turn is about.

use sluice_core::chat::{ChatRequest, Content, Part, ReasoningEffort, Role};

/// Bytes of a conversation above which it counts as long.
const LONG: usize = 16 * 1024;

/// Whether `chat` is a step of an agent at work: tools are there, and the last word is a tool's.
pub(super) fn is_agent_step(chat: &ChatRequest) -> bool {
    let last = chat.messages.last();
    !chat.tools.is_empty() && last.is_some_and(|message| message.role == Role::Tool)
}

/// What all of it adds to the log-odds of complexity.
pub(super) fn weight(chat: &ChatRequest) -> f32 {
    let mut size = 0;
    let mut turns = 0_usize;
    let mut images = 0;
    for message in &chat.messages {
        turns += usize::from(message.role == Role::User);
        match &message.content {
            Content::None => {}
            Content::Text(text) => size += text.size(),
            Content::Parts(parts) => {
                for part in parts {
                    match part {
                        Part::Text { text, .. } => size += text.size(),
                        Part::Image { .. } => images += 1,
                        Part::Other { .. } => {}
                    }
                }
            }
        }
    }
    let asked = match chat.reasoning_effort {
        None | Some(ReasoningEffort::Medium) => 0.0,
        Some(ReasoningEffort::None) => -0.5,
        Some(ReasoningEffort::Minimal) => -0.4,
        Some(ReasoningEffort::Low) => -0.2,
        Some(ReasoningEffort::High) => 0.7,
        Some(ReasoningEffort::XHigh) => 1.0,
    };
    let long = 0.1 * doublings(size / LONG);
    let many = 0.05 * doublings(turns);
    let tools = if chat.tools.is_empty() { 0.0 } else { 0.15 };
    let images = if images > 0 { 0.15 } else { 0.0 };
    asked + long.min(0.6) + many.min(0.3) + tools + images
}

/// How often 1 is doubled to reach `number`, as whole steps.
fn doublings(number: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "at most 64")]
    let doublings = number.checked_ilog2().unwrap_or(0) as f32;
    doublings
}
