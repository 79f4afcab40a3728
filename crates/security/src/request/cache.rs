//! What is known about the blocks of earlier requests, so that a turn of a conversation costs what
//! is new in it.
//!
//! An entry is found by a keyed hash of the block's bytes, whose they are and how strictly they were
//! read; it holds places, kinds and scores, and nothing of the content. It lives in memory only, and
//! in as much of it as was allowed: when half of that is full, everything that was not asked for
//! since the last time is forgotten.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What an entry is found by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CacheKey([u8; 16]);

impl CacheKey {
    /// The key of what `hash` was made of.
    pub(super) fn new(hash: &blake3::Hash) -> Self {
        let [key @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = *hash.as_bytes();
        Self(key)
    }

    /// The key of a few samples, that are somebody's.
    pub(super) fn of_samples(samples: u64, owner: &[u8; 32]) -> Self {
        let mut key = [0; 16];
        let (head, tail) = key.split_at_mut(8);
        head.copy_from_slice(&samples.to_le_bytes());
        tail.copy_from_slice(&owner[..8]);
        Self(key)
    }

    /// The key of what was hashed in two ways.
    pub(super) fn of_hashes(hashes: [u64; 2]) -> Self {
        let [a, b] = hashes.map(u128::from);
        Self((a << 64 | b).to_le_bytes())
    }

    /// The key's bytes, to make another one of.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn shard(self) -> usize {
        usize::from(self.0[0]) % SHARDS
    }
}

/// How many bytes of memory an entry takes beyond its own size.
pub(super) trait Weight {
    /// Bytes on the heap.
    fn weight(&self) -> usize;
}

const SHARDS: usize = 16;
/// What a key, a pointer, the counters of an `Arc` and a map's own bookkeeping come to.
const OVERHEAD: usize = 80;

/// Entries within a bound of memory.
pub(super) struct Cache<T> {
    shards: [Mutex<Shard<T>>; SHARDS],
    /// Bytes for one generation of one shard.
    bytes: usize,
}

/// Two generations: what was asked for lately, and what was before that.
struct Shard<T> {
    young: HashMap<CacheKey, Arc<T>>,
    old: HashMap<CacheKey, Arc<T>>,
    young_bytes: usize,
}

impl<T: Weight> Cache<T> {
    /// A cache that takes up to `bytes` of memory.
    pub(super) fn new(bytes: usize) -> Self {
        let shard =
            || Mutex::new(Shard { young: HashMap::new(), old: HashMap::new(), young_bytes: 0 });
        Self { shards: std::array::from_fn(|_| shard()), bytes: bytes / SHARDS / 2 }
    }

    /// The entry of `key`.
    pub(super) fn find(&self, key: CacheKey) -> Option<Arc<T>> {
        let mut shard = self.lock(key);
        if let Some(entry) = shard.young.get(&key) {
            return Some(Arc::clone(entry));
        }
        let entry = shard.old.remove(&key)?;
        self.add(&mut shard, key, Arc::clone(&entry));
        Some(entry)
    }

    /// Remembers `entry`.
    pub(super) fn insert(&self, key: CacheKey, entry: Arc<T>) {
        let mut shard = self.lock(key);
        self.add(&mut shard, key, entry);
    }

    fn add(&self, shard: &mut Shard<T>, key: CacheKey, entry: Arc<T>) {
        let bytes = OVERHEAD + size_of::<T>() + entry.weight();
        if bytes > self.bytes {
            return;
        }
        if shard.young_bytes + bytes > self.bytes {
            shard.old = std::mem::take(&mut shard.young);
            shard.young_bytes = 0;
        }
        shard.young_bytes += bytes;
        if let Some(before) = shard.young.insert(key, entry) {
            shard.young_bytes -= OVERHEAD + size_of::<T>() + before.weight();
        }
    }

    fn lock(&self, key: CacheKey) -> std::sync::MutexGuard<'_, Shard<T>> {
        // A map is whole between any two of its calls, whoever panicked.
        self.shards[key.shard()].lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        let lock = |shard: &Mutex<Shard<T>>| {
            let shard = shard.lock().unwrap();
            shard.young.len() + shard.old.len()
        };
        self.shards.iter().map(lock).sum()
    }
}

impl<T> fmt::Debug for Cache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cache")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weight for u32 {
        fn weight(&self) -> usize {
            16
        }
    }

    fn key(n: u32) -> CacheKey {
        CacheKey::new(&blake3::hash(&n.to_le_bytes()))
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let cache = Cache::new(100_000);
        for n in 0..100_000_u32 {
            cache.insert(key(n), Arc::new(n));
            assert_eq!(cache.find(key(0)).as_deref(), Some(&0), "{n}");
        }
        assert!(cache.len() * (OVERHEAD + 4 + 16) <= 100_000, "{}", cache.len());
        assert!(cache.len() > 400, "{}", cache.len());
        assert_eq!(cache.find(key(1)), None);
        assert_eq!(cache.find(key(99_999)).as_deref(), Some(&99_999));
    }

    #[test]
    fn no_memory_means_no_cache() {
        let cache = Cache::new(0);
        cache.insert(key(1), Arc::new(1));
        assert_eq!(cache.find(key(1)), None);
    }
}
