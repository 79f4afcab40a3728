//! What is written about signing in: steps of one transaction, which holds the entries of the audit
//! trail, too.
//!
//! Each step says what has to be true for it. Where that is no longer so, since somebody else was
//! faster or somebody was suspended, nothing of the transaction happens: a link, a code and a
//! recovery code work once, however many try at once.

use serde_json::Value as Json;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, PersonId};
use sluice_core::secret::Secret;

use super::{LinkRecord, SessionRecord};
use crate::database::{Statement, Transaction, insert_many, insert_one, sql};
use crate::error::StorageError;
use crate::master_key::KeyHash;

const DOING: &str = "write how somebody signs in";

/// The most sessions of a person: beyond it, the one that was used least recently ends.
const MOST_SESSIONS: u64 = 100;

/// One thing that somebody does about signing in, with its entry in the audit trail.
#[derive(Debug, Clone)]
pub struct SignInDeed {
    /// What is done, as in `people.sign-in`.
    pub verb: &'static str,
    /// To whom; nobody where an e-mail address is nobody's, or there is nobody yet.
    pub person: Option<(PersonId, AccountId)>,
    /// What the entry says, without any secret.
    pub details: Json,
    /// What is written.
    pub steps: Vec<SignInStep>,
}

impl SignInDeed {
    /// The subject and account of its entry.
    pub(crate) fn subject(&self) -> (String, AccountId) {
        match &self.person {
            Some((person, account)) => (format!("person:{person}"), account.clone()),
            None => ("person:unknown".to_owned(), "".into()),
        }
    }
}

/// One thing that is checked or written.
#[derive(Debug, Clone)]
pub enum SignInStep {
    /// Nobody else is there: for the first owner.
    IsOnly(PersonId),
    /// They are there, and neither they nor their account are suspended.
    IsActive(PersonId),
    /// Their password still has this hash.
    HasPassword(PersonId, Secret<String>),
    /// They have set no password.
    HasNoPassword(PersonId),
    /// They have no one-time codes.
    HasNoCodes(PersonId),
    /// Makes a link. Whatever links its person had no longer work.
    MakeLink(LinkRecord),
    /// Uses a link, which is open.
    UseLink(KeyHash, UnixMillis),
    /// Sets a password's hash. Links that its person had no longer work.
    SetPassword(PersonId, Secret<String>, UnixMillis),
    /// Takes password and codes away.
    RemoveLogin(PersonId),
    /// Sets the sealed secret of one-time codes up, with the step whose code was given.
    SetCodes(PersonId, String, UnixMillis, u64),
    /// Takes one-time codes and recovery codes away.
    RemoveCodes(PersonId),
    /// Uses the code of a step, which is later than the last one.
    UseCode(PersonId, u64),
    /// Replaces all recovery codes.
    SetRecoveryCodes(PersonId, Vec<KeyHash>),
    /// Uses a recovery code, which was not used.
    UseRecoveryCode(PersonId, KeyHash, UnixMillis),
    /// Begins a session; those not used since the moment given are over.
    Begin(SessionRecord, KeyHash, UnixMillis),
    /// Ends a session of a person, which is there.
    End(PersonId, String),
    /// Ends all sessions of a person but the one named.
    EndAll(PersonId, Option<String>),
}

impl SignInStep {
    pub(crate) async fn carry_out(&self, tx: &mut Transaction) -> Result<(), StorageError> {
        match self {
            Self::IsOnly(person) => {
                let others = sql("SELECT id FROM people WHERE id <> $1 AND removed_at IS NULL \
                                  LIMIT 1")
                .bind(person.as_str());
                no_row(tx, others).await
            }
            Self::IsActive(person) => {
                let found = sql("SELECT people.id FROM people JOIN accounts \
                                 ON accounts.id = people.account_id WHERE people.id = $1 \
                                 AND people.removed_at IS NULL AND people.suspended_at IS NULL \
                                 AND accounts.suspended_at IS NULL")
                .bind(person.as_str());
                a_row(tx, found).await
            }
            Self::HasPassword(person, password) => {
                let found = sql("SELECT person_id FROM person_logins \
                                 WHERE person_id = $1 AND password = $2")
                .bind(person.as_str())
                .bind(password.expose());
                a_row(tx, found).await
            }
            Self::HasNoPassword(person) => {
                let found = sql("SELECT person_id FROM person_logins WHERE person_id = $1");
                no_row(tx, found.bind(person.as_str())).await
            }
            Self::HasNoCodes(person) => {
                let found = sql("SELECT person_id FROM person_logins \
                                 WHERE person_id = $1 AND codes_secret IS NOT NULL");
                no_row(tx, found.bind(person.as_str())).await
            }
            Self::MakeLink(link) => make_link(tx, link).await,
            Self::UseLink(hash, now) => {
                let used = sql("UPDATE invitations SET used_at = $2 \
                                WHERE hash = $1 AND used_at IS NULL AND expires_at > $2")
                .bind(hash.to_hex())
                .bind(*now);
                changes_one(tx, used).await
            }
            Self::SetPassword(person, password, now) => {
                remove_links(tx, person).await?;
                run(
                    tx,
                    sql("INSERT INTO person_logins (person_id, password, password_set_at) \
                         VALUES ($1, $2, $3) ON CONFLICT (person_id) DO UPDATE \
                         SET password = excluded.password, \
                         password_set_at = excluded.password_set_at")
                    .bind(person.as_str())
                    .bind(password.expose())
                    .bind(*now),
                )
                .await
            }
            Self::RemoveLogin(person) => {
                remove_recovery_codes(tx, person).await?;
                let gone = sql("DELETE FROM person_logins WHERE person_id = $1");
                run(tx, gone.bind(person.as_str())).await
            }
            Self::SetCodes(person, secret, now, step) => {
                let set = sql("UPDATE person_logins SET codes_secret = $2, \
                               codes_confirmed_at = $3, codes_last_step = $4 WHERE person_id = $1")
                .bind(person.as_str())
                .bind(secret)
                .bind(*now)
                .bind(*step);
                changes_one(tx, set).await
            }
            Self::RemoveCodes(person) => {
                remove_recovery_codes(tx, person).await?;
                let removed = sql("UPDATE person_logins SET codes_secret = NULL, \
                                   codes_confirmed_at = NULL, codes_last_step = NULL \
                                   WHERE person_id = $1");
                changes_one(tx, removed.bind(person.as_str())).await
            }
            Self::UseCode(person, step) => {
                let used = sql("UPDATE person_logins SET codes_last_step = $2 \
                                WHERE person_id = $1 AND codes_secret IS NOT NULL \
                                AND (codes_last_step IS NULL OR codes_last_step < $2)")
                .bind(person.as_str())
                .bind(*step);
                changes_one(tx, used).await
            }
            Self::SetRecoveryCodes(person, hashes) => {
                remove_recovery_codes(tx, person).await?;
                let table = ("recovery_codes", &["hash", "person_id"][..]);
                let rows =
                    hashes.iter().map(|hash| vec![hash.to_hex().into(), person.as_str().into()]);
                insert_many(tx, table, "", rows.collect(), |_, _| {})
                    .await
                    .map_err(StorageError::database(DOING))
            }
            Self::UseRecoveryCode(person, hash, now) => {
                let used = sql("UPDATE recovery_codes SET used_at = $3 \
                                WHERE hash = $2 AND person_id = $1 AND used_at IS NULL")
                .bind(person.as_str())
                .bind(hash.to_hex())
                .bind(*now);
                changes_one(tx, used).await
            }
            Self::Begin(session, hash, idle_since) => begin(tx, session, hash, *idle_since).await,
            Self::End(person, id) => {
                let ended = sql("DELETE FROM person_sessions WHERE person_id = $1 AND id = $2");
                changes_one(tx, ended.bind(person.as_str()).bind(id)).await
            }
            Self::EndAll(person, but) => {
                let ended = sql("DELETE FROM person_sessions WHERE person_id = $1 AND id <> $2");
                let but = but.as_deref().unwrap_or_default();
                run(tx, ended.bind(person.as_str()).bind(but)).await
            }
        }
    }
}

/// Ends the sessions of a person, or of everybody in an account, whose `people` column `column` is
/// `id`: they were suspended or removed.
pub(crate) async fn end_sessions(
    tx: &mut Transaction,
    column: &'static str,
    id: &str,
) -> Result<(), StorageError> {
    let ended = sql(format!(
        "DELETE FROM person_sessions WHERE person_id IN (SELECT id FROM people WHERE {column} = $1)"
    ));
    run(tx, ended.bind(id)).await
}

async fn make_link(tx: &mut Transaction, link: &LinkRecord) -> Result<(), StorageError> {
    match &link.person_id {
        Some(person) => remove_links(tx, person).await?,
        None => run(tx, sql("DELETE FROM invitations WHERE person_id IS NULL")).await?,
    }
    const TABLE: (&str, &[&str]) =
        ("invitations", &["hash", "person_id", "purpose", "created_at", "expires_at", "used_at"]);
    let row = vec![
        link.hash.to_hex().into(),
        link.person_id.as_ref().map(PersonId::as_str).into(),
        link.purpose.as_str().into(),
        link.created_at.into(),
        link.expires_at.into(),
        link.used_at.into(),
    ];
    insert_one(tx, TABLE, row).await.map_err(StorageError::database(DOING))
}

/// Makes sure that no link of a person works any more. Those that were used stay: whoever opens one
/// again is told so.
pub(crate) async fn remove_links(
    tx: &mut Transaction,
    person: &PersonId,
) -> Result<(), StorageError> {
    let gone = sql("DELETE FROM invitations WHERE person_id = $1 AND used_at IS NULL");
    run(tx, gone.bind(person.as_str())).await
}

async fn remove_recovery_codes(
    tx: &mut Transaction,
    person: &PersonId,
) -> Result<(), StorageError> {
    let gone = sql("DELETE FROM recovery_codes WHERE person_id = $1");
    run(tx, gone.bind(person.as_str())).await
}

async fn begin(
    tx: &mut Transaction,
    session: &SessionRecord,
    hash: &KeyHash,
    idle_since: UnixMillis,
) -> Result<(), StorageError> {
    let over = sql("DELETE FROM person_sessions WHERE expires_at <= $1 OR seen_at <= $2")
        .bind(session.created_at)
        .bind(idle_since);
    run(tx, over).await?;
    let oldest = sql("DELETE FROM person_sessions WHERE person_id = $1 AND id NOT IN \
                      (SELECT id FROM person_sessions WHERE person_id = $1 \
                      ORDER BY seen_at DESC, id LIMIT $2)")
    .bind(session.person_id.as_str())
    .bind(MOST_SESSIONS - 1);
    run(tx, oldest).await?;
    const TABLE: (&str, &[&str]) = (
        "person_sessions",
        &["id", "hash", "person_id", "created_at", "seen_at", "expires_at", "address", "browser"],
    );
    let row = vec![
        (&session.id).into(),
        hash.to_hex().into(),
        session.person_id.as_str().into(),
        session.created_at.into(),
        session.seen_at.into(),
        session.expires_at.into(),
        (&session.address).into(),
        (&session.browser).into(),
    ];
    insert_one(tx, TABLE, row).await.map_err(StorageError::database(DOING))
}

async fn run(tx: &mut Transaction, statement: Statement) -> Result<(), StorageError> {
    statement.execute(tx).await.map(drop).map_err(StorageError::database(DOING))
}

async fn changes_one(tx: &mut Transaction, statement: Statement) -> Result<(), StorageError> {
    match statement.execute(tx).await.map_err(StorageError::database(DOING))? {
        0 => Err(StorageError::ChangedMeanwhile),
        _ => Ok(()),
    }
}

async fn a_row(tx: &mut Transaction, statement: Statement) -> Result<(), StorageError> {
    let found = statement.fetch_optional(tx).await.map_err(StorageError::database(DOING))?;
    found.map(drop).ok_or(StorageError::ChangedMeanwhile)
}

async fn no_row(tx: &mut Transaction, statement: Statement) -> Result<(), StorageError> {
    match statement.fetch_optional(tx).await.map_err(StorageError::database(DOING))? {
        None => Ok(()),
        Some(_) => Err(StorageError::ChangedMeanwhile),
    }
}
