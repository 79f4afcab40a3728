//! A PostgreSQL server for tests: `cargo xtask postgres -- COMMAND`.

use std::ffi::OsString;

use anyhow::{Context as _, ensure};
use sluice_testpostgres::{Server, VARIABLE, are_installed};

use crate::shell::{program, run};
use crate::tools;

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The command and its arguments, which find the server's address in SLUICE_TEST_POSTGRES.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Runs a command with a server that is gone afterwards.
pub(crate) fn run_with(arguments: &Arguments) -> anyhow::Result<()> {
    let server = start()?;
    let (name, rest) = arguments.command.split_first().context("no command was given")?;
    run(program(name).args(rest).env(VARIABLE, server.url()))
}

/// Starts a server, whose programs are installed where they are missing.
pub(crate) fn start() -> anyhow::Result<Server> {
    const PACKAGE: &str = "postgresql";
    if !are_installed() {
        tools::install("PostgreSQL's server", PACKAGE)?;
        ensure!(are_installed(), "PostgreSQL is still missing after installing `{PACKAGE}`");
    }
    Ok(Server::start())
}
