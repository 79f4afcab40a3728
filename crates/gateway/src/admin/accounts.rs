//! Accounts: made, listed, changed.

use sluice_core::key::AccountTier;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_storage::{AccountRecord, StorageError};

use crate::admin::{Admin, AdminError, checked_name};
use crate::service_key::random_name;

/// The account that keys belong to when nobody says.
const DEFAULT_NAME: &str = "default";

/// The account to make.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Its name, which no other account may have.
    pub name: String,
    /// Sets limits for all its keys together, and its model suite.
    pub tier: AccountTier,
    /// Requests an hour; `None`: the tier's.
    pub requests_per_hour: Option<u64>,
    /// Tokens a day; `None`: the tier's.
    pub tokens_per_day: Option<u64>,
    /// Requests at once; `None`: the tier's.
    pub concurrent_requests: Option<u64>,
    /// Where its requests are processed when neither request nor key says.
    pub region: Option<Region>,
    /// The mildest level that its requests may have.
    pub minimum_level: SecurityLevel,
    /// Whether nothing about its requests is stored.
    pub zero_retention: bool,
    /// Whether each of its requests leaves an audit entry.
    pub audit: bool,
}

impl NewAccount {
    /// An account with everything as the tier has it.
    pub fn named(name: &str, tier: AccountTier) -> Self {
        Self {
            name: name.to_owned(),
            tier,
            requests_per_hour: None,
            tokens_per_day: None,
            concurrent_requests: None,
            region: None,
            minimum_level: SecurityLevel::Standard,
            zero_retention: false,
            audit: false,
        }
    }
}

/// What to change about an account; what is `None` stays. Where a setting may be missing, the inner
/// `None` takes it away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountChange {
    /// See [`NewAccount::name`].
    pub name: Option<String>,
    /// See [`NewAccount::tier`].
    pub tier: Option<AccountTier>,
    /// See [`NewAccount::requests_per_hour`].
    pub requests_per_hour: Option<Option<u64>>,
    /// See [`NewAccount::tokens_per_day`].
    pub tokens_per_day: Option<Option<u64>>,
    /// See [`NewAccount::concurrent_requests`].
    pub concurrent_requests: Option<Option<u64>>,
    /// See [`NewAccount::region`].
    pub region: Option<Option<Region>>,
    /// See [`NewAccount::minimum_level`].
    pub minimum_level: Option<SecurityLevel>,
    /// See [`NewAccount::zero_retention`].
    pub zero_retention: Option<bool>,
    /// See [`NewAccount::audit`].
    pub audit: Option<bool>,
}

impl Admin<'_> {
    /// Makes an account.
    pub async fn create_account(&self, wish: NewAccount) -> Result<AccountRecord, AdminError> {
        let account = AccountRecord {
            id: format!("acc_{}", random_name(16)?).into(),
            name: checked_name(&wish.name)?,
            tier: wish.tier,
            created_at: self.now,
            requests_per_hour: wish.requests_per_hour,
            tokens_per_day: wish.tokens_per_day,
            concurrent_requests: wish.concurrent_requests,
            region: wish.region,
            minimum_level: wish.minimum_level,
            zero_retention: wish.zero_retention,
            audit: wish.audit,
        };
        check_limits(&account)?;
        self.store.insert_account(&account).await?;
        Ok(account)
    }

    /// The default account; makes it, with the highest tier, where there is none.
    pub async fn default_account(&self) -> Result<AccountRecord, AdminError> {
        if let Some(account) = self.account_if_any(DEFAULT_NAME).await? {
            return Ok(account);
        }
        match self.create_account(NewAccount::named(DEFAULT_NAME, AccountTier::Highest)).await {
            // Another process was faster.
            Err(AdminError::Storage(StorageError::Exists { .. })) => {
                self.account(DEFAULT_NAME).await
            }
            made => made,
        }
    }

    /// All accounts, in the order of their creation.
    pub async fn accounts(&self) -> Result<Vec<AccountRecord>, AdminError> {
        Ok(self.store.accounts().await?)
    }

    /// The account with this id or name.
    pub async fn account(&self, id_or_name: &str) -> Result<AccountRecord, AdminError> {
        self.account_if_any(id_or_name)
            .await?
            .ok_or_else(|| AdminError::NoSuchAccount(id_or_name.to_owned()))
    }

    async fn account_if_any(&self, id_or_name: &str) -> Result<Option<AccountRecord>, AdminError> {
        let accounts = self.store.accounts().await?;
        let fits = |it: &AccountRecord| it.id.as_str() == id_or_name || it.name == id_or_name;
        Ok(accounts.into_iter().find(fits))
    }

    /// Changes an account and returns it as it is now.
    pub async fn change_account(
        &self,
        id_or_name: &str,
        change: AccountChange,
    ) -> Result<AccountRecord, AdminError> {
        let old = self.account(id_or_name).await?;
        let named = change.name.as_deref().map(checked_name).transpose()?;
        // A new one of the highest tier would take its place.
        if old.name == DEFAULT_NAME && named.as_ref().is_some_and(|name| name != DEFAULT_NAME) {
            return Err(AdminError::DefaultKeepsName);
        }
        let new = AccountRecord {
            name: named.unwrap_or_else(|| old.name.clone()),
            tier: change.tier.unwrap_or(old.tier),
            requests_per_hour: change.requests_per_hour.unwrap_or(old.requests_per_hour),
            tokens_per_day: change.tokens_per_day.unwrap_or(old.tokens_per_day),
            concurrent_requests: change.concurrent_requests.unwrap_or(old.concurrent_requests),
            region: change.region.unwrap_or(old.region),
            minimum_level: change.minimum_level.unwrap_or(old.minimum_level),
            zero_retention: change.zero_retention.unwrap_or(old.zero_retention),
            audit: change.audit.unwrap_or(old.audit),
            id: old.id.clone(),
            created_at: old.created_at,
        };
        check_limits(&new)?;
        if !self.store.change_account(&old, &new).await? {
            return Err(AdminError::ChangedMeanwhile);
        }
        Ok(new)
    }
}

fn check_limits(account: &AccountRecord) -> Result<(), AdminError> {
    for (limit, value) in [
        ("requests_per_hour", account.requests_per_hour),
        ("tokens_per_day", account.tokens_per_day),
        ("concurrent_requests", account.concurrent_requests),
    ] {
        if value == Some(0) {
            return Err(AdminError::ZeroLimit { limit });
        }
    }
    Ok(())
}
