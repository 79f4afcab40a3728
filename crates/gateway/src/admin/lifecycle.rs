//! Suspended, resumed, removed: the same for everything.
//!
//! A suspension is noted at what is suspended alone. Keys below it do not work meanwhile, since the
//! gateway looks at everything that a key belongs to; so taking the suspension back gives back just
//! what it took.

use sluice_core::organisation::{Actor, Holder};
use sluice_storage::{KeyRecord, Life, Record, Suspension};

use crate::admin::find::{Kind, Which, called, name_of};
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, Deed, View};

/// What becomes of the keys of something that is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeysAnswer {
    /// They belong to this person or service, and a team's keys to this team.
    HandOver(String),
    /// They stay, and do not work until what was removed is resumed.
    Suspend,
    /// They are revoked for good.
    Revoke,
}

/// What was removed.
#[derive(Debug)]
pub struct Removal {
    /// It, as it is now.
    pub record: Record,
    /// The keys that it had.
    pub keys: Vec<KeyRecord>,
}

/// The keys that work of something that may be removed.
#[derive(Debug)]
pub struct KeysLeft {
    /// Those that the actor sees.
    pub seen: Vec<KeyRecord>,
    /// How many others there are. They can be suspended with what is removed, and nothing else.
    pub unseen: usize,
}

impl Kind {
    fn suspend(self) -> Verb {
        match self {
            Self::Account => Verb::SuspendAccount,
            Self::Department => Verb::SuspendDepartment,
            Self::Team => Verb::SuspendTeam,
            Self::Person => Verb::SuspendPerson,
            Self::Service => Verb::SuspendService,
            Self::Key => Verb::SuspendKey,
        }
    }
}

impl Admin<'_> {
    /// Suspends something, for a reason that whoever uses its keys is told. Nobody suspends themselves
    /// or their own account: they would be signed out, and might be the last who could resume it.
    pub async fn suspend(&self, which: &Which, reason: &str) -> Result<Record, AdminError> {
        let reason = super::checked_name(reason)?;
        let view = self.view().await?;
        let old = self.find_any(&view, which).await?;
        if view.is_own(&self.actor, &old) {
            return Err(AdminError::OwnSuspension { what: called(&old) });
        }
        let mut new = old.clone();
        let suspended = suspension_of(&mut new);
        if suspended.is_some() {
            let what = called(&old);
            return Err(AdminError::AlreadySo { what, state: "suspended already" });
        }
        *suspended = Some(Suspension { at: self.now, reason });
        view.keeps_owner_record(&old, &new)?;
        let deed = Deed::change(which.kind.suspend(), old, new.clone());
        self.carry_out(&view, vec![deed]).await?;
        Ok(new)
    }

    /// Takes a suspension or a removal back. Keys that were suspended with it work again, and no
    /// others: what was suspended before it was removed is suspended afterwards, too.
    pub async fn resume(&self, which: &Which) -> Result<Record, AdminError> {
        let view = self.view().await?;
        let old = match which.kind {
            Kind::Key => Record::Key(self.find_key(&view, &which.text).await?),
            _ => view.find_also_removed(which)?,
        };
        let mut new = old.clone();
        let removed_at = life_of(&mut new).and_then(|life| life.removed_at.take());
        if removed_at.is_none() {
            *suspension_of(&mut new) = None;
        }
        if new == old {
            let what = called(&old);
            return Err(AdminError::AlreadySo { what, state: "not suspended" });
        }
        view.has_its_department(&new)?;
        let verb = match which.kind {
            _ if removed_at.is_some() => removal_of(which.kind)?,
            // Developers may suspend their own keys, and must not take back what others did. Whoever
            // may change a key may, and whoever may suspend something else.
            Kind::Key => Verb::ChangeKey,
            kind => kind.suspend(),
        };
        self.carry_out(&view, vec![Deed::change(verb, old, new.clone())]).await?;
        Ok(new)
    }

    /// Removes something. Where it has keys that work, somebody has to say what becomes of them.
    pub async fn remove(
        &self,
        which: &Which,
        answer: Option<&KeysAnswer>,
    ) -> Result<Removal, AdminError> {
        let view = self.view().await?;
        let old = self.find_any(&view, which).await?;
        let verb = removal_of(which.kind).map_err(|_| not_removable(&old))?;
        let mut new = old.clone();
        if let Some(life) = life_of(&mut new) {
            life.removed_at = Some(self.now);
        }
        view.has_no_teams(&old)?;
        view.keeps_owner_record(&old, &new)?;
        let keys = self.working_keys_of(&old).await?;
        let mut deeds = Vec::new();
        match answer {
            _ if keys.is_empty() => {}
            None => {
                let left = view.keys_left(keys);
                return Err(AdminError::KeysNeedAnAnswer {
                    what: called(&old),
                    keys: left.seen.into_iter().map(|key| key.name).collect(),
                    unseen: left.unseen,
                });
            }
            Some(KeysAnswer::Suspend) => {}
            Some(KeysAnswer::Revoke) => {
                let revoke = |key: &KeyRecord| {
                    let new = KeyRecord { revoked_at: Some(self.now), ..key.clone() };
                    Deed::change(Verb::RevokeKey, key.clone(), new)
                };
                deeds.extend(keys.iter().map(revoke));
            }
            Some(KeysAnswer::HandOver(to)) => {
                for key in &keys {
                    let new = view.handed_over(key, &old, to)?;
                    deeds.push(Deed::change(Verb::MoveKey, key.clone(), new));
                }
            }
        }
        deeds.push(Deed::change(verb, old, new.clone()));
        self.carry_out(&view, deeds).await?;
        Ok(Removal { record: new, keys })
    }

    /// The keys of which a removal asks what becomes of them.
    pub async fn keys_left_by(&self, record: &Record) -> Result<KeysLeft, AdminError> {
        let keys = self.working_keys_of(record).await?;
        Ok(self.view().await?.keys_left(keys))
    }

    async fn working_keys_of(&self, record: &Record) -> Result<Vec<KeyRecord>, AdminError> {
        let mut keys = match record {
            Record::Team(it) => self.store.keys_of_team(&it.id).await?,
            Record::Person(it) => self.store.keys_of_holder(&Holder::Person(it.id.clone())).await?,
            Record::Service(it) => {
                self.store.keys_of_holder(&Holder::Service(it.id.clone())).await?
            }
            _ => Vec::new(),
        };
        keys.retain(|key| {
            key.revoked_at.is_none() && key.expires_at.is_none_or(|expiry| self.now < expiry)
        });
        Ok(keys)
    }

    async fn find_any(&self, view: &View, which: &Which) -> Result<Record, AdminError> {
        match which.kind {
            Kind::Key => self.find_key(view, &which.text).await.map(Record::Key),
            _ => view.find(which),
        }
    }
}

impl View {
    /// Whether this is the acting person or their account.
    pub(super) fn is_own(&self, actor: &Actor, record: &Record) -> bool {
        let Actor::Person { id } = actor else { return false };
        match record {
            Record::Person(person) => person.id == *id,
            Record::Account(account) => {
                let acting = self.organisation.people.get(id);
                acting.is_some_and(|person| person.account_id == account.id)
            }
            _ => false,
        }
    }

    fn keys_left(&self, keys: Vec<KeyRecord>) -> KeysLeft {
        let all = keys.len();
        let sees = |key: &KeyRecord| self.sees(&Record::Key(key.clone()));
        let seen: Vec<KeyRecord> = keys.into_iter().filter(sees).collect();
        KeysLeft { unseen: all - seen.len(), seen }
    }

    fn has_no_teams(&self, record: &Record) -> Result<(), AdminError> {
        let Record::Department(department) = record else { return Ok(()) };
        let teams = self.organisation.teams.values();
        let teams = teams.filter(|it| it.department_id == department.id && it.life.is_there());
        let mut teams: Vec<String> = teams.map(|team| team.name.clone()).collect();
        teams.sort();
        if teams.is_empty() {
            return Ok(());
        }
        Err(AdminError::HasTeams { what: called(record), teams })
    }

    /// Refuses to bring back a team without its department.
    fn has_its_department(&self, record: &Record) -> Result<(), AdminError> {
        let Record::Team(team) = record else { return Ok(()) };
        match self.organisation.departments.get(&team.department_id) {
            Some(department) if !department.life.is_there() => {
                let department = called(&Record::Department(department.clone()));
                Err(AdminError::DepartmentRemoved { what: called(record), department })
            }
            _ => Ok(()),
        }
    }

    fn keeps_owner_record(&self, old: &Record, new: &Record) -> Result<(), AdminError> {
        match (old, new) {
            (Record::Person(old), Record::Person(new)) => self.keeps_an_owner(old, new),
            _ => Ok(()),
        }
    }

    /// A key of `from`, which is removed, once it was handed over to `to`.
    fn handed_over(
        &self,
        key: &KeyRecord,
        from: &Record,
        to: &str,
    ) -> Result<KeyRecord, AdminError> {
        let account = key.account_id.as_str();
        let kind = Kind::of(from).as_str();
        let refused =
            |expected| Err(AdminError::CannotHandOver { from: kind, to: to.to_owned(), expected });
        let new = match from {
            Record::Team(from) => {
                let name = to.strip_prefix("team:").unwrap_or(to);
                let team = self.team(name, Some(account.to_owned()))?;
                if team.id == from.id {
                    return refused("another team");
                }
                usable(&Record::Team(team.clone()))?;
                KeyRecord { team_id: Some(team.id), ..key.clone() }
            }
            _ => {
                if to.starts_with("team:") {
                    return refused("a person or a service");
                }
                let (holder, record) = self.holder(to, Some(account))?;
                if record.subject() == from.subject() {
                    return refused("somebody else");
                }
                usable(&record)?;
                KeyRecord { holder: Some(holder), ..key.clone() }
            }
        };
        Ok(new)
    }
}

/// Refuses what is suspended: keys there would not work.
pub(super) fn usable(record: &Record) -> Result<(), AdminError> {
    match record.life() {
        Some(life) if life.suspended.is_some() => {
            let (kind, name) = (Kind::of(record), name_of(record).to_owned());
            Err(AdminError::Suspended { kind, name })
        }
        _ => Ok(()),
    }
}

fn removal_of(kind: Kind) -> Result<Verb, AdminError> {
    match kind {
        Kind::Department => Ok(Verb::RemoveDepartment),
        Kind::Team => Ok(Verb::RemoveTeam),
        Kind::Person => Ok(Verb::RemovePerson),
        Kind::Service => Ok(Verb::RemoveService),
        Kind::Account | Kind::Key => {
            Err(AdminError::NotRemovable { what: kind.as_str().to_owned(), fix: "suspend it" })
        }
    }
}

fn not_removable(record: &Record) -> AdminError {
    let fix = match record {
        Record::Key(_) => "revoke it",
        _ => "suspend it",
    };
    AdminError::NotRemovable { what: called(record), fix }
}

fn suspension_of(record: &mut Record) -> &mut Option<Suspension> {
    match record {
        Record::Account(it) => &mut it.suspended,
        Record::Department(it) => &mut it.life.suspended,
        Record::Team(it) => &mut it.life.suspended,
        Record::Person(it) => &mut it.life.suspended,
        Record::Service(it) => &mut it.life.suspended,
        Record::Key(it) => &mut it.suspended,
    }
}

fn life_of(record: &mut Record) -> Option<&mut Life> {
    match record {
        Record::Department(it) => Some(&mut it.life),
        Record::Team(it) => Some(&mut it.life),
        Record::Person(it) => Some(&mut it.life),
        Record::Service(it) => Some(&mut it.life),
        Record::Account(_) | Record::Key(_) => None,
    }
}
