//! `sluice route explain`: which model a router would choose for each of many requests, and why.
//!
//! A decision is the server's own, under what a fresh server knows: the members' expected pace,
//! nobody resting, no session. Chance is left out, so that the same line always gets the same
//! answer.

use std::io::{self, BufReader, BufWriter, Read, Write};

use serde::Serialize;
use serde_json::{Map, Value};
use sluice_core::chat::ChatRequest;
use sluice_core::ids::ModelId;
use sluice_core::routing::RouteCandidate;
use sluice_gateway::choice::{Choice, Floor};
use sluice_routing::classify::{Judgement, judge};
use sluice_routing::decide::name_hash;
use sluice_routing::router::{AUTO, Router};
use sluice_routing::task::TaskType;

use super::line::{self, BadLine, Question};
use super::pool;
use crate::commands::Exit;
use crate::config::Settings;
use crate::config::problem::nearest;

/// Says which model a router would choose for each of many requests, and why
///
/// Reads chat requests as JSON lines on standard input, and prints a JSON line for each. It needs
/// no server, data folder or network.
///
/// A line holds `messages` and `tools` as in a request to the API. It may also hold `id` (which
/// its answer repeats), `router` (default: the request's `model` if that is a router, else
/// svc/auto), and `candidates`, to choose from other models than the router's own:
///
///   {"id": "m", "input_price": 0.25, "output_price": 2, "quality": {"*": 0.7, "code": 0.8},
///    "ttft_ms": 400, "tps": 90}
///
/// with prices in US dollars per million tokens. A line that cannot be read is reported
/// on standard error with its number and field. The others are answered, and the exit code is 2.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct ExplainArgs {
    /// The router of the lines that name none [default: svc/auto]
    #[arg(long, value_name = "ID")]
    router: Option<String>,
}

/// What is printed for a line.
#[derive(Serialize)]
struct Explanation {
    id: Value,
    task_type: &'static str,
    task_type_probabilities: Map<String, Value>,
    complexity: f64,
    chosen: Option<ModelId>,
    candidates: Vec<RouteCandidate>,
    reasons: Vec<String>,
    decision_us: f64,
}

/// Runs the command.
pub(super) fn run(
    args: &ExplainArgs,
    settings: &Settings,
    input: &mut dyn Read,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let usual = args.router.as_deref().unwrap_or(AUTO);
    let mut input = BufReader::with_capacity(64 << 10, input);
    let mut out = BufWriter::with_capacity(64 << 10, out);
    let (mut text, mut number, mut exit) = (Vec::new(), 0, Exit::Done);
    let mut is_warm = false;
    while line::next(&mut input, &mut text, &mut number)?.is_some() {
        let answer = line::question(&text, usual).and_then(|question| {
            if !std::mem::replace(&mut is_warm, true) {
                // Whatever is set up with the first decision is no part of any.
                judge(&question.chat);
            }
            explain(question, usual, settings)
        });
        match answer {
            Ok(explanation) => {
                serde_json::to_writer(&mut out, &explanation)?;
                out.write_all(b"\n")?;
            }
            Err(BadLine(what)) => {
                writeln!(err, "line {number}: {what}")?;
                exit = Exit::Usage;
            }
        }
        // Whoever sends a line and waits for its answer gets it.
        if input.buffer().is_empty() {
            out.flush()?;
        }
    }
    out.flush()?;
    Ok(exit)
}

fn explain(question: Question, usual: &str, settings: &Settings) -> Result<Explanation, BadLine> {
    let Question { id, router, candidates, chat } = question;
    let own = find_router(router.as_deref(), &chat, usual, settings)?;
    let other = candidates
        .map(|candidates| pool::over(own, &candidates, settings.qualities()))
        .transpose()?;
    let router = other.as_ref().unwrap_or(own);
    let entry = settings.catalog.get(router.id.as_str());
    let of_entry = entry.map(|entry| entry.minimum_level).unwrap_or_default();
    let floor = Floor {
        level: settings.security.minimum_level.max(of_entry),
        region: settings.default_region,
    };
    let choice = Choice::of(router, &chat, &floor, name_hash(&id.to_string()));
    Ok(Explanation {
        id,
        task_type: choice.judgement.task().as_str(),
        task_type_probabilities: probabilities(&choice.judgement),
        complexity: rounded(f64::from(choice.judgement.complexity), 6),
        chosen: choice.chosen,
        candidates: choice.candidates,
        reasons: choice.reasons,
        decision_us: rounded(choice.took.as_secs_f64() * 1e6, 3),
    })
}

/// The router that a line means.
fn find_router<'s>(
    named: Option<&str>,
    chat: &ChatRequest,
    usual: &str,
    settings: &'s Settings,
) -> Result<&'s Router, BadLine> {
    let catalog = &settings.catalog;
    let asked = catalog.router(&chat.model).map(|router| router.id.as_str());
    let name = named.or(asked).unwrap_or(usual);
    catalog.router(name).map(|router| &**router).ok_or_else(|| {
        let known = || catalog.routers().map(|router| router.id.as_str());
        let fix = match nearest(name, known()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
        };
        let name: String = name.chars().take(100).collect();
        BadLine::field("router", format!("is \"{name}\", which is no router; {fix}"))
    })
}

fn probabilities(judgement: &Judgement) -> Map<String, Value> {
    TaskType::ALL
        .into_iter()
        .zip(judgement.probabilities)
        .map(|(task, probability)| {
            (task.as_str().to_owned(), Value::from(rounded(f64::from(probability), 6)))
        })
        .collect()
}

/// Only so many decimals.
fn rounded(figure: f64, decimals: i32) -> f64 {
    let unit = 10_f64.powi(decimals);
    (figure * unit).round() / unit
}
