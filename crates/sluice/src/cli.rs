//! The command line.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use sluice_core::clock::{Clock, SystemClock, UnixMillis};
use sluice_core::secret::Secret;
use sluice_gateway::admin::NewKey;
use sluice_gateway::vendors::Vendors;

use crate::commands::records::Records;
use crate::commands::{
    Exit, accounts, audit, budgets, catalog, check, connect, example_config, filter, keys, models,
    organisation, policy, provider_keys, providers, route, routers, secrets, storage, usage,
};
use crate::config::{Problems, ProcessEnvironment, Settings};
use crate::{probe, serve};

/// How long commands that can do without a database wait for it.
const DATABASE_PATIENCE: Duration = Duration::from_secs(5);

/// A self-hosted gateway to language models: one OpenAI-compatible endpoint in front of many
/// providers.
#[derive(Debug, Parser)]
#[command(name = "sluice", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeArgs,
}

#[derive(Debug, clap::Args)]
struct ServeArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder, else what is found in the environment
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address and port of the API, instead of `server.listen`: 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// Start with a new database if the old one is gone for good. The old keys, accounts, records
    /// and audit trail are not in it
    #[arg(long)]
    new_database: bool,
}

fn address(word: &str) -> Result<SocketAddr, String> {
    let numeric = match word.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => word.to_owned(),
    };
    let problem = |_| "expected an IP address and a port (127.0.0.1:8080 or [::]:8080)".to_owned();
    numeric.parse().map_err(problem)
}

/// Where a server's settings come from: what its command line says.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    config: Option<PathBuf>,
    listen: Option<SocketAddr>,
}

impl Source {
    /// The checked configuration as it is now.
    pub(crate) async fn settings(&self) -> Result<Settings, Problems> {
        let config = self.config.as_deref();
        let environment = environment(config, ProcessEnvironment::default()).await;
        let mut settings = Settings::open(config, &environment)?;
        if let Some(listen) = self.listen {
            settings.server.listen = listen;
        }
        Ok(settings)
    }

    /// The same with the file that `settings` were found in: a server stays with it.
    pub(crate) fn of(self, settings: &Settings) -> Self {
        Self { config: settings.file.clone(), ..self }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the API (the default command)
    Serve(ServeArgs),
    /// Says what is wrong with a configuration, without starting anything
    Check(check::CheckArgs),
    /// Prints a configuration file with every setting in it
    ExampleConfig,
    /// Lists the models that are served, and imports prices
    Catalog {
        #[command(subcommand)]
        command: catalog::CatalogCommand,
    },
    /// Prints the exact configuration of a client for this deployment
    Connect(connect::ConnectArgs),
    /// Puts in, lists, tries, changes and removes providers
    Providers(providers::ProvidersArgs),
    /// Puts in, lists, changes and removes models
    Models(models::ModelsArgs),
    /// What accounts, departments, teams, people, services and keys may use
    Budgets(budgets::BudgetsArgs),
    /// What holds for requests: levels, models, regions, retention, filter settings
    Policy(policy::PolicyArgs),
    /// Provider keys of accounts, departments and teams, used instead of the deployment's
    ProviderKeys(provider_keys::ProviderKeysArgs),
    /// Makes, lists, tries, changes and rolls back routers of accounts, departments and teams
    Routers(routers::RoutersArgs),
    /// Rotates the master key
    Secrets(secrets::SecretsArgs),
    /// Makes, lists, rotates and revokes service keys
    Keys(keys::KeysArgs),
    /// Makes, lists and changes accounts
    Accounts(accounts::AccountsArgs),
    /// Makes, lists and changes departments
    Departments(organisation::DepartmentsArgs),
    /// Makes, lists and changes teams
    Teams(organisation::TeamsArgs),
    /// Adds, lists and changes people
    People(organisation::PeopleArgs),
    /// Makes, lists and changes services: what holds keys and is no person
    Services(organisation::ServicesArgs),
    /// Prints what would be redacted in a text, a diff or a chat request
    Filter(filter::FilterArgs),
    /// Says which model a router would choose and why, and replays past choices
    Route(route::RouteArgs),
    /// Lists requests, with the tokens that they used and what they cost
    Usage(usage::UsageArgs),
    /// Lists the audit trail, and checks it
    Audit(audit::AuditArgs),
    /// Copies everything from one database into another
    Storage(storage::StorageArgs),
    /// Writes everything to a file, also while a server runs
    Backup(storage::BackupArgs),
    /// Puts a backup back, into an empty data folder and database
    Restore(storage::RestoreArgs),
}

/// Runs what the command line says.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = error.print();
            return ExitCode::from(code.code());
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = writeln!(io::stderr(), "cannot start threads: {error}");
            return ExitCode::from(Exit::Failed.code());
        }
    };
    let command = cli.command.unwrap_or(Command::Serve(cli.serve));
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let exit = runtime.block_on(run(command, &mut out, &mut err)).unwrap_or_else(|error| {
        // Whoever reads our output may stop reading: `sluice usage list | head`.
        if error.kind() != io::ErrorKind::BrokenPipe {
            let _ = writeln!(err, "{error}");
        }
        Exit::Failed
    });
    runtime.shutdown_background();
    ExitCode::from(exit.code())
}

async fn run(command: Command, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let clock = SystemClock;
    match command {
        Command::Serve(ServeArgs { config, listen, new_database }) => {
            serve::run(Source { config, listen }, new_database, out, err).await
        }
        Command::Check(args) => {
            let plain = ProcessEnvironment::default();
            check::run(&args, &environment(args.config.as_deref(), plain).await, out, err)
        }
        Command::ExampleConfig => example_config::run(out),
        Command::Catalog { command } => {
            let plain = ProcessEnvironment::without_providers();
            let environment = environment(command.config(), plain).await;
            let vendors = match Settings::open(command.config(), &environment) {
                Ok(settings) => vendors_in(&settings).await,
                Err(_) => Vendors::default(),
            };
            catalog::run(&command, &vendors, &environment, &clock, out, err)
        }
        Command::Connect(args) => match settings(args.config.as_deref()).await {
            Ok(settings) => {
                let (settings, _) = settings.with(&vendors_in(&settings).await);
                let create = async |fitting: connect::FittingKey| {
                    create_key(&settings, fitting, clock.now()).await
                };
                connect::run(&args, &settings, create, out, err).await
            }
            Err(problems) => refuse(&problems, err),
        },
        Command::Providers(args) => match settings(args.config.as_deref()).await {
            Ok(settings) => {
                let environment = ProcessEnvironment::default();
                let input = providers::Input { environment: &environment, stdin: &mut io::stdin() };
                providers::run(args, &settings, input, clock.now(), out, err).await
            }
            Err(problems) => refuse(&problems, err),
        },
        Command::Budgets(args) => match settings(args.config.as_deref()).await {
            Ok(settings) => budgets::run(args, &settings, clock.now(), out, err).await,
            Err(problems) => refuse(&problems, err),
        },
        Command::Policy(args) => match settings(args.config.as_deref()).await {
            Ok(settings) => policy::run(args, &settings, clock.now(), out, err).await,
            Err(problems) => refuse(&problems, err),
        },
        Command::ProviderKeys(args) => match settings(args.config.as_deref()).await {
            Ok(settings) => {
                let environment = ProcessEnvironment::default();
                let input = providers::Input { environment: &environment, stdin: &mut io::stdin() };
                provider_keys::run(args, &settings, input, clock.now(), out, err).await
            }
            Err(problems) => refuse(&problems, err),
        },
        Command::Routers(args) => match settings(args.config.as_deref()).await {
            Ok(settings) => routers::run(args, &settings, clock.now(), out, err).await,
            Err(problems) => refuse(&problems, err),
        },
        Command::Secrets(args) => match settings(args.config.as_deref()).await {
            Ok(settings) => secrets::run(args, &settings, clock.now(), out, err).await,
            Err(problems) => refuse(&problems, err),
        },
        Command::Models(args) => match settings(args.config.as_deref()).await {
            Ok(settings) => models::run(args, &settings, clock.now(), out, err).await,
            Err(problems) => refuse(&problems, err),
        },
        Command::Keys(args) => match settings(args.config.as_deref()).await {
            Ok(settings) => keys::run(args, &settings, clock.now(), out, err).await,
            Err(problems) => refuse(&problems, err),
        },
        Command::Accounts(args) => match recorded(args.config.as_deref()) {
            Ok(settings) => accounts::run(args, &settings, clock.now(), out, err).await,
            Err(problems) => refuse(&problems, err),
        },
        Command::Departments(args) => {
            organise(organisation::Command::Departments(args), clock.now(), out, err).await
        }
        Command::Teams(args) => {
            organise(organisation::Command::Teams(args), clock.now(), out, err).await
        }
        Command::People(args) => {
            organise(organisation::Command::People(args), clock.now(), out, err).await
        }
        Command::Services(args) => {
            organise(organisation::Command::Services(args), clock.now(), out, err).await
        }
        Command::Filter(args) => match recorded(args.config.as_deref()) {
            Ok(settings) => filter::run(&args, &settings, &mut io::stdin(), out, err),
            Err(problems) => refuse(&problems, err),
        },
        // Model servers on this machine are not looked for: their models have no say here, and
        // nobody should have to wait.
        Command::Route(args) => {
            route::run(&args, &ProcessEnvironment::without_providers(), &mut io::stdin(), out, err)
        }
        Command::Usage(args) => match recorded(args.config.as_deref()) {
            Ok(settings) => {
                usage::run(args, &settings.storage.location(), clock.now(), out, err).await
            }
            Err(problems) => refuse(&problems, err),
        },
        Command::Audit(args) if args.is_of_a_file() => audit::run_on_a_file(&args, out, err),
        Command::Audit(args) => match recorded(args.config.as_deref()) {
            Ok(settings) => {
                audit::run(args, &settings.storage.location(), clock.now(), out, err).await
            }
            Err(problems) => refuse(&problems, err),
        },
        Command::Storage(args) => match recorded(args.config.as_deref()) {
            Ok(settings) => {
                storage::run(args, &settings.storage.location(), clock.now(), out, err).await
            }
            Err(problems) => refuse(&problems, err),
        },
        Command::Backup(args) => match recorded(args.config.as_deref()) {
            Ok(settings) => {
                storage::back_up(&args, &settings.storage.location(), clock.now(), out, err).await
            }
            Err(problems) => refuse(&problems, err),
        },
        Command::Restore(args) => match recorded(args.config.as_deref()) {
            Ok(settings) => {
                storage::put_back(&args, &settings.storage.location(), clock.now(), out, err).await
            }
            Err(problems) => refuse(&problems, err),
        },
    }
}

async fn organise(
    command: organisation::Command,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    match recorded(command.config()) {
        Ok(settings) => organisation::run(command, &settings, now, out, err).await,
        Err(problems) => refuse(&problems, err),
    }
}

/// The checked configuration, for commands that only look into the data folder: which model
/// servers the machine has does not matter to them.
fn recorded(config: Option<&Path>) -> Result<Settings, Problems> {
    Settings::open(config, &ProcessEnvironment::without_providers())
}

/// The checked configuration, for commands that need to know which models there are and ask none.
async fn settings(config: Option<&Path>) -> Result<Settings, Problems> {
    let environment = environment(config, ProcessEnvironment::without_providers()).await;
    Settings::open(config, &environment)
}

/// What people put into the database, where there is one that can be read.
async fn vendors_in(settings: &Settings) -> Vendors {
    let location = settings.storage.location();
    let opened = tokio::time::timeout(DATABASE_PATIENCE, Records::open_existing(&location));
    let Ok(Ok(records)) = opened.await else { return Vendors::default() };
    let vendors = Vendors::read(&records.store, &records.master_key).await;
    records.store.close().await;
    vendors.unwrap_or_default()
}

fn refuse(problems: &Problems, err: &mut dyn Write) -> io::Result<Exit> {
    writeln!(err, "{problems}")?;
    Ok(Exit::Usage)
}

/// The machine's environment. Model servers on it are looked for only where the configuration
/// leaves the providers open.
async fn environment(config: Option<&Path>, plain: ProcessEnvironment) -> ProcessEnvironment {
    match Settings::open(config, &plain) {
        Ok(settings) if settings.discovered => {
            let server = &settings.server;
            let own = [Some(server.listen), server.dashboard_listen.0, server.metrics_listen.0];
            let own: Vec<u16> = own.into_iter().flatten().map(|address| address.port()).collect();
            ProcessEnvironment { local: probe::local_servers(&own).await, ..plain }
        }
        _ => plain,
    }
}

/// A key that fits a client, for `sluice connect --create-key`.
async fn create_key(
    settings: &Settings,
    fitting: connect::FittingKey,
    now: UnixMillis,
) -> Result<Secret<String>, Box<dyn std::error::Error>> {
    let records = Records::open(&settings.storage.location()).await?;
    let wish =
        NewKey { max_tokens: fitting.max_tokens, ..NewKey::named(&fitting.name, fitting.class) };
    let (settings, _) = records.with_vendors(settings).await?;
    let created = records.admin(now).create_key(wish, Some(&settings.catalog)).await?;
    records.store.close().await;
    Ok(Secret::new(created.key.expose().to_owned()))
}
