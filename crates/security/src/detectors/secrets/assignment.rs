//! Values that a name gives away: `DB_PASSWORD=…`, `apiKey: "…"`, "the password is …".
//!
//! A keyword is the hint. The name around it says what may follow ([`names`]), the grammar says
//! where it stands ([`grammar`]), and the value itself decides whether it is one ([`judge`]).

use super::grammar::{self, Bare, Join, Value};
use super::joins;
use super::judge::{self, Place, Verdict};
use super::keys;
use super::lists;
use super::names::{self, Promise, Words};
use super::owners;
use super::pairs;
use super::vendors;
use crate::finding::Finding;
use crate::kind::Kind;

/// How far a name reaches on either side of its keyword.
const LONGEST_NAME: usize = 64;

/// How much longer a value may be than a secret: `Bearer ` is not part of it.
const LONGEST_SCHEME: usize = 16;

/// Where the name that goes on at `at` ends.
#[inline]
pub(super) fn end_of_name(bytes: &[u8], at: usize) -> usize {
    let ahead = bytes.get(at..).unwrap_or_default().iter().take(LONGEST_NAME);
    let end = at + ahead.take_while(|b| is_name(**b)).count();
    // `password-` and `token--` end in what is no part of a name.
    end - bytes[..end].iter().rev().take_while(|b| **b == b'-').count().min(end)
}

/// Where the name begins that holds `at`.
pub(super) fn start_of_name(bytes: &[u8], at: usize, floor: usize) -> usize {
    let floor = floor.max(at.saturating_sub(LONGEST_NAME));
    let before = bytes[floor..at].iter().rev().take_while(|b| is_name(**b)).count();
    let start = at - before;
    // The letter of an escape belongs to the escape: `"…\npassword: …"`.
    let is_escaped = start > 0
        && start < at
        && bytes[start - 1] == b'\\'
        && matches!(bytes[start], b'n' | b't' | b'r');
    start + usize::from(is_escaped)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || byte >= 0x80
}

/// Whether what stands behind a name may join it to a value: most names in code fail here.
#[inline]
pub(super) fn may_have_value(bytes: &[u8], end: usize) -> bool {
    let byte = |i: usize| bytes.get(end + i).copied().unwrap_or(0);
    match byte(0) {
        b'=' | b'"' | b'\'' | b'`' | b'\\' | b'?' | b'[' => true,
        b'!' => byte(1) == b':',
        b'.' => may_be_method(&bytes[end + 1..]),
        b'{' => matches!(byte(1), b'"' | b'\''),
        b'}' => matches!((byte(1), byte(2)), (b' ', b' ' | b'=')),
        b':' => byte(1) != b':',
        b'(' => {
            matches!(byte(1), b'"' | b'\'' | b'`' | b'\\' | b'\n' | b' ' | b'(')
                || byte(1).is_ascii_lowercase() && joins::user_of_fact(&bytes[end + 1..]) > 0
        }
        b',' => byte(1) == b' ' && matches!(byte(2), b'"' | b'\'' | b'\\' | b'<' | b'1'..=b'9'),
        b'*' => byte(1) == b'*' && byte(2) == b':' || byte(1) == b' ' && byte(2) == b'\'',
        b'<' => matches!(byte(1), b'/' | b'-'),
        b')' => byte(1) == b' ' && matches!(byte(2), b'!' | b'=' | b'|' | b'?' | b'o'),
        b'>' if matches!(byte(1), b'\n' | b'<') => bytes[end + 1..bytes.len().min(end + 64)]
            .trim_ascii_start()
            .get(..2)
            .is_some_and(|b| matches!(b, b"<v" | b"<V" | b"<s" | b"<!")),
        b'>' => !matches!(byte(1), b' ' | b'(' | b')' | b',' | b'{' | b';'),
        b']' => byte(1) == b' ' || byte(1) == b'=',
        // `@partner_auth {"user", "…"}`, `tokens {`
        b' ' if byte(1) == b'{' => {
            byte(2) == b'\n' && bytes[end - 1] == b's'
                || bytes[end..bytes.len().min(end + 20)].contains(&b'"')
        }
        b' ' | b'\t' => {
            !matches!(byte(1), b'{' | b'}' | b'/' | b')' | b'&' | b'+' | b'*' | b',' | b';' | 0)
        }
        b'-' => byte(1) == b'>',
        // `- name: DB_PASSWORD`, and `value: …` on the next line.
        b'\n' => bytes[end..bytes.len().min(end + 64)].trim_ascii_start().starts_with(b"value"),
        _ => false,
    }
}

/// `.equals("`, `.sendKeys('`: what most methods of names in code have not.
fn may_be_method(rest: &[u8]) -> bool {
    let name = rest.iter().take(14).take_while(|b| b.is_ascii_alphabetic() || **b == b'_').count();
    rest.get(name) == Some(&b'(') && matches!(rest.get(name + 1), Some(b'"' | b'\''))
}

/// Looks at the name `start..end` and pushes its value to `out`, if that is a secret. Returns how
/// many bytes were looked at.
pub(super) fn confirm(
    text: &str,
    start: usize,
    end: usize,
    bare: &mut Bare,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = text.as_bytes();
    let (start, end) = inside_boundaries(text, start, end);
    let name = &text[start..end];
    let cost = 40 + (end - start);
    let is_pair = pairs::is_of_pair(name);
    let cost = cost + if is_pair { 96 } else { 0 };
    if is_pair || bytes[..start].ends_with(b", ") {
        let words = Words::of(name);
        let mut push = |start: usize, end: usize, out: &mut Vec<Finding>| {
            let place = Place { text, start, words: &words, name };
            let quote = Some(b'"');
            let value = Value { start, end, join: Join::Call, quote, quoted_name: false };
            push_if(&place, Promise::Password, value, out);
        };
        if is_pair && pairs::each(text, end, out, &mut push) {
            return cost + 320;
        }
        if names::promise(&words, None).is_some()
            && let Some((start, end)) = pairs::unpacked(text, start, end)
        {
            push(start, end, out);
            return cost + 160;
        }
    }
    let (has_map, looked) = map(text, start, end, out);
    let cost = cost + looked;
    if has_map {
        return cost;
    }
    let Some(value) = grammar::value_of_name(bytes, end, bare) else {
        if !bytes[end..].starts_with(b":\n") {
            return cost;
        }
        let words = Words::of(name);
        let Some(promise) = names::promise(&words, None) else { return cost + 32 };
        let place = Place { text, start, words: &words, name };
        return cost + lists::in_block(&place, promise, end, out);
    };
    let length = value.end - value.start;
    if !(4..=judge::LONGEST + LONGEST_SCHEME).contains(&length) {
        return cost;
    }
    let cost = cost + length;
    let words = Words::of(name);
    // `user=sync password=…`: what stands before an assignment without blanks says nothing of it.
    let is_apart = value.join == Join::Tight && words.has_password();
    let outer = if is_apart { None } else { word_before(text, start) };
    if is_pair && let Some(value) = pairs::within(text, value) {
        let place = Place { text, start, words: &words, name };
        let is_flag = bytes[..start].ends_with(b"-") || name.starts_with('-');
        let join = match value.join {
            Join::Space if is_flag => Join::Tight,
            Join::Space => Join::Directive,
            Join::Argument => Join::Call,
            join => join,
        };
        push_if(&place, Promise::Password, Value { join, ..value }, out);
        return cost + 64;
    }
    let promised = names::promise(&words, outer).or_else(|| {
        owners::promise_of_constant(name, &words).filter(|_| value.join == Join::Tight)
    });
    let Some(mut promise) = promised else {
        return cost + 32;
    };
    if promise == Promise::Key
        && (vendors::may_have_vendor(&words)
            || keys::is_somebodys(text, start, &words, outer, &value))
    {
        promise = Promise::Secret;
    }
    if promise == Promise::Key && keys::is_in_section(text, start, &words, &value) {
        promise = Promise::Secret;
    }
    let place = Place { text, start, words: &words, name };
    let known = out.len();
    if let Some(pieces) = lists::pieces(text, value)
        && judge::judge(&place, promise, &value, &pieces.joined) == Verdict::Secret
    {
        let kind = if promise == Promise::Password { Kind::Password } else { Kind::Secret };
        let found = |(start, end)| Finding { start, end, kind, rule: "assignment" };
        let whole = pieces.ranges.into_iter().filter(|(start, end)| end - start > 2);
        out.extend(whole.map(found));
        return cost + 320;
    }
    let verdict = push_if(&place, promise, value, out);
    let mut cost = cost;
    // A list whose first value is none is one of rules or words.
    if verdict == Verdict::Secret {
        cost += lists::in_brackets(&place, promise, (end, value), out);
        cost += lists::behind(&place, promise, value, out);
    }
    match verdict {
        Verdict::Secret if known + 1 == out.len() => cost.min(320) + 160,
        Verdict::Secret | Verdict::Shapeless => cost + 40,
        Verdict::Denied => cost + 2 * length + 400,
    }
}

/// The values of a map behind the name `start..end`, if it is one of many secrets: whether it has any,
/// and how many bytes were looked at.
fn map(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> (bool, usize) {
    let bytes = text.as_bytes();
    let opens = |b: &u8| *b == b'{';
    let head = &bytes[end..bytes.len().min(end + 8)];
    if !matches!(bytes[end - 1] | 0x20, b's' | b'h') || !head.iter().any(opens) {
        return (false, 0);
    }
    let name = &text[start..end];
    let words = Words::of(name);
    let Some(promise) = names::promise(&words, None) else { return (false, 64) };
    let place = Place { text, start, words: &words, name };
    let known = out.len();
    let looked = lists::in_map(&place, promise, end, out);
    (out.len() > known, 64 + looked)
}

pub(super) fn push_if(
    place: &Place<'_>,
    promise: Promise,
    value: Value,
    out: &mut Vec<Finding>,
) -> Verdict {
    let Some(mut value) = without_scheme(place.text, value) else { return Verdict::Shapeless };
    // `"\"…\""`: quotes inside quotes.
    if value.quote.is_some()
        && let Some(inner) = place
            .text
            .get(value.start..value.end)
            .and_then(|written| written.strip_prefix("\\\"")?.strip_suffix("\\\""))
    {
        value.start += 2;
        value.end = value.start + inner.len();
    }
    let Some(written) = place.text.get(value.start..value.end) else { return Verdict::Shapeless };
    let verdict = judge::judge(place, promise, &value, written);
    if verdict != Verdict::Secret {
        return verdict;
    }
    let kind = if promise == Promise::Password { Kind::Password } else { Kind::Secret };
    out.push(Finding { start: value.start, end: value.end, kind, rule: "assignment" });
    verdict
}

fn inside_boundaries(text: &str, start: usize, end: usize) -> (usize, usize) {
    (text.ceil_char_boundary(start), text.floor_char_boundary(end).max(start))
}

/// The word before a name in prose or in a path: `api` of "api key" and `acme.api.key`.
fn word_before(text: &str, start: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    let end = start.checked_sub(1)?;
    // `checksum/secret` of what Helm writes.
    let is_digest = bytes[..start].ends_with(b"checksum/");
    if !matches!(bytes[end], b' ' | b'.') && !is_digest {
        return None;
    }
    let before = bytes[..end].iter().rev().take(16).take_while(|b| b.is_ascii_alphanumeric());
    let len = before.count();
    (len > 0).then(|| &text[end - len..end])
}

/// The value behind `Bearer `, `Basic ` and the like.
fn without_scheme(text: &str, mut value: Value) -> Option<Value> {
    const SCHEMES: &[&str] = &[
        "bearer",
        "basic",
        "token",
        "apikey",
        "api-key",
        "key",
        "bot",
        "digest",
        "splunk",
        "sso-key",
        "genie-key",
        "geniekey",
        "oauth",
        "client-id",
        "ssws",
        "zoho-oauthtoken",
        "deepl-auth-key",
        "klaviyo-api-key",
    ];
    let bytes = text.as_bytes();
    // Spring names the encoding before the password, OpenSSL where it comes from.
    for before in [&b"{noop}"[..], b"pass:"] {
        if bytes[value.start..].starts_with(before) {
            value.start = value.end.min(value.start + before.len());
        }
    }
    let stretch = &bytes[value.start..value.end.min(value.start + 16)];
    let word = stretch.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'-').count();
    let is_scheme =
        SCHEMES.iter().any(|scheme| stretch[..word].eq_ignore_ascii_case(scheme.as_bytes()));
    if !is_scheme || bytes.get(value.start + word) != Some(&b' ') {
        return Some(value);
    }
    value.start += word + 1;
    while bytes.get(value.start) == Some(&b' ') {
        value.start += 1;
    }
    if value.quote.is_none() {
        value.end = Bare::default().end(bytes, value.start, Join::Space);
    }
    (value.start < value.end).then_some(value)
}

/// The same for a word of another language. Where words are set apart, a sign must join it to its
/// value: sentences are read elsewhere.
pub(super) fn confirm_foreign(
    text: &str,
    start: usize,
    end: usize,
    out: &mut Vec<Finding>,
) -> usize {
    let is_set_apart = text[start..end].starts_with(|c: char| c < '\u{2000}');
    let behind = text[end..].trim_start_matches([' ', '*']);
    if is_set_apart && !behind.starts_with([':', '=', '"', '\'', '`']) {
        return 16;
    }
    let Some(value) = grammar::value_of_foreign_name(text.as_bytes(), end) else { return 32 };
    let words = Words::of("password");
    let place = Place { text, start, words: &words, name: "password" };
    push_if(&place, Promise::Password, value, out);
    256
}

/// `IDENTIFIED BY 'password'`: what stands at `at`.
pub(super) fn identified_by(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let (start, end, quote) = match grammar::quoted(bytes, at) {
        Some((start, end, _)) => (start, end, Some(b'\'')),
        None => (at, Bare::default().end(bytes, at, Join::Space), None),
    };
    let words = Words::of("PASSWORD");
    let place = Place { text, start: at, words: &words, name: "IDENTIFIED" };
    let value = Value { start, end, join: Join::Space, quote, quoted_name: false };
    push_if(&place, Promise::Password, value, out);
    end
}
