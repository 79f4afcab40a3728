//! The two databases behind one face: the only code that names a driver.
//!
//! Statements are the same text for SQLite and PostgreSQL, with `$1` for their values. A value is
//! one of a few types that both know, and a column is read by its name. What really differs is in
//! `sqlite` and `postgres`.

mod bulk;
mod postgres;
mod row;
mod sqlite;
mod statement;
mod value;

use std::path::Path;

use sqlx::postgres::PgPool;
use sqlx::sqlite::SqlitePool;
use sqlx::{Postgres, Sqlite};

use crate::error::StorageError;

pub(crate) use bulk::{add_saturating, in_sizes, insert_many, insert_one, update_one};
pub(crate) use postgres::{PostgresUrl, is_away, translate};
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
    Postgres(sqlx::Transaction<'static, Postgres>),
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

impl Database {
    /// Opens a database's file, and makes it where it is missing.
    pub(crate) async fn open_file(path: &Path) -> Result<Self, StorageError> {
        sqlite::open(path).await.map(Self::Sqlite)
    }

    /// Makes an empty database in memory.
    pub(crate) async fn in_memory() -> Result<Self, StorageError> {
        sqlite::in_memory().await.map(Self::Sqlite)
    }

    /// Whether there is anything of ours in it.
    pub(crate) async fn has_schema(&self) -> Result<bool, StorageError> {
        let text = match self {
            Self::Sqlite(_) => {
                "SELECT COUNT(*) > 0 AS found FROM sqlite_master WHERE name = 'schema_version'"
            }
            Self::Postgres(_) => "SELECT to_regclass('schema_version') IS NOT NULL AS found",
        };
        let found = sql(text).fetch_one(self).await;
        found.map_err(StorageError::database("look for tables"))?.flag("found")
    }

    /// Opens a server's database.
    pub(crate) async fn open_server(url: &PostgresUrl) -> Result<Self, StorageError> {
        url.open().await.map(Self::Postgres)
    }

    /// A transaction that is going to write. No other one writes until it ends, in this process or
    /// another: what it reads is still true when it writes.
    pub(crate) async fn begin_write(
        &self,
        doing: &'static str,
    ) -> Result<Transaction, StorageError> {
        let begun = match self {
            Self::Sqlite(pool) => sqlite::begin_write(pool).await.map(Transaction::Sqlite),
            Self::Postgres(pool) => postgres::begin_write(pool).await.map(Transaction::Postgres),
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
            Self::Postgres(pool) => postgres::begin_read(pool).await.map(Transaction::Postgres),
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

    /// Lets it wait for something else as long as it takes, which would hold up other writers.
    pub(crate) async fn may_idle(&mut self) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(tx) => postgres::may_idle(tx).await,
        }
    }

    /// Runs a text of several statements without values, such as a step of the schema.
    pub(crate) async fn run_script(&mut self, script: String) -> Result<(), sqlx::Error> {
        let script = sqlx::raw_sql(sqlx::AssertSqlSafe(script));
        match self {
            Self::Sqlite(tx) => script.execute(&mut **tx).await.map(drop),
            Self::Postgres(tx) => script.execute(&mut **tx).await.map(drop),
        }
    }

    /// Whether it is one of PostgreSQL.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }
}
