//! What the commands that work on the data folder share: opening it, failing, tables and words.

use std::io::{self, Write};
use std::path::Path;

use sluice_core::clock::UnixMillis;
use sluice_gateway::admin::{Admin, AdminError};
use sluice_storage::{MasterKey, StorageError, Store};

use super::Exit;

/// A data folder, opened beside a server that may be running on it.
pub(crate) struct Records {
    /// The database.
    pub(crate) store: Store,
    /// What keys are hashed with.
    pub(crate) master_key: MasterKey,
}

impl Records {
    /// Opens the data folder, and makes what is missing in it.
    pub(crate) async fn open(data_dir: &Path) -> Result<Self, StorageError> {
        let store = Store::open(data_dir).await?;
        let master_key = MasterKey::load_or_create(data_dir)?;
        store.check_master_key(&master_key).await?;
        Ok(Self { store, master_key })
    }

    /// Opens the data folder that is there, to read from it: creates nothing.
    pub(crate) async fn open_existing(data_dir: &Path) -> Result<Self, StorageError> {
        let store = Store::open_existing(data_dir).await?;
        let master_key = MasterKey::load(data_dir)?;
        store.check_master_key(&master_key).await?;
        Ok(Self { store, master_key })
    }

    /// What changes records, at `now`.
    pub(crate) fn admin(&self, now: UnixMillis) -> Admin<'_> {
        Admin { store: &self.store, master_key: &self.master_key, now }
    }
}

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// What was asked for cannot be done.
    #[error(transparent)]
    Admin(#[from] AdminError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

impl From<StorageError> for CommandError {
    fn from(error: StorageError) -> Self {
        Self::Admin(error.into())
    }
}

/// Says what went wrong, and how the command ends.
pub(crate) fn settle(result: Result<Exit, CommandError>, err: &mut dyn Write) -> io::Result<Exit> {
    let error = match result {
        Ok(exit) => return Ok(exit),
        Err(CommandError::Output(error)) => return Err(error),
        Err(CommandError::Admin(error)) => error,
    };
    writeln!(err, "{error}")?;
    Ok(match error {
        AdminError::InvalidName
        | AdminError::AlreadyExpired { .. }
        | AdminError::ZeroLimit { .. }
        | AdminError::EmptyList { .. }
        | AdminError::UnknownModel(_)
        | AdminError::RegionNotAllowed { .. } => Exit::Usage,
        _ => Exit::Failed,
    })
}

/// Prints rows in columns that are as wide as they need to be.
pub(crate) fn table<const N: usize>(
    out: &mut dyn Write,
    heading: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let mut widths = heading.map(|word| word.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut line = |cells: [&str; N]| {
        let mut text = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            text.push_str(&format!("{cell:width$}  "));
        }
        writeln!(out, "{}", text.trim_end())
    };
    line(heading)?;
    for row in rows {
        line(row.each_ref().map(String::as_str))?;
    }
    Ok(())
}

/// Something that may be missing, as a cell of a table.
pub(crate) fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// A day or a time on the command line.
pub(crate) fn moment(word: &str) -> Result<UnixMillis, String> {
    UnixMillis::parse(word)
        .ok_or_else(|| "expected a day (2027-01-31) or a time (2027-01-31T09:30:00Z)".to_owned())
}

/// For an argument: the word of a closed set, or the words that there are.
pub(crate) fn one_of<T: Copy>(
    word: &str,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    all.iter().copied().find(|value| as_str(*value) == word).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|value| as_str(*value)).collect();
        format!("expected one of: {}", words.join(", "))
    })
}

/// A region on the command line.
pub(crate) fn region(word: &str) -> Result<sluice_core::region::Region, String> {
    use sluice_core::region::Region;
    one_of(word, &Region::ALL, Region::as_str)
}

/// A security level on the command line.
pub(crate) fn level(word: &str) -> Result<sluice_core::level::SecurityLevel, String> {
    use sluice_core::level::SecurityLevel;
    one_of(word, &SecurityLevel::ALL, SecurityLevel::as_str)
}

/// A limit on the command line.
pub(crate) fn limit(word: &str) -> Result<u64, String> {
    match word.replace('_', "").parse() {
        Ok(0) => Err("0 refuses every request; expected at least 1".to_owned()),
        Ok(limit) => Ok(limit),
        Err(_) => Err("expected a whole number".to_owned()),
    }
}
