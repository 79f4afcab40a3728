//! Exactly once, wherever the journal is cut and wherever the ingester dies.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use common::{NOW, Place, places, request, usage};
use proptest::prelude::*;
use sluice_core::clock::UnixMillis;
use sluice_storage::{
    AuditFilter, By, DaySum, Detail, Figures, HourFigures, Ingester, Journal, JournalEntry,
    MasterKey, Part, QUARTER_SECONDS, Question, Reach, RecordsFilter, Sight, StorageError, Store,
    SubjectKind, TrailFilter, Turn, UsageFilter, UsageRecord, journal_dir, window_start,
};

/// Everything that ingesting produces.
#[derive(Debug, PartialEq)]
struct Ingested {
    usage: Vec<UsageRecord>,
    sums: Vec<DaySum>,
    audit_ids: Vec<String>,
    audit_holds: bool,
    windows: Vec<(String, u64)>,
    total: Figures,
    hours: Vec<HourFigures>,
    models: Vec<Part>,
    trail: usize,
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
    let sight = Sight { account: "a1".into(), reach: Reach::Account };
    let filter = RecordsFilter::default();
    let question =
        Question { sight: &sight, filter: &filter, with_sums: true, detail: Detail::Times };
    let any = TrailFilter::default();
    let page = store.trail_page(&sight.account, &any, &Turn::First, 100).await.unwrap();
    Ingested {
        total: store.total(&question).await.unwrap(),
        hours: store.hours(&question).await.unwrap(),
        models: store.parts(&question, &[By::Model], 9).await.unwrap(),
        trail: page.entries.len(),
        usage: store.usage(&UsageFilter::default()).await.unwrap(),
        sums: store.usage_sums(UnixMillis(0), UnixMillis(NOW.0 * 2)).await.unwrap(),
        audit_ids: entries.iter().map(|it| it.entry.audit_id().to_owned()).collect(),
        audit_holds: store.verify_audit(master, &[]).await.unwrap().broken.is_none(),
        windows,
    }
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
    let place = Place::sqlite();
    let (store, master) = place.open().await;
    write((&store, &master), ids);
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
    ingested(&store, &master).await
}

#[tokio::test]
async fn a_new_ingester_goes_on_where_the_last_one_stopped() {
    let expected = expected(0..900).await;
    for kind in places() {
        for stop_after in 0..5 {
            let place = kind.another();
            let (store, master) = place.open().await;
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
            assert_eq!(segments(place.path()).len(), 1, "the first segment is gone");
        }
    }
}

#[tokio::test]
async fn a_transaction_that_fails_is_tried_again_whole() {
    for place in places() {
        let (store, master) = place.open().await;
        write((&store, &master), 0..400);
        let mut ingester = Ingester::new(store.clone(), &master);
        // The last statement of a batch fails: everything before it has been done by then.
        for table in ["journal_segments", "usage_sums", "usage_rollup", "audit_head"] {
            let sqlite = format!(
                "CREATE TRIGGER broken BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"
            );
            let postgres = format!(
                "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS \
                 $$BEGIN RAISE EXCEPTION 'no'; END$$; \
                 CREATE TRIGGER broken BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION no()"
            );
            place.run(&sqlite, &postgres).await.unwrap();
            ingester.run_once().await.unwrap_err();
            assert_eq!(store.usage(&UsageFilter::default()).await.unwrap(), []);
            place.run("DROP TRIGGER broken", "DROP FUNCTION no CASCADE").await.unwrap();
        }
        ingester.run_to_end().await.unwrap();
        assert_eq!(ingested(&store, &master).await, expected(0..400).await);
    }
}

/// What an answer that is lost on its way leaves open: the transaction may have been committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_cut_at_any_moment_neither_loses_nor_repeats() {
    let Some(place) = Place::postgres() else { return };
    let expected = expected(0..6000).await;
    let (store, master) = place.open().await;
    write((&store, &master), 0..6000);
    let mut ingester = Ingester::new(store.clone(), &master);
    let server = place.server().unwrap();
    let (mut failures, mut runs) = (0, 0);
    let cutting = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..25 {
                server.cut_connections();
            }
            cutting.store(false, Ordering::Relaxed);
        });
        let ingesting = async {
            while cutting.load(Ordering::Relaxed) {
                match ingester.run_once().await {
                    Ok(_) => runs += 1,
                    Err(_) => failures += 1,
                }
            }
        };
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| runtime.block_on(ingesting));
    });
    println!("{failures} failures, {runs} runs");
    ingester.run_to_end().await.unwrap();
    assert_eq!(ingested(&store, &master).await, expected);
}

#[tokio::test]
async fn a_segment_goes_once_it_is_ingested_and_a_later_one_exists() {
    for place in places() {
        let (store, master) = place.open().await;
        write((&store, &master), 0..50);
        let first = segments(place.path()).remove(0);
        Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
        assert!(first.exists(), "the newest segment stays");
        write((&store, &master), 50..60);
        Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
        assert!(!first.exists());
        assert_eq!(ingested(&store, &master).await, expected(0..60).await);
    }
}

#[tokio::test]
async fn a_corrupt_line_is_skipped_and_counted() {
    for place in places() {
        let (store, master) = place.open().await;
        write((&store, &master), 0..30);
        let path = segments(place.path()).remove(0);
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
}

#[tokio::test]
async fn a_line_that_is_still_being_written_is_waited_for() {
    for place in places() {
        let (store, master) = place.open().await;
        write((&store, &master), 0..4);
        let path = segments(place.path()).remove(0);
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
}

/// As `rm -rf sluice-data/*` does under a running server.
#[cfg(unix)]
#[tokio::test]
async fn a_journal_that_is_removed_together_with_the_database_is_written_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::sqlite();
    let (store, master) = place.open().await;
    let mut ingester = Ingester::new(store.clone(), &master);
    ingester.run_to_end().await.unwrap();
    let journal = std::sync::Arc::new(Journal::open(place.path(), &master).unwrap());
    ingester.follow(journal.clone());
    for id in 0..4 {
        journal.append(&request(id)).unwrap();
    }
    ingester.run_to_end().await.unwrap();
    for item in std::fs::read_dir(place.path()).unwrap().map(Result::unwrap) {
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
        let mode = journal_dir(place.path()).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let texts =
            segments(place.path()).into_iter().map(|it| std::fs::read_to_string(it).unwrap());
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
            let place = Place::sqlite();
            let (store, master) = place.open().await;
            let journal = Journal::open(place.path(), &master).unwrap();
            for id in 0..40 {
                journal.append(&[JournalEntry::Usage(Box::new(usage(id)))]).unwrap();
            }
            drop(journal);
            let path = segments(place.path()).remove(0);
            let bytes = std::fs::read(&path).unwrap();
            let kept = &bytes[..(cut * bytes.len() as f64) as usize];
            let whole = kept.iter().filter(|byte| **byte == b'\n').count() as u64;
            std::fs::write(&path, kept).unwrap();

            let mut ingester = Ingester::new(store.clone(), &master);
            if look_first {
                ingester.run_to_end().await.unwrap();
            }
            let journal = Journal::open(place.path(), &master).unwrap();
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
