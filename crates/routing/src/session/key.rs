//! What names a conversation: a number that nobody outside can guess or steer.
//!
//! Nothing of it is content, but it may be made from content; so where nothing of a request may be
//! kept, only what the caller named the conversation by counts.

use std::hash::{DefaultHasher, Hasher};

use sluice_core::chat::{ChatRequest, Content, Message, Part, Role};
use sluice_core::json::JsonText;

/// Of a longer text, so many bytes of its head …
const HEAD: usize = 2048;
/// … and so many of its tail name it, with its length.
const TAIL: usize = 1024;

/// What headers name a conversation by.
#[derive(Debug, Clone, Copy, Default)]
pub struct Named<'a> {
    /// `svc-session-id`.
    pub own: Option<&'a str>,
    /// The header of a client that names its conversations in a way of its own.
    pub by_client: Option<&'a str>,
}

/// Which conversation of the key `whose` the request belongs to; `None` where nothing says so.
///
/// The first of these that is there: the header `svc-session-id`, the body's `session_id`, a client's
/// own header, the body's `prompt_cache_key`, and, where content `may_be_hashed`, its system prompt with its first user
/// message, which agents send again with each turn.
///
/// The hash is the standard library's SipHash-1-3 with the process's `secret` in front. Each piece
/// comes with its length and what it is, so that no two requests meet by moving a boundary.
pub fn key<'a>(
    secret: u64,
    whose: &str,
    named: Named<'a>,
    chat: &ChatRequest,
    may_be_hashed: bool,
) -> Option<u64> {
    let mut hash = DefaultHasher::new();
    hash.write_u64(secret);
    piece(&mut hash, b'k', whose.as_bytes());
    let header = |name: Option<&'a str>| name.map(str::trim).filter(|name| !name.is_empty());
    if let Some(name) = header(named.own) {
        piece(&mut hash, b'h', name.as_bytes());
    } else if let Some(id) = member(chat, "session_id") {
        piece(&mut hash, b's', id.as_bytes());
    } else if let Some(name) = header(named.by_client) {
        piece(&mut hash, b'x', name.as_bytes());
    } else if let Some(id) = member(chat, "prompt_cache_key") {
        piece(&mut hash, b'c', id.as_bytes());
    } else if may_be_hashed {
        let first_of = |is: fn(Role) -> bool| chat.messages.iter().find(|m| is(m.role));
        let system = first_of(|role| matches!(role, Role::System | Role::Developer));
        let user = first_of(|role| role == Role::User)?;
        if let Some(system) = system {
            message(&mut hash, b'p', system);
        }
        message(&mut hash, b'u', user);
    } else {
        return None;
    }
    Some(hash.finish())
}

/// The one conversation of all requests of a key of which nothing says to which they belong.
pub fn nameless(secret: u64, whose: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    hash.write_u64(secret);
    piece(&mut hash, b'k', whose.as_bytes());
    hash.finish()
}

/// The member of the body that names the conversation, as JSON; `None` where it says nothing.
fn member<'a>(chat: &'a ChatRequest, name: &str) -> Option<&'a str> {
    let member = chat.extra.iter().find(|member| member.name == name)?;
    let value = member.value.as_str().trim();
    (!matches!(value, "null" | "\"\"")).then_some(value)
}

fn message(hash: &mut DefaultHasher, what: u8, message: &Message) {
    match &message.content {
        Content::None => piece(hash, what, b""),
        Content::Text(text) => bounded(hash, what, inside(text)),
        Content::Parts(parts) => {
            piece(hash, what, b"");
            for part in parts {
                match part {
                    Part::Text { text, .. } => bounded(hash, b't', inside(text)),
                    Part::Image { url, .. } => bounded(hash, b'i', inside(url)),
                    Part::Other { raw, .. } => bounded(hash, b'o', raw.as_str()),
                }
            }
        }
    }
}

/// The text as it stands, with its escapes: whoever sends a conversation again writes it the same
/// way, and decoding a long prompt would take longer than all the rest.
fn inside(text: &JsonText) -> &str {
    match text {
        JsonText::Plain(text) => text,
        JsonText::Literal(literal) => {
            literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default()
        }
    }
}

fn bounded(hash: &mut DefaultHasher, what: u8, text: &str) {
    let text = text.as_bytes();
    if text.len() <= HEAD + TAIL {
        return piece(hash, what, text);
    }
    hash.write_u8(what);
    hash.write_usize(text.len());
    hash.write(&text[..HEAD]);
    hash.write(&text[text.len() - TAIL..]);
}

fn piece(hash: &mut DefaultHasher, what: u8, bytes: &[u8]) {
    hash.write_u8(what);
    hash.write_usize(bytes.len());
    hash.write(bytes);
}

#[cfg(test)]
mod tests;
