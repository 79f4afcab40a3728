//! `cargo xtask bench instructions`: what a request costs in instructions, which another machine or
//! a busy one does not change, beside the table in `docs/operations.md`.
//!
//! valgrind counts what the release binary executes in user space, from a fixed number of requests
//! being sent to the last of their records being in the database. What an idle gateway does in as
//! long a time is taken off, since a busy machine takes longer.

mod callgrind;
mod table;

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::report::print_table;
use super::scenario::Per;
use super::security::FILTER_OFF;
use super::target::{Address, Running, Upstream, start_counted};
use super::{LOAD_CORE, pinned, release_binary};
use crate::shell::{self, cargo, output, root};
use crate::tools;
use callgrind::Callgrind;
pub(crate) use table::Verdict;
use table::{Counts, Table};

/// Where the table is.
const DOCUMENT: &str = "docs/operations.md";

/// How long records may take from the journal to the database.
const RECORDS_LIMIT: Duration = Duration::from_secs(120);

/// How long an idle gateway is watched.
const IDLE: Duration = Duration::from_secs(5);

/// What to do.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write what was counted into the table of `docs/operations.md`.
    #[arg(long)]
    write: bool,
}

/// One load: so many requests, one after the other.
struct Load {
    name: &'static str,
    about: &'static str,
    /// The model's name: what the fake upstream answers.
    model: &'static str,
    prompt: &'static str,
    /// Requests that fill caches and pools first, and whose records need each statement of the
    /// database once. Whole conversations, where there are any.
    warm_up: u64,
    requests: u64,
    /// What the instructions are divided by.
    per: Per,
}

/// Chunks with text in a stream of [`LOADS`].
const CHUNKS: u64 = 100;

const LOADS: [Load; 5] = [
    Load {
        name: "small",
        about: "1 KB prompt, whole answer",
        model: "bench-whole",
        prompt: "small",
        warm_up: 200,
        requests: 800,
        per: Per::Request,
    },
    Load {
        name: "large",
        about: "100 KB of code with addresses in each function",
        model: "bench-whole",
        prompt: "large",
        warm_up: 6,
        requests: 120,
        per: Per::Request,
    },
    Load {
        name: "large-clean",
        about: "100 KB of code without an address",
        model: "bench-whole",
        prompt: "large-clean",
        warm_up: 6,
        requests: 160,
        per: Per::Request,
    },
    Load {
        name: "agent",
        about: "40 turns of an agent, up to 150 KB",
        model: "bench-whole",
        prompt: "agent",
        warm_up: 40,
        requests: 160,
        per: Per::Request,
    },
    Load {
        name: "chunk",
        about: "a stream of 100 chunks, its request included",
        model: "bench-stream-100-0",
        prompt: "small",
        warm_up: 6,
        requests: 60,
        per: Per::Chunk,
    },
];

/// Counts, prints the table beside the documented one, and writes it where that is wanted.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    tools::need_system_program("valgrind", "valgrind")?;
    let compared = compare()?;
    if arguments.write {
        let file = root().join(DOCUMENT);
        let document = std::fs::read_to_string(&file)?;
        std::fs::write(&file, compared.counted.write_into(&document)?)?;
        println!("\nwritten to {DOCUMENT}");
    }
    Ok(())
}

/// What was counted, and what the documented table says to it.
pub(crate) struct Compared {
    counted: Table,
    pub(crate) verdict: Verdict,
}

impl Compared {
    /// The figures, by load.
    pub(crate) fn to_json(&self) -> Value {
        let rows = self.counted.rows.iter();
        rows.map(|row| (row.name.clone(), json!({ "on": row.on, "off": row.off }))).collect()
    }
}

/// Counts and prints the figures beside the documented ones. The caller sees to valgrind.
pub(crate) fn compare() -> anyhow::Result<Compared> {
    tools::need_system_program("taskset", "util-linux")?;
    // One after the other: together, the packages might get other features of their dependencies.
    let build = ["build", "--release", "--locked", "--package"];
    let load = ["sluice-bench", "--no-default-features", "--bin", "load", "--bin", "fake-upstream"];
    shell::run(cargo(&build).args(load))?;
    shell::run(cargo(&build).arg("sluice"))?;
    let file = root().join(DOCUMENT);
    let document = std::fs::read_to_string(&file).context(DOCUMENT)?;
    let documented = Table::read(&document).context(DOCUMENT)?;

    let upstream = Upstream::start()?;
    let on = measure(&upstream, "").context("counting with the filter on")?;
    let off = measure(&upstream, FILTER_OFF).context("counting with the filter off")?;
    let rows = LOADS.iter().zip(on.into_iter().zip(off)).map(|(load, (on, off))| {
        let per = if load.per == Per::Chunk { "a chunk" } else { "a request" };
        Counts { name: load.name.to_owned(), about: format!("{per}: {}", load.about), on, off }
    });
    let counted = Table { setup: table::setup()?, rows: rows.collect() };
    print_table("User instructions, counted by valgrind", &counted.beside(&documented));
    let verdict = counted.judge(&documented);
    println!("\n  {verdict}");
    Ok(Compared { counted, verdict })
}

/// The instructions of each of [`LOADS`], for a gateway whose configuration ends with `security`.
fn measure(upstream: &Upstream, security: &str) -> anyhow::Result<Vec<u64>> {
    let running = start_counted(upstream, security)?;
    let server = running.server.as_ref().context("no server")?;
    let callgrind = Callgrind::of(server.id());
    callgrind.begin()?;
    callgrind.zero()?;
    let begin = Instant::now();
    std::thread::sleep(IDLE);
    let a_second = callgrind.dump(running.folder()?)? as f64 / begin.elapsed().as_secs_f64();
    let mut sent = 0;
    let mut counts = Vec::new();
    for load in &LOADS {
        // No number is used twice; conversations begin at multiples of their length.
        load.send(&running.address, 0, load.warm_up)?;
        sent += load.warm_up;
        wait_for_records(&running, sent)?;
        callgrind.zero()?;
        let begin = Instant::now();
        load.send(&running.address, load.warm_up, load.requests)?;
        sent += load.requests;
        wait_for_records(&running, sent)?;
        let idle = (begin.elapsed().as_secs_f64() * a_second) as u64;
        let total = callgrind.dump(running.folder()?)?.saturating_sub(idle);
        let units = match load.per {
            Per::Request => load.requests,
            Per::Chunk => load.requests * CHUNKS,
        };
        let count = total / units;
        println!("{:12} {count}", load.name);
        counts.push(count);
    }
    Ok(counts)
}

impl Load {
    /// Sends the requests with the numbers from `first` on. A wrong answer is an error.
    fn send(&self, address: &Address, first: u64, requests: u64) -> anyhow::Result<()> {
        let mut command = pinned(LOAD_CORE, &release_binary("load"));
        command
            .args(["--port", &address.port.to_string(), "--path", address.path])
            .args(["--header", &format!("authorization: Bearer {}", address.key)])
            .args(["--model", self.model, "--prompt", self.prompt])
            .args(["--first", &first.to_string(), "--requests", &requests.to_string()]);
        let report: Value = serde_json::from_str(&output(&mut command)?)?;
        ensure!(report["ok"] == requests, "{}: {}", self.name, report["errors"]);
        Ok(())
    }
}

/// Waits until the database has the records of `requests` requests. Another process asks it, which
/// costs the gateway nothing.
fn wait_for_records(running: &Running, requests: u64) -> anyhow::Result<()> {
    let begin = Instant::now();
    let config = running.folder()?.join("sluice.toml");
    loop {
        let mut days = Command::new(release_binary("sluice"));
        days.args(["usage", "days", "--json", "--config"]).arg(&config).env_clear();
        let stored: u64 = output(&mut days)?
            .lines()
            .map(|day| Ok(serde_json::from_str::<Value>(day)?["requests"].as_u64().unwrap_or(0)))
            .sum::<anyhow::Result<u64>>()?;
        if stored >= requests {
            return Ok(());
        }
        ensure!(begin.elapsed() < RECORDS_LIMIT, "{stored} of {requests} records are stored");
        std::thread::sleep(Duration::from_millis(200));
    }
}
