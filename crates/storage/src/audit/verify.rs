//! Whether the trail is as it was written, in the database or in a file that was exported.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::{AuditSeal, Head, Position, link_hash, read_head};
use super::checkpoints::Checkpoint;
use super::heads::{HeadKey, SignedHead};
use crate::database::{Row, sql};
use crate::error::StorageError;
use crate::master_key::MasterKey;
use crate::open::Store;
use crate::seal::{Outside, SealFile};

/// What checking the whole chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditVerification {
    /// How many entries were checked.
    pub entries: u64,
    /// The number of the last one that was removed with a signed checkpoint; 0: none was.
    pub removed: u64,
    /// The number of the last one.
    pub last: u64,
    /// The hash of the last one; note it elsewhere to find out about a rolled back database.
    pub head: String,
    /// How many signed heads the chain was held against.
    pub heads: u64,
    /// The first place where the chain does not hold; `None`: it holds.
    pub broken: Option<BrokenLink>,
}

/// Where the chain does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrokenLink {
    /// The number of the first entry that is missing or not as it was written.
    pub seq: u64,
    /// What was done, in a word.
    pub kind: Tampering,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// What somebody did to the trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tampering {
    /// Entries are missing.
    Deleted,
    /// Entries are missing at the end.
    Cut,
    /// An entry is not as it was written.
    Changed,
    /// An entry is not where it was written.
    Reordered,
    /// Entries were added without the master key.
    Added,
    /// A seal is missing, or is not one of this master key.
    Unsealed,
}

/// An entry as it is exported: what its hash covers, letter by letter.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportedEntry {
    /// Its number; the first is 1.
    pub seq: u64,
    /// The hash of the one before it.
    pub previous: String,
    /// SHA-256 of `previous` and the text of `entry`, in hexadecimal.
    pub hash: String,
    /// The entry.
    pub entry: Box<RawValue>,
}

impl ExportedEntry {
    pub(super) fn of(row: &Row) -> Result<Self, StorageError> {
        let text = row.string("entry")?;
        let entry = RawValue::from_string(text).map_err(|error| StorageError::Unreadable {
            column: "entry",
            value: error.to_string(),
        })?;
        let (previous, hash) = (row.string("previous")?, row.string("hash")?);
        Ok(Self { seq: row.count("seq")?, previous, hash, entry })
    }
}

/// Follows the chain entry by entry.
struct Walk {
    last: Position,
    /// Where it began.
    removed: u64,
    /// Heads that are still ahead, by number.
    heads: BTreeMap<u64, String>,
    compared: u64,
}

impl Walk {
    fn from<'h>(start: Position, heads: impl IntoIterator<Item = &'h SignedHead>) -> Self {
        let ahead = heads.into_iter().filter(|head| head.seq >= start.seq.max(1));
        let heads = ahead.map(|head| (head.seq, head.hash.clone())).collect();
        Self { removed: start.seq, last: start, heads, compared: 0 }
    }

    fn step(&mut self, link: &Link<'_>) -> Result<(), BrokenLink> {
        let expected = self.last.seq + 1;
        let (kind, problem) = if link.seq != expected {
            (Tampering::Deleted, "the entry was deleted")
        } else if link.previous != self.last.hash {
            (Tampering::Reordered, "the entry does not follow the one before it: it was moved")
        } else if link.hash != link_hash(link.previous, link.entry) {
            (Tampering::Changed, "the entry was changed")
        } else {
            self.last = Position { seq: link.seq, hash: link.hash.to_owned() };
            return self.compare();
        };
        Err(BrokenLink { seq: expected, kind, problem })
    }

    /// Holds the entry that was read last against a head that somebody kept.
    fn compare(&mut self) -> Result<(), BrokenLink> {
        let Some(hash) = self.heads.remove(&self.last.seq) else { return Ok(()) };
        self.compared += 1;
        if hash == self.last.hash {
            return Ok(());
        }
        let problem = "the entry is not the one whose head was signed";
        Err(BrokenLink { seq: self.last.seq, kind: Tampering::Changed, problem })
    }

    /// Whether a head speaks of entries behind the end.
    fn missing(&self) -> Option<BrokenLink> {
        let (last, _) = self.heads.last_key_value()?;
        let problem = "entries of which a signed head speaks were cut off at the end";
        let seq = self.last.seq + 1;
        (*last > self.last.seq).then_some(BrokenLink { seq, kind: Tampering::Cut, problem })
    }

    fn found(self, broken: Option<BrokenLink>) -> AuditVerification {
        AuditVerification {
            entries: self.last.seq - self.removed,
            removed: self.removed,
            last: self.last.seq,
            head: self.last.hash,
            heads: self.compared,
            broken,
        }
    }
}

/// An entry in its place, as it claims to be.
struct Link<'l> {
    seq: u64,
    previous: &'l str,
    hash: &'l str,
    entry: &'l str,
}

impl Store {
    /// Checks every entry, both seals, and that each of `heads` speaks of an entry that is there. Those
    /// that the database keeps are among them. Memory does not grow with the trail.
    ///
    /// Whether `heads` are signed by somebody who may is for the caller to say: [`SignedHead::is_signed_by`].
    pub async fn verify_audit(
        &self,
        key: &MasterKey,
        heads: &[SignedHead],
    ) -> Result<AuditVerification, StorageError> {
        const DOING: &str = "verify the audit trail";
        let outside = self.outside(&SealFile::new(self.data_dir(), key)).await?;
        let signing = HeadKey::new(key);
        let mut tx = self.begin_read(DOING).await?;
        tx.may_take_long().await.map_err(StorageError::database(DOING))?;
        let kept = SignedHead::read_all(&mut tx, DOING).await?;
        let checkpoint = Checkpoint::latest(&mut tx, DOING).await?;
        let start = checkpoint.as_ref().map_or_else(Position::genesis, Checkpoint::position);
        let mut walk = Walk::from(start, kept.iter().chain(heads));
        let forged = |problem| BrokenLink { seq: 1, kind: Tampering::Unsealed, problem };
        if checkpoint.as_ref().is_some_and(|it| !it.is_signed_by(&signing)) {
            return Ok(walk.found(Some(forged("a checkpoint is not signed under this master key"))));
        }
        if kept.iter().any(|head| !head.is_signed_by(&signing.public_key())) {
            return Ok(walk.found(Some(forged("a head is not signed under this master key"))));
        }
        if let Err(broken) = walk.compare() {
            return Ok(walk.found(Some(broken)));
        }
        let (mut broken, after) = (None, walk.removed);
        let check = |row: &Row| {
            if broken.is_none() {
                broken = check_row(&mut walk, row, &outside)?;
            }
            Ok(())
        };
        sql("FROM audit_entries WHERE seq > $1 ORDER BY seq")
            .bind(after)
            .read_all(&["seq", "entry", "previous", "hash"], &mut tx, DOING, check)
            .await?;
        if broken.is_none() {
            let head = read_head(&mut tx, &AuditSeal::new(key), DOING).await?;
            broken = check_end(&walk.last, &head, &outside).or_else(|| walk.missing());
        }
        Ok(walk.found(broken))
    }
}

/// Checks a file that was exported with all entries of a trail, the oldest first, against heads that were
/// kept elsewhere. It takes neither the database nor the master key. A file may begin anywhere.
pub fn verify_export<E>(
    entries: impl IntoIterator<Item = Result<ExportedEntry, E>>,
    heads: &[SignedHead],
) -> Result<AuditVerification, E> {
    let (mut walk, mut broken) = (None::<Walk>, None);
    for entry in entries {
        let entry = entry?;
        let walk = walk.get_or_insert_with(|| {
            let start = Position { seq: entry.seq.saturating_sub(1), hash: entry.previous.clone() };
            Walk::from(start, heads)
        });
        let link = Link {
            seq: entry.seq,
            previous: &entry.previous,
            hash: &entry.hash,
            entry: entry.entry.get(),
        };
        if let Err(link) = walk.step(&link) {
            broken = Some(link);
            break;
        }
    }
    let walk = walk.unwrap_or_else(|| Walk::from(Position::genesis(), heads));
    let broken = broken.or_else(|| walk.missing());
    Ok(walk.found(broken))
}

/// Whether a row follows what was read, and is the one that was sealed.
fn check_row(
    walk: &mut Walk,
    row: &Row,
    outside: &Outside,
) -> Result<Option<BrokenLink>, StorageError> {
    let (entry, previous, hash) =
        (row.string("entry")?, row.string("previous")?, row.string("hash")?);
    let link = Link { seq: row.count("seq")?, previous: &previous, hash: &hash, entry: &entry };
    if let Err(broken) = walk.step(&link) {
        return Ok(Some(broken));
    }
    Ok(match outside {
        Outside::Sealed(sealed) if sealed.seq == walk.last.seq && *sealed != walk.last => {
            let problem = "the entry is not the one that was sealed";
            Some(BrokenLink { seq: sealed.seq, kind: Tampering::Changed, problem })
        }
        _ => None,
    })
}

/// Whether the chain ends where both seals say.
fn check_end(last: &Position, head: &Head, outside: &Outside) -> Option<BrokenLink> {
    let broken = |seq, kind, problem| Some(BrokenLink { seq, kind, problem });
    let sealed = head.seq().max(outside.seq());
    if last.seq == 0 && sealed > 0 {
        return broken(1, Tampering::Deleted, "all entries were deleted");
    }
    if sealed > last.seq {
        let problem = "entries were cut off at the end, or an older database was put back";
        return broken(last.seq + 1, Tampering::Cut, problem);
    }
    let unsealed = |problem| broken(last.seq, Tampering::Unsealed, problem);
    match head {
        Head::Missing if last.seq > 0 => return unsealed("the seal in the database is missing"),
        Head::Forged => return unsealed("the seal in the database is not of this master key"),
        Head::Sealed(head) if head != last => {
            return broken(head.seq + 1, Tampering::Added, "entries were added behind the seal");
        }
        Head::Missing | Head::Sealed(_) => {}
    }
    match outside {
        Outside::Missing => unsealed("the file audit.seal is missing"),
        Outside::Forged => unsealed("the file audit.seal is not of this master key"),
        Outside::NotYet | Outside::Sealed(_) => None,
    }
}
