//! Everything that is learned from and judged on: labelled data, generated texts, harmless code.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;
use sluice_security::names::training::Flags;

use super::generate::{Filler, Rng};
use super::lists;
use crate::data::{self, Provenance};

/// Labels of words; 0 is none.
pub(super) const PERSON: u8 = 1;
pub(super) const ADDRESS: u8 = 2;
pub(super) const LOCATION: u8 = 3;
pub(super) const ORGANIZATION: u8 = 4;

/// A labelled part of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) label: u8,
}

/// A labelled text.
#[derive(Debug, Clone, Default)]
pub(super) struct Document {
    pub(super) text: String,
    pub(super) spans: Vec<Span>,
    /// Parts that are labelled as something else, such as phone numbers.
    pub(super) others: Vec<(usize, usize)>,
    /// What it is judged with.
    pub(super) source: String,
    /// Whether it is kept for judging.
    pub(super) held: bool,
    /// How often it is learned from a round.
    pub(super) times: usize,
}

pub(super) struct Corpus {
    pub(super) documents: Vec<Document>,
    pub(super) provenance: Vec<Provenance>,
    /// Long texts to measure speed with: prose, code, data.
    pub(super) long: Vec<(&'static str, String)>,
    /// How often words are written in lower case.
    words: BTreeMap<String, u32>,
}

#[derive(Deserialize)]
struct LabelledRow {
    text: String,
    spans: Vec<LabelledSpan>,
    source: String,
}

#[derive(Deserialize)]
struct LabelledSpan {
    start: usize,
    end: usize,
    r#type: String,
}

#[derive(Deserialize)]
struct TaggedRow {
    tokens: Vec<String>,
    tags: Vec<String>,
    source: String,
}

#[derive(Deserialize)]
struct CodeRow {
    #[serde(default)]
    repo: String,
    class: String,
    text: String,
}

#[derive(Deserialize)]
struct PromptRow {
    text: String,
    label: u8,
}

/// Repositories that are kept for judging.
const HELD_REPOSITORIES: [&str; 4] = ["presidio", "ui", "docs", "smarie+python-makefun"];

/// Reads the data in `folder` and generates the rest.
pub(super) fn read(folder: &Path) -> Result<Corpus> {
    let mut corpus = Corpus {
        documents: Vec::new(),
        provenance: Vec::new(),
        long: Vec::new(),
        words: BTreeMap::new(),
    };
    let labelled = data::read::<LabelledRow>(
        folder,
        "pii_dev.jsonl",
        &[
            "microsoft/presidio-research generated_large and generated_small (MIT)",
            "generated records (judged on only)",
        ],
    )?;
    corpus.provenance.push(labelled.provenance);
    for row in labelled.rows {
        corpus.documents.push(labelled_document(row));
    }
    let tagged = data::read::<TaggedRow>(
        folder,
        "ner_dev.jsonl",
        &["WNUT17 train (CC BY 4.0)", "WikiANN English train sample (CC BY-SA 3.0)"],
    )?;
    corpus.provenance.push(tagged.provenance);
    for (i, row) in tagged.rows.into_iter().enumerate() {
        if row.source.starts_with("wnut") {
            for token in &row.tokens {
                corpus.count(token, 1);
            }
        }
        corpus.documents.push(tagged_document(row, i));
    }
    let code = data::read::<CodeRow>(
        folder,
        "benign_code_dev.jsonl",
        &[
            "agentgateway (Apache-2.0)",
            "awesome-chatgpt-prompts (CC0)",
            "presidio (MIT, judged on only)",
            "makefun (BSD, judged on only)",
        ],
    )?;
    corpus.provenance.push(code.provenance);
    for row in code.rows {
        let held = HELD_REPOSITORIES.contains(&row.repo.as_str());
        if !held {
            corpus.count(&row.text, 1);
        }
        corpus.documents.push(Document {
            source: format!("code {}", row.class),
            held,
            times: usize::from(row.class != "test"),
            text: row.text,
            ..Document::default()
        });
    }
    let prompts = data::read::<PromptRow>(
        folder,
        "injection_dev.jsonl",
        &[
            "harmless rows, to count ordinary words: MMLU (MIT), GSM8K (MIT), self-instruct (Apache-2.0), Stack Exchange (CC BY-SA)",
        ],
    )?;
    corpus.provenance.push(prompts.provenance);
    let mut prose = String::new();
    for row in prompts.rows.iter().filter(|row| row.label == 0) {
        corpus.count(&row.text, 1);
        prose.push_str(&row.text);
        prose.push_str("\n\n");
    }
    let code = |class: &str| {
        let of_class = corpus.documents.iter().filter(|document| document.source == class);
        of_class.map(|document| document.text.as_str()).collect::<String>()
    };
    corpus.long =
        vec![("prose", prose), ("code", code("code clean")), ("lock files", code("code lockfile"))];
    corpus.generate();
    Ok(corpus)
}

impl Corpus {
    /// Counts the words of `text` that are in lower case.
    fn count(&mut self, text: &str, times: u32) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '_')) {
            if word.len() >= 2 && word.chars().all(|c| c.is_lowercase()) {
                *self.words.entry(word.to_owned()).or_default() += times;
            }
        }
    }

    /// The words that are often in lower case.
    pub(super) fn ordinary_words(&self) -> Vec<(String, Flags)> {
        const SEEN: u32 = 4;
        const COMMON: u32 = 25;
        let mut words = Vec::new();
        for (word, count) in &self.words {
            if *count >= SEEN {
                words.push((word.clone(), Flags::SEEN));
            }
            if *count >= COMMON {
                words.push((word.clone(), Flags::COMMON));
            }
        }
        words
    }

    /// Adds texts that are made of templates.
    fn generate(&mut self) {
        let filler = Filler::new();
        let mut rng = Rng::new(1);
        for (file, times, lower) in [
            ("sentences.txt", 40, 6),
            ("chat.txt", 50, 35),
            ("records.txt", 50, 0),
            ("phrases.txt", 150, 25),
            ("plain.txt", 10, 15),
            ("plain_phrases.txt", 150, 15),
        ] {
            for (i, template) in lists::templates(file).iter().enumerate() {
                self.count(&without_slots(template), 3);
                for _ in 0..times {
                    let mut document = filler.fill(template, &mut rng);
                    if rng.chance(lower) {
                        document = document.in_case(str::to_lowercase);
                    } else if lower > 0 && rng.chance(2) {
                        document = document.in_case(str::to_uppercase);
                    }
                    document.source = format!("own {}", file.trim_end_matches(".txt"));
                    document.held = i % 5 == 4;
                    document.times = 1;
                    self.documents.push(document);
                }
            }
        }
    }
}

impl Document {
    /// The same in another case, where that keeps the length.
    fn in_case(mut self, convert: fn(&str) -> String) -> Self {
        let converted = convert(&self.text);
        if converted.len() == self.text.len() {
            self.text = converted;
        }
        self
    }
}

fn without_slots(template: &str) -> String {
    template
        .split("[[")
        .map(|part| part.split_once("]]").map_or(part, |(_, rest)| rest))
        .collect::<Vec<_>>()
        .join(" ")
}

fn label_of(kind: &str) -> u8 {
    match kind {
        "PERSON" | "person" | "PER" => PERSON,
        "ADDRESS" => ADDRESS,
        "LOCATION" | "location" | "LOC" => LOCATION,
        "ORGANIZATION" | "corporation" | "ORG" => ORGANIZATION,
        _ => 0,
    }
}

fn labelled_document(row: LabelledRow) -> Document {
    let offsets: Vec<usize> =
        row.text.char_indices().map(|(i, _)| i).chain([row.text.len()]).collect();
    let mut spans = Vec::new();
    let mut others = Vec::new();
    let mut sorted: Vec<_> = row.spans.iter().collect();
    sorted.sort_by_key(|span| span.start);
    let mut template = String::new();
    let mut at = 0;
    for span in sorted {
        let (start, end) = (offsets[span.start], offsets[span.end]);
        template.push_str(&row.text[at.min(start)..start]);
        template.push_str(&span.r#type);
        at = end;
        match label_of(&span.r#type) {
            0 => others.push((start, end)),
            label => spans.push(Span { start, end, label }),
        }
    }
    template.push_str(&row.text[at..]);
    let template: String = template.to_lowercase().chars().filter(|c| c.is_alphabetic()).collect();
    join_addresses(&row.text, &mut spans);
    let generated = row.source.starts_with("generated");
    Document {
        held: generated || fifth(&template),
        source: if generated { "pii records".to_owned() } else { "pii sentences".to_owned() },
        text: row.text,
        spans,
        others,
        times: 4,
    }
}

/// A street, a town and a country that follow each other are one address.
fn join_addresses(text: &str, spans: &mut Vec<Span>) {
    let mut joined: Vec<Span> = Vec::new();
    for span in spans.drain(..) {
        let place = |label| matches!(label, ADDRESS | LOCATION);
        if let Some(last) = joined.last_mut()
            && place(last.label)
            && place(span.label)
            && (last.label == ADDRESS || span.label == ADDRESS)
            && text[last.end..span.start].chars().all(|c| c.is_whitespace() || c == ',')
        {
            last.end = span.end;
            last.label = ADDRESS;
            continue;
        }
        joined.push(span);
    }
    *spans = joined;
}

fn tagged_document(row: TaggedRow, number: usize) -> Document {
    let mut document = Document {
        held: number.is_multiple_of(5),
        source: row.source.split('-').next().unwrap_or_default().to_owned(),
        times: 1,
        ..Document::default()
    };
    for (token, tag) in row.tokens.iter().zip(&row.tags) {
        let glued =
            matches!(token.as_str(), "." | "," | "!" | "?" | ":" | ";" | ")" | "'s" | "n't");
        if !document.text.is_empty() && !glued && !document.text.ends_with('(') {
            document.text.push(' ');
        }
        let start = document.text.len();
        document.text.push_str(token);
        let (begin, kind) = tag.split_once('-').unwrap_or(("", ""));
        let end = document.text.len();
        match (begin, label_of(kind)) {
            (_, 0) => {
                if !kind.is_empty() {
                    document.others.push((start, end));
                }
            }
            ("I", label) if document.spans.last().is_some_and(|last| last.label == label) => {
                if let Some(last) = document.spans.last_mut() {
                    last.end = end;
                }
            }
            (_, label) => document.spans.push(Span { start, end, label }),
        }
    }
    document
}

/// Whether `text` falls into the held-back fifth.
fn fifth(text: &str) -> bool {
    blake3::hash(text.as_bytes()).as_bytes()[0].is_multiple_of(5)
}
