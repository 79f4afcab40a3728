//! Base64 and percent encoding: read, and written again in the way in which they were written.

use memchr::memchr;
use wide::u8x16;

/// How a stretch of a text is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// Base64, in whichever of its alphabets, with or without padding.
    Base64,
    /// `%40` for `@`.
    Percent,
}

/// The bytes that `text` encodes: the standard or the URL alphabet, padded or not.
pub(crate) fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let digits = match text {
        [digits @ .., b'=', b'='] | [digits @ .., b'='] => digits,
        digits => digits,
    };
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let mut groups = digits.chunks_exact(4);
    for group in &mut groups {
        let bits = sextets(group)?;
        out.extend_from_slice(&[(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
    }
    let rest = groups.remainder();
    let bits = sextets(rest)?;
    match rest.len() {
        0 => {}
        2 => out.push((bits >> 4) as u8),
        3 => out.extend_from_slice(&[(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => return None,
    }
    Some(out)
}

/// Whether the first few bytes behind base64 are text, which those of identifiers hardly ever are.
pub(super) fn begins_as_text(digits: &[u8]) -> bool {
    let (groups, _) = digits.as_chunks::<4>();
    let mut bytes = [b' '; 9];
    for (group, bytes) in groups.iter().zip(bytes.chunks_exact_mut(3)) {
        let Some(bits) = sextets(group) else { return false };
        bytes.copy_from_slice(&bits.to_be_bytes()[1..]);
    }
    let is_binary = |byte: &u8| *byte < 0x20 && !byte.is_ascii_whitespace();
    // The last character may go on behind the ninth byte.
    let is_utf8 = std::str::from_utf8(&bytes).map_or_else(|e| e.error_len().is_none(), |_| true);
    is_utf8 && !bytes.iter().any(is_binary)
}

fn sextets(group: &[u8]) -> Option<u32> {
    let mut bits = 0;
    for byte in group {
        let sextet = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(sextet);
    }
    Some(bits)
}

/// `bytes` as base64, in the alphabet of `like` and padded as it is.
pub(super) fn to_base64(bytes: &[u8], like: &[u8]) -> String {
    const DIGITS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let (plus, slash) =
        if like.iter().any(|byte| matches!(byte, b'-' | b'_')) { ('-', '_') } else { ('+', '/') };
    let is_padded = like.len().is_multiple_of(4);
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |i: usize| group.get(i).map_or(0, |byte| u32::from(*byte));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..=group.len() {
            let sextet = bits >> (18 - 6 * digit) & 63;
            out.push(match sextet {
                62 => plus,
                63 => slash,
                other => char::from(DIGITS[other as usize]),
            });
        }
        if is_padded {
            out.extend(std::iter::repeat_n('=', 3 - group.len()));
        }
    }
    out
}

/// The text behind `encoded`, where `%xx` stands for bytes. What is no UTF-8 becomes question marks,
/// one for each byte.
pub(super) fn percent(encoded: &str) -> String {
    let mut out = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some(at) = memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        match escaped_byte(&rest[at..]) {
            Some(byte) => {
                out.push(byte);
                rest = &rest[at + 3..];
            }
            None => {
                out.push(b'%');
                rest = &rest[at + 1..];
            }
        }
    }
    out.extend_from_slice(rest);
    text_of(&out)
}

/// `bytes` as text, with a question mark for each that is no UTF-8.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    text
}

/// Where in `encoded` the bytes stand that are at `places` of the text behind it. The places are in
/// order.
pub(super) fn places_in_percent(encoded: &str, places: impl Iterator<Item = usize>) -> Vec<usize> {
    let bytes = encoded.as_bytes();
    let (mut at, mut decoded) = (0, 0);
    let find = |place: usize| {
        while decoded < place && at < bytes.len() {
            at += if escaped_byte(&bytes[at..]).is_some() { 3 } else { 1 };
            decoded += 1;
        }
        at
    };
    places.map(find).collect()
}

/// The byte that `%xx` at the beginning of `bytes` stands for.
pub(super) fn escaped_byte(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

/// The bytes behind pairs of hexadecimal digits.
pub(crate) fn hex(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    text.chunks_exact(2).map(|pair| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8)).collect()
}

/// How many bytes `text` begins with that base64 is written in, padding included.
pub(super) fn base64_run(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(step) = text.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let run = (!base64_digits(step)).trailing_zeros() as usize;
        at += run.min(16);
        if run < 16 {
            break;
        }
    }
    while text.get(at).is_some_and(|byte| is_base64_digit(*byte)) {
        at += 1;
    }
    let padding = text[at..].iter().take(2).take_while(|byte| **byte == b'=').count();
    at + padding
}

/// A place at or after `from` with at least eight digits of base64 in a row. Fifteen in a row are
/// never missed; most words of a text are shorter and cost nothing.
pub(super) fn base64_blocks(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(step) = text.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let digits = base64_digits(step);
        if digits & 0xFF == 0xFF {
            return Some(at);
        }
        if digits >> 8 & 0xFF == 0xFF {
            return Some(at + 8);
        }
        at += step.len();
    }
    let rest = text.get(at..at + 8)?;
    rest.iter().all(|byte| is_base64_digit(*byte)).then_some(at)
}

pub(super) fn is_base64_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Which of the bytes are digits of base64, a bit each.
#[inline]
fn base64_digits(step: &[u8; 16]) -> u32 {
    let bytes = u8x16::new(*step);
    let is = |byte: u8| bytes.simd_eq(u8x16::splat(byte));
    let within = |bytes: u8x16, first: u8, last: u8| {
        bytes.max(u8x16::splat(first)).simd_eq(bytes) & bytes.min(u8x16::splat(last)).simd_eq(bytes)
    };
    let lower = bytes | u8x16::splat(0x20);
    let digits = within(lower, b'a', b'z')
        | within(bytes, b'0', b'9')
        | is(b'+')
        | is(b'/')
        | is(b'-')
        | is(b'_');
    digits.to_bitmask()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zg", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Pj8+Pz4_", ">?>?>?"),
        ] {
            assert_eq!(base64(text.as_bytes()).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for text in ["Z", "Zm9vZ", "Zm 9", "Zm9v====", "=Zg="] {
            assert_eq!(base64(text.as_bytes()), None, "{text}");
        }
        assert_eq!(percent("a%40b%zz%c3%A9%"), "a@b%zzé%");
        assert_eq!(percent("%ff%E2%82a"), "???a");
        assert_eq!(hex(b"6162").as_deref(), Some(&b"ab"[..]));
        assert_eq!(hex(b"616"), None);
    }

    proptest! {
        #[test]
        fn base64_is_written_as_it_was(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let text = to_base64(&bytes, b"");
            prop_assert_eq!(base64(text.as_bytes()), Some(bytes.clone()));
            prop_assert_eq!(&to_base64(&bytes, text.as_bytes()), &text);
            let unpadded = text.trim_end_matches('=').replace('+', "-").replace('/', "_");
            prop_assert_eq!(base64(unpadded.as_bytes()), Some(bytes));
            prop_assert_eq!(base64_run(text.as_bytes()), text.len());
            prop_assert_eq!(base64_run(format!("{unpadded} abc").as_bytes()), unpadded.len());
        }

        #[test]
        fn places_in_percent_are_those_of_the_decoded_bytes(text in "[a%é@]{0,20}") {
            let encoded: String = text.bytes().map(|b| if b == b'a' { "a".to_owned() } else { format!("%{b:02x}") }).collect();
            prop_assert_eq!(&percent(&encoded), &text);
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let found = places_in_percent(&encoded, places.iter().copied());
            for (place, raw) in places.windows(2).zip(found.windows(2)) {
                let part = percent(&encoded[raw[0]..raw[1]]);
                prop_assert_eq!(&part, &text[place[0]..place[1]]);
            }
        }
    }
}
