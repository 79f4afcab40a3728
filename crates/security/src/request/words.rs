//! Looks for many words in a text.
//!
//! An automaton takes longer to build than most requests take to search. So words are looked for by
//! a table of their first bytes, and there is an automaton only where many beginnings of words turn
//! up that are none: a text may be made for that.

use std::cmp::Ordering;

use aho_corasick::{AhoCorasick, Input, MatchKind};

use super::Failure;

/// So many first bytes of a word are hashed, to one of so many values.
const BEGIN: usize = 4;
const BEGINS: usize = 1 << 13;
/// How many bytes are compared before there is an automaton: so many, and so many for each byte that
/// was searched.
const PATIENCE: usize = 1 << 14;
const PATIENCE_A_BYTE: usize = 2;

/// Words that are looked for.
pub(super) struct Words {
    /// In alphabetical order, of letters in lower case where case does not matter.
    words: Vec<Word>,
    any_case: bool,
    /// Whether a word's first bytes have a hash.
    begins: Box<[bool; BEGINS]>,
    /// How many bytes may still be compared.
    patience: usize,
    automaton: Option<AhoCorasick>,
}

struct Word {
    text: String,
    /// The longest other word that this one begins with.
    shorter: Option<usize>,
}

impl Words {
    /// Looks for `sorted`, which are in alphabetical order and longer than [`BEGIN`].
    pub(super) fn new(sorted: impl Iterator<Item = String>, any_case: bool) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut begins = Box::new([false; BEGINS]);
        for text in sorted {
            if let Some(begin) = text.as_bytes().first_chunk() {
                begins[hash(*begin, any_case)] = true;
            }
            let mut shorter = words.len().checked_sub(1);
            while let Some(i) = shorter.filter(|i| !text.starts_with(&words[*i].text)) {
                shorter = words[i].shorter;
            }
            words.push(Word { text, shorter });
        }
        Self { words, any_case, begins, patience: PATIENCE, automaton: None }
    }

    /// The length of a word.
    pub(super) fn length(&self, word: usize) -> usize {
        self.words.get(word).map_or(0, |word| word.text.len())
    }

    /// The longest other word that a word begins with.
    pub(super) fn shorter(&self, word: usize) -> Option<usize> {
        self.words.get(word).and_then(|word| word.shorter)
    }

    /// The first place at or behind `from` where a word stands, and the longest one that does.
    pub(super) fn next(
        &mut self,
        text: &str,
        mut from: usize,
    ) -> Result<Option<(usize, usize)>, Failure> {
        while self.automaton.is_none() {
            let rest = text.as_bytes().get(from..).unwrap_or_default();
            let Some(skipped) = self.next_begin(rest) else { return Ok(None) };
            let (longest, compared) = self.longest(&rest[skipped..]);
            if let Some(longest) = longest {
                return Ok(Some((from + skipped, longest)));
            }
            self.patience = self.patience.saturating_add((skipped + 1) * PATIENCE_A_BYTE);
            match self.patience.checked_sub(compared) {
                Some(patience) => self.patience = patience,
                None => self.automaton = Some(self.build()?),
            }
            from += skipped + 1;
        }
        let automaton = self.automaton.as_ref();
        let hit = automaton.and_then(|automaton| automaton.find(Input::new(text).range(from..)));
        Ok(hit.map(|hit| (hit.start(), hit.pattern().as_usize())))
    }

    /// Where something begins like a word.
    fn next_begin(&self, bytes: &[u8]) -> Option<usize> {
        // Asked once and not for each byte.
        if self.any_case {
            return bytes.array_windows().position(|begin| self.begins[hash(*begin, true)]);
        }
        bytes.array_windows().position(|begin| self.begins[hash(*begin, false)])
    }

    /// The longest word that `text` begins with, and how many bytes were compared to tell.
    fn longest(&self, text: &[u8]) -> (Option<usize>, usize) {
        let mut compared = 0;
        let mut order = |word: &Word| {
            let (order, alike) = self.compare(word, text);
            compared += alike + 1;
            order
        };
        // Every word that the text begins with is ahead of the text, and the beginning of all words
        // between them.
        let behind = self.words.partition_point(|word| order(word) != Ordering::Greater);
        let mut next = behind.checked_sub(1);
        while let Some(word) = next.and_then(|i| self.words.get(i)) {
            let (_, alike) = self.compare(word, text);
            compared += alike + 1;
            if alike == word.text.len() {
                break;
            }
            next = word.shorter;
        }
        (next, compared)
    }

    /// Whether a word comes ahead of the text, and how many bytes they have in common. What the text
    /// begins with is ahead of it.
    fn compare(&self, word: &Word, text: &[u8]) -> (Ordering, usize) {
        let folded = |byte: u8| if self.any_case { byte.to_ascii_lowercase() } else { byte };
        let bytes = word.text.as_bytes();
        let alike = bytes.iter().zip(text).position(|(word, text)| *word != folded(*text));
        let alike = alike.unwrap_or(bytes.len().min(text.len()));
        let order = match (bytes.get(alike), text.get(alike)) {
            (Some(word), Some(text)) => word.cmp(&folded(*text)),
            (Some(_), None) => Ordering::Greater,
            (None, _) => Ordering::Less,
        };
        (order, alike)
    }

    /// Fails where there are too many words. What would be left out here would leave, so that there
    /// is no going on without it.
    fn build(&self) -> Result<AhoCorasick, Failure> {
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(self.any_case)
            .build(self.words.iter().map(|word| &word.text))
            .map_err(|_| Failure)
    }
}

/// A number below [`BEGINS`].
#[inline(always)]
fn hash(begin: [u8; BEGIN], any_case: bool) -> usize {
    // Letters in any case, and a few other characters as each other.
    let case = if any_case { 0x2020_2020 } else { 0 };
    let mixed = (u32::from_le_bytes(begin) | case).wrapping_mul(0x9E37_79B1);
    (mixed >> (u32::BITS - BEGINS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// All places where a word stands, one by one, and the longest word there.
    fn found(words: &mut Words, text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(hit) = words.next(text, from).unwrap() {
            from = hit.0 + 1;
            found.push(hit);
        }
        found
    }

    fn expected(sorted: &[String], text: &str, any_case: bool) -> Vec<(usize, usize)> {
        let text = if any_case { text.to_ascii_lowercase() } else { text.to_owned() };
        let longest = |at: usize| {
            let fits = |i: &usize| text.as_bytes()[at..].starts_with(sorted[*i].as_bytes());
            let fitting = (0..sorted.len()).filter(fits);
            fitting.max_by_key(|i| sorted[*i].len()).map(|i| (at, i))
        };
        (0..text.len()).filter_map(longest).collect()
    }

    #[test]
    fn a_text_of_beginnings_is_left_to_an_automaton() {
        let word = format!("{}b", "a".repeat(500));
        let mut words = Words::new([word.clone()].into_iter(), false);
        let text = format!("{}{word}", "a".repeat(5000));
        assert_eq!(found(&mut words, &text), [(5000, 0)]);
        assert!(words.automaton.is_some());
        // Ordinary text needs none, nor do words that are there.
        let mut words = Words::new(["hunter2".to_owned()].into_iter(), true);
        assert_eq!(found(&mut words, &"a Hunter2 hunter3 ".repeat(2000)).len(), 2000);
        assert!(words.automaton.is_none());
    }

    proptest! {
        #[test]
        fn every_word_is_found(
            words in prop::collection::btree_set("[aAb@é]{5,9}", 1..8),
            text in "([aAb@éxÉ]{0,9}|AAAAAA|aaaaaa){0,12}",
            any_case in any::<bool>(),
            impatient in any::<bool>(),
        ) {
            let lower = |word: String| if any_case { word.to_ascii_lowercase() } else { word };
            let sorted: BTreeSet<String> = words.into_iter().map(lower).collect();
            let sorted: Vec<String> = sorted.into_iter().collect();
            let mut words = Words::new(sorted.iter().cloned(), any_case);
            if impatient {
                words.patience = 0;
            }
            prop_assert_eq!(found(&mut words, &text), expected(&sorted, &text, any_case));
        }
    }
}
