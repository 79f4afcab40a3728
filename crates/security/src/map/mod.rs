//! What a request's placeholders stand for. Lives as long as the request, in memory only.

pub(crate) mod index;
mod taken;
#[cfg(test)]
mod tests;
mod word;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::iter;
use std::ops::Range;
use std::sync::OnceLock;

use self::index::{Found, Index, Match};
pub use self::taken::TakenWords;
pub(crate) use self::word::LONGEST as LONGEST_WORD;
use self::word::Word;
use crate::kind::Kind;
use crate::placeholder::PlaceholderKey;
use crate::surrogate::Surrogates;

/// How many surrogates are tried for a value.
const SURROGATE_ATTEMPTS: u32 = 16;

/// One redacted value.
#[derive(Clone)]
pub struct Redaction {
    /// What the model sees.
    pub placeholder: String,
    /// What it stands for.
    pub value: String,
    /// What that is.
    pub kind: Kind,
    /// How often it was replaced in the request.
    pub count: usize,
}

/// What a request's placeholders stand for.
///
/// The first finding of a value decides its kind, hence its placeholder: one value has one
/// placeholder in a request. Since a conversation only grows at its end, it is the same one in every
/// turn.
#[derive(Clone, Default)]
pub struct RedactionMap {
    surrogates: Surrogates,
    redactions: Vec<Redaction>,
    by_value: HashMap<String, usize>,
    words: HashSet<Word>,
    /// The same words in order, made when the first text is searched for them. Another value throws
    /// it away: first all values, then the searches.
    index: OnceLock<Index>,
}

impl RedactionMap {
    /// An empty map that makes surrogates for these kinds, and placeholders for all others.
    pub fn new(surrogates: Surrogates) -> Self {
        Self { surrogates, ..Self::default() }
    }

    /// Whether nothing was redacted.
    pub fn is_empty(&self) -> bool {
        self.redactions.is_empty()
    }

    /// The redacted values, in the order in which they were found.
    pub fn redactions(&self) -> &[Redaction] {
        &self.redactions
    }

    /// The placeholder of `value`, made where it has none yet. `taken` says whether the request
    /// itself holds a word ([`TakenWords`]): then it cannot stand for something else.
    pub fn placeholder(
        &mut self,
        key: &PlaceholderKey,
        kind: Kind,
        value: &str,
        taken: impl Fn(&str) -> bool,
    ) -> &str {
        let at = match self.by_value.get(value) {
            Some(at) => *at,
            None => self.add(key, kind, value, taken),
        };
        let redaction = &mut self.redactions[at];
        redaction.count += 1;
        &redaction.placeholder
    }

    fn add(
        &mut self,
        key: &PlaceholderKey,
        kind: Kind,
        value: &str,
        taken: impl Fn(&str) -> bool,
    ) -> usize {
        let surrogate = |attempt| self.surrogates.mint(key, kind, value, attempt);
        let placeholder = |attempt| key.mint(kind, value, attempt);
        let words = &mut self.words;
        let mut is_free =
            |word: &String| !taken(word) && Word::of(word).is_some_and(|word| words.insert(word));
        // Surrogates can run out, or `taken` may know a reason against all of them; then it is a
        // placeholder. Those do not run out.
        let word = (0..SURROGATE_ATTEMPTS).map_while(surrogate).find(&mut is_free);
        let word = word.or_else(|| (0..=u32::MAX).map(placeholder).find(is_free));
        let placeholder = word.unwrap_or_default();
        let at = self.redactions.len();
        self.index.take();
        self.by_value.insert(value.to_owned(), at);
        self.redactions.push(Redaction { placeholder, value: value.to_owned(), kind, count: 0 });
        at
    }

    /// What the placeholder that `text` begins with stands for, in whatever case it is written.
    pub fn resolve(&self, text: &[u8]) -> Option<&Redaction> {
        if self.is_empty() {
            return None;
        }
        match self.index().match_at(text) {
            Match::Whole { number, .. } => self.redactions.get(number),
            Match::Cut | Match::No => None,
        }
    }

    /// This map's placeholders in `text`, with their places: the same ones that a
    /// [`Restorer`](crate::restore::Restorer) puts values for.
    pub fn find_in<'m>(
        &'m self,
        text: &str,
    ) -> impl Iterator<Item = (Range<usize>, &'m Redaction)> {
        let mut finder = (!self.is_empty()).then(|| self.index().finder(text));
        let mut from = 0;
        iter::from_fn(move || {
            loop {
                match finder.as_mut()?.next(from) {
                    Found::Whole(hit) => {
                        from = hit.place.end;
                        return Some((hit.place, &self.redactions[hit.number]));
                    }
                    Found::Cut(at) => from = at + 1,
                    Found::Nothing => return None,
                }
            }
        })
    }

    /// How many different values of each kind were redacted, in the kinds' order.
    pub fn counts(&self) -> Vec<(Kind, usize)> {
        let mut counts = [0; Kind::ALL.len()];
        for redaction in &self.redactions {
            counts[redaction.kind as usize] += 1;
        }
        Kind::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let words = self.redactions.iter().enumerate();
            Index::new(words.filter_map(|(at, r)| Some((Word::of(&r.placeholder)?, at))).collect())
        })
    }
}

impl fmt::Debug for RedactionMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.counts()).finish()
    }
}
