//! Where a JSON string ends.
//!
//! Prompts are long strings full of `\n` and `\"`. Looking for one byte after the other, or for the
//! next escape, mispredicts a branch at each of them. So a string is read in blocks of 64 bytes: bit
//! masks say where its quotes, backslashes and control characters are, and arithmetic on the masks
//! says which characters are escaped (after simdjson: Langdale and Lemire, "Parsing Gigabytes of
//! JSON per Second", section 3.1.1).

/// The index after the closing quote of the string whose inside begins at `at`. `None` if it does
/// not end, holds a control character or an escape that JSON does not know.
///
/// As in serde_json, `\u` takes any four hexadecimal digits: whether surrogates are paired is for
/// whoever decodes the string.
pub(super) fn end_of_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    // Most strings are names and short words: they end within one short look.
    if let Some(head) = bytes.get(at..)?.first_chunk::<16>() {
        let first = masks::of_head(head).trailing_zeros() as usize;
        if head.get(first) == Some(&b'"') {
            return Some(at + first + 1);
        }
        at += first.min(head.len());
    }
    let mut escapes = Escapes { first_is_escaped: false };
    while let Some(block) = bytes.get(at..)?.first_chunk::<64>() {
        let masks = masks::of_block(block);
        let escaped = escapes.next(masks.backslashes);
        let ends = masks.quotes & !escaped;
        // All bits below the first end; without an end, all bits.
        let inside = !ends & ends.wrapping_sub(1);
        if masks.controls & inside != 0 {
            return None;
        }
        // `\n`, `\"` and `\\` are nearly all escapes of a text; the others are looked at one by one.
        let common = masks.quotes | masks.backslashes | masks.letters_n;
        let mut rare = escaped & inside & !common;
        while rare != 0 {
            end_of_escape(bytes, at + rare.trailing_zeros() as usize)?;
            rare &= rare - 1;
        }
        if ends != 0 {
            return Some(at + ends.trailing_zeros() as usize + 1);
        }
        at += block.len();
    }
    if escapes.first_is_escaped {
        at = end_of_escape(bytes, at)?;
    }
    end_of_short_string(bytes, at)
}

/// The same for the last bytes of a text, one by one.
fn end_of_short_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at = end_of_escape(bytes, at + 1)?,
            0..0x20 => return None,
            _ => at += 1,
        }
    }
}

/// The index after the escape whose character after the backslash is at `at`.
fn end_of_escape(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => {
            let digits = bytes.get(at + 1..at + 5)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 5)
        }
        _ => None,
    }
}

/// Which characters of a string are escaped, block after block.
struct Escapes {
    /// Whether the last block ended with a backslash that escapes this block's first byte.
    first_is_escaped: bool,
}

impl Escapes {
    /// The escaped characters of the next block, whose backslashes are `backslashes`: those after
    /// an odd number of backslashes.
    fn next(&mut self, backslashes: u64) -> u64 {
        const ODD_BITS: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let first = u64::from(self.first_is_escaped);
        // A backslash that is itself escaped begins nothing.
        let starts = backslashes & !first;
        // The subtraction carries through each run of backslashes, so that what differs from the
        // odd bits afterwards is every other character of a run, and the character behind an odd one.
        let alternating = ((starts << 1) | ODD_BITS).wrapping_sub(starts) ^ ODD_BITS;
        self.first_is_escaped = (alternating & backslashes) >> 63 != 0;
        alternating ^ (backslashes | first)
    }
}

/// Where a block has which characters: bit `i` speaks of byte `i`.
#[derive(Debug, PartialEq, Eq)]
struct Masks {
    quotes: u64,
    backslashes: u64,
    /// Bytes below 0x20, which a string may not hold as they are.
    controls: u64,
    letters_n: u64,
}

#[cfg(not(target_arch = "x86_64"))]
use portable as masks;
#[cfg(target_arch = "x86_64")]
use sse2 as masks;

/// Masks by SSE2, which every x86-64 processor has. The compiler does not find these instructions
/// in a loop over bytes, and they are safe to call where the target is known to have them.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
        _mm_set1_epi8,
    };

    use super::Masks;

    /// Quotes, backslashes and control characters.
    #[inline]
    pub(super) fn of_head(head: &[u8; 16]) -> u32 {
        let bytes = load(head);
        bits(_mm_or_si128(
            _mm_or_si128(equal(bytes, b'"'), equal(bytes, b'\\')),
            at_most(bytes, 0x1F),
        )) as u32
    }

    #[inline]
    pub(super) fn of_block(block: &[u8; 64]) -> Masks {
        let mut masks = Masks { quotes: 0, backslashes: 0, controls: 0, letters_n: 0 };
        let (quarters, _) = block.as_chunks::<16>();
        for (i, quarter) in quarters.iter().enumerate() {
            let bytes = load(quarter);
            masks.quotes |= bits(equal(bytes, b'"')) << (16 * i);
            masks.backslashes |= bits(equal(bytes, b'\\')) << (16 * i);
            masks.controls |= bits(at_most(bytes, 0x1F)) << (16 * i);
            masks.letters_n |= bits(equal(bytes, b'n')) << (16 * i);
        }
        masks
    }

    #[inline]
    fn load(bytes: &[u8; 16]) -> __m128i {
        let both = u128::from_le_bytes(*bytes);
        _mm_set_epi64x((both >> 64) as i64, both as i64)
    }

    #[inline]
    fn equal(bytes: __m128i, byte: u8) -> __m128i {
        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))
    }

    /// Compares without a sign, for which SSE2 has no instruction of its own.
    #[inline]
    fn at_most(bytes: __m128i, most: u8) -> __m128i {
        _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(most as i8)), bytes)
    }

    #[inline]
    fn bits(lanes: __m128i) -> u64 {
        u64::from(_mm_movemask_epi8(lanes) as u32)
    }
}

/// Masks for other processors.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use super::Masks;

    /// Quotes, backslashes and control characters.
    pub(super) fn of_head(head: &[u8; 16]) -> u32 {
        let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        head.iter().rev().fold(0, |bits, byte| bits << 1 | u32::from(special(byte)))
    }

    pub(super) fn of_block(block: &[u8; 64]) -> Masks {
        let bits = |is: fn(u8) -> bool| {
            block.iter().rev().fold(0, |bits, &byte| bits << 1 | u64::from(is(byte)))
        };
        Masks {
            quotes: bits(|byte| byte == b'"'),
            backslashes: bits(|byte| byte == b'\\'),
            controls: bits(|byte| byte < 0x20),
            letters_n: bits(|byte| byte == b'n'),
        }
    }
}
