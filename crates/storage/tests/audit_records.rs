//! What stands beside the audit trail: signed heads, checkpoints, exports and redacted content.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::convert::Infallible;

use common::{NOW, Place, audit, places};
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Actor;
use sluice_storage::{
    AnswerPart, AuditContent, AuditFilter, ContentSealer, Doing, ExportedEntry, HeadKey, Ingester,
    Journal, JournalEntry, MasterKey, Order, SignedHead, Store, Tampering, TrailFilter, Turn,
    verify_export,
};

struct Trail {
    place: Place,
    store: Store,
    master: MasterKey,
}

impl Trail {
    async fn of(place: Place, entries: u64) -> Self {
        let (store, master) = place.open().await;
        store.check_master_key(&master).await.unwrap();
        let trail = Self { place, store, master };
        for account in ["a1"] {
            let row = format!(
                "INSERT INTO accounts (id, name, tier, minimum_level, zero_retention, audit, \
                 created_at, changed) VALUES ('{account}', '{account}', 'highest', 'standard', FALSE, \
                 FALSE, 0, 1)"
            );
            trail.place.run_same(&row).await.unwrap();
        }
        trail.add(0..entries).await;
        trail
    }

    async fn add(&self, ids: std::ops::Range<u64>) {
        let lines: Vec<_> = ids.map(|id| JournalEntry::Audit(Box::new(audit(id)))).collect();
        self.append(&lines).await;
    }

    async fn append(&self, lines: &[JournalEntry]) {
        let journal = Journal::open(self.store.data_dir(), &self.master).unwrap();
        for line in lines {
            journal.append(std::slice::from_ref(line)).unwrap();
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

    async fn broken(&self, heads: &[SignedHead]) -> Option<(u64, Tampering)> {
        let found = self.store.verify_audit(&self.master, heads).await.unwrap();
        found.broken.map(|link| (link.seq, link.kind))
    }

    async fn prune(&self, before: u64) -> u64 {
        let (at, actor) = (UnixMillis(NOW.0 + 1_000_000), Actor::Sluice);
        let doing = Doing { at, actor, surface: "server", judged_at: None };
        let before = UnixMillis(NOW.0 + before);
        let account = "a1".into();
        self.store.prune_audit(&self.master, &doing, &account, before).await.unwrap()
    }

    async fn exported(&self) -> Vec<ExportedEntry> {
        let filter = AuditFilter { order: Order::OldestFirst, ..AuditFilter::default() };
        let mut lines = Vec::new();
        let keep = |line, _| {
            lines.push(line);
            Ok(())
        };
        self.store.each_audit_entry(&filter, keep).await.unwrap();
        lines
    }
}

#[tokio::test]
async fn a_head_that_was_kept_finds_a_trail_that_was_put_back_with_all_its_seals() {
    for place in places() {
        let trail = Trail::of(place, 5).await;
        let head = trail.store.sign_audit_head(&trail.master, NOW).await.unwrap().unwrap();
        assert_eq!(head.seq, 5);
        assert!(head.is_signed_by(&HeadKey::new(&trail.master).public_key()));
        let again =
            trail.store.sign_audit_head(&trail.master, UnixMillis(NOW.0 + 9)).await.unwrap();
        assert_eq!(again.as_ref(), Some(&head), "nothing was added since");
        assert_eq!(trail.broken(&[]).await, None);
        trail.add(5..7).await;
        let found =
            trail.store.verify_audit(&trail.master, std::slice::from_ref(&head)).await.unwrap();
        assert_eq!((found.broken, found.heads, found.entries), (None, 1, 7));

        // Somebody with the master key writes another trail: only what was kept elsewhere knows.
        let later = trail.store.sign_audit_head(&trail.master, NOW).await.unwrap().unwrap();
        trail.tamper("DELETE FROM audit_heads").await;
        let ahead = SignedHead { seq: 9, ..later.clone() };
        assert_eq!(trail.broken(&[ahead]).await, Some((8, Tampering::Cut)));
        let other = SignedHead { hash: head.hash.clone(), ..later };
        assert_eq!(trail.broken(&[other]).await, Some((7, Tampering::Changed)));
    }
}

#[tokio::test]
async fn a_head_says_whether_it_was_signed_here_and_like_this() {
    let trail = Trail::of(Place::sqlite(), 3).await;
    let head = trail.store.sign_audit_head(&trail.master, NOW).await.unwrap().unwrap();
    let key = HeadKey::new(&trail.master).public_key();
    let elsewhere = tempfile::tempdir().unwrap();
    let other = HeadKey::new(&MasterKey::load_or_create(elsewhere.path()).unwrap()).public_key();
    let changed = [
        SignedHead { seq: 2, ..head.clone() },
        SignedHead { hash: "0".repeat(64), ..head.clone() },
        SignedHead { at: UnixMillis(1), ..head.clone() },
        SignedHead { signature: "00".to_owned(), ..head.clone() },
        SignedHead { public_key: other.clone(), ..head.clone() },
    ];
    assert!(head.is_signed_by(&key) && !head.is_signed_by(&other));
    assert!(changed.iter().all(|it| !it.is_signed_by(&key) && !it.is_signed_by(&other)));
    trail.tamper("UPDATE audit_heads SET at = at + 1").await;
    assert_eq!(trail.broken(&[]).await, Some((1, Tampering::Unsealed)));
}

#[tokio::test]
async fn the_oldest_entries_go_behind_a_checkpoint_and_the_rest_holds() {
    for place in places() {
        let trail = Trail::of(place, 3000).await;
        assert_eq!(trail.prune(0).await, 0, "nothing is that old");
        assert_eq!(trail.prune(2500).await, 2500);
        let found = trail.store.verify_audit(&trail.master, &[]).await.unwrap();
        assert_eq!((found.broken, found.removed, found.entries), (None, 2500, 501));
        assert_eq!(found.last, 3001, "the removal has an entry of its own");
        let page = TrailFilter { until: Some(UnixMillis(NOW.0 + 2501)), ..TrailFilter::default() };
        let account = "a1".into();
        let oldest = trail.store.trail_page(&account, &page, &Turn::First, 9).await.unwrap();
        let numbers: Vec<u64> = oldest.entries.iter().map(|it| it.seq).collect();
        assert_eq!(numbers, [2501]);
        trail.add(3000..3010).await;
        assert_eq!(
            trail.prune(u64::MAX / 2).await,
            510,
            "the last one stays, and the entry after it"
        );
        assert_eq!(trail.broken(&[]).await, None);
        trail.add(3010..3011).await;
        assert_eq!(trail.broken(&[]).await, None);
    }
}

#[tokio::test]
async fn no_checkpoint_hides_what_somebody_without_the_master_key_removed() {
    let forged = "INSERT INTO audit_checkpoints SELECT seq, hash, 1, 'ab' FROM audit_entries \
                  WHERE seq = 3; DELETE FROM audit_entries WHERE seq <= 3";
    for place in places() {
        let trail = Trail::of(place.another(), 5).await;
        trail.tamper(forged).await;
        assert_eq!(trail.broken(&[]).await, Some((1, Tampering::Unsealed)));

        // A real one speaks of fewer entries than were removed.
        let trail = Trail::of(place, 5).await;
        assert_eq!(trail.prune(2).await, 2);
        trail.tamper("DELETE FROM audit_entries WHERE seq = 3").await;
        assert_eq!(trail.broken(&[]).await, Some((3, Tampering::Deleted)));
        // And nothing that was tampered with is removed.
        let doing = Doing { at: NOW, actor: Actor::Sluice, surface: "server", judged_at: None };
        let account = "a1".into();
        let before = UnixMillis(NOW.0 + 4);
        let refused = trail.store.prune_audit(&trail.master, &doing, &account, before).await;
        assert!(refused.unwrap_err().to_string().contains("entry 3"));
    }
}

#[tokio::test]
async fn a_removal_that_was_killed_goes_on() {
    for place in places() {
        let trail = Trail::of(place, 5).await;
        assert_eq!(trail.prune(3).await, 3);
        // As if the entries had not been removed yet.
        let rest = "INSERT INTO audit_entries SELECT seq - 3, audit_id || 'x', entry, previous, hash \
                    FROM audit_entries WHERE seq IN (4, 5)";
        trail.tamper(rest).await;
        assert_eq!(trail.broken(&[]).await, None, "what lies before the checkpoint is not asked");
        assert_eq!(trail.prune(0).await, 2);
    }
}

#[tokio::test]
async fn an_end_that_somebody_made_without_the_master_key_is_not_signed() {
    for place in places() {
        let trail = Trail::of(place, 5).await;
        trail.tamper("UPDATE audit_entries SET hash = previous WHERE seq = 5").await;
        let refused = trail.store.sign_audit_head(&trail.master, NOW).await.unwrap_err();
        assert!(refused.to_string().contains("does not end where it was sealed"), "{refused}");
        trail.tamper("DELETE FROM audit_entries WHERE seq = 5").await;
        assert!(trail.store.sign_audit_head(&trail.master, NOW).await.is_err(), "nor one cut off");
        assert_eq!(trail.store.latest_audit_head().await.unwrap(), None);
    }
}

#[tokio::test]
async fn an_export_is_checked_without_the_database_and_its_key() {
    for place in places() {
        let trail = Trail::of(place, 20).await;
        let head = trail.store.sign_audit_head(&trail.master, NOW).await.unwrap().unwrap();
        let lines: Vec<String> =
            trail.exported().await.iter().map(|it| serde_json::to_string(it).unwrap()).collect();
        let check = |lines: &[String]| {
            let read =
                lines.iter().map(|it| Ok::<_, Infallible>(serde_json::from_str(it).unwrap()));
            let Ok(found) = verify_export(read, std::slice::from_ref(&head));
            (found.broken.map(|link| (link.seq, link.kind)), found.entries, found.heads)
        };
        assert_eq!(check(&lines), (None, 20, 1));
        assert_eq!(check(&lines[5..]), (None, 15, 1), "a part holds by itself");
        assert_eq!(check(&lines[..15]), (Some((16, Tampering::Cut)), 15, 0));
        assert_eq!(check(&[]), (Some((1, Tampering::Cut)), 0, 0));
        let mut changed = lines.clone();
        changed[7] = changed[7].replace("192.0.2.7", "192.0.2.8");
        assert_eq!(check(&changed).0, Some((8, Tampering::Changed)));
        let mut without = lines.clone();
        without.remove(7);
        assert_eq!(check(&without).0, Some((8, Tampering::Deleted)));
    }
}

#[tokio::test]
async fn content_is_sealed_in_the_journal_and_in_the_database_and_goes_with_time() {
    const MARK: &str = "what the model saw";
    for place in places() {
        let trail = Trail::of(place, 2).await;
        let content = AuditContent {
            request: format!("{{\"messages\":\"{MARK}\"}}"),
            request_bytes: 100,
            answer: vec![AnswerPart { choice: 0, kind: "content".into(), text: MARK.repeat(9) }],
            answer_bytes: 9 * MARK.len() as u64,
        };
        assert!(content.is_cut());
        let sealer = ContentSealer::new(&trail.master);
        let line = |id: u64| {
            let (audit_id, at) = (format!("aud-{id:06}"), UnixMillis(NOW.0 + id));
            sealer.seal(&audit_id, &"a1".into(), at, &content).unwrap()
        };
        let lines = [line(0), line(1)];
        assert!(!serde_json::to_string(&lines).unwrap().contains(MARK));
        trail.append(&lines).await;
        // Once more, as after a crash.
        trail.append(&lines[..1]).await;
        for id in ["aud-000000", "aud-000001"] {
            let found = trail.store.audit_content(&trail.master, id).await.unwrap();
            assert_eq!(found.as_ref(), Some(&content));
        }
        assert_eq!(trail.store.audit_content(&trail.master, "aud-000009").await.unwrap(), None);
        for file in std::fs::read_dir(trail.store.data_dir()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&bytes).contains(MARK));
        }
        // Nobody can put one content beside another entry.
        let swap = "UPDATE audit_contents SET sealed = (SELECT sealed FROM audit_contents \
                    WHERE audit_id = 'aud-000001') WHERE audit_id = 'aud-000000'";
        trail.place.run_same(swap).await.unwrap();
        let error = trail.store.audit_content(&trail.master, "aud-000000").await.unwrap_err();
        assert!(!error.to_string().contains(MARK));
        assert_eq!(trail.store.forget_audit_contents(UnixMillis(NOW.0 + 1)).await.unwrap(), 1);
        assert!(trail.store.audit_content(&trail.master, "aud-000001").await.unwrap().is_some());
        assert_eq!(trail.store.audit(&AuditFilter::default()).await.unwrap().len(), 2);
    }
}
