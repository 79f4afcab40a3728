//! Where a JSON string ends.
//!
//! Prompts are long strings full of `\n` and `\"`. Looking for one byte after the other, or for the
//! next escape, mispredicts a branch at each of them. So a string is read in blocks of 64 bytes: bit
//! masks say where its quotes, backslashes and control characters are, and arithmetic on the masks
//! says which characters are escaped (after simdjson: Langdale and Lemire, "Parsing Gigabytes of
//! JSON per Second", section 3.1.1).
//!
//! The masks are made by `fearless_simd`, with as many bytes at once as the processor takes.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x16, u8x64};

/// The index after the closing quote of the string whose inside begins at `at`. `None` if it does
/// not end, holds a control character or an escape that JSON does not know.
///
/// As in serde_json, `\u` takes any four hexadecimal digits: whether surrogates are paired is for
/// whoever decodes the string.
pub(super) fn end_of_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    // Most strings are names and short words: they end within one short look, with what every
    // processor has.
    if let Some(head) = bytes.get(at..)?.first_chunk::<16>() {
        let first = dispatch!(Level::baseline(), simd => first_special(simd, head));
        if head.get(first) == Some(&b'"') {
            return Some(at + first + 1);
        }
        at += first;
    }
    dispatch!(Level::new(), simd => end_of_long_string(simd, bytes, at))
}

/// The same, block by block.
#[inline(always)]
fn end_of_long_string<S: Simd>(simd: S, bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut escapes = Escapes::default();
    while let Some(block) = bytes.get(at..)?.first_chunk::<BLOCK>() {
        let masks = Masks::of(simd, block);
        let escaped = escapes.next(masks.backslashes);
        let ends = masks.quotes & !escaped;
        // All bits below the first end; without an end, all bits.
        let inside = !ends & ends.wrapping_sub(1);
        if masks.controls & inside != 0 {
            return None;
        }
        // Nearly all escapes are told by the masks; the others are looked at one by one.
        let mut rare = escaped & inside & !masks.common_escapes;
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
#[derive(Default)]
pub(super) struct Escapes {
    /// Whether the last block ended with a backslash that escapes this block's first byte.
    first_is_escaped: bool,
}

impl Escapes {
    /// The escaped characters of the next block, whose backslashes are `backslashes`: those after
    /// an odd number of backslashes.
    #[inline]
    pub(super) fn next(&mut self, backslashes: u64) -> u64 {
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

/// How many bytes are looked at together.
pub(super) const BLOCK: usize = 64;

/// Where a block has which characters: bit `i` speaks of byte `i`.
struct Masks {
    quotes: u64,
    backslashes: u64,
    /// Characters that most escapes of a text end with: `\"`, `\\`, `\n`, `\t`.
    common_escapes: u64,
    /// Bytes that a string may not hold as they are. They are behind its end, or it is invalid.
    controls: u64,
}

impl Masks {
    #[inline(always)]
    fn of<S: Simd>(simd: S, block: &[u8; BLOCK]) -> Self {
        let bytes = u8x64::load_array_ref(simd, block);
        let quotes = bytes.simd_eq(b'"').to_bitmask();
        let backslashes = bytes.simd_eq(b'\\').to_bitmask();
        let letters = bytes.simd_eq(b'n') | bytes.simd_eq(b't');
        Self {
            quotes,
            backslashes,
            common_escapes: quotes | backslashes | letters.to_bitmask(),
            controls: bytes.simd_le(LAST_CONTROL).to_bitmask(),
        }
    }
}

/// The last of the bytes that a string may not hold as they are.
const LAST_CONTROL: u8 = 0x1F;

/// Whether a string's inside may hold `bytes` as they are: nothing has to be escaped.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let mut last = [b' '; 16];
    last[..rest.len()].copy_from_slice(rest);
    dispatch!(Level::baseline(), simd => {
        blocks.iter().chain([&last]).all(|block| first_special(simd, block) == block.len())
    })
}

/// The place of the first quote, backslash or control character, or 16.
#[inline(always)]
fn first_special<S: Simd>(simd: S, head: &[u8; 16]) -> usize {
    let bytes = u8x16::load_array_ref(simd, head);
    let special = bytes.simd_eq(b'"') | bytes.simd_eq(b'\\') | bytes.simd_le(LAST_CONTROL);
    (special.to_bitmask().trailing_zeros() as usize).min(head.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All instructions that this processor has, from the oldest to the newest.
    fn levels() -> Vec<Level> {
        let best = Level::new();
        #[cfg(target_arch = "x86_64")]
        let older = [
            best.as_sse2().map(Simd::level),
            best.as_sse4_2().map(Simd::level),
            best.as_avx2().map(Simd::level),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let older = [Some(Level::baseline())];
        older.into_iter().flatten().chain([best]).collect()
    }

    proptest! {
        #[test]
        fn strings_end_where_they_do_byte_by_byte(
            text in r#"(\\["\\nt/u]|\\u00e[0-9]|[a-z]{1,70}|\\|é|"|\n|\x1f){0,40}"#,
            at in 0_usize..20,
        ) {
            let bytes = text.as_bytes();
            let expected = end_of_short_string(bytes, at);
            prop_assert_eq!(end_of_string(bytes, at), expected);
            for level in levels() {
                let end = dispatch!(level, simd => end_of_long_string(simd, bytes, at));
                prop_assert_eq!(end, expected, "{:?}", level);
            }
        }
    }
}
