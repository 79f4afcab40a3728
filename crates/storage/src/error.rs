//! Why something could not be stored or read, and what can be done about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// A file or folder of the data folder could not be used.
    #[error("cannot {doing} {}: {source}; {fix}", .path.display())]
    File {
        /// What was tried: `create`, `read`, ….
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
        /// What can be done about it.
        fix: &'static str,
    },
    /// The database file could not be opened.
    #[error(
        "cannot open the database {}: {source}; check that the file is a database of this version \
         of sluice and that this user may write to it and its folder", .path.display()
    )]
    Open {
        /// The database file.
        path: PathBuf,
        /// What the database said.
        #[source]
        source: sqlx::Error,
    },
    /// The database's server cannot be reached, or takes nobody now. It may a little later.
    #[error("the database {server} cannot be reached: {source}")]
    Away {
        /// Host, port and database.
        server: String,
        /// What went wrong.
        #[source]
        source: sqlx::Error,
    },
    /// The database's server refuses, and will go on refusing.
    #[error("the database {server} refuses: {source}; {fix}")]
    Refused {
        /// Host, port and database.
        server: String,
        /// What it said.
        #[source]
        source: sqlx::Error,
        /// What can be done about it.
        fix: &'static str,
    },
    /// The server's database cannot hold every text.
    #[error(
        "the database {server} has the encoding {encoding}, which cannot hold every text; make one \
         with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`, and set storage.url to it"
    )]
    Encoding {
        /// Host, port and database.
        server: String,
        /// Its encoding.
        encoding: String,
    },
    /// The database was written by a newer version.
    #[error(
        "the database is at version {found} and this program knows versions up to {known}; \
         run the newer program, or use another data folder"
    )]
    TooNew {
        /// The version of the database.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// Another server serves from the data folder.
    #[error(
        "another server{} serves from {}; stop it, or set another storage.data_dir",
        .process.map_or_else(String::new, |id| format!(" (process {id})")), .data_dir.display()
    )]
    Locked {
        /// The data folder.
        data_dir: PathBuf,
        /// The other server's process, where it said.
        process: Option<u32>,
    },
    /// The master key can be read by others than its owner.
    #[error(
        "{} can be read by others (mode {mode:o}); run: chmod 600 {}", .path.display(),
        .path.display()
    )]
    KeyIsReadable {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The master key's file does not hold a key.
    #[error(
        "{} does not hold 64 hexadecimal digits; restore it from a backup (without it no service \
         key of this data folder works)", .path.display()
    )]
    KeyIsMalformed {
        /// The file.
        path: PathBuf,
    },
    /// The master key is not the one that the database was made with.
    #[error(
        "{} is not the master key that this database was made with, so none of its service keys \
         would work; restore the file from a backup, or start with an empty data folder",
        .path.display()
    )]
    KeyIsAnother {
        /// The file.
        path: PathBuf,
    },
    /// There is no master key.
    #[error(
        "{} is missing; restore it from a backup (without it none of this data folder's service \
         keys works), or start with an empty data folder", .path.display()
    )]
    KeyIsMissing {
        /// Where it should be.
        path: PathBuf,
    },
    /// There is no data folder, or no database in it.
    #[error(
        "there is no data folder of sluice at {}; start `sluice serve` once, or set \
         storage.data_dir to where it is", .data_dir.display()
    )]
    NoDataFolder {
        /// Where it should be.
        data_dir: PathBuf,
    },
    /// The database is gone, and the rest of the data folder is there.
    #[error(
        "{} is missing, though {} shows that there was a database; restore the whole backup \
         into an empty folder (database, audit.seal, master.key and journal/ from the same backup), \
         or run `sluice serve --new-database` once to begin without its keys, accounts, records \
         and audit trail", .path.display(), .remains.display()
    )]
    DatabaseIsMissing {
        /// Where it should be.
        path: PathBuf,
        /// What is still there.
        remains: PathBuf,
    },
    /// The database's file is damaged.
    #[error(
        "the database {} is damaged ({found}); stop here, keep a copy of the data folder, and \
         restore the whole backup into an empty folder (database, audit.seal, master.key and \
         journal/ from the same backup)", .path.display()
    )]
    DatabaseIsDamaged {
        /// The database file.
        path: PathBuf,
        /// What the database says about it.
        found: String,
    },
    /// A file or folder that is in use was removed or replaced by another.
    #[error(
        "{} was removed or replaced while sluice uses it; records wait in the journal. Put it back \
         and restart", .path.display()
    )]
    Displaced {
        /// The file or folder.
        path: PathBuf,
    },
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes: {0}")]
    NoRandomness(String),
    /// There is already a record of this name.
    #[error("there is already {what}")]
    Exists {
        /// What there already is, as in "an account of this name".
        what: &'static str,
    },
    /// The database failed.
    #[error("cannot {doing}: the database says: {source}")]
    Database {
        /// What was tried, as in "list the usage records".
        doing: &'static str,
        /// What the database said.
        #[source]
        source: sqlx::Error,
    },
    /// A row holds something that no version of this program wrote.
    #[error("column {column} holds {value:?}, which this version of sluice does not know")]
    Unreadable {
        /// The column.
        column: &'static str,
        /// The value.
        value: String,
    },
}

impl StorageError {
    /// For `map_err`: the database failed while `doing`.
    pub(crate) fn database(doing: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::Database { doing, source }
    }

    /// For `map_err`: a file could not be used.
    pub(crate) fn file(
        doing: &'static str,
        path: &Path,
        fix: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source, fix }
    }
}
