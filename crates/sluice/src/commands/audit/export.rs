//! `sluice audit export`: the trail as JSON lines, as comma-separated values, or to a syslog server.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_gateway::admin::Verb;
use sluice_storage::{AuditFilter, ChainedEntry, ExportedEntry, Order, StorageError, TrailEntry};

use super::FilterArgs;
use crate::commands::Exit;
use crate::commands::records::{CommandError, Names, Records, one_of};
use crate::config::syslog::SyslogAddress;
use crate::syslog::{Message, Syslog};

#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// jsonl: every entry letter by letter, with what its hash covers, so that `sluice audit verify
    /// --export` can check the file; csv: a table
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", value_parser = format)]
    format: Format,
    /// Writes to this file instead of standard output. It must not be there yet
    #[arg(long, value_name = "FILE", conflicts_with = "syslog")]
    output: Option<PathBuf>,
    /// Sends each entry to a syslog server instead: udp://HOST:PORT, tcp://HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", value_parser = SyslogAddress::parse)]
    syslog: Option<SyslogAddress>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    JsonLines,
    Csv,
}

impl Format {
    const ALL: [Self; 2] = [Self::JsonLines, Self::Csv];

    fn as_str(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::Csv => "csv",
        }
    }
}

fn format(word: &str) -> Result<Format, String> {
    one_of(word, &Format::ALL, Format::as_str)
}

pub(super) async fn export(
    args: ExportArgs,
    records: &Records,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let filter = args.filter.filter(records, now, None, Order::OldestFirst).await?;
    let to = match (&args.syslog, &args.output) {
        (Some(address), _) => address.to_string(),
        (None, Some(file)) => file.display().to_string(),
        (None, None) => "standard output".to_owned(),
    };
    // Who exports leaves an entry first: one that is broken off was an export, too.
    let details = json!({ "format": args.format.as_str(), "to": to, "filter": args.filter.said() });
    records.admin(now).note_export(None, Verb::ExportTrail, details).await?;
    let count = match (args.syslog, args.output) {
        (Some(address), _) => send(records, &filter, &address, now).await?,
        (None, Some(file)) => {
            let failed =
                |error| CommandError::from(format!("cannot write {}: {error}", file.display()));
            let mut written = BufWriter::new(File::create_new(&file).map_err(failed)?);
            let count = write(records, &filter, args.format, &mut written).await?;
            written.flush().map_err(failed)?;
            count
        }
        (None, None) => write(records, &filter, args.format, out).await?,
    };
    writeln!(err, "{count} entries exported to {to}.")?;
    Ok(Exit::Done)
}

async fn write(
    records: &Records,
    filter: &AuditFilter,
    format: Format,
    out: &mut dyn Write,
) -> Result<u64, CommandError> {
    let names = Names::read(&records.store).await?;
    if format == Format::Csv {
        writeln!(
            out,
            "number,at,audit_id,account,who,where,action,subject,result,before,after,hash\r"
        )?;
    }
    let mut count = 0;
    let mut broken = None;
    let written = records
        .store
        .each_audit_entry(filter, |line, entry| {
            let written = match format {
                Format::JsonLines => write_json(&line, out),
                Format::Csv => write_row(&entry, &names, out),
            };
            count += 1;
            written.map_err(|error| {
                broken = Some(error);
                StorageError::Stopped
            })
        })
        .await;
    match broken {
        Some(error) => Err(error.into()),
        None => Ok(written.map(|()| count)?),
    }
}

fn write_json(line: &ExportedEntry, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

fn write_row(chained: &ChainedEntry, names: &Names, out: &mut dyn Write) -> io::Result<()> {
    let entry = &chained.entry;
    let [who, subject, verb] = super::words(entry, names);
    let (surface, result, before, after) = match entry {
        TrailEntry::Request(it) => ("API", it.outcome.as_str(), String::new(), String::new()),
        TrailEntry::Administration(it) => {
            let before = it.before.as_ref().map(ToString::to_string).unwrap_or_default();
            (it.surface.as_str(), "", before, it.after.to_string())
        }
    };
    let account = entry.account_id();
    let cells = [
        &*chained.seq.to_string(),
        &entry.at().to_rfc3339(),
        entry.audit_id(),
        names.account(account).unwrap_or(account.as_str()),
        &who,
        surface,
        &verb,
        &subject,
        result,
        &before,
        &after,
        &chained.hash,
    ];
    writeln!(out, "{}\r", cells.map(sluice_dashboard::charts::csv_cell).join(","))
}

async fn send(
    records: &Records,
    filter: &AuditFilter,
    address: &SyslogAddress,
    now: UnixMillis,
) -> Result<u64, CommandError> {
    let failed = |error| CommandError::from(format!("cannot send to {address}: {error}"));
    let mut syslog = Syslog::connect(address).await.map_err(failed)?;
    let mut after = None;
    let mut count = 0;
    loop {
        // Page by page: what is sent has to be awaited.
        let page = AuditFilter { after, limit: Some(500), ..filter.clone() };
        let mut lines = Vec::new();
        let keep = |line, _| {
            lines.push(line);
            Ok(())
        };
        records.store.each_audit_entry(&page, keep).await?;
        let Some(last) = lines.last().map(|line: &ExportedEntry| line.seq) else {
            return Ok(count);
        };
        for line in &lines {
            syslog.send(&Message::entry(line, now)).await.map_err(failed)?;
        }
        count += lines.len() as u64;
        after = Some(last);
    }
}
