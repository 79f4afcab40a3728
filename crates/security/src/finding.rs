//! A thing that was found in a text.

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
    let rank = |f: &Finding| (!f.kind.is_secret(), usize::MAX - (f.end - f.start), f.start);
    findings.sort_by_key(rank);
    let mut kept: std::collections::BTreeMap<usize, Finding> = std::collections::BTreeMap::new();
    for finding in findings.drain(..) {
        let before = kept.range(..finding.end).next_back();
        if before.is_none_or(|(_, other)| other.end <= finding.start) {
            kept.insert(finding.start, finding);
        }
    }
    findings.extend(kept.into_values());
}

#[cfg(test)]
mod tests {
    use super::*;

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
