//! Why something could not be stored or read, and what can be done about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::database::is_away;

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
    /// Whoever was told of entries wants no more of them.
    #[error("reading was stopped")]
    Stopped,
    /// The audit trail does not hold: nothing of it is removed.
    #[error(
        "the audit trail was tampered with at entry {seq}: {problem}; nothing is removed from it"
    )]
    TrailIsBroken {
        /// The number of the entry.
        seq: u64,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The audit trail does not end where it was sealed: its end is not signed.
    #[error(
        "the audit trail does not end where it was sealed, so that its end is not signed; \
         `sluice audit verify` says what was done to it"
    )]
    TrailEndIsNotSealed,
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
    /// Another server serves from the database.
    #[error(
        "another server{by} serves from the database {server}; stop it, or set another \
         storage.url. If its machine is gone, the database notices within half a minute"
    )]
    ServedElsewhere {
        /// Host, port and database.
        server: String,
        /// In parentheses: process, host, since when. Empty where that is not known.
        by: String,
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
        "{} holds the master key {found}, and the database {database} was made with {}, so none of \
         its service keys would work; restore that file from a backup, or use another database and \
         an empty data folder", .path.display(), shown_key(.needed.as_deref())
    )]
    KeyIsAnother {
        /// The file.
        path: PathBuf,
        /// The public id of the key in it.
        found: String,
        /// The database.
        database: String,
        /// The public id of the key that the database needs, where it is noted.
        needed: Option<String>,
    },
    /// There is no master key.
    #[error(
        "{} is missing; restore it from a backup (without {} no service key works), or use \
         another database and an empty data folder", .path.display(), shown_key(.needed.as_deref())
    )]
    KeyIsMissing {
        /// Where it should be.
        path: PathBuf,
        /// The public id of the key that the database needs, where it is known.
        needed: Option<String>,
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
    /// The server's database is empty, and the data folder is that of another one.
    #[error(
        "the database {server} is empty, though {} shows that there was a database; set storage.url \
         to the one that was used, move that one here (`sluice storage copy`, `sluice restore`), or \
         run `sluice serve --new-database` once to begin without its keys, accounts, records and \
         audit trail", .remains.display()
    )]
    DatabaseIsEmpty {
        /// Host, port and database.
        server: String,
        /// What shows that there was one.
        remains: PathBuf,
    },
    /// There is something where an empty database or folder is needed.
    #[error("{place} is not empty; name an empty one, as nothing is overwritten")]
    NotEmpty {
        /// The database or folder.
        place: String,
    },
    /// There is a file where a new one is to be written.
    #[error("{} already exists; name a new file, as nothing is overwritten", .path.display())]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// There is no database of ours.
    #[error(
        "{place} holds no database of sluice; name the one that `sluice serve` has used, such as \
         `postgres://…` or its data folder"
    )]
    NothingThere {
        /// Where one was looked for.
        place: String,
    },
    /// A copy is not what it was made of.
    #[error(
        "the table {table} does not read the same in {place} ({problem}); nothing was kept of the \
         copy. Please report this"
    )]
    CopyDiffers {
        /// The table.
        table: String,
        /// The copy.
        place: String,
        /// What differs.
        problem: &'static str,
    },
    /// A backup cannot be used.
    #[error("{} cannot be restored: {problem}", .path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what can be done about it.
        problem: String,
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
    /// Something is not as it was when it was read; nothing was changed.
    #[error("it was changed by somebody else at the same moment; look at it and try again")]
    ChangedMeanwhile,
    /// Somebody looked at more than the database can go through in time.
    #[error("cannot {doing} within {seconds} seconds; try again, or ask for less at once")]
    TookTooLong {
        /// What was tried, as in "list the requests".
        doing: &'static str,
        /// The time that there was.
        seconds: u64,
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

/// A master key, by its public id.
fn shown_key(id: Option<&str>) -> String {
    id.map_or_else(|| "the master key".to_owned(), |id| format!("the master key {id}"))
}

impl StorageError {
    /// Whether it failed since the database cannot be reached or takes nobody now, so that a later
    /// attempt may succeed.
    pub fn is_away(&self) -> bool {
        match self {
            Self::Away { .. } => true,
            Self::Database { source, .. } => is_away(source),
            _ => false,
        }
    }

    /// For `map_err`: the database failed while `doing`.
    pub(crate) fn database(doing: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::Database { doing, source }
    }

    /// What it means when no table can be made in the database `server`.
    pub(crate) fn may_not_create(server: &str, source: sqlx::Error, doing: &'static str) -> Self {
        /// PostgreSQL's code of a missing right.
        const INSUFFICIENT_PRIVILEGE: &str = "42501";
        let code = source.as_database_error().and_then(|error| error.code());
        if code.as_deref() != Some(INSUFFICIENT_PRIVILEGE) {
            return Self::Database { doing, source };
        }
        let fix = "give its user the right to make tables: `GRANT CREATE ON SCHEMA public TO …`";
        Self::Refused { server: server.to_owned(), source, fix }
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
