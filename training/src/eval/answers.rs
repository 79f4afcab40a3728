//! The analysis of answers: what is noticed in those that do harm, and in those that do not.

use std::sync::Arc;

use anyhow::Result;
use sluice_security::flag::Flag;
use sluice_security::map::RedactionMap;
use sluice_security::scan::{Scanner, ScannerSettings};

use super::Judge;
use super::caller::{Caller, Channel};
use super::report::{Report, Target, one_line};
use super::rows::{BenignRow, SecretRow};
use super::score::Grouped;
use super::secrets::first_of_each;

/// Answers with commands or code that do harm when they run, and others that look like them.
const DANGEROUS: &str = include_str!("texts/dangerous.txt");
const HARMLESS: &str = include_str!("texts/commands.txt");

/// A caller for each level, whose requests had nothing to redact.
fn callers(judge: &Judge<'_>) -> Result<Vec<Caller>> {
    let scanner = Arc::new(Scanner::new(&ScannerSettings::default())?);
    let map = Arc::new(RedactionMap::default());
    judge.levels.iter().map(|&level| Caller::new(&scanner, &map, level)).collect()
}

/// Judges the search for dangerous commands.
pub(super) fn judge(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let mut flagged = Grouped::default();
    let mut examples = Vec::new();
    for (index, caller) in callers(judge)?.iter().enumerate() {
        for (name, texts) in [("dangerous", DANGEROUS), ("harmless", HARMLESS)] {
            for text in texts.split("\n---\n") {
                let (_, noticed) = caller.judged(Channel::Content, text.trim());
                let is_flagged = noticed.flags.contains(Flag::DangerousCommand);
                flagged.add(name, index, is_flagged);
                if is_flagged != (name == "dangerous") && index == 0 {
                    examples.push((name.to_owned(), one_line(text.trim(), 160)));
                }
            }
        }
    }
    let dangerous = |level| flagged.ratio("dangerous", level);
    report.figures("dangerous commands in answers flagged", dangerous, [Target::Open; 3]);
    let harmless = |level| flagged.ratio("harmless", level);
    report.figures("harmless commands in answers flagged", harmless, [Target::Open; 3]);
    let limit = judge.arguments.misses;
    report.examples("Answers misjudged", first_of_each(examples, limit));
    Ok(())
}

/// Judges the analysis on the labelled data, said by a model.
pub(super) fn judge_data(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let files: Vec<BenignRow> = judge.read("benign_code_dev.jsonl", report)?;
    let secrets: Vec<SecretRow> = judge.read("secrets_dev.jsonl", report)?;
    let (mut ratios, mut flags) = (Grouped::default(), Grouped::default());
    let mut examples = Vec::new();
    for (index, caller) in callers(judge)?.iter().enumerate() {
        for file in files.iter().filter(|file| file.class == "clean") {
            let (said, noticed) = caller.judged(Channel::Content, &file.text);
            ratios.add("flagged", index, !noticed.flags.is_empty());
            ratios.add("altered", index, said != file.text);
            for flag in Flag::ALL {
                flags.add(flag.as_str(), index, noticed.flags.contains(flag));
            }
            if !noticed.flags.is_empty() {
                let level = caller.level().as_str();
                let flags = noticed.flags.to_string();
                examples.push((flags, format!("{level} {}", file.path)));
            }
        }
        for row in secrets.iter().filter(|row| row.context.is_some()) {
            let (_, noticed) = caller.judged(Channel::Content, &row.text);
            ratios.add("secrets", index, noticed.flags.contains(Flag::SecretInAnswer));
        }
    }
    let all = |group: &'static str| {
        let ratios = &ratios;
        move |level| ratios.ratio(group, level)
    };
    let open = [Target::Open; 3];
    report.figures("new secrets in answers noticed (generated contexts)", all("secrets"), open);
    report.figures("clean code files as answers: flagged", all("flagged"), open);
    report.figures("clean code files as answers: altered", all("altered"), open);
    let is_raised =
        |flag: &str| (0..judge.levels.len()).any(|level| flags.ratio(flag, level).hits > 0);
    report.grouped("Clean code files as answers, by flag", "flag", &flags, is_raised);
    let limit = judge.arguments.misses;
    report.examples("Clean code files flagged as answers", first_of_each(examples, limit));
    Ok(())
}
