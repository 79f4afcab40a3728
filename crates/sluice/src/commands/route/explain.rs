//! `sluice route explain`: which model a router would choose for each of many requests, and why.
//!
//! A decision is the server's own, under what a fresh server knows: the members' expected pace,
//! nobody resting, no session. Chance is left out, so that the same line always gets the same
//! answer.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};
use sluice_core::chat::{ChatRequest, Content, Part, ResponseFormat};
use sluice_core::ids::ModelId;
use sluice_core::key::Suite;
use sluice_core::routing::RouteCandidate;
use sluice_gateway::estimate::Ratio;
use sluice_routing::classify::{Judgement, judge};
use sluice_routing::decide::{
    Contender, Decision, MOST_CONTENDERS, Needs, Reason, Situation, decide, exclusion,
};
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
    let other = candidates.map(|candidates| pool::over(own, &candidates)).transpose()?;
    let router = other.as_ref().unwrap_or(own);
    let needs = needs(&chat, router, settings);
    let contenders = contenders(router, &needs);

    let begun = Instant::now();
    let judgement = judge(&chat);
    let situation = Situation {
        judgement: &judgement,
        input_tokens: needs.input_tokens,
        output_bound: chat.max_tokens.map(f64::from),
        held: None,
        session: name_hash(&id),
        chance: 0,
    };
    let decision = decide(router, &contenders, &situation);
    let decision_us = begun.elapsed().as_secs_f64() * 1e6;

    let first = decision.order.first();
    Ok(Explanation {
        id,
        task_type: judgement.task().as_str(),
        task_type_probabilities: probabilities(&judgement),
        complexity: rounded(f64::from(judgement.complexity), 6),
        chosen: first.map(|i| router.members[contenders[*i].member].model.id.clone()),
        candidates: candidates_of(router, &contenders, &decision),
        reasons: reasons(router, &contenders, &decision),
        decision_us: rounded(decision_us, 3),
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

/// What the request needs, for somebody who may use everything.
fn needs(chat: &ChatRequest, router: &Router, settings: &Settings) -> Needs {
    let estimate = Ratio::default().estimate(chat);
    let entry = settings.catalog.get(router.id.as_str());
    let levels = [
        chat.options.security_level.unwrap_or_default(),
        settings.security.minimum_level,
        entry.map(|entry| entry.minimum_level).unwrap_or_default(),
    ];
    let is_image = |part: &Part| matches!(part, Part::Image { .. });
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    Needs {
        suite: Suite::Full,
        region: chat.options.region.or(settings.default_region),
        level: levels.into_iter().max().unwrap_or_default(),
        input_tokens: estimate.prompt_tokens as f64,
        output_tokens: Needs::room(chat.max_tokens),
        vision: chat.messages.iter().any(|message| match &message.content {
            Content::Parts(parts) => parts.iter().any(is_image),
            _ => false,
        }),
        tools: !chat.tools.is_empty(),
        json_schema: matches!(chat.response_format, Some(ResponseFormat::JsonSchema { .. })),
    }
}

/// The members at each of their providers. One without a provider is a candidate of the line: it
/// runs wherever it has to.
fn contenders(router: &Router, needs: &Needs) -> Vec<Contender> {
    let mut contenders = Vec::new();
    for (member, of) in router.members.iter().enumerate() {
        let model = &of.model;
        let contender = |deployment, exclusion| Contender {
            member,
            deployment,
            exclusion,
            pace: of.prior,
            stale: false,
        };
        if model.deployments.is_empty() {
            let anywhere = Needs { region: None, ..*needs };
            contenders.push(contender(0, exclusion(&anywhere, model, None, |_| true)));
        }
        for (i, deployment) in model.deployments.iter().enumerate() {
            contenders.push(contender(i, exclusion(needs, model, deployment.region, |_| true)));
        }
    }
    contenders.truncate(MOST_CONTENDERS);
    contenders
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

/// The candidates in the order in which they would be asked, then those that cannot answer.
fn candidates_of(
    router: &Router,
    contenders: &[Contender],
    decision: &Decision,
) -> Vec<RouteCandidate> {
    let excluded = (0..contenders.len()).filter(|i| decision.exclusions[*i].is_some());
    let order = decision.order.iter().copied().chain(excluded);
    order
        .map(|i| {
            let (contender, score) = (&contenders[i], &decision.scores[i]);
            let model = &router.members[contender.member].model;
            RouteCandidate {
                model: model.id.clone(),
                provider: model.deployments.get(contender.deployment).map(|d| d.provider.clone()),
                utility: rounded(score.utility, 6),
                quality: rounded(score.quality, 6),
                cost_usd: score.priced.then(|| rounded(score.cost_usd, 9)),
                first_token_ms: rounded(score.first_token_ms, 1),
                seconds: rounded(score.seconds, 3),
                excluded: decision.exclusions[i].map(|why| why.as_str().to_owned()),
            }
        })
        .collect()
}

/// Why, in sentences. The first begins with the reason's word.
fn reasons(router: &Router, contenders: &[Contender], decision: &Decision) -> Vec<String> {
    let name = |i: usize| &router.members[contenders[i].member].model.id;
    let mut reasons = Vec::new();
    match decision.reason {
        None => reasons.push("none: no candidate can answer".to_owned()),
        Some(reason) => reasons.push(format!("{}: {}", reason.as_str(), meaning(reason))),
    }
    if let [first, second, ..] = decision.order[..] {
        let (best, next) = (&decision.scores[first], &decision.scores[second]);
        reasons.push(format!(
            "next would be {}: utility {:.4} against {:.4} (quality {:.3} against {:.3}, {} against \
             {}, {:.1} s against {:.1} s)",
            name(second),
            next.utility,
            best.utility,
            next.quality,
            best.quality,
            dollars(next.priced, next.cost_usd),
            dollars(best.priced, best.cost_usd),
            next.seconds,
            best.seconds,
        ));
    }
    let guessed = router.members.iter().filter(|member| !member.quality.known).count();
    if guessed > 0 {
        let of = router.members.len();
        reasons
            .push(format!("the quality of {guessed} of {of} models is guessed from their prices"));
    }
    for (i, exclusion) in decision.exclusions.iter().enumerate() {
        if let Some(exclusion) = exclusion {
            reasons.push(format!("{} cannot: {exclusion}", name(i)));
        }
    }
    reasons
}

fn dollars(is_known: bool, cost: f64) -> String {
    if is_known { format!("${cost:.6}") } else { "an unknown cost".to_owned() }
}

fn meaning(reason: Reason) -> String {
    match reason {
        Reason::Best => "the highest expected quality after what cost and time are worth".into(),
        Reason::NearTie => "as good as the best; chance spreads the load".into(),
        Reason::Explored => "nearly as good as the best, and not asked for a while".into(),
        Reason::Session => "the conversation's model; leaving it is not worth it".into(),
        Reason::Locked(_) => "the conversation's model, which this request cannot leave".into(),
        Reason::Escalated => "the conversation needs a better model from here on".into(),
        Reason::Faster => {
            "the conversation's model got slow; this one is as good, or not much less".into()
        }
        Reason::FellBack => "the conversation has done without its better model".into(),
        Reason::Released => "the conversation has turned to another task".into(),
        Reason::Replaced => "the conversation's model cannot answer this request".into(),
        Reason::Pinned(task) => format!("the task type {} is pinned to it", task.as_str()),
        Reason::Weighted => "its share of the split".into(),
        Reason::Only => "no other candidate can answer".into(),
    }
}

/// A number for splits that the same `id` always gets (FNV-1a).
fn name_hash(id: &Value) -> u64 {
    id.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Only so many decimals.
fn rounded(figure: f64, decimals: i32) -> f64 {
    let unit = 10_f64.powi(decimals);
    (figure * unit).round() / unit
}
