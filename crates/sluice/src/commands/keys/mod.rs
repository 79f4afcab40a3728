//! `sluice keys`: service keys are made, listed, changed, moved, rotated, suspended and revoked.
//!
//! A running server on the same data folder notices every change within a second. A new key is
//! printed once, alone on standard output, so that scripts can take it; everything else goes to
//! standard error.

mod show;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use show::{Around, as_json, list, show};
use sluice_core::clock::UnixMillis;
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::organisation::KeyScope;
use sluice_core::region::Region;
use sluice_gateway::admin::{CreatedKey, KeyChange, KeyMove, Kind, NewKey, Which, name_of};
use sluice_gateway::limits::AllowanceView;

use super::records::{
    CommandError, Records, Setting, duration, level, limit, moment, one_of, region, setting,
    settle, yes_or_no,
};
use super::{Exit, allowances};
use crate::config::Settings;

/// Service keys.
#[derive(Debug, clap::Args)]
pub(crate) struct KeysArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, clap::Subcommand)]
enum KeysCommand {
    /// Makes a key and prints it, once
    Create(Box<CreateArgs>),
    /// Lists all keys
    List(ListArgs),
    /// Shows everything about a key except the key itself
    Show(ShowArgs),
    /// Changes the settings of a key that are named; the key itself stays the same
    Set(Box<SetArgs>),
    /// Gives a key a new secret; the old one still works for a while. Everything else stays
    Rotate(RotateArgs),
    /// Moves a key to another team, person or service
    Move(MoveArgs),
    /// Suspends a key: it answers 403 with the reason until it is resumed
    Suspend(SuspendArgs),
    /// Takes the suspension of a key back
    Resume(WhichKey),
    /// Revokes a key for good
    Revoke(WhichKey),
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// Your name for it
    #[arg(long)]
    name: String,
    /// development, production or enterprise: sets its limits
    #[arg(long, default_value = "production", value_parser = class)]
    class: KeyClass,
    /// The account's id or name
    #[arg(long)]
    account: Option<String>,
    /// What bounds max_tokens: documented (1 to 4096) or model [default: as configured]
    #[arg(long, value_parser = max_tokens)]
    max_tokens: Option<MaxTokensBound>,
    /// The least strict level of its requests: standard, high or maximum
    #[arg(long, value_name = "LEVEL", default_value = "standard", value_parser = level)]
    security_level: SecurityLevel,
    /// Requests an hour, instead of the class's
    #[arg(long, value_name = "N", value_parser = limit)]
    requests_per_hour: Option<u64>,
    /// Tokens a day, instead of the class's
    #[arg(long, value_name = "N", value_parser = limit)]
    tokens_per_day: Option<u64>,
    /// The only models that it may use: a,b
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    models: Option<Vec<String>>,
    /// The only regions that it may use: us-east,eu-west
    #[arg(long, value_name = "REGIONS", value_delimiter = ',', value_parser = region)]
    regions: Option<Vec<Region>>,
    /// Where its requests are processed if they do not say so
    #[arg(long, value_parser = region)]
    region: Option<Region>,
    /// When it expires: a day (2027-01-31) or a time (2027-01-31T09:30:00Z)
    #[arg(long, value_name = "DATE", value_parser = moment)]
    expires: Option<UnixMillis>,
    /// Only sums about its requests are stored
    #[arg(long)]
    zero_retention: bool,
    /// Each of its requests leaves an audit entry
    #[arg(long)]
    audit: bool,
    /// Its team's id or name
    #[arg(long)]
    team: Option<String>,
    /// Whose it is: a person's or a service's id or name, also as person:P or service:S
    #[arg(long)]
    owner: Option<String>,
    /// What it may do: chat,models [default: both]
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', value_parser = scope)]
    scopes: Option<Vec<KeyScope>>,
    /// Prints JSON: the key and its record
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct SetArgs {
    #[command(flatten)]
    which: WhichKey,
    /// Your name for it
    #[arg(long)]
    name: Option<String>,
    /// development, production or enterprise: sets its limits
    #[arg(long, value_parser = class)]
    class: Option<KeyClass>,
    /// The id or name of the account that it moves to. It loses its team and its owner, and what was
    /// recorded stays with the old account
    #[arg(long)]
    account: Option<String>,
    /// What bounds max_tokens: documented (1 to 4096) or model
    #[arg(long, value_parser = max_tokens)]
    max_tokens: Option<MaxTokensBound>,
    /// The least strict level of its requests: standard, high or maximum
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    security_level: Option<SecurityLevel>,
    /// Requests an hour, or `class` for the figure of its class
    #[arg(long, value_name = "N", value_parser = |word: &str| setting(word, "class", limit))]
    requests_per_hour: Option<Setting<u64>>,
    /// Tokens a day, or `class` for the figure of its class
    #[arg(long, value_name = "N", value_parser = |word: &str| setting(word, "class", limit))]
    tokens_per_day: Option<Setting<u64>>,
    /// The only models that it may use (a,b), or `all`
    #[arg(long, value_name = "MODELS", value_parser = |word: &str| setting(word, "all", models))]
    models: Option<Setting<Vec<String>>>,
    /// The only regions that it may use (us-east,eu-west), or `all`
    #[arg(long, value_name = "REGIONS", value_parser = |word: &str| setting(word, "all", regions))]
    regions: Option<Setting<Vec<Region>>>,
    /// Where its requests are processed if they do not say so, or `none`
    #[arg(long, value_parser = |word: &str| setting(word, "none", region))]
    region: Option<Setting<Region>>,
    /// When it expires: a day (2027-01-31), a time (2027-01-31T09:30:00Z), or `never`
    #[arg(long, value_name = "DATE", value_parser = |word: &str| setting(word, "never", moment))]
    expires: Option<Setting<UnixMillis>>,
    /// Whether only sums about its requests are stored: yes or no
    #[arg(long, value_name = "YES", value_parser = yes_or_no)]
    zero_retention: Option<bool>,
    /// Whether each of its requests leaves an audit entry: yes or no
    #[arg(long, value_name = "YES", value_parser = yes_or_no)]
    audit: Option<bool>,
    /// What it may do: chat,models
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', value_parser = scope)]
    scopes: Option<Vec<KeyScope>>,
    /// Prints the key's record as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Lists only keys that work
    #[arg(long)]
    valid: bool,
    /// Prints JSON, one object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    #[command(flatten)]
    which: WhichKey,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct RotateArgs {
    #[command(flatten)]
    which: WhichKey,
    /// How long the old secret still works: 24h, 30m, 7d
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = duration)]
    grace: Duration,
    /// The same in hours
    #[arg(long, value_name = "N", conflicts_with = "grace", hide = true)]
    grace_hours: Option<u32>,
    /// Prints JSON: the new key and its record
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct MoveArgs {
    #[command(flatten)]
    which: WhichKey,
    /// Its new team's id or name, or `none`
    #[arg(long, value_parser = |word: &str| setting(word, "none", |it| Ok(it.to_owned())))]
    team: Option<Setting<String>>,
    /// Whose it is now: a person's or a service's id or name, or `none`
    #[arg(long, value_parser = |word: &str| setting(word, "none", |it| Ok(it.to_owned())))]
    owner: Option<Setting<String>>,
}

#[derive(Debug, clap::Args)]
struct SuspendArgs {
    #[command(flatten)]
    which: WhichKey,
    /// Why; whoever uses the key is told
    #[arg(long, default_value = "by an administrator")]
    reason: String,
}

#[derive(Debug, clap::Args)]
struct WhichKey {
    /// The key's id or name, or the first characters of one of its secrets
    key: String,
}

fn class(word: &str) -> Result<KeyClass, String> {
    one_of(word, &KeyClass::ALL, KeyClass::as_str)
}

fn scope(word: &str) -> Result<KeyScope, String> {
    one_of(word, &KeyScope::ALL, KeyScope::as_str)
}

fn max_tokens(word: &str) -> Result<MaxTokensBound, String> {
    one_of(word, &[MaxTokensBound::Documented, MaxTokensBound::Model], MaxTokensBound::as_str)
}

fn models(list: &str) -> Result<Vec<String>, String> {
    Ok(list.split(',').map(|model| model.trim().to_owned()).collect())
}

fn regions(list: &str) -> Result<Vec<Region>, String> {
    list.split(',').map(|word| region(word.trim())).collect()
}

/// Runs a `keys` command.
pub(crate) async fn run(
    args: KeysArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = Box::pin(act(args.command, settings, now, out, err)).await;
    settle(result, err)
}

async fn act(
    command: KeysCommand,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let location = settings.storage.location();
    // A first key may come before the first start; whatever else there is to do needs one.
    let records = match command {
        KeysCommand::Create(_) => Records::open(&location).await?,
        _ => Records::open_existing(&location).await?,
    };
    let admin = records.admin(now);
    match command {
        KeysCommand::Create(args) => {
            let json = args.json;
            let wish = wish(*args, settings.keys.max_tokens);
            if wish.account.is_none() && wish.team.is_none() && wish.holder.is_none() {
                admin.default_account().await?;
            }
            // What can fail comes before the key is made: it is shown only once.
            let around = Around::read(&records, settings, now).await?;
            let (served, _) = records.with_vendors(settings).await?;
            let created = admin.create_key(wish, Some(&served.catalog)).await?;
            announce(&created, err)?;
            print_key(&created, json, &around, out)?;
        }
        KeysCommand::List(args) => {
            let mut keys = admin.keys().await?;
            let around = Around::read(&records, settings, now).await?;
            keys.retain(|key| !args.valid || around.is_valid(key));
            if keys.is_empty() && !args.json {
                writeln!(err, "There are no keys. `sluice keys create --name NAME` makes one.")?;
            }
            list(&keys, args.json, &around, out)?;
        }
        KeysCommand::Show(args) => {
            let key = admin.key(&args.which.key).await?;
            let around = Around::read(&records, settings, now).await?;
            let views = match around.account(&key) {
                Some(account) => {
                    let whose = (Some(&key), account);
                    allowances::views(&records, &around.rules, whose, now).await?
                }
                None => Vec::new(),
            };
            if args.json {
                let mut shown = as_json(&key, &around);
                let views: Vec<_> = views.iter().map(AllowanceView::to_json).collect();
                shown["limits"]["allowances"] = views.into();
                writeln!(out, "{shown}")?;
            } else {
                show(&key, &around, out)?;
                allowances::print(&views, out)?;
            }
        }
        KeysCommand::Set(args) => {
            let (which, json) = (args.which.key.clone(), args.json);
            let change = change(*args);
            if change == KeyChange::default() {
                return Err(CommandError::Usage(
                    "name a setting to change; `sluice keys set --help` lists them",
                ));
            }
            let old = admin.key(&which).await?;
            let (served, _) = records.with_vendors(settings).await?;
            let key = admin.change_key(&which, change, Some(&served.catalog)).await?;
            let around = Around::read(&records, settings, now).await?;
            writeln!(err, "Key {} ({}) is changed.", key.id, key.name)?;
            if let Some(lost) = show::lost(&old, &key) {
                writeln!(
                    err,
                    "It belongs to another account now, and no longer has {lost}; \
                     `sluice keys move {} --team TEAM --owner OWNER` gives it others.",
                    key.id
                )?;
            }
            match json {
                true => writeln!(out, "{}", as_json(&key, &around))?,
                false => show(&key, &around, out)?,
            }
        }
        KeysCommand::Rotate(args) => {
            let hours = args.grace_hours.map(|it| Duration::from_secs(u64::from(it) * 3600));
            let around = Around::read(&records, settings, now).await?;
            let grace = hours.unwrap_or(args.grace);
            let rotation = admin.rotate_key(&args.which.key, grace).await?;
            let record = &rotation.new.record;
            let old = match rotation.old_expires_at {
                ended if ended <= now => "no longer works".to_owned(),
                ends => format!("works until {}", ends.to_rfc3339()),
            };
            writeln!(
                err,
                "Key {} ({}) has a new secret. It is printed only now. The old one {old}.",
                record.id, record.name
            )?;
            print_key(&rotation.new, args.json, &around, out)?;
        }
        KeysCommand::Move(args) => {
            let to = KeyMove {
                team: args.team.map(|setting| setting.0),
                holder: args.owner.map(|setting| setting.0),
            };
            if to == KeyMove::default() {
                return Err(CommandError::Usage("name a --team, an --owner or both"));
            }
            let key = admin.move_key(&args.which.key, to).await?;
            writeln!(err, "Key {} ({}) is moved.", key.id, key.name)?;
        }
        KeysCommand::Suspend(args) => {
            let which = Which::new(Kind::Key, &args.which.key);
            let record = admin.suspend(&which, &args.reason).await?;
            writeln!(err, "Key {} ({}) is suspended.", record.subject().id(), name_of(&record))?;
        }
        KeysCommand::Resume(args) => {
            let record = admin.resume(&Which::new(Kind::Key, &args.key)).await?;
            writeln!(err, "Key {} ({}) is resumed.", record.subject().id(), name_of(&record))?;
        }
        KeysCommand::Revoke(args) => {
            let revocation = admin.revoke_key(&args.key).await?;
            let (id, name) = (&revocation.record.id, &revocation.record.name);
            match revocation.already {
                true => writeln!(err, "Key {id} ({name}) was revoked before.")?,
                false => writeln!(err, "Key {id} ({name}) is revoked.")?,
            }
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

fn wish(args: CreateArgs, usual: MaxTokensBound) -> NewKey {
    NewKey {
        name: args.name,
        class: args.class,
        account: args.account,
        models: args.models,
        regions: args.regions,
        region: args.region,
        minimum_level: args.security_level,
        zero_retention: args.zero_retention,
        audit: args.audit,
        max_tokens: args.max_tokens.unwrap_or(usual),
        requests_per_hour: args.requests_per_hour,
        tokens_per_day: args.tokens_per_day,
        team: args.team,
        holder: args.owner,
        scopes: args.scopes.unwrap_or_else(|| KeyScope::ALL.to_vec()),
        expires_at: args.expires,
    }
}

fn change(args: SetArgs) -> KeyChange {
    KeyChange {
        name: args.name,
        class: args.class,
        account: args.account,
        models: args.models.map(|setting| setting.0),
        regions: args.regions.map(|setting| setting.0),
        region: args.region.map(|setting| setting.0),
        minimum_level: args.security_level,
        zero_retention: args.zero_retention,
        audit: args.audit,
        max_tokens: args.max_tokens,
        requests_per_hour: args.requests_per_hour.map(|setting| setting.0),
        tokens_per_day: args.tokens_per_day.map(|setting| setting.0),
        scopes: args.scopes,
        expires_at: args.expires.map(|setting| setting.0),
    }
}

/// Prints a new key: alone, so that scripts can take it, or within its record.
fn print_key(
    created: &CreatedKey,
    json: bool,
    around: &Around,
    out: &mut dyn Write,
) -> io::Result<()> {
    let key = created.key.expose();
    if !json {
        return writeln!(out, "{key}");
    }
    let mut record = as_json(&created.record, around);
    record["key"] = json!(key);
    writeln!(out, "{record}")
}

fn announce(created: &CreatedKey, err: &mut dyn Write) -> io::Result<()> {
    let record = &created.record;
    writeln!(
        err,
        "Created key {} ({}, class {}). It is printed only now:",
        record.id,
        record.name,
        record.class.as_str()
    )
}
