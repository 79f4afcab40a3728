//! How people sign in: passwords, one-time codes, sessions, links that work once.
//!
//! Here is read; [`steps`] writes. Nothing secret is kept as it is: see the migration.

mod steps;

pub use steps::{SignInDeed, SignInStep};
pub(crate) use steps::{end_sessions, remove_links};

use sluice_core::clock::UnixMillis;
use sluice_core::ids::PersonId;
use sluice_core::secret::Secret;

use crate::accounts::{self, AccountRecord};
use crate::database::{Row, Transaction, sql};
use crate::error::StorageError;
use crate::master_key::KeyHash;
use crate::open::Store;
use crate::organisation::{PersonRecord, Which, read_people, rows};

const DOING: &str = "read how people sign in";

/// What a person signs in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginRecord {
    /// The hash of their password, in the PHC format.
    pub password: Secret<String>,
    /// When they set it.
    pub password_set_at: UnixMillis,
    /// Their one-time codes, where they have set them up.
    pub codes: Option<CodesRecord>,
}

/// One-time codes that are set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodesRecord {
    /// The sealed secret.
    pub secret: String,
    /// When the first code was given.
    pub confirmed_at: UnixMillis,
    /// The last step whose code was used.
    pub last_step: Option<u64>,
}

/// A person as far as signing in depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Who.
    pub person: PersonRecord,
    /// Their account.
    pub account: AccountRecord,
    /// What they sign in with; nothing until they have set a password.
    pub login: Option<LoginRecord>,
}

impl Member {
    /// Whether neither they nor their account are suspended or removed.
    pub fn is_active(&self) -> bool {
        self.person.life.is_active() && self.account.suspended.is_none()
    }
}

/// A person who is signed in somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its name for people, which opens nothing.
    pub id: String,
    /// Whose it is.
    pub person_id: PersonId,
    /// When it began.
    pub created_at: UnixMillis,
    /// When it was used last, to the minute.
    pub seen_at: UnixMillis,
    /// When it ends whatever happens.
    pub expires_at: UnixMillis,
    /// The address that it began from.
    pub address: Option<String>,
    /// What the browser called itself.
    pub browser: String,
}

/// What a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPurpose {
    /// The first owner of all.
    Welcome,
    /// Somebody's first password.
    Invite,
    /// A new password.
    Reset,
}

impl LinkPurpose {
    const ALL: [Self; 3] = [Self::Welcome, Self::Invite, Self::Reset];

    /// The word in the database and the audit trail.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Welcome => "welcome",
            Self::Invite => "invite",
            Self::Reset => "reset",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

/// A link that works once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRecord {
    /// What its token hashes to.
    pub hash: KeyHash,
    /// Whose it is; nobody's where it welcomes the first owner.
    pub person_id: Option<PersonId>,
    /// What it is for.
    pub purpose: LinkPurpose,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When it ends.
    pub expires_at: UnixMillis,
    /// When it was used.
    pub used_at: Option<UnixMillis>,
}

impl LinkRecord {
    /// Whether it can be used.
    pub fn is_open_at(&self, now: UnixMillis) -> bool {
        self.used_at.is_none() && now < self.expires_at
    }
}

impl Store {
    /// Whether there is any person who was not removed.
    pub async fn has_people(&self) -> Result<bool, StorageError> {
        let found = sql("SELECT id FROM people WHERE removed_at IS NULL LIMIT 1")
            .fetch_optional(self.database())
            .await;
        Ok(found.map_err(StorageError::database(DOING))?.is_some())
    }

    /// Everybody of this e-mail address who was not removed, the oldest first: an address is unique
    /// in an account, and there may be several accounts.
    pub async fn members_of_email(&self, email: &str) -> Result<Vec<Member>, StorageError> {
        let mut tx = self.begin_read(DOING).await?;
        let found = sql("SELECT id FROM people WHERE email = $1 AND removed_at IS NULL \
                         ORDER BY created_at, id")
        .bind(email)
        .fetch_all(&mut tx)
        .await
        .map_err(StorageError::database(DOING))?;
        let mut members = Vec::with_capacity(found.len());
        for row in &found {
            members.extend(read_member(&mut tx, &row.text("id")?).await?);
        }
        Ok(members)
    }

    /// How many people there are of the e-mail address that has the most, without those who were
    /// removed.
    pub async fn most_namesakes(&self) -> Result<usize, StorageError> {
        let row = sql("SELECT COUNT(*) AS many FROM people WHERE removed_at IS NULL \
                       GROUP BY email ORDER BY COUNT(*) DESC LIMIT 1")
        .fetch_optional(self.database())
        .await
        .map_err(StorageError::database(DOING))?;
        let many = row.map_or(Ok(0), |row| row.count("many"))?;
        Ok(usize::try_from(many).unwrap_or(usize::MAX))
    }

    /// The addresses of the sessions of everybody with this e-mail address, each once.
    pub async fn session_addresses(&self, email: &str) -> Result<Vec<String>, StorageError> {
        let rows = sql("SELECT DISTINCT person_sessions.address AS address FROM person_sessions \
                        JOIN people ON people.id = person_sessions.person_id \
                        WHERE people.email = $1 AND people.removed_at IS NULL \
                        AND person_sessions.address IS NOT NULL")
        .bind(email)
        .fetch_all(self.database())
        .await
        .map_err(StorageError::database(DOING))?;
        rows.iter().map(|row| row.string("address")).collect()
    }

    /// A person, also one who was removed.
    pub async fn member(&self, id: &PersonId) -> Result<Option<Member>, StorageError> {
        read_member(&mut self.begin_read(DOING).await?, id).await
    }

    /// The session that a secret with this hash opens, and whose it is. Whether it is over is for
    /// the caller to say.
    pub async fn session_of_hash(
        &self,
        hash: &KeyHash,
    ) -> Result<Option<(SessionRecord, Member)>, StorageError> {
        let mut tx = self.begin_read(DOING).await?;
        let row = sql("SELECT * FROM person_sessions WHERE hash = $1")
            .bind(hash.to_hex())
            .fetch_optional(&mut tx)
            .await
            .map_err(StorageError::database(DOING))?;
        let Some(session) = row.as_ref().map(read_session).transpose()? else { return Ok(None) };
        let member = read_member(&mut tx, &session.person_id).await?;
        Ok(member.map(|member| (session, member)))
    }

    /// The sessions of a person, the last one used first. Which of them are over is for the caller to
    /// say.
    pub async fn sessions_of(&self, person: &PersonId) -> Result<Vec<SessionRecord>, StorageError> {
        let rows = sql("SELECT * FROM person_sessions WHERE person_id = $1 \
                        ORDER BY seen_at DESC, created_at DESC, id")
        .bind(person.as_str())
        .fetch_all(self.database())
        .await
        .map_err(StorageError::database(DOING))?;
        rows.iter().map(read_session).collect()
    }

    /// Notes that a session was used.
    pub async fn note_seen(&self, session: &str, now: UnixMillis) -> Result<(), StorageError> {
        sql("UPDATE person_sessions SET seen_at = $2 WHERE id = $1 AND seen_at < $2")
            .bind(session)
            .bind(now)
            .execute(self.database())
            .await
            .map(drop)
            .map_err(StorageError::database("note that a session was used"))
    }

    /// Forgets sessions that were used at `idle_since` or before, those that began at `begun_since`
    /// or before, and links that ended: nobody can use any of them any more.
    pub async fn forget_ended_sign_ins(
        &self,
        now: UnixMillis,
        idle_since: UnixMillis,
        begun_since: UnixMillis,
    ) -> Result<(), StorageError> {
        const DOING: &str = "forget sessions and links that ended";
        let sessions = sql("DELETE FROM person_sessions \
                            WHERE expires_at <= $1 OR seen_at <= $2 OR created_at <= $3")
        .bind(now)
        .bind(idle_since)
        .bind(begun_since);
        let links = sql("DELETE FROM invitations WHERE expires_at <= $1").bind(now);
        for ended in [sessions, links] {
            ended.execute(self.database()).await.map_err(StorageError::database(DOING))?;
        }
        Ok(())
    }

    /// The link whose token has this hash.
    pub async fn link_of_hash(&self, hash: &KeyHash) -> Result<Option<LinkRecord>, StorageError> {
        let row = sql("SELECT * FROM invitations WHERE hash = $1")
            .bind(hash.to_hex())
            .fetch_optional(self.database())
            .await
            .map_err(StorageError::database(DOING))?;
        row.as_ref().map(read_link).transpose()
    }

    /// How many recovery codes a person has left.
    pub async fn recovery_codes_left(&self, person: &PersonId) -> Result<u64, StorageError> {
        sql("SELECT COUNT(*) AS many FROM recovery_codes WHERE person_id = $1 AND used_at IS NULL")
            .bind(person.as_str())
            .fetch_one(self.database())
            .await
            .map_err(StorageError::database(DOING))?
            .count("many")
    }
}

async fn read_member(tx: &mut Transaction, id: &PersonId) -> Result<Option<Member>, StorageError> {
    // The same reads whether there is somebody or not.
    let person = read_people(tx, Which::Id(id.as_str()), DOING).await?.into_values().next();
    let login = sql("SELECT * FROM person_logins WHERE person_id = $1")
        .bind(id.as_str())
        .fetch_optional(&mut *tx)
        .await
        .map_err(StorageError::database(DOING))?;
    let account = person.as_ref().map_or("", |person| person.account_id.as_str());
    let account = rows(tx, "accounts", Which::Id(account), DOING).await?.pop();
    let (Some(person), Some(account)) = (person, account) else { return Ok(None) };
    let login = login.as_ref().map(read_login).transpose()?;
    Ok(Some(Member { person, account: accounts::read(&account)?, login }))
}

fn read_login(row: &Row) -> Result<LoginRecord, StorageError> {
    let codes = match (row.string_opt("codes_secret")?, row.moment_opt("codes_confirmed_at")?) {
        (Some(secret), Some(confirmed_at)) => {
            let last_step = row.count_opt("codes_last_step")?;
            Some(CodesRecord { secret, confirmed_at, last_step })
        }
        _ => None,
    };
    Ok(LoginRecord {
        password: Secret::new(row.string("password")?),
        password_set_at: row.moment("password_set_at")?,
        codes,
    })
}

fn read_session(row: &Row) -> Result<SessionRecord, StorageError> {
    Ok(SessionRecord {
        id: row.string("id")?,
        person_id: row.text("person_id")?,
        created_at: row.moment("created_at")?,
        seen_at: row.moment("seen_at")?,
        expires_at: row.moment("expires_at")?,
        address: row.string_opt("address")?,
        browser: row.string("browser")?,
    })
}

fn read_link(row: &Row) -> Result<LinkRecord, StorageError> {
    Ok(LinkRecord {
        hash: KeyHash::from_hex(&row.string("hash")?)
            .ok_or_else(|| StorageError::Unreadable { column: "hash", value: "***".to_owned() })?,
        person_id: row.text_opt("person_id")?,
        purpose: row.word("purpose", LinkPurpose::parse)?,
        created_at: row.moment("created_at")?,
        expires_at: row.moment("expires_at")?,
        used_at: row.moment_opt("used_at")?,
    })
}
