//! What the configuration file says of the organisation, in force.

use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Actor;
use sluice_gateway::admin::{Admin, AdminError, Declared, FileItems};
use sluice_storage::{MasterKey, StorageError, Store};

/// Makes departments, teams, people, budgets and policies what the file says, and tells the log what that changed.
/// `false`: something of it waits for an account that does not exist yet, or it was refused as
/// things stand. It is worth another try once something has changed.
pub(super) async fn apply(
    store: &Store,
    master_key: &MasterKey,
    declared: &Declared,
    now: UnixMillis,
) -> Result<bool, StorageError> {
    let surface = "configuration file";
    let admin = Admin { store, master_key, now, actor: Actor::File, surface };
    let changes = match admin.apply_file(declared).await {
        Ok(changes) => changes,
        Err(AdminError::Storage(error)) => return Err(error),
        Err(AdminError::ChangedMeanwhile) => return Err(StorageError::ChangedMeanwhile),
        // Callers go on being served by what is in force.
        Err(error) => {
            tracing::error!(%error, "the configuration file's organisation is not taken over");
            return Ok(false);
        }
    };
    for what in &changes.changed {
        tracing::info!(what, "the configuration file's organisation is taken over");
    }
    for what in &changes.suspended {
        tracing::warn!(what, "suspended: it was taken out of the configuration file");
    }
    for what in &changes.kept {
        tracing::error!(
            what,
            "was taken out of the configuration file, and stays: the account has no other owner"
        );
    }
    for account in &changes.missing_accounts {
        tracing::error!(
            account,
            "the configuration file names an account that does not exist; `sluice accounts create` \
             makes it"
        );
    }
    let budgets = taken(admin.apply_file_budgets(&declared.budgets).await, "budget")?;
    let policies = taken(admin.apply_file_policies(&declared.policies).await, "policy")?;
    Ok(changes.missing_accounts.is_empty() && budgets && policies)
}

/// Tells the log what became of what the file holds item by item. `false`: it is worth another try.
fn taken(items: Result<FileItems, AdminError>, what: &'static str) -> Result<bool, StorageError> {
    let items = match items {
        Ok(items) => items,
        Err(AdminError::Storage(error)) => return Err(error),
        Err(AdminError::ChangedMeanwhile) => return Err(StorageError::ChangedMeanwhile),
        Err(error) => {
            tracing::error!(%error, what, "what the configuration file holds is not taken over");
            return Ok(false);
        }
    };
    for changed in &items.changed {
        tracing::info!(changed, "taken over from the configuration file");
    }
    for removed in &items.removed {
        tracing::warn!(removed, "removed: it was taken out of the configuration file");
    }
    for whose in &items.waiting {
        tracing::error!(whose, what, "the configuration file has one of what is not there");
    }
    Ok(items.waiting.is_empty())
}
