//! What happens when somebody, or a full disk, gets between a running server and its data folder.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::path::Path;

use serde_json::json;
use sluice_testkit::{Config, FakeUpstream, Sluice, until};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

async fn sluice() -> (Sluice, FakeUpstream) {
    Sluice::with_mock(BINARY, Config::default().server("drain_seconds = 1")).await
}

async fn has_records(sluice: &Sluice, records: usize) {
    until("all records", async || (sluice.usage().await.len() == records).then_some(())).await;
}

/// Makes it impossible to write to the journal, as a full disk does: a file is in its place.
fn block_journal(data_dir: &Path) {
    std::fs::remove_dir_all(data_dir.join("journal")).unwrap();
    std::fs::write(data_dir.join("journal"), "").unwrap();
}

#[tokio::test]
async fn a_stop_while_the_disk_refuses_says_how_many_records_are_lost() {
    let (mut sluice, _upstream) = sluice().await;
    block_journal(&sluice.data_dir());
    sluice.ask(20).await;
    sluice.is_ready(false).await;
    assert_eq!(sluice.stop().await.code(), Some(1));
    let told = sluice.stderr();
    assert!(told.contains("the records of 20 requests are lost"), "{told}");
    let lines = told.matches("the journal cannot be written").count();
    assert!(lines <= 2, "not a line for each request: {told}");
}

#[tokio::test]
async fn records_are_kept_in_memory_until_the_disk_takes_them_again() {
    let (mut sluice, _upstream) = sluice().await;
    block_journal(&sluice.data_dir());
    sluice.ask(20).await;
    sluice.is_ready(false).await;
    std::fs::remove_file(sluice.data_dir().join("journal")).unwrap();
    sluice.is_ready(true).await;
    sluice.ask(5).await;
    has_records(&sluice, 25).await;
    assert_eq!(sluice.stop().await.code(), Some(0), "{}", sluice.stderr());
}

#[tokio::test]
async fn what_must_be_audited_is_refused_while_the_disk_refuses_and_the_rest_goes_on() {
    let (sluice, _upstream) = sluice().await;
    let audited = json!({
        "model": "mock",
        "messages": [{ "role": "user", "content": "Hello!" }],
        "audit_enabled": true,
    });
    assert_eq!(sluice.chat(sluice.key(), &audited).await.status, 200);
    block_journal(&sluice.data_dir());
    sluice.ask(1).await;
    sluice.is_ready(false).await;
    let refused = sluice.chat(sluice.key(), &audited).await;
    assert_eq!(refused.status, 503, "{}", refused.text());
    let error = &refused.json()["error"];
    assert_eq!(
        (&error["type"], &error["code"]),
        (&"api_error".into(), &"audit_unavailable".into())
    );
    assert_eq!(refused.header("retry-after"), "30");
    sluice.ask(1).await;
    let health = sluice.get("/api/v1/health", sluice.key()).await.json();
    assert_eq!(health["status"], "degraded");
    assert_eq!(health["components"]["audit"]["status"], "failing");

    std::fs::remove_file(sluice.data_dir().join("journal")).unwrap();
    sluice.is_ready(true).await;
    assert_eq!(sluice.chat(sluice.key(), &audited).await.status, 200);
    has_records(&sluice, 4).await;
}

#[tokio::test]
async fn a_journal_that_is_removed_under_a_running_server_loses_nothing() {
    let (mut sluice, _upstream) = sluice().await;
    sluice.ask(10).await;
    for file in std::fs::read_dir(sluice.data_dir().join("journal")).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    sluice.ask(20).await;
    has_records(&sluice, 30).await;
    assert!(sluice.stderr().contains("files of the journal were removed"), "{}", sluice.stderr());
    assert_eq!(sluice.stop().await.code(), Some(0));
    sluice.start_again().await;
    has_records(&sluice, 30).await;
    let verified = sluice.cli(&["audit", "verify"]).await;
    assert_eq!(verified.code, Some(0), "{}", verified.stdout);
}

#[tokio::test]
async fn a_folder_that_is_emptied_under_a_running_server_keeps_what_only_the_journal_had() {
    let (mut sluice, _upstream) = sluice().await;
    sluice.ask(5).await;
    for item in std::fs::read_dir(sluice.data_dir()).unwrap().map(Result::unwrap) {
        match item.file_type().unwrap().is_dir() {
            true => std::fs::remove_dir_all(item.path()).unwrap(),
            false => std::fs::remove_file(item.path()).unwrap(),
        }
    }
    sluice.ask(7).await;
    assert_eq!(sluice.stop().await.code(), Some(0), "{}", sluice.stderr());
    assert!(sluice.stderr().contains("files of the journal were removed"), "{}", sluice.stderr());
    let files = std::fs::read_dir(sluice.data_dir().join("journal")).unwrap();
    let lines =
        files.map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap().lines().count());
    assert!(lines.sum::<usize>() >= 7);
    // Their seals need the master key that was removed: no new one is made beside them.
    sluice.beside(&[]).is_refused("the whole backup").await;
}

/// A key is shown only once, so what is read for its record comes before it is made.
#[tokio::test]
async fn a_key_that_could_not_be_shown_is_not_made() {
    let (mut sluice, _upstream) = sluice().await;
    assert!(sluice.stop().await.success());
    let keys = sluice.json_lines(&["keys", "list", "--json"]).await;
    let id = keys[0]["id"].as_str().unwrap();
    let journal = sluice.data_dir().join("journal");
    let away = sluice.data_dir().join("away");
    std::fs::rename(&journal, &away).unwrap();
    std::fs::write(&journal, "").unwrap();
    for arguments in [&["keys", "create", "--name", "ci"][..], &["keys", "rotate", id]] {
        let failed = sluice.cli(arguments).await;
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), ""), "{}", failed.stderr);
    }
    std::fs::remove_file(&journal).unwrap();
    std::fs::rename(&away, &journal).unwrap();
    assert_eq!(sluice.json_lines(&["keys", "list", "--json"]).await, keys);
}

#[tokio::test]
async fn removing_the_lock_file_lets_no_second_server_in() {
    let (sluice, _upstream) = sluice().await;
    std::fs::remove_file(sluice.data_dir().join("sluice.lock")).unwrap();
    sluice.beside(&[]).is_refused("another server").await;
    sluice.ask(1).await;
}

#[tokio::test]
async fn a_database_that_is_removed_is_missed_at_once_and_at_the_next_start() {
    let (mut sluice, _upstream) = sluice().await;
    sluice.ask(5).await;
    has_records(&sluice, 5).await;
    let away = sluice.data_dir().join("away");
    std::fs::create_dir(&away).unwrap();
    for file in ["sluice.db", "sluice.db-wal", "sluice.db-shm"] {
        let _ = std::fs::rename(sluice.data_dir().join(file), away.join(file));
    }
    sluice.is_ready(false).await;
    assert!(sluice.stderr().contains("was removed or replaced"), "{}", sluice.stderr());
    // Answers go on, and their records are in the journal.
    sluice.ask(5).await;
    sluice.kill().await;

    for arguments in [&["usage", "list"][..], &["keys", "list"], &["audit", "verify"]] {
        let refused = sluice.cli(arguments).await;
        assert_eq!(refused.code, Some(1), "{arguments:?}");
        assert!(refused.stderr.contains("--new-database"), "{}", refused.stderr);
    }
    let told = sluice.beside(&[]).is_refused("--new-database").await;
    assert!(told.contains("sluice.db is missing"), "{told}");
    assert!(!sluice.data_dir().join("sluice.db").exists());

    // Put back, everything is there, and so is what only the journal had.
    for file in ["sluice.db", "sluice.db-wal", "sluice.db-shm"] {
        let _ = std::fs::rename(away.join(file), sluice.data_dir().join(file));
    }
    sluice.start_again().await;
    has_records(&sluice, 10).await;
    let verified = sluice.cli(&["audit", "verify"]).await;
    assert_eq!(verified.code, Some(0), "{}", verified.stdout);
}

#[tokio::test]
async fn a_damaged_database_is_named_at_the_start() {
    use std::os::unix::fs::FileExt as _;
    let (mut sluice, _upstream) = sluice().await;
    sluice.ask(3).await;
    assert!(sluice.stop().await.success());
    let path = sluice.data_dir().join("sluice.db");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    file.write_all_at(&[0x5a; 4096], (pages / 2) * 4096).unwrap();
    let told = sluice.beside(&[]).is_refused("damaged").await;
    assert!(told.contains("backup"), "{told}");
}

/// What a server needs beside its database is named, and nothing that is not there.
#[tokio::test]
async fn a_copy_into_another_folder_names_what_has_to_follow() {
    let (mut sluice, _upstream) = sluice().await;
    sluice.ask(1).await;
    assert!(sluice.stop().await.success());
    let copied = sluice.done("storage copy --from config --to sqlite:first").await;
    assert!(copied.contains("move master.key, audit.seal, journal/ there"), "{copied}");
    let prices = r#"{ "m": { "litellm_provider": "openai", "mode": "chat",
        "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6 } }"#;
    std::fs::write(sluice.data_dir().with_file_name("prices.json"), prices).unwrap();
    sluice.done("catalog import prices.json").await;
    let copied = sluice.done("storage copy --from config --to sqlite:second").await;
    assert!(copied.contains("journal/, catalog.json there"), "{copied}");
}
