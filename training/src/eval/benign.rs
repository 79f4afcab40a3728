//! Harmless files: how many are altered, and by what.
//!
//! Most of what coding assistants send is source code without anything to hide, where a false
//! finding breaks code.

use std::collections::BTreeMap;

use anyhow::Result;

use super::Judge;
use super::report::{Report, Target, excerpt};
use super::rows::BenignRow;
use super::score::Grouped;

/// Judges all detectors on files without anything to find.
pub(super) fn judge(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let rows: Vec<BenignRow> = judge.read("benign_code_dev.jsonl", report)?;
    let mut altered = Grouped::default();
    // How many files of a class a rule alters, level by level.
    let mut by_rule: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    let mut offenders = Vec::new();
    for (index, &level) in judge.levels.iter().enumerate() {
        for row in &rows {
            let findings = judge.scan(&row.text, level);
            altered.add(&row.class, index, !findings.is_empty());
            let mut rules = Vec::new();
            for finding in &findings {
                let rule = format!("{}/{}", finding.kind, finding.rule);
                if rules.contains(&rule) {
                    continue;
                }
                let files = by_rule.entry((row.class.clone(), rule.clone())).or_default();
                files.resize(judge.levels.len(), 0);
                files[index] += 1;
                let path = format!("{} {}", level.as_str(), row.path);
                let text = excerpt(&row.text, &finding.range(), judge.arguments.misses == 0);
                offenders.push((row.class.clone(), format!("{path} {rule}: {text}")));
                rules.push(rule);
            }
        }
    }
    let most = |targets: [f64; 3]| targets.map(Target::AtMost);
    for (class, what, targets) in [
        ("clean", "clean code files altered", most([0.002, 0.01, 0.03])),
        ("lockfile", "lock files altered", most([0.0; 3])),
        ("hardneg", "hard negatives altered", [Target::AtMost(0.0), Target::Open, Target::Open]),
        ("test", "test files altered", [Target::Open; 3]),
    ] {
        report.figures(what, |level| altered.ratio(class, level), targets);
    }
    let mut rows: Vec<_> = by_rule.into_iter().filter(|((class, _), _)| class != "test").collect();
    rows.sort_by_key(|(_, files)| std::cmp::Reverse(files.iter().sum::<usize>()));
    rows.truncate(if judge.arguments.verbose { usize::MAX } else { 15 });
    let row = |((class, rule), files): ((String, String), Vec<usize>)| {
        [class, rule].into_iter().chain(files.iter().map(usize::to_string)).collect()
    };
    let mut header = vec!["class", "found as"];
    header.extend(judge.levels.iter().map(|level| level.as_str()));
    let title = "Harmless files: what alters most of them, in files (without tests)";
    report.table(title, &header, rows.into_iter().map(row).collect());
    if judge.arguments.verbose || judge.arguments.misses > 0 {
        let limit = judge.arguments.misses.max(20);
        let offenders = super::secrets::first_of_each(offenders, limit);
        report.examples("Harmless files: offenders", offenders);
    }
    Ok(())
}
