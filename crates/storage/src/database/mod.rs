//! The two databases behind one face: the only code that names a driver.
//!
//! Statements are the same text for SQLite and PostgreSQL, with `$1` for their values. A value is
//! one of a few types that both know, and a column is read by its name. What really differs is in
//! `sqlite` and `postgres`.

mod bulk;
mod postgres;
mod readers;
mod row;
mod sqlite;
mod statement;
mod value;

use std::path::Path;

use sqlx::Sqlite;
use sqlx::postgres::PgPool;
use sqlx::sqlite::{SqliteJournalMode, SqlitePool};

use crate::error::StorageError;

pub(crate) use bulk::{add_saturating, add_up_to, in_sizes, insert_many, insert_one, update_one};
pub(crate) use postgres::{ANSWER, PostgresUrl, answer, is_away, translate};
pub(crate) use readers::Readers;
pub(crate) use row::{Kind, Row};
pub(crate) use sqlite::{DATABASE_FILE, check_integrity};
pub(crate) use statement::{Statement, sql};
pub(crate) use value::Value;

/// The connections to a database. Cloning it is cheap and shares them.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    /// A file in the data folder.
    Sqlite(SqlitePool),
    /// A server.
    Postgres(PgPool),
}

/// Several statements that count as one. Dropped without a commit, none of them happened.
#[derive(Debug)]
pub(crate) enum Transaction {
    Sqlite(sqlx::Transaction<'static, Sqlite>),
    Postgres(postgres::Tx),
}

/// Where a statement runs.
pub(crate) enum Target<'c> {
    Database(&'c Database),
    Transaction(&'c mut Transaction),
}

impl<'c> From<&'c Database> for Target<'c> {
    fn from(database: &'c Database) -> Self {
        Self::Database(database)
    }
}

impl<'c> From<&'c mut Transaction> for Target<'c> {
    fn from(transaction: &'c mut Transaction) -> Self {
        Self::Transaction(transaction)
    }
}

/// Whether there is anything of ours in a database.
pub(crate) async fn has_schema<'c>(on: impl Into<Target<'c>>) -> Result<bool, StorageError> {
    let target = on.into();
    let text = match &target {
        Target::Database(Database::Sqlite(_)) | Target::Transaction(Transaction::Sqlite(_)) => {
            "SELECT COUNT(*) > 0 AS found FROM sqlite_master WHERE name = 'schema_version'"
        }
        Target::Database(Database::Postgres(_)) | Target::Transaction(Transaction::Postgres(_)) => {
            "SELECT to_regclass('schema_version') IS NOT NULL AS found"
        }
    };
    let found = sql(text).fetch_one(target).await;
    found.map_err(StorageError::database("look for tables"))?.flag("found")
}

impl Database {
    /// Opens a database's file, and makes it where it is missing.
    pub(crate) async fn open_file(path: &Path) -> Result<Self, StorageError> {
        sqlite::open(path, SqliteJournalMode::Wal).await.map(Self::Sqlite)
    }

    /// Makes a database's file that gets its name later. It is whole by itself: nothing of it waits
    /// in a write-ahead log, which would not be renamed with it.
    pub(crate) async fn open_draft(path: &Path) -> Result<Self, StorageError> {
        sqlite::open(path, SqliteJournalMode::Delete).await.map(Self::Sqlite)
    }

    /// Makes an empty database in memory.
    pub(crate) async fn in_memory() -> Result<Self, StorageError> {
        sqlite::in_memory().await.map(Self::Sqlite)
    }

    /// Opens a server's database.
    pub(crate) async fn open_server(url: &PostgresUrl) -> Result<Self, StorageError> {
        Box::pin(url.open()).await.map(Self::Postgres)
    }

    /// A transaction that is going to write. No other one writes until it ends, in this process or
    /// another: what it reads is still true when it writes.
    pub(crate) async fn begin_write(
        &self,
        doing: &'static str,
    ) -> Result<Transaction, StorageError> {
        let begun = match self {
            Self::Sqlite(pool) => sqlite::begin_write(pool).await.map(Transaction::Sqlite),
            Self::Postgres(pool) => postgres::Tx::write(pool).await.map(Transaction::Postgres),
        };
        begun.map_err(StorageError::database(doing))
    }

    /// A transaction that sees one state of the database throughout.
    pub(crate) async fn begin_read(
        &self,
        doing: &'static str,
    ) -> Result<Transaction, StorageError> {
        let begun = match self {
            Self::Sqlite(pool) => pool.begin().await.map(Transaction::Sqlite),
            Self::Postgres(pool) => postgres::Tx::read(pool).await.map(Transaction::Postgres),
        };
        begun.map_err(StorageError::database(doing))
    }

    /// Closes all connections.
    pub(crate) async fn close(&self) {
        match self {
            // This also folds the write-ahead log into the database's file.
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

impl Transaction {
    pub(crate) async fn commit(self, doing: &'static str) -> Result<(), StorageError> {
        let done = match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit().await,
        };
        done.map_err(StorageError::database(doing))
    }

    pub(crate) async fn rollback(self, doing: &'static str) -> Result<(), StorageError> {
        let done = match self {
            Self::Sqlite(tx) => tx.rollback().await,
            Self::Postgres(tx) => tx.rollback().await,
        };
        done.map_err(StorageError::database(doing))
    }

    /// Lets each statement, and whatever the transaction waits for in between, take as long as it
    /// takes. While it writes, that holds up other writers: it is for a database that nobody uses
    /// meanwhile.
    pub(crate) async fn may_take_long(&mut self) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(tx) => tx.may_take_long().await,
        }
    }

    /// Runs a text of several statements without values, such as a step of the schema.
    pub(crate) async fn run_script(&mut self, script: String) -> Result<(), sqlx::Error> {
        let script = sqlx::raw_sql(sqlx::AssertSqlSafe(script));
        match self {
            Self::Sqlite(tx) => script.execute(&mut **tx).await.map(drop),
            Self::Postgres(tx) => {
                let (connection, limit) = tx.parts();
                answer(limit, script.execute(connection)).await.map(drop)
            }
        }
    }

    /// Whether it is one of PostgreSQL.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }
}
