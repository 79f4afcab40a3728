//! The server and its PostgreSQL: away at the start, away meanwhile, and another server's.

use sluice_testkit::{Beside, Config, FakeUpstream, Script, Sluice, answers, until};
use sluice_testpostgres::{Database, Server};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

fn config(database: &Database) -> Config {
    Config::default().server("drain_seconds = 1").database(&database.url())
}

#[tokio::test]
async fn a_start_waits_for_its_database_and_goes_on_once_it_is_there() {
    let Some(_) = Database::create() else { return };
    let mut server = Server::start();
    let database = Database::on(&server);
    let (mut sluice, _upstream) = Sluice::with_mock(BINARY, config(&database)).await;
    assert!(sluice.stop().await.success());
    server.stop();

    // A command does not wait.
    let listed = sluice.cli(&["keys", "list"]).await;
    assert_eq!(listed.code, Some(1), "{}", listed.stderr);
    assert!(listed.stderr.contains("cannot be reached"), "{}", listed.stderr);

    let mut waiting = sluice.beside(&[]);
    let said = waiting.says("waiting for the database").await;
    assert!(said.contains(database.name()), "{said}");
    assert!(!said.contains(Database::password()), "{said}");
    waiting.signal("TERM");
    assert_eq!(waiting.ends().await, Some(0));

    let waiting = sluice.beside(&[]);
    waiting.says("waiting for the database").await;
    server.start_again();
    waiting.says("Base URL").await;
}

#[tokio::test]
async fn nothing_is_lost_or_double_while_the_database_comes_and_goes() {
    let Some(_) = Database::create() else { return };
    let mut server = Server::start();
    let database = Database::on(&server);
    let (sluice, _upstream) = Sluice::with_mock(BINARY, config(&database)).await;
    sluice.ask(20).await;
    server.stop();
    sluice.ask(20).await;
    sluice.is_ready(false).await;
    server.start_again();
    sluice.is_ready(true).await;
    for _ in 0..10 {
        sluice.ask(3).await;
        database.cut_connections();
    }
    server.crash();
    sluice.ask(10).await;
    server.start_again();
    let counts = "SELECT count(*), count(DISTINCT request_id), \
                  (SELECT sum(requests) FROM usage_sums) FROM usage_records";
    until("all records", async || (database.run(counts).ok()? == "80|80|80").then_some(())).await;
    sluice.is_ready(true).await;
    assert_eq!(sluice.usage().await.len(), 80);
    assert!(!sluice.stderr().contains(Database::password()));
}

#[tokio::test]
async fn a_second_server_on_one_database_is_told_of_the_first() {
    let Some(database) = Database::create() else { return };
    let (first, _upstream) = Sluice::with_mock(BINARY, config(&database)).await;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("sluice.toml");
    std::fs::copy(first.config_file(), &config).unwrap();
    let second = Beside::start(BINARY.as_ref(), &config, &[]);
    let said = second.is_refused("another server").await;
    assert!(said.contains(&format!("process {}", first.process_id())), "{said}");
    assert!(said.contains("since 20") && !said.contains(Database::password()), "{said}");
    first.ask(1).await;

    // `check` names the database, and never the password.
    for arguments in [&["check"][..], &["check", "--json"]] {
        let checked = first.cli(arguments).await;
        let printed = checked.stdout + &checked.stderr;
        assert!(
            printed.contains(database.name()) && !printed.contains(Database::password()),
            "{printed}"
        );
    }
}

/// The whole way of an operator: from SQLite to PostgreSQL, a backup, and back from it.
#[tokio::test]
async fn a_deployment_moves_to_postgres_and_comes_back_from_a_backup() {
    let Some(database) = Database::create() else { return };
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello there"))).await;
    let config = Config::default().mock(&upstream);
    let mut sluice = Sluice::start(BINARY, &config).await;
    sluice.ask(5).await;
    let copy = ["storage", "copy", "--from", "config", "--to", &database.url()];
    let refused = sluice.cli(&copy).await;
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains("another server"), "{}", refused.stderr);
    assert!(sluice.stop().await.success());

    // An empty database in the place of the old one is missed.
    sluice.reconfigure(&config.clone().database(&database.url()));
    sluice.beside(&[]).is_refused("storage copy").await;

    let copy = ["storage", "copy", "--from", "sqlite:data", "--to", "config"];
    let copied = sluice.cli(&copy).await;
    assert_eq!(copied.code, Some(0), "{}", copied.stderr);
    assert!(copied.stdout.contains("key_secrets"), "{}", copied.stdout);
    sluice.start_again().await;
    sluice.ask(5).await;
    let file = sluice.config_file().with_file_name("backup.tar");
    let imported = [("catalog.json", "[]"), ("quality.csv", "model,average\nmine,0.5\n")];
    for (name, text) in imported {
        std::fs::write(sluice.data_dir().join(name), text).unwrap();
    }
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
    for (name, text) in imported {
        assert_eq!(std::fs::read_to_string(sluice.data_dir().join(name)).unwrap(), text);
    }
    sluice.start_again().await;
    sluice.ask(5).await;
    assert_eq!(sluice.usage().await.len(), 15);
    let verified = sluice.cli(&["audit", "verify"]).await;
    assert_eq!(verified.code, Some(0), "{}", verified.stderr);
}
