//! Where a block of 64 bytes has which characters.
//!
//! A pass over a text that looks at each byte is bound by mispredicted branches. Here, as many bytes
//! as the processor can are compared at once, and the results become bits: bit `i` speaks of byte
//! `i`. Shifts, sums and counts of these words tell where a detector has to look (after simdjson:
//! Langdale and Lemire, "Parsing Gigabytes of JSON per Second", section 3.1).

use fearless_simd::prelude::*;

use super::grams::{Block, Grams, block_at, load};

/// Three letters of the words that stand before secrets, in groups which mixed give little that is
/// usual.
const WORDS: Grams = Grams::of([
    // `pass`; `contrase`, `mysql`
    &[[b"pP", b"aA", b"sS"], [b"r", b"a", b"s"], [b"y", b"s", b"q"]],
    // `pw`
    &[[b"pP", b"wW", b""]],
    // `cret`, `cred`; `clave`, `mnemonic`
    &[[b"cC", b"rR", b"eE"], [b"l", b"a", b"v"], [b"mM", b"nN", b"eE"]],
    // `tok`; `login`, `identified`, `verification`
    &[[b"tT", b"oO", b"kK"], [b"o", b"g", b"i"], [b"tT", b"iI", b"fF"], [b"r", b"i", b"f"]],
    // `key`; `getConnection`, `backup`
    &[[b"kK", b"eE", b"yY"], [b"e", b"t", b"C"], [b"k", b"u", b"p"]],
    // `auth`, `://`; `Private-Lines`, `recovery`
    &[[b"aA", b"uU", b"tT"], [b":", b"/", b"/"], [b"e", b"-", b"L"], [b"c", b"o", b"v"]],
    // `hf_`; `WiFi.`, `PDO`, `mdp`, `phrase`, `PIN`
    &[
        [b"hH", b"fF", b"_"],
        [b"F", b"i", b"."],
        [b"P", b"D", b"O"],
        [b"m", b"d", b"p"],
        [b"p", b"h", b"r"],
        [b"P", b"I", b"N"],
    ],
    // `senha`, `kennwort`, `wachtwoord`
    &[[b"nN", b"hH", b"aA"], [b"n", b"n", b"w"], [b"h", b"t", b"w"]],
]);

/// Where a block has which characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    pub(super) letters: u64,
    /// `a-z`
    pub(super) small: u64,
    pub(super) digits: u64,
    /// `0-9a-fA-F`
    pub(super) hexadecimal: u64,
    /// `A-Za-z0-9_-`: what tokens are made of.
    pub(super) tokens: u64,
    pub(super) dashes: u64,
    pub(super) dots: u64,
    pub(super) colons: u64,
    pub(super) commas: u64,
    pub(super) ats: u64,
    /// Where a word may stand that leads to a secret: one of [`WORDS`] begins, or seems to.
    pub(super) words: u64,
}

impl Masks {
    #[inline(always)]
    pub(super) fn of<S: Simd>(simd: S, block: &Block) -> Self {
        let bytes = load::<S, 0>(simd, block);
        let digits = (bytes - b'0').simd_le(9).to_bitmask();
        // Without the bit that tells `A` from `a`.
        let letter = (bytes | 0x20) - b'a';
        let letters = letter.simd_le(25).to_bitmask();
        let dashes = bytes.simd_eq(b'-').to_bitmask();
        Self {
            letters,
            small: (bytes - b'a').simd_le(25).to_bitmask(),
            digits,
            hexadecimal: digits | letter.simd_le(5).to_bitmask(),
            tokens: letters | digits | dashes | bytes.simd_eq(b'_').to_bitmask(),
            dashes,
            dots: bytes.simd_eq(b'.').to_bitmask(),
            colons: bytes.simd_eq(b':').to_bitmask(),
            commas: bytes.simd_eq(b',').to_bitmask(),
            ats: bytes.simd_eq(b'@').to_bitmask(),
            words: WORDS.begin(simd, block),
        }
    }

    /// The masks of the block at `base`, as if zeros followed the text.
    #[inline(always)]
    pub(super) fn at<S: Simd>(simd: S, bytes: &[u8], base: usize) -> Self {
        let mut padded = None;
        Self::of(simd, block_at(bytes, base, &mut padded))
    }
}
