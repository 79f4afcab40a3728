//! Hashes of words. They are part of the model's format: what was learned belongs to them.

/// Where a word's hash begins.
pub(super) const START: u32 = 0x811c_9dc5;

/// Adds a byte (FNV-1a).
#[inline]
pub(super) fn add(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

/// A hash of two, in this order.
#[inline]
pub(super) fn pair(first: u32, second: u32) -> u32 {
    let mixed = (first ^ second.rotate_left(15)).wrapping_mul(0x9e37_79b1);
    (mixed ^ (mixed >> 15)).wrapping_add(first).wrapping_mul(0x85eb_ca6b)
}
