//! A hash that is the same on every machine and in every version, for everything that has to look
//! random and yet be repeatable: identifiers, variants, log probabilities.

/// FNV-1a with 64 bits over all `parts`, mixed at the end so that near inputs end far apart.
///
/// <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>; the mixer is SplitMix64's.
pub(super) fn stable(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for &byte in *part {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        // A mark between parts, so that moving a byte from one to the next changes the hash.
        hash = (hash ^ 0x1FF).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
