//! What only PostgreSQL needs: its address, its settings, and what its refusals mean.

use std::fmt;
use std::io::ErrorKind;
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Postgres};

use crate::error::StorageError;

/// Connections of one process. The hot path needs none of them.
const CONNECTIONS: u32 = 5;
/// How long a connection may take: what is slower counts as away.
const PATIENCE: Duration = Duration::from_secs(5);
/// Those who write take this lock first, as SQLite's writers take the file's. The number is
/// arbitrary, and the same in every version.
const WRITERS: i64 = 0x5175_1ce0_0000_0001;

/// A writer that hangs, or whose machine is gone, must not hold up the others for ever.
const BOUNDS: &str = "SET lock_timeout = '10s'; \
                      SET idle_in_transaction_session_timeout = '60s'";

/// Where a PostgreSQL server is, and how to sign in there. Never prints the password.
#[derive(Clone)]
pub(crate) struct PostgresUrl {
    options: PgConnectOptions,
    /// Host, port and database, for people.
    server: String,
}

impl PostgresUrl {
    /// Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`; an error says what is wrong
    /// with it, without the text itself.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let options = PgConnectOptions::from_str(text).map_err(|error| match error {
            sqlx::Error::Configuration(what) => what.to_string(),
            _ => "it is no address of a PostgreSQL server".to_owned(),
        })?;
        let host = match options.get_socket() {
            Some(folder) => folder.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        let database = options.get_database().unwrap_or_else(|| options.get_username());
        let server = format!("{host}/{database}");
        let options = options
            .application_name("sluice")
            .statement_cache_capacity(64)
            .disable_statement_logging();
        Ok(Self { options, server })
    }

    /// Host, port and database.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// A connection of its own, which ends with the value that holds it.
    pub(crate) async fn connect(&self) -> Result<sqlx::PgConnection, StorageError> {
        let connecting = self.options.connect();
        match tokio::time::timeout(PATIENCE, connecting).await {
            Ok(connected) => connected.map_err(|source| self.explain(source)),
            Err(_) => Err(self.explain(sqlx::Error::PoolTimedOut)),
        }
    }

    /// Opens the database, which has to be there.
    pub(super) async fn open(&self) -> Result<PgPool, StorageError> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .idle_timeout(Duration::from_secs(300))
            .acquire_timeout(PATIENCE)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    sqlx::raw_sql(BOUNDS).execute(connection).await?;
                    Ok(())
                })
            })
            .connect_with(self.options.clone())
            .await
            .map_err(|source| self.explain(source))?;
        let encoding: String = sqlx::query_scalar("SHOW server_encoding")
            .fetch_one(&pool)
            .await
            .map_err(|source| self.explain(source))?;
        if encoding != "UTF8" {
            pool.close().await;
            return Err(StorageError::Encoding { server: self.server.clone(), encoding });
        }
        Ok(pool)
    }

    /// What an error while connecting means.
    fn explain(&self, source: sqlx::Error) -> StorageError {
        let server = self.server.clone();
        let code = source.as_database_error().and_then(|error| error.code()).unwrap_or_default();
        if is_away(&source) {
            return StorageError::Away { server, source };
        }
        let fix = match (&source, &*code) {
            (sqlx::Error::Tls(_), _) | (sqlx::Error::Io(_), _) => {
                "check the server's certificate: with `sslmode=verify-full`, its name must be the \
                 host's, and its authority must be known to the system or named by `sslrootcert`"
            }
            (_, "28P01" | "28000") => "check the user and the password in storage.url",
            (_, "3D000") => {
                "create it with `CREATE DATABASE … ENCODING 'UTF8'`, or set storage.url"
            }
            (_, "42501") => "give its user the right to connect to this database",
            _ => "check storage.url",
        };
        StorageError::Refused { server, source, fix }
    }
}

/// Whether a server is away that may be there a little later.
pub(crate) fn is_away(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::PoolTimedOut => true,
        // A certificate that does not hold comes as an error of this kind.
        sqlx::Error::Io(error) => error.kind() != ErrorKind::InvalidData,
        // It starts, stops, recovers, or has no connection left.
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            matches!(&*code, "57P01" | "57P02" | "57P03" | "53300") || code.starts_with("08")
        }
        _ => false,
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.server)
    }
}

/// Writers wait for each other, as SQLite's do.
pub(super) async fn begin_write(
    pool: &PgPool,
) -> Result<sqlx::Transaction<'static, Postgres>, sqlx::Error> {
    let mut tx = pool.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(WRITERS).execute(&mut *tx).await?;
    Ok(tx)
}

pub(super) async fn begin_read(
    pool: &PgPool,
) -> Result<sqlx::Transaction<'static, Postgres>, sqlx::Error> {
    let mut tx = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    may_idle(&mut tx).await?;
    Ok(tx)
}

/// Takes the bound of idle time off a transaction that holds nobody up: one that only reads, or that
/// fills a database which nobody uses yet.
pub(super) async fn may_idle(tx: &mut sqlx::PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query("SET LOCAL idle_in_transaction_session_timeout = 0").execute(tx).await?;
    Ok(())
}

/// The step of a schema that is written for both, as PostgreSQL takes it: text sorts by its bytes,
/// as in SQLite, whatever language the database is in.
pub(crate) fn translate(step: &str) -> String {
    step.replace(" TEXT", " TEXT COLLATE \"C\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_without_its_password() {
        let url = PostgresUrl::parse("postgres://me:s3cret@db.example:5433/gate?sslmode=require");
        let url = url.unwrap();
        assert_eq!(url.server(), "db.example:5433/gate");
        assert_eq!(format!("{url:?}"), "db.example:5433/gate");
        for wrong in ["postgres://me:s3cret@host:port/x", "postgres://me:s3cret@h/x?sslmode=maybe"]
        {
            let error = PostgresUrl::parse(wrong).unwrap_err();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
