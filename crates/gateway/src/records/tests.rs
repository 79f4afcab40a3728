//! Who sees which records, against a real database.

use sluice_core::clock::UnixMillis;
use sluice_core::filtering::FilterRecord;
use sluice_core::ids::PersonId;
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::{Holder, Role};
use sluice_core::outcome::Outcome;
use sluice_core::usage::{Usage, UsageSource};
use sluice_storage::{
    Ingester, Journal, JournalEntry, MasterKey, RecordsFilter, Store, TrailFilter, Turn,
    UsageRecord,
};

use super::*;
use crate::admin::{NewAccount, NewDepartment, NewKey, NewPerson, NewTeam};
use crate::live::{Finished, Live, LiveEvent};

/// 2026-11-21, 09:30 in UTC.
const NOW: UnixMillis = UnixMillis(1_795_253_400_000);
const DAY_MS: u64 = 86_400_000;

/// An account with two departments, and another account. In the first there is a person of each role
/// in the team `compilers`, and a record for each place that a request can come from.
struct Company {
    store: Store,
    master_key: MasterKey,
    people: Vec<(Role, PersonId)>,
    operator: PersonId,
    records: Vec<UsageRecord>,
    _dir: tempfile::TempDir,
}

fn record(id: &str, account: &AccountId, minutes: u64) -> UsageRecord {
    UsageRecord {
        request_id: id.into(),
        key_id: "k".into(),
        account_id: account.clone(),
        department_id: None,
        team_id: None,
        holder: None,
        started_at: UnixMillis(NOW.0 - minutes * 60_000),
        app_url: None,
        app_title: Some("ci".to_owned()),
        model_asked: "svc/auto".to_owned(),
        model: Some("m".into()),
        provider: Some("lab".into()),
        region: None,
        level: SecurityLevel::Standard,
        stream: false,
        usage: Usage { output: 10, ..Usage::default() },
        usage_source: UsageSource::Measured,
        cost: Some(PicoUsd(7)),
        price_version: None,
        time_to_first_token_ms: Some(400),
        duration_ms: 900,
        outcome: Outcome::Completed,
        attempts: 1,
        audit_id: None,
        simulated: false,
        filter: FilterRecord::default(),
        route: None,
        max_tokens_lowered: None,
        provider_key: None,
        assumed: Default::default(),
        session: None,
    }
}

impl Company {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let master_key = MasterKey::load_or_create(dir.path()).unwrap();
        let mut company = Self {
            store,
            master_key,
            people: Vec::new(),
            operator: "".into(),
            records: Vec::new(),
            _dir: dir,
        };
        company.fill().await;
        company
    }

    async fn fill(&mut self) {
        let store = self.store.clone();
        let master_key = self.master_key.clone();
        let actor = Actor::CommandLine { user: "ada".to_owned() };
        let (store, master_key) = (&store, &master_key);
        let admin = Admin { store, master_key, now: NOW, actor, surface: "test" };
        let tier = sluice_core::key::AccountTier::Highest;
        let here = admin.create_account(NewAccount::named("here", tier)).await.unwrap().id;
        let there = admin.create_account(NewAccount::named("there", tier)).await.unwrap().id;
        let account = || Some("here".to_owned());
        let mut places = Vec::new();
        for (department, team) in [("engineering", "compilers"), ("sales", "europe")] {
            let (department, name) = (department.to_owned(), team.to_owned());
            let wish = NewDepartment { account: account(), name: department.clone() };
            admin.create_department(wish).await.unwrap();
            let wish = NewTeam { account: account(), department, name };
            let team = admin.create_team(wish).await.unwrap();
            places.push((Some(team.department_id), Some(team.id)));
        }
        let person = |email: &str, role, operator| NewPerson {
            account: account(),
            email: format!("{email}@example.org"),
            name: None,
            role,
            teams: vec!["compilers".to_owned()],
            operator,
        };
        for role in Role::ALL {
            let made = admin.create_person(person(role.as_str(), role, false)).await.unwrap();
            self.people.push((role, made.id));
        }
        let operator = admin.create_person(person("operator", Role::Developer, true)).await;
        self.operator = operator.unwrap().id;
        places.push((None, None));

        for (at, (department_id, team_id)) in places.into_iter().enumerate() {
            let whose = |record: UsageRecord| UsageRecord {
                department_id: department_id.clone(),
                team_id: team_id.clone(),
                ..record
            };
            let minutes = at as u64 * 90;
            self.records.push(whose(record(&format!("plain-{at}"), &here, minutes)));
            for (role, id) in &self.people {
                let holder = Some(Holder::Person(id.clone()));
                let own = record(&format!("{}-{at}", role.as_str()), &here, minutes);
                self.records.push(UsageRecord { holder, ..whose(own) });
            }
        }
        // The same ids in another account are somebody else's.
        let mut elsewhere = self.records.clone();
        for record in &mut elsewhere {
            record.account_id = there.clone();
            record.request_id = format!("there-{}", record.request_id).into();
        }
        self.records.append(&mut elsewhere);
        let journal = Journal::open(store.data_dir(), master_key).unwrap();
        for record in &self.records {
            journal.append(&[JournalEntry::Usage(Box::new(record.clone()))]).unwrap();
        }
        Ingester::new(store.clone(), master_key).run_to_end().await.unwrap();
    }

    fn acting(&self, person: &PersonId) -> Admin<'_> {
        let actor = Actor::Person { id: person.clone() };
        let (store, master_key) = (&self.store, &self.master_key);
        Admin { store, master_key, now: NOW, actor, surface: "test" }
    }

    /// Whether a person sees a record, by a table of its own.
    fn is_seen(&self, role: Role, person: &PersonId, record: &UsageRecord) -> bool {
        let id = record.request_id.as_str();
        !id.starts_with("there-")
            && match role {
                Role::Owner | Role::Admin | Role::Auditor | Role::Billing => true,
                Role::DepartmentLead => id.ends_with("-0"),
                Role::Developer => record.holder == Some(Holder::Person(person.clone())),
            }
    }
}

#[tokio::test]
async fn every_role_sees_what_the_table_says_on_every_way() {
    let company = Company::new().await;
    let live = Live::default();
    let operator = (Role::Developer, company.operator.clone());
    for (role, person) in company.people.iter().chain([&operator]) {
        let admin = company.acting(person);
        let records = admin.records(None).await.unwrap();
        let mut expected: Vec<&UsageRecord> =
            company.records.iter().filter(|it| company.is_seen(*role, person, it)).collect();
        expected.sort_by_key(|it| std::cmp::Reverse((it.started_at, it.request_id.clone())));
        let count = expected.len() as u64;
        assert_eq!(count > 0, *person != company.operator, "{role:?}");

        let page = records.page(&RecordsFilter::default(), &Turn::First, 100).await.unwrap();
        let seen: Vec<&UsageRecord> = page.records.iter().map(|it| &it.record).collect();
        assert_eq!(seen, expected, "{role:?}");
        let mut feed = live.listen(records.sight().clone());
        for record in &company.records {
            let one = records.one(&record.request_id).await.unwrap().map(|it| it.record);
            let is_seen = company.is_seen(*role, person, record);
            assert_eq!(one.is_some(), is_seen, "{role:?} {}", record.request_id);
            live.tell(Finished { record: record.clone(), key_name: "ci".to_owned() });
            if is_seen {
                let LiveEvent::Finished(told) = feed.next().await else { panic!("{role:?}") };
                assert_eq!(told.record, *record);
            }
        }
        assert!(futures_util::FutureExt::now_or_never(feed.next()).is_none(), "{role:?}");

        let facets = records.facets(&RecordsFilter::default()).await.unwrap();
        let requests =
            |parts: &[NamedPart]| parts.iter().map(|it| it.figures.requests).sum::<u64>();
        assert_eq!(requests(&facets.models), count);
        assert_eq!(requests(&facets.outcomes), count);
        let period = Period { since: UnixMillis(NOW.0 - DAY_MS), until: UnixMillis(NOW.0 + 1) };
        let overview = records.overview(period, Step::Hour, &Zone::UTC, 5).await.unwrap();
        assert_eq!((overview.total.requests, overview.total.cost), (count, PicoUsd(7 * count)));
        assert_eq!(overview.before, Figures::default());
        assert_eq!(overview.by_app.rest, Figures::default());
        let charted: u64 = overview.buckets.iter().map(|it| it.figures.requests).sum();
        assert_eq!((charted, overview.buckets.len()), (count, 25));
        let filter = period.filter();
        let days = records.histogram(&filter, Step::Day, &Zone::UTC, NOW).await.unwrap();
        let completed: u64 = days.iter().map(|it| it.figures.outcomes.of(Outcome::Completed)).sum();
        assert_eq!((completed, days.len()), (count, 2));
        let used = records.usage(&filter, Step::Day, &Zone::UTC, NOW).await.unwrap();
        let cost: u64 = used.iter().map(|it| it.figures.cost.0).sum();
        assert_eq!((PicoUsd(cost), used.len()), (PicoUsd(7 * count), 2));

        // Another account is not even there, for operators neither.
        let error = admin.records(Some("there")).await.unwrap_err();
        assert!(matches!(error, AdminError::NoSuch { .. }), "{error}");
        admin.records(Some("here")).await.unwrap();

        let any = TrailFilter::default();
        let trail = admin.trail(None, &any, &Turn::First, 100).await;
        match role {
            Role::Owner | Role::Admin | Role::Auditor => {
                let entries = trail.unwrap().entries;
                assert!(entries.len() > Role::ALL.len(), "{role:?}");
            }
            _ => assert!(matches!(trail, Err(AdminError::Forbidden { verb: "trail.see" }))),
        }
        let elsewhere = admin.trail(Some("there"), &any, &Turn::First, 100).await;
        assert!(matches!(elsewhere, Err(AdminError::NoSuch { .. })));
    }
    let stranger = company.acting(&"per_nobody".into());
    assert!(matches!(stranger.records(None).await, Err(AdminError::Forbidden { .. })));
    let nobody = Admin { actor: Actor::Nobody, ..stranger };
    assert!(matches!(nobody.records(Some("here")).await, Err(AdminError::NoSuch { .. })));
}

#[tokio::test]
async fn whoever_is_suspended_sees_nothing_any_more() {
    let company = Company::new().await;
    let (_, owner) = &company.people[0];
    let (_, auditor) = &company.people[4];
    company.acting(auditor).records(None).await.unwrap();
    let which = crate::admin::Which::new(Kind::Person, auditor.as_str());
    company.acting(owner).suspend(&which, "left").await.unwrap();
    let refused = company.acting(auditor).records(None).await;
    assert!(matches!(refused, Err(AdminError::Forbidden { .. })), "{refused:?}");
}

#[tokio::test]
async fn keys_are_told_by_their_names() {
    let company = Company::new().await;
    let (_, owner) = &company.people[0];
    let admin = company.acting(owner);
    let key = NewKey::named("ci-review", sluice_core::key::KeyClass::Production);
    let key = admin.create_key(key, None).await.unwrap().record;
    let named = UsageRecord {
        key_id: key.id.clone(),
        account_id: key.account_id.clone(),
        cost: Some(PicoUsd(1000)),
        ..record("named", &key.account_id, 1)
    };
    let journal = Journal::open(company.store.data_dir(), &company.master_key).unwrap();
    journal.append(&[JournalEntry::Usage(Box::new(named))]).unwrap();
    Ingester::new(company.store.clone(), &company.master_key).run_to_end().await.unwrap();
    let records = admin.records(None).await.unwrap();
    let period = Period { since: UnixMillis(NOW.0 - DAY_MS), until: NOW };
    let overview = records.overview(period, Step::Day, &Zone::UTC, 1).await.unwrap();
    let [top] = overview.by_key.top.as_slice() else { panic!("{overview:?}") };
    assert_eq!((top.value.as_str(), top.name.as_deref()), (key.id.as_str(), Some("ci-review")));
    assert_eq!(overview.by_key.rest.requests, overview.total.requests - 1);
    assert_eq!(
        overview.total.first_tokens.permille(500).map(|ms| ms > 200 && ms <= 400),
        Some(true)
    );
    let page = records.page(&RecordsFilter::default(), &Turn::First, 100).await.unwrap();
    let found = page.records.iter().find(|it| it.record.request_id.as_str() == "named").unwrap();
    assert_eq!(found.key_name.as_deref(), Some("ci-review"));
}

#[tokio::test]
async fn whoever_is_slow_loses_rows_and_nobody_waits() {
    let live = Live::default();
    assert!(!live.is_watched());
    let account = AccountId::from("a");
    let sight = Sight { account: account.clone(), reach: sluice_storage::Reach::Account };
    let mut feed = live.listen(sight);
    assert!(live.is_watched());
    let tell = |id: u64| {
        let record = record(&id.to_string(), &account, 0);
        live.tell(Finished { record, key_name: String::new() });
    };
    (0..300).for_each(tell);
    for id in 0..256 {
        let LiveEvent::Finished(told) = feed.next().await else { panic!("{id}") };
        assert_eq!(told.record.request_id.as_str(), id.to_string());
    }
    assert_eq!(feed.next().await, LiveEvent::Lost(44));
    tell(300);
    assert!(matches!(feed.next().await, LiveEvent::Finished(_)));
    drop(feed);
    assert!(!live.is_watched());
}
