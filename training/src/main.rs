//! Trains Sluice's small models and judges its filter, on labelled data in a folder.
//!
//! Deterministic: the same data and the same code give the same bytes. The models' artefacts and
//! the records of what they were trained on lie in `crates/security/models/`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "these commands talk to a person")]

mod data;
mod eval;
mod injection;
mod names;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

#[derive(Parser)]
#[command(name = "sluice-training", about = "Trains and judges Sluice's small models")]
struct Command {
    #[command(subcommand)]
    task: Task,
    /// The folder with the labelled data.
    #[arg(long, global = true, default_value = data::USUAL_FOLDER)]
    data: PathBuf,
}

#[derive(Subcommand)]
enum Task {
    /// Judge the filter on the labelled data, as Markdown tables.
    EvalSecurity(eval::Arguments),
    /// Trains a model, or all of them, and writes the artefact with the record of its data.
    Train {
        /// Which model.
        model: Option<Model>,
        /// Only compare what training gives with the artefact that is there.
        #[arg(long)]
        check: bool,
        /// Print what held-back texts show to be missed or wrong.
        #[arg(long)]
        verbose: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Model {
    /// Attacks on the model.
    Injection,
    /// People, addresses, places, organisations.
    Names,
}

fn main() -> ExitCode {
    match run(&Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<()> {
    match &command.task {
        Task::EvalSecurity(arguments) => eval::run(arguments, &command.data)?,
        Task::Train { model, check, verbose } => {
            if model.is_none_or(|model| model == Model::Injection) {
                injection::train(&command.data, *check)?;
            }
            if model.is_none_or(|model| model == Model::Names) {
                names::train(&command.data, *check, *verbose)?;
            }
        }
    }
    Ok(())
}
