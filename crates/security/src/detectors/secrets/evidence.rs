//! What adds to the evidence that a value is a secret: that it is alone on its line, the call around
//! it, how its bytes follow each other.

use super::grammar::{Join, Value};
use super::judge::Place;
use super::value::Shape;

/// `{password, "…"}`, `-define(PASSWORD, "…")`: a pair of Erlang, whose names have no quotes.
pub(super) fn is_member(place: &Place<'_>) -> bool {
    let before = &place.text[..place.start];
    before.ends_with('{') || before.ends_with("define(") || {
        // `strcpy(settings->password, "…")`
        const COPIES: [&str; 8] =
            ["strcpy", "strncpy", "strlcpy", "strcmp", "strncmp", "snprintf", "sprintf", "assign"];
        let path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '>' | '-');
        let call = before.trim_end_matches(path).strip_suffix('(');
        call.is_some_and(|call| COPIES.iter().any(|copy| call.ends_with(copy)))
    }
}

/// Bytes that are listed one by one and were made by chance, not counted up.
pub(super) fn is_drawn_one_by_one(written: &str) -> bool {
    let digits = written.split("0x").skip(1).map(|part| {
        let end = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        u8::from_str_radix(&part[..end], 16).unwrap_or(0)
    });
    let (mut seen, mut count, mut steps, mut before) = ([0_u64; 4], 0, 0, None::<u8>);
    for byte in digits {
        seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
        count += 1;
        steps +=
            usize::from(before.is_some_and(|b| b.abs_diff(byte) <= 1 || b.abs_diff(byte) == 0x11));
        before = Some(byte);
    }
    let distinct: u32 = seen.iter().map(|bits| bits.count_ones()).sum();
    matches!(count, 16 | 20 | 24 | 32 | 48 | 64)
        && distinct as usize * 3 > count * 2
        && steps * 4 < count
}

/// `auth_pass ZMEGiOVx`: nothing else on the line, and letters of both kinds or with digits between.
pub(super) fn is_own_line(place: &Place<'_>, value: &Value, written: &str, shape: &Shape) -> bool {
    let name = place.words.backwards();
    let inner = &written.as_bytes()[1..];
    let has_capitals =
        inner.iter().any(u8::is_ascii_uppercase) && shape.lower > 0 && shape.wordiness < 5.5;
    let has_digits = shape.digits > 0
        && shape.alternations > 1
        && shape.letters() > 2
        && shape.joints + shape.specials == 0;
    value.quote.is_none()
        && (6..=64).contains(&shape.len)
        && (name.len() > 1 || place.words.has_password())
        && (has_capitals || has_digits)
        && shape.joints < 2
        && is_line(place, value)
}

/// `Auckland_riv3r`: a digit in the place of a letter, in a line of configuration.
pub(super) fn is_spelled_otherwise(place: &Place<'_>, value: &Value, written: &str) -> bool {
    let is_letter = |three: &[u8]| {
        three[0].is_ascii_lowercase() && three[1].is_ascii_digit() && three[2].is_ascii_lowercase()
    };
    let bytes = written.as_bytes();
    bytes.len() > 9
        && bytes.iter().any(u8::is_ascii_uppercase)
        && bytes.windows(3).any(is_letter)
        && is_line(place, value)
}

/// How many letters of other alphabets there are, in what is set to a name: other scripts have no words
/// that blanks set apart.
pub(super) fn letters_beyond_ascii(value: &Value, written: &str, shape: &Shape) -> usize {
    let is_set =
        matches!(value.join, Join::Tight | Join::Spaced | Join::Colon) || value.quote.is_some();
    let is_alphabet = || written.chars().all(|c| c < '\u{590}');
    if shape.beyond_ascii > 0 && is_set && is_alphabet() { shape.beyond_ascii } else { 0 }
}

/// Whether the name begins its line and the value ends it.
pub(super) fn is_line(place: &Place<'_>, value: &Value) -> bool {
    const INDENT: usize = 32;
    let bytes = place.text.as_bytes();
    let before = &bytes[place.start.saturating_sub(INDENT)..place.start];
    let indent = before.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
    before.len().checked_sub(indent + 1).is_none_or(|i| before[i] == b'\n')
        && matches!(bytes.get(value.end), None | Some(b'\n' | b'\r'))
}

/// `000102030405…`: what test vectors have for keys.
pub(super) fn counts_up(hex: &[u8]) -> bool {
    let digits =
        |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|s| u8::from_str_radix(s, 16).ok());
    let mut bytes = hex.chunks(2).filter_map(digits);
    let Some(mut before) = bytes.next() else { return true };
    let mut steps = 0;
    for byte in bytes {
        steps += usize::from(byte.abs_diff(before) <= 1 || byte.abs_diff(before) == 0x11);
        before = byte;
    }
    steps * 4 > hex.len()
}

/// Whether it is what a program is made of: a call, a macro without quotes, a constant among
/// constants, a feature of a package, a point in time.
pub(super) fn is_of_program(place: &Place<'_>, value: &Value, written: &str) -> bool {
    let bytes = written.as_bytes();
    if value.quote.is_none() {
        // A macro's name is short, and stands near.
        const REACH: usize = 64;
        let before = &place.text.as_bytes()[place.start.saturating_sub(REACH)..place.start];
        let line = &before[memchr::memrchr(b'\n', before).map_or(0, |i| i + 1)..];
        let name = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let is_call = name > 2
            && bytes.get(name) == Some(&b'(')
            && bytes[0].is_ascii_lowercase()
            && bytes[name + 1..].iter().take_while(|b| b.is_ascii_lowercase()).count() > 1
            && bytes[..name]
                .windows(2)
                .any(|b| b[0].is_ascii_lowercase() && b[1].is_ascii_uppercase());
        return is_call || line.trim_ascii_start().starts_with(b"#define ");
    }
    let is_constant = |text: &str| {
        text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    if value.join == Join::Argument
        && is_constant(place.name)
        && is_constant(written)
        && !Shape::of(written).is_random()
    {
        return true;
    }
    // `dep:base64`, `regex-automata/dfa-onepass`
    let is_feature = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'_')
    };
    if place.text[..value.start].ends_with("[\"")
        && (written.starts_with("dep:")
            || written.split_once('/').is_some_and(|(one, two)| is_feature(one) && is_feature(two)))
    {
        return true;
    }
    matches!(bytes, [y, _, _, _, b'-', m, _, b'-', d, _, b'T', h, _, b':', ..]
        if [y, m, d, h].iter().all(|b| b.is_ascii_digit()))
}
