//! `cargo xtask train`: trains the filter's small models anew.
//!
//! Training is `sluice-training train`; this builds it optimised and runs it. The same data and the
//! same code give the same bytes, which `--check` holds the committed models to.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::ensure;

use crate::shell::{self, cargo, program, root, target_folder};

/// Where labelled data lies unless somebody says otherwise, from the repository's root.
const USUAL_FOLDER: &str = "../shared/data/security";

/// What to train.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which model; all where none is named.
    model: Option<Model>,
    /// The folder with the labelled data [default: ../shared/data/security].
    #[arg(long)]
    data: Option<PathBuf>,
    /// Write nothing; fail where the committed model is not what training gives.
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Model {
    /// People's names and addresses.
    Names,
    /// Attacks on the model.
    Injection,
}

impl Model {
    fn as_str(self) -> &'static str {
        match self {
            Self::Names => "names",
            Self::Injection => "injection",
        }
    }
}

/// Trains and writes the models, or checks those that are there.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let data = data_folder(arguments.data.as_deref())?;
    if !data.is_dir() {
        ensure!(arguments.check, "there is no data to train with in {}", data.display());
        println!("skipped: there is no data in {}", data.display());
        return Ok(());
    }
    let mut command = Training::build()?.command("train", &data);
    command.args(arguments.model.map(Model::as_str));
    if arguments.check {
        command.arg("--check");
    }
    shell::run(&mut command)
}

/// The folder that `wanted` names, seen from where the command was given; the usual one without.
pub(crate) fn data_folder(wanted: Option<&Path>) -> anyhow::Result<PathBuf> {
    Ok(match wanted {
        Some(folder) => std::path::absolute(folder)?,
        None => root().join(USUAL_FOLDER),
    })
}

/// The program that trains and judges, built.
pub(crate) struct Training {
    binary: PathBuf,
}

impl Training {
    /// Builds it, optimised.
    pub(crate) fn build() -> anyhow::Result<Self> {
        shell::run(&mut cargo(&[
            "build",
            "--release",
            "--locked",
            "--package",
            "sluice-training",
        ]))?;
        Ok(Self { binary: target_folder().join("release").join("sluice-training") })
    }

    /// Its task `task` on the data in `folder`.
    pub(crate) fn command(&self, task: &str, folder: &Path) -> Command {
        let mut command = program(&self.binary);
        command.arg(task).arg("--data").arg(folder);
        command
    }
}
