//! How good a model is, by source, on what was held back and on what was learned from.

use std::collections::BTreeMap;
use std::time::Instant;

use sluice_core::level::SecurityLevel;
use sluice_security::finding::Finding;
use sluice_security::kind::Kind;
use sluice_security::level::Rules;
use sluice_security::names::training::{Model, find};

use super::corpus::{ADDRESS, Corpus, Document, LOCATION, ORGANIZATION, PERSON};

/// What a source's documents gave.
#[derive(Debug, Default)]
struct Tally {
    documents: usize,
    altered: usize,
    /// Labelled and found, for each label.
    labelled: [usize; 5],
    found: [usize; 5],
    findings: usize,
    right: usize,
}

/// Prints the figures.
pub(super) fn report(model: &Model, corpus: &Corpus, verbose: bool) {
    for level in [SecurityLevel::High, SecurityLevel::Maximum] {
        println!("\n{} level", level.as_str());
        println!(
            "{:32} {:>6} {:>14} {:>14} {:>14} {:>14} {:>10} {:>8}",
            "source",
            "texts",
            "person",
            "address",
            "location",
            "organization",
            "precision",
            "altered"
        );
        let mut tallies: BTreeMap<(bool, &str), Tally> = BTreeMap::new();
        for document in &corpus.documents {
            let findings = find(model, &document.text, Rules::of(level).redact);
            let tally = tallies.entry((!document.held, document.source.as_str())).or_default();
            count(document, &findings, tally);
            if verbose && document.held {
                explain(document, &findings);
            }
        }
        for (name, text) in &corpus.long {
            let start = Instant::now();
            let findings = find(model, text, Rules::of(level).redact).len();
            let megabytes = text.len() as f64 / 1e6;
            let speed = megabytes / start.elapsed().as_secs_f64();
            println!("{name}: {speed:.0} MB/s, {findings} findings in {megabytes:.1} MB");
        }
        for ((learned, source), tally) in tallies {
            let recall = |label: u8| {
                let (found, all) =
                    (tally.found[usize::from(label)], tally.labelled[usize::from(label)]);
                if all == 0 { "-".to_owned() } else { format!("{:.3} ({all})", ratio(found, all)) }
            };
            println!(
                "{:32} {:>6} {:>14} {:>14} {:>14} {:>14} {:>10} {:>8}",
                format!("{} {source}", if learned { "learned" } else { "held" }),
                tally.documents,
                recall(PERSON),
                recall(ADDRESS),
                recall(LOCATION),
                recall(ORGANIZATION),
                format!("{:.3}", ratio(tally.right, tally.findings)),
                tally.altered,
            );
        }
    }
}

fn ratio(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

/// A name counts as found when most of it is covered, a finding as right when it touches one.
fn count(document: &Document, findings: &[Finding], tally: &mut Tally) {
    tally.documents += 1;
    tally.altered += usize::from(!findings.is_empty());
    for span in &document.spans {
        tally.labelled[usize::from(span.label)] += 1;
        tally.found[usize::from(span.label)] +=
            usize::from(is_found(span.start, span.end, findings));
    }
    for finding in findings {
        // What the structured detectors find is theirs.
        if document.others.iter().any(|(start, end)| *start <= finding.start && finding.end <= *end)
        {
            continue;
        }
        tally.findings += 1;
        tally.right += usize::from(touches(document, finding));
    }
}

fn is_found(start: usize, end: usize, findings: &[Finding]) -> bool {
    let covered: usize = findings
        .iter()
        .map(|finding| finding.end.min(end).saturating_sub(finding.start.max(start)))
        .sum();
    2 * covered > end - start
}

fn touches(document: &Document, finding: &Finding) -> bool {
    document.spans.iter().any(|span| span.start < finding.end && finding.start < span.end)
}

/// Prints what was missed and what was wrong.
fn explain(document: &Document, findings: &[Finding]) {
    let excerpt = |start: usize, end: usize| {
        let text = &document.text;
        let from = text.floor_char_boundary(start.saturating_sub(30));
        let to = text.ceil_char_boundary((end + 30).min(text.len()));
        format!("{:?} in {:?}", &text[start..end], &text[from..to])
    };
    for span in &document.spans {
        if span.label <= ADDRESS && !is_found(span.start, span.end, findings) {
            println!("MISSED {} {} {}", document.source, span.label, excerpt(span.start, span.end));
        }
    }
    for finding in findings {
        if matches!(finding.kind, Kind::Person | Kind::Address) && !touches(document, finding) {
            println!(
                "WRONG {} {} {}",
                document.source,
                finding.kind,
                excerpt(finding.start, finding.end)
            );
        }
    }
}
