//! `sluice providers`: what runs models, beside what the configuration file has.
//!
//! A credential comes from standard input or from a variable that is named, never from an argument,
//! which everybody on the machine could read. It is never printed.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use sluice_core::clock::{SystemClock, UnixMillis};
use sluice_core::region::Region;
use sluice_core::secret::Secret;
use sluice_gateway::admin::{NewProvider, Origin, ProviderChange, ProviderView};
use sluice_gateway::vendors::{ProviderSecrets, ProviderSpec};
use sluice_providers::presets::{self, WireDialect};
use sluice_providers::simulator::{Pace, Simulator};
use sluice_providers::transport::HttpUpstream;
use sluice_providers::upstream::Upstream;

use super::Exit;
use super::records::{CommandError, Records, Setting, or_dash, region, setting, settle, table};
use crate::config::{Environment, Settings};

/// Longest credential that is read, in bytes.
const LONGEST_KEY: u64 = 64 << 10;

/// Providers.
#[derive(Debug, clap::Args)]
pub(crate) struct ProvidersArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    command: ProvidersCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ProvidersCommand {
    /// Lists all providers, those of the configuration file as well
    List(ListArgs),
    /// Puts a provider in: `sluice providers add NAME --kind openai < KEY`
    Add(AddArgs),
    /// Changes the settings of a provider that are named
    Set(SetArgs),
    /// Makes one cheap call of a provider, to see whether its address and credential are good
    Test(TestArgs),
    /// Removes a provider and its credential
    Remove(RemoveArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Prints JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// Where a credential is read.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct KeyArgs {
    /// The environment variable that holds the credential
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
    /// Reads the credential from standard input. `add` does so by itself, unless that is a terminal
    #[arg(long)]
    key_stdin: bool,
    /// Has no credential
    #[arg(long)]
    no_key: bool,
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Its name, which no other provider has
    name: String,
    /// What it is: openai (also for every service that is compatible with it), azure, anthropic,
    /// gemini, openrouter, ollama and so on; docs/providers.md has the list
    #[arg(long)]
    kind: String,
    /// Address before the dialect's own path. Default: the service's own
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Where it processes requests: us-east, us-west, eu-west or asia-pacific
    #[arg(long, value_parser = region)]
    region: Option<Region>,
    /// The api-version for calls of an azure provider
    #[arg(long, value_name = "VERSION")]
    api_version: Option<String>,
    /// How it differs from OpenAI, instead of what its kind says; several with commas
    #[arg(long, value_name = "QUIRKS", value_delimiter = ',')]
    quirks: Option<Vec<String>>,
    /// A further header of every call, whose value is in an environment variable; may be repeated
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = pair)]
    header: Vec<(String, String)>,
    #[command(flatten)]
    key: KeyArgs,
    /// Prints the provider as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct SetArgs {
    /// The provider's name
    name: String,
    /// Address before the dialect's own path, or `default`. It needs the credential again
    #[arg(long, value_name = "URL", value_parser = |word: &str| setting(word, "default", text))]
    base_url: Option<Setting<String>>,
    /// Where it processes requests, or `none`
    #[arg(long, value_parser = |word: &str| setting(word, "none", region))]
    region: Option<Setting<Region>>,
    /// The api-version for calls of an azure provider, or `default`
    #[arg(long, value_name = "VERSION", value_parser = |word: &str| setting(word, "default", text))]
    api_version: Option<Setting<String>>,
    /// How it differs from OpenAI, several with commas, or `default`
    #[arg(long, value_name = "QUIRKS", value_parser = |word: &str| setting(word, "default", text))]
    quirks: Option<Setting<String>>,
    /// A further header of every call, whose value is in an environment variable; may be repeated,
    /// and replaces all headers
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = pair)]
    header: Vec<(String, String)>,
    /// Takes all further headers away
    #[arg(long, conflicts_with = "header")]
    no_headers: bool,
    #[command(flatten)]
    key: KeyArgs,
    /// Prints the provider as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct TestArgs {
    /// The provider's name
    name: String,
    /// Prints the result as JSON, with the models that it lists
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// The provider's name
    name: String,
    /// Removes its models, too, where they run nowhere else
    #[arg(long)]
    with_models: bool,
}

fn text(word: &str) -> Result<String, String> {
    Ok(word.to_owned())
}

fn pair(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((name, variable)) if !name.is_empty() && !variable.is_empty() => {
            Ok((name.to_ascii_lowercase(), variable.to_owned()))
        }
        _ => Err("expected the header's name and a variable's: x-team=TEAM_HEADER".to_owned()),
    }
}

/// Where secrets come from.
pub(crate) struct Input<'a> {
    /// The variables.
    pub(crate) environment: &'a dyn Environment,
    /// Standard input.
    pub(crate) stdin: &'a mut io::Stdin,
}

impl Input<'_> {
    fn variable(&self, name: &str) -> Result<Secret<String>, CommandError> {
        let value = self.environment.variable(name).map(Secret::new);
        let missing = || CommandError::NotFound(format!("the variable {name} is not set"));
        Ok(Secret::new(value.ok_or_else(missing)?.expose().trim().to_owned()))
    }

    fn headers(
        &self,
        named: Vec<(String, String)>,
    ) -> Result<BTreeMap<String, Secret<String>>, CommandError> {
        let values = named.into_iter();
        values.map(|(name, variable)| Ok((name, self.variable(&variable)?))).collect()
    }

    /// What comes from standard input.
    pub(super) fn read(&mut self) -> Result<Secret<String>, CommandError> {
        let mut text = String::new();
        let read = self.stdin.lock().take(LONGEST_KEY).read_to_string(&mut text);
        let text = Secret::new(text);
        read?;
        Ok(Secret::new(text.expose().trim().to_owned()))
    }

    /// The credential of a provider that is put in.
    fn first_key(&mut self, args: &KeyArgs) -> Result<Option<Secret<String>>, CommandError> {
        match (&args.key_env, args.no_key) {
            (Some(variable), _) => self.variable(variable).map(Some),
            (None, true) => Ok(None),
            (None, false) if !args.key_stdin && self.stdin.is_terminal() => {
                Err(CommandError::Usage(
                    "give the credential on standard input (`< FILE`), name a variable that holds it \
                     (`--key-env VARIABLE`), or say that there is none (`--no-key`)",
                ))
            }
            (None, false) => {
                let key = self.read()?;
                Ok((args.key_stdin || !key.expose().is_empty()).then_some(key))
            }
        }
    }

    /// The credential of a provider that is changed; `None`: it stays.
    fn new_key(&mut self, args: &KeyArgs) -> Result<Option<Option<Secret<String>>>, CommandError> {
        match (&args.key_env, args.key_stdin, args.no_key) {
            (Some(variable), _, _) => self.variable(variable).map(|key| Some(Some(key))),
            (None, true, _) => self.read().map(|key| Some(Some(key))),
            (None, false, true) => Ok(Some(None)),
            (None, false, false) => Ok(None),
        }
    }
}

/// Runs a `providers` command.
pub(crate) async fn run(
    args: ProvidersArgs,
    settings: &Settings,
    input: Input<'_>,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args.command, settings, input, now, out, err).await;
    settle(result, err)
}

async fn act(
    command: ProvidersCommand,
    settings: &Settings,
    mut input: Input<'_>,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let location = settings.storage.location();
    let records = match command {
        ProvidersCommand::Add(_) => Records::open(&location).await?,
        _ => Records::open_existing(&location).await?,
    };
    let (admin, given) = (records.admin(now), &*settings.given);
    match command {
        ProvidersCommand::List(args) => {
            let providers = admin.providers(given).await?;
            match args.json {
                true => {
                    for provider in &providers {
                        writeln!(out, "{}", as_json(provider))?;
                    }
                }
                false => list(&providers, out)?,
            }
        }
        ProvidersCommand::Add(args) => {
            let secrets = ProviderSecrets {
                credential: input.first_key(&args.key)?,
                headers: input.headers(args.header)?,
            };
            let spec = ProviderSpec {
                kind: args.kind,
                base_url: args.base_url,
                region: args.region,
                headers: Vec::new(),
                api_version: args.api_version,
                quirks: args.quirks,
            };
            let name = args.name;
            let wish = NewProvider { name: name.clone(), spec, secrets };
            admin.create_provider(given, wish, Vec::new()).await?;
            let view = admin.provider(given, &name).await?;
            writeln!(err, "Provider {name} is put in; {}.", what_it_serves(&view))?;
            writeln!(err, "`sluice providers test {name}` says whether it can be reached.")?;
            print(&view, args.json, out)?;
        }
        ProvidersCommand::Set(args) => {
            let headers = match (args.header.is_empty(), args.no_headers) {
                (false, _) => Some(input.headers(args.header)?),
                (true, true) => Some(BTreeMap::new()),
                (true, false) => None,
            };
            let change = ProviderChange {
                base_url: args.base_url.map(|it| it.0),
                region: args.region.map(|it| it.0),
                api_version: args.api_version.map(|it| it.0),
                quirks: args.quirks.map(|it| {
                    it.0.map(|names| names.split(',').map(|it| it.trim().to_owned()).collect())
                }),
                credential: input.new_key(&args.key)?,
                headers,
            };
            if change == ProviderChange::default() {
                return Err(CommandError::Usage(
                    "name a setting to change; `sluice providers set --help` lists them",
                ));
            }
            admin.change_provider(given, &args.name, change, Vec::new()).await?;
            let view = admin.provider(given, &args.name).await?;
            writeln!(err, "Provider {} is changed.", args.name)?;
            print(&view, args.json, out)?;
        }
        ProvidersCommand::Test(args) => {
            let view = admin.provider(given, &args.name).await?;
            let (effective, _) = records.with_vendors(settings).await?;
            let provider =
                effective.providers.iter().find(|it| it.id.as_str() == args.name.as_str());
            let Some(provider) = provider else {
                let why = view.left_out.unwrap_or_else(|| "it is not served".to_owned());
                return Err(CommandError::NotFound(format!(
                    "provider {} is not served: {why}",
                    args.name
                )));
            };
            let upstream = upstream(provider.dialect, settings);
            let known = effective.catalog.models().iter().flat_map(|model| &model.deployments);
            let known: Vec<String> = known
                .filter(|at| at.provider == provider.id)
                .map(|at| at.upstream_model.clone())
                .collect();
            let reached = admin.test_provider(provider, &known, &*upstream).await?;
            let ms = reached.after.as_millis();
            match (args.json, &reached.models) {
                (true, models) => {
                    let line = json!({ "name": args.name, "ok": true, "ms": u64::try_from(ms).ok(), "models": models });
                    writeln!(out, "{line}")?;
                }
                (false, Some(models)) => {
                    let many = models.len();
                    writeln!(out, "{} answered in {ms} ms and lists {many} models.", args.name)?;
                }
                (false, None) => writeln!(out, "{} answered in {ms} ms.", args.name)?,
            }
        }
        ProvidersCommand::Remove(args) => {
            let models = admin.remove_provider(given, &args.name, args.with_models).await?;
            writeln!(err, "Provider {} is removed, and its credential with it.", args.name)?;
            for model in models {
                writeln!(err, "Model {model} is removed.")?;
            }
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

/// How a provider of this dialect is reached.
pub(super) fn upstream(dialect: WireDialect, settings: &Settings) -> Box<dyn Upstream> {
    match dialect {
        WireDialect::Simulator => Box::new(Simulator::new(Arc::new(SystemClock), Pace::Realistic)),
        _ => Box::new(HttpUpstream::new(settings.timeouts.connect_seconds.duration())),
    }
}

fn what_it_serves(view: &ProviderView) -> String {
    match view.models {
        0 => format!("name its models: `sluice models add ID --provider {}`", view.name),
        1 => "it serves 1 model".to_owned(),
        many => format!("it serves {many} models"),
    }
}

fn state(view: &ProviderView) -> String {
    match &view.left_out {
        Some(why) => format!("not served: {}", why.replace('\n', "; ")),
        None => "served".to_owned(),
    }
}

fn list(providers: &[ProviderView], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 7]> = providers
        .iter()
        .map(|it| {
            [
                it.name.clone(),
                it.origin.as_str().to_owned(),
                it.kind.clone(),
                or_dash(it.region.map(Region::as_str)),
                it.models.to_string(),
                if it.has_credential { "set" } else { "-" }.to_owned(),
                state(it),
            ]
        })
        .collect();
    table(out, ["provider", "origin", "kind", "region", "models", "credential", "state"], &rows)
}

fn print(view: &ProviderView, as_line: bool, out: &mut dyn Write) -> io::Result<()> {
    if as_line {
        return writeln!(out, "{}", as_json(view));
    }
    let kind = presets::find(&view.kind).map_or(view.kind.as_str(), |preset| &preset.name);
    for (name, value) in [
        ("provider", view.name.clone()),
        ("origin", view.origin.as_str().to_owned()),
        ("kind", format!("{} ({kind})", view.kind)),
        ("address", view.base_url.clone()),
        ("region", or_dash(view.region.map(Region::as_str))),
        ("credential", if view.has_credential { "set" } else { "-" }.to_owned()),
        ("models", view.models.to_string()),
        ("state", state(view)),
    ] {
        writeln!(out, "{name:12} {value}")?;
    }
    Ok(())
}

fn as_json(view: &ProviderView) -> serde_json::Value {
    let record = view.record.as_ref();
    json!({
        "name": view.name,
        "origin": view.origin.as_str(),
        "read_only": view.origin == Origin::File,
        "kind": view.kind,
        "base_url": view.base_url,
        "region": view.region.map(Region::as_str),
        "credential": if view.has_credential { Some("set") } else { None },
        "credential_set_at": record.and_then(|it| it.credential_set_at).map(UnixMillis::to_rfc3339),
        "created_at": record.map(|it| it.created_at.to_rfc3339()),
        "settings": record.map(|it| &it.settings),
        "models": view.models,
        "served": view.left_out.is_none(),
        "why_not": view.left_out,
    })
}
