//! Which idea a word stands for, in many languages.
//!
//! The model sees ideas beside words: what it learns of "ignore … instructions" in English holds
//! for every language that the lexicon knows. Words are looked up while they are read, by the hash
//! of each of their beginnings, so a stem costs no more than a word.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::normalise::{Class, classify};

/// An idea: the number of its name among the lexicon's names, from 1. 0 is none.
pub(crate) type Idea = u8;

const SOURCE: &str = include_str!("lexicon.txt");
/// Bits of the filter that most beginnings of words fail, so that the table is rarely asked.
const FILTER_BITS: u32 = 17;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::parse(SOURCE));

/// The words and stems of all languages.
pub(crate) struct Lexicon {
    names: Vec<&'static str>,
    words: HashMap<u64, Entry>,
    filter: Vec<u64>,
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
        let mut hash = WordHash::START;
        let mut found = 0;
        for (i, byte) in word.iter().enumerate() {
            hash = hash.push(*byte);
            if !self.may_hold(hash) {
                continue;
            }
            let Some(entry) = self.words.get(&hash.0) else { continue };
            if i + 1 == word.len() && entry.word != 0 {
                found = entry.word;
            } else if entry.stem != 0 {
                found = entry.stem;
            }
        }
        found
    }

    /// The longest entry that `text` begins with, and its length in bytes. For scripts without
    /// spaces and for words written with spaces between their letters.
    pub(crate) fn longest_prefix(&self, text: &[u8]) -> Option<(Idea, usize)> {
        let mut hash = WordHash::START;
        let mut found = None;
        for (i, byte) in text.iter().take(32).enumerate() {
            hash = hash.push(*byte);
            if !self.may_hold(hash) {
                continue;
            }
            let Some(entry) = self.words.get(&hash.0) else { continue };
            let idea = if entry.stem != 0 { entry.stem } else { entry.word };
            if idea != 0 {
                found = Some((idea, i + 1));
            }
        }
        found
    }

    fn may_hold(&self, hash: WordHash) -> bool {
        let bit = filter_bit(hash);
        self.filter[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn parse(source: &'static str) -> Self {
        let filter = vec![0; 1 << (FILTER_BITS - 6)];
        let mut lexicon = Self { names: Vec::new(), words: HashMap::new(), filter };
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
        let hash = WordHash::of(fold(word).as_bytes());
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
