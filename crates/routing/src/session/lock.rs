//! What keeps a request at its session's model.

use sluice_core::chat::{ChatRequest, Message, ReasoningBlock, Role};

use crate::decide::Lock;

/// Why `chat` cannot be answered by another model than the one that its session has.
///
/// What another model said in an earlier, finished turn binds nobody: only the turn that is still
/// open does.
pub fn lock(chat: &ChatRequest) -> Option<Lock> {
    if chat
        .extra
        .iter()
        .any(|member| member.name == "previous_response_id" && !member.value.is_null())
    {
        return Some(Lock::PreviousResponse);
    }
    // Agents put reminders of theirs behind a tool's results, in the user's name.
    let said = chat.messages.iter().rposition(|message| message.role != Role::User)?;
    let last = &chat.messages[said];
    if last.role != Role::Tool && said + 1 < chat.messages.len() {
        return None;
    }
    let mut open = chat.messages[..=said].iter().rev().take_while(|m| m.role != Role::User);
    if open.any(holds_signed_thinking) {
        return Some(Lock::SignedThinking);
    }
    (last.role == Role::Tool).then_some(Lock::ToolCalls)
}

fn holds_signed_thinking(message: &Message) -> bool {
    message.tool_calls.iter().any(|call| call.signature.is_some())
        || message.reasoning.iter().any(|block| match block {
            ReasoningBlock::Text { signature, .. } => signature.is_some(),
            ReasoningBlock::Redacted { .. } => true,
        })
}
