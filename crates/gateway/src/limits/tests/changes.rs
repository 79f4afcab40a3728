//! Limits are lowered, raised, removed and given another time zone while requests run.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Subject;

use super::super::{
    Allowance, Bound, Ledger, LimitSubjects, Measure, Meter, Permit, Quantity, Source, Spend,
    Window, Zone,
};
use super::both;

/// 2026-10-24T20:00:00Z: clocks go back in Berlin that night.
const BEGIN: u64 = 1_792_872_000;
const ZONES: [&str; 3] = ["UTC", "Europe/Berlin", "Pacific/Apia"];
/// Longer than anything here takes.
const LEASE: u64 = 100_000_000;

/// A budget of a day: how much, by whose calendar, and since when it counts.
#[derive(Debug, Clone, Copy)]
struct Budget {
    limit: u64,
    zone: &'static str,
    since: u64,
}

impl Budget {
    fn allowance(self) -> Allowance {
        let meter = Meter::new(Measure::Usd, Window::Day, Zone::parse(self.zone).unwrap());
        Allowance {
            quantity: Quantity::Used(Meter { since: self.since, ..meter }),
            limit: self.limit,
            hard: true,
            source: Source::own(),
            budget: None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Op {
    /// A request that can cost so much.
    Admit(u64),
    /// One of those that run ends, at such a share of what it can cost.
    Settle(usize, u64),
    /// The budget is given this limit.
    Limit(u64),
    /// It is set anew, or given another zone, which begins it anew.
    Set(u64, usize),
    Remove,
    Pass(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (1..400_u64).prop_map(Op::Admit),
        4 => (any::<usize>(), 0..=100_u64).prop_map(|(which, share)| Op::Settle(which, share)),
        2 => (0..1_500_u64).prop_map(Op::Limit),
        1 => (0..1_500_u64, 0..ZONES.len()).prop_map(|(limit, zone)| Op::Set(limit, zone)),
        1 => Just(Op::Remove),
        2 => prop_oneof![0..90_u64, 0..90_000_u64].prop_map(Op::Pass),
    ]
}

struct Request {
    at: u64,
    most: u64,
    permit: Option<Permit>,
    settled: u64,
}

/// What keys see from now on.
fn subjects(ledger: &Arc<Ledger>, budget: Option<Budget>) -> LimitSubjects {
    let allowances: Arc<[Allowance]> = budget.map(Budget::allowance).into_iter().collect();
    ledger.forget_all_but(&allowances);
    let (subject, ledger) = (Subject::Team("t".into()), ledger.clone());
    LimitSubjects::new([Bound { subject, ledger, allowances }])
}

proptest! {
    #[test]
    fn what_runs_is_counted_and_what_comes_has_to_fit_whatever_changes(
        ops in prop::collection::vec(op(), 0..120),
    ) {
        let ledger = Arc::new(Ledger::default());
        let mut budget = Some(Budget { limit: 1_000, zone: "UTC", since: 0 });
        let mut now = BEGIN;
        let mut requests: Vec<Request> = Vec::new();
        let mut known = subjects(&ledger, budget);
        for op in ops {
            let moment = |seconds: u64| both(UnixMillis(seconds * 1_000));
            let reserved: u64 =
                requests.iter().filter(|it| it.permit.is_some()).map(|it| it.most).sum();
            // What is used of the budget: of its window, since it began, whatever it was when they came.
            let used = |budget: Budget, requests: &[Request]| {
                let start = Window::Day.span(&Zone::parse(budget.zone).unwrap(), now).start;
                let counts = requests.iter().filter(|it| it.at >= start.max(budget.since));
                counts.map(|it| it.settled).sum::<u64>()
            };
            match op {
                Op::Pass(seconds) => now += seconds,
                Op::Admit(most) => {
                    let fits = budget.is_none_or(|it| {
                        used(it, &requests) + reserved + most <= it.limit
                    });
                    let (at, expires) = (moment(now), moment(now + LEASE).steady);
                    let wanted = Spend { tokens: 0, cost: PicoUsd(0), most: PicoUsd(most) };
                    let admitted = known.slot(at, expires).unwrap().admit(wanted, at, expires);
                    prop_assert_eq!(admitted.is_ok(), fits, "{:?}", admitted);
                    if let Ok(permit) = admitted {
                        requests.push(Request { at: now, most, permit: Some(permit), settled: 0 });
                    }
                }
                Op::Settle(which, share) => {
                    let mut running: Vec<_> =
                        requests.iter_mut().filter(|it| it.permit.is_some()).collect();
                    if running.is_empty() {
                        continue;
                    }
                    let place = which % running.len();
                    let request = &mut running[place];
                    request.settled = request.most * share / 100;
                    let cost = PicoUsd(request.settled);
                    let permit = request.permit.take().unwrap();
                    permit.settle(Spend { tokens: 0, cost, most: cost }, moment(now).wall);
                }
                Op::Limit(limit) => {
                    budget = budget.map(|it| Budget { limit, ..it });
                    known = subjects(&ledger, budget);
                }
                Op::Set(limit, zone) => {
                    now += 1;
                    budget = Some(Budget { limit, zone: ZONES[zone], since: now });
                    known = subjects(&ledger, budget);
                }
                Op::Remove => {
                    budget = None;
                    known = subjects(&ledger, budget);
                }
            }
            let Some(budget) = budget else { continue };
            let views = known.views(moment(now));
            let start = Window::Day.span(&Zone::parse(budget.zone).unwrap(), now).start;
            let counts = requests.iter().filter(|it| it.at >= start.max(budget.since));
            prop_assert_eq!(views[0].used, Some(counts.map(|it| it.settled).sum::<u64>()));
            let running = requests.iter().filter(|it| it.permit.is_some());
            prop_assert_eq!(views[0].reserved, Some(running.map(|it| it.most).sum::<u64>()));
        }
    }
}

#[test]
fn a_limit_below_what_runs_refuses_until_enough_has_ended() {
    let ledger = Arc::new(Ledger::default());
    let budget = |limit| Some(Budget { limit, zone: "UTC", since: 0 });
    let now = both(UnixMillis(BEGIN * 1_000));
    let expires = now.steady.plus(Duration::from_secs(60));
    let most = |most| Spend { tokens: 0, cost: PicoUsd(0), most: PicoUsd(most) };
    let admit = |subjects: &LimitSubjects, wanted| {
        subjects.slot(now, expires).unwrap().admit(most(wanted), now, expires)
    };
    let wide = subjects(&ledger, budget(100));
    let running = [0; 2].map(|_| admit(&wide, 50).unwrap());
    let tight = subjects(&ledger, budget(60));
    assert_eq!(admit(&tight, 10).unwrap_err().retry_after, Some(Duration::from_secs(1)));
    for permit in running {
        permit.settle(Spend { tokens: 0, cost: PicoUsd(25), most: PicoUsd(25) }, now.wall);
    }
    assert!(admit(&tight, 11).is_err());
    assert!(admit(&tight, 10).is_ok());
}

#[test]
fn what_nothing_limits_any_more_is_forgotten() {
    let ledger = Arc::new(Ledger::default());
    let before = ledger.counters();
    for since in 0..100 {
        subjects(&ledger, Some(Budget { limit: 5, zone: "Europe/Berlin", since }));
        assert_eq!(ledger.counters(), before + 1);
    }
    subjects(&ledger, None);
    assert_eq!(ledger.counters(), before);
}
