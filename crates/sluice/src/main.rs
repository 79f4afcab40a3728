//! The binary: command line, configuration, assembly. No logic of its own.

mod cli;
mod commands;
mod config;
mod links;
mod probe;
mod serve;
mod syslog;

use std::process::ExitCode;

/// Measured against the system's allocator: a request costs 8 % less processor time, in the same
/// memory (mimalloc: as fast, in twice the memory).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    cli::main()
}
