//! What is learned from: the project's own prompts and the public rows, as features with labels.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;
use sluice_core::json::JsonText;
use sluice_routing::classify::features::Features;
use sluice_routing::classify::model::Size;
use sluice_routing::classify::text::Turn;
use sluice_routing::task::{TASK_TYPES, TaskType};

use crate::data::Provenance;

/// Where the project's own prompts lie, from the repository's root.
pub(crate) const CORPUS: &str = "training/corpus/routing";

/// Where an example comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Written as people in software write, by one of the project's authors.
    Field,
    /// Public, and real traffic.
    Real,
    /// A question of a benchmark.
    Benchmark,
    /// Put together from templates.
    Template,
    /// A question of a benchmark with the outcomes of models.
    Outcome,
}

/// A prompt with what is known of it.
pub(crate) struct Example {
    pub(crate) kind: Kind,
    /// The author, the dataset, the benchmark.
    pub(crate) source: String,
    /// The subject of a question.
    pub(crate) subject: String,
    /// A ready fold, 0 to 4.
    pub(crate) fold: u8,
    pub(crate) words: Vec<u16>,
    pub(crate) dense: Vec<u16>,
    pub(crate) word_weight: f32,
    pub(crate) size: Size,
    /// What the prompt asks for; they sum to 1.
    pub(crate) task: Option<[f32; TASK_TYPES]>,
    /// The first label.
    pub(crate) label: Option<TaskType>,
    /// Other acceptable labels.
    pub(crate) also: Vec<TaskType>,
    /// 1 to 5.
    pub(crate) complexity: Option<u8>,
    /// What the strong model scored, and the weak one, 0 to 1.
    pub(crate) outcome: Option<(f32, f32)>,
    /// Prompts that mean the same.
    pub(crate) group: Option<u32>,
}

/// Every example, with where they come from.
pub(crate) struct Examples {
    pub(crate) all: Vec<Example>,
    pub(crate) provenance: Vec<Provenance>,
}

#[derive(Deserialize)]
struct FieldRow {
    prompt: String,
    label: TaskType,
    #[serde(default)]
    also: Vec<TaskType>,
    complexity: u8,
    group: Option<u32>,
}

#[derive(Deserialize)]
struct TaskRow {
    source: String,
    prompt: String,
    label: String,
    kind: String,
    fold: u8,
}

#[derive(Deserialize)]
struct StrongWeakRow {
    bench: String,
    subject: String,
    prompt: String,
    weak_ok: u8,
    strong_ok: u8,
    fold: u8,
}

#[derive(Deserialize)]
struct PoolRow {
    bench: String,
    prompt: String,
    results: serde_json::Map<String, Value>,
    fold: u8,
}

/// Reads the project's own prompts, and the public data in `folder`.
pub(crate) fn read(folder: &Path, root: &Path) -> Result<Examples> {
    let mut examples = Examples { all: Vec::new(), provenance: Vec::new() };
    let mut files: Vec<_> = fs::read_dir(root.join(CORPUS))
        .with_context(|| format!("cannot read {CORPUS}"))?
        .map(|file| file.map(|file| file.path()))
        .collect::<std::io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for row in lines::<FieldRow>(&file, &mut examples.provenance, "the project's own")? {
            examples.all.push(field(row, &name));
        }
    }
    let file = folder.join("tasktype_train.jsonl.gz");
    for row in lines::<TaskRow>(&file, &mut examples.provenance, TASK_SOURCES)? {
        examples.all.push(task(row));
    }
    let file = folder.join("strongweak_train.jsonl.gz");
    for row in lines::<StrongWeakRow>(&file, &mut examples.provenance, STRONG_WEAK_SOURCES)? {
        let mut example = new(row.prompt, Kind::Outcome, row.bench);
        example.subject = row.subject;
        example.fold = row.fold;
        example.outcome = Some((f32::from(row.strong_ok), f32::from(row.weak_ok)));
        examples.all.push(example);
    }
    let file = folder.join("multimodel_train.jsonl.gz");
    for row in lines::<PoolRow>(&file, &mut examples.provenance, POOL_SOURCES)? {
        let mut example = new(row.prompt, Kind::Outcome, format!("pool/{}", row.bench));
        example.fold = row.fold;
        example.outcome = Some((mean(&row.results, &STRONG), mean(&row.results, &WEAK)));
        examples.all.push(example);
    }
    Ok(examples)
}

const TASK_SOURCES: &str = "arena-hard-auto (Apache-2.0), self-instruct (Apache-2.0), nl2bash (MIT), RefactorBench (MIT), DebugBench (Apache-2.0), LLMRouter (MIT), templates";
const STRONG_WEAK_SOURCES: &str = "RouteLLM (Apache-2.0), MMLU (MIT)";
const POOL_SOURCES: &str = "LLMRouter (MIT), RouterBench (MIT; data by Martian), questions of MMLU, GSM8K, MATH, OpenBookQA and CommonsenseQA (MIT), ARC (CC BY-SA 4.0), MBPP (CC BY 4.0), TriviaQA (Apache-2.0)";

/// The strong models of both pools, …
const STRONG: [&str; 3] =
    ["llama-3.3-nemotron-super-49b-v1", "llama-3.1-nemotron-51b-instruct", "gpt-4-1106-preview"];
/// … and the weak ones.
const WEAK: [&str; 6] = [
    "llama-3.1-8b-instruct",
    "mistral-7b-instruct-v0.3",
    "gemma-2-9b-it",
    "qwen2.5-7b-instruct",
    "mistralai/mixtral-8x7b-chat",
    "gpt-3.5-turbo-1106",
];

fn mean(results: &serde_json::Map<String, Value>, models: &[&str]) -> f32 {
    let mut sum = 0.0;
    let mut count = 0.0;
    for model in models {
        let score = results.get(*model).and_then(|result| result.get("score")?.as_f64());
        if let Some(score) = score {
            sum += score as f32;
            count += 1.0;
        }
    }
    if count > 0.0 { sum / count } else { 0.5 }
}

/// Reads a file of JSON lines, compressed or not.
fn lines<T: serde::de::DeserializeOwned>(
    path: &Path,
    provenance: &mut Vec<Provenance>,
    sources: &str,
) -> Result<Vec<T>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?;
    } else {
        text = String::from_utf8(bytes)?;
    }
    let mut rows = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let row = serde_json::from_str(line)
            .with_context(|| format!("{} line {} is not a row", path.display(), i + 1))?;
        rows.push(row);
    }
    provenance.push(Provenance {
        file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        blake3: hash,
        rows: rows.len(),
        sources: vec![sources.to_owned()],
    });
    Ok(rows)
}

fn new(prompt: String, kind: Kind, source: String) -> Example {
    let turn = Turn::of_text(&JsonText::plain(prompt));
    let features = Features::of(&turn);
    Example {
        kind,
        source,
        subject: String::new(),
        fold: 0,
        words: features.words.to_vec(),
        dense: features.dense.to_vec(),
        word_weight: features.word_weight(),
        size: features.size,
        task: None,
        label: None,
        also: Vec::new(),
        complexity: None,
        outcome: None,
        group: None,
    }
}

fn field(row: FieldRow, author: &str) -> Example {
    /// What the second labels share.
    const ALSO: f32 = 0.3;
    let mut example = new(row.prompt, Kind::Field, author.to_owned());
    let also = if row.also.is_empty() { 0.0 } else { ALSO };
    let mut task = [0.0; TASK_TYPES];
    task[row.label.index()] = 1.0 - also;
    for other in &row.also {
        task[other.index()] += also / row.also.len() as f32;
    }
    example.task = Some(task);
    example.label = Some(row.label);
    example.also = row.also;
    example.complexity = Some(row.complexity);
    example.group = row.group;
    example
}

fn task(row: TaskRow) -> Example {
    let kind = match row.kind.as_str() {
        "real" => Kind::Real,
        "template" => Kind::Template,
        _ => Kind::Benchmark,
    };
    let mut example = new(row.prompt, kind, row.source);
    example.fold = row.fold;
    let mut task = [0.0; TASK_TYPES];
    if let Some(label) = TaskType::parse(&row.label) {
        task[label.index()] = 1.0;
        example.label = Some(label);
    } else {
        // About code, and nobody said what: mostly something new.
        for (label, share) in CODE_SHARES {
            task[label.index()] = share;
        }
        example.also = CODE_SHARES.map(|(label, _)| label).to_vec();
    }
    example.task = Some(task);
    example
}

const CODE_SHARES: [(TaskType, f32); 7] = [
    (TaskType::Code, 0.6),
    (TaskType::Edit, 0.08),
    (TaskType::Debug, 0.1),
    (TaskType::Explain, 0.08),
    (TaskType::Ops, 0.06),
    (TaskType::Review, 0.04),
    (TaskType::Test, 0.04),
];
