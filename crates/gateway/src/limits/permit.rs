//! Admission by all subjects of a request together, and the permit that gives back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sluice_core::clock::{Moment, SteadyMillis, UnixMillis};
use sluice_core::measure::Measure;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Subject;
use sluice_storage::{JournalEntry, WindowBegan};

use super::allowance::{Allowance, Meter, Quantity};
use super::ledger::{Admission, Asked};
use super::view::{AllowanceView, RateView, mark_what_binds};
use super::{Ledger, LimitExceeded, Spend, UNLIMITED};

/// A subject that a request counts against.
#[derive(Debug, Clone)]
pub struct Bound {
    /// Who.
    pub subject: Subject,
    /// What it has used.
    pub ledger: Arc<Ledger>,
    /// What it may use, in the order in which the limits answer.
    pub allowances: Arc<[Allowance]>,
}

/// All that a request counts against, in the order in which they answer: the key first.
#[derive(Debug, Clone)]
pub struct LimitSubjects {
    bounds: Arc<[Bound]>,
    money: Money,
}

/// Whether any limit of a request is one of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Money {
    /// None is.
    Unlimited,
    /// Going beyond it is noted: what a request will probably cost is reserved.
    Noted,
    /// It must not be exceeded: the most that a request can cost is reserved.
    Bound,
}

/// A window of five hours has begun. It has to be written down, for nothing else tells when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiveHoursBegan {
    /// Whose.
    pub subject: Subject,
    /// Its first second, Unix time.
    pub start: u64,
}

impl From<&FiveHoursBegan> for JournalEntry {
    fn from(began: &FiveHoursBegan) -> Self {
        let FiveHoursBegan { subject, start } = began;
        Self::Window(WindowBegan { subject: subject.to_string(), start: *start })
    }
}

/// Names reservations within this process.
static NEXT_LEASE: AtomicU64 = AtomicU64::new(1);

impl Bound {
    fn asked(&self) -> Asked<'_> {
        let is_of_session = self.allowances.first().is_some_and(Allowance::is_of_each_session);
        let name = match &self.subject {
            Subject::Key(_) if is_of_session => "this session of this key",
            Subject::Account(_) if is_of_session => "this session of this account",
            Subject::Department(_) if is_of_session => "this session of this key's department",
            Subject::Team(_) if is_of_session => "this session of this key's team",
            Subject::Person(_) if is_of_session => "this session of this key's person",
            Subject::Service(_) if is_of_session => "this session of this key's service",
            Subject::Key(_) => "this key",
            Subject::Account(_) => "this account",
            Subject::Department(_) => "this key's department",
            Subject::Team(_) => "this key's team",
            Subject::Person(_) => "this key's person",
            Subject::Service(_) => "this key's service",
        };
        Asked { name, allowances: &self.allowances }
    }

    pub(super) fn views(&self, now: Moment) -> impl Iterator<Item = AllowanceView> {
        self.allowances.iter().map(move |allowance| {
            let (used, reserved, reset) = match &allowance.quantity {
                Quantity::Concurrency => (self.ledger.in_flight(now.steady), 0, None),
                Quantity::Used(meter) => {
                    let reserved = self.ledger.reserved(allowance, now.steady);
                    let (span, used) = self.ledger.window(meter, now.wall);
                    (used, reserved, span.reset())
                }
            };
            AllowanceView {
                subject: self.subject.clone(),
                allowance: Allowance { limit: allowance.limit_at(now.wall), ..allowance.clone() },
                used: Some(used),
                reserved: Some(reserved),
                reset,
                binds: false,
            }
        })
    }
}

impl LimitSubjects {
    /// All of `bounds`, whose ledgers count what their allowances limit from now on.
    pub fn new(bounds: impl Into<Arc<[Bound]>>) -> Self {
        let bounds = bounds.into();
        for bound in &*bounds {
            bound.ledger.watch(&bound.allowances);
        }
        let allowances = bounds.iter().flat_map(|bound| &*bound.allowances);
        let of_money = allowances.filter(|allowance| allowance.measures(Measure::Usd));
        let money = of_money.map(|it| if it.hard { Money::Bound } else { Money::Noted }).max();
        Self { bounds, money: money.unwrap_or(Money::Unlimited) }
    }

    /// Whether any of their limits is one of money.
    pub fn money(&self) -> Money {
        self.money
    }

    /// The least that is left of the limits of money that must not be exceeded; `None` without one.
    pub fn money_left(&self, now: Moment) -> Option<PicoUsd> {
        let of_bound = |bound: &Bound| {
            let hard = bound.allowances.iter().filter(|it| it.is_hard_money());
            hard.map(|it| bound.ledger.left(it, now)).min()
        };
        self.bounds.iter().filter_map(of_bound).min().map(PicoUsd)
    }

    /// Each subject.
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// A place among the requests at once, for a request whose body is still to be read; or which
    /// limit stands in the way. It is given back when it is dropped.
    pub fn slot(&self, now: Moment, expires: SteadyMillis) -> Result<Slot, LimitExceeded> {
        let lease = NEXT_LEASE.fetch_add(1, Ordering::Relaxed);
        for (place, bound) in self.bounds.iter().enumerate() {
            if let Err(exceeded) = bound.ledger.hold(bound.asked(), (lease, expires), now) {
                self.bounds[..place].iter().for_each(|bound| bound.ledger.unreserve(lease));
                return Err(exceeded);
            }
        }
        let (subjects, began) = (self.clone(), Vec::new());
        Ok(Slot(Permit {
            subjects,
            lease,
            admitted_at: now.wall,
            work_at: None,
            settled: false,
            over_soft: false,
            began,
        }))
    }

    /// The request window with the least left right now.
    pub fn rate(&self, now: UnixMillis) -> RateView {
        let mut least: Option<RateView> = None;
        for bound in &*self.bounds {
            let rate = bound.ledger.rate(&bound.allowances, now);
            if let Some(rate) = rate
                && least.is_none_or(|least| rate.remaining < least.remaining)
            {
                least = Some(rate);
            }
        }
        least.unwrap_or_else(|| self.unlimited_rate(now))
    }

    fn unlimited_rate(&self, now: UnixMillis) -> RateView {
        let counted = self.bounds.first().map(|it| it.ledger.window(&Meter::REQUESTS_AN_HOUR, now));
        let (span, used) = counted.unwrap_or((super::Span { start: 0, end: 0 }, 0));
        RateView::of(UNLIMITED, used, span)
    }

    /// Every allowance, with what is left of it. The one that binds is marked.
    pub fn views(&self, now: Moment) -> Vec<AllowanceView> {
        let mut views: Vec<_> = self.bounds.iter().flat_map(|bound| bound.views(now)).collect();
        mark_what_binds(&mut views);
        views
    }
}

/// A place among the requests at once. Gives it back when it is dropped.
#[derive(Debug)]
pub struct Slot(Permit);

impl Slot {
    /// Admits the request, which will probably use `wanted`, or says which limit stands in the way.
    /// It counts in the windows that are open at `now`, however long ago it began.
    ///
    /// Each ledger checks and reserves in one step; where one refuses, the shares of those before
    /// it are taken back.
    pub fn admit(
        self,
        wanted: Spend,
        now: Moment,
        expires: SteadyMillis,
    ) -> Result<Permit, LimitExceeded> {
        let Self(mut permit) = self;
        permit.admitted_at = now.wall;
        let subjects = permit.subjects.clone();
        let admission = Admission { lease: permit.lease, wanted, expires };
        for bound in &*subjects.bounds {
            bound.asked().has_room_for(wanted, now.wall)?;
        }
        for bound in &*subjects.bounds {
            match bound.ledger.admit(bound.asked(), &admission, now) {
                Ok(noted) => {
                    permit.over_soft |= noted.over_soft;
                    // Another thread may have begun a window by a clock that was a moment ahead.
                    let counted_at = UnixMillis(noted.counted_at.saturating_mul(1000));
                    permit.admitted_at = permit.admitted_at.max(counted_at);
                    if let Some(start) = noted.five_hours_from {
                        let subject = bound.subject.clone();
                        permit.began.push(FiveHoursBegan { subject, start });
                    }
                }
                Err(exceeded) => {
                    permit.cancel();
                    return Err(exceeded);
                }
            }
        }
        if !permit.began.is_empty() {
            subjects.bounds.iter().for_each(|bound| bound.ledger.five_hours_told());
        }
        Ok(permit)
    }

    /// The request counts against `sessions`, too, which are known only once its body is.
    #[must_use]
    pub(crate) fn of_session(self, sessions: Vec<Bound>) -> Self {
        let Self(mut permit) = self;
        let bounds: Vec<Bound> = permit.subjects.bounds.iter().cloned().chain(sessions).collect();
        permit.subjects = LimitSubjects::new(bounds);
        Self(permit)
    }

    /// All that the request counts against.
    pub(crate) fn subjects(&self) -> &LimitSubjects {
        &self.0.subjects
    }

    /// The request is work from `now` on: it counts even where it is refused, so that whoever sends
    /// such requests again and again runs out of them.
    pub fn is_work(&mut self, now: UnixMillis) {
        self.0.work_at = Some(now);
    }
}

/// The right to call a provider. Gives back what it reserved when it is dropped.
#[derive(Debug)]
pub struct Permit {
    subjects: LimitSubjects,
    lease: u64,
    admitted_at: UnixMillis,
    /// It counts whatever becomes of it.
    work_at: Option<UnixMillis>,
    settled: bool,
    over_soft: bool,
    began: Vec<FiveHoursBegan>,
}

impl Permit {
    /// The moment that says in which windows the request counts, here and in its record.
    pub fn admitted_at(&self) -> UnixMillis {
        self.admitted_at
    }

    /// Whether the request goes beyond a soft limit.
    pub fn is_over_a_soft_limit(&self) -> bool {
        self.over_soft
    }

    /// The windows of five hours that this request began.
    pub fn five_hours_began(&self) -> &[FiveHoursBegan] {
        &self.began
    }

    /// Whether any limit of the request is one of money.
    pub(crate) fn money(&self) -> Money {
        self.subjects.money
    }

    /// Reserves `wanted` in place of what is reserved: the prompt has grown, or another provider is to
    /// be asked and the one before may bill, too. With nothing changed it tells which limit stands in
    /// the way, or `None` where the reservation has lapsed.
    pub(crate) fn reserve_again(
        &mut self,
        wanted: Spend,
        now: Moment,
    ) -> Result<(), Option<LimitExceeded>> {
        let bounds = &self.subjects.bounds;
        let mut before = Vec::with_capacity(bounds.len());
        for bound in &**bounds {
            match bound.ledger.reserve_again(bound.asked(), (self.lease, wanted), now) {
                Ok(reserved) => before.push(reserved),
                Err(refusal) => {
                    for (bound, reserved) in bounds.iter().zip(before) {
                        bound.ledger.put_reserved(self.lease, reserved);
                    }
                    return Err(refusal);
                }
            }
        }
        Ok(())
    }

    /// The least that is left of the limits of money that must not be exceeded, beside what is
    /// reserved; `None` without such a limit.
    pub(crate) fn money_left(&self, now: Moment) -> Option<PicoUsd> {
        self.subjects.money_left(now)
    }

    /// Replaces the reservation by what was really used.
    pub fn settle(mut self, used: Spend, now: UnixMillis) {
        if !std::mem::replace(&mut self.settled, true) {
            for bound in &*self.subjects.bounds {
                bound.ledger.settle(self.lease, used, self.admitted_at, now);
            }
        }
    }

    /// The request was never sent: takes it back altogether, unless it was work already.
    pub fn cancel(mut self) {
        if self.work_at.is_none() && !std::mem::replace(&mut self.settled, true) {
            for bound in &*self.subjects.bounds {
                bound.ledger.unreserve(self.lease);
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // Nothing was used, and the clock is not at hand.
        if !std::mem::replace(&mut self.settled, true) {
            for bound in &*self.subjects.bounds {
                if let Some(now) = self.work_at {
                    bound.ledger.count(self.lease, now);
                }
                bound.ledger.give_back(self.lease);
            }
        }
    }
}
