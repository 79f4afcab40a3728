//! Looks for many words in a text.
//!
//! An automaton takes longer to build than most requests take to search, and a thousand times the
//! memory of its words. So words are looked for by a table of their first bytes, then by one of a
//! few more, then by bisection among those that begin alike.
//!
//! A text may be made to be compared often. A bisection compares only what its bounds do not have in
//! common with the text, and of a long word that stood there almost it is known where it repeats
//! itself: so a text is compared with it once and not from each place anew.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use super::Failure;

/// So many first bytes of a word are hashed, to one of so many values.
const BEGIN: usize = 4;
const BEGINS: usize = 1 << 14;
/// By so many first bytes, or by all of them, words are grouped.
const KEY: usize = 8;
/// How many bytes are compared in vain before a word's repeats are made out.
const LONG: usize = 256;

/// Words that are looked for.
pub(super) struct Words {
    /// In alphabetical order.
    words: Vec<Word>,
    /// One behind the other, so that those that begin alike are near each other.
    texts: String,
    /// Whether a word's first bytes have a hash.
    begins: Box<[bool; BEGINS]>,
    groups: Vec<Group>,
    /// For each hash of a key, the group that has it or a hash a little below, plus one; 0 for none.
    slots: Vec<u32>,
    /// How long keys are, the longest first.
    lengths: Vec<usize>,
    /// Nobody can foretell which keys have the same hash.
    seed: u64,
}

struct Word {
    /// Where it stands among all of them.
    place: Range<usize>,
    /// The longest other word that this one begins with.
    shorter: Option<u32>,
    /// One that comes up further on in that way; so a long way is gone in few steps.
    far_shorter: Option<u32>,
}

/// Words with the same key.
struct Group {
    key: [u8; KEY],
    length: usize,
    words: Range<usize>,
}

/// Looks for words in one text, from its beginning to its end.
pub(super) struct Finder<'w, 't> {
    words: &'w Words,
    text: &'t [u8],
    /// The long words that stood somewhere almost.
    almost: HashMap<usize, Almost>,
}

/// The beginning of a word in a text.
struct Almost {
    /// Where it stands.
    place: Range<usize>,
    /// How many bytes were compared in vain.
    in_vain: usize,
    /// From each of the word's bytes on, how many are the same as its first ones; empty until it pays.
    repeats: Vec<u32>,
}

impl Words {
    /// Looks for `sorted`, which are in alphabetical order and longer than [`BEGIN`]. Fails where
    /// there are too many. What would be left out here would leave, so that there is no going on
    /// without it.
    pub(super) fn new<S: AsRef<str>>(sorted: &[S]) -> Result<Self, Failure> {
        u32::try_from(sorted.len()).map_err(|_| Failure)?;
        let mut words = Self {
            words: Vec::with_capacity(sorted.len()),
            texts: String::with_capacity(sorted.iter().map(|text| text.as_ref().len()).sum()),
            begins: Box::new([false; BEGINS]),
            groups: Vec::new(),
            slots: Vec::new(),
            lengths: Vec::new(),
            seed: RandomState::new().hash_one(0),
        };
        // How many shorter ones each word begins with.
        let mut depths: Vec<u32> = Vec::with_capacity(sorted.len());
        for text in sorted.iter().map(AsRef::as_ref) {
            if let Some(begin) = text.as_bytes().first_chunk() {
                words.begins[hash(*begin)] = true;
            }
            let mut shorter = words.words.len().checked_sub(1).map(|last| last as u32);
            while let Some(i) = shorter.filter(|i| !text.starts_with(words.text(*i as usize))) {
                shorter = words.words[i as usize].shorter;
            }
            depths.push(shorter.map_or(0, |i| depths[i as usize] + 1));
            let far_shorter = shorter.map(|i| words.far(i, &depths));
            let start = words.texts.len();
            words.texts.push_str(text);
            let place = start..words.texts.len();
            words.words.push(Word { place, shorter, far_shorter });
        }
        words.group();
        Ok(words)
    }

    /// How far a word may go whose next shorter one is `shorter`: steps double where two of the same
    /// length follow each other.
    fn far(&self, shorter: u32, depths: &[u32]) -> u32 {
        let far_of = |i: u32| self.words[i as usize].far_shorter.unwrap_or(i);
        let (far, further) = (far_of(shorter), far_of(far_of(shorter)));
        let depth = |i: u32| depths[i as usize];
        if depth(shorter) - depth(far) == depth(far) - depth(further) { further } else { shorter }
    }

    fn group(&mut self) {
        for i in 0..self.words.len() {
            let text = self.text(i).as_bytes();
            let length = text.len().min(KEY);
            let key = padded(&text[..length]);
            match self.groups.last_mut() {
                Some(last) if last.length == length && last.key == key => last.words.end = i + 1,
                _ => self.groups.push(Group { key, length, words: i..i + 1 }),
            }
        }
        self.lengths = (1..=KEY).rev().collect();
        self.lengths.retain(|length| self.groups.iter().any(|group| group.length == *length));
        self.slots = vec![0; (2 * self.groups.len()).next_power_of_two()];
        for (i, group) in self.groups.iter().enumerate() {
            let mut slot = self.slot(group.key, group.length);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = i as u32 + 1;
        }
    }

    fn slot(&self, key: [u8; KEY], length: usize) -> usize {
        let key = u64::from_le_bytes(key) ^ self.seed.rotate_left(length as u32);
        let mixed = u128::from(key) * 0x9E37_79B9_7F4A_7C15;
        ((mixed ^ (mixed >> 64)) as usize) & (self.slots.len() - 1)
    }

    /// The words that begin with, or are, `begin`.
    fn beginning_with(&self, begin: &[u8]) -> Option<Range<usize>> {
        let key = padded(begin);
        let mut slot = self.slot(key, begin.len());
        while let Some(i) = self.slots[slot].checked_sub(1) {
            let group = &self.groups[i as usize];
            if group.key == key && group.length == begin.len() {
                return Some(group.words.clone());
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }

    fn text(&self, word: usize) -> &str {
        &self.texts[self.words[word].place.clone()]
    }

    /// The length of a word.
    pub(super) fn length(&self, word: usize) -> usize {
        self.words.get(word).map_or(0, |word| word.place.len())
    }

    /// The longest other word that a word begins with.
    pub(super) fn shorter(&self, word: usize) -> Option<usize> {
        self.words.get(word).and_then(|word| word.shorter).map(|i| i as usize)
    }

    /// The longest of all words that a word begins with, itself included, of up to so many bytes.
    fn no_longer(&self, word: usize, length: usize) -> Option<usize> {
        let mut next = Some(word);
        while let Some(i) = next.filter(|i| self.length(*i) > length) {
            let far = self.words[i].far_shorter.map(|far| far as usize);
            next = far.filter(|far| self.length(*far) > length).or_else(|| self.shorter(i));
        }
        next
    }

    /// Looks for them in `text`.
    pub(super) fn finder<'w, 't>(&'w self, text: &'t str) -> Finder<'w, 't> {
        Finder { words: self, text: text.as_bytes(), almost: HashMap::new() }
    }
}

impl Finder<'_, '_> {
    /// The first place at or behind `from`, which never goes back, where a word stands, and the
    /// longest one that does.
    pub(super) fn next(&mut self, mut from: usize) -> Option<(usize, usize)> {
        loop {
            let mut rest = self.text.get(from..)?.array_windows();
            from += rest.position(|begin| self.words.begins[hash(*begin)])?;
            if let Some(longest) = self.longest(from) {
                return Some((from, longest));
            }
            from += 1;
        }
    }

    /// The longest word that stands at a place.
    fn longest(&mut self, at: usize) -> Option<usize> {
        let words = self.words;
        words.lengths.iter().find_map(|length| {
            let begin = self.text.get(at..at + length)?;
            let group = words.beginning_with(begin)?;
            self.longest_of(group, at, *length)
        })
    }

    /// The longest of the `words`, or of those that they begin with, that stands at a place. The
    /// first `known` bytes of all of them do.
    fn longest_of(&mut self, words: Range<usize>, at: usize, known: usize) -> Option<usize> {
        // Every word that the text begins with is ahead of the text, and the beginning of all words
        // between them.
        let (mut ahead, mut behind) = (words.start, words.end);
        let (mut alike_ahead, mut alike_behind) = (known, known);
        while ahead < behind {
            let middle = ahead + (behind - ahead) / 2;
            let alike = self.alike(middle, at, alike_ahead.min(alike_behind));
            let next_byte = self.words.text(middle).as_bytes().get(alike);
            if next_byte.is_some() && next_byte > self.text.get(at + alike) {
                (behind, alike_behind) = (middle, alike);
            } else {
                (ahead, alike_ahead) = (middle + 1, alike);
            }
        }
        let last = ahead.checked_sub(1).filter(|last| words.contains(last))?;
        self.words.no_longer(last, alike_ahead)
    }

    /// How many bytes of a word stand at a place, where the first `known` do.
    fn alike(&mut self, i: usize, at: usize, known: usize) -> usize {
        let word = self.words.text(i).as_bytes();
        let mut alike = known;
        if word.len() > LONG
            && let Some(Almost { place, repeats, .. }) = self.almost.get(&i)
            && !repeats.is_empty()
            && at < place.end
        {
            let left = place.end - at;
            let repeated = repeats.get(at - place.start).map_or(0, |repeated| *repeated as usize);
            if repeated < left {
                return repeated;
            }
            alike = alike.max(left);
        }
        alike += in_common(&word[alike..], &self.text[at + alike..]);
        if alike > LONG && alike < word.len() {
            let place = at..at + alike;
            let almost = self.almost.entry(i).or_insert_with(|| Almost {
                place: 0..0,
                in_vain: 0,
                repeats: Vec::new(),
            });
            almost.place = place;
            almost.in_vain += alike;
            // Comparing is much faster than counting.
            let covered = word.len().min(self.text.len());
            if almost.repeats.is_empty() && almost.in_vain >= 16 * covered {
                almost.repeats = repeats(&word[..covered]);
            }
        }
        alike
    }
}

/// How many bytes two texts begin with in common.
fn in_common(one: &[u8], other: &[u8]) -> usize {
    const STEP: usize = 32;
    let steps = one.chunks_exact(STEP).zip(other.chunks_exact(STEP));
    let from = STEP * steps.take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[from..], &other[from..]);
    from + one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// From each byte of `word` on, how many are the same as its first ones.
fn repeats(word: &[u8]) -> Vec<u32> {
    let mut repeats = vec![0; word.len()];
    if let Some(first) = repeats.first_mut() {
        *first = word.len() as u32;
    }
    // The repeat that goes furthest.
    let mut furthest: Range<usize> = 0..0;
    for i in 1..word.len() {
        let left = furthest.end.saturating_sub(i);
        let mut length = left.min(repeats[i - furthest.start] as usize);
        if length == left {
            length += in_common(&word[length..], &word[i + length..]);
        }
        if i + length > furthest.end {
            furthest = i..i + length;
        }
        repeats[i] = length as u32;
    }
    repeats
}

/// `begin` with zeros behind it.
fn padded(begin: &[u8]) -> [u8; KEY] {
    let mut key = [0; KEY];
    for (to, from) in key.iter_mut().zip(begin) {
        *to = *from;
    }
    key
}

/// A number below [`BEGINS`].
#[inline(always)]
fn hash(begin: [u8; BEGIN]) -> usize {
    let mixed = u32::from_le_bytes(begin).wrapping_mul(0x9E37_79B1);
    (mixed >> (u32::BITS - BEGINS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// All places where a word stands, one by one, and the longest word there.
    fn found(words: &Words, text: &str) -> Vec<(usize, usize)> {
        let mut finder = words.finder(text);
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(hit) = finder.next(from) {
            from = hit.0 + 1;
            found.push(hit);
        }
        found
    }

    fn expected(sorted: &[String], text: &str) -> Vec<(usize, usize)> {
        let longest = |at: usize| {
            let fits = |i: &usize| text.as_bytes()[at..].starts_with(sorted[*i].as_bytes());
            let fitting = (0..sorted.len()).filter(fits);
            fitting.max_by_key(|i| sorted[*i].len()).map(|i| (at, i))
        };
        (0..text.len()).filter_map(longest).collect()
    }

    fn sorted(words: impl IntoIterator<Item = String>) -> Vec<String> {
        words.into_iter().collect::<BTreeSet<String>>().into_iter().collect()
    }

    #[test]
    fn a_text_is_not_compared_with_a_long_word_from_each_place_anew() {
        let word = format!("{}b", "a".repeat(5000));
        let words = Words::new(&[word.as_str()]).unwrap();
        let text = format!("{}{word}", "a".repeat(50_000));
        let mut finder = words.finder(&text);
        assert_eq!(finder.next(0), Some((50_000, 0)));
        assert!(finder.almost.contains_key(&0));
        // Ordinary text needs no such thing, nor do words that are there.
        let text = format!("a {word} aaaaaaaaab ").repeat(20);
        let mut finder = words.finder(&text);
        assert_eq!(finder.next(0), Some((2, 0)));
        assert!(finder.almost.is_empty());
    }

    #[test]
    fn words_that_begin_with_many_others_are_found() {
        let nested = sorted((5..300).map(|length| "ab".repeat(length)));
        let words = Words::new(&nested).unwrap();
        for length in [4, 5, 6, 77, 298, 299, 400] {
            let text = format!("x{}c", "ab".repeat(length));
            assert_eq!(found(&words, &text), expected(&nested, &text));
        }
    }

    proptest! {
        #[test]
        fn every_word_is_found(
            words in prop::collection::btree_set("[aAb@é]{5,12}", 1..12),
            text in "([aAb@éxÉ]{0,9}|AAAAAA|aaaaaaaaaa){0,12}",
        ) {
            let words = sorted(words);
            let found = found(&Words::new(&words).unwrap(), &text);
            prop_assert_eq!(found, expected(&words, &text));
        }

        #[test]
        fn long_words_are_found(
            // What repeats, how often, and what ends it.
            words in prop::collection::vec(("[ab]{1,3}", 100..400_usize, "[abc]{4}"), 1..5),
            texts in prop::collection::vec((0..5_usize, 0..5_usize, "[abc]{0,2}"), 0..6),
        ) {
            let of = |(part, count, end): &(String, usize, String)| part.repeat(*count) + end;
            let text: String = texts
                .iter()
                .map(|(i, cut, end)| {
                    let word = of(&words[i % words.len()]);
                    format!("{}{end}", &word[..word.len() * cut / 4])
                })
                .collect();
            let words = sorted(words.iter().map(of));
            let found = found(&Words::new(&words).unwrap(), &text);
            prop_assert_eq!(found, expected(&words, &text));
        }

        #[test]
        fn repeats_are_counted(word in "[ab]{0,40}") {
            let word = word.as_bytes();
            let expected = |i: usize| in_common(word, &word[i..]) as u32;
            prop_assert_eq!(repeats(word), (0..word.len()).map(expected).collect::<Vec<_>>());
        }
    }
}
