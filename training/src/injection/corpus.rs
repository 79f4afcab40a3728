//! The project's own attacks and harmless texts: files in `training/corpus/injection/`.
//!
//! A file has sections, `[attack user]`, `[attack tool]`, `[harmless user]`, `[harmless tool]`, each
//! with one text a line (`\n` is a new line). `@name = a | b` names choices for `{name}`; a line that
//! begins with `*5 ` is written five times with choices made anew. `[carrier]` has documents in which
//! `{payload}` is a place where an attack may stand, `[filler]` what harmlessly stands there
//! otherwise, and `[payload]` attacks that are put into carriers as well as standing alone. Lines that begin
//! with `#%`, and those with `#` before the first section, are comments.
//!
//! A `.jsonl` file has one labelled text a line. Where a line names its package (`real.jsonl`), it is a
//! piece of a real file that is harmless: source, documentation, release notes, output of tools.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use sluice_security::injection::Origin;

use crate::chance::Chance;
use crate::data::Provenance;

/// A text with what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Example {
    /// The text.
    pub(crate) text: String,
    /// Whether it is an attack.
    pub(crate) is_attack: bool,
    /// Where such a text comes from.
    pub(crate) origin: Origin,
    /// Which file or which source of a file it is from.
    pub(crate) source: String,
    /// Which part of its source it is from, where figures are given by part.
    pub(crate) group: Option<String>,
    /// Where in the text the attack is, where that is known.
    pub(crate) payload: Option<Range<usize>>,
    /// Whether it is only to be trained on, not to be judged by.
    pub(crate) is_extra: bool,
}

/// The project's own texts.
#[derive(Default)]
pub(crate) struct Corpus {
    /// Attacks and harmless texts.
    pub(crate) examples: Vec<Example>,
    /// Documents with a place for an attack.
    pub(crate) carriers: Vec<String>,
    /// What harmlessly stands there.
    pub(crate) fillers: Vec<String>,
    /// Attacks for that place, each with its file's name.
    pub(crate) payloads: Vec<(String, String)>,
    /// Hashes and numbers of rows.
    pub(crate) provenance: Vec<Provenance>,
}

/// A line of a `.jsonl` file.
#[derive(Deserialize)]
struct Row {
    text: String,
    /// 1 for an attack, 0 for a harmless text.
    label: u8,
    group: String,
    /// `tool` for what a tool returned, `user` for what a person typed.
    origin: String,
    /// The package that a real text is from, with its licence.
    source: Option<String>,
}

enum Section {
    Examples { is_attack: bool, origin: Origin },
    Carrier,
    Filler,
    Payload,
}

/// Reads every file of the folder, in the order of their names.
pub(crate) fn read(folder: &Path) -> Result<Corpus> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt" || extension == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut corpus = Corpus::default();
    for path in paths {
        let source = fs::read_to_string(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let added = match path.extension() {
            Some(extension) if extension == "jsonl" => corpus.add_rows(&name, &source),
            _ => corpus.add_file(&name, &source),
        };
        added.with_context(|| format!("in {}", path.display()))?;
    }
    Ok(corpus)
}

impl Corpus {
    fn add_file(&mut self, name: &str, source: &str) -> Result<()> {
        let mut chance = Chance::named(name);
        let mut choices: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in source.lines() {
            if let Some((key, values)) = parse_choices(line) {
                choices.insert(key, values);
            }
        }
        let mut section = None;
        let mut rows = 0;
        for (i, line) in source.lines().enumerate() {
            let line = line.trim_end();
            let is_comment = line.starts_with("#%") || section.is_none() && line.starts_with('#');
            if line.is_empty() || is_comment || parse_choices(line).is_some() {
                continue;
            }
            if let Some(found) = parse_section(line) {
                section = Some(found);
                continue;
            }
            let Some(section) = &section else { bail!("line {} is in no section", i + 1) };
            let (times, template) = repeated(line);
            for _ in 0..times {
                let text = tidy(&expand(template, &choices, &mut chance, 0)?);
                self.add(section, name, text);
                rows += 1;
            }
        }
        self.record(format!("{name}.txt"), source, rows, BTreeSet::new());
        Ok(())
    }

    /// A file with one labelled text a line, written by somebody who had not seen the others.
    fn add_rows(&mut self, name: &str, source: &str) -> Result<()> {
        let (mut rows, mut packages) = (0, BTreeSet::new());
        for (i, line) in source.lines().enumerate() {
            let row: Row = serde_json::from_str(line)
                .with_context(|| format!("line {} is not a row", i + 1))?;
            rows += 1;
            let (source, group) = match &row.source {
                Some(package) => (real_source(&row.group, package), None),
                None => (format!("own:{name}"), Some(row.group)),
            };
            self.examples.push(Example {
                text: row.text,
                is_attack: row.label == 1,
                origin: if row.origin == "tool" { Origin::Tool } else { Origin::User },
                source,
                group,
                payload: None,
                is_extra: false,
            });
            packages.extend(row.source);
        }
        self.record(format!("{name}.jsonl"), source, rows, packages);
        Ok(())
    }

    /// Notes a file and the packages that its texts are from; none where we wrote them.
    fn record(&mut self, file: String, source: &str, rows: usize, packages: BTreeSet<String>) {
        let written = || vec!["written for this project (Apache-2.0)".to_owned()];
        let sources = Some(packages).filter(|packages| !packages.is_empty());
        self.provenance.push(Provenance {
            file: format!("training/corpus/injection/{file}"),
            blake3: blake3::hash(source.as_bytes()).to_hex().to_string(),
            rows,
            sources: sources.map_or_else(written, |packages| packages.into_iter().collect()),
        });
    }

    fn add(&mut self, section: &Section, name: &str, text: String) {
        match section {
            Section::Examples { is_attack, origin } => self.examples.push(Example {
                text,
                is_attack: *is_attack,
                origin: *origin,
                source: format!("own:{name}"),
                group: None,
                payload: None,
                is_extra: false,
            }),
            Section::Carrier => self.carriers.push(text),
            Section::Filler => self.fillers.push(text),
            Section::Payload => self.payloads.push((text, name.to_owned())),
        }
    }
}

/// One of three parts of the real texts of a kind, by package: what is held out together.
fn real_source(kind: &str, package: &str) -> String {
    format!("real:{kind}{}", blake3::hash(package.as_bytes()).as_bytes()[0] % 3)
}

/// `@name = a | b`.
fn parse_choices(line: &str) -> Option<(&str, Vec<&str>)> {
    let (key, values) = line.strip_prefix('@')?.split_once(" =")?;
    let is_name = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_name {
        return None;
    }
    let (values, last) = match values.strip_suffix(" |") {
        Some(values) => (values, Some("")),
        None => (values, None),
    };
    Some((key, values.split(" | ").map(str::trim).chain(last).collect()))
}

/// New lines, and no spaces where an empty choice would leave them.
fn tidy(text: &str) -> String {
    let mut text = text.replace("\\n", "\n");
    for (from, to) in [("   ", " "), ("  .", "."), (" . ", ". "), (" , ", ", "), (" ; ", "; ")] {
        if !text.contains('\n') {
            text = text.replace(from, to);
        }
    }
    text.trim_start_matches(' ').to_owned()
}

fn parse_section(line: &str) -> Option<Section> {
    Some(match line {
        "[attack user]" => Section::Examples { is_attack: true, origin: Origin::User },
        "[attack tool]" => Section::Examples { is_attack: true, origin: Origin::Tool },
        "[harmless user]" => Section::Examples { is_attack: false, origin: Origin::User },
        "[harmless tool]" => Section::Examples { is_attack: false, origin: Origin::Tool },
        "[carrier]" => Section::Carrier,
        "[filler]" => Section::Filler,
        "[payload]" => Section::Payload,
        _ => return None,
    })
}

fn repeated(line: &str) -> (usize, &str) {
    let counted = line.strip_prefix('*').and_then(|rest| rest.split_once(' '));
    match counted.and_then(|(count, rest)| Some((count.parse().ok()?, rest))) {
        Some(found) => found,
        None => (1, line),
    }
}

/// `template` with a choice for each `{name}` that has any. Choices may have choices.
fn expand(
    template: &str,
    choices: &BTreeMap<&str, Vec<&str>>,
    chance: &mut Chance,
    depth: usize,
) -> Result<String> {
    if depth > 8 {
        bail!("choices of `{template}` never end");
    }
    let mut text = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        text.push_str(&rest[..open]);
        let name = rest[open + 1..].split('}').next().unwrap_or_default();
        match choices.get(name).and_then(|values| chance.pick(values)) {
            Some(value) => {
                text.push_str(&expand(value, choices, chance, depth + 1)?);
                rest = &rest[open + name.len() + 2..];
            }
            None => {
                text.push('{');
                rest = &rest[open + 1..];
            }
        }
    }
    text.push_str(rest);
    Ok(text)
}

/// `carrier` with `payload` in its place, and where that is.
pub(crate) fn embed(carrier: &str, payload: &str) -> Option<(String, Range<usize>)> {
    let (before, after) = carrier.split_once("{payload}")?;
    let range = before.len()..before.len() + payload.len();
    Some((format!("{before}{payload}{after}"), range))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_with_its_choices() {
        let mut corpus = Corpus::default();
        let source = "# what\n[attack user]\n@verb = ignore | forget\n*3 {verb} {it}\\nnow\n[carrier]\na {payload} b\n";
        corpus.add_file("x", source).unwrap();
        assert_eq!(corpus.examples.len(), 3);
        for example in &corpus.examples {
            let text = example.text.as_str();
            assert!(["ignore {it}\nnow", "forget {it}\nnow"].contains(&text), "{text}");
        }
        assert_eq!(embed(&corpus.carriers[0], "evil"), Some(("a evil b".to_owned(), 2..6)));
    }
}
