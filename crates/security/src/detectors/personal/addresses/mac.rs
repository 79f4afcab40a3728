//! Addresses of network interfaces: `3c:22:fb:9a:10:4e`, `3C-22-FB-9A-10-4E`, `3c22.fb9a.104e`.

use crate::detectors::personal::classes::{self, lowest, mask};
use crate::detectors::personal::context;

/// The length of six pairs with five separators.
const LENGTH: usize = 17;

/// The place of the address whose first or second separator is at `at`.
pub(super) fn find(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let separator = *bytes.get(at)?;
    if separator == b'.' {
        return in_threes(bytes, at);
    }
    let start = at.checked_sub(2)?;
    let written: &[u8; LENGTH] = bytes.get(start..)?.first_chunk()?;
    // Times and dates have two or three separators.
    if written[14] != separator || written[11] != separator {
        return None;
    }
    let fits = written.iter().enumerate().all(|(i, byte)| match i % 3 {
        2 => *byte == separator,
        _ => byte.is_ascii_hexdigit(),
    });
    let end = start + LENGTH;
    let alone = context::starts_word(bytes, start)
        && context::ends_word(bytes, end)
        && context::byte_before(bytes, start) != separator
        && context::byte(bytes, end) != separator;
    (fits && alone && matches!(separator, b':' | b'-')).then_some((start, end))
}

/// Three groups of four digits, the first before the dot at `at`.
fn in_threes(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = at.checked_sub(4)?;
    let mut padded = [0; 16];
    let written = classes::ahead(bytes, start, &mut padded);
    const DOTS: u64 = 1 << 4 | 1 << 9;
    let (digits, letters) = (mask(written, classes::digits), mask(written, classes::hex_letters));
    let dots = mask(written, |b| classes::either(b, b'.', b'.'));
    let all = lowest(14);
    // Figures and versions have no letters.
    if dots & all != DOTS
        || (digits | letters | dots) & all != all
        || digits & all == 0
        || letters & all == 0
    {
        return None;
    }
    let end = start + 14;
    let is_dot = |byte: u8| byte == b'.';
    // A full stop may end a sentence.
    let alone = context::starts_word(bytes, start)
        && context::ends_word(bytes, end)
        // Weights by which letters are sorted: `[*038A.0020.0004]`.
        && !matches!(context::byte_before(bytes, start), b'.' | b'*')
        && !(is_dot(context::byte(bytes, end))
            && context::byte(bytes, end + 1).is_ascii_alphanumeric());
    alone.then_some((start, end))
}

/// How many bytes the header of a frame has, in pairs with separators: two addresses and a type.
const HEADER: usize = 14 * 3 - 1;

/// The two addresses in a frame's header as the firewall of Linux logs it:
/// `MAC=70:54:b4:87:f2:52:b8:27:eb:b9:d7:41:08:00`. Its first separator is at `at`.
pub(super) fn in_header(bytes: &[u8], at: usize) -> Option<[(usize, usize); 2]> {
    let start = at.checked_sub(2)?;
    if !bytes[..start].ends_with(b"MAC=") {
        return None;
    }
    let written = bytes.get(start..start + HEADER)?;
    let fits = written.iter().enumerate().all(|(i, byte)| match i % 3 {
        2 => *byte == b':',
        _ => byte.is_ascii_hexdigit(),
    });
    let second = start + LENGTH + 1;
    (fits && context::ends_word(bytes, start + HEADER))
        .then_some([(start, start + LENGTH), (second, second + LENGTH)])
}

/// Whether it is an interface's own address: no group's, no sample's, no series of numbers.
pub(super) fn is_somebodys(bytes: &[u8], start: usize, end: usize) -> bool {
    let mut octets = [0; 6];
    let digits = bytes[start..end].iter().filter_map(|byte| char::from(*byte).to_digit(16));
    for (i, digit) in digits.enumerate().take(12) {
        octets[i / 2] = octets[i / 2] * 16 + digit;
    }
    let same = octets.iter().all(|octet| *octet == octets[0]);
    let step = octets[1].wrapping_sub(octets[0]);
    let series = octets.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
    // Kept for documents (RFC 7042, 2.1.1), protocols' groups of receivers, well-known jokes.
    let documented = octets[..5] == [0, 0, 0x5E, 0, 0x53];
    let group = octets[..3] == [1, 0, 0x5E] || octets[..2] == [0x33, 0x33];
    let sample = octets[..4] == [0xDE, 0xAD, 0xBE, 0xEF] || octets[..5] == [0, 0, 0, 0, 0];
    let letters = bytes[start..end].iter().any(u8::is_ascii_alphabetic);
    let separator = bytes[start + 2];
    // Six pairs of decimal digits may also be a date and a time.
    let named = letters || separator == b':' && octets[0] > 0x23;
    !(same || series || documented || group || sample) && named
}
