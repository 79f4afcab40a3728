//! `cargo xtask eval`: how well the filter does on labelled data.
//!
//! The judging itself is `sluice-training eval-security`; this builds it optimised and runs it, so
//! that these commands need none of the gateway's crates.

use crate::train::{Training, data_folder};

/// What to judge.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(clap::Subcommand)]
enum Subject {
    /// Recall, precision, harmless files altered, attacks recognised, restoration: as Markdown.
    Security(SecurityArguments),
}

#[derive(clap::Args)]
struct SecurityArguments {
    /// The folder with the labelled data [default: ../shared/data/security].
    #[arg(long)]
    data: Option<std::path::PathBuf>,
    /// Further arguments, such as `--held-back`, `--level high`, `--misses 3`, `--json`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    further: Vec<String>,
}

/// Prints the evaluation.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Subject::Security(security) = &arguments.subject;
    let data = data_folder(security.data.as_deref())?;
    let mut command = Training::build()?.command("eval-security", &data);
    crate::shell::run(command.args(&security.further))
}
