//! What was used before a restart, from the database into the ledgers.

use std::collections::BTreeMap;

use sluice_core::clock::UnixMillis;
use sluice_storage::{StorageError, Store, SubjectKind};

use super::{Allowance, Meter, Window};
use crate::principal::Ledgers;

/// What is counted of the subjects of each kind, each meter once.
pub(crate) struct Counted(BTreeMap<SubjectKind, Vec<Meter>>);

impl Default for Counted {
    /// What every ledger of a key or an account counts in any case.
    fn default() -> Self {
        let always = || vec![Meter::REQUESTS_AN_HOUR, Meter::TOKENS_A_DAY];
        let kinds = [SubjectKind::Key, SubjectKind::Account];
        Self(kinds.map(|kind| (kind, always())).into())
    }
}

impl Counted {
    /// What `allowances` of a subject of this kind limit.
    pub(crate) fn add(&mut self, kind: SubjectKind, allowances: &[Allowance]) {
        let meters = self.0.entry(kind).or_default();
        for meter in allowances.iter().filter_map(|allowance| allowance.quantity.meter()) {
            if !meters.contains(meter) {
                meters.push(meter.clone());
            }
        }
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
    for (kind, meters) in counted.0 {
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
                ledger.restore(meter, (start, meter.measure.of_used(of_one.used)), now);
            }
        }
    }
    restore_five_hours(ledgers, &five_hours, store, now).await
}

/// Windows of five hours begin when the journal says so.
async fn restore_five_hours(
    ledgers: &Ledgers,
    counted: &BTreeMap<SubjectKind, Vec<Meter>>,
    store: &Store,
    now: UnixMillis,
) -> Result<(), StorageError> {
    let length = Window::FiveHours.span(&super::Zone::UTC, 0).seconds();
    let since = now.seconds().saturating_sub(length);
    let mut used = BTreeMap::new();
    for kind in counted.keys() {
        let of_kind = store.used_in_five_hours(*kind, since).await?;
        used.extend(of_kind.into_iter().map(|it| (it.subject, it.used)));
    }
    for (subject, start) in store.five_hour_windows(since).await? {
        let Some(meters) = counted.get(&SubjectKind::of(&subject)) else { continue };
        let used = used.get(&subject).copied().unwrap_or_default();
        let ledger = ledgers.of(&subject);
        for meter in meters {
            ledger.restore_five_hours(meter, (start, meter.measure.of_used(used)), now);
        }
    }
    Ok(())
}
