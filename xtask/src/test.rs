//! `cargo xtask test`: every check that a change has to pass, and a table of what they found.
//!
//! A failing step does not hide the ones after it: all run, and the command fails at the end.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::bench::instructions::{self, Verdict};
use crate::shell::{cargo, program, root, run, succeeds, target_folder};
use crate::tools;
use crate::{postgres, screenshots};

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Leave out the release build and what is done with it, which takes the longest.
    #[arg(long)]
    fast: bool,
    /// Run only these steps, by their names in the table. All by default.
    steps: Vec<String>,
}

/// One check.
struct Step {
    name: &'static str,
    /// Whether `--fast` leaves it out.
    slow: bool,
    run: fn() -> anyhow::Result<Found>,
}

/// How a step that did not fail ended.
enum Found {
    Passed,
    /// It passed, but a part of it could not be done here.
    PassedExcept(String),
}

/// First what only compiles, while the release build runs beside it; from `tests` on, nothing else
/// keeps the machine busy.
const STEPS: [Step; 12] = [
    Step { name: "format", slow: false, run: format },
    Step { name: "clippy", slow: false, run: clippy },
    Step { name: "docs", slow: false, run: docs },
    Step { name: "fuzz-targets", slow: false, run: fuzz_targets },
    Step { name: "dependencies", slow: false, run: dependencies },
    Step { name: "release", slow: true, run: release },
    Step { name: "tests", slow: false, run: tests },
    Step { name: "doc-tests", slow: false, run: doc_tests },
    Step { name: "layers", slow: false, run: layers },
    Step { name: "instructions", slow: true, run: instructions },
    Step { name: "clients", slow: true, run: clients },
    Step { name: "browser", slow: true, run: browser },
];

/// Runs the steps and prints their table.
pub(crate) fn run_steps(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(unknown) =
        arguments.steps.iter().find(|name| STEPS.iter().all(|s| s.name != **name))
    {
        let names = STEPS.map(|step| step.name).join(", ");
        bail!("no step is called `{unknown}`; there are {names}");
    }
    let is_chosen = |step: &&Step| match arguments.steps.is_empty() {
        true => !(arguments.fast && step.slow),
        false => arguments.steps.iter().any(|name| name == step.name),
    };
    let mut rows = Vec::new();
    let begin = Instant::now();
    let mut beside = match STEPS.iter().filter(is_chosen).any(|step| step.name == "release") {
        true => release_beside(),
        false => None,
    };
    for step in STEPS.iter().filter(is_chosen) {
        println!("\n=== {} ===", step.name);
        let begin = Instant::now();
        if step.name == "release"
            && let Some(mut build) = beside.take()
        {
            let _ = build.wait();
        }
        let found = (step.run)();
        if let Err(error) = &found {
            eprintln!("{}: {error:#}", step.name);
        }
        rows.push((step.name, begin.elapsed(), found));
    }
    println!("\n=== summary ===");
    for (name, took, found) in &rows {
        let found = match found {
            Ok(Found::Passed) => "passed".to_owned(),
            Ok(Found::PassedExcept(what)) => format!("passed; {what}"),
            Err(error) => format!("FAILED: {error:#}"),
        };
        println!("{name:14} {:>8}  {found}", duration(*took));
    }
    println!("{:14} {:>8}", "", duration(begin.elapsed()));
    match rows.iter().filter(|(_, _, found)| found.is_err()).count() {
        0 => Ok(()),
        failed => bail!("{failed} of {} steps failed", rows.len()),
    }
}

fn duration(took: Duration) -> String {
    format!("{}:{:02} min", took.as_secs() / 60, took.as_secs() % 60)
}

fn format() -> anyhow::Result<Found> {
    tools::need_component("fmt", "rustfmt")?;
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?;
    // A macro declares the dashboard's pages, and there `cargo fmt` does not look for files.
    let mut pages = std::fs::read_dir(root().join("crates/dashboard/src/pages"))?
        .map(|entry| Ok(entry?.path().join("mod.rs")))
        .collect::<std::io::Result<Vec<_>>>()?;
    pages.retain(|page| page.exists());
    run(program("rustfmt").args(["--edition", "2024", "--check"]).args(pages))?;
    Ok(Found::Passed)
}

fn clippy() -> anyhow::Result<Found> {
    tools::need_component("clippy", "clippy")?;
    run(cargo(&["clippy", "--workspace", "--all-targets", "--locked"])
        .args(["--", "-D", "warnings"]))?;
    Ok(Found::Passed)
}

fn tests() -> anyhow::Result<Found> {
    // What holds on SQLite has to hold on PostgreSQL, too.
    let server = postgres::start()?;
    let mut tests = if succeeds(&mut cargo(&["nextest", "--version"])) {
        cargo(&["nextest", "run", "--workspace", "--locked", "--no-fail-fast"])
    } else {
        // `--all-targets` leaves out the doc tests, which are the next step.
        cargo(&["test", "--workspace", "--all-targets", "--locked", "--no-fail-fast"])
    };
    run(tests.env(sluice_testpostgres::VARIABLE, server.url()))?;
    Ok(Found::Passed)
}

fn doc_tests() -> anyhow::Result<Found> {
    run(&mut cargo(&["test", "--doc", "--workspace", "--locked"]))?;
    Ok(Found::Passed)
}

fn docs() -> anyhow::Result<Found> {
    run(cargo(&["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Found::Passed)
}

/// The table of allowed imports, held against `cargo metadata` by a test of this package.
fn layers() -> anyhow::Result<Found> {
    run(&mut cargo(&["test", "--workspace", "--locked", "--test", "layers"]))?;
    Ok(Found::Passed)
}

/// The fuzz targets are a workspace of their own, so nothing above notices when they stop
/// compiling. Running them takes a nightly toolchain: `cargo xtask fuzz`.
fn fuzz_targets() -> anyhow::Result<Found> {
    let manifest = ["check", "--manifest-path", "fuzz/Cargo.toml"];
    run(cargo(&manifest).args(["--locked", "--target-dir"]).arg(target_folder()))?;
    Ok(Found::Passed)
}

/// Licences, duplicates and sources, as `deny.toml` allows them; advisories where their database
/// can be had.
fn dependencies() -> anyhow::Result<Found> {
    tools::need_cargo_tool(&tools::CARGO_DENY)?;
    run(&mut cargo(&["deny", "--locked", "check", "licenses", "bans", "sources"]))?;
    // A network that drops packets must not hold up the other checks.
    let fetch = ["60", "cargo", "deny", "fetch", "db"];
    if !succeeds(program("timeout").args(fetch)) {
        let skipped = "advisories NOT checked, as their database cannot be reached from here";
        println!("{skipped}");
        return Ok(Found::PassedExcept(skipped.to_owned()));
    }
    run(&mut cargo(&["deny", "--frozen", "check", "advisories"]))?;
    Ok(Found::Passed)
}

const RELEASE: [&str; 5] = ["build", "--release", "--locked", "--package", "sluice"];

/// Begins the release build, silently, beside other steps: for half of its time it optimises the
/// program as a whole, which keeps a single core busy. What it has to say is said by the step, which
/// runs it again.
fn release_beside() -> Option<Child> {
    cargo(&RELEASE).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
}

fn release() -> anyhow::Result<Found> {
    run(&mut cargo(&RELEASE))?;
    Ok(Found::Passed)
}

/// What requests cost, held against the table in the documentation.
fn instructions() -> anyhow::Result<Found> {
    if let Err(error) = tools::need_system_program("valgrind", "valgrind") {
        return Ok(Found::PassedExcept(format!("instructions NOT counted: {error:#}")));
    }
    let verdict = instructions::compare()?.verdict;
    match verdict {
        Verdict::Kept => Ok(Found::Passed),
        Verdict::RisenElsewhere(_) => Ok(Found::PassedExcept(verdict.to_string())),
        Verdict::Risen(_) => bail!(
            "{verdict}; take it back, or renew the table with \
             `cargo xtask bench instructions --write` and say why in the commit"
        ),
    }
}

/// Real clients, pinned, drive the release binary.
fn clients() -> anyhow::Result<Found> {
    tools::need_system_program("python3", "python3")?;
    tools::need_system_program("node", "nodejs")?;
    tools::need_system_program("npm", "npm")?;
    let binary = target_folder().join("release/sluice");
    run(program("python3").arg("tests/clients/run.py").arg("--binary").arg(binary))?;
    Ok(Found::Passed)
}

/// A real browser walks through the dashboard of the release binary.
fn browser() -> anyhow::Result<Found> {
    let packages = screenshots::packages()?;
    let mut tests = std::fs::read_dir(root().join("tests/browser"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    tests.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    tests.sort();
    run(program("node")
        .args(["--test", "--test-reporter=spec", "--test-concurrency=1"])
        .args(tests)
        .env("SLUICE_BROWSER_PACKAGES", packages)
        .env("SLUICE_BINARY", target_folder().join("release/sluice")))?;
    Ok(Found::Passed)
}
