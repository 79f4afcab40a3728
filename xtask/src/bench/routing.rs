//! `cargo xtask bench routing`: what a router's decision costs, as a Markdown table.
//!
//! `routing-bench` measures CPU time of one thread, so that other programs on the machine matter
//! little, and valgrind counts instructions, so that they do not matter at all.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::report::shown;
use super::{TARGET_CORE, pinned, release_binary};
use crate::shell::{self, cargo, output};
use crate::tools::is_installed;

/// The whole decision of the router with so many members has targets.
const MEMBERS: u64 = 9;
/// What it is to take at 2 KB of text, in microseconds: aim and floor of half of all decisions, …
const HALF: (f64, f64) = (12.0, 25.0);
/// … and of all but one in a hundred.
const MOST: (f64, f64) = (40.0, 80.0);

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rounds; the lowest figure of all counts.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Write every figure to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Measures, prints the table, and fails where a floor is missed or a decision allocates.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    crate::tools::need_system_program("taskset", "util-linux")?;
    shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice-bench"]))?;
    let mut command = pinned(TARGET_CORE, &release_binary("routing-bench"));
    command.args(["measure", "--rounds", &arguments.rounds.to_string()]);
    let mut measured: Value = serde_json::from_str(&output(&mut command)?)?;

    println!(
        "\n| Part of a decision at 2 KB of text | members | CPU p50 | CPU p99 | instructions |"
    );
    println!("| --- | ---: | ---: | ---: | ---: |");
    let figures = measured["figures"].as_array().cloned().unwrap_or_default();
    let mut counts = Vec::new();
    let (mut half, mut most) = (f64::NAN, f64::NAN);
    for figure in &figures {
        let (part, members) = (figure["part"].as_str().unwrap_or_default(), &figure["members"]);
        let (p50, p99) = (figure["p50_us"].as_f64(), figure["p99_us"].as_f64());
        let mut count = None;
        if part == "all" {
            let members = members.as_u64().unwrap_or_default();
            count = instructions(members)?;
            counts.push(json!({ "members": members, "instructions": count }));
            if members == MEMBERS {
                half = p50.unwrap_or(f64::NAN);
                most = p99.unwrap_or(f64::NAN);
            }
        }
        println!(
            "| {part} | {} | {} µs | {} µs | {} |",
            members.as_u64().map_or_else(String::new, |members| members.to_string()),
            shown(p50, 2),
            shown(p99, 2),
            shown(count, 0),
        );
    }
    let allocations = measured["allocations"].as_u64().context("no count of allocations")?;

    println!("\n| Target, all with {MEMBERS} members | measured | aim | floor | |");
    println!("| --- | ---: | ---: | ---: | --- |");
    for (name, found, (aim, floor)) in [("p50", half, HALF), ("p99", most, MOST)] {
        let verdict = verdict(found, aim, floor);
        println!("| CPU {name} | {found:.2} µs | {aim:.0} µs | {floor:.0} µs | {verdict} |");
    }
    let verdict = if allocations == 0 { "met" } else { "MISSED" };
    println!("| allocations of classify, speed, decide | {allocations} | 0 | 0 | {verdict} |");

    if let Some(file) = &arguments.json {
        measured["instructions"] = Value::Array(counts);
        std::fs::write(file, format!("{measured:#}\n"))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    ensure!(allocations == 0, "a decision allocates");
    // The lowest of all rounds is free of what other programs add: no allowance on top of it.
    ensure!(half <= HALF.1 && most <= MOST.1, "a floor is missed");
    Ok(())
}

fn verdict(found: f64, aim: f64, floor: f64) -> &'static str {
    if found <= aim {
        "aim met"
    } else if found <= floor {
        "floor met"
    } else {
        "MISSED"
    }
}

/// Instructions of a whole decision; `None` where valgrind is not installed.
fn instructions(members: u64) -> anyhow::Result<Option<f64>> {
    if !is_installed("valgrind") {
        return Ok(None);
    }
    // The difference of two runs is free of what the program does at its start.
    let (few, requests) = counted(members, 1)?;
    let (more, _) = counted(members, 3)?;
    Ok(Some((more - few) / (2.0 * requests)))
}

/// Instructions of so many passes over all requests, and how many requests that are.
fn counted(members: u64, passes: u32) -> anyhow::Result<(f64, f64)> {
    let mut command = shell::program("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(release_binary("routing-bench"));
    command.args(["passes", &members.to_string(), &passes.to_string()]);
    let output = command.output().context("cannot start valgrind")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "valgrind: {errors}");
    let collected = errors.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = collected.context("no count from valgrind")?;
    let requests = String::from_utf8(output.stdout)?;
    Ok((count.trim().parse()?, requests.trim().parse()?))
}
