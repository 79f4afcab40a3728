//! Text that is worth a look whatever it says: letters of other alphabets, and letters that stand
//! apart.

use fearless_simd::prelude::*;
use fearless_simd::u8x32;

use super::pass::{BLOCK, GROUP, SEEN};

/// So many letters of other alphabets within a block are worth a look.
const FOREIGN_LETTERS: u32 = 5;
/// So many invisible characters are.
const INVISIBLE: u32 = 2;

/// Whether letters of other alphabets than the Latin one, or disguised letters, begin in the block
/// that `seen` begins with.
///
/// Curly quotation marks bring most prose here, so many bytes are looked at together.
#[inline(always)]
pub(super) fn is_foreign<S: Simd>(simd: S, seen: &[u8; SEEN]) -> bool {
    let (mut letters, mut invisible) = (0, 0);
    for at in (0..BLOCK).step_by(GROUP) {
        let load = |at: usize| u8x32::from_slice(simd, &seen[at..at + GROUP]);
        let [one, two, three] = [load(at), load(at + 1), load(at + 2)];
        // Greek to Arabic; India to South East Asia; East Asia.
        let is_letter = one.simd_ge(0xcd) & one.simd_le(0xed) & !one.simd_eq(0xe2);
        // Full-width, mathematical and tag letters.
        let is_disguised = one.simd_eq(0xef) & (two | 1).simd_eq(0xbd)
            | one.simd_eq(0xf0) & two.simd_eq(0x9d)
            | one.simd_eq(0xf3) & two.simd_eq(0xa0);
        let is_invisible = one.simd_eq(0xe2)
            & (two.simd_eq(0x80) & three.simd_ge(0x8b) & three.simd_le(0x8d)
                | two.simd_eq(0x81) & three.simd_eq(0xa0));
        letters += (is_letter | is_disguised).to_bitmask().count_ones();
        invisible += is_invisible.to_bitmask().count_ones();
    }
    letters >= FOREIGN_LETTERS || invisible >= INVISIBLE
}

/// Whether letters stand apart with spaces between them: `i g n o r e   t h e`. Every eighth position
/// is looked at, so eight letters are found wherever they are.
pub(super) fn spaced_letters(block: &[u8]) -> bool {
    let (eights, _) = block.as_chunks::<8>();
    eights.iter().any(|eight| {
        let word = u64::from_le_bytes(*eight);
        let letters = match (word & 0xff00_ff00_ff00_ff00, word & 0x00ff_00ff_00ff_00ff) {
            (0x2000_2000_2000_2000, _) => 0,
            (_, 0x0020_0020_0020_0020) => 1,
            _ => return false,
        };
        eight.iter().skip(letters).step_by(2).all(u8::is_ascii_alphabetic)
    })
}
