//! How people sign in and stay signed in: what the dashboard's pages call.
//!
//! Whoever signs in gives an e-mail address and a password, then a one-time code where they have set
//! codes up (`sign_in.rs`). They get a [`Session`], whose token is in a cookie and whose keyed hash is
//! in the database (`session.rs`). The first password is set through a link that works once
//! (`links.rs`); the first owner's is the welcome of the first start. What somebody changes about
//! themselves is in `own.rs`; what they do to others is [`crate::admin::Admin::invite`] and its
//! neighbours.
//!
//! Each step that writes is one transaction with its entry in the audit trail. Between two steps
//! nothing is kept: the browser brings back what the next step needs, sealed. Between password and
//! code that is a [`Challenge`], in a cookie; while codes are set up it is in the form ([`CodeSetup`]).

mod codes;
mod error;
mod links;
mod own;
mod password;
mod session;
mod sign_in;
#[cfg(test)]
mod tests;
mod throttle;
mod token;
mod visitor;

use std::time::Duration;

pub use error::PeopleError;
pub use links::OpenLink;
pub use own::{CodeSetup, Safety};
pub use password::{PasswordCost, SHORTEST_PASSWORD, WeakPassword};
pub use session::{Begun, Session, SessionTimes};
pub use sign_in::{CODE_PATIENCE, Challenge, SignedIn};
pub use sluice_storage::{AccountRecord, LinkPurpose, PersonRecord, SessionRecord};
pub use token::Token;
pub(crate) use token::link_hasher;
pub use visitor::Visitor;

use crate::admin::Admin;
use arc_swap::ArcSwap;
use serde_json::Value as Json;
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Actor;
use sluice_storage::{
    Change, Doing, KeyHasher, MasterKey, Member, Sealer, SignInDeed, SignInStep, Store,
};

use password::Passwords;
use throttle::Throttle;

/// How long an invitation works.
pub const INVITATION_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long the link of a reset works.
pub const RESET_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// Where the trail says that people do this.
const SURFACE: &str = "dashboard";

/// What can be set about signing in.
#[derive(Debug, Clone, Copy, Default)]
pub struct PeopleSettings {
    /// When sessions end.
    pub times: SessionTimes,
    /// What a password's hash costs.
    pub cost: PasswordCost,
}

/// The people of a deployment, as the dashboard knows them. One for all requests.
#[derive(Debug)]
pub struct People {
    store: Store,
    master_key: MasterKey,
    times: ArcSwap<SessionTimes>,
    passwords: Passwords,
    throttle: Throttle,
    links: KeyHasher,
    sessions: KeyHasher,
    recovery: KeyHasher,
    forms: KeyHasher,
    codes: Sealer,
    steps: Sealer,
}

impl People {
    /// The people in `store`, whose secrets are kept under `master_key`.
    pub fn new(store: Store, master_key: MasterKey, settings: PeopleSettings) -> Self {
        Self {
            times: ArcSwap::from_pointee(settings.times),
            passwords: Passwords::new(settings.cost),
            throttle: Throttle::default(),
            links: link_hasher(&master_key),
            sessions: master_key.hasher("person-session"),
            recovery: master_key.hasher("person-recovery-code"),
            forms: master_key.hasher("person-form"),
            codes: master_key.sealer("one-time codes"),
            steps: master_key.sealer("steps of signing in"),
            store,
            master_key,
        }
    }

    /// Administration on the dashboard, as `actor`.
    pub fn admin(&self, actor: Actor, now: UnixMillis) -> Admin<'_> {
        let (store, master_key) = (&self.store, &self.master_key);
        Admin { store, master_key, now, actor, surface: SURFACE }
    }

    /// Writes deeds of `actor`, with their entries in the trail, or nothing.
    async fn carry_out(
        &self,
        actor: Actor,
        now: UnixMillis,
        changes: &[Change],
        deeds: &[SignInDeed],
    ) -> Result<(), PeopleError> {
        let doing = Doing { at: now, actor, surface: SURFACE, judged_at: None };
        Ok(self.store.administer(&self.master_key, &doing, changes, deeds).await?)
    }
}

/// What somebody does to how they sign in.
fn deed(verb: &'static str, member: &Member, details: Json, steps: Vec<SignInStep>) -> SignInDeed {
    let whom = Some((member.person.id.clone(), member.person.account_id.clone()));
    SignInDeed { verb, person: whom, details, steps }
}

fn acting(member: &Member) -> Actor {
    Actor::Person { id: member.person.id.clone() }
}
