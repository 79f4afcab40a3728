//! The repository's own commands: `cargo xtask test`, `bench`, `eval`, `train`, `fuzz`,
//! `postgres`, `screenshots`, `example-config`, `api-docs`.
//!
//! Each says what it does, runs the same on a laptop as in continuous integration, and installs
//! what it needs or says how to.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "these commands talk to a person")]

mod api_docs;
mod bench;
mod eval;
mod example_config;
mod fuzz;
mod postgres;
mod screenshots;
mod shell;
mod test;
mod tools;
mod train;

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "The repository's own commands")]
enum Xtask {
    /// Run every check that a change has to pass.
    Test(test::Arguments),
    /// Measure what Sluice costs beside nginx and a bare reverse proxy.
    Bench(bench::Arguments),
    /// Judge the filter on labelled data.
    Eval(eval::Arguments),
    /// Train the filter's small models anew.
    Train(train::Arguments),
    /// Run the fuzz targets of `fuzz/`.
    Fuzz(fuzz::Arguments),
    /// Run a command with a PostgreSQL server for tests, which is gone afterwards.
    Postgres(postgres::Arguments),
    /// Draw every page of the dashboard in its sample states.
    Screenshots(screenshots::Arguments),
    /// Write `sluice.example.toml` anew from the settings' comments and defaults.
    ExampleConfig,
    /// Write the tables of `docs/api.md` anew from the table of the API.
    ApiDocs,
}

fn main() -> ExitCode {
    let result = match Xtask::parse() {
        Xtask::Test(arguments) => test::run_steps(&arguments),
        Xtask::Bench(arguments) => bench::run(&arguments),
        Xtask::Eval(arguments) => eval::run(&arguments),
        Xtask::Train(arguments) => train::run(&arguments),
        Xtask::Fuzz(arguments) => fuzz::run_targets(&arguments),
        Xtask::Postgres(arguments) => postgres::run_with(&arguments),
        Xtask::Screenshots(arguments) => screenshots::draw(&arguments),
        Xtask::ExampleConfig => example_config::run(),
        Xtask::ApiDocs => api_docs::write(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
