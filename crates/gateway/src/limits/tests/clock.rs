//! The time of day is set while requests run: what they reserved stays reserved, and what they used
//! is counted.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use sluice_core::clock::{Moment, SteadyMillis, UnixMillis};
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Subject;

use super::super::{
    Allowance, Bound, LimitSubjects, Measure, Meter, Permit, Quantity, Source, Spend, Window, Zone,
};

/// 2026-11-21, 09:30 in UTC.
const BEGIN: UnixMillis = UnixMillis(1_795_253_400_000);
/// How long a reservation lasts, by the steady clock.
const LEASE: Duration = Duration::from_secs(150);
const LIMIT: u64 = 1_000;

fn of_money(window: Window) -> LimitSubjects {
    let allowance = Allowance {
        quantity: Quantity::Used(Meter::new(Measure::Usd, window, Zone::UTC)),
        limit: LIMIT,
        hard: true,
        source: Source::own(),
        budget: None,
    };
    let at_once = Allowance { quantity: Quantity::Concurrency, limit: 4, ..allowance.clone() };
    let (subject, ledger) = (Subject::Team("t".into()), Arc::default());
    LimitSubjects::new([Bound { subject, ledger, allowances: [allowance, at_once].into() }])
}

#[derive(Debug, Clone, Copy)]
enum Op {
    /// A request that can cost so much.
    Admit(u64),
    /// One of those that run ends, at such a share of what it can cost.
    Settle(usize, u64),
    /// Somebody sets the time of day, forward or back, by so many seconds.
    Set(bool, u64),
    /// So many seconds pass.
    Pass(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1..400_u64).prop_map(Op::Admit),
        3 => (any::<usize>(), 0..=100_u64).prop_map(|(which, share)| Op::Settle(which, share)),
        3 => (any::<bool>(), prop_oneof![0..600_u64, 0..400_000_u64, 0..100_000_000_u64])
            .prop_map(|(forward, seconds)| Op::Set(forward, seconds)),
        1 => (0..30_u64).prop_map(Op::Pass),
    ]
}

/// A request under way.
struct Request {
    permit: Permit,
    most: u64,
    admitted: SteadyMillis,
}

proptest! {
    #[test]
    fn a_clock_that_is_set_frees_nothing_and_forgets_nothing(
        window in prop::sample::select(Window::ALL.to_vec()),
        ops in prop::collection::vec(op(), 0..80),
    ) {
        let subjects = of_money(window);
        let bound = &subjects.bounds()[0];
        let money = &bound.allowances[0];
        let mut now = Moment { wall: BEGIN, steady: SteadyMillis(7) };
        let mut running: Vec<Request> = Vec::new();
        let mut settled = 0;
        for op in ops {
            match op {
                Op::Admit(most) => {
                    let expires = now.steady.plus(LEASE);
                    let wanted = Spend { tokens: 0, cost: PicoUsd(most / 2), most: PicoUsd(most) };
                    let places = subjects.slot(now, expires);
                    prop_assert_eq!(places.is_ok(), running.len() < 4);
                    let Ok(slot) = places else { continue };
                    if let Ok(permit) = slot.admit(wanted, now, expires) {
                        running.push(Request { permit, most, admitted: now.steady });
                    }
                }
                Op::Settle(which, share) => if !running.is_empty() {
                    let request = running.swap_remove(which % running.len());
                    let cost = PicoUsd(request.most * share / 100);
                    let admitted_at = request.permit.admitted_at();
                    let meter = money.quantity.meter().unwrap();
                    let (span, before) = bound.ledger.window(meter, now.wall);
                    request.permit.settle(Spend { tokens: 0, cost, most: cost }, now.wall);
                    let (_, after) = bound.ledger.window(meter, now.wall);
                    // A window of five hours that waits for its first use has none of its own.
                    let is_open = window == Window::Total || span.reset().is_some();
                    if is_open && span.contains(admitted_at.seconds()) {
                        prop_assert_eq!(after - before, cost.0);
                    }
                    settled += cost.0;
                },
                Op::Set(true, seconds) => now.wall = now.wall.plus(Duration::from_secs(seconds)),
                Op::Set(false, seconds) => now.wall.0 = now.wall.0.saturating_sub(seconds * 1_000),
                Op::Pass(seconds) => {
                    let by = Duration::from_secs(seconds);
                    now = Moment { wall: now.wall.plus(by), steady: now.steady.plus(by) };
                }
            }
            // Whoever runs longer than a lease would have been ended by the longest timeout.
            running.retain(|it| it.admitted.plus(LEASE) > now.steady);
            let reserved: u64 = running.iter().map(|it| it.most).sum();
            prop_assert_eq!(bound.ledger.reserved(money, now.steady), reserved);
            prop_assert_eq!(bound.ledger.in_flight(now.steady), running.len() as u64);
            let (_, used) = bound.ledger.window(money.quantity.meter().unwrap(), now.wall);
            if window == Window::Total {
                prop_assert_eq!(used, settled);
                prop_assert!(settled + reserved <= LIMIT);
            }
        }
    }
}

/// A jump of years ends no lease, and the request that runs meanwhile is counted.
#[test]
fn a_jump_of_years_leaves_reservations_as_they_are() {
    const YEARS: Duration = Duration::from_secs(10 * 365 * 86_400);
    let begin = Moment { wall: BEGIN, steady: SteadyMillis(0) };
    for ahead in [BEGIN.plus(YEARS), UnixMillis(BEGIN.0 / 2)] {
        let subjects = of_money(Window::Total);
        let most = |most| Spend { tokens: 0, cost: PicoUsd(0), most: PicoUsd(most) };
        let expires = begin.steady.plus(LEASE);
        let slot = subjects.slot(begin, expires).unwrap();
        let running = slot.admit(most(600), begin, expires).unwrap();
        let jumped = Moment { wall: ahead, ..begin };
        let slot = subjects.slot(jumped, expires).unwrap();
        let refused = slot.admit(most(600), jumped, expires).unwrap_err();
        assert_eq!(refused.retry_after, Some(Duration::from_secs(1)));
        running.settle(Spend { tokens: 0, cost: PicoUsd(500), most: PicoUsd(500) }, jumped.wall);
        let views = subjects.views(jumped);
        assert_eq!((views[0].used, views[0].reserved), (Some(500), Some(0)));
    }
}
