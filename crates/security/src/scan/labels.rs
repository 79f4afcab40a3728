//! Words that stand before personal data (`born`, `passport`, `patient`).
//!
//! They begin a word, or a hump of an identifier (`dateOfBirth`). Where words begin is known for 64
//! bytes at once; there, three bytes are looked up in a small table, which few words pass.

use wide::u8x16;

use crate::detectors::personal::labelled;

/// How many bytes are looked at together.
const BLOCK: usize = 64;
/// Bits of the table. With so many, one word of a hundred passes by chance.
const TABLE_BITS: u32 = 13;
const TABLE_WORDS: usize = 1 << (TABLE_BITS - 6);
/// How many bytes of a word are looked up.
const HEAD: usize = 3;

/// The words' first bytes.
#[derive(Debug)]
pub(super) struct Labels {
    /// One bit for each hash of three bytes.
    table: [u64; TABLE_WORDS],
    /// The words by their first letters.
    words: [Vec<&'static [u8]>; 26],
}

impl Labels {
    pub(super) fn new() -> Self {
        let mut table = [0; TABLE_WORDS];
        let mut words: [Vec<&'static [u8]>; 26] = Default::default();
        for word in labelled::WORDS {
            if let Some([a, b, c]) = word.as_bytes().first_chunk::<HEAD>() {
                let bit = bit(u32::from_le_bytes([*a, *b, *c, 0]));
                table[bit / 64] |= 1 << (bit % 64);
                if let Some(words) = words.get_mut(letter_index(*a)) {
                    words.push(word.as_bytes());
                }
            }
        }
        Self { table, words }
    }

    /// Calls `label` where such a word begins.
    pub(super) fn each(&self, text: &str, mut label: impl FnMut(usize)) {
        let bytes = text.as_bytes();
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let mut was_lower = 0;
        let mut at = 0;
        for block in blocks {
            self.block(bytes, at, block, &mut was_lower, &mut label);
            at += BLOCK;
        }
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        self.block(bytes, at, &last, &mut was_lower, &mut label);
    }

    /// Whether `bytes` begin with one of the words.
    fn is_word(&self, bytes: &[u8]) -> bool {
        let of_letter = bytes.first().and_then(|first| self.words.get(letter_index(*first)));
        of_letter.is_some_and(|words| {
            words.iter().any(|word| {
                bytes.get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word))
            })
        })
    }

    /// Looks at the block at `at`. `was_lower` is 1 if a small letter stands before it.
    #[inline(always)]
    fn block(
        &self,
        bytes: &[u8],
        at: usize,
        block: &[u8; BLOCK],
        was_lower: &mut u64,
        label: &mut impl FnMut(usize),
    ) {
        let (mut letters, mut lower) = (0, 0);
        let (sixteens, _) = block.as_chunks::<16>();
        for (i, sixteen) in sixteens.iter().enumerate() {
            let sixteen = u8x16::new(*sixteen);
            letters |= u64::from(letter(sixteen | u8x16::splat(0x20)).to_bitmask()) << (16 * i);
            lower |= u64::from(letter(sixteen).to_bitmask()) << (16 * i);
        }
        let behind_lower = lower << 1 | *was_lower;
        *was_lower = lower >> 63;
        let mut starts = letters & !(lower & behind_lower);
        while starts != 0 {
            let start = at + starts.trailing_zeros() as usize;
            starts &= starts - 1;
            let head = match bytes.get(start..).and_then(<[u8]>::first_chunk::<4>) {
                Some(four) => u32::from_le_bytes(*four),
                // The last word that fits has three bytes.
                None => match bytes.get(start..).and_then(<[u8]>::first_chunk::<HEAD>) {
                    Some([a, b, c]) => u32::from_le_bytes([*a, *b, *c, 0]),
                    None => continue,
                },
            };
            let bit = bit(head);
            if self.table[bit / 64] >> (bit % 64) & 1 != 0 && self.is_word(&bytes[start..]) {
                label(start);
            }
        }
    }
}

fn letter_index(byte: u8) -> usize {
    usize::from((byte | 0x20).wrapping_sub(b'a'))
}

/// The bit of the first three of four bytes, their letters in lower case.
#[inline(always)]
fn bit(head: u32) -> usize {
    let folded = (head | 0x20_2020) & 0xff_ffff;
    (folded.wrapping_mul(0x9e37_79b1) >> (32 - TABLE_BITS)) as usize
}

/// Which bytes are small letters.
#[inline(always)]
fn letter(bytes: u8x16) -> u8x16 {
    let above = bytes - u8x16::splat(b'a');
    above.min(u8x16::splat(25)).simd_eq(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Vec<usize> {
        let mut starts = Vec::new();
        Labels::new().each(text, |at| starts.push(at));
        starts
    }

    #[test]
    fn every_word_is_found_wherever_it_begins() {
        for word in labelled::WORDS {
            assert!(word.len() >= HEAD && word.as_bytes()[0].is_ascii_lowercase(), "{word}");
            for before in [0, 1, 60, 61, 62, 63, 64, 65, 127, 128] {
                for joint in [" ", "_", "\"", "A", "7", "é"] {
                    let before = format!("{}{joint}", "-".repeat(before));
                    for word in [(*word).to_owned(), word.to_ascii_uppercase()] {
                        let text = format!("{before}{word}");
                        assert!(starts(&text).contains(&before.len()), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_word_begins_at_a_hump_and_not_within_a_word() {
        assert_eq!(starts("dateOfBirth"), [6]);
        assert!(starts("stillborn").is_empty());
        let text = format!("{}a{}", "-".repeat(63), "born");
        assert!(starts(&text).is_empty(), "{text}");
    }
}
