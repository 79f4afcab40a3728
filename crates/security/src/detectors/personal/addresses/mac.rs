//! Addresses of network interfaces: `3c:22:fb:9a:10:4e`, `3C-22-FB-9A-10-4E`.

use crate::detectors::personal::context;

/// The length of six pairs with five separators.
const LENGTH: usize = 17;

/// The place of the address whose first or second separator is at `at`.
pub(super) fn find(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let separator = *bytes.get(at)?;
    let start = at.checked_sub(2)?;
    let written = bytes.get(start..start + LENGTH)?;
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

/// Whether it is an interface's own address: no group's, no sample's, no series of numbers.
pub(super) fn is_somebodys(bytes: &[u8], start: usize, end: usize) -> bool {
    let mut octets = [0; 6];
    for (octet, pair) in octets.iter_mut().zip(bytes[start..end].chunks(3)) {
        let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0);
        *octet = digit(pair[0]) * 16 + digit(pair[1]);
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
