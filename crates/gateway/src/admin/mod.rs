//! Changes of state: the one way for the command line and the dashboard.
//!
//! What is asked for is checked here, so that no surface can store what another would refuse. Every
//! change goes through `Admin::carry_out`: it asks the table of permissions, and stores the change
//! with its entry in the audit trail. A running server notices each change by
//! [`Store::change_version`].
//!
//! Messages speak of the matter. What to type or click next is for each surface to add.

mod accounts;
mod budgets;
mod declared;
mod error;
mod file;
mod find;
mod keys;
mod lifecycle;
mod names;
mod organisation;
pub mod permissions;
mod policies;
mod provider_keys;
mod rotation;
mod routers;
mod sign_in;
mod subjects;
#[cfg(test)]
mod tests;
mod vendors;

pub use accounts::{AccountChange, NewAccount};
pub use budgets::{BudgetView, BudgetWish, Rehearsed};
pub use declared::{Declared, DeclaredDepartment, DeclaredPerson, DeclaredTeam};
pub use error::AdminError;
pub use file::FileChanges;
pub use find::{Kind, Which, name_of};
pub use keys::{CreatedKey, KeyChange, KeyMove, NewKey};
pub use lifecycle::{KeysAnswer, KeysLeft, Removal};
pub(crate) use names::is_unseen;
pub use names::{as_read, checked_email, checked_name};
pub use organisation::{
    NewDepartment, NewPerson, NewService, NewTeam, PersonChange, ServiceChange, TeamChange,
};
pub use policies::{Configured, PolicyExplained, PolicyView, PolicyWish};
pub use provider_keys::{NewProviderKey, ProviderAt, ProviderKeyView};
pub(crate) use rotation::is_due_alone;
pub use rotation::{DEFAULT_GRACE, Revocation, Rotation, is_due, newest_secret_at};
pub use routers::{NewRouter, RouterView};
pub use sign_in::{Invitation, Invited, Reset};
pub use subjects::FileItems;
pub use vendors::{ModelView, NewProvider, Origin, ProviderChange, ProviderView};

use std::sync::Arc;

use permissions::Rights;
pub use permissions::{Scope, Verb};
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Actor;
use sluice_storage::{
    Change, Doing, ItemChange, Life, MANAGED_BY_FILE, MasterKey, Organisation, Record, SignInDeed,
    StorageError, Store,
};

/// Administration, as somebody.
#[derive(Debug, Clone)]
pub struct Admin<'a> {
    /// Where the records are.
    pub store: &'a Store,
    /// What keys are hashed with. The store has checked it.
    pub master_key: &'a MasterKey,
    /// The current time.
    pub now: UnixMillis,
    /// Who acts.
    pub actor: Actor,
    /// Where they act, for the audit trail: `command line`, `dashboard`, ….
    pub surface: &'static str,
}

/// The organisation as it was read, and what the actor may do in it.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) organisation: Arc<Organisation>,
    rights: Rights,
    /// The number of changes that it has.
    version: u64,
}

/// One thing that is done.
struct Deed {
    verb: Verb,
    old: Option<Record>,
    new: Record,
}

impl Deed {
    fn create(verb: Verb, new: impl Into<Record>) -> Self {
        Self { verb, old: None, new: new.into() }
    }

    fn change(verb: Verb, old: impl Into<Record>, new: impl Into<Record>) -> Self {
        Self { verb, old: Some(old.into()), new: new.into() }
    }

    fn removes(&self) -> bool {
        let is_there = |record: &Record| record.life().is_some_and(Life::is_there);
        self.old.as_ref().is_some_and(is_there) && !is_there(&self.new)
    }
}

impl View {
    /// Whether the actor may do this to a thing.
    fn may(&self, verb: Verb, record: &Record) -> bool {
        self.rights.allow(verb, record, &self.organisation)
    }

    /// Refuses what the actor may not do to a thing.
    fn permits(&self, verb: Verb, record: &Record) -> Result<(), AdminError> {
        if !self.may(verb, record) {
            return Err(AdminError::Forbidden { verb: verb.as_str() });
        }
        // Only an operator makes one, and only an operator changes or removes one.
        let is_operator = matches!(record, Record::Person(it) if it.operator);
        if is_operator && !self.rights.allow_operator() {
            return Err(AdminError::Forbidden { verb: "people.make-operator" });
        }
        Ok(())
    }
}

/// What somebody may do, as things stood when it was read: for showing and hiding. What they do is
/// asked for again at the door.
#[derive(Debug)]
pub struct Permissions(View);

impl Permissions {
    /// Whether there is anything to which they may do this: whether its page is worth showing.
    pub fn may_at_all(&self, verb: Verb) -> bool {
        self.0.rights.allow_at_all(verb)
    }

    /// Whether they may do this to a thing as it stands; to one that they want to create, as they
    /// want it.
    pub fn may(&self, verb: Verb, record: &Record) -> bool {
        match verb.only_looks() {
            true => self.0.may(verb, record),
            false => self.0.permits(verb, record).is_ok(),
        }
    }

    /// Whether they may do this about a budget of `whose`.
    pub fn may_about_budget(&self, verb: Verb, whose: &Record) -> bool {
        self.0.may(verb, whose)
    }

    /// Whether this is who they were asked for, or their account: what nobody suspends themselves.
    pub fn is_own(&self, actor: &Actor, record: &Record) -> bool {
        self.0.is_own(actor, record)
    }

    /// The organisation that they were judged in: all of it, whatever they may see.
    pub fn organisation(&self) -> &Organisation {
        &self.0.organisation
    }
}

impl Admin<'_> {
    /// What the actor may do.
    pub async fn permissions(&self) -> Result<Permissions, AdminError> {
        self.view().await.map(Permissions)
    }

    pub(crate) async fn view(&self) -> Result<View, AdminError> {
        let (version, organisation) = self.store.organisation_and_version().await?;
        let rights = Rights::of(&self.actor, &organisation);
        Ok(View { organisation, rights, version })
    }

    /// Writes a provider key, a router or another item, unless something has changed since `view`.
    async fn write_item(&self, view: &View, change: ItemChange) -> Result<(), AdminError> {
        let (actor, surface) = (self.actor.clone(), self.surface);
        let doing = Doing { at: self.now, actor, surface, judged_at: Some(view.version) };
        match self.store.administer_items(self.master_key, &doing, &[change]).await {
            Err(StorageError::ChangedMeanwhile) => Err(AdminError::ChangedMeanwhile),
            done => Ok(done?),
        }
    }

    /// The one door: does all of `deeds` as the actor, or nothing. Whatever the actor may not do,
    /// what the configuration file alone may change, and what is not as it was read is refused.
    async fn carry_out(&self, view: &View, deeds: Vec<Deed>) -> Result<(), AdminError> {
        self.carry_out_with(view, deeds, Vec::new()).await
    }

    /// The same, with what is done about signing in. Whether the actor may do that is for the caller
    /// to ask of [`View::permits`].
    async fn carry_out_with(
        &self,
        view: &View,
        deeds: Vec<Deed>,
        sign_in: Vec<SignInDeed>,
    ) -> Result<(), AdminError> {
        for Deed { verb, old, new } in &deeds {
            let states = old.iter().chain([new]);
            for state in states.clone() {
                view.permits(*verb, state)?;
            }
            let is_the_files = |state: &Record| {
                state.life().and_then(|it| it.managed_by.as_deref()) == Some(MANAGED_BY_FILE)
            };
            if self.actor != Actor::File && states.clone().any(is_the_files) {
                let what = find::called(new);
                return Err(AdminError::ManagedByFile { what });
            }
        }
        // A person's rights must still be what they were when the change is written. Whatever is
        // removed must still have the keys that were asked about.
        let is_person = matches!(self.actor, Actor::Person { .. });
        let judged_at = (is_person || deeds.iter().any(Deed::removes)).then_some(view.version);
        let (actor, surface) = (self.actor.clone(), self.surface);
        let doing = Doing { at: self.now, actor, surface, judged_at };
        let changes: Vec<Change> = deeds
            .into_iter()
            .map(|Deed { verb, old, new }| Change { verb: verb.as_str(), old, new })
            .collect();
        match self.store.administer(self.master_key, &doing, &changes, &sign_in).await {
            Err(StorageError::ChangedMeanwhile) => Err(AdminError::ChangedMeanwhile),
            done => Ok(done?),
        }
    }
}
