//! Only what the server wrote to its journal becomes a record: each line carries a seal.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use common::{NOW, audit, sum, usage};
use sluice_core::clock::UnixMillis;
use sluice_storage::{
    AuditFilter, Ingester, Journal, JournalEntry, MasterKey, StorageError, Store, UsageFilter,
    journal_dir,
};

struct Folder {
    dir: tempfile::TempDir,
    store: Store,
    master: MasterKey,
}

impl Folder {
    /// A data folder that a server has served from: it is sealed.
    async fn sealed() -> Self {
        let folder = Self::new().await;
        folder.ingest().await;
        folder
    }

    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let master = MasterKey::load_or_create(dir.path()).unwrap();
        Self { dir, store, master }
    }

    fn journal(&self) -> Journal {
        Journal::open(self.dir.path(), &self.master).unwrap()
    }

    fn segments(&self) -> Vec<PathBuf> {
        let items = std::fs::read_dir(journal_dir(self.dir.path())).unwrap();
        let mut paths: Vec<PathBuf> = items.map(|item| item.unwrap().path()).collect();
        paths.sort();
        paths
    }

    /// Ingests all there is, and says how many lines were refused.
    async fn ingest(&self) -> u64 {
        let mut ingester = Ingester::new(self.store.clone(), &self.master);
        ingester.run_to_end().await.unwrap();
        ingester.corrupt_lines()
    }

    async fn usage(&self) -> usize {
        self.store.usage(&UsageFilter::default()).await.unwrap().len()
    }

    async fn audit(&self) -> usize {
        self.store.audit(&AuditFilter::default()).await.unwrap().len()
    }

    /// Requests, zero retention included.
    async fn requests(&self) -> u64 {
        let sums = self.store.usage_sums(UnixMillis(0), UnixMillis(NOW.0 * 2)).await.unwrap();
        sums.iter().map(|sum| sum.requests).sum()
    }
}

/// What versions without seals wrote, and what anybody can write.
fn old_line(entry: &JournalEntry) -> String {
    let json = serde_json::to_string(entry).unwrap();
    format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes()))
}

fn audit_entry(id: u64) -> JournalEntry {
    JournalEntry::Audit(Box::new(audit(id)))
}

#[tokio::test]
async fn a_forged_line_becomes_no_entry() {
    let folder = Folder::sealed().await;
    let journal = folder.journal();
    journal.append(&[audit_entry(1)]).unwrap();
    let own = &folder.segments()[0];
    let mut file = OpenOptions::new().append(true).open(own).unwrap();
    file.write_all(old_line(&audit_entry(2)).as_bytes()).unwrap();
    let beside = journal_dir(folder.dir.path()).join("000000000009-00000000.journal");
    std::fs::write(beside, old_line(&audit_entry(3))).unwrap();
    // What the server wrote behind a foreign line still counts.
    journal.append(&[audit_entry(4)]).unwrap();
    assert_eq!(folder.store.journal_tail(&folder.master).await.unwrap().audit.len(), 2);
    assert_eq!(folder.ingest().await, 2);
    assert_eq!(folder.audit().await, 2);
    assert_eq!(folder.store.verify_audit(&folder.master, &[]).await.unwrap().broken, None);
}

#[tokio::test]
async fn lines_of_a_version_without_seals_count_once_and_never_again() {
    let folder = Folder::new().await;
    std::fs::create_dir(journal_dir(folder.dir.path())).unwrap();
    let old = journal_dir(folder.dir.path()).join("000000000003-00000000.journal");
    let line = |id| old_line(&JournalEntry::Usage(Box::new(usage(id))));
    std::fs::write(&old, line(1) + &line(2)).unwrap();
    // A crash in the middle of the first start changes nothing.
    Ingester::new(folder.store.clone(), &folder.master).run_once().await.unwrap();
    std::fs::write(&old, line(1) + &line(2) + &line(3)).unwrap();
    assert_eq!(folder.ingest().await, 0);
    assert_eq!(folder.usage().await, 3);

    std::fs::write(&old, line(1) + &line(2) + &line(3) + &line(4)).unwrap();
    assert_eq!(folder.ingest().await, 1);
    assert_eq!(folder.usage().await, 3);
    // Nor once the note in the database is gone: the file says the same.
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(folder.dir.path().join("sluice.db"));
    let raw = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::raw_sql("DELETE FROM meta WHERE name <> 'master_key_check'").execute(&raw).await.unwrap();
    std::fs::write(&old, line(1) + &line(2) + &line(3) + &line(4) + &line(5)).unwrap();
    assert_eq!(folder.ingest().await, 1);
    assert_eq!(folder.usage().await, 3);
}

#[tokio::test]
async fn repeated_and_moved_lines_are_noticed() {
    let folder = Folder::sealed().await;
    let journal = folder.journal();
    // Sums have no identity: a repeated one would count again.
    for _ in 0..3 {
        journal.append(&[JournalEntry::Sum(sum(1))]).unwrap();
    }
    let path = folder.segments().remove(0);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (first, second, third) = (lines[0], lines[1], lines[2]);
    std::fs::write(&path, [first, first, third, second].concat()).unwrap();
    // The same lines in a segment of another name.
    let other = journal_dir(folder.dir.path()).join("000000000009-00000000.journal");
    std::fs::write(other, &text).unwrap();
    assert_eq!(folder.ingest().await, 1 + 1 + 3);
    assert_eq!(folder.requests().await, 2, "the first and the third");
}

#[cfg(unix)]
#[tokio::test]
async fn a_removed_journal_is_written_again_exactly_once() {
    let folder = Folder::sealed().await;
    let journal = Arc::new(folder.journal());
    let mut ingester = Ingester::new(folder.store.clone(), &folder.master);
    ingester.follow(journal.clone());
    let write = |ids: std::ops::Range<u64>| {
        for id in ids {
            journal.append(&[JournalEntry::Sum(sum(1))]).unwrap();
            journal.append(&[JournalEntry::Usage(Box::new(usage(id)))]).unwrap();
        }
    };
    write(0..10);
    ingester.run_to_end().await.unwrap();
    write(10..20);
    std::fs::remove_dir_all(journal_dir(folder.dir.path())).unwrap();
    write(20..30);
    ingester.run_to_end().await.unwrap();
    write(30..40);
    ingester.run_to_end().await.unwrap();
    assert_eq!((folder.usage().await, folder.requests().await), (40, 80));
    assert!(journal.healthy());
}

#[cfg(unix)]
#[tokio::test]
async fn a_database_or_folder_that_was_replaced_takes_no_more_records() {
    for replaced in ["sluice.db", "."] {
        let folder = Folder::sealed().await;
        let journal = folder.journal();
        journal.append(&[audit_entry(1)]).unwrap();
        let mut ingester = Ingester::new(folder.store.clone(), &folder.master);
        let (from, to) =
            (folder.dir.path().join(replaced), folder.dir.path().with_extension("old"));
        let from = if replaced == "." { folder.dir.path().to_owned() } else { from };
        std::fs::rename(&from, &to).unwrap();
        for _ in 0..2 {
            let error = ingester.run_once().await.unwrap_err();
            assert!(matches!(error, StorageError::Displaced { .. }), "{error}");
        }
        // The journal still has it.
        std::fs::rename(&to, &from).unwrap();
        ingester.run_to_end().await.unwrap();
        assert_eq!(folder.audit().await, 1);
    }
}
