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
use sluice_routing::quality::leaderboard::{Board, Format, is_day};
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
    /// `average` or task types as columns, from 0 to 1 or from 0 to 100. Leaderboards are recognised
    /// by their columns: Arena's leaderboard-text.json, aider's leaderboards (YAML), LiveBench's
    /// table (CSV), Vectara's figures (CSV with `model` and `hallucination_percent`). Their figures
    /// are brought to the same scale through the models that Sluice knows. What is imported replaces
    /// what was imported from the same source before, of your own evaluation model by model; of several
    /// sources the latest counts first.
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
    /// A CSV file, or what Arena and aider publish.
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
        let rows = match quality.basis {
            Basis::Yours | Basis::Price => None,
            Basis::Measured | Basis::Prior | Basis::Family => table.explain(&names(model)),
        };
        match rows {
            Some((_, rows)) => Self::by_rows(quality, &rows),
            None if quality.basis == Basis::Yours => {
                Self { quality, source: "configuration".to_owned(), date: String::new() }
            }
            None => Self { quality, source: String::new(), date: String::new() },
        }
    }

    /// By these rows of the table, the latest first.
    fn by_rows(quality: Quality, rows: &[&Row]) -> Self {
        let mut sources: Vec<&str> = rows.iter().map(|row| row.source.as_str()).collect();
        sources.dedup();
        let mut source = sources.join(", ");
        let latest = rows.first();
        if let (Basis::Family, Some(relative)) = (quality.basis, latest) {
            source.push_str(&format!(" of {}", relative.model));
        }
        Self { quality, source, date: latest.map(|row| row.date.clone()).unwrap_or_default() }
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

/// Three decimals, as everything here is printed.
pub(crate) fn rounded(share: f64) -> f64 {
    (share * 1e3).round() / 1e3
}

/// The names that a model may be known by: that at its provider first.
fn names(model: &Model) -> Vec<&str> {
    let upstream = model.deployments.first().map(|deployment| deployment.upstream_model.as_str());
    upstream.into_iter().chain([model.id.as_str()]).collect()
}

/// Whether routers choose from it: it is no router, and no second name.
pub(crate) fn is_chosen_from(model: &Model) -> bool {
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
        let imported = table.imported().iter().map(|row| (row, 1));
        for (row, sources) in imported.chain(table.priors().iter().map(|row| (row, row.sources())))
        {
            let tasks = TaskType::ALL.into_iter().zip(row.by_task);
            let tasks = tasks.map(|(task, share)| (task.as_str().to_owned(), json!(share)));
            let value = json!({
                "model": row.model,
                "effort": row.effort.map(ReasoningEffort::as_str),
                "average": row.average,
                "source": row.source,
                "sources": sources,
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
    if settings.catalog.routers().any(|router| router.id.as_str() == args.model) {
        let model = &args.model;
        writeln!(
            err,
            "{model} is a router, which is as good as what it chooses: `sluice route cards {model}`"
        )?;
        return Ok(Exit::Failed);
    }
    let served = settings.catalog.get(&args.model);
    let served = match served.and_then(|model| model.alias_of.as_ref()) {
        Some(own) => settings.catalog.get(own.as_str()),
        None => served,
    };
    let served = served.filter(|model| is_chosen_from(model));
    let taken = match served {
        Some(model) => Taken::of(model, table),
        None => {
            let Some((quality, rows)) = table.explain(&[&args.model]) else {
                writeln!(
                    err,
                    "{} is neither served nor known: where it is served, its price counts; \
                     `sluice catalog quality list --known` names all that are known",
                    args.model
                )?;
                return Ok(Exit::Failed);
            };
            Taken::by_rows(quality, &rows)
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
    if !is_day(date) {
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
    let scaled = match table::on_scale(&board, &QualityTable::built_in(), source, date) {
        Ok(scaled) => scaled,
        Err(wrong) => {
            writeln!(err, "{}: {wrong}", args.file.display())?;
            return Ok(Exit::Failed);
        }
    };
    let target = settings.storage.data_dir.0.join(QUALITY_FILE);
    let older = match environment.read_file(&target) {
        Ok(text) => table::rows(&text).map_err(|wrong| wrong.to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    };
    let older = match older {
        Ok(older) => older,
        Err(what) => {
            writeln!(
                err,
                "{} cannot be added to: {what}; mend it, or delete it to import everything again",
                target.display()
            )?;
            return Ok(Exit::Failed);
        }
    };
    let rows = &scaled.rows;
    let (imported, replaced) = merged(&older, rows, board.format);
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
        let count = strange.len();
        let what = "are of no known family, and count for models of that very name";
        writeln!(out, "{count} {what}: {}.", some_of(&strange))?;
    }
    if !scaled.left_out.is_empty() {
        let names: Vec<&str> = scaled.left_out.iter().map(String::as_str).collect();
        let what = "are left out, as it says too little of them and nothing else is known";
        writeln!(out, "{} {what}: {}.", names.len(), some_of(&names))?;
    }
    writeln!(out, "A running server takes them over when it reloads; see `sluice check`.")?;
    Ok(Exit::Done)
}

/// The first of many names.
fn some_of(names: &[&str]) -> String {
    let shown = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    if names.len() > 5 { format!("{shown}, …") } else { shown }
}

/// What was imported, with `newer` in the place of what its sources said; and how many rows had to
/// go. A line of one's own evaluation takes the place of what the same source said of that model,
/// so that models can be imported one by one; a leaderboard takes the place of all of itself.
fn merged(older: &[Row], newer: &[Row], format: Format) -> (Vec<Row>, usize) {
    let is_same = |old: &Row, new: &Row| {
        new.source == old.source
            && (format != Format::Plain || (new.model == old.model && new.effort == old.effort))
    };
    let goes = |old: &&Row| newer.iter().any(|new| is_same(old, new));
    let kept: Vec<Row> = older.iter().filter(|old| !goes(old)).cloned().collect();
    let replaced = older.len() - kept.len();
    (kept.into_iter().chain(newer.iter().cloned()).collect(), replaced)
}

#[cfg(test)]
mod tests;
