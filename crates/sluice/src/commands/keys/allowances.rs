//! What binds a key, and what is left of it, as far as database and journal know.
//!
//! What running requests have reserved is known to the server alone (`GET /auth/token`): here it is
//! told as unknown.

use sluice_core::clock::UnixMillis;
use sluice_core::organisation::{Attribution, Subject};
use sluice_gateway::limits::{
    Allowance, AllowanceView, Meter, Span, Window, Zone, mark_what_binds,
};
use sluice_storage::{JournalTail, KeyRecord, StorageError, Store, SubjectKind, Used};

use super::show::Around;
use crate::commands::records::{CommandError, Records};

/// All allowances of `key` and its account; the one that binds is marked.
pub(super) async fn of_key(
    records: &Records,
    key: &KeyRecord,
    around: &Around,
) -> Result<Vec<AllowanceView>, CommandError> {
    let Some(account) = around.account(key) else { return Ok(Vec::new()) };
    let whose = around.organisation.attribution(key);
    let of_key = around.rules.key_allowances(key);
    let of_account = around.rules.account_allowances(account);
    let bound = [
        (Subject::Key(whose.key.clone()), of_key),
        (Subject::Account(whose.account.clone()), of_account),
    ];
    // The journal first: what is ingested between the two readings counts twice rather than never.
    let tail = records.store.journal_tail(&records.master_key).await?;
    let mut views = Vec::new();
    for (subject, allowances) in bound {
        for allowance in &*allowances {
            views.push(view(&records.store, &tail, (&subject, allowance), around.now).await?);
        }
    }
    mark_what_binds(&mut views);
    Ok(views)
}

async fn view(
    store: &Store,
    tail: &JournalTail,
    (subject, allowance): (&Subject, &Allowance),
    now: UnixMillis,
) -> Result<AllowanceView, StorageError> {
    let (used, reset) = match allowance.quantity.meter() {
        None => (None, None),
        Some(meter) => match open_window(store, tail, (subject, meter), now).await? {
            None => (Some(0), None),
            Some(span) => {
                let used = used(store, tail, (subject, meter), span.start).await?;
                (Some(meter.measure.of_used(used)), span.reset())
            }
        },
    };
    Ok(AllowanceView {
        subject: subject.clone(),
        allowance: allowance.clone(),
        used,
        reserved: None,
        reset,
        binds: false,
    })
}

/// The window that is open at `now`; none where five hours wait for their first use.
async fn open_window(
    store: &Store,
    tail: &JournalTail,
    (subject, meter): (&Subject, &Meter),
    now: UnixMillis,
) -> Result<Option<Span>, StorageError> {
    if meter.window != Window::FiveHours {
        return Ok(Some(meter.window.span(&meter.zone, now.seconds())));
    }
    let text = subject.to_string();
    let told = tail.windows.iter().rev().find(|began| began.subject == text);
    let start = match told {
        Some(began) => Some(began.start),
        None => {
            let stored = store.five_hour_windows(0).await?;
            stored.into_iter().find(|(whose, _)| whose == subject).map(|(_, start)| start)
        }
    };
    let span = start.map(|start| Window::FiveHours.span(&Zone::UTC, start));
    Ok(span.filter(|span| (span.start..span.end).contains(&now.seconds())))
}

async fn used(
    store: &Store,
    tail: &JournalTail,
    (subject, meter): (&Subject, &Meter),
    start: u64,
) -> Result<Used, StorageError> {
    let stored = match meter.window {
        Window::FiveHours => store.used_exactly_since(subject, start).await?,
        _ => {
            let used = store.used_since(SubjectKind::of(subject), start, Some(subject)).await?;
            used.first().map_or(Used::default(), |it| it.used)
        }
    };
    let is_of = |whose: &Attribution| whose.subjects().any(|one| one == *subject);
    Ok(stored.plus(tail.used_since(start, is_of)))
}
