//! The chain: where an entry stands, and what seals the end.

use std::collections::HashSet;

use hmac::Mac as _;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::database::{Transaction, in_sizes, insert_many, sql};
use crate::error::StorageError;
use crate::master_key::{MasterKey, hmac, to_hex};
use crate::open::Store;
use crate::seal::Outside;
use crate::trail_pages::{self, Placed};

/// What comes before the first entry.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    /// The entry's number; 0: before the first.
    pub(crate) seq: u64,
    /// Its hash.
    pub(crate) hash: String,
}

impl Position {
    pub(super) fn genesis() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }
}

/// The hash of an entry, by the hash of the one before it and its own text.
pub(super) fn link_hash(previous: &str, entry: &str) -> String {
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
pub(super) enum Head {
    Missing,
    Forged,
    Sealed(Position),
}

impl Head {
    /// The number of the entry that was sealed; 0 where none is known.
    pub(super) fn seq(&self) -> u64 {
        match self {
            Self::Sealed(position) => position.seq,
            Self::Missing | Self::Forged => 0,
        }
    }
}

impl Outside {
    /// The number of the entry that was sealed; 0 where none is known.
    pub(super) fn seq(&self) -> u64 {
        match self {
            Self::Sealed(position) => position.seq,
            Self::NotYet | Self::Missing | Self::Forged => 0,
        }
    }
}

pub(super) async fn read_head(
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
pub(super) async fn last_row(
    tx: &mut Transaction,
    doing: &'static str,
) -> Result<Position, StorageError> {
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
