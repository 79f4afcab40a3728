//! Whether a value is a piece of code: a call, a path of names, a type, a part of an expression. Where
//! it is one, the secret is elsewhere.

use super::grammar::{Join, Value};
use super::value::Shape;

/// `get_password()`, `args.password`, `tokens[0]`, `a + b`, `x?.y`, `&str`, `List<String>`.
pub(super) fn looks_like_code(written: &str, shape: &Shape) -> bool {
    let bytes = written.as_bytes();
    let name = bytes
        .iter()
        .take_while(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'$' | b'-' | b'>' | b'?')
        })
        .count();
    let behind = bytes.get(name);
    // `268435456u32`
    let unsigned = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let digits = unsigned.iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    if digits > 0
        && matches!(
            &unsigned[digits..],
            b"u8" | b"u16" | b"u32" | b"u64" | b"i32" | b"i64" | b"usize" | b"UL" | b"ULL" | b"L"
        )
    {
        return true;
    }
    let starts_as_name = bytes.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    let call = starts_as_name
        && name > 1
        && match behind {
            Some(b'(') => {
                bytes[name..].contains(&b'|')
                    || bytes[name..].ends_with(b")")
                    || bytes.last() == Some(&b'(')
            }
            Some(b'[') => {
                bytes.last() == Some(&b']') || bytes.contains(&b'"') || bytes.contains(&b'\'')
            }
            _ => false,
        };
    let is_pair = |pair: &[u8]| matches!(pair, b"()" | b"=>" | b"::" | b"?.");
    if call || is_closed_name(bytes) || has_signs(shape) && bytes.windows(2).any(is_pair) {
        return true;
    }
    if matches!(
        bytes.first(),
        Some(b'(' | b'[' | b'{' | b'&' | b'*' | b'!' | b'|' | b',' | b'=' | b'#' | b')')
    ) && shape.digits == 0
    {
        return true;
    }
    if matches!(bytes.first(), Some(b'(' | b'[' | b'{' | b'^' | b'\\')) {
        return true;
    }
    // `config.password`, `this.token`: a path of names without a digit.
    starts_as_name
        && name == bytes.len()
        && bytes.contains(&b'.')
        && !bytes.iter().any(u8::is_ascii_digit)
}

/// `String):`, `Token>`, `T[],`: a type or variable and what closes around it.
fn is_closed_name(bytes: &[u8]) -> bool {
    let name = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let rest = &bytes[name..];
    name > 0
        && !bytes[..name].iter().any(u8::is_ascii_digit)
        && matches!(rest.first(), Some(b')' | b'>' | b']' | b'['))
        && rest.iter().all(|b| b")>]}[:;,?".contains(b))
}

/// Whether a value may have signs other than `_`, `-` and `.`.
pub(super) fn has_signs(shape: &Shape) -> bool {
    shape.specials > 0 || shape.is_cut()
}

/// `!0,`, `:py:data:`, `/^[a-z]+$/`
pub(super) fn begins_like_code(written: &str) -> bool {
    [":", "!0", "!1", "/^", "/[", "/\\"].iter().any(|sign| written.starts_with(sign))
}

/// `hashlib.sha256(b` of `hashlib.sha256(b"x")`: a call that the first quote cut off.
pub(super) fn ends_in_call(text: &str, value: &Value, written: &str) -> bool {
    let behind = text.as_bytes().get(value.end);
    // `$self->is_passing`
    if behind == Some(&b'>') && written.ends_with('-') {
        return true;
    }
    matches!(behind, Some(b'"' | b'\'' | b'`')) && written.contains(['(', '['])
}

/// Whether what stands behind a value without quotes is code: `= value;`, `= value)`, `= a + b`.
pub(super) fn ends_like_code(text: &str, value: &Value) -> bool {
    let rest = &text.as_bytes()[value.end..];
    match value.join {
        Join::Spaced => match rest {
            [b';' | b')' | b',' | b']' | b'}', ..] => true,
            [b' ', next, ..] => {
                matches!(next, b'+' | b'?' | b'|' | b'&' | b'=' | b'-' | b'*' | b'{')
                    || rest.starts_with(b" if ")
                    || rest.starts_with(b" or ")
                    || rest.starts_with(b" and ")
                    || rest.starts_with(b" as ")
                    || rest.starts_with(b" for ")
            }
            _ => false,
        },
        // A log has a comma there as well; it has no names of variables before it.
        Join::Tight => match rest {
            [b',', b' ', ..] => {
                let shape = Shape::of(&text[value.start..value.end]);
                !(shape.classes() > 2 || shape.alternations > 2) || shape.digits < 2
            }
            _ => matches!(rest, [b')' | b',' | b']', ..]),
        },
        Join::Colon => matches!(rest, [b',' | b')' | b'}', ..]),
        _ => false,
    }
}
