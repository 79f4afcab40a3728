//! `sluice catalog`: the models that are served, and newer prices for them.
//!
//! An imported list is kept as `catalog.json` in the data folder. It counts before the built-in
//! one, from the next start or reload on; the configuration file counts before both.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use sluice_core::clock::Clock;
use sluice_core::region::Region;
use sluice_gateway::vendors::Vendors;
use sluice_routing::catalog::litellm::{self, Import};
use sluice_routing::catalog::{Capabilities, Model};
use sluice_routing::router::Router;

pub(crate) mod quality;

use super::Exit;
use crate::config::{CATALOG_FILE, Environment, Settings};

/// Lists models, or imports a price list.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum CatalogCommand {
    /// Prints the models that are served.
    List(ListArgs),
    /// Imports LiteLLM's price list. It replaces what was imported before.
    Import(ImportArgs),
    /// Shows how good models are taken to be, or imports an evaluation.
    #[command(subcommand)]
    Quality(quality::QualityCommand),
}

impl CatalogCommand {
    /// The configuration file that is named.
    pub(crate) fn config(&self) -> Option<&Path> {
        match self {
            Self::List(args) => args.config.as_deref(),
            Self::Import(args) => args.config.as_deref(),
            Self::Quality(command) => command.config(),
        }
    }
}

/// Prints the models that are served.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Prints JSON, one object a line.
    #[arg(long)]
    json: bool,
}

/// Imports LiteLLM's price list.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// `model_prices_and_context_window.json`
    file: PathBuf,
    /// Imports only the models of this kind of provider (openai, anthropic, …).
    #[arg(long, value_name = "KIND")]
    provider: Option<String>,
    /// The day of the list (2026-11-21). Default: today.
    #[arg(long, value_name = "DAY")]
    date: Option<String>,
    /// The configuration file, which says where the data folder is. Default: sluice.toml in the
    /// current folder.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Writes to this file instead of the data folder.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs a `catalog` command.
pub(crate) fn run(
    command: &CatalogCommand,
    vendors: &Vendors,
    environment: &dyn Environment,
    clock: &dyn Clock,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    match command {
        CatalogCommand::List(args) => list(args, vendors, environment, out, err),
        CatalogCommand::Import(args) => import(args, environment, clock, out, err),
        CatalogCommand::Quality(command) => {
            quality::run(command, vendors, environment, clock, out, err)
        }
    }
}

fn list(
    args: &ListArgs,
    vendors: &Vendors,
    environment: &dyn Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let settings = match Settings::open(args.config.as_deref(), environment) {
        Ok(settings) => settings,
        Err(problems) => {
            writeln!(err, "{problems}")?;
            return Ok(Exit::Usage);
        }
    };
    let (settings, _) = settings.with(vendors);
    let catalog = &settings.catalog;
    let models = catalog.models();
    if args.json {
        for model in models {
            let router = catalog.router(model.id.as_str());
            writeln!(out, "{}", as_json(model, router.map(|router| &**router)))?;
        }
        return Ok(Exit::Done);
    }
    let width = models.iter().map(|model| model.id.as_str().len()).max().unwrap_or(0).max(5);
    writeln!(
        out,
        "{:width$} {:>10} {:>9} {:>9}  suite     note",
        "model", "context", "input", "output"
    )?;
    for model in models {
        let context = model.context_window.map_or("?".to_owned(), |tokens| tokens.to_string());
        let router = catalog.router(model.id.as_str());
        let (input, output) = match (&model.price, router) {
            (Some(price), _) => (price.input.to_string(), price.output.to_string()),
            // That of whichever member answers.
            (None, Some(_)) => ("-".to_owned(), "-".to_owned()),
            (None, None) => ("?".to_owned(), "?".to_owned()),
        };
        let mut notes = Vec::new();
        if let Some(router) = router {
            let (policy, count) = (router.policy.as_str(), router.members.len());
            let models = if count == 1 { "model" } else { "models" };
            notes.push(format!("{policy} router over {count} {models}"));
        }
        if let Some(target) = &model.alias_of {
            notes.push(format!("is {target}"));
        }
        if model.simulated {
            notes.push("simulated".to_owned());
        }
        if model.minimum_level != sluice_core::level::SecurityLevel::Standard {
            notes.push(format!("at least level {}", model.minimum_level.as_str()));
        }
        writeln!(
            out,
            "{:width$} {context:>10} {input:>9} {output:>9}  {:8}  {}",
            model.id.as_str(),
            model.suite.as_str(),
            notes.join(", ")
        )?;
    }
    writeln!(out, "\nPrices are US dollars per million tokens; ? is unknown.")?;
    writeln!(out, "A router answers with one of its models, at that model's price.")?;
    Ok(Exit::Done)
}

fn as_json(model: &Model, router: Option<&Router>) -> serde_json::Value {
    let Capabilities { vision, tools, json_schema, reasoning, prompt_cache } = model.capabilities;
    json!({
        "id": model.id,
        "owned_by": model.owned_by,
        "created": model.created,
        "alias_of": model.alias_of,
        "simulated": model.simulated,
        "router": router.map(|router| json!({
            "policy": router.policy.as_str(),
            "members": router.members.iter().map(|member| &member.model.id).collect::<Vec<_>>(),
        })),
        "providers": model.deployments.iter().map(|d| json!({
            "provider": d.provider,
            "upstream_model": d.upstream_model,
            "region": d.region.map(Region::as_str),
        })).collect::<Vec<_>>(),
        "context_window": model.context_window,
        "output_limit": model.output_limit,
        "capabilities": {
            "vision": vision,
            "tools": tools,
            "json_schema": json_schema,
            "reasoning": reasoning,
            "prompt_cache": prompt_cache,
        },
        "price": model.price.as_ref().map(|price| json!({
            "input": price.input,
            "cached_input": price.cache_read,
            "cache_write": price.cache_write,
            "output": price.output,
            "reasoning": price.reasoning,
            "version": price.version,
        })),
        "price_source": model.price_source.as_ref().map(|source| json!({
            "source": source.source,
            "date": source.date,
        })),
        "suite": model.suite,
        "minimum_security_level": model.minimum_level,
    })
}

fn import(
    args: &ImportArgs,
    environment: &dyn Environment,
    clock: &dyn Clock,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    if let Some(kind) = &args.provider
        && !litellm::kinds().any(|known| known == kind)
    {
        let known = litellm::kinds().collect::<Vec<_>>().join(", ");
        writeln!(err, "--provider {kind}: the list has no such provider; use one of {known}")?;
        return Ok(Exit::Usage);
    }
    let today = clock.now().to_rfc3339();
    let today = today.get(..10).unwrap_or(&today);
    let date = args.date.as_deref().unwrap_or(today);
    if date.len() != 10 || sluice_core::clock::UnixMillis::parse(date).is_none() {
        writeln!(err, "--date {date}: expected a day, such as {today}")?;
        return Ok(Exit::Usage);
    }
    let target = match &args.output {
        Some(path) => path.clone(),
        None => match Settings::open(args.config.as_deref(), environment) {
            Ok(settings) => settings.storage.data_dir.0.join(CATALOG_FILE),
            Err(problems) => {
                writeln!(err, "{problems}")?;
                return Ok(Exit::Usage);
            }
        },
    };
    let text = match environment.read_file(&args.file) {
        Ok(text) => text,
        Err(error) => {
            writeln!(err, "cannot read {}: {error}", args.file.display())?;
            return Ok(Exit::Failed);
        }
    };
    let import = match litellm::import(&text, args.provider.as_deref(), date) {
        Ok(import) => import,
        Err(error) => {
            writeln!(err, "{} is not LiteLLM's price list: {error}", args.file.display())?;
            return Ok(Exit::Failed);
        }
    };
    let json = import.list.to_json(litellm::SOURCE, date).map_err(io::Error::other)?;
    if let Err(error) = replace(&target, &json) {
        writeln!(err, "cannot write {}: {error}", target.display())?;
        return Ok(Exit::Failed);
    }
    report(&import, &target, out)?;
    Ok(Exit::Done)
}

/// Writes a file as a whole or not at all: a server may read it at any time.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    std::fs::write(&unfinished, text)?;
    std::fs::rename(&unfinished, path)
}

fn report(import: &Import, target: &Path, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} models are in {}.", import.list.entries().len(), target.display())?;
    let notes = [
        (import.unpriced, "have no price in the list: it stays unknown"),
        (import.tiered, "cost more for long prompts: the plain price is used for all"),
        (import.retired, "models are switched off"),
        (import.malformed, "entries could not be read"),
        (import.other_modes, "entries are not chat models"),
        (import.other_providers, "entries belong to other providers"),
    ];
    for (count, note) in notes.into_iter().filter(|(count, _)| *count > 0) {
        writeln!(out, "{count} {note}.")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use sluice_core::clock::{ManualClock, UnixMillis};

    use super::*;
    use crate::config::ProcessEnvironment;

    #[derive(clap::Parser)]
    struct Line {
        #[command(subcommand)]
        command: CatalogCommand,
    }

    fn catalog(line: &[&str]) -> (Exit, String, String) {
        let line = Line::try_parse_from([&["catalog"], line].concat()).unwrap();
        let clock = ManualClock::at(UnixMillis::parse("2026-11-21").unwrap());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let environment = ProcessEnvironment::default();
        let exit =
            run(&line.command, &Vendors::default(), &environment, &clock, &mut out, &mut err)
                .unwrap();
        (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    #[test]
    fn an_imported_price_counts_before_the_built_in_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (config, prices) = (path("sluice.toml"), path("prices.json"));
        std::fs::write(&config, "[[providers]]\nid = \"o\"\nkind = \"openai\"\napi_key = \"k\"\n")
            .unwrap();
        std::fs::write(
            &prices,
            r#"{"gpt-5-mini": {"litellm_provider": "openai", "mode": "chat",
                "input_cost_per_token": 3e-07, "output_cost_per_token": 2.5e-06},
                "gpt-new": {"litellm_provider": "openai", "mode": "chat"}}"#,
        )
        .unwrap();

        let (exit, out, err) = catalog(&["import", &prices, "--config", &config]);
        assert_eq!((exit, err.as_str()), (Exit::Done, ""));
        assert_eq!(
            out,
            format!(
                "2 models are in {}.\n1 have no price in the list: it stays unknown.\n",
                path("sluice-data/catalog.json")
            )
        );

        let (exit, out, _) = catalog(&["list", "--json", "--config", &config]);
        assert_eq!(exit, Exit::Done);
        let models: Vec<serde_json::Value> =
            out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |id: &str| models.iter().find(|model| model["id"] == id).unwrap();
        assert_eq!(of("o/gpt-5-mini")["price"]["input"], "0.3");
        assert_eq!(of("o/gpt-5-mini")["price"]["version"], "LiteLLM's price list 2026-11-21");
        assert_eq!(of("o/gpt-new")["price"], serde_json::Value::Null);
        assert_eq!(of("svc/compliance-assistant")["minimum_security_level"], "maximum");
        assert_eq!(of("o/gpt-new")["router"], serde_json::Value::Null);
        let auto = &of("svc/auto")["router"];
        assert_eq!(auto["policy"], "balanced");
        assert!(auto["members"].as_array().unwrap().contains(&"o/gpt-new".into()));

        let (exit, out, _) = catalog(&["list", "--config", &config]);
        assert_eq!(exit, Exit::Done);
        assert!(out.contains("o/gpt-new") && out.contains("at least level maximum"), "{out}");
        let auto = out.lines().find(|line| line.starts_with("svc/auto ")).unwrap();
        assert!(auto.contains(" - ") && auto.contains("balanced router over "), "{auto}");
    }

    #[test]
    fn what_cannot_be_imported_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("other.json").display().to_string();
        std::fs::write(&file, "[1]").unwrap();
        let (exit, _, err) = catalog(&["import", &file, "--output", "unused.json"]);
        assert_eq!(exit, Exit::Failed);
        assert!(err.contains("is not LiteLLM's price list"), "{err}");

        let (exit, _, err) = catalog(&["import", &file, "--provider", "nobody"]);
        assert_eq!(exit, Exit::Usage);
        assert!(err.contains("use one of anthropic, azure"), "{err}");

        let (exit, _, err) = catalog(&["import", &file, "--date", "soon"]);
        assert_eq!(
            (exit, err.as_str()),
            (Exit::Usage, "--date soon: expected a day, such as 2026-11-21\n")
        );

        let missing = folder.path().join("none.json").display().to_string();
        let (exit, _, _) = catalog(&["import", &missing, "--output", "unused.json"]);
        assert_eq!(exit, Exit::Failed);
    }
}
