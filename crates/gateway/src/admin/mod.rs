//! Changes of state: the one way for the command line and the dashboard.
//!
//! What is asked for is checked here, so that no surface can store what another would refuse. A
//! running server notices each change by [`Store::change_version`].

mod accounts;
mod keys;
#[cfg(test)]
mod tests;

pub use accounts::{AccountChange, NewAccount};
pub use keys::{CreatedKey, DEFAULT_GRACE, KeyChange, NewKey, Revocation, Rotation};

use sluice_core::clock::UnixMillis;
use sluice_storage::{MasterKey, StorageError, Store};

use crate::service_key::NoRandomness;

/// What administration works with.
#[derive(Debug, Clone, Copy)]
pub struct Admin<'a> {
    /// Where the records are.
    pub store: &'a Store,
    /// What keys are hashed with. The store has checked it.
    pub master_key: &'a MasterKey,
    /// The current time.
    pub now: UnixMillis,
}

/// Why a change was refused.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// A name is empty, too long or cannot be shown in a line.
    #[error("a name has 1 to 100 characters and no line breaks; give another one")]
    InvalidName,
    /// The default account would get another name.
    #[error("the account `default` keeps its name: keys without --account are made in it")]
    DefaultKeepsName,
    /// The expiry date is over.
    #[error("the expiry {given} is not in the future; it is {now} now")]
    AlreadyExpired {
        /// The expiry that was asked for.
        given: String,
        /// The current time.
        now: String,
    },
    /// A limit of nothing.
    #[error("{limit} is 0, which refuses every request; set at least 1, or revoke the key")]
    ZeroLimit {
        /// The limit's name.
        limit: &'static str,
    },
    /// An empty list of what is allowed.
    #[error("the list of {what} is empty, which refuses every request; leave it out to allow all")]
    EmptyList {
        /// Models or regions.
        what: &'static str,
    },
    /// A model that is not in the catalogue.
    #[error("there is no model {0:?}; `sluice catalog list` shows what there is")]
    UnknownModel(String),
    /// The default region is not an allowed one.
    #[error("the default region {region} is not among the allowed regions {allowed}; add it")]
    RegionNotAllowed {
        /// The default region.
        region: &'static str,
        /// The allowed ones.
        allowed: String,
    },
    /// No such account.
    #[error("there is no account {0:?}; `sluice accounts list` shows what there is")]
    NoSuchAccount(String),
    /// No such key.
    #[error("there is no such key; `sluice keys list` shows ids and first characters of all keys")]
    NoSuchKey,
    /// Several keys fit.
    #[error("{} keys fit: {}; name one by its id", .ids.len(), .ids.join(", "))]
    AmbiguousKey {
        /// Their ids.
        ids: Vec<String>,
    },
    /// The key no longer works, so there is nothing to rotate.
    #[error("key {id} {state}, so it cannot be rotated; create a new one")]
    NotRotatable {
        /// The key's id.
        id: String,
        /// What happened to it.
        state: &'static str,
    },
    /// The key has been rotated already.
    #[error("key {id} was replaced by {by} already; rotate that one")]
    AlreadyReplaced {
        /// The key's id.
        id: String,
        /// The key in its place.
        by: String,
    },
    /// Another process changed the same record between reading and writing.
    #[error("it was changed by somebody else at the same moment; look at it and try again")]
    ChangedMeanwhile,
    /// No random bytes.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A name without the space around it.
fn checked_name(name: &str) -> Result<String, AdminError> {
    let name = name.trim();
    let fits = (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits { Ok(name.to_owned()) } else { Err(AdminError::InvalidName) }
}
