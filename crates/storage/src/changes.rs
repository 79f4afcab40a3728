//! A number that moves with each change of a key, an account or whatever keys belong to.
//!
//! A server asks for it once a second. When it has moved, the server reads what was changed since
//! ([`Store::known`]), so that a key made or revoked by another process counts within a second.

use crate::database::{Transaction, sql};
use crate::error::StorageError;
use crate::open::Store;

impl Store {
    /// The number of changes so far.
    pub async fn change_version(&self) -> Result<u64, StorageError> {
        sql("SELECT version FROM changes WHERE id = 1")
            .fetch_one(self.database())
            .await
            .map_err(StorageError::database("ask for changes"))?
            .count("version")
    }
}

/// The number of changes so far, as the transaction sees it.
pub(crate) async fn version(
    tx: &mut Transaction,
    doing: &'static str,
) -> Result<u64, StorageError> {
    sql("SELECT version FROM changes WHERE id = 1")
        .fetch_one(tx)
        .await
        .map_err(StorageError::database(doing))?
        .count("version")
}

/// Counts a change, in the transaction that makes it, and returns its number.
pub(crate) async fn bump(tx: &mut Transaction, doing: &'static str) -> Result<u64, StorageError> {
    sql("UPDATE changes SET version = version + 1 WHERE id = 1 RETURNING version")
        .fetch_one(tx)
        .await
        .map_err(StorageError::database(doing))?
        .count("version")
}
