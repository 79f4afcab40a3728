//! The binary: command line, configuration, assembly. No logic of its own.

mod cli;
mod commands;
mod config;
mod probe;
mod serve;

use std::process::ExitCode;

/// Measured against the system's allocator: a request costs 8 % less processor time, an idle
/// server about 10 MB more memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
