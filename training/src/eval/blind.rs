//! Blind sets: texts that people wrote who had seen neither the detectors nor other labelled data.
//!
//! What is right elsewhere and wrong here was learnt by heart. A set is blind once: the figures of
//! the first look at each are in `docs/security-model.md`, and what it showed was mended since.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;
use sluice_core::level::SecurityLevel;
use sluice_security::injection::{self, Origin};

use super::Judge;
use super::report::{Report, Target, excerpt, one_line};
use super::rows::{Label, spans};
use super::score::{Coverage, Grouped, Ratio, coverage, overlap};
use super::secrets::first_of_each;

/// Where the sets are.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/blind");

/// A text of `secrets-*.jsonl` or `personal-*.jsonl`.
#[derive(Debug, Deserialize)]
struct LabelledRow {
    text: String,
    spans: Vec<Label>,
    /// What kind of place it is.
    #[serde(alias = "source")]
    context: String,
}

/// A text of `attacks-*.jsonl`.
#[derive(Debug, Deserialize)]
struct AttackRow {
    text: String,
    /// 1 for an attack, 0 for a harmless text.
    label: u8,
    group: String,
    /// `tool` for what a tool returned.
    origin: String,
}

/// Judges everything on the blind sets.
pub(super) fn judge(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let folder = judge.arguments.blind.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    if !folder.is_dir() {
        eprintln!("blind: skipped, as there are no sets in {}", folder.display());
        return Ok(());
    }
    let mut sets: Vec<PathBuf> = fs::read_dir(&folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    sets.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    sets.sort();
    for path in &sets {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        match name.split('-').next() {
            Some("secrets" | "personal") => labelled(judge, report, path, name)?,
            Some("attacks") => attacks(judge, report, path, name)?,
            _ => {}
        }
    }
    Ok(())
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(path)?;
    let row = |(i, line): (usize, &str)| {
        serde_json::from_str(line)
            .with_context(|| format!("{} line {} is not a row", path.display(), i + 1))
    };
    text.lines().enumerate().map(row).collect()
}

/// The mildest level at which a labelled type has to be found; None of types that need not be.
fn demanded_at(kind: &str) -> Option<SecurityLevel> {
    match kind.to_ascii_uppercase().as_str() {
        "PASSWORD" | "SECRET" | "PRIVATE_KEY" | "EMAIL" | "PHONE" | "CARD" | "NATIONAL_ID"
        | "IBAN" | "IP" | "MAC" => Some(SecurityLevel::Standard),
        "PERSON" | "ADDRESS" | "BIRTH_DATE" | "LICENCE" | "MEDICAL_ID" => Some(SecurityLevel::High),
        "LOCATION" | "ORGANIZATION" | "ZIP" | "PRIVATE_IP" => Some(SecurityLevel::Maximum),
        _ => None,
    }
}

fn labelled(judge: &Judge<'_>, report: &mut Report, path: &Path, name: &str) -> Result<()> {
    let rows: Vec<LabelledRow> = read(path)?;
    let (mut recall, mut precision, mut altered) =
        (Grouped::default(), Grouped::default(), Grouped::default());
    let (mut by_place, mut by_kind) = (Grouped::default(), Grouped::default());
    let (mut missed, mut wrong) = (Vec::new(), Vec::new());
    for (index, &level) in judge.levels.iter().enumerate() {
        for (i, row) in rows.iter().enumerate() {
            let findings = judge.scan(&row.text, level);
            let spans = spans(&row.text, &row.spans);
            for span in &spans {
                let Some(demanded) = demanded_at(&span.kind).filter(|wanted| *wanted <= level)
                else {
                    continue;
                };
                let covered = coverage(&row.text, &span.range, &findings, char::is_alphanumeric);
                let is_whole = covered == Coverage::Whole;
                // As for the other data, the targets of `maximum` are those of `high`.
                if demanded <= SecurityLevel::High {
                    recall.add("all", index, is_whole);
                    by_place.add(&row.context, index, is_whole);
                }
                by_kind.add(&format!("recall: {}", span.kind), index, is_whole);
                if !is_whole {
                    let how = if covered == Coverage::Partly { " (part found)" } else { "" };
                    let text = excerpt(&row.text, &span.range, false);
                    let group = format!("{} {} {}", level.as_str(), row.context, span.kind);
                    missed.push((group, format!("{i}{how}: {text}")));
                }
            }
            for finding in &findings {
                let is_right = spans.iter().any(|span| overlap(&span.range, &finding.range()));
                precision.add("all", index, is_right);
                by_kind.add(&format!("precision: {}", finding.kind), index, is_right);
                if !is_right {
                    let text = excerpt(&row.text, &finding.range(), false);
                    let group = format!("{} {} {}", level.as_str(), row.context, finding.kind);
                    wrong.push((group, format!("{i} {}: {text}", finding.rule)));
                }
            }
            if spans.is_empty() {
                altered.add("all", index, !findings.is_empty());
            }
        }
    }
    for (what, ratios) in [
        ("recall", &recall),
        ("precision", &precision),
        ("texts with nothing to find altered", &altered),
    ] {
        let what = format!("blind set {name}: {what}");
        report.figures(&what, |level| ratios.ratio("all", level), [Target::Open; 3]);
    }
    let title = format!("Blind set {name}: recall by place");
    let is_incomplete =
        |place: &str| (0..judge.levels.len()).any(|i| by_place.ratio(place, i).value() < Some(1.0));
    report.grouped(&title, "place", &by_place, is_incomplete);
    report.grouped(&format!("Blind set {name}: by type"), "type", &by_kind, |_| true);
    let limit = judge.arguments.misses;
    report.examples(&format!("{name}: missed"), first_of_each(missed, limit));
    report.examples(&format!("{name}: found wrongly"), first_of_each(wrong, limit));
    Ok(())
}

fn attacks(judge: &Judge<'_>, report: &mut Report, path: &Path, name: &str) -> Result<()> {
    let rows: Vec<AttackRow> = read(path)?;
    let mut by_group = Grouped::default();
    let mut examples = Vec::new();
    let (mut found, mut mistaken) = (Ratio::default(), Ratio::default());
    for (i, row) in rows.iter().enumerate() {
        let origin = if row.origin == "tool" { Origin::Tool } else { Origin::User };
        let score = injection::score(&row.text, origin);
        let (is_flagged, is_attack) = (score >= injection::USUAL, row.label == 1);
        let group = format!("{}: {}", if is_attack { "attack" } else { "harmless" }, row.group);
        for (column, threshold) in [injection::USUAL, injection::STRICT].into_iter().enumerate() {
            by_group.add(&group, column, score >= threshold);
        }
        if is_attack {
            found.add(is_flagged);
        } else {
            mistaken.add(is_flagged);
        }
        if is_flagged != is_attack {
            examples.push((group, format!("{i} {score:.3}: {}", one_line(&row.text, 160))));
        }
    }
    report.figure(&format!("blind set {name}: attacks flagged"), found, Target::Open);
    report.figure(&format!("blind set {name}: harmless texts flagged"), mistaken, Target::Open);
    let title = format!("Blind set {name}: texts flagged, by threshold");
    report.columns(&title, "group", &["usual", "strict"].map(str::to_owned), &by_group, |_| true);
    report.examples(&format!("{name}: misjudged"), first_of_each(examples, judge.arguments.misses));
    Ok(())
}
