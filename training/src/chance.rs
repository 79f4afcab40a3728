//! Numbers that look random and are the same every time.

/// The generator SplitMix64 with a fixed beginning.
pub(crate) struct Chance(u64);

impl Chance {
    /// The sequence that belongs to `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The sequence that belongs to a name.
    pub(crate) fn named(name: &str) -> Self {
        let hash = blake3::hash(name.as_bytes());
        Self(hash.as_bytes()[..8].iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// One of `items`.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Brings `items` into another order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
