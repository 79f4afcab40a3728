//! Cuts off words of ASCII letters, digits and apostrophes, as most are.

use super::lexicon::{LONGEST_WORD, WordHash};

/// So many bytes of a word are remembered. Undisguised letters may take more than seen ones.
pub(super) const ROOM: usize = 64;

/// What a byte of a plain word is: its lower case, and what follows. 0 if it is no part of one.
pub(super) const PLAIN: [u16; 256] = plain();
pub(super) const LETTER: u16 = 0x100;
pub(super) const CAPITAL: u16 = 0x200;
pub(super) const DIGIT: u16 = 0x400;

const fn plain() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let kind = match byte {
            b'a'..=b'z' => LETTER,
            b'A'..=b'Z' => LETTER | CAPITAL,
            b'0'..=b'9' => DIGIT,
            _ => 0,
        };
        if kind != 0 {
            table[byte as usize] = kind | byte.to_ascii_lowercase() as u16;
        }
        byte += 1;
    }
    table
}

/// The plain word that a text begins with.
pub(super) struct Cut {
    pub(super) hash: WordHash,
    pub(super) end: usize,
    /// How long it is without apostrophes.
    pub(super) length: usize,
    /// What its characters are.
    pub(super) seen: u16,
}

/// Cuts the plain word off that `text` begins with, or more bytes of it than a word may have.
///
/// Not inlined: a loop of its own has all registers.
#[inline(never)]
pub(super) fn cut(text: &[u8], word: &mut [u8; ROOM]) -> Cut {
    let mut cut = Cut { hash: WordHash::START, end: 0, length: 0, seen: 0 };
    for byte in &text[..text.len().min(LONGEST_WORD + 1)] {
        let plain = PLAIN[usize::from(*byte)];
        if plain != 0 {
            cut.hash = cut.hash.push(plain as u8);
            word[cut.length % ROOM] = plain as u8;
            cut.seen |= plain;
            cut.length += 1;
        } else if *byte != b'\'' {
            break;
        }
        cut.end += 1;
    }
    cut
}
