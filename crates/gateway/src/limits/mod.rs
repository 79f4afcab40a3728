//! The one limits engine: whatever a request counts against, it has to fit.
//!
//! | File | Is |
//! | --- | --- |
//! | `allowance` | one limit of one subject: what it limits, how much, hard or soft, where it comes from |
//! | `figures` | the figures of classes, tiers, keys and accounts, as allowances |
//! | [`sluice_core::window`] | hours, days, weeks and months of a time zone's calendar |
//! | `counter` | what was used in one window |
//! | `ledger` | what one subject has used and reserved |
//! | `permit` | admission by all subjects of a request together |
//! | `rehearsal` | what a limit would have done to past requests |
//! | `restore` | what was used before a restart |
//! | `sessions` | what each session has used of budgets of each session |
//! | `view` | what is told of them |
//!
//! A request reserves before the provider is called and settles with the provider's own figures
//! afterwards. A reservation is a lease: one that never settles (a task that was lost) expires, so
//! that no phantom blocks a key for ever; by the steady clock, so that setting the time of day frees
//! nothing. Pure arithmetic over a clock's reading; windows follow the calendar, so that a restart
//! finds them again in the database.

mod allowance;
mod counter;
mod figures;
mod ledger;
mod permit;
mod rehearsal;
mod restore;
mod sessions;
mod spend;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sluice_core::ids::BudgetId;

pub use allowance::{Allowance, Amount, Meter, Quantity, Source};
pub use figures::{Limits, OwnFigures};
pub use ledger::Ledger;
pub use permit::{Bound, FiveHoursBegan, LimitSubjects, Money, Permit, Slot};
pub use rehearsal::Rehearsal;
pub(crate) use restore::{Counted, restore};
pub(crate) use sessions::{SessionLedgers, session_text};
pub use sluice_core::measure::{Limited, Measure};
pub use sluice_core::window::{Span, UnknownZone, Window, Zone};
pub use spend::Spend;
pub use view::{AllowanceView, RateView, mark_what_binds};

/// What is told as a limit where there is none: the largest integer that every JSON reader holds
/// exactly.
pub const UNLIMITED: u64 = 9_007_199_254_740_991;

/// A limit stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct LimitExceeded {
    /// Whose limit: `this key` or `this account`.
    pub subject: &'static str,
    /// The limit's figure.
    pub limit: Amount,
    /// What is limited, as in "1000 requests an hour".
    pub what: &'static str,
    /// What else there is to say, with a comma or bracket before it.
    pub detail: Box<str>,
    /// The setting that an operator can raise; empty where there is none.
    pub setting: Arc<str>,
    /// Where more is told of it; `None` where nothing is.
    pub more: Option<Box<More>>,
    /// When it is worth trying again: whole seconds, at least one. `None`: never.
    pub retry_after: Option<Duration>,
    /// What this request alone wants, where that is more than the whole limit: then no waiting
    /// helps.
    pub too_large: Option<Amount>,
}

/// Where more is told of a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct More {
    /// The budget that it is; `None` for the limits of classes, tiers, keys and accounts.
    pub budget: Option<BudgetId>,
    /// The page that shows it; `None` where pages are not served.
    pub page: Option<String>,
    /// Whether another session has so much to itself.
    pub each_session: bool,
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, limit, what, detail, setting, more, .. } = self;
        match (self.too_large, self.retry_after) {
            (Some(wanted), _) => write!(
                f,
                "{subject} has a limit of {limit} {what}, and this request alone needs about \
                 {wanted}: it can never fit; shorten the prompt or lower `max_tokens`"
            )?,
            (None, Some(wait)) => {
                let wait = wait.as_secs();
                write!(
                    f,
                    "{subject} has reached its limit of {limit} {what}{detail}; retry in {wait} s"
                )?;
            }
            (None, None) => {
                write!(
                    f,
                    "{subject} has reached its limit of {limit} {what}{detail}; {helps}",
                    helps = match more.as_deref() {
                        Some(More { each_session: true, .. }) => "begin another session",
                        _ => "waiting does not help",
                    }
                )?;
            }
        }
        let (budget, page) = match more.as_deref() {
            Some(More { budget, page, .. }) => (budget.as_ref(), page.as_ref()),
            None => (None, None),
        };
        if let Some(budget) = budget {
            write!(f, ", or ask for a top-up of {budget}")?;
        } else if !setting.is_empty() {
            write!(f, ", or ask the operator to raise `{setting}`")?;
        }
        match page {
            Some(page) => write!(f, "; see {page}"),
            None => Ok(()),
        }
    }
}
