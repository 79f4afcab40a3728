//! What binds a key or an account, and what is left of it, as far as database and journal know.
//!
//! What running requests have reserved is known to the server alone (`GET /auth/token`): here it is
//! told as unknown.

use std::io::{self, Write};

use sluice_core::clock::UnixMillis;
use sluice_core::organisation::{Attribution, Subject};
use sluice_gateway::limits::{
    Allowance, AllowanceView, Meter, Span, Window, Zone, mark_what_binds,
};
use sluice_gateway::snapshot::Rules;
use sluice_storage::{
    AccountRecord, DAY_SECONDS, JournalTail, KeyRecord, StorageError, Store, Used, window_start,
};

use super::records::{Records, table};

/// All allowances of `account`, and with a key those of the key first; the one that binds is marked.
pub(crate) async fn views(
    records: &Records,
    rules: &Rules,
    (key, account): (Option<&KeyRecord>, &AccountRecord),
    now: UnixMillis,
) -> Result<Vec<AllowanceView>, StorageError> {
    let organisation = records.store.organisation().await?;
    let of_account = Subject::Account(account.id.clone());
    let subjects = match key {
        Some(key) => organisation.attribution(key).subjects().collect(),
        None => vec![of_account],
    };
    // The journal first: what is ingested between the two readings counts twice rather than never.
    let tail = records.store.journal_tail(&records.master_key).await?;
    let mut views = Vec::new();
    for subject in subjects {
        let figures = match (&subject, key) {
            (Subject::Key(_), Some(key)) => rules.key_allowances(key),
            (Subject::Account(_), _) => rules.account_allowances(account),
            _ => Default::default(),
        };
        let budgets = organisation.budgets.of(&subject).map(Allowance::of_budget);
        for allowance in figures.iter().cloned().chain(budgets) {
            if let Some(budget) = allowance.budget.as_ref().filter(|it| it.each_session) {
                views.push(AllowanceView::of_session(budget, now));
                continue;
            }
            views.push(view(&records.store, &tail, (&subject, &allowance), now).await?);
        }
    }
    mark_what_binds(&mut views);
    Ok(views)
}

/// What is left of one allowance of a subject.
pub(crate) async fn view(
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
                let used = used(store, tail, (subject, allowance, meter), span.start).await?;
                (Some(used.of(meter.measure)), span.reset())
            }
        },
    };
    Ok(AllowanceView {
        subject: subject.clone(),
        allowance: Allowance { limit: allowance.limit_at(now), ..allowance.clone() },
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
    (subject, allowance, meter): (&Subject, &Allowance, &Meter),
    start: u64,
) -> Result<Used, StorageError> {
    let since = start.max(meter.since);
    let stored = match (meter.window, &allowance.budget) {
        (Window::FiveHours, _) => store.used_exactly_since(subject, since).await?,
        // It began within the window.
        (_, Some(budget)) if meter.since > start => {
            let midnight = window_start(budget.counts_from, DAY_SECONDS);
            store.used_in(subject, (midnight, u64::MAX)).await?.minus(budget.used_before)
        }
        _ => store.used_in(subject, (start, u64::MAX)).await?,
    };
    let start = since;
    let is_of = |whose: &Attribution| whose.subjects().any(|one| one == *subject);
    Ok(stored.plus(tail.used_since(start, is_of)))
}

/// Prints what binds, and what is left of it.
pub(crate) fn print(views: &[AllowanceView], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 7]> = views
        .iter()
        .map(|view| {
            let quantity = &view.allowance.quantity;
            let known = |figure: Option<u64>| {
                figure.map_or("?".to_owned(), |figure| quantity.amount(figure).to_string())
            };
            let soft = if view.allowance.hard { "" } else { ", soft" };
            let reset = view.reset.map(|reset| UnixMillis(reset.saturating_mul(1000)));
            [
                view.subject.to_string(),
                format!(
                    "{} {}{soft}",
                    quantity.amount(view.allowance.limit),
                    view.allowance.what()
                ),
                known(view.used),
                known(view.left()),
                reset.map_or("-".to_owned(), UnixMillis::to_rfc3339),
                view.allowance.source.word.to_owned(),
                if view.binds { "least left" } else { "" }.to_owned(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    table(out, ["limit of", "limit", "used", "left", "resets", "from", ""], &rows)?;
    writeln!(
        out,
        "\nWhat running requests have reserved is not in these figures, and `?` is not known here: \
         only the running server knows both. GET /api/v1/auth/token shows them."
    )
}
