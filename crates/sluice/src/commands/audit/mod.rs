//! `sluice audit`: the audit trail, and whether it is as it was written.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;
use sluice_core::ids::ModelId;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Actor;
use sluice_storage::{
    AdministrationEntry, AuditEntry, AuditFilter, AuditVerification, ChainedEntry, Location, Order,
    TrailEntry, TrailKind,
};

use super::Exit;
use super::records::{CommandError, Names, Records, named, one_of, or_dash, settle, table};

/// How many entries a table shows, unless told otherwise.
const TABLE_ROWS: u32 = 50;

/// The audit trail.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AuditCommand {
    /// Lists the entries
    List(ListArgs),
    /// Checks that no entry was changed, removed or added; exit code 1 if one was
    Verify(VerifyArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Lists only this entry: the `security.audit_id` of an answer
    #[arg(long, value_name = "ID")]
    audit_id: Option<String>,
    /// Lists only requests (request), or what was administered (administration)
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<TrailKind>,
    /// How many at most [default: 50 in a table, all as JSON]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Lists the earliest first, instead of the latest
    #[arg(long)]
    oldest_first: bool,
    /// Prints JSON, one object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct VerifyArgs {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

fn kind(word: &str) -> Result<TrailKind, String> {
    one_of(word, &TrailKind::ALL, TrailKind::as_str)
}

/// Runs an `audit` command.
pub(crate) async fn run(
    args: AuditArgs,
    location: &Location,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args.command, location, out, err).await;
    settle(result, err)
}

async fn act(
    command: AuditCommand,
    location: &Location,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let records = Records::open_existing(location).await?;
    let waiting = records.store.journal_tail(&records.master_key).await?.audit.len();
    let exit = match command {
        AuditCommand::List(args) => {
            let filter = AuditFilter {
                audit_id: args.audit_id,
                kind: args.kind,
                limit: args.limit.or((!args.json).then_some(TABLE_ROWS)),
                order: if args.oldest_first { Order::OldestFirst } else { Order::NewestFirst },
            };
            let names = Names::read(&records.store).await?;
            list(&records.store.audit(&filter).await?, &names, args.json, out)?;
            Exit::Done
        }
        AuditCommand::Verify(args) => {
            let verification = records.store.verify_audit(&records.master_key).await?;
            report(&verification, args.json, out)?;
            if verification.broken.is_some() { Exit::Failed } else { Exit::Done }
        }
    };
    if waiting > 0 {
        writeln!(err, "{waiting} more in the journal; a running server adds them to the trail.")?;
    }
    records.store.close().await;
    Ok(exit)
}

fn list(
    entries: &[ChainedEntry],
    names: &Names,
    json: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if json {
        for entry in entries {
            writeln!(out, "{}", as_json(entry, names))?;
        }
        return Ok(());
    }
    let rows: Vec<[String; 6]> = entries
        .iter()
        .map(|ChainedEntry { seq, entry, .. }| {
            let (who, what, how) = match entry {
                TrailEntry::Request(entry) => {
                    let model = entry.model.as_ref().map_or(&*entry.model_asked, ModelId::as_str);
                    let region = or_dash(entry.region.map(|region| region.as_str()));
                    let who = named(&entry.key_id, names.key(&entry.key_id));
                    (who, format!("{model} in {region}"), entry.outcome.as_str().to_owned())
                }
                TrailEntry::Administration(entry) => {
                    (actor(&entry.actor), entry.subject.clone(), entry.verb.clone())
                }
            };
            let id = entry.audit_id().to_owned();
            [seq.to_string(), entry.at().to_rfc3339(), id, who, what, how]
        })
        .collect();
    table(out, ["no.", "at", "entry", "who", "what", "how"], &rows)
}

/// Who administered, in a cell.
pub(crate) fn actor(actor: &Actor) -> String {
    match actor {
        Actor::Person { id } => format!("person:{id}"),
        Actor::CommandLine { user } => format!("command line ({user})"),
        Actor::File => "the configuration file".to_owned(),
        Actor::Sluice => "sluice".to_owned(),
        Actor::Nobody => "nobody who signed in".to_owned(),
    }
}

fn as_json(chained: &ChainedEntry, names: &Names) -> serde_json::Value {
    let mut line = match &chained.entry {
        TrailEntry::Request(entry) => request_as_json(entry, names),
        TrailEntry::Administration(entry) => administration_as_json(entry, names),
    };
    line["seq"] = json!(chained.seq);
    line["hash"] = json!(chained.hash);
    line
}

fn administration_as_json(entry: &AdministrationEntry, names: &Names) -> serde_json::Value {
    json!({
        "kind": TrailKind::Administration.as_str(),
        "audit_id": entry.audit_id,
        "at": entry.at.to_rfc3339(),
        "actor": entry.actor,
        "surface": entry.surface,
        "verb": entry.verb,
        "subject": entry.subject,
        "account_id": entry.account_id,
        "account_name": names.account(&entry.account_id),
        "before": entry.before,
        "after": entry.after,
    })
}

fn request_as_json(entry: &AuditEntry, names: &Names) -> serde_json::Value {
    json!({
        "kind": TrailKind::Request.as_str(),
        "audit_id": entry.audit_id,
        "at": entry.at.to_rfc3339(),
        "request_id": entry.request_id,
        "key_id": entry.key_id,
        "key_name": names.key(&entry.key_id),
        "account_id": entry.account_id,
        "account_name": names.account(&entry.account_id),
        "remote_addr": entry.remote_addr,
        "app": entry.app,
        "model_asked": entry.model_asked,
        "model": entry.model,
        "provider": entry.provider,
        "region": entry.region,
        "security_level": entry.level,
        "filter": entry.filter,
        "usage": entry.usage,
        "cost_usd": entry.cost.map(PicoUsd::to_dollars),
        "outcome": entry.outcome,
        "zero_retention": entry.zero_retention,
    })
}

fn report(verification: &AuditVerification, json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        let line = json!({
            "intact": verification.broken.is_none(),
            "entries": verification.entries,
            "head": verification.head,
            "broken": verification.broken,
        });
        return writeln!(out, "{line}");
    }
    match &verification.broken {
        None => {
            writeln!(out, "The audit trail is intact: {} entries.", verification.entries)?;
            writeln!(out, "Hash of the last entry, to compare later: {}", verification.head)
        }
        Some(broken) => writeln!(
            out,
            "The audit trail was tampered with at entry {}: {}. {} entries before are intact.",
            broken.seq, broken.problem, verification.entries
        ),
    }
}
