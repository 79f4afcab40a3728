//! What every database behind a [`Store`] must do. A further backend calls [`suite`] too.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use common::{NOW, Place, account, audit, key, put, secret, sum, usage};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{DepartmentId, KeyId, PersonId};
use sluice_core::key::{AccountTier, KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::{Holder, KeyScope, Role, Subject};
use sluice_core::outcome::Outcome;
use sluice_core::region::Region;
use sluice_core::usage::Usage;
use sluice_storage::{
    AccountRecord, AuditFilter, DAY_SECONDS, DepartmentRecord, Ingester, Journal, JournalEntry,
    KeyRecord, Life, MasterKey, Order, Organisation, PersonRecord, QUARTER_SECONDS, SecretRecord,
    ServiceRecord, StorageError, Store, SubjectKind, SubjectUse, Suspension, TeamRecord,
    TrailEntry, TrailFilter, TrailKind, UsageFilter, UsageRecord, UsageSum, Used, WindowBegan,
    window_start,
};

#[tokio::test]
async fn sqlite_conforms() {
    let place = Place::sqlite();
    suite(&place.open().await.0).await;
}

#[tokio::test]
async fn postgres_conforms() {
    let Some(place) = Place::postgres() else { return };
    suite(&place.open().await.0).await;
}

/// Takes an empty store through everything that it can do.
async fn suite(store: &Store) {
    let master = MasterKey::load_or_create(store.data_dir()).unwrap();
    accounts_keep_everything_and_names_are_unique(store, &master).await;
    keys_keep_everything(store, &master).await;
    keys_are_changed_revoked_and_given_secrets(store, &master).await;
    the_organisation_is_kept(store, &master).await;
    the_journal_is_ingested(store, &master).await;
    usage_is_filtered_and_ordered(store).await;
    sums_and_windows_add_up(store).await;
    the_audit_trail_holds(store, &master).await;
    usage_is_pruned_in_slices(store).await;
    the_last_use_of_a_key_never_goes_back(store, &master).await;
    what_windows_hold_is_known_by_subject(store, &master).await;
    quarters_are_pruned_and_sums_stay(store).await;
}

async fn accounts_keep_everything_and_names_are_unique(store: &Store, master: &MasterKey) {
    let before = store.change_version().await.unwrap();
    put(store, master, None, account("a1")).await.unwrap();
    put(store, master, None, account("a2")).await.unwrap();
    assert_eq!(store.account(&"a1".into()).await.unwrap(), Some(account("a1")));
    assert_eq!(store.account(&"a9".into()).await.unwrap(), None);
    assert_eq!(store.accounts().await.unwrap(), [account("a1"), account("a2")]);
    assert_eq!(store.change_version().await.unwrap(), before + 2);

    let mut same_name = account("a3");
    same_name.name = account("a1").name;
    let error = put(store, master, None, same_name).await.unwrap_err();
    assert!(matches!(error, StorageError::Exists { .. }), "{error}");
    assert_eq!(store.change_version().await.unwrap(), before + 2, "nothing changed");

    let old = account("a2");
    let new = AccountRecord {
        name: "another name".to_owned(),
        tier: AccountTier::Lowest,
        requests_per_hour: Some(1),
        tokens_per_day: None,
        concurrent_requests: None,
        region: None,
        minimum_level: SecurityLevel::Maximum,
        zero_retention: true,
        audit: false,
        suspended: Some(Suspension { at: NOW, reason: "unpaid".to_owned() }),
        ..old.clone()
    };
    put(store, master, Some(old.clone().into()), new.clone()).await.unwrap();
    assert_eq!(store.account(&"a2".into()).await.unwrap(), Some(new.clone()));
    let stale = put(store, master, Some(old.clone().into()), old).await;
    assert!(matches!(stale, Err(StorageError::ChangedMeanwhile)), "it is not as it was");
    let taken = AccountRecord { name: account("a1").name, ..new.clone() };
    let error = put(store, master, Some(new.into()), taken).await.unwrap_err();
    assert!(matches!(error, StorageError::Exists { .. }), "{error}");
    assert_eq!(store.change_version().await.unwrap(), before + 3);
}

async fn keys_keep_everything(store: &Store, master: &MasterKey) {
    let mut plain = key("k2", "a1", master);
    plain.models = None;
    plain.regions = None;
    put(store, master, None, key("k1", "a1", master)).await.unwrap();
    put(store, master, None, plain.clone()).await.unwrap();
    assert_eq!(*store.keys().await.unwrap(), [key("k1", "a1", master), plain.clone()]);
    assert_eq!(store.key(&"k1".into()).await.unwrap(), Some(key("k1", "a1", master)));
    assert_eq!(store.key(&"k9".into()).await.unwrap(), None);
    let hash = |text: &str| master.key_hasher().hash(text);
    let found = store.key_of_hash(&hash("k1")).await.unwrap();
    assert_eq!(found, Some(key("k1", "a1", master)));
    assert_eq!(store.key_of_hash(&hash("k9")).await.unwrap(), None);
    assert_eq!(store.keys_of_prefix("svc_ent_Ab1").await.unwrap().len(), 2);
    assert_eq!(store.keys_of_prefix("svc_entXAb1").await.unwrap(), []);
    assert_eq!(store.keys_named("key k2").await.unwrap(), [plain]);
    put(store, master, None, key("k1", "a1", master)).await.unwrap_err();
    put(store, master, None, key("k8", "no such account", master)).await.unwrap_err();
}

async fn keys_are_changed_revoked_and_given_secrets(store: &Store, master: &MasterKey) {
    let id = "k1".into();
    let version = store.change_version().await.unwrap();
    let old = store.key(&id).await.unwrap().unwrap();
    let new = KeyRecord {
        account_id: "a2".into(),
        name: "another name".to_owned(),
        class: KeyClass::Development,
        scopes: KeyScope::ALL.to_vec(),
        models: None,
        regions: None,
        region: Some(Region::EuWest),
        minimum_level: SecurityLevel::High,
        zero_retention: false,
        audit: true,
        max_tokens: MaxTokensBound::Documented,
        requests_per_hour: None,
        tokens_per_day: Some(9),
        owner: None,
        expires_at: Some(UnixMillis(NOW.0 + 5)),
        suspended: Some(Suspension { at: NOW, reason: "leaked?".to_owned() }),
        ..old.clone()
    };
    put(store, master, Some(old.clone().into()), new.clone()).await.unwrap();
    assert_eq!(store.key(&id).await.unwrap(), Some(new.clone()));
    assert!(!new.is_valid_at(NOW));
    let stale = put(store, master, Some(old.clone().into()), old.clone()).await;
    assert!(matches!(stale, Err(StorageError::ChangedMeanwhile)), "it is not as it was");
    put(store, master, Some(new.into()), old.clone()).await.unwrap();

    let mut rotated = old.clone();
    rotated.secrets[0].expires_at = Some(UnixMillis(NOW.0 + 9));
    let later = SecretRecord { created_at: UnixMillis(NOW.0 + 1), ..secret("k1 again", master) };
    rotated.secrets.push(later);
    put(store, master, Some(old.into()), rotated.clone()).await.unwrap();
    for text in ["k1", "k1 again"] {
        let found = store.key_of_hash(&master.key_hasher().hash(text)).await.unwrap();
        assert_eq!(found.as_ref(), Some(&rotated), "{text}");
    }
    let changed = store.known(Some(version)).await.unwrap();
    assert_eq!(changed.keys, [rotated.clone()]);
    assert_eq!(changed.version, version + 3);
    assert!(changed.organisation.accounts.is_empty(), "they were not touched");

    let revoked = KeyRecord { revoked_at: Some(NOW), ..rotated.clone() };
    put(store, master, Some(rotated.into()), revoked.clone()).await.unwrap();
    assert!(!store.key(&id).await.unwrap().unwrap().is_valid_at(NOW));
    put(store, master, None, key("k3", "a1", master)).await.unwrap();
}

/// Everything that a key can belong to, and what must not be left behind.
async fn the_organisation_is_kept(store: &Store, master: &MasterKey) {
    let life = Life::from(NOW);
    let department = |id: &str| DepartmentRecord {
        id: id.into(),
        account_id: "a1".into(),
        name: "engineering".to_owned(),
        life: life.clone(),
    };
    let team = TeamRecord {
        id: "t1".into(),
        account_id: "a1".into(),
        department_id: "d1".into(),
        name: "compilers".to_owned(),
        life: life.clone(),
    };
    let person = |id: &str, role: Role| PersonRecord {
        id: id.into(),
        account_id: "a1".into(),
        email: format!("{id}@example.org"),
        name: Some("Ada".to_owned()),
        role,
        operator: true,
        teams: vec!["t1".into()],
        life: Life { managed_by: Some("file".to_owned()), ..life.clone() },
    };
    let service = ServiceRecord {
        id: "s1".into(),
        account_id: "a1".into(),
        team_id: Some("t1".into()),
        name: "ci".to_owned(),
        life: life.clone(),
    };
    let meanwhile = |done: Result<(), StorageError>| {
        assert!(matches!(done, Err(StorageError::ChangedMeanwhile)), "{done:?}");
    };
    meanwhile(put(store, master, None, TeamRecord { id: "t0".into(), ..team.clone() }).await);
    put(store, master, None, department("d1")).await.unwrap();
    let error = put(store, master, None, department("d2")).await.unwrap_err();
    assert!(error.to_string().contains("a department of this name"), "{error}");
    put(store, master, None, team.clone()).await.unwrap();
    put(store, master, None, person("p1", Role::Owner)).await.unwrap();
    put(store, master, None, service.clone()).await.unwrap();

    let version = store.change_version().await.unwrap();
    let found = store.organisation().await.unwrap();
    assert_eq!(found.departments[&DepartmentId::from("d1")], department("d1"));
    assert_eq!(found.teams[&team.id], team);
    assert_eq!(found.people[&PersonId::from("p1")], person("p1", Role::Owner));
    assert_eq!(found.services[&service.id], service);
    assert_eq!(store.known(Some(version)).await.unwrap().organisation, Organisation::default());

    let mut held = key("k4", "a1", master);
    held.team_id = Some("t1".into());
    held.holder = Some(Holder::Person("p1".into()));
    put(store, master, None, held.clone()).await.unwrap();
    let around = store.organisation_of(&held).await.unwrap();
    let attribution = around.attribution(&held);
    assert_eq!(attribution.department, Some("d1".into()));
    assert_eq!(attribution, found.attribution(&held));
    assert_eq!(store.keys_of_team(&"t1".into()).await.unwrap(), [held.clone()]);
    let holder = Holder::Person("p1".into());
    assert_eq!(store.keys_of_holder(&holder).await.unwrap(), [held.clone()]);

    let removed = |life: &Life| Life { removed_at: Some(NOW), ..life.clone() };
    // A department with a team, the last owner, and a holder of another account stay out.
    let gone = DepartmentRecord { life: removed(&life), ..department("d1") };
    meanwhile(put(store, master, Some(department("d1").into()), gone).await);
    let owner = person("p1", Role::Owner);
    meanwhile(put(store, master, Some(owner.clone().into()), person("p1", Role::Admin)).await);
    let elsewhere = KeyRecord { account_id: "a2".into(), id: "k5".into(), ..held.clone() };
    let elsewhere = KeyRecord { secrets: vec![secret("k5", master)], ..elsewhere };
    meanwhile(put(store, master, None, elsewhere).await);
    put(store, master, None, person("p2", Role::Owner)).await.unwrap();
    let gone = PersonRecord { life: removed(&owner.life), ..owner.clone() };
    put(store, master, Some(owner.into()), gone).await.unwrap();
    let around = store.organisation_of(&held).await.unwrap();
    assert!(around.suspension(&held).unwrap().contains("person"), "its holder was removed");
    assert_eq!(around.attribution(&held), attribution, "whose it was stays");

    // What was read before and kept is what is read afresh, with all that has changed meanwhile.
    let afresh = store.known(None).await.unwrap();
    assert_eq!(*store.organisation().await.unwrap(), afresh.organisation);
    assert_eq!(*store.keys().await.unwrap(), afresh.keys);
    put(store, master, None, PersonRecord { id: "p3".into(), ..person("p1", Role::Developer) })
        .await
        .unwrap();
}

async fn the_journal_is_ingested(store: &Store, master: &MasterKey) {
    let journal = Journal::open(store.data_dir(), master).unwrap();
    let mut ingester = Ingester::new(store.clone(), master);
    assert_eq!(ingester.run_to_end().await.unwrap(), 0);
    for id in 0..300 {
        let mut entries = vec![JournalEntry::Usage(Box::new(usage(id)))];
        if id < 100 {
            entries.push(JournalEntry::Audit(Box::new(audit(id))));
        }
        journal.append(&entries).unwrap();
    }
    // Written twice, counted once.
    journal.append(&[JournalEntry::Usage(Box::new(usage(7)))]).unwrap();
    journal.append(&[JournalEntry::Audit(Box::new(audit(7)))]).unwrap();
    journal.append(&[JournalEntry::Sum(sum(3))]).unwrap();

    let all = UsageFilter::default();
    assert_eq!(store.usage(&all).await.unwrap(), []);
    assert_eq!(
        store.usage_with_tail(&all, master).await.unwrap().len(),
        300,
        "read from the journal"
    );
    assert_eq!(store.journal_tail(master).await.unwrap().audit.len(), 101);
    let latest = [("k1".into(), UnixMillis(NOW.0 + 297)), ("k2".into(), UnixMillis(NOW.0 + 299))];
    let uses = store.last_uses(master).await.unwrap();
    assert_eq!(uses, latest.clone().into(), "read from the journal");
    ingester.run_once().await.unwrap();
    assert_eq!(store.usage_with_tail(&all, master).await.unwrap().len(), 300, "half and half");
    ingester.run_to_end().await.unwrap();
    assert_eq!(store.usage(&all).await.unwrap().len(), 300);
    assert_eq!(store.usage_with_tail(&all, master).await.unwrap().len(), 300);
    assert!(store.journal_tail(master).await.unwrap().usage.is_empty());
    assert_eq!(store.last_uses(master).await.unwrap(), latest.into());
    assert_eq!(ingester.corrupt_lines(), 0);
}

async fn usage_is_filtered_and_ordered(store: &Store) {
    assert_eq!(store.usage_of(&"req-000007".into()).await.unwrap(), Some(usage(7)));
    let limited = |order| UsageFilter { limit: Some(2), order, ..UsageFilter::default() };
    let newest = store.usage(&limited(Order::NewestFirst)).await.unwrap();
    assert_eq!(newest, [usage(299), usage(298)]);
    let oldest = store.usage(&limited(Order::OldestFirst)).await.unwrap();
    assert_eq!(oldest, [usage(0), usage(1)]);

    let count = async |filter: UsageFilter| store.usage(&filter).await.unwrap().len();
    let any = UsageFilter::default;
    assert_eq!(count(UsageFilter { key_id: Some("k1".into()), ..any() }).await, 100);
    assert_eq!(count(UsageFilter { account_id: Some("a1".into()), ..any() }).await, 300);
    assert_eq!(count(UsageFilter { account_id: Some("a2".into()), ..any() }).await, 0);
    assert_eq!(count(UsageFilter { model: Some("svc/auto".into()), ..any() }).await, 300);
    assert_eq!(count(UsageFilter { model: Some("mock-fast".into()), ..any() }).await, 300);
    assert_eq!(count(UsageFilter { model: Some("' OR 1=1 --".into()), ..any() }).await, 0);
    assert_eq!(count(UsageFilter { outcome: Some(Outcome::Cancelled), ..any() }).await, 75);
    let (since, until) = (Some(UnixMillis(NOW.0 + 10)), Some(UnixMillis(NOW.0 + 20)));
    assert_eq!(count(UsageFilter { since, until, ..any() }).await, 10);
}

async fn sums_and_windows_add_up(store: &Store) {
    let sums = store.usage_sums(NOW, UnixMillis(NOW.0 + 1)).await.unwrap();
    assert_eq!(sums.len(), 2, "a day and a key each");
    let day = window_start(NOW, DAY_SECONDS);
    assert!(sums.iter().all(|sum| sum.day == day && sum.account_id.as_str() == "a1"));
    let k1 = &sums[0];
    assert_eq!((k1.requests, k1.unpriced_requests), (100 + 3, 20));
    assert_eq!(k1.usage.output, 100 * 5 + 4);
    let priced = (0..300).filter(|id| id % 3 == 0 && id % 5 != 0);
    assert_eq!(k1.cost, PicoUsd(priced.map(|id| 1_000 + id).sum::<u64>() + 9));

    let quarter = window_start(NOW, QUARTER_SECONDS);
    for start in [0, day, quarter] {
        let of = async |kind| {
            let mut used = store.used_since(kind, start, None).await.unwrap();
            used.retain(|it| ["k1", "a1"].contains(&it.subject.id()));
            assert_eq!(used.len(), 1);
            (used[0].used.requests, used[0].used.tokens)
        };
        assert_eq!(of(SubjectKind::Key).await, (103, 100 * 21 + 4), "since {start}");
        assert_eq!(of(SubjectKind::Account).await, (303, 300 * 21 + 4), "since {start}");
    }
    assert_eq!(store.used_since(SubjectKind::Key, quarter + 900, None).await.unwrap(), []);
}

async fn the_audit_trail_holds(store: &Store, master: &MasterKey) {
    let of_kind = |kind| AuditFilter {
        entries: TrailFilter { kind: Some(kind), ..TrailFilter::default() },
        ..AuditFilter::default()
    };
    let requests = store.audit(&of_kind(TrailKind::Request)).await.unwrap();
    assert_eq!(requests.len(), 100);
    assert_eq!(requests[0].entry.request(), Some(&audit(99)));
    let administered = store.audit(&of_kind(TrailKind::Administration)).await.unwrap();
    assert!(administered.iter().all(|it| matches!(it.entry, TrailEntry::Administration(_))));
    let everything = administered.len() + requests.len();
    let filter = AuditFilter { limit: Some(1), ..AuditFilter::default() };
    let newest = store.audit(&filter).await.unwrap();
    assert_eq!(newest[0].seq, everything as u64);
    let filter = AuditFilter { audit_id: Some("aud-000007".to_owned()), ..AuditFilter::default() };
    assert_eq!(store.audit(&filter).await.unwrap()[0].entry.request(), Some(&audit(7)));
    let verification = store.verify_audit(master, &[]).await.unwrap();
    assert_eq!((verification.entries, verification.broken), (everything as u64, None));
    assert_eq!(verification.head, newest[0].hash);
}

async fn usage_is_pruned_in_slices(store: &Store) {
    let before = UnixMillis(NOW.0 + 100);
    assert_eq!(store.prune_usage(before, 60).await.unwrap(), 60);
    assert_eq!(store.usage_of(&usage(59).request_id).await.unwrap(), None, "the oldest first");
    assert!(store.usage_of(&usage(60).request_id).await.unwrap().is_some());
    assert_eq!(store.prune_usage(before, 60).await.unwrap(), 40);
    assert_eq!(store.prune_usage(before, 60).await.unwrap(), 0);
    let sums = store.usage_sums(NOW, UnixMillis(NOW.0 + 1)).await.unwrap();
    assert_eq!(sums.iter().map(|sum| sum.requests).sum::<u64>(), 303, "sums stay");
}

/// Neither by an earlier use, nor when records are deleted. A use without a record counts by its
/// quarter of an hour.
async fn the_last_use_of_a_key_never_goes_back(store: &Store, master: &MasterKey) {
    let before = store.last_uses(master).await.unwrap();
    let earlier = UsageSum { quarter: 3600, key_id: "k2".into(), ..sum(1) };
    let later = UsageSum { quarter: NOW.seconds() + 86_400, key_id: "k3".into(), ..sum(1) };
    let entries = [earlier, later.clone()].map(JournalEntry::Sum);
    Journal::open(store.data_dir(), master).unwrap().append(&entries).unwrap();
    Ingester::new(store.clone(), master).run_to_end().await.unwrap();
    let after = store.last_uses(master).await.unwrap();
    assert_eq!(after.get(&KeyId::from("k2")), Some(&UnixMillis(NOW.0 + 299)));
    assert_eq!(after.get(&KeyId::from("k3")), Some(&UnixMillis(later.quarter * 1000)));
    assert_eq!((before.len(), after.len()), (2, 3));
}

/// By day, by quarter and to the second; whoever the key belongs to later.
async fn what_windows_hold_is_known_by_subject(store: &Store, master: &MasterKey) {
    const DAY: u64 = 2_000_073_600;
    let at = |seconds: u64, id: u64, team: &str, holder: Holder| UsageRecord {
        started_at: UnixMillis((DAY + seconds) * 1000),
        request_id: format!("window-{id}").into(),
        key_id: "k5".into(),
        account_id: "a5".into(),
        department_id: Some("d5".into()),
        team_id: Some(team.into()),
        holder: Some(holder),
        cost: Some(PicoUsd(10)),
        usage: Usage { output: 7, ..Usage::default() },
        ..usage(id)
    };
    let person = || Holder::Person("p5".into());
    let records = [
        at(0, 1, "t5", person()),
        at(85_000, 2, "t5", person()),
        at(85_499, 3, "t5", Holder::Service("s5".into())),
        at(86_400, 4, "t6", person()),
    ];
    let private = UsageSum {
        quarter: DAY + 85_500 - 900,
        key_id: "k5".into(),
        account_id: "a5".into(),
        team_id: Some("t5".into()),
        usage: Usage { reasoning: 3, ..Usage::default() },
        ..sum(2)
    };
    let subject = Subject::Key("k5".into());
    let began_of = |subject: &Subject, start| {
        JournalEntry::Window(WindowBegan { subject: subject.to_string(), start: DAY + start })
    };
    let began = |start| began_of(&subject, start);
    let person = Subject::Person("p5".into());
    let journal = Journal::open(store.data_dir(), master).unwrap();
    let windows = [began(5), began(85_100), began_of(&person, 85_001)];
    journal.append(&windows).unwrap();
    journal.append(&[JournalEntry::Sum(private)]).unwrap();
    for record in &records {
        journal.append(&[JournalEntry::Usage(Box::new(record.clone()))]).unwrap();
    }
    Ingester::new(store.clone(), master).run_to_end().await.unwrap();
    assert_eq!(store.usage_of(&"window-3".into()).await.unwrap(), Some(records[2].clone()));

    let since = async |kind, start| -> Vec<(String, u64, u64, u64)> {
        let used = store.used_since(kind, DAY + start, None).await.unwrap();
        let of_five = used.into_iter().filter(|it| it.subject.id().ends_with(['5', '6']));
        let figures = |used: Used| (used.requests, used.tokens, used.cost.0);
        of_five
            .map(|it| (it.subject.to_string(), figures(it.used)))
            .map(|(subject, (requests, tokens, cost))| (subject, requests, tokens, cost))
            .collect()
    };
    let row = |subject: &str, requests, tokens, cost| (subject.to_owned(), requests, tokens, cost);
    assert_eq!(since(SubjectKind::Key, 0).await, [row("key:k5", 6, 31, 49)]);
    assert_eq!(since(SubjectKind::Key, 900).await, [row("key:k5", 5, 24, 39)]);
    assert_eq!(since(SubjectKind::Account, 86_400).await, [row("account:a5", 1, 7, 10)]);
    assert_eq!(since(SubjectKind::Department, 900).await, [row("department:d5", 3, 21, 30)]);
    let teams = [row("team:t5", 5, 24, 39), row("team:t6", 1, 7, 10)];
    assert_eq!(since(SubjectKind::Team, 0).await, teams);
    let holders = [row("person:p5", 2, 14, 20), row("service:s5", 1, 7, 10)];
    assert_eq!(since(SubjectKind::Holder, 900).await, holders);

    // The journal says when five hours began, and records say what was used before them. What has
    // no record counts with its whole quarter.
    let mut windows = store.five_hour_windows(DAY).await.unwrap();
    windows.sort_by_key(|(_, start)| *start);
    assert_eq!(windows, [(person.clone(), DAY + 85_001), (subject.clone(), DAY + 85_100)]);
    assert_eq!(store.five_hour_windows(DAY + 85_101).await.unwrap(), []);
    let past = store.past_five_hours(&subject, 5).await.unwrap();
    assert_eq!(past, [DAY + 85_100, DAY + 5], "also those that are over");
    assert_eq!(store.past_five_hours(&subject, 1).await.unwrap(), [DAY + 85_100]);
    let of_key = store.used_exactly_since(&subject, DAY + 85_100).await.unwrap();
    assert_eq!((of_key.requests, of_key.tokens, of_key.cost), (4, 17, PicoUsd(29)));
    let of_person = store.used_exactly_since(&person, DAY + 85_001).await.unwrap();
    assert_eq!((of_person.requests, of_person.tokens), (1, 7));
    // All subjects of a kind at once say the same.
    for (kind, subject, used) in
        [(SubjectKind::Key, subject, of_key), (SubjectKind::Holder, person, of_person)]
    {
        let all = store.used_in_five_hours(kind, DAY).await.unwrap();
        assert_eq!(all, [SubjectUse { subject, used }]);
        assert_eq!(store.used_in_five_hours(kind, DAY + 85_101).await.unwrap(), []);
    }
    assert_eq!(store.used_in_five_hours(SubjectKind::Team, DAY).await.unwrap(), []);
}

async fn quarters_are_pruned_and_sums_stay(store: &Store) {
    assert!(store.prune_quarters(u64::MAX >> 1).await.unwrap() > 3);
    assert_eq!(store.used_since(SubjectKind::Key, 1_000_000_800, None).await.unwrap().len(), 4);
    // What a clock that ran ahead wrote.
    let before = UnixMillis(900_000_000_000);
    assert_eq!(store.used_until(SubjectKind::Key, 800_000_000, before).await.unwrap(), []);
    assert_eq!(store.five_hour_windows(0).await.unwrap(), []);
    let past = store.past_five_hours(&Subject::Key("k5".into()), 5).await.unwrap();
    assert!(past.is_empty(), "{past:?}");
}
