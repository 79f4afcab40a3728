//! A thing that was found in a text.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::kind::Kind;

/// A thing that was found in a text. It says where, never what: the value stays in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// Byte offset of the value's first byte.
    pub start: usize,
    /// Byte offset behind the value's last byte.
    pub end: usize,
    /// What it is.
    pub kind: Kind,
    /// Which rule found it, for people who ask why: `github_token`, `assignment`, `luhn`.
    pub rule: &'static str,
}

impl Finding {
    /// The value's place.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Sorts findings and resolves overlaps: a secret wins over personal data, then the longer finding
/// wins, then the earlier. What remains neither overlaps nor is empty.
pub fn settle(findings: &mut Vec<Finding>) {
    let mut end = 0;
    let is_settled = findings.iter().all(|finding| {
        let follows = end <= finding.start && finding.start < finding.end;
        end = finding.end;
        follows
    });
    if is_settled {
        return;
    }
    findings.retain(|finding| finding.start < finding.end);
    findings.sort_by_key(|finding| finding.start);
    // Few of them overlap, and only with some of their neighbours.
    let mut settled = 0;
    let mut from = 0;
    while from < findings.len() {
        let mut end = findings[from].end;
        let mut to = from + 1;
        while let Some(next) = findings.get(to).filter(|next| next.start < end) {
            end = end.max(next.end);
            to += 1;
        }
        if to - from > 1 {
            for finding in apart(&mut findings[from..to]) {
                findings[settled] = finding;
                settled += 1;
            }
        } else {
            findings[settled] = findings[from];
            settled += 1;
        }
        from = to;
    }
    findings.truncate(settled);
}

/// Those of `findings` that win, in order.
fn apart(findings: &mut [Finding]) -> impl Iterator<Item = Finding> + use<> {
    let rank = |f: &Finding| (!f.kind.is_secret(), usize::MAX - (f.end - f.start), f.start);
    findings.sort_by_key(rank);
    let mut kept: BTreeMap<usize, Finding> = BTreeMap::new();
    for finding in findings {
        let before = kept.range(..finding.end).next_back();
        if before.is_none_or(|(_, other)| other.end <= finding.start) {
            kept.insert(finding.start, *finding);
        }
    }
    kept.into_values()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn neighbours_are_settled_as_all_at_once(
            places in prop::collection::vec((0..60_usize, 0..12_usize, 0..3_usize), 0..14),
        ) {
            let kinds = [Kind::Password, Kind::Email, Kind::Phone];
            let finding = |(start, length, kind): (usize, usize, usize)| {
                Finding { start, end: start + length, kind: kinds[kind], rule: "test" }
            };
            let mut findings: Vec<Finding> = places.into_iter().map(finding).collect();
            let mut whole = findings.clone();
            whole.retain(|finding| finding.start < finding.end);
            let expected: Vec<Finding> = apart(&mut whole).collect();
            settle(&mut findings);
            prop_assert_eq!(findings, expected);
        }
    }

    #[test]
    fn overlaps_go_to_secrets_then_to_the_longest() {
        let found = |start, end, kind| Finding { start, end, kind, rule: "test" };
        let mut findings = vec![
            found(20, 30, Kind::Phone),
            found(0, 10, Kind::Email),
            found(4, 6, Kind::Password),
            found(25, 40, Kind::Card),
            found(40, 41, Kind::Mac),
            found(50, 50, Kind::Mac),
        ];
        settle(&mut findings);
        let kept: Vec<_> = findings.iter().map(|f| (f.start, f.kind)).collect();
        assert_eq!(kept, [(4, Kind::Password), (25, Kind::Card), (40, Kind::Mac)]);
    }
}
