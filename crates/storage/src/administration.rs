//! The one way in which accounts, organisation and keys are written.
//!
//! Changes, their entries in the audit trail and the number that a running server watches are
//! stored in one transaction, or nothing is. Whoever may change what is for the caller to say; here
//! is said what must hold whoever it is, also where others write at the same moment.

use std::collections::HashSet;

use serde_json::Value as Json;
use sluice_core::ids::{AccountId, PersonId};
use sluice_core::organisation::{Holder, Role, Subject};

use crate::accounts::{self, ACCOUNTS, AccountRecord, account_values};
use crate::audit::{self, AuditSeal, Checkpoint};
use crate::changes;
use crate::database::{Transaction, Value, insert_many, insert_one, sql, update_one};
use crate::error::StorageError;
use crate::items::ItemChange;
use crate::keys::{self, KEYS, KeyRecord, SECRETS, key_values, secret_values};
use crate::master_key::MasterKey;
use crate::open::Store;
use crate::organisation::{
    DEPARTMENTS, DepartmentRecord, Life, PEOPLE, PersonRecord, SERVICES, ServiceRecord, TEAMS,
    TeamRecord, Which, department_values, person_values, read_department, read_people,
    read_service, read_team, rows, service_values, team_values,
};
use crate::seal::{Outside, SealFile};
use crate::sign_in::{SignInDeed, end_sessions};
use crate::trail::{AdministrationEntry, Doing};

const DOING: &str = "write the change";

/// Something that is done and noted in the trail, and changes nothing that is administered.
#[derive(Debug, Clone)]
pub struct Note {
    /// What is done, as in `secrets.rotate-master-key`.
    pub verb: &'static str,
    /// To what: `account:ID`, `deployment`.
    pub subject: String,
    /// In whose trail it is noted.
    pub account_id: AccountId,
    /// What the entry says, without any secret.
    pub details: Json,
}

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

/// What one transaction does beside its entries.
#[derive(Default)]
struct Work<'w> {
    changes: &'w [Change],
    items: &'w [ItemChange],
    deeds: &'w [SignInDeed],
    checkpoint: Option<&'w Checkpoint>,
}

impl Store {
    /// Makes changes, does after them what is done about signing in, and notes both in the audit
    /// trail: all of it or nothing. Without changes, nothing moves that a running server would have to
    /// read again.
    ///
    /// [`StorageError::ChangedMeanwhile`] where something is not as it was read, where the actor's
    /// rights may have changed since they were checked, or where the change would leave behind what
    /// must not be: an account that had an owner without one, a department that is removed with
    /// teams in it, something in a team that was removed.
    pub async fn administer(
        &self,
        key: &MasterKey,
        doing: &Doing,
        changes: &[Change],
        deeds: &[SignInDeed],
    ) -> Result<(), StorageError> {
        self.administer_all(key, doing, changes, &[], deeds).await
    }

    /// The same for providers, models, budgets and policies.
    pub async fn administer_items(
        &self,
        key: &MasterKey,
        doing: &Doing,
        changes: &[ItemChange],
    ) -> Result<(), StorageError> {
        self.administer_all(key, doing, &[], changes, &[]).await
    }

    /// Notes in the trail what changes nothing that is administered.
    pub async fn note_deed(
        &self,
        key: &MasterKey,
        doing: &Doing,
        note: Note,
    ) -> Result<(), StorageError> {
        let of = (note.subject, note.account_id);
        let entry = AdministrationEntry::new(doing, note.verb, of, (None, note.details))?;
        self.administer_with(key, doing, Work::default(), vec![entry]).await
    }

    /// Notes a checkpoint in the trail and keeps it.
    pub(crate) async fn note_checkpoint(
        &self,
        key: &MasterKey,
        doing: &Doing,
        note: Note,
        checkpoint: &Checkpoint,
    ) -> Result<(), StorageError> {
        let of = (note.subject, note.account_id);
        let entry = AdministrationEntry::new(doing, note.verb, of, (None, note.details))?;
        let work = Work { checkpoint: Some(checkpoint), ..Work::default() };
        self.administer_with(key, doing, work, vec![entry]).await
    }

    async fn administer_all(
        &self,
        key: &MasterKey,
        doing: &Doing,
        changes: &[Change],
        items: &[ItemChange],
        deeds: &[SignInDeed],
    ) -> Result<(), StorageError> {
        let mut entries = Vec::with_capacity(changes.len() + items.len() + deeds.len());
        for change in changes {
            let before = change.old.as_ref().map(Record::to_json).transpose()?;
            let of = (change.new.subject().to_string(), change.new.account_id().clone());
            let states = (before, change.new.to_json()?);
            entries.push(AdministrationEntry::new(doing, change.verb, of, states)?);
        }
        for change in items {
            entries.push(AdministrationEntry::new(
                doing,
                change.verb,
                (change.subject(), change.account_id.clone()),
                change.states()?,
            )?);
        }
        for deed in deeds {
            let states = (None, deed.details.clone());
            entries.push(AdministrationEntry::new(doing, deed.verb, deed.subject(), states)?);
        }
        let work = Work { changes, items, deeds, checkpoint: None };
        self.administer_with(key, doing, work, entries).await
    }

    async fn administer_with(
        &self,
        key: &MasterKey,
        doing: &Doing,
        Work { changes, items, deeds, checkpoint }: Work<'_>,
        entries: Vec<AdministrationEntry>,
    ) -> Result<(), StorageError> {
        let file = SealFile::new(self.data_dir(), key);
        let mut tx = self.begin_write(DOING).await?;
        let outside = self.outside_in(&mut tx, &file).await?;
        let written = async {
            let before = changes::version(&mut tx, DOING).await?;
            if doing.judged_at.is_some_and(|judged_at| judged_at != before) {
                return Err(StorageError::ChangedMeanwhile);
            }
            let version = match (changes, items) {
                ([], []) => before,
                _ => changes::bump(&mut tx, DOING).await?,
            };
            write(&mut tx, changes, version).await?;
            for change in items {
                change.write(&mut tx, version).await?;
            }
            let mut found = HashSet::new();
            for change in changes {
                check(&mut tx, change, &mut found).await?;
                sign_out(&mut tx, &change.new).await?;
                if let Some(person) = moved(change) {
                    crate::sign_in::remove_links(&mut tx, person).await?;
                }
            }
            if let Some(checkpoint) = checkpoint {
                checkpoint.write(&mut tx).await?;
            }
            for step in deeds.iter().flat_map(|deed| &deed.steps) {
                step.carry_out(&mut tx).await?;
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

/// Ends the sessions of whoever is suspended or removed now: resuming them does not take it back.
async fn sign_out(tx: &mut Transaction, new: &Record) -> Result<(), StorageError> {
    match new {
        Record::Person(person) if !person.life.is_active() => {
            end_sessions(tx, "id", person.id.as_str()).await
        }
        Record::Account(account) if account.suspended.is_some() => {
            end_sessions(tx, "account_id", account.id.as_str()).await
        }
        _ => Ok(()),
    }
}

/// Who has another e-mail address now: links that went to the old one may have reached somebody else.
fn moved(change: &Change) -> Option<&PersonId> {
    match (&change.old, &change.new) {
        (Some(Record::Person(old)), Record::Person(new)) => {
            (old.email != new.email).then_some(&new.id)
        }
        _ => None,
    }
}

/// Writes all changes in their order. What is new is written table by table: the file of an
/// organisation may hold thousands of people.
async fn write(tx: &mut Transaction, changes: &[Change], version: u64) -> Result<(), StorageError> {
    let together = |one: &Change, next: &Change| {
        one.old.is_none() && next.old.is_none() && one.new.table() == next.new.table()
    };
    for changes in changes.chunk_by(together) {
        match changes {
            [change] if change.old.is_some() => write_changed(tx, change, version).await?,
            new => write_new(tx, new, version).await?,
        }
    }
    Ok(())
}

/// Where it is kept who is in which team.
const MEMBERS: (&str, &[&str]) = ("team_members", &["person_id", "team_id"]);

fn members_of(person: &PersonRecord) -> impl Iterator<Item = Vec<Value>> {
    person.teams.iter().map(|team| vec![person.id.as_str().into(), team.as_str().into()])
}

fn row_of(record: &Record, version: u64) -> Vec<Value> {
    let mut values = record.values();
    values.push(version.into());
    values
}

/// What it means that something cannot be written.
fn refused(new: &Record, source: sqlx::Error) -> StorageError {
    match source.as_database_error() {
        Some(error) if error.is_unique_violation() => StorageError::Exists { what: new.taken() },
        Some(error) if error.is_foreign_key_violation() => StorageError::ChangedMeanwhile,
        _ => StorageError::Database { doing: DOING, source },
    }
}

/// Writes new things of one table. The table itself says whether they are new.
async fn write_new(
    tx: &mut Transaction,
    changes: &[Change],
    version: u64,
) -> Result<(), StorageError> {
    let Some(Change { new: first, .. }) = changes.first() else { return Ok(()) };
    let (mut members, mut secrets) = (Vec::new(), Vec::new());
    for Change { new, .. } in changes {
        match new {
            Record::Person(person) => members.extend(members_of(person)),
            Record::Key(key) => {
                secrets.extend(key.secrets.iter().map(|secret| secret_values(&key.id, secret)));
            }
            _ => {}
        }
    }
    let rows = changes.iter().map(|change| row_of(&change.new, version)).collect();
    for (table, rows) in [(first.table(), rows), (MEMBERS, members), (SECRETS, secrets)] {
        let written = insert_many(tx, table, "", rows, |_, _| {}).await;
        written.map_err(|source| refused(first, source))?;
    }
    Ok(())
}

/// Writes one thing, where it is as it was read.
async fn write_changed(
    tx: &mut Transaction,
    change: &Change,
    version: u64,
) -> Result<(), StorageError> {
    let Change { old, new, .. } = change;
    if current(tx, new).await? != *old {
        return Err(StorageError::ChangedMeanwhile);
    }
    let failed = |source| refused(new, source);
    update_one(tx, new.table(), row_of(new, version)).await.map_err(failed)?;
    match (old, new) {
        (Some(Record::Person(old)), Record::Person(new)) if old.teams != new.teams => {
            sql("DELETE FROM team_members WHERE person_id = $1")
                .bind(new.id.as_str())
                .execute(&mut *tx)
                .await
                .map_err(failed)?;
            let members = members_of(new).collect();
            insert_many(tx, MEMBERS, "", members, |_, _| {}).await.map_err(failed)
        }
        (Some(Record::Key(old)), Record::Key(new)) => {
            for secret in new.secrets.iter().filter(|secret| !old.secrets.contains(secret)) {
                let values = secret_values(&new.id, secret);
                match old.secrets.iter().any(|it| it.hash == secret.hash) {
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

/// What was found to be in its account: table, id and account.
type Found = HashSet<(&'static str, String, AccountId)>;

/// What must hold once everything is written.
async fn check(
    tx: &mut Transaction,
    change: &Change,
    found: &mut Found,
) -> Result<(), StorageError> {
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
            is_there(tx, ("departments", it.department_id.as_str(), account), found).await
        }
        Record::Team(_) => Ok(()),
        Record::Person(it) => {
            for team in it.teams.iter().filter(|_| it.life.is_there()) {
                let is_new = match &change.old {
                    Some(Record::Person(old)) => !old.teams.contains(team),
                    _ => true,
                };
                if is_new {
                    is_there(tx, ("teams", team.as_str(), account), found).await?;
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
                    is_there(tx, ("teams", team.as_str(), account), found).await
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
                is_there(tx, ("teams", new.as_str(), account), found).await?;
            }
            match it.holder.as_ref().filter(|new| Some(*new) != holder) {
                Some(Holder::Person(id)) => {
                    is_there(tx, ("people", id.as_str(), account), found).await
                }
                Some(Holder::Service(id)) => {
                    is_there(tx, ("services", id.as_str(), account), found).await
                }
                None => Ok(()),
            }
        }
    }
}

/// Whether something is in the account, and was not removed. Each thing is looked for once.
async fn is_there(
    tx: &mut Transaction,
    (table, id, account): (&'static str, &str, &AccountId),
    found: &mut Found,
) -> Result<(), StorageError> {
    let this = (table, id.to_owned(), account.clone());
    if found.contains(&this) {
        return Ok(());
    }
    let row = sql(format!(
        "SELECT id FROM {table} WHERE id = $1 AND account_id = $2 AND removed_at IS NULL"
    ))
    .bind(id)
    .bind(account.as_str())
    .fetch_optional(tx)
    .await
    .map_err(StorageError::database(DOING))?;
    row.ok_or(StorageError::ChangedMeanwhile)?;
    found.insert(this);
    Ok(())
}
