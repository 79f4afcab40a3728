//! Words of a request's own text that look like placeholders.

use std::collections::HashSet;
use std::fmt;

use foldhash::fast::RandomState;

use super::index::Starts;
use super::word::{LONGEST, Word};
use crate::placeholder;
use crate::restore::letters::{Letter, Letters};
use crate::surrogate::{self, Surrogates};

/// Words of a request's own text that look like placeholders or surrogates: from another request,
/// another account, or made up. None of them may stand for a value of this request, since what was
/// there would come back as that value.
///
/// To be filled with all the text of a request before its first value is redacted.
#[derive(Clone, Default)]
pub struct TakenWords {
    words: HashSet<Word, RandomState>,
    surrogates: Surrogates,
}

impl TakenWords {
    /// No words yet, in a request in which these surrogates are used.
    pub fn new(surrogates: Surrogates) -> Self {
        Self { words: HashSet::default(), surrogates }
    }

    /// Adds the words of `text`, also broken ones that a restorer would take for whole. Returns
    /// whether it has any, be they new or not.
    pub fn collect(&mut self, text: &str) -> bool {
        let mut any = false;
        let mut starts = Starts::new(text, !self.surrogates.is_empty());
        let mut from = 0;
        while let Some(at) = starts.next(from) {
            from = at + 1;
            if let Some(word) = word_at(&text.as_bytes()[at..]) {
                self.words.insert(word);
                any = true;
            }
        }
        any
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether `word`, which was minted just now, is one of them.
    pub fn contains(&self, word: &str) -> bool {
        if self.words.is_empty() {
            return false;
        }
        // An e-mail surrogate is the one of its placeholder.
        let word = match word.get(..placeholder::LENGTH) {
            Some(placeholder) if placeholder.starts_with(['Q', 'q']) => placeholder,
            _ => word,
        };
        Word::of(word).is_some_and(|word| self.words.contains(&word))
    }
}

impl fmt::Debug for TakenWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TakenWords({})", self.words.len())
    }
}

/// The placeholder or surrogate that `text` begins with.
fn word_at(text: &[u8]) -> Option<Word> {
    let is_placeholder = matches!(text, [b'Q' | b'q', ..]);
    // In code, nearly every `q` ends here.
    let is_followed = |b: &u8| !b.is_ascii_alphanumeric() || placeholder::is_second(*b);
    if is_placeholder && !text.get(1).is_some_and(is_followed) {
        return None;
    }
    let mut letters = Letters::new(text);
    let mut word = [0; LONGEST];
    let mut length = 0;
    let mut complete = if is_placeholder { Some(placeholder::LENGTH) } else { None };
    while complete.is_none_or(|complete| length < complete) {
        let Letter::Is(letter) = letters.next() else { return None };
        // The next placeholder begins, or something like it.
        if letter == b'Q' && length > 0 {
            return None;
        }
        *word.get_mut(length)? = letter;
        length += 1;
        if complete.is_none() && length == surrogate::TOLD_BY {
            complete = Some(surrogate::length(&word)?);
        }
    }
    let word = &word[..length];
    if is_placeholder && placeholder::recognise(word).is_none() {
        return None;
    }
    Word::of(std::str::from_utf8(word).ok()?)
}
