//! A server that is killed forgets nothing, whatever a window's length: journal and database give
//! the same windows to the next one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::key::KeyClass;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::{Actor, Attribution, Subject};
use sluice_storage::{Ingester, Journal, JournalEntry, MasterKey, Store, SubjectKind, UsageRecord};

use super::super::{
    Allowance, Bound, Counted, LimitSubjects, Measure, Meter, Quantity, Source, Span, Spend,
    Window, Zone, restore,
};
use super::both;
use crate::admin::{Admin, NewKey};
use crate::gateway::Presented;
use crate::principal::Ledgers;
use crate::testing::{House, NOW};

/// 2026-10-31, 08:07 in UTC.
const BEGIN: u64 = 1_793_434_020;
const ZONES: [&str; 4] = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"];

pub(super) fn whose() -> Attribution {
    Attribution {
        account: "a".into(),
        department: Some("d".into()),
        team: Some("t".into()),
        holder: None,
        key: "k".into(),
    }
}

/// Everything that can be counted.
fn everything() -> Arc<[Allowance]> {
    let mut allowances = Vec::new();
    for (window, zone) in Window::ALL.into_iter().flat_map(|it| ZONES.map(|zone| (it, zone))) {
        for measure in Measure::ALL {
            let quantity = Quantity::Used(Meter::new(measure, window, Zone::parse(zone).unwrap()));
            let limit = 1 << 50;
            allowances.push(Allowance {
                quantity,
                limit,
                hard: true,
                source: Source::own(),
                budget: None,
            });
        }
    }
    allowances.into()
}

/// Counts everything for the key, its team, its department and its account.
fn subjects(ledgers: &Ledgers) -> LimitSubjects {
    let allowances = everything();
    let bound = |subject: Subject| Bound {
        ledger: ledgers.of(&subject),
        subject,
        allowances: allowances.clone(),
    };
    LimitSubjects::new(whose().subjects().map(bound).collect::<Vec<_>>())
}

pub(super) fn record(id: u64, at: UnixMillis, spent: Spend) -> UsageRecord {
    // A share of it is what limits count of calls that came to nothing.
    let share = id % 3;
    let assumed = json!({ "tokens": spent.tokens / 3 * share, "cost": spent.cost.0 / 3 * share });
    let (tokens, cost) =
        (spent.tokens - spent.tokens / 3 * share, spent.cost.0 - spent.cost.0 / 3 * share);
    serde_json::from_value(json!({
        "request_id": format!("req_{id}"), "key_id": "k", "account_id": "a", "department_id": "d",
        "team_id": "t", "started_at": at, "model_asked": "m", "level": "standard", "stream": false,
        "usage": {
            "uncached_input": tokens, "cache_read": 0, "cache_write": 0, "output": 0,
            "reasoning": 0
        },
        "usage_source": "measured", "cost": cost, "assumed": assumed, "duration_ms": 1, "outcome": "completed",
        "attempts": 1,
    }))
    .unwrap()
}

/// What a server does for a request, in short.
fn request(subjects: &LimitSubjects, journal: &Journal, id: u64, at: UnixMillis) {
    let expires = at.plus(Duration::from_secs(60));
    let slot = subjects.slot(both(at), both(expires).steady).unwrap();
    let permit = slot.admit(Spend::default(), both(at), both(expires).steady).unwrap();
    for began in permit.five_hours_began() {
        journal.append(&[began.into()]).unwrap();
    }
    let spent = Spend { tokens: 100 + id, cost: PicoUsd(10 + id), ..Spend::default() };
    journal.append(&[JournalEntry::Usage(Box::new(record(id, at, spent)))]).unwrap();
    permit.settle(spent, at);
}

fn windows(subjects: &LimitSubjects, now: UnixMillis) -> Vec<(Subject, Meter, Span, u64)> {
    let mut windows = Vec::new();
    for bound in subjects.bounds() {
        for meter in bound.allowances.iter().filter_map(|it| it.quantity.meter()) {
            let (span, used) = bound.ledger.window(meter, now);
            windows.push((bound.subject.clone(), meter.clone(), span, used));
        }
    }
    windows
}

/// What the next server knows.
async fn restarted(data_dir: &Path, now: UnixMillis) -> (LimitSubjects, Journal) {
    let store = Store::open(data_dir).await.unwrap();
    let master = MasterKey::load_or_create(data_dir).unwrap();
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
    let ledgers = Ledgers::default();
    let mut counted = Counted::default();
    for subject in whose().subjects() {
        counted.add(SubjectKind::of(&subject), &everything());
    }
    // Nobody has asked yet, so nobody has a ledger.
    restore(&ledgers, counted, &store, now).await.unwrap();
    let subjects = subjects(&ledgers);
    store.close().await;
    (subjects, Journal::open(data_dir, &master).unwrap())
}

#[tokio::test]
async fn every_window_goes_on_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let (mut subjects, mut journal) = restarted(dir.path(), UnixMillis(BEGIN * 1000)).await;
    // Over the ends of hours, five hours, a day, the month and a week, several in a quarter.
    let pauses = [0, 20, 3_000, 14_900, 90, 30_000, 7_000, 14_000, 700, 60_000, 90_000, 400];
    let mut now = BEGIN;
    for (id, pause) in (1..).zip(pauses) {
        now += pause;
        let at = UnixMillis(now * 1000 + 250);
        request(&subjects, &journal, id, at);
        let before = windows(&subjects, at);
        // Nothing is closed, nothing is ingested: that is what a kill leaves.
        drop((subjects, journal));
        (subjects, journal) = restarted(dir.path(), at).await;
        let after = windows(&subjects, at);
        assert_eq!(after.len(), before.len());
        for (after, before) in after.iter().zip(&before) {
            assert_eq!(after, before, "after request {id}");
        }
    }
    let five_hours = Meter::new(Measure::Requests, Window::FiveHours, Zone::UTC);
    let at = UnixMillis(now * 1000);
    assert_eq!(subjects.bounds()[0].ledger.window(&five_hours, at).1, 2);
}

#[tokio::test]
async fn nothing_is_held_for_those_that_have_used_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (subjects, journal) = restarted(dir.path(), UnixMillis(BEGIN * 1000)).await;
    request(&subjects, &journal, 1, UnixMillis(BEGIN * 1000));
    drop((subjects, journal));
    restarted(dir.path(), UnixMillis(BEGIN * 1000)).await;
    let store = Store::open(dir.path()).await.unwrap();
    for (now, held) in [(BEGIN, 2), (BEGIN + 3 * 86_400, 0)] {
        let ledgers = Ledgers::default();
        restore(&ledgers, Counted::default(), &store, UnixMillis(now * 1000)).await.unwrap();
        assert_eq!(ledgers.len(), held, "the key and its account, while a window is open");
    }
}

/// The windows are restored before anybody has signed in.
#[tokio::test]
async fn a_gateway_goes_on_with_what_its_keys_had_used() {
    let (house, store) = House::with_store().await;
    let master = MasterKey::load_or_create(store.data_dir()).unwrap();
    let actor = Actor::Sluice;
    let admin = Admin { store: &store, master_key: &master, now: NOW, actor, surface: "test" };
    let wish = NewKey {
        requests_per_hour: Some(5),
        tokens_per_day: Some(1_000),
        ..NewKey::named("ci", KeyClass::Enterprise)
    };
    let made = admin.create_key(wish, None).await.unwrap();
    let spent = Spend { tokens: 100, cost: PicoUsd(1), ..Spend::default() };
    let record = UsageRecord {
        key_id: made.record.id,
        account_id: made.record.account_id,
        ..record(1, NOW, spent)
    };
    let gateway = &house.gateway;
    gateway.accounting.journal.append(&[JournalEntry::Usage(Box::new(record))]).unwrap();
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();

    gateway.replace_directory(store.known(None).await.unwrap());
    gateway.restore_windows(&store).await.unwrap();
    let presented = Presented { svc_api_key: Some(made.key.expose()), ..Presented::default() };
    let subjects = &gateway.sign_in(presented, None).await.unwrap().subjects;
    assert_eq!(subjects.rate(NOW).remaining, 4);
    for bound in subjects.bounds() {
        assert_eq!(bound.ledger.tokens_used(NOW), 100, "{:?}", bound.subject);
    }
}
