//! The audit trail: append-only, and tampering shows.
//!
//! Each entry's hash covers the hash of the one before it and the entry's own JSON text, so that a
//! change, a gap or a swap breaks the chain from there on. The last entry is sealed (its number and
//! hash under a key derived from the master key) in the database and outside of it (`seal`), which
//! shows when entries are cut off at the end, when all of them are gone, and when all hashes were
//! computed anew. Who can write to the data folder *and* read the master key, or puts an old copy
//! of the whole folder back, is only found out by comparing with a head that was kept elsewhere.
//!
//! | File | Is |
//! | --- | --- |
//! | `chain` | where an entry stands, and what seals the end |
//! | `verify` | whether all of it is as it was written |
//! | `heads` | signed heads, to be kept elsewhere |
//! | `checkpoints` | where the trail begins once its oldest entries were removed |
//! | `contents` | the redacted content of requests that ask for it, sealed |

mod chain;
mod checkpoints;
mod contents;
mod heads;
mod verify;

use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::filtering::FilterRecord;
use sluice_core::ids::{AccountId, KeyId, ModelId, PersonId, ProviderId, RequestId};
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::outcome::Outcome;
use sluice_core::region::Region;
use sluice_core::usage::Usage;

use crate::database::{Row, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::trail::TrailEntry;
use crate::trail_pages::TrailFilter;
use crate::usage::{Order, picos};

pub(crate) use chain::{AuditSeal, Position, append, end};
pub use checkpoints::Checkpoint;
pub use contents::{AnswerPart, AuditContent, ContentSealer};
pub(crate) use contents::{ContentLine, Contents};
pub use heads::{HeadKey, SignedHead};
pub use verify::{AuditVerification, BrokenLink, ExportedEntry, Tampering, verify_export};

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
    /// The person who held the key, if it was a person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person_id: Option<PersonId>,
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
    /// How many bytes of redacted content were kept beside the entry, before they were packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_bytes: Option<u64>,
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
            content_bytes: None,
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
    /// Only those behind the entry with this number; of the latest first, those before it.
    pub after: Option<u64>,
    /// Only those of this account.
    pub account: Option<AccountId>,
    /// Only those that it admits.
    pub entries: TrailFilter,
    /// At most so many.
    pub limit: Option<u32>,
    /// In which order, and so which end of the list a limit keeps.
    pub order: Order,
}

/// Entries that are read at once.
const PAGE: u32 = 1000;
const LISTING: &str = "list the audit trail";

impl Store {
    /// The audit entries in the database that `filter` admits.
    pub async fn audit(&self, filter: &AuditFilter) -> Result<Vec<ChainedEntry>, StorageError> {
        let mut found = Vec::new();
        self.each_audit_entry(filter, |_, entry| {
            found.push(entry);
            Ok(())
        })
        .await?;
        Ok(found)
    }

    /// Passes on the audit entries that `filter` admits, each with the row that it is in. Memory does
    /// not grow with their number.
    ///
    /// Only the entries themselves are asked, never what is kept beside them for pages: nobody can hide
    /// an entry from here without breaking the chain.
    pub async fn each_audit_entry(
        &self,
        filter: &AuditFilter,
        mut each: impl FnMut(ExportedEntry, ChainedEntry) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let mut left = filter.limit.unwrap_or(u32::MAX);
        let mut after = filter.after;
        while left > 0 {
            let rows = self.audit_page(filter, after, left.min(PAGE)).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.count("seq")?);
            for row in &rows {
                let chained = read_chained(row)?;
                let of_account = filter.account.as_ref();
                let is_wanted = of_account.is_none_or(|it| chained.entry.account_id() == it)
                    && filter.entries.admits(&chained.entry);
                if is_wanted {
                    each(ExportedEntry::of(row)?, chained)?;
                    left = left.saturating_sub(1);
                    if left == 0 {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    async fn audit_page(
        &self,
        filter: &AuditFilter,
        after: Option<u64>,
        rows: u32,
    ) -> Result<Vec<Row>, StorageError> {
        let mut query = sql("SELECT seq, entry, previous, hash FROM audit_entries WHERE ");
        query.push(filter.entries.kind.map_or("1 = 1", crate::trail::TrailKind::condition));
        if let Some(audit_id) = &filter.audit_id {
            query.push(" AND audit_id = ");
            query.push_bind(audit_id);
        }
        let (beyond, order) = match filter.order {
            Order::NewestFirst => (" AND seq < ", " ORDER BY seq DESC LIMIT "),
            Order::OldestFirst => (" AND seq > ", " ORDER BY seq LIMIT "),
        };
        if let Some(after) = after {
            query.push(beyond);
            query.push_bind(after);
        }
        query.push(order);
        // A filter that Rust applies may leave few of them.
        query.push_bind(if filter.entries.is_narrow() { PAGE } else { rows });
        query.fetch_all(self.database()).await.map_err(StorageError::database(LISTING))
    }
}

pub(crate) fn read_chained(row: &Row) -> Result<ChainedEntry, StorageError> {
    let text = row.string("entry")?;
    let entry = serde_json::from_str(&text)
        .map_err(|_| StorageError::Unreadable { column: "entry", value: text })?;
    Ok(ChainedEntry { seq: row.count("seq")?, hash: row.string("hash")?, entry })
}
