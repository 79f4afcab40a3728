//! `sluice catalog quality`: how good the models are taken to be, and on what ground.
//!
//! What is imported is kept as `quality.csv` in the data folder. It counts before the built-in
//! table, from the next start or reload on; `quality` in the configuration file counts before both.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sluice_core::chat::ReasoningEffort;
use sluice_core::clock::Clock;
use sluice_gateway::vendors::Vendors;
use sluice_routing::catalog::Model;
use sluice_routing::quality::leaderboard::Board;
use sluice_routing::quality::name::ModelName;
use sluice_routing::quality::table::{self, QualityTable, Row};
use sluice_routing::quality::{Basis, Quality};
use sluice_routing::task::TaskType;

use super::replace;
use crate::commands::Exit;
use crate::config::{Environment, QUALITY_FILE, Settings};

/// Shows how good models are taken to be, or imports an evaluation.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum QualityCommand {
    /// Prints how good the models that are served are taken to be, and what says so.
    List(ListArgs),
    /// Prints what is known of one model, by task type.
    Show(ShowArgs),
    /// Imports a leaderboard or your own evaluation.
    ///
    /// A plain CSV file says what share of ordinary requests a model does well: `model`, and
    /// `average` or task types as columns, from 0 to 1 or from 0 to 100. Files of Arena, aider,
    /// Vectara and LiveBench are recognised by their columns; their figures are brought to the same
    /// scale through the models that Sluice knows. It replaces what was imported from the same
    /// source before.
    Import(ImportArgs),
}

impl QualityCommand {
    /// The configuration file that is named.
    pub(crate) fn config(&self) -> Option<&Path> {
        match self {
            Self::List(args) => args.config.as_deref(),
            Self::Show(args) => args.config.as_deref(),
            Self::Import(args) => args.config.as_deref(),
        }
    }
}

/// Prints how good the models that are served are taken to be.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Prints every model of the built-in table and of what was imported, instead of those served.
    #[arg(long)]
    known: bool,
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Prints JSON, one object a line.
    #[arg(long)]
    json: bool,
}

/// Prints what is known of one model.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// A model that is served, or any name of a model.
    model: String,
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// Imports a leaderboard or one's own evaluation.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// A CSV file.
    file: PathBuf,
    /// What to call the source. Default: the leaderboard's name, or `own evaluation`.
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// The day of the figures (2026-11-21). Default: today.
    #[arg(long, value_name = "DAY")]
    date: Option<String>,
    /// The configuration file, which says where the data folder is. Default: sluice.toml in the
    /// current folder.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Runs a `catalog quality` command.
pub(crate) fn run(
    command: &QualityCommand,
    vendors: &Vendors,
    environment: &dyn Environment,
    clock: &dyn Clock,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let settings = match Settings::open(command.config(), environment) {
        Ok(settings) => settings,
        Err(problems) => {
            writeln!(err, "{problems}")?;
            return Ok(Exit::Usage);
        }
    };
    match command {
        QualityCommand::Import(args) => import(args, &settings, environment, clock, out, err),
        QualityCommand::List(args) if args.known => list_known(args, settings.qualities(), out),
        QualityCommand::List(args) => list(args, &settings.with(vendors).0, out),
        QualityCommand::Show(args) => show(args, &settings.with(vendors).0, out, err),
    }
}

/// What a model is taken for, whoever says so.
struct Taken {
    quality: Quality,
    source: String,
    date: String,
}

impl Taken {
    fn of(model: &Model, table: &QualityTable) -> Self {
        let quality = model.expected_quality();
        let row = match quality.basis {
            Basis::Yours | Basis::Price => None,
            Basis::Measured | Basis::Prior | Basis::Family => {
                table.explain(&names(model)).map(|(_, row)| row)
            }
        };
        let source = match (quality.basis, row) {
            (Basis::Yours, _) => "configuration".to_owned(),
            (Basis::Price, _) => String::new(),
            (Basis::Family, Some(row)) => format!("{} of {}", row.source, row.model),
            (_, Some(row)) => row.source.clone(),
            (_, None) => String::new(),
        };
        Self { quality, source, date: row.map(|row| row.date.clone()).unwrap_or_default() }
    }

    fn as_json(&self, model: &str) -> Value {
        let shares = |quality: &Quality| {
            TaskType::ALL
                .into_iter()
                .map(|task| {
                    (task.as_str().to_owned(), json!(rounded(quality.by_task[task.index()])))
                })
                .collect::<serde_json::Map<_, _>>()
        };
        let efforts = self.quality.efforts.iter().map(|(effort, of)| {
            let value = json!({ "average": rounded(of.average), "tasks": shares(of) });
            (effort.as_str().to_owned(), value)
        });
        json!({
            "model": model,
            "average": rounded(self.quality.average),
            "basis": self.quality.basis,
            "source": self.source,
            "date": self.date,
            "tasks": shares(&self.quality),
            "efforts": efforts.collect::<serde_json::Map<_, _>>(),
        })
    }
}

fn rounded(share: f64) -> f64 {
    (share * 1e3).round() / 1e3
}

/// The names that a model may be known by: that at its provider first.
fn names(model: &Model) -> Vec<&str> {
    let upstream = model.deployments.first().map(|deployment| deployment.upstream_model.as_str());
    upstream.into_iter().chain([model.id.as_str()]).collect()
}

fn is_chosen_from(model: &Model) -> bool {
    model.alias_of.is_none() && !model.deployments.is_empty()
}

fn list(args: &ListArgs, settings: &Settings, out: &mut dyn Write) -> io::Result<Exit> {
    let models = settings.catalog.models().iter().filter(|model| is_chosen_from(model));
    let taken: Vec<(&str, Taken)> =
        models.map(|model| (model.id.as_str(), Taken::of(model, settings.qualities()))).collect();
    if args.json {
        for (model, taken) in &taken {
            writeln!(out, "{}", taken.as_json(model))?;
        }
        return Ok(Exit::Done);
    }
    let width = taken.iter().map(|(model, _)| model.len()).max().unwrap_or(0).max(5);
    writeln!(out, "{:width$} {:>7}  {:8}  source", "model", "average", "basis")?;
    for (model, taken) in &taken {
        let Taken { quality, source, date } = taken;
        let (average, basis) = (quality.average, quality.basis.as_str());
        let line = format!("{model:width$} {average:>7.3}  {basis:8}  {source} {date}");
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)?;
    for basis in Basis::ALL {
        if taken.iter().any(|(_, taken)| taken.quality.basis == basis) {
            writeln!(out, "{:8}  {}", basis.as_str(), basis.meaning())?;
        }
    }
    Ok(Exit::Done)
}

fn list_known(args: &ListArgs, table: &QualityTable, out: &mut dyn Write) -> io::Result<Exit> {
    let rows = || table.imported().iter().chain(table.priors());
    if args.json {
        for row in rows() {
            let tasks = TaskType::ALL.into_iter().zip(row.by_task);
            let tasks = tasks.map(|(task, share)| (task.as_str().to_owned(), json!(share)));
            let value = json!({
                "model": row.model,
                "effort": row.effort.map(ReasoningEffort::as_str),
                "average": row.average,
                "source": row.source,
                "sources": row.sources(),
                "date": row.date,
                "tasks": tasks.collect::<serde_json::Map<_, _>>(),
            });
            writeln!(out, "{value}")?;
        }
        return Ok(Exit::Done);
    }
    let width = rows().map(|row| row.model.len()).max().unwrap_or(0);
    writeln!(out, "{:width$} {:8} {:>7}  source", "model", "effort", "average")?;
    for row in rows() {
        let effort = row.effort.map_or("", ReasoningEffort::as_str);
        let average = row.average.map_or_else(String::new, |average| format!("{average:.3}"));
        let Row { model, source, date, .. } = row;
        writeln!(out, "{model:width$} {effort:8} {average:>7}  {source} {date}")?;
    }
    Ok(Exit::Done)
}

fn show(
    args: &ShowArgs,
    settings: &Settings,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let table = settings.qualities();
    let served = settings.catalog.get(&args.model).filter(|model| is_chosen_from(model));
    let taken = match served {
        Some(model) => Taken::of(model, table),
        None => {
            let Some((quality, row)) = table.explain(&[&args.model]) else {
                writeln!(
                    err,
                    "{} is neither served nor known: where it is served, its price counts; \
                     `sluice catalog quality list --known` names all that are known",
                    args.model
                )?;
                return Ok(Exit::Failed);
            };
            Taken { quality, source: row.source.clone(), date: row.date.clone() }
        }
    };
    if args.json {
        writeln!(out, "{}", taken.as_json(&args.model))?;
        return Ok(Exit::Done);
    }
    let Taken { quality, source, date } = &taken;
    writeln!(out, "{}", args.model)?;
    let known = names_of(served.map(|model| &**model), &args.model);
    let known = known.iter().find_map(|name| ModelName::parse(name));
    if let Some(known) = known {
        writeln!(out, "  recognised as  {}", known.key())?;
    }
    writeln!(out, "  rests on       {} ({})", quality.basis.as_str(), quality.basis.meaning())?;
    if !source.is_empty() {
        writeln!(out, "  source         {}", format!("{source} {date}").trim_end())?;
    }
    if quality.basis.is_guess() && served.is_some() {
        writeln!(out, "  to end this    {}", settings.line_for(&args.model, quality.average))?;
    }
    write!(out, "\n  {:9} {:>7}", "task", "share")?;
    for (effort, _) in &quality.efforts {
        write!(out, " {:>8}", effort.as_str())?;
    }
    writeln!(out)?;
    let mut line = |name: &str, of: &dyn Fn(&Quality) -> f64| -> io::Result<()> {
        write!(out, "  {name:9} {:>7.3}", of(quality))?;
        for (_, quality) in &quality.efforts {
            write!(out, " {:>8.3}", of(quality))?;
        }
        writeln!(out)
    };
    line("average", &|of| of.average)?;
    for task in TaskType::ALL {
        line(task.as_str(), &|of| of.by_task[task.index()])?;
    }
    Ok(Exit::Done)
}

fn names_of<'a>(served: Option<&'a Model>, asked: &'a str) -> Vec<&'a str> {
    served.map_or_else(|| vec![asked], names)
}

fn import(
    args: &ImportArgs,
    settings: &Settings,
    environment: &dyn Environment,
    clock: &dyn Clock,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let today = clock.now().to_rfc3339();
    let today = today.get(..10).unwrap_or(&today);
    let date = args.date.as_deref().unwrap_or(today);
    if date.len() != 10 || sluice_core::clock::UnixMillis::parse(date).is_none() {
        writeln!(err, "--date {date}: expected a day, such as {today}")?;
        return Ok(Exit::Usage);
    }
    let text = match environment.read_file(&args.file) {
        Ok(text) => text,
        Err(error) => {
            writeln!(err, "cannot read {}: {error}", args.file.display())?;
            return Ok(Exit::Failed);
        }
    };
    let board = match Board::read(&text) {
        Ok(board) => board,
        Err(wrong) => {
            writeln!(err, "{}: {wrong}", args.file.display())?;
            return Ok(Exit::Failed);
        }
    };
    let source = args.source.as_deref().unwrap_or(board.format.source());
    // What is imported is never measured by what was imported.
    let rows = match table::on_scale(&board, &QualityTable::built_in(), source, date) {
        Ok(rows) => rows,
        Err(wrong) => {
            writeln!(err, "{}: {wrong}", args.file.display())?;
            return Ok(Exit::Failed);
        }
    };
    let target = settings.storage.data_dir.0.join(QUALITY_FILE);
    let (imported, replaced) = merged(settings.qualities().imported(), &rows);
    let text = table::to_csv(&imported).map_err(io::Error::other)?;
    if let Err(error) = replace(&target, &text) {
        writeln!(err, "cannot write {}: {error}", target.display())?;
        return Ok(Exit::Failed);
    }
    let count = rows.len();
    writeln!(out, "{count} rows of {source} ({date}) are in {}.", target.display())?;
    if replaced > 0 {
        writeln!(out, "They take the place of {replaced} that were there.")?;
    }
    let strange: Vec<&str> =
        rows.iter().filter(|row| row.name.is_none()).map(|row| row.model.as_str()).collect();
    if !strange.is_empty() {
        let shown = strange.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        let more = if strange.len() > 5 { ", …" } else { "" };
        writeln!(
            out,
            "{} are of no known family, and count for models of that very name: {shown}{more}.",
            strange.len()
        )?;
    }
    writeln!(out, "A running server takes them over when it reloads; see `sluice check`.")?;
    Ok(Exit::Done)
}

/// What was imported, with `newer` in the place of rows of the same source, and of those about the
/// same models; and how many had to go.
fn merged(older: &[Row], newer: &[Row]) -> (Vec<Row>, usize) {
    let goes = |old: &&Row| {
        newer.iter().any(|new| {
            new.source == old.source || (new.model == old.model && new.effort == old.effort)
        })
    };
    let kept: Vec<Row> = older.iter().filter(|old| !goes(old)).cloned().collect();
    let replaced = older.len() - kept.len();
    (kept.into_iter().chain(newer.iter().cloned()).collect(), replaced)
}

#[cfg(test)]
mod tests;
