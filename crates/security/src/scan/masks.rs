//! Where a block of 64 bytes has which characters.
//!
//! A pass over a text that looks at each byte is bound by mispredicted branches. Here, as many bytes
//! as the processor can are compared at once, and the results become bits: bit `i` speaks of byte
//! `i`. Shifts, sums and counts of these words tell where a detector has to look (after simdjson:
//! Langdale and Lemire, "Parsing Gigabytes of JSON per Second", section 3.1).

use fearless_simd::prelude::*;

use super::grams::{Block, Grams, block_at, load};

/// Three letters of the words that stand before secrets, or two: in any case, then those of rare
/// words as they are. The groups are chosen so that they give little that is usual when mixed.
const WORDS: [Grams; 2] = [
    Grams::of([
        (&["://"], &["ac(", "ac:", "cov", "lav"]),
        (&["pw"], &[]),
        (&[], &["_bi", "nec", "nem"]),
        (&["hf_"], &["AC.", "H \"", "P \"", "ac.", "d \"", "glp"]),
        (&["key"], &["dli", "dmi", "ogi"]),
        (&["aut"], &[":54", "ie:", "net"]),
        (&[], &["PDO", "PIN", "etC", "etK", "eyF"]),
        (&[], &["$5$", "A25", "reS", "te-", "teU"]),
    ]),
    Grams::of([
        (&[], &["ENH", "ech", "ecr", "enh", "enn", "phr"]),
        (&[], &["SAL", "sal", "sql", "swd", "wac"]),
        (&["pas"], &["PSK", "PSW", "ras"]),
        (&[], &[":$1", ":$2", ":$6", ":$a", ":%s", ":*:", "Fer", "NEM"]),
        (&["cre"], &["C25", "k_l", "m_e", "mun"]),
        (&[], &["@tc", "AES", "AKI", "API", "PUK", "psk", "puk"]),
        (&[], &["cku", "ftp", "jwt", "mdp"]),
        (&["tok"], &["TIF", "WiF", "iph", "rif", "tif", "tyK"]),
    ]),
];

/// How many blocks make a chunk.
pub(super) const CHUNK: usize = 16;

/// A mask of each block of a chunk, between those of the last block before it and of the first behind
/// it.
pub(super) type Row = [u64; CHUNK + 2];

/// Where a block has which characters, or where all blocks of a chunk do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks<Bits = u64> {
    pub(super) letters: Bits,
    /// `a-z`
    pub(super) small: Bits,
    pub(super) digits: Bits,
    /// `0-9a-fA-F`
    pub(super) hexadecimal: Bits,
    /// `A-Za-z0-9_-`: what tokens are made of.
    pub(super) tokens: Bits,
    /// Blanks, ends of lines and other characters of control.
    pub(super) blanks: Bits,
    pub(super) dashes: Bits,
    pub(super) dots: Bits,
    pub(super) colons: Bits,
    pub(super) commas: Bits,
    pub(super) ats: Bits,
    /// Where a word may stand that leads to a secret: one of [`WORDS`] begins, or seems to.
    pub(super) words: Bits,
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
            blanks: bytes.simd_le(b' ').to_bitmask(),
            dashes,
            dots: bytes.simd_eq(b'.').to_bitmask(),
            colons: bytes.simd_eq(b':').to_bitmask(),
            commas: bytes.simd_eq(b',').to_bitmask(),
            ats: bytes.simd_eq(b'@').to_bitmask(),
            words: Grams::begin_any(simd, &WORDS, block),
        }
    }

    /// The masks of the block at `base`, as if zeros followed the text.
    #[inline(always)]
    pub(super) fn at<S: Simd>(simd: S, bytes: &[u8], base: usize) -> Self {
        let mut padded = None;
        Self::of(simd, block_at(bytes, base, &mut padded))
    }
}

impl Masks<Row> {
    /// Puts the masks of a block in their place: 0 is the block before the chunk.
    #[inline(always)]
    pub(super) fn set(&mut self, place: usize, block: Masks) {
        self.letters[place] = block.letters;
        self.small[place] = block.small;
        self.digits[place] = block.digits;
        self.hexadecimal[place] = block.hexadecimal;
        self.tokens[place] = block.tokens;
        self.blanks[place] = block.blanks;
        self.dashes[place] = block.dashes;
        self.dots[place] = block.dots;
        self.colons[place] = block.colons;
        self.commas[place] = block.commas;
        self.ats[place] = block.ats;
        self.words[place] = block.words;
    }

    /// The masks of the block at this place.
    #[inline(always)]
    pub(super) fn get(&self, place: usize) -> Masks {
        self.map(|row| row[place])
    }

    /// All masks as something else.
    #[inline(always)]
    pub(super) fn map<T>(&self, of: impl Fn(&Row) -> T) -> Masks<T> {
        Masks {
            letters: of(&self.letters),
            small: of(&self.small),
            digits: of(&self.digits),
            hexadecimal: of(&self.hexadecimal),
            tokens: of(&self.tokens),
            blanks: of(&self.blanks),
            dashes: of(&self.dashes),
            dots: of(&self.dots),
            colons: of(&self.colons),
            commas: of(&self.commas),
            ats: of(&self.ats),
            words: of(&self.words),
        }
    }
}
