//! Words that say what is asked for, by meaning: what hashed words alone learn too slowly.

use std::sync::LazyLock;

use super::words::words;

/// How many meanings there may be: each is a bit.
pub(super) const MOST_TAGS: usize = 32;
/// Slots of the table, a power of two, several times as many as words.
const SLOTS: usize = 16 * 1024;

const WORDS: &str = include_str!("lexicon.txt");

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::build(WORDS));

/// The meanings of `word`, a hash of the word in small letters: a bit for each.
#[inline]
pub(super) fn tags(word: u32) -> u32 {
    TABLE.get(word)
}

/// Brings the table into memory, so that the first request does not pay for it.
pub(super) fn warm_up() {
    LazyLock::force(&TABLE);
}

/// Open addressing: a hash of 0 is an empty slot.
struct Table {
    slots: Vec<(u32, u32)>,
}

impl Table {
    fn build(text: &str) -> Self {
        let mut table = Self { slots: vec![(0, 0); SLOTS] };
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (line, tag) in lines.zip(0..MOST_TAGS) {
            for word in line.split_ascii_whitespace().skip(1) {
                let Some(stem) = word.strip_suffix('~') else {
                    table.add(word, tag);
                    continue;
                };
                table.add(stem, tag);
                let bare = stem.strip_suffix('e').unwrap_or(stem);
                for (stem, ending) in [(stem, "s"), (bare, "es"), (bare, "ed"), (bare, "ing")] {
                    table.add(&format!("{stem}{ending}"), tag);
                }
            }
        }
        table
    }

    /// Adds each word that a reader sees in `word`: scripts without spaces give several, and of a
    /// word with a hyphen nothing is taken, since its parts mean something else.
    fn add(&mut self, word: &str, tag: usize) {
        if word.contains(['-', '.', '_']) {
            return;
        }
        words(word, |hash, _| {
            let slot = self.slot(hash);
            let (_, tags) = self.slots[slot];
            self.slots[slot] = (hash, tags | 1 << tag);
        });
    }

    #[inline]
    fn get(&self, word: u32) -> u32 {
        self.slots[self.slot(word)].1
    }

    /// The slot that has `hash`, or the empty one where it would be.
    #[inline]
    fn slot(&self, hash: u32) -> usize {
        let mut slot = hash as usize % SLOTS;
        while self.slots[slot].0 != hash && self.slots[slot].0 != 0 {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }
}
