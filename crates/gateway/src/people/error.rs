//! Why somebody could not sign in, or change how they do.

use std::time::Duration;

use sluice_storage::StorageError;

use super::password::{Unhashed, WeakPassword};
use crate::admin::AdminError;
use crate::service_key::NoRandomness;

/// Why it was refused. The messages are for whoever sits before the page.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// The same for whatever is wrong, and for people who are not there.
    #[error(
        "e-mail address and password do not fit; check both, or ask an administrator for a reset"
    )]
    Refused,
    /// A one-time code or recovery code that does not count.
    #[error(
        "`code` does not fit; wait for the next one of your authenticator, or give a recovery code \
         that was not used"
    )]
    WrongCode,
    /// The password was given too long ago, or has changed since.
    #[error("this took too long; sign in again")]
    StepOver,
    /// The password that was to be changed.
    #[error("`current_password` is not your password; give the one that you signed in with")]
    WrongPassword,
    /// Too many failed.
    #[error("too many failed attempts; try again in {}", minutes(*retry_after))]
    Throttled {
        /// How long to wait.
        retry_after: Duration,
    },
    /// Too many sign in at once.
    #[error("too many people sign in at this moment; try again in a few seconds")]
    Busy,
    /// A link that was used, has ended or never was.
    #[error("this link no longer works: it works once, and not for ever; ask for a new one")]
    LinkOver,
    /// A password that cannot be set.
    #[error(transparent)]
    WeakPassword(#[from] WeakPassword),
    /// One-time codes are set up already, or are not.
    #[error("{0}")]
    CodesAre(&'static str),
    /// Administration refused it.
    #[error(transparent)]
    Admin(#[from] AdminError),
    /// A password could not be hashed.
    #[error("internal error; the log has the details")]
    Failed(String),
}

impl From<StorageError> for PeopleError {
    fn from(error: StorageError) -> Self {
        Self::Admin(error.into())
    }
}

impl From<NoRandomness> for PeopleError {
    fn from(error: NoRandomness) -> Self {
        Self::Admin(error.into())
    }
}

impl From<Unhashed> for PeopleError {
    fn from(error: Unhashed) -> Self {
        match error {
            Unhashed::Busy => Self::Busy,
            Unhashed::Failed(_) => {
                tracing::error!(%error, "a password could not be checked or set");
                Self::Failed(error.to_string())
            }
        }
    }
}

impl PeopleError {
    /// Whether something was no longer as it was read.
    pub(super) fn is_stale(&self) -> bool {
        matches!(
            self,
            Self::Admin(
                AdminError::Storage(StorageError::ChangedMeanwhile) | AdminError::ChangedMeanwhile
            )
        )
    }
}

fn minutes(time: Duration) -> String {
    match time.as_secs().div_ceil(60) {
        0 | 1 => "a minute".to_owned(),
        many @ 2..=90 => format!("{many} minutes"),
        many => format!("{} hours", many.div_ceil(60)),
    }
}
