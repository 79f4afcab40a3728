//! `sluice audit verify` and `sluice audit heads`: whether the trail is as it was written, and what to
//! keep elsewhere so that it can be told.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_storage::{AuditVerification, ExportedEntry, HeadKey, SignedHead, verify_export};

use crate::commands::Exit;
use crate::commands::records::{CommandError, Records, table};

#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    /// Heads that were kept elsewhere, as `sluice audit heads` printed them: the trail has to agree with
    /// each
    #[arg(long, value_name = "FILE")]
    heads: Option<PathBuf>,
    /// The key that signed them, as it was kept elsewhere. Default: the one of this data folder
    #[arg(long, value_name = "HEX")]
    public_key: Option<String>,
    /// Checks a file that `sluice audit export` has written, instead of the database. It takes neither a
    /// data folder nor the master key
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

impl VerifyArgs {
    /// Whether no data folder is needed.
    pub(super) fn is_of_a_file(&self) -> bool {
        self.export.is_some()
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct HeadsArgs {
    /// Prints the public key alone, to be kept apart from this machine
    #[arg(long)]
    public_key: bool,
    /// Prints all heads that were signed so far, instead of signing the end of the trail as it is now
    #[arg(long, conflicts_with = "public_key")]
    all: bool,
    /// Prints JSON, one head a line: what `sluice audit verify --heads` reads
    #[arg(long)]
    json: bool,
}

pub(super) async fn verify(
    args: &VerifyArgs,
    records: &Records,
    out: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let own = HeadKey::new(&records.master_key).public_key();
    let heads = kept_heads(args, Some(&own))?;
    report(&records.store.verify_audit(&records.master_key, &heads).await?, args.json, out)
}

/// Checks an export.
pub(super) fn verify_file(args: &VerifyArgs, out: &mut dyn Write) -> Result<Exit, CommandError> {
    let Some(file) = &args.export else { return Ok(Exit::Done) };
    let heads = kept_heads(args, None)?;
    let found = verify_export(lines::<ExportedEntry>(file)?, &heads)?;
    report(&found, args.json, out)
}

/// The heads of the file, each signed by the key that is meant.
fn kept_heads(args: &VerifyArgs, own: Option<&str>) -> Result<Vec<SignedHead>, CommandError> {
    let Some(file) = &args.heads else { return Ok(Vec::new()) };
    let Some(key) = args.public_key.as_deref().or(own) else {
        let problem = "--heads beside --export needs --public-key: the key that was kept elsewhere";
        return Err(problem.to_owned().into());
    };
    let heads = lines::<SignedHead>(file)?.collect::<Result<Vec<_>, _>>()?;
    if heads.is_empty() {
        return Err(format!("{} holds no head", file.display()).into());
    }
    match heads.iter().find(|head| !head.is_signed_by(key)) {
        Some(head) => Err(format!(
            "the head of entry {} in {} is not signed by the key {key}",
            head.seq,
            file.display()
        )
        .into()),
        None => Ok(heads),
    }
}

/// What stands in a file of JSON lines.
fn lines<T: DeserializeOwned>(
    file: &Path,
) -> Result<impl Iterator<Item = Result<T, CommandError>>, CommandError> {
    let name = file.display().to_string();
    let opened = File::open(file).map_err(|error| format!("cannot read {name}: {error}"))?;
    let lines = (1..).zip(BufReader::new(opened).lines());
    let lines = lines.filter(|(_, line)| !matches!(line, Ok(line) if line.trim().is_empty()));
    Ok(lines.map(move |(number, line)| {
        let line = line.map_err(|error| format!("cannot read {name}: {error}"))?;
        let read = serde_json::from_str(&line);
        Ok(read.map_err(|error| format!("line {number} of {name} is none of ours: {error}"))?)
    }))
}

pub(super) async fn heads(
    args: &HeadsArgs,
    records: &Records,
    now: UnixMillis,
    out: &mut dyn Write,
) -> Result<Exit, CommandError> {
    if args.public_key {
        writeln!(out, "{}", HeadKey::new(&records.master_key).public_key())?;
        return Ok(Exit::Done);
    }
    let heads = match args.all {
        true => records.store.audit_heads().await?,
        false => {
            let signed = records.store.sign_audit_head(&records.master_key, now).await?;
            signed.into_iter().collect()
        }
    };
    if args.json {
        for head in &heads {
            writeln!(out, "{}", serde_json::to_string(head).map_err(io::Error::from)?)?;
        }
        return Ok(Exit::Done);
    }
    let rows: Vec<[String; 3]> = heads
        .iter()
        .map(|head| [head.seq.to_string(), head.at.to_rfc3339(), head.hash.clone()])
        .collect();
    table(out, ["no.", "signed at", "hash of the entry"], &rows)?;
    if let Some(head) = heads.last() {
        writeln!(out, "\nSigned by {}.", head.public_key)?;
    }
    Ok(Exit::Done)
}

fn report(
    found: &AuditVerification,
    json: bool,
    out: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let exit = if found.broken.is_some() { Exit::Failed } else { Exit::Done };
    if json {
        let line = json!({
            "intact": found.broken.is_none(),
            "entries": found.entries,
            "removed": found.removed,
            "last": found.last,
            "head": found.head,
            "heads": found.heads,
            "broken": found.broken,
        });
        writeln!(out, "{line}")?;
        return Ok(exit);
    }
    match &found.broken {
        None => {
            writeln!(out, "The audit trail is intact: {} entries.", found.entries)?;
            if found.removed > 0 {
                writeln!(
                    out,
                    "It begins behind entry {}, up to which it was removed.",
                    found.removed
                )?;
            }
            if found.heads > 0 {
                writeln!(out, "It agrees with {} signed heads.", found.heads)?;
            }
            writeln!(out, "Hash of the last entry, to compare later: {}", found.head)?;
        }
        Some(broken) => writeln!(
            out,
            "The audit trail was tampered with at entry {}: {}. {} entries before are intact.",
            broken.seq, broken.problem, found.entries
        )?,
    }
    Ok(exit)
}
