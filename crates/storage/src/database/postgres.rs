//! What only PostgreSQL needs: its address, its settings, its transactions, and what its refusals
//! mean.

use std::fmt;
use std::io::{self, ErrorKind};
use std::str::FromStr as _;
use std::time::Duration;

use futures_util::{Stream, TryStreamExt as _};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Postgres, Row as _};
use tokio::time::timeout;

use super::readers::LIMIT as READING;
use crate::error::StorageError;

/// Connections of one process. The hot path needs none of them.
const CONNECTIONS: u32 = 5;
/// Connections of one process for people who look at something.
const READERS: u32 = 3;
/// How long a connection may take: what is slower counts as away.
const PATIENCE: Duration = Duration::from_secs(5);
/// Those who write take this lock first, as SQLite's writers take the file's. The number is
/// arbitrary, and the same in every version.
const WRITERS: i64 = 0x5175_1ce0_0000_0001;

/// How long the server may be silent while it runs a statement: what is more silent counts as away.
/// More than `lock_timeout`, so that a server that works answers first.
pub(super) const SILENCE: Duration = Duration::from_secs(30);
/// How long it may take to answer what costs it nothing.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);

/// What each connection sets. A writer that hangs, or whose machine is gone, must not hold up the
/// others for ever, and neither must a statement that nobody waits for any more. A commit is on disk
/// when it is answered, whatever the server's default is: the journal forgets what was committed.
const SETTINGS: &str = "SET lock_timeout = '10s'; SET statement_timeout = '5min'; \
                        SET idle_in_transaction_session_timeout = '60s'; \
                        SELECT set_config('synchronous_commit', 'on', false) \
                        WHERE current_setting('synchronous_commit') = 'off'";

/// Whether a connection is outside any transaction: there, a statement's own begins with it. The
/// driver does not know of one whose beginning nobody waited for, and would hand its connection on:
/// what others write there would never be committed.
const OUTSIDE: &str = "SELECT now() = statement_timestamp()";

/// Asks a connection that comes back whether it can be handed on.
async fn is_outside(connection: &mut PgConnection, limit: Duration) -> Result<bool, sqlx::Error> {
    answer(Some(limit), sqlx::raw_sql(OUTSIDE).fetch_one(connection)).await?.try_get(0)
}

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
    pub(crate) async fn connect(&self) -> Result<PgConnection, StorageError> {
        let connecting = self.options.connect();
        match timeout(PATIENCE, connecting).await {
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
                    sqlx::raw_sql(SETTINGS).execute(connection).await?;
                    Ok(())
                })
            })
            .after_release(|connection, _| {
                // The driver asks the server, too, before it takes a connection back, but without
                // a limit. After an error, it closes the connection without asking.
                Box::pin(is_outside(connection, ANSWER))
            })
            .connect_with(self.options.clone())
            .await
            .map_err(|source| self.explain(source))?;
        let encoding = sqlx::query_scalar("SHOW server_encoding").fetch_one(&pool);
        let encoding: String =
            answer(Some(ANSWER), encoding).await.map_err(|source| self.explain(source))?;
        if encoding != "UTF8" {
            pool.close().await;
            return Err(StorageError::Encoding { server: self.server.clone(), encoding });
        }
        Ok(pool)
    }

    /// Connections that only read, whose statements have their time. Compiling a statement, which a
    /// server may do by itself, takes longer than most of them.
    pub(super) fn readers(&self) -> PgPool {
        let settings = format!(
            "SET statement_timeout = '{}s'; SET default_transaction_read_only = on; \
             SET idle_in_transaction_session_timeout = '60s'; SET jit = off",
            READING.as_secs()
        );
        PgPoolOptions::new()
            .max_connections(READERS)
            .idle_timeout(Duration::from_secs(60))
            .acquire_timeout(PATIENCE + READING)
            .after_connect(move |connection, _| {
                let settings = sqlx::AssertSqlSafe(settings.clone());
                Box::pin(async move {
                    sqlx::raw_sql(settings).execute(connection).await?;
                    Ok(())
                })
            })
            .after_release(|connection, _| {
                // A statement that nobody waits for any more may still run.
                Box::pin(is_outside(connection, ANSWER + READING))
            })
            .connect_lazy_with(self.options.clone())
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

/// Waits for the server's answer, at most for `limit` where there is one. A server that stays silent
/// is away; the connection is closed once it is given back to the pool.
pub(crate) async fn answer<T>(
    limit: Option<Duration>,
    asked: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let Some(limit) = limit else { return asked.await };
    timeout(limit, asked).await.unwrap_or_else(|_| {
        let silent = format!("the server has not answered for {} seconds", limit.as_secs());
        Err(sqlx::Error::Io(io::Error::new(ErrorKind::TimedOut, silent)))
    })
}

/// All rows of an answer. The limit is for each row.
pub(super) async fn all<R>(
    limit: Option<Duration>,
    mut rows: impl Stream<Item = Result<R, sqlx::Error>> + Unpin,
) -> Result<Vec<R>, sqlx::Error> {
    let mut all = Vec::new();
    while let Some(row) = answer(limit, rows.try_next()).await? {
        all.push(row);
    }
    Ok(all)
}

/// A transaction, and how long the server may be silent in it.
#[derive(Debug)]
pub(crate) struct Tx {
    inner: sqlx::Transaction<'static, Postgres>,
    limit: Option<Duration>,
}

impl Tx {
    /// Begins one that writes. Writers wait for each other, as SQLite's do. What it reads after the
    /// lock is what the writer before it has left, whatever isolation is the server's default.
    pub(super) async fn write(pool: &PgPool) -> Result<Self, sqlx::Error> {
        let mut tx = Self::begin(pool, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE").await?;
        let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(WRITERS);
        answer(tx.limit, lock.execute(&mut *tx.inner)).await?;
        Ok(tx)
    }

    /// Begins one that sees one state. It holds nobody up, however long it takes.
    pub(super) async fn read(pool: &PgPool) -> Result<Self, sqlx::Error> {
        let mut tx = Self::begin(pool, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        tx.lift_bounds().await?;
        Ok(tx)
    }

    async fn begin(pool: &PgPool, statement: &'static str) -> Result<Self, sqlx::Error> {
        let inner = answer(Some(SILENCE), pool.begin_with(statement)).await?;
        Ok(Self { inner, limit: Some(SILENCE) })
    }

    /// Takes the server's bounds of time off a transaction that holds nobody up: one that only reads,
    /// or that fills a database which nobody uses yet.
    async fn lift_bounds(&mut self) -> Result<(), sqlx::Error> {
        let lift = "SET LOCAL idle_in_transaction_session_timeout = 0; \
                    SET LOCAL statement_timeout = 0";
        answer(self.limit, sqlx::raw_sql(lift).execute(&mut *self.inner)).await.map(drop)
    }

    pub(super) async fn may_take_long(&mut self) -> Result<(), sqlx::Error> {
        self.lift_bounds().await?;
        self.limit = None;
        Ok(())
    }

    /// The connection that it runs on, and how long the server may be silent.
    pub(super) fn parts(&mut self) -> (&mut PgConnection, Option<Duration>) {
        (&mut self.inner, self.limit)
    }

    pub(super) async fn commit(self) -> Result<(), sqlx::Error> {
        answer(self.limit, self.inner.commit()).await
    }

    pub(super) async fn rollback(self) -> Result<(), sqlx::Error> {
        answer(Some(ANSWER), self.inner.rollback()).await
    }
}

/// The step of a schema that is written for both, as PostgreSQL takes it: text sorts by its bytes,
/// as in SQLite, whatever language the database is in, and no table is its primary key's index.
pub(crate) fn translate(step: &str) -> String {
    step.replace(" TEXT", " TEXT COLLATE \"C\"").replace(" WITHOUT ROWID", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Database, sql};

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

    /// A database on the shared server, and its connections.
    async fn opened() -> Option<(sluice_testpostgres::Database, Database)> {
        let server = sluice_testpostgres::Database::create()?;
        let database =
            Database::open_server(&PostgresUrl::parse(&server.url()).unwrap()).await.unwrap();
        Some((server, database))
    }

    /// A statement that is not answered as long as anybody looks.
    const ENDLESS: &str = "SELECT pg_sleep(3600)";

    #[tokio::test]
    async fn a_server_that_falls_silent_is_away_and_takes_no_connection_with_it() {
        let Some((server, database)) = opened().await else { return };
        let server = std::sync::Arc::new(server);
        let running = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND query LIKE '{ENDLESS}'",
            server.name()
        );
        let running = async || {
            let (server, running) = (server.clone(), running.clone());
            tokio::task::spawn_blocking(move || server.run(&running).unwrap()).await.unwrap()
        };
        // Twice as many as there are connections.
        for number in 1..=2 * CONNECTIONS {
            let on = database.clone();
            let asked = tokio::spawn(async move { sql(ENDLESS).execute(&on).await });
            while running().await != number.to_string() {
                assert!(!asked.is_finished(), "{:?}", asked.await);
            }
            tokio::time::pause();
            let error = asked.await.unwrap().unwrap_err();
            assert!(is_away(&error) && error.to_string().contains("30 seconds"), "{error}");
            let Database::Postgres(pool) = &database else { panic!("{database:?}") };
            while pool.size() as usize > pool.num_idle() {
                tokio::time::advance(ANSWER).await;
            }
            tokio::time::resume();
        }
        sql("SELECT 1").execute(&database).await.unwrap();
    }

    #[tokio::test]
    async fn a_transaction_on_a_server_that_falls_silent_ends() {
        let Some((_server, database)) = opened().await else { return };
        for write in [true, false] {
            let mut tx = match write {
                true => database.begin_write("test").await.unwrap(),
                false => database.begin_read("test").await.unwrap(),
            };
            tokio::time::pause();
            let error = sql(ENDLESS).fetch_all(&mut tx).await.map(drop).unwrap_err();
            assert!(is_away(&error), "{error}");
            let ended = if write { tx.commit("test").await } else { tx.rollback("test").await };
            assert!(ended.unwrap_err().is_away());
            tokio::time::resume();
        }
        let mut tx = database.begin_read("test").await.unwrap();
        sql("SELECT 1").execute(&mut tx).await.unwrap();
    }

    #[tokio::test]
    async fn durability_and_isolation_are_not_the_servers_defaults() {
        let Some(server) = sluice_testpostgres::Database::create() else { return };
        let (name, url) = (server.name(), PostgresUrl::parse(&server.url()).unwrap());
        for (default, value) in [
            ("synchronous_commit", "off"),
            ("default_transaction_isolation", "serializable"),
            ("default_transaction_read_only", "on"),
        ] {
            server.run_as_superuser(&format!("ALTER USER {name} SET {default} = '{value}'"));
        }
        let database = Database::open_server(&url).await.unwrap();
        let mut tx = database.begin_write("test").await.unwrap();
        for (setting, expected) in [
            ("synchronous_commit", "on"),
            ("transaction_isolation", "read committed"),
            ("transaction_read_only", "off"),
            ("statement_timeout", "5min"),
        ] {
            let row = sql(format!("SELECT current_setting('{setting}') AS found"));
            let row = row.fetch_one(&mut tx).await.unwrap();
            assert_eq!(row.string("found").unwrap(), expected, "{setting}");
        }
        drop(tx);
        // A stricter setting stays.
        server
            .run_as_superuser(&format!("ALTER USER {name} SET synchronous_commit = remote_apply"));
        let database = Database::open_server(&url).await.unwrap();
        let row = sql("SELECT current_setting('synchronous_commit') AS found");
        let row = row.fetch_one(&database).await.unwrap();
        assert_eq!(row.string("found").unwrap(), "remote_apply");
    }
}
