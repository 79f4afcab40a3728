//! `cargo xtask bench`: what Sluice costs, beside what the least a proxy can do costs.
//!
//! One run puts the same load through four targets in front of the same fake upstream: no proxy at
//! all, nginx, a bare hyper proxy, and Sluice with key check, limits and usage journal on. Load and
//! upstream share one core, the target has another. A figure is the lowest of several rounds, as
//! whatever else runs on the machine only ever adds; what holds between machines is its ratio to
//! nginx in the same run. What holds on a busy machine as well is the number of instructions, which
//! `instructions` counts.

mod dashboard;
pub(crate) mod instructions;
mod process;
mod report;
mod routing;
mod scenario;
mod security;
mod storage;
mod target;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::json;

use crate::shell::{self, cargo, program, target_folder};
use crate::tools;
use process::Server;
use scenario::{SCENARIOS, Scenario};
use target::{Running, Target, Upstream};

/// The core of the fake upstream and the load generator.
const LOAD_CORE: &str = "0";
/// The core that a target has for itself.
const TARGET_CORE: &str = "1";

/// What to measure.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    /// Something else than the whole gateway.
    #[command(subcommand)]
    part: Option<Part>,
    /// Rounds; the lowest figure of all counts.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Seconds for each scenario, target and round.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Measure only these targets: direct, nginx, bare, sluice.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Measure only these scenarios, by their names in the tables.
    #[arg(long, value_delimiter = ',')]
    scenarios: Vec<String>,
    /// Write every figure of every round to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// What is measured in a way of its own.
#[derive(clap::Subcommand)]
enum Part {
    /// Measure what the security filter costs.
    Security(security::Arguments),
    /// Measure what a router's decision costs.
    Routing(routing::Arguments),
    /// Measure what a large company and its records cost, on both databases.
    Storage(storage::Arguments),
    /// Measure pages over millions of records, and what people who browse cost the API.
    Dashboard(dashboard::Arguments),
    /// Count what a request costs in instructions, beside the documented table.
    Instructions(instructions::Arguments),
}

/// What one scenario showed of one target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// User and system time, in microseconds a request or a chunk. None of the target `direct`.
    cpu_us: Option<f64>,
    /// Part of its core that the target used, from 0 to 1.
    core_share: Option<f64>,
    requests_per_second: f64,
    latency_p50_us: f64,
    latency_p99_us: f64,
    /// Time to the first token; of streams only.
    first_token_p50_us: Option<f64>,
    /// How long a chunk was on its way; of streams only.
    chunk_delay_p50_us: Option<f64>,
}

/// What one round showed of one target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round {
    scenarios: BTreeMap<&'static str, Figures>,
    /// Resident memory in MB before the first request and at its highest. None of `direct`.
    idle_mb: Option<f64>,
    peak_mb: Option<f64>,
}

/// All rounds, by target.
pub(crate) type Results = BTreeMap<Target, Vec<Round>>;

/// Measures and prints the tables.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.part {
        Some(Part::Security(arguments)) => return security::run(arguments),
        Some(Part::Routing(arguments)) => return routing::run(arguments),
        Some(Part::Storage(arguments)) => return storage::run(arguments),
        Some(Part::Dashboard(arguments)) => return dashboard::run(arguments),
        Some(Part::Instructions(arguments)) => return instructions::run(arguments),
        None => {}
    }
    let targets = chosen(&arguments.only, &Target::ALL, |target| target.name())?;
    let all: Vec<&Scenario> = SCENARIOS.iter().collect();
    let scenarios = chosen(&arguments.scenarios, &all, |scenario| scenario.name)?;
    prepare(&targets)?;

    let upstream = Upstream::start()?;
    let mut results = Results::new();
    for round in 1..=arguments.rounds {
        for &target in &targets {
            println!("round {round} of {}: {}", arguments.rounds, target.name());
            let figures = measure(target, &upstream, &scenarios, arguments.seconds)
                .with_context(|| format!("measuring {}", target.name()))?;
            results.entry(target).or_default().push(figures);
        }
    }
    drop(upstream);
    report::print(&results, &scenarios);
    let mut json = json!({ "seconds": arguments.seconds, "rounds": report::to_json(&results) });
    // Instructions have loads of their own.
    if targets.contains(&Target::Sluice) && arguments.scenarios.is_empty() {
        match tools::need_system_program("valgrind", "valgrind") {
            Ok(()) => json["instructions"] = instructions::compare()?.to_json(),
            Err(error) => println!("\nInstructions are not counted: {error:#}"),
        }
    }
    if let Some(file) = &arguments.json {
        std::fs::write(file, format!("{json:#}\n"))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// The members of `all` whose names were asked for; all of them where none was.
fn chosen<T: Copy>(
    wanted: &[String],
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> anyhow::Result<Vec<T>> {
    for wish in wanted {
        let names = all.iter().map(|&one| name(one)).collect::<Vec<_>>();
        ensure!(names.contains(&wish.as_str()), "no `{wish}`; there are {}", names.join(", "));
    }
    let is_chosen = |one: &T| wanted.is_empty() || wanted.iter().any(|wish| wish == name(*one));
    Ok(all.iter().copied().filter(is_chosen).collect())
}

/// Builds what is measured, and makes sure that the rest is there.
fn prepare(targets: &[Target]) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism()?.get();
    ensure!(cores >= 2, "the target and its load need a core each; this machine has {cores}");
    tools::need_system_program("taskset", "util-linux")?;
    if targets.contains(&Target::Nginx) {
        tools::need_system_program("nginx", "nginx")?;
    }
    shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice-bench"]))?;
    if targets.contains(&Target::Sluice) {
        shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice"]))?;
    }
    Ok(())
}

/// Starts `target`, puts every scenario through it, and stops it.
fn measure(
    target: Target,
    upstream: &Upstream,
    scenarios: &[&Scenario],
    seconds: f64,
) -> anyhow::Result<Round> {
    put_through(&target.start(upstream)?, scenarios, seconds)
}

/// Puts every scenario through a target that has just been started.
fn put_through(running: &Running, scenarios: &[&Scenario], seconds: f64) -> anyhow::Result<Round> {
    let mut round = Round::default();
    if let Some(server) = &running.server {
        // Let it finish its start: what it does then is not its idle state.
        std::thread::sleep(Duration::from_secs(1));
        round.idle_mb = Some(server.resident_mb()?);
    }
    for scenario in scenarios {
        scenario.load(&running.address, (seconds / 6.0).min(0.5))?;
        let before = running.server.as_ref().map(Server::cpu).transpose()?;
        let report = scenario.load(&running.address, seconds)?;
        let after = running.server.as_ref().map(Server::cpu).transpose()?;
        let cpu_seconds = before.zip(after).map(|(before, after)| after.since(&before));
        round.scenarios.insert(scenario.name, scenario.figures(&report, cpu_seconds)?);
    }
    if let Some(server) = &running.server {
        round.peak_mb = Some(server.peak_resident_mb()?);
    }
    Ok(round)
}

/// Where a release binary of this workspace is.
fn release_binary(name: &str) -> PathBuf {
    target_folder().join("release").join(name)
}

/// `program`, bound to `core`.
fn pinned(core: &str, binary: &std::path::Path) -> std::process::Command {
    let mut command = program("taskset");
    command.args(["-c", core]).arg(binary);
    command
}
