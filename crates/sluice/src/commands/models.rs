//! `sluice models`: what callers can ask for, beside what the configuration file has.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::money::TokenPrice;
use sluice_gateway::admin::{AdminError, ModelView, Origin};
use sluice_gateway::vendors::ModelSpec;
use sluice_routing::catalog::facts::ListPrice;

use super::Exit;
use super::providers::upstream;
use super::records::{
    CommandError, Records, Setting, level, limit, moment, one_of, or_dash, setting, settle, table,
};
use crate::config::Settings;

/// Models.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelsArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    command: ModelsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ModelsCommand {
    /// Lists all models, those of the configuration file as well
    List(ListArgs),
    /// Puts a model in: `sluice models add ID --provider PROVIDER`
    Add(Box<AddArgs>),
    /// Changes the settings of a model that are named
    Set(Box<SetArgs>),
    /// Asks a model for one token, at each provider that runs it
    Test(TestArgs),
    /// Removes a model
    Remove(WhichModel),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Prints JSON, one object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct WhichModel {
    /// What callers put in `model`
    id: String,
}

#[derive(Debug, clap::Args)]
struct TestArgs {
    /// What callers put in `model`
    id: String,
    /// Prints JSON, one object a provider
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// What callers put in `model`; no other model has it
    id: String,
    /// The provider that runs it; several with commas, in order of preference
    #[arg(long, value_delimiter = ',', required_unless_present = "same_as")]
    provider: Vec<String>,
    /// Instead of a provider: the model that answers. The id is then a second name of it
    #[arg(long, value_name = "MODEL")]
    same_as: Option<String>,
    #[command(flatten)]
    settings: SettingArgs,
    /// Prints the model as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct SetArgs {
    /// What callers put in `model`
    id: String,
    /// The provider that runs it; several with commas, in order of preference
    #[arg(long, value_delimiter = ',')]
    provider: Option<Vec<String>>,
    /// The model that answers, for a second name
    #[arg(long, value_name = "MODEL")]
    same_as: Option<String>,
    #[command(flatten)]
    settings: SettingArgs,
    /// Prints the model as JSON
    #[arg(long)]
    json: bool,
}

/// The settings that a model can do without.
#[derive(Debug, Default, PartialEq, clap::Args)]
struct SettingArgs {
    /// Its name at the provider, or `default` for its id
    #[arg(long, value_name = "NAME", value_parser = |word: &str| setting(word, "default", text))]
    upstream_model: Option<Setting<String>>,
    /// US dollars per million tokens: input=1.00,output=4.00, and cached_input, cache_write and
    /// reasoning where they differ. `default` for what the catalogue says
    #[arg(long, value_parser = |word: &str| setting(word, "default", price))]
    price: Option<Setting<ListPrice>>,
    /// Prompt and answer together, in tokens, or `default` for what the catalogue says
    #[arg(long, value_name = "N", value_parser = |word: &str| setting(word, "default", tokens))]
    context_window: Option<Setting<u32>>,
    /// The most tokens of one answer, or `default` for what the catalogue says
    #[arg(long, value_name = "N", value_parser = |word: &str| setting(word, "default", tokens))]
    output_limit: Option<Setting<u32>>,
    /// The share of requests that it answers well: default=0.8,code=0.85, or `default`
    #[arg(long, value_name = "SHARES", value_parser = |word: &str| setting(word, "default", quality))]
    quality: Option<Setting<BTreeMap<String, f64>>>,
    /// The usual time to its first token, in milliseconds, or `default`
    #[arg(long, value_name = "MS", value_parser = |word: &str| setting(word, "default", number))]
    first_token_ms: Option<Setting<f64>>,
    /// Its usual speed, or `default`
    #[arg(long, value_name = "N", value_parser = |word: &str| setting(word, "default", number))]
    tokens_per_second: Option<Setting<f64>>,
    /// Everything that it can do, with commas: vision, tools, json_schema, reasoning, prompt_cache;
    /// `default` for what the catalogue says
    #[arg(long, value_name = "WORDS", value_parser = |word: &str| setting(word, "default", text))]
    capabilities: Option<Setting<String>>,
    /// The smallest suite that has it: basic, standard, full, or `default`
    #[arg(long, value_parser = |word: &str| setting(word, "default", suite))]
    suite: Option<Setting<Suite>>,
    /// The least strict level at which it answers: standard, high, maximum, or `default`
    #[arg(long, value_name = "LEVEL", value_parser = |word: &str| setting(word, "default", level))]
    security_level: Option<Setting<SecurityLevel>>,
    /// Who made it, or `default`
    #[arg(long, value_name = "NAME", value_parser = |word: &str| setting(word, "default", text))]
    owned_by: Option<Setting<String>>,
    /// When it was made: a day, or `default`
    #[arg(long, value_name = "DAY", value_parser = |word: &str| setting(word, "default", moment))]
    created: Option<Setting<UnixMillis>>,
}

impl SettingArgs {
    fn apply(self, spec: &mut ModelSpec) {
        fn put<T>(setting: Option<Setting<T>>, into: &mut Option<T>) {
            if let Some(Setting(value)) = setting {
                *into = value;
            }
        }
        put(self.upstream_model, &mut spec.upstream_model);
        put(self.price, &mut spec.price);
        put(self.context_window, &mut spec.context_window);
        put(self.output_limit, &mut spec.output_limit);
        if let Some(Setting(quality)) = self.quality {
            spec.quality = quality.unwrap_or_default();
        }
        put(self.first_token_ms, &mut spec.first_token_ms);
        put(self.tokens_per_second, &mut spec.tokens_per_second);
        if let Some(Setting(words)) = self.capabilities {
            let listed = |words: String| words.split(',').map(|it| it.trim().to_owned()).collect();
            spec.capabilities = words.map(listed);
        }
        put(self.suite, &mut spec.suite);
        put(self.security_level, &mut spec.minimum_security_level);
        put(self.owned_by, &mut spec.owned_by);
        if let Some(Setting(created)) = self.created {
            spec.created = created.map(UnixMillis::seconds);
        }
    }
}

fn text(word: &str) -> Result<String, String> {
    Ok(word.to_owned())
}

fn suite(word: &str) -> Result<Suite, String> {
    one_of(word, &[Suite::Basic, Suite::Standard, Suite::Full], Suite::as_str)
}

fn number(word: &str) -> Result<f64, String> {
    word.parse().map_err(|_| "expected a number".to_owned())
}

fn tokens(word: &str) -> Result<u32, String> {
    u32::try_from(limit(word)?).map_err(|_| "expected a smaller number".to_owned())
}

fn members(word: &str) -> Result<Vec<(&str, &str)>, String> {
    let parts = word.split(',').map(|part| part.split_once('='));
    parts
        .map(|part| part.map(|(name, value)| (name.trim(), value.trim())))
        .collect::<Option<_>>()
        .ok_or_else(|| "expected NAME=NUMBER, with commas between several".to_owned())
}

fn price(word: &str) -> Result<ListPrice, String> {
    let mut found: BTreeMap<&str, TokenPrice> = BTreeMap::new();
    for (name, value) in members(word)? {
        if !["input", "cached_input", "cache_write", "output", "reasoning"].contains(&name) {
            return Err(format!(
                "there is no price {name:?}; use input, cached_input, cache_write, output, reasoning"
            ));
        }
        found.insert(name, value.parse().map_err(|error| format!("{name}: {error}"))?);
    }
    match (found.get("input"), found.get("output")) {
        (Some(input), Some(output)) => Ok(ListPrice {
            input: *input,
            cached_input: found.get("cached_input").copied(),
            cache_write: found.get("cache_write").copied(),
            output: *output,
            reasoning: found.get("reasoning").copied(),
        }),
        _ => Err("expected at least input=… and output=…".to_owned()),
    }
}

fn quality(word: &str) -> Result<BTreeMap<String, f64>, String> {
    let shares = members(word)?.into_iter();
    shares.map(|(name, value)| Ok((name.to_owned(), number(value)?))).collect()
}

/// Runs a `models` command.
pub(crate) async fn run(
    args: ModelsArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args.command, settings, now, out, err).await;
    settle(result, err)
}

async fn act(
    command: ModelsCommand,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let location = settings.storage.location();
    let records = match command {
        ModelsCommand::Add(_) => Records::open(&location).await?,
        _ => Records::open_existing(&location).await?,
    };
    let (admin, given) = (records.admin(now), &*settings.given);
    let one = async |id: &str, as_line: bool, out: &mut dyn Write| -> Result<(), CommandError> {
        let models = admin.models(given).await?;
        let found: Vec<ModelView> = models.into_iter().filter(|it| it.id == id).collect();
        print(&found, as_line, out)?;
        Ok(())
    };
    match command {
        ModelsCommand::List(args) => print(&admin.models(given).await?, args.json, out)?,
        ModelsCommand::Add(args) => {
            let mut spec = ModelSpec {
                provider: args.provider,
                same_as: args.same_as,
                ..ModelSpec::default()
            };
            args.settings.apply(&mut spec);
            admin.create_model(given, &args.id, spec).await?;
            writeln!(err, "Model {} is put in.", args.id)?;
            one(&args.id, args.json, out).await?;
        }
        ModelsCommand::Set(args) => {
            let names_nothing = args.provider.is_none()
                && args.same_as.is_none()
                && args.settings == SettingArgs::default();
            if names_nothing {
                return Err(CommandError::Usage(
                    "name a setting to change; `sluice models set --help` lists them",
                ));
            }
            let (id, as_line) = (args.id, args.json);
            let (provider, same_as, settings) = (args.provider, args.same_as, args.settings);
            let change = |spec: &mut ModelSpec| {
                if let Some(provider) = provider {
                    spec.provider = provider;
                    spec.same_as = None;
                }
                if let Some(same_as) = same_as {
                    spec.same_as = Some(same_as);
                    spec.provider.clear();
                }
                settings.apply(spec);
            };
            admin.change_model(given, &id, change).await?;
            writeln!(err, "Model {id} is changed.")?;
            one(&id, as_line, out).await?;
        }
        ModelsCommand::Test(args) => {
            let all_answered = test(&records, settings, now, &args, out, err).await?;
            records.store.close().await;
            return Ok(if all_answered { Exit::Done } else { Exit::Failed });
        }
        ModelsCommand::Remove(args) => {
            admin.remove_model(given, &args.id).await?;
            writeln!(err, "Model {} is removed.", args.id)?;
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

/// Asks a model wherever it runs; whether each place answered.
async fn test(
    records: &Records,
    settings: &Settings,
    now: UnixMillis,
    args: &TestArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<bool, CommandError> {
    let (effective, _) = records.with_vendors(settings).await?;
    let missing = |why: String| CommandError::NotFound(why);
    let Some(model) = effective.catalog.get(&args.id) else {
        return Err(missing(format!("model {} is not served; see `sluice models list`", args.id)));
    };
    let target = model.alias_of.as_ref().and_then(|id| effective.catalog.get(id.as_str()));
    let mut all_answered = true;
    for place in &target.unwrap_or(model).deployments {
        let Some(provider) = effective.providers.iter().find(|it| it.id == place.provider) else {
            return Err(missing(format!("provider {} is not served", place.provider)));
        };
        let upstream = upstream(provider.dialect, settings);
        let name = &place.upstream_model;
        let (at, mut line) = (&place.provider, json!({ "model": args.id, "upstream_model": name }));
        line["provider"] = at.as_str().into();
        let (text, ok) = match records.admin(now).test_model(provider, name, &*upstream).await {
            Ok(after) => {
                let ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                line["ms"] = ms.into();
                (format!("{at} answered as {name} in {ms} ms."), true)
            }
            Err(AdminError::Provider(why)) => {
                line["error"] = why.to_string().into();
                (format!("{at} did not answer as {name}: {why}; {}", why.advice()), false)
            }
            Err(error) => return Err(error.into()),
        };
        line["ok"] = ok.into();
        all_answered &= ok;
        match (args.json, ok) {
            (true, _) => writeln!(out, "{line}")?,
            (false, true) => writeln!(out, "{text}")?,
            (false, false) => writeln!(err, "{text}")?,
        }
    }
    Ok(all_answered)
}

fn places(view: &ModelView) -> Vec<String> {
    let model = view.model.iter();
    model.flat_map(|it| &it.deployments).map(|at| at.provider.to_string()).collect()
}

fn state(view: &ModelView) -> String {
    match (&view.left_out, view.model.as_ref().and_then(|it| it.alias_of.as_ref())) {
        (Some(why), _) => format!("not served: {}", why.replace('\n', "; ")),
        (None, Some(target)) => format!("is {target}"),
        (None, None) => "served".to_owned(),
    }
}

fn print(models: &[ModelView], as_lines: bool, out: &mut dyn Write) -> io::Result<()> {
    if as_lines {
        for model in models {
            writeln!(out, "{}", as_json(model))?;
        }
        return Ok(());
    }
    let rows: Vec<[String; 7]> = models
        .iter()
        .map(|it| {
            let price = it.model.as_ref().and_then(|model| model.price.as_ref());
            [
                it.id.clone(),
                it.origin.as_str().to_owned(),
                or_dash(Some(places(it).join(", ")).filter(|places| !places.is_empty())),
                or_dash(it.model.as_ref().and_then(|model| model.context_window)),
                or_dash(price.map(|price| price.input)),
                or_dash(price.map(|price| price.output)),
                state(it),
            ]
        })
        .collect();
    table(out, ["model", "origin", "providers", "context", "input", "output", "state"], &rows)
}

fn as_json(view: &ModelView) -> serde_json::Value {
    let model = view.model.as_deref();
    json!({
        "id": view.id,
        "origin": view.origin.as_str(),
        "read_only": view.origin == Origin::File,
        "providers": places(view),
        "alias_of": model.and_then(|it| it.alias_of.as_ref()),
        "context_window": model.and_then(|it| it.context_window),
        "output_limit": model.and_then(|it| it.output_limit),
        "price": model.and_then(|it| it.price.as_ref()).map(|price| json!({
            "input": price.input,
            "cached_input": price.cache_read,
            "cache_write": price.cache_write,
            "output": price.output,
            "reasoning": price.reasoning,
            "version": price.version,
        })),
        "suite": model.map(|it| it.suite),
        "settings": view.record.as_ref().map(|it| &it.settings),
        "created_at": view.record.as_ref().map(|it| it.created_at.to_rfc3339()),
        "served": view.left_out.is_none(),
        "why_not": view.left_out,
    })
}
