//! `sluice routers`: routers of accounts, departments and teams, beside those of the configuration file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};
use sluice_core::clock::UnixMillis;
use sluice_gateway::RouterVersion;
use sluice_gateway::admin::{Admin, AdminError, NewRouter, RouterView};
use sluice_gateway::choice::{Choice, Floor};
use sluice_gateway::vendors::{Given, RouterSpec};
use sluice_routing::router::Policy;

use super::Exit;
use super::audit::actor;
use super::policy::read_request;
use super::records::{CommandError, Records, one_of, or_dash, settle, table};
use crate::config::Settings;

/// Routers.
#[derive(Debug, clap::Args)]
pub(crate) struct RoutersArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// The account's id or name, where there are several
    #[arg(long, global = true)]
    account: Option<String>,
    #[command(subcommand)]
    command: RoutersCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RoutersCommand {
    /// Makes a router: `sluice routers create svc/review --members small=9,large=1`
    Create {
        /// What callers put in `model`: svc/ and a name
        name: String,
        /// Who may ask it: `account`, or account:A, department:D, team:T, by id or name
        #[arg(long = "for", value_name = "WHOSE", default_value = "account")]
        whose: String,
        #[command(flatten)]
        settings: SettingArgs,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Lists routers
    List {
        /// Prints JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Shows a router
    Show {
        /// Its name or id
        name: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Changes a router, which makes a new version: `sluice routers set svc/review --members small=7,large=3`
    Set {
        /// Its name or id
        name: String,
        #[command(flatten)]
        settings: SettingArgs,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Says which model a router would choose for a prompt, and why. Sends nothing anywhere
    Try(TryArgs),
    /// Lists the versions of a router, the newest first
    Versions {
        /// Its name or id
        name: String,
        /// Prints JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Makes the settings of an earlier version those of a new one
    Rollback {
        /// Its name or id
        name: String,
        /// The version to go back to. Default: the one before the newest
        #[arg(long, value_name = "VERSION")]
        to: Option<u32>,
    },
    /// Removes a router. Its requests keep its name
    Remove {
        /// Its name or id
        name: String,
    },
}

#[derive(Debug, clap::Args)]
struct TryArgs {
    /// Its name or id
    name: String,
    /// A prompt
    #[arg(long, value_name = "TEXT", required_unless_present = "request")]
    prompt: Option<String>,
    /// Instead of a prompt: a chat request as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    request: Option<PathBuf>,
    /// Versions to compare, with commas. Default: the newest
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',')]
    version: Vec<u32>,
    /// Prints JSON, one object a version
    #[arg(long)]
    json: bool,
}

impl TryArgs {
    async fn run(
        self,
        (admin, settings): (&Admin<'_>, &Settings),
        account: Option<&str>,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<Exit, CommandError> {
        let chat = match self.request.as_deref().map(read_request).transpose() {
            Ok(chat) => chat,
            Err(problem) => {
                writeln!(err, "{problem}")?;
                return Ok(Exit::Usage);
            }
        };
        let prompt = self.prompt.unwrap_or_default();
        let given = &*settings.given;
        let (view, versions) = admin.router_versions(given, &self.name, account).await?;
        let name = &view.record.name;
        let newest = view.record.version;
        let floor =
            Floor { level: settings.security.minimum_level, region: settings.default_region };
        for version in if self.version.is_empty() { vec![newest] } else { self.version } {
            let of = versions.iter().find(|it| it.version == version);
            let of = of.ok_or_else(|| AdminError::NoSuchVersion {
                name: name.clone(),
                version,
                newest,
            })?;
            let router = admin.draft_router(given, name, &RouterView::spec_of(of)).await?;
            let choice = match &chat {
                Some(chat) => Choice::of(&router, chat, &floor, 0),
                None => Choice::of_prompt(&router, &prompt, &floor),
            };
            explain(version, &choice, self.json, out)?;
        }
        Ok(Exit::Done)
    }
}

#[derive(Debug, Default, PartialEq, clap::Args)]
struct SettingArgs {
    /// What it chooses from, with the weights of a split: small=9,large=1; or without weights: small,large
    #[arg(long, value_parser = members)]
    members: Option<String>,
    /// How it chooses: balanced, fastest, strongest or weighted. Default: weighted where the members
    /// have weights, else balanced
    #[arg(long, value_parser = policy)]
    policy: Option<Policy>,
    /// The highest expected cost of a request, in US dollars; 0 for none
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
    /// The longest expected wait for a request's first token; 0 for none
    #[arg(long, value_name = "MS")]
    max_first_token_ms: Option<f64>,
    /// Task types that always go to one member: debug=large,write=small; empty for none
    #[arg(long, value_name = "PINS", value_parser = pins)]
    pins: Option<Pins>,
}

#[derive(Debug, Clone, PartialEq)]
struct Pins(BTreeMap<String, String>);

/// Members that can be read.
fn members(text: &str) -> Result<String, String> {
    RouterSpec::default().set_members(text).map(|()| text.to_owned())
}

fn policy(word: &str) -> Result<Policy, String> {
    one_of(word, &Policy::ALL, Policy::as_str)
}

fn pins(text: &str) -> Result<Pins, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let pins = parts.map(|part| {
        let pin = part.split_once('=');
        pin.map(|(task, member)| (task.trim().to_owned(), member.trim().to_owned()))
            .ok_or_else(|| format!("{part:?} is no pin; write TASK=MEMBER, such as debug=large"))
    });
    Ok(Pins(pins.collect::<Result<_, _>>()?))
}

impl SettingArgs {
    fn apply(self, spec: &mut RouterSpec) {
        let bound = |figure: f64| (figure != 0.0).then_some(figure);
        if let Some(members) = &self.members {
            // They can be read: that was seen when they were given.
            let _ = spec.set_members(members);
        }
        match (self.policy, &self.members) {
            // Weights that are given for another policy are refused, not dropped.
            (Some(policy), Some(_)) => spec.policy = policy,
            (Some(policy), None) => spec.set_policy(policy),
            (None, _) => {}
        }
        if let Some(most) = self.max_cost {
            spec.max_cost = bound(most);
        }
        if let Some(most) = self.max_first_token_ms {
            spec.max_first_token_ms = bound(most);
        }
        if let Some(Pins(pins)) = self.pins {
            spec.pins = pins;
        }
    }
}

/// Runs a `routers` command.
pub(crate) async fn run(
    args: RoutersArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = Box::pin(act(args, settings, now, out, err)).await;
    settle(result, err)
}

async fn act(
    args: RoutersArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let records = Records::open_existing(&settings.storage.location()).await?;
    let admin = records.admin(now);
    let (account, given) = (args.account.as_deref(), &*settings.given);
    match args.command {
        RoutersCommand::Create { name, whose, settings, json } => {
            let mut spec = RouterSpec::default();
            settings.apply(&mut spec);
            let account = args.account.clone();
            let wish = NewRouter { name, subject: whose, account, spec };
            let view = admin.create_router(given, wish).await?;
            writeln!(err, "{} can be asked by {}.", view.record.name, view.whose_name())?;
            print(&[view], json, out)?;
        }
        RoutersCommand::List { json } => {
            let routers = admin.routers(given).await?;
            if routers.is_empty() && !json {
                writeln!(
                    err,
                    "There are no routers but those of the configuration file, which `sluice route cards` \
                     shows. `sluice routers create` makes one."
                )?;
            }
            print(&routers, json, out)?;
        }
        RoutersCommand::Show { name, json } => {
            print(&[admin.router(given, &name, account).await?], json, out)?;
        }
        RoutersCommand::Set { name, settings, json } => {
            if settings == SettingArgs::default() {
                return Err(CommandError::Usage(
                    "name a setting to change; `sluice routers set --help` lists them",
                ));
            }
            let change = |spec: &mut RouterSpec| settings.apply(spec);
            let view = admin.change_router(given, &name, account, change).await?;
            writeln!(err, "{} is at version {} now.", view.record.name, view.record.version)?;
            print(&[view], json, out)?;
        }
        RoutersCommand::Try(attempt) => {
            let exit = attempt.run((&admin, settings), account, out, err).await?;
            records.store.close().await;
            return Ok(exit);
        }
        RoutersCommand::Versions { name, json } => {
            let (_, versions) = admin.router_versions(given, &name, account).await?;
            list_versions(&versions, json, out)?;
        }
        RoutersCommand::Rollback { name, to } => {
            let view = roll_back(&admin, given, (&name, account), to).await?;
            writeln!(err, "{} is at version {} now.", view.record.name, view.record.version)?;
            print(&[view], false, out)?;
        }
        RoutersCommand::Remove { name } => {
            let view = admin.remove_router(given, &name, account).await?;
            writeln!(
                err,
                "{} is removed. Requests for it are answered with 404.",
                view.record.name
            )?;
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

async fn roll_back(
    admin: &Admin<'_>,
    given: &Given,
    (name, account): (&str, Option<&str>),
    to: Option<u32>,
) -> Result<RouterView, CommandError> {
    let to = match to {
        Some(to) => to,
        None => {
            let newest = admin.router(given, name, account).await?.record.version;
            if newest == 1 {
                return Err(CommandError::Usage(
                    "it has one version; there is nothing to go back to",
                ));
            }
            newest - 1
        }
    };
    Ok(admin.roll_back_router(given, name, account, to).await?)
}

fn explain(version: u32, choice: &Choice, json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        let value = json!({
            "version": version,
            "chosen": choice.chosen,
            "task_type": choice.judgement.task().as_str(),
            "complexity": choice.judgement.complexity,
            "candidates": choice.candidates,
            "reasons": choice.reasons,
        });
        return writeln!(out, "{value}");
    }
    let chosen = choice.chosen.as_ref().map_or("nobody", |id| id.as_str());
    writeln!(out, "version {version} chooses {chosen} ({})", choice.judgement.task().as_str())?;
    choice.reasons.iter().try_for_each(|reason| writeln!(out, "  {reason}"))
}

fn list_versions(versions: &[RouterVersion], json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        return versions.iter().try_for_each(|it| {
            let value = json!({
                "version": it.version,
                "settings": it.settings,
                "changed_at": it.changed_at.to_rfc3339(),
                "changed_by": it.changed_by,
            });
            writeln!(out, "{value}")
        });
    }
    let rows: Vec<[String; 5]> = versions
        .iter()
        .map(|it| {
            let spec = RouterView::spec_of(it);
            [
                it.version.to_string(),
                spec.policy.as_str().to_owned(),
                members_of(&spec),
                it.changed_at.to_rfc3339(),
                actor(&it.changed_by),
            ]
        })
        .collect();
    table(out, ["version", "policy", "members", "made", "by"], &rows)
}

/// The members, of a split with their shares.
fn members_of(spec: &RouterSpec) -> String {
    let member = |(name, share): (&str, f64)| match spec.policy {
        Policy::Weighted => format!("{name} {:.0} %", share * 100.0),
        _ => name.to_owned(),
    };
    spec.shares().into_iter().map(member).collect::<Vec<_>>().join(", ")
}

fn as_json(view: &RouterView) -> Value {
    let record = &view.record;
    json!({
        "id": record.id,
        "name": record.name,
        "account_id": record.account_id,
        "for": record.subject.to_string(),
        "for_name": view.whose_name(),
        "version": record.version,
        "settings": record.settings,
        "shares": view.spec.shares().into_iter().collect::<BTreeMap<_, _>>(),
        "created_at": record.created_at.to_rfc3339(),
        "changed_at": record.changed_at.to_rfc3339(),
        "served": view.router.is_some(),
        "why_not": view.left_out,
    })
}

fn print(routers: &[RouterView], json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        return routers.iter().try_for_each(|view| writeln!(out, "{}", as_json(view)));
    }
    let rows: Vec<[String; 6]> = routers
        .iter()
        .map(|view| {
            [
                view.record.name.clone(),
                view.whose_name(),
                view.spec.policy.as_str().to_owned(),
                members_of(&view.spec),
                view.record.version.to_string(),
                or_dash(view.left_out.clone()),
            ]
        })
        .collect();
    table(out, ["router", "for", "policy", "members", "version", "problem"], &rows)
}
