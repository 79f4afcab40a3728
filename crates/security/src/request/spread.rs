//! A value that was found once is replaced wherever else it stands in the request, whatever is
//! around it: in a message without the context that gave it away, in the name of a member, in a URL.
//!
//! How freely depends on how distinctive it is, since a replacement that hits ordinary text breaks
//! code: a long value with mixed characters anywhere, a shorter one as a whole word only, and what
//! could be a word of the language or a small number not at all. [`reach`] is the rule.

use super::Failure;
use super::reach::{Characters, Reach, reach};
use super::spellings;
use super::words::Words;
use crate::finding::Finding;
use crate::kind::Kind;

/// What is looked for.
pub(super) struct Spread {
    /// Passwords and names, as they are written.
    exact: Option<Search>,
    /// What means the same in capitals: an e-mail address, an IBAN.
    any_case: Option<Search>,
    /// Whether they are looked for as literals, URLs and HTML write them, too.
    encoded: bool,
}

struct Search {
    words: Words,
    /// What each of the words is.
    patterns: Vec<Pattern>,
    /// What each of the values is with which no other word begins, by the values' numbers.
    alone: Vec<Option<Pattern>>,
}

/// A value that was found in a text before.
pub(super) struct Own {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it was found to be a secret there.
    pub(super) is_secret: bool,
    /// Its number among the values that are looked for.
    pub(super) value: u32,
}

#[derive(Clone, Copy)]
struct Pattern {
    kind: Kind,
    reach: Reach,
}

/// Words, one behind the other, before they are put in order.
#[derive(Default)]
struct Unordered {
    texts: String,
    words: Vec<Entry>,
}

struct Entry {
    /// What the word begins with, in the order of words: hardly any two of them need more.
    begin: u128,
    start: u32,
    length: u32,
    /// Which value it is; none where it is another way of writing one.
    value: u32,
    pattern: Pattern,
}

/// The number of no value.
const NO_VALUE: u32 = u32::MAX;
/// Bytes of most values.
const USUAL_LENGTH: usize = 20;

impl Spread {
    /// The search for `values`, `encoded` as well or only as they are. `None` where none of them is
    /// worth looking for.
    pub(super) fn new<'v>(
        values: impl ExactSizeIterator<Item = (&'v str, Kind)>,
        encoded: bool,
    ) -> Result<Option<Self>, Failure> {
        let (mut exact, mut any_case) = (Unordered::default(), Unordered::default());
        let count = values.len();
        let mut last = None;
        for (number, (value, kind)) in values.enumerate() {
            let characters = Characters::of(value);
            let Some(reach) = reach(value, &characters, kind) else { continue };
            let pattern = Pattern { kind, reach };
            let in_any_case = is_read_in_any_case(kind);
            let words = if in_any_case { &mut any_case } else { &mut exact };
            // Most values of a request are of the same kind as the one ahead of them.
            if last.replace(in_any_case) != Some(in_any_case) {
                words.reserve(count - number, value.len());
            }
            let to_lower_case = in_any_case && characters.has_upper();
            words.add(to_lower_case, number as u32, pattern, |out| out.push_str(value))?;
            if encoded {
                spellings::each(value, &characters, in_any_case, |word| {
                    words.add(in_any_case, NO_VALUE, pattern, |out| out.push_str(word))
                })?;
            }
        }
        if exact.words.is_empty() && any_case.words.is_empty() {
            return Ok(None);
        }
        let exact = Search::new(exact, count)?;
        let any_case = Search::new(any_case, count)?;
        Ok(Some(Self { exact, any_case, encoded }))
    }

    /// Whether a value may stand in `text` in another way of writing it than is looked for.
    pub(super) fn overlooks(&self, text: &str) -> bool {
        !self.encoded && spellings::may_be_in(text)
    }

    /// Every other occurrence in `text`, in which `own` were found before. What is said of these may
    /// be said of them once more, or not.
    pub(super) fn find(&self, text: &str, own: &[Own], found: &mut impl FnMut(Finding)) {
        if let Some(exact) = &self.exact {
            exact.find(text, text, own, found);
        }
        if let Some(any_case) = &self.any_case {
            any_case.find(text, &text.to_ascii_lowercase(), own, found);
        }
    }
}

impl Unordered {
    /// Makes room for so many more words, if they are about as long as this.
    fn reserve(&mut self, words: usize, length: usize) {
        self.words.reserve(words);
        self.texts.reserve(words.saturating_mul(length).min(USUAL_LENGTH * words));
    }

    /// Adds a word. Fails where all of them are too long to be remembered.
    fn add(
        &mut self,
        to_lower_case: bool,
        value: u32,
        pattern: Pattern,
        write: impl FnOnce(&mut String),
    ) -> Result<(), Failure> {
        let start = self.texts.len();
        write(&mut self.texts);
        u32::try_from(self.texts.len()).map_err(|_| Failure)?;
        if to_lower_case && let Some(word) = self.texts.get_mut(start..) {
            word.make_ascii_lowercase();
        }
        let written = self.texts.as_bytes().get(start..).unwrap_or_default();
        let begin = written.first_chunk().copied().unwrap_or_else(|| {
            let mut begin = [0; 16];
            begin.iter_mut().zip(written).for_each(|(to, from)| *to = *from);
            begin
        });
        let (start, length) = (start as u32, written.len() as u32);
        let begin = u128::from_be_bytes(begin);
        self.words.push(Entry { begin, start, length, value, pattern });
        Ok(())
    }
}

impl Search {
    /// Looks for these words; so many values are looked for.
    fn new(unordered: Unordered, values: usize) -> Result<Option<Self>, Failure> {
        let Unordered { texts, words: mut entries } = unordered;
        if entries.is_empty() {
            return Ok(None);
        }
        let text = |entry: &Entry| {
            let start = entry.start as usize;
            texts.get(start..start + entry.length as usize).unwrap_or_default()
        };
        #[cfg(test)]
        super::tests::fail_to_build_if_asked(entries.iter().map(text))?;
        entries.sort_unstable_by_key(|entry| entry.begin);
        for alike in entries.chunk_by_mut(|a, b| a.begin == b.begin).filter(|alike| alike.len() > 1)
        {
            alike.sort_unstable_by_key(|entry| (text(entry), entry.start));
        }
        // What was found first says what a word is, and all values that it is.
        let mut twins = Vec::new();
        entries.dedup_by(|next, first| {
            let is_same = next.begin == first.begin && text(next) == text(first);
            if is_same {
                twins.push((next.value, first.value));
            }
            is_same
        });
        let patterns: Vec<Pattern> = entries.iter().map(|entry| entry.pattern).collect();
        let words = Words::new(entries.iter().map(text), entries.len(), texts.len())?;
        let mut alone = vec![None; values];
        for (word, Entry { value, pattern, .. }) in entries.iter().enumerate() {
            if let Some(value) = alone.get_mut(*value as usize) {
                *value = Some(*pattern).filter(|_| !words.is_begin(word));
            }
        }
        for (next, first) in twins {
            let first = alone.get(first as usize).copied().flatten();
            if let Some(next) = alone.get_mut(next as usize) {
                *next = first;
            }
        }
        Ok(Some(Self { words, patterns, alone }))
    }

    /// Every occurrence in `text`, which is the same as `written` but for upper and lower case.
    fn find(&self, written: &str, text: &str, own: &[Own], found: &mut impl FnMut(Finding)) {
        let mut finder = self.words.finder(text);
        let mut own = own.iter().filter(|own| self.is_all(written, own)).peekable();
        let mut at = 0;
        loop {
            while own.next_if(|own| own.start < at).is_some() {}
            let until = own.peek().map_or(usize::MAX, |own| own.start);
            match (finder.next(at, until), own.peek()) {
                (Some((start, longest)), _) => match self.fitting(written, start, longest) {
                    Some((end, kind)) => {
                        found(Finding { start, end, kind, rule: "found_elsewhere" });
                        at = end;
                    }
                    // Another value may begin within this one, which is short.
                    None => at = start + 1,
                },
                (None, Some(own)) => at = own.end,
                (None, None) => return,
            }
        }
    }

    /// Whether all that there is to be found where a value stands that was found before is that
    /// value, and that says nothing new. So a text that consists of values is not searched for all of
    /// them.
    fn is_all(&self, text: &str, own: &Own) -> bool {
        let pattern = self.alone.get(own.value as usize).copied().flatten();
        pattern.is_some_and(|Pattern { kind, reach }| {
            (own.is_secret || !kind.is_secret())
                && (reach == Reach::Anywhere || is_whole_word(text, own.start, own.end))
        })
    }

    /// Where the longest word that may be replaced at `start` ends, where `longest` stands, and what
    /// it is.
    fn fitting(&self, text: &str, start: usize, longest: usize) -> Option<(usize, Kind)> {
        let mut next = Some(longest);
        while let Some(word) = next {
            let Pattern { kind, reach } = self.patterns.get(word)?;
            let end = start + self.words.length(word);
            if *reach == Reach::Anywhere || is_whole_word(text, start, end) {
                return Some((end, *kind));
            }
            next = self.words.shorter(word);
        }
        None
    }
}

/// Whether what is written in capitals is the same thing.
fn is_read_in_any_case(kind: Kind) -> bool {
    match kind {
        Kind::Email | Kind::Iban | Kind::Mac | Kind::IpAddress | Kind::PrivateIp => true,
        Kind::NationalId | Kind::Licence | Kind::MedicalId | Kind::Term => true,
        // `Will` is a person, `will` is none.
        _ => false,
    }
}

/// Whether neither letter nor digit goes on before or after the range.
fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = &text[..start];
    let goes_on_before = before.ends_with(is_of_word)
        // `\n` in source code ends a word, too.
        && !["\\n", "\\t", "\\r"].iter().any(|escape| before.ends_with(escape));
    !goes_on_before && !text[end..].starts_with(is_of_word)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::finding::settle;

    fn check(value: &str, kind: Kind, text: &str, expected: usize) {
        let mut findings = Vec::new();
        if let Some(spread) = Spread::new([(value, kind)].into_iter(), true).unwrap() {
            spread.find(text, &[], &mut |finding| findings.push(finding));
        }
        assert_eq!(findings.len(), expected, "{value} in {text}");
    }

    #[test]
    fn the_more_distinctive_the_further_a_value_reaches() {
        for (value, kind, text, expected) in [
            ("AKIA2345678901234567", Kind::Secret, "xAKIA2345678901234567y", 1),
            ("hunter2", Kind::Password, "hunter2, (hunter2) hunter23 xhunter2 \\nhunter2", 3),
            ("hunter2", Kind::Password, "Hunter2", 0),
            ("12345", Kind::PostalCode, "12345", 0),
            ("482913", Kind::Password, "482913 1482913", 1),
            ("100100", Kind::Password, "100100", 0),
            ("1.50-2", Kind::Password, "1.50-2", 0),
            ("-12:30", Kind::Password, "-12:30", 0),
            ("#+#-~+", Kind::Password, "\"#+#-~+\" x#+#-~+", 1),
            ("1#2+3-", Kind::Password, "(1#2+3-)", 1),
            ("-=-=-=", Kind::Password, "-=-=-=", 0),
            (
                "\u{6728}\u{6751}\u{82b1}\u{5b50}",
                Kind::Person,
                "\u{6728}\u{6751}\u{82b1}\u{5b50}.",
                1,
            ),
            ("4155550123", Kind::Phone, "x=4155550123 14155550123", 1),
            ("Ada Lovelace", Kind::Person, "Ada Lovelace, Ada Lovelaces", 1),
            ("Grace", Kind::Person, "Grace, grace", 1),
            ("ada@example.org", Kind::Email, "mailto:ada@example.org?x", 1),
            ("abc", Kind::Secret, "abc", 0),
            ("pass\"w0rd", Kind::Password, r#""pass\"w0rd""#, 1),
        ] {
            check(value, kind, text, expected);
        }
    }

    #[test]
    fn letters_that_form_a_word_are_a_word() {
        for (value, expected) in [
            ("postgres", 0),
            ("letmein", 0),
            ("correcthorse", 0),
            ("nginx", 0),
            ("xkqjw", 0),
            ("xkqjwzpr", 1),
            ("RwpXzKqLbT", 1),
            // Words do not get that long.
            ("correcthorsebattery", 1),
        ] {
            check(value, Kind::Password, &format!("{value}://{value}_db/x{value}"), expected);
        }
        // A name or a term that was found is one wherever it stands.
        check("Halvorsen", Kind::Person, "Halvorsen", 1);
    }

    #[test]
    fn addresses_are_the_same_in_any_case() {
        check("ada@example.org", Kind::Email, "ADA@Example.org ada@example.org", 2);
        check("2a00:1450::200e", Kind::IpAddress, "[2A00:1450::200E]", 1);
        check("GB33BUKB20201555555555", Kind::Iban, "gb33bukb20201555555555", 1);
        check("Xk3-pass-Zw9q", Kind::Password, "xk3-pass-zw9q", 0);
    }

    #[test]
    fn a_value_is_found_as_urls_and_markup_write_it() {
        check("p@ss/w0rd&1", Kind::Password, "x://app:p%40ss%2Fw0rd%261@db", 1);
        check("p<ss&w0rd", Kind::Password, "<p>p&lt;ss&amp;w0rd</p>", 1);
    }

    /// What is found in `text`, in which `own` were found before.
    fn found(spread: &Option<Spread>, text: &str, own: &[Own]) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(spread) = spread {
            spread.find(text, own, &mut |finding| findings.push(finding));
        }
        findings
    }

    proptest! {
        #[test]
        fn what_was_found_before_hides_nothing(
            values in prop::collection::vec(("[aAb1.@-]{4,9}", 0..4_usize), 1..6),
            pieces in prop::collection::vec((0..6_usize, "[ab1. %&_-]{0,3}"), 0..12),
        ) {
            let kinds = [Kind::Password, Kind::Email, Kind::Phone, Kind::Person];
            let values: BTreeMap<String, Kind> =
                values.into_iter().map(|(value, kind)| (value, kinds[kind])).collect();
            let values: Vec<(&str, Kind)> =
                values.iter().map(|(value, kind)| (value.as_str(), *kind)).collect();
            // Some of them stand where they were found, others elsewhere.
            let (mut text, mut own, mut known) = (String::new(), Vec::new(), Vec::new());
            for (n, (value, between)) in pieces.iter().enumerate() {
                let number = value % values.len();
                let (value, kind) = values[number];
                let (start, end) = (text.len(), text.len() + value.len());
                text.push_str(value);
                text.push_str(between);
                if n % 3 > 0 {
                    let is_secret = kind.is_secret();
                    own.push(Own { start, end, is_secret, value: number as u32 });
                    known.push(Finding { start, end, kind, rule: "test" });
                }
            }
            let spread = Spread::new(values.iter().copied(), true).unwrap();
            let settled = |own: &[Own]| {
                let mut all = known.clone();
                all.extend(found(&spread, &text, own));
                settle(&mut all);
                all.into_iter().map(|f| (f.start, f.end, f.kind)).collect::<Vec<_>>()
            };
            prop_assert_eq!(settled(&own), settled(&[]), "{}", text);
            // Where nothing can be encoded, nothing is overlooked.
            let plain = Spread::new(values.iter().copied(), false).unwrap();
            if !spellings::may_be_in(&text) {
                prop_assert_eq!(found(&plain, &text, &[]), found(&spread, &text, &[]));
            }
        }
    }

    #[test]
    fn a_longer_value_that_does_not_fit_hides_no_shorter_one() {
        let values = ["hunter2-x", "hunter2", "hunter2-", "unter2-xyz"];
        let values = values.map(|value| (value, Kind::Password));
        let spread = Spread::new(values.into_iter(), true).unwrap().unwrap();
        let mut findings = Vec::new();
        spread.find("hunter2-xy hunter2-x", &[], &mut |finding| findings.push(finding));
        let found: Vec<_> = findings.iter().map(|f| (f.start, f.end)).collect();
        assert_eq!(found, [(0, 7), (11, 20)]);
    }
}
