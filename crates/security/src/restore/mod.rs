//! Puts redacted values back into a model's answer, chunk by chunk.
//!
//! A placeholder may be cut at any character, so a restorer holds back the shortest tail that can
//! still become one of its map's. It sees text only; JSON and event framing belong to the caller:
//! one restorer for each channel of text (a choice's content, its reasoning, one tool call's
//! arguments), fed in order.
//!
//! Only the words of the request's own map are looked for, wherever they stand: inside a longer
//! word, a URL, markup, quotes. What else looks like a placeholder stays as it is. `letters` says
//! which changes by the model are undone; what was put between a placeholder's letters goes, and a
//! placeholder that was broken over two lines becomes one value on the first of them. `spelling` says
//! how a value is written where the model put it.

mod context;
pub(crate) mod letters;
pub(crate) mod shell;
pub(crate) mod spelling;
#[cfg(test)]
mod tests;

use std::fmt;
use std::mem;
use std::sync::Arc;

use self::context::REACH;
use self::spelling::{is_unreserved, write_percent_encoded};
use crate::map::index::{Found, Hit};
use crate::map::{LONGEST_WORD, Redaction, RedactionMap};

/// How the text around a restored value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surrounding {
    /// Text: a value is put back as it was, but for what shows around it (JSON, a shell's quotes, a
    /// URL).
    Text,
    /// JSON, such as the arguments of a tool call, where placeholders stand inside string literals:
    /// a value is escaped as it has to be there, after what the string itself needs as a text.
    JsonString,
}

/// Whether a placeholder may be restored, from the text in front of it and what it stands for.
type Allow<'f> = &'f mut dyn FnMut(&str, &Redaction<'_>) -> bool;

/// How much of the text in front of a placeholder is shown to whoever decides, at least.
const SHOWN: usize = REACH;

/// Puts redacted values back into one channel of text.
pub struct Restorer {
    map: Arc<RedactionMap>,
    surrounding: Surrounding,
    /// The tail that may become a placeholder.
    held: String,
    /// The end of the text in front of it, as the model wrote it. Only kept where it decides whether
    /// a value is restored, or how it is written.
    seen: String,
}

impl Restorer {
    /// The longest tail that is ever held back, in bytes. Mostly it is a few bytes of one
    /// placeholder; only one that is broken over lines takes more than a placeholder's length.
    pub const MOST_HELD: usize = LONGEST_WORD + letters::LONGEST_GAPS + letters::LONGEST_TOKEN;

    /// A restorer for the answer to the request that `map` was made from.
    pub fn new(map: Arc<RedactionMap>, surrounding: Surrounding) -> Self {
        Self { map, surrounding, held: String::new(), seen: String::new() }
    }

    /// Appends to `out` everything of what was pushed so far that no longer can become a
    /// placeholder, with the values in their placeholders' stead.
    pub fn push(&mut self, chunk: &str, out: &mut String) {
        self.feed(chunk, out, None, false);
    }

    /// The same, asking `allow` for each placeholder: where it says no, the placeholder stays as it
    /// stands. It is given the text in front of the placeholder, as the model wrote it: all of it,
    /// or at least the last KiB.
    ///
    /// What was given to [`push`](Self::push) may not be remembered: use one or the other for a
    /// channel.
    pub fn push_if(
        &mut self,
        chunk: &str,
        out: &mut String,
        allow: &mut dyn FnMut(&str, &Redaction<'_>) -> bool,
    ) {
        self.feed(chunk, out, Some(allow), false);
    }

    /// Appends what is held back: the text is at its end.
    pub fn finish(&mut self, out: &mut String) {
        self.feed("", out, None, true);
    }

    /// The same, for text that was given to [`push_if`](Self::push_if).
    pub fn finish_if(
        &mut self,
        out: &mut String,
        allow: &mut dyn FnMut(&str, &Redaction<'_>) -> bool,
    ) {
        self.feed("", out, Some(allow), true);
    }

    /// Bytes held back: at most [`MOST_HELD`](Self::MOST_HELD).
    pub fn held(&self) -> usize {
        self.held.len()
    }

    fn feed(&mut self, chunk: &str, out: &mut String, mut allow: Option<Allow<'_>>, last: bool) {
        if self.map.is_empty() {
            out.push_str(chunk);
            return;
        }
        let mut joined = mem::take(&mut self.held);
        let text = if joined.is_empty() {
            chunk
        } else {
            joined.push_str(chunk);
            joined.as_str()
        };
        let remembers = allow.is_some() || self.map.is_written_variously();
        let mut finder = self.map.index().finder(text);
        let mut written = 0;
        let mut from = 0;
        let end = loop {
            match finder.next(from) {
                Found::Whole(Hit { place, number, percent }) => {
                    from = place.end;
                    let Some(redaction) = self.map.redaction(number) else { continue };
                    out.push_str(&text[written..place.start]);
                    if remembers {
                        remember(&mut self.seen, &text[written..place.start]);
                    }
                    let allowed = allow.as_mut().is_none_or(|allow| allow(&self.seen, &redaction));
                    if !allowed {
                        out.push_str(&text[place.clone()]);
                    } else if percent {
                        write_percent_encoded(redaction.value, is_unreserved, out);
                    } else {
                        let before = (self.seen.as_str(), self.surrounding);
                        spelling::write(&self.map, number, &redaction, before, out);
                    }
                    if remembers {
                        remember(&mut self.seen, &text[place.clone()]);
                    }
                    written = place.end;
                }
                // What is cut here became no placeholder; one may have begun within it.
                Found::Cut(at) if last => from = at + 1,
                Found::Cut(at) => break at,
                Found::Nothing => break text.len(),
            }
        };
        out.push_str(&text[written..end]);
        if remembers {
            remember(&mut self.seen, &text[written..end]);
        }
        if joined.is_empty() {
            joined.push_str(&chunk[end..]);
        } else {
            joined.drain(..end);
        }
        self.held = joined;
    }
}

impl fmt::Debug for Restorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held.len();
        f.debug_struct("Restorer").field("map", &self.map).field("held", &held).finish()
    }
}

/// Appends `text` to `seen`, of which at least the last [`SHOWN`] bytes stay.
fn remember(seen: &mut String, text: &str) {
    if text.len() > SHOWN {
        seen.clear();
    } else if seen.len() + text.len() > 4 * SHOWN {
        seen.drain(..seen.floor_char_boundary(seen.len().saturating_sub(SHOWN)));
    }
    seen.push_str(&text[text.floor_char_boundary(text.len().saturating_sub(SHOWN))..]);
}
