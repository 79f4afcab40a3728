//! The binary: command line, configuration, assembly. No logic of its own.

mod cli;
mod commands;
mod config;
mod probe;
mod serve;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
