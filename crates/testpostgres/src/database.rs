//! A database for one test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Server;
use crate::programs::psql;

/// The environment variable that holds the address of the shared server's superuser.
pub const VARIABLE: &str = "SLUICE_TEST_POSTGRES";

/// An empty database, and a user whose it is. Dropped, both are gone.
#[derive(Debug)]
pub struct Database {
    superuser: String,
    name: String,
}

impl Database {
    /// One on the shared server; where there is none, says how to run the test.
    #[expect(clippy::disallowed_methods, reason = "tests have no composition root")]
    pub fn create() -> Option<Self> {
        let Ok(superuser) = std::env::var(VARIABLE) else {
            eprintln!(
                "SKIPPED on PostgreSQL: {VARIABLE} is not set; run \
                 `cargo xtask postgres -- cargo nextest run`, or `cargo xtask test`"
            );
            return None;
        };
        Some(Self::with(superuser, SORTED_AS_IN_A_LANGUAGE))
    }

    /// For a test that runs on either database: `None` for SQLite, then one on the shared server where
    /// there is one.
    pub fn none_and_one() -> impl Iterator<Item = Option<Self>> {
        let server = Self::create().map(Some);
        // A test that fails has said on which.
        [Some(None), server].into_iter().flatten().inspect(|it| eprintln!("on {it:?}"))
    }

    /// One on the shared server with other options, such as `ENCODING 'LATIN1' LOCALE 'C'`.
    pub fn create_with(options: &str) -> Option<Self> {
        Self::create().map(|usual| Self::with(usual.superuser.clone(), options))
    }

    /// One on a server of the test's own.
    pub fn on(server: &Server) -> Self {
        Self::with(server.url(), SORTED_AS_IN_A_LANGUAGE)
    }

    fn with(superuser: String, options: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        let database = Self { superuser, name };
        let name = &database.name;
        database.run_as_superuser(&format!("CREATE USER {name} PASSWORD '{PASSWORD}'"));
        let made = format!("CREATE DATABASE {name} OWNER {name} TEMPLATE template0 {options}");
        database.run_as_superuser(&made);
        database
    }

    /// Its address, with user and password.
    pub fn url(&self) -> String {
        let (_, at) = self.superuser.rsplit_once('@').expect("an address");
        let (host, _) = at.split_once('/').expect("an address");
        format!("postgres://{name}:{PASSWORD}@{host}/{name}", name = self.name)
    }

    /// The password in every database's address, for tests that look whether it is told anywhere.
    pub fn password() -> &'static str {
        PASSWORD
    }

    /// Its name, which is also its user's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs statements in it as its user; see [`psql`].
    pub fn run(&self, statements: &str) -> Result<String, String> {
        psql(&self.url(), statements)
    }

    /// Runs one statement as the superuser, beside the database.
    pub fn run_as_superuser(&self, statement: &str) -> String {
        psql(&self.superuser, statement).unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    /// The files in which the server keeps it, the log of all that is written included, with everything
    /// on disk. None where the server is on another machine or does not let them be read.
    pub fn files(&self) -> Vec<PathBuf> {
        self.run_as_superuser("CHECKPOINT");
        let folder = PathBuf::from(self.run_as_superuser("SHOW data_directory"));
        let oid = format!("SELECT oid FROM pg_database WHERE datname = '{}'", self.name);
        let own = folder.join("base").join(self.run_as_superuser(&oid));
        let inside = [own, folder.join("pg_wal"), folder.join("log")];
        let inside = inside.into_iter().filter_map(|it| std::fs::read_dir(it).ok()).flatten();
        let files = inside.filter_map(|entry| Some(entry.ok()?.path()));
        // Where `Server` has what it logs.
        files.chain(folder.parent().map(|it| it.join("log"))).filter(|it| it.is_file()).collect()
    }

    /// Cuts all connections to it, and says how many there were.
    pub fn cut_connections(&self) -> usize {
        let cut = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{}'",
            self.name
        );
        self.run_as_superuser(&cut).parse().unwrap()
    }
}

/// A database that sorts as a person does, and not by bytes: Sluice must not depend on it.
const SORTED_AS_IN_A_LANGUAGE: &str =
    "ENCODING 'UTF8' LOCALE 'C.UTF-8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'";

/// The password of a database's user.
const PASSWORD: &str = "s3cret-of-a-test";

impl Drop for Database {
    fn drop(&mut self) {
        let name = &self.name;
        for statement in [
            format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
            format!("DROP USER IF EXISTS {name}"),
        ] {
            // A server of the test's own may be gone already.
            let _ = psql(&self.superuser, &statement);
        }
    }
}
