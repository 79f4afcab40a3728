//! Changes of state: the one way for the command line and the dashboard.
//!
//! What is asked for is checked here, so that no surface can store what another would refuse. Every
//! change goes through `Admin::carry_out`: it asks the table of permissions, and stores the change
//! with its entry in the audit trail. A running server notices each change by
//! [`Store::change_version`].
//!
//! Messages speak of the matter. What to type or click next is for each surface to add.

mod accounts;
mod declared;
mod error;
mod file;
mod find;
mod keys;
mod lifecycle;
mod organisation;
pub mod permissions;
mod rotation;
#[cfg(test)]
mod tests;

pub use accounts::{AccountChange, NewAccount};
pub use declared::{Declared, DeclaredDepartment, DeclaredPerson, DeclaredTeam};
pub use error::AdminError;
pub use file::FileChanges;
pub use find::{Kind, Which, name_of};
pub use keys::{CreatedKey, KeyChange, KeyMove, NewKey};
pub use lifecycle::{KeysAnswer, Removal};
pub use organisation::{
    NewDepartment, NewPerson, NewService, NewTeam, PersonChange, ServiceChange, TeamChange,
    checked_email,
};
pub use rotation::{DEFAULT_GRACE, Revocation, Rotation};

use permissions::{Rights, Verb};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_core::organisation::Actor;
use sluice_storage::{
    Change, Doing, Life, MANAGED_BY_FILE, MasterKey, Organisation, Record, StorageError, Store,
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
    pub(crate) organisation: Organisation,
    rights: Rights,
    /// The number of changes before it was read.
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
}

impl Admin<'_> {
    async fn view(&self) -> Result<View, AdminError> {
        // Before the organisation: what changes in between is noticed when something is written.
        let version = self.store.change_version().await?;
        let organisation = self.store.organisation().await?;
        let rights = Rights::of(&self.actor, &organisation);
        Ok(View { organisation, rights, version })
    }

    /// Whether the actor may read the audit trail of this account.
    pub async fn sees_trail_of(&self, account: &AccountId) -> Result<bool, AdminError> {
        Ok(self.view().await?.rights.allow_trail(account))
    }

    /// The one door: does all of `deeds` as the actor, or nothing. Whatever the actor may not do,
    /// what the configuration file alone may change, and what is not as it was read is refused.
    async fn carry_out(&self, view: &View, deeds: Vec<Deed>) -> Result<(), AdminError> {
        for Deed { verb, old, new } in &deeds {
            let states = old.iter().chain([new]);
            let all_allowed = states.clone().all(|state| view.may(*verb, state));
            if !all_allowed {
                return Err(AdminError::Forbidden { verb: verb.as_str() });
            }
            // Only an operator makes one, and only an operator changes or removes one.
            let is_operator = |state: &Record| matches!(state, Record::Person(it) if it.operator);
            if states.clone().any(is_operator) && !view.rights.allow_operator() {
                return Err(AdminError::Forbidden { verb: "people.make-operator" });
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
        match self.store.administer(self.master_key, &doing, &changes).await {
            Err(StorageError::ChangedMeanwhile) => Err(AdminError::ChangedMeanwhile),
            done => Ok(done?),
        }
    }
}

/// A name without the space around it.
pub fn checked_name(name: &str) -> Result<String, AdminError> {
    let name = name.trim();
    let fits = (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits { Ok(name.to_owned()) } else { Err(AdminError::InvalidName) }
}
