//! The first pass over a text: what 64 bytes hold, told for all of them at once.

use fearless_simd::prelude::*;
use fearless_simd::u8x64;

use super::token::is_word_byte;

/// What the first pass leaves of 64 bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    /// Where a word begins with a capital, or with a letter beyond ASCII.
    pub(super) capitals: u64,
    /// Whether any of those is a capital of ASCII.
    pub(super) ascii_capitals: bool,
    /// Whether there are letters of China, Japan, Korea, Arabia or India.
    pub(super) is_native: bool,
    /// How many marks of code there are.
    pub(super) marks: u8,
    /// How many letters in lower case or beyond ASCII, digits and spaces there are.
    pub(super) plain: u8,
}

pub(super) const BLOCK: usize = 64;

/// Classifies as many blocks from `start` on.
#[inline(always)]
pub(super) fn classify<S: Simd>(simd: S, bytes: &[u8], start: usize, blocks: &mut [Block]) {
    for (i, classified) in blocks.iter_mut().enumerate() {
        let at = start + i * BLOCK;
        let rest = &bytes[at..];
        let padded;
        let block = match rest.first_chunk() {
            Some(block) => block,
            None => {
                padded = last_block(rest);
                &padded
            }
        };
        let before = at.checked_sub(1).map_or(b' ', |i| bytes[i]);
        *classified = classify_block(simd, block, before, rest.get(BLOCK).copied().unwrap_or(b' '));
    }
}

#[cold]
fn last_block(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    block
}

#[inline(always)]
fn classify_block<S: Simd>(simd: S, block: &[u8; BLOCK], before: u8, behind: u8) -> Block {
    let bytes = u8x64::load_array_ref(simd, block);
    let upper = within(bytes, b'A', b'Z');
    let lower = within(bytes, b'a', b'z');
    let digits = within(bytes, b'0', b'9');
    let high = bytes.simd_ge(0x80).to_bitmask();
    let lead = within(bytes, 0xC3, 0xDF);
    let marks = within(bytes, b'[', b'`') | within(bytes, b'{', b'~') | within(bytes, b';', b'>');
    let backslashes = bytes.simd_eq(b'\\').to_bitmask();
    let spaces = bytes.simd_eq(b' ').to_bitmask();
    let word = upper | lower | digits | bytes.simd_eq(b'_').to_bitmask() | high;
    let before = u64::from(is_word_byte(before));
    let behind = u64::from(behind.is_ascii_lowercase() || behind >= 0x80) << 63;
    let begins = !(word << 1 | before) | behind_escapes(block, backslashes);
    let inner = (lower | high) >> 1 | behind;
    Block {
        // Words all in capitals are visited for their second letter: `ANNA`.
        capitals: (upper & (inner | upper >> 1) | lead & inner) & begins,
        ascii_capitals: upper & begins & inner != 0,
        // Arabic begins with 0xD8 to 0xDB, Hindi with 0xE0.
        is_native: high != 0
            && within(bytes, 0xE3, 0xED) | within(bytes, 0xD8, 0xDB) | within(bytes, 0xE0, 0xE0)
                != 0,
        marks: marks.count_ones() as u8,
        plain: (lower | high | digits | spaces).count_ones() as u8,
    }
}

/// Which bytes are `first`, `last` or between.
#[inline(always)]
fn within<S: Simd>(bytes: u8x64<S>, first: u8, last: u8) -> u64 {
    (bytes - first).simd_le(last - first).to_bitmask()
}

/// Where a word begins behind `\n` in a string: the `n` is none of its letters.
#[inline]
fn behind_escapes(block: &[u8; BLOCK], mut backslashes: u64) -> u64 {
    let mut begins = 0;
    while backslashes != 0 {
        let at = backslashes.trailing_zeros() as usize;
        backslashes &= backslashes - 1;
        if at + 2 < BLOCK && matches!(block[at + 1], b'n' | b'r' | b't') {
            begins |= 1 << (at + 2);
        }
    }
    begins
}
