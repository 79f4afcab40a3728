//! `sluice audit`: the audit trail, and whether it is as it was written.

mod export;
mod verify;

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::ModelId;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Actor;
use sluice_gateway::admin::{AdminError, Kind, Which};
use sluice_storage::{
    AdministrationEntry, AuditContent, AuditEntry, AuditFilter, ChainedEntry, Location, Order,
    TrailEntry, TrailFilter, TrailKind,
};

use super::Exit;
use super::records::{
    CommandError, Names, Records, When, named, one_of, or_dash, settle, table, when,
};

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
    /// Shows everything about an entry; with --content also what the model was sent and what it said
    Show(ShowArgs),
    /// Checks that no entry was changed, removed or added; exit code 1 if one was
    Verify(verify::VerifyArgs),
    /// Signs the end of the trail as it is now: a head to keep elsewhere
    Heads(verify::HeadsArgs),
    /// Writes entries as JSON lines or CSV, or sends them to a syslog server
    Export(export::ExportArgs),
}

/// Which entries.
#[derive(Debug, clap::Args)]
struct FilterArgs {
    /// Only requests (request), or what was administered (administration)
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<TrailKind>,
    /// Only what was done to this key, and the requests that came with it: its id, its name, or the first
    /// characters of one of its secrets
    #[arg(long)]
    key: Option<String>,
    /// Only what this person did: the id or the e-mail address
    #[arg(long)]
    person: Option<String>,
    /// Only this action, as in keys.rotate; requests are `request`
    #[arg(long)]
    action: Option<String>,
    /// Only entries of this account: its id or name
    #[arg(long)]
    account: Option<String>,
    /// Only entries from then on: a day (2027-01-31), a time (2027-01-31T09:30:00Z), today, yesterday,
    /// or how long ago (7d, 2h, 30m). Days are UTC
    #[arg(long, value_name = "WHEN", value_parser = when)]
    since: Option<When>,
    /// Only entries from before then
    #[arg(long, value_name = "WHEN", value_parser = when)]
    until: Option<When>,
}

impl FilterArgs {
    async fn filter(
        &self,
        records: &Records,
        now: UnixMillis,
        limit: Option<u32>,
        order: Order,
    ) -> Result<AuditFilter, CommandError> {
        let admin = records.admin(now);
        let account = match &self.account {
            Some(account) => Some(admin.account(account).await?.id),
            None => None,
        };
        let key = match &self.key {
            Some(key) => Some(admin.key(key).await?.id),
            None => None,
        };
        let person = match &self.person {
            Some(person) => {
                let account = self.account.clone();
                let which = Which { account, ..Which::new(Kind::Person, person) };
                Some(admin.find(&which).await?.subject().id().into())
            }
            None => None,
        };
        let entries = TrailFilter {
            kind: self.kind,
            since: self.since.map(|when| when.at(now)),
            until: self.until.map(|when| when.at(now)),
            verb: self.action.clone(),
            person,
            key,
        };
        Ok(AuditFilter { account, entries, limit, order, ..AuditFilter::default() })
    }

    /// What was asked for, for the trail.
    fn said(&self) -> Value {
        let said = [
            ("kind", self.kind.map(|kind| kind.as_str().to_owned())),
            ("key", self.key.clone()),
            ("person", self.person.clone()),
            ("action", self.action.clone()),
            ("account", self.account.clone()),
            ("since", self.since.map(|it| format!("{it:?}"))),
            ("until", self.until.map(|it| format!("{it:?}"))),
        ];
        let said = said.into_iter().filter_map(|(name, value)| Some((name, value?)));
        said.map(|(name, value)| (name.to_owned(), json!(value))).collect()
    }
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Lists only this entry: the `security.audit_id` of an answer
    #[arg(long, value_name = "ID")]
    audit_id: Option<String>,
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
struct ShowArgs {
    /// The entry's id: the `security.audit_id` of an answer
    audit_id: String,
    /// Shows the redacted content that is kept beside it, too. Whoever reads it leaves an entry
    #[arg(long)]
    content: bool,
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
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args.command, location, now, out, err).await;
    settle(result, err)
}

impl AuditArgs {
    /// Whether it works on a file alone.
    pub(crate) fn is_of_a_file(&self) -> bool {
        matches!(&self.command, AuditCommand::Verify(args) if args.is_of_a_file())
    }
}

/// Runs a command that works on a file alone.
pub(crate) fn run_on_a_file(
    args: &AuditArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = match &args.command {
        AuditCommand::Verify(args) => verify::verify_file(args, out),
        _ => Ok(Exit::Done),
    };
    settle(result, err)
}

async fn act(
    command: AuditCommand,
    location: &Location,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let records = Records::open_existing(location).await?;
    let waiting = records.store.journal_tail(&records.master_key).await?.audit.len();
    let done = match command {
        AuditCommand::List(args) => {
            let limit = args.limit.or((!args.json).then_some(TABLE_ROWS));
            let order = if args.oldest_first { Order::OldestFirst } else { Order::NewestFirst };
            let filter = args.filter.filter(&records, now, limit, order).await?;
            let filter = AuditFilter { audit_id: args.audit_id, ..filter };
            let names = Names::read(&records.store).await?;
            list(&records.store.audit(&filter).await?, &names, args.json, out)?;
            Ok(Exit::Done)
        }
        AuditCommand::Show(args) => show(&args, &records, now, out).await,
        AuditCommand::Verify(args) => verify::verify(&args, &records, out).await,
        AuditCommand::Heads(args) => verify::heads(&args, &records, now, out).await,
        AuditCommand::Export(args) => export::export(args, &records, now, out, err).await,
    };
    if waiting > 0 {
        writeln!(err, "{waiting} more in the journal; a running server adds them to the trail.")?;
    }
    records.store.close().await;
    done
}

async fn show(
    args: &ShowArgs,
    records: &Records,
    now: UnixMillis,
    out: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let filter = AuditFilter {
        audit_id: Some(args.audit_id.clone()),
        limit: Some(1),
        ..AuditFilter::default()
    };
    let found = records.store.audit(&filter).await?.pop();
    let Some(found) = found else {
        return Err(AdminError::NoSuchEntry { id: args.audit_id.clone() }.into());
    };
    let content = match args.content {
        true => {
            let account = found.entry.account_id().as_str();
            Some(records.admin(now).read_content(Some(account), &args.audit_id).await?)
        }
        false => None,
    };
    let names = Names::read(&records.store).await?;
    let mut json = as_json(&found, &names);
    if args.json {
        if let Some(content) = &content {
            json["content"] = json!(content);
        }
        writeln!(out, "{json}")?;
        return Ok(Exit::Done);
    }
    let Value::Object(members) = json else { return Ok(Exit::Done) };
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match value.as_str() {
            Some(text) => writeln!(out, "{name:16} {text}")?,
            None => writeln!(out, "{name:16} {value}")?,
        }
    }
    if let Some(content) = &content {
        show_content(content, out)?;
    }
    Ok(Exit::Done)
}

fn show_content(content: &AuditContent, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nWhat the model was sent ({} bytes):\n", content.request_bytes)?;
    writeln!(out, "{}", content.request)?;
    writeln!(out, "\nWhat it said ({} bytes):", content.answer_bytes)?;
    for part in &content.answer {
        writeln!(out, "\n[{} {}]\n{}", part.kind, part.choice, part.text)?;
    }
    if content.is_cut() {
        writeln!(out, "\nThe rest was beyond `audit.content_kib` and was not kept.")?;
    }
    Ok(())
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
            let [who, what, how] = words(entry, names);
            let id = entry.audit_id().to_owned();
            [seq.to_string(), entry.at().to_rfc3339(), id, who, what, how]
        })
        .collect();
    table(out, ["no.", "at", "entry", "who", "what", "how"], &rows)
}

/// Who, to what, and what was done or how it ended.
fn words(entry: &TrailEntry, names: &Names) -> [String; 3] {
    match entry {
        TrailEntry::Request(entry) => {
            let model = entry.model.as_ref().map_or(&*entry.model_asked, ModelId::as_str);
            let region = or_dash(entry.region.map(|region| region.as_str()));
            let who = named(&entry.key_id, names.key(&entry.key_id));
            [who, format!("{model} in {region}"), entry.outcome.as_str().to_owned()]
        }
        TrailEntry::Administration(entry) => {
            [actor(&entry.actor), entry.subject.clone(), entry.verb.clone()]
        }
    }
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
        "content_bytes": entry.content_bytes,
    })
}
