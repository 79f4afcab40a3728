//! `cargo xtask bench security`: what the filter costs, on its own and in the whole gateway.
//!
//! On its own: `security-bench` measures CPU time of one core, so that other programs on the machine
//! matter little, and valgrind counts instructions, so that they do not matter at all.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::report::{print_table, shown};
use super::scenario::{Per, SCENARIOS, Scenario};
use super::target::{Upstream, start_filtering};
use super::{TARGET_CORE, pinned, release_binary};
use crate::shell::{self, cargo, output};
use crate::tools::is_installed;
use crate::train::{SECURITY_DATA, data_folder};

/// The most that a worst text may cost, in units of an ordinary text's time per byte.
const WORST_RATIO: f64 = 10.0;

/// Nanoseconds that a streamed chunk may cost on top.
const CHUNK_NANOSECONDS: f64 = 1000.0;

/// Megabytes a second that each level is to reach.
const SPEEDS: [(&str, f64); 3] = [("standard", 700.0), ("high", 300.0), ("maximum", 150.0)];

/// Microseconds that a KB of a request may cost on top.
const KB_MICROSECONDS: f64 = 1.4;

/// The configuration of a filter that does nothing.
pub(super) const FILTER_OFF: &str = "[security]\ncache_mib = 0\n\
     [security.standard]\nredact = []\ninjection = \"off\"\nanswer = \"off\"\n";

/// How the filter is configured where the whole gateway is measured.
const VARIANTS: [(&str, &str); 4] = [
    ("off", FILTER_OFF),
    ("standard", ""),
    ("high", "[security]\nminimum_level = \"high\"\n"),
    ("maximum", "[security]\nminimum_level = \"maximum\"\n"),
];

/// The loads of the whole gateway that the filter is measured with.
const LOADS: [&str; 3] = ["small", "large", "burst"];

/// What the large load sends, in KB.
const LARGE_KB: f64 = 100.0;

/// The ordinary texts.
const TEXTS: [&str; 3] = ["code", "prose", "json"];

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Labelled data; its harmless files are measured, too, where the folder is there
    /// [default: ../shared/data/security].
    #[arg(long)]
    data: Option<PathBuf>,
    /// Rounds; the lowest figure of all counts.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Seconds for each load of the whole gateway and round.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Measure only these parts: scan, instructions, worst, request, stream, gateway.
    #[arg(long, value_delimiter = ',')]
    parts: Vec<String>,
    /// Write every figure to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// One part of the measurement: its figures, printed, and whether the targets are met.
type Part = fn(&Arguments) -> anyhow::Result<(Value, bool)>;

const PARTS: [(&str, Part); 6] = [
    ("scan", scan),
    ("instructions", instructions),
    ("worst", worst),
    ("request", request),
    ("stream", stream),
    ("gateway", gateway),
];

/// Measures, prints the tables, and fails where the worst text is too slow.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let all: Vec<&'static str> = PARTS.iter().map(|(name, _)| *name).collect();
    let chosen = super::chosen(&arguments.parts, &all, |name| name)?;
    crate::tools::need_system_program("taskset", "util-linux")?;
    shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice-bench"]))?;
    let mut figures = serde_json::Map::new();
    let mut failed = Vec::new();
    for (name, part) in PARTS.iter().filter(|(name, _)| chosen.contains(name)) {
        let (measured, is_met) = part(arguments).with_context(|| format!("measuring {name}"))?;
        figures.insert((*name).to_owned(), measured);
        if !is_met {
            failed.push(*name);
        }
    }
    if let Some(file) = &arguments.json {
        std::fs::write(file, format!("{:#}\n", Value::Object(figures)))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    ensure!(failed.is_empty(), "missed: {}", failed.join(", "));
    Ok(())
}

/// Scanning speed by level and text. Its targets are of a machine, so that missing them is only
/// shown.
fn scan(arguments: &Arguments) -> anyhow::Result<(Value, bool)> {
    let mut command = bench("scan", arguments);
    let data = data_folder(arguments.data.as_deref(), SECURITY_DATA)?;
    if data.is_dir() {
        command.arg("--data").arg(data);
    }
    let measured = report(&mut command)?;
    let mut rows = vec![row(["MB/s", "standard", "high", "maximum", "found per MB"])];
    let figures = list(&measured, "scan");
    for text in names(&figures, "text") {
        let of =
            |level: &str, what: &str| number(&figures, &[("text", &text), ("level", level)], what);
        let speed = |level: &str| shown(of(level, "mb_per_second"), 0);
        let found = ["standard", "high", "maximum"].map(|l| shown(of(l, "found_per_mb"), 0));
        rows.push(vec![
            text.clone(),
            speed("standard"),
            speed("high"),
            speed("maximum"),
            found.join(" / "),
        ]);
    }
    print_table("Scanning, CPU time of one core", &rows);
    println!("\nTargets");
    for (level, target) in SPEEDS {
        let of = |text| number(&figures, &[("text", text), ("level", level)], "mb_per_second");
        let lowest = TEXTS.into_iter().filter_map(of).fold(f64::INFINITY, f64::min);
        let met = if lowest >= target { "met" } else { "MISSED" };
        println!("  {level:9} {lowest:6.0} MB/s of the slowest text, target {target:.0}: {met}");
    }
    Ok((measured, true))
}

/// Instructions a byte, which are the same on every run.
fn instructions(_: &Arguments) -> anyhow::Result<(Value, bool)> {
    if !is_installed("valgrind") {
        println!("\nInstructions: not available, as valgrind is not installed");
        return Ok((Value::Null, true));
    }
    let mut rows = vec![row(["instructions a byte", "standard", "high", "maximum"])];
    let mut figures = Vec::new();
    for text in TEXTS {
        let mut cells = vec![text.to_owned()];
        for (level, _) in SPEEDS {
            // The difference of two runs is free of what the program does at its start.
            let (few, bytes) = counted(text, level, 1)?;
            let (more, _) = counted(text, level, 3)?;
            let per_byte = (more - few) / (2.0 * bytes);
            cells.push(format!("{per_byte:.2}"));
            figures.push(json!({
                "text": text, "level": level, "instructions_per_byte": per_byte,
            }));
        }
        rows.push(cells);
    }
    print_table("Scanning, instructions counted by valgrind", &rows);
    Ok((Value::Array(figures), true))
}

/// Instructions of so many passes over a text, and the text's bytes.
fn counted(text: &str, level: &str, passes: u32) -> anyhow::Result<(f64, f64)> {
    let mut command = shell::program("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(release_binary("security-bench"));
    command.args(["passes", text, level, &passes.to_string(), "--bytes", "200000"]);
    let output = command.output().context("cannot start valgrind")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "valgrind: {errors}");
    let collected = errors.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = collected.context("no count from valgrind")?;
    let bytes = String::from_utf8(output.stdout)?;
    Ok((count.trim().parse()?, bytes.trim().parse()?))
}

/// The worst texts beside ordinary ones, within one run.
fn worst(arguments: &Arguments) -> anyhow::Result<(Value, bool)> {
    const READERS: [&str; 5] = ["standard", "high", "maximum", "request", "answer"];
    let measured = report(&mut bench("worst", arguments))?;
    let figures = list(&measured, "worst");
    let mut is_met = true;
    let mut texts = Vec::new();
    for text in names(&figures, "input") {
        let of =
            |what: &str| figures.iter().find(|one| one["input"] == *text && one["what"] == *what);
        let panicked =
            READERS.iter().any(|what| of(what).is_some_and(|one| one["panicked"] == true));
        let ratios = READERS.map(|what| of(what).and_then(|one| one["ratio"].as_f64()));
        let highest = ratios.into_iter().flatten().fold(0.0, f64::max);
        let verdict = match (panicked, highest > WORST_RATIO) {
            (true, _) => "PANICKED",
            (false, true) => "TOO SLOW",
            (false, false) => "",
        };
        is_met &= verdict.is_empty();
        let mut cells = vec![text];
        cells.extend(ratios.map(|ratio| shown(ratio, 1)));
        cells.push(verdict.to_owned());
        texts.push((if panicked { f64::INFINITY } else { highest }, cells));
    }
    texts.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let highest = texts.first().map_or(0.0, |(highest, _)| *highest);
    let header = ["x ordinary"].into_iter().chain(READERS).map(str::to_owned).collect();
    let rows: Vec<Vec<String>> =
        std::iter::once(header).chain(texts.into_iter().map(|(_, cells)| cells)).collect();
    print_table("The worst texts: time per byte, in units of an ordinary text's", &rows);
    let met = if is_met { "met" } else { "MISSED" };
    println!("\n  highest {highest:.1} x, target at most {WORST_RATIO:.0} x: {met}");
    Ok((measured, is_met))
}

/// Filtering a whole request, and a further turn of a conversation of 150 KB.
fn request(arguments: &Arguments) -> anyhow::Result<(Value, bool)> {
    let measured = report(&mut bench("request", arguments))?;
    let header = ["us per KB", "standard", "high", "maximum", "the search for attacks alone"];
    let mut rows = vec![row(header)];
    let (figures, scores) = (list(&measured, "request"), list(&measured, "score"));
    for text in names(&figures, "text") {
        let cost = |level| number(&figures, &[("text", &text), ("level", level)], "us_per_kb");
        let mut cells = vec![text.clone()];
        cells.extend(SPEEDS.map(|(level, _)| shown(cost(level), 2)));
        cells.push(shown(number(&scores, &[("text", &text)], "us_per_kb"), 2));
        rows.push(cells);
    }
    print_table("A request of 100 KB, filtered for the first time", &rows);
    let header =
        ["us", "values", "first turn", "further turn", "its text alone + hash of the rest"];
    let mut rows = vec![row(header)];
    for turn in list(&measured, "turn") {
        let least = turn["new_text_alone_us"].as_f64().zip(turn["hash_of_the_rest_us"].as_f64());
        rows.push(vec![
            turn["level"].as_str().unwrap_or_default().to_owned(),
            turn["values"].to_string(),
            shown(turn["cold_us"].as_f64(), 0),
            shown(turn["turn_us"].as_f64(), 0),
            shown(least.map(|(alone, hash)| alone + hash), 0),
        ]);
    }
    print_table("An agent loop: 150 KB again and again, with 2 KB more each time", &rows);
    Ok((measured, true))
}

/// What analysing and restoring cost a streamed chunk.
fn stream(arguments: &Arguments) -> anyhow::Result<(Value, bool)> {
    let measured = report(&mut bench("stream", arguments))?;
    let header = ["ns a chunk", "values", "restoring alone", "standard", "high", "maximum"];
    let mut rows = vec![row(header)];
    let mut highest: f64 = 0.0;
    for figure in list(&measured, "stream") {
        let columns = ["restoring_ns", "standard_ns", "high_ns", "maximum_ns"];
        let cost = columns.map(|column| figure[column].as_f64());
        highest = cost.iter().fold(highest, |highest, ns| highest.max(ns.unwrap_or(f64::INFINITY)));
        let text = figure["text"].as_str().unwrap_or_default().to_owned();
        let mut cells = vec![text, figure["values"].to_string()];
        cells.extend(cost.map(|ns| shown(ns, 0)));
        rows.push(cells);
    }
    print_table("Streamed answers: CPU time of a chunk of 4 bytes", &rows);
    let met = if highest <= CHUNK_NANOSECONDS { "met" } else { "MISSED" };
    println!("\n  highest {highest:.0} ns, target at most {CHUNK_NANOSECONDS:.0} ns: {met}");
    Ok((measured, true))
}

/// The whole gateway with its filter off and at each level, in turns: what the filter adds.
fn gateway(arguments: &Arguments) -> anyhow::Result<(Value, bool)> {
    shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice"]))?;
    let scenarios: Vec<&Scenario> =
        SCENARIOS.iter().filter(|scenario| LOADS.contains(&scenario.name)).collect();
    let upstream = Upstream::start()?;
    let mut lowest: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for round in 1..=arguments.rounds {
        for (variant, security) in VARIANTS {
            println!("round {round} of {}: filter {variant}", arguments.rounds);
            let running = start_filtering(&upstream, security)?;
            // From `high` on, text waits for a verdict, and chunks are no longer those of the
            // upstream, which the load counts.
            let streams = matches!(variant, "off" | "standard");
            let loads: Vec<&Scenario> = scenarios
                .iter()
                .copied()
                .filter(|one| streams || one.per == Per::Request)
                .collect();
            let measured = super::put_through(&running, &loads, arguments.seconds)?;
            for (scenario, figures) in &measured.scenarios {
                let Some(cost) = figures.cpu_us else { continue };
                let so_far = lowest.entry((variant, scenario)).or_insert(f64::INFINITY);
                *so_far = so_far.min(cost);
            }
        }
    }
    let mut rows = vec![row(["CPU us", "off", "standard", "high", "maximum", "added at standard"])];
    let mut figures = Vec::new();
    let mut added = BTreeMap::new();
    for scenario in &scenarios {
        let cost = |variant| lowest.get(&(variant, scenario.name)).copied();
        let more = cost("standard").zip(cost("off")).map(|(on, off)| on - off);
        let mut cells = vec![scenario.name.to_owned()];
        cells.extend(VARIANTS.map(|(variant, _)| shown(cost(variant), 2)));
        cells.push(shown(more, 2));
        rows.push(cells);
        for (variant, _) in VARIANTS {
            figures.push(json!({
                "load": scenario.name, "filter": variant, "cpu_us": cost(variant),
            }));
        }
        added.insert(scenario.name, more.unwrap_or(f64::NAN));
    }
    print_table("The whole gateway, by filter: a request, or a chunk of `burst`", &rows);
    let per_kb = added["large"] / LARGE_KB;
    let chunk = added["burst"];
    println!("\nTargets");
    for (what, measured, target) in [
        ("a KB of a request of 100 KB", per_kb, KB_MICROSECONDS),
        ("a chunk in a burst, its share of the request included", chunk, CHUNK_NANOSECONDS / 1e3),
    ] {
        let met = if measured <= target { "met" } else { "MISSED" };
        println!("  {what}: {measured:.2} us on top, target {target:.1}: {met}");
    }
    Ok((Value::Array(figures), true))
}

/// `security-bench`, to measure `what` on a core of its own.
fn bench(what: &str, arguments: &Arguments) -> Command {
    let mut command = pinned(TARGET_CORE, &release_binary("security-bench"));
    command.arg(what).args(["--rounds", &arguments.rounds.to_string()]);
    command
}

fn report(command: &mut Command) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&output(command)?)?)
}

fn list(measured: &Value, name: &str) -> Vec<Value> {
    measured[name].as_array().cloned().unwrap_or_default()
}

/// The different values of `field`, in the order in which they were measured.
fn names(figures: &[Value], field: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for figure in figures {
        let name = figure[field].as_str().unwrap_or_default();
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// `what` of the figure whose fields are `wanted`.
fn number(figures: &[Value], wanted: &[(&str, &str)], what: &str) -> Option<f64> {
    let is_wanted = |figure: &&Value| wanted.iter().all(|(field, value)| figure[*field] == **value);
    figures.iter().find(is_wanted)?[what].as_f64()
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}
