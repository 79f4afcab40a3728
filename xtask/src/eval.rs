//! `cargo xtask eval`: how well the filter and the routers do on labelled data.
//!
//! The judging itself is `sluice-training eval-…`; this builds it optimised and runs it, so that
//! these commands need none of the gateway's crates.

use crate::train::{ROUTING_DATA, SECURITY_DATA, Training, data_folder};

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
    /// Task types, complexity, calibration, accuracy and cost of what routers choose: as Markdown.
    Routing(RoutingArguments),
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

#[derive(clap::Args)]
struct RoutingArguments {
    /// The folder with the labelled data, beside which there are folders `quality` and `catalogue`
    /// [default: ../shared/data/routing].
    #[arg(long)]
    data: Option<std::path::PathBuf>,
    /// Further arguments, such as `--without-quality` (that part alone) or `--write`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    further: Vec<String>,
}

/// Prints the evaluation.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (task, data, usual, further) = match &arguments.subject {
        Subject::Security(security) => {
            ("eval-security", &security.data, SECURITY_DATA, &security.further)
        }
        Subject::Routing(routing) => {
            ("eval-routing", &routing.data, ROUTING_DATA, &routing.further)
        }
    };
    let data = data_folder(data.as_deref(), usual)?;
    let mut command = Training::build()?.command(task, &data);
    crate::shell::run(command.args(further))
}
