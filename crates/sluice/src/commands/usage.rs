//! `sluice usage`: what was asked, used and paid.
//!
//! Records that a running server has in its journal and not yet in the database are listed too.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;
use sluice_core::outcome::Outcome;
use sluice_storage::{DaySum, Location, Order, UsageFilter, UsageRecord};

use super::Exit;
use super::records::{
    CommandError, Names, Records, When, named, one_of, or_dash, settle, table, when,
};

/// How many records a table shows, unless told otherwise.
const TABLE_ROWS: u32 = 50;

/// Usage.
#[derive(Debug, clap::Args)]
pub(crate) struct UsageArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    command: UsageCommand,
}

#[derive(Debug, clap::Subcommand)]
enum UsageCommand {
    /// Lists the records of single requests
    List(ListArgs),
    /// Shows everything about the record of one request
    Show(ShowArgs),
    /// Lists sums by day and key, including requests of zero-retention mode
    Days(DaysArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Lists only records of this key: its id, its name, or the first characters of one of its secrets
    #[arg(long)]
    key: Option<String>,
    /// Lists only records of this account: its id or name
    #[arg(long)]
    account: Option<String>,
    /// Lists only requests that named this model or that it answered
    #[arg(long)]
    model: Option<String>,
    /// Lists only requests with this outcome
    #[arg(long, value_parser = outcome)]
    outcome: Option<Outcome>,
    /// Lists only requests from then on: a day (2027-01-31), a time (2027-01-31T09:30:00Z), today,
    /// yesterday, or how long ago (7d, 2h, 30m). Days are UTC
    #[arg(long, value_name = "WHEN", value_parser = when)]
    since: Option<When>,
    /// Lists only requests before then
    #[arg(long, value_name = "WHEN", value_parser = when)]
    until: Option<When>,
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
    /// The request's id: the header `x-request-id` of its answer
    request_id: String,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct DaysArgs {
    /// From this day on: 2027-01-31, today, yesterday, or how long ago (7d). Days are UTC
    #[arg(long, value_name = "WHEN", value_parser = when)]
    since: Option<When>,
    /// Before this day
    #[arg(long, value_name = "WHEN", value_parser = when)]
    until: Option<When>,
    /// Prints JSON, one object a line
    #[arg(long)]
    json: bool,
}

fn outcome(word: &str) -> Result<Outcome, String> {
    one_of(word, &Outcome::ALL, Outcome::as_str)
}

/// Runs a `usage` command.
pub(crate) async fn run(
    args: UsageArgs,
    location: &Location,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args.command, location, now, out).await;
    settle(result, err)
}

async fn act(
    command: UsageCommand,
    location: &Location,
    now: UnixMillis,
    out: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let records = Records::open_existing(location).await?;
    let names = Names::read(&records.store).await?;
    match command {
        UsageCommand::List(args) => {
            let filter = filter(&args, &records, now).await?;
            let usage = records.store.usage_with_tail(&filter, &records.master_key).await?;
            match args.json {
                true => {
                    for record in &usage {
                        writeln!(out, "{}", as_json(record, &names))?;
                    }
                }
                false => list(&usage, &names, filter.limit, out)?,
            }
        }
        UsageCommand::Show(args) => {
            let record = find(&records, &args.request_id).await?;
            match args.json {
                true => writeln!(out, "{}", as_json(&record, &names))?,
                false => show(&record, &names, out)?,
            }
        }
        UsageCommand::Days(args) => {
            let since = args.since.map_or_else(UnixMillis::default, |since| since.at(now));
            let soon = now.plus(std::time::Duration::from_secs(1));
            let until = args.until.map_or(soon, |until| until.at(now));
            let sums = records.store.usage_sums(since, until).await?;
            days(&sums, &names, args.json, out)?;
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

async fn filter(
    args: &ListArgs,
    records: &Records,
    now: UnixMillis,
) -> Result<UsageFilter, CommandError> {
    let admin = records.admin(now);
    let key_id = match &args.key {
        Some(text) => Some(admin.key(text).await?.id),
        None => None,
    };
    let account_id = match &args.account {
        Some(text) => Some(admin.account(text).await?.id),
        None => None,
    };
    Ok(UsageFilter {
        key_id,
        account_id,
        model: args.model.clone(),
        outcome: args.outcome,
        since: args.since.map(|since| since.at(now)),
        until: args.until.map(|until| until.at(now)),
        limit: args.limit.or((!args.json).then_some(TABLE_ROWS)),
        order: if args.oldest_first { Order::OldestFirst } else { Order::NewestFirst },
    })
}

/// The record of a request, in the database or still in the journal.
async fn find(records: &Records, id: &str) -> Result<UsageRecord, CommandError> {
    // The journal first: what is ingested between the two readings is found in both.
    let tail = records.store.journal_tail(&records.master_key).await?.usage;
    let stored = records.store.usage_of(&id.into()).await?;
    let found = stored.or_else(|| tail.into_iter().find(|it| it.request_id.as_str() == id));
    found.ok_or_else(|| {
        CommandError::NotFound(format!(
            "there is no record of a request {id:?}; the id is in the header x-request-id of its \
             answer and in `sluice usage list`. Requests with zero retention leave no record"
        ))
    })
}

fn list(
    usage: &[UsageRecord],
    names: &Names,
    limit: Option<u32>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows: Vec<[String; 10]> = usage
        .iter()
        .map(|record| {
            [
                record.started_at.to_rfc3339(),
                record.request_id.to_string(),
                named(&record.key_id, names.key(&record.key_id)),
                model(record).to_owned(),
                record.usage.prompt_tokens().to_string(),
                record.usage.completion_tokens().to_string(),
                dollars(record.cost),
                record.duration_ms.to_string(),
                record.outcome.as_str().to_owned(),
                record.filter.action.as_str().to_owned(),
            ]
        })
        .collect();
    let heading = [
        "started",
        "request",
        "key",
        "model",
        "prompt",
        "completion",
        "US$",
        "ms",
        "outcome",
        "filter",
    ];
    table(out, heading, &rows)?;
    if limit.is_some_and(|limit| u32::try_from(rows.len()) == Ok(limit)) {
        writeln!(out, "\nThere may be more; --limit N shows them.")?;
    }
    Ok(())
}

/// The model that answered; where none did, the one that was asked.
fn model(record: &UsageRecord) -> &str {
    record.model.as_ref().map_or(&record.model_asked, |model| model.as_str())
}

fn dollars(cost: Option<PicoUsd>) -> String {
    cost.map_or_else(|| "?".to_owned(), |cost| cost.to_string())
}

/// Prints every field of a record, one a line, under the name that it has in JSON.
fn show(record: &UsageRecord, names: &Names, out: &mut dyn Write) -> io::Result<()> {
    let fields = as_json(record, names);
    let Some(fields) = fields.as_object() else { return Ok(()) };
    for (label, value) in fields {
        let value = match value {
            serde_json::Value::Null => "-".to_owned(),
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        writeln!(out, "{label:22} {value}")?;
    }
    Ok(())
}

fn as_json(record: &UsageRecord, names: &Names) -> serde_json::Value {
    json!({
        "request_id": record.request_id,
        "started_at": record.started_at.to_rfc3339(),
        "key_id": record.key_id,
        "key_name": names.key(&record.key_id),
        "account_id": record.account_id,
        "account_name": names.account(&record.account_id),
        "department_id": record.department_id,
        "team_id": record.team_id,
        "owner": record.holder.as_ref().map(ToString::to_string),
        "app_url": record.app_url,
        "app_title": record.app_title,
        "model": model(record),
        "model_asked": record.model_asked,
        "provider": record.provider,
        "region": record.region,
        "security_level": record.level,
        "stream": record.stream,
        "prompt_tokens": record.usage.prompt_tokens(),
        "completion_tokens": record.usage.completion_tokens(),
        "total_tokens": record.usage.total_tokens(),
        "usage": record.usage,
        "usage_source": record.usage_source,
        "cost_usd": record.cost.map(PicoUsd::to_dollars),
        "price_version": record.price_version,
        "time_to_first_token_ms": record.time_to_first_token_ms,
        "duration_ms": record.duration_ms,
        "outcome": record.outcome,
        "attempts": record.attempts,
        "audit_id": record.audit_id,
        "simulated": record.simulated,
        "filter": record.filter,
        "route": record.route,
        "max_tokens_lowered": record.max_tokens_lowered,
        "provider_key": record.provider_key,
        "session": record.session,
        "assumed": (!record.assumed.is_nothing()).then(|| json!({
            "tokens": record.assumed.tokens,
            "cost_usd": record.assumed.cost.to_dollars(),
        })),
    })
}

fn days(sums: &[DaySum], names: &Names, json: bool, out: &mut dyn Write) -> io::Result<()> {
    let day = |sum: &DaySum| UnixMillis(sum.day.saturating_mul(1000)).to_rfc3339()[..10].to_owned();
    if json {
        for sum in sums {
            let line = json!({
                "day": day(sum),
                "key_id": sum.key_id,
                "key_name": names.key(&sum.key_id),
                "account_id": sum.account_id,
                "account_name": names.account(&sum.account_id),
                "department_id": sum.department_id,
                "team_id": sum.team_id,
                "owner": sum.holder.as_ref().map(ToString::to_string),
                "requests": sum.requests,
                "prompt_tokens": sum.usage.prompt_tokens(),
                "completion_tokens": sum.usage.completion_tokens(),
                "usage": sum.usage,
                "cost_usd": sum.cost.to_dollars(),
                "unpriced_requests": sum.unpriced_requests,
            });
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    let rows: Vec<[String; 8]> = sums
        .iter()
        .map(|sum| {
            [
                day(sum),
                named(&sum.key_id, names.key(&sum.key_id)),
                named(&sum.account_id, names.account(&sum.account_id)),
                sum.requests.to_string(),
                sum.usage.prompt_tokens().to_string(),
                sum.usage.completion_tokens().to_string(),
                sum.cost.to_string(),
                or_dash((sum.unpriced_requests > 0).then_some(sum.unpriced_requests)),
            ]
        })
        .collect();
    let heading =
        ["day", "key", "account", "requests", "prompt", "completion", "US$", "without a price"];
    table(out, heading, &rows)
}
