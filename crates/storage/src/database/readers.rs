//! Connections for people who look at something: apart from those that write, read-only, and each
//! statement has its time. Browsing holds up neither the ingester nor administration.
//!
//! Whoever leaves drops what they wait for. SQLite's statement is then interrupted. PostgreSQL works
//! on until its time is over, on a connection that nobody else waits for.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::PgPool;
use sqlx::sqlite::SqlitePool;

use super::{PostgresUrl, Row, Statement, sqlite};
use crate::error::StorageError;

/// How long a statement may take.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// The connections. Cloning it is cheap and shares them; none is made before it is needed.
#[derive(Debug, Clone)]
pub(crate) enum Readers {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Readers {
    /// Those of a database's file.
    pub(crate) fn of_file(path: &Path) -> Self {
        Self::Sqlite(sqlite::readers(path))
    }

    /// Those of a server's database.
    pub(crate) fn of_server(url: &PostgresUrl) -> Self {
        Self::Postgres(url.readers())
    }

    /// All rows that a statement finds.
    pub(crate) async fn fetch_all(
        &self,
        statement: Statement,
        doing: &'static str,
    ) -> Result<Vec<Row>, StorageError> {
        let found = match self {
            Self::Sqlite(pool) => interruptible(pool, statement).await,
            Self::Postgres(pool) => statement.fetch_all_from(pool).await,
        };
        found.map_err(|source| match is_over_time(&source) {
            true => StorageError::TookTooLong { doing, seconds: LIMIT.as_secs() },
            false => StorageError::Database { doing, source },
        })
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

/// Says that nobody waits any more, when it is dropped.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

async fn interruptible(pool: &SqlitePool, statement: Statement) -> Result<Vec<Row>, sqlx::Error> {
    /// So many steps of SQLite's machine go by between two looks: some ten microseconds.
    const STEPS: i32 = 1000;
    let mut connection = pool.acquire().await?;
    let waiting = Waiting(Arc::new(AtomicBool::new(true)));
    let (is_waited_for, until) = (waiting.0.clone(), Instant::now() + LIMIT);
    let mut handle = connection.lock_handle().await?;
    handle.set_progress_handler(STEPS, move || {
        // Whoever waits for this processor comes first: the system would let a statement go on for
        // milliseconds, while answers of the API take less.
        std::thread::yield_now();
        is_waited_for.load(Ordering::Relaxed) && Instant::now() < until
    });
    drop(handle);
    let rows = statement.fetch_all_on(&mut connection).await;
    drop(waiting);
    rows
}

/// Whether the database gave up a statement since its time was over.
fn is_over_time(error: &sqlx::Error) -> bool {
    /// SQLite's code of a statement that was interrupted, and PostgreSQL's of one that was cancelled.
    const INTERRUPTED: [&str; 2] = ["9", "57014"];
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| INTERRUPTED.contains(&&*code))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::super::sql;
    use crate::open::{Location, Store};

    async fn opened() -> Vec<(tempfile::TempDir, Option<sluice_testpostgres::Database>, Store)> {
        let mut all = Vec::new();
        for server in [Some(None), sluice_testpostgres::Database::create().map(Some)] {
            let Some(server) = server else { continue };
            let dir = tempfile::tempdir().unwrap();
            let url = server.as_ref().map(sluice_testpostgres::Database::url);
            let store = Store::open(Location::new(dir.path(), url.as_deref()).unwrap()).await;
            all.push((dir, server, store.unwrap()));
        }
        all
    }

    #[tokio::test]
    async fn readers_change_nothing() {
        for (_dir, _server, store) in opened().await {
            let write = sql("INSERT INTO meta (name, value) VALUES ('a', 'b')");
            let error = store.read(write, "test").await.map(drop).unwrap_err().to_string();
            assert!(error.contains("read"), "{error}");
            assert_eq!(store.read(sql("SELECT 1 AS one"), "test").await.unwrap().len(), 1);
        }
    }

    /// More of them than there are connections; each is dropped once it has begun, or before.
    #[tokio::test]
    async fn whoever_leaves_gives_the_connection_back() {
        for (_dir, server, store) in opened().await {
            let endless = match server {
                None => {
                    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                         SELECT COUNT(*) AS count FROM n"
                }
                Some(_) => "SELECT pg_sleep(2)",
            };
            for polls in 0..12 {
                let asked = store.read(sql(endless), "test");
                let mut asked = std::pin::pin!(asked);
                for _ in 0..polls {
                    assert!(asked.as_mut().now_or_never().is_none());
                    tokio::task::yield_now().await;
                }
            }
            assert_eq!(store.read(sql("SELECT 1 AS one"), "test").await.unwrap().len(), 1);
        }
    }
}
