//! Numbers and texts without a pattern that are the same on every run.

pub(super) const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
pub(super) const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(super) const DIGITS: &[u8] = b"0123456789";
pub(super) const HEX: &[u8] = b"0123456789abcdef";
pub(super) const MIXED: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A sequence of numbers: SplitMix64.
pub(super) struct Numbers(u64);

impl Numbers {
    /// The sequence of `seed`.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1)
    }

    /// From 0 to `limit`, exclusive.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    pub(super) fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// So many of `letters`.
    pub(super) fn letters(&mut self, letters: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(self.one_of(letters))).collect()
    }
}
