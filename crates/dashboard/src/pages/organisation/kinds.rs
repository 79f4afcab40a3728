//! What departments, teams, people, services and accounts have in common: where their pages are,
//! what may be done to them, how they stand.

use sluice_core::organisation::Role;
use sluice_gateway::admin::{AdminError, Kind, Permissions, Verb, Which};
use sluice_gateway::{PersonRecord, Record, Suspension, TeamRecord};

use crate::components::{Badge, State, Text};
use crate::web::{Ask, Failure, sentence};

/// Where things of a kind are listed.
pub(crate) fn list_path(kind: Kind) -> &'static str {
    match kind {
        Kind::Person => "/organisation",
        Kind::Team => "/organisation/teams",
        Kind::Department => "/organisation/departments",
        Kind::Service => "/organisation/services",
        Kind::Account => "/organisation/accounts",
        Kind::Key => "/keys",
    }
}

/// The page of a thing.
pub(crate) fn path(record: &Record) -> String {
    let (kind, subject) = (Kind::of(record), record.subject());
    match kind {
        Kind::Key => format!("/keys/{}", subject.id()),
        _ => format!("/organisation/{}/{}", kind.several(), subject.id()),
    }
}

/// What takes a thing's work away and gives it back.
pub(super) fn suspend(kind: Kind) -> Verb {
    match kind {
        Kind::Person => Verb::SuspendPerson,
        Kind::Team => Verb::SuspendTeam,
        Kind::Department => Verb::SuspendDepartment,
        Kind::Service => Verb::SuspendService,
        Kind::Account => Verb::SuspendAccount,
        Kind::Key => Verb::SuspendKey,
    }
}

/// What removes a thing; accounts and keys are not removed.
pub(super) fn remove(kind: Kind) -> Option<Verb> {
    match kind {
        Kind::Person => Some(Verb::RemovePerson),
        Kind::Team => Some(Verb::RemoveTeam),
        Kind::Department => Some(Verb::RemoveDepartment),
        Kind::Service => Some(Verb::RemoveService),
        Kind::Account | Kind::Key => None,
    }
}

/// What people call a thing.
pub(crate) fn name(record: &Record) -> &str {
    match record {
        Record::Person(it) => it.shown_name(),
        other => sluice_gateway::admin::name_of(other),
    }
}

pub(crate) fn suspension(record: &Record) -> Option<&Suspension> {
    match record {
        Record::Account(it) => it.suspended.as_ref(),
        Record::Key(it) => it.suspended.as_ref(),
        other => other.life().and_then(|life| life.suspended.as_ref()),
    }
}

pub(crate) fn is_removed(record: &Record) -> bool {
    record.life().is_some_and(|life| !life.is_there())
}

/// Whether the configuration file has it, which makes it read-only here.
pub(crate) fn is_files(record: &Record) -> bool {
    record.life().is_some_and(|life| life.managed_by.is_some())
}

pub(crate) fn state(record: &Record) -> Badge {
    if is_removed(record) {
        Badge::new(State::Plain, "removed")
    } else if suspension(record).is_some() {
        Badge::new(State::Warn, "suspended")
    } else {
        Badge::new(State::Good, "active")
    }
}

/// The thing of the address, by its id alone; also one that was removed.
pub(crate) async fn thing(ask: &Ask, kind: Kind) -> Result<Record, Failure> {
    let id = ask.place("id");
    let record = ask.admin()?.find(&Which::new(kind, id)).await?;
    if record.subject().id() == id { Ok(record) } else { Err(Failure::Missing) }
}

/// What is wrong with a form: the field that is to be mended, if it is a single one, and how.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) field: Option<&'static str>,
    pub(crate) text: String,
}

impl Wrong {
    /// A refusal of administration; what is no fault of the form stays a failure.
    pub(crate) fn of(error: AdminError) -> Result<Self, Failure> {
        let field = match &error {
            AdminError::InvalidName => Some("name"),
            AdminError::InvalidEmail(_) => Some("email"),
            AdminError::LastOwner { .. } => Some("role"),
            AdminError::NoSuch { kind: Kind::Team, .. } => Some("teams"),
            AdminError::NoSuch { kind: Kind::Department, .. } => Some("department"),
            AdminError::DefaultKeepsName => Some("name"),
            AdminError::AlreadySo { .. }
            | AdminError::ManagedByFile { .. }
            | AdminError::Suspended { .. }
            | AdminError::HasTeams { .. }
            | AdminError::OwnSuspension { .. }
            | AdminError::KeysNeedAnAnswer { .. }
            | AdminError::CannotHandOver { .. }
            | AdminError::NoSuchHolder { .. }
            | AdminError::PersonOrService { .. }
            | AdminError::DepartmentRemoved { .. }
            | AdminError::ChangedMeanwhile => None,
            taken if taken.is_taken() => Some("name"),
            _ => return Err(error.into()),
        };
        Ok(Self { field, text: sentence(&error) })
    }
}

/// The roles that the reader may give to somebody, with what each is for.
pub(crate) fn roles(
    permissions: &Permissions,
    verb: Verb,
    person: &PersonRecord,
) -> Vec<(&'static str, Text)> {
    let may = |role: &Role| {
        let wanted = PersonRecord { role: *role, ..person.clone() };
        *role == person.role || permissions.may(verb, &Record::Person(wanted))
    };
    let describe = |role: Role| {
        let what = match role {
            Role::Owner => "everything",
            Role::Admin => "everything but owners",
            Role::DepartmentLead => "their departments",
            Role::Developer => "their own keys",
            Role::Auditor => "sees everything, changes nothing",
            Role::Billing => "sees use and cost",
        };
        (role.as_str(), format!("{}: {what}", role.as_str()).into())
    };
    Role::ALL.into_iter().rev().filter(may).map(describe).collect()
}

/// The teams of an account that the reader sees and that are there, by name.
pub(crate) fn teams(permissions: &Permissions, account: &str) -> Vec<(String, Text)> {
    let teams = permissions.organisation().teams.values();
    let mut teams: Vec<_> = teams
        .filter(|it| it.account_id.as_str() == account && it.life.is_there())
        .filter(|it| permissions.may(Verb::SeeTeam, &Record::Team((*it).clone())))
        .map(|it| (it.id.to_string(), Text::from(it.name.as_str())))
        .collect();
    teams.sort_by(|(_, a), (_, b)| a.plain().cmp(b.plain()));
    teams
}

/// The departments of an account that the reader sees and that are there, by name.
pub(crate) fn departments(permissions: &Permissions, account: &str) -> Vec<(String, Text)> {
    let departments = permissions.organisation().departments.values();
    let mut departments: Vec<_> = departments
        .filter(|it| it.account_id.as_str() == account && it.life.is_there())
        .filter(|it| permissions.may(Verb::SeeDepartment, &Record::Department((*it).clone())))
        .map(|it| (it.id.to_string(), Text::from(it.name.as_str())))
        .collect();
    departments.sort_by(|(_, a), (_, b)| a.plain().cmp(b.plain()));
    departments
}

/// As fields of forms take values.
pub(crate) fn values(list: &[(String, Text)]) -> Vec<(&str, Text)> {
    list.iter().map(|(value, shown)| (value.as_str(), shown.clone())).collect()
}

/// The names of a person's teams that the reader sees, and how many others there are.
pub(crate) fn team_names(permissions: &Permissions, person: &PersonRecord) -> Text {
    let company = permissions.organisation();
    let teams = person.teams.iter().filter_map(|id| company.teams.get(id));
    let (seen, unseen): (Vec<&TeamRecord>, Vec<&TeamRecord>) =
        teams.partition(|it| permissions.may(Verb::SeeTeam, &Record::Team((*it).clone())));
    let mut names: Vec<&str> = seen.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    let more = format!("{} more", unseen.len());
    if !unseen.is_empty() {
        names.push(&more);
    }
    if names.is_empty() { Text::from("–") } else { Text::new(names.join(", ")) }
}

/// What of a kind the reader sees: what is there, or what was removed.
pub(crate) fn seen(
    permissions: &Permissions,
    kind: Kind,
    account: &str,
    removed: bool,
) -> Vec<Record> {
    let company = permissions.organisation();
    fn of<'a, T: Clone + Into<Record> + 'a>(found: impl Iterator<Item = &'a T>) -> Vec<Record> {
        found.cloned().map(Into::into).collect()
    }
    let (mut found, see) = match kind {
        Kind::Account => (of(company.accounts.values()), Verb::SeeAccount),
        Kind::Department => (of(company.departments.values()), Verb::SeeDepartment),
        Kind::Team => (of(company.teams.values()), Verb::SeeTeam),
        Kind::Person => (of(company.people.values()), Verb::SeePerson),
        Kind::Service => (of(company.services.values()), Verb::SeeService),
        Kind::Key => (Vec::new(), Verb::SeeKey),
    };
    found.retain(|record| {
        (kind == Kind::Account || record.account_id().as_str() == account)
            && is_removed(record) == removed
            && permissions.may(see, record)
    });
    found.sort_by_cached_key(|record| name(record).to_lowercase());
    found
}
