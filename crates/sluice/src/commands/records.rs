//! What the commands that work on the data folder share: opening it, failing, names, tables and
//! words.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use sluice_core::clock::{DAY_MILLIS, UnixMillis};
use sluice_core::ids::{AccountId, KeyId};
use sluice_core::organisation::Actor;
use sluice_gateway::admin::{Admin, AdminError};
use sluice_gateway::own;
use sluice_gateway::vendors::{LeftOut, Vendors};
use sluice_storage::{Location, MasterKey, StorageError, Store};

use super::Exit;
use crate::config::Settings;

/// A data folder, opened beside a server that may be running on it.
pub(crate) struct Records {
    /// The database.
    pub(crate) store: Store,
    /// What keys are hashed with.
    pub(crate) master_key: MasterKey,
}

impl Records {
    /// Opens the data folder, and makes what is missing in it.
    pub(crate) async fn open(location: &Location) -> Result<Self, StorageError> {
        let store = Store::open(location.clone()).await?;
        let master_key = store.unlock(MasterKey::load_or_create(location.data_dir())?).await?;
        Ok(Self { store, master_key })
    }

    /// Opens the data folder that is there, to read from it: creates nothing.
    pub(crate) async fn open_existing(location: &Location) -> Result<Self, StorageError> {
        let store = Store::open_existing(location.clone()).await?;
        let master_key = store.unlock(MasterKey::load(location.data_dir())?).await?;
        Ok(Self { store, master_key })
    }

    /// `settings` with the providers and models that people put into the database; and what of those
    /// is not served.
    pub(crate) async fn with_vendors(
        &self,
        settings: &Settings,
    ) -> Result<(Settings, Vec<LeftOut>), StorageError> {
        Ok(settings.with(&Vendors::read(&self.store, &self.master_key).await?))
    }

    /// What changes records, at `now`.
    pub(crate) fn admin(&self, now: UnixMillis) -> Admin<'_> {
        Admin {
            store: &self.store,
            master_key: &self.master_key,
            now,
            actor: Actor::CommandLine { user: system_user() },
            surface: "command line",
        }
    }
}

/// What the system calls whoever runs the command, by the process and not by what the environment
/// says; `uid 1000` where the number has no name.
#[cfg(unix)]
fn system_user() -> String {
    use std::os::unix::fs::MetadataExt as _;
    let uid = match std::fs::metadata("/proc/self") {
        Ok(own) => own.uid(),
        Err(_) => return named_user("USER"),
    };
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number == uid.to_string()).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid {uid}"))
}

#[cfg(not(unix))]
fn system_user() -> String {
    named_user("USERNAME")
}

/// What the environment says, where the system itself cannot be asked.
#[expect(clippy::disallowed_methods, reason = "it is a name for the trail, no setting")]
fn named_user(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| "unknown".to_owned())
}

/// What people call keys and accounts. Those that are gone have no name any more.
pub(crate) struct Names {
    keys: HashMap<KeyId, String>,
    accounts: HashMap<AccountId, String>,
}

impl Names {
    /// The names as they are now.
    pub(crate) async fn read(store: &Store) -> Result<Self, StorageError> {
        let keys = store.keys().await?;
        let keys = keys.iter().map(|key| (key.id.clone(), key.name.clone()));
        let accounts = store.accounts().await?.into_iter().map(|it| (it.id, it.name));
        Ok(Self { keys: keys.collect(), accounts: accounts.collect() })
    }

    /// A key's name.
    pub(crate) fn key(&self, id: &KeyId) -> Option<&str> {
        self.keys.get(id).map(String::as_str).or_else(|| own::key_name(id.as_str()))
    }

    /// An account's name.
    pub(crate) fn account(&self, id: &AccountId) -> Option<&str> {
        self.accounts.get(id).map(String::as_str)
    }
}

/// An id with its name: `key_01ab (ci)`.
pub(crate) fn named(id: impl Display, name: Option<&str>) -> String {
    name.map_or_else(|| id.to_string(), |name| format!("{id} ({name})"))
}

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// What was asked for cannot be done.
    #[error(transparent)]
    Admin(#[from] AdminError),
    /// The command line asks for nothing that can be done.
    #[error("{0}")]
    Usage(&'static str),
    /// What was asked for is not there.
    #[error("{0}")]
    NotFound(String),
    /// It could not be done.
    #[error("{0}")]
    Failed(String),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

impl From<String> for CommandError {
    fn from(problem: String) -> Self {
        Self::Failed(problem)
    }
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
        Err(CommandError::Usage(problem)) => {
            writeln!(err, "{problem}")?;
            return Ok(Exit::Usage);
        }
        Err(CommandError::NotFound(problem) | CommandError::Failed(problem)) => {
            writeln!(err, "{problem}")?;
            return Ok(Exit::Failed);
        }
        Err(CommandError::Admin(error)) => error,
    };
    match advice(&error) {
        Some(advice) => writeln!(err, "{error}; {advice}")?,
        None => writeln!(err, "{error}")?,
    }
    Ok(match error {
        AdminError::InvalidName
        | AdminError::InvalidEmail(_)
        | AdminError::AccountNeeded { .. }
        | AdminError::KeysNeedAnAnswer { .. }
        | AdminError::CannotHandOver { .. }
        | AdminError::NotRemovable { .. }
        | AdminError::DefaultKeepsName
        | AdminError::AlreadyExpired { .. }
        | AdminError::ZeroLimit { .. }
        | AdminError::EmptyList { .. }
        | AdminError::UnknownModel(_)
        | AdminError::Settings(_)
        | AdminError::CredentialNeeded { .. }
        | AdminError::HasModels { .. }
        | AdminError::PolicyRule { .. }
        | AdminError::NoProviderKeyOf { .. }
        | AdminError::NotAProviderKey
        | AdminError::RegionNotAllowed { .. } => Exit::Usage,
        _ => Exit::Failed,
    })
}

/// What to type next: administration speaks of the matter alone.
fn advice(error: &AdminError) -> Option<String> {
    Some(match error {
        AdminError::UnknownModel(_) => "`sluice catalog list` shows what there is".to_owned(),
        AdminError::NoSuch { kind, .. } => {
            format!("`sluice {} list` shows what there is", kind.several())
        }
        AdminError::NoSuchProviderKey { .. } => {
            "`sluice provider-keys list` shows what there is".to_owned()
        }
        AdminError::NoSuchProvider { .. } => {
            "`sluice providers list` shows what there is".to_owned()
        }
        AdminError::HasModels { .. } => "`--with-models` removes them, too".to_owned(),
        AdminError::CredentialNeeded { .. } => {
            "add `--key-stdin` or `--key-env VARIABLE`, and `--header` for each header".to_owned()
        }
        AdminError::Provider(error) => error.advice().to_owned(),
        AdminError::NoSuchHolder { .. } => {
            "`sluice people list` and `sluice services list` show who there is".to_owned()
        }
        AdminError::NoSuchKey => {
            "`sluice keys list` shows ids and first characters of all keys".to_owned()
        }
        AdminError::AccountNeeded { .. } => "add `--account ACCOUNT`".to_owned(),
        AdminError::KeysNeedAnAnswer { .. } => {
            "add `--keys hand-over:X`, `--keys suspend` or `--keys revoke`".to_owned()
        }
        AdminError::TwoSecrets { id, .. } => {
            format!("`sluice keys rotate {id} --grace 0h` does that")
        }
        AdminError::Suspended { kind, name } => {
            format!("`sluice {} resume {}` does that", kind.several(), shell_word(name))
        }
        AdminError::LastOwner { .. } => "`sluice people set EMAIL --role owner` does".to_owned(),
        _ => return None,
    })
}

/// A name as a shell takes it: in quotes where it is not one plain word.
fn shell_word(name: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "@._-+:/".contains(it);
    match name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
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

/// A moment on the command line that may depend on the time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// This one.
    At(UnixMillis),
    /// So many days ago at midnight (UTC): 0 is today's.
    Midnight(u64),
    /// So long ago.
    Ago(Duration),
}

impl When {
    /// The moment that is meant at `now`.
    pub(crate) fn at(self, now: UnixMillis) -> UnixMillis {
        match self {
            Self::At(moment) => moment,
            Self::Midnight(days) => {
                let today = now.0 - now.0 % DAY_MILLIS;
                UnixMillis(today.saturating_sub(days.saturating_mul(DAY_MILLIS)))
            }
            Self::Ago(time) => {
                let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                UnixMillis(now.0.saturating_sub(millis))
            }
        }
    }
}

/// A day, a time, `today`, `yesterday`, or how long ago: `7d`, `2h`, `30m`.
pub(crate) fn when(word: &str) -> Result<When, String> {
    let ago = |number: &str, seconds: u64| {
        let number: u64 = number.parse().ok()?;
        Some(When::Ago(Duration::from_secs(number.checked_mul(seconds)?)))
    };
    let found = match word {
        "today" => Some(When::Midnight(0)),
        "yesterday" => Some(When::Midnight(1)),
        _ => match word.split_at_checked(word.len().saturating_sub(1)) {
            Some((number, "d")) => ago(number, 86_400),
            Some((number, "h")) => ago(number, 3_600),
            Some((number, "m")) => ago(number, 60),
            _ => UnixMillis::parse(word).map(When::At),
        },
    };
    found.ok_or_else(|| {
        "expected a day (2027-01-31), a time (2027-01-31T09:30:00Z), today, yesterday, or how long \
         ago (7d, 2h, 30m)"
            .to_owned()
    })
}

/// A setting on the command line that a word takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting<T>(pub(crate) Option<T>);

/// A setting, or `away`.
pub(crate) fn setting<T>(
    word: &str,
    away: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Setting<T>, String> {
    if word == away {
        return Ok(Setting(None));
    }
    read(word).map(|value| Setting(Some(value))).map_err(|problem| format!("{problem}, or {away}"))
}

/// A switch of a `set` command.
pub(crate) fn yes_or_no(word: &str) -> Result<bool, String> {
    match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no".to_owned()),
    }
}

/// A limit as people read it.
pub(crate) fn figure(limit: Option<u64>) -> String {
    limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
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

/// A time on the command line: `24h`, `30m`, `7d`.
pub(crate) fn duration(word: &str) -> Result<Duration, String> {
    let (number, unit) = word.split_at_checked(word.len().saturating_sub(1)).unwrap_or(("", ""));
    let seconds = match unit {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3_600),
        "d" => Some(86_400),
        _ => None,
    };
    let number: Option<u64> = number.parse().ok();
    number
        .zip(seconds)
        .and_then(|(number, seconds)| number.checked_mul(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| "expected a time such as 24h, 30m or 7d".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_for_a_shell() {
        for (name, word) in [
            ("compilers", "compilers"),
            ("ada@example.org", "ada@example.org"),
            ("data science", "'data science'"),
            ("Bob's $HOME", r"'Bob'\''s $HOME'"),
        ] {
            assert_eq!(shell_word(name), word);
        }
    }
}
