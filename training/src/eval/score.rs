//! Counting: what was covered, and how often.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use sluice_security::finding::Finding;

/// How much of a labelled span the findings cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Coverage {
    None,
    Partly,
    Whole,
}

/// How much of `span` the findings cover. Only what `counts` says so has to be covered: an address
/// that is found line by line is found, though nobody found its line ends.
pub(super) fn coverage(
    text: &str,
    span: &Range<usize>,
    findings: &[Finding],
    counts: impl Fn(char) -> bool,
) -> Coverage {
    let (mut covered, mut left) = (false, false);
    for (at, character) in text[span.clone()].char_indices() {
        if !counts(character) {
            continue;
        }
        let at = span.start + at;
        if findings.iter().any(|finding| finding.range().contains(&at)) {
            covered = true;
        } else {
            left = true;
        }
    }
    match (covered, left) {
        (true, false) => Coverage::Whole,
        (true, true) => Coverage::Partly,
        (false, _) => Coverage::None,
    }
}

/// Whether two ranges share a byte.
pub(super) fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// How many of how many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ratio {
    pub(super) hits: usize,
    pub(super) of: usize,
}

impl Ratio {
    /// Counts one more.
    pub(super) fn add(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.of += 1;
    }

    /// From 0 to 1; None of nothing.
    pub(super) fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }
}

impl std::ops::AddAssign for Ratio {
    fn add_assign(&mut self, other: Self) {
        self.hits += other.hits;
        self.of += other.of;
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Some(value) => write!(f, "{value:.3} ({}/{})", self.hits, self.of),
            None => f.write_str("–"),
        }
    }
}

/// Ratios by group and level.
#[derive(Debug, Default)]
pub(super) struct Grouped(BTreeMap<String, BTreeMap<usize, Ratio>>);

impl Grouped {
    /// Counts one more of `group` at the level with index `level`.
    pub(super) fn add(&mut self, group: &str, level: usize, hit: bool) {
        self.0.entry(group.to_owned()).or_default().entry(level).or_default().add(hit);
    }

    /// What was counted of `group` at a level.
    pub(super) fn ratio(&self, group: &str, level: usize) -> Ratio {
        self.0.get(group).and_then(|levels| levels.get(&level)).copied().unwrap_or_default()
    }

    /// The groups, sorted.
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use sluice_security::kind::Kind;

    use super::*;

    #[test]
    fn coverage_ignores_what_does_not_count() {
        let text = "12 Rue X\n Paris";
        let finding = |start, end| Finding { start, end, kind: Kind::Address, rule: "test" };
        for (findings, wanted) in [
            (vec![finding(0, 8), finding(10, 15)], Coverage::Whole),
            (vec![finding(0, 8)], Coverage::Partly),
            (vec![finding(8, 10)], Coverage::None),
            (vec![], Coverage::None),
        ] {
            let found = coverage(text, &(0..15), &findings, char::is_alphanumeric);
            assert_eq!(found, wanted, "{findings:?}");
        }
    }
}
