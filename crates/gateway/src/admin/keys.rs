//! Service keys: made, changed, moved.

use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::organisation::KeyScope;
use sluice_core::region::Region;
use sluice_routing::catalog::Catalog;
use sluice_storage::{KeyRecord, Record};

use crate::admin::lifecycle::usable;
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, Deed, View, checked_name};
use crate::service_key::{ServiceKey, random_name};

/// The key to make.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// What people call it.
    pub name: String,
    /// Sets its requests an hour and tokens a day.
    pub class: KeyClass,
    /// The id or name of its account; `None`: that of its team or holder, the actor's, else the
    /// default account.
    pub account: Option<String>,
    /// The id or name of its team.
    pub team: Option<String>,
    /// The person or service that it belongs to: `person:P` or `service:S`.
    pub holder: Option<String>,
    /// What it may do.
    pub scopes: Vec<KeyScope>,
    /// The models it may ask for; `None`: every model of its account.
    pub models: Option<Vec<String>>,
    /// The regions it may ask for; `None`: every region.
    pub regions: Option<Vec<Region>>,
    /// Where its requests are processed when they do not say.
    pub region: Option<Region>,
    /// The mildest level that its requests may have.
    pub minimum_level: SecurityLevel,
    /// Whether nothing about its requests is stored.
    pub zero_retention: bool,
    /// Whether each of its requests leaves an audit entry.
    pub audit: bool,
    /// What bounds `max_tokens`.
    pub max_tokens: MaxTokensBound,
    /// Requests an hour; `None`: the class's.
    pub requests_per_hour: Option<u64>,
    /// Tokens a day; `None`: the class's.
    pub tokens_per_day: Option<u64>,
    /// From when on it no longer works.
    pub expires_at: Option<UnixMillis>,
}

impl NewKey {
    /// A key with everything as its class has it.
    pub fn named(name: &str, class: KeyClass) -> Self {
        Self {
            name: name.to_owned(),
            class,
            account: None,
            team: None,
            holder: None,
            scopes: KeyScope::ALL.to_vec(),
            models: None,
            regions: None,
            region: None,
            minimum_level: SecurityLevel::Standard,
            zero_retention: false,
            audit: false,
            max_tokens: MaxTokensBound::Documented,
            requests_per_hour: None,
            tokens_per_day: None,
            expires_at: None,
        }
    }
}

/// What to change about a key; what is `None` stays. Where a setting may be missing, the inner
/// `None` takes it away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyChange {
    /// See [`NewKey::name`].
    pub name: Option<String>,
    /// See [`NewKey::class`].
    pub class: Option<KeyClass>,
    /// The id or name of its account. A team and a holder stay with the old one.
    pub account: Option<String>,
    /// See [`NewKey::scopes`].
    pub scopes: Option<Vec<KeyScope>>,
    /// See [`NewKey::models`].
    pub models: Option<Option<Vec<String>>>,
    /// See [`NewKey::regions`].
    pub regions: Option<Option<Vec<Region>>>,
    /// See [`NewKey::region`].
    pub region: Option<Option<Region>>,
    /// See [`NewKey::minimum_level`].
    pub minimum_level: Option<SecurityLevel>,
    /// See [`NewKey::zero_retention`].
    pub zero_retention: Option<bool>,
    /// See [`NewKey::audit`].
    pub audit: Option<bool>,
    /// See [`NewKey::max_tokens`].
    pub max_tokens: Option<MaxTokensBound>,
    /// See [`NewKey::requests_per_hour`].
    pub requests_per_hour: Option<Option<u64>>,
    /// See [`NewKey::tokens_per_day`].
    pub tokens_per_day: Option<Option<u64>>,
    /// See [`NewKey::expires_at`].
    pub expires_at: Option<Option<UnixMillis>>,
}

/// A new key. This is the only time that its text is there.
#[derive(Debug)]
pub struct CreatedKey {
    /// The key itself.
    pub key: ServiceKey,
    /// Its record.
    pub record: KeyRecord,
}

/// Where a key moves to; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyMove {
    /// The id or name of its team; the inner `None`: it belongs to the account.
    pub team: Option<Option<String>>,
    /// See [`NewKey::holder`].
    pub holder: Option<Option<String>>,
}

/// What can be wrong about a key.
struct Asked<'a> {
    expires_at: Option<UnixMillis>,
    requests_per_hour: Option<u64>,
    tokens_per_day: Option<u64>,
    models: Option<&'a [String]>,
    regions: Option<&'a [Region]>,
    region: Option<Region>,
    scopes: &'a [KeyScope],
}

impl Admin<'_> {
    /// Makes a key. With a catalogue, the models it may ask for are looked up.
    pub async fn create_key(
        &self,
        wish: NewKey,
        catalog: Option<&Catalog>,
    ) -> Result<CreatedKey, AdminError> {
        let name = checked_name(&wish.name)?;
        self.check(&Asked {
            expires_at: wish.expires_at,
            requests_per_hour: wish.requests_per_hour,
            tokens_per_day: wish.tokens_per_day,
            models: wish.models.as_deref(),
            regions: wish.regions.as_deref(),
            region: wish.region,
            scopes: &wish.scopes,
        })?;
        let mut view = self.view().await?;
        let mut account = match &wish.account {
            Some(text) => Some(view.account(text)?.id),
            None => None,
        };
        // The team and the holder say which account is meant, too.
        let within = |account: &Option<AccountId>| account.as_ref().map(ToString::to_string);
        let team = match &wish.team {
            Some(text) => Some(view.team(text, within(&account))?),
            None => None,
        };
        account = account.or_else(|| team.as_ref().map(|team| team.account_id.clone()));
        let holder = match &wish.holder {
            Some(text) => Some(view.holder(text, within(&account).as_deref())?),
            None => None,
        };
        account = account.or_else(|| Some(holder.as_ref()?.1.account_id().clone()));
        if let Some(team) = &team {
            usable(&Record::Team(team.clone()))?;
        }
        if let Some((_, holder)) = &holder {
            usable(holder)?;
        }
        let account_id = match (account, view.own_account()) {
            (Some(account), _) | (None, Some(account)) => account,
            (None, None) => match view.default_account() {
                Some(account) => account.id.clone(),
                None => {
                    let account = self.default_account().await?;
                    view = self.view().await?;
                    account.id
                }
            },
        };
        let (key, secret) = self.new_secret()?;
        let record = KeyRecord {
            id: format!("key_{}", random_name(16)?).into(),
            account_id,
            name,
            team_id: team.map(|team| team.id),
            holder: holder.map(|(holder, _)| holder),
            scopes: sorted(wish.scopes),
            class: wish.class,
            models: wish.models,
            regions: wish.regions,
            region: wish.region,
            minimum_level: wish.minimum_level,
            zero_retention: wish.zero_retention,
            audit: wish.audit,
            max_tokens: wish.max_tokens,
            requests_per_hour: wish.requests_per_hour,
            tokens_per_day: wish.tokens_per_day,
            owner: None,
            created_at: self.now,
            expires_at: wish.expires_at,
            revoked_at: None,
            suspended: None,
            secrets: vec![secret],
        };
        view.knows_models(catalog, &record, record.models.as_deref())?;
        // Whoever may not change a key's figures may not choose them either.
        let is_usual = record.requests_per_hour.is_none()
            && record.tokens_per_day.is_none()
            && record.class == KeyClass::Development;
        let may = |verb| view.may(verb, &record.clone().into());
        if !is_usual && may(Verb::CreateKey) && !may(Verb::ChangeKey) {
            return Err(AdminError::Forbidden { verb: Verb::ChangeKey.as_str() });
        }
        self.carry_out(&view, vec![Deed::create(Verb::CreateKey, record.clone())]).await?;
        Ok(CreatedKey { key, record })
    }

    /// Changes a key and returns it as it is now. With a catalogue, models that are named anew are
    /// looked up; what stays is not judged again.
    pub async fn change_key(
        &self,
        text: &str,
        change: KeyChange,
        catalog: Option<&Catalog>,
    ) -> Result<KeyRecord, AdminError> {
        let view = self.view().await?;
        let old = self.find_key(&view, text).await?;
        let new = self.changed_key(&view, &old, change, catalog)?;
        self.change(&view, Verb::ChangeKey, old, new).await
    }

    /// Moves a key to another team or holder of its account. What was recorded stays with the old
    /// ones.
    pub async fn move_key(&self, text: &str, to: KeyMove) -> Result<KeyRecord, AdminError> {
        let view = self.view().await?;
        let old = self.find_key(&view, text).await?;
        let new = view.moved_key(&old, &to)?;
        self.change(&view, Verb::MoveKey, old, new).await
    }

    /// Moves a key as [`Admin::move_key`] does, then changes it as [`Admin::change_key`] does: both,
    /// or nothing.
    pub async fn move_and_change_key(
        &self,
        text: &str,
        to: KeyMove,
        change: KeyChange,
        catalog: Option<&Catalog>,
    ) -> Result<KeyRecord, AdminError> {
        let view = self.view().await?;
        let old = self.find_key(&view, text).await?;
        let moved = view.moved_key(&old, &to)?;
        let new = self.changed_key(&view, &moved, change, catalog)?;
        let deeds = vec![
            Deed::change(Verb::MoveKey, old, moved.clone()),
            Deed::change(Verb::ChangeKey, moved, new.clone()),
        ];
        self.carry_out(&view, deeds).await?;
        Ok(new)
    }

    /// What `old` becomes by `change`.
    fn changed_key(
        &self,
        view: &View,
        old: &KeyRecord,
        change: KeyChange,
        catalog: Option<&Catalog>,
    ) -> Result<KeyRecord, AdminError> {
        let account_id = match &change.account {
            Some(text) => view.account(text)?.id,
            None => old.account_id.clone(),
        };
        let stays = account_id == old.account_id;
        let new = KeyRecord {
            name: match change.name {
                Some(name) => checked_name(&name)?,
                None => old.name.clone(),
            },
            account_id,
            team_id: old.team_id.clone().filter(|_| stays),
            holder: old.holder.clone().filter(|_| stays),
            scopes: change.scopes.map_or_else(|| old.scopes.clone(), sorted),
            class: change.class.unwrap_or(old.class),
            models: change.models.clone().unwrap_or_else(|| old.models.clone()),
            regions: change.regions.unwrap_or_else(|| old.regions.clone()),
            region: change.region.unwrap_or(old.region),
            minimum_level: change.minimum_level.unwrap_or(old.minimum_level),
            zero_retention: change.zero_retention.unwrap_or(old.zero_retention),
            audit: change.audit.unwrap_or(old.audit),
            max_tokens: change.max_tokens.unwrap_or(old.max_tokens),
            requests_per_hour: change.requests_per_hour.unwrap_or(old.requests_per_hour),
            tokens_per_day: change.tokens_per_day.unwrap_or(old.tokens_per_day),
            expires_at: change.expires_at.unwrap_or(old.expires_at),
            ..old.clone()
        };
        self.check(&Asked {
            expires_at: change.expires_at.flatten(),
            requests_per_hour: new.requests_per_hour,
            tokens_per_day: new.tokens_per_day,
            models: change.models.as_ref().and_then(|models| models.as_deref()),
            regions: new.regions.as_deref(),
            region: new.region,
            scopes: &new.scopes,
        })?;
        view.knows_models(catalog, &new, change.models.as_ref().and_then(|it| it.as_deref()))?;
        Ok(new)
    }

    fn check(&self, asked: &Asked<'_>) -> Result<(), AdminError> {
        if let Some(expiry) = asked.expires_at
            && expiry <= self.now
        {
            let (given, now) = (expiry.to_rfc3339(), self.now.to_rfc3339());
            return Err(AdminError::AlreadyExpired { given, now });
        }
        if asked.scopes.is_empty() {
            let fix = "name chat, models or both";
            return Err(AdminError::EmptyList { what: "scopes", fix });
        }
        if asked.requests_per_hour == Some(0) {
            return Err(AdminError::ZeroLimit { limit: "requests_per_hour" });
        }
        if asked.tokens_per_day == Some(0) {
            return Err(AdminError::ZeroLimit { limit: "tokens_per_day" });
        }
        if asked.models.is_some_and(<[String]>::is_empty) {
            return Err(AdminError::EmptyList { what: "models", fix: ALLOW_ALL });
        }
        match (asked.regions, asked.region) {
            (Some([]), _) => Err(AdminError::EmptyList { what: "regions", fix: ALLOW_ALL }),
            (Some(regions), Some(region)) if !regions.contains(&region) => {
                let words: Vec<&str> = regions.iter().map(|region| region.as_str()).collect();
                let (region, allowed) = (region.as_str(), words.join(", "));
                Err(AdminError::RegionNotAllowed { region, allowed })
            }
            _ => Ok(()),
        }
    }
}

impl View {
    /// Refuses names that no request of `key` can ask for, where there is a catalogue.
    fn knows_models(
        &self,
        catalog: Option<&Catalog>,
        key: &KeyRecord,
        models: Option<&[String]>,
    ) -> Result<(), AdminError> {
        let (Some(catalog), Some(models)) = (catalog, models) else { return Ok(()) };
        let names = self.names_for(catalog, &key.clone().into());
        match models.iter().find(|model| !names.contains(&model.as_str())) {
            Some(unknown) => Err(AdminError::UnknownModel(unknown.clone())),
            None => Ok(()),
        }
    }

    /// What `old` becomes by moving it.
    fn moved_key(&self, old: &KeyRecord, to: &KeyMove) -> Result<KeyRecord, AdminError> {
        if old.revoked_at.is_some() {
            return Err(AdminError::Revoked { id: old.id.to_string() });
        }
        let account = old.account_id.to_string();
        let mut new = old.clone();
        match &to.team {
            Some(Some(text)) => {
                let team = self.team(text, Some(account.clone()))?;
                usable(&Record::Team(team.clone()))?;
                new.team_id = Some(team.id);
            }
            Some(None) => new.team_id = None,
            None => {}
        }
        match &to.holder {
            Some(Some(text)) => {
                let (holder, record) = self.holder(text, Some(&account))?;
                usable(&record)?;
                new.holder = Some(holder);
            }
            Some(None) => new.holder = None,
            None => {}
        }
        Ok(new)
    }
}

/// The fix for an empty list of what is allowed.
const ALLOW_ALL: &str = "leave it out to allow all";

/// Scopes in their order, each once.
fn sorted(mut scopes: Vec<KeyScope>) -> Vec<KeyScope> {
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}
