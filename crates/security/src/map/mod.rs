//! What a request's placeholders stand for. Lives as long as the request, in memory only.

pub(crate) mod index;
mod numbers;
mod taken;
#[cfg(test)]
mod tests;
mod word;

use std::collections::BTreeMap;
use std::fmt;
use std::iter;
use std::ops::Range;
use std::sync::OnceLock;

use self::index::{Found, Index, Match};
pub(crate) use self::numbers::{Hash, Numbers};
pub use self::taken::TakenWords;
pub(crate) use self::word::LONGEST as LONGEST_WORD;
use self::word::Word;
use crate::kind::Kind;
use crate::placeholder::{self, PlaceholderKey};
use crate::restore::spelling::{Needs, Stood};
use crate::surrogate::Surrogates;

/// How many surrogates are tried for a value.
const SURROGATE_ATTEMPTS: u32 = 16;
/// Bytes of most values.
const USUAL_VALUE: usize = 16;

/// One redacted value.
#[derive(Clone, Copy)]
pub struct Redaction<'m> {
    /// What the model sees.
    pub placeholder: &'m str,
    /// What it stands for.
    pub value: &'m str,
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
    /// Each placeholder, and its value behind it: a request may consist of nothing but short values,
    /// and a million of them must not be as many pieces of memory.
    texts: String,
    redactions: Vec<Place>,
    /// The redactions' numbers, by their placeholders and by their values: those of the first few
    /// only, where nobody asked for more.
    by_word: Numbers,
    by_value: Numbers,
    with_value: usize,
    /// How values stood in JSON within the request's texts, where most encoders write them in
    /// another way: by their numbers.
    spellings: BTreeMap<usize, Box<str>>,
    /// Whether any value is written in another way somewhere.
    is_written_variously: bool,
    /// All values, made when the first one is asked for.
    values: OnceLock<Numbers>,
    /// The words in order, made when the first text is searched for them. Another value throws it
    /// away: first all values, then the searches.
    index: OnceLock<Index>,
}

/// A redaction, whose texts are elsewhere.
#[derive(Clone, Copy)]
struct Place {
    /// Where its placeholder begins.
    placeholder: usize,
    /// Where its value begins, which ends where the next placeholder begins.
    value: usize,
    count: u32,
    kind: Kind,
    stood: Stood,
}

impl RedactionMap {
    /// An empty map that makes surrogates for these kinds, and placeholders for all others.
    pub fn new(surrogates: Surrogates) -> Self {
        Self { surrogates, ..Self::default() }
    }

    /// Makes room for so many more values.
    pub(crate) fn reserve(&mut self, values: usize) {
        self.redactions.reserve(values);
        self.by_word.reserve(values);
        self.texts.reserve(values * (placeholder::LENGTH + USUAL_VALUE));
    }

    /// Whether nothing was redacted.
    pub fn is_empty(&self) -> bool {
        self.redactions.is_empty()
    }

    /// The redacted values, in the order in which they were found.
    pub fn redactions(&self) -> Vec<Redaction<'_>> {
        (0..self.redactions.len()).filter_map(|number| self.redaction(number)).collect()
    }

    /// One of the redacted values, by its number in that order.
    pub fn redaction(&self, number: usize) -> Option<Redaction<'_>> {
        let Place { count, kind, .. } = *self.redactions.get(number)?;
        let (placeholder, value) = (self.word(number), self.value(number));
        Some(Redaction { placeholder, value, kind, count: count as usize })
    }

    /// The placeholder of a redacted value.
    pub(crate) fn word(&self, number: usize) -> &str {
        let place = self.redactions.get(number).map(|place| place.placeholder..place.value);
        place.and_then(|place| self.texts.get(place)).unwrap_or_default()
    }

    fn value(&self, number: usize) -> &str {
        let end = self.redactions.get(number + 1).map_or(self.texts.len(), |next| next.placeholder);
        let place = self.redactions.get(number).map(|place| place.value..end);
        place.and_then(|place| self.texts.get(place)).unwrap_or_default()
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
        let number = self.number(key, kind, value, taken);
        self.word(number)
    }

    /// The same: the number of the placeholder's redaction.
    pub(crate) fn number(
        &mut self,
        key: &PlaceholderKey,
        kind: Kind,
        value: &str,
        taken: impl Fn(&str) -> bool,
    ) -> usize {
        for number in self.with_value..self.redactions.len() {
            let hash = self.by_value.hash(self.value(number).as_bytes());
            self.by_value.add(hash, number);
        }
        self.with_value = self.redactions.len();
        let hash = self.by_value.hash(value.as_bytes());
        match self.by_value.find(hash, |number| self.value(number) == value) {
            Some(number) => {
                self.count(number);
                number
            }
            None => self.add(key, kind, value, taken),
        }
    }

    /// Adds a value that is not in the map.
    pub(crate) fn add(
        &mut self,
        key: &PlaceholderKey,
        kind: Kind,
        value: &str,
        taken: impl Fn(&str) -> bool,
    ) -> usize {
        self.index.take();
        self.values.take();
        self.is_written_variously |= Needs::of(value) != Needs::Nothing;
        let number = self.redactions.len();
        let placeholder = self.texts.len();
        self.add_word(key, kind, value, taken);
        let place =
            Place { placeholder, value: self.texts.len(), count: 1, kind, stood: Stood::default() };
        self.texts.push_str(value);
        self.redactions.push(place);
        number
    }

    /// Notes that a value is replaced once more.
    pub(crate) fn count(&mut self, number: usize) {
        if let Some(redaction) = self.redactions.get_mut(number) {
            redaction.count += 1;
        }
    }

    /// Notes in what surroundings a value stood, at one more place.
    pub(crate) fn note(&mut self, number: usize, stood: Stood) {
        if let Some(redaction) = self.redactions.get_mut(number) {
            redaction.stood = redaction.stood.with(stood);
        }
    }

    /// In what surroundings a value stood.
    pub(crate) fn stood(&self, number: usize) -> Stood {
        self.redactions.get(number).map(|redaction| redaction.stood).unwrap_or_default()
    }

    /// Notes how a value stood in JSON, where it has no such note yet.
    pub(crate) fn note_spelling(&mut self, number: usize, spelling: &str) {
        self.spellings.entry(number).or_insert_with(|| spelling.into());
    }

    /// How a value stood in JSON, where that is not how most encoders write it.
    pub(crate) fn spelling(&self, number: usize) -> Option<&str> {
        self.spellings.get(&number).map(|spelling| &**spelling)
    }

    /// Whether any value is written in another way somewhere: in JSON, a shell or a URL.
    pub(crate) fn is_written_variously(&self) -> bool {
        self.is_written_variously
    }

    /// Whether `value` is one of the redacted values.
    pub(crate) fn holds(&self, value: &str) -> bool {
        let values = self.values.get_or_init(|| {
            let mut values = Numbers::default();
            for number in 0..self.redactions.len() {
                values.add(values.hash(self.value(number).as_bytes()), number);
            }
            values
        });
        let hash = values.hash(value.as_bytes());
        values.find(hash, |number| self.value(number) == value).is_some()
    }

    /// Adds a word for `value` that is free, for the redaction that comes next.
    fn add_word(
        &mut self,
        key: &PlaceholderKey,
        kind: Kind,
        value: &str,
        taken: impl Fn(&str) -> bool,
    ) {
        // Surrogates can run out, or `taken` may know a reason against all of them; then it is a
        // placeholder. Those do not run out.
        for attempt in 0..SURROGATE_ATTEMPTS {
            let Some(word) = self.surrogates.mint(key, kind, value, attempt) else { break };
            let looked_up = Word::of(&word);
            if looked_up.is_some_and(|it| self.add_if_free(&word, it.as_bytes(), &taken)) {
                return;
            }
        }
        for attempt in 0..=u32::MAX {
            let letters = key.letters(kind, value, attempt);
            let word = str::from_utf8(&letters).unwrap_or_default();
            if self.add_if_free(word, word.as_bytes(), &taken) {
                return;
            }
        }
    }

    /// Adds a word, unless it stands for something else; `looked_up` is what it is looked up by.
    fn add_if_free(&mut self, word: &str, looked_up: &[u8], taken: impl Fn(&str) -> bool) -> bool {
        let hash = self.by_word.hash(looked_up);
        let is = |number| Word::of(self.word(number)).is_some_and(|w| w.as_bytes() == looked_up);
        if taken(word) || self.by_word.find(hash, is).is_some() {
            return false;
        }
        self.by_word.add(hash, self.redactions.len());
        self.texts.push_str(word);
        true
    }

    /// What the placeholder that `text` begins with stands for, in whatever case it is written.
    pub fn resolve(&self, text: &[u8]) -> Option<Redaction<'_>> {
        if self.is_empty() {
            return None;
        }
        match self.index().match_at(text) {
            Match::Whole { number, .. } => self.redaction(number),
            Match::Cut | Match::No => None,
        }
    }

    /// This map's placeholders in `text`, with their places: the same ones that a
    /// [`Restorer`](crate::restore::Restorer) puts values for.
    pub fn find_in<'m>(
        &'m self,
        text: &str,
    ) -> impl Iterator<Item = (Range<usize>, Redaction<'m>)> {
        let mut finder = (!self.is_empty()).then(|| self.index().finder(text));
        let mut from = 0;
        iter::from_fn(move || {
            loop {
                match finder.as_mut()?.next(from) {
                    Found::Whole(hit) => {
                        from = hit.place.end;
                        return self.redaction(hit.number).map(|of_hit| (hit.place, of_hit));
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
            let numbers = 0..self.redactions.len();
            let word = |number| Some((Word::of(self.word(number))?, number));
            Index::new(numbers.filter_map(word).collect())
        })
    }
}

impl fmt::Debug for RedactionMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.counts()).finish()
    }
}
