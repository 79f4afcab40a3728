//! What is administered stands in the audit trail beside requests: written by others than the
//! ingester, and sealed like everything else.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use common::{NOW, account, audit, key, places, put};
use sluice_core::organisation::{Actor, Role};
use sluice_storage::{
    AuditFilter, Change, DepartmentRecord, Doing, Ingester, Journal, JournalEntry, Life, MasterKey,
    PersonRecord, Record, StorageError, Store, Tampering, TeamRecord, TrailEntry,
};
use sqlx::SqlitePool;

struct House {
    dir: tempfile::TempDir,
    store: Store,
    master: MasterKey,
    journal: Journal,
    ingester: Ingester,
}

impl House {
    /// A server that has started.
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let master = MasterKey::load_or_create(dir.path()).unwrap();
        let mut ingester = Ingester::new(store.clone(), &master);
        ingester.run_to_end().await.unwrap();
        let journal = Journal::open(dir.path(), &master).unwrap();
        Self { dir, store, master, journal, ingester }
    }

    async fn administer(&self, id: &str) {
        put(&self.store, &self.master, None, account(id)).await.unwrap();
    }

    async fn request(&mut self, id: u64) {
        self.journal.append(&[JournalEntry::Audit(Box::new(audit(id)))]).unwrap();
        self.ingester.run_once().await.unwrap();
    }

    async fn broken(&self) -> Option<(u64, Tampering)> {
        let verification = self.store.verify_audit(&self.master, &[]).await.unwrap();
        verification.broken.map(|link| (link.seq, link.kind))
    }

    fn seal(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("audit.seal")).unwrap()
    }

    fn sealed(&self) -> u64 {
        self.seal().split(' ').next().unwrap().parse().unwrap()
    }

    async fn tamper(&self, sql: &'static str) {
        let file = self.dir.path().join("sluice.db");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
        let raw = SqlitePool::connect_with(options).await.unwrap();
        for name in ["audit_entries_are_never_changed", "audit_entries_are_never_deleted"] {
            let drop = format!("DROP TRIGGER IF EXISTS {name}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(drop)).execute(&raw).await.unwrap();
        }
        sqlx::raw_sql(sql).execute(&raw).await.unwrap();
    }
}

#[tokio::test]
async fn requests_and_administration_share_one_chain() {
    let mut house = House::new().await;
    house.administer("a1").await;
    house.request(1).await;
    house.administer("a2").await;
    house.administer("a3").await;
    house.request(2).await;
    assert_eq!(house.broken().await, None);
    assert_eq!(house.sealed(), 5, "whoever writes, seals");
    let all = house.store.audit(&AuditFilter::default()).await.unwrap();
    let administered: Vec<u64> = all
        .iter()
        .filter(|it| matches!(it.entry, TrailEntry::Administration(_)))
        .map(|it| it.seq)
        .collect();
    assert_eq!(administered, [4, 3, 1]);
    let TrailEntry::Administration(entry) = &all[4].entry else { panic!("{all:?}") };
    assert_eq!((&*entry.subject, &entry.before), ("account:a1", &None));
    assert_eq!(entry.after["tokens_per_day"], 5);
}

/// Before the first start nothing is sealed outside the database, and afterwards all of it is.
#[tokio::test]
async fn what_was_administered_before_the_first_start_is_sealed_by_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let master = MasterKey::load_or_create(dir.path()).unwrap();
    put(&store, &master, None, account("a1")).await.unwrap();
    assert!(!dir.path().join("audit.seal").exists());
    assert_eq!(store.verify_audit(&master, &[]).await.unwrap().broken, None);
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
    let sealed = std::fs::read_to_string(dir.path().join("audit.seal")).unwrap();
    assert!(sealed.starts_with("1 "), "{sealed}");
    assert_eq!(store.verify_audit(&master, &[]).await.unwrap().broken, None);
}

#[tokio::test]
async fn a_refused_change_leaves_no_entry() {
    let house = House::new().await;
    house.administer("a1").await;
    let before = house.seal();
    put(&house.store, &house.master, None, account("a1")).await.unwrap_err();
    let stale = Some(account("a9").into());
    put(&house.store, &house.master, stale, account("a9")).await.unwrap_err();
    assert_eq!((house.seal(), house.broken().await), (before, None));
}

/// Killed between the transaction and the file: the file lies behind.
#[tokio::test]
async fn a_crash_before_the_seal_is_no_alarm() {
    let mut house = House::new().await;
    house.request(1).await;
    let before = house.seal();
    house.administer("a1").await;
    house.administer("a2").await;
    std::fs::write(house.dir.path().join("audit.seal"), &before).unwrap();
    assert_eq!(house.broken().await, None);
    house.request(2).await;
    assert_eq!((house.broken().await, house.sealed()), (None, 4));
    std::fs::write(house.dir.path().join("audit.seal"), &before).unwrap();
    house.administer("a3").await;
    assert_eq!((house.broken().await, house.sealed()), (None, 5));
}

/// The ingester remembers the end that it wrote; what was sealed after it counts as well.
#[tokio::test]
async fn what_was_administered_cannot_be_cut_off_behind_a_running_ingester() {
    let mut house = House::new().await;
    house.request(1).await;
    house.tamper("CREATE TABLE kept AS SELECT * FROM audit_head").await;
    house.administer("a1").await;
    let cut = "DELETE FROM audit_entries WHERE seq = 2; DELETE FROM audit_head; \
               INSERT INTO audit_head SELECT * FROM kept";
    house.tamper(cut).await;
    assert_eq!(house.broken().await, Some((2, Tampering::Cut)));
    house.request(2).await;
    assert_eq!(house.broken().await, Some((2, Tampering::Deleted)), "nothing heals it");
    house.administer("a2").await;
    assert_eq!(house.broken().await, Some((2, Tampering::Deleted)));
}

#[tokio::test]
async fn tampering_with_what_was_administered_is_found() {
    let cases = [
        ("UPDATE audit_entries SET entry = replace(entry, 'ada', 'eve') WHERE seq = 2", 2),
        ("DELETE FROM audit_entries WHERE seq = 2", 2),
        ("DELETE FROM audit_entries WHERE seq = 4", 4),
        ("DELETE FROM audit_entries WHERE seq > 1; DELETE FROM audit_head", 2),
    ];
    for (sql, seq) in cases {
        let mut house = House::new().await;
        house.request(1).await;
        house.administer("a1").await;
        house.request(2).await;
        house.administer("a2").await;
        house.tamper(sql).await;
        assert_eq!(house.broken().await.map(|(seq, _)| seq), Some(seq), "{sql}");
        house.administer("a3").await;
        assert!(house.broken().await.is_some(), "nothing heals it: {sql}");
    }
}

/// Many at once, as commands beside a server: every entry has its place, and the file never goes
/// back.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_at_once_leave_one_chain_and_the_last_seal() {
    let mut house = House::new().await;
    let (store, master) = (house.store.clone(), house.master.clone());
    let administering = tokio::spawn(async move {
        let changes = (0..20).map(|id| {
            let (store, master) = (store.clone(), master.clone());
            tokio::spawn(async move {
                put(&store, &master, None, account(&format!("a{id}"))).await.unwrap();
            })
        });
        for change in changes.collect::<Vec<_>>() {
            change.await.unwrap();
        }
    });
    let mut last = 0;
    for id in 0..20 {
        house.request(id).await;
        let sealed = house.sealed();
        assert!(sealed >= last, "{sealed} after {last}");
        last = sealed;
    }
    administering.await.unwrap();
    assert_eq!((house.broken().await, house.sealed()), (None, 40));
}

/// New things go into few statements, whatever follows what.
#[tokio::test]
async fn an_organisation_is_written_in_one_go_or_not_at_all() {
    const PEOPLE: usize = 150;
    for place in places() {
        let (store, master) = place.open().await;
        put(&store, &master, None, account("a1")).await.unwrap();
        let life = || Life::from(NOW);
        let new = |new: Record| Change { verb: "test", old: None, new };
        let person = |number: usize| PersonRecord {
            id: format!("p{number}").into(),
            account_id: "a1".into(),
            name: Some(format!("person {number}")),
            email: format!("{number}@example.org"),
            role: Role::Developer,
            operator: false,
            teams: vec![format!("t{}", number % 2).into()],
            life: life(),
        };
        let mut changes = vec![new(Record::Department(DepartmentRecord {
            id: "d1".into(),
            account_id: "a1".into(),
            name: "research".to_owned(),
            life: life(),
        }))];
        for team in ["t0", "t1"] {
            changes.push(new(Record::Team(TeamRecord {
                id: team.into(),
                account_id: "a1".into(),
                department_id: "d1".into(),
                name: team.to_owned(),
                life: life(),
            })));
        }
        changes.extend((0..PEOPLE).map(|number| new(Record::Person(person(number)))));
        changes.push(new(Record::Key(key("k1", "a1", &master))));
        changes.push(new(Record::Key(key("k2", "a1", &master))));
        let renamed = sluice_storage::AccountRecord { name: "renamed".to_owned(), ..account("a1") };
        changes.push(Change {
            verb: "test",
            old: Some(account("a1").into()),
            new: Record::Account(renamed),
        });
        let actor = Actor::CommandLine { user: "ada".to_owned() };
        let doing = Doing { at: NOW, actor, surface: "command line", judged_at: None };

        let mut twice = changes.clone();
        twice.push(new(Record::Person(PersonRecord { id: "another".into(), ..person(7) })));
        let error = store.administer(&master, &doing, &twice, &[]).await.unwrap_err();
        assert!(
            matches!(error, StorageError::Exists { what } if what.contains("e-mail")),
            "{error}"
        );
        assert_eq!(store.organisation().await.unwrap().people.len(), 0);
        let mut elsewhere = changes.clone();
        let stray = PersonRecord { teams: vec!["no such team".into()], ..person(PEOPLE) };
        elsewhere.push(new(Record::Person(stray)));
        let error = store.administer(&master, &doing, &elsewhere, &[]).await.unwrap_err();
        assert!(matches!(error, StorageError::ChangedMeanwhile), "{error}");

        store.administer(&master, &doing, &changes, &[]).await.unwrap();
        let organisation = store.organisation().await.unwrap();
        assert_eq!(organisation.people.len(), PEOPLE);
        for number in 0..PEOPLE {
            let person = person(number);
            assert_eq!(organisation.people[&person.id], person);
        }
        assert_eq!(store.keys().await.unwrap().len(), 2);
        assert_eq!(store.accounts().await.unwrap()[0].name, "renamed");
        let trail = store.audit(&AuditFilter::default()).await.unwrap();
        assert_eq!(trail.len(), 1 + changes.len());

        // Who is in which team is written anew only where it changed.
        let moved = PersonRecord { teams: vec!["t1".into()], ..person(0) };
        put(&store, &master, Some(person(0).into()), moved.clone()).await.unwrap();
        let named = PersonRecord { name: Some("new".to_owned()), ..moved.clone() };
        put(&store, &master, Some(moved.into()), named.clone()).await.unwrap();
        assert_eq!(store.organisation().await.unwrap().people[&named.id], named);
    }
}
