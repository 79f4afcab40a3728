//! Several values under one name: `tokens = ["…", "…"]`, and the lines of a block in YAML.

use super::assignment::push_if;
use super::grammar::{self, Join, Value};
use super::judge::Place;
use super::names::Promise;
use super::owners;
use super::value::{self, Shape};
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
    let is_list = || {
        let calls = [&b"Of("[..], b".of(", b"list(", b"Array(", b"asList(", b"set("];
        opened.contains(&b'[')
            || calls.iter().any(|call| memchr::memmem::find(opened, call).is_some())
    };
    if first.quote.is_none() || !is_list() {
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

/// Pieces of one string: `"…" + "…"`, `'…' . '…'`, `"…" "…"`.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) joined: String,
    pub(super) ranges: Vec<(usize, usize)>,
}

/// The pieces that follow `first`, together with it, if there are any.
pub(super) fn pieces(text: &str, first: Value) -> Option<Pieces> {
    const MOST_PIECES: usize = 8;
    const SIGNS: [&[u8]; 6] = [b"+", b"..", b".", b"&", b"<>", b"++"];
    let bytes = text.as_bytes();
    let quote = first.quote.filter(|quote| matches!(quote, b'"' | b'\''))?;
    if bytes.get(first.end) != Some(&quote) || matches!(first.join, Join::Space | Join::Prose) {
        return None;
    }
    let mut at = first.end + 1;
    let mut pieces = Pieces {
        joined: text.get(first.start..first.end)?.to_owned(),
        ranges: vec![(first.start, first.end)],
    };
    while pieces.ranges.len() < MOST_PIECES {
        let from = at;
        let skip = |at: usize| {
            let rest = bytes.get(at..).unwrap_or_default();
            at + rest.iter().take(64).take_while(|b| b.is_ascii_whitespace()).count()
        };
        at = skip(at);
        let rest = bytes.get(at..).unwrap_or_default();
        let signed = at;
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign)) {
            at = skip(at + sign.len());
        } else if rest.starts_with(b"\\\n") {
            at = skip(at + 2);
        }
        let has_sign = at > signed;
        // A shell's words stand one behind the other: `DB_PASSWORD="…" "registry/app"`.
        let may_join = has_sign || at > from && first.join != Join::Tight;
        if !may_join || bytes.get(at) != Some(&quote) {
            break;
        }
        let Some((start, end, behind)) = grammar::quoted(bytes, at) else { break };
        // `"password": "…"` and, on the next line without a comma, `"region": …`: a name is no piece.
        let is_name = bytes.get(skip(behind)).is_some_and(|b| matches!(b, b':' | b'='));
        if is_name && !has_sign {
            break;
        }
        pieces.joined.push_str(text.get(start..end)?);
        pieces.ranges.push((start, end));
        at = behind;
    }
    (pieces.ranges.len() > 1).then_some(pieces)
}

/// The values of a map below a name of many: `"tokens": { "agent": "…" }`, `tokens { agent = "…" }`.
/// Returns how many bytes were looked at.
pub(super) fn in_map(
    place: &Place<'_>,
    promise: Promise,
    end: usize,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = place.text.as_bytes();
    let last = place.words.backwards().first().copied().unwrap_or("");
    let is_many = ["tokens", "secrets", "passwords", "passwds", "credentials", "creds", "auth"]
        .iter()
        .any(|many| many.eq_ignore_ascii_case(last));
    let stretch = &bytes[end..bytes.len().min(end + LINE)];
    let opener = stretch.iter().take(12).position(|b| !b"\"'\\ :=>".contains(b));
    let Some(open) = opener.filter(|i| is_many && stretch[*i] == b'{') else { return 0 };
    let mut at = end + open + 1;
    let is_gap = |b: &u8| b.is_ascii_whitespace() || *b == b',';
    let is_auth =
        last.eq_ignore_ascii_case("auth") || last.to_ascii_lowercase().starts_with("cred");
    let promise = if is_auth { Promise::Password } else { promise };
    for _ in 0..MOST {
        let rest = bytes.get(at..).unwrap_or_default();
        at += rest.iter().take(64).take_while(|b| is_gap(b)).count();
        let behind = match grammar::quoted(bytes, at) {
            Some((_, _, behind)) => behind,
            None => {
                let rest = bytes.get(at..).unwrap_or_default();
                let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
                at + rest.iter().take(64).take_while(|b| is_name(b)).count()
            }
        };
        let rest = bytes.get(behind..).unwrap_or_default();
        let joint = rest.iter().take(8).take_while(|b| b" \t:=>".contains(b)).count();
        if behind == at || !rest[..joint].iter().any(|b| matches!(b, b':' | b'=')) {
            break;
        }
        let Some((start, to, next)) = grammar::quoted(bytes, behind + joint) else { break };
        let written = place.text.get(start..to).unwrap_or_default();
        let shape = Shape::of(written);
        let has_own_name = owners::is_harmless(place.text.get(at..behind).unwrap_or_default());
        if !has_own_name
            && (shape.is_random()
                || value::is_uuid(written)
                || shape.specials > 0 && shape.digits > 0
                || promise == Promise::Password && shape.digits > 1 && shape.alternations > 1)
        {
            let value =
                Value { start, end: to, join: Join::Colon, quote: Some(b'"'), quoted_name: true };
            push_if(place, promise, value, out);
        }
        at = next;
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
