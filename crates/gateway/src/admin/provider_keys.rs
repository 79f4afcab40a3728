//! Provider keys of accounts, departments and teams: added, tested, rotated, removed.

use std::sync::Arc;

use sluice_core::ids::ProviderId;
use sluice_core::organisation::Subject;
use sluice_core::secret::Secret;
use sluice_providers::endpoint::Endpoint;
use sluice_providers::presets::{self, Preset};
use sluice_providers::probe::{self, Reached};
use sluice_providers::upstream::Upstream;
use sluice_storage::{Doing, Item, ItemChange, ProviderKeyRecord, Record, Rotated};

use crate::admin::find::called;
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, View};
use crate::provider_keys::with_credential;
use crate::service_key::random_name;
use crate::snapshot::Snapshot;

/// What ids of provider keys begin with.
const ID: &str = "pky_";
/// How many characters of a key's end are kept for people, of one that is long enough.
const HINT: usize = 4;
const LONG_ENOUGH: usize = 16;

/// The provider key to add.
#[derive(Debug, Clone)]
pub struct NewProviderKey {
    /// Whose requests are sent with it: `account`, `account:A`, `department:D` or `team:T`, by id or name.
    pub subject: String,
    /// The id or name of the account, where there are several.
    pub account: Option<String>,
    /// The key itself.
    pub secret: Secret<String>,
    /// Whether the deployment's key is used where this one fails.
    pub falls_back: bool,
    /// Whether budgets of money count what it costs.
    pub counts: bool,
}

/// The provider that a key is for, as it is served.
pub struct ProviderAt<'a> {
    /// The provider with the deployment's own key.
    pub endpoint: Arc<Endpoint>,
    /// Its preset.
    pub preset: &'a Preset,
    /// Names of its models there, to try the key where it lists none.
    pub known: Vec<String>,
    /// What sends.
    pub upstream: &'a dyn Upstream,
}

/// A provider key, and whose it is.
#[derive(Debug, Clone)]
pub struct ProviderKeyView {
    /// The key's record.
    pub key: ProviderKeyRecord,
    /// Whose requests are sent with it.
    pub whose: Record,
}

impl ProviderKeyView {
    /// Whose it is, in words: `team compilers`.
    pub fn whose_name(&self) -> String {
        called(&self.whose)
    }
}

impl<'a> ProviderAt<'a> {
    /// The provider as `snapshot` has it; `None` where it is not served.
    pub fn served(snapshot: &'a Snapshot, kind: &str, name: &str) -> Option<Self> {
        let provider = snapshot.providers.get(&ProviderId::from(name))?;
        let at = snapshot.catalog.models().iter().flat_map(|model| &model.deployments);
        let known = at.filter(|at| at.provider.as_str() == name);
        Some(Self {
            endpoint: provider.endpoint.clone(),
            preset: presets::find(kind)?,
            known: known.map(|at| at.upstream_model.clone()).take(1).collect(),
            upstream: &*provider.upstream,
        })
    }
}

impl ProviderAt<'_> {
    /// Makes one cheap call that `secret` has to be good for.
    async fn accepts(&self, secret: &Secret<String>) -> Result<Reached, AdminError> {
        let endpoint = Arc::new(with_credential(&self.endpoint, secret.clone()));
        Ok(probe::reach(&endpoint, self.preset, &self.known, self.upstream).await?)
    }
}

impl Admin<'_> {
    /// Adds a provider key, once the provider has accepted it where `test` says so.
    pub async fn add_provider_key(
        &self,
        wish: NewProviderKey,
        at: &ProviderAt<'_>,
        test: bool,
    ) -> Result<ProviderKeyView, AdminError> {
        let view = self.view().await?;
        let whose = self.subject_named(&view, &wish.subject, wish.account.as_deref()).await?;
        if !matches!(whose, Record::Account(_) | Record::Department(_) | Record::Team(_)) {
            return Err(AdminError::NoProviderKeyOf { what: called(&whose) });
        }
        view.permits(Verb::AddProviderKey, &whose)?;
        let secret = checked(wish.secret)?;
        if test {
            at.accepts(&secret).await?;
        }
        let mut key = ProviderKeyRecord {
            id: format!("{ID}{}", random_name(16)?).into(),
            account_id: whose.account_id().clone(),
            subject: whose.subject(),
            provider: at.endpoint.id.to_string(),
            base_url: at.endpoint.base_url.clone(),
            sealed: None,
            hint: hint(&secret),
            falls_back: wish.falls_back,
            counts: wish.counts,
            created_at: self.now,
            rotated_at: self.now,
            removed_at: None,
            changed: 0,
        };
        self.seal(&mut key, &secret).await?;
        self.write_provider_key(&view, Verb::AddProviderKey, (None, key.clone())).await?;
        Ok(ProviderKeyView { key, whose })
    }

    /// All provider keys that are there and may be seen.
    pub async fn provider_keys(&self) -> Result<Vec<ProviderKeyView>, AdminError> {
        let view = self.view().await?;
        let keys = view.organisation.provider_keys.iter().filter(|key| key.is_there());
        let mut views: Vec<ProviderKeyView> = keys
            .filter_map(|key| {
                let whose = view.record_of(&key.subject)?;
                let sees = view.rights.allow(Verb::SeeProviderKey, &whose, &view.organisation);
                sees.then(|| ProviderKeyView { key: key.clone(), whose })
            })
            .collect();
        let order = |it: &Subject| match it {
            Subject::Account(_) => 0,
            Subject::Department(_) => 1,
            _ => 2,
        };
        views.sort_by_cached_key(|it| {
            (order(&it.key.subject), it.whose_name(), it.key.provider.clone())
        });
        Ok(views)
    }

    /// The provider key with this id.
    pub async fn provider_key(&self, id: &str) -> Result<ProviderKeyView, AdminError> {
        self.find_provider_key(&self.view().await?, id)
    }

    /// Makes one cheap call with a provider key.
    pub async fn test_provider_key(
        &self,
        id: &str,
        at: &ProviderAt<'_>,
    ) -> Result<Reached, AdminError> {
        let view = self.view().await?;
        let found = self.find_provider_key(&view, id)?;
        view.permits(Verb::TestProviderKey, &found.whose)?;
        let keys = self.store.account_keys(self.master_key).await?;
        let opener = found.key.sealed.as_ref().and_then(|sealed| keys.get(sealed.key_id()));
        let secret = opener
            .and_then(|opener| found.key.open(opener))
            .filter(|_| at.endpoint.base_url == found.key.base_url);
        match secret {
            Some(secret) => at.accepts(&secret).await,
            None => Err(AdminError::ProviderKeyElsewhere { id: id.to_owned() }),
        }
    }

    /// Puts another key in its place, once the provider has accepted it where `test` says so.
    pub async fn rotate_provider_key(
        &self,
        id: &str,
        secret: Secret<String>,
        at: &ProviderAt<'_>,
        test: bool,
    ) -> Result<ProviderKeyView, AdminError> {
        let view = self.view().await?;
        let ProviderKeyView { key: old, whose } = self.find_provider_key(&view, id)?;
        view.permits(Verb::RotateProviderKey, &whose)?;
        let secret = checked(secret)?;
        if test {
            at.accepts(&secret).await?;
        }
        let mut new = ProviderKeyRecord {
            base_url: at.endpoint.base_url.clone(),
            hint: hint(&secret),
            rotated_at: self.now,
            ..old.clone()
        };
        self.seal(&mut new, &secret).await?;
        self.write_provider_key(&view, Verb::RotateProviderKey, (Some(old), new.clone())).await?;
        Ok(ProviderKeyView { key: new, whose })
    }

    /// Changes whether the deployment's key is used where this one fails, and whether budgets count it;
    /// what is `None` stays.
    pub async fn change_provider_key(
        &self,
        id: &str,
        falls_back: Option<bool>,
        counts: Option<bool>,
    ) -> Result<ProviderKeyView, AdminError> {
        let view = self.view().await?;
        let ProviderKeyView { key: old, whose } = self.find_provider_key(&view, id)?;
        view.permits(Verb::ChangeProviderKey, &whose)?;
        let new = ProviderKeyRecord {
            falls_back: falls_back.unwrap_or(old.falls_back),
            counts: counts.unwrap_or(old.counts),
            ..old.clone()
        };
        if new != old {
            let states = (Some(old), new.clone());
            self.write_provider_key(&view, Verb::ChangeProviderKey, states).await?;
        }
        Ok(ProviderKeyView { key: new, whose })
    }

    /// Removes a provider key: its secret is gone. What was recorded stays.
    pub async fn remove_provider_key(&self, id: &str) -> Result<ProviderKeyView, AdminError> {
        let view = self.view().await?;
        let ProviderKeyView { key: old, whose } = self.find_provider_key(&view, id)?;
        view.permits(Verb::RemoveProviderKey, &whose)?;
        let new = ProviderKeyRecord { sealed: None, removed_at: Some(self.now), ..old.clone() };
        self.write_provider_key(&view, Verb::RemoveProviderKey, (Some(old), new.clone())).await?;
        Ok(ProviderKeyView { key: new, whose })
    }

    /// Puts another master key into its file. Only who administers the server's machine may.
    pub async fn rotate_master_key(&self) -> Result<Rotated, AdminError> {
        let view = self.view().await?;
        if !view.rights.are_all() {
            return Err(AdminError::Forbidden { verb: "secrets.rotate-master-key" });
        }
        let (actor, surface) = (self.actor.clone(), self.surface);
        let doing = Doing { at: self.now, actor, surface, judged_at: None };
        let account = view.trail_of_deployment();
        Ok(self.store.rotate_master_key(self.master_key, &doing, &account).await?)
    }

    fn find_provider_key(&self, view: &View, id: &str) -> Result<ProviderKeyView, AdminError> {
        let missing = || AdminError::NoSuchProviderKey { id: id.to_owned() };
        let mut keys = view.organisation.provider_keys.iter().filter(|key| key.is_there());
        let key = keys.find(|key| key.id.as_str() == id).ok_or_else(missing)?;
        let whose = view.record_of(&key.subject).ok_or_else(missing)?;
        match view.rights.allow(Verb::SeeProviderKey, &whose, &view.organisation) {
            true => Ok(ProviderKeyView { key: key.clone(), whose }),
            false => Err(missing()),
        }
    }

    async fn seal(
        &self,
        key: &mut ProviderKeyRecord,
        secret: &Secret<String>,
    ) -> Result<(), AdminError> {
        let sealer = self.store.account_key(self.master_key, &key.account_id, self.now).await?;
        Ok(key.seal(&sealer, secret)?)
    }

    async fn write_provider_key(
        &self,
        view: &View,
        verb: Verb,
        (old, new): (Option<ProviderKeyRecord>, ProviderKeyRecord),
    ) -> Result<(), AdminError> {
        let change = ItemChange {
            verb: verb.as_str(),
            account_id: new.account_id.clone(),
            old: old.map(Item::ProviderKey),
            new: Some(Item::ProviderKey(new)),
        };
        self.write_item(view, change).await
    }
}

/// A key as a header can hold it.
fn checked(secret: Secret<String>) -> Result<Secret<String>, AdminError> {
    let text = secret.expose().trim();
    let fits =
        !text.is_empty() && text.len() <= 4_096 && text.bytes().all(|it| it.is_ascii_graphic());
    match fits {
        true => Ok(Secret::new(text.to_owned())),
        false => Err(AdminError::NotAProviderKey),
    }
}

fn hint(secret: &Secret<String>) -> String {
    let text = secret.expose();
    match text.len() >= LONG_ENOUGH {
        true => text[text.len() - HINT..].to_owned(),
        false => String::new(),
    }
}
