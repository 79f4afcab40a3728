//! Departments, teams, people and services.
//!
//! What is removed stays as a row, so that history keeps its names. Names are unique among what is
//! there.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, DepartmentId, PersonId, ServiceId, TeamId};
use sluice_core::organisation::{Attribution, Holder, Role};

use crate::accounts::{self, AccountRecord};
use crate::budgets::{Budgets, read_budgets, read_budgets_of};
use crate::database::{Row, Transaction, Value, sql};
use crate::error::StorageError;
use crate::keys::{self, KeyRecord};
use crate::open::Store;
use crate::policies::{Policies, read_policies, read_policies_of};
use crate::provider_keys::{ProviderKeys, read_provider_keys, read_provider_keys_of};

/// The word in `managed_by` of what the configuration file holds.
pub const MANAGED_BY_FILE: &str = "file";

/// A suspension, until somebody takes it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// Since when.
    pub at: UnixMillis,
    /// Why.
    pub reason: String,
}

/// When something was made, suspended and removed, and who manages it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Life {
    /// Who alone may change it; `None`: everybody who has the right. See [`MANAGED_BY_FILE`].
    pub managed_by: Option<String>,
    /// When it was made.
    pub created_at: UnixMillis,
    /// Whether it is suspended.
    pub suspended: Option<Suspension>,
    /// When it was removed.
    pub removed_at: Option<UnixMillis>,
}

impl Life {
    /// One that begins.
    pub fn from(created_at: UnixMillis) -> Self {
        Self { managed_by: None, created_at, suspended: None, removed_at: None }
    }

    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        self.removed_at.is_none()
    }

    /// Whether it is there and not suspended.
    pub fn is_active(&self) -> bool {
        self.is_there() && self.suspended.is_none()
    }
}

/// A department of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DepartmentRecord {
    /// Its id.
    pub id: DepartmentId,
    /// Its account.
    pub account_id: AccountId,
    /// Its name, which no other department of the account has.
    pub name: String,
    /// When it was made, suspended, removed.
    pub life: Life,
}

/// A team of a department.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TeamRecord {
    /// Its id.
    pub id: TeamId,
    /// Its account.
    pub account_id: AccountId,
    /// Its department.
    pub department_id: DepartmentId,
    /// Its name, which no other team of the account has.
    pub name: String,
    /// When it was made, suspended, removed.
    pub life: Life,
}

/// A person of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonRecord {
    /// Their id.
    pub id: PersonId,
    /// Their account.
    pub account_id: AccountId,
    /// Their e-mail address in lower case, which no other person of the account has.
    pub email: String,
    /// What they are called.
    pub name: Option<String>,
    /// What they may do.
    pub role: Role,
    /// Whether they see and change what concerns all accounts.
    pub operator: bool,
    /// Their teams, sorted.
    pub teams: Vec<TeamId>,
    /// When they were added, suspended, removed.
    pub life: Life,
}

/// A service: what holds keys and is no person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServiceRecord {
    /// Its id.
    pub id: ServiceId,
    /// Its account.
    pub account_id: AccountId,
    /// The team that looks after it.
    pub team_id: Option<TeamId>,
    /// Its name, which no other service of the account has.
    pub name: String,
    /// When it was made, suspended, removed.
    pub life: Life,
}

/// Accounts and everything in them but keys, by id. What was removed is in it, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Organisation {
    /// The accounts.
    pub accounts: HashMap<AccountId, AccountRecord>,
    /// The departments.
    pub departments: HashMap<DepartmentId, DepartmentRecord>,
    /// The teams.
    pub teams: HashMap<TeamId, TeamRecord>,
    /// The people.
    pub people: HashMap<PersonId, PersonRecord>,
    /// The services.
    pub services: HashMap<ServiceId, ServiceRecord>,
    /// What all of these and keys may use.
    pub budgets: Budgets,
    /// What all of these, keys and the deployment say about requests.
    pub policies: Policies,
    /// The provider keys of accounts, departments and teams.
    pub provider_keys: ProviderKeys,
}

impl PersonRecord {
    /// What to call them: their name, or else their e-mail address.
    pub fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.email)
    }
}

impl Organisation {
    /// One of accounts alone.
    pub fn of_accounts(accounts: impl IntoIterator<Item = AccountRecord>) -> Self {
        let accounts = accounts.into_iter().map(|it| (it.id.clone(), it)).collect();
        Self { accounts, ..Self::default() }
    }

    /// Puts what was read of a later moment in the place of what was known.
    pub fn take_over(&mut self, later: Self) {
        self.accounts.extend(later.accounts);
        self.departments.extend(later.departments);
        self.teams.extend(later.teams);
        self.people.extend(later.people);
        self.services.extend(later.services);
        self.budgets.take_over(later.budgets);
        self.policies.take_over(later.policies);
        self.provider_keys.take_over(later.provider_keys);
    }

    /// Whose requests with `key` are.
    pub fn attribution(&self, key: &KeyRecord) -> Attribution {
        Attribution {
            account: key.account_id.clone(),
            department: self.department_of(key.team_id.as_ref()).map(|it| it.id.clone()),
            team: key.team_id.clone(),
            holder: key.holder.clone(),
            key: key.id.clone(),
        }
    }

    /// The department of a team.
    pub fn department_of(&self, team: Option<&TeamId>) -> Option<&DepartmentRecord> {
        self.departments.get(&self.teams.get(team?)?.department_id)
    }

    /// Why a key may not be used for now, though it is known; `None`: it may. A suspension is not
    /// copied to the keys that it concerns, so that taking it back gives back just those.
    pub fn suspension(&self, key: &KeyRecord) -> Option<String> {
        let account = self.accounts.get(&key.account_id);
        let team = key.team_id.as_ref().and_then(|id| self.teams.get(id));
        let department = self.department_of(key.team_id.as_ref());
        let (whose, holder) = match &key.holder {
            Some(Holder::Person(id)) => ("person", self.people.get(id).map(|it| &it.life)),
            Some(Holder::Service(id)) => ("service", self.services.get(id).map(|it| &it.life)),
            None => ("holder", None),
        };
        let lives = [
            ("department", department.map(|it| &it.life)),
            ("team", team.map(|it| &it.life)),
            (whose, holder),
        ];
        let removed = lives.iter().find(|(_, life)| life.is_some_and(|it| !it.is_there()));
        if let Some((what, _)) = removed {
            return Some(format!("the {what} that this key belongs to was removed"));
        }
        let suspensions = [
            ("the account that it belongs to was", account.and_then(|it| it.suspended.as_ref())),
            ("it was", key.suspended.as_ref()),
        ];
        if let Some((what, why)) =
            suspensions.into_iter().find_map(|(what, why)| Some((what, why?)))
        {
            return Some(format!("this key is suspended: {what} suspended ({})", why.reason));
        }
        lives.into_iter().find_map(|(what, life)| {
            let why = life?.suspended.as_ref()?;
            let reason = &why.reason;
            Some(format!(
                "this key is suspended: the {what} that it belongs to was suspended ({reason})"
            ))
        })
    }
}

/// Everything that a server keeps in memory, as it was at one moment.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The number of changes so far.
    pub version: u64,
    /// The keys.
    pub keys: Vec<KeyRecord>,
    /// What they belong to.
    pub organisation: Organisation,
}

impl Store {
    /// Keys and organisation, as they are now; with `since`, only what was touched by a change after
    /// that version.
    pub async fn known(&self, since: Option<u64>) -> Result<Known, StorageError> {
        const DOING: &str = "read keys and organisation";
        let mut tx = self.begin_read(DOING).await?;
        let version = sql("SELECT version FROM changes WHERE id = 1")
            .fetch_one(&mut tx)
            .await
            .map_err(StorageError::database(DOING))?
            .count("version")?;
        let which = since.map_or(Which::All, Which::ChangedSince);
        let keys = keys::read_all(&mut tx, which, DOING).await?;
        let organisation = read_organisation(&mut tx, which, DOING).await?;
        Ok(Known { version, keys, organisation })
    }

    /// A person with their account and teams, also where they were removed; nothing else.
    pub async fn organisation_around(&self, id: &PersonId) -> Result<Organisation, StorageError> {
        const DOING: &str = "read where a person belongs";
        let mut tx = self.begin_read(DOING).await?;
        let tx = &mut tx;
        let people = read_people(tx, Which::Id(id.as_str()), DOING).await?;
        let mut found = Organisation { people, ..Organisation::default() };
        let Some(person) = found.people.get(id) else { return Ok(found) };
        let account = rows(tx, "accounts", Which::Id(person.account_id.as_str()), DOING).await?;
        found.accounts = by_id(account, accounts::read)?;
        for team in &person.teams {
            let team = rows(tx, "teams", Which::Id(team.as_str()), DOING).await?;
            found.teams.extend(by_id(team, read_team)?);
        }
        Ok(found)
    }

    /// What a key belongs to, and nothing else.
    pub async fn organisation_of(&self, key: &KeyRecord) -> Result<Organisation, StorageError> {
        const DOING: &str = "read what the key belongs to";
        let mut tx = self.begin_read(DOING).await?;
        let tx = &mut tx;
        let mut found = Organisation::default();
        let account = Which::Id(key.account_id.as_str());
        found.accounts = by_id(rows(tx, "accounts", account, DOING).await?, accounts::read)?;
        if let Some(team) = &key.team_id {
            let team = Which::Id(team.as_str());
            found.teams = by_id(rows(tx, "teams", team, DOING).await?, read_team)?;
        }
        if let Some(team) = found.teams.values().next() {
            let department = Which::Id(team.department_id.as_str());
            let department = rows(tx, "departments", department, DOING).await?;
            found.departments = by_id(department, read_department)?;
        }
        match &key.holder {
            Some(Holder::Person(id)) => {
                found.people = read_people(tx, Which::Id(id.as_str()), DOING).await?;
            }
            Some(Holder::Service(id)) => {
                let service = rows(tx, "services", Which::Id(id.as_str()), DOING).await?;
                found.services = by_id(service, read_service)?;
            }
            None => {}
        }
        let subjects = found.attribution(key);
        found.budgets = read_budgets_of(tx, subjects.subjects(), DOING).await?;
        found.policies = read_policies_of(tx, subjects.subjects(), DOING).await?;
        found.provider_keys = read_provider_keys_of(tx, subjects.subjects(), DOING).await?;
        Ok(found)
    }
}

/// Which rows of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which<'a> {
    All,
    ChangedSince(u64),
    Id(&'a str),
}

/// Rows of a table that has `id` and `changed`.
pub(crate) async fn rows(
    tx: &mut Transaction,
    table: &str,
    which: Which<'_>,
    doing: &'static str,
) -> Result<Vec<Row>, StorageError> {
    let (condition, value) = which.condition();
    sql(format!("SELECT * FROM {table} WHERE {condition}"))
        .bind_all(value)
        .fetch_all(tx)
        .await
        .map_err(StorageError::database(doing))
}

impl Which<'_> {
    /// The condition on a table's rows, and its value.
    pub(crate) fn condition(self) -> (&'static str, Option<Value>) {
        match self {
            Self::All => ("1 = 1", None),
            Self::ChangedSince(version) => ("changed > $1", Some(version.into())),
            Self::Id(id) => ("id = $1", Some(id.into())),
        }
    }
}

/// What has an id of its own kind.
pub(crate) trait Identified {
    type Id: Eq + std::hash::Hash;
    fn id(&self) -> Self::Id;
}

macro_rules! identified {
    ($($record:ty: $id:ty)*) => {$(
        impl Identified for $record {
            type Id = $id;
            fn id(&self) -> $id {
                self.id.clone()
            }
        }
    )*};
}

identified! {
    AccountRecord: AccountId
    DepartmentRecord: DepartmentId
    TeamRecord: TeamId
    PersonRecord: PersonId
    ServiceRecord: ServiceId
}

fn by_id<T: Identified>(
    rows: Vec<Row>,
    read: impl Fn(&Row) -> Result<T, StorageError>,
) -> Result<HashMap<T::Id, T>, StorageError> {
    rows.iter().map(|row| read(row).map(|record| (record.id(), record))).collect()
}

pub(crate) async fn read_organisation(
    tx: &mut Transaction,
    which: Which<'_>,
    doing: &'static str,
) -> Result<Organisation, StorageError> {
    Ok(Organisation {
        accounts: by_id(rows(tx, "accounts", which, doing).await?, accounts::read)?,
        departments: by_id(rows(tx, "departments", which, doing).await?, read_department)?,
        teams: by_id(rows(tx, "teams", which, doing).await?, read_team)?,
        people: read_people(tx, which, doing).await?,
        services: by_id(rows(tx, "services", which, doing).await?, read_service)?,
        budgets: read_budgets(tx, which, doing).await?,
        policies: read_policies(tx, which, doing).await?,
        provider_keys: read_provider_keys(tx, which, doing).await?,
    })
}

pub(crate) async fn read_people(
    tx: &mut Transaction,
    which: Which<'_>,
    doing: &'static str,
) -> Result<HashMap<PersonId, PersonRecord>, StorageError> {
    let mut people = by_id(rows(tx, "people", which, doing).await?, read_person)?;
    let (condition, value) = which.condition();
    let members = sql(format!(
        "SELECT person_id, team_id FROM team_members \
         WHERE person_id IN (SELECT id FROM people WHERE {condition}) ORDER BY person_id, team_id"
    ))
    .bind_all(value)
    .fetch_all(tx)
    .await
    .map_err(StorageError::database(doing))?;
    for row in &members {
        if let Some(person) = people.get_mut(&row.text::<PersonId>("person_id")?) {
            person.teams.push(row.text("team_id")?);
        }
    }
    Ok(people)
}

/// Where departments are kept: the identity first, then everything else.
pub(crate) const DEPARTMENTS: (&str, &[&str]) = (
    "departments",
    &[
        "id",
        "account_id",
        "name",
        "managed_by",
        "created_at",
        "suspended_at",
        "suspended_reason",
        "removed_at",
        "changed",
    ],
);

/// Where teams are kept.
pub(crate) const TEAMS: (&str, &[&str]) = (
    "teams",
    &[
        "id",
        "account_id",
        "department_id",
        "name",
        "managed_by",
        "created_at",
        "suspended_at",
        "suspended_reason",
        "removed_at",
        "changed",
    ],
);

/// Where people are kept.
pub(crate) const PEOPLE: (&str, &[&str]) = (
    "people",
    &[
        "id",
        "account_id",
        "email",
        "name",
        "role",
        "operator",
        "managed_by",
        "created_at",
        "suspended_at",
        "suspended_reason",
        "removed_at",
        "changed",
    ],
);

/// Where services are kept.
pub(crate) const SERVICES: (&str, &[&str]) = (
    "services",
    &[
        "id",
        "account_id",
        "team_id",
        "name",
        "managed_by",
        "created_at",
        "suspended_at",
        "suspended_reason",
        "removed_at",
        "changed",
    ],
);

/// In the order of [`DEPARTMENTS`], without the last.
pub(crate) fn department_values(it: &DepartmentRecord) -> Vec<Value> {
    let mut values = vec![it.id.as_str().into(), it.account_id.as_str().into(), (&it.name).into()];
    values.extend(life_values(&it.life));
    values
}

/// In the order of [`TEAMS`], without the last.
pub(crate) fn team_values(it: &TeamRecord) -> Vec<Value> {
    let mut values = vec![
        it.id.as_str().into(),
        it.account_id.as_str().into(),
        it.department_id.as_str().into(),
        (&it.name).into(),
    ];
    values.extend(life_values(&it.life));
    values
}

/// In the order of [`PEOPLE`], without the last.
pub(crate) fn person_values(it: &PersonRecord) -> Vec<Value> {
    let mut values = vec![
        it.id.as_str().into(),
        it.account_id.as_str().into(),
        (&it.email).into(),
        (&it.name).into(),
        it.role.as_str().into(),
        it.operator.into(),
    ];
    values.extend(life_values(&it.life));
    values
}

/// In the order of [`SERVICES`], without the last.
pub(crate) fn service_values(it: &ServiceRecord) -> Vec<Value> {
    let mut values = vec![
        it.id.as_str().into(),
        it.account_id.as_str().into(),
        it.team_id.as_ref().map(TeamId::as_str).into(),
        (&it.name).into(),
    ];
    values.extend(life_values(&it.life));
    values
}

fn life_values(life: &Life) -> Vec<Value> {
    let mut values = vec![(&life.managed_by).into(), life.created_at.into()];
    values.extend(suspension_values(life.suspended.as_ref()));
    values.push(life.removed_at.into());
    values
}

/// When and why.
pub(crate) fn suspension_values(suspension: Option<&Suspension>) -> [Value; 2] {
    [suspension.map(|it| it.at).into(), suspension.map(|it| it.reason.as_str()).into()]
}

pub(crate) fn read_suspension(row: &Row) -> Result<Option<Suspension>, StorageError> {
    let Some(at) = row.moment_opt("suspended_at")? else { return Ok(None) };
    let reason = row.string_opt("suspended_reason")?.unwrap_or_default();
    Ok(Some(Suspension { at, reason }))
}

fn read_life(row: &Row) -> Result<Life, StorageError> {
    Ok(Life {
        managed_by: row.string_opt("managed_by")?,
        created_at: row.moment("created_at")?,
        suspended: read_suspension(row)?,
        removed_at: row.moment_opt("removed_at")?,
    })
}

pub(crate) fn read_department(row: &Row) -> Result<DepartmentRecord, StorageError> {
    Ok(DepartmentRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        name: row.string("name")?,
        life: read_life(row)?,
    })
}

pub(crate) fn read_team(row: &Row) -> Result<TeamRecord, StorageError> {
    Ok(TeamRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        department_id: row.text("department_id")?,
        name: row.string("name")?,
        life: read_life(row)?,
    })
}

/// Without their teams.
fn read_person(row: &Row) -> Result<PersonRecord, StorageError> {
    Ok(PersonRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        email: row.string("email")?,
        name: row.string_opt("name")?,
        role: row.word("role", Role::parse)?,
        operator: row.flag("operator")?,
        teams: Vec::new(),
        life: read_life(row)?,
    })
}

pub(crate) fn read_service(row: &Row) -> Result<ServiceRecord, StorageError> {
    Ok(ServiceRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        team_id: row.text_opt("team_id")?,
        name: row.string("name")?,
        life: read_life(row)?,
    })
}
