//! Secrets: how many of the labelled ones are found, and how many findings are none.
//!
//! Sources: generated contexts (ours to find almost all of), the rule tests of gitleaks (the
//! vendors' long tail), and the unlabelled test files of detect-secrets, which only tell what is
//! found in mixed source files.

use anyhow::Result;

use super::Judge;
use super::report::{Report, Target, excerpt, one_line};
use super::rows::{SecretRow, spans};
use super::score::{Coverage, Grouped, Ratio, coverage, overlap};

const GENERATED: &str = "generated-A";
const LONG_TAIL: &str = "gitleaks-tests";

/// What is counted, level by level.
#[derive(Default)]
struct Counts {
    recall: Grouped,
    touched: Grouped,
    by_context: Grouped,
    by_type: Grouped,
    /// Findings of secrets that are secrets, in rows with labels and look-alikes.
    precision: Grouped,
    look_alikes: Grouped,
    contains: Grouped,
}

/// Judges the detectors of secrets.
pub(super) fn judge(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let rows: Vec<SecretRow> = judge.read("secrets_dev.jsonl", report)?;
    let mut counts = Counts::default();
    let mut missed = Vec::new();
    let mut wrong = Vec::new();
    for (index, &level) in judge.levels.iter().enumerate() {
        for row in &rows {
            let findings = judge.scan(&row.text, level);
            let is_found = findings.iter().any(|finding| finding.kind.is_secret());
            let Some(labels) = &row.spans else {
                let rule = row.contains.as_deref().unwrap_or("unknown");
                counts.contains.add("all", index, is_found);
                if !is_found && index == 0 {
                    missed.push((
                        format!("contains {rule}"),
                        format!("{}: {}", row.id, one_line(&row.text, 200)),
                    ));
                }
                continue;
            };
            let spans = spans(&row.text, labels);
            for span in &spans {
                let covered = coverage(&row.text, &span.range, &findings, |_| true);
                let is_whole = covered == Coverage::Whole;
                counts.recall.add(&row.source, index, is_whole);
                counts.touched.add(&row.source, index, covered != Coverage::None);
                counts.by_type.add(&span.kind, index, is_whole);
                if let Some(context) = &row.context {
                    counts.by_context.add(context, index, is_whole);
                }
                if !is_whole && index == 0 {
                    let group = row.context.as_deref().unwrap_or(&row.source);
                    let how = if covered == Coverage::Partly { " (part found)" } else { "" };
                    let text = excerpt(&row.text, &span.range, false);
                    missed
                        .push((group.to_owned(), format!("{} {}{how}: {text}", row.id, span.kind)));
                }
            }
            for finding in findings.iter().filter(|finding| finding.kind.is_secret()) {
                let is_right = spans.iter().any(|span| overlap(&span.range, &finding.range()));
                counts.precision.add(&row.source, index, is_right);
                counts.precision.add("all", index, is_right);
                if !is_right && index == 0 {
                    let text = excerpt(&row.text, &finding.range(), false);
                    let rule = row.rule.as_deref().unwrap_or("labelled");
                    wrong.push(format!("{} {} {rule}: {text}", row.id, finding.rule));
                }
            }
            if spans.is_empty() {
                counts.look_alikes.add("a secret found", index, is_found);
                counts.look_alikes.add("anything found", index, !findings.is_empty());
            }
        }
    }
    add_to(report, &counts, judge.arguments.verbose, judge.levels.len());
    let limit = judge.arguments.misses;
    report.examples("Secrets missed", first_of_each(missed, limit));
    wrong.truncate(limit * 5);
    report.examples("Secrets found wrongly", wrong);
    unlabelled(judge, report)
}

fn add_to(report: &mut Report, counts: &Counts, verbose: bool, levels: usize) {
    let least = |targets: [f64; 3]| targets.map(Target::AtLeast);
    let of = |grouped: &Grouped, group: &'static str| -> Vec<Ratio> {
        (0..levels).map(|level| grouped.ratio(group, level)).collect()
    };
    let figures: [(&str, Vec<Ratio>, [Target; 3]); 5] = [
        (
            "secrets recall, generated contexts",
            of(&counts.recall, GENERATED),
            least([0.98, 0.98, 0.99]),
        ),
        (
            "secrets recall, vendors' long tail",
            of(&counts.recall, LONG_TAIL),
            least([0.80, 0.85, 0.90]),
        ),
        ("secrets precision", of(&counts.precision, "all"), least([0.97, 0.95, 0.93])),
        ("rows that contain a secret", of(&counts.contains, "all"), [Target::Open; 3]),
        (
            "look-alikes of secrets altered",
            of(&counts.look_alikes, "a secret found"),
            [Target::Open; 3],
        ),
    ];
    for (what, ratios, targets) in figures {
        report.figures(what, |level| ratios[level], targets);
    }
    report.grouped("Secrets: recall by context", "context", &counts.by_context, |_| true);
    report.grouped("Secrets: found at least in part", "source", &counts.touched, |_| true);
    report.grouped("Secrets: precision by source", "source", &counts.precision, |_| true);
    report.grouped("Secrets: look-alikes altered", "how", &counts.look_alikes, |_| true);
    let is_incomplete = |name: &str| {
        let ratio = counts.by_type.ratio(name, 0);
        verbose || ratio.hits < ratio.of
    };
    report.grouped(
        "Secrets: recall by type, where not all is found",
        "type",
        &counts.by_type,
        is_incomplete,
    );
}

/// What is found in mixed source files, which nobody has labelled.
fn unlabelled(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let files: Vec<SecretRow> = judge.read("secrets_unlabelled_detect_secrets.jsonl", report)?;
    let row = |file: &SecretRow| {
        let found = judge.levels.iter().map(|&level| {
            let findings = judge.scan(&file.text, level);
            let secrets = findings.iter().filter(|finding| finding.kind.is_secret()).count();
            format!("{secrets} + {}", findings.len() - secrets)
        });
        std::iter::once(file.context.clone().unwrap_or_default()).chain(found).collect()
    };
    let mut header = vec!["file"];
    header.extend(judge.levels.iter().map(|level| level.as_str()));
    let title = "Unlabelled source files: secrets + others found";
    report.table(title, &header, files.iter().map(row).collect());
    Ok(())
}

/// At most `limit` examples of each group, by group.
pub(super) fn first_of_each(examples: Vec<(String, String)>, limit: usize) -> Vec<String> {
    let mut groups: std::collections::BTreeMap<String, Vec<String>> = Default::default();
    for (group, example) in examples {
        groups.entry(group).or_default().push(example);
    }
    let shown = |(group, examples): (String, Vec<String>)| {
        examples.into_iter().take(limit).map(move |example| format!("[{group}] {example}"))
    };
    groups.into_iter().flat_map(shown).collect()
}
