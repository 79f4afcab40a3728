//! Departments, teams, people and services: made and changed.

use sluice_core::ids::{AccountId, DepartmentId, TeamId};
use sluice_core::organisation::Role;
use sluice_storage::{DepartmentRecord, Life, PersonRecord, Record, ServiceRecord, TeamRecord};

use crate::admin::find::{Kind, Which, called};
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, Deed, View, checked_email, checked_name};
use crate::service_key::random_name;

/// The department to make.
#[derive(Debug, Clone, Default)]
pub struct NewDepartment {
    /// The id or name of its account; `None`: the actor's own, or the only one.
    pub account: Option<String>,
    /// Its name, which no other department of the account has.
    pub name: String,
}

/// The team to make.
#[derive(Debug, Clone, Default)]
pub struct NewTeam {
    /// See [`NewDepartment::account`].
    pub account: Option<String>,
    /// The id or name of its department.
    pub department: String,
    /// Its name, which no other team of the account has.
    pub name: String,
}

/// What to change about a team; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamChange {
    /// Its new name.
    pub name: Option<String>,
    /// The id or name of the department that it moves to.
    pub department: Option<String>,
}

/// The person to add.
#[derive(Debug, Clone)]
pub struct NewPerson {
    /// See [`NewDepartment::account`].
    pub account: Option<String>,
    /// Their e-mail address, which no other person of the account has.
    pub email: String,
    /// What they are called.
    pub name: Option<String>,
    /// What they may do.
    pub role: Role,
    /// The ids or names of their teams.
    pub teams: Vec<String>,
    /// Whether they see and change what concerns all accounts. The first owner does in any case.
    pub operator: bool,
}

/// What to change about a person; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonChange {
    /// See [`NewPerson::email`].
    pub email: Option<String>,
    /// See [`NewPerson::name`]; the inner `None` takes it away.
    pub name: Option<Option<String>>,
    /// See [`NewPerson::role`].
    pub role: Option<Role>,
    /// See [`NewPerson::teams`]: all of them.
    pub teams: Option<Vec<String>>,
    /// See [`NewPerson::operator`].
    pub operator: Option<bool>,
}

/// The service to make.
#[derive(Debug, Clone, Default)]
pub struct NewService {
    /// See [`NewDepartment::account`].
    pub account: Option<String>,
    /// Its name, which no other service of the account has.
    pub name: String,
    /// The id or name of the team that looks after it.
    pub team: Option<String>,
}

/// What to change about a service; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceChange {
    /// Its new name.
    pub name: Option<String>,
    /// The id or name of the team that looks after it; the inner `None` takes it away.
    pub team: Option<Option<String>>,
}

impl Admin<'_> {
    /// Makes a department.
    pub async fn create_department(
        &self,
        wish: NewDepartment,
    ) -> Result<DepartmentRecord, AdminError> {
        let name = checked_name(&wish.name)?;
        let (view, account_id) =
            self.account_for(self.view().await?, wish.account.as_deref()).await?;
        let id = format!("dep_{}", random_name(16)?).into();
        let new = DepartmentRecord { id, account_id, name, life: Life::from(self.now) };
        self.create(&view, Verb::CreateDepartment, new).await
    }

    /// Gives a department another name.
    pub async fn change_department(
        &self,
        which: &Which,
        name: &str,
    ) -> Result<DepartmentRecord, AdminError> {
        let view = self.view().await?;
        let Record::Department(old) = view.find(which)? else { return Err(wrong(which)) };
        let new = DepartmentRecord { name: checked_name(name)?, ..old.clone() };
        self.change(&view, Verb::ChangeDepartment, old, new).await
    }

    /// Makes a team.
    pub async fn create_team(&self, wish: NewTeam) -> Result<TeamRecord, AdminError> {
        let name = checked_name(&wish.name)?;
        let view = self.view().await?;
        let department = view.department(&wish.department, wish.account)?;
        let new = TeamRecord {
            id: format!("team_{}", random_name(16)?).into(),
            account_id: department.account_id,
            department_id: department.id,
            name,
            life: Life::from(self.now),
        };
        self.create(&view, Verb::CreateTeam, new).await
    }

    /// Changes a team and returns it as it is now. Its keys and people move with it.
    pub async fn change_team(
        &self,
        which: &Which,
        change: TeamChange,
    ) -> Result<TeamRecord, AdminError> {
        let view = self.view().await?;
        let Record::Team(old) = view.find(which)? else { return Err(wrong(which)) };
        let name = change.name.as_deref().map(checked_name).transpose()?;
        let department_id = match &change.department {
            Some(text) => view.department_of(text, &old.account_id)?,
            None => old.department_id.clone(),
        };
        let name = name.unwrap_or_else(|| old.name.clone());
        let new = TeamRecord { name, department_id, ..old.clone() };
        self.change(&view, Verb::ChangeTeam, old, new).await
    }

    /// Adds a person. The first owner of all becomes operator, too.
    pub async fn create_person(&self, wish: NewPerson) -> Result<PersonRecord, AdminError> {
        let (view, new) = self.new_person(self.view().await?, wish).await?;
        self.create(&view, Verb::CreatePerson, new).await
    }

    /// The person to add, checked.
    pub(super) async fn new_person(
        &self,
        view: View,
        wish: NewPerson,
    ) -> Result<(View, PersonRecord), AdminError> {
        let (view, account_id) = self.account_for(view, wish.account.as_deref()).await?;
        let is_first = wish.role == Role::Owner && view.has_no_owner();
        let new = PersonRecord {
            id: format!("per_{}", random_name(16)?).into(),
            email: checked_email(&wish.email)?,
            name: wish.name.as_deref().map(checked_name).transpose()?,
            role: wish.role,
            operator: wish.operator || is_first,
            teams: view.teams_of(&wish.teams, &account_id)?,
            account_id,
            life: Life::from(self.now),
        };
        Ok((view, new))
    }

    /// Changes a person and returns them as they are now.
    pub async fn change_person(
        &self,
        which: &Which,
        change: PersonChange,
    ) -> Result<PersonRecord, AdminError> {
        let view = self.view().await?;
        let Record::Person(old) = view.find(which)? else { return Err(wrong(which)) };
        let new = PersonRecord {
            email: match &change.email {
                Some(email) => checked_email(email)?,
                None => old.email.clone(),
            },
            name: match &change.name {
                Some(name) => name.as_deref().map(checked_name).transpose()?,
                None => old.name.clone(),
            },
            role: change.role.unwrap_or(old.role),
            operator: change.operator.unwrap_or(old.operator),
            teams: match &change.teams {
                Some(teams) => view.teams_of(teams, &old.account_id)?,
                None => old.teams.clone(),
            },
            ..old.clone()
        };
        view.keeps_an_owner(&old, &new)?;
        self.change(&view, Verb::ChangePerson, old, new).await
    }

    /// Makes a service.
    pub async fn create_service(&self, wish: NewService) -> Result<ServiceRecord, AdminError> {
        let name = checked_name(&wish.name)?;
        let view = self.view().await?;
        // Its team says which account is meant.
        let (view, account_id, team_id) = match &wish.team {
            Some(text) => {
                let team = view.team(text, wish.account)?;
                (view, team.account_id, Some(team.id))
            }
            None => {
                let (view, account) = self.account_for(view, wish.account.as_deref()).await?;
                (view, account, None)
            }
        };
        let id = format!("ser_{}", random_name(16)?).into();
        let new = ServiceRecord { id, account_id, team_id, name, life: Life::from(self.now) };
        self.create(&view, Verb::CreateService, new).await
    }

    /// Changes a service and returns it as it is now.
    pub async fn change_service(
        &self,
        which: &Which,
        change: ServiceChange,
    ) -> Result<ServiceRecord, AdminError> {
        let view = self.view().await?;
        let Record::Service(old) = view.find(which)? else { return Err(wrong(which)) };
        let name = change.name.as_deref().map(checked_name).transpose()?;
        let new = ServiceRecord {
            name: name.unwrap_or_else(|| old.name.clone()),
            team_id: match &change.team {
                Some(Some(text)) => Some(view.team_of(text, &old.account_id)?),
                Some(None) => None,
                None => old.team_id.clone(),
            },
            ..old.clone()
        };
        self.change(&view, Verb::ChangeService, old, new).await
    }

    async fn create<T: Clone + Into<Record>>(
        &self,
        view: &View,
        verb: Verb,
        new: T,
    ) -> Result<T, AdminError> {
        self.carry_out(view, vec![Deed::create(verb, new.clone())]).await?;
        Ok(new)
    }

    pub(super) async fn change<T: Clone + Into<Record>>(
        &self,
        view: &View,
        verb: Verb,
        old: T,
        new: T,
    ) -> Result<T, AdminError> {
        self.carry_out(view, vec![Deed::change(verb, old, new.clone())]).await?;
        Ok(new)
    }
}

/// Nothing of its kind was found, whatever was.
fn wrong(which: &Which) -> AdminError {
    AdminError::NoSuch { kind: which.kind, text: which.text.clone() }
}

impl View {
    fn department(
        &self,
        text: &str,
        account: Option<String>,
    ) -> Result<DepartmentRecord, AdminError> {
        let which = Which { kind: Kind::Department, text: text.to_owned(), account };
        match self.find(&which)? {
            Record::Department(department) => Ok(department),
            _ => Err(wrong(&which)),
        }
    }

    fn department_of(&self, text: &str, account: &AccountId) -> Result<DepartmentId, AdminError> {
        self.department(text, Some(account.to_string())).map(|it| it.id)
    }

    pub(super) fn team(
        &self,
        text: &str,
        account: Option<String>,
    ) -> Result<TeamRecord, AdminError> {
        let which = Which { kind: Kind::Team, text: text.to_owned(), account };
        match self.find(&which)? {
            Record::Team(team) => Ok(team),
            _ => Err(wrong(&which)),
        }
    }

    pub(super) fn team_of(&self, text: &str, account: &AccountId) -> Result<TeamId, AdminError> {
        self.team(text, Some(account.to_string())).map(|it| it.id)
    }

    /// Teams of one account, sorted, each once.
    pub(super) fn teams_of(
        &self,
        texts: &[String],
        account: &AccountId,
    ) -> Result<Vec<TeamId>, AdminError> {
        let teams: Result<Vec<TeamId>, _> =
            texts.iter().map(|text| self.team_of(text, account)).collect();
        let mut teams = teams?;
        teams.sort();
        teams.dedup();
        Ok(teams)
    }

    /// Whether nobody is an owner or has the operator's right: the first owner gets it.
    pub(super) fn has_no_owner(&self) -> bool {
        let mut people = self.organisation.people.values();
        !people.any(|it| it.life.is_there() && (it.operator || it.role == Role::Owner))
    }

    /// Refuses what would leave the account without an owner. Two at once are told by the database.
    pub(super) fn keeps_an_owner(
        &self,
        old: &PersonRecord,
        new: &PersonRecord,
    ) -> Result<(), AdminError> {
        let is_owner = |it: &PersonRecord| it.role == Role::Owner && it.life.is_active();
        let mut others = self.organisation.people.values();
        let has_another =
            others.any(|it| it.id != old.id && it.account_id == old.account_id && is_owner(it));
        if is_owner(old) && !is_owner(new) && !has_another {
            return Err(AdminError::LastOwner { what: called(&Record::Person(old.clone())) });
        }
        Ok(())
    }
}
