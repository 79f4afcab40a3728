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

/// Three letters, or fewer where any will do: in any case, and as they are.
pub(super) type Group = (&'static [&'static str], &'static [&'static str]);

/// Finds words by three of their letters.
#[derive(Debug, Clone)]
pub(super) struct Grams {
    /// For each place of a gram, the groups that a byte can belong to: by its low and its high half.
    tables: [[[u8; 16]; 2]; GRAM],
}

impl Grams {
    /// Finds these grams. Letters of one group get mixed.
    pub(super) const fn of(groups: [Group; GROUPS]) -> Self {
        let mut grams = Self { tables: [[[0; 16]; 2]; GRAM] };
        let mut group = 0;
        while group < GROUPS {
            let (in_any_case, exact) = groups[group];
            let mut i = 0;
            while i < in_any_case.len() {
                grams.add(group, in_any_case[i].as_bytes(), true);
                i += 1;
            }
            i = 0;
            while i < exact.len() {
                grams.add(group, exact[i].as_bytes(), false);
                i += 1;
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
                more.add(group, &word, true);
                more
            };
            let cost = |group: usize| with(group).mixed(group) - grams.mixed(group);
            if let Some(group) = (0..GROUPS).min_by_key(|group| cost(*group)) {
                grams = with(group);
            }
        }
        grams
    }

    /// Where in the block one of the words of both begins, or seems to.
    #[inline(always)]
    pub(super) fn begin_any<S: Simd>(simd: S, [one, other]: &[Self; 2], block: &Block) -> u64 {
        !(one.groups(simd, block) | other.groups(simd, block)).simd_eq(0).to_bitmask()
    }

    /// The groups that have a gram at each byte.
    #[inline(always)]
    fn groups<S: Simd>(&self, simd: S, block: &Block) -> u8x64<S> {
        self.groups_at(simd, load::<S, 0>(simd, block), 0)
            & self.groups_at(simd, load::<S, 1>(simd, block), 1)
            & self.groups_at(simd, load::<S, 2>(simd, block), 2)
    }

    /// The groups that each byte can belong to, as their letter at `place`.
    #[inline(always)]
    fn groups_at<S: Simd>(&self, simd: S, bytes: u8x64<S>, place: usize) -> u8x64<S> {
        let [low, high] = &self.tables[place];
        let low = u8x64::block_splat(u8x16::load_array_ref(simd, low));
        let high = u8x64::block_splat(u8x16::load_array_ref(simd, high));
        low.swizzle_dyn_within_blocks(bytes & 0x0f) & high.swizzle_dyn_within_blocks(bytes >> 4)
    }

    /// Adds a gram to a group.
    const fn add(&mut self, group: usize, gram: &[u8], in_any_case: bool) {
        let mut place = 0;
        while place < GRAM {
            let [low, high] = &mut self.tables[place];
            if place < gram.len() {
                let letter = gram[place];
                let other = match letter {
                    b'a'..=b'z' if in_any_case => letter.to_ascii_uppercase(),
                    _ => letter,
                };
                low[letter as usize & 15] |= 1 << group;
                high[letter as usize >> 4] |= 1 << group;
                low[other as usize & 15] |= 1 << group;
                high[other as usize >> 4] |= 1 << group;
            } else {
                let mut half = 0;
                while half < 16 {
                    low[half] |= 1 << group;
                    high[half] |= 1 << group;
                    half += 1;
                }
            }
            place += 1;
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
