//! The organisation becomes what the configuration file says of it.
//!
//! What the file holds is known by its name: it is made where nothing has the name, and taken over
//! where something does. What is taken out of the file is suspended, and belongs to everybody who
//! has the right from then on.

use std::collections::HashMap;

use sluice_core::ids::{AccountId, DepartmentId, TeamId};
use sluice_core::organisation::{Actor, Role};
use sluice_storage::{
    DepartmentRecord, Life, MANAGED_BY_FILE, PersonRecord, Record, Suspension, TeamRecord,
};

use crate::admin::accounts::DEFAULT_NAME;
use crate::admin::find::called;
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, Declared, Deed, View};
use crate::service_key::random_name;

/// Why something that the file does not hold any more is suspended.
const TAKEN_OUT: &str = "it was taken out of the configuration file";

/// What became of the organisation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChanges {
    /// What was made, taken over or changed, such as `team vision`.
    pub changed: Vec<String>,
    /// What was taken out of the file and is suspended now.
    pub suspended: Vec<String>,
    /// Accounts that the file names and that do not exist: what it says of them waits.
    pub missing_accounts: Vec<String>,
    /// Owners who were taken out of the file, and stay since their account has no other one.
    pub kept: Vec<String>,
}

/// The work on one file.
struct Sync<'a> {
    view: &'a View,
    admin: &'a Admin<'a>,
    deeds: Vec<Deed>,
    changes: FileChanges,
    departments: HashMap<(AccountId, String), DepartmentId>,
    teams: HashMap<(AccountId, String), TeamId>,
    /// What the file holds, as it will be.
    held: Vec<Record>,
}

impl Admin<'_> {
    /// Makes the organisation what the file says, all of it or nothing.
    pub async fn apply_file(&self, declared: &Declared) -> Result<FileChanges, AdminError> {
        let admin = Admin { actor: Actor::File, surface: "configuration file", ..self.clone() };
        let view = admin.view().await?;
        let mut sync = Sync {
            view: &view,
            admin: &admin,
            deeds: Vec::new(),
            changes: FileChanges::default(),
            departments: HashMap::new(),
            teams: HashMap::new(),
            held: Vec::new(),
        };
        sync.departments(declared)?;
        sync.teams(declared)?;
        sync.people(declared)?;
        sync.keeps_owners()?;
        sync.take_out();
        let Sync { deeds, changes, .. } = sync;
        if !deeds.is_empty() {
            admin.carry_out(&view, deeds).await?;
        }
        Ok(changes)
    }
}

impl Sync<'_> {
    fn departments(&mut self, declared: &Declared) -> Result<(), AdminError> {
        for it in &declared.departments {
            let Some(account_id) = self.account(it.account.as_deref()) else { continue };
            let old = self.view.organisation.departments.values().find(|old| {
                old.life.is_there() && old.account_id == account_id && old.name == it.name
            });
            let (id, life) = self.continued(old.map(|old| (&old.id, &old.life)), "dep_")?;
            self.departments.insert((account_id.clone(), it.name.clone()), id.clone());
            let new = DepartmentRecord { id, account_id, name: it.name.clone(), life };
            let verbs = (Verb::CreateDepartment, Verb::ChangeDepartment);
            self.hold(verbs, old.cloned(), new);
        }
        Ok(())
    }

    fn teams(&mut self, declared: &Declared) -> Result<(), AdminError> {
        for it in &declared.teams {
            let Some(account_id) = self.account(it.account.as_deref()) else { continue };
            let place = (account_id.clone(), it.department.clone());
            // The configuration has been checked: the department is in the file.
            let Some(department_id) = self.departments.get(&place).cloned() else { continue };
            let old = self.view.organisation.teams.values().find(|old| {
                old.life.is_there() && old.account_id == account_id && old.name == it.name
            });
            let (id, life) = self.continued(old.map(|old| (&old.id, &old.life)), "team_")?;
            self.teams.insert((account_id.clone(), it.name.clone()), id.clone());
            let name = it.name.clone();
            let new = TeamRecord { id, account_id, department_id, name, life };
            let verbs = (Verb::CreateTeam, Verb::ChangeTeam);
            self.hold(verbs, old.cloned(), new);
        }
        Ok(())
    }

    fn people(&mut self, declared: &Declared) -> Result<(), AdminError> {
        for it in &declared.people {
            let Some(account_id) = self.account(it.account.as_deref()) else { continue };
            let old = self.view.organisation.people.values().find(|old| {
                old.life.is_there() && old.account_id == account_id && old.email == it.email
            });
            let (id, life) = self.continued(old.map(|old| (&old.id, &old.life)), "per_")?;
            let mut teams: Vec<TeamId> = it
                .teams
                .iter()
                .filter_map(|team| self.teams.get(&(account_id.clone(), team.clone())).cloned())
                .collect();
            teams.sort();
            teams.dedup();
            let new = PersonRecord {
                id,
                account_id,
                email: it.email.clone(),
                name: Some(it.name.clone()).filter(|name| !name.is_empty()),
                role: it.role,
                operator: it.operator,
                teams,
                life,
            };
            let verbs = (Verb::CreatePerson, Verb::ChangePerson);
            self.hold(verbs, old.cloned(), new);
        }
        Ok(())
    }

    /// Refuses a file that makes an account's last owner something else.
    fn keeps_owners(&self) -> Result<(), AdminError> {
        let demoted = self.deeds.iter().find_map(|deed| match (&deed.old, &deed.new) {
            (Some(old @ Record::Person(_)), Record::Person(new)) if new.role != Role::Owner => {
                self.is_last_owner(old).then(|| called(old))
            }
            _ => None,
        });
        demoted.map_or(Ok(()), |what| Err(AdminError::LastOwner { what }))
    }

    /// Suspends what the file held and does not hold any more.
    fn take_out(&mut self) {
        let organisation = &self.view.organisation;
        let departments = organisation.departments.values().cloned().map(Record::Department);
        let teams = organisation.teams.values().cloned().map(Record::Team);
        let people = organisation.people.values().cloned().map(Record::Person);
        let mut gone: Vec<Record> = people
            .chain(teams)
            .chain(departments)
            .filter(|it| {
                let was_held = it.life().is_some_and(|life| {
                    life.is_there() && life.managed_by.as_deref() == Some(MANAGED_BY_FILE)
                });
                was_held && !self.held.iter().any(|held| held.subject() == it.subject())
            })
            .collect();
        gone.sort_by_key(|it| it.subject());
        for old in gone {
            let mut new = old.clone();
            let (life, verb) = match &mut new {
                Record::Department(it) => (&mut it.life, Verb::SuspendDepartment),
                Record::Team(it) => (&mut it.life, Verb::SuspendTeam),
                Record::Person(it) => (&mut it.life, Verb::SuspendPerson),
                Record::Account(_) | Record::Service(_) | Record::Key(_) => continue,
            };
            life.managed_by = None;
            if self.is_last_owner(&old) {
                self.changes.kept.push(called(&old));
            } else {
                life.suspended.get_or_insert_with(|| Suspension {
                    at: self.admin.now,
                    reason: TAKEN_OUT.to_owned(),
                });
                self.changes.suspended.push(called(&old));
            }
            self.deeds.push(Deed::change(verb, old, new));
        }
    }

    /// Whether the account has nobody else who is an owner once the file is applied.
    fn is_last_owner(&self, record: &Record) -> bool {
        let Record::Person(person) = record else { return false };
        let is_owner = |it: &PersonRecord| {
            it.role == Role::Owner && it.life.is_active() && it.account_id == person.account_id
        };
        let becomes = |it: &PersonRecord| {
            let held = self.held.iter().find_map(|held| match held {
                Record::Person(held) if held.id == it.id => Some(is_owner(held)),
                _ => None,
            });
            // Who is taken out, too, is an owner no longer.
            let stays = it.life.managed_by.as_deref() != Some(MANAGED_BY_FILE);
            held.unwrap_or(stays && is_owner(it))
        };
        let others = self.view.organisation.people.values().filter(|it| it.id != person.id);
        let is_new = |it: &Record| matches!(it, Record::Person(it) if is_owner(it));
        is_owner(person) && !others.into_iter().any(becomes) && !self.held.iter().any(is_new)
    }

    /// The account that the file means; noted where there is none.
    fn account(&mut self, name: Option<&str>) -> Option<AccountId> {
        let name = name.unwrap_or(DEFAULT_NAME);
        let found = self.view.organisation.accounts.values().find(|it| it.name == name);
        if found.is_none() && !self.changes.missing_accounts.iter().any(|it| it == name) {
            self.changes.missing_accounts.push(name.to_owned());
        }
        found.map(|account| account.id.clone())
    }

    /// The id and the life of what the file holds: those of what has its name, else new ones. It
    /// works, whatever it was before.
    fn continued<I: Clone + From<String>>(
        &self,
        old: Option<(&I, &Life)>,
        prefix: &str,
    ) -> Result<(I, Life), AdminError> {
        let (id, made_at) = match old {
            Some((id, life)) => (id.clone(), life.created_at),
            None => (format!("{prefix}{}", random_name(16)?).into(), self.admin.now),
        };
        Ok((id, Life { managed_by: Some(MANAGED_BY_FILE.to_owned()), ..Life::from(made_at) }))
    }

    fn hold<T: Into<Record>>(&mut self, (create, change): (Verb, Verb), old: Option<T>, new: T) {
        let (old, new) = (old.map(Into::into), new.into());
        self.held.push(new.clone());
        if old.as_ref() == Some(&new) {
            return;
        }
        self.changes.changed.push(called(&new));
        let verb = if old.is_some() { change } else { create };
        self.deeds.push(Deed { verb, old, new });
    }
}
