//! Budgets through the door: who may, what is refused, what is kept.

use serde_json::json;
use sluice_core::measure::{Limited, Measure};
use sluice_core::organisation::{Role, Subject};
use sluice_core::window::Window;
use sluice_storage::{
    BudgetRecord, Doing, Ingester, Item, ItemChange, Journal, JournalEntry, Record, UsageRecord,
    WindowBegan,
};

use super::*;
use crate::admin::tests::door::Company;
use crate::limits::Meter;

const A_MONTH: Limited = Limited::Used { measure: Measure::Usd, window: Window::Month };
const DAY: u64 = 86_400_000;

fn of(subject: &str) -> BudgetWish {
    BudgetWish {
        each_session: false,
        subject: subject.to_owned(),
        account: Some("here".to_owned()),
        limited: A_MONTH,
        limit: 100,
        hard: true,
        zone: None,
    }
}

/// A person of the team `compilers`, who is kept.
async fn person(company: &Company, role: Role) -> Actor {
    let admin = company.house.at(NOW);
    let wish = NewPerson {
        account: Some("here".to_owned()),
        email: format!("{}@example.org", role.as_str()),
        name: None,
        role,
        operator: false,
        teams: vec!["compilers".to_owned()],
    };
    Actor::Person { id: admin.create_person(wish).await.unwrap().id }
}

#[tokio::test]
async fn a_budget_that_is_set_again_is_the_same_with_another_limit() {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    let (made, old) = admin.set_budget(of("team:compilers")).await.unwrap();
    assert_eq!((made.zone.as_str(), old), ("UTC", None));
    assert_eq!(made.counts_from, NOW);

    let later = company.house.at(UnixMillis(NOW.0 + 5 * DAY));
    let wish = BudgetWish { limit: 50, ..of("team:compilers") };
    let (changed, old) = later.set_budget(wish).await.unwrap();
    assert_eq!((changed.id.clone(), changed.limit), (made.id.clone(), 50));
    assert_eq!(changed.counts_from, NOW, "what was used goes on counting");
    assert_eq!(old.unwrap().limit, 100);

    // Other windows begin anew.
    let zone = Some("europe/berlin".to_owned());
    let wish = BudgetWish { limit: 50, zone, ..of("team:compilers") };
    let (moved, _) = later.set_budget(wish).await.unwrap();
    assert_eq!((moved.zone.as_str(), moved.counts_from), ("Europe/Berlin", later.now));
    assert_eq!(moved.id, made.id);

    // A soft one beside the hard one, and one of another measure.
    for wish in [
        BudgetWish { hard: false, ..of("team:compilers") },
        BudgetWish { limited: Limited::Concurrency, ..of("team:compilers") },
        of("account:here"),
        of("account"),
    ] {
        admin.set_budget(wish).await.unwrap();
    }
    let all = admin.budgets().await.unwrap();
    let names: Vec<String> = all.iter().map(BudgetView::whose_name).collect();
    assert_eq!(names, ["account here", "team compilers", "team compilers", "team compilers"]);

    let removed = admin.remove_budget(made.id.as_str()).await.unwrap();
    assert_eq!(removed.removed_at, Some(NOW));
    assert_eq!(admin.budgets().await.unwrap().len(), 3);
    let again = admin.remove_budget(made.id.as_str()).await.unwrap_err();
    assert!(matches!(again, AdminError::NoSuchBudget { .. }), "{again}");
    let (new, old) = admin.set_budget(of("team:compilers")).await.unwrap();
    assert!(old.is_none() && new.id != made.id);
}

#[tokio::test]
async fn what_names_nothing_is_refused() {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    for (subject, zone) in [
        ("compilers", None),
        ("", None),
        ("group:compilers", None),
        ("team:none", None),
        ("key:none", None),
        ("person:nobody@example.org", None),
        ("team:compilers", Some("Mars/Olympus")),
    ] {
        let wish = BudgetWish { zone: zone.map(str::to_owned), ..of(subject) };
        assert!(admin.set_budget(wish).await.is_err(), "{subject}");
    }
    assert!(admin.budgets().await.unwrap().is_empty());
    let (made, _) = admin.set_budget(of("team:compilers")).await.unwrap();
    let id = made.id.as_str();
    assert!(matches!(admin.top_up(id, 0, None).await, Err(AdminError::EmptyTopUp)));
    let past = admin.top_up(id, 1, Some(NOW)).await;
    assert!(matches!(past, Err(AdminError::AlreadyExpired { .. })));
}

/// Those of five hours begin with a use, and those of classes and tiers follow the clock.
#[tokio::test]
async fn past_windows_are_listed_whatever_they_follow() {
    const HOUR: u64 = 3_600_000;
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    let five_hours = Limited::Used { measure: Measure::Tokens, window: Window::FiveHours };
    let (budget, _) =
        admin.set_budget(BudgetWish { limited: five_hours, ..of("team:compilers") }).await.unwrap();
    let team = budget.subject.clone();
    let record = |hours: u64, tokens: u64| -> UsageRecord {
        serde_json::from_value(json!({
            "request_id": format!("req_{hours}"), "key_id": "k", "account_id": budget.account_id,
            "team_id": team.id(), "started_at": NOW.0 + hours * HOUR, "model_asked": "m",
            "level": "standard", "stream": false, "usage_source": "measured", "duration_ms": 1,
            "outcome": "completed", "attempts": 1, "usage": {
                "uncached_input": tokens, "cache_read": 0, "cache_write": 0, "output": 0,
                "reasoning": 0
            },
        }))
        .unwrap()
    };
    let store = &company.house.store;
    let master = &company.house.master_key;
    let journal = Journal::open(store.data_dir(), master).unwrap();
    for (began, hours, tokens) in [(true, 0, 10), (false, 4, 5), (true, 7, 20), (true, 13, 1)] {
        let start = NOW.seconds() + hours * 3_600;
        let window = WindowBegan { subject: team.to_string(), start };
        if began {
            journal.append(&[JournalEntry::Window(window)]).unwrap();
        }
        journal.append(&[JournalEntry::Usage(Box::new(record(hours, tokens)))]).unwrap();
    }
    drop(journal);
    Ingester::new(store.clone(), master).run_to_end().await.unwrap();

    let later = company.house.at(UnixMillis(NOW.0 + 14 * HOUR));
    let past = later.past_windows(&budget).await.unwrap();
    let told: Vec<_> =
        past.iter().map(|(span, used)| (span.start - NOW.seconds(), *used)).collect();
    assert_eq!(told, [(7 * 3_600, 20), (0, 15)], "the one that is open is none of them");

    let past = later.past_windows_of(&team, &Meter::REQUESTS_AN_HOUR).await.unwrap();
    let used: Vec<u64> = past.iter().map(|(_, used)| *used).collect();
    assert_eq!(used.len(), 12);
    assert_eq!((used[0], used[6], used.iter().sum::<u64>()), (1, 1, 3), "{used:?}");
    let days = later.past_windows_of(&team, &Meter::TOKENS_A_DAY).await.unwrap();
    assert_eq!(days[0].0.end % 86_400, 0);
}

#[tokio::test]
async fn a_top_up_raises_the_limit_until_it_ends() {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    let (made, _) = admin.set_budget(of("team:compilers")).await.unwrap();
    let id = made.id.as_str();
    admin.top_up(id, 20, Some(UnixMillis(NOW.0 + DAY))).await.unwrap();
    let topped = admin.top_up(id, 3, None).await.unwrap();
    assert_eq!(topped.limit_at(NOW), 123);
    assert_eq!(topped.limit_at(UnixMillis(NOW.0 + DAY)), 103);
    let end = topped.top_ups[1].until;
    let month = Window::Month.span(&sluice_core::window::Zone::UTC, NOW.seconds());
    assert_eq!(end.seconds(), month.end, "until its window ends");
    assert_eq!(topped.limit_at(end), 100);
    // What is over is forgotten with the next one.
    let later = company.house.at(UnixMillis(NOW.0 + 2 * DAY));
    assert_eq!(later.top_up(id, 1, None).await.unwrap().top_ups.len(), 2);
    // Where the window never ends, so does the top-up.
    let total = Limited::Used { measure: Measure::Tokens, window: Window::Total };
    let (total, _) =
        admin.set_budget(BudgetWish { limited: total, ..of("team:compilers") }).await.unwrap();
    let topped = admin.top_up(total.id.as_str(), 7, None).await.unwrap();
    assert_eq!(topped.limit_at(UnixMillis(NOW.0 + 10_000 * DAY)), 107);
    let read = admin.budget(total.id.as_str()).await.unwrap().budget;
    assert_eq!(read.top_ups, topped.top_ups, "it is kept as it was granted");
}

#[tokio::test]
async fn budgets_are_set_by_those_who_may_and_seen_by_those_whose_they_are() {
    let company = Company::new().await;
    let owner = company.house.at(NOW);
    let mut ids = Vec::new();
    for subject in ["account", "department:engineering", "team:compilers", "team:europe"] {
        ids.push((subject, owner.set_budget(of(subject)).await.unwrap().0.id));
    }
    let elsewhere = BudgetWish { account: Some("elsewhere".to_owned()), ..of("team:lab") };
    let foreign = owner.set_budget(elsewhere).await.unwrap().0.id;
    for (role, sees, may_raise) in [
        (Role::Owner, 4, [true, true, true, true]),
        (Role::Admin, 4, [true, true, true, true]),
        (Role::Billing, 4, [true, true, true, true]),
        (Role::Auditor, 4, [false, false, false, false]),
        // What the department gets is not for its lead to say.
        (Role::DepartmentLead, 3, [false, false, true, false]),
        (Role::Developer, 3, [false, false, false, false]),
    ] {
        let actor = person(&company, role).await;
        let admin = company.house.acting(actor, NOW);
        assert_eq!(admin.budgets().await.unwrap().len(), sees, "{role:?}");
        for ((subject, id), may) in ids.iter().zip(may_raise) {
            let raised = admin.top_up(id.as_str(), 1, None).await;
            assert_eq!(raised.is_ok(), may, "{role:?} {subject}");
            let set =
                admin.set_budget(BudgetWish { limit: 99, account: None, ..of(subject) }).await;
            assert_eq!(set.is_ok(), may, "{role:?} {subject}");
            let tried = BudgetWish { account: None, ..of(subject) };
            assert_eq!(admin.rehearse_budget(&tried).await.is_ok(), may, "{role:?} {subject}");
            owner.set_budget(of(subject)).await.unwrap();
        }
        let hidden = admin.budget(foreign.as_str()).await;
        assert!(matches!(hidden, Err(AdminError::NoSuchBudget { .. })), "{role:?}");
        assert!(admin.remove_budget(foreign.as_str()).await.is_err(), "{role:?}");
    }
    let Record::Team(team) = Record::Team(company.team("compilers")) else { return };
    let may = owner.who_may_top_up(&team.into()).await.unwrap();
    let mut roles: Vec<Role> = may.iter().map(|it| it.role).collect();
    roles.sort_by_key(|role| Role::ALL.iter().position(|it| it == role));
    assert_eq!(roles, [Role::Owner, Role::Admin, Role::DepartmentLead, Role::Billing]);
}

#[tokio::test]
async fn two_who_set_at_once_do_not_overwrite_each_other() {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    let (made, _) = admin.set_budget(of("team:compilers")).await.unwrap();
    let other = BudgetRecord { limit: 7, ..made.clone() };
    admin.set_budget(BudgetWish { limit: 5, ..of("team:compilers") }).await.unwrap();
    let change = ItemChange {
        verb: "budgets.set",
        account_id: made.account_id.clone(),
        old: Some(Item::Budget(BudgetRecord { changed: 1, ..made.clone() })),
        new: Some(Item::Budget(other)),
    };
    let (at, actor) = (NOW, Actor::Sluice);
    let doing = Doing { at, actor, surface: "test", judged_at: None };
    let house = &company.house;
    let late = house.store.administer_items(&house.master_key, &doing, &[change]).await;
    assert!(matches!(late, Err(StorageError::ChangedMeanwhile)));
    assert_eq!(admin.budget(made.id.as_str()).await.unwrap().budget.limit, 5);
    assert_eq!(made.subject, Subject::Team(company.team("compilers").id));
}

#[tokio::test]
async fn what_the_file_holds_is_the_files() {
    let company = Company::new().await;
    let (admin, file) = (company.house.at(NOW), company.house.file());
    let (mine, _) = admin.set_budget(of("team:compilers")).await.unwrap();
    assert!(admin.apply_file_budgets(&[]).await.is_err(), "only the file itself may");

    // One that is there is taken over, with what was used of it; another is made, a third one waits.
    let later = BudgetWish { limit: 30, ..of("team:later") };
    let declared = [BudgetWish { limit: 70, ..of("team:compilers") }, of("account"), later];
    let done = file.apply_file_budgets(&declared).await.unwrap();
    assert_eq!((done.changed.len(), done.removed.len()), (2, 0));
    assert_eq!(done.waiting, ["team:later"]);
    let now = admin.budget(mine.id.as_str()).await.unwrap().budget;
    assert_eq!((now.limit, now.counts_from, now.is_the_files()), (70, NOW, true));
    let again = file.apply_file_budgets(&declared).await.unwrap();
    assert_eq!((again.changed.len(), again.waiting.len()), (0, 1), "it is so already");

    for refused in [
        admin.set_budget(of("team:compilers")).await.map(drop),
        admin.change_limit(mine.id.as_str(), 5).await.map(drop),
        admin.top_up(mine.id.as_str(), 5, None).await.map(drop),
        admin.remove_budget(mine.id.as_str()).await.map(drop),
    ] {
        assert!(matches!(refused, Err(AdminError::ManagedByFile { .. })), "{refused:?}");
    }
    // A name that means nothing any more removes nothing.
    let done = file.apply_file_budgets(&declared[2..]).await.unwrap();
    assert_eq!((done.removed.len(), done.waiting.len()), (0, 1));
    let done = file.apply_file_budgets(&declared[1..2]).await.unwrap();
    assert_eq!((done.changed.len(), done.removed.len()), (0, 1));
    assert_eq!(admin.budgets().await.unwrap().len(), 1);
}
