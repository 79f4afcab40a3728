//! `cargo xtask bench storage`: what a large company and a stream of records cost, on both
//! databases.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::process::{Server, free_port};
use super::release_binary;
use super::scenario::SCENARIOS;
use super::target::{Address, Folder, Upstream};
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
/// How late a record may be in the database at 1 000 requests a second, in seconds.
const RECORD_SECONDS: f64 = 5.0;
/// How long the server pauses after a batch at the most, while requests are under way: the backlog
/// that it reports is the one after a batch.
const PAUSE_SECONDS: f64 = 1.0;
/// How long `sluice audit verify` may take over a million entries, in seconds.
const VERIFY_SECONDS: f64 = 20.0;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Keys, with a person for each ten and a team for each hundred of them.
    #[arg(long, default_value_t = 100_000)]
    keys: u64,
    /// Requests whose records are carried into the database.
    #[arg(long, default_value_t = 30_000)]
    requests: u64,
    /// Entries of the audit trail that is verified.
    #[arg(long, default_value_t = 1_000_000)]
    entries: u64,
    /// Write every figure to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Measures both databases and prints a table.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice-bench"]))?;
    shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice"]))?;
    let server = postgres::start()?;
    let upstream = Upstream::start()?;
    let mut all = serde_json::Map::new();
    for (name, url) in [("SQLite", None), ("PostgreSQL", Some(server.url()))] {
        all.insert(name.to_owned(), measure(arguments, &upstream, url)?);
    }
    let keys = arguments.keys;
    println!("\n| {keys} keys | SQLite | PostgreSQL | goal |");
    println!("| --- | ---: | ---: | ---: |");
    let mut missed = Vec::new();
    for (what, key, unit, goal) in [
        ("Start, until /readyz says yes", "start_seconds", "s", Some(START_SECONDS)),
        ("Resident memory", "resident_mb", "MB", Some(RESIDENT_MB)),
        ("A revocation is in force after", "change_seconds", "s", Some(CHANGE_SECONDS)),
        ("CPU time of the server for it", "change_ms", "ms", Some(CHANGE_MS)),
        ("A record is in the database after", "record_seconds", "s", Some(RECORD_SECONDS)),
        ("CPU time of a request's records", "record_cpu_us", "µs", None),
        ("Time of a request's records", "record_wall_us", "µs", None),
        ("`sluice audit verify` of the whole trail", "verify_seconds", "s", Some(VERIFY_SECONDS)),
    ] {
        let figure = |name: &str| all[name][key].as_f64().unwrap_or(f64::NAN);
        if goal.is_some_and(|goal| figure("SQLite") > goal || figure("PostgreSQL") > goal) {
            missed.push(what);
        }
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
    ensure!(missed.is_empty(), "above the goal: {}", missed.join("; "));
    Ok(())
}

fn measure(
    arguments: &Arguments,
    upstream: &Upstream,
    url: Option<String>,
) -> anyhow::Result<Value> {
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
    let setting = url.as_ref().map_or_else(String::new, |url| format!("url = {url:?}"));
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:{port}\"\nmetrics_listen = \"127.0.0.1:{metrics}\"\n\
         [storage]\ndata_dir = {data:?}\n{setting}\n\
         [limits.highest]\nrequests_per_hour = 1_000_000_000\ntokens_per_day = 1_000_000_000_000\n\
         concurrent_requests = 10_000\nsuite = \"full\"\n\
         [[providers]]\nid = \"bench\"\nkind = \"openai\"\napi_key = \"none\"\n\
         base_url = \"http://127.0.0.1:{}/v1\"\n\
         [[models]]\nid = \"bench-whole\"\nprovider = \"bench\"\n\
         price = {{ input = \"1.00\", cached_input = \"0.10\", output = \"4.00\" }}\n",
        upstream.port
    );
    let file = folder.write("sluice.toml", &config)?;
    let sluice = |words: &[&str]| {
        let mut command = Command::new(release_binary("sluice"));
        command.env_clear().args(words).arg("--config").arg(&file);
        command
    };
    let create = ["keys", "create", "--account", "bench", "--name", "changed"];
    let much = ["--requests-per-hour", "1000000000", "--tokens-per-day", "1000000000000"];
    let key = output(sluice(&create).args(["--class", "enterprise"]).args(much))?;

    let began = Instant::now();
    let server = Server::start(&mut sluice(&["serve"]), port)?;
    ensure!(ready(port)?, "it listens before it has read the keys, and answers afterwards");
    let start_seconds = began.elapsed().as_secs_f64();
    ensure!(status_of(port, &key)? == 200, "the key works");
    let resident_mb = server.resident_mb()?;
    // What a start leaves to do, it does in the first seconds.
    std::thread::sleep(Duration::from_secs(3));
    let address = Address { port, path: "/api/v1/chat/completions", key: key.clone() };
    let record_seconds = lag(&address, metrics, &data)?;
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
    drop(server);
    bench(&["trail".to_owned(), arguments.entries.to_string()])?;
    let began = Instant::now();
    output(&mut sluice(&["audit", "verify"]))?;
    let verify_seconds = began.elapsed().as_secs_f64();
    Ok(json!({
        "verify_seconds": verify_seconds,
        "start_seconds": start_seconds,
        "resident_mb": resident_mb,
        "change_seconds": change_seconds,
        "change_ms": change_ms.max(0.0),
        "record_seconds": record_seconds,
        "record_cpu_us": ingested["cpu_us"],
        "record_wall_us": ingested["wall_us"],
    }))
}

/// How many seconds late the last record is in the database while 1 000 requests a second come in:
/// what waits in the journal, by how fast the journal grows.
fn lag(address: &Address, metrics: u16, data: &Path) -> anyhow::Result<f64> {
    const SECONDS: f64 = 20.0;
    let scenario = SCENARIOS.iter().find(|it| it.name == "small-rate").context("a scenario")?;
    std::thread::scope(|scope| {
        let load = scope.spawn(|| scenario.load(address, SECONDS));
        let (began, mut written, mut most_waiting) = (Instant::now(), 0, 0.0_f64);
        let mut before = journal_bytes(data)?;
        while !load.is_finished() {
            std::thread::sleep(Duration::from_millis(500));
            let now = journal_bytes(data)?;
            // A segment of which everything is in the database is deleted.
            written += now.saturating_sub(before);
            before = now;
            most_waiting = most_waiting.max(backlog_bytes(metrics)?);
        }
        let took = began.elapsed().as_secs_f64();
        load.join().map_err(|_| anyhow::anyhow!("the load panicked"))??;
        #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
        let a_second = written as f64 / took;
        ensure!(a_second > 0.0, "nothing was written to the journal");
        Ok(most_waiting / a_second + PAUSE_SECONDS)
    })
}

fn journal_bytes(data: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for segment in fs::read_dir(data.join("journal"))? {
        // A segment may be deleted meanwhile.
        bytes += segment?.metadata().map_or(0, |data| data.len());
    }
    Ok(bytes)
}

fn backlog_bytes(metrics: u16) -> anyhow::Result<f64> {
    const NAME: &str = "sluice_journal_backlog_bytes ";
    let url = format!("http://127.0.0.1:{metrics}/metrics");
    let text = output(Command::new("curl").args(["--silent", &url]))?;
    let figure = text.lines().find_map(|line| line.strip_prefix(NAME)).context("no backlog")?;
    Ok(figure.trim().parse()?)
}

/// CPU seconds of a second in which nobody asks anything.
fn cost_of_seconds(server: &Server, seconds: u32) -> anyhow::Result<f64> {
    let before = server.cpu()?;
    std::thread::sleep(Duration::from_secs(1) * seconds);
    Ok(server.cpu()?.since(&before) / f64::from(seconds))
}

/// Whether the server takes requests. Waits until it answers.
fn ready(port: u16) -> anyhow::Result<bool> {
    Ok(status(port, "/readyz", &[])? == 200)
}

/// What the server says to whoever presents `key`.
fn status_of(port: u16, key: &str) -> anyhow::Result<u16> {
    let header = format!("Authorization: Bearer {key}");
    status(port, "/api/v1/auth/token", &["--header", &header])
}

fn status(port: u16, path: &str, arguments: &[&str]) -> anyhow::Result<u16> {
    let mut command = Command::new("curl");
    command.args(["--silent", "--output", "/dev/null", "--write-out", "%{http_code}"]);
    command.args(arguments).arg(format!("http://127.0.0.1:{port}{path}"));
    Ok(output(&mut command)?.trim().parse()?)
}
