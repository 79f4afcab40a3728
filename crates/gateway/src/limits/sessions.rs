//! What each session has used of budgets that every session has to itself.
//!
//! Whoever calls says what a session is, and can name as many as they like. So sessions are held in
//! bounded memory: those that were idle for a day are over, and where there are too many, those that
//! were used the longest ago give way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sluice_core::clock::{Moment, SteadyMillis, UnixMillis};
use sluice_core::organisation::Subject;
use sluice_storage::{BudgetRecord, StorageError, Store, Used};

use super::{Allowance, AllowanceView, Bound, Ledger};

/// A session's allowance ends after so long without a request.
pub(crate) const IDLE: Duration = Duration::from_secs(24 * 60 * 60);
/// How many sessions are remembered: some 70 MB.
const MOST: usize = 100_000;
/// How often those that are over are looked for.
const SWEEP: Duration = Duration::from_secs(60 * 60);

/// What a session of somebody has used, by a keyed hash of what names the session.
type Key = (Subject, u64);

/// What each session has used.
pub(crate) struct SessionLedgers {
    known: Mutex<Known>,
    most: usize,
}

impl Default for SessionLedgers {
    fn default() -> Self {
        Self { known: Mutex::default(), most: MOST }
    }
}

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<Key, Session>,
    swept: SteadyMillis,
}

#[derive(Debug)]
struct Session {
    ledger: Arc<Ledger>,
    /// When it is over, unless it is used again.
    ends: SteadyMillis,
}

impl SessionLedgers {
    /// What a session of `subject` has used; nothing where it was idle for too long.
    pub(crate) fn of(&self, subject: &Subject, session: u64, now: SteadyMillis) -> Arc<Ledger> {
        let mut known = self.lock();
        if now.since(known.swept) >= SWEEP {
            known.sessions.retain(|_, session| session.ends > now);
            known.swept = now;
        }
        let key = (subject.clone(), session);
        if let Some(session) = known.sessions.get(&key).filter(|session| session.ends > now) {
            return session.ledger.clone();
        }
        if known.sessions.len() >= self.most {
            known.make_room();
        }
        let ledger = Arc::new(Ledger::of_session());
        let session = Session { ledger: ledger.clone(), ends: now.plus(IDLE) };
        known.sessions.insert(key, session);
        ledger
    }

    /// A request of the session was admitted: it goes on for another day.
    pub(crate) fn go_on<'s>(
        &self,
        subjects: impl Iterator<Item = &'s Subject>,
        session: u64,
        now: SteadyMillis,
    ) {
        let mut known = self.lock();
        for subject in subjects {
            if let Some(session) = known.sessions.get_mut(&(subject.clone(), session)) {
                session.ends = now.plus(IDLE);
            }
        }
    }

    /// Room for so many.
    #[cfg(test)]
    pub(super) fn with_room_for(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().sessions.len()
    }

    /// How many sessions of a budget's subject there are, and how much the fullest has used of it.
    pub(crate) fn fullest(&self, budget: &BudgetRecord, now: Moment) -> (u64, AllowanceView) {
        let allowances: Arc<[Allowance]> = [Allowance::of_budget(budget)].into();
        let of_subject: Vec<Arc<Ledger>> = {
            let known = self.lock();
            let sessions = known.sessions.iter();
            let there = sessions.filter(|((subject, _), session)| {
                *subject == budget.subject && session.ends > now.steady
            });
            there.map(|(_, session)| session.ledger.clone()).collect()
        };
        let number = of_subject.len() as u64;
        let views = of_subject.into_iter().filter_map(|ledger| {
            ledger.watch(&allowances);
            let subject = budget.subject.clone();
            Bound { subject, ledger, allowances: allowances.clone() }.views(now).next()
        });
        let fullest = views.min_by_key(|view| view.left());
        (number, fullest.unwrap_or_else(|| AllowanceView::of_session(budget, now.wall)))
    }

    /// What sessions had used before a restart that are not over.
    pub(crate) async fn restore(
        &self,
        budgets: &[BudgetRecord],
        store: &Store,
        now: Moment,
    ) -> Result<(), StorageError> {
        if budgets.is_empty() {
            return Ok(());
        }
        let since = UnixMillis(now.wall.0.saturating_sub(millis(IDLE)));
        let mut open = Past::default();
        store
            .requests_of_sessions(since, |request| {
                if open.session != request.session {
                    self.take_over(&open, budgets, now);
                    open = Past { session: request.session, ..Past::default() };
                } else if request.started_at.since(open.last) >= IDLE {
                    // What was before so long a pause is over.
                    open.used.clear();
                }
                open.last = request.started_at;
                let subjects: Vec<Subject> = request.whose.subjects().collect();
                for budget in budgets.iter().filter(|it| {
                    subjects.contains(&it.subject) && it.counts_from <= request.started_at
                }) {
                    let used = open.used.entry(budget.id.to_string()).or_default();
                    *used = used.plus(request.used);
                }
            })
            .await?;
        self.take_over(&open, budgets, now);
        Ok(())
    }

    fn take_over(&self, past: &Past, budgets: &[BudgetRecord], now: Moment) {
        let Ok(session) = u64::from_str_radix(&past.session, 16) else { return };
        let idle = now.wall.since(past.last);
        if idle >= IDLE {
            return;
        }
        for budget in budgets {
            let Some(used) = past.used.get(budget.id.as_str()) else { continue };
            let allowance = Allowance::of_budget(budget);
            let ledger = self.of(&budget.subject, session, now.steady);
            if let Some(meter) = allowance.quantity.meter() {
                ledger.restore(meter, (0, used.of(meter.measure)), now.wall);
            }
            let key = (budget.subject.clone(), session);
            if let Some(session) = self.lock().sessions.get_mut(&key) {
                session.ends = now.steady.plus(IDLE.saturating_sub(idle));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session as records tell it.
#[derive(Default)]
struct Past {
    session: String,
    last: UnixMillis,
    /// By the budget's id.
    used: HashMap<String, Used>,
}

impl Known {
    /// Forgets a quarter of the sessions, those that were used the longest ago; none that has a
    /// request under way.
    fn make_room(&mut self) {
        let mut ends: Vec<SteadyMillis> = self.sessions.values().map(|it| it.ends).collect();
        let place = ends.len() / 4;
        let (_, limit, _) = ends.select_nth_unstable(place);
        let limit = *limit;
        let mut left = place + 1;
        self.sessions.retain(|_, session| {
            let is_old = session.ends <= limit && left > 0;
            let goes = is_old && Arc::strong_count(&session.ledger) == 1;
            left -= usize::from(goes);
            !goes
        });
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The session's name in records.
pub(crate) fn session_text(session: u64) -> String {
    format!("{session:016x}")
}
