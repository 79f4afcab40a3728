//! What the journal holds and the database does not yet, for lists made by another process.

use std::collections::HashSet;
use std::io::ErrorKind;

use crate::audit::AuditEntry;
use crate::error::StorageError;
use crate::ingest::load_positions;
use crate::journal::{JournalEntry, JournalSeal, Reading, list};
use crate::master_key::MasterKey;
use crate::open::{Store, journal_dir};
use crate::seal::{Outside, SealFile};
use crate::sums::UsageSum;
use crate::usage::{Order, UsageFilter, UsageRecord};
use crate::windows::WindowBegan;

/// The entries of the journal that have not been ingested.
#[derive(Debug, Clone, Default)]
pub struct JournalTail {
    /// Usage records, in the order of writing. Some may have been ingested meanwhile.
    pub usage: Vec<UsageRecord>,
    /// Sums of requests in zero-retention mode, in the order of writing.
    pub sums: Vec<UsageSum>,
    /// Windows of five hours that began, in the order of writing.
    pub windows: Vec<WindowBegan>,
    /// Audit entries, in the order of writing. They are not in the chain yet.
    pub audit: Vec<AuditEntry>,
}

impl Store {
    /// Reads what the journal holds and the database does not yet.
    pub async fn journal_tail(&self, key: &MasterKey) -> Result<JournalTail, StorageError> {
        let outside = self.outside(&SealFile::new(self.data_dir(), key)).await?;
        let reading =
            Reading { seal: JournalSeal::new(key), old_lines: outside == Outside::NotYet };
        let positions = load_positions(self).await?;
        let dir = journal_dir(self.data_dir());
        let failed = || StorageError::file("read the journal", &dir, "check its permissions");
        let mut tail = JournalTail::default();
        let segments = match list(&dir) {
            Ok(segments) => segments,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(tail),
            Err(error) => return Err(failed()(error)),
        };
        for segment in segments {
            let from = positions.get(&segment.name).copied().unwrap_or(0);
            let chunk = match reading.chunk(&segment, from, usize::MAX) {
                Ok(chunk) => chunk,
                // It was ingested and deleted since the list was made.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(failed()(error)),
            };
            for entry in chunk.entries {
                match entry {
                    JournalEntry::Usage(record) => tail.usage.push(*record),
                    JournalEntry::Audit(entry) => tail.audit.push(*entry),
                    JournalEntry::Sum(sum) => tail.sums.push(sum),
                    JournalEntry::Window(began) => tail.windows.push(began),
                    // It is read in the database only.
                    JournalEntry::Content(_) => {}
                }
            }
        }
        Ok(tail)
    }

    /// The usage records that `filter` admits, in the database or still in the journal.
    ///
    /// Records over the filter's limit are left out only after both have been merged.
    pub async fn usage_with_tail(
        &self,
        filter: &UsageFilter,
        key: &MasterKey,
    ) -> Result<Vec<UsageRecord>, StorageError> {
        // The journal first: what is ingested between the two readings is found in both.
        let mut tail = self.journal_tail(key).await?.usage;
        tail.retain(|record| filter.admits(record));
        let mut records = self.usage(filter).await?;
        if tail.is_empty() {
            return Ok(records);
        }
        let mut known: HashSet<_> =
            records.iter().map(|record| record.request_id.clone()).collect();
        tail.retain(|record| known.insert(record.request_id.clone()));
        records.append(&mut tail);
        records.sort_by(|a, b| {
            let ascending = (a.started_at, &a.request_id).cmp(&(b.started_at, &b.request_id));
            match filter.order {
                Order::NewestFirst => ascending.reverse(),
                Order::OldestFirst => ascending,
            }
        });
        if let Some(limit) = filter.limit {
            records.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        Ok(records)
    }
}
