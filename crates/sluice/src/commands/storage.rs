//! `sluice storage copy`, `sluice backup` and `sluice restore`: databases as a whole.

use std::io::{self, Write};
use std::path::PathBuf;

use sluice_core::clock::UnixMillis;
use sluice_storage::{Location, TableSum, backup, copy, restore};

use super::Exit;
use super::records::{CommandError, Records, settle, table};
use crate::config::{CATALOG_FILE, QUALITY_FILE};

/// The database as a whole.
#[derive(Debug, clap::Args)]
pub(crate) struct StorageArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    command: StorageCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StorageCommand {
    /// Copies everything from one database into another, which has to be empty, and compares them.
    /// No server may serve from either
    Copy(CopyArgs),
}

#[derive(Debug, clap::Args)]
struct CopyArgs {
    /// The database to copy: postgres://…, sqlite:FOLDER, a data folder, or `config` for the one of
    /// the configuration
    #[arg(long, value_name = "URL")]
    from: String,
    /// The empty database to copy into, written in the same way
    #[arg(long, value_name = "URL")]
    to: String,
}

/// Backs everything up.
#[derive(Debug, clap::Args)]
pub(crate) struct BackupArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The file to write, which must not be there yet. It holds the master key
    file: PathBuf,
}

/// Puts a backup back.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// The configuration file, which says where to: its data folder and its database have to be
    /// empty. Default: the one that SLUICE_CONFIG names, else sluice.toml in the current folder
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The file that `sluice backup` wrote
    file: PathBuf,
}

/// Runs a `storage` command.
pub(crate) async fn run(
    args: StorageArgs,
    configured: &Location,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let StorageCommand::Copy(CopyArgs { from, to }) = args.command;
    let read = |name: &str, text: &str| {
        Location::parse(text, configured)
            .map_err(|wrong| format!("--{name} is no address of a database: {wrong}"))
    };
    let (from, to) = match (read("from", &from), read("to", &to)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(problem), _) | (_, Err(problem)) => {
            writeln!(err, "{problem}")?;
            return Ok(Exit::Usage);
        }
    };
    settle(copy_all(&from, &to, now, out).await, err)
}

async fn copy_all(
    from: &Location,
    to: &Location,
    now: UnixMillis,
    out: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let copied = copy(from, to, now).await?;
    print(&copied.tables, out)?;
    writeln!(out, "\n{} now holds what {} does.", to.database(), from.database())?;
    let (old, new) = (from.data_dir(), to.data_dir());
    if copied.waiting_bytes > 0 {
        let (bytes, journal) = (copied.waiting_bytes, old.join("journal"));
        writeln!(
            out,
            "{bytes} bytes of the journal in {} are in neither yet; the server adds them.",
            journal.display()
        )?;
    }
    if !copied.shared {
        let there = ["master.key", "audit.seal", "journal/", CATALOG_FILE, QUALITY_FILE]
            .into_iter()
            .filter(|name| old.join(name).exists());
        let files: Vec<&str> = there.collect();
        writeln!(
            out,
            "Before a server starts on {}, move {} there from {}.",
            new.display(),
            files.join(", "),
            old.display()
        )?;
    }
    Ok(Exit::Done)
}

/// Runs `backup`.
pub(crate) async fn back_up(
    args: &BackupArgs,
    location: &Location,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = async {
        let records = Records::open_existing(location).await?;
        let made = (env!("CARGO_PKG_VERSION"), now);
        let written = backup(&records.store, &records.master_key, &args.file, made).await;
        records.store.close().await;
        print(&written?, out)?;
        writeln!(
            out,
            "\n{} holds all of it and the master key {}: keep it as secret as that.",
            args.file.display(),
            records.master_key.id()
        )?;
        Ok(Exit::Done)
    };
    settle(result.await, err)
}

/// Runs `restore`.
pub(crate) async fn put_back(
    args: &RestoreArgs,
    location: &Location,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = async {
        let restored = restore(&args.file, location, now).await?;
        print(&restored.tables, out)?;
        writeln!(
            out,
            "\n{} and {} are as they were at {}, with the master key {}.",
            location.database(),
            location.data_dir().display(),
            restored.made_at.to_rfc3339(),
            restored.master_key
        )?;
        Ok(Exit::Done)
    };
    settle(result.await, err)
}

fn print(sums: &[TableSum], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 3]> = sums
        .iter()
        .map(|sum| {
            let checksum = sum.checksum.get(..16).unwrap_or_default().to_owned();
            [sum.table.clone(), sum.rows.to_string(), checksum]
        })
        .collect();
    table(out, ["TABLE", "ROWS", "CHECKSUM"], &rows)
}
