//! Whatever somebody with access to the database changes in the trail, `verify_audit` says where.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use common::audit;
use sluice_core::filtering::FilterRecord;
use sluice_storage::{Ingester, Journal, JournalEntry, MasterKey, Store};
use sqlx::SqlitePool;

struct Trail {
    _dir: tempfile::TempDir,
    store: Store,
    master: MasterKey,
    raw: SqlitePool,
}

impl Trail {
    async fn of(entries: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let master = MasterKey::load_or_create(dir.path()).unwrap();
        let options =
            sqlx::sqlite::SqliteConnectOptions::new().filename(dir.path().join("sluice.db"));
        let raw = SqlitePool::connect_with(options).await.unwrap();
        let trail = Self { _dir: dir, store, master, raw };
        trail.add(0..entries).await;
        trail
    }

    async fn add(&self, ids: std::ops::Range<u64>) {
        let journal = Journal::open(self.store.data_dir()).unwrap();
        for id in ids {
            journal.append(&[JournalEntry::Audit(Box::new(audit(id)))]).unwrap();
        }
        Ingester::new(self.store.clone(), &self.master).run_to_end().await.unwrap();
    }

    /// Runs SQL as somebody who knows how to get around the triggers.
    async fn tamper(&self, sql: &'static str) {
        for name in ["audit_entries_are_never_changed", "audit_entries_are_never_deleted"] {
            let drop = format!("DROP TRIGGER IF EXISTS {name}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(drop)).execute(&self.raw).await.unwrap();
        }
        sqlx::raw_sql(sql).execute(&self.raw).await.unwrap();
    }

    async fn broken_at(&self) -> Option<u64> {
        self.store.verify_audit(&self.master).await.unwrap().broken.map(|link| link.seq)
    }
}

#[tokio::test]
async fn an_untouched_trail_holds() {
    assert_eq!(Trail::of(0).await.broken_at().await, None);
    let trail = Trail::of(1200).await;
    trail.add(1200..1210).await;
    assert_eq!(trail.broken_at().await, None);
}

#[tokio::test]
async fn the_database_refuses_plain_changes() {
    let trail = Trail::of(3).await;
    for sql in ["UPDATE audit_entries SET entry = '{}'", "DELETE FROM audit_entries"] {
        let error = sqlx::raw_sql(sql).execute(&trail.raw).await.unwrap_err().to_string();
        assert!(error.contains("append-only"), "{error}");
    }
}

#[tokio::test]
async fn every_kind_of_tampering_is_found_where_it_is() {
    let cases = [
        ("UPDATE audit_entries SET entry = replace(entry, '192.0.2.7', '') WHERE seq = 3", 3),
        ("UPDATE audit_entries SET hash = previous WHERE seq = 3", 3),
        ("DELETE FROM audit_entries WHERE seq = 3", 3),
        ("DELETE FROM audit_entries WHERE seq = 1", 1),
        ("DELETE FROM audit_entries WHERE seq > 3", 4),
        ("DELETE FROM audit_entries", 1),
        ("DELETE FROM audit_head", 5),
        ("UPDATE audit_head SET seal = 'forged'", 5),
        (
            "DELETE FROM audit_entries WHERE seq > 3; UPDATE audit_head SET seq = 3, \
             hash = (SELECT hash FROM audit_entries WHERE seq = 3)",
            3,
        ),
    ];
    for (sql, seq) in cases {
        let trail = Trail::of(5).await;
        trail.tamper(sql).await;
        assert_eq!(trail.broken_at().await, Some(seq), "{sql}");
        // New entries do not heal it.
        trail.add(5..7).await;
        let broken = trail.broken_at().await;
        assert!(broken.is_some_and(|broken| broken <= 6), "{broken:?} after {sql}");
    }
}

#[tokio::test]
async fn another_master_key_cannot_seal_it() {
    let trail = Trail::of(2).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let other = MasterKey::load_or_create(elsewhere.path()).unwrap();
    assert!(trail.store.verify_audit(&other).await.unwrap().broken.is_some());
}

#[test]
fn zero_retention_leaves_who_when_and_which_model() {
    let json = serde_json::to_value(audit(1).for_zero_retention()).unwrap();
    let mut left: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    left.sort_unstable();
    let expected = [
        "account_id",
        "at",
        "audit_id",
        "key_id",
        "level",
        "model",
        "model_asked",
        "outcome",
        "provider",
        "region",
        "zero_retention",
    ];
    assert_eq!(left, expected);

    // A failure of the filter tells nothing of what was filtered.
    let mut failed = audit(1);
    failed.filter.flags = vec!["prompt_injection".to_owned(), FilterRecord::FAILED.to_owned()];
    failed.filter.redactions = [("email".to_owned(), 1)].into();
    let left = failed.for_zero_retention().filter;
    assert_eq!(left.flags, [FilterRecord::FAILED]);
    assert!(left.redactions.is_empty());
}
