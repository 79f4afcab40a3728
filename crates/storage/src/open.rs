//! The data folder and the database, which is a file in it or a PostgreSQL server's.
//!
//! A running server and the command line use the same database at once: writers wait for each other
//! instead of failing, and readers never wait.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::database::{
    DATABASE_FILE, Database, PostgresUrl, Readers, Row, Statement, Transaction, check_integrity,
    has_schema,
};
use crate::error::StorageError;
use crate::kept::Kept;
use crate::place::Place;
use crate::{journal, master_key, migrate, seal};

/// Where the journal lives in the data folder.
pub fn journal_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("journal")
}

/// Creates the data folder, readable by its owner only. One that is there stays as it is.
pub fn create_data_dir(data_dir: &Path) -> Result<(), StorageError> {
    create_folder(data_dir).map_err(StorageError::file(
        "create the data folder",
        data_dir,
        "set storage.data_dir to a folder that this user may create and write to",
    ))
}

/// Creates a folder that only its owner can read, and those above it.
pub(crate) fn create_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Where a database is.
#[derive(Debug, Clone)]
pub struct Location {
    data_dir: PathBuf,
    /// `None`: in the data folder.
    server: Option<PostgresUrl>,
}

impl Location {
    /// `url` as in `storage.url`: absent or `sqlite:` is the file in the data folder, `postgres:`
    /// a server. Journal, master key and the trail's seal are in the data folder in any case. An
    /// error says what is wrong with `url`, and holds no part of it that may be secret.
    pub fn new(data_dir: &Path, url: Option<&str>) -> Result<Self, String> {
        let server = match url.map(|url| url.split_once(':').unwrap_or((url, ""))) {
            None | Some(("sqlite", "")) => None,
            Some(("postgres" | "postgresql", _)) => {
                Some(PostgresUrl::parse(url.unwrap_or_default())?)
            }
            Some(("sqlite", _)) => {
                return Err("SQLite's file is always in storage.data_dir: write `sqlite:`".into());
            }
            Some(_) => {
                return Err("it begins neither with `postgres://` nor is it `sqlite:`".into());
            }
        };
        Ok(Self { data_dir: data_dir.to_owned(), server })
    }

    /// What people write for a database, wherever it is: `postgres://…`, `sqlite:FOLDER`, or just
    /// the data folder; `config` is the one of the configuration, whose data folder also belongs to
    /// a server's.
    pub fn parse(text: &str, configured: &Self) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "config" => Ok(configured.clone()),
            Some(("postgres" | "postgresql", _)) => Self::new(&configured.data_dir, Some(text)),
            Some(("sqlite", "")) => Err("write the data folder behind `sqlite:`".into()),
            Some(("sqlite", folder)) => Self::new(Path::new(folder), None),
            // A slip in the scheme must not make a folder of a password's name.
            _ if text.contains("://") => {
                Err("an address begins with `postgres://`; a data folder is written without `://`"
                    .into())
            }
            _ => Self::new(Path::new(text), None),
        }
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    pub(crate) fn server(&self) -> Option<&PostgresUrl> {
        self.server.as_ref()
    }

    /// The same database with another data folder.
    pub(crate) fn with_data_dir(&self, data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned(), server: self.server.clone() }
    }

    /// Whether there is a file of a database in the data folder.
    pub(crate) fn has_file(&self) -> bool {
        self.data_dir.join(DATABASE_FILE).is_file()
    }

    /// The database, for people: a file, or host, port and name.
    pub fn database(&self) -> String {
        match &self.server {
            Some(url) => url.server().to_owned(),
            None => self.data_dir.join(DATABASE_FILE).display().to_string(),
        }
    }
}

impl From<&Path> for Location {
    /// The file in this data folder.
    fn from(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned(), server: None }
    }
}

impl From<&PathBuf> for Location {
    fn from(data_dir: &PathBuf) -> Self {
        data_dir.as_path().into()
    }
}

/// The database. Cloning it is cheap and shares the connections.
#[derive(Debug, Clone)]
pub struct Store {
    database: Database,
    readers: Readers,
    location: Location,
    /// The folder and the database's file that were opened.
    places: Vec<Place>,
    kept: Arc<Kept>,
}

impl Store {
    /// Opens the database; creates folder, file and tables where they are missing.
    ///
    /// Refuses where the database alone is missing: a new one would have none of the keys that
    /// callers use, and an empty audit trail. [`Store::open_new`] is the word of consent.
    pub async fn open(location: impl Into<Location>) -> Result<Self, StorageError> {
        let location = location.into();
        if let Some(remains) = remains_without_database(&location) {
            let path = location.data_dir.join(DATABASE_FILE);
            return Err(StorageError::DatabaseIsMissing { path, remains });
        }
        let store = Self::connect(location).await?;
        if store.location.server.is_some()
            && let Some(remains) = remains(store.data_dir())
            && !has_schema(&store.database).await?
        {
            let server = store.location.database();
            store.close().await;
            return Err(StorageError::DatabaseIsEmpty { server, remains });
        }
        store.bring_up_to_date().await?;
        Ok(store)
    }

    /// Opens the database, and makes a new one also where another one was.
    pub async fn open_new(location: impl Into<Location>) -> Result<Self, StorageError> {
        let store = Self::connect(location.into()).await?;
        store.bring_up_to_date().await?;
        Ok(store)
    }

    /// Brings the tables to this program's version. Where that is due, a master key of another
    /// database is refused first: whatever is wrong with the data folder shall not change this one.
    pub(crate) async fn bring_up_to_date(&self) -> Result<(), StorageError> {
        match migrate::found(self).await? {
            found if found == migrate::newest() => return Ok(()),
            0 => {}
            _ => self.check_present_master_key().await?,
        }
        migrate::run(self).await
    }

    /// Opens the database, whatever is in it.
    pub(crate) async fn connect(location: Location) -> Result<Self, StorageError> {
        create_data_dir(&location.data_dir)?;
        let path = location.data_dir.join(DATABASE_FILE);
        let (database, readers, file) = match &location.server {
            None => (Database::open_file(&path).await?, Readers::of_file(&path), Some(&*path)),
            Some(url) => (Database::open_server(url).await?, Readers::of_server(url), None),
        };
        let used = [Some(&*location.data_dir), file];
        let places = used.into_iter().flatten().filter_map(|path| Place::of(path).ok()).collect();
        Ok(Self { database, readers, location, places, kept: Arc::default() })
    }

    /// Opens a database that is there, for commands that only read: where there is none, nothing
    /// is created.
    pub async fn open_existing(location: impl Into<Location>) -> Result<Self, StorageError> {
        let location = location.into();
        let is_there = match location.server {
            None => location.data_dir.join(DATABASE_FILE).is_file(),
            // Without its master key, nothing that is in a server's database is of use here.
            Some(_) => location.data_dir.join(master_key::FILE).is_file(),
        };
        if !is_there && remains_without_database(&location).is_none() {
            return Err(StorageError::NoDataFolder { data_dir: location.data_dir });
        }
        Self::open(location).await
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
    /// time for all of it, and nothing was found so far. A server looks after its own files.
    pub async fn check_integrity(&self, limit: Duration) -> Result<bool, StorageError> {
        match &self.database {
            Database::Sqlite(pool) => {
                let path = self.data_dir().join(DATABASE_FILE);
                check_integrity(pool, &path, limit).await
            }
            Database::Postgres(_) => Ok(true),
        }
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        &self.location.data_dir
    }

    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.readers.close().await;
        self.database.close().await;
    }

    /// Makes the transactions so far survive a power cut. Blocks for as long as the disk takes.
    ///
    /// They are in the write-ahead log, or in the database file, which SQLite syncs when it moves
    /// them there. Opening the log beside SQLite is safe: its locks are on the other two files.
    /// PostgreSQL answers a commit only when it is on disk.
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

    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// All rows that a statement finds, for people who look: see [`Readers`].
    pub(crate) async fn read(
        &self,
        statement: Statement,
        doing: &'static str,
    ) -> Result<Vec<Row>, StorageError> {
        self.readers.fetch_all(statement, doing).await
    }

    /// See [`Database::begin_write`].
    pub(crate) async fn begin_write(
        &self,
        doing: &'static str,
    ) -> Result<Transaction, StorageError> {
        self.database.begin_write(doing).await
    }

    /// See [`Database::begin_read`].
    pub(crate) async fn begin_read(
        &self,
        doing: &'static str,
    ) -> Result<Transaction, StorageError> {
        self.database.begin_read(doing).await
    }

    /// What it means when the first statement fails: a file that is no database shows there.
    pub(crate) fn is_no_database(&self, error: StorageError) -> StorageError {
        match (error, &self.database) {
            (StorageError::Database { source, .. }, Database::Sqlite(_)) => {
                StorageError::Open { path: self.data_dir().join(DATABASE_FILE), source }
            }
            (other, _) => other,
        }
    }
}

/// What is left of a data folder whose database's file is gone; `None` where it is there, or never
/// was.
fn remains_without_database(location: &Location) -> Option<PathBuf> {
    if location.server.is_some() {
        return None;
    }
    let data_dir = &*location.data_dir;
    // An empty file is what is left where somebody emptied it: SQLite would begin anew in it.
    if std::fs::metadata(data_dir.join(DATABASE_FILE)).is_ok_and(|data| data.len() > 0) {
        return None;
    }
    remains(data_dir)
}

/// What shows that a data folder had a database.
///
/// A master key alone may have been put there for a first start: it counts once it was used, or
/// beside a journal, since versions before the seal left nothing else. A journal counts by itself
/// once something stands in it: under a new master key none of its lines would be taken.
fn remains(data_dir: &Path) -> Option<PathBuf> {
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

#[cfg(test)]
impl Store {
    /// Runs a script as somebody would who has the database in their hands.
    pub(crate) async fn script(&self, script: &str) {
        let mut tx = self.begin_write("test").await.unwrap();
        tx.run_script(script.to_owned()).await.unwrap();
        tx.commit("test").await.unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_address_is_no_data_folder() {
        let configured = Location::from(Path::new("configured"));
        for text in
            ["postgress://sluice:s3cret@db/x", "mysql://u:s3cret@db/x", "Postgres://s3cret@h/x"]
        {
            let error = Location::parse(text, &configured).unwrap_err();
            assert!(error.contains("postgres://") && !error.contains("s3cret"), "{error}");
        }
        for text in ["data", "/var/lib/sluice", "sqlite:data", "config", "postgres://u:p@h/x"] {
            Location::parse(text, &configured).unwrap();
        }
    }

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
        assert_eq!(remains_without_database(&dir.path().into()), None);
        // Versions before the seal left a key without its second word, and a journal.
        let journal = journal_dir(dir.path());
        std::fs::create_dir(&journal).unwrap();
        let key = dir.path().join(master_key::FILE);
        assert_eq!(remains_without_database(&dir.path().into()), Some(key.clone()));
        std::fs::remove_file(key).unwrap();
        assert_eq!(
            remains_without_database(&dir.path().into()),
            None,
            "an empty folder holds nothing"
        );
        std::fs::write(journal.join("000000000001-00000000.journal"), "").unwrap();
        assert_eq!(remains_without_database(&dir.path().into()), Some(journal.clone()));
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
        store.script(rows).await;
        assert!(!store.check_integrity(Duration::ZERO).await.unwrap());
        assert!(store.check_integrity(Duration::from_secs(60)).await.unwrap());
    }

    /// A full disk, which SQLite tells from a limit that it sets itself in nothing.
    #[tokio::test]
    async fn after_a_full_disk_every_connection_writes_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let Database::Sqlite(pool) = store.database() else { panic!("it is a file") };
        let most = |pages: u32| format!("PRAGMA max_page_count = {pages}");
        let mut connections = Vec::new();
        for _ in 0..3 {
            let mut connection = pool.acquire().await.unwrap();
            sqlx::raw_sql(sqlx::AssertSqlSafe(most(1))).execute(&mut *connection).await.unwrap();
            connections.push(connection);
        }
        drop(connections);
        let write = async |name: &'static str| -> Result<(), sqlx::Error> {
            let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
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
            .fetch_one(pool)
            .await
            .unwrap();
        assert_eq!(rows, 40, "all of the transaction that went through, and of no other");
    }
}
