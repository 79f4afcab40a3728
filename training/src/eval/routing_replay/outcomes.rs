//! What each model of a pool made of each prompt, from the public outcome data.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use sluice_core::chat::{ChatRequest, Message, Role};
use sluice_routing::classify::{self, Judgement};
use sluice_routing::task::{TASK_TYPES, TaskType};

/// The file of outcomes in the folder of labelled data.
pub(crate) const FILE: &str = "multimodel_train.jsonl.gz";

#[derive(Deserialize)]
struct Line {
    pool: String,
    bench: String,
    prompt: String,
    results: BTreeMap<String, Outcome>,
    fold: usize,
}

/// How one model did on one prompt.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Outcome {
    /// 0 to 1.
    pub(crate) score: f64,
    /// US dollars.
    pub(crate) cost: f64,
}

/// One prompt.
pub(crate) struct Row {
    pub(crate) bench: String,
    pub(crate) fold: usize,
    pub(crate) judgement: Judgement,
    pub(crate) input_tokens: f64,
    /// In the order of [`Pool::models`].
    pub(crate) outcomes: Vec<Outcome>,
}

/// The prompts that the same models were asked.
pub(crate) struct Pool {
    pub(crate) models: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

impl Pool {
    /// The same pool as a classifier would see it that is fairly sure of each benchmark's task, and
    /// has nothing to say of its complexity: what routing by task could reach.
    pub(crate) fn with_known_tasks(&self) -> Self {
        let rows = self.rows.iter().map(|row| Row {
            bench: row.bench.clone(),
            fold: row.fold,
            judgement: known(&row.bench),
            input_tokens: row.input_tokens,
            outcomes: row.outcomes.clone(),
        });
        Self { models: self.models.clone(), rows: rows.collect() }
    }
}

/// The task of a benchmark.
pub(crate) fn task_of(bench: &str) -> TaskType {
    match bench {
        "math" | "gsm8k" | "agentverse-mgsm" => TaskType::Math,
        "mbpp" => TaskType::Code,
        _ => TaskType::Knowledge,
    }
}

fn known(bench: &str) -> Judgement {
    let task = task_of(bench);
    let mut probabilities = [0.25 / 12.0; TASK_TYPES];
    probabilities[task.index()] = 0.75;
    Judgement { probabilities, complexity: 0.5, agent_step: false }
}

/// The pools by name, and the BLAKE3 hash of the file.
pub(crate) fn read(folder: &Path) -> Result<(BTreeMap<String, Pool>, String)> {
    let path = folder.join(FILE);
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text)?;
    let mut pools: BTreeMap<String, Pool> = BTreeMap::new();
    for line in text.lines() {
        let line: Line = serde_json::from_str(line)?;
        let models: Vec<String> = line.results.keys().cloned().collect();
        let pool = pools
            .entry(line.pool)
            .or_insert_with(|| Pool { models: models.clone(), rows: Vec::new() });
        ensure!(pool.models == models, "a row of {} has other models", line.bench);
        #[expect(clippy::cast_precision_loss, reason = "the length of a prompt")]
        let input_tokens = line.prompt.chars().count() as f64 / 4.0;
        pool.rows.push(Row {
            bench: line.bench,
            fold: line.fold,
            judgement: classify::judge(&question(&line.prompt)),
            input_tokens,
            outcomes: line.results.into_values().collect(),
        });
    }
    Ok((pools, hash))
}

/// A request with one message of the user.
fn question(prompt: &str) -> ChatRequest {
    ChatRequest::new("svc/auto", vec![Message::new(Role::User, prompt)])
}
