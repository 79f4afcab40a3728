//! A value that was found once is replaced wherever else it stands in the request, whatever is
//! around it: in a message without the context that gave it away, in the name of a member, in a URL.
//!
//! How freely depends on how distinctive it is, since a replacement that hits ordinary text breaks
//! code: a long value with mixed characters anywhere, a shorter one as a whole word only, and what
//! could be a word of the language or a small number not at all. [`reach`] is the rule.

use std::borrow::Cow;
use std::iter;

use super::Failure;
use super::words::Words;
use crate::detectors::secrets::wordiness;
use crate::finding::Finding;
use crate::kind::Kind;

/// What is looked for.
pub(super) struct Spread {
    /// Passwords and names, as they are written.
    exact: Option<Search>,
    /// What means the same in capitals: an e-mail address, an IBAN.
    any_case: Option<Search>,
}

struct Search {
    words: Words,
    /// What each of the words is.
    patterns: Vec<Pattern>,
}

struct Pattern {
    kind: Kind,
    reach: Reach,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Anywhere,
    WholeWord,
}

/// Values as long as this, with several kinds of characters, do not occur by chance.
const DISTINCTIVE: usize = 12;
/// Values as long as this never do.
const LONG: usize = 24;
/// The shortest value that is looked for elsewhere.
const SHORTEST: usize = 5;
/// Letters alone are a name or a word up to here, if they could be one.
const LONGEST_WORD: usize = 15;
/// Of the words that code is made of, one in a hundred is less like a word than this; of letters
/// drawn by lot, nine in ten are.
const LIKE_A_WORD: f32 = 5.2;
/// Digits alone are a port, a year, a postal code up to here; with what parts them, a price, a time.
const LONGEST_NUMBER: usize = 5;
/// Without letters, so few different characters are a round number or a line: `100000`, `-----`.
const FEWEST_DIFFERENT: usize = 3;

impl Spread {
    /// The search for `values`; `None` where none of them is worth looking for.
    pub(super) fn new<'v>(
        values: impl Iterator<Item = (&'v str, Kind)>,
    ) -> Result<Option<Self>, Failure> {
        let (mut exact, mut any_case) = (Vec::new(), Vec::new());
        for (value, kind) in values {
            let Some(reach) = reach(value, kind) else { continue };
            let encoded = [in_literal(value), in_url(value), in_html(value)];
            let encoded = encoded.into_iter().flatten().map(Cow::Owned);
            for word in iter::once(Cow::Borrowed(value)).chain(encoded) {
                let (words, word) = match is_read_in_any_case(kind) {
                    true => (&mut any_case, in_lower_case(word)),
                    false => (&mut exact, word),
                };
                words.push((word, Pattern { kind, reach }));
            }
        }
        if exact.is_empty() && any_case.is_empty() {
            return Ok(None);
        }
        let exact = Search::new(exact)?;
        let any_case = Search::new(any_case)?;
        Ok(Some(Self { exact, any_case }))
    }

    /// Every other occurrence in `text`.
    pub(super) fn find(&self, text: &str, findings: &mut Vec<Finding>) {
        if let Some(exact) = &self.exact {
            exact.find(text, text, findings);
        }
        if let Some(any_case) = &self.any_case {
            any_case.find(text, &text.to_ascii_lowercase(), findings);
        }
    }
}

impl Search {
    fn new(mut words: Vec<(Cow<'_, str>, Pattern)>) -> Result<Option<Self>, Failure> {
        if words.is_empty() {
            return Ok(None);
        }
        #[cfg(test)]
        super::tests::fail_to_build_if_asked(words.iter().map(|(word, _)| &**word))?;
        // What was found first says what a word is.
        words.sort_by(|(a, _), (b, _)| a.cmp(b));
        words.dedup_by(|(a, _), (b, _)| a == b);
        let (words, patterns): (Vec<_>, Vec<_>) = words.into_iter().unzip();
        Ok(Some(Self { words: Words::new(&words)?, patterns }))
    }

    /// Every occurrence in `text`, which is the same as `written` but for upper and lower case.
    fn find(&self, written: &str, text: &str, findings: &mut Vec<Finding>) {
        let mut finder = self.words.finder(text);
        let mut at = 0;
        while let Some((start, longest)) = finder.next(at) {
            if let Some((end, kind)) = self.fitting(written, start, longest) {
                findings.push(Finding { start, end, kind, rule: "found_elsewhere" });
                at = end;
            } else {
                // Another value may begin within this one, which is short.
                at = start + 1;
            }
        }
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

/// How far a value reaches; `None` where it could be ordinary text.
fn reach(value: &str, kind: Kind) -> Option<Reach> {
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let lower = count(u8::is_ascii_lowercase);
    let upper = count(u8::is_ascii_uppercase);
    let others = value.len() - digits - lower - upper;
    let letters = lower + upper;
    let has_letters = letters > 0 || value.chars().any(char::is_alphabetic);
    if value.len() < SHORTEST
        || !has_letters && (is_number(value) && digits <= LONGEST_NUMBER || is_round(value))
        || kind.is_secret() && letters == value.len() && could_be_a_word(value)
    {
        return None;
    }
    let classes = [digits, lower, upper, others].iter().filter(|count| **count > 0).count();
    let is_exact = !matches!(kind, Kind::Person | Kind::Location | Kind::Organization | Kind::Term);
    let is_mixed = letters > 0 && classes > 1 && value.len() >= DISTINCTIVE;
    if is_exact && (is_mixed || value.len() >= LONG) {
        return Some(Reach::Anywhere);
    }
    Some(Reach::WholeWord)
}

/// Whether letters alone may as well be the name of something: `postgres`, `letmein`.
fn could_be_a_word(letters: &str) -> bool {
    letters.len() <= LONGEST_WORD
        && (letters.len() <= SHORTEST || wordiness(letters) >= LIKE_A_WORD)
}

/// Whether digits are all that is there, but for a sign ahead of them and what parts them, one
/// character at a time: `1.50`, `12:30`, `-4`.
fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    let parts = digits.split(['.', ',', ':', '-', '/', ' ', '_', '\'']);
    parts.map(str::as_bytes).all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
}

/// `100000`
fn is_round(value: &str) -> bool {
    let mut different: Vec<char> = Vec::with_capacity(FEWEST_DIFFERENT);
    for c in value.chars() {
        if !different.contains(&c) {
            different.push(c);
        }
        if different.len() == FEWEST_DIFFERENT {
            return false;
        }
    }
    true
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

fn in_lower_case(word: Cow<'_, str>) -> Cow<'_, str> {
    if !word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return word;
    }
    Cow::Owned(word.to_ascii_lowercase())
}

/// `value` as it stands in a string literal, where that differs.
fn in_literal(value: &str) -> Option<String> {
    if !value.bytes().any(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        return None;
    }
    let literal = serde_json::to_string(value).ok()?;
    Some(literal.get(1..literal.len() - 1)?.to_owned())
}

/// `value` as it stands in a URL, where that differs.
fn in_url(value: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if value.bytes().all(is_plain) {
        return None;
    }
    let digit = |digit: u8| b"0123456789ABCDEF"[usize::from(digit & 15)];
    let mut out = Vec::with_capacity(3 * value.len());
    for byte in value.bytes() {
        match is_plain(byte) {
            true => out.push(byte),
            false => out.extend([b'%', digit(byte >> 4), digit(byte)]),
        }
    }
    String::from_utf8(out).ok()
}

/// `value` as it stands in HTML and XML, where that differs.
fn in_html(value: &str) -> Option<String> {
    value
        .contains(['&', '<', '>'])
        .then(|| value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
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
    use super::*;

    fn check(value: &str, kind: Kind, text: &str, expected: usize) {
        let mut findings = Vec::new();
        if let Some(spread) = Spread::new([(value, kind)].into_iter()).unwrap() {
            spread.find(text, &mut findings);
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

    #[test]
    fn a_longer_value_that_does_not_fit_hides_no_shorter_one() {
        let values = ["hunter2-x", "hunter2", "hunter2-", "unter2-xyz"];
        let values = values.map(|value| (value, Kind::Password));
        let spread = Spread::new(values.into_iter()).unwrap().unwrap();
        let mut findings = Vec::new();
        spread.find("hunter2-xy hunter2-x", &mut findings);
        let found: Vec<_> = findings.iter().map(|f| (f.start, f.end)).collect();
        assert_eq!(found, [(0, 7), (11, 20)]);
    }
}
