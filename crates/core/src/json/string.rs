//! Where a JSON string ends.
//!
//! Prompts are long strings full of `\n` and `\"`. Looking for one byte after the other, or for the
//! next escape, mispredicts a branch at each of them. So a string is read in blocks of 64 bytes: bit
//! masks say where its quotes, backslashes and control characters are, and arithmetic on the masks
//! says which characters are escaped (after simdjson: Langdale and Lemire, "Parsing Gigabytes of
//! JSON per Second", section 3.1.1).
//!
//! The masks are made by `wide`, which has a safe name for the instruction that turns sixteen
//! comparisons into sixteen bits (SSE2 and NEON). Compilers do not find it in a loop over bytes.

use wide::u8x16;

/// The index after the closing quote of the string whose inside begins at `at`. `None` if it does
/// not end, holds a control character or an escape that JSON does not know.
///
/// As in serde_json, `\u` takes any four hexadecimal digits: whether surrogates are paired is for
/// whoever decodes the string.
pub(super) fn end_of_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    // Most strings are names and short words: they end within one short look.
    if let Some(head) = bytes.get(at..)?.first_chunk::<16>() {
        let first = first_special(head);
        if head.get(first) == Some(&b'"') {
            return Some(at + first + 1);
        }
        at += first;
    }
    let mut escapes = Escapes::default();
    while let Some(block) = bytes.get(at..)?.first_chunk::<64>() {
        let masks = Masks::of(block);
        let escaped = escapes.next(masks.backslashes);
        let ends = masks.quotes & !escaped;
        // All bits below the first end; without an end, all bits.
        let inside = !ends & ends.wrapping_sub(1);
        if masks.any_controls && controls(block) & inside != 0 {
            return None;
        }
        if escaped != 0 {
            // Nearly all escapes are told by the masks; the others are looked at one by one.
            let mut rare = escaped & inside & !masks.common_escapes;
            while rare != 0 {
                end_of_escape(bytes, at + rare.trailing_zeros() as usize)?;
                rare &= rare - 1;
            }
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

/// Where a block has which characters: bit `i` speaks of byte `i`.
#[derive(Default)]
struct Masks {
    quotes: u64,
    backslashes: u64,
    /// Characters that most escapes of a text end with: `\"`, `\\`, `\n`, `\t`.
    common_escapes: u64,
    /// Whether the block holds a byte that a string may not hold as it is, before or after the end.
    any_controls: bool,
}

impl Masks {
    #[inline]
    fn of(block: &[u8; 64]) -> Self {
        let mut masks = Self::default();
        let mut any_controls = u8x16::ZERO;
        let (quarters, _) = block.as_chunks::<16>();
        for (i, quarter) in quarters.iter().enumerate() {
            let bytes = u8x16::new(*quarter);
            let bits = |lanes: u8x16| u64::from(lanes.to_bitmask()) << (16 * i);
            masks.quotes |= bits(equal(bytes, b'"'));
            masks.backslashes |= bits(equal(bytes, b'\\'));
            masks.common_escapes |= bits(equal(bytes, b'n') | equal(bytes, b't'));
            any_controls |= control(bytes);
        }
        masks.common_escapes |= masks.quotes | masks.backslashes;
        masks.any_controls = any_controls.to_bitmask() != 0;
        masks
    }
}

/// The place of the first quote, backslash or control character, or 16.
#[inline]
fn first_special(head: &[u8; 16]) -> usize {
    let bytes = u8x16::new(*head);
    let special = equal(bytes, b'"') | equal(bytes, b'\\') | control(bytes);
    (special.to_bitmask().trailing_zeros() as usize).min(head.len())
}

#[inline]
fn equal(bytes: u8x16, byte: u8) -> u8x16 {
    bytes.simd_eq(u8x16::splat(byte))
}

#[inline]
fn control(bytes: u8x16) -> u8x16 {
    bytes.min(u8x16::splat(0x1F)).simd_eq(bytes)
}

/// The control characters of a block. They are not in a valid string, so this is for the block in
/// which a string of a body with line breaks ends, and for refusals.
#[cold]
fn controls(block: &[u8; 64]) -> u64 {
    block.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(*byte < 0x20))
}
