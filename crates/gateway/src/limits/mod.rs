//! The one limits engine: requests an hour, tokens a day, requests at once, for a key and for its
//! account together. The tighter one answers.
//!
//! A request reserves before the provider is called and settles with the provider's own figures
//! afterwards. A reservation is a lease: one that never settles (a task that was lost) expires, so
//! that no phantom blocks a key for ever. Pure arithmetic over a clock's reading; windows are
//! aligned to the epoch, so that a restart finds them again in the database.

mod ledger;
mod permit;

use std::fmt;
use std::time::Duration;

pub use ledger::{Admission, Ledger, Limits, OwnFigures, RateView, WindowUse};
pub use permit::{LimitSubjects, Permit, Slot};

/// Length of the window that requests are counted in, in seconds.
pub const REQUEST_WINDOW_SECONDS: u64 = 3_600;
/// Length of the window that tokens are counted in, in seconds.
pub const TOKEN_WINDOW_SECONDS: u64 = 86_400;

/// What is told as a limit where there is none: the largest integer that every JSON reader holds
/// exactly.
pub const UNLIMITED: u64 = 9_007_199_254_740_991;

/// A limit stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct LimitExceeded {
    /// Whose limit: `this key` or `this account`.
    pub subject: &'static str,
    /// The limit's figure.
    pub limit: u64,
    /// What is limited, as in "1000 requests an hour".
    pub what: &'static str,
    /// What else there is to say, with a comma or bracket before it.
    pub detail: String,
    /// The setting that an operator can raise; empty where there is none.
    pub setting: String,
    /// When it is worth trying again: whole seconds, at least one.
    pub retry_after: Duration,
    /// What this request alone wants, where that is more than the whole limit: then no waiting
    /// helps.
    pub too_large: Option<u64>,
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, limit, what, detail, setting, .. } = self;
        match self.too_large {
            Some(wanted) if *limit == 0 => {
                write!(
                    f,
                    "{subject} has a limit of 0 {what}: no request fits (this one needs about {wanted})"
                )?;
            }
            Some(wanted) => write!(
                f,
                "{subject} has a limit of {limit} {what}, and this request alone needs about \
                 {wanted}: it can never fit; shorten the prompt or lower `max_tokens`"
            )?,
            None => {
                let wait = self.retry_after.as_secs();
                write!(
                    f,
                    "{subject} has reached its limit of {limit} {what}{detail}; retry in {wait} s"
                )?;
            }
        }
        if setting.is_empty() {
            return Ok(());
        }
        write!(f, ", or ask the operator to raise `{setting}`")
    }
}
