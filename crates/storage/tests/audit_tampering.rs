//! Whatever somebody with access to the database changes in the trail, `verify_audit` says where.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::path::PathBuf;

use common::{Place, audit, places};
use sluice_core::filtering::FilterRecord;
use sluice_storage::{Ingester, Journal, JournalEntry, MasterKey, Store, Tampering};

struct Trail {
    place: Place,
    store: Store,
    master: MasterKey,
}

impl Trail {
    async fn of(place: Place, entries: u64) -> Self {
        let (store, master) = place.open().await;
        let trail = Self { place, store, master };
        trail.add(0..entries).await;
        trail
    }

    async fn add(&self, ids: std::ops::Range<u64>) {
        let journal = Journal::open(self.store.data_dir(), &self.master).unwrap();
        for id in ids {
            journal.append(&[JournalEntry::Audit(Box::new(audit(id)))]).unwrap();
        }
        Ingester::new(self.store.clone(), &self.master).run_to_end().await.unwrap();
    }

    /// Runs SQL as somebody who knows how to get around the triggers.
    async fn tamper(&self, sql: &str) {
        let sqlite = format!(
            "DROP TRIGGER IF EXISTS audit_entries_are_never_changed; \
             DROP TRIGGER IF EXISTS audit_entries_are_never_deleted; {sql}"
        );
        let postgres = format!("ALTER TABLE audit_entries DISABLE TRIGGER USER; {sql}");
        self.place.run(&sqlite, &postgres).await.unwrap();
    }

    async fn broken(&self) -> Option<(u64, Tampering)> {
        let verification = self.store.verify_audit(&self.master, &[]).await.unwrap();
        verification.broken.map(|link| (link.seq, link.kind))
    }

    async fn broken_at(&self) -> Option<u64> {
        self.broken().await.map(|(seq, _)| seq)
    }

    fn seal_file(&self) -> PathBuf {
        self.store.data_dir().join("audit.seal")
    }
}

#[tokio::test]
async fn an_untouched_trail_holds() {
    for place in places() {
        assert_eq!(Trail::of(place.another(), 0).await.broken_at().await, None);
        let trail = Trail::of(place, 1200).await;
        trail.add(1200..1210).await;
        assert_eq!(trail.broken_at().await, None);
    }
}

#[tokio::test]
async fn the_database_refuses_plain_changes() {
    for place in places() {
        let trail = Trail::of(place, 3).await;
        for sql in ["UPDATE audit_entries SET entry = '{}'", "DELETE FROM audit_entries"] {
            let error = trail.place.run_same(sql).await.unwrap_err();
            assert!(error.contains("append-only"), "{error}");
        }
        if let Some(server) = trail.place.server() {
            let error = server.run("TRUNCATE audit_entries").unwrap_err();
            assert!(error.contains("append-only"), "{error}");
        }
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
            4,
        ),
        ("DELETE FROM audit_entries; DELETE FROM audit_head", 1),
        (
            "UPDATE audit_entries SET seq = 99 WHERE seq = 3; UPDATE audit_entries SET seq = 3 WHERE seq = 4; UPDATE audit_entries SET seq = 4 WHERE seq = 99",
            3,
        ),
    ];
    let tried = places().flat_map(|place| cases.map(|case| (place.another(), case)));
    for (place, (sql, seq)) in tried {
        let trail = Trail::of(place, 5).await;
        trail.tamper(sql).await;
        assert_eq!(trail.broken_at().await, Some(seq), "{sql}");
        // New entries do not heal it.
        trail.add(5..7).await;
        let broken = trail.broken_at().await;
        assert!(broken.is_some_and(|broken| broken <= 6), "{broken:?} after {sql}");
    }
}

#[tokio::test]
async fn what_was_done_is_named() {
    let swap = "UPDATE audit_entries SET seq = 99 WHERE seq = 3; \
                UPDATE audit_entries SET seq = 3 WHERE seq = 4; \
                UPDATE audit_entries SET seq = 4 WHERE seq = 99";
    let cases = [
        ("DELETE FROM audit_entries; DELETE FROM audit_head", 1, Tampering::Deleted),
        ("DELETE FROM audit_entries WHERE seq = 3", 3, Tampering::Deleted),
        ("DELETE FROM audit_entries WHERE seq > 3", 4, Tampering::Cut),
        ("UPDATE audit_entries SET entry = '{}' WHERE seq = 3", 3, Tampering::Changed),
        (swap, 3, Tampering::Reordered),
        ("DELETE FROM audit_head", 5, Tampering::Unsealed),
    ];
    let tried = places().flat_map(|place| cases.map(|case| (place.another(), case)));
    for (place, (sql, seq, kind)) in tried {
        let trail = Trail::of(place, 5).await;
        trail.tamper(sql).await;
        assert_eq!(trail.broken().await, Some((seq, kind)), "{sql}");
    }
}

#[tokio::test]
async fn a_wiped_trail_stays_broken_once_new_entries_come() {
    for place in places() {
        let trail = Trail::of(place, 5).await;
        trail.tamper("DELETE FROM audit_entries; DELETE FROM audit_head").await;
        trail.add(5..6).await;
        assert_eq!(trail.broken().await, Some((1, Tampering::Deleted)));
        trail.add(6..7).await;
        assert_eq!(trail.broken().await, Some((1, Tampering::Deleted)));
    }
}

#[tokio::test]
async fn an_older_database_that_is_put_back_is_noticed() {
    let trail = Trail::of(Place::sqlite(), 3).await;
    let copy = trail.store.data_dir().join("copy");
    // SQLite's own backup: all of it in one file.
    trail.place.run_same(&format!("VACUUM INTO '{}'", copy.display())).await.unwrap();
    trail.add(3..5).await;
    let Trail { place, store, master } = trail;
    store.close().await;
    std::fs::remove_file(place.path().join("sluice.db-wal")).ok();
    std::fs::rename(copy, place.path().join("sluice.db")).unwrap();
    let (store, _) = place.open().await;
    let trail = Trail { place, store, master };
    // What the journal still has comes back, and must not hide it.
    assert_eq!(trail.broken().await, Some((4, Tampering::Cut)));
    trail.add(5..9).await;
    assert_eq!(trail.broken().await, Some((4, Tampering::Deleted)));
}

#[tokio::test]
async fn a_crash_between_the_database_and_the_seal_is_no_alarm() {
    for place in places() {
        let trail = Trail::of(place, 3).await;
        let before = std::fs::read(trail.seal_file()).unwrap();
        trail.add(3..5).await;
        // The process died before the file was replaced.
        std::fs::write(trail.seal_file(), before).unwrap();
        assert_eq!(trail.broken().await, None);
        trail.add(5..7).await;
        assert_eq!(trail.broken().await, None);
        // It died in the middle of replacing it.
        std::fs::write(trail.store.data_dir().join("audit.seal-new"), "5 ab").unwrap();
        trail.add(7..9).await;
        assert_eq!(trail.broken().await, None);
    }
}

#[tokio::test]
async fn a_seal_file_that_is_missing_or_forged_is_noticed_for_good() {
    let forgeries = [None, Some("0 0000 0000\n")];
    let tried = places().flat_map(|place| forgeries.map(|forge| (place.another(), forge)));
    for (place, forge) in tried {
        let trail = Trail::of(place, 3).await;
        match forge {
            None => std::fs::remove_file(trail.seal_file()).unwrap(),
            Some(text) => std::fs::write(trail.seal_file(), text).unwrap(),
        }
        assert_eq!(trail.broken().await, Some((3, Tampering::Unsealed)));
        trail.add(3..5).await;
        assert_eq!(trail.broken().await, Some((4, Tampering::Deleted)), "it goes on behind a gap");
    }
}

#[tokio::test]
async fn a_folder_without_any_trace_of_its_seal_does_not_pass_for_an_old_one() {
    for place in places() {
        let trail = Trail::of(place, 3).await;
        trail
            .tamper(
                "DELETE FROM audit_entries; DELETE FROM audit_head; \
             DELETE FROM meta WHERE name <> 'master_key_check'",
            )
            .await;
        std::fs::remove_file(trail.seal_file()).unwrap();
        let master = MasterKey::load(trail.store.data_dir()).unwrap();
        let trail = Trail { master, ..trail };
        assert_eq!(trail.broken().await, Some((0, Tampering::Unsealed)));
        trail.add(3..5).await;
        assert_eq!(trail.broken().await, Some((1, Tampering::Deleted)));
    }
}

#[tokio::test]
async fn another_master_key_cannot_seal_it() {
    for place in places() {
        let trail = Trail::of(place, 2).await;
        let elsewhere = tempfile::tempdir().unwrap();
        let other = MasterKey::load_or_create(elsewhere.path()).unwrap();
        assert!(trail.store.verify_audit(&other, &[]).await.unwrap().broken.is_some());
    }
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
