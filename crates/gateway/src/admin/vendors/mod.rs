//! Providers and models beside those of the configuration file: put in, changed, tried, removed.
//!
//! They concern all accounts, so changing them takes the operator's right. What the file has is seen
//! here and changed there. A credential goes in and never comes out.

mod models;
mod providers;
mod trial;

use sluice_core::ids::AccountId;
use sluice_storage::{Doing, Item, ItemChange, StorageError};

pub use self::models::ModelView;
pub use self::providers::{NewProvider, ProviderChange, ProviderView};
use crate::admin::permissions::{Rights, Verb};
use crate::admin::{Admin, AdminError, View};
use crate::vendors::Wrong;

/// Who put something in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The configuration file, or it was found where the file has none. It is read-only.
    File,
    /// Somebody, into the database.
    Database,
}

impl Origin {
    /// The word in lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Database => "database",
        }
    }
}

/// One change: what is done, the thing as it was read and as it shall be.
type VendorDeed = (Verb, Option<Item>, Option<Item>);

impl Admin<'_> {
    /// The number of the latest change: what [`crate::changes::Changes`] waits for.
    pub async fn latest_change(&self) -> Result<u64, AdminError> {
        Ok(self.store.change_version().await?)
    }

    /// The view, where the actor may do `verb`.
    async fn may(&self, verb: Verb) -> Result<View, AdminError> {
        let view = self.view().await?;
        match view.rights.allow_deployment(verb) {
            true => Ok(view),
            false => Err(AdminError::Forbidden { verb: verb.as_str() }),
        }
    }

    async fn carry_out_vendors(
        &self,
        view: &View,
        deeds: Vec<VendorDeed>,
    ) -> Result<(), AdminError> {
        let account_id = view.trail_of_deployment();
        let (actor, surface) = (self.actor.clone(), self.surface);
        // Whether a provider has models, and whether a provider is there, must still be so.
        let doing = Doing { at: self.now, actor, surface, judged_at: Some(view.version) };
        let mut changes = Vec::with_capacity(deeds.len());
        for (verb, old, new) in deeds {
            if !view.rights.allow_deployment(verb) {
                return Err(AdminError::Forbidden { verb: verb.as_str() });
            }
            let account_id = account_id.clone();
            changes.push(ItemChange { verb: verb.as_str(), account_id, old, new });
        }
        match self.store.administer_items(self.master_key, &doing, &changes).await {
            Err(StorageError::ChangedMeanwhile) => Err(AdminError::ChangedMeanwhile),
            done => Ok(done?),
        }
    }
}

impl View {
    /// The account whose trail has what concerns the deployment: that of whoever acts, else the first.
    pub(in crate::admin) fn trail_of_deployment(&self) -> AccountId {
        if let Rights::Of(rank) = &self.rights {
            return rank.account.clone();
        }
        let accounts = self.organisation.accounts.values();
        let first = accounts.min_by_key(|it| (it.created_at, it.id.to_string()));
        first.map_or_else(|| AccountId::from(""), |account| account.id.clone())
    }
}

fn settings(spec: &impl serde::Serialize) -> Result<serde_json::Value, AdminError> {
    serde_json::to_value(spec).map_err(|error| {
        AdminError::Settings(vec![Wrong::new("settings", error.to_string(), "look at them")])
    })
}
