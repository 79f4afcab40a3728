//! The pass over a text's bytes: which positions may begin a key, which blocks look strange.
//!
//! A key is six bytes. Every fourth position is looked at, so that each phrase is known by four keys
//! one behind the other, and eight positions are hashed at once: the table of hashes says of most
//! that no phrase is there.

use fearless_simd::prelude::*;
use fearless_simd::{u8x32, u32x8};

/// How much text is looked at at once.
pub(super) const BLOCK: usize = 256;
/// A block, and what is needed behind it to see all keys that begin there.
pub(super) const SEEN: usize = BLOCK + STRIDE;
/// How far apart the positions are that are looked at.
pub(super) const STRIDE: usize = 4;
/// How many bytes a key has.
pub(super) const KEY: usize = 6;
/// How many positions of a block are looked at.
const KEYS: usize = BLOCK / STRIDE;
/// How many bytes are hashed together.
pub(super) const GROUP: usize = 32;
const LANES: usize = GROUP / STRIDE;
/// Bits that name a word of the table.
const WORD_BITS: u32 = 13;
const WORDS: usize = 1 << WORD_BITS;
/// Where in a hash they are.
const WORD_SHIFT: u32 = u32::BITS - WORD_BITS;
/// Where those are that name a key's two bits of the word.
const BIT_SHIFTS: [u32; 2] = [WORD_SHIFT - 4, WORD_SHIFT - 8];
/// Odd numbers that make the highest bits of a key's hash depend on all of its bits.
const FACTORS: [u32; 2] = [0x9e37_79b1, 0x85eb_ca6b];
/// The bit of each byte that tells capital letters from small ones.
const FOLD: u64 = 0x2020_2020_2020_2020;
/// The bits of a key's bytes behind the first four.
const REST: u32 = u32::MAX >> (u32::BITS - 8 * (KEY - STRIDE) as u32);

/// Two bits for each hash of a key.
pub(super) struct Table(Box<[u16; WORDS]>);

/// What is seen of a block at first.
pub(super) struct Marks {
    /// A bit for every [`STRIDE`] bytes: whether a key may begin there.
    pub(super) keys: u64,
    /// Whether the block has nothing but ASCII.
    pub(super) is_ascii: bool,
    /// Whether letters may stand apart in it.
    pub(super) may_be_spaced: bool,
}

impl Table {
    pub(super) fn new(keys: impl Iterator<Item = u64>) -> Self {
        let mut table = Box::new([0; WORDS]);
        for key in keys {
            let parts = [key as u32, (key >> u32::BITS) as u32];
            let [one, two] = [0, 1].map(|i| parts[i].wrapping_mul(FACTORS[i]));
            let hash = one.wrapping_add(two);
            for shift in BIT_SHIFTS {
                table[(hash >> WORD_SHIFT) as usize] |= 1 << (hash >> shift & (u16::BITS - 1));
            }
        }
        Self(table)
    }

    /// What is to be seen in `block`.
    #[inline(always)]
    pub(super) fn marks<S: Simd>(&self, simd: S, block: &[u8; SEEN]) -> Marks {
        let mut all = u8x32::splat(simd, 0);
        let mut spaces = [0_u32; BLOCK / GROUP];
        let mut hashes = [0; KEYS];
        let (parts, _) = hashes.as_chunks_mut::<LANES>();
        for i in 0..BLOCK / GROUP {
            let bytes = u8x32::from_slice(simd, &block[i * GROUP..(i + 1) * GROUP]);
            let behind = i * GROUP + STRIDE;
            let rest = u8x32::from_slice(simd, &block[behind..behind + GROUP]);
            all |= bytes;
            spaces[i] = bytes.simd_eq(b' ').to_bitmask() as u32;
            let first: u32x8<S> = (bytes | 0x20).bitcast();
            let rest: u32x8<S> = (rest | 0x20).bitcast();
            parts[i] = (first * FACTORS[0] + (rest & REST) * FACTORS[1]).into();
        }
        let mut words = [0; KEYS];
        self.look_up(&hashes, &mut words);
        let mut keys = 0;
        let (hashes, _) = hashes.as_chunks::<LANES>();
        let (words, _) = words.as_chunks::<LANES>();
        // No `map` and no `zip`: they are not always inlined.
        for i in 0..KEYS / LANES {
            let hashes = u32x8::load_array(simd, hashes[i]);
            let words = u32x8::load_array(simd, words[i]);
            let one = words >> (hashes >> BIT_SHIFTS[0] & (u16::BITS - 1));
            let two = words >> (hashes >> BIT_SHIFTS[1] & (u16::BITS - 1));
            keys |= (one & two & 1).simd_eq(1).to_bitmask() << (i * LANES);
        }
        let (spaces, _) = spaces.as_chunks();
        let join = |[low, high]: &[u32; 2]| u64::from(*low) | u64::from(*high) << u32::BITS;
        Marks {
            keys,
            is_ascii: !(all & 0x80).simd_eq(0x80).any_true(),
            may_be_spaced: spaces.iter().map(join).any(are_apart),
        }
    }

    /// Puts the words of the table that hashes name into `words`.
    ///
    /// Not inlined: what goes through memory is taken apart faster than what is in a wide register.
    #[inline(never)]
    fn look_up(&self, hashes: &[u32; KEYS], words: &mut [u32; KEYS]) {
        let (words, _) = words.as_chunks_mut::<LANES>();
        let (hashes, _) = hashes.as_chunks::<LANES>();
        for (words, hashes) in words.iter_mut().zip(hashes) {
            for (word, hash) in words.iter_mut().zip(hashes) {
                *word = u32::from(self.0[(hash >> WORD_SHIFT) as usize]);
            }
        }
    }
}

/// Whether in one of eight bytes, each bit of which says that there is a space, these stand at every
/// second place.
#[inline]
fn are_apart(spaces: u64) -> bool {
    const FIRST: u64 = 0x0101_0101_0101_0101;
    const EVEN: u64 = FIRST * 0x55;
    let has_zero = |bytes: u64| bytes.wrapping_sub(FIRST) & !bytes & FIRST << 7 != 0;
    has_zero(spaces ^ EVEN) | has_zero(spaces ^ !EVEN)
}

/// The key that eight bytes begin with, its letters in lower case; other bytes may change too, which
/// only widens the net.
pub(super) fn fold(bytes: u64) -> u64 {
    (bytes | FOLD) & u64::MAX >> (u64::BITS - 8 * KEY as u32)
}
