//! Counters of the limits' windows, so that a restart forgets none.
//!
//! A server counts in memory. What it counted is in the journal too, and the ingester adds it up
//! here; a start ingests the rest of the journal first and then reads the windows that are open.
//! Windows are aligned: an hour begins at its full hour and a day at midnight, both in UTC.

use std::collections::BTreeMap;

use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, KeyId};

use crate::database::{Transaction, add_saturating, insert_many, sql};
use crate::error::StorageError;
use crate::open::Store;

/// Seconds in an hour: the window of requests.
pub const HOUR_SECONDS: u64 = 3600;
/// Seconds in a day: the window of tokens.
pub const DAY_SECONDS: u64 = 86_400;

/// The second since the Unix epoch at which the window around `at` began.
pub fn window_start(at: UnixMillis, window_seconds: u64) -> u64 {
    let seconds = at.seconds();
    seconds - seconds % window_seconds.max(1)
}

/// Whose window it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowSubject {
    /// One key's.
    Key(KeyId),
    /// All keys' of an account together.
    Account(AccountId),
}

impl WindowSubject {
    fn to_text(&self) -> String {
        match self {
            Self::Key(id) => format!("key:{id}"),
            Self::Account(id) => format!("account:{id}"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            ("key", id) => Some(Self::Key(id.into())),
            ("account", id) => Some(Self::Account(id.into())),
            _ => None,
        }
    }
}

/// What a window counts, and so how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowKind {
    /// Requests of an hour.
    Requests,
    /// Tokens of a day.
    Tokens,
}

impl WindowKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Tokens => "tokens",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Requests, Self::Tokens].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// What a window holds so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowCount {
    /// Whose.
    pub subject: WindowSubject,
    /// Of what.
    pub kind: WindowKind,
    /// When the window began, in seconds since the Unix epoch.
    pub window_start: u64,
    /// Requests or tokens.
    pub amount: u64,
}

impl Store {
    /// The windows that began at `start` (seconds since the Unix epoch) or later.
    pub async fn windows_since(&self, start: u64) -> Result<Vec<WindowCount>, StorageError> {
        sql("SELECT * FROM limit_windows WHERE window_start >= $1")
            .bind(start)
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database("read the limits' windows"))?
            .iter()
            .map(|row| {
                Ok(WindowCount {
                    subject: row.word("subject", WindowSubject::parse)?,
                    kind: row.word("kind", WindowKind::parse)?,
                    window_start: row.count("window_start")?,
                    amount: row.count("amount")?,
                })
            })
            .collect()
    }

    /// Forgets the windows that began before `start`, and says how many.
    pub async fn prune_windows(&self, start: u64) -> Result<u64, StorageError> {
        const DOING: &str = "delete old windows";
        let mut tx = self.begin_write(DOING).await?;
        let deleted = sql("DELETE FROM limit_windows WHERE window_start < $1")
            .bind(start)
            .execute(&mut tx)
            .await
            .map_err(StorageError::database(DOING))?;
        tx.commit(DOING).await?;
        Ok(deleted)
    }
}

/// What a batch of records adds to the windows.
#[derive(Debug, Default)]
pub(crate) struct WindowAdditions(BTreeMap<(WindowSubject, WindowKind, u64), u64>);

impl WindowAdditions {
    /// Counts requests and their tokens for the key and its account.
    pub(crate) fn count(
        &mut self,
        (key_id, account_id): (&KeyId, &AccountId),
        at: UnixMillis,
        requests: u64,
        tokens: u64,
    ) {
        let (hour, day) = (window_start(at, HOUR_SECONDS), window_start(at, DAY_SECONDS));
        let subjects =
            [WindowSubject::Key(key_id.clone()), WindowSubject::Account(account_id.clone())];
        for subject in subjects {
            self.add(subject.clone(), WindowKind::Requests, hour, requests);
            self.add(subject, WindowKind::Tokens, day, tokens);
        }
    }

    fn add(&mut self, subject: WindowSubject, kind: WindowKind, start: u64, amount: u64) {
        let counter = self.0.entry((subject, kind, start)).or_default();
        *counter = counter.saturating_add(amount);
    }

    /// Adds everything to the database.
    pub(crate) async fn store(&self, tx: &mut Transaction) -> Result<(), StorageError> {
        let conflict = format!(
            " ON CONFLICT (subject, kind, window_start) DO UPDATE SET {}",
            add_saturating("limit_windows", "amount")
        );
        let rows = self.0.iter().map(|((subject, kind, start), amount)| {
            vec![subject.to_text().into(), kind.as_str().into(), (*start).into(), (*amount).into()]
        });
        let table: (_, &[_]) = ("limit_windows", &["subject", "kind", "window_start", "amount"]);
        insert_many(tx, table, &conflict, rows.collect(), |_, _| {})
            .await
            .map_err(StorageError::database("add to the limits' windows"))
    }
}
