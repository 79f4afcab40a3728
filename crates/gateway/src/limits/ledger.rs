//! What one subject has used, and what is reserved.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sluice_core::clock::{Moment, SteadyMillis, UnixMillis};
use sluice_core::measure::Measure;
use sluice_core::window::{Span, Window, Zone};

use super::allowance::{Allowance, Meter, Quantity};
use super::counter::{CLOCK_SKEW_SECONDS, Counter};
use super::spend::Spend;
use super::view::RateView;
use super::{LimitExceeded, More};

/// A request that asks for admission.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admission {
    /// Names the reservation. Settling by it counts once, however often it is done.
    pub(super) lease: u64,
    /// What the request will probably use.
    pub(super) wanted: Spend,
    /// When the reservation lapses by itself.
    pub(super) expires: SteadyMillis,
}

/// Whose limits are asked, and which they are, in the order in which they answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// `this key` or `this account`.
    pub(super) name: &'static str,
    pub(super) allowances: &'a [Allowance],
}

/// What is to be noted of a request that was admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Noted {
    /// It goes beyond a soft limit.
    pub(super) over_soft: bool,
    /// The second in which the request was counted.
    pub(super) counted_at: u64,
    /// A window of five hours has begun at this second, and nobody has been told: see
    /// [`Ledger::five_hours_told`].
    pub(super) five_hours_from: Option<u64>,
}

/// What one subject has used and reserved.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<State>);

#[derive(Debug)]
struct State {
    counters: Vec<Counter>,
    /// The moments between which no window begins or ends.
    unchanged: Span,
    reserved: Spend,
    leases: HashMap<u64, Lease>,
    /// Leases that lapsed and may still settle, and when they lapsed.
    lapsed: HashMap<u64, SteadyMillis>,
    /// The first second of a window of five hours that nobody has been told of yet.
    untold: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    reserved: Spend,
    expires: SteadyMillis,
    /// The second in which its request was counted; `None` while it only holds a place among the
    /// requests at once.
    counted_at: Option<u64>,
}

/// How long a lease that has lapsed is remembered. Nobody is at work on its request that long.
const LAPSED_KEPT: Duration = Duration::from_secs(86_400);

impl Asked<'_> {
    /// Whether so much fits into an empty window; where it does not, waiting never helps.
    pub(super) fn has_room_for(&self, wanted: Spend, now: UnixMillis) -> Result<(), LimitExceeded> {
        for allowance in self.allowances.iter().filter(|allowance| allowance.hard) {
            let limit = allowance.limit_at(now);
            // A limit of 0 blocks everything, whatever its size: it is no fault of this request.
            if limit == 0 {
                continue;
            }
            let Some(figure) = allowance.of(wanted).filter(|it| *it > limit) else { continue };
            let refusal = self.refusal(allowance, limit, String::new(), None);
            let too_large = Some(allowance.quantity.amount(figure));
            return Err(LimitExceeded { too_large, ..refusal });
        }
        Ok(())
    }

    fn refusal(
        &self,
        allowance: &Allowance,
        limit: u64,
        detail: String,
        retry_after: Option<Duration>,
    ) -> LimitExceeded {
        LimitExceeded {
            subject: self.name,
            limit: allowance.quantity.amount(limit),
            what: allowance.what(),
            detail: detail.into(),
            setting: allowance.source.setting.clone(),
            more: allowance.budget.as_ref().map(|budget| {
                let (budget, each_session) = (Some(budget.id.clone()), budget.each_session);
                Box::new(More { budget, page: None, each_session })
            }),
            retry_after,
            too_large: None,
        }
    }
}

impl Ledger {
    /// Of a session: it counts what its budgets limit, and nothing else.
    pub(super) fn of_session() -> Self {
        Self(Mutex::new(State { counters: Vec::new(), ..State::default() }))
    }

    /// Counts from now on what `allowances` limit, from zero where that is new.
    pub fn watch(&self, allowances: &[Allowance]) {
        let mut state = self.lock();
        for meter in allowances.iter().filter_map(|allowance| allowance.quantity.meter()) {
            state.watch(meter);
        }
    }

    /// Forgets what was counted for limits that are not there any more: `allowances` are all that the
    /// subject has. A budget that is set again later begins at zero.
    pub fn forget_all_but(&self, allowances: &[Allowance]) {
        let mut state = self.lock();
        let is_kept = |meter: &Meter| {
            [Meter::REQUESTS_AN_HOUR, Meter::TOKENS_A_DAY].contains(meter)
                || allowances.iter().any(|it| it.quantity.meter() == Some(meter))
        };
        if state.counters.iter().any(|counter| !is_kept(&counter.meter)) {
            state.counters.retain(|counter| is_kept(&counter.meter));
            state.note_spans();
        }
    }

    /// How many windows it counts.
    #[cfg(test)]
    pub(super) fn counters(&self) -> usize {
        self.lock().counters.len()
    }

    /// Takes over what the database knows of the window of `meter` that began at `start`; keeps
    /// what is higher. Windows that are over count for nothing, and neither do those that lie
    /// ahead: a wrong clock wrote them.
    pub fn restore(&self, meter: &Meter, (start, used): (u64, u64), now: UnixMillis) {
        let mut state = self.lock();
        state.watch(meter);
        state.roll(now);
        if let Some(counter) = state.counter_mut(meter) {
            counter.take_over(start, used);
        }
    }

    /// The same for a window of five hours, which is opened again unless it is over, lies ahead or
    /// another one is open.
    pub fn restore_five_hours(&self, meter: &Meter, (start, used): (u64, u64), now: UnixMillis) {
        let mut state = self.lock();
        state.watch(meter);
        state.roll(now);
        let span = Window::FiveHours.span(&Zone::UTC, start);
        if span.contains(now.seconds()) {
            state.open_five_hours(span);
        }
        if let Some(counter) = state.counter_mut(meter) {
            counter.take_over(start, used);
        }
    }

    /// The window of `meter` at `now`, and what was used in it.
    pub fn window(&self, meter: &Meter, now: UnixMillis) -> (Span, u64) {
        let mut state = self.lock();
        state.roll(now);
        state
            .counter(meter)
            .map_or((Span { start: 0, end: u64::MAX }, 0), |counter| (counter.span, counter.used))
    }

    /// The request window of `allowances` with the least left, if they limit requests.
    pub(super) fn rate(&self, allowances: &[Allowance], now: UnixMillis) -> Option<RateView> {
        let mut state = self.lock();
        state.roll(now);
        let mut least: Option<RateView> = None;
        for allowance in allowances.iter().filter(|allowance| allowance.hard) {
            let Some(counter) = allowance.quantity.meter().and_then(|meter| {
                state.counter(meter).filter(|_| meter.measure == Measure::Requests)
            }) else {
                continue;
            };
            let rate = RateView::of(allowance.limit_at(now), counter.used, counter.span);
            if least.is_none_or(|least| rate.remaining < least.remaining) {
                least = Some(rate);
            }
        }
        least
    }

    /// What is reserved of what `allowance` limits.
    pub fn reserved(&self, allowance: &Allowance, now: SteadyMillis) -> u64 {
        let mut state = self.lock();
        state.expire(now);
        allowance.of(state.reserved).unwrap_or(0)
    }

    /// What is left of a limit that adds up, beside what is used and reserved.
    pub(super) fn left(&self, allowance: &Allowance, now: Moment) -> u64 {
        let mut state = self.lock();
        state.roll(now.wall);
        state.expire(now.steady);
        let counter = allowance.quantity.meter().and_then(|meter| state.counter(meter));
        let used = counter.map_or(0, |counter| counter.used);
        let reserved = allowance.of(state.reserved).unwrap_or(0);
        allowance.limit_at(now.wall).saturating_sub(used).saturating_sub(reserved)
    }

    /// Tokens used and reserved in the current day.
    pub fn tokens_used(&self, now: UnixMillis) -> u64 {
        let mut state = self.lock();
        state.roll(now);
        let used = state.counter(&Meter::TOKENS_A_DAY).map_or(0, |counter| counter.used);
        used.saturating_add(state.reserved.tokens)
    }

    /// Requests under way.
    pub fn in_flight(&self, now: SteadyMillis) -> u64 {
        let mut state = self.lock();
        state.expire(now);
        state.leases.len() as u64
    }

    /// Takes a place among the requests at once, for a request whose size is not known yet. It is
    /// neither counted nor reserves anything; where there is no request left to be counted, there
    /// is no place either.
    pub(super) fn hold(
        &self,
        asked: Asked<'_>,
        (lease, expires): (u64, SteadyMillis),
        now: Moment,
    ) -> Result<(), LimitExceeded> {
        let mut state = self.lock();
        state.roll(now.wall);
        state.check(asked, lease, None, now)?;
        let held = Lease { reserved: Spend::default(), expires, counted_at: None };
        state.leases.insert(lease, held);
        Ok(())
    }

    /// Counts the request that holds the place `lease`, without admitting it: it was refused only
    /// after it had been work. It begins no window of five hours.
    pub(super) fn count(&self, lease: u64, now: UnixMillis) {
        let mut state = self.lock();
        state.roll(now);
        if state.leases.get(&lease).is_some_and(|lease| lease.counted_at.is_none()) {
            let counted_at = state.count(now.seconds());
            if let Some(lease) = state.leases.get_mut(&lease) {
                lease.counted_at = Some(counted_at);
            }
        }
    }

    /// Counts the request and makes its reservation, in one step; or says why it may not go ahead,
    /// and changes nothing. The place that the request holds already becomes its reservation.
    pub(super) fn admit(
        &self,
        asked: Asked<'_>,
        admission: &Admission,
        now: Moment,
    ) -> Result<Noted, LimitExceeded> {
        let mut state = self.lock();
        state.roll(now.wall);
        let over_soft = state.check(asked, admission.lease, Some(admission.wanted), now)?;
        state.begin_five_hours(now.wall.seconds());
        let five_hours_from = state.untold;
        let counted_at = state.count(now.wall.seconds());
        state.reserved = state.reserved.plus(admission.wanted);
        let (reserved, expires) = (admission.wanted, admission.expires);
        let lease = Lease { reserved, expires, counted_at: Some(counted_at) };
        state.leases.insert(admission.lease, lease);
        state.lapsed.remove(&admission.lease);
        Ok(Noted { over_soft, counted_at, five_hours_from })
    }

    /// Takes a reservation back, together with its request: another limit stood in the way.
    pub(super) fn unreserve(&self, lease: u64) {
        let mut state = self.lock();
        let Some(Lease { counted_at: Some(counted_at), .. }) = state.release(lease) else { return };
        for counter in state.counters.iter_mut().filter(|it| it.meter.measure == Measure::Requests)
        {
            counter.take_back(1, counted_at);
        }
        state.close_five_hours_unless_used();
    }

    /// Reserves `wanted` in place of what the running request has reserved, and returns that. With
    /// nothing changed it tells which limit stands in the way, or `None` where the reservation has
    /// lapsed. The request is counted already, so limits of requests do not matter.
    pub(super) fn reserve_again(
        &self,
        asked: Asked<'_>,
        (lease, wanted): (u64, Spend),
        now: Moment,
    ) -> Result<Spend, Option<LimitExceeded>> {
        let mut state = self.lock();
        state.roll(now.wall);
        state.expire(now.steady);
        let before = state.leases.get(&lease).ok_or(None)?.reserved;
        state.put_reserved(lease, Spend::default());
        let mut of_size = asked.allowances.iter().filter(|it| it.hard && it.of(wanted).is_some());
        let too_small = of_size.find(|it| !state.fits(it, lease, Some(wanted), now.wall));
        let refusal = too_small.map(|it| state.refusal(asked, it, Some(wanted), now.wall));
        state.put_reserved(lease, if refusal.is_none() { wanted } else { before });
        match refusal {
            None => Ok(before),
            refusal => Err(refusal),
        }
    }

    /// Takes [`Ledger::reserve_again`] back: another limit stood in the way.
    pub(super) fn put_reserved(&self, lease: u64, before: Spend) {
        self.lock().put_reserved(lease, before);
    }

    /// The window of five hours that began last is written down.
    pub(super) fn five_hours_told(&self) {
        self.lock().untold = None;
    }

    /// Gives a reservation back without any use; its request stays counted.
    pub(super) fn give_back(&self, lease: u64) {
        let mut state = self.lock();
        state.release(lease);
        state.lapsed.remove(&lease);
    }

    /// Replaces a reservation by what was really used, even where it has lapsed in the meantime.
    /// What was used belongs to the window in which the request was `admitted`, as in its record.
    /// The second time does nothing.
    pub(super) fn settle(&self, lease: u64, used: Spend, admitted: UnixMillis, now: UnixMillis) {
        let mut state = self.lock();
        if state.release(lease).is_none() && state.lapsed.remove(&lease).is_none() {
            return;
        }
        state.roll(now);
        for counter in &mut state.counters {
            if let Some(amount) = used.of(counter.meter.measure) {
                counter.add(amount, admitted.seconds());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole at every step, so a thread that panicked leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for State {
    fn default() -> Self {
        let meters = [Meter::REQUESTS_AN_HOUR, Meter::TOKENS_A_DAY];
        Self {
            counters: meters.map(Counter::new).into(),
            unchanged: Span { start: 0, end: 0 },
            reserved: Spend::default(),
            leases: HashMap::new(),
            lapsed: HashMap::new(),
            untold: None,
        }
    }
}

impl State {
    fn watch(&mut self, meter: &Meter) {
        if self.counter(meter).is_some() {
            return;
        }
        let mut counter = Counter::new(meter.clone());
        if let Some(open) = self.five_hours().filter(|_| counter.is_closed()) {
            counter.span = open;
        }
        self.counters.push(counter);
        self.unchanged = Span { start: 0, end: 0 };
    }

    fn counter(&self, meter: &Meter) -> Option<&Counter> {
        self.counters.iter().find(|counter| counter.meter == *meter)
    }

    fn counter_mut(&mut self, meter: &Meter) -> Option<&mut Counter> {
        self.counters.iter_mut().find(|counter| counter.meter == *meter)
    }

    /// Begins new windows where the old ones are over.
    fn roll(&mut self, now: UnixMillis) {
        let seconds = now.seconds();
        if seconds < self.unchanged.end && seconds + CLOCK_SKEW_SECONDS >= self.unchanged.start {
            return;
        }
        let before = self.five_hours();
        for counter in &mut self.counters {
            counter.roll(seconds);
        }
        // A window that came back with the clock is there for all of them.
        if let Some(open) = self.five_hours() {
            self.open_five_hours(open);
        }
        if self.five_hours() != before {
            self.untold = self.five_hours().map(|moved| moved.start);
        }
        self.note_spans();
    }

    fn note_spans(&mut self) {
        let start = self.counters.iter().map(Counter::valid_from).max().unwrap_or(0);
        let end = self.counters.iter().map(|it| it.span.end).min().unwrap_or(u64::MAX);
        self.unchanged = Span { start, end };
    }

    /// The window of five hours that is open.
    fn five_hours(&self) -> Option<Span> {
        let is_open = |it: &&Counter| it.meter.window == Window::FiveHours && !it.is_closed();
        self.counters.iter().find(is_open).map(|counter| counter.span)
    }

    /// Begins a window of five hours with its first use.
    fn begin_five_hours(&mut self, now: u64) {
        if self.counters.iter().any(Counter::is_closed) {
            self.open_five_hours(Window::FiveHours.span(&Zone::UTC, now));
            self.untold = Some(now);
        }
    }

    fn open_five_hours(&mut self, span: Span) {
        for counter in self.counters.iter_mut().filter(|counter| counter.is_closed()) {
            counter.span = span;
        }
        self.note_spans();
    }

    /// Takes back a window of five hours that began with a request which another limit refused.
    fn close_five_hours_unless_used(&mut self) {
        let Some(start) = self.untold else { return };
        let is_of_it = |counter: &&Counter| counter.meter.window == Window::FiveHours;
        if self.leases.values().any(|lease| lease.counted_at.is_some_and(|at| at >= start))
            || self.counters.iter().filter(is_of_it).any(|counter| counter.used > 0)
        {
            return;
        }
        self.untold = None;
        for counter in self.counters.iter_mut().filter(|it| it.meter.window == Window::FiveHours) {
            counter.close();
        }
        self.note_spans();
    }

    /// Counts one request, and says in which second that was: not before the latest window began.
    fn count(&mut self, now: u64) -> u64 {
        for counter in &mut self.counters {
            if counter.meter.measure == Measure::Requests && !counter.is_closed() {
                counter.used = counter.used.saturating_add(1);
            }
        }
        now.max(self.unchanged.start)
    }

    /// Which limit stands in the way of a request that holds the place `lease`; where none does,
    /// whether it goes beyond a soft one. Without `wanted` only those that hold whatever its size.
    fn check(
        &mut self,
        asked: Asked<'_>,
        lease: u64,
        wanted: Option<Spend>,
        now: Moment,
    ) -> Result<bool, LimitExceeded> {
        let mut over_soft = false;
        for allowance in asked.allowances {
            if self.fits(allowance, lease, wanted, now.wall) {
                continue;
            }
            if !allowance.hard {
                over_soft = true;
                continue;
            }
            self.expire(now.steady);
            if !self.fits(allowance, lease, wanted, now.wall) {
                return Err(self.refusal(asked, allowance, wanted, now.wall));
            }
        }
        Ok(over_soft)
    }

    fn fits(
        &self,
        allowance: &Allowance,
        lease: u64,
        wanted: Option<Spend>,
        now: UnixMillis,
    ) -> bool {
        let limit = allowance.limit_at(now);
        let meter = match &allowance.quantity {
            Quantity::Concurrency => return self.beside(lease) < limit,
            Quantity::Used(meter) => meter,
        };
        let used = self.counter(meter).map_or(0, |counter| counter.used);
        match (meter.measure, wanted) {
            (Measure::Requests, _) => used < limit,
            (Measure::Tokens | Measure::Usd, None) => true,
            // What is free goes on when all is spent; a limit of 0 blocks that, too.
            (Measure::Usd, Some(wanted)) if allowance.of(wanted) == Some(0) => limit > 0,
            (_, Some(wanted)) => {
                let wanted = allowance.of(self.reserved.plus(wanted)).unwrap_or(0);
                limit > 0 && used.saturating_add(wanted) <= limit
            }
        }
    }

    fn refusal(
        &self,
        asked: Asked<'_>,
        allowance: &Allowance,
        wanted: Option<Spend>,
        now: UnixMillis,
    ) -> LimitExceeded {
        let limit = allowance.limit_at(now);
        // Where nothing may be used, no waiting helps.
        let soon = (limit > 0).then_some(Duration::from_secs(1));
        let Some(meter) = allowance.quantity.meter() else {
            return asked.refusal(allowance, limit, String::new(), soon);
        };
        let Some(counter) = self.counter(meter) else {
            return asked.refusal(allowance, limit, String::new(), None);
        };
        let until_end = until_end(counter.span, now).filter(|_| limit > 0);
        let Some(wanted) = wanted.and_then(|wanted| allowance.of(wanted)) else {
            return asked.refusal(allowance, limit, String::new(), until_end);
        };
        let reserved = allowance.of(self.reserved).unwrap_or(0);
        let amount = |figure| allowance.quantity.amount(figure);
        let detail = format!(
            " ({} used, {} reserved, about {} wanted)",
            amount(counter.used),
            amount(reserved),
            amount(wanted)
        );
        // What is reserved and not used comes back soon; what is used, when the window ends.
        let used_alone = counter.used.saturating_add(wanted) > limit;
        asked.refusal(allowance, limit, detail, if used_alone { until_end } else { soon })
    }

    /// How many places are taken by others than `lease`.
    fn beside(&self, lease: u64) -> u64 {
        let own = usize::from(self.leases.contains_key(&lease));
        (self.leases.len() - own) as u64
    }

    fn put_reserved(&mut self, lease: u64, reserved: Spend) {
        if let Some(lease) = self.leases.get_mut(&lease) {
            self.reserved = self.reserved.minus(lease.reserved).plus(reserved);
            lease.reserved = reserved;
        }
    }

    fn release(&mut self, lease: u64) -> Option<Lease> {
        let lease = self.leases.remove(&lease)?;
        self.reserved = self.reserved.minus(lease.reserved);
        Some(lease)
    }

    /// Lets leases lapse whose time is over. Looked at only when a limit would refuse. By the steady
    /// clock: whoever sets the time of day frees nothing that a running request has reserved.
    fn expire(&mut self, now: SteadyMillis) {
        self.lapsed.retain(|_, lapsed| now.since(*lapsed) < LAPSED_KEPT);
        let (reserved, lapsed) = (&mut self.reserved, &mut self.lapsed);
        self.leases.retain(|id, lease| {
            let alive = lease.expires > now;
            if !alive {
                *reserved = reserved.minus(lease.reserved);
                lapsed.insert(*id, lease.expires);
            }
            alive
        });
    }
}

/// How long until a window ends; `None` where it never does.
fn until_end(span: Span, now: UnixMillis) -> Option<Duration> {
    let left = span.reset()?.saturating_sub(now.seconds());
    Some(Duration::from_secs(left.clamp(1, span.seconds().max(1))))
}
