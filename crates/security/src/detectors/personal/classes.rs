//! What kinds of bytes stand around a place, as bits: many bytes at once, without branches.
//!
//! Detectors read a few dozen bytes beside what they look at, in loops whose ends cannot be foretold.
//! Bit `i` of what is told here speaks of byte `i`, so that counts and shifts do instead.

use wide::u8x16;

/// The `N` bytes from `at` on; behind the end of all bytes there are zeros.
#[inline]
pub(super) fn ahead<'b, const N: usize>(
    bytes: &'b [u8],
    at: usize,
    padded: &'b mut [u8; N],
) -> &'b [u8; N] {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(ahead) => ahead,
        None => {
            padded[..rest.len()].copy_from_slice(rest);
            padded
        }
    }
}

/// The `N` bytes before `at`; before the start of all bytes there are zeros.
#[inline]
pub(super) fn before<'b, const N: usize>(
    bytes: &'b [u8],
    at: usize,
    padded: &'b mut [u8; N],
) -> &'b [u8; N] {
    match bytes[..at].last_chunk() {
        Some(before) => before,
        None => {
            padded[N - at..].copy_from_slice(&bytes[..at]);
            padded
        }
    }
}

/// Which of `bytes` are of some kind; `N` is a multiple of 16, and 64 at most.
#[inline(always)]
pub(super) fn mask<const N: usize>(bytes: &[u8; N], kind: impl Fn(u8x16) -> u32) -> u64 {
    const { assert!(N.is_multiple_of(16) && N <= 64) }
    let sixteens = bytes.as_chunks().0.iter().rev();
    sixteens.fold(0, |mask, sixteen| mask << 16 | u64::from(kind(u8x16::new(*sixteen))))
}

/// `0-9`
#[inline(always)]
pub(super) fn digits(bytes: u8x16) -> u32 {
    within(bytes, b'0', b'9').to_bitmask()
}

/// `A-Za-z`
#[inline(always)]
pub(super) fn letters(bytes: u8x16) -> u32 {
    letter(bytes).to_bitmask()
}

/// `A-Fa-f`
#[inline(always)]
pub(super) fn hex_letters(bytes: u8x16) -> u32 {
    within(bytes | u8x16::splat(0x20), b'a', b'f').to_bitmask()
}

/// `A-Za-z`, and what other characters than ASCII's are made of.
#[inline(always)]
pub(super) fn word_bytes(bytes: u8x16) -> u32 {
    // The mask is made of the bytes' highest bits.
    (letter(bytes) | bytes).to_bitmask()
}

/// `A-Z`
#[inline(always)]
pub(super) fn capitals(bytes: u8x16) -> u32 {
    within(bytes, b'A', b'Z').to_bitmask()
}

/// What other characters than ASCII's are made of.
#[inline(always)]
pub(super) fn others(bytes: u8x16) -> u32 {
    bytes.to_bitmask()
}

/// A space, `-`, `.` and `/`.
#[inline(always)]
pub(super) fn joints(bytes: u8x16) -> u32 {
    (within(bytes, b'-', b'/') | bytes.simd_eq(u8x16::splat(b' '))).to_bitmask()
}

/// One of two bytes.
#[inline(always)]
pub(super) fn either(bytes: u8x16, one: u8, other: u8) -> u32 {
    (bytes.simd_eq(u8x16::splat(one)) | bytes.simd_eq(u8x16::splat(other))).to_bitmask()
}

#[inline(always)]
fn letter(bytes: u8x16) -> u8x16 {
    // Without the bit that tells `A` from `a`.
    within(bytes | u8x16::splat(0x20), b'a', b'z')
}

#[inline(always)]
fn within(bytes: u8x16, first: u8, last: u8) -> u8x16 {
    let above = bytes - u8x16::splat(first);
    above.min(u8x16::splat(last - first)).simd_eq(above)
}

/// The lowest `count` bits, of which there are fewer than 64.
#[inline(always)]
pub(super) fn lowest(count: usize) -> u64 {
    (1 << count) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_told_as_what_it_is() {
        type Kind = (fn(u8x16) -> u32, fn(&u8) -> bool);
        let kinds: [Kind; 8] = [
            (digits, u8::is_ascii_digit),
            (letters, u8::is_ascii_alphabetic),
            (hex_letters, |byte| byte.is_ascii_hexdigit() && !byte.is_ascii_digit()),
            (word_bytes, |byte| byte.is_ascii_alphabetic() || *byte >= 0x80),
            (capitals, u8::is_ascii_uppercase),
            (others, |byte| *byte >= 0x80),
            (joints, |byte| b" -./".contains(byte)),
            (|bytes| either(bytes, b'-', 0xff), |byte| matches!(byte, b'-' | 0xff)),
        ];
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        for (kind, is) in kinds {
            for at in 0..=bytes.len() {
                let (mut padded, mut padded_before) = ([0; 48], [0; 48]);
                let after = mask(ahead(&bytes, at, &mut padded), kind);
                let before = mask(before(&bytes, at, &mut padded_before), kind);
                for i in 0..48 {
                    assert_eq!(after >> i & 1 != 0, bytes.get(at + i).is_some_and(is), "{at} {i}");
                    let byte = (at + i).checked_sub(48).map(|i| &bytes[i]);
                    assert_eq!(before >> i & 1 != 0, byte.is_some_and(is), "{at} {i}");
                }
            }
        }
    }

    #[test]
    fn the_lowest_bits_may_be_none() {
        assert_eq!([0, 1, 48, 63].map(lowest), [0, 1, (1 << 48) - 1, u64::MAX >> 1]);
    }
}
