//! Exactly once, wherever the journal is cut and wherever the ingester dies.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use common::{NOW, request, usage};
use proptest::prelude::*;
use sluice_core::clock::UnixMillis;
use sluice_storage::{
    AuditFilter, DaySum, Ingester, Journal, JournalEntry, MasterKey, QUARTER_SECONDS, StorageError,
    Store, SubjectKind, UsageFilter, UsageRecord, journal_dir, window_start,
};

/// Everything that ingesting produces.
#[derive(Debug, PartialEq)]
struct Ingested {
    usage: Vec<UsageRecord>,
    sums: Vec<DaySum>,
    audit_ids: Vec<String>,
    audit_holds: bool,
    windows: Vec<(String, u64)>,
}

async fn ingested(store: &Store, master: &MasterKey) -> Ingested {
    let mut windows: Vec<(String, u64)> = store
        .used_since(SubjectKind::Key, 1, None)
        .await
        .unwrap()
        .into_iter()
        .map(|it| (format!("{} {:?}", it.subject, it.used), it.used.requests))
        .collect();
    let quarters = window_start(NOW, QUARTER_SECONDS);
    let of_account = store.used_since(SubjectKind::Account, quarters, None).await.unwrap();
    windows.extend(of_account.into_iter().map(|it| (it.subject.to_string(), it.used.requests)));
    let entries = store.audit(&AuditFilter::default()).await.unwrap();
    Ingested {
        usage: store.usage(&UsageFilter::default()).await.unwrap(),
        sums: store.usage_sums(UnixMillis(0), UnixMillis(NOW.0 * 2)).await.unwrap(),
        audit_ids: entries.into_iter().map(|it| it.entry.audit_id).collect(),
        audit_holds: store.verify_audit(master).await.unwrap().broken.is_none(),
        windows,
    }
}

async fn opened(data_dir: &Path) -> (Store, MasterKey) {
    let store = Store::open(data_dir).await.unwrap();
    (store, MasterKey::load_or_create(data_dir).unwrap())
}

fn write((store, master): (&Store, &MasterKey), ids: std::ops::Range<u64>) {
    let journal = Journal::open(store.data_dir(), master).unwrap();
    for id in ids {
        journal.append(&request(id)).unwrap();
    }
}

fn segments(data_dir: &Path) -> Vec<PathBuf> {
    let items = std::fs::read_dir(journal_dir(data_dir)).unwrap();
    let mut paths: Vec<PathBuf> = items.map(|item| item.unwrap().path()).collect();
    paths.sort();
    paths
}

/// What `ids` give when nothing goes wrong.
async fn expected(ids: std::ops::Range<u64>) -> Ingested {
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = opened(dir.path()).await;
    write((&store, &master), ids);
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
    ingested(&store, &master).await
}

#[tokio::test]
async fn a_new_ingester_goes_on_where_the_last_one_stopped() {
    let expected = expected(0..900).await;
    for stop_after in 0..5 {
        let dir = tempfile::tempdir().unwrap();
        let (store, master) = opened(dir.path()).await;
        write((&store, &master), 0..500);
        write((&store, &master), 500..900);
        let mut first = Ingester::new(store.clone(), &master);
        for _ in 0..stop_after {
            first.run_once().await.unwrap();
        }
        drop(first);
        Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
        Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
        assert_eq!(ingested(&store, &master).await, expected, "stopped after {stop_after}");
        assert_eq!(segments(dir.path()).len(), 1, "the first segment is gone");
    }
}

#[tokio::test]
async fn a_transaction_that_fails_is_tried_again_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = opened(dir.path()).await;
    write((&store, &master), 0..400);
    let mut ingester = Ingester::new(store.clone(), &master);
    let raw = sqlx::SqlitePool::connect_with(
        sqlx::sqlite::SqliteConnectOptions::new().filename(dir.path().join("sluice.db")),
    )
    .await
    .unwrap();
    // The last statement of a batch fails: everything before it has been done by then.
    for table in ["journal_segments", "usage_sums", "audit_head"] {
        let sql = format!(
            "CREATE TRIGGER broken_{table} BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&raw).await.unwrap();
        ingester.run_once().await.unwrap_err();
        assert_eq!(store.usage(&UsageFilter::default()).await.unwrap(), []);
        let sql = format!("DROP TRIGGER broken_{table}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&raw).await.unwrap();
    }
    ingester.run_to_end().await.unwrap();
    assert_eq!(ingested(&store, &master).await, expected(0..400).await);
}

#[tokio::test]
async fn a_segment_goes_once_it_is_ingested_and_a_later_one_exists() {
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = opened(dir.path()).await;
    write((&store, &master), 0..50);
    let first = segments(dir.path()).remove(0);
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
    assert!(first.exists(), "the newest segment stays");
    write((&store, &master), 50..60);
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
    assert!(!first.exists());
    assert_eq!(ingested(&store, &master).await, expected(0..60).await);
}

#[tokio::test]
async fn a_corrupt_line_is_skipped_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = opened(dir.path()).await;
    write((&store, &master), 0..30);
    let path = segments(dir.path()).remove(0);
    let mut bytes = std::fs::read(&path).unwrap();
    // The record of request 9 is in a line of its own.
    let place = bytes.windows(10).position(|window| window == b"req-000009").unwrap();
    bytes[place] = b'R';
    std::fs::write(&path, bytes).unwrap();
    let mut ingester = Ingester::new(store.clone(), &master);
    ingester.run_to_end().await.unwrap();
    assert_eq!(ingester.corrupt_lines(), 1);
    let records = store.usage(&UsageFilter::default()).await.unwrap();
    assert_eq!(records.len(), 19, "20 of the 30 leave a record");
    assert!(records.iter().all(|record| record.request_id.as_str() != "req-000009"));
}

#[tokio::test]
async fn a_line_that_is_still_being_written_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = opened(dir.path()).await;
    write((&store, &master), 0..4);
    let path = segments(dir.path()).remove(0);
    let bytes = std::fs::read(&path).unwrap();
    let mut ingester = Ingester::new(store.clone(), &master);
    let half = bytes.len() - 20;
    std::fs::write(&path, &bytes[..half]).unwrap();
    ingester.run_to_end().await.unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&bytes[half..]).unwrap();
    ingester.run_to_end().await.unwrap();
    assert_eq!(ingester.corrupt_lines(), 0);
    assert_eq!(ingested(&store, &master).await, expected(0..4).await);
}

/// As `rm -rf sluice-data/*` does under a running server.
#[cfg(unix)]
#[tokio::test]
async fn a_journal_that_is_removed_together_with_the_database_is_written_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = opened(dir.path()).await;
    let mut ingester = Ingester::new(store.clone(), &master);
    ingester.run_to_end().await.unwrap();
    let journal = std::sync::Arc::new(Journal::open(dir.path(), &master).unwrap());
    ingester.follow(journal.clone());
    for id in 0..4 {
        journal.append(&request(id)).unwrap();
    }
    ingester.run_to_end().await.unwrap();
    for item in std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap) {
        match item.file_type().unwrap().is_dir() {
            true => std::fs::remove_dir_all(item.path()).unwrap(),
            false => std::fs::remove_file(item.path()).unwrap(),
        }
    }
    let mut lines = 0;
    for id in 4..9 {
        journal.append(&request(id)).unwrap();
        lines += request(id).len();
    }
    for _ in 0..2 {
        let error = ingester.run_once().await.unwrap_err();
        assert!(matches!(error, StorageError::Displaced { .. }), "{error}");
        let mode = journal_dir(dir.path()).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let texts = segments(dir.path()).into_iter().map(|it| std::fs::read_to_string(it).unwrap());
        let written: usize = texts.map(|text| text.lines().count()).sum();
        assert_eq!(written, lines, "those that were not in the database, once");
    }
    assert_eq!(journal.unwritten(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A crash of the machine leaves a beginning of the segment. What was whole is ingested, what
    /// was torn is not, and what a restart writes afterwards is untouched by it.
    #[test]
    fn a_journal_cut_anywhere_keeps_its_whole_lines(cut in 0.0..=1.0_f64, look_first: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let (store, master) = opened(dir.path()).await;
            let journal = Journal::open(dir.path(), &master).unwrap();
            for id in 0..40 {
                journal.append(&[JournalEntry::Usage(Box::new(usage(id)))]).unwrap();
            }
            drop(journal);
            let path = segments(dir.path()).remove(0);
            let bytes = std::fs::read(&path).unwrap();
            let kept = &bytes[..(cut * bytes.len() as f64) as usize];
            let whole = kept.iter().filter(|byte| **byte == b'\n').count() as u64;
            std::fs::write(&path, kept).unwrap();

            let mut ingester = Ingester::new(store.clone(), &master);
            if look_first {
                ingester.run_to_end().await.unwrap();
            }
            let journal = Journal::open(dir.path(), &master).unwrap();
            for id in 100..110 {
                journal.append(&[JournalEntry::Usage(Box::new(usage(id)))]).unwrap();
            }
            ingester.run_to_end().await.unwrap();
            let mut records = store.usage(&UsageFilter::default()).await.unwrap();
            records.reverse();
            let expected: Vec<_> = (0..whole).chain(100..110).map(usage).collect();
            assert_eq!(records, expected);
            assert_eq!(ingester.corrupt_lines(), 0);
        });
    }
}
