//! Trains Sluice's small models and judges its filter and its routers, on
//! labelled data in a folder.
//!
//! Deterministic: the same data and the same code give the same bytes. The models' artefacts and
//! the records of what they were trained on lie in
//! `crates/security/models/` and `crates/routing/models/`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "these commands talk to a person")]

mod chance;
mod data;
mod eval;
mod injection;
mod names;
mod quality;
mod routing;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use eval::routing_replay::{self, Artefact};

#[derive(Parser)]
#[command(name = "sluice-training", about = "Trains and judges Sluice's small models")]
struct Command {
    #[command(subcommand)]
    task: Task,
    /// The folder with the labelled data; by default the one of the subject.
    #[arg(long, global = true)]
    data: Option<PathBuf>,
}

impl Command {
    fn folder(&self, usual: &str) -> PathBuf {
        self.data.clone().unwrap_or_else(|| PathBuf::from(usual))
    }
}

#[derive(Subcommand)]
enum Task {
    /// Judge the filter on the labelled data, as Markdown tables.
    EvalSecurity(eval::Arguments),
    /// Judge routing on the labelled data, as Markdown tables.
    EvalRouting {
        /// Write the model cards' figures anew, instead of judging the classifier and comparing
        /// them.
        #[arg(long)]
        write: bool,
        /// Only what routers choose where nobody says how good the models are.
        #[arg(long)]
        without_quality: bool,
    },
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
    /// Task type and complexity.
    Routing,
    /// How good well-known models are.
    Quality,
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
        Task::EvalSecurity(arguments) => eval::run(arguments, &command.folder(data::USUAL_FOLDER))?,
        Task::EvalRouting { without_quality: true, .. } => {
            routing_replay::without_quality(&command.folder(routing::USUAL_FOLDER))?;
        }
        Task::EvalRouting { write, .. } => {
            let folder = command.folder(routing::USUAL_FOLDER);
            if !*write {
                eval::routing::run(&folder)?;
            }
            let artefact = if *write { Artefact::Write } else { Artefact::Check };
            routing_replay::replay(&folder, artefact)?;
        }
        Task::Train { model, check, verbose } => {
            if model.is_none_or(|model| model == Model::Injection) {
                injection::train(&command.folder(data::USUAL_FOLDER), *check)?;
            }
            if model.is_none_or(|model| model == Model::Names) {
                names::train(&command.folder(data::USUAL_FOLDER), *check, *verbose)?;
            }
            if model.is_none_or(|model| model == Model::Routing) {
                routing::train(&command.folder(routing::USUAL_FOLDER), *check)?;
            }
            if model.is_none_or(|model| model == Model::Quality) {
                quality::train(&command.folder(quality::USUAL_FOLDER), *check)?;
            }
        }
    }
    Ok(())
}
