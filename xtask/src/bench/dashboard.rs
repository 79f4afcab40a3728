//! `cargo xtask bench dashboard`: how long pages take over millions of records, and what people who
//! browse cost those who ask the API, on both databases.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use super::process::{Server, free_port};
use super::scenario::SCENARIOS;
use super::target::{Address, Folder, Upstream};
use super::{TARGET_CORE, pinned, release_binary};
use crate::postgres;
use crate::shell::{self, cargo, output, target_folder};

/// The most that a page may take at the 95th percentile, in milliseconds, …
const PAGE_MS: f64 = 150.0;
/// … and weigh, in bytes.
const PAGE_BYTES: u64 = 150 * 1024;
/// By how much people who browse may lengthen the API's 99th percentile.
const API_RATIO: f64 = 1.3;
/// People who browse at once, each of whom opens a page a second.
const PEOPLE: u32 = 10;
/// Loads of each page.
const LOADS: usize = 30;

const PAGES: &[(&str, &str)] = &[
    ("Home", "/"),
    ("Overview, a day", "/overview?period=24h"),
    ("Overview, 14 days", "/overview?period=14d"),
    ("Overview, 90 days", "/overview?period=90d"),
    ("Requests, a day", "/requests"),
    ("Requests, 90 days", "/requests?period=90d"),
    ("… of a key", "/requests?period=90d&key=key_7"),
    (
        "… of a model that failed",
        "/requests?period=90d&model=qwen%2Fqwen3-coder&outcome=upstream_error",
    ),
    ("… of an application, redacted", "/requests?period=90d&app=zed&filter=redact"),
    ("… that are none", "/requests?period=90d&app=none&key=key_7"),
    ("… of a provider", "/requests?period=90d&provider=bench"),
    ("… that failed", "/requests?period=90d&outcome=failed"),
    ("… whose id begins so", "/requests?q=req_0"),
    ("Live", "/live"),
    ("Live, of an application", "/live?app=zed"),
    ("API keys", "/keys"),
    ("A key", "/keys/key_7"),
    ("Make key", "/keys/new"),
    ("Organisation", "/organisation"),
    ("Teams", "/organisation/teams"),
    ("A person", "/organisation/people/per_1"),
    ("Models", "/models"),
    ("Routers", "/routers"),
    ("Providers", "/providers"),
    ("Audit", "/audit"),
    ("Playground", "/playground"),
    ("Settings", "/settings"),
    ("Help", "/help"),
];

/// Those who see a part of the records: their names, roles, and what they are called.
const PEOPLE_OF_PARTS: [(&str, &str, &str); 2] =
    [("p1", "developer", "a developer"), ("p2", "department-lead", "a lead")];

/// The pages that read records.
const PAGES_OF_PARTS: &[(&str, &str)] = &[
    ("Home", "/"),
    ("Overview, 90 days", "/overview?period=90d"),
    ("Requests, a day", "/requests"),
    ("Requests, 90 days", "/requests?period=90d"),
    ("… of an application, redacted", "/requests?period=90d&app=zed&filter=redact"),
];

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Records, over ninety days.
    #[arg(long, default_value_t = 10_000_000)]
    rows: u64,
    /// Only this database: sqlite or postgres.
    #[arg(long)]
    database: Option<String>,
    /// Another binary than the release build of this checkout.
    #[arg(long)]
    sluice: Option<PathBuf>,
}

/// A page's figures.
struct Figures {
    name: String,
    median_ms: f64,
    p95_ms: f64,
    bytes: u64,
}

/// Measures and prints a table for each database.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice-bench"]))?;
    if arguments.sluice.is_none() {
        shell::run(&mut cargo(&["build", "--release", "--locked", "--package", "sluice"]))?;
    }
    let mut missed = Vec::new();
    for name in ["sqlite", "postgres"] {
        if arguments.database.as_deref().is_none_or(|wanted| wanted == name) {
            missed.extend(measure(arguments, name)?);
        }
    }
    ensure!(missed.is_empty(), "above the goal: {}", missed.join("; "));
    Ok(())
}

/// Measures one database; what missed its goal.
fn measure(arguments: &Arguments, name: &str) -> anyhow::Result<Vec<String>> {
    let upstream = Upstream::start()?;
    // SQLite's file is kept, for filling it takes minutes.
    let kept = target_folder().join("bench").join(format!("dashboard-{}", arguments.rows));
    let folder = Folder::new("dashboard")?;
    let server = (name == "postgres").then(postgres::start).transpose()?;
    let url = server.as_ref().map(sluice_testpostgres::Server::url);
    let data = if url.is_some() { folder.path.join("data") } else { kept };
    let is_filled = data.join("filled").exists();
    if !is_filled {
        println!("filling {name} with {} records", arguments.rows);
        if data.exists() {
            fs::remove_dir_all(&data)?;
        }
        fill(&data, url.as_deref(), &["fill", "1000"])?;
        fill(&data, url.as_deref(), &["records", &arguments.rows.to_string()])?;
        fs::write(data.join("filled"), "")?;
    }

    let port = free_port()?;
    let url = url.map_or_else(String::new, |url| format!("url = {url:?}"));
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:{port}\"\nmetrics_listen = \"\"\n\
         [storage]\ndata_dir = {data:?}\n{url}\n\
         [limits.highest]\nrequests_per_hour = 1_000_000_000\ntokens_per_day = 1_000_000_000_000\n\
         concurrent_requests = 10_000\nsuite = \"full\"\n\
         [[providers]]\nid = \"bench\"\nkind = \"openai\"\napi_key = \"none\"\n\
         base_url = \"http://127.0.0.1:{}/v1\"\n\
         [[models]]\nid = \"bench-whole\"\nprovider = \"bench\"\n\
         price = {{ input = \"1.00\", cached_input = \"0.10\", output = \"4.00\" }}\n",
        upstream.port
    );
    let file = folder.write("sluice.toml", &config)?;
    let binary = arguments.sluice.clone().unwrap_or_else(|| release_binary("sluice"));
    let sluice = |words: &[&str]| {
        let mut command = pinned(TARGET_CORE, &binary);
        command.env_clear().args(words).arg("--config").arg(&file);
        command
    };
    let mark = std::process::id().to_string();
    let named = format!("--name=load {mark}");
    let create = ["keys", "create", "--account", "bench", "--class", "enterprise", &named];
    let much = ["--requests-per-hour", "1000000000", "--tokens-per-day", "1000000000000"];
    let key = output(sluice(&create).args(much))?.trim().to_owned();
    let _running = Server::start(&mut sluice(&["serve"]), port)?;
    let email = format!("reader-{mark}@bench.example");
    let invite = ["people", "invite", &email, "--account", "bench", "--role", "owner"];
    let link = output(&mut sluice(&invite))?;
    let reader = Reader::sign_in(port, &folder.path, link.trim())?;

    let mut rows = Vec::new();
    for (name, path) in PAGES {
        rows.extend(reader.page(name, path)?);
    }
    // Whoever sees a part of the records goes other ways to them.
    for (person, role, who) in PEOPLE_OF_PARTS {
        let email = format!("{person}@bench.example");
        let set = ["people", "set", &email, "--account", "bench", "--role", role];
        output(&mut sluice(&set))?;
        let link = output(&mut sluice(&["people", "reset", &email, "--account", "bench"]))?;
        let part = Reader::sign_in(port, &folder.path.join(person), link.trim())?;
        for (name, path) in PAGES_OF_PARTS {
            rows.extend(part.page(&format!("{name}, as {who}"), path)?);
        }
    }
    let deep = reader.deep("/requests?period=90d", 20)?;
    rows.extend(reader.page("Requests, 20 pages on", &deep)?);
    let first = reader.link(&deep, "/requests/req_")?;
    rows.extend(reader.page("A request", &first)?);

    println!("\n| {name}, {} records | p50 | p95 | size |", arguments.rows);
    println!("| --- | ---: | ---: | ---: |");
    let mut missed = Vec::new();
    for Figures { name: page, median_ms, p95_ms, bytes } in rows {
        println!("| {page} | {median_ms:.1} ms | {p95_ms:.1} ms | {} KB |", bytes / 1024);
        if p95_ms > PAGE_MS || bytes > PAGE_BYTES {
            missed.push(format!("{page} on {name}"));
        }
    }

    let address = Address { port, path: "/api/v1/chat/completions", key };
    let ratio = api_ratio(&address, &reader)?;
    println!(
        "\nThe API's p99 while {PEOPLE} people browse, as a multiple of that without them: {ratio:.2}"
    );
    if ratio > API_RATIO {
        missed.push(format!("the API's p99 on {name}"));
    }
    Ok(missed)
}

fn fill(data: &Path, url: Option<&str>, words: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new(release_binary("storage-bench"));
    command.arg("--data").arg(data);
    if let Some(url) = url {
        command.args(["--url", url]);
    }
    shell::run(command.args(words))
}

/// The lowest p99 of alternating rounds with people who browse, by that of those without.
fn api_ratio(address: &Address, reader: &Reader) -> anyhow::Result<f64> {
    let scenario = SCENARIOS.iter().find(|it| it.name == "large-rate").context("a scenario")?;
    let p99 = || -> anyhow::Result<f64> {
        let report = scenario.load(address, 10.0)?;
        report.pointer("/latency_us/p99").and_then(|it| it.as_f64()).context("a latency")
    };
    let (mut alone, mut beside) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        alone = alone.min(p99()?);
        let people = (0..PEOPLE).map(|_| reader.browse()).collect::<anyhow::Result<Vec<_>>>()?;
        beside = beside.min(p99()?);
        drop(people);
    }
    println!("p99 alone {alone:.0} us, beside people {beside:.0} us");
    Ok(beside / alone)
}

/// Somebody who has signed in, by curl.
struct Reader {
    base: String,
    jar: PathBuf,
    page: PathBuf,
}

/// Somebody who browses until this is dropped.
struct Person(Child);

impl Drop for Person {
    fn drop(&mut self) {
        // Both fail only if it has ended meanwhile.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Reader {
    fn sign_in(port: u16, folder: &Path, link: &str) -> anyhow::Result<Self> {
        let reader = Self {
            base: format!("http://127.0.0.1:{port}"),
            jar: folder.join("jar"),
            page: folder.join("page"),
        };
        fs::create_dir_all(folder)?;
        let fields = ["--data-urlencode", "password=correct horse battery staple"];
        let mut enter = reader.curl();
        enter.args(["--write-out", "%{http_code}"]).args(fields).arg(link);
        let status = output(&mut enter)?;
        ensure!(status.trim() == "303", "the invitation was answered with {status}");
        Ok(reader)
    }

    fn curl(&self) -> Command {
        let mut command = Command::new("curl");
        command.args(["--silent", "--cookie-jar"]).arg(&self.jar);
        command.arg("--cookie").arg(&self.jar).arg("--output").arg(&self.page);
        command
    }

    /// Opens a page: its status, its seconds and its bytes.
    fn open(&self, path: &str) -> anyhow::Result<(u16, f64, u64)> {
        let mut command = self.curl();
        command.args(["--write-out", "%{http_code} %{time_starttransfer} %{size_download}"]);
        let said = output(command.arg(format!("{}{path}", self.base)))?;
        let mut words = said.split_whitespace();
        let mut next = || words.next().context("curl says too little");
        Ok((next()?.parse()?, next()?.parse()?, next()?.parse()?))
    }

    /// Loads a page many times.
    fn page(&self, name: &str, path: &str) -> anyhow::Result<Option<Figures>> {
        let mut times = Vec::new();
        let mut bytes = 0;
        for _ in 0..LOADS {
            let (status, seconds, size) = self.open(path)?;
            if status == 404 {
                println!("{path} is not there");
                return Ok(None);
            }
            ensure!(status == 200, "{path} was answered with {status}");
            times.push(seconds * 1000.0);
            bytes = size;
        }
        times.sort_by(f64::total_cmp);
        let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
        Ok(Some(Figures { name: name.to_owned(), median_ms: at(50), p95_ms: at(95), bytes }))
    }

    /// The address that a link of a page begins with `begin`.
    fn link(&self, path: &str, begin: &str) -> anyhow::Result<String> {
        self.open(path)?;
        let text = fs::read_to_string(&self.page)?.replace("&amp;", "&").replace("&#38;", "&");
        let place = format!("href=\"{begin}");
        let Some((_, rest)) = text.split_once(&place) else { bail!("{path} has no {place}") };
        let rest = rest.split('"').next().unwrap_or_default();
        Ok(format!("{begin}{rest}"))
    }

    /// So many pages of older rows on.
    fn deep(&self, path: &str, pages: u32) -> anyhow::Result<String> {
        let mut path = path.to_owned();
        for _ in 0..pages {
            self.open(&path)?;
            let text = fs::read_to_string(&self.page)?.replace("&amp;", "&").replace("&#38;", "&");
            let links = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
            let mut older = links.filter(|link| link.contains("before="));
            path = older.next().context("there is no older page")?.to_owned();
        }
        Ok(path)
    }

    /// Somebody who opens one page after the other, one a second.
    fn browse(&self) -> anyhow::Result<Person> {
        let mut command = Command::new("curl");
        command.args(["--silent", "--rate", "1/s", "--cookie"]).arg(&self.jar);
        let paths = PAGES.iter().map(|(_, path)| path).filter(|path| **path != "/settings");
        for path in paths.cycle().take(60) {
            command.args(["--output", "/dev/null"]).arg(format!("{}{path}", self.base));
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        // They do not all click at the same moment.
        std::thread::sleep(Duration::from_millis(100));
        Ok(Person(child))
    }
}
