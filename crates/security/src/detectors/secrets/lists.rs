//! Several values under one name: `tokens = ["…", "…"]`, and the lines of a block in YAML.

use super::assignment::push_if;
use super::grammar::{self, Join, Value};
use super::judge::Place;
use super::names::Promise;
use super::value::Shape;
use crate::finding::Finding;

/// How many values are read, and how far from one to the next.
const MOST: usize = 64;
const LINE: usize = 320;

/// The strings that follow `first` in the brackets that were opened before it. Returns how many
/// bytes were looked at.
pub(super) fn in_brackets(
    place: &Place<'_>,
    promise: Promise,
    (name_end, first): (usize, Value),
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = place.text.as_bytes();
    let opened = &bytes[name_end..first.start];
    if first.quote.is_none() || !opened.trim_ascii_end().ends_with(b"[") && !opened.contains(&b'[')
    {
        return 0;
    }
    // Behind the closing quote, which may have a backslash before it.
    let mut at = first.end + 1 + usize::from(bytes.get(first.end) == Some(&b'\\'));
    for _ in 0..MOST {
        let skipped = |b: &u8| b.is_ascii_whitespace() || *b == b',';
        let gap = bytes
            .get(at..)
            .map_or(0, |rest| rest.iter().take(64).take_while(|b| skipped(b)).count());
        if !bytes.get(at..at + gap).is_some_and(|gap| gap.contains(&b',')) {
            break;
        }
        let Some((start, end, behind)) = grammar::quoted(bytes, at + gap) else { break };
        push_if(place, promise, Value { start, end, ..first }, out);
        at = behind;
    }
    at - first.end
}

/// A second secret that only its place behind the first tells: the new value in a plan
/// (`"…" -> "…"`), the key of a user of SNMP (`auth sha … priv aes 128 …`).
pub(super) fn behind(
    place: &Place<'_>,
    promise: Promise,
    first: Value,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = place.text.as_bytes();
    let at = first.end + usize::from(first.quote.is_some());
    let rest = bytes.get(at..).unwrap_or_default();
    if first.quote.is_some() && rest.starts_with(b" -> ") {
        if let Some((start, end, _)) = grammar::quoted(bytes, at + 4) {
            push_if(place, promise, Value { start, end, ..first }, out);
        }
    } else if let Some(key) = rest.strip_prefix(b" priv ") {
        let forms = key.iter().take(16).take_while(|b| b.is_ascii_alphanumeric()).count() + 1;
        let bits = [&b"128 "[..], b"192 ", b"256 "];
        let has_bits =
            key.get(forms..).is_some_and(|key| bits.iter().any(|bits| key.starts_with(bits)));
        let start = at + 6 + forms + if has_bits { 4 } else { 0 };
        let length = bytes
            .get(start..)
            .map_or(0, |rest| rest.iter().take(LINE).take_while(|b| b.is_ascii_graphic()).count());
        if length > 0 {
            push_if(place, promise, Value { start, end: start + length, ..first }, out);
        }
    }
    64
}

/// The lines below `name:` that are indented further: `- value`, `1: value`. Returns how many bytes
/// were looked at.
pub(super) fn in_block(
    place: &Place<'_>,
    promise: Promise,
    end: usize,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = place.text.as_bytes();
    let Some(rest) = bytes.get(end..).and_then(|rest| rest.strip_prefix(b":\n")) else { return 0 };
    let line = memchr::memrchr(b'\n', &bytes[place.start.saturating_sub(64)..place.start]);
    if line.is_none() && place.start > 64 {
        return 64;
    }
    let line = line.map_or(0, |i| place.start.saturating_sub(64) + i + 1);
    let indent = bytes[line..].iter().take_while(|b| matches!(b, b' ' | b'-')).count();
    let mut at = bytes.len() - rest.len();
    for _ in 0..MOST {
        let stretch = &bytes[at.min(bytes.len())..bytes.len().min(at + LINE)];
        let length = memchr::memchr(b'\n', stretch).unwrap_or(stretch.len());
        let content = &stretch[..length];
        let blanks = content.iter().take_while(|b| **b == b' ').count();
        let is_item = content[blanks..].starts_with(b"- ");
        if blanks < indent || blanks == indent && !is_item {
            break;
        }
        let label = content[blanks..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        let is_member = label > 0 && label < 8 && content[blanks + label..].starts_with(b": ");
        let skip = if is_item {
            2
        } else if is_member {
            label + 2
        } else {
            break;
        };
        let (mut from, mut to) = (at + blanks + skip, at + content.trim_ascii_end().len());
        let quoted =
            to > from + 1 && matches!(bytes[from], b'"' | b'\'') && bytes[to - 1] == bytes[from];
        if quoted {
            (from, to) = (from + 1, to - 1);
        }
        let Some(written) = place.text.get(from..to) else { break };
        // Members of a map of keys are other names' values as often as not.
        if promise == Promise::Password && is_item || is_material(written) {
            let promise = if promise == Promise::Key { Promise::Secret } else { promise };
            let quote = quoted.then_some(b'"');
            let value =
                Value { start: from, end: to, join: Join::Colon, quote, quoted_name: false };
            push_if(place, promise, value, out);
        }
        at += length + 1;
    }
    at - end
}

/// Whether it is 28 bytes or more of base64 that chance made.
fn is_material(written: &str) -> bool {
    let shape = Shape::of(written);
    let is_base64 = shape.upper > 0 && shape.lower > 0 && shape.digits > 0;
    shape.len >= 28
        && shape.is_random()
        && is_base64
        && shape.joints == 0
        && !written.starts_with("AAAA")
        && !written.starts_with("MII")
}
