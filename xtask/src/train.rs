//! `cargo xtask train`: trains the filter's and the routers' small models anew.
//!
//! Training is `sluice-training train`; this builds it optimised and runs it. The same data and the
//! same code give the same bytes, which `--check` holds the committed models to.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::ensure;

use crate::shell::{self, cargo, program, root, target_folder};

/// Where labelled data for the filter lies unless somebody says otherwise, from the repository's
/// root.
pub(crate) const SECURITY_DATA: &str = "../shared/data/security";
/// The same for leaderboards.
const QUALITY_DATA: &str = "../shared/data/quality";
/// The same for the routers.
pub(crate) const ROUTING_DATA: &str = "../shared/data/routing";

/// What to train.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which model; all where none is named.
    model: Option<Model>,
    /// The folder with the labelled data [default: ../shared/data/security; for `routing`
    /// ../shared/data/routing, and for `quality` ../shared/data/quality, with the outcomes of
    /// `routing` in the folder beside it].
    #[arg(long, requires = "model")]
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
    /// Task type and complexity of requests.
    Routing,
    /// The table of how good well-known models are.
    Quality,
}

impl Model {
    const ALL: [Self; 4] = [Self::Names, Self::Injection, Self::Routing, Self::Quality];

    /// Where its data lies, usually.
    fn usual_folder(self) -> &'static str {
        match self {
            Self::Names | Self::Injection => SECURITY_DATA,
            Self::Routing => ROUTING_DATA,
            Self::Quality => QUALITY_DATA,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Names => "names",
            Self::Injection => "injection",
            Self::Routing => "routing",
            Self::Quality => "quality",
        }
    }
}

/// Trains and writes the models, or checks those that are there.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut training = None;
    for model in Model::ALL {
        if arguments.model.is_some_and(|wanted| wanted != model) {
            continue;
        }
        let data = data_folder(arguments.data.as_deref(), model.usual_folder())?;
        if !data.is_dir() {
            ensure!(arguments.check, "there is no data to train with in {}", data.display());
            println!("{}: skipped, as there is no data in {}", model.as_str(), data.display());
            continue;
        }
        if training.is_none() {
            training = Some(Training::build()?);
        }
        let Some(training) = &training else { continue };
        let mut command = training.command("train", &data);
        command.arg(model.as_str());
        if arguments.check {
            command.arg("--check");
        }
        shell::run(&mut command)?;
    }
    Ok(())
}

/// The folder that `wanted` names, seen from where the command was given; `usual` without.
pub(crate) fn data_folder(wanted: Option<&Path>, usual: &str) -> anyhow::Result<PathBuf> {
    Ok(match wanted {
        Some(folder) => std::path::absolute(folder)?,
        None => root().join(usual),
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
