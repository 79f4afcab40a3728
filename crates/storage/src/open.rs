//! The data folder and the database in it.
//!
//! A running server and the command line use the same database file at once: writers wait for each
//! other instead of failing, and readers never wait (write-ahead log).

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Sqlite, Transaction};

use crate::error::StorageError;
use crate::migrate;

/// The database's file in the data folder.
pub(crate) const DATABASE_FILE: &str = "sluice.db";

/// Where the journal lives in the data folder.
pub fn journal_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("journal")
}

/// Creates the data folder, readable by its owner only. One that is there stays as it is.
pub fn create_data_dir(data_dir: &Path) -> Result<(), StorageError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(data_dir).map_err(StorageError::file(
        "create the data folder",
        data_dir,
        "set storage.data_dir to a folder that this user may create and write to",
    ))
}

/// The database. Cloning it is cheap and shares the connections.
#[derive(Debug, Clone)]
pub struct Store {
    pool: SqlitePool,
    data_dir: PathBuf,
}

impl Store {
    /// Opens the database in `data_dir`; creates folder, file and tables where they are missing.
    pub async fn open(data_dir: &Path) -> Result<Self, StorageError> {
        create_data_dir(data_dir)?;
        let path = data_dir.join(DATABASE_FILE);
        create_private(&path);
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A power cut may take the last transactions, never the database's integrity. What the
            // ingester stored is still in the journal then; see `sync_commits`.
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10))
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
            .connect_with(options)
            .await
            .map_err(|source| StorageError::Open { path: path.clone(), source })?;
        let store = Self { pool, data_dir: data_dir.to_owned() };
        migrate::run(&store).await?;
        Ok(store)
    }

    /// Opens the database that is in `data_dir`, for commands that only read: where there is none,
    /// nothing is created.
    pub async fn open_existing(data_dir: &Path) -> Result<Self, StorageError> {
        if !data_dir.join(DATABASE_FILE).is_file() {
            return Err(StorageError::NoDataFolder { data_dir: data_dir.to_owned() });
        }
        Self::open(data_dir).await
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Closes all connections, which also folds the write-ahead log into the database file.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Makes the transactions so far survive a power cut. Blocks for as long as the disk takes.
    ///
    /// They are in the write-ahead log, or in the database file, which SQLite syncs when it moves
    /// them there. Opening the log beside SQLite is safe: its locks are on the other two files.
    pub(crate) fn sync_commits(data_dir: &Path) -> std::io::Result<()> {
        let log = data_dir.join(format!("{DATABASE_FILE}-wal"));
        match OpenOptions::new().write(true).open(log) {
            Ok(log) => log.sync_data(),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits until the transactions so far survive a power cut: a revocation must not come undone.
    pub(crate) async fn sync(&self, doing: &'static str) -> Result<(), StorageError> {
        let data_dir = self.data_dir().to_owned();
        tokio::task::spawn_blocking(move || Self::sync_commits(&data_dir))
            .await
            .unwrap_or_else(|gone| Err(gone.into()))
            .map_err(StorageError::file(doing, self.data_dir(), "check the disk"))
    }

    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// A transaction that is going to write.
    ///
    /// It takes the write lock at once: one that reads first and writes later would fail whenever
    /// another process wrote in between.
    pub(crate) async fn begin_write(
        &self,
        doing: &'static str,
    ) -> Result<Transaction<'static, Sqlite>, StorageError> {
        self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(StorageError::database(doing))
    }

    /// A transaction that sees one state of the database throughout.
    pub(crate) async fn begin_read(
        &self,
        doing: &'static str,
    ) -> Result<Transaction<'static, Sqlite>, StorageError> {
        self.pool.begin().await.map_err(StorageError::database(doing))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_that_cannot_be_made_is_named_with_the_fix() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = Store::open(&file.join("data")).await.unwrap_err().to_string();
        assert!(error.contains("storage.data_dir") && error.contains("file/data"), "{error}");
    }

    #[tokio::test]
    async fn what_only_reads_creates_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let error = Store::open_existing(&data).await.unwrap_err().to_string();
        assert!(error.contains("sluice serve"), "{error}");
        assert!(!data.exists());
        Store::open(&data).await.unwrap().close().await;
        Store::open_existing(&data).await.unwrap();
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(DATABASE_FILE), "not a database".repeat(200)).unwrap();
        let error = Store::open(dir.path()).await.unwrap_err().to_string();
        assert!(error.contains(DATABASE_FILE), "{error}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn folder_and_database_are_their_owners_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("a").join("data");
        Store::open(&data).await.unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&data), 0o700);
        assert_eq!(mode(&data.join(DATABASE_FILE)), 0o600);
    }
}
