//! `sluice secrets`: what the data folder's secrets are kept under.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;
use sluice_core::clock::UnixMillis;

use super::Exit;
use super::records::{CommandError, Records, settle};
use crate::config::Settings;

/// Secrets.
#[derive(Debug, clap::Args)]
pub(crate) struct SecretsArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    command: SecretsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SecretsCommand {
    /// Puts a new key into master.key and wraps all others with it. Nothing that works stops working,
    /// and a running server goes on
    RotateMasterKey {
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs a `secrets` command.
pub(crate) async fn run(
    args: SecretsArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args, settings, now, out, err).await;
    settle(result, err)
}

async fn act(
    args: SecretsArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let records = Records::open_existing(&settings.storage.location()).await?;
    match args.command {
        SecretsCommand::RotateMasterKey { json } => {
            let rotated = records.admin(now).rotate_master_key().await?;
            let path = rotated.path.display().to_string();
            if json {
                let (old, new) = (&rotated.old, &rotated.new);
                let value = json!({ "old": old, "new": new, "path": path, "keys": rotated.keys });
                writeln!(out, "{value}")?;
            } else {
                writeln!(
                    out,
                    "{path} holds {} now, in the place of {}.",
                    rotated.new, rotated.old
                )?;
            }
            writeln!(
                err,
                "Keep a copy of the new file apart from the database. Backups from before need the old \
                 one."
            )?;
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}
