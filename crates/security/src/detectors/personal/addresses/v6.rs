//! IPv6 addresses among paths such as `std::fmt`, times and dumps.

use std::net::Ipv6Addr;

use crate::detectors::personal::classes::{self, lowest, mask};
use crate::detectors::personal::context;

/// The longest textual form, without zone: eight groups, or six and a dotted quad.
const LONGEST: usize = 45;

/// The hexadecimal digits, colons and dots around a colon.
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
    colons: u32,
    /// Whether two colons stand side by side.
    compressed: bool,
    /// Whether there is a dot.
    dotted: bool,
}

impl Stretch {
    /// The stretch around the colon at `at`. Bounded by a little more than the longest address on each
    /// side, so that what is too long is seen to be.
    pub(super) fn around(bytes: &[u8], at: usize) -> Self {
        const BACK: u32 = 5;
        let hexadecimal = |b| classes::digits(b) | classes::hex_letters(b);
        let (mut padded, mut padded_before) = ([0; 64], [0; 16]);
        let before = mask(classes::before(bytes, at, &mut padded_before), hexadecimal);
        let mut start = at - (before << 48).leading_ones().min(BACK) as usize;
        // The second colon of a leading `::`.
        let is_second = start == at && context::byte_before(bytes, at) == b':';
        start -= usize::from(is_second);
        let ahead = classes::ahead(bytes, at, &mut padded);
        let colons = mask(ahead, |b| classes::either(b, b':', b':'));
        let dots = mask(ahead, |b| classes::either(b, b'.', b'.'));
        let all = (mask(ahead, hexadecimal) | colons | dots) & lowest(LONGEST + 5);
        let mut length = all.trailing_ones() as usize;
        // A sentence's full stop, a colon before what follows.
        let has = |mask: u64, i: usize| mask >> i & 1 != 0;
        while length > 1
            && (has(dots, length - 1) || has(colons, length - 1) && !has(colons, length - 2))
        {
            length -= 1;
        }
        let (colons, dots) = (colons & lowest(length), dots & lowest(length));
        Self {
            start,
            end: at + length,
            colons: colons.count_ones() + u32::from(is_second),
            compressed: colons & colons >> 1 != 0 || is_second,
            dotted: dots != 0,
        }
    }
}

/// The address that the stretch is, if it is written and placed as one.
pub(super) fn read(text: &str, stretch: &Stretch) -> Option<Ipv6Addr> {
    let Stretch { start, end, colons, compressed, dotted } = *stretch;
    // Times and dumps have colons, too: most fail here.
    if !compressed && colons != 7 && !dotted {
        return None;
    }
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
