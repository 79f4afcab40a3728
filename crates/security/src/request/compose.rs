//! What a part of a request says, as one text without escapes: what the detectors read.
//!
//! A request is JSON, with JSON inside its strings (the arguments of a tool call, the result of one)
//! and files inside data URLs. All of these are decoded in place, so that `"key": "value"` stays
//! readable as such however deep it stands, and a value is scanned as what it is. Where nothing is
//! encoded, the request's own bytes are read and nothing is copied.
//!
//! Where something was found, the same is done once more with [`Items`] kept, which say where each
//! stretch of the composed text came from.

use std::ops::Range;
use std::{ptr, str};

use memchr::memchr;
use sluice_core::json::scan::{Cursor, Raw, Scan, ScanError, read};
use sluice_core::json::{end_of_literal, unescape};

use super::data_url::{self, DataUrl};
use super::encoding::{Coding, base64_run};
use crate::injection::Origin;

/// How deep strings inside of strings are read.
pub(super) const DEEPEST: usize = 4;
/// Base64 shorter than this may as well be a word.
const SHORTEST_BLOB: usize = 64;

/// No password is longer.
const LONGEST_QUOTED: usize = 256;

/// A part of a unit: a stretch of the request's bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    /// What stands before it in the composed text, for its reader alone.
    pub(super) before: &'static str,
    /// The bytes.
    pub(super) text: &'a str,
    /// What they are.
    pub(super) form: Form,
}

/// What the bytes of a piece are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One string literal with its quotes, which are not part of what it says.
    Literal,
    /// JSON: a value, or a member with its name.
    Json,
    /// Text as it is.
    Plain,
    /// Text that is shown to the detectors, and never edited: the name of a known member.
    Fixed,
}

/// A part of a request that is scanned as one text.
#[derive(Debug, Default)]
pub(super) struct Unit<'a> {
    /// What it consists of.
    pub(super) pieces: Vec<Piece<'a>>,
    /// Whether a value may go on from one piece to the next: adjacent text parts.
    pub(super) joined: bool,
    /// What base64 in it may be.
    pub(super) blobs: Blobs,
    /// Whether it holds identifiers and names of functions only, in which no person is looked for.
    pub(super) words: bool,
    /// Whose text it is, where it may carry an attack on the model.
    pub(super) origin: Option<Origin>,
    /// The content part that it begins with.
    pub(super) part: Option<usize>,
    /// Whether it is a document: what somebody attached, and did not say.
    pub(super) document: bool,
    /// All of the content part that it is read from, where that is no text part.
    pub(super) attachment: Option<&'a str>,
    /// Whether there is more in it than can be read.
    pub(super) unreadable: bool,
}

impl<'a> Unit<'a> {
    /// The literal that is all there is to the unit, with its quotes.
    pub(super) fn whole_literal(&self) -> Option<&'a str> {
        match self.pieces.as_slice() {
            [Piece { before: "", text, form: Form::Literal }] => Some(text),
            _ => None,
        }
    }
}

/// What base64 in a unit may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Blobs {
    /// Text like any other.
    #[default]
    Text,
    /// What a provider signed or sealed, and wants back as it was. All of the unit is.
    Sealed,
    /// A file: an image, a sound, a document.
    Media,
}

/// Where a stretch of a composed text came from. Places are in the text at the item's own level.
#[derive(Debug)]
pub(super) enum Item {
    /// Copied as it stands. What is not `editable` is JSON between literals.
    Run { at: usize, composed: Range<usize>, editable: bool },
    /// A string literal: what it says is composed of `items`, which count from its beginning.
    Literal { inside: Range<usize>, composed: Range<usize>, is_name: bool, items: Items },
    /// A payload, decoded.
    Encoded { payload: Range<usize>, composed: Range<usize>, coding: Coding },
}

impl Item {
    /// Where the item's text stands in the composed text.
    pub(super) fn composed(&self) -> &Range<usize> {
        match self {
            Self::Run { composed, .. }
            | Self::Literal { composed, .. }
            | Self::Encoded { composed, .. } => composed,
        }
    }
}

/// Where a composed text came from, in order.
pub(super) type Items = Vec<Item>;

/// A unit's text.
pub(super) struct Composed<'t> {
    /// The text.
    pub(super) text: &'t str,
    /// Where the pieces begin in it.
    pub(super) starts: Vec<usize>,
    /// Values in JSON that have a quote within themselves, which seems to end them here.
    pub(super) quoted: &'t [Quoted],
    /// Whether something was in it that cannot be read.
    pub(super) unreadable: bool,
    /// Whether it is what one literal says, and nothing within that could be decoded once more: each
    /// place in it is one in that literal.
    pub(super) is_flat: bool,
}

/// A value in JSON whose escapes are gone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quoted {
    /// Where its name begins in the composed text.
    pub(super) name: usize,
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// Composes texts, in a buffer that is used again and again.
#[derive(Default)]
pub(super) struct Composer<'a> {
    out: Vec<u8>,
    /// The literal that is all that was composed last: often it is asked for once more.
    last: Option<&'a str>,
    /// Whether items are kept.
    recording: bool,
    blobs: Blobs,
    quoted: Vec<Quoted>,
    unreadable: bool,
    /// Whether something looks as if it could be decoded once more.
    is_deep: bool,
}

impl<'a> Composer<'a> {
    /// What `unit` says.
    pub(super) fn compose(&mut self, unit: &Unit<'a>) -> Composed<'_> {
        if let Some(text) = unit.whole_literal().and_then(verbatim) {
            let is_flat = !looks_like_json(text);
            return Composed { text, starts: vec![0], quoted: &[], unreadable: false, is_flat };
        }
        let literal = unit.whole_literal();
        let is_last = |last: &'a str| literal.is_some_and(|literal| ptr::eq(literal, last));
        let mut starts = vec![0];
        if self.blobs != unit.blobs || !self.last.is_some_and(is_last) {
            self.recording = false;
            starts.clear();
            self.unit(unit, |_, start| starts.push(start));
            self.last = literal;
        }
        let unreadable = self.unreadable;
        let text = str::from_utf8(&self.out).unwrap_or_default();
        let is_flat = !self.is_deep && literal.is_some();
        Composed { text, starts, quoted: &self.quoted, unreadable, is_flat }
    }

    /// The same text, with the items of each piece.
    pub(super) fn layout(&mut self, unit: &Unit<'_>) -> (&str, Vec<Items>) {
        self.recording = true;
        let mut layout = Vec::with_capacity(unit.pieces.len());
        self.unit(unit, |items, _| layout.push(items));
        (str::from_utf8(&self.out).unwrap_or_default(), layout)
    }

    fn unit(&mut self, unit: &Unit<'_>, mut done: impl FnMut(Items, usize)) {
        self.out.clear();
        self.last = None;
        self.blobs = unit.blobs;
        self.quoted.clear();
        self.unreadable = false;
        self.is_deep = false;
        for piece in &unit.pieces {
            self.out.extend_from_slice(piece.before.as_bytes());
            let start = self.out.len();
            let items = match piece.form {
                Form::Literal => self.whole_literal(piece.text),
                Form::Json => self.json(piece.text, 0),
                Form::Plain => {
                    self.out.extend_from_slice(piece.text.as_bytes());
                    self.deeper(start, 0)
                }
                Form::Fixed => {
                    self.out.extend_from_slice(piece.text.as_bytes());
                    Items::new()
                }
            };
            done(items, start);
        }
    }

    /// Appends what a literal says, without its quotes.
    fn whole_literal(&mut self, literal: &str) -> Items {
        let start = self.out.len();
        let inside = 1..literal.len().saturating_sub(1).max(1);
        let items = self.literal(literal.get(inside.clone()).unwrap_or_default(), 0);
        if !self.recording {
            return items;
        }
        let composed = start..self.out.len();
        vec![Item::Literal { inside, composed, is_name: false, items }]
    }

    /// Appends what the inside of a literal says.
    fn literal(&mut self, inside: &str, depth: usize) -> Items {
        let start = self.out.len();
        if memchr(b'\\', inside.as_bytes()).is_some() {
            unescape(inside, &mut self.out);
        } else {
            self.out.extend_from_slice(inside.as_bytes());
        }
        self.deeper(start, depth)
    }

    /// Looks whether what was appended from `start` on holds something that is to be decoded once
    /// more, and does so.
    fn deeper(&mut self, start: usize, depth: usize) -> Items {
        if depth < DEEPEST && self.may_go_deeper(start) {
            self.is_deep = true;
            let text = str::from_utf8(&self.out[start..]).unwrap_or_default();
            let url = data_url::find(text, 0);
            if url.is_some() || self.is_json_to_decode(text) {
                let text = text.to_owned();
                self.out.truncate(start);
                return match url {
                    Some(url) if !is_json(&text) => self.data_urls(&text, url),
                    _ => self.json(&text, depth + 1),
                };
            }
        }
        self.run(0, start, true)
    }

    /// A quick look at what was appended from `start` on.
    fn may_go_deeper(&self, start: usize) -> bool {
        let text = &self.out[start..];
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        matches!(first, Some(b'{' | b'[' | b'"')) || data_url::may_hold(text)
    }

    /// JSON without a backslash and without data URLs is the same text decoded; what it consists of
    /// matters only where it is edited.
    fn is_json_to_decode(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        looks_like_json(text)
            && (self.recording || memchr(b'\\', bytes).is_some() || data_url::may_hold(bytes))
            && is_json(text)
    }

    /// Appends JSON with its literals decoded. This goes from literal to literal and does not recurse
    /// into containers, however deep they are nested.
    fn json(&mut self, text: &str, depth: usize) -> Items {
        let mut items = Items::new();
        let mut run_from = 0;
        let mut at = 0;
        let mut name: Option<(&str, usize)> = None;
        while let Some(quote) = memchr(b'"', &text.as_bytes()[at..]).map(|n| at + n) {
            let Some(end) = end_of_literal(text, quote) else { break };
            let inside = quote + 1..end - 1;
            self.copy(text, run_from..inside.start, &mut items);
            let start = self.out.len();
            let is_name = text[end..].trim_start().starts_with(':');
            let said = &text[inside.clone()];
            let decoded = if self.blobs == Blobs::Media && depth == 0 && is_blob(said) {
                self.blob(said, name.filter(|_| !is_name).map_or("", |(name, _)| name))
            } else {
                self.literal(said, depth)
            };
            if let Some((_, name)) = name
                && !is_name
            {
                self.note_quoted(said, name, start);
            }
            name = is_name.then_some((said, start));
            if self.recording {
                let composed = start..self.out.len();
                items.push(Item::Literal { inside, composed, is_name, items: decoded });
            }
            run_from = end - 1;
            at = end;
        }
        self.copy(text, run_from..text.len(), &mut items);
        items
    }

    /// Notes the value from `start` on, which was written as `said`, if it is hard to read.
    fn note_quoted(&mut self, said: &str, name: usize, start: usize) {
        if said.len() > LONGEST_QUOTED || memchr(b'\\', said.as_bytes()).is_none() {
            return;
        }
        let value = &self.out[start..];
        let is_hard = memchr(b'"', value).is_some() || value.ends_with(b"\\");
        if is_hard && !value.iter().any(u8::is_ascii_whitespace) {
            self.quoted.push(Quoted { name, start, end: self.out.len() });
        }
    }

    fn copy(&mut self, text: &str, range: Range<usize>, items: &mut Items) {
        let start = self.out.len();
        let at = range.start;
        self.out.extend_from_slice(&text.as_bytes()[range]);
        items.append(&mut self.run(at, start, false));
    }

    /// The item for what was copied from `at` to `start` and beyond.
    fn run(&self, at: usize, start: usize, editable: bool) -> Items {
        if !self.recording || start == self.out.len() {
            return Items::new();
        }
        vec![Item::Run { at, composed: start..self.out.len(), editable }]
    }

    /// Appends a text whose first data URL is `url`.
    fn data_urls(&mut self, text: &str, url: DataUrl) -> Items {
        let mut items = Items::new();
        let mut at = 0;
        let mut next = Some(url);
        while let Some(url) = next {
            let start = self.out.len();
            self.out.extend_from_slice(&text.as_bytes()[at..url.payload.start]);
            items.append(&mut self.run(at, start, true));
            at = url.payload.end;
            next = data_url::find(text, at);
            self.payload(url.payload, url.text, &mut items);
        }
        let start = self.out.len();
        self.out.extend_from_slice(&text.as_bytes()[at..]);
        items.append(&mut self.run(at, start, true));
        items
    }

    fn payload(
        &mut self,
        payload: Range<usize>,
        text: Option<(String, Coding)>,
        items: &mut Items,
    ) {
        let Some((text, coding)) = text else {
            self.unreadable = true;
            return;
        };
        let start = self.out.len();
        self.out.extend_from_slice(text.as_bytes());
        if self.recording {
            items.push(Item::Encoded { payload, composed: start..self.out.len(), coding });
        }
    }

    /// Appends what base64 on its own says: the content of a file, if that is text. An image is
    /// left out.
    fn blob(&mut self, inside: &str, name: &str) -> Items {
        if !matches!(name, "data" | "file_data" | "bytes") {
            return self.literal(inside, 0);
        }
        let mut items = Items::new();
        let text = data_url::decoded_text(inside.as_bytes());
        let text = text.map(|text| (text, Coding::Base64));
        self.payload(0..inside.len(), text, &mut items);
        items
    }
}

/// What a literal says, where that is what stands between its quotes.
fn verbatim(literal: &str) -> Option<&str> {
    let inside = literal.get(1..literal.len().checked_sub(1)?)?;
    let is_plain =
        memchr(b'\\', inside.as_bytes()).is_none() && data_url::find(inside, 0).is_none();
    is_plain.then_some(inside)
}

/// Whether a text is base64, and longer than a word.
pub(super) fn is_blob(inside: &str) -> bool {
    inside.len() >= SHORTEST_BLOB && base64_run(inside.as_bytes()) == inside.len()
}

fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"'])
}

/// Whether all of `text` is JSON: a value, or several, as in lines of a log. Strings one after another
/// are prose in quotes: in an answer, nothing would show that they were JSON.
pub(super) fn is_json(text: &str) -> bool {
    struct Values {
        count: usize,
        has_string: bool,
    }
    impl<'a> Scan<'a> for Values {
        fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
            let mut values = Self { count: 0, has_string: false };
            while !cursor.is_at_end() {
                values.count += 1;
                values.has_string |= Raw::scan(cursor)?.get().starts_with('"');
            }
            Ok(values)
        }
    }
    let is_one_document = |values: Values| values.count == 1 || !values.has_string;
    looks_like_json(text) && read::<Values>(text).is_ok_and(is_one_document)
}
