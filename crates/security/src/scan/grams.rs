//! Finds words by three of their letters, in 64 places at once.
//!
//! Two tables of sixteen entries, one for each half of a byte, tell for eight groups of words whether
//! a byte can be their first letter; two more pairs of tables do so for the second and the third
//! ("Teddy" of Hyperscan: Wang et al., NSDI 2019, section 4.2). Few other places pass.

use fearless_simd::prelude::*;
use fearless_simd::{u8x16, u8x64};

/// How many bytes a block has.
pub(super) const BLOCK: usize = 64;

/// How many bytes behind a block are looked at with it: a word may begin on its last byte.
pub(super) const BEHIND: usize = GRAM - 1;

/// How many letters are looked at.
pub(super) const GRAM: usize = 3;

/// How many groups of words are told apart.
pub(super) const GROUPS: usize = 8;

/// A block, and what is looked at behind it.
pub(super) type Block = [u8; BLOCK + BEHIND];

/// Three letters, each as the bytes that it can be. Any byte will do where there are none.
pub(super) type Gram = [&'static [u8]; GRAM];

/// Finds words by three of their letters.
#[derive(Debug, Clone)]
pub(super) struct Grams {
    /// For each place of a gram, the groups that a byte can belong to: by its low and its high half.
    tables: [[[u8; 16]; 2]; GRAM],
}

impl Grams {
    /// Finds these grams. Letters of one group get mixed.
    pub(super) const fn of(groups: [&[Gram]; GROUPS]) -> Self {
        let mut grams = Self { tables: [[[0; 16]; 2]; GRAM] };
        let mut group = 0;
        while group < GROUPS {
            let mut gram = 0;
            while gram < groups[group].len() {
                let mut place = 0;
                while place < GRAM {
                    grams.add(group, place, groups[group][gram][place]);
                    place += 1;
                }
                gram += 1;
            }
            group += 1;
        }
        grams
    }

    /// Finds these grams in any case, in groups that get mixed as little as may be.
    pub(super) fn in_any_case(words: impl Iterator<Item = [u8; GRAM]>) -> Self {
        let mut grams = Self { tables: [[[0; 16]; 2]; GRAM] };
        for word in words {
            let with = |group: usize| {
                let mut more = grams.clone();
                for (place, letter) in word.iter().enumerate() {
                    let both = [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
                    more.add(group, place, &both);
                }
                more
            };
            let cost = |group: usize| with(group).mixed(group) - grams.mixed(group);
            if let Some(group) = (0..GROUPS).min_by_key(|group| cost(*group)) {
                grams = with(group);
            }
        }
        grams
    }

    /// Where in the block one of the words begins, or seems to.
    #[inline(always)]
    pub(super) fn begin<S: Simd>(&self, simd: S, block: &Block) -> u64 {
        let groups = self.groups(simd, load::<S, 0>(simd, block), 0)
            & self.groups(simd, load::<S, 1>(simd, block), 1)
            & self.groups(simd, load::<S, 2>(simd, block), 2);
        !groups.simd_eq(0).to_bitmask()
    }

    /// The groups that each byte can belong to, as their letter at `place`.
    #[inline(always)]
    fn groups<S: Simd>(&self, simd: S, bytes: u8x64<S>, place: usize) -> u8x64<S> {
        let [low, high] = &self.tables[place];
        let low = u8x64::block_splat(u8x16::load_array_ref(simd, low));
        let high = u8x64::block_splat(u8x16::load_array_ref(simd, high));
        low.swizzle_dyn_within_blocks(bytes & 0x0f) & high.swizzle_dyn_within_blocks(bytes >> 4)
    }

    /// Adds the letters to a group. None means all.
    const fn add(&mut self, group: usize, place: usize, letters: &[u8]) {
        let [low, high] = &mut self.tables[place];
        let mut i = 0;
        while i < letters.len() || letters.is_empty() && i < 16 {
            let (low_half, high_half) = match letters {
                [] => (i, i),
                _ => (letters[i] as usize & 15, letters[i] as usize >> 4),
            };
            low[low_half] |= 1 << group;
            high[high_half] |= 1 << group;
            i += 1;
        }
    }

    /// How many different three bytes pass as those of a group.
    fn mixed(&self, group: usize) -> usize {
        let halves = |half: &[u8; 16]| half.iter().filter(|bits| *bits >> group & 1 != 0).count();
        self.tables.iter().map(|[low, high]| halves(low) * halves(high)).product()
    }
}

/// The 64 bytes of a block from `AT` on.
#[inline(always)]
pub(super) fn load<S: Simd, const AT: usize>(simd: S, block: &Block) -> u8x64<S> {
    u8x64::from_slice(simd, &block[AT..AT + BLOCK])
}

/// The block at `base`, or in `padded` what there is of it, as if zeros followed the text.
#[inline(always)]
pub(super) fn block_at<'b>(
    bytes: &'b [u8],
    base: usize,
    padded: &'b mut Option<Block>,
) -> &'b Block {
    match bytes.get(base..).and_then(<[u8]>::first_chunk) {
        Some(block) => block,
        None => padded.insert(last_block(bytes, base)),
    }
}

#[cold]
fn last_block(bytes: &[u8], base: usize) -> Block {
    let mut block = [0; BLOCK + BEHIND];
    if let Some(rest) = bytes.get(base..) {
        block[..rest.len()].copy_from_slice(rest);
    }
    block
}
