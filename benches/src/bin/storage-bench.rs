//! Fills a database with a large company, and times what carries records into one.
//! `cargo xtask bench storage` runs this and shows the figures.
#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Parser, Subcommand};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use sluice_bench::records::{Dialect, statements};
use sluice_core::clock::{Clock as _, SystemClock, UnixMillis};
use sluice_core::ids::RequestId;
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::outcome::Outcome;
use sluice_core::usage::{Usage, UsageSource};
use sluice_storage::{
    AuditEntry, Ingester, Journal, JournalEntry, Location, MasterKey, Store, UsageRecord,
};

#[derive(Parser)]
struct Arguments {
    /// The data folder.
    #[arg(long)]
    data: PathBuf,
    /// The PostgreSQL database; without it, SQLite in the data folder.
    #[arg(long)]
    url: Option<String>,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Adds departments, teams, people and keys.
    Fill {
        /// Keys. There is a person for each ten of them, and a team for each hundred.
        keys: u64,
    },
    /// Adds records of the account that `fill` made, over the last ninety days.
    Records {
        /// Records.
        rows: u64,
    },
    /// Carries records of so many requests, each with its audit entry, from the journal into the
    /// database, and prints what that took.
    Ingest {
        /// Requests.
        requests: u64,
        /// Different keys among them.
        #[arg(long, default_value_t = 100)]
        keys: u64,
    },
    /// Carries so many entries of the audit trail from the journal into the database.
    Trail {
        /// Entries.
        entries: u64,
    },
}

/// A moment in November 2026.
const NOW: UnixMillis = UnixMillis(1_795_253_400_000);

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> anyhow::Result<()> {
    let Arguments { data, url, what } = Arguments::parse();
    let location = Location::new(&data, url.as_deref()).map_err(anyhow::Error::msg)?;
    let store = Store::open(location).await?;
    let master_key = MasterKey::load_or_create(&data)?;
    store.check_master_key(&master_key).await?;
    match what {
        What::Fill { keys } => {
            store.close().await;
            fill(&data, url.as_deref(), keys).await
        }
        What::Records { rows } => {
            store.close().await;
            let until = SystemClock.now().0;
            let dialect = if url.is_some() { Dialect::Postgres } else { Dialect::Sqlite };
            execute(&data, url.as_deref(), statements(rows, until, dialect)).await
        }
        What::Trail { entries } => trail(store, &master_key, &data, entries).await,
        What::Ingest { requests, keys } => ingest(store, &master_key, &data, requests, keys).await,
    }
}

/// Adds rows by SQL: through administration, each would be a change of its own.
async fn fill(data: &Path, url: Option<&str>, keys: u64) -> anyhow::Result<()> {
    let numbers = |count: u64| {
        format!(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {})",
            count.saturating_sub(1)
        )
    };
    let (teams, people) = (keys.div_ceil(100), keys.div_ceil(10));
    let now = NOW.0;
    let zeros = "0".repeat(54);
    let statements = [
        format!(
            "INSERT INTO accounts (id, name, tier, created_at, minimum_level, zero_retention, audit, \
             changed) VALUES ('acc_bench', 'bench', 'highest', {now}, 'standard', false, false, 0)"
        ),
        format!(
            "INSERT INTO departments (id, account_id, name, created_at, changed) VALUES \
             ('dep_bench', 'acc_bench', 'bench', {now}, 0)"
        ),
        format!(
            "INSERT INTO teams (id, account_id, department_id, name, created_at, changed) {} \
             SELECT 'team_' || i, 'acc_bench', 'dep_bench', 'team ' || i, {now}, 0 FROM n",
            numbers(teams)
        ),
        format!(
            "INSERT INTO people (id, account_id, email, role, operator, created_at, changed) {} \
             SELECT 'per_' || i, 'acc_bench', 'p' || i || '@bench.example', 'developer', false, \
             {now}, 0 FROM n",
            numbers(people)
        ),
        format!(
            "INSERT INTO team_members (person_id, team_id) {} \
             SELECT 'per_' || i, 'team_' || (i % {teams}) FROM n",
            numbers(people)
        ),
        format!(
            "INSERT INTO keys (id, account_id, name, team_id, holder, scopes, class, minimum_level, \
             zero_retention, audit, max_tokens, created_at, changed) {} \
             SELECT 'key_' || i, 'acc_bench', 'key ' || i, 'team_' || (i % {teams}), \
             'person:per_' || (i % {people}), '[\"chat\",\"models\"]', 'production', 'standard', \
             false, false, 'model', {now}, 0 FROM n",
            numbers(keys)
        ),
        format!(
            "INSERT INTO key_secrets (hash, key_id, prefix, created_at) {} \
             SELECT '{zeros}' || (1000000000 + i), 'key_' || i, 'svc_ent_Ab12', {now} FROM n",
            numbers(keys)
        ),
    ];
    execute(data, url, statements.into()).await
}

async fn execute(data: &Path, url: Option<&str>, statements: Vec<String>) -> anyhow::Result<()> {
    match url {
        Some(url) => {
            let pool = sqlx::PgPool::connect(url).await?;
            for statement in statements {
                sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&pool).await?;
            }
            sqlx::raw_sql("ANALYZE").execute(&pool).await?;
            pool.close().await;
        }
        None => {
            let file = format!("sqlite://{}", data.join("sluice.db").display());
            let pool = sqlx::SqlitePool::connect(&file).await?;
            for statement in statements {
                sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&pool).await?;
            }
            pool.close().await;
        }
    }
    Ok(())
}

async fn ingest(
    store: Store,
    master_key: &MasterKey,
    data: &Path,
    requests: u64,
    keys: u64,
) -> anyhow::Result<()> {
    let mut ingester = Ingester::new(store.clone(), master_key);
    ingester.run_to_end().await?;
    let journal = Journal::open(data, master_key)?;
    for number in 0..requests {
        journal.append(&of_request(number, keys))?;
    }
    journal.sync()?;
    let (cpu, began) = (cpu_seconds(), Instant::now());
    let entries = ingester.run_to_end().await?;
    let (cpu, took) = (cpu_seconds() - cpu, began.elapsed().as_secs_f64());
    anyhow::ensure!(entries as u64 == 2 * requests, "{entries} entries of {requests} requests");
    #[expect(clippy::cast_precision_loss, reason = "some ten thousand requests")]
    let per = |seconds: f64| seconds * 1e6 / requests as f64;
    println!("{}", json!({ "cpu_us": per(cpu), "wall_us": per(took) }));
    store.close().await;
    Ok(())
}

async fn trail(
    store: Store,
    master_key: &MasterKey,
    data: &Path,
    entries: u64,
) -> anyhow::Result<()> {
    // Beyond the numbers of the requests that `ingest` makes.
    const FIRST: u64 = 1 << 40;
    let mut ingester = Ingester::new(store.clone(), master_key);
    ingester.run_to_end().await?;
    let journal = Journal::open(data, master_key)?;
    for number in FIRST..FIRST + entries {
        let [_, audit] = of_request(number, 100);
        journal.append(&[audit])?;
    }
    journal.sync()?;
    ingester.run_to_end().await?;
    store.close().await;
    Ok(())
}

/// What an ordinary request leaves.
fn of_request(number: u64, keys: u64) -> [JournalEntry; 2] {
    let request_id: RequestId = format!("req_{:013x}{number:019x}", NOW.0).into();
    let audit_id = format!("aud_{number:026}");
    let key_id = format!("key_{}", number % keys.max(1));
    let usage = Usage { uncached_input: 321, output: 123, ..Usage::default() };
    let record = UsageRecord {
        request_id: request_id.clone(),
        key_id: key_id.as_str().into(),
        account_id: "acc_bench".into(),
        department_id: Some("dep_bench".into()),
        team_id: Some("team_1".into()),
        holder: None,
        started_at: UnixMillis(NOW.0 + number),
        app_url: None,
        app_title: Some("an editor".to_owned()),
        model_asked: "mock-fast".to_owned(),
        model: Some("mock-fast".into()),
        provider: Some("lab".into()),
        region: None,
        level: SecurityLevel::Standard,
        stream: true,
        usage,
        usage_source: UsageSource::Measured,
        cost: Some(PicoUsd(813_000_000)),
        price_version: Some("2026-11".to_owned()),
        time_to_first_token_ms: Some(312),
        duration_ms: 2_345,
        outcome: Outcome::Completed,
        attempts: 1,
        audit_id: Some(audit_id.clone()),
        simulated: false,
        filter: Default::default(),
        route: None,
        max_tokens_lowered: None,
        provider_key: None,
        assumed: Default::default(),
        session: None,
    };
    let entry = AuditEntry {
        audit_id,
        at: record.started_at,
        request_id: Some(request_id),
        key_id: record.key_id.clone(),
        person_id: None,
        account_id: record.account_id.clone(),
        remote_addr: Some("192.0.2.7".to_owned()),
        app: record.app_title.clone(),
        model_asked: record.model_asked.clone(),
        model: record.model.clone(),
        provider: record.provider.clone(),
        region: None,
        level: record.level,
        filter: Default::default(),
        usage: Some(usage),
        cost: record.cost,
        outcome: record.outcome,
        zero_retention: false,
        content_bytes: None,
    };
    [JournalEntry::Usage(Box::new(record)), JournalEntry::Audit(Box::new(entry))]
}

/// User and system time of this process so far.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "a process that runs for minutes")]
    let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
    seconds
}
