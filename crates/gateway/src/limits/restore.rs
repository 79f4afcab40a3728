//! What was used before a restart, from the database into the ledgers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Subject;
use sluice_storage::{BudgetRecord, StorageError, Store, SubjectKind, Used};

use super::{Allowance, Meter, Window};
use crate::principal::Ledgers;

/// A budget, and what adds up in its window.
type OfBudget = (BudgetRecord, Meter);

/// What is counted.
pub(crate) struct Counted {
    /// Of all subjects of a kind, each meter once.
    kinds: BTreeMap<SubjectKind, Vec<Meter>>,
    /// What one subject's budgets limit.
    budgets: Vec<OfBudget>,
    /// Budgets of each session.
    pub(crate) of_sessions: Vec<BudgetRecord>,
}

impl Default for Counted {
    /// What every ledger of a key or an account counts in any case.
    fn default() -> Self {
        let always = || vec![Meter::REQUESTS_AN_HOUR, Meter::TOKENS_A_DAY];
        let kinds = [SubjectKind::Key, SubjectKind::Account];
        Self {
            kinds: kinds.map(|kind| (kind, always())).into(),
            budgets: Vec::new(),
            of_sessions: Vec::new(),
        }
    }
}

impl Counted {
    /// What `allowances` of a subject of this kind limit.
    pub(crate) fn add(&mut self, kind: SubjectKind, allowances: &[Allowance]) {
        let meters = self.kinds.entry(kind).or_default();
        for meter in allowances.iter().filter_map(|allowance| allowance.quantity.meter()) {
            if !meters.contains(meter) {
                meters.push(meter.clone());
            }
        }
    }

    /// What `budgets` limit.
    pub(crate) fn add_budgets<'b>(&mut self, budgets: impl Iterator<Item = &'b BudgetRecord>) {
        let (of_sessions, budgets): (Vec<_>, Vec<_>) = budgets.partition(|it| it.each_session);
        self.of_sessions.extend(of_sessions.into_iter().cloned());
        let of_budget = |budget: &BudgetRecord| {
            let meter = Allowance::of_budget(budget).quantity.meter()?.clone();
            Some((budget.clone(), meter))
        };
        self.budgets.extend(budgets.into_iter().filter_map(of_budget));
    }
}

/// Gives the ledgers what the database says of the windows that are open at `now`: of everybody
/// who has used something, whatever is counted of their kind. One question to the database serves
/// all subjects of a kind.
pub(crate) async fn restore(
    ledgers: &Ledgers,
    counted: Counted,
    store: &Store,
    now: UnixMillis,
) -> Result<(), StorageError> {
    let mut asked: BTreeMap<(SubjectKind, u64), Vec<Meter>> = BTreeMap::new();
    let mut five_hours: BTreeMap<SubjectKind, Vec<Meter>> = BTreeMap::new();
    for (kind, meters) in counted.kinds {
        for meter in meters {
            let meters = if meter.window == Window::FiveHours {
                five_hours.entry(kind).or_default()
            } else {
                let start = meter.window.span(&meter.zone, now.seconds()).start;
                asked.entry((kind, start)).or_default()
            };
            meters.push(meter);
        }
    }
    for ((kind, start), meters) in asked {
        for of_one in store.used_until(kind, start, now).await? {
            let ledger = ledgers.of(&of_one.subject);
            for meter in &meters {
                ledger.restore(meter, (start, of_one.used.of(meter.measure)), now);
            }
        }
    }
    let of_budgets: Vec<_> =
        counted.budgets.iter().filter(|(_, it)| it.window == Window::FiveHours).collect();
    restore_five_hours(ledgers, (&five_hours, &of_budgets), store, now).await?;
    restore_budgets(ledgers, &counted.budgets, store, now).await
}

/// Budgets, whose windows follow the calendar. What was used before a budget began does not count.
async fn restore_budgets(
    ledgers: &Ledgers,
    budgets: &[OfBudget],
    store: &Store,
    now: UnixMillis,
) -> Result<(), StorageError> {
    let mut since_start: BTreeMap<(SubjectKind, u64), Vec<&OfBudget>> = BTreeMap::new();
    let mut since_beginning = Vec::new();
    for budget in budgets.iter().filter(|(_, meter)| meter.window != Window::FiveHours) {
        let (record, meter) = budget;
        let start = meter.window.span(&meter.zone, now.seconds()).start;
        if meter.since > start {
            since_beginning.push((record, meter, start));
        } else {
            since_start.entry((SubjectKind::of(&record.subject), start)).or_default().push(budget);
        }
    }
    for ((kind, start), budgets) in since_start {
        let used = store.used_until(kind, start, now).await?;
        let used: HashMap<Subject, Used> =
            used.into_iter().map(|it| (it.subject, it.used)).collect();
        for (record, meter) in budgets {
            let Some(used) = used.get(&record.subject) else { continue };
            let ledger = ledgers.of(&record.subject);
            ledger.restore(meter, (start, used.of(meter.measure)), now);
        }
    }
    let Some(first) = since_beginning.iter().map(|(record, ..)| record.counts_from).min() else {
        return Ok(());
    };
    let used = store.used_since_budgets_began(first).await?;
    for (record, meter, start) in since_beginning {
        let Some(used) = used.get(&record.id) else { continue };
        ledgers.of(&record.subject).restore(meter, (start, used.of(meter.measure)), now);
    }
    Ok(())
}

/// Windows of five hours begin when the journal says so.
async fn restore_five_hours(
    ledgers: &Ledgers,
    (counted, budgets): (&BTreeMap<SubjectKind, Vec<Meter>>, &[&OfBudget]),
    store: &Store,
    now: UnixMillis,
) -> Result<(), StorageError> {
    let length = Window::FiveHours.span(&super::Zone::UTC, 0).seconds();
    let since = now.seconds().saturating_sub(length);
    let mut used = BTreeMap::new();
    let of_budgets = budgets.iter().map(|(record, _)| SubjectKind::of(&record.subject));
    let kinds: BTreeSet<SubjectKind> = counted.keys().copied().chain(of_budgets).collect();
    for kind in kinds {
        let of_kind = store.used_in_five_hours(kind, since).await?;
        used.extend(of_kind.into_iter().map(|it| (it.subject, it.used)));
    }
    let mut of_subject: HashMap<&Subject, Vec<&Meter>> = HashMap::new();
    for (record, meter) in budgets {
        of_subject.entry(&record.subject).or_default().push(meter);
    }
    for (subject, start) in store.five_hour_windows(since).await? {
        let of_kind = counted.get(&SubjectKind::of(&subject)).into_iter().flatten();
        let of_subject = of_subject.get(&subject).into_iter().flatten().copied();
        let mut meters = of_kind.chain(of_subject).peekable();
        if meters.peek().is_none() {
            continue;
        }
        let used = used.get(&subject).copied().unwrap_or_default();
        let ledger = ledgers.of(&subject);
        for meter in meters {
            // A budget that began within the window counts from there.
            let used = match meter.since > start {
                true => store.used_exactly_since(&subject, meter.since).await?,
                false => used,
            };
            ledger.restore_five_hours(meter, (start, used.of(meter.measure)), now);
        }
    }
    Ok(())
}
