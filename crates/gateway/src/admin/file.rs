//! The organisation becomes what the configuration file says of it.
//!
//! What the file holds is known by its name: it is made where nothing has the name, and taken over
//! where something does. What is taken out of the file is suspended, and belongs to everybody who
//! has the right from then on.

use std::collections::{HashMap, HashSet};

use sluice_core::ids::{AccountId, DepartmentId, TeamId};
use sluice_core::organisation::{Actor, Role, Subject};
use sluice_storage::{
    DepartmentRecord, Life, MANAGED_BY_FILE, Organisation, PersonRecord, Record, Suspension,
    TeamRecord,
};

use crate::admin::accounts::DEFAULT_NAME;
use crate::admin::find::called;
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, Declared, DeclaredPerson, Deed, View};
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
    there: There<'a>,
    deeds: Vec<Deed>,
    changes: FileChanges,
    /// The accounts that the file names, as far as they exist.
    accounts: HashSet<AccountId>,
    departments: HashMap<(AccountId, String), DepartmentId>,
    teams: HashMap<(AccountId, String), TeamId>,
    /// What the file holds, as it will be.
    held: HashMap<Subject, Record>,
}

/// What is there, by account and name.
struct There<'a> {
    accounts: HashMap<&'a str, &'a AccountId>,
    departments: HashMap<(&'a AccountId, &'a str), &'a DepartmentRecord>,
    teams: HashMap<(&'a AccountId, &'a str), &'a TeamRecord>,
    /// By their e-mail addresses.
    people: HashMap<(&'a AccountId, &'a str), &'a PersonRecord>,
}

impl<'a> There<'a> {
    fn of(organisation: &'a Organisation) -> Self {
        let accounts = organisation.accounts.values().map(|it| (&*it.name, &it.id));
        let departments = organisation.departments.values().filter(|it| it.life.is_there());
        let teams = organisation.teams.values().filter(|it| it.life.is_there());
        let people = organisation.people.values().filter(|it| it.life.is_there());
        Self {
            accounts: accounts.collect(),
            departments: departments.map(|it| ((&it.account_id, &*it.name), it)).collect(),
            teams: teams.map(|it| ((&it.account_id, &*it.name), it)).collect(),
            people: people.map(|it| ((&it.account_id, &*it.email), it)).collect(),
        }
    }
}

impl Admin<'_> {
    /// Makes the organisation what the file says, all of it or nothing. Only the file itself, as
    /// [`Actor::File`], may do it.
    pub async fn apply_file(&self, declared: &Declared) -> Result<FileChanges, AdminError> {
        if self.actor != Actor::File {
            return Err(AdminError::Forbidden { verb: "configuration-file.apply" });
        }
        let view = self.view().await?;
        let mut sync = Sync {
            view: &view,
            admin: self,
            there: There::of(&view.organisation),
            deeds: Vec::new(),
            changes: FileChanges::default(),
            accounts: HashSet::new(),
            departments: HashMap::new(),
            teams: HashMap::new(),
            held: HashMap::new(),
        };
        sync.departments(declared)?;
        sync.teams(declared)?;
        sync.people(declared)?;
        sync.keeps_owners()?;
        sync.take_out();
        let Sync { deeds, changes, .. } = sync;
        if !deeds.is_empty() {
            self.carry_out(&view, deeds).await?;
        }
        Ok(changes)
    }
}

impl Sync<'_> {
    fn departments(&mut self, declared: &Declared) -> Result<(), AdminError> {
        for it in &declared.departments {
            let Some(account_id) = self.account(it.account.as_deref()) else { continue };
            let old = self.there.departments.get(&(&account_id, &*it.name)).copied();
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
            let old = self.there.teams.get(&(&account_id, &*it.name)).copied();
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
            let old = self.there.people.get(&(&account_id, &*it.email)).copied();
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
                operator: match (it.operator, old) {
                    (Some(said), _) => said,
                    (None, Some(old)) => old.operator,
                    (None, None) => self.is_first_owner(it, declared),
                },
                teams,
                life,
            };
            let verbs = (Verb::CreatePerson, Verb::ChangePerson);
            self.hold(verbs, old.cloned(), new);
        }
        Ok(())
    }

    /// Whether nobody is owner or operator before this person.
    fn is_first_owner(&self, person: &DeclaredPerson, declared: &Declared) -> bool {
        let comes_before =
            |it: &Record| matches!(it, Record::Person(it) if it.operator || it.role == Role::Owner);
        person.role == Role::Owner
            && self.view.has_no_owner()
            && !self.held.values().any(comes_before)
            && !declared.people.iter().any(|it| it.operator == Some(true))
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
        let gone = self.gone();
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

    /// What the file held and does not hold any more.
    ///
    /// A name that stands for no account may be the old one of an account that was renamed. As long
    /// as the file has such a name, nothing is taken out of accounts that it does not name.
    fn gone(&self) -> Vec<Record> {
        let organisation = &self.view.organisation;
        let was_held =
            |life: &Life| life.is_there() && life.managed_by.as_deref() == Some(MANAGED_BY_FILE);
        let departments = organisation.departments.values().filter(|it| was_held(&it.life));
        let teams = organisation.teams.values().filter(|it| was_held(&it.life));
        let people = organisation.people.values().filter(|it| was_held(&it.life));
        let all_known = self.changes.missing_accounts.is_empty();
        let mut gone: Vec<Record> = departments
            .cloned()
            .map(Record::Department)
            .chain(teams.cloned().map(Record::Team))
            .chain(people.cloned().map(Record::Person))
            .filter(|it| all_known || self.accounts.contains(it.account_id()))
            .filter(|it| !self.held.contains_key(&it.subject()))
            .collect();
        gone.sort_by_key(Record::subject);
        gone
    }

    /// Whether the account has nobody else who is an owner once the file is applied.
    fn is_last_owner(&self, record: &Record) -> bool {
        let Record::Person(person) = record else { return false };
        let is_owner = |it: &PersonRecord| {
            it.role == Role::Owner && it.life.is_active() && it.account_id == person.account_id
        };
        let becomes = |it: &PersonRecord| {
            let held = match self.held.get(&Subject::Person(it.id.clone())) {
                Some(Record::Person(held)) => Some(is_owner(held)),
                _ => None,
            };
            // Who is taken out, too, is an owner no longer.
            let stays = it.life.managed_by.as_deref() != Some(MANAGED_BY_FILE);
            held.unwrap_or(stays && is_owner(it))
        };
        let others = self.view.organisation.people.values().filter(|it| it.id != person.id);
        let is_new = |it: &Record| matches!(it, Record::Person(it) if is_owner(it));
        is_owner(person) && !others.into_iter().any(becomes) && !self.held.values().any(is_new)
    }

    /// The account that the file means; noted where there is none.
    fn account(&mut self, name: Option<&str>) -> Option<AccountId> {
        let name = name.unwrap_or(DEFAULT_NAME);
        let found = self.there.accounts.get(name).map(|id| AccountId::clone(id));
        if found.is_none() && !self.changes.missing_accounts.iter().any(|it| it == name) {
            self.changes.missing_accounts.push(name.to_owned());
        }
        self.accounts.extend(found.clone());
        found
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
        self.held.insert(new.subject(), new.clone());
        if old.as_ref() == Some(&new) {
            return;
        }
        self.changes.changed.push(called(&new));
        let verb = if old.is_some() { change } else { create };
        self.deeds.push(Deed { verb, old, new });
    }
}
