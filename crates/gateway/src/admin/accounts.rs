//! Accounts: made, listed, changed.

use sluice_core::ids::AccountId;
use sluice_core::key::AccountTier;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_storage::{AccountRecord, Record, StorageError};

use crate::admin::find::Kind;
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, Deed, View, checked_name};
use crate::service_key::random_name;

/// The account that keys belong to when nobody says.
pub(super) const DEFAULT_NAME: &str = "default";

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
            suspended: None,
        };
        check_limits(&account)?;
        let view = self.view().await?;
        let deed = Deed::create(Verb::CreateAccount, account.clone());
        self.carry_out(&view, vec![deed]).await?;
        Ok(account)
    }

    /// The default account; makes it, with the highest tier, where there is none.
    pub async fn default_account(&self) -> Result<AccountRecord, AdminError> {
        if let Some(account) = self.view().await?.default_account() {
            return Ok(account.clone());
        }
        match self.create_account(NewAccount::named(DEFAULT_NAME, AccountTier::Highest)).await {
            // Another process was faster.
            Err(AdminError::Storage(StorageError::Exists { .. })) => {
                self.account(DEFAULT_NAME).await
            }
            made => made,
        }
    }

    /// The account that is meant where one is needed: the one that is named, the actor's own, or
    /// the only one there is. Makes the default account where there is none yet.
    pub(crate) async fn account_for(
        &self,
        view: View,
        text: Option<&str>,
    ) -> Result<(View, AccountId), AdminError> {
        if let Some(id) = view.account_or_only(text)? {
            return Ok((view, id));
        }
        let id = self.default_account().await?.id;
        Ok((self.view().await?, id))
    }

    /// All accounts that may be seen, in the order of their creation.
    pub async fn accounts(&self) -> Result<Vec<AccountRecord>, AdminError> {
        let view = self.view().await?;
        let records = view.list(Kind::Account).into_iter();
        Ok(records
            .filter_map(|record| match record {
                Record::Account(account) => Some(account),
                _ => None,
            })
            .collect())
    }

    /// The account with this id or name.
    pub async fn account(&self, id_or_name: &str) -> Result<AccountRecord, AdminError> {
        self.view().await?.account(id_or_name)
    }

    /// Changes an account and returns it as it is now.
    pub async fn change_account(
        &self,
        id_or_name: &str,
        change: AccountChange,
    ) -> Result<AccountRecord, AdminError> {
        let view = self.view().await?;
        let old = view.account(id_or_name)?;
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
            ..old.clone()
        };
        check_limits(&new)?;
        let deed = Deed::change(Verb::ChangeAccount, old, new.clone());
        self.carry_out(&view, vec![deed]).await?;
        Ok(new)
    }
}

impl View {
    /// The default account, where it exists and the actor sees it.
    pub(super) fn default_account(&self) -> Option<&AccountRecord> {
        let account = self.organisation.accounts.values().find(|it| it.name == DEFAULT_NAME)?;
        self.sees(&account.clone().into()).then_some(account)
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
