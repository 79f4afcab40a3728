//! Looks for many words in a text.
//!
//! An automaton takes longer to build than most requests take to search, and a thousand times the
//! memory of its words. So words are looked for by a few bits for their first bytes, then by a table
//! of some more, then by bisection among those that begin alike.
//!
//! A text may be made to be compared often. A bisection compares only what its bounds do not have in
//! common with the text, and of a long word that stood there almost it is known where it repeats
//! itself: so a text is compared with it once and not from each place anew.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use memchr::memchr3;

use super::Failure;

/// By so many first bytes, or by all of them, words are grouped.
const KEY: usize = 8;
/// Of 16 bits for each word (and some more, where there are few), one is set.
const BITS_A_WORD: usize = 16;
const FEWEST_BITS: usize = 1 << 14;
/// How many bytes are compared in vain before a word's repeats are made out.
const LONG: usize = 256;

/// Words that are looked for.
pub(super) struct Words {
    /// In alphabetical order.
    words: Vec<Word>,
    /// One behind the other, so that those that begin alike are near each other.
    texts: String,
    begins: Begins,
    groups: Vec<Group>,
    /// For each hash of a key, the group that has it or a hash a little below, plus one; 0 for none.
    slots: Vec<u32>,
    /// How long keys are, the longest first.
    lengths: Vec<usize>,
    /// Nobody can foretell which keys have the same hash.
    seed: u64,
}

/// Which bytes words begin with: as many as all of them have.
struct Begins {
    /// Takes that many bytes of a number.
    mask: u64,
    length: usize,
    /// Whether a beginning has a hash, 64 of them in a number.
    bits: Vec<u64>,
    shift: u32,
    /// Whether a word begins with a byte: in most texts few of them do.
    bytes: [bool; 256],
    /// These bytes, where they are no more than can be looked for at once.
    few: Option<[u8; 3]>,
}

#[derive(Clone, Copy)]
struct Word {
    /// Its bytes behind the key, up to eight of them; in the order of words.
    next: u64,
    /// Where it stands among all of them; the next word begins where it ends.
    start: u32,
    /// The longest other word that this one begins with, or [`NONE`].
    shorter: u32,
    /// One that comes up further on in that way; so a long way is gone in few steps.
    far_shorter: u32,
}

const NONE: u32 = u32::MAX;

/// Words with the same key.
struct Group {
    key: [u8; KEY],
    length: u32,
    first: u32,
    /// Behind the last one.
    end: u32,
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
    /// Looks for `sorted`, which are in alphabetical order, all different, and none of them empty: so
    /// many, of so many bytes or less. Fails where there are too many. What would be left out here
    /// would leave, so that there is no going on without it.
    pub(super) fn new<'t>(
        sorted: impl Iterator<Item = &'t str> + Clone,
        count: usize,
        bytes: usize,
    ) -> Result<Self, Failure> {
        u32::try_from(bytes.max(count)).map_err(|_| Failure)?;
        let seed = RandomState::new().hash_one(0);
        let mut words = Self {
            words: Vec::with_capacity(count),
            texts: String::with_capacity(bytes),
            begins: Begins::of(sorted.clone(), count),
            groups: Vec::with_capacity(count),
            slots: Vec::new(),
            lengths: Vec::new(),
            seed,
        };
        // How many shorter ones each word begins with.
        let mut depths: Vec<u32> = Vec::with_capacity(count);
        for text in sorted {
            let mut shorter = (words.words.len() as u32).checked_sub(1).unwrap_or(NONE);
            while shorter != NONE && !text.starts_with(words.text(shorter as usize)) {
                shorter = words.words[shorter as usize].shorter;
            }
            let (mut depth, mut far_shorter) = (0, NONE);
            if shorter != NONE {
                depth = depths[shorter as usize] + 1;
                far_shorter = words.far(shorter, &depths);
            }
            depths.push(depth);
            let start = words.texts.len() as u32;
            words.texts.push_str(text);
            let next = text.as_bytes().get(KEY..).unwrap_or_default();
            let next = u64::from_be_bytes(padded(next));
            words.words.push(Word { next, start, shorter, far_shorter });
        }
        words.group();
        Ok(words)
    }

    /// How far a word may go whose next shorter one is `shorter`: steps double where two of the same
    /// length follow each other.
    fn far(&self, shorter: u32, depths: &[u32]) -> u32 {
        let far_of = |i: u32| match self.words[i as usize].far_shorter {
            NONE => i,
            far => far,
        };
        let (far, further) = (far_of(shorter), far_of(far_of(shorter)));
        let depth = |i: u32| depths[i as usize];
        if depth(shorter) - depth(far) == depth(far) - depth(further) { further } else { shorter }
    }

    fn group(&mut self) {
        let mut has_length = [false; KEY + 1];
        for i in 0..self.words.len() {
            let text = self.text(i).as_bytes();
            let (key, length) = (padded(text), text.len().min(KEY));
            has_length[length] = true;
            let (i, length) = (i as u32, length as u32);
            match self.groups.last_mut() {
                Some(last) if last.length == length && last.key == key => last.end = i + 1,
                _ => self.groups.push(Group { key, length, first: i, end: i + 1 }),
            }
        }
        self.lengths = (1..=KEY).rev().filter(|length| has_length[*length]).collect();
        self.slots = vec![0; (2 * self.groups.len()).next_power_of_two()];
        for (i, group) in self.groups.iter().enumerate() {
            let mut slot = self.slot(group.key, group.length);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = i as u32 + 1;
        }
    }

    fn slot(&self, key: [u8; KEY], length: u32) -> usize {
        let key = u64::from_le_bytes(key) ^ self.seed.rotate_left(length);
        let mixed = u128::from(key) * 0x9E37_79B9_7F4A_7C15;
        ((mixed ^ (mixed >> 64)) as usize) & (self.slots.len() - 1)
    }

    /// The words that begin with, or are, `begin`.
    fn beginning_with(&self, begin: &[u8]) -> Option<Range<usize>> {
        let (key, length) = (padded(begin), begin.len() as u32);
        let mut slot = self.slot(key, length);
        while let Some(i) = self.slots[slot].checked_sub(1) {
            let group = &self.groups[i as usize];
            if group.key == key && group.length == length {
                return Some(group.first as usize..group.end as usize);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }

    fn place(&self, word: usize) -> Range<usize> {
        let start = |word: usize| self.words.get(word).map(|word| word.start as usize);
        start(word).unwrap_or_default()..start(word + 1).unwrap_or(self.texts.len())
    }

    fn text(&self, word: usize) -> &str {
        &self.texts[self.place(word)]
    }

    /// The length of a word.
    pub(super) fn length(&self, word: usize) -> usize {
        self.place(word).len()
    }

    /// The longest other word that a word begins with.
    pub(super) fn shorter(&self, word: usize) -> Option<usize> {
        let shorter = self.words.get(word).map(|word| word.shorter);
        shorter.filter(|shorter| *shorter != NONE).map(|shorter| shorter as usize)
    }

    /// Whether another word begins with a word.
    pub(super) fn is_begin(&self, word: usize) -> bool {
        self.words.get(word + 1).is_some_and(|next| next.shorter as usize == word)
    }

    /// The longest of all words that a word begins with, itself included, of up to so many bytes.
    fn no_longer(&self, word: usize, length: usize) -> Option<usize> {
        let mut next = Some(word);
        while let Some(i) = next.filter(|i| self.length(*i) > length) {
            let far = Some(self.words[i].far_shorter).filter(|far| *far != NONE);
            let far = far.map(|far| far as usize).filter(|far| self.length(*far) > length);
            next = far.or_else(|| self.shorter(i));
        }
        next
    }

    /// Looks for them in `text`.
    pub(super) fn finder<'w, 't>(&'w self, text: &'t str) -> Finder<'w, 't> {
        Finder { words: self, text: text.as_bytes(), almost: HashMap::new() }
    }
}

impl Begins {
    fn of<'t>(words: impl Iterator<Item = &'t str> + Clone, count: usize) -> Self {
        let shortest = words.clone().map(str::len).min().unwrap_or_default();
        let length = shortest.clamp(1, KEY);
        let count = (BITS_A_WORD * count).max(FEWEST_BITS).next_power_of_two();
        let mut begins = Self {
            mask: u64::MAX >> (u64::BITS - 8 * length as u32),
            length,
            bits: vec![0; count / 64],
            shift: u64::BITS - count.ilog2(),
            bytes: [false; 256],
            few: None,
        };
        for word in words {
            if let Some(first) = word.bytes().next() {
                begins.bytes[usize::from(first)] = true;
            }
            let hash = begins.hash(padded(word.as_bytes()));
            begins.bits[hash / 64] |= 1 << (hash % 64);
        }
        let mut bytes = (0..=u8::MAX).filter(|byte| begins.bytes[usize::from(*byte)]);
        if let Some(one) = bytes.next() {
            let few = [one, bytes.next().unwrap_or(one), bytes.next().unwrap_or(one)];
            begins.few = bytes.next().is_none().then_some(few);
        }
        begins
    }

    #[inline(always)]
    fn hash(&self, begin: [u8; KEY]) -> usize {
        let begin = u64::from_le_bytes(begin) & self.mask;
        (begin.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// Whether a word may begin like this.
    #[inline(always)]
    fn has(&self, begin: [u8; KEY]) -> bool {
        let hash = self.hash(begin);
        self.bits.get(hash / 64).is_some_and(|bits| bits >> (hash % 64) & 1 == 1)
    }

    /// The first place in `text`, at or behind `from` and before `until`, where a word may begin.
    fn find(&self, text: &[u8], from: usize, until: usize) -> Option<usize> {
        let end = text.len().checked_sub(self.length)?.saturating_add(1).min(until);
        let mut at = from;
        loop {
            let rest = text.get(at..end)?;
            at += match self.few {
                Some([one, two, three]) => memchr3(one, two, three, rest)?,
                None => rest.iter().position(|byte| self.bytes[usize::from(*byte)])?,
            };
            if self.has(padded(&text[at..])) {
                return Some(at);
            }
            at += 1;
        }
    }
}

impl Finder<'_, '_> {
    /// The first place at or behind `from`, which never goes back, and before `until`, where a word
    /// stands, and the longest one that does.
    pub(super) fn next(&mut self, mut from: usize, until: usize) -> Option<(usize, usize)> {
        loop {
            from = self.words.begins.find(self.text, from, until)?;
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
        // between them. Those that go on in the same way for a while are told by one comparison.
        let next = self.text.get(at + KEY..).map_or(0, |rest| u64::from_be_bytes(padded(rest)));
        let all = self.words.words.get(words.clone()).unwrap_or_default();
        let mut ahead = words.start + all.partition_point(|word| word.next < next);
        let mut behind = words.start + all.partition_point(|word| word.next <= next);
        let (first, mut alike_ahead, mut alike_behind) = (ahead, known, known);
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
        if ahead == first {
            let different = self.words.words[last].next ^ next;
            alike_ahead = match self.words.length(last).checked_sub(KEY) {
                // What is different tells how many bytes are not.
                Some(1..=KEY) => KEY + different.leading_zeros() as usize / 8,
                Some(0) | None => known,
                _ => self.alike(last, at, known),
            };
        }
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
    let mut from = STEP * steps.take_while(|(one, other)| one == other).count();
    let (words, others) = (one[from..].as_chunks().0, other[from..].as_chunks().0);
    for (word, other) in words.iter().zip(others) {
        let different = u64::from_le_bytes(*word) ^ u64::from_le_bytes(*other);
        if different != 0 {
            return from + different.trailing_zeros() as usize / 8;
        }
        from += KEY;
    }
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

/// The first bytes of `text`, with zeros behind them where there are too few.
fn padded(text: &[u8]) -> [u8; KEY] {
    if let Some(begin) = text.first_chunk() {
        return *begin;
    }
    let mut key = [0; KEY];
    for (to, from) in key.iter_mut().zip(text) {
        *to = *from;
    }
    key
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn words_of<S: AsRef<str>>(sorted: &[S]) -> Words {
        let texts = sorted.iter().map(AsRef::as_ref);
        let bytes = texts.clone().map(str::len).sum();
        Words::new(texts, sorted.len(), bytes).unwrap()
    }

    /// All places where a word stands, one by one, and the longest word there.
    fn found(words: &Words, text: &str) -> Vec<(usize, usize)> {
        let mut finder = words.finder(text);
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(hit) = finder.next(from, usize::MAX) {
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
        let words = words_of(&[word.as_str()]);
        let text = format!("{}{word}", "a".repeat(50_000));
        let mut finder = words.finder(&text);
        assert_eq!(finder.next(0, usize::MAX), Some((50_000, 0)));
        assert!(finder.almost.contains_key(&0));
        // Ordinary text needs no such thing, nor do words that are there.
        let text = format!("a {word} aaaaaaaaab ").repeat(20);
        let mut finder = words.finder(&text);
        assert_eq!(finder.next(0, usize::MAX), Some((2, 0)));
        assert!(finder.almost.is_empty());
    }

    #[test]
    fn words_that_begin_with_many_others_are_found() {
        let nested = sorted((5..300).map(|length| "ab".repeat(length)));
        let words = words_of(&nested);
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
            let found = found(&words_of(&words), &text);
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
            let found = found(&words_of(&words), &text);
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
