//! `sluice keys`: service keys are made, listed, rotated and revoked.
//!
//! A running server on the same data folder notices every change within a second. A new key is
//! printed once, alone on standard output, so that scripts can take it; everything else goes to
//! standard error.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_gateway::admin::{CreatedKey, NewKey};
use sluice_storage::KeyRecord;

use super::Exit;
use super::records::{
    CommandError, Records, level, limit, moment, one_of, or_dash, region, settle, table,
};
use crate::config::Settings;

/// Service keys.
#[derive(Debug, clap::Args)]
pub(crate) struct KeysArgs {
    /// The configuration file. Default: sluice.toml in the current folder.
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
    /// Shows everything about a key but the key itself
    Show(ShowArgs),
    /// Makes a key with the same settings; the old one works on for a while
    Rotate(RotateArgs),
    /// Ends a key for good
    Revoke(WhichKey),
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// What you call it
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
    /// The mildest level of its requests: standard, high or maximum
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
    /// Where its requests are processed when they do not say
    #[arg(long, value_parser = region)]
    region: Option<Region>,
    /// When it ends: a day (2027-01-31) or a time (2027-01-31T09:30:00Z)
    #[arg(long, value_name = "DATE", value_parser = moment)]
    expires: Option<UnixMillis>,
    /// Nothing about its requests is stored but sums
    #[arg(long)]
    zero_retention: bool,
    /// Each of its requests leaves an audit entry
    #[arg(long)]
    audit: bool,
    /// The person, team or department that answers for it
    #[arg(long)]
    owner: Option<String>,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only those that work
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
    /// How long the old key still works, in hours
    #[arg(long, value_name = "N", default_value_t = 24)]
    grace_hours: u32,
}

#[derive(Debug, clap::Args)]
struct WhichKey {
    /// The key's id, or its first characters as `keys list` shows them
    key: String,
}

fn class(word: &str) -> Result<KeyClass, String> {
    one_of(word, &KeyClass::ALL, KeyClass::as_str)
}

fn max_tokens(word: &str) -> Result<MaxTokensBound, String> {
    one_of(word, &[MaxTokensBound::Documented, MaxTokensBound::Model], MaxTokensBound::as_str)
}

/// Runs a `keys` command.
pub(crate) async fn run(
    args: KeysArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args.command, settings, now, out, err).await;
    settle(result, err)
}

async fn act(
    command: KeysCommand,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let data_dir = &settings.storage.data_dir.0;
    // A first key may come before the first start; whatever else there is to do needs one.
    let records = match command {
        KeysCommand::Create(_) => Records::open(data_dir).await?,
        _ => Records::open_existing(data_dir).await?,
    };
    let admin = records.admin(now);
    match command {
        KeysCommand::Create(args) => {
            let wish = wish(*args, settings.keys.max_tokens);
            let created = admin.create_key(wish, Some(&settings.catalog)).await?;
            announce(&created, err)?;
            writeln!(out, "{}", created.key.expose())?;
        }
        KeysCommand::List(args) => {
            let mut keys = admin.keys().await?;
            keys.retain(|key| !args.valid || key.is_valid_at(now));
            let advice_days = u64::from(settings.keys.rotation_advice_days);
            list(&keys, args.json, Advice { now, days: advice_days }, out)?;
        }
        KeysCommand::Show(args) => {
            let key = admin.key(&args.which.key).await?;
            match args.json {
                true => writeln!(out, "{}", as_json(&key, now))?,
                false => show(&key, now, out)?,
            }
        }
        KeysCommand::Rotate(args) => {
            let grace = Duration::from_secs(u64::from(args.grace_hours) * 3600);
            let rotation = admin.rotate_key(&args.which.key, grace).await?;
            announce(&rotation.new, err)?;
            writeln!(
                err,
                "It replaces key {}, which works until {}.",
                rotation.old.id,
                rotation.old_expires_at.to_rfc3339()
            )?;
            writeln!(out, "{}", rotation.new.key.expose())?;
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
        owner: args.owner,
        expires_at: args.expires,
    }
}

fn announce(created: &CreatedKey, err: &mut dyn Write) -> io::Result<()> {
    let record = &created.record;
    writeln!(
        err,
        "Created key {} ({}, class {}). It is printed this once:",
        record.id,
        record.name,
        record.class.as_str()
    )
}

/// When a list says that a key should be rotated.
#[derive(Clone, Copy)]
struct Advice {
    now: UnixMillis,
    days: u64,
}

impl Advice {
    fn is_due(self, key: &KeyRecord) -> bool {
        let age_days = self.now.since(key.created_at).as_secs() / (24 * 60 * 60);
        key.is_valid_at(self.now) && key.replaced_by.is_none() && age_days >= self.days
    }
}

fn list(keys: &[KeyRecord], json: bool, advice: Advice, out: &mut dyn Write) -> io::Result<()> {
    if json {
        for key in keys {
            writeln!(out, "{}", as_json(key, advice.now))?;
        }
        return Ok(());
    }
    let rows: Vec<[String; 6]> = keys
        .iter()
        .map(|key| {
            let due = if advice.is_due(key) { ", rotate it" } else { "" };
            [
                key.id.to_string(),
                format!("{}…", key.prefix),
                key.name.clone(),
                key.class.as_str().to_owned(),
                key.created_at.to_rfc3339(),
                format!("{}{due}", state(key, advice.now)),
            ]
        })
        .collect();
    table(out, ["id", "key", "name", "class", "created", "state"], &rows)
}

fn state(key: &KeyRecord, now: UnixMillis) -> String {
    match (key.revoked_at, key.expires_at, &key.replaced_by) {
        (Some(at), _, _) => format!("revoked {}", at.to_rfc3339()),
        (None, Some(at), _) if at <= now => format!("expired {}", at.to_rfc3339()),
        (None, Some(at), Some(by)) => format!("replaced by {by}, until {}", at.to_rfc3339()),
        (None, Some(at), None) => format!("valid until {}", at.to_rfc3339()),
        (None, None, _) => "valid".to_owned(),
    }
}

fn show(key: &KeyRecord, now: UnixMillis, out: &mut dyn Write) -> io::Result<()> {
    let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    let regions = key
        .regions
        .as_ref()
        .map(|regions| regions.iter().map(|region| region.as_str()).collect::<Vec<_>>().join(", "));
    let usual = |limit: Option<u64>| limit.map_or("as the class".to_owned(), |n| n.to_string());
    let lines = [
        ("id", key.id.to_string()),
        ("key", format!("{}…", key.prefix)),
        ("name", key.name.clone()),
        ("state", state(key, now)),
        ("account", key.account_id.to_string()),
        ("owner", or_dash(key.owner.as_ref())),
        ("class", key.class.as_str().to_owned()),
        ("requests per hour", usual(key.requests_per_hour)),
        ("tokens per day", usual(key.tokens_per_day)),
        ("max_tokens", key.max_tokens.as_str().to_owned()),
        ("models", key.models.as_ref().map_or("all".to_owned(), |models| models.join(", "))),
        ("regions", regions.unwrap_or_else(|| "all".to_owned())),
        ("default region", or_dash(key.region.map(Region::as_str))),
        ("security level", format!("at least {}", key.minimum_level.as_str())),
        ("zero retention", yes(key.zero_retention)),
        ("audit", yes(key.audit)),
        ("created", key.created_at.to_rfc3339()),
    ];
    for (label, value) in lines {
        writeln!(out, "{label:18} {value}")?;
    }
    Ok(())
}

fn as_json(key: &KeyRecord, now: UnixMillis) -> serde_json::Value {
    json!({
        "id": key.id,
        "prefix": key.prefix,
        "name": key.name,
        "valid": key.is_valid_at(now),
        "account_id": key.account_id,
        "owner": key.owner,
        "class": key.class,
        "requests_per_hour": key.requests_per_hour,
        "tokens_per_day": key.tokens_per_day,
        "max_tokens": key.max_tokens,
        "models": key.models,
        "regions": key.regions,
        "region": key.region,
        "security_level": key.minimum_level,
        "zero_retention": key.zero_retention,
        "audit": key.audit,
        "created_at": key.created_at.to_rfc3339(),
        "expires_at": key.expires_at.map(UnixMillis::to_rfc3339),
        "revoked_at": key.revoked_at.map(UnixMillis::to_rfc3339),
        "replaced_by": key.replaced_by,
    })
}
