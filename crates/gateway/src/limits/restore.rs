//! What was used before a restart, from the database into the ledgers.

use std::collections::BTreeMap;
use std::sync::Arc;

use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Subject;
use sluice_storage::{StorageError, Store, SubjectKind};

use super::{Ledger, Meter, Window};
use crate::principal::Ledgers;

/// Gives the ledgers what the database says of the windows that are open at `now`.
///
/// Keys and accounts are counted by the hour and by the day in any case; what else a ledger counts
/// is restored where it does. One question to the database serves all subjects of a kind.
pub(crate) async fn restore(
    ledgers: &Ledgers,
    store: &Store,
    now: UnixMillis,
) -> Result<(), StorageError> {
    let mut asked: BTreeMap<(SubjectKind, u64), Vec<Meter>> = BTreeMap::new();
    let mut ask = |kind: SubjectKind, meter: Meter| {
        if meter.window == Window::FiveHours {
            return;
        }
        let start = meter.window.span(&meter.zone, now.seconds()).start;
        let meters = asked.entry((kind, start)).or_default();
        if !meters.contains(&meter) {
            meters.push(meter);
        }
    };
    for kind in [SubjectKind::Key, SubjectKind::Account] {
        for meter in [Meter::REQUESTS_AN_HOUR, Meter::TOKENS_A_DAY] {
            ask(kind, meter);
        }
    }
    for (subject, ledger) in ledgers.all() {
        ledger.meters().into_iter().for_each(|meter| ask(SubjectKind::of(&subject), meter));
    }
    for ((kind, start), meters) in asked {
        for of_one in store.used_until(kind, start, now).await? {
            let Some(ledger) = counting(ledgers, &of_one.subject) else { continue };
            let counted = ledger.meters();
            for meter in meters.iter().filter(|meter| counted.contains(meter)) {
                ledger.restore(meter, (start, meter.measure.of_used(of_one.used)), now);
            }
        }
    }
    restore_five_hours(ledgers, store, now).await
}

/// The ledger of a subject. Keys and accounts have one as soon as they have used something; others
/// only where something binds them.
fn counting(ledgers: &Ledgers, subject: &Subject) -> Option<Arc<Ledger>> {
    match subject {
        Subject::Key(_) | Subject::Account(_) => Some(ledgers.of(subject)),
        _ => ledgers.known(subject),
    }
}

/// Windows of five hours begin when the journal says so.
async fn restore_five_hours(
    ledgers: &Ledgers,
    store: &Store,
    now: UnixMillis,
) -> Result<(), StorageError> {
    let length = Window::FiveHours.span(&super::Zone::UTC, 0).seconds();
    let since = now.seconds().saturating_sub(length);
    for (subject, start) in store.five_hour_windows(since).await? {
        let Some(ledger) = ledgers.known(&subject) else { continue };
        let meters = ledger.meters();
        let mut meters = meters.iter().filter(|it| it.window == Window::FiveHours).peekable();
        if meters.peek().is_none() {
            continue;
        }
        let used = store.used_exactly_since(&subject, start).await?;
        ledger.restore_five_hours(start, now);
        for meter in meters {
            ledger.restore(meter, (start, meter.measure.of_used(used)), now);
        }
    }
    Ok(())
}
