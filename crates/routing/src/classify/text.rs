//! The words of the latest user turn, without what tools put around them.
//!
//! Coding agents wrap a person's words in reminders and descriptions of the editor, and people
//! paste code between fences. What is left of the head and the tail is decoded into a fixed
//! buffer, so that a turn of a megabyte costs what one of a few kilobytes costs.

use memchr::{memchr2, memchr3};
use sluice_core::chat::{ChatRequest, Content, Part, Role};
use sluice_core::json::JsonText;

/// Bytes that are kept of the beginning.
const HEAD: usize = 3 * 1024;
/// Bytes that are kept of the end.
const TAIL: usize = 1024;
/// Bytes of the text, as received, that are looked through for the head.
const HEAD_WINDOW: usize = 32 * 1024;
/// Bytes of the text, as received, that are looked through for the tail.
const TAIL_WINDOW: usize = 6 * 1024;

/// Tags whose content is not the person's words.
const WRAPPERS: [&str; 12] = [
    "system-reminder",
    "system_reminder",
    "environment_details",
    "environment_context",
    "attached_files",
    "additional_data",
    "open_and_recently_viewed_files",
    "editorContext",
    "project_layout",
    "user_info",
    "local-command-stdout",
    "file_content",
];

/// The latest user text, bounded, and what was left out.
pub struct Turn {
    buffer: [u8; HEAD + TAIL],
    length: usize,
    /// Blocks of code between fences.
    pub fences: usize,
    /// Bytes of the text, as received.
    pub size: usize,
    /// Bytes between fences and tags among those that were looked through.
    pub stripped: usize,
}

impl Turn {
    /// The latest user text of `chat`.
    pub fn of(chat: &ChatRequest) -> Self {
        let mut turn = Self::empty();
        for message in chat.messages.iter().rev() {
            if message.role != Role::User {
                continue;
            }
            match &message.content {
                Content::None => {}
                Content::Text(text) => turn.read(text),
                Content::Parts(parts) => turn.read_last(parts),
            }
            if turn.size > 0 {
                break;
            }
        }
        turn
    }

    /// The same of one text.
    pub fn of_text(text: &JsonText) -> Self {
        let mut turn = Self::empty();
        turn.read(text);
        turn
    }

    /// What is left of the text.
    pub fn text(&self) -> &str {
        str::from_utf8(&self.buffer[..self.length]).unwrap_or_default()
    }

    fn empty() -> Self {
        Self { buffer: [0; HEAD + TAIL], length: 0, fences: 0, size: 0, stripped: 0 }
    }

    /// Reads the last part of which something is left.
    fn read_last(&mut self, parts: &[Part]) {
        for part in parts.iter().rev() {
            let Part::Text { text, .. } = part else { continue };
            self.read(text);
            if !self.text().trim_ascii().is_empty() {
                return;
            }
        }
    }

    fn read(&mut self, text: &JsonText) {
        let (raw, is_escaped) = match text {
            JsonText::Plain(text) => (text.as_ref(), false),
            JsonText::Literal(literal) => {
                (literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default(), true)
            }
        };
        *self = Self { size: raw.len(), ..Self::empty() };
        let window = &raw[..raw.floor_char_boundary(HEAD_WINDOW)];
        let mut head = Scanner::new(is_escaped, &mut self.buffer[..HEAD]);
        let end = head.scan(window);
        self.length = head.length;
        self.fences = head.fences;
        self.stripped = head.stripped;
        if end == raw.len() {
            return;
        }
        let start = end.max(raw.floor_char_boundary(raw.len().saturating_sub(TAIL_WINDOW)));
        // A space is never inside an escape, and one is seldom far.
        let near = &raw[start..raw.floor_char_boundary(start + 64)];
        let start = near.find(' ').map_or(start, |space| start + space);
        let mut window = [0; TAIL_WINDOW];
        let mut tail = Scanner::new(is_escaped, &mut window);
        tail.scan(&raw[start..]);
        let length = tail.length;
        let kept = str::from_utf8(&window[..length]).unwrap_or_default();
        let kept = &kept[kept.ceil_char_boundary(length.saturating_sub(TAIL - 1))..];
        self.buffer[self.length] = b'\n';
        self.length += 1;
        self.buffer[self.length..self.length + kept.len()].copy_from_slice(kept.as_bytes());
        self.length += kept.len();
    }
}

/// Decodes a text into a buffer and leaves out what is between fences and tags.
struct Scanner<'a> {
    is_escaped: bool,
    out: &'a mut [u8],
    length: usize,
    inside: Inside,
    fences: usize,
    stripped: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Words,
    Fence,
    Wrapper(&'static str),
}

impl<'a> Scanner<'a> {
    fn new(is_escaped: bool, out: &'a mut [u8]) -> Self {
        Self { is_escaped, out, length: 0, inside: Inside::Words, fences: 0, stripped: 0 }
    }

    /// Reads `raw` until it ends or the buffer is full; where it stopped.
    fn scan(&mut self, raw: &str) -> usize {
        let bytes = raw.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let special = self.special(&bytes[at..]).map_or(bytes.len(), |offset| at + offset);
            at += self.put(&raw[at..special]);
            if at < special || self.is_full() {
                return at;
            }
            let Some(&byte) = bytes.get(at) else { break };
            let (decoded, length) = match byte {
                b'\\' if self.is_escaped => escape(&bytes[at..]),
                _ => (char::from(byte), 1),
            };
            // An escape's length is in ASCII, unless it is none.
            let behind = raw.ceil_char_boundary((at + length).min(bytes.len()));
            if decoded == '`' && bytes[at..].starts_with(b"```") {
                self.fence();
                at += 3;
            } else if let Some(more) = (decoded == '<').then(|| self.tag(&raw[behind..])).flatten()
            {
                self.stripped += more;
                at = behind + more;
            } else {
                self.put(decoded.encode_utf8(&mut [0; 4]));
                at = behind;
            }
        }
        raw.len()
    }

    fn special(&self, bytes: &[u8]) -> Option<usize> {
        match (self.inside, self.is_escaped) {
            (Inside::Words | Inside::Fence, true) => memchr3(b'\\', b'<', b'`', bytes),
            (Inside::Words | Inside::Fence, false) => memchr2(b'<', b'`', bytes),
            (Inside::Wrapper(_), true) => memchr2(b'\\', b'<', bytes),
            (Inside::Wrapper(_), false) => memchr::memchr(b'<', bytes),
        }
    }

    fn fence(&mut self) {
        match self.inside {
            Inside::Words => {
                self.inside = Inside::Fence;
                self.fences += 1;
                self.put_break();
            }
            Inside::Fence => self.inside = Inside::Words,
            Inside::Wrapper(_) => {}
        }
    }

    /// Enters or leaves the tag that `rest` begins with, behind its `<`. Its name's length, if it
    /// is one that counts.
    fn tag(&mut self, rest: &str) -> Option<usize> {
        let (is_closing, name) = match rest.strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, rest),
        };
        let wrapper = WRAPPERS.into_iter().find(|wrapper| {
            let behind = name.strip_prefix(wrapper);
            behind.is_some_and(|behind| behind.starts_with(['>', ' ', '\\']))
        })?;
        let length = usize::from(is_closing) + wrapper.len();
        // Behind the bracket, which may be an escape.
        let bracket = rest[length..].find(['>', 'e']).map_or(0, |at| at + 1);
        match self.inside {
            Inside::Words if is_closing => {
                // It began before what is looked at.
                self.stripped += self.length;
                self.length = 0;
            }
            Inside::Words => {
                self.inside = Inside::Wrapper(wrapper);
                self.put_break();
            }
            Inside::Wrapper(open) if is_closing && open == wrapper => self.inside = Inside::Words,
            _ => {}
        }
        Some(length + bracket)
    }

    fn put_break(&mut self) {
        let inside = std::mem::replace(&mut self.inside, Inside::Words);
        self.put("\n");
        self.inside = inside;
    }

    /// Adds `text`, if it is the person's, as far as there is room; how much of it was read.
    fn put(&mut self, text: &str) -> usize {
        if self.inside != Inside::Words {
            self.stripped += text.len();
            return text.len();
        }
        let room = self.out.len() - self.length;
        let text = &text[..text.floor_char_boundary(room)];
        self.out[self.length..self.length + text.len()].copy_from_slice(text.as_bytes());
        self.length += text.len();
        text.len()
    }

    /// Whether there is no room for another character.
    fn is_full(&self) -> bool {
        self.inside == Inside::Words && self.length + 4 > self.out.len()
    }
}

/// What the escape at the beginning of `bytes` stands for, and its length.
fn escape(bytes: &[u8]) -> (char, usize) {
    let decoded = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b' | b'f') => ' ',
        Some(b'u') => return unicode_escape(bytes),
        Some(byte) if byte.is_ascii() => char::from(*byte),
        _ => return (' ', 1),
    };
    (decoded, 2)
}

/// The character of `\uXXXX`, or of two of them that are a surrogate pair.
fn unicode_escape(bytes: &[u8]) -> (char, usize) {
    let unit = |at: usize| -> Option<u32> {
        let digits = str::from_utf8(bytes.get(at + 2..at + 6)?).ok()?;
        bytes[at..].starts_with(b"\\u").then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if let Some(character) = char::from_u32(first) {
        return (character, 6);
    }
    let low = unit(6).filter(|low| (0xdc00..0xe000).contains(low) && first < 0xdc00);
    let pair =
        low.and_then(|low| char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00)));
    pair.map_or((char::REPLACEMENT_CHARACTER, 6), |character| (character, 12))
}
