//! `cargo xtask bench storage`: what a large company and a stream of records cost, on both
//! databases.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::process::{Server, free_port};
use super::release_binary;
use super::target::Folder;
use crate::postgres;
use crate::shell::{self, cargo, output};

/// The most that a start with all keys may take, in seconds, …
const START_SECONDS: f64 = 2.0;
/// … and hold in memory, in MB.
const RESIDENT_MB: f64 = 200.0;
/// How long a change may take until it is in force, in seconds, …
const CHANGE_SECONDS: f64 = 1.0;
/// … and what it may cost the server, in milliseconds.
const CHANGE_MS: f64 = 10.0;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Keys, with a person for each ten and a team for each hundred of them.
    #[arg(long, default_value_t = 100_000)]
    keys: u64,
    /// Requests whose records are carried into the database.
    #[arg(long, default_value_t = 30_000)]
    requests: u64,
    /// Write every figure to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Measures both databases and prints a table.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice-bench"]))?;
    shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice"]))?;
    let server = postgres::start()?;
    let mut all = serde_json::Map::new();
    for (name, url) in [("SQLite", None), ("PostgreSQL", Some(server.url()))] {
        all.insert(name.to_owned(), measure(arguments, url)?);
    }
    let keys = arguments.keys;
    println!("\n| {keys} keys | SQLite | PostgreSQL | goal |");
    println!("| --- | ---: | ---: | ---: |");
    for (what, key, unit, goal) in [
        ("Start, until /readyz says yes", "start_seconds", "s", Some(START_SECONDS)),
        ("Resident memory", "resident_mb", "MB", Some(RESIDENT_MB)),
        ("A revocation is in force after", "change_seconds", "s", Some(CHANGE_SECONDS)),
        ("CPU time of the server for it", "change_ms", "ms", Some(CHANGE_MS)),
        ("CPU time of a request's records", "record_cpu_us", "µs", None),
        ("Time of a request's records", "record_wall_us", "µs", None),
    ] {
        let figure = |name: &str| all[name][key].as_f64().unwrap_or(f64::NAN);
        let goal = goal.map_or_else(String::new, |goal| format!("{goal} {unit}"));
        println!(
            "| {what} | {:.2} {unit} | {:.2} {unit} | {goal} |",
            figure("SQLite"),
            figure("PostgreSQL")
        );
    }
    if let Some(file) = &arguments.json {
        fs::write(file, format!("{:#}\n", Value::Object(all)))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn measure(arguments: &Arguments, url: Option<String>) -> anyhow::Result<Value> {
    let folder = Folder::new("storage")?;
    let data = folder.path.join("data");
    let bench = |words: &[String]| {
        let mut command = Command::new(release_binary("storage-bench"));
        command.arg("--data").arg(&data);
        if let Some(url) = &url {
            command.args(["--url", url]);
        }
        output(command.args(words))
    };
    bench(&["fill".to_owned(), arguments.keys.to_string()])?;
    let ingested = bench(&["ingest".to_owned(), arguments.requests.to_string()])?;
    let ingested: Value = serde_json::from_str(&ingested)?;

    let (port, metrics) = (free_port()?, free_port()?);
    let url = url.map_or_else(String::new, |url| format!("url = {url:?}"));
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:{port}\"\nmetrics_listen = \"127.0.0.1:{metrics}\"\n\
         [storage]\ndata_dir = {data:?}\n{url}\n"
    );
    let file = folder.write("sluice.toml", &config)?;
    let sluice = |words: &[&str]| {
        let mut command = Command::new(release_binary("sluice"));
        command.env_clear().args(words).arg("--config").arg(&file);
        command
    };
    let create = ["keys", "create", "--account", "bench", "--name", "changed", "--class"];
    let key = output(sluice(&create).arg("enterprise"))?;

    let began = Instant::now();
    let server = Server::start(&mut sluice(&["serve"]), port)?;
    let start_seconds = began.elapsed().as_secs_f64();
    ensure!(status_of(port, &key)? == 200, "the key works");
    let resident_mb = server.resident_mb()?;
    // What a start leaves to do, it does in the first seconds.
    std::thread::sleep(Duration::from_secs(3));
    let idle = cost_of_seconds(&server, 3)?;
    let before = server.cpu()?;
    let asked = Instant::now();
    output(&mut sluice(&["keys", "revoke", &key]))?;
    let revoked = Instant::now();
    while status_of(port, &key)? == 200 {
        ensure!(revoked.elapsed() < Duration::from_secs(10), "a revocation is not in force");
        std::thread::sleep(Duration::from_millis(20));
    }
    let change_seconds = revoked.elapsed().as_secs_f64();
    let change_ms = (server.cpu()?.since(&before) - idle * asked.elapsed().as_secs_f64()) * 1e3;
    Ok(json!({
        "start_seconds": start_seconds,
        "resident_mb": resident_mb,
        "change_seconds": change_seconds,
        "change_ms": change_ms.max(0.0),
        "record_cpu_us": ingested["cpu_us"],
        "record_wall_us": ingested["wall_us"],
    }))
}

/// CPU seconds of a second in which nobody asks anything.
fn cost_of_seconds(server: &Server, seconds: u32) -> anyhow::Result<f64> {
    let before = server.cpu()?;
    std::thread::sleep(Duration::from_secs(1) * seconds);
    Ok(server.cpu()?.since(&before) / f64::from(seconds))
}

/// What the server says to whoever presents `key`.
fn status_of(port: u16, key: &str) -> anyhow::Result<u16> {
    let url = format!("http://127.0.0.1:{port}/api/v1/auth/token");
    let header = format!("Authorization: Bearer {key}");
    let mut command = Command::new("curl");
    command.args(["--silent", "--output", "/dev/null", "--write-out", "%{http_code}"]);
    Ok(output(command.args(["--header", &header, &url]))?.trim().parse()?)
}
