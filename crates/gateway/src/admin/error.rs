//! Why a change was refused.

use sluice_providers::probe::ProbeError;
use sluice_storage::StorageError;

use crate::admin::find::Kind;
use crate::limits::{UnknownZone, Window};
use crate::service_key::NoRandomness;
use crate::vendors::Wrong;

/// Why a change was refused. The messages speak of the matter; each surface adds its own advice.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The trail has no such entry, or not in this account.
    #[error("the audit trail has no entry {id}")]
    NoSuchEntry {
        /// The entry's id.
        id: String,
    },
    /// No content is kept beside an entry, or none any more.
    #[error(
        "no content is kept beside the entry {id}: only requests that ask for it (`audit_enabled`) and \
         pass the filter have one, for `audit.content_days`"
    )]
    NoContent {
        /// The entry's id.
        id: String,
    },
    /// The actor may not do it.
    #[error("your role does not permit this ({verb})")]
    Forbidden {
        /// What was tried.
        verb: &'static str,
    },
    /// The configuration file alone may change it.
    #[error("{what} is held by the configuration file; change it there")]
    ManagedByFile {
        /// What it is.
        what: String,
    },
    /// A name is empty, too long or cannot be read in a line.
    #[error(
        "a name has 1 to 100 characters, no line breaks and no characters that nobody sees; give \
         another one"
    )]
    InvalidName,
    /// Not an e-mail address.
    #[error("{0:?} is no e-mail address; expected one such as ada@example.org")]
    InvalidEmail(String),
    /// The default account would get another name.
    #[error("the account `default` keeps its name: keys for which no account is named go there")]
    DefaultKeepsName,
    /// The expiry date is over.
    #[error("the expiry {given} is not in the future; it is {now} now")]
    AlreadyExpired {
        /// The expiry that was asked for.
        given: String,
        /// The current time.
        now: String,
    },
    /// A limit of nothing.
    #[error("{limit} is 0, which refuses every request; set at least 1, or revoke the key")]
    ZeroLimit {
        /// The limit's name.
        limit: &'static str,
    },
    /// An empty list of what is allowed.
    #[error("the list of {what} is empty, which refuses every request; {fix}")]
    EmptyList {
        /// Models, regions or scopes.
        what: &'static str,
        /// What to do instead.
        fix: &'static str,
    },
    /// A model that is not in the catalogue.
    #[error("there is no model {0:?}")]
    UnknownModel(String),
    /// The default region is not an allowed one.
    #[error("the default region {region} is not among the allowed regions {allowed}; add it")]
    RegionNotAllowed {
        /// The default region.
        region: &'static str,
        /// The allowed ones.
        allowed: String,
    },
    /// There is none of this id or name, or the actor may not see it.
    #[error("there is no {} {text:?}", kind.as_str())]
    NoSuch {
        /// What was looked for.
        kind: Kind,
        /// By which id or name.
        text: String,
    },
    /// Neither a person nor a service.
    #[error("there is no person and no service {text:?}")]
    NoSuchHolder {
        /// By which id or name it was looked for.
        text: String,
    },
    /// Both a person and a service.
    #[error("a person and a service are called {text}; name person:{text} or service:{text}")]
    PersonOrService {
        /// What they are called.
        text: String,
    },
    /// No such session, or it is somebody else's, or it is over.
    #[error("there is no session {id:?}; it may be over")]
    NoSuchSession {
        /// Its name.
        id: String,
    },
    /// No such key. What was looked for may be a key, and is not repeated.
    #[error("there is no such key")]
    NoSuchKey,
    /// Several fit.
    #[error("{} {} fit: {}; name one by its id", candidates.len(), kind.several(), candidates.join(", "))]
    Ambiguous {
        /// What was looked for.
        kind: Kind,
        /// Their ids and names.
        candidates: Vec<String>,
    },
    /// There are several accounts.
    #[error("there are several accounts: {}; name one", candidates.join(", "))]
    AccountNeeded {
        /// Their names.
        candidates: Vec<String>,
    },
    /// Something that is suspended cannot be given anything.
    #[error("{} {name} is suspended; resume it first, or name another", kind.as_str())]
    Suspended {
        /// What it is.
        kind: Kind,
        /// What it is called.
        name: String,
    },
    /// Nothing that can have a budget or a policy.
    #[error(
        "{text:?} names nobody; expected `account:A`, `department:D`, `team:T`, \
         `person:P`, `service:S` or `key:K`, by id or name"
    )]
    NamesNothing {
        /// What was named.
        text: String,
    },
    /// There is none of this id, or the actor may not see it.
    #[error("there is no budget {text:?}")]
    NoSuchBudget {
        /// By which id it was looked for.
        text: String,
    },
    /// Whose budget is meant has several.
    #[error("{text:?} has several budgets: {}; name one by its id", ids.join(", "))]
    SeveralBudgets {
        /// What was named.
        text: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// Only of what has requests of its own in common.
    #[error("{what} cannot have a provider key; name an account, a department or a team")]
    NoProviderKeyOf {
        /// What was named.
        what: String,
    },
    /// There is none of this id, or the actor may not see it.
    #[error("there is no provider key {id:?}")]
    NoSuchProviderKey {
        /// By which id it was looked for.
        id: String,
    },
    /// Nothing that could be one. What was given is not repeated.
    #[error("that is no provider key: expected 1 to 4096 characters without spaces")]
    NotAProviderKey,
    /// Its provider was somewhere else when it was given.
    #[error(
        "provider key {id} cannot be used: its provider is at another address now; give it again"
    )]
    ProviderKeyElsewhere {
        /// Its id.
        id: String,
    },
    /// Requests of a person, a service or a key alone have no routers of their own.
    #[error("{what} cannot have a router; name an account, a department or a team")]
    NoRouterOf {
        /// What was named.
        what: String,
    },
    /// There is none of this name or id, or the actor may not see it.
    #[error("there is no router {name:?}")]
    NoSuchRouter {
        /// By which name or id it was looked for.
        name: String,
    },
    /// Several accounts have a router of this name.
    #[error("several routers are called {name:?}: {}; name one by its id", ids.join(", "))]
    SeveralRouters {
        /// The name.
        name: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// Everybody has a router or a model of this name.
    #[error("{name:?} is a name that all accounts have; choose another one")]
    RouterNameTaken {
        /// The name.
        name: String,
    },
    /// A router never had this version.
    #[error("{name} has no version {version}; its newest is {newest}")]
    NoSuchVersion {
        /// The router.
        name: String,
        /// What was asked for.
        version: u32,
        /// The newest that there is.
        newest: u32,
    },
    /// A policy says what makes no sense.
    #[error("{rule}: {problem}")]
    PolicyRule {
        /// Which rule of it.
        rule: &'static str,
        /// What is wrong, and how to mend it.
        problem: String,
    },
    /// No time zone of this name.
    #[error(transparent)]
    UnknownZone(#[from] UnknownZone),
    /// A budget of each session with a window of its own.
    #[error(
        "`window` is {}, but a budget of each session lasts as long as the session; leave it out, or \
         write total",
        .window.as_str()
    )]
    WindowOfSession {
        /// The window that was asked for.
        window: Window,
    },
    /// Yesterday's sessions are not known.
    #[error(
        "a budget of each session cannot be tried on yesterday: a request's session is kept only where \
         such a budget is set; set it with --soft, and see what it notes"
    )]
    RehearsalOfSessions,
    /// A top-up of nothing.
    #[error("the top-up is 0; give an amount")]
    EmptyTopUp,
    /// The key no longer works, so there is nothing to rotate.
    #[error("key {id} {state}, so it cannot be rotated; create a new one")]
    NotRotatable {
        /// The key's id.
        id: String,
        /// What happened to it.
        state: &'static str,
    },
    /// A key has two secrets that work.
    #[error(
        "two secrets of key {id} work already, one of them until {until}; wait for that, or rotate \
         without grace, which ends both at once"
    )]
    TwoSecrets {
        /// The key's id.
        id: String,
        /// When the older one ends.
        until: String,
    },
    /// What was revoked is gone for good.
    #[error("key {id} was revoked, which is for good; create a new one")]
    Revoked {
        /// The key's id.
        id: String,
    },
    /// It is suspended already, or it is not.
    #[error("{what} is {state}")]
    AlreadySo {
        /// What it is.
        what: String,
        /// Its state.
        state: &'static str,
    },
    /// A department has teams.
    #[error("{what} has teams: {}; move or remove them first", teams.join(", "))]
    HasTeams {
        /// The department.
        what: String,
        /// The names of its teams.
        teams: Vec<String>,
    },
    /// A team cannot come back alone.
    #[error("{what} belongs to {department}, which was removed; resume the department first")]
    DepartmentRemoved {
        /// The team.
        what: String,
        /// Its department.
        department: String,
    },
    /// Nobody has said what becomes of the keys.
    #[error(
        "{what} has {}; say what becomes of them: hand them over, suspend them or revoke them",
        working_keys(keys, *unseen)
    )]
    KeysNeedAnAnswer {
        /// Whose they are.
        what: String,
        /// The names of those that the actor sees.
        keys: Vec<String>,
        /// How many others there are.
        unseen: usize,
    },
    /// Keys cannot be handed over to this.
    #[error("the keys of a {from} cannot be handed over to {to}; name {expected}")]
    CannotHandOver {
        /// What is removed.
        from: &'static str,
        /// What was named.
        to: String,
        /// What can be named.
        expected: &'static str,
    },
    /// The last owner stays.
    #[error("{what} is the last owner of the account; make somebody else owner first")]
    LastOwner {
        /// Who.
        what: String,
    },
    /// Whoever acts would lock themselves out.
    #[error("{what} is your own, and suspending it would sign you out; ask somebody else to")]
    OwnSuspension {
        /// They or their account.
        what: String,
    },
    /// Accounts are suspended, not removed.
    #[error("{what} cannot be removed; {fix}")]
    NotRemovable {
        /// What it is.
        what: String,
        /// What can be done instead.
        fix: &'static str,
    },
    /// No provider has this name.
    #[error("there is no provider {name:?}")]
    NoSuchProvider {
        /// The name.
        name: String,
    },
    /// Settings of a provider or a model that make no sense.
    #[error("{}", crate::vendors::listed(.0))]
    Settings(Vec<Wrong>),
    /// A provider would get another address and keep its secrets.
    #[error(
        "provider {name} would be asked at another address; give its credential and headers again, \
         since they are not sent to another address by themselves"
    )]
    CredentialNeeded {
        /// Its name.
        name: String,
    },
    /// Models run at a provider that is removed.
    #[error(
        "{what} has {}: {}; remove them first, or with it",
        if models.len() == 1 { "a model".to_owned() } else { format!("{} models", models.len()) },
        models.join(", ")
    )]
    HasModels {
        /// The provider.
        what: String,
        /// The ids of its models.
        models: Vec<String>,
    },
    /// A provider did not answer as it should.
    #[error("{0}")]
    Provider(#[from] ProbeError),
    /// Another process changed the same record between reading and writing.
    #[error("it was changed by somebody else at the same moment; look at it and try again")]
    ChangedMeanwhile,
    /// No random bytes.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl AdminError {
    /// Whether something else has the name or address already.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Storage(StorageError::Exists { .. }))
    }

    /// Whether the database could have answered if it had been asked for less.
    pub fn took_too_long(&self) -> bool {
        matches!(self, Self::Storage(StorageError::TookTooLong { .. }))
    }
}

fn working_keys(keys: &[String], unseen: usize) -> String {
    let count = match keys.len() + unseen {
        1 => "a key that works".to_owned(),
        many => format!("{many} keys that work"),
    };
    let names = keys.join(", ");
    match (keys.is_empty(), unseen) {
        (_, 0) => format!("{count}: {names}"),
        (true, _) => format!("{count}, which you do not see"),
        (false, 1) => format!("{count}: {names}, and one that you do not see"),
        (false, _) => format!("{count}: {names}, and {unseen} that you do not see"),
    }
}
