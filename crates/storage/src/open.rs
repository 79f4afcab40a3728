//! The data folder and the database in it.
//!
//! A running server and the command line use the same database file at once: writers wait for each
//! other instead of failing, and readers never wait (write-ahead log).

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection as _, Sqlite, Transaction};

use crate::error::StorageError;
use crate::place::Place;
use crate::{journal, master_key, migrate, seal};

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
    /// The folder and the database's file that were opened.
    places: Vec<Place>,
}

impl Store {
    /// Opens the database in `data_dir`; creates folder, file and tables where they are missing.
    ///
    /// Refuses where the database alone is missing: a new one would have none of the keys that
    /// callers use, and an empty audit trail. [`Store::open_new`] is the word of consent.
    pub async fn open(data_dir: &Path) -> Result<Self, StorageError> {
        if let Some(remains) = remains_without_database(data_dir) {
            return Err(StorageError::DatabaseIsMissing {
                path: data_dir.join(DATABASE_FILE),
                remains,
            });
        }
        Self::open_new(data_dir).await
    }

    /// Opens the database in `data_dir`, and makes a new one also where another one was.
    pub async fn open_new(data_dir: &Path) -> Result<Self, StorageError> {
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
            .after_release(|connection, _| {
                Box::pin(async move {
                    // A transaction that was dropped is rolled back before this is answered. Where
                    // SQLite has done so itself, as it does when the disk is full, the driver's
                    // rollback fails and it counts the transaction as open for ever: no other
                    // could begin on the connection, so it is closed.
                    connection.ping().await?;
                    Ok(!connection.is_in_transaction())
                })
            })
            .connect_with(options)
            .await
            .map_err(|source| StorageError::Open { path: path.clone(), source })?;
        let places = [data_dir, &*path].into_iter().filter_map(|it| Place::of(it).ok()).collect();
        let store = Self { pool, data_dir: data_dir.to_owned(), places };
        migrate::run(&store).await?;
        Ok(store)
    }

    /// Opens the database that is in `data_dir`, for commands that only read: where there is none,
    /// nothing is created.
    pub async fn open_existing(data_dir: &Path) -> Result<Self, StorageError> {
        let is_there = data_dir.join(DATABASE_FILE).is_file();
        if !is_there && remains_without_database(data_dir).is_none() {
            return Err(StorageError::NoDataFolder { data_dir: data_dir.to_owned() });
        }
        Self::open(data_dir).await
    }

    /// Whether folder and database are still those that were opened. What is written to a database
    /// that somebody removed is gone with the process.
    pub(crate) fn check_places(&self) -> Result<(), StorageError> {
        match self.places.iter().find(|place| !place.holds()) {
            Some(gone) => Err(StorageError::Displaced { path: gone.path().to_owned() }),
            None => Ok(()),
        }
    }

    /// Looks for damage in the database's file, for at most `limit`. `false`: there was not enough
    /// time for all of it, and nothing was found so far.
    ///
    /// SQLite keeps no checksums: what is found are pages that do not fit together, not every
    /// changed byte.
    pub async fn check_integrity(&self, limit: Duration) -> Result<bool, StorageError> {
        const DOING: &str = "check the database's file";
        /// SQLite's code of a statement that was interrupted.
        const INTERRUPTED: &str = "9";
        let mut connection = self.pool.acquire().await.map_err(StorageError::database(DOING))?;
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
        Err(StorageError::DatabaseIsDamaged { path: self.data_dir.join(DATABASE_FILE), found })
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

/// What is left of a data folder whose database is gone; `None` where it is there, or never was.
///
/// A master key alone may have been put there for a first start: it counts once it was used, or
/// beside a journal, since versions before the seal left nothing else. A journal counts by itself
/// once something stands in it: under a new master key none of its lines would be taken.
fn remains_without_database(data_dir: &Path) -> Option<PathBuf> {
    // An empty file is what is left where somebody emptied it: SQLite would begin anew in it.
    if std::fs::metadata(data_dir.join(DATABASE_FILE)).is_ok_and(|data| data.len() > 0) {
        return None;
    }
    let (key, seal) = (data_dir.join(master_key::FILE), data_dir.join(seal::FILE));
    let journal = journal_dir(data_dir);
    if seal.exists() {
        return Some(seal);
    }
    if master_key::was_used(data_dir) || (key.exists() && journal.exists()) {
        return Some(key);
    }
    journal::list(&journal).is_ok_and(|segments| !segments.is_empty()).then_some(journal)
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

    #[tokio::test]
    async fn a_database_that_is_gone_is_missed_until_a_new_one_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        Store::open(dir.path()).await.unwrap().close().await;
        master_key::MasterKey::load_or_create(dir.path()).unwrap().note_sealed().unwrap();
        let path = dir.path().join(DATABASE_FILE);
        for emptied in [false, true] {
            std::fs::remove_file(&path).unwrap();
            if emptied {
                std::fs::write(&path, "").unwrap();
            }
            for opened in [Store::open(dir.path()).await, Store::open_existing(dir.path()).await] {
                let error = opened.unwrap_err().to_string();
                assert!(error.contains("sluice.db is missing"), "{error}");
                assert!(error.contains("backup") && error.contains("--new-database"), "{error}");
            }
            assert_eq!(path.exists(), emptied, "nothing was made");
            Store::open_new(dir.path()).await.unwrap().close().await;
            Store::open(dir.path()).await.unwrap().close().await;
        }
    }

    #[tokio::test]
    async fn a_master_key_that_was_put_there_for_a_first_start_is_no_remains() {
        let dir = tempfile::tempdir().unwrap();
        master_key::MasterKey::load_or_create(dir.path()).unwrap();
        assert_eq!(remains_without_database(dir.path()), None);
        // Versions before the seal left a key without its second word, and a journal.
        let journal = journal_dir(dir.path());
        std::fs::create_dir(&journal).unwrap();
        let key = dir.path().join(master_key::FILE);
        assert_eq!(remains_without_database(dir.path()), Some(key.clone()));
        std::fs::remove_file(key).unwrap();
        assert_eq!(remains_without_database(dir.path()), None, "an empty folder holds nothing");
        std::fs::write(journal.join("000000000001-00000000.journal"), "").unwrap();
        assert_eq!(remains_without_database(dir.path()), Some(journal.clone()));
        std::fs::remove_dir_all(journal).unwrap();
        Store::open(dir.path()).await.unwrap();
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn an_overwritten_page_is_noticed() {
        use std::os::unix::fs::FileExt as _;
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        assert!(store.check_integrity(Duration::from_secs(60)).await.unwrap());
        store.close().await;
        let path = dir.path().join(DATABASE_FILE);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let pages = file.metadata().unwrap().len() / 4096;
        file.write_all_at(&[0x5a; 4096], (pages / 2) * 4096).unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let error = store.check_integrity(Duration::from_secs(60)).await.unwrap_err().to_string();
        assert!(error.contains("damaged") && error.contains("backup"), "{error}");
    }

    #[tokio::test]
    async fn a_database_for_which_there_is_no_time_is_not_called_sound() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) \
                    INSERT INTO meta SELECT i, i FROM n";
        sqlx::raw_sql(rows).execute(&store.pool).await.unwrap();
        assert!(!store.check_integrity(Duration::ZERO).await.unwrap());
        assert!(store.check_integrity(Duration::from_secs(60)).await.unwrap());
    }

    /// A full disk, which SQLite tells from a limit that it sets itself in nothing.
    #[tokio::test]
    async fn after_a_full_disk_every_connection_writes_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let most = |pages: u32| format!("PRAGMA max_page_count = {pages}");
        let mut connections = Vec::new();
        for _ in 0..3 {
            let mut connection = store.pool.acquire().await.unwrap();
            sqlx::raw_sql(sqlx::AssertSqlSafe(most(1))).execute(&mut *connection).await.unwrap();
            connections.push(connection);
        }
        drop(connections);
        let write = async |name: &'static str| -> Result<(), sqlx::Error> {
            let mut tx = store.pool.begin_with("BEGIN IMMEDIATE").await?;
            for row in 0..40 {
                sqlx::query("INSERT INTO meta (name, value) VALUES ($1, $2)")
                    .bind(format!("{name} {row}"))
                    .bind("x".repeat(2000))
                    .execute(&mut *tx)
                    .await?;
            }
            tx.commit().await
        };
        let error = write("refused").await.unwrap_err().to_string();
        assert!(error.contains("full"), "{error}");
        // The other connections are still limited, and each is left behind by its failure.
        let mut refusals = 0;
        while let Err(error) = write("later").await {
            assert!(error.to_string().contains("full"), "{error}");
            refusals += 1;
            assert!(refusals < 10, "{error}");
        }
        let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM meta WHERE name LIKE '% %'")
            .fetch_one(&store.pool)
            .await
            .unwrap();
        assert_eq!(rows, 40, "all of the transaction that went through, and of no other");
    }
}
