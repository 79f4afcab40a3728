//! Which idea a word stands for, in many languages.
//!
//! The model sees ideas beside words: what it learns of "ignore … instructions" in English holds
//! for every language that the lexicon knows. Words are looked up while they are read, by the hash
//! of each of their beginnings, so a stem costs no more than a word.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::normalise::{Class, classify};

/// An idea: the number of its name among the lexicon's names, from 1. 0 is none.
pub(crate) type Idea = u8;

const SOURCE: &str = include_str!("lexicon.txt");
/// Bits of the filter that most beginnings of words fail, so that the table is rarely asked.
const FILTER_BITS: u32 = 17;
/// How many of their first bytes tell how long the entries are that words can begin with.
const BEGINNING: usize = 3;
const BEGINNING_BITS: u32 = 13;
/// Longer entries are told apart no further.
const LONGEST_TOLD: usize = u16::BITS as usize - 1;
/// How long the entries may be that [`Lexicon::longest_prefix`] finds, in bytes.
const LONGEST_PREFIX: usize = 32;
/// How long words may be, in bytes: longer ones are numbers, hashes, encoded data.
pub(crate) const LONGEST_WORD: usize = 40;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::parse(SOURCE));

/// The words and stems of all languages.
pub(crate) struct Lexicon {
    names: Vec<&'static str>,
    words: HashMap<u64, Entry, Hashed>,
    filter: Vec<u64>,
    /// For each hash of a beginning, a bit for each length that an entry may have.
    lengths: Vec<u16>,
    /// Lengths of stems that are shorter than a beginning.
    short: u16,
}

/// Words' hashes need not be hashed again.
type Hashed = BuildHasherDefault<Once>;

#[derive(Default)]
struct Once(u64);

impl Hasher for Once {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = WordHash::of(bytes).0;
    }

    fn write_u64(&mut self, hash: u64) {
        // The lowest and the highest bits are looked at, and FNV mixes little into the lowest.
        self.0 = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Clone, Copy, Default)]
struct Entry {
    word: Idea,
    stem: Idea,
}

/// Hash of a word, byte by byte (FNV-1a).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordHash(pub(crate) u64);

impl WordHash {
    pub(crate) const START: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(crate) fn push(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    pub(crate) fn of(word: &[u8]) -> Self {
        word.iter().fold(Self::START, |hash, byte| hash.push(*byte))
    }
}

impl Lexicon {
    /// The lexicon that comes with the filter.
    pub(crate) fn usual() -> &'static Self {
        &LEXICON
    }

    /// What the idea is called.
    pub(crate) fn name(&self, idea: Idea) -> &'static str {
        let at = usize::from(idea).checked_sub(1);
        at.and_then(|at| self.names.get(at)).copied().unwrap_or("")
    }

    /// The idea of that name.
    pub(crate) fn idea(&self, name: &str) -> Idea {
        let at = self.names.iter().position(|known| *known == name);
        at.map_or(0, |at| at as Idea + 1)
    }

    /// The idea of a folded word: the longest entry wins.
    pub(crate) fn look_up(&self, word: &[u8]) -> Idea {
        self.look_up_from(beginning_of(word), word)
    }

    /// [`Self::look_up`] of a word with that [`beginning`].
    #[inline]
    pub(crate) fn look_up_from(&self, beginning: u32, word: &[u8]) -> Idea {
        let lengths = self.lengths(beginning, word.len());
        if lengths == 0 { 0 } else { self.longest_of(lengths, word) }
    }

    /// The idea of the longest entry of these lengths that `word` stands for.
    fn longest_of(&self, lengths: u16, word: &[u8]) -> Idea {
        let mut found = 0;
        self.entries(lengths, word, |length, entry| {
            if length == word.len() && entry.word != 0 {
                found = entry.word;
            } else if entry.stem != 0 {
                found = entry.stem;
            }
        });
        found
    }

    /// The longest entry that `text` begins with, and its length in bytes. For scripts without
    /// spaces and for words written with spaces between their letters.
    pub(crate) fn longest_prefix(&self, text: &[u8]) -> Option<(Idea, usize)> {
        let mut found = None;
        let text = &text[..text.len().min(LONGEST_PREFIX)];
        self.entries(self.lengths(beginning_of(text), text.len()), text, |length, entry| {
            let idea = if entry.stem != 0 { entry.stem } else { entry.word };
            if idea != 0 {
                found = Some((idea, length));
            }
        });
        found
    }

    /// Gives all entries of these lengths that `text` begins with to `found`, the shortest first.
    #[inline]
    fn entries(&self, lengths: u16, text: &[u8], mut found: impl FnMut(usize, Entry)) {
        let mut hash = WordHash::START;
        for (i, byte) in text.iter().enumerate() {
            hash = hash.push(*byte);
            let told = (i + 1).min(LONGEST_TOLD);
            if lengths >> told & 1 != 0
                && self.may_hold(hash)
                && let Some(entry) = self.words.get(&hash.0)
            {
                found(i + 1, *entry);
            }
            // Whether longer ones are left. The longest stay so.
            if told < LONGEST_TOLD && lengths >> (told + 1) == 0 {
                break;
            }
        }
    }

    /// How long the entries can be that a word of `length` bytes begins with: a bit for each length.
    #[inline]
    fn lengths(&self, beginning: u32, length: usize) -> u16 {
        let known = self.lengths[beginning_slot(beginning)] | self.short;
        known & u16::MAX >> (LONGEST_TOLD - length.min(LONGEST_TOLD))
    }

    fn may_hold(&self, hash: WordHash) -> bool {
        let bit = filter_bit(hash);
        self.filter[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn parse(source: &'static str) -> Self {
        let filter = vec![0; 1 << (FILTER_BITS - 6)];
        let lengths = vec![0; 1 << BEGINNING_BITS];
        let (names, words) = (Vec::new(), HashMap::default());
        let mut lexicon = Self { names, words, filter, lengths, short: 0 };
        for line in source.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, words)) = line.split_once(':') else { continue };
            if !lexicon.names.contains(&name) {
                lexicon.names.push(name);
            }
            let idea = lexicon.idea(name);
            for word in words.split_whitespace() {
                lexicon.add(idea, word);
            }
        }
        lexicon
    }

    fn add(&mut self, idea: Idea, word: &str) {
        let (word, is_stem) = match word.strip_suffix('*') {
            Some(stem) => (stem, true),
            None => (word, false),
        };
        let folded = fold(word);
        let length = 1 << folded.len().min(LONGEST_TOLD);
        self.lengths[beginning_slot(beginning_of(folded.as_bytes()))] |= length;
        if is_stem && folded.len() < BEGINNING {
            self.short |= length;
        }
        let hash = WordHash::of(folded.as_bytes());
        let bit = filter_bit(hash);
        self.filter[bit / 64] |= 1 << (bit % 64);
        let entry = self.words.entry(hash.0).or_default();
        // A word that several ideas claim belongs to the first.
        let place = if is_stem { &mut entry.stem } else { &mut entry.word };
        if *place == 0 {
            *place = idea;
        }
        if is_stem && entry.word == 0 {
            entry.word = idea;
        }
    }
}

fn filter_bit(hash: WordHash) -> usize {
    (hash.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - FILTER_BITS)) as usize
}

/// The first bytes of a word, one behind the other, and zeros behind its end.
#[inline]
pub(crate) fn beginning(word: &[u8; 4], length: usize) -> u32 {
    u32::from_le_bytes(*word) & u32::MAX >> (u32::BITS - 8 * length.min(BEGINNING) as u32)
}

fn beginning_of(word: &[u8]) -> u32 {
    let bytes = word.iter().take(BEGINNING).rev();
    bytes.fold(0, |beginning, byte| beginning << 8 | u32::from(*byte))
}

/// Where in [`Lexicon::lengths`] a beginning stands.
#[inline]
fn beginning_slot(beginning: u32) -> usize {
    (beginning.wrapping_mul(0x9e37_79b1) >> (u32::BITS - BEGINNING_BITS)) as usize
}

/// `word` as the tokeniser would read it.
fn fold(word: &str) -> String {
    let mut folded = String::new();
    for c in word.chars() {
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
            continue;
        }
        match classify(c) {
            Class::Letter(c) | Class::Syllable(c) => folded.push(c),
            _ => {}
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_many_languages_stand_for_the_same_idea() {
        let lexicon = Lexicon::usual();
        for (word, idea) in [
            ("ignore", "override"),
            ("ignoring", "override"),
            ("vergiss", "override"),
            ("oublie", "override"),
            ("забудь", "override"),
            ("تجاهل", "override"),
            ("instructions", "instruction"),
            ("anweisungen", "instruction"),
            ("talimatlari", "instruction"),
            ("your", "you"),
            ("xyzzy", ""),
        ] {
            assert_eq!(lexicon.name(lexicon.look_up(word.as_bytes())), idea, "{word}");
        }
        let (idea, length) = lexicon.longest_prefix("忽略之前".as_bytes()).unwrap();
        assert_eq!((lexicon.name(idea), length), ("override", 6));
        assert!(lexicon.names.len() < 256, "ideas are numbered by a byte");
    }
}
