//! IPv6 addresses among paths such as `std::fmt`, times and dumps.

use std::net::Ipv6Addr;

use crate::detectors::personal::context;

/// The longest textual form, without zone: eight groups, or six and a dotted quad.
const LONGEST: usize = 45;

/// The hexadecimal digits, colons and dots around the colon at `at`. Bounded by a little more than
/// the longest address on each side, so that what is too long is seen to be.
pub(super) fn stretch(bytes: &[u8], at: usize) -> (usize, usize) {
    let hexadecimal = |byte: &u8| byte.is_ascii_hexdigit();
    let back = &bytes[at.saturating_sub(5)..at];
    let mut start = at - back.iter().rev().take_while(|b| hexadecimal(b)).count();
    // The second colon of a leading `::`.
    if start == at && context::byte_before(bytes, at) == b':' {
        start -= 1;
    }
    let limit = bytes.len().min(at + LONGEST + 5);
    let ahead = &bytes[at..limit];
    let mut end =
        at + ahead.iter().take_while(|b| hexadecimal(b) || matches!(b, b':' | b'.')).count();
    // A sentence's full stop, a colon before what follows.
    while end > at + 1
        && (bytes[end - 1] == b'.' || bytes[end - 1] == b':' && bytes[end - 2] != b':')
    {
        end -= 1;
    }
    (start, end)
}

/// The address from `start` to `end`, if it is written and placed as one.
pub(super) fn read(text: &str, start: usize, end: usize) -> Option<Ipv6Addr> {
    let bytes = text.as_bytes();
    let written = text.get(start..end)?;
    if written.len() > LONGEST
        || !context::starts_word(bytes, start)
        || !context::ends_word(bytes, end)
    {
        return None;
    }
    let before = context::byte_before(bytes, start);
    let next = context::byte(bytes, end + 1);
    let longer = context::byte(bytes, end) == b':' && (next.is_ascii_hexdigit() || next == b':');
    if longer || matches!(before, b':' | b'.' | b'-' | b'$' | b'@' | b'%' | b'\\') {
        return None;
    }
    // Times and dumps have colons, too: most fail here.
    let (mut colons, mut compressed, mut dotted) = (0, false, false);
    let mut before = 0;
    for byte in written.bytes() {
        colons += usize::from(byte == b':');
        compressed |= byte == b':' && before == b':';
        dotted |= byte == b'.';
        before = byte;
    }
    if !compressed && colons != 7 && !dotted {
        return None;
    }
    // Eight pairs of digits are an interface's long address or a dump's bytes.
    if !compressed && written.split(':').all(|group| group.len() == 2) {
        return None;
    }
    let address: Ipv6Addr = written.parse().ok()?;
    // `a::b` is also a path. A short form must begin as addresses that are in use do.
    let first = address.segments()[0];
    let usual = (0x2000..0x4000).contains(&first) || first >= 0xFC00;
    let mapped = address.to_ipv4_mapped().is_some() && written.contains('.');
    let digits = written.bytes().any(|b| b.is_ascii_digit());
    (!compressed || usual && digits || mapped).then_some(address)
}
