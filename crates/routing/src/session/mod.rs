//! Conversations: which requests belong together, and what is remembered of them.

mod key;
mod lock;
mod store;
mod turn;

use sluice_core::chat::{CacheBreakpoint, ChatRequest, Content, Message, Part};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{ModelId, ProviderId};
use sluice_core::json::Member;

use crate::task::TaskType;

pub use key::{Named, key, nameless};
pub use lock::lock;
pub use store::Sessions;
pub use turn::{Return, Turn};

/// What is remembered of a conversation. Nothing of it is content.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The model that answered last.
    pub model: ModelId,
    /// The provider that it ran at.
    pub provider: ProviderId,
    /// When it was asked last.
    pub last_asked: UnixMillis,
    /// Tokens of the last prompt and its answer: what its provider may have in its cache.
    pub prompt_tokens: f64,
    /// What the conversation is about; `None` where nothing of its content may be kept.
    pub task: Option<TaskType>,
    /// What is left of its highest complexity.
    pub lasting_complexity: f32,
    /// How many turns in a row a lesser model could have done.
    pub lesser_turns: u8,
}

/// How long a session keeps its model without being asked, in milliseconds: as long as providers
/// keep a prompt in their caches (OpenAI documents five to ten minutes, Anthropic five).
pub const IDLE_MS: u64 = 10 * 60 * 1000;
/// The same where the request asks for a cache that lives an hour.
pub const LONG_IDLE_MS: u64 = 60 * 60 * 1000;
/// How long a provider's cache is counted on, in milliseconds.
pub const CACHED_MS: u64 = 5 * 60 * 1000;

/// How long the session of `chat` keeps its model without being asked, in milliseconds: for
/// [`LONG_IDLE_MS`] where a `cache_control` asks for an hour, or `prompt_cache_retention` for a day.
pub fn idle_allowed_ms(chat: &ChatRequest) -> u64 {
    let long = |breakpoint: &Option<CacheBreakpoint>| {
        breakpoint.as_ref().is_some_and(|b| b.ttl.as_ref().is_some_and(|ttl| ttl == "1h"))
    };
    let retained = |member: &Member| {
        member.name == "prompt_cache_retention" && member.value.as_str().trim() == "\"24h\""
    };
    let in_message = |message: &Message| {
        long(&message.cache_breakpoint)
            || message.tool_calls.iter().any(|call| long(&call.cache_breakpoint))
            || match &message.content {
                Content::Parts(parts) => parts.iter().any(|part| match part {
                    Part::Text { cache_breakpoint, .. } | Part::Image { cache_breakpoint, .. } => {
                        long(cache_breakpoint)
                    }
                    Part::Other { .. } => false,
                }),
                Content::None | Content::Text(_) => false,
            }
    };
    let is_long = chat.tools.iter().any(|tool| long(&tool.cache_breakpoint))
        || chat.messages.iter().any(in_message)
        || chat.extra.iter().any(retained);
    if is_long { LONG_IDLE_MS } else { IDLE_MS }
}

#[cfg(test)]
mod tests;
