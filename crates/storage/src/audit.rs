//! The audit trail: append-only, and tampering shows.
//!
//! Each entry's hash covers the hash of the one before it and the entry's own JSON text, so that a
//! change, a gap or a swap breaks the chain from there on. The last entry is sealed (its number and
//! hash under a key derived from the master key) in the database and outside of it (`seal`), which
//! shows when entries are cut off at the end, when all of them are gone, and when all hashes were
//! computed anew. Who can write to the data folder *and* read the master key, or puts an old copy
//! of the whole folder back, is only found out by comparing with a head that was noted elsewhere.

use std::collections::HashSet;

use hmac::Mac as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sluice_core::clock::UnixMillis;
use sluice_core::filtering::FilterRecord;
use sluice_core::ids::{AccountId, KeyId, ModelId, ProviderId, RequestId};
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::outcome::Outcome;
use sluice_core::region::Region;
use sluice_core::usage::Usage;

use crate::database::{Row, Transaction, in_sizes, insert_many, sql};
use crate::error::StorageError;
use crate::master_key::{MasterKey, hmac, to_hex};
use crate::open::Store;
use crate::seal::{Outside, SealFile};
use crate::trail::{TrailEntry, TrailKind};
use crate::trail_pages::{self, Placed};
use crate::usage::{Order, picos};

/// What comes before the first entry.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// One request, as the audit trail keeps it. Never content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The entry's identity: `security.audit_id`.
    pub audit_id: String,
    /// When the request arrived.
    pub at: UnixMillis,
    /// The request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// The key it came with.
    pub key_id: KeyId,
    /// The key's account.
    pub account_id: AccountId,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_addr: Option<String>,
    /// The calling application's name, else its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The model or router that was asked.
    pub model_asked: String,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// The provider that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderId>,
    /// Where it was processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// How strictly it was filtered.
    pub level: SecurityLevel,
    /// What the filter did: kinds and counts, never values.
    #[serde(default, skip_serializing_if = "FilterRecord::is_quiet")]
    pub filter: FilterRecord,
    /// The tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What it cost. In JSON: whole pico-dollars.
    #[serde(default, with = "picos", skip_serializing_if = "Option::is_none")]
    pub cost: Option<PicoUsd>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether zero-retention mode was on.
    pub zero_retention: bool,
}

impl AuditEntry {
    /// The entry as zero-retention mode allows it: no request id, address or application, and
    /// nothing that was derived from content (what was found, token counts, cost). That the filter
    /// itself failed is no content.
    #[must_use]
    pub fn for_zero_retention(self) -> Self {
        Self {
            request_id: None,
            remote_addr: None,
            app: None,
            filter: self.filter.failure_only(),
            usage: None,
            cost: None,
            zero_retention: true,
            ..self
        }
    }
}

/// An entry in its place in the chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChainedEntry {
    /// Its number; the first is 1.
    pub seq: u64,
    /// Its hash, in hexadecimal.
    pub hash: String,
    /// The entry.
    pub entry: TrailEntry,
}

/// Which audit entries to list. The default is all of them, newest first.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Only this one.
    pub audit_id: Option<String>,
    /// Only entries of this kind.
    pub kind: Option<TrailKind>,
    /// At most so many.
    pub limit: Option<u32>,
    /// In which order, and so which end of the list a limit keeps.
    pub order: Order,
}

/// What checking the whole chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditVerification {
    /// How many entries were checked.
    pub entries: u64,
    /// The hash of the last one; note it elsewhere to find out about a rolled back database.
    pub head: String,
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

impl Store {
    /// The audit entries in the database that `filter` admits.
    pub async fn audit(&self, filter: &AuditFilter) -> Result<Vec<ChainedEntry>, StorageError> {
        let mut query = sql("SELECT seq, entry, hash FROM audit_entries WHERE ");
        query.push(filter.kind.map_or("1 = 1", TrailKind::condition));
        if let Some(audit_id) = &filter.audit_id {
            query.push(" AND audit_id = ");
            query.push_bind(audit_id);
        }
        query.push(match filter.order {
            Order::NewestFirst => " ORDER BY seq DESC",
            Order::OldestFirst => " ORDER BY seq",
        });
        if let Some(limit) = filter.limit {
            query.push(" LIMIT ");
            query.push_bind(limit);
        }
        let rows = query.fetch_all(self.database()).await;
        rows.map_err(StorageError::database("list the audit trail"))?
            .iter()
            .map(read_chained)
            .collect()
    }

    /// Checks every entry and the head. Memory does not grow with the trail.
    pub async fn verify_audit(&self, key: &MasterKey) -> Result<AuditVerification, StorageError> {
        const DOING: &str = "verify the audit trail";
        const PAGE: i64 = 500;
        let outside = self.outside(&SealFile::new(self.data_dir(), key)).await?;
        let mut tx = self.begin_read(DOING).await?;
        let mut last = Position::genesis();
        loop {
            let rows = sql("SELECT * FROM audit_entries WHERE seq > $1 ORDER BY seq LIMIT $2")
                .bind(last.seq)
                .bind(PAGE)
                .fetch_all(&mut tx)
                .await
                .map_err(StorageError::database(DOING))?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                match check_link(&last, row, &outside)? {
                    Ok(next) => last = next,
                    Err(broken) => return Ok(last.verification(Some(broken))),
                }
            }
        }
        let head = read_head(&mut tx, &AuditSeal::new(key), DOING).await?;
        let broken = check_end(&last, &head, &outside);
        Ok(last.verification(broken))
    }
}

pub(crate) fn read_chained(row: &Row) -> Result<ChainedEntry, StorageError> {
    let text = row.string("entry")?;
    let entry = serde_json::from_str(&text)
        .map_err(|_| StorageError::Unreadable { column: "entry", value: text })?;
    Ok(ChainedEntry { seq: row.count("seq")?, hash: row.string("hash")?, entry })
}

/// A place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    /// The entry's number; 0: before the first.
    pub(crate) seq: u64,
    /// Its hash.
    pub(crate) hash: String,
}

impl Position {
    fn genesis() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }

    fn verification(self, broken: Option<BrokenLink>) -> AuditVerification {
        AuditVerification { entries: self.seq, head: self.hash, broken }
    }
}

/// Whether a row follows `last`, and is the one that was sealed.
fn check_link(
    last: &Position,
    row: &Row,
    outside: &Outside,
) -> Result<Result<Position, BrokenLink>, StorageError> {
    let (seq, entry): (u64, String) = (row.count("seq")?, row.string("entry")?);
    let (previous, hash): (String, String) = (row.string("previous")?, row.string("hash")?);
    let expected = last.seq + 1;
    let (kind, problem) = if seq != expected {
        (Tampering::Deleted, "the entry was deleted")
    } else if previous != last.hash {
        (Tampering::Reordered, "the entry does not follow the one before it: it was moved")
    } else if hash != link_hash(&previous, &entry) {
        (Tampering::Changed, "the entry was changed")
    } else {
        let next = Position { seq, hash };
        match outside {
            Outside::Sealed(sealed) if sealed.seq == seq && *sealed != next => {
                (Tampering::Changed, "the entry is not the one that was sealed")
            }
            _ => return Ok(Ok(next)),
        }
    };
    Ok(Err(BrokenLink { seq: expected, kind, problem }))
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

fn link_hash(previous: &str, entry: &str) -> String {
    to_hex(&Sha256::new().chain_update(previous).chain_update(entry).finalize())
}

/// Seals the head of the chain.
pub(crate) struct AuditSeal(hmac::Hmac<Sha256>);

impl AuditSeal {
    pub(crate) fn new(key: &MasterKey) -> Self {
        Self(hmac(key.derive("audit-head").expose()))
    }

    fn seal(&self, position: &Position) -> String {
        let mut mac = self.0.clone();
        mac.update(format!("{} {}", position.seq, position.hash).as_bytes());
        to_hex(&mac.finalize().into_bytes())
    }
}

/// What the database says about the end of the chain.
enum Head {
    Missing,
    Forged,
    Sealed(Position),
}

impl Head {
    /// The number of the entry that was sealed; 0 where none is known.
    fn seq(&self) -> u64 {
        match self {
            Self::Sealed(position) => position.seq,
            Self::Missing | Self::Forged => 0,
        }
    }
}

impl Outside {
    /// The number of the entry that was sealed; 0 where none is known.
    fn seq(&self) -> u64 {
        match self {
            Self::Sealed(position) => position.seq,
            Self::NotYet | Self::Missing | Self::Forged => 0,
        }
    }
}

async fn read_head(
    tx: &mut Transaction,
    seal: &AuditSeal,
    doing: &'static str,
) -> Result<Head, StorageError> {
    let row = sql("SELECT * FROM audit_head WHERE id = 1")
        .fetch_optional(tx)
        .await
        .map_err(StorageError::database(doing))?;
    let Some(row) = row else {
        return Ok(Head::Missing);
    };
    let position = Position { seq: row.count("seq")?, hash: row.string("hash")? };
    let sealed: String = row.string("seal")?;
    Ok(if seal.seal(&position) == sealed { Head::Sealed(position) } else { Head::Forged })
}

/// Where the chain ends, to be sealed outside the database for the first time.
pub(crate) async fn end(store: &Store, seal: &AuditSeal) -> Result<Position, StorageError> {
    const DOING: &str = "seal the audit trail";
    let mut tx = store.begin_read(DOING).await?;
    match read_head(&mut tx, seal, DOING).await? {
        Head::Sealed(head) => Ok(head),
        Head::Missing | Head::Forged => last_row(&mut tx, DOING).await,
    }
}

/// Adds entries with their ids at the end of the chain; those that are in it already are left out.
/// Returns where it ends now; `None`: where it did.
///
/// The ingester and administration call this, each within a transaction that writes: one waits for
/// the other.
pub(crate) async fn append<T: Serialize + Placed>(
    tx: &mut Transaction,
    seal: &AuditSeal,
    outside: &Outside,
    entries: &[(&str, &T)],
) -> Result<Option<Position>, StorageError> {
    const DOING: &str = "add to the audit trail";
    if entries.is_empty() {
        return Ok(None);
    }
    let mut last = resume(tx, seal, outside, DOING).await?;
    let mut known = known_ids(tx, entries.iter().map(|(audit_id, _)| *audit_id)).await?;
    let mut rows = Vec::with_capacity(entries.len());
    let mut places = Vec::with_capacity(entries.len());
    for (audit_id, entry) in entries {
        if !known.insert((*audit_id).to_owned()) {
            continue;
        }
        let json = crate::json::to_string(entry).map_err(|error| StorageError::Unreadable {
            column: "entry",
            value: error.to_string(),
        })?;
        let next = Position { seq: last.seq + 1, hash: link_hash(&last.hash, &json) };
        let (previous, hash) = (last.hash, next.hash.clone());
        places.push((next.seq, entry.place()));
        rows.push(vec![
            next.seq.into(),
            (*audit_id).into(),
            json.into(),
            previous.into(),
            hash.into(),
        ]);
        last = next;
    }
    let columns = ["seq", "audit_id", "entry", "previous", "hash"];
    insert_many(tx, ("audit_entries", &columns), "", rows, |_, _| {})
        .await
        .map_err(StorageError::database(DOING))?;
    trail_pages::note(tx, &places).await?;
    sql("INSERT INTO audit_head (id, seq, hash, seal) VALUES (1, $1, $2, $3) ON CONFLICT (id) \
         DO UPDATE SET seq = excluded.seq, hash = excluded.hash, seal = excluded.seal")
    .bind(last.seq)
    .bind(&last.hash)
    .bind(seal.seal(&last))
    .execute(tx)
    .await
    .map_err(StorageError::database(DOING))?;
    Ok(Some(last))
}

/// Those of `ids` that the trail holds already.
async fn known_ids<'i>(
    tx: &mut Transaction,
    ids: impl Iterator<Item = &'i str>,
) -> Result<HashSet<String>, StorageError> {
    let ids: Vec<&str> = ids.collect();
    let mut known = HashSet::new();
    for ids in in_sizes(&ids) {
        let places: Vec<String> = (1..=ids.len()).map(|place| format!("${place}")).collect();
        let text =
            format!("SELECT audit_id FROM audit_entries WHERE audit_id IN ({})", places.join(", "));
        let found = sql(text)
            .bind_all(ids.iter().map(|id| (*id).into()))
            .fetch_all(&mut *tx)
            .await
            .map_err(StorageError::database("look for entries of the audit trail"))?;
        for row in found {
            known.insert(row.string("audit_id")?);
        }
    }
    Ok(known)
}

/// Where the chain goes on.
///
/// Where somebody tampered with its end, it goes on behind a gap: a new seal must not heal what
/// [`Store::verify_audit`] should report, and new requests must not go without an entry.
async fn resume(
    tx: &mut Transaction,
    seal: &AuditSeal,
    outside: &Outside,
    doing: &'static str,
) -> Result<Position, StorageError> {
    let head = read_head(tx, seal, doing).await?;
    let last = last_row(tx, doing).await?;
    let inside_holds = match &head {
        Head::Missing => last.seq == 0,
        Head::Forged => false,
        Head::Sealed(head) => *head == last,
    };
    let outside_holds = match outside {
        Outside::NotYet => true,
        Outside::Missing | Outside::Forged => false,
        Outside::Sealed(sealed) => stands(tx, sealed, doing).await?,
    };
    if inside_holds && outside_holds {
        return Ok(last);
    }
    let sealed = head.seq().max(outside.seq());
    tracing::error!(
        last = last.seq,
        sealed,
        "the end of the audit trail was tampered with; `sluice audit verify` says where"
    );
    Ok(Position { seq: last.seq.max(sealed) + 1, hash: GENESIS.to_owned() })
}

/// The last entry in the database, sealed or not.
async fn last_row(tx: &mut Transaction, doing: &'static str) -> Result<Position, StorageError> {
    let row = sql("SELECT seq, hash FROM audit_entries ORDER BY seq DESC LIMIT 1")
        .fetch_optional(tx)
        .await
        .map_err(StorageError::database(doing))?;
    let Some(row) = row else { return Ok(Position::genesis()) };
    Ok(Position { seq: row.count("seq")?, hash: row.string("hash")? })
}

/// Whether this entry is in the database.
async fn stands(
    tx: &mut Transaction,
    position: &Position,
    doing: &'static str,
) -> Result<bool, StorageError> {
    if *position == Position::genesis() {
        return Ok(true);
    }
    let row = sql("SELECT hash FROM audit_entries WHERE seq = $1")
        .bind(position.seq)
        .fetch_optional(tx)
        .await
        .map_err(StorageError::database(doing))?;
    Ok(match row {
        Some(row) => row.string("hash")? == position.hash,
        None => false,
    })
}
