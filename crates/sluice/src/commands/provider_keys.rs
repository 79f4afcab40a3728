//! `sluice provider-keys`: provider keys of accounts, departments and teams.
//!
//! A key comes from standard input, never from an argument, which everybody on the machine could read.
//! It is never printed.

use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use sluice_core::clock::UnixMillis;
use sluice_core::secret::Secret;
use sluice_gateway::Reached;
use sluice_gateway::admin::{NewProviderKey, ProviderAt, ProviderKeyView};
use sluice_providers::presets;

use super::Exit;
use super::providers::{Input, upstream};
use super::records::{CommandError, Records, or_dash, settle, table};
use crate::config::Settings;

/// Provider keys.
#[derive(Debug, clap::Args)]
pub(crate) struct ProviderKeysArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// The account's id or name, where there are several
    #[arg(long, global = true)]
    account: Option<String>,
    #[command(subcommand)]
    command: ProviderKeysCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ProviderKeysCommand {
    /// Adds a provider key, which comes from standard input: `sluice provider-keys add --provider P
    /// --for team:T < KEY`. The provider is asked whether it accepts the key
    Add {
        /// The provider's name
        #[arg(long)]
        provider: String,
        /// Whose requests are sent with it: `account`, or account:A, department:D, team:T, by id or name
        #[arg(long = "for", value_name = "WHOSE")]
        whose: String,
        /// Uses the deployment's key where this one fails
        #[arg(long)]
        fallback: bool,
        /// Budgets of money count what it costs
        #[arg(long)]
        count_in_budgets: bool,
        /// Does not ask the provider
        #[arg(long)]
        no_test: bool,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Lists provider keys, without the keys themselves
    List {
        /// Prints JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Asks the provider whether it accepts a key
    Test {
        /// Its id
        id: String,
    },
    /// Puts another key in its place, which comes from standard input
    Rotate {
        /// Its id
        id: String,
        /// Does not ask the provider
        #[arg(long)]
        no_test: bool,
    },
    /// Changes what happens where it fails, and what budgets count
    Set {
        /// Its id
        id: String,
        /// Whether the deployment's key is used where this one fails: true or false
        #[arg(long)]
        fallback: Option<bool>,
        /// Whether budgets of money count what it costs: true or false
        #[arg(long)]
        count_in_budgets: Option<bool>,
    },
    /// Removes a provider key: its secret is gone
    Remove {
        /// Its id
        id: String,
    },
}

/// Runs a `provider-keys` command.
pub(crate) async fn run(
    args: ProviderKeysArgs,
    settings: &Settings,
    input: Input<'_>,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = Box::pin(act(args, settings, input, now, out, err)).await;
    settle(result, err)
}

async fn act(
    args: ProviderKeysArgs,
    settings: &Settings,
    mut input: Input<'_>,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let records = Records::open_existing(&settings.storage.location()).await?;
    let admin = records.admin(now);
    let (served, _) = records.with_vendors(settings).await?;
    match args.command {
        ProviderKeysCommand::Add { provider, whose, fallback, count_in_budgets, no_test, json } => {
            let at = At::of(&served, &provider)?;
            let wish = NewProviderKey {
                subject: whose,
                account: args.account,
                secret: read(&mut input)?,
                falls_back: fallback,
                counts: count_in_budgets,
            };
            let view = admin.add_provider_key(wish, &at.provider(), !no_test).await?;
            let name = view.whose_name();
            writeln!(err, "Requests of {name} to {provider} are sent with {} now.", view.key.id)?;
            print(&[view], json, out)?;
        }
        ProviderKeysCommand::List { json } => {
            let keys = admin.provider_keys().await?;
            if keys.is_empty() && !json {
                writeln!(err, "There are no provider keys. `sluice provider-keys add` adds one.")?;
            }
            print(&keys, json, out)?;
        }
        ProviderKeysCommand::Test { id } => {
            let view = admin.provider_key(&id).await?;
            let at = At::of(&served, &view.key.provider)?;
            let Reached { after, .. } = admin.test_provider_key(&id, &at.provider()).await?;
            writeln!(
                out,
                "{} accepts it; it answered in {} ms.",
                view.key.provider,
                after.as_millis()
            )?;
        }
        ProviderKeysCommand::Rotate { id, no_test } => {
            let view = admin.provider_key(&id).await?;
            let at = At::of(&served, &view.key.provider)?;
            let secret = read(&mut input)?;
            admin.rotate_provider_key(&id, secret, &at.provider(), !no_test).await?;
            writeln!(err, "Provider key {id} holds another key now.")?;
        }
        ProviderKeysCommand::Set { id, fallback, count_in_budgets } => {
            if fallback.is_none() && count_in_budgets.is_none() {
                return Err(CommandError::Usage("name --fallback or --count-in-budgets"));
            }
            let view = admin.change_provider_key(&id, fallback, count_in_budgets).await?;
            print(&[view], false, out)?;
        }
        ProviderKeysCommand::Remove { id } => {
            let view = admin.remove_provider_key(&id).await?;
            let (name, provider) = (view.whose_name(), view.key.provider);
            writeln!(
                err,
                "Provider key {id} is removed. Requests of {name} to {provider} are sent with the next \
                 one outwards, else with the deployment's."
            )?;
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

fn read(input: &mut Input<'_>) -> Result<Secret<String>, CommandError> {
    const USAGE: CommandError = CommandError::Usage("give the key on standard input: add `< FILE`");
    if input.stdin.is_terminal() {
        return Err(USAGE);
    }
    let secret = input.read()?;
    if secret.expose().is_empty() { Err(USAGE) } else { Ok(secret) }
}

/// A provider as it is served, with what sends to it.
struct At {
    endpoint: Arc<sluice_providers::endpoint::Endpoint>,
    preset: &'static presets::Preset,
    known: Vec<String>,
    upstream: Box<dyn sluice_providers::upstream::Upstream>,
}

impl At {
    fn of(served: &Settings, name: &str) -> Result<Self, CommandError> {
        let missing = || {
            CommandError::from(sluice_gateway::admin::AdminError::NoSuchProvider {
                name: name.to_owned(),
            })
        };
        let mut providers = served.providers.iter();
        let provider = providers.find(|it| it.id.as_str() == name).ok_or_else(missing)?;
        let at = served.catalog.models().iter().flat_map(|model| &model.deployments);
        let known = at.filter(|at| at.provider.as_str() == name);
        Ok(Self {
            endpoint: Arc::new(provider.endpoint()),
            preset: presets::find(provider.kind).ok_or_else(missing)?,
            known: known.map(|at| at.upstream_model.clone()).take(1).collect(),
            upstream: upstream(provider.dialect, served),
        })
    }

    fn provider(&self) -> ProviderAt<'_> {
        ProviderAt {
            endpoint: self.endpoint.clone(),
            preset: self.preset,
            known: self.known.clone(),
            upstream: &*self.upstream,
        }
    }
}

fn as_json(view: &ProviderKeyView) -> Value {
    let key = &view.key;
    json!({
        "id": key.id,
        "account_id": key.account_id,
        "for": key.subject.to_string(),
        "for_name": view.whose_name(),
        "provider": key.provider,
        "base_url": key.base_url,
        "hint": key.hint,
        "fallback": key.falls_back,
        "count_in_budgets": key.counts,
        "created_at": key.created_at.to_rfc3339(),
        "rotated_at": key.rotated_at.to_rfc3339(),
    })
}

fn print(keys: &[ProviderKeyView], json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        return keys.iter().try_for_each(|view| writeln!(out, "{}", as_json(view)));
    }
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let rows: Vec<[String; 7]> = keys
        .iter()
        .map(|view| {
            let key = &view.key;
            let hint = Some(&key.hint).filter(|it| !it.is_empty()).map(|it| format!("…{it}"));
            [
                key.id.to_string(),
                view.whose_name(),
                key.provider.clone(),
                or_dash(hint),
                yes(key.falls_back),
                yes(key.counts),
                key.rotated_at.to_rfc3339(),
            ]
        })
        .collect();
    table(
        out,
        ["provider key", "for", "provider", "ends in", "fallback", "in budgets", "given"],
        &rows,
    )
}
