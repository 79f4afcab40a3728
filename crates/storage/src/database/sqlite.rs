//! What only SQLite needs: its file, its settings, its check for damage.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _, Sqlite};
use tokio::time::sleep;

use crate::error::StorageError;

/// The database's file in the data folder.
pub(crate) const DATABASE_FILE: &str = "sluice.db";

/// How long a statement waits for what others have locked.
const BUSY: Duration = Duration::from_secs(10);
/// Pause between two tries to open a file that somebody else is making.
const RETRY: Duration = Duration::from_millis(20);

/// Opens the database's file, and makes it where it is missing. With [`SqliteJournalMode::Delete`],
/// all that was committed is in the file itself.
pub(super) async fn open(
    path: &Path,
    journal: SqliteJournalMode,
) -> Result<SqlitePool, StorageError> {
    create_private(path);
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(journal)
        // A power cut may take the last transactions, never the database's integrity. What the
        // ingester stored is still in the journal then; see `Store::sync_commits`.
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .statement_cache_capacity(32)
        // Negative: KiB. A connection keeps at most this much of the database in memory.
        .pragma("cache_size", "-512")
        .disable_statement_logging();
    let pool = SqlitePoolOptions::new()
        .max_connections(3)
        .idle_timeout(Duration::from_secs(60))
        .max_lifetime(None)
        .acquire_timeout(Duration::from_secs(15))
        .test_before_acquire(false)
        .after_release(|connection, _| {
            Box::pin(async move {
                // A transaction that was dropped is rolled back before this is answered. Where
                // SQLite has done so itself, as it does when the disk is full, the driver's
                // rollback fails and it counts the transaction as open for ever: no other
                // could begin on the connection, so it is closed.
                connection.ping().await?;
                Ok(!connection.is_in_transaction())
            })
        });
    let begun = Instant::now();
    loop {
        match pool.clone().connect_with(options.clone()).await {
            // While another process makes the file, SQLite refuses without waiting.
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY => sleep(RETRY).await,
            opened => {
                return opened
                    .map_err(|source| StorageError::Open { path: path.to_owned(), source });
            }
        }
    }
}

/// Connections that only read. They keep more of the database in memory than those that write, since
/// people look at much of it at once.
pub(super) fn readers(path: &Path) -> SqlitePool {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY)
        .statement_cache_capacity(32)
        .pragma("cache_size", "-8192")
        .pragma("temp_store", "memory")
        .pragma("query_only", "on")
        .disable_statement_logging();
    SqlitePoolOptions::new()
        .max_connections(2)
        .idle_timeout(Duration::from_secs(60))
        .max_lifetime(None)
        .acquire_timeout(Duration::from_secs(15))
        .test_before_acquire(false)
        .connect_lazy_with(options)
}

fn is_busy(error: &sqlx::Error) -> bool {
    /// SQLite's code of a file that somebody else has locked.
    const BUSY: &str = "5";
    error.as_database_error().and_then(|error| error.code()).as_deref() == Some(BUSY)
}

/// An empty database in memory. It has one connection, whose it is.
pub(super) async fn in_memory() -> Result<SqlitePool, StorageError> {
    SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(SqliteConnectOptions::new().in_memory(true).disable_statement_logging())
        .await
        .map_err(StorageError::database("make a database in memory"))
}

/// It takes the write lock at once: a transaction that reads first and writes later would fail
/// whenever another process wrote in between.
pub(super) async fn begin_write(
    pool: &SqlitePool,
) -> Result<sqlx::Transaction<'static, Sqlite>, sqlx::Error> {
    pool.begin_with("BEGIN IMMEDIATE").await
}

/// Looks for damage in the database's file, for at most `limit`. `false`: there was not enough
/// time for all of it, and nothing was found so far.
///
/// SQLite keeps no checksums: what is found are pages that do not fit together, not every
/// changed byte.
pub(crate) async fn check_integrity(
    pool: &SqlitePool,
    path: &Path,
    limit: Duration,
) -> Result<bool, StorageError> {
    const DOING: &str = "check the database's file";
    /// SQLite's code of a statement that was interrupted.
    const INTERRUPTED: &str = "9";
    let mut connection = pool.acquire().await.map_err(StorageError::database(DOING))?;
    let until = Instant::now() + limit;
    let mut handle = connection.lock_handle().await.map_err(StorageError::database(DOING))?;
    handle.set_progress_handler(1000, move || Instant::now() < until);
    drop(handle);
    let found: Result<Vec<String>, sqlx::Error> =
        sqlx::query_scalar("PRAGMA quick_check(3)").fetch_all(&mut *connection).await;
    let mut handle = connection.lock_handle().await.map_err(StorageError::database(DOING))?;
    handle.remove_progress_handler();
    drop(handle);
    let found = match found {
        Ok(lines) if lines == ["ok"] => return Ok(true),
        Ok(lines) => lines.join("; "),
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(INTERRUPTED) => {
            return Ok(false);
        }
        Err(error) => error.to_string(),
    };
    Err(StorageError::DatabaseIsDamaged { path: path.to_owned(), found })
}

/// Makes the database's file readable by its owner only, in case the folder is not. SQLite gives
/// its other files the same permissions, and says itself what is wrong with a folder.
///
/// Never opens a file that is there: closing it would drop the locks that SQLite holds on it in
/// this process.
fn create_private(path: &Path) {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}
