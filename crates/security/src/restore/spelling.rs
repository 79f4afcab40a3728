//! How a value is written: as it stood in the request, and as it has to be where the model put its
//! placeholder.
//!
//! A value comes back as it stood wherever it stood in the same surroundings, and where these do not
//! show for certain. In other ones it is written so that it is valid there: what it was written by
//! is undone, and the rules of what is around the placeholder are applied.

use std::borrow::Cow;

use sluice_core::json::unescape;

use super::Surrounding;
use super::context::{Context, Frame, Part, REACH, may_be_in_url};
use super::shell::Quote;
use crate::map::{Redaction, RedactionMap};

/// How many bytes in front of a value are looked at in a request. More than in an answer: where less
/// shows around its placeholder there, it comes back as it stood.
const REACH_IN_REQUESTS: usize = 4 * REACH;

/// What is kept as it is in a name of a user and its password, beside letters, digits and `-._~`.
/// A request is searched for values that are written so: nothing else may decide what is kept.
pub(crate) const KEPT_IN_USER_INFO: &str = "!$&'()*+,;=";
/// The same in a path.
pub(crate) const KEPT_IN_PATH: &str = "!$&'()*+,/:;=@";
/// The same in a query and a fragment.
pub(crate) const KEPT_IN_QUERY: &str = "!$'()*,/:;=?@";

/// In which surroundings a value stood in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stood(u8);

impl Stood {
    /// Text, or what a string says.
    const PLAIN: Self = Self(1);
    /// A string literal that was not decoded: the value has its escapes, if that is valid JSON.
    const JSON: Self = Self(1 << 1);
    /// The same within another one.
    const NESTED_JSON: Self = Self(1 << 2);
    const SINGLE: Self = Self(1 << 3);
    const DOUBLE: Self = Self(1 << 4);
    const URL: Self = Self(1 << 5);
    /// Wherever it may be: it comes back as it stood, whatever is around it.
    pub(crate) const ANYWHERE: Self = Self((1 << 6) - 1);

    /// Where `value` stood, which was read from a place in JSON by decoding its escapes `decoded`
    /// times over; `before` is the JSON in front of that place. `left` is how many places may still
    /// be read closely, which costs far more than finding a value: `None` where there is none left.
    pub(crate) fn behind(
        before: &str,
        value: &str,
        decoded: usize,
        left: &mut usize,
    ) -> Option<Self> {
        let needs = Needs::of(value);
        if needs == Needs::Nothing || needs == Needs::Url && !may_be_in_url(before) {
            return Some(Self::PLAIN);
        }
        *left = left.checked_sub(1)?;
        let context = Context::behind(before, Surrounding::JsonString, REACH_IN_REQUESTS);
        let frames = context.frames.iter();
        let around = frames.fold(Self::default(), |stood, frame| stood.with(Self::of(*frame)));
        let is_quoted = context.frames.first() == Some(&Frame::Quoted) && is_escaped(value);
        let literals = context.literals() + usize::from(is_quoted);
        Some(match literals.saturating_sub(decoded) {
            1 if needs == Needs::Escapes => around.with(Self::JSON),
            2.. if needs == Needs::Escapes => around.with(Self::NESTED_JSON),
            _ if around == Self::default() => Self::PLAIN,
            _ => around,
        })
    }

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The surroundings that `frame` is.
    fn of(frame: Frame) -> Self {
        match frame {
            Frame::Shell(Quote::Single) => Self::SINGLE,
            Frame::Shell(Quote::Double) => Self::DOUBLE,
            Frame::Url(_) => Self::URL,
            Frame::Json | Frame::Quoted => Self(0),
        }
    }

    /// How many literals of JSON the value is escaped for, of `most` that are around a placeholder.
    fn escapes(self, most: usize) -> usize {
        let known = [(Self::NESTED_JSON, 2), (Self::JSON, 1)];
        let mut carried = known.into_iter().filter(|(stood, _)| self.has(*stood));
        let fitting = carried.clone().find(|(_, count)| *count <= most);
        fitting.or_else(|| carried.next().filter(|_| !self.has(Self::PLAIN))).map_or(0, |(_, n)| n)
    }
}

/// Where a value may have to be written in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    /// Nowhere.
    Nothing,
    /// In a URL.
    Url,
    /// In a shell's quotes as well.
    Quotes,
    /// In string literals as well.
    Escapes,
}

impl Needs {
    pub(crate) fn of(value: &str) -> Self {
        let of_byte = |byte: u8| match byte {
            b'"' | b'\\' | 0..0x20 => Self::Escapes,
            b'\'' | b'$' | b'`' => Self::Quotes,
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b'_' | b'~' => Self::Nothing,
            _ => Self::Url,
        };
        value.bytes().map(of_byte).max().unwrap_or(Self::Nothing)
    }
}

/// Whether `value` has escapes of JSON, and nothing that a string literal cannot have.
fn is_escaped(value: &str) -> bool {
    let mut bytes = value.bytes();
    let mut has_escape = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' | 0..0x20 => return false,
            b'\\' => match bytes.next() {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                Some(b'u') if bytes.by_ref().take(4).filter(u8::is_ascii_hexdigit).count() == 4 => {
                }
                _ => return false,
            },
            _ => continue,
        }
        has_escape = true;
    }
    has_escape
}

/// Appends the value that a placeholder stands for, as it has to be behind `before`.
pub(super) fn write(
    map: &RedactionMap,
    number: usize,
    redaction: &Redaction<'_>,
    (before, surrounding): (&str, Surrounding),
    out: &mut String,
) {
    let Redaction { value, kind, .. } = *redaction;
    let is_plain = match Needs::of(value) {
        Needs::Nothing => true,
        // Addresses, names and numbers: nearly all that a large answer may be full of.
        Needs::Url => map.spelling(number).is_none() && !may_be_in_url(before),
        Needs::Quotes | Needs::Escapes => false,
    };
    if is_plain {
        out.push_str(value);
        return;
    }
    let context = Context::behind(before, surrounding, REACH);
    let (mut written, frames) = begin(map, number, value, &context, surrounding);
    for frame in frames {
        let mut framed = String::with_capacity(written.len() + 16);
        match frame {
            Frame::Json => write_escaped(&written, &mut framed),
            Frame::Shell(quote) => quote.write(&written, &mut framed),
            // Whatever is no secret may be the host.
            Frame::Url(Part::Authority) if !kind.is_secret() => continue,
            Frame::Url(part) => write_in_url(*part, &written, &mut framed),
            Frame::Quoted => continue,
        }
        written = Cow::Owned(framed);
    }
    out.push_str(&written);
}

/// What the value is written by to begin with, and what of its surroundings is still to be applied.
fn begin<'a>(
    map: &'a RedactionMap,
    number: usize,
    value: &'a str,
    context: &'a Context,
    surrounding: Surrounding,
) -> (Cow<'a, str>, &'a [Frame]) {
    let stood = map.stood(number);
    let frames = context.frames.as_slice();
    let is_call = surrounding == Surrounding::JsonString;
    match frames {
        // What the literal that does not show adds is left alone. The value may have the escapes of
        // those around it already.
        [Frame::Quoted, rest @ ..] => {
            let own = usize::from(is_escaped(value));
            let of_text = &rest[..rest.len() - usize::from(is_call && !rest.is_empty())];
            let literals = of_text.iter().filter(|frame| **frame == Frame::Json).count();
            let escapes = match Needs::of(value) {
                Needs::Escapes => stood.escapes(literals + own).saturating_sub(own),
                _ => usize::MAX,
            };
            return (Cow::Borrowed(value), &rest[carried(of_text, stood, escapes)..]);
        }
        [] => return (in_text(map, value, stood), frames),
        // What a string of a call says is a text of its own, unless it is the value as a whole.
        [Frame::Json] if is_call && !context.begins_literal => {
            return (in_text(map, value, stood), frames);
        }
        _ => {}
    }
    let of_text = match frames {
        [of_text @ .., Frame::Json] if is_call && !of_text.is_empty() => of_text,
        _ => frames,
    };
    let literals = of_text.iter().filter(|frame| **frame == Frame::Json).count();
    let escapes = stood.escapes(literals);
    if let Some(spelling) = map.spelling(number)
        && escapes == 0
        && frames.len() > usize::from(is_call)
        && let [Frame::Json, rest @ ..] = frames
    {
        return (Cow::Borrowed(spelling), rest);
    }
    let needs_none = Needs::of(value) != Needs::Escapes;
    match carried(of_text, stood, if needs_none { usize::MAX } else { escapes }) {
        0 => (meaning(value, stood), frames),
        carried => (Cow::Borrowed(value), &frames[carried..]),
    }
}

/// How many of these frames, from the innermost on, a value was written for already; `escapes` is
/// how many of those of JSON.
fn carried(frames: &[Frame], stood: Stood, mut escapes: usize) -> usize {
    let mut is_carried = |frame: &&Frame| match frame {
        Frame::Json if escapes > 0 => {
            escapes -= 1;
            true
        }
        frame => stood.has(Stood::of(**frame)),
    };
    frames.iter().take_while(&mut is_carried).count()
}

/// A value in text: as it stood, unless it stood with escapes only, and in text without.
fn in_text<'a>(map: &RedactionMap, value: &'a str, stood: Stood) -> Cow<'a, str> {
    let has_escapes = stood.escapes(0) > 0 && is_escaped(value);
    let plain = has_escapes.then(|| unescaped(value, 1));
    plain.filter(|plain| map.holds(plain)).map_or(Cow::Borrowed(value), Cow::Owned)
}

/// What a value means that has escapes wherever it stood.
fn meaning(value: &str, stood: Stood) -> Cow<'_, str> {
    if stood.has(Stood::PLAIN) {
        return Cow::Borrowed(value);
    }
    let mut meant = Cow::Borrowed(value);
    if let escapes @ 1.. = stood.escapes(1)
        && is_escaped(value)
    {
        meant = Cow::Owned(unescaped(value, escapes));
    }
    for (bit, quote) in [(Stood::SINGLE, Quote::Single), (Stood::DOUBLE, Quote::Double)] {
        if stood.has(bit) {
            meant = Cow::Owned(quote.read(&meant));
        }
    }
    meant
}

/// `value` with the escapes of JSON decoded so many times over.
fn unescaped(value: &str, times: usize) -> String {
    let mut value = value.to_owned();
    for _ in 0..times {
        let mut out = Vec::with_capacity(value.len() + 64);
        unescape(&value, &mut out);
        value = String::from_utf8(out).unwrap_or_default();
    }
    value
}

/// Whether most encoders of JSON write `value` so.
pub(crate) fn is_usual_json(written: &str, value: &str) -> bool {
    let mut usual = String::with_capacity(written.len());
    write_escaped(value, &mut usual);
    usual == written
}

/// Appends `value` as it stands inside a JSON string literal.
pub(crate) fn write_escaped(value: &str, out: &mut String) {
    let mut written = 0;
    for (at, byte) in value.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&value[written..at]);
        out.push_str(short);
        if short.is_empty() {
            out.push_str("\\u00");
            push_hex(byte, out);
        }
        written = at + 1;
    }
    out.push_str(&value[written..]);
}

/// Appends `value` as it stands in a part of a URL (RFC 3986, 3): encoded is what would end that
/// part, or what no URL has.
fn write_in_url(part: Part, value: &str, out: &mut String) {
    let kept = match part {
        Part::Authority | Part::Password => KEPT_IN_USER_INFO,
        Part::Path => KEPT_IN_PATH,
        Part::Query => KEPT_IN_QUERY,
    };
    let is_allowed = |byte: u8| is_unreserved(byte) || kept.as_bytes().contains(&byte);
    write_percent_encoded(value, is_allowed, out);
}

/// Appends `value` with everything percent-encoded that is not allowed.
pub(super) fn write_percent_encoded(
    value: &str,
    is_allowed: impl Fn(u8) -> bool,
    out: &mut String,
) {
    for byte in value.bytes() {
        if is_allowed(byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            push_hex(byte, out);
        }
    }
}

/// Whether RFC 3986 lets a byte stand everywhere in a URL.
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn push_hex(byte: u8, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push(char::from(HEX[usize::from(byte >> 4)]));
    out.push(char::from(HEX[usize::from(byte & 15)]));
}
