//! Finds a map's own words in a text that may be cut anywhere.

use std::ops::Range;

use memchr::memchr2;

use super::word::Word;
use crate::restore::letters::{Letter, Letters};

/// A word, and the number of what it stands for.
type Entry = (Word, usize);

/// The words of one map, sorted. No word begins another one.
#[derive(Clone)]
pub(crate) struct Index {
    words: Vec<Entry>,
    /// For each letter, the words that have it in the second place. It tells the first one, too:
    /// those of placeholders, addresses and cards are followed by different ones.
    by_second: Box<[Range<usize>; 256]>,
    /// Whether any word begins with a digit: surrogates of addresses and cards.
    digits: bool,
}

/// What [`Finder::next`] came upon first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A whole word.
    Whole(Hit),
    /// From here to the end of the text, it may become a word.
    Cut(usize),
    /// Neither.
    Nothing,
}

/// A word in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Where it stands.
    pub(crate) place: Range<usize>,
    /// Its number.
    pub(crate) number: usize,
    /// Whether it is percent-encoded, as in a URL.
    pub(crate) percent: bool,
}

/// What [`Index::match_at`] found.
pub(crate) enum Match {
    Whole { length: usize, number: usize, percent: bool },
    Cut,
    No,
}

impl Index {
    pub(crate) fn new(mut words: Vec<Entry>) -> Self {
        words.sort_unstable();
        let digits = words.first().is_some_and(|(word, _)| word.at(0).is_ascii_digit());
        let mut by_second = Box::new([const { 0..0 }; 256]);
        let mut start = 0;
        for group in words.chunk_by(|(a, _), (b, _)| a.at(1) == b.at(1)) {
            let end = start + group.len();
            by_second[usize::from(group[0].0.at(1))] = start..end;
            start = end;
        }
        Self { words, by_second, digits }
    }

    /// Looks for words in `text`.
    pub(crate) fn finder<'t>(&self, text: &'t str) -> Finder<'_, 't> {
        Finder { index: self, text: text.as_bytes(), starts: Starts::new(text, self.digits) }
    }

    /// Whether `text` begins with a word. Reads a letter at a time and keeps the words that begin
    /// with those so far, so that it stops where none is left.
    pub(crate) fn match_at(&self, text: &[u8]) -> Match {
        let mut letters = Letters::new(text);
        let mut first = 0;
        let mut words = self.words.as_slice();
        for depth in 0.. {
            let letter = match letters.next() {
                Letter::Is(letter) => letter,
                Letter::Cut => return Match::Cut,
                Letter::Other => return Match::No,
            };
            words = match depth {
                0 => {
                    first = letter;
                    words
                }
                // Nearly every `q` of ordinary text ends here: in code, `u` follows.
                1 => self.with_start(first, letter),
                _ => narrow(words, depth, letter),
            };
            match words {
                [] => return Match::No,
                [(word, number)] if word.len() == depth + 1 => {
                    let (length, percent) = (letters.read(), letters.percent());
                    return Match::Whole { length, number: *number, percent };
                }
                _ => {}
            }
        }
        Match::No
    }

    /// The words that begin with these two letters.
    fn with_start(&self, first: u8, second: u8) -> &[Entry] {
        let words = self.words.get(self.by_second[usize::from(second)].clone()).unwrap_or_default();
        if words.first().is_some_and(|(word, _)| word.at(0) == first) { words } else { &[] }
    }
}

/// Those of `words`, which agree up to `depth`, that have `letter` there.
fn narrow(words: &[Entry], depth: usize, letter: u8) -> &[Entry] {
    let [(first, _), .., (last, _)] = words else {
        let is = words.first().is_some_and(|(word, _)| word.at(depth) == letter);
        return if is { words } else { &[] };
    };
    let (least, most) = (first.at(depth), last.at(depth));
    if letter < least || letter > most {
        return &[];
    }
    if least == most {
        return words;
    }
    let start = words.partition_point(|(word, _)| word.at(depth) < letter);
    let rest = &words[start..];
    &rest[..rest.partition_point(|(word, _)| word.at(depth) == letter)]
}

/// Looks for an index's words in a text.
pub(crate) struct Finder<'i, 't> {
    index: &'i Index,
    text: &'t [u8],
    starts: Starts<'t>,
}

impl Finder<'_, '_> {
    /// The first word at or behind `from`, or the tail that may become one. `from` never goes back.
    ///
    /// Whatever is said about a place depends on the bytes from there on only, and more text never
    /// changes it, except that a cut is decided then: so it does not matter how a text is cut.
    pub(crate) fn next(&mut self, mut from: usize) -> Found {
        while let Some(at) = self.starts.next(from) {
            from = at + 1;
            match self.index.match_at(&self.text[at..]) {
                Match::Whole { length, number, percent } => {
                    return Found::Whole(Hit { place: at..at + length, number, percent });
                }
                Match::Cut => return Found::Cut(at),
                Match::No => {}
            }
        }
        Found::Nothing
    }
}

/// The places where a word may begin: at a `Q`, and, where there are surrogates of addresses and
/// cards, at the digits that they begin with.
pub(crate) struct Starts<'t> {
    text: &'t [u8],
    /// Where the next of each is; the text's length where there is none.
    letter: usize,
    digit: usize,
}

impl<'t> Starts<'t> {
    pub(crate) fn new(text: &'t str, digits: bool) -> Self {
        let text = text.as_bytes();
        let mut starts = Self { text, letter: 0, digit: text.len() };
        starts.letter = starts.find(0, [b'Q', b'q']);
        if digits {
            starts.digit = starts.find(0, [b'2', b'9']);
        }
        starts
    }

    /// The first place at or behind `from`, which never goes back.
    pub(crate) fn next(&mut self, from: usize) -> Option<usize> {
        if self.letter < from {
            self.letter = self.find(from, [b'Q', b'q']);
        }
        if self.digit < from {
            self.digit = self.find(from, [b'2', b'9']);
        }
        let at = self.letter.min(self.digit);
        (at < self.text.len()).then_some(at)
    }

    fn find(&self, from: usize, [one, other]: [u8; 2]) -> usize {
        let offset = self.text.get(from..).and_then(|rest| memchr2(one, other, rest));
        offset.map_or(self.text.len(), |offset| from + offset)
    }
}
