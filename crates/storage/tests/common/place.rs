//! A data folder and a database for one test.

use std::fmt;
use std::path::Path;

use sluice_storage::{Location, MasterKey, Store};
use sluice_testpostgres::Database;
use sqlx::Connection as _;

/// A data folder with an empty database: the file in it, or a PostgreSQL server's.
pub(crate) struct Place {
    dir: tempfile::TempDir,
    server: Option<Database>,
}

/// One on SQLite, and one on PostgreSQL where there is a server.
#[expect(clippy::print_stdout, reason = "a test that fails has said where")]
pub(crate) fn places() -> impl Iterator<Item = Place> {
    let made = [Some(Place::sqlite()), Place::postgres()];
    // A failing test says last where it was.
    made.into_iter().flatten().inspect(|place| println!("on {place:?}"))
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), server: None }
    }

    /// `None`: there is no server, which was said.
    pub(crate) fn postgres() -> Option<Self> {
        Database::create().map(|server| Self { server: Some(server), ..Self::sqlite() })
    }

    /// Another of the same kind.
    pub(crate) fn another(&self) -> Self {
        match &self.server {
            None => Self::sqlite(),
            Some(_) => Self::postgres().unwrap(),
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.server.is_some()
    }

    /// The server's database, where it is one.
    pub(crate) fn server(&self) -> Option<&Database> {
        self.server.as_ref()
    }

    /// The data folder.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn location(&self) -> Location {
        self.location_in(self.path())
    }

    /// The same database with another data folder.
    pub(crate) fn location_in(&self, data_dir: &Path) -> Location {
        let url = self.server.as_ref().map(Database::url);
        Location::new(data_dir, url.as_deref()).unwrap()
    }

    /// The names of its tables.
    pub(crate) async fn tables(&self) -> Vec<String> {
        if let Some(server) = &self.server {
            let listed = server.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
            return listed.unwrap().lines().map(str::to_owned).collect();
        }
        let options =
            sqlx::sqlite::SqliteConnectOptions::new().filename(self.path().join("sluice.db"));
        let mut raw = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        let listed =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
        sqlx::query_scalar(listed).fetch_all(&mut raw).await.unwrap()
    }

    pub(crate) async fn open(&self) -> (Store, MasterKey) {
        let store = Store::open(self.location()).await.unwrap();
        (store, MasterKey::load_or_create(self.path()).unwrap())
    }

    /// Runs statements as somebody would who has the database in their hands. An error is what the
    /// database says.
    pub(crate) async fn run(&self, sqlite: &str, postgres: &str) -> Result<(), String> {
        if let Some(server) = &self.server {
            return server.run(postgres).map(drop);
        }
        let options = sqlx::sqlite::SqliteConnectOptions::new()
            .filename(self.path().join("sluice.db"))
            .foreign_keys(false);
        let mut raw = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        let ran = sqlx::raw_sql(sqlx::AssertSqlSafe(sqlite.to_owned())).execute(&mut raw).await;
        raw.close().await.unwrap();
        ran.map(drop).map_err(|error| error.to_string())
    }

    /// The same where both say it alike.
    pub(crate) async fn run_same(&self, statements: &str) -> Result<(), String> {
        self.run(statements, statements).await
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_postgres() { "PostgreSQL" } else { "SQLite" })
    }
}
