//! Personal data: recall and precision by kind and by where it stands.
//!
//! Three classes: sentences, chat (somebody asks, tells of oneself, or answers), and code and logs.
//! `standard` is judged on the kinds with a structure, the higher levels on names, addresses and
//! the like as well.

use anyhow::Result;
use sluice_core::level::SecurityLevel;
use sluice_security::kind::Kind;

use super::Judge;
use super::report::{Report, Target, excerpt};
use super::rows::{PersonalRow, spans};
use super::score::{Coverage, Grouped, coverage, overlap};
use super::secrets::first_of_each;

const SENTENCES: &str = "sentences";
const CHAT: &str = "chat";
const CODE: &str = "code and logs";
const CLASSES: [&str; 3] = [SENTENCES, CHAT, CODE];

/// The mildest level at which a labelled type has to be found; None of types that need not be.
fn demanded_at(kind: &str, value: &str) -> Option<SecurityLevel> {
    match kind {
        "IP_ADDRESS" if is_private(value) => Some(SecurityLevel::Maximum),
        "EMAIL" | "PHONE" | "CREDIT_CARD" | "US_SSN" | "IBAN" | "IP_ADDRESS" => {
            Some(SecurityLevel::Standard)
        }
        "PERSON" | "ADDRESS" | "DATE_OF_BIRTH" | "US_DRIVER_LICENSE" => Some(SecurityLevel::High),
        "LOCATION" | "ORGANIZATION" => Some(SecurityLevel::Maximum),
        // Dates, titles and domains are labelled in the source, but no level redacts them.
        _ => None,
    }
}

fn is_private(address: &str) -> bool {
    match address.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(v4)) => {
            v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_unspecified()
        }
        Ok(std::net::IpAddr::V6(v6)) => {
            v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()
        }
        Err(_) => false,
    }
}

/// Where a row's text stands.
fn class(row: &PersonalRow) -> &'static str {
    if row.source.starts_with("generated") {
        return CODE;
    }
    let lower = row.text.to_lowercase();
    let mut words =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|w| !w.is_empty());
    let talks =
        ["i", "i'm", "i'd", "i've", "my", "me", "you", "your", "please", "hello", "hi", "user"];
    if lower.contains('?') || words.any(|word| talks.contains(&word)) { CHAT } else { SENTENCES }
}

/// Judges the detectors of personal data.
pub(super) fn judge(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let rows: Vec<PersonalRow> = judge.read("pii_dev.jsonl", report)?;
    let (mut recall, mut precision) = (Grouped::default(), Grouped::default());
    let (mut by_type, mut touched, mut by_kind) =
        (Grouped::default(), Grouped::default(), Grouped::default());
    let (mut missed, mut wrong) = (Vec::new(), Vec::new());
    for (index, &level) in judge.levels.iter().enumerate() {
        for row in &rows {
            let class = class(row);
            let findings = judge.scan(&row.text, level);
            let spans = spans(&row.text, &row.spans);
            for span in &spans {
                let value = &row.text[span.range.clone()];
                let Some(demanded) = demanded_at(&span.kind, value) else { continue };
                let covered = coverage(&row.text, &span.range, &findings, char::is_alphanumeric);
                let is_whole = covered == Coverage::Whole;
                if demanded > level {
                    continue;
                }
                // The targets of `maximum` are those of `high`, without places and organisations.
                if demanded <= SecurityLevel::High {
                    recall.add(class, index, is_whole);
                }
                let group = format!("{class}: {}", span.kind);
                by_type.add(&group, index, is_whole);
                touched.add(&span.kind, index, covered != Coverage::None);
                if !is_whole {
                    let how = if covered == Coverage::Partly { " (part found)" } else { "" };
                    let text = excerpt(&row.text, &span.range, false);
                    let level = level.as_str();
                    missed.push((group, format!("{level} {}{how}: {text}", row.id)));
                }
            }
            for finding in &findings {
                let is_right = spans.iter().any(|span| overlap(&span.range, &finding.range()));
                precision.add(class, index, is_right);
                let kind = if finding.kind.is_secret() { Kind::Secret } else { finding.kind };
                by_kind.add(&format!("{class}: {kind}"), index, is_right);
                if !is_right {
                    let text = excerpt(&row.text, &finding.range(), false);
                    let how = format!("{} {} {}", level.as_str(), row.id, finding.rule);
                    wrong.push((format!("{class}: {}", finding.kind), format!("{how}: {text}")));
                }
            }
        }
    }
    let least = |targets: [f64; 3]| targets.map(Target::AtLeast);
    for (class, targets) in CLASSES.into_iter().zip([
        least([0.95, 0.85, 0.85]),
        least([0.90, 0.75, 0.75]),
        least([0.98, 0.90, 0.90]),
    ]) {
        let what = format!("personal data recall, {class}");
        report.figures(&what, |level| recall.ratio(class, level), targets);
    }
    for (class, target) in CLASSES.into_iter().zip([0.90, 0.85, 0.95]) {
        let what = format!("personal data precision, {class}");
        let ratio = |level| precision.ratio(class, level);
        report.figures(&what, ratio, [Target::AtLeast(target); 3]);
    }
    report.grouped("Personal data: recall by class and type", "type", &by_type, |_| true);
    report.grouped("Personal data: found at least in part", "type", &touched, |_| true);
    report.grouped("Personal data: precision by class and kind", "kind", &by_kind, |_| true);
    let limit = judge.arguments.misses;
    report.examples("Personal data missed", first_of_each(missed, limit));
    report.examples("Personal data found wrongly", first_of_each(wrong, limit));
    Ok(())
}
