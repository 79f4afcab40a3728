//! Routers of accounts, departments and teams: made, changed, rolled back, removed.
//!
//! What the configuration file has is seen with the models and changed there. Every change makes a
//! version; going back to one makes another.

use std::sync::Arc;

use sluice_routing::catalog::OwnRouter;
use sluice_routing::router::Router;
use sluice_storage::{Item, ItemChange, Record, RouterRecord, RouterVersion, StorageError};

use crate::admin::find::called;
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, View};
use crate::service_key::random_name;
use crate::vendors::{self, Given, RouterSpec, Served, Vendors, around, checked_router_name};

/// What ids of routers begin with.
const ID: &str = "rtr_";

/// The router to make.
#[derive(Debug, Clone)]
pub struct NewRouter {
    /// What callers put in `model`: `svc/review`.
    pub name: String,
    /// Who may ask it: `account`, `account:A`, `department:D` or `team:T`, by id or name.
    pub subject: String,
    /// The id or name of the account, where there are several.
    pub account: Option<String>,
    /// How it chooses, and from what.
    pub spec: RouterSpec,
}

/// A router, and whose it is.
#[derive(Debug, Clone)]
pub struct RouterView {
    /// The router's record.
    pub record: RouterRecord,
    /// Who may ask it.
    pub whose: Record,
    /// Its settings.
    pub spec: RouterSpec,
    /// What is served; `None` where it is left out.
    pub router: Option<Arc<Router>>,
    /// What is not served of it, and why.
    pub left_out: Option<String>,
}

impl RouterView {
    /// The settings of a version of it.
    pub fn spec_of(version: &RouterVersion) -> RouterSpec {
        spec_of(&version.settings)
    }

    /// Who may ask it, in words: `team compilers`.
    pub fn whose_name(&self) -> String {
        called(&self.whose)
    }
}

fn spec_of(settings: &serde_json::Value) -> RouterSpec {
    serde_json::from_value(settings.clone()).unwrap_or_default()
}

impl Admin<'_> {
    /// Makes a router.
    pub async fn create_router(
        &self,
        given: &Given,
        wish: NewRouter,
    ) -> Result<RouterView, AdminError> {
        let view = self.view().await?;
        let whose = self.subject_named(&view, &wish.subject, wish.account.as_deref()).await?;
        if !matches!(whose, Record::Account(_) | Record::Department(_) | Record::Team(_)) {
            return Err(AdminError::NoRouterOf { what: called(&whose) });
        }
        view.permits(Verb::CreateRouter, &whose)?;
        checked_router_name(&wish.name).map_err(|wrong| AdminError::Settings(vec![wrong]))?;
        let served = self.served(given).await?;
        if served.catalog.get(&wish.name).is_some() || given.has_model(&wish.name) {
            return Err(AdminError::RouterNameTaken { name: wish.name });
        }
        let record = RouterRecord {
            id: format!("{ID}{}", random_name(16)?).into(),
            account_id: whose.account_id().clone(),
            subject: whose.subject(),
            version: 1,
            settings: checked(&wish.spec, &wish.name, &served)?,
            name: wish.name,
            created_at: self.now,
            changed_at: self.now,
            changed_by: self.actor.clone(),
            removed_at: None,
            changed: 0,
        };
        let id = record.id.clone();
        self.write_router(&view, Verb::CreateRouter, (None, record)).await?;
        self.router(given, id.as_str(), None).await
    }

    /// All routers of accounts, departments and teams that are there and may be seen.
    pub async fn routers(&self, given: &Given) -> Result<Vec<RouterView>, AdminError> {
        let view = self.view().await?;
        let vendors = Vendors::read(self.store, self.master_key).await?;
        let served = vendors::serve(given, &vendors);
        let mut views: Vec<RouterView> = vendors
            .routers
            .into_iter()
            .filter_map(|record| {
                let whose = view.record_of(&record.subject)?;
                let is_seen = view.may(Verb::SeeRouter, &whose);
                is_seen.then(|| RouterView::new(record, whose, &served))
            })
            .collect();
        views.sort_by_cached_key(|it| (it.record.name.clone(), it.whose_name()));
        Ok(views)
    }

    /// The router with this id, or of this name where only one account has such a one, or `account`.
    pub async fn router(
        &self,
        given: &Given,
        which: &str,
        account: Option<&str>,
    ) -> Result<RouterView, AdminError> {
        let missing = || AdminError::NoSuchRouter { name: which.to_owned() };
        let account = match account {
            Some(account) => self.view().await?.account_or_only(Some(account))?,
            None => None,
        };
        let is_meant = |it: &RouterView| {
            it.record.id.as_str() == which
                || (it.record.name == which
                    && account.as_ref().is_none_or(|id| it.record.account_id == *id))
        };
        let mut found: Vec<RouterView> =
            self.routers(given).await?.into_iter().filter(is_meant).collect();
        if found.len() > 1 {
            let ids = found.iter().map(|it| it.record.id.to_string()).collect();
            return Err(AdminError::SeveralRouters { name: which.to_owned(), ids });
        }
        found.pop().ok_or_else(missing)
    }

    /// Changes a router by `change` and returns it as it is now. A change is a new version; where nothing
    /// changes, there is none.
    pub async fn change_router(
        &self,
        given: &Given,
        which: &str,
        account: Option<&str>,
        change: impl FnOnce(&mut RouterSpec),
    ) -> Result<RouterView, AdminError> {
        let view = self.view().await?;
        let old = self.router(given, which, account).await?;
        view.permits(Verb::ChangeRouter, &old.whose)?;
        let mut spec = old.spec.clone();
        change(&mut spec);
        if spec == old.spec {
            return Ok(old);
        }
        let served = self.served(given).await?;
        let settings = checked(&spec, &old.record.name, &served)?;
        let new = self.next_version(&old.record, settings);
        let id = new.id.clone();
        self.write_router(&view, Verb::ChangeRouter, (Some(old.record), new)).await?;
        self.router(given, id.as_str(), None).await
    }

    /// A router, and every version of its settings, the newest first.
    pub async fn router_versions(
        &self,
        given: &Given,
        which: &str,
        account: Option<&str>,
    ) -> Result<(RouterView, Vec<RouterVersion>), AdminError> {
        let view = self.router(given, which, account).await?;
        let versions = self.store.router_versions(&view.record.id).await?;
        Ok((view, versions))
    }

    /// Makes the settings of an earlier version those of a new one, as they were.
    pub async fn roll_back_router(
        &self,
        given: &Given,
        which: &str,
        account: Option<&str>,
        version: u32,
    ) -> Result<RouterView, AdminError> {
        let (old, versions) = self.router_versions(given, which, account).await?;
        let found = versions.iter().find(|it| it.version == version);
        let found = found.ok_or_else(|| AdminError::NoSuchVersion {
            name: old.record.name.clone(),
            version,
            newest: old.record.version,
        })?;
        let spec = spec_of(&found.settings);
        self.change_router(given, old.record.id.as_str(), None, |now| *now = spec).await
    }

    /// Removes a router. Its requests keep its name.
    pub async fn remove_router(
        &self,
        given: &Given,
        which: &str,
        account: Option<&str>,
    ) -> Result<RouterView, AdminError> {
        let view = self.view().await?;
        let old = self.router(given, which, account).await?;
        view.permits(Verb::RemoveRouter, &old.whose)?;
        let new = RouterRecord { removed_at: Some(self.now), ..old.record.clone() };
        self.write_router(&view, Verb::RemoveRouter, (Some(old.record.clone()), new)).await?;
        Ok(old)
    }

    /// What `spec` would be under the name of a router: for trying it before anybody is asked with it.
    pub async fn draft_router(
        &self,
        given: &Given,
        name: &str,
        spec: &RouterSpec,
    ) -> Result<Router, AdminError> {
        let served = self.served(given).await?;
        let checked = spec.checked(name, &around(&served.catalog));
        checked.map(|(router, _)| router).map_err(AdminError::Settings)
    }

    async fn served(&self, given: &Given) -> Result<Served, AdminError> {
        Ok(vendors::serve(given, &Vendors::read(self.store, self.master_key).await?))
    }

    fn next_version(&self, old: &RouterRecord, settings: serde_json::Value) -> RouterRecord {
        RouterRecord {
            version: old.version.saturating_add(1),
            settings,
            changed_at: self.now,
            changed_by: self.actor.clone(),
            ..old.clone()
        }
    }

    async fn write_router(
        &self,
        view: &View,
        verb: Verb,
        (old, new): (Option<RouterRecord>, RouterRecord),
    ) -> Result<(), AdminError> {
        let change = ItemChange {
            verb: verb.as_str(),
            account_id: new.account_id.clone(),
            old: old.map(Item::Router),
            new: Some(Item::Router(new)),
        };
        self.write_item(view, change).await
    }
}

impl RouterView {
    fn new(record: RouterRecord, whose: Record, served: &Served) -> Self {
        let own = served.catalog.own_router(&record.account_id, &record.name);
        let own = own.filter(|own: &&OwnRouter| own.id == record.id);
        let left_out = served.left_out.iter().find(|it| it.is_router(&record));
        Self {
            spec: spec_of(&record.settings),
            router: own.map(|own| own.router.clone()),
            left_out: left_out.map(|it| it.why.clone()),
            record,
            whose,
        }
    }
}

/// The settings as they are kept, where they make sense.
fn checked(
    spec: &RouterSpec,
    name: &str,
    served: &Served,
) -> Result<serde_json::Value, AdminError> {
    spec.checked(name, &around(&served.catalog)).map_err(AdminError::Settings)?;
    let unreadable = |error: serde_json::Error| StorageError::Unreadable {
        column: "settings",
        value: error.to_string(),
    };
    Ok(serde_json::to_value(spec).map_err(unreadable)?)
}
