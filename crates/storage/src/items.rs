//! What is administered beside the organisation: providers, models, routers, budgets, policies,
//! provider keys. Each is one row, which says the number of the change that touched it last.

use serde_json::Value as Json;
use sluice_core::ids::AccountId;

use crate::budgets::{BUDGETS, BudgetRecord, budget_values};
use crate::database::{Transaction, Value, insert_one, sql, update_one};
use crate::error::StorageError;
use crate::policies::{POLICIES, PolicyRecord, policy_values};
use crate::provider_keys::{PROVIDER_KEYS, ProviderKeyRecord, provider_key_values};
use crate::routers::{ROUTERS, RouterRecord, keep_version, router_values};
use crate::vendors::{
    MODELS, ModelRecord, PROVIDERS, ProviderRecord, model_values, provider_values,
};

const DOING: &str = "write the change";

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A provider.
    Provider(ProviderRecord),
    /// A model.
    Model(ModelRecord),
    /// A budget.
    Budget(BudgetRecord),
    /// A policy.
    Policy(PolicyRecord),
    /// A provider key of an account, a department or a team.
    ProviderKey(ProviderKeyRecord),
    /// A router of an account, a department or a team.
    Router(RouterRecord),
}

/// One change of one of them.
#[derive(Debug, Clone)]
pub struct ItemChange {
    /// What is done, as in `providers.change`.
    pub verb: &'static str,
    /// In whose trail it is noted.
    pub account_id: AccountId,
    /// It as it was read; nothing where it is new.
    pub old: Option<Item>,
    /// It as it shall be; nothing where it leaves no row.
    pub new: Option<Item>,
}

impl Item {
    /// Where it is kept, the column of its identity, and that.
    fn place(&self) -> ((&'static str, &'static [&'static str]), &'static str, String) {
        match self {
            Self::Provider(it) => (PROVIDERS, "name", it.name.clone()),
            Self::Model(it) => (MODELS, "id", it.id.clone()),
            Self::Budget(it) => (BUDGETS, "id", it.id.to_string()),
            Self::Policy(it) => (POLICIES, "id", it.subject.to_string()),
            Self::ProviderKey(it) => (PROVIDER_KEYS, "id", it.id.to_string()),
            Self::Router(it) => (ROUTERS, "id", it.id.to_string()),
        }
    }

    fn changed(&self) -> u64 {
        match self {
            Self::Provider(it) => it.changed,
            Self::Model(it) => it.changed,
            Self::Budget(it) => it.changed,
            Self::Policy(it) => it.changed,
            Self::ProviderKey(it) => it.changed,
            Self::Router(it) => it.changed,
        }
    }

    fn to_json(&self) -> Result<Json, StorageError> {
        match self {
            Self::Provider(it) => serde_json::to_value(it),
            Self::Model(it) => serde_json::to_value(it),
            Self::Budget(it) => serde_json::to_value(it),
            Self::Policy(it) => serde_json::to_value(it),
            Self::ProviderKey(it) => serde_json::to_value(it),
            Self::Router(it) => serde_json::to_value(it),
        }
        .map_err(|error| StorageError::Unreadable { column: "entry", value: error.to_string() })
    }

    fn row(&self, version: u64) -> Vec<Value> {
        let mut values = match self {
            Self::Provider(it) => provider_values(it),
            Self::Model(it) => model_values(it),
            Self::Budget(it) => budget_values(it),
            Self::Policy(it) => policy_values(it),
            Self::ProviderKey(it) => provider_key_values(it),
            Self::Router(it) => router_values(it),
        };
        values.push(version.into());
        values
    }

    /// What there is only one of.
    fn taken(&self) -> &'static str {
        match self {
            Self::Provider(_) => "a provider of this name",
            Self::Model(_) => "a model of this name",
            Self::Budget(_) => "such a budget",
            Self::Policy(_) => "such a policy",
            Self::ProviderKey(_) => "a provider key for these requests and this provider",
            Self::Router(_) => "a router of this name",
        }
    }

    /// It in the trail: `provider:lab`.
    fn subject(&self) -> String {
        match self {
            Self::Provider(it) => format!("provider:{}", it.name),
            Self::Model(it) => format!("model:{}", it.id),
            Self::Budget(it) => format!("budget:{}", it.id),
            Self::Policy(it) => format!("policy:{}", it.subject),
            Self::ProviderKey(it) => format!("provider-key:{}", it.id),
            Self::Router(it) => format!("router:{}", it.id),
        }
    }
}

impl ItemChange {
    /// What it is about, for the trail.
    pub(crate) fn subject(&self) -> String {
        self.new.as_ref().or(self.old.as_ref()).map(Item::subject).unwrap_or_default()
    }

    /// How it was and how it is, for the trail.
    pub(crate) fn states(&self) -> Result<(Option<Json>, Json), StorageError> {
        let before = self.old.as_ref().map(Item::to_json).transpose()?;
        let after = self.new.as_ref().map(Item::to_json).transpose()?;
        Ok((before, after.unwrap_or(Json::Null)))
    }

    /// Writes it, where it is as it was read.
    pub(crate) async fn write(
        &self,
        tx: &mut Transaction,
        version: u64,
    ) -> Result<(), StorageError> {
        let failed = StorageError::database(DOING);
        if let Some(old) = &self.old {
            let ((table, _), column, identity) = old.place();
            let row = sql(format!("SELECT changed FROM {table} WHERE {column} = $1"))
                .bind(identity)
                .fetch_optional(&mut *tx)
                .await
                .map_err(StorageError::database(DOING))?;
            let now = row.map(|row| row.count("changed")).transpose()?;
            if now != Some(old.changed()) {
                return Err(StorageError::ChangedMeanwhile);
            }
        }
        self.write_row(tx, version).await?;
        match (&self.old, &self.new) {
            (old, Some(Item::Router(new))) => {
                let is_kept = matches!(old, Some(Item::Router(old)) if old.version == new.version);
                if !is_kept {
                    keep_version(tx, new).await.map_err(failed)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn write_row(&self, tx: &mut Transaction, version: u64) -> Result<(), StorageError> {
        let failed = StorageError::database(DOING);
        match (&self.old, &self.new) {
            (None, Some(new)) => {
                let (table, _, _) = new.place();
                insert_one(tx, table, new.row(version)).await.map_err(|source| {
                    let error = source.as_database_error();
                    match error.is_some_and(|it| it.is_unique_violation()) {
                        true => StorageError::Exists { what: new.taken() },
                        false => failed(source),
                    }
                })
            }
            (Some(_), Some(new)) => {
                let (table, _, _) = new.place();
                update_one(tx, table, new.row(version)).await.map(drop).map_err(failed)
            }
            (Some(old), None) => {
                let ((table, _), column, identity) = old.place();
                sql(format!("DELETE FROM {table} WHERE {column} = $1"))
                    .bind(identity)
                    .execute(&mut *tx)
                    .await
                    .map(drop)
                    .map_err(failed)
            }
            (None, None) => Ok(()),
        }
    }
}
