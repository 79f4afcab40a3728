//! Words that stand before personal data (`born`, `passport`, `patient`).
//!
//! They begin a word, or a hump of an identifier (`dateOfBirth`). Where words begin and which of them
//! have the right first letters is known for 64 bytes at once.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};

use super::grams::{BLOCK, GRAM, Grams, block_at, load};
use crate::detectors::personal::labelled;

/// Finds the words.
#[derive(Debug)]
pub(super) struct Labels {
    /// Two tables, as the letters of fewer words get mixed less.
    heads: [Grams; 2],
    /// The words by their first letters.
    words: [Vec<Word>; 26],
}

#[derive(Debug)]
struct Word {
    word: &'static [u8],
    /// Its first letters as a number, and which bits of the number count: reading the words that most
    /// candidates are not would cost more than finding the candidates.
    head: u32,
    mask: u32,
}

impl Labels {
    pub(super) fn new() -> Self {
        let words = || labelled::WORDS.iter().map(|word| word.as_bytes());
        let mut by_letter: [Vec<Word>; 26] = Default::default();
        for word in words() {
            if let Some(words) = by_letter.get_mut(letter_index(word[0])) {
                let mask = if word.len() < 4 { 0x00ff_ffff } else { u32::MAX };
                words.push(Word { word, head: head(word) & mask, mask });
            }
        }
        // Words with the same first letters belong together.
        let mut heads: Vec<[u8; GRAM]> = words().filter_map(<[u8]>::first_chunk).copied().collect();
        heads.sort_unstable();
        heads.dedup();
        let (one, other) = heads.split_at(heads.len() / 2);
        let grams = |heads: &[[u8; GRAM]]| Grams::in_any_case(heads.iter().copied());
        Self { heads: [grams(one), grams(other)], words: by_letter }
    }

    /// Calls `label` where such a word begins.
    pub(super) fn each(&self, level: Level, text: &str, mut label: impl FnMut(usize)) {
        dispatch!(level, simd => self.blocks(simd, text.as_bytes(), &mut label));
    }

    #[inline(always)]
    fn blocks<S: Simd>(&self, simd: S, bytes: &[u8], label: &mut dyn FnMut(usize)) {
        let mut was_small = 0;
        for base in (0..bytes.len()).step_by(BLOCK) {
            let mut padded = None;
            let block = block_at(bytes, base, &mut padded);
            let letters = load::<S, 0>(simd, block);
            let small = (letters - b'a').simd_le(25).to_bitmask();
            let within = small & (small << 1 | was_small);
            was_small = small >> 63;
            let mut words = Grams::begin_any(simd, &self.heads, block) & !within;
            while words != 0 {
                let start = base + words.trailing_zeros() as usize;
                words &= words - 1;
                if self.is_word(&bytes[start..]) {
                    label(start);
                }
            }
        }
    }

    /// Whether `bytes` begin with one of the words.
    #[inline]
    fn is_word(&self, bytes: &[u8]) -> bool {
        let head = head(bytes);
        let of_letter = bytes.first().and_then(|first| self.words.get(letter_index(*first)));
        of_letter.is_some_and(|words| {
            words.iter().any(|Word { word, head: expected, mask }| {
                head & mask == *expected
                    && bytes.get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word))
            })
        })
    }
}

/// The first four bytes as a number, small and capital letters alike.
#[inline]
fn head(bytes: &[u8]) -> u32 {
    let four = bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut four = [0; 4];
        four[..bytes.len()].copy_from_slice(bytes);
        four
    });
    u32::from_le_bytes(four) | 0x2020_2020
}

fn letter_index(byte: u8) -> usize {
    usize::from((byte | 0x20).wrapping_sub(b'a'))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    fn starts(text: &str) -> Vec<usize> {
        static LABELS: LazyLock<Labels> = LazyLock::new(Labels::new);
        let mut starts = Vec::new();
        LABELS.each(Level::new(), text, |at| starts.push(at));
        starts
    }

    #[test]
    fn every_word_is_found_wherever_it_begins() {
        for word in labelled::WORDS {
            assert!(word.len() >= GRAM && word.as_bytes()[0].is_ascii_lowercase(), "{word}");
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
