//! IPv4 addresses among version numbers, section numbers and object identifiers.

use std::net::Ipv4Addr;

use wide::u8x16;

use crate::detectors::personal::context::{self, NETWORK, VERSION, byte, byte_before};

/// How far before an address a word may stand that says what it is.
const REACH: usize = 28;
/// Versions and sections rarely have a number above this, four numbers of an address hardly ever
/// are all below it.
const SMALL: u8 = 40;

/// Four numbers of up to three digits with dots between them.
pub(in crate::detectors::personal) struct Quad {
    end: usize,
    address: Option<Ipv4Addr>,
}

/// How four numbers with dots between them are written.
pub(in crate::detectors::personal) struct Written {
    /// Where they end.
    pub(in crate::detectors::personal) end: usize,
    /// Whether the two in the middle have three digits each.
    pub(in crate::detectors::personal) is_wide: bool,
    /// Whether one behind the first has a single digit.
    pub(in crate::detectors::personal) has_lone_digit: bool,
}

/// The least number of so many digits that is written without a 0 before it.
const LEAST: [u32; 4] = [0, 0, 10, 100];

impl Quad {
    /// How those are written that begin at `at`.
    #[inline]
    pub(in crate::detectors::personal) fn written(bytes: &[u8], at: usize) -> Option<Written> {
        let (dots, length) = Self::dots(bytes.get(at..)?.first_chunk()?)?;
        let ends = dots | 1 << length;
        Some(Written {
            end: at + length,
            is_wide: dots & dots >> 4 & dots >> 8 != 0,
            has_lone_digit: dots & ends >> 2 != 0,
        })
    }

    /// A bit for each dot, and the length, where sixteen bytes begin with four numbers of up to three
    /// digits, and neither a digit nor a dot follows them.
    #[inline]
    fn dots(written: &[u8; 16]) -> Option<(u32, usize)> {
        let dots = u8x16::new(*written).simd_eq(u8x16::splat(b'.')).to_bitmask();
        let above = u8x16::new(*written) - u8x16::splat(b'0');
        let digits = above.min(u8x16::splat(9)).simd_eq(above).to_bitmask();
        let length = (dots | digits).trailing_ones() as usize;
        let dots = dots & ((1 << length) - 1);
        let digits = digits & ((1 << length) - 1);
        // Between digits, no two side by side, and no more than three digits.
        let is_uneven = dots & !(digits << 1 & digits >> 1);
        let is_long = digits & digits >> 1 & digits >> 2 & digits >> 3;
        let fits = length < written.len() && dots.count_ones() == 3 && is_uneven | is_long == 0;
        fits.then_some((dots, length))
    }

    /// Those at `at`.
    #[inline]
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        let written: &[u8; 16] = bytes.get(at..)?.first_chunk()?;
        let (dots, length) = Self::dots(written)?;
        let digits = u128::from_le_bytes(*written);
        let mut octets = [0; 4];
        let (mut is_address, mut from, mut rest) = (true, 0, dots | 1 << length);
        for octet in &mut octets {
            let to = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            // Its last digit in the highest byte. No branches: how long numbers are cannot be foretold.
            let [_, hundreds, tens, ones] = ((digits >> (8 * from)) as u32 & 0x0f0f_0f0f)
                .unbounded_shl(8 * (from + 4 - to))
                .to_le_bytes();
            let number = u32::from(hundreds) * 100 + u32::from(tens) * 10 + u32::from(ones);
            is_address &= (number <= 255) & (number >= LEAST[(to - from) as usize & 3]);
            *octet = number as u8;
            from = to + 1;
        }
        let address = is_address.then(|| Ipv4Addr::from(octets));
        Some(Self { end: at + length, address })
    }
}

/// The end of the dotted numbers at `at`, and the address that they are.
pub(super) fn read(bytes: &[u8], at: usize) -> (usize, Option<Ipv4Addr>) {
    if let Some(quad) = Quad::read(bytes, at) {
        return (quad.end, quad.address);
    }
    let mut octets = [0; 4];
    let mut valid = true;
    let mut count = 0;
    let mut end = at;
    loop {
        let digits = bytes[end..].iter().take(5).take_while(|b| b.is_ascii_digit()).count();
        let text = &bytes[end..end + digits];
        let value = text.iter().take(3).fold(0_u32, |n, d| n * 10 + u32::from(d - b'0'));
        valid &= (1..=3).contains(&digits) && value <= 255 && (digits == 1 || text[0] != b'0');
        if let Some(octet) = octets.get_mut(count) {
            *octet = u8::try_from(value).unwrap_or(0);
        }
        count += 1;
        end += digits;
        let more = byte(bytes, end) == b'.' && byte(bytes, end + 1).is_ascii_digit();
        // More than four numbers: an object identifier. Its length is bounded to be read once.
        if !more || count == 16 || digits == 0 {
            break;
        }
        end += 1;
    }
    let address = (valid && count == 4).then(|| Ipv4Addr::from(octets));
    (end, address)
}

/// Whether the numbers from `start` to `end` have nothing beside them that would tell them from a
/// version, which is what costs least to see. `listed` says that an address stands directly before.
pub(super) fn is_version(
    bytes: &[u8],
    start: usize,
    end: usize,
    address: Ipv4Addr,
    listed: bool,
) -> bool {
    is_small(address)
        && !listed
        && !is_addressed(bytes, end)
        && !context::has_letters_before(bytes, start, REACH)
}

/// Whether a version or a section may be numbered so: all numbers are small, or the first two are
/// digits, as in `6.0.16.251`.
fn is_small(address: Ipv4Addr) -> bool {
    let [a, b, c, d] = address.octets();
    a.max(b).max(c).max(d) <= SMALL || a.max(b) < 10
}

/// Whether a port or a prefix's length follows, which stand outside.
fn is_addressed(bytes: &[u8], end: usize) -> bool {
    matches!(byte(bytes, end), b':' | b'/') && byte(bytes, end + 1).is_ascii_digit()
}

/// Whether the address from `start` to `end` is one, by what stands around it. `listed` says that
/// another one stands directly before.
pub(super) fn stands_alone(
    bytes: &[u8],
    start: usize,
    end: usize,
    address: Ipv4Addr,
    listed: bool,
) -> bool {
    if !context::starts_word(bytes, start) || !context::ends_word(bytes, end) {
        return false;
    }
    let next = byte(bytes, end + 1);
    let open = match byte(bytes, end) {
        // `1.2.3.4-beta`, `1.2.3.4.tar.gz`, `1.2.3.4+build`.
        b'-' | b'+' => !next.is_ascii_alphabetic(),
        b'.' => !next.is_ascii_alphanumeric() && next != b'*',
        _ => true,
    };
    let small = is_small(address);
    let before = byte_before(bytes, start);
    let two = start.checked_sub(2).map_or(0, |i| bytes[i]);
    let closed = match before {
        b'.' | b'\\' | b'~' | b'^' | b'#' => true,
        b'-' => two.is_ascii_alphanumeric() && !two.is_ascii_digit() || small,
        b'/' | b'@' => two != b'/' && (two.is_ascii_alphanumeric() && small),
        // `==1.2.3.4`, `>=1.2.3.4`, `v=1.2.3.4`.
        b'=' => matches!(two, b'=' | b'>' | b'<' | b'~' | b'!') && small,
        _ => false,
    };
    if !open || closed {
        return false;
    }
    if in_drawing(bytes, start, end) {
        return false;
    }
    let addressed = is_addressed(bytes, end);
    let words = context::before(bytes, start, REACH);
    if small {
        return (addressed || listed || words.is(NETWORK)) && !words.is(VERSION);
    }
    addressed || !words.is(VERSION)
}

/// Whether the numbers are some of a drawing's path: `2.83-2.12 3.51.98.32 2.03.5`.
fn in_drawing(bytes: &[u8], start: usize, end: usize) -> bool {
    let figure = |token: &mut dyn Iterator<Item = &u8>| {
        let mut dots = 0;
        let mut digits = 0;
        for byte in token.take(8).take_while(|byte| **byte != b' ') {
            match byte {
                b'0'..=b'9' => digits += 1,
                b'.' => dots += 1,
                b'-' => {}
                _ => return false,
            }
        }
        dots > 0 && digits > 0
    };
    let spaced = byte_before(bytes, start) == b' ' && byte(bytes, end) == b' ';
    spaced && figure(&mut bytes[..start - 1].iter().rev()) && figure(&mut bytes[end + 1..].iter())
}
