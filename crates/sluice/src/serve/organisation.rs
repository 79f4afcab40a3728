//! What the configuration file says of the organisation, in force.

use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Actor;
use sluice_gateway::admin::{Admin, AdminError, Declared};
use sluice_storage::{MasterKey, StorageError, Store};

/// Makes departments, teams, people and budgets what the file says, and tells the log what that changed.
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
    let budgets = match admin.apply_file_budgets(&declared.budgets).await {
        Ok(budgets) => budgets,
        Err(AdminError::Storage(error)) => return Err(error),
        Err(AdminError::ChangedMeanwhile) => return Err(StorageError::ChangedMeanwhile),
        Err(error) => {
            tracing::error!(%error, "the configuration file's budgets are not taken over");
            return Ok(false);
        }
    };
    for what in &budgets.changed {
        tracing::info!(what, "the configuration file's budget is taken over");
    }
    for what in &budgets.removed {
        tracing::warn!(what, "removed: it was taken out of the configuration file");
    }
    for whose in &budgets.waiting {
        tracing::error!(whose, "the configuration file has a budget of what is not there");
    }
    Ok(changes.missing_accounts.is_empty() && budgets.waiting.is_empty())
}
