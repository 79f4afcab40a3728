//! A value that was found once is replaced wherever else it stands in the request, whatever is
//! around it: in a message without the context that gave it away, in the name of a member, in a URL.
//!
//! How freely depends on how distinctive it is, since a replacement that hits ordinary text breaks
//! code: a long value with mixed characters anywhere, a shorter one as a whole word only, and what
//! could be a word of the language or a small number not at all.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::finding::Finding;
use crate::kind::Kind;

/// What is looked for.
pub(super) struct Spread {
    automaton: AhoCorasick,
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
/// The shortest value that is looked for elsewhere.
const SHORTEST: usize = 5;
/// Letters alone are a name or a word up to here.
const LONGEST_WORD: usize = 16;
/// Digits alone are some number up to here.
const LONGEST_NUMBER: usize = 6;

impl Spread {
    /// The search for `values`; `None` where none of them is worth looking for.
    pub(super) fn new<'v>(values: impl Iterator<Item = (&'v str, Kind)>) -> Option<Self> {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut patterns = Vec::new();
        let mut words: Vec<String> = Vec::new();
        for (value, kind) in values {
            let Some(reach) = reach(value, kind) else { continue };
            // In source code inside a text, a value stands as in a literal.
            for word in [Some(value.to_owned()), in_literal(value)].into_iter().flatten() {
                if known.insert(word.clone(), patterns.len()).is_none() {
                    patterns.push(Pattern { kind, reach });
                    words.push(word);
                }
            }
        }
        if words.is_empty() {
            return None;
        }
        let automaton =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&words).ok()?;
        Some(Self { automaton, patterns })
    }

    /// Every other occurrence in `text`.
    pub(super) fn find(&self, text: &str, findings: &mut Vec<Finding>) {
        let mut at = 0;
        while let Some(hit) = self.automaton.find(aho_corasick::Input::new(text).range(at..)) {
            let pattern = &self.patterns[hit.pattern().as_usize()];
            if pattern.reach == Reach::Anywhere || is_whole_word(text, hit.start(), hit.end()) {
                let (start, end) = (hit.start(), hit.end());
                findings.push(Finding { start, end, kind: pattern.kind, rule: "found_elsewhere" });
                at = hit.end();
            } else {
                // Another value may begin within this one, which is short.
                at = hit.start() + 1;
            }
        }
    }
}

fn reach(value: &str, kind: Kind) -> Option<Reach> {
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let lower = count(u8::is_ascii_lowercase);
    let upper = count(u8::is_ascii_uppercase);
    let others = value.len() - digits - lower - upper;
    let letters = lower + upper;
    if value.len() < SHORTEST
        || (letters == 0 && digits <= LONGEST_NUMBER)
        || (digits == 0 && others == 0 && value.len() < LONGEST_WORD && kind.is_secret())
    {
        return None;
    }
    let classes = [digits, lower, upper, others].iter().filter(|count| **count > 0).count();
    let is_exact = !matches!(kind, Kind::Person | Kind::Location | Kind::Organization | Kind::Term);
    if is_exact && letters > 0 && classes > 1 && value.len() >= DISTINCTIVE {
        return Some(Reach::Anywhere);
    }
    Some(Reach::WholeWord)
}

/// `value` as it stands in a string literal, where that differs.
fn in_literal(value: &str) -> Option<String> {
    if !value.bytes().any(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        return None;
    }
    let literal = serde_json::to_string(value).ok()?;
    Some(literal.get(1..literal.len() - 1)?.to_owned())
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
        if let Some(spread) = Spread::new([(value, kind)].into_iter()) {
            spread.find(text, &mut findings);
        }
        assert_eq!(findings.len(), expected, "{value} in {text}");
    }

    #[test]
    fn the_more_distinctive_the_further_a_value_reaches() {
        check("AKIA2345678901234567", Kind::Secret, "xAKIA2345678901234567y", 1);
        check("hunter2", Kind::Password, "hunter2, (hunter2) hunter23 xhunter2 \\nhunter2", 3);
        check("postgres", Kind::Password, "postgres://postgres", 0);
        check("12345", Kind::PostalCode, "12345", 0);
        check("4155550123", Kind::Phone, "x=4155550123 14155550123", 1);
        check("Ada Lovelace", Kind::Person, "Ada Lovelace, Ada Lovelaces", 1);
        check("ada@example.org", Kind::Email, "mailto:ada@example.org?x", 1);
        check("abc", Kind::Secret, "abc", 0);
        check("pass\"w0rd", Kind::Password, r#""pass\"w0rd""#, 1);
    }
}
