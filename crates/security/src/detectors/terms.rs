//! The deployment's own terms and patterns, and values that it allows.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Regex, RegexBuilder};

use crate::finding::Finding;
use crate::kind::Kind;
use crate::scan::{ScannerSettings, SettingsProblem};

/// How large a compiled pattern may become, in bytes: what keeps `(.{1000}){1000}` out.
const PATTERN_SIZE: usize = 4 << 20;

/// The deployment's own terms and patterns, and values that it allows.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// Terms of ASCII letters only.
    plain: Option<AhoCorasick>,
    /// The other terms: letters beyond ASCII have their own pairs of cases.
    folded: Vec<Regex>,
    patterns: Vec<Regex>,
    allow: HashSet<String>,
    exceptions: HashSet<String>,
}

impl Terms {
    pub(crate) fn new(settings: &ScannerSettings) -> Result<Self, SettingsProblem> {
        let mut plain = Vec::new();
        let mut folded = Vec::new();
        for (index, term) in settings.terms.iter().enumerate() {
            match other_letters(index, term)? {
                Some(regex) => folded.push(regex),
                None => plain.push(term.trim()),
            }
        }
        let plain = if plain.is_empty() {
            None
        } else {
            let mut builder = AhoCorasick::builder();
            builder.ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest);
            let problem = |error: aho_corasick::BuildError| SettingsProblem {
                setting: "terms",
                index: 0,
                problem: format!("are too many: {error}"),
            };
            Some(builder.build(plain).map_err(problem)?)
        };
        let patterns = settings.patterns.iter().enumerate();
        let patterns = patterns.map(|(index, text)| pattern(index, text)).collect::<Result<_, _>>();
        let values = |setting, list: &[String]| {
            for (index, value) in list.iter().enumerate() {
                allowed(setting, index, value)?;
            }
            Ok(list.iter().cloned().collect())
        };
        let allow = values("allow", &settings.allow)?;
        let exceptions = values("exceptions", &settings.exceptions)?;
        Ok(Self { plain, folded, patterns: patterns?, allow, exceptions })
    }

    /// Every entry of `settings` that cannot be used.
    pub(crate) fn problems(settings: &ScannerSettings) -> Vec<SettingsProblem> {
        let each = |list: &[String], check: fn(usize, &str) -> Option<SettingsProblem>| {
            list.iter().enumerate().filter_map(|(at, text)| check(at, text)).collect::<Vec<_>>()
        };
        let mut problems = each(&settings.terms, |at, term| other_letters(at, term).err());
        problems.extend(each(&settings.patterns, |at, text| pattern(at, text).err()));
        problems.extend(each(&settings.allow, |at, value| allowed("allow", at, value).err()));
        let exception = |at, value: &str| allowed("exceptions", at, value).err();
        problems.extend(each(&settings.exceptions, exception));
        if problems.is_empty() {
            // What only shows when they are put together.
            problems.extend(Self::new(settings).err());
        }
        problems
    }

    /// Pushes every term and every match of a pattern to `out`.
    pub(crate) fn find(&self, text: &str, out: &mut Vec<Finding>) {
        let mut push = |start, end, rule| {
            if start < end {
                out.push(Finding { start, end, kind: Kind::Term, rule });
            }
        };
        if let Some(plain) = &self.plain {
            for hit in plain.find_iter(text) {
                if is_whole_word(text, hit.start(), hit.end()) {
                    push(hit.start(), hit.end(), "term");
                }
            }
        }
        for hit in self.folded.iter().flat_map(|term| term.find_iter(text)) {
            if is_whole_word(text, hit.start(), hit.end()) {
                push(hit.start(), hit.end(), "term");
            }
        }
        for hit in self.patterns.iter().flat_map(|pattern| pattern.find_iter(text)) {
            push(hit.start(), hit.end(), "pattern");
        }
    }

    /// Removes findings of values that the deployment allows, and detectors' findings of exceptions.
    pub(crate) fn retain_not_allowed(&self, text: &str, findings: &mut Vec<Finding>) {
        if self.allow.is_empty() && self.exceptions.is_empty() {
            return;
        }
        findings.retain(|finding| {
            let value = &text[finding.range()];
            let is_excepted = finding.kind != Kind::Term && self.exceptions.contains(value);
            !is_excepted && !self.allow.contains(value)
        });
    }
}

/// A term, where it has letters beyond ASCII.
fn other_letters(index: usize, term: &str) -> Result<Option<Regex>, SettingsProblem> {
    let problem = |problem: String| SettingsProblem { setting: "terms", index, problem };
    let term = term.trim();
    if term.chars().count() < 2 {
        return Err(problem("is shorter than 2 characters; it would be everywhere".into()));
    }
    if term.is_ascii() {
        return Ok(None);
    }
    let regex = RegexBuilder::new(&regex::escape(term)).case_insensitive(true).build();
    regex.map(Some).map_err(|error| problem(error.to_string()))
}

fn pattern(index: usize, pattern: &str) -> Result<Regex, SettingsProblem> {
    let problem = |problem: String| SettingsProblem { setting: "patterns", index, problem };
    let regex = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build();
    let regex = regex.map_err(|error| problem(error.to_string()))?;
    if regex.is_match("") {
        return Err(problem("matches the empty text; it would be everywhere".into()));
    }
    Ok(regex)
}

fn allowed(setting: &'static str, index: usize, value: &str) -> Result<(), SettingsProblem> {
    if value.is_empty() {
        let problem = "is empty; remove it".into();
        return Err(SettingsProblem { setting, index, problem });
    }
    Ok(())
}

/// Whether no letter or digit continues the word on either side, unless its own end is none.
fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let (word, before, behind) = (&text[start..end], &text[..start], &text[end..]);
    let joins = |a: Option<char>, b: Option<char>| {
        a.is_some_and(char::is_alphanumeric) && b.is_some_and(char::is_alphanumeric)
    };
    // The letter of an escape such as `\n` is not one of the word's neighbours.
    let escape = before.len() >= 2
        && before.as_bytes()[before.len() - 2] == b'\\'
        && matches!(before.as_bytes()[before.len() - 1], b'n' | b't' | b'r');
    (escape || !joins(before.chars().next_back(), word.chars().next()))
        && !joins(word.chars().next_back(), behind.chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kinds;
    use crate::scan::Scanner;

    fn settings(terms: &[&str], patterns: &[&str], allow: &[&str]) -> ScannerSettings {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let (terms, patterns, allow) = (owned(terms), owned(patterns), owned(allow));
        ScannerSettings { terms, patterns, allow, ..ScannerSettings::default() }
    }

    fn check(terms: &[&str], patterns: &[&str], text: &str, expected: &[&str]) {
        let terms = Terms::new(&settings(terms, patterns, &[])).unwrap();
        let mut found = Vec::new();
        terms.find(text, &mut found);
        let found: Vec<_> = found.iter().map(|finding| &text[finding.range()]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn finds_terms_as_whole_words_in_any_case() {
        check(&["Acme"], &[], "ACME and acme, not acmes or Xacme", &["ACME", "acme"]);
        check(&["Müller GmbH"], &[], "an die MÜLLER GMBH.", &["MÜLLER GMBH"]);
        check(&["Acme Corp", "Acme"], &[], "\"x\\nacme corp\"", &["acme corp"]);
        check(&["C++"], &[], "C++17 and c++", &["C++", "c++"]);
        check(&[], &[r"PRJ-\d{4}"], "see PRJ-1234, PRJ-12", &["PRJ-1234"]);
    }

    #[test]
    fn names_the_entry_that_cannot_be_used() {
        let problem = |settings: &ScannerSettings| {
            let problem = Terms::new(settings).unwrap_err();
            (problem.setting, problem.index)
        };
        assert_eq!(problem(&settings(&["ok", "x"], &[], &[])), ("terms", 1));
        assert_eq!(problem(&settings(&[], &["ok", "("], &[])), ("patterns", 1));
        assert_eq!(problem(&settings(&[], &["a*"], &[])), ("patterns", 0));
        assert_eq!(problem(&settings(&[], &[], &["a", ""])), ("allow", 1));
    }

    #[test]
    fn allowed_values_stay() {
        let terms = Terms::new(&settings(&["acme"], &[], &["ACME"])).unwrap();
        let text = "acme ACME";
        let mut found = Vec::new();
        terms.find(text, &mut found);
        terms.retain_not_allowed(text, &mut found);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].start, 0);
    }

    #[test]
    fn exceptions_lift_what_detectors_find_and_no_term_or_pattern() {
        let exceptions = ["acme", "PRJ-1234", "ada@acme.org"].map(str::to_owned).to_vec();
        let settings = settings(&["acme"], &[r"PRJ-\d{4}"], &[]);
        let scanner = Scanner::new(&ScannerSettings { exceptions, ..settings }).unwrap();
        let text = "acme PRJ-1234 ada@acme.org bob@acme.org";
        let found = scanner.scan(text, Kinds::of(&[Kind::Term, Kind::Email]));
        let found: Vec<_> = found.iter().map(|finding| &text[finding.range()]).collect();
        assert_eq!(found, ["acme", "PRJ-1234", "acme", "bob@acme.org"]);
    }
}
