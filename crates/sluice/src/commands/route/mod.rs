//! `sluice route`: what routers would choose, and why. Sends nothing anywhere.

mod cards;
mod explain;
mod line;
mod pool;
mod simulate;

use std::io::{self, Read, Write};
use std::path::PathBuf;

use super::Exit;
use crate::config::{Environment, Settings};

/// What routers choose.
#[derive(Debug, clap::Args)]
pub(crate) struct RouteArgs {
    /// The configuration file. Default: sluice.toml in the current folder, else what is found in
    /// the environment.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: RouteCommand,
}

// What each does is said where its arguments are.
#[derive(Debug, clap::Subcommand)]
enum RouteCommand {
    Explain(explain::ExplainArgs),
    Cards(cards::CardsArgs),
    Simulate(simulate::SimulateArgs),
}

/// Runs a `route` command. It needs no server, data folder or network.
pub(crate) fn run(
    args: &RouteArgs,
    environment: &dyn Environment,
    input: &mut dyn Read,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let settings = || Settings::open(args.config.as_deref(), environment);
    let result = match &args.command {
        RouteCommand::Explain(args) => {
            settings().map(|settings| explain::run(args, &settings, input, out, err))
        }
        RouteCommand::Cards(args) => {
            settings().map(|settings| cards::run(args, &settings, out, err))
        }
        // What was decided says all by itself.
        RouteCommand::Simulate(args) => Ok(simulate::run(args, input, out, err)),
    };
    result.unwrap_or_else(|problems| {
        writeln!(err, "{problems}")?;
        Ok(Exit::Usage)
    })
}

#[cfg(test)]
mod tests;
