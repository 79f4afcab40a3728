//! JSON that keeps the bytes it came with.
//!
//! A request is parsed once, borrowed. Its strings stay as the literals that were sent (escapes and
//! all), so that passing them on to a provider of the same dialect is a copy, and untouched text
//! keeps its exact bytes, which is what keeps providers' prompt caches warm.

mod escape;
pub mod scan;
mod string;
mod value;

use std::borrow::Cow;
use std::fmt;

use bytestring::ByteString;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

pub use self::escape::{end_of_literal, places_in_literal, unescape};

/// Any JSON value, as the text that was received. Whoever makes one vouches that it is valid JSON.
///
/// `Debug` prints its size, never its content.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(ByteString);

impl RawJson {
    /// Takes over `text`, which the caller knows to be one valid JSON value without space around it.
    pub fn trusted(text: ByteString) -> Self {
        Self(text)
    }

    /// Checks that `text` is one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Self(ByteString::from(raw.get())))
    }

    /// Serialises `value`.
    pub fn from_value(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the value is the literal `null`.
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// Reads the value as a `T`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({} bytes)", self.0.len())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(ByteString::from(raw.get())))
    }
}

/// A string that is or was a JSON string: either the literal as received, or plain text.
///
/// `Debug` prints its size, never its content: prompts and answers are of this type.
#[derive(Clone)]
pub enum JsonText {
    /// The literal as received, with its quotes and escapes.
    Literal(ByteString),
    /// Text that is not escaped.
    Plain(ByteString),
}

impl JsonText {
    /// Plain text.
    pub fn plain(text: impl Into<ByteString>) -> Self {
        Self::Plain(text.into())
    }

    /// Takes over a string literal, which the caller knows to be a valid one (a parser saw it).
    pub fn trusted_literal(literal: ByteString) -> Self {
        debug_assert!(literal.len() >= 2 && literal.starts_with('"') && literal.ends_with('"'));
        Self::Literal(literal)
    }

    /// The text, unescaped where it has to be. A lone surrogate (which JSON allows and UTF-8 cannot
    /// hold) becomes U+FFFD.
    pub fn decode(&self) -> Cow<'_, str> {
        match self {
            Self::Plain(text) => Cow::Borrowed(text),
            Self::Literal(literal) => {
                let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or("");
                if !inner.as_bytes().contains(&b'\\') {
                    return Cow::Borrowed(inner);
                }
                match serde_json::from_str::<String>(literal) {
                    Ok(text) => Cow::Owned(text),
                    Err(_) => Cow::Owned(decode_lossy(inner)),
                }
            }
        }
    }

    /// Appends the text as a JSON string literal: as received, where it was received.
    pub fn write_literal(&self, out: &mut Vec<u8>) {
        match self {
            Self::Literal(literal) => out.extend_from_slice(literal.as_bytes()),
            Self::Plain(text) => write_escaped(text, out),
        }
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Plain(text) => text.is_empty(),
            Self::Literal(literal) => literal.len() <= 2,
        }
    }

    /// Bytes that the text takes as received: an upper bound that costs nothing (escapes count as
    /// they stand).
    pub fn size(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Literal(literal) => literal.len().saturating_sub(2),
        }
    }
}

/// Appends `text` as a JSON string literal.
pub fn write_escaped(text: &str, out: &mut Vec<u8>) {
    // Names, ids and words need no escape, and are nearly all that is written.
    if string::is_plain(text.as_bytes()) {
        out.reserve(text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    // Writing to a Vec cannot fail, and a str always serialises.
    let _ = serde_json::to_writer(out, text);
}

/// Unescapes the inside of a literal that holds lone surrogates.
fn decode_lossy(inner: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        let unit = if c != '\\' {
            let mut buffer = [0; 2];
            units.extend_from_slice(c.encode_utf16(&mut buffer));
            continue;
        } else {
            match chars.next() {
                Some('n') => '\n' as u16,
                Some('t') => '\t' as u16,
                Some('r') => '\r' as u16,
                Some('b') => 8,
                Some('f') => 12,
                Some('u') => {
                    let hex: String = chars.by_ref().take(4).collect();
                    u16::from_str_radix(&hex, 16).unwrap_or(0xFFFD)
                }
                Some(other) => other as u16,
                None => break,
            }
        };
        units.push(unit);
    }
    String::from_utf16_lossy(&units)
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.decode() == other.decode()
    }
}

impl Eq for JsonText {}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonText({} bytes)", self.size())
    }
}

impl From<&str> for JsonText {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for JsonText {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.decode())
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if raw.get().starts_with('"') {
            Ok(Self::Literal(ByteString::from(raw.get())))
        } else {
            Err(D::Error::custom("expected a string"))
        }
    }
}

/// One member of a JSON object that this vocabulary has no name for. It rides along, so that what
/// a caller or a provider says beyond the known fields survives the way through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The member's name.
    pub name: ByteString,
    /// Its value.
    pub value: RawJson,
}

/// Appends `,"name":value` for each of `members`: the tail of an object that has members already.
pub fn write_members(members: &[Member], out: &mut Vec<u8>) {
    for member in members {
        out.push(b',');
        write_escaped(&member.name, out);
        out.push(b':');
        out.extend_from_slice(member.value.as_str().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_keeps_its_bytes_and_decodes_to_its_text() {
        let text = JsonText::trusted_literal(r#""a\u00e9\n\"b\" \ud83d\ude80""#.into());
        assert_eq!(text.decode(), "aé\n\"b\" 🚀");
        let mut out = Vec::new();
        text.write_literal(&mut out);
        assert_eq!(out, br#""a\u00e9\n\"b\" \ud83d\ude80""#);
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let text = JsonText::trusted_literal(r#""x\ud800y\/\t""#.into());
        assert_eq!(text.decode(), "x\u{FFFD}y/\t");
    }

    #[test]
    fn debug_shows_sizes_only() {
        let text = JsonText::plain("a secret");
        assert_eq!(format!("{text:?}"), "JsonText(8 bytes)");
        let raw = RawJson::parse("{\"secret\":1}").unwrap();
        assert_eq!(format!("{raw:?}"), "RawJson(12 bytes)");
    }
}
