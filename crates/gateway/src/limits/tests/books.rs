//! The books are right whatever happens: several subjects, measures and windows against the
//! simplest possible book-keeping, which keeps every event and adds up what lies in a window.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Subject;

use super::super::{
    Allowance, Bound, LimitSubjects, Measure, Meter, Permit, Quantity, Source, Spend, Window, Zone,
};
use super::both;

/// 2026-10-24T20:00:00Z: clocks go back in Berlin that night, and a week and a month end soon.
const BEGIN: u64 = 1_792_872_000;
/// How long a reservation lasts, in seconds.
const LEASE: u64 = 2 * 3_600;

fn used(measure: Measure, window: Window, zone: &str, limit: u64) -> Allowance {
    let meter = Meter::new(measure, window, Zone::parse(zone).unwrap());
    Allowance {
        quantity: Quantity::Used(meter),
        limit,
        hard: true,
        source: Source::own(),
        budget: None,
    }
}

fn at_once(limit: u64) -> Allowance {
    Allowance {
        quantity: Quantity::Concurrency,
        limit,
        hard: true,
        source: Source::own(),
        budget: None,
    }
}

fn subjects() -> LimitSubjects {
    let bound = |subject, allowances: Vec<Allowance>| Bound {
        subject,
        ledger: Arc::default(),
        allowances: allowances.into(),
    };
    LimitSubjects::new([
        bound(
            Subject::Key("k".into()),
            vec![
                used(Measure::Requests, Window::Hour, "Asia/Kathmandu", 6),
                at_once(4),
                used(Measure::Tokens, Window::Day, "Europe/Berlin", 1_500),
                used(Measure::Usd, Window::FiveHours, "UTC", 900),
                Allowance { hard: false, ..used(Measure::Usd, Window::Day, "UTC", 500) },
            ],
        ),
        bound(
            Subject::Person("p".into()),
            vec![
                used(Measure::Requests, Window::FiveHours, "UTC", 9),
                Allowance { hard: false, ..used(Measure::Tokens, Window::Hour, "UTC", 10) },
            ],
        ),
        bound(
            Subject::Team("t".into()),
            vec![used(Measure::Tokens, Window::Week, "America/St_Johns", 6_000)],
        ),
        bound(
            Subject::Account("a".into()),
            vec![
                used(Measure::Requests, Window::Month, "Pacific/Apia", 60),
                at_once(5),
                used(Measure::Usd, Window::Total, "UTC", 9_000),
            ],
        ),
    ])
}

#[derive(Debug, Clone, Copy)]
enum Op {
    /// A request whose body takes so many seconds to arrive.
    Admit(Spend, u64),
    Settle(usize, Spend),
    Cancel(usize),
    Lose(usize),
    Pass(u64),
}

fn spend() -> impl Strategy<Value = Spend> {
    let cost = prop_oneof![Just((0, 0)), (1..600_u64, 0..300_u64)];
    (0..700_u64, cost).prop_map(|(tokens, (cost, more))| Spend {
        tokens,
        cost: PicoUsd(cost),
        most: PicoUsd(cost + more),
    })
}

/// Most bodies are there at once; some arrive only after a window has begun.
fn body() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0), 1 => 0..120_u64, 1 => 0..100_000_u64]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (spend(), body()).prop_map(|(wanted, body)| Op::Admit(wanted, body)),
        4 => (any::<usize>(), spend()).prop_map(|(which, spend)| Op::Settle(which, spend)),
        1 => any::<usize>().prop_map(Op::Cancel),
        1 => any::<usize>().prop_map(Op::Lose),
        2 => prop_oneof![0..90_u64, 0..9_000_u64, 0..200_000_u64].prop_map(Op::Pass),
    ]
}

/// A request that was admitted.
struct Request {
    at: u64,
    permit: Option<Permit>,
    reserved: Spend,
    settled: Spend,
    counts: bool,
}

#[derive(Default)]
struct Books {
    requests: Vec<Request>,
    /// When the five hours of each subject began.
    five_hours: Vec<Option<u64>>,
}

impl Books {
    fn start(&self, place: usize, meter: &Meter, now: u64) -> Option<u64> {
        match meter.window {
            Window::FiveHours => self.five_hours[place].filter(|start| now < start + 5 * 3_600),
            window => Some(window.span(&meter.zone, now).start),
        }
    }

    fn used(&self, place: usize, meter: &Meter, now: u64) -> u64 {
        let Some(start) = self.start(place, meter, now) else { return 0 };
        let of_window = self.requests.iter().filter(|it| it.counts && it.at >= start);
        of_window.map(|it| figure(meter.measure, it.settled)).sum()
    }

    fn running(&self, now: u64) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(move |it| it.permit.is_some() && it.at + LEASE > now)
    }

    fn fits(&self, place: usize, allowance: &Allowance, wanted: Spend, now: u64) -> bool {
        let Some(meter) = allowance.quantity.meter() else {
            return (self.running(now).count() as u64) < allowance.limit;
        };
        let wanted = wish(allowance, wanted);
        if meter.measure == Measure::Usd && wanted == 0 {
            return true;
        }
        self.used(place, meter, now) + self.reserved(allowance, now) + wanted <= allowance.limit
    }

    fn reserved(&self, allowance: &Allowance, now: u64) -> u64 {
        match allowance.quantity.meter().map(|meter| meter.measure) {
            None | Some(Measure::Requests) => 0,
            Some(_) => self.running(now).map(|it| wish(allowance, it.reserved)).sum(),
        }
    }
}

/// How much of it a request reserves: of money that must not be exceeded, the most that it can cost.
fn wish(allowance: &Allowance, wanted: Spend) -> u64 {
    match allowance.quantity.meter().map(|meter| meter.measure) {
        None => 0,
        Some(Measure::Usd) if allowance.hard => wanted.most.0,
        Some(measure) => figure(measure, wanted),
    }
}

/// Whether it refuses a request before its size is known.
fn of_any_size(allowance: &Allowance) -> bool {
    allowance.quantity.meter().is_none_or(|meter| meter.measure == Measure::Requests)
}

/// How much a request is.
fn figure(measure: Measure, spend: Spend) -> u64 {
    match measure {
        Measure::Requests => 1,
        Measure::Tokens => spend.tokens,
        Measure::Usd => spend.cost.0,
    }
}

fn moment(seconds: u64) -> UnixMillis {
    UnixMillis(seconds * 1_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_books_are_right_whatever_happens(ops in prop::collection::vec(op(), 0..120)) {
        let subjects = subjects();
        let bounds = subjects.bounds();
        let mut books = Books { five_hours: vec![None; bounds.len()], ..Books::default() };
        let mut now = BEGIN;
        for op in ops {
            let open: Vec<usize> =
                (0..books.requests.len()).filter(|it| books.requests[*it].permit.is_some()).collect();
            let pick = |which: usize| (!open.is_empty()).then(|| open[which % open.len()]);
            match op {
                Op::Pass(seconds) => now += seconds,
                Op::Admit(wanted, body) => {
                    let has_place = bounds.iter().enumerate().all(|(place, bound)| {
                        let hard = bound.allowances.iter().filter(|it| it.hard && of_any_size(it));
                        hard.into_iter().all(|it| books.fits(place, it, wanted, now))
                    });
                    let slot = subjects.slot(both(moment(now)), both(moment(now + body + LEASE)).steady);
                    prop_assert_eq!(slot.is_ok(), has_place, "{:?}", slot);
                    let Ok(slot) = slot else { continue };
                    now += body;
                    let fits = bounds.iter().enumerate().all(|(place, bound)| {
                        let hard = bound.allowances.iter().filter(|it| it.hard);
                        hard.into_iter().all(|it| books.fits(place, it, wanted, now))
                    });
                    let expires = both(moment(now + LEASE)).steady;
                    let admitted = slot.admit(wanted, both(moment(now)), expires);
                    prop_assert_eq!(admitted.is_ok(), fits, "{:?}", admitted);
                    let Ok(permit) = admitted else { continue };
                    for (place, bound) in bounds.iter().enumerate() {
                        let is_of_five = |it: &&Allowance| {
                            it.quantity.meter().is_some_and(|it| it.window == Window::FiveHours)
                        };
                        let Some(allowance) = bound.allowances.iter().find(is_of_five) else { continue };
                        let meter = allowance.quantity.meter().unwrap();
                        let began = permit.five_hours_began().iter().any(|it| it.subject == bound.subject);
                        prop_assert_eq!(began, books.start(place, meter, now).is_none());
                        if began {
                            books.five_hours[place] = Some(now);
                        }
                    }
                    let (reserved, settled) = (wanted, Spend::default());
                    let permit = Some(permit);
                    books.requests.push(Request { at: now, permit, reserved, settled, counts: true });
                }
                Op::Settle(which, spent) => if let Some(place) = pick(which) {
                    let request = &mut books.requests[place];
                    let permit = request.permit.take().unwrap();
                    // A lease that lapsed long ago is forgotten.
                    if now < request.at + LEASE + 80_000 {
                        permit.settle(spent, moment(now));
                        request.settled = spent;
                    }
                },
                Op::Cancel(which) => if let Some(place) = pick(which) {
                    let request = &mut books.requests[place];
                    let permit = request.permit.take().unwrap();
                    // Nobody cancels what has lapsed.
                    if now < request.at + LEASE {
                        permit.cancel();
                        request.counts = false;
                    }
                },
                Op::Lose(which) => if let Some(place) = pick(which) {
                    books.requests[place].permit = None;
                },
            }
            for (place, bound) in bounds.iter().enumerate() {
                prop_assert_eq!(bound.ledger.in_flight(both(moment(now)).steady), books.running(now).count() as u64);
                for allowance in &*bound.allowances {
                    let Some(meter) = allowance.quantity.meter() else { continue };
                    let (_, used) = bound.ledger.window(meter, moment(now));
                    prop_assert_eq!(used, books.used(place, meter, now), "{:?} {:?}", bound.subject, meter);
                    let reserved = books.reserved(allowance, now);
                    prop_assert_eq!(bound.ledger.reserved(allowance, both(moment(now)).steady), reserved);
                }
            }
        }
    }

    /// A clock that is ahead for a moment gives no second window: what was used before and meanwhile
    /// is used when it is right again.
    #[test]
    fn a_clock_that_jumps_forward_and_returns_gives_nothing(
        window in prop::sample::select(Window::ALL.to_vec()),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "Pacific/Apia"]),
        jump in prop_oneof![0..8_000_u64, 0..100_000_000_u64],
        requests in (1..3_u64, 0..3_u64, 0..3_u64),
        settles_ahead in any::<bool>(),
    ) {
        let (before, meanwhile, after) = requests;
        // A minute before the end of a window, threads may still disagree about the time.
        let begin = BEGIN + 600;
        let requests_and_tokens = [
            used(Measure::Requests, window, zone, 1_000),
            used(Measure::Tokens, window, zone, 1_000),
        ];
        let (ledger, subject) = (Arc::default(), Subject::Key("k".into()));
        let bound = Bound { subject, ledger, allowances: requests_and_tokens.into() };
        let subjects = LimitSubjects::new([bound]);
        let one = Spend { tokens: 10, ..Spend::default() };
        let request = |now: u64| {
            let expires = both(moment(now + LEASE)).steady;
            let slot = subjects.slot(both(moment(now)), expires).unwrap();
            slot.admit(Spend::default(), both(moment(now)), expires).unwrap()
        };
        let held: Vec<_> = (0..before).map(|_| request(begin)).collect();
        let ahead = begin + jump;
        let settled_at = if settles_ahead { ahead } else { begin };
        held.into_iter().for_each(|permit| permit.settle(one, moment(settled_at)));
        (0..meanwhile).for_each(|_| request(ahead).settle(one, moment(ahead)));
        (0..after).for_each(|_| request(begin + 1).settle(one, moment(begin + 1)));
        let views = subjects.views(both(moment(begin + 1)));
        let used: Vec<u64> = views.iter().filter_map(|view| view.used).collect();
        let total = before + meanwhile + after;
        prop_assert_eq!(used, [total, 10 * total]);
    }

    /// A clock that is set back gives nothing, and nobody waits longer than a window, wherever the
    /// clock has been.
    #[test]
    fn a_clock_that_jumps_opens_no_fresh_window_and_locks_nobody_out(
        jumps in prop::collection::vec((any::<bool>(), 0..100_000_000_u64, 0..4_usize), 1..30),
        window in prop::sample::select(Window::ALL.to_vec()),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "Pacific/Apia"]),
    ) {
        const LONGEST: u64 = 31 * 86_400 + 3_600;
        let allowances: Arc<[Allowance]> = [used(Measure::Requests, window, zone, 5)].into();
        let ledger = Arc::default();
        let subject = Subject::Key("k".into());
        let subjects = LimitSubjects::new([Bound { subject, ledger, allowances }]);
        let mut now = BEGIN;
        for (back, seconds, requests) in jumps {
            let left = subjects.rate(moment(now)).remaining;
            now = if back { now.saturating_sub(seconds) } else { now + seconds };
            if back {
                // What was used in the window to which it returns comes on top.
                prop_assert!(subjects.rate(moment(now)).remaining <= left);
            }
            for _ in 0..requests {
                let expires = both(moment(now + LEASE)).steady;
                let slot = subjects.slot(both(moment(now)), expires);
                match slot.and_then(|it| it.admit(Spend::default(), both(moment(now)), expires)) {
                    Ok(permit) => permit.settle(Spend::default(), moment(now)),
                    Err(refused) => {
                        let Some(wait) = refused.retry_after else {
                            prop_assert_eq!(window, Window::Total);
                            continue;
                        };
                        prop_assert!(wait <= Duration::from_secs(LONGEST));
                        let later = moment(now).plus(wait);
                        prop_assert_eq!(subjects.rate(later).remaining, 5);
                        now = later.seconds();
                    }
                }
            }
        }
    }
}
