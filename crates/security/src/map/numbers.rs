//! Numbers that are found by what they stand for, which is kept elsewhere.

use std::fmt;
use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Numbers by the hashes of texts. A request may hold a million values, and whoever writes it must
/// not be able to choose some with the same hash: each table has a seed of its own.
#[derive(Clone, Default)]
pub(crate) struct Numbers {
    table: HashTable<Entry>,
    seed: RandomState,
}

/// A number, and the hash of its text, so that no text is read again when the table grows.
#[derive(Clone, Copy)]
struct Entry {
    hash: Hash,
    number: u32,
}

/// The hash of a text, in one table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash(u32);

impl Hash {
    /// With all of its bits at both ends, where a table looks at it.
    fn spread(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.0)
    }
}

impl Numbers {
    /// Room for so many more.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.table.reserve(more, |entry| entry.hash.spread());
    }

    /// What a text is found by.
    pub(crate) fn hash(&self, text: &[u8]) -> Hash {
        let mut hasher = self.seed.build_hasher();
        hasher.write(text);
        Hash(hasher.finish() as u32)
    }

    /// The number of a text with this hash; `is` says whether a number is that of the same text.
    pub(crate) fn find(&self, hash: Hash, mut is: impl FnMut(usize) -> bool) -> Option<usize> {
        let is_same = |entry: &Entry| entry.hash == hash && is(entry.number as usize);
        self.table.find(hash.spread(), is_same).map(|entry| entry.number as usize)
    }

    /// Adds the number of a text that has none yet.
    pub(crate) fn add(&mut self, hash: Hash, number: usize) {
        let entry = Entry { hash, number: number as u32 };
        self.table.insert_unique(hash.spread(), entry, |entry| entry.hash.spread());
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Numbers({})", self.table.len())
    }
}
