//! Budgets of each session: sessions are apart, end when they are idle, and go on over a restart.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use sluice_core::clock::{Moment, SteadyMillis, UnixMillis};
use sluice_core::measure::Limited;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Subject;
use sluice_storage::{
    BudgetRecord, Ingester, Journal, JournalEntry, MasterKey, Store, UsageRecord, Used,
};

use super::super::sessions::{IDLE, SessionLedgers, session_text};
use super::super::{Allowance, Bound, LimitSubjects, Measure, Spend, Window};
use super::restart::{record, whose};

/// 2026-11-21, 09:30 in UTC.
const BEGIN: UnixMillis = UnixMillis(1_795_253_400_000);
const LIMIT: u64 = 100;

fn budget(id: &str, subject: Subject) -> BudgetRecord {
    BudgetRecord {
        id: id.into(),
        account_id: "a".into(),
        subject,
        each_session: true,
        limited: Limited::Used { measure: Measure::Usd, window: Window::Total },
        zone: "UTC".to_owned(),
        limit: LIMIT,
        hard: true,
        counts_from: BEGIN,
        used_before: Used::default(),
        top_ups: Vec::new(),
        managed_by: None,
        created_at: BEGIN,
        removed_at: None,
        changed: 1,
    }
}

fn of_team() -> BudgetRecord {
    budget("bud_1", Subject::Team("t".into()))
}

fn moment(seconds: u64) -> Moment {
    let steady = SteadyMillis(1_000 * seconds);
    Moment { wall: UnixMillis(BEGIN.0 + steady.0), steady }
}

/// Asks for a request of a session that costs `cost`; whether it was admitted.
fn ask(sessions: &SessionLedgers, session: u64, cost: u64, now: Moment) -> bool {
    let budget = of_team();
    let bound = Bound {
        subject: budget.subject.clone(),
        ledger: sessions.of(&budget.subject, session, now.steady),
        allowances: [Allowance::of_budget(&budget)].into(),
    };
    let expires = now.steady.plus(Duration::from_secs(60));
    let slot = LimitSubjects::new([]).slot(now, expires).unwrap().of_session(vec![bound]);
    let spend = Spend { tokens: 1, cost: PicoUsd(cost), most: PicoUsd(cost) };
    let Ok(permit) = slot.admit(spend, now, expires) else { return false };
    sessions.go_on([&budget.subject].into_iter(), session, now.steady);
    permit.settle(spend, now.wall);
    true
}

proptest! {
    /// Against the simplest books: what each session used since its last pause of a day.
    #[test]
    fn each_session_has_so_much_to_itself_until_it_was_idle_for_a_day(
        asked in prop::collection::vec(
            (0..4_u64, 1..60_u64, prop_oneof![4 => 0..7_200_u64, 1 => 0..200_000_u64]), 0..80,
        ),
    ) {
        let sessions = SessionLedgers::default();
        let mut books: HashMap<u64, (u64, u64)> = HashMap::new();
        let mut now = 0;
        for (session, cost, pause) in asked {
            now += pause;
            let (used, last) = books.entry(session).or_insert((0, now));
            if now - *last >= IDLE.as_secs() {
                *used = 0;
            }
            let fits = *used + cost <= LIMIT;
            // A new one, or one that is over, begins with the first that is asked.
            if *used == 0 {
                *last = now;
            }
            prop_assert_eq!(ask(&sessions, session, cost, moment(now)), fits);
            if fits {
                (*used, *last) = (*used + cost, now);
            }
        }
    }
}

#[test]
fn a_flood_of_sessions_is_held_in_bounded_memory_and_forgets_none_that_runs() {
    let sessions = SessionLedgers::with_room_for(100);
    let budget = of_team();
    let running = sessions.of(&budget.subject, u64::MAX, moment(0).steady);
    for session in 0..10_000 {
        assert!(ask(&sessions, session, 1, moment(session)));
        assert!(sessions.len() <= 100);
    }
    let found = sessions.of(&budget.subject, u64::MAX, moment(10_000).steady);
    assert!(Arc::ptr_eq(&running, &found));
    // The latest are still known.
    assert!(!ask(&sessions, 9_999, LIMIT, moment(10_000)));
    drop((running, found));
    // Those that were idle are gone a day later.
    assert!(ask(&sessions, 1, 1, moment(10_000 + IDLE.as_secs())));
    assert_eq!(sessions.len(), 1);
}

#[test]
fn the_fullest_session_is_told() {
    let sessions = SessionLedgers::default();
    for (session, cost) in [(1, 10), (2, 70), (3, 30)] {
        assert!(ask(&sessions, session, cost, moment(session)));
    }
    let (number, fullest) = sessions.fullest(&of_team(), moment(5));
    assert_eq!((number, fullest.used, fullest.allowance.limit), (3, Some(70), LIMIT));
    let elsewhere = budget("bud_2", Subject::Team("other".into()));
    let (number, fullest) = sessions.fullest(&elsewhere, moment(5));
    assert_eq!((number, fullest.used), (0, None));
}

/// What requests of a session cost, and after how many hours each came.
#[tokio::test]
async fn sessions_go_on_after_a_restart_unless_they_were_idle() {
    const HOUR: u64 = 3_600;
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let master = MasterKey::load_or_create(dir.path()).unwrap();
    let journal = Journal::open(dir.path(), &master).unwrap();
    let requests = [
        (1, 20, 0),
        (1, 30, 20),
        (1, 5, 40), // goes on
        (2, 90, 0),
        (2, 40, 30), // was idle in between
        (3, 90, 0),  // is over
    ];
    for (id, (session, cost, hours)) in (1..).zip(requests) {
        let spent = Spend { tokens: 1, cost: PicoUsd(cost), most: PicoUsd(cost) };
        let at = moment(hours * HOUR).wall;
        let session = Some(session_text(session));
        let record = UsageRecord { session, ..record(id, at, spent) };
        journal.append(&[JournalEntry::Usage(Box::new(record))]).unwrap();
    }
    drop(journal);
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();

    let now = moment(45 * HOUR);
    // The new process's clock has only begun.
    let now = Moment { steady: SteadyMillis(0), ..now };
    let others = Subject::Team("others".into());
    let budgets = [of_team(), budget("bud_2", others.clone())];
    let sessions = SessionLedgers::default();
    sessions.restore(&budgets, &store, now).await.unwrap();
    assert!(whose().subjects().any(|it| it == budgets[0].subject));
    let left = |session| (1..=LIMIT).rev().find(|cost| ask(&sessions, session, *cost, now));
    assert_eq!(sessions.len(), 2);
    assert_eq!([left(1), left(2), left(3)], [Some(45), Some(60), Some(100)]);
    // The first is idle since the fortieth hour.
    let sessions = SessionLedgers::default();
    sessions.restore(&budgets, &store, now).await.unwrap();
    let later = |hours: u64| Moment { steady: SteadyMillis(hours * HOUR * 1_000), ..now };
    assert!(!ask(&sessions, 1, LIMIT, later(18)));
    assert!(ask(&sessions, 1, LIMIT, later(19)));
}
