//! What a text names: an id or a name, among what the actor may see.

use std::collections::HashMap;

use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, KeyId};
use sluice_core::organisation::Holder;
use sluice_storage::{AccountRecord, KeyRecord, Organisation, Record};

use crate::admin::permissions::{Rights, Verb};
use crate::admin::{Admin, AdminError, View};
use crate::service_key::{PREFIX, ServiceKey};

/// The kinds of things that are administered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Accounts.
    Account,
    /// Departments.
    Department,
    /// Teams.
    Team,
    /// People.
    Person,
    /// Services.
    Service,
    /// Keys.
    Key,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Account, Self::Department, Self::Team, Self::Person, Self::Service, Self::Key];

    /// One of them.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Department => "department",
            Self::Team => "team",
            Self::Person => "person",
            Self::Service => "service",
            Self::Key => "key",
        }
    }

    /// Several of them.
    pub fn several(self) -> &'static str {
        match self {
            Self::Account => "accounts",
            Self::Department => "departments",
            Self::Team => "teams",
            Self::Person => "people",
            Self::Service => "services",
            Self::Key => "keys",
        }
    }

    /// The id or name in a text that may say what it is: `team:compilers`.
    fn plain(self, text: &str) -> &str {
        let text = text.trim();
        let rest = text.strip_prefix(self.as_str()).and_then(|rest| rest.strip_prefix(':'));
        rest.unwrap_or(text)
    }

    fn see(self) -> Verb {
        match self {
            Self::Account => Verb::SeeAccount,
            Self::Department => Verb::SeeDepartment,
            Self::Team => Verb::SeeTeam,
            Self::Person => Verb::SeePerson,
            Self::Service => Verb::SeeService,
            Self::Key => Verb::SeeKey,
        }
    }

    /// What a record is.
    pub fn of(record: &Record) -> Self {
        match record {
            Record::Account(_) => Self::Account,
            Record::Department(_) => Self::Department,
            Record::Team(_) => Self::Team,
            Record::Person(_) => Self::Person,
            Record::Service(_) => Self::Service,
            Record::Key(_) => Self::Key,
        }
    }
}

/// One thing, as somebody names it.
#[derive(Debug, Clone)]
pub struct Which {
    /// What it is.
    pub kind: Kind,
    /// Its id or name, or a person's e-mail address; also as `person:P`.
    pub text: String,
    /// The id or name of its account; `None`: any that the actor sees.
    pub account: Option<String>,
}

impl Which {
    /// One of any account.
    pub fn new(kind: Kind, text: &str) -> Self {
        Self { kind, text: text.to_owned(), account: None }
    }
}

/// What people call a thing: a person's e-mail address, a name.
pub fn name_of(record: &Record) -> &str {
    match record {
        Record::Account(it) => &it.name,
        Record::Department(it) => &it.name,
        Record::Team(it) => &it.name,
        Record::Person(it) => &it.email,
        Record::Service(it) => &it.name,
        Record::Key(it) => &it.name,
    }
}

/// A thing in a message: `team compilers`.
pub(super) fn called(record: &Record) -> String {
    format!("{} {}", Kind::of(record).as_str(), name_of(record))
}

fn is_there(record: &Record) -> bool {
    record.life().is_none_or(|life| life.is_there())
}

fn made_at(record: &Record) -> UnixMillis {
    match record {
        Record::Account(it) => it.created_at,
        Record::Key(it) => it.created_at,
        _ => record.life().map_or(UnixMillis(0), |life| life.created_at),
    }
}

/// What of a kind, but no key, `fits` by its id, its name and its account; also what was removed.
fn matching(
    organisation: &Organisation,
    kind: Kind,
    fits: impl Fn(&str, &str, &AccountId) -> bool,
) -> Vec<Record> {
    fn of<'a, T: Clone + Into<Record> + 'a>(found: impl Iterator<Item = &'a T>) -> Vec<Record> {
        found.cloned().map(Into::into).collect()
    }
    let Organisation { accounts, departments, teams, people, services, .. } = organisation;
    match kind {
        Kind::Account => of(accounts.values().filter(|it| fits(it.id.as_str(), &it.name, &it.id))),
        Kind::Department => {
            of(departments.values().filter(|it| fits(it.id.as_str(), &it.name, &it.account_id)))
        }
        Kind::Team => {
            of(teams.values().filter(|it| fits(it.id.as_str(), &it.name, &it.account_id)))
        }
        Kind::Person => {
            of(people.values().filter(|it| fits(it.id.as_str(), &it.email, &it.account_id)))
        }
        Kind::Service => {
            of(services.values().filter(|it| fits(it.id.as_str(), &it.name, &it.account_id)))
        }
        Kind::Key => Vec::new(),
    }
}

impl View {
    /// What of a kind the actor sees and is there, in the order of its creation.
    pub(super) fn list(&self, kind: Kind) -> Vec<Record> {
        self.list_where(kind, is_there)
    }

    fn list_where(&self, kind: Kind, admits: impl Fn(&Record) -> bool) -> Vec<Record> {
        let mut records = matching(&self.organisation, kind, |_, _, _| true);
        records.retain(|record| admits(record) && self.sees(record));
        records.sort_by_key(|record| (made_at(record), record.subject().to_string()));
        records
    }

    pub(super) fn sees(&self, record: &Record) -> bool {
        self.rights.allow(Kind::of(record).see(), record, &self.organisation)
    }

    /// The one that is named; no key.
    pub(super) fn find(&self, which: &Which) -> Result<Record, AdminError> {
        self.find_among(which, is_there)
    }

    /// The one that is named, else the one that was removed last.
    pub(super) fn find_also_removed(&self, which: &Which) -> Result<Record, AdminError> {
        match self.find(which) {
            Err(AdminError::NoSuch { .. }) => self.find_among(which, |_| true),
            found => found,
        }
    }

    fn find_among(
        &self,
        which: &Which,
        admits: impl Fn(&Record) -> bool,
    ) -> Result<Record, AdminError> {
        let account = match &which.account {
            Some(text) => Some(self.account(text)?.id),
            None => None,
        };
        let text = which.kind.plain(&which.text);
        let email = text.to_lowercase();
        let wanted = if which.kind == Kind::Person { email.as_str() } else { text };
        let mut found = matching(&self.organisation, which.kind, |id, name, of| {
            (name == wanted || id == text) && account.as_ref().is_none_or(|it| it == of)
        });
        found.retain(|it| admits(it) && self.sees(it));
        // An id is no name of another.
        if let Some(place) = found.iter().position(|it| it.subject().id() == text) {
            return Ok(found.swap_remove(place));
        }
        one(found, which.kind, text)
    }

    /// The account with this id or name.
    pub(super) fn account(&self, text: &str) -> Result<AccountRecord, AdminError> {
        match self.find(&Which::new(Kind::Account, text))? {
            Record::Account(account) => Ok(account),
            _ => Err(AdminError::NoSuch { kind: Kind::Account, text: text.to_owned() }),
        }
    }

    /// The account of a person who acts.
    pub(super) fn own_account(&self) -> Option<AccountId> {
        match &self.rights {
            Rights::Of(rank) => Some(rank.account.clone()),
            Rights::All | Rights::Nobody => None,
        }
    }

    /// The account that is meant: the one that is named, the actor's own, or the only one.
    pub(super) fn account_or_only(
        &self,
        text: Option<&str>,
    ) -> Result<Option<AccountId>, AdminError> {
        if let Some(text) = text {
            return self.account(text).map(|account| Some(account.id));
        }
        if let Some(own) = self.own_account() {
            return Ok(Some(own));
        }
        let accounts = self.list(Kind::Account);
        match accounts.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.account_id().clone())),
            several => Err(AdminError::AccountNeeded {
                candidates: several.iter().map(|it| name_of(it).to_owned()).collect(),
            }),
        }
    }

    /// The person or service that `text` names: by id, name or e-mail address, also as `person:P` or
    /// `service:S`.
    pub(super) fn holder(
        &self,
        text: &str,
        account: Option<&str>,
    ) -> Result<(Holder, Record), AdminError> {
        let find = |kind| {
            let account = account.map(str::to_owned);
            self.find(&Which { kind, text: text.to_owned(), account })
        };
        let record = match text.split_once(':') {
            Some(("person", _)) => find(Kind::Person),
            Some(("service", _)) => find(Kind::Service),
            _ => match (find(Kind::Person), find(Kind::Service)) {
                (Ok(_), Ok(_)) => Err(AdminError::PersonOrService { text: text.to_owned() }),
                (Err(AdminError::NoSuch { .. }), Err(AdminError::NoSuch { .. })) => {
                    Err(AdminError::NoSuchHolder { text: text.to_owned() })
                }
                (Err(AdminError::NoSuch { .. }), found)
                | (found, Err(AdminError::NoSuch { .. })) => found,
                (Err(error), _) | (_, Err(error)) => Err(error),
            },
        }?;
        let holder = match &record {
            Record::Service(it) => Holder::Service(it.id.clone()),
            other => Holder::Person(other.subject().id().into()),
        };
        Ok((holder, record))
    }
}

fn one(mut found: Vec<Record>, kind: Kind, text: &str) -> Result<Record, AdminError> {
    // Of several that were removed from one account, the last one is meant.
    let of_one_account = found.windows(2).all(|it| it[0].account_id() == it[1].account_id());
    if found.len() > 1 && of_one_account && !found.iter().any(is_there) {
        found.sort_by_key(|it| it.life().and_then(|life| life.removed_at));
        found.drain(..found.len() - 1);
    }
    match found.len() {
        0 => Err(AdminError::NoSuch { kind, text: text.to_owned() }),
        1 => Ok(found.swap_remove(0)),
        _ => Err(AdminError::Ambiguous {
            kind,
            candidates: found
                .iter()
                .map(|it| format!("{} ({})", it.subject().id(), name_of(it)))
                .collect(),
        }),
    }
}

impl Admin<'_> {
    /// What of a kind is there and may be seen, in the order of its creation; no keys.
    pub async fn list(&self, kind: Kind) -> Result<Vec<Record>, AdminError> {
        Ok(self.view().await?.list(kind))
    }

    /// What of a kind was removed and may be seen, in the order of its creation; no keys.
    pub async fn list_removed(&self, kind: Kind) -> Result<Vec<Record>, AdminError> {
        Ok(self.view().await?.list_where(kind, |record| !is_there(record)))
    }

    /// The one that is named, whatever it is; where none is there, the one that was removed last.
    pub async fn find(&self, which: &Which) -> Result<Record, AdminError> {
        match which.kind {
            Kind::Key => self.key(&which.text).await.map(Record::Key),
            _ => self.view().await?.find_also_removed(which),
        }
    }

    /// All keys that may be seen, also those that no longer work, in the order of their creation.
    pub async fn keys(&self) -> Result<Vec<KeyRecord>, AdminError> {
        let view = self.view().await?;
        let keys = self.store.keys().await?;
        Ok(keys.iter().filter(|key| view.sees_key(key)).cloned().collect())
    }

    /// When each of these keys was last used, which the actor was shown; without those that never
    /// were. What ended in the last seconds is not in it yet.
    pub async fn last_uses(
        &self,
        keys: impl IntoIterator<Item = &KeyId>,
    ) -> Result<HashMap<KeyId, UnixMillis>, AdminError> {
        let keys: Vec<&KeyId> = keys.into_iter().collect();
        Ok(self.store.last_uses_of(&keys).await?)
    }

    /// The key that `text` names: its id, its name, the first characters of any of its secrets, or
    /// (who finds a leaked key has nothing else) a secret itself; also as `key:K`.
    pub async fn key(&self, text: &str) -> Result<KeyRecord, AdminError> {
        self.find_key(&self.view().await?, text).await
    }

    pub(super) async fn find_key(&self, view: &View, text: &str) -> Result<KeyRecord, AdminError> {
        let text = Kind::Key.plain(text);
        if let Ok(key) = ServiceKey::parse(text) {
            let hash = self.master_key.key_hasher().hash(key.expose());
            let found = self.store.key_of_hash(&hash).await?;
            return view.seen(found.into_iter().collect()).pop().ok_or(AdminError::NoSuchKey);
        }
        if let Some(key) =
            view.seen(self.store.key(&text.into()).await?.into_iter().collect()).pop()
        {
            return Ok(key);
        }
        // Keys are shown as `svc_ent_Ab12…`.
        let first = text.trim_end_matches('…');
        let found = match first.strip_prefix(PREFIX) {
            Some("") => Vec::new(),
            Some(_) => self.store.keys_of_prefix(first).await?,
            None => self.store.keys_named(text).await?,
        };
        let mut found = view.seen(found);
        match found.len() {
            0 => Err(AdminError::NoSuchKey),
            1 => Ok(found.swap_remove(0)),
            _ => Err(AdminError::Ambiguous {
                kind: Kind::Key,
                candidates: found.iter().map(|it| format!("{} ({})", it.id, it.name)).collect(),
            }),
        }
    }
}

impl View {
    fn seen(&self, keys: Vec<KeyRecord>) -> Vec<KeyRecord> {
        keys.into_iter().filter(|key| self.sees_key(key)).collect()
    }

    fn sees_key(&self, key: &KeyRecord) -> bool {
        match &self.rights {
            Rights::All => true,
            Rights::Nobody => false,
            Rights::Of(_) => self.sees(&Record::Key(key.clone())),
        }
    }
}
