//! Judges the filter on the labelled data: the figures of `docs/security-model.md`.
//!
//! Each file judges one subject and adds figures and tables to the report. The rules are the same
//! for all: a labelled span counts as recalled where findings cover the whole of it, and a finding
//! counts as right where it overlaps a labelled span of whatever type. Kinds are compared loosely,
//! since a password that was found as a token does not leave either.

mod answers;
mod benign;
mod blind;
mod caller;
mod harmless;
mod injection;
mod numbers;
mod personal;
mod probes;
mod report;
mod restoration;
pub(crate) mod routing;
pub(crate) mod routing_replay;
mod rows;
mod score;
mod secrets;
mod turns;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use sluice_core::level::SecurityLevel;
use sluice_security::level::Rules;
use sluice_security::scan::{Scanner, ScannerSettings};

use crate::data::DataFile;
use report::Report;

/// Where labelled data for routing lies unless somebody says otherwise, from the repository's root.
#[cfg(test)]
pub(crate) const ROUTING_FOLDER: &str = "../shared/data/routing";

/// What to judge and what to print.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Judge only these levels: standard, high, maximum.
    #[arg(long = "level", value_delimiter = ',')]
    levels: Vec<String>,
    /// Use only the third of the rows that is kept back when detectors are tuned.
    #[arg(long)]
    held_back: bool,
    /// Judge only these subjects: secrets, probes, personal, benign, injection, injection-seen,
    /// restoration, turns, answers, answers-data, blind, harmless.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The folder with the blind sets [default: the project's own].
    #[arg(long)]
    blind: Option<PathBuf>,
    /// A folder with harmless texts, of which none should be taken for an attack.
    #[arg(long)]
    harmless: Option<PathBuf>,
    /// Print the figures and tables as JSON.
    #[arg(long)]
    json: bool,
    /// Print whole tables and the worst of the harmless files, with masked values.
    #[arg(long)]
    verbose: bool,
    /// Print up to this many examples a group of what was missed or found wrongly, in plain text.
    #[arg(long, default_value_t = 0)]
    misses: usize,
}

/// What every subject is judged with.
struct Judge<'a> {
    folder: &'a Path,
    arguments: &'a Arguments,
    levels: Vec<SecurityLevel>,
    scanner: Scanner,
}

impl Judge<'_> {
    /// Everything that `level` redacts in `text`.
    fn scan(&self, text: &str, level: SecurityLevel) -> Vec<sluice_security::finding::Finding> {
        self.scanner.scan(text, Rules::of(level).redact)
    }

    /// The rows of a file that the arguments ask for; none where there is no such file.
    fn read<T: rows::Row>(&self, name: &str, report: &mut Report) -> Result<Vec<T>> {
        if !self.folder.join(name).exists() {
            return Ok(Vec::new());
        }
        let DataFile { mut rows, provenance } = crate::data::read::<T>(self.folder, name, &[])?;
        rows.retain(|row| !self.arguments.held_back || rows::is_held_back(row.id()));
        report.judged_on(provenance, rows.len());
        Ok(rows)
    }
}

/// A subject of the evaluation: its name, whether it needs the data, how it is judged.
type Subject = (&'static str, bool, fn(&Judge<'_>, &mut Report) -> Result<()>);

const SUBJECTS: [Subject; 12] = [
    ("secrets", true, secrets::judge),
    ("probes", false, probes::judge),
    ("personal", true, personal::judge),
    ("benign", true, benign::judge),
    ("injection", false, injection::judge),
    ("injection-seen", true, injection::judge_seen),
    ("restoration", false, restoration::judge),
    ("turns", false, turns::judge),
    ("answers", false, answers::judge),
    ("answers-data", true, answers::judge_data),
    ("blind", false, blind::judge),
    ("harmless", false, harmless::judge),
];

/// Prints how well the filter does on the data in `folder`, and on what needs none.
pub(crate) fn run(arguments: &Arguments, folder: &Path) -> Result<()> {
    let names = SUBJECTS.map(|(name, ..)| name);
    for wish in &arguments.only {
        ensure!(names.contains(&wish.as_str()), "no `{wish}`; there are {}", names.join(", "));
    }
    let levels = levels(&arguments.levels)?;
    let scanner = Scanner::new(&ScannerSettings::default())?;
    let judge = Judge { folder, arguments, levels, scanner };
    let mut report = Report::new(&judge.levels);
    for (name, needs_data, subject) in SUBJECTS {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|wish| wish == name) {
            continue;
        }
        if needs_data && !folder.is_dir() {
            eprintln!("{name}: skipped, as there is no data in {}", folder.display());
            continue;
        }
        subject(&judge, &mut report)?;
    }
    if arguments.json {
        println!("{:#}", report.to_json());
    } else {
        print!("{}", report.to_markdown());
    }
    Ok(())
}

/// The levels that `words` name; all where there are none.
fn levels(words: &[String]) -> Result<Vec<SecurityLevel>> {
    if words.is_empty() {
        return Ok(SecurityLevel::ALL.to_vec());
    }
    let parse = |word: &String| {
        SecurityLevel::parse(word)
            .with_context(|| format!("no level `{word}`; there are standard, high, maximum"))
    };
    words.iter().map(parse).collect()
}
