//! The one way in which accounts, organisation and keys are written.
//!
//! Changes, their entries in the audit trail and the number that a running server watches are
//! stored in one transaction, or nothing is. Whoever may change what is for the caller to say; here
//! is said what must hold whoever it is, also where others write at the same moment.

use serde_json::Value as Json;
use sluice_core::ids::AccountId;
use sluice_core::organisation::{Holder, Role, Subject};

use crate::accounts::{self, ACCOUNTS, AccountRecord, account_values};
use crate::audit::{self, AuditSeal};
use crate::changes;
use crate::database::{Transaction, Value, insert_many, insert_one, sql, update_one};
use crate::error::StorageError;
use crate::keys::{self, KEYS, KeyRecord, SECRETS, key_values, secret_values};
use crate::master_key::MasterKey;
use crate::open::Store;
use crate::organisation::{
    DEPARTMENTS, DepartmentRecord, Life, PEOPLE, PersonRecord, SERVICES, ServiceRecord, TEAMS,
    TeamRecord, Which, department_values, person_values, read_department, read_people,
    read_service, read_team, rows, service_values, team_values,
};
use crate::seal::{Outside, SealFile};
use crate::trail::{AdministrationEntry, Doing};

const DOING: &str = "write the change";

/// What is administered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there are a few at a time")]
pub enum Record {
    /// An account.
    Account(AccountRecord),
    /// A department.
    Department(DepartmentRecord),
    /// A team.
    Team(TeamRecord),
    /// A person.
    Person(PersonRecord),
    /// A service.
    Service(ServiceRecord),
    /// A key.
    Key(KeyRecord),
}

macro_rules! record_of {
    ($($variant:ident($record:ty))*) => {$(
        impl From<$record> for Record {
            fn from(record: $record) -> Self {
                Self::$variant(record)
            }
        }
    )*};
}

record_of! {
    Account(AccountRecord)
    Department(DepartmentRecord)
    Team(TeamRecord)
    Person(PersonRecord)
    Service(ServiceRecord)
    Key(KeyRecord)
}

impl Record {
    /// What it is, and which.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Account(it) => Subject::Account(it.id.clone()),
            Self::Department(it) => Subject::Department(it.id.clone()),
            Self::Team(it) => Subject::Team(it.id.clone()),
            Self::Person(it) => Subject::Person(it.id.clone()),
            Self::Service(it) => Subject::Service(it.id.clone()),
            Self::Key(it) => Subject::Key(it.id.clone()),
        }
    }

    /// Its account.
    pub fn account_id(&self) -> &AccountId {
        match self {
            Self::Account(it) => &it.id,
            Self::Department(it) => &it.account_id,
            Self::Team(it) => &it.account_id,
            Self::Person(it) => &it.account_id,
            Self::Service(it) => &it.account_id,
            Self::Key(it) => &it.account_id,
        }
    }

    /// When it was made, suspended and removed; nothing for accounts and keys.
    pub fn life(&self) -> Option<&Life> {
        match self {
            Self::Department(it) => Some(&it.life),
            Self::Team(it) => Some(&it.life),
            Self::Person(it) => Some(&it.life),
            Self::Service(it) => Some(&it.life),
            Self::Account(_) | Self::Key(_) => None,
        }
    }

    /// As JSON, without secrets and hashes.
    fn to_json(&self) -> Result<Json, StorageError> {
        match self {
            Self::Account(it) => serde_json::to_value(it),
            Self::Department(it) => serde_json::to_value(it),
            Self::Team(it) => serde_json::to_value(it),
            Self::Person(it) => serde_json::to_value(it),
            Self::Service(it) => serde_json::to_value(it),
            Self::Key(it) => serde_json::to_value(it),
        }
        .map_err(|error| StorageError::Unreadable { column: "entry", value: error.to_string() })
    }

    fn table(&self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Account(_) => ACCOUNTS,
            Self::Department(_) => DEPARTMENTS,
            Self::Team(_) => TEAMS,
            Self::Person(_) => PEOPLE,
            Self::Service(_) => SERVICES,
            Self::Key(_) => KEYS,
        }
    }

    fn values(&self) -> Vec<Value> {
        match self {
            Self::Account(it) => account_values(it),
            Self::Department(it) => department_values(it),
            Self::Team(it) => team_values(it),
            Self::Person(it) => person_values(it),
            Self::Service(it) => service_values(it),
            Self::Key(it) => key_values(it),
        }
    }

    /// What nobody else may be called.
    fn taken(&self) -> &'static str {
        match self {
            Self::Account(_) => "an account of this name",
            Self::Department(_) => "a department of this name",
            Self::Team(_) => "a team of this name",
            Self::Person(_) => "a person of this e-mail address",
            Self::Service(_) => "a service of this name",
            Self::Key(_) => "such a key",
        }
    }
}

/// One change of one thing.
#[derive(Debug, Clone)]
pub struct Change {
    /// What is done, as in `keys.rotate`.
    pub verb: &'static str,
    /// The thing as it was read; nothing where it is new.
    pub old: Option<Record>,
    /// The thing as it shall be.
    pub new: Record,
}

impl Store {
    /// Makes changes and notes them in the audit trail: all of them or none.
    ///
    /// [`StorageError::ChangedMeanwhile`] where something is not as it was read, whoever does it may
    /// not be judged as they were any more, or the change would
    /// leave behind what must not be: an account that had an owner without one, a department that
    /// is removed with teams in it, something in a team that was removed.
    pub async fn administer(
        &self,
        key: &MasterKey,
        doing: &Doing,
        changes: &[Change],
    ) -> Result<(), StorageError> {
        let mut entries = Vec::with_capacity(changes.len());
        for change in changes {
            let before = change.old.as_ref().map(Record::to_json).transpose()?;
            let of = (change.new.subject().to_string(), change.new.account_id().clone());
            let states = (before, change.new.to_json()?);
            entries.push(AdministrationEntry::new(doing, change.verb, of, states)?);
        }
        let file = SealFile::new(self.data_dir(), key);
        let mut tx = self.begin_write(DOING).await?;
        let outside = self.outside_in(&mut tx, &file).await?;
        let written = async {
            let version = changes::bump(&mut tx, DOING).await?;
            if doing.judged_at.is_some_and(|judged_at| judged_at + 1 != version) {
                return Err(StorageError::ChangedMeanwhile);
            }
            for change in changes {
                write(&mut tx, change, version).await?;
            }
            for change in changes {
                check(&mut tx, change).await?;
            }
            let entries: Vec<_> = entries.iter().map(|it| (&*it.audit_id, it)).collect();
            audit::append(&mut tx, &AuditSeal::new(key), &outside, &entries).await
        };
        let end = match written.await {
            Ok(end) => end,
            Err(error) => {
                tx.rollback(DOING).await?;
                return Err(error);
            }
        };
        tx.commit(DOING).await?;
        self.sync(DOING).await?;
        // The change holds. Where its seal cannot be written, the next entry's is: the file may lie
        // behind the database.
        if let (Some(end), false) = (end, outside == Outside::NotYet)
            && let Err(error) = file.renew(self.data_dir(), end).await
        {
            tracing::error!(%error, "the audit trail's seal could not be renewed");
        }
        Ok(())
    }
}

/// Writes one thing, where it is as it was read.
async fn write(tx: &mut Transaction, change: &Change, version: u64) -> Result<(), StorageError> {
    let new = &change.new;
    if current(tx, new).await? != change.old {
        return Err(StorageError::ChangedMeanwhile);
    }
    let mut values = new.values();
    values.push(version.into());
    let failed = |source: sqlx::Error| match source.as_database_error() {
        Some(error) if error.is_unique_violation() => StorageError::Exists { what: new.taken() },
        Some(error) if error.is_foreign_key_violation() => StorageError::ChangedMeanwhile,
        _ => StorageError::Database { doing: DOING, source },
    };
    match change.old {
        Some(_) => update_one(tx, new.table(), values).await.map(drop).map_err(failed)?,
        None => insert_one(tx, new.table(), values).await.map_err(failed)?,
    }
    match new {
        Record::Person(person) => {
            sql("DELETE FROM team_members WHERE person_id = $1")
                .bind(person.id.as_str())
                .execute(&mut *tx)
                .await
                .map_err(failed)?;
            let table = ("team_members", &["person_id", "team_id"][..]);
            let members = person
                .teams
                .iter()
                .map(|team| vec![person.id.as_str().into(), team.as_str().into()]);
            insert_many(tx, table, "", members.collect(), |_, _| {}).await.map_err(failed)
        }
        Record::Key(key) => {
            let old = match &change.old {
                Some(Record::Key(old)) => old.secrets.as_slice(),
                _ => &[],
            };
            for secret in key.secrets.iter().filter(|secret| !old.contains(secret)) {
                let values = secret_values(&key.id, secret);
                match old.iter().any(|it| it.hash == secret.hash) {
                    true => update_one(tx, SECRETS, values).await.map(drop).map_err(failed)?,
                    false => insert_one(tx, SECRETS, values).await.map_err(failed)?,
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A thing as it is now.
async fn current(tx: &mut Transaction, like: &Record) -> Result<Option<Record>, StorageError> {
    let subject = like.subject();
    let which = Which::Id(subject.id());
    let (table, _) = like.table();
    Ok(match like {
        Record::Person(_) => {
            read_people(tx, which, DOING).await?.into_values().next().map(Record::Person)
        }
        Record::Key(_) => keys::read_all(tx, which, DOING).await?.pop().map(Record::Key),
        Record::Account(_) | Record::Department(_) | Record::Team(_) | Record::Service(_) => {
            let Some(row) = rows(tx, table, which, DOING).await?.pop() else { return Ok(None) };
            Some(match like {
                Record::Account(_) => Record::Account(accounts::read(&row)?),
                Record::Department(_) => Record::Department(read_department(&row)?),
                Record::Team(_) => Record::Team(read_team(&row)?),
                _ => Record::Service(read_service(&row)?),
            })
        }
    })
}

/// What must hold once everything is written.
async fn check(tx: &mut Transaction, change: &Change) -> Result<(), StorageError> {
    let account = change.new.account_id();
    match &change.new {
        Record::Account(_) => Ok(()),
        Record::Department(it) if !it.life.is_there() => {
            let teams = sql("SELECT id FROM teams WHERE department_id = $1 AND removed_at IS NULL")
                .bind(it.id.as_str());
            match teams.fetch_optional(tx).await.map_err(StorageError::database(DOING))? {
                Some(_) => Err(StorageError::ChangedMeanwhile),
                None => Ok(()),
            }
        }
        Record::Department(_) => Ok(()),
        Record::Team(it) if it.life.is_there() => {
            is_there(tx, "departments", it.department_id.as_str(), account).await
        }
        Record::Team(_) => Ok(()),
        Record::Person(it) => {
            for team in it.teams.iter().filter(|_| it.life.is_there()) {
                let is_new = match &change.old {
                    Some(Record::Person(old)) => !old.teams.contains(team),
                    _ => true,
                };
                if is_new {
                    is_there(tx, "teams", team.as_str(), account).await?;
                }
            }
            let was_owner = matches!(&change.old, Some(Record::Person(old))
                if old.role == Role::Owner && old.life.is_active());
            if !was_owner || (it.role == Role::Owner && it.life.is_active()) {
                return Ok(());
            }
            let owners = sql("SELECT id FROM people WHERE account_id = $1 AND role = 'owner' \
                 AND suspended_at IS NULL AND removed_at IS NULL")
            .bind(account.as_str());
            match owners.fetch_optional(tx).await.map_err(StorageError::database(DOING))? {
                Some(_) => Ok(()),
                None => Err(StorageError::ChangedMeanwhile),
            }
        }
        Record::Service(it) => {
            // Its team may have been removed since.
            let old = match &change.old {
                Some(Record::Service(old)) => old.team_id.as_ref(),
                _ => None,
            };
            match it.team_id.as_ref().filter(|new| Some(*new) != old) {
                Some(team) if it.life.is_there() => {
                    is_there(tx, "teams", team.as_str(), account).await
                }
                _ => Ok(()),
            }
        }
        Record::Key(it) => {
            // What a key has belonged to may have been removed since.
            let (team, holder) = match &change.old {
                Some(Record::Key(old)) if old.account_id == it.account_id => {
                    (old.team_id.as_ref(), old.holder.as_ref())
                }
                _ => (None, None),
            };
            if let Some(new) = it.team_id.as_ref().filter(|new| Some(*new) != team) {
                is_there(tx, "teams", new.as_str(), account).await?;
            }
            match it.holder.as_ref().filter(|new| Some(*new) != holder) {
                Some(Holder::Person(id)) => is_there(tx, "people", id.as_str(), account).await,
                Some(Holder::Service(id)) => is_there(tx, "services", id.as_str(), account).await,
                None => Ok(()),
            }
        }
    }
}

/// Whether something is in the account, and was not removed.
async fn is_there(
    tx: &mut Transaction,
    table: &str,
    id: &str,
    account: &AccountId,
) -> Result<(), StorageError> {
    let found = sql(format!(
        "SELECT id FROM {table} WHERE id = $1 AND account_id = $2 AND removed_at IS NULL"
    ))
    .bind(id)
    .bind(account.as_str())
    .fetch_optional(tx)
    .await
    .map_err(StorageError::database(DOING))?;
    found.map(drop).ok_or(StorageError::ChangedMeanwhile)
}
