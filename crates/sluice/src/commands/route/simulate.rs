//! `sluice route simulate`: past decisions under other weights.
//!
//! A record has what each candidate was expected to do; only what cost and time are worth changes.
//! What a request could not leave stays where it was: locks, pins, candidates that could not
//! answer. How long a session would have stayed with another model is not replayed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;

use serde_json::{Value, json};
use sluice_core::ids::ModelId;
use sluice_core::routing::{RouteCandidate, RouteRecord};
use sluice_routing::decide::utility;
use sluice_routing::router::{Policy, Trade};

use super::line::{self, BadLine, in_one_line};
use crate::commands::Exit;
use crate::commands::records::{one_of, table};

/// Replays past decisions under other weights: where requests would go, and what that changes
///
/// Reads what `sluice usage list --json` or `sluice route explain` printed, and recomputes each
/// decision from the quality, cost and time that were expected of its candidates. Requests that
/// could not leave a conversation's model, and pinned ones, stay where they were.
#[derive(Debug, clap::Args)]
pub(super) struct SimulateArgs {
    /// Lines of `sluice usage list --json` or of `sluice route explain`; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Weighs as this policy does: balanced, fastest (with the lowest of its weights of cost) or
    /// strongest
    #[arg(
        long,
        value_name = "POLICY",
        value_parser = policy,
        required_unless_present_any = ["cost_weight", "time_weight"],
        conflicts_with_all = ["cost_weight", "time_weight"]
    )]
    policy: Option<Policy>,
    /// How much quality (of 1) half the cost is worth, such as 0.006
    #[arg(long, value_name = "X", value_parser = share, requires = "time_weight")]
    cost_weight: Option<f64>,
    /// How much quality (of 1) half the time is worth, such as 0.008
    #[arg(long, value_name = "Y", value_parser = share, requires = "cost_weight")]
    time_weight: Option<f64>,
    /// Prints JSON, one object
    #[arg(long)]
    json: bool,
}

fn policy(word: &str) -> Result<Policy, String> {
    let weighing = [Policy::Balanced, Policy::Fastest, Policy::Strongest];
    one_of(word, &weighing, Policy::as_str)
}

fn share(word: &str) -> Result<f64, String> {
    let number = word.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// Runs the command.
pub(super) fn run(
    args: &SimulateArgs,
    input: &mut dyn Read,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let trade = match (args.policy, args.cost_weight, args.time_weight) {
        (None, Some(cost), Some(time)) => Trade { cost, time },
        (policy, ..) => policy.unwrap_or(Policy::Balanced).trade(),
    };
    let file;
    let input: &mut dyn Read = if args.file.as_os_str() == "-" {
        input
    } else {
        match File::open(&args.file) {
            Ok(opened) => {
                file = opened;
                &mut &file
            }
            Err(error) => {
                writeln!(err, "cannot read {}: {error}", args.file.display())?;
                return Ok(Exit::Failed);
            }
        }
    };
    let mut input = BufReader::with_capacity(64 << 10, input);
    let (mut text, mut number, mut exit) = (Vec::new(), 0, Exit::Done);
    let mut sums = Sums::default();
    while line::next(&mut input, &mut text, &mut number)?.is_some() {
        match past(&text) {
            Ok(Some(past)) => sums.add(&past, &trade),
            Ok(None) => sums.without += 1,
            Err(BadLine(what)) => {
                writeln!(err, "line {number}: {what}")?;
                exit = Exit::Usage;
            }
        }
    }
    if args.json {
        writeln!(out, "{}", sums.as_json(&trade))?;
    } else {
        sums.print(&trade, out)?;
    }
    Ok(exit)
}

/// A decision of the past.
struct Past {
    /// Whether no weight could have changed it.
    is_fixed: bool,
    /// How much more another one has to be worth for the choice to change.
    patience: f64,
    /// The candidates, the one that was chosen first.
    candidates: Vec<RouteCandidate>,
}

/// The decision that a line records; `None` where it records none.
fn past(line: &[u8]) -> Result<Option<Past>, BadLine> {
    let value: Value = serde_json::from_slice(line.trim_ascii())
        .map_err(|error| BadLine(format!("is no JSON: {}", in_one_line(&error))))?;
    let in_route = |error: serde_json::Error| BadLine::field("route", format!("is none: {error}"));
    let (reason, candidates) = if let Some(route) = value.get("route").filter(|r| !r.is_null()) {
        let record: RouteRecord = serde_json::from_value(route.clone()).map_err(in_route)?;
        (record.reason, record.candidates)
    } else if let (Some(candidates), Some(reasons)) =
        (value.get("candidates"), value.get("reasons"))
    {
        let candidates = serde_json::from_value(candidates.clone())
            .map_err(|error| BadLine::field("candidates", format!("cannot be read: {error}")))?;
        let reason = reasons[0].as_str().and_then(|reason| reason.split(':').next());
        (reason.unwrap_or_default().to_owned(), candidates)
    } else {
        return Ok(None);
    };
    if candidates.first().is_none_or(|first| first.excluded.is_some()) {
        return Ok(None);
    }
    // What no weight decided, no weight changes.
    let is_fixed =
        matches!(reason.as_str(), "pinned" | "weighted") || reason.starts_with("locked_");
    let patience = match reason.as_str() {
        "near_tie" | "explored" => NEAR,
        "session" => TRIFLE,
        _ => ROUNDING,
    };
    Ok(Some(Past { is_fixed, patience, candidates }))
}

/// The place of the candidate that `trade` would put first.
fn choose(past: &Past, trade: &Trade) -> usize {
    if past.is_fixed {
        return 0;
    }
    // As in the decision itself, an unknown price counts as the dearest that is known.
    let known = past.candidates.iter().filter_map(|candidate| candidate.cost_usd);
    let dearest = known.fold(0.0, f64::max);
    let worth = |candidate: &RouteCandidate| {
        let cost = candidate.cost_usd.unwrap_or(dearest);
        utility(candidate.quality, cost, candidate.seconds, trade)
    };
    let mut best = 0;
    for (i, candidate) in past.candidates.iter().enumerate() {
        if candidate.excluded.is_none()
            && worth(candidate) > worth(&past.candidates[best]) + ROUNDING
        {
            best = i;
        }
    }
    if worth(&past.candidates[best]) <= worth(&past.candidates[0]) + past.patience {
        0
    } else {
        best
    }
}

/// Records are rounded: closer than this is no difference.
const ROUNDING: f64 = 1e-6;
/// As good as the best, when chance or curiosity chose.
const NEAR: f64 = 0.01;
/// Less than this is not worth leaving a session's model for.
const TRIFLE: f64 = 0.005;

/// What was expected, summed up.
#[derive(Default)]
struct Expected {
    quality: f64,
    seconds: f64,
    cost_usd: f64,
}

/// What all decisions come to.
#[derive(Default)]
struct Sums {
    decisions: u64,
    moved: u64,
    /// Those that no weight could have changed.
    fixed: u64,
    /// Lines without a decision that led somewhere.
    without: u64,
    /// Those whose cost is known before and after: only they are in the costs.
    priced: u64,
    mix: BTreeMap<ModelId, [u64; 2]>,
    before: Expected,
    after: Expected,
}

impl Sums {
    fn add(&mut self, past: &Past, trade: &Trade) {
        let chosen = choose(past, trade);
        let (before, after) = (&past.candidates[0], &past.candidates[chosen]);
        self.decisions += 1;
        self.fixed += u64::from(past.is_fixed);
        self.moved += u64::from(before.model != after.model);
        self.mix.entry(before.model.clone()).or_default()[0] += 1;
        self.mix.entry(after.model.clone()).or_default()[1] += 1;
        for (sum, candidate) in [(&mut self.before, before), (&mut self.after, after)] {
            sum.quality += candidate.quality;
            sum.seconds += candidate.seconds;
        }
        if let (Some(cost_before), Some(cost_after)) = (before.cost_usd, after.cost_usd) {
            self.priced += 1;
            self.before.cost_usd += cost_before;
            self.after.cost_usd += cost_after;
        }
    }

    /// Cost in US dollars for 1 000 requests, quality, and seconds, on average.
    fn means(&self, sum: &Expected) -> Option<[f64; 3]> {
        #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
        let (all, priced) = (self.decisions as f64, self.priced as f64);
        let cost = if self.priced == 0 { 0.0 } else { sum.cost_usd * 1000.0 / priced };
        (self.decisions > 0).then(|| [cost, sum.quality / all, sum.seconds / all])
    }

    fn print(&self, trade: &Trade, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{} decisions with cost_weight {} and time_weight {}: {} ({}) would go elsewhere.",
            self.decisions,
            trade.cost,
            trade.time,
            self.moved,
            percent(self.moved, self.decisions)
        )?;
        for (count, what) in [
            (self.fixed, "were pinned or could not leave their conversation's model"),
            (self.without, "lines hold no decision that led to a model"),
            (self.decisions - self.priced, "have no known cost, and are left out of it"),
        ] {
            if count > 0 {
                writeln!(out, "{count} {what}.")?;
            }
        }
        let (Some(before), Some(after)) = (self.means(&self.before), self.means(&self.after))
        else {
            return Ok(());
        };
        writeln!(out)?;
        let share = |count: u64| format!("{count} ({})", percent(count, self.decisions));
        let mix: Vec<[String; 3]> = self
            .mix
            .iter()
            .map(|(model, [before, after])| [model.to_string(), share(*before), share(*after)])
            .collect();
        table(out, ["model", "before", "after"], &mix)?;
        writeln!(out)?;
        let figures = ["US$ for 1000 requests", "quality", "seconds"];
        let rows: Vec<[String; 3]> = figures
            .into_iter()
            .zip(before.into_iter().zip(after))
            .map(|(figure, (before, after))| {
                [figure.to_owned(), format!("{before:.4}"), format!("{after:.4}")]
            })
            .collect();
        table(out, ["expected", "before", "after"], &rows)
    }

    fn as_json(&self, trade: &Trade) -> Value {
        let expected = |sum: &Expected| {
            self.means(sum).map(|[cost, quality, seconds]| {
                json!({
                    "cost_usd_per_1000": (self.priced > 0).then_some(cost),
                    "quality": quality,
                    "seconds": seconds,
                })
            })
        };
        let mix: serde_json::Map<String, Value> = self
            .mix
            .iter()
            .map(|(model, [before, after])| {
                (model.to_string(), json!({ "before": before, "after": after }))
            })
            .collect();
        json!({
            "cost_weight": trade.cost,
            "time_weight": trade.time,
            "decisions": self.decisions,
            "moved": self.moved,
            "fixed": self.fixed,
            "without_decision": self.without,
            "cost_known": self.priced,
            "mix": mix,
            "before": expected(&self.before),
            "after": expected(&self.after),
        })
    }
}

fn percent(part: u64, whole: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    format!("{percent:.1} %")
}
