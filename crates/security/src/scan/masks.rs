//! Where a block of 64 bytes has which characters.
//!
//! A pass over a text that looks at each byte is bound by mispredicted branches. Here, as many bytes
//! as the processor can are compared at once, and the results become bits: bit `i` speaks of byte
//! `i`. Shifts, sums and counts of these words tell where a detector has to look (after simdjson:
//! Langdale and Lemire, "Parsing Gigabytes of JSON per Second", section 3.1).
//!
//! Words that stand before secrets are found by three of their letters. Two tables of sixteen
//! entries, one for each half of a byte, tell for eight groups of words at once whether a byte can
//! be their first letter; two more pairs of tables do so for the second and the third ("Teddy" of
//! Hyperscan: Wang et al., NSDI 2019, section 4.2). Few other places pass.

use fearless_simd::prelude::*;
use fearless_simd::{mask8x64, u8x16, u8x64};

/// How many bytes a block has.
pub(super) const BLOCK: usize = 64;

/// How many bytes behind a block are looked at with it: a keyword may begin on its last byte.
pub(super) const BEHIND: usize = 2;

/// Three letters, each as the bytes that it can be. Any byte will do where there are none.
type Gram = [&'static [u8]; GRAM];
const GRAM: usize = 3;

/// What is looked for, in groups that share a bit of the tables. Words in one group are such that
/// mixing their letters gives little that is usual.
const GRAMS: [&[Gram]; 8] = [
    // `pass`; `contrase`, `mysql`
    &[[b"pP", b"aA", b"sS"], [b"r", b"a", b"s"], [b"y", b"s", b"q"]],
    // `pw`
    &[[b"pP", b"wW", b""]],
    // `cret`, `cred`
    &[[b"cC", b"rR", b"eE"]],
    // `tok`; `login`, `identified`
    &[[b"tT", b"oO", b"kK"], [b"o", b"g", b"i"], [b"tT", b"iI", b"fF"]],
    // `key`; `getConnection`
    &[[b"kK", b"eE", b"yY"], [b"e", b"t", b"C"]],
    // `auth`, `://`; `Private-Lines`
    &[[b"aA", b"uU", b"tT"], [b":", b"/", b"/"], [b"e", b"-", b"L"]],
    // `hf_`; `WiFi.`, `PDO`
    &[[b"hH", b"fF", b"_"], [b"F", b"i", b"."], [b"P", b"D", b"O"]],
    // `senha`, `kennwort`, `wachtwoord`
    &[[b"nN", b"hH", b"aA"], [b"n", b"n", b"w"], [b"h", b"t", b"w"]],
];

/// For each place of a gram, the groups that a byte can belong to, by its low and its high half.
const TABLES: [[[u8; 16]; 2]; GRAM] = tables();

/// Where a block has which characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    pub(super) letters: u64,
    pub(super) digits: u64,
    /// `0-9a-fA-F`
    pub(super) hexadecimal: u64,
    /// `A-Za-z0-9_-`: what tokens are made of.
    pub(super) tokens: u64,
    pub(super) dashes: u64,
    pub(super) dots: u64,
    pub(super) colons: u64,
    pub(super) ats: u64,
    /// Where a word may stand that leads to a secret: one of [`GRAMS`] begins, or seems to.
    pub(super) words: u64,
}

impl Masks {
    #[inline(always)]
    pub(super) fn of<S: Simd>(simd: S, block: &[u8; BLOCK + BEHIND]) -> Self {
        let bits = |lanes: mask8x64<S>| lanes.to_bitmask();
        let bytes = load::<S, 0>(simd, block);
        let equal = |byte: u8| bits(bytes.simd_eq(byte));
        let digits = bits((bytes - b'0').simd_le(9));
        // Without the bit that tells `A` from `a`.
        let letter = (bytes | 0x20) - b'a';
        let letters = bits(letter.simd_le(25));
        let dashes = equal(b'-');
        Self {
            letters,
            digits,
            hexadecimal: digits | bits(letter.simd_le(5)),
            tokens: letters | digits | dashes | equal(b'_'),
            dashes,
            dots: equal(b'.'),
            colons: equal(b':'),
            ats: equal(b'@'),
            words: bits(words(simd, block)),
        }
    }

    /// The masks of the block at `base`, as if zeros followed the text.
    #[inline(always)]
    pub(super) fn at<S: Simd>(simd: S, bytes: &[u8], base: usize) -> Self {
        match bytes.get(base..).and_then(<[u8]>::first_chunk) {
            Some(block) => Self::of(simd, block),
            None if base >= bytes.len() => Self::default(),
            None => {
                let rest = &bytes[base..];
                let mut block = [0; BLOCK + BEHIND];
                block[..rest.len()].copy_from_slice(rest);
                Self::of(simd, &block)
            }
        }
    }
}

/// Where one of [`GRAMS`] begins, or seems to.
#[inline(always)]
fn words<S: Simd>(simd: S, block: &[u8; BLOCK + BEHIND]) -> mask8x64<S> {
    let groups = groups(simd, load::<S, 0>(simd, block), 0)
        & groups(simd, load::<S, 1>(simd, block), 1)
        & groups(simd, load::<S, 2>(simd, block), 2);
    !groups.simd_eq(0)
}

/// The groups of [`GRAMS`] that each byte can belong to, as their letter at `place`.
#[inline(always)]
fn groups<S: Simd>(simd: S, bytes: u8x64<S>, place: usize) -> u8x64<S> {
    let table = |half: usize| {
        u8x64::block_splat(u8x16::load_array_ref(simd, &TABLES[place][half]))
    };
    let low = table(0).swizzle_dyn_within_blocks(bytes & 0x0f);
    low & table(1).swizzle_dyn_within_blocks(bytes >> 4)
}

/// The 64 bytes from `AT` on.
#[inline(always)]
fn load<S: Simd, const AT: usize>(simd: S, block: &[u8; BLOCK + BEHIND]) -> u8x64<S> {
    u8x64::from_slice(simd, &block[AT..AT + BLOCK])
}

const fn tables() -> [[[u8; 16]; 2]; GRAM] {
    let mut tables = [[[0; 16]; 2]; GRAM];
    let mut group = 0;
    while group < GRAMS.len() {
        let mut gram = 0;
        while gram < GRAMS[group].len() {
            let mut place = 0;
            while place < GRAM {
                let letters = GRAMS[group][gram][place];
                let mut byte = 0;
                while byte < 256 {
                    if letters.is_empty() || contains(letters, byte as u8) {
                        tables[place][0][byte & 15] |= 1 << group;
                        tables[place][1][byte >> 4] |= 1 << group;
                    }
                    byte += 1;
                }
                place += 1;
            }
            gram += 1;
        }
        group += 1;
    }
    tables
}

const fn contains(letters: &[u8], byte: u8) -> bool {
    let mut i = 0;
    while i < letters.len() {
        if letters[i] == byte {
            return true;
        }
        i += 1;
    }
    false
}
