//! The server and its PostgreSQL: away at the start, away meanwhile, and another server's.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use sluice_testkit::{Ask, Config, FakeUpstream, Script, Sluice, answers, until};
use sluice_testpostgres::{Database, Server};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");
const PASSWORD: &str = "s3cret-of-a-test";

fn request() -> Value {
    json!({ "model": "mock", "messages": [{ "role": "user", "content": "Hello!" }] })
}

async fn sluice(database: &Database) -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello there"))).await;
    let config = Config::default()
        .server("drain_seconds = 1")
        .database(&database.url())
        .provider("lab", &upstream.base_url())
        .model("mock", "\"lab\"");
    (Sluice::start(BINARY, &config).await, upstream)
}

/// Asks so many times; each answer comes, whatever becomes of its record.
async fn ask(sluice: &Sluice, times: usize) {
    for _ in 0..times {
        assert_eq!(sluice.chat(sluice.key(), &request()).await.status, 200);
    }
}

async fn is_ready(sluice: &Sluice, ready: bool) {
    until("/readyz to change", async || {
        let reply = sluice.client().attempt(Ask::get("/readyz")).await.ok()?;
        (reply.status == if ready { 200 } else { 503 }).then_some(())
    })
    .await;
}

/// A server in the folder of `config`, beside the one that made it.
struct Beside {
    child: Child,
    said: PathBuf,
}

impl Beside {
    fn start(config: &Path, name: &str) -> Self {
        let said = config.with_file_name(name);
        let file = std::fs::File::create(&said).unwrap();
        let child = Command::new(BINARY)
            .args(["serve", "--config"])
            .arg(config)
            .current_dir(config.parent().unwrap())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        Self { child, said }
    }

    async fn says(&self, word: &str) -> String {
        until(word, async || {
            let said = std::fs::read_to_string(&self.said).unwrap();
            said.contains(word).then_some(said)
        })
        .await
    }

    async fn ends(&mut self) -> Option<i32> {
        until("its end", async || self.child.try_wait().unwrap()).await.code()
    }

    fn terminate(&self) {
        let line = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_start_waits_for_its_database_and_goes_on_once_it_is_there() {
    let Some(_) = Database::create() else { return };
    let mut server = Server::start();
    let database = Database::on(&server);
    let (mut sluice, _upstream) = sluice(&database).await;
    assert!(sluice.stop().await.success());
    server.stop();

    // A command does not wait.
    let listed = sluice.cli(&["keys", "list"]).await;
    assert_eq!(listed.code, Some(1), "{}", listed.stderr);
    assert!(listed.stderr.contains("cannot be reached"), "{}", listed.stderr);

    let mut waiting = Beside::start(&sluice.config_file(), "first");
    let said = waiting.says("waiting for the database").await;
    assert!(said.contains(database.name()), "{said}");
    assert!(!said.contains(PASSWORD), "{said}");
    waiting.terminate();
    assert_eq!(waiting.ends().await, Some(0));

    let waiting = Beside::start(&sluice.config_file(), "second");
    waiting.says("waiting for the database").await;
    server.start_again();
    waiting.says("Base URL").await;
}

#[tokio::test]
async fn nothing_is_lost_or_double_while_the_database_comes_and_goes() {
    let Some(_) = Database::create() else { return };
    let mut server = Server::start();
    let database = Database::on(&server);
    let (sluice, _upstream) = sluice(&database).await;
    ask(&sluice, 20).await;
    server.stop();
    ask(&sluice, 20).await;
    is_ready(&sluice, false).await;
    server.start_again();
    is_ready(&sluice, true).await;
    for _ in 0..10 {
        ask(&sluice, 3).await;
        database.cut_connections();
    }
    server.crash();
    ask(&sluice, 10).await;
    server.start_again();
    let counts = "SELECT count(*), count(DISTINCT request_id), \
                  (SELECT sum(requests) FROM usage_sums) FROM usage_records";
    until("all records", async || (database.run(counts).ok()? == "80|80|80").then_some(())).await;
    is_ready(&sluice, true).await;
    assert_eq!(sluice.usage().await.len(), 80);
    assert!(!sluice.stderr().contains(PASSWORD));
}

#[tokio::test]
async fn a_second_server_on_one_database_is_told_of_the_first() {
    let Some(database) = Database::create() else { return };
    let (first, _upstream) = sluice(&database).await;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("sluice.toml");
    std::fs::copy(first.config_file(), &config).unwrap();
    let mut second = Beside::start(&config, "said");
    assert_eq!(second.ends().await, Some(1));
    let said = second.says("another server").await;
    assert!(said.contains(&format!("process {}", first.process_id())), "{said}");
    assert!(said.contains("since 20") && !said.contains(PASSWORD), "{said}");
    ask(&first, 1).await;

    // `check` names the database, and never the password.
    for arguments in [&["check"][..], &["check", "--json"]] {
        let checked = first.cli(arguments).await;
        let printed = checked.stdout + &checked.stderr;
        assert!(printed.contains(database.name()) && !printed.contains(PASSWORD), "{printed}");
    }
}

/// The whole way of an operator: from SQLite to PostgreSQL, a backup, and back from it.
#[tokio::test]
async fn a_deployment_moves_to_postgres_and_comes_back_from_a_backup() {
    let Some(database) = Database::create() else { return };
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello there"))).await;
    let config = Config::default().provider("lab", &upstream.base_url()).model("mock", "\"lab\"");
    let mut sluice = Sluice::start(BINARY, &config).await;
    ask(&sluice, 5).await;
    let copy = ["storage", "copy", "--from", "config", "--to", &database.url()];
    let refused = sluice.cli(&copy).await;
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains("another server"), "{}", refused.stderr);
    assert!(sluice.stop().await.success());

    // An empty database in the place of the old one is missed.
    sluice.reconfigure(&config.clone().database(&database.url()));
    let mut early = Beside::start(&sluice.config_file(), "early");
    assert_eq!(early.ends().await, Some(1));
    early.says("storage copy").await;

    let copy = ["storage", "copy", "--from", "sqlite:data", "--to", "config"];
    let copied = sluice.cli(&copy).await;
    assert_eq!(copied.code, Some(0), "{}", copied.stderr);
    assert!(copied.stdout.contains("key_secrets"), "{}", copied.stdout);
    sluice.start_again().await;
    ask(&sluice, 5).await;
    let file = sluice.config_file().with_file_name("backup.tar");
    let backup = ["backup", file.to_str().unwrap()];
    let backed_up = sluice.cli(&backup).await;
    assert_eq!(backed_up.code, Some(0), "{}", backed_up.stderr);
    assert!(backed_up.stdout.contains("the master key mk_"), "{}", backed_up.stdout);
    assert!(sluice.stop().await.success());

    // Into a folder that is not there, on SQLite.
    let restore = ["restore", file.to_str().unwrap()];
    sluice.reconfigure(&config);
    let refused = sluice.cli(&restore).await;
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    std::fs::rename(sluice.data_dir(), sluice.data_dir().with_file_name("old")).unwrap();
    let restored = sluice.cli(&restore).await;
    assert_eq!(restored.code, Some(0), "{}", restored.stderr);
    sluice.start_again().await;
    ask(&sluice, 5).await;
    assert_eq!(sluice.usage().await.len(), 15);
    let verified = sluice.cli(&["audit", "verify"]).await;
    assert_eq!(verified.code, Some(0), "{}", verified.stderr);
}
