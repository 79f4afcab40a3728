//! Carries the journal into the database, each entry exactly once.
//!
//! A batch and the place up to which the journal has been read are stored in one transaction.
//! Wherever a crash hits, the next run goes on where the last finished transaction ended.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sqlx::{Row as _, SqliteConnection};

use crate::audit::{self, AuditSeal};
use crate::error::StorageError;
use crate::journal::{Chunk, JournalEntry, Segment, list, read_chunk};
use crate::master_key::MasterKey;
use crate::open::{Store, journal_dir};
use crate::row::to_db;
use crate::sums::SumAdditions;
use crate::usage;
use crate::uses::UseAdditions;
use crate::windows::WindowAdditions;

/// Entries in one transaction. Others can write in between.
const BATCH: usize = 512;

/// How far each segment has been read: a byte offset by file name.
pub(crate) type Positions = HashMap<String, u64>;

/// The single reader of the journal that writes to the database. There is one in a server.
pub struct Ingester {
    store: Store,
    dir: PathBuf,
    seal: AuditSeal,
    positions: Option<Positions>,
    corrupt_lines: u64,
}

/// How records are added.
#[derive(Debug, Clone, Copy)]
enum Pace {
    /// Many in a statement.
    Bulk,
    /// One by one, which tells which of them are new.
    Single,
}

/// What one look at the journal found to do.
struct Batch {
    segment: Segment,
    chunk: Chunk,
    /// Whether nothing will ever be written to the segment any more, and all of it was read.
    finished: bool,
}

impl Ingester {
    /// An ingester for the data folder of `store`. The caller holds the [`crate::DataLock`].
    pub fn new(store: Store, key: &MasterKey) -> Self {
        let dir = journal_dir(store.data_dir());
        Self { store, dir, seal: AuditSeal::new(key), positions: None, corrupt_lines: 0 }
    }

    /// Ingests one batch and returns how many entries it held; 0: there is nothing new.
    ///
    /// After an error the same entries are tried again by the next call.
    pub async fn run_once(&mut self) -> Result<usize, StorageError> {
        if self.positions.is_none() {
            self.positions = Some(load_positions(&self.store).await?);
        }
        loop {
            let positions = self.positions.clone().unwrap_or_default();
            let dir = self.dir.clone();
            let found = tokio::task::spawn_blocking(move || next_batch(&dir, &positions))
                .await
                .unwrap_or_else(|gone| Err(gone.into()))
                .map_err(StorageError::file(
                    "read the journal",
                    &self.dir,
                    "check the disk and the folder's permissions",
                ))?;
            let Some(batch) = found else { return Ok(0) };
            self.note_corrupt_lines(&batch);
            self.store_batch(&batch).await?;
            if batch.finished {
                self.forget(&batch.segment).await?;
            }
            if !batch.chunk.entries.is_empty() {
                return Ok(batch.chunk.entries.len());
            }
        }
    }

    /// Ingests everything that is there, and returns how many entries that were.
    ///
    /// A server runs it before it reads the windows of the limits.
    pub async fn run_to_end(&mut self) -> Result<usize, StorageError> {
        let mut total = 0;
        loop {
            match self.run_once().await? {
                0 => return Ok(total),
                ingested => total += ingested,
            }
        }
    }

    /// How much of the journal is not in the database yet, in bytes; 0 where that cannot be said.
    pub fn backlog_bytes(&self) -> u64 {
        let read_to = |name: &str| {
            self.positions.as_ref().and_then(|positions| positions.get(name)).copied().unwrap_or(0)
        };
        let segments = list(&self.dir).unwrap_or_default();
        let rest = segments.iter().map(|segment| {
            let length = std::fs::metadata(&segment.path).map_or(0, |data| data.len());
            length.saturating_sub(read_to(&segment.name))
        });
        rest.sum()
    }

    /// Lines that were skipped since this ingester was made, since they were not as written.
    pub fn corrupt_lines(&self) -> u64 {
        self.corrupt_lines
    }

    fn note_corrupt_lines(&mut self, batch: &Batch) {
        if batch.chunk.corrupt == 0 {
            return;
        }
        self.corrupt_lines += batch.chunk.corrupt;
        tracing::error!(
            segment = %batch.segment.name,
            before_byte = batch.chunk.read_to,
            lines = batch.chunk.corrupt,
            "lines of the journal are not as they were written; they were skipped"
        );
    }

    async fn store_batch(&mut self, batch: &Batch) -> Result<(), StorageError> {
        // A record that is there already is rare: a crash between two writes cannot cause one.
        if !self.try_store(batch, Pace::Bulk).await? {
            self.try_store(batch, Pace::Single).await?;
        }
        if let Some(positions) = &mut self.positions {
            positions.insert(batch.segment.name.clone(), batch.chunk.read_to);
        }
        Ok(())
    }

    /// Stores a batch and the place behind it, or nothing of it: `false` where its records have to
    /// be added one by one.
    async fn try_store(&self, batch: &Batch, pace: Pace) -> Result<bool, StorageError> {
        const DOING: &str = "ingest the journal";
        let mut tx = self.store.begin_write(DOING).await?;
        if !store_entries(&mut tx, &self.seal, &batch.chunk.entries, pace).await? {
            tx.rollback().await.map_err(StorageError::database(DOING))?;
            return Ok(false);
        }
        sqlx::query(
            "INSERT INTO journal_segments (name, read_to) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET read_to = excluded.read_to",
        )
        .bind(&batch.segment.name)
        .bind(to_db(batch.chunk.read_to))
        .execute(&mut *tx)
        .await
        .map_err(StorageError::database(DOING))?;
        tx.commit().await.map_err(StorageError::database(DOING))?;
        Ok(true)
    }

    /// Deletes a segment of which everything is in the database.
    async fn forget(&mut self, segment: &Segment) -> Result<(), StorageError> {
        const DOING: &str = "forget a segment of the journal";
        let (data_dir, path) = (self.store.data_dir().to_owned(), segment.path.clone());
        let deleted = tokio::task::spawn_blocking(move || {
            // Commits are not synced one by one. Before the file goes, they must be on disk.
            Store::sync_commits(&data_dir)?;
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        });
        let fix = "check the disk and the folder's permissions";
        deleted.await.unwrap_or_else(|gone| Err(gone.into())).map_err(StorageError::file(
            "delete",
            &segment.path,
            fix,
        ))?;
        // After the file: without the row, a file that is still there would be read again.
        sqlx::query("DELETE FROM journal_segments WHERE name = $1")
            .bind(&segment.name)
            .execute(self.store.pool())
            .await
            .map_err(StorageError::database(DOING))?;
        if let Some(positions) = &mut self.positions {
            positions.remove(&segment.name);
        }
        Ok(())
    }
}

/// How far each segment has been read.
pub(crate) async fn load_positions(store: &Store) -> Result<Positions, StorageError> {
    const DOING: &str = "find the place in the journal";
    let rows = sqlx::query("SELECT name, read_to FROM journal_segments")
        .fetch_all(store.pool())
        .await
        .map_err(StorageError::database(DOING))?;
    rows.iter()
        .map(|row| Ok((row.try_get("name")?, row.try_get::<i64, _>("read_to")?.unsigned_abs())))
        .collect::<Result<_, sqlx::Error>>()
        .map_err(StorageError::database(DOING))
}

/// The earliest segment that has something to do.
fn next_batch(dir: &Path, positions: &Positions) -> std::io::Result<Option<Batch>> {
    let segments = match list(dir) {
        Ok(segments) => segments,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // A segment is opened once nothing more goes to the one before. Since the list was made
    // before the reading, all but its last are complete, and a torn end of theirs stays torn.
    let last = segments.last().map(|segment| segment.number);
    for segment in segments {
        let from = positions.get(&segment.name).copied().unwrap_or(0);
        let chunk = read_chunk(&segment.path, from, BATCH)?;
        let finished = chunk.at_end && Some(segment.number) != last;
        if finished || chunk.read_to > from {
            return Ok(Some(Batch { segment, chunk, finished }));
        }
    }
    Ok(None)
}

/// Stores entries and everything that is added up from them; `false` where `pace` was too fast.
async fn store_entries(
    tx: &mut SqliteConnection,
    seal: &AuditSeal,
    entries: &[JournalEntry],
    pace: Pace,
) -> Result<bool, StorageError> {
    let mut records = Vec::with_capacity(entries.len());
    let mut audits = Vec::new();
    let mut sums = SumAdditions::default();
    let mut windows = WindowAdditions::default();
    let mut uses = UseAdditions::default();
    for entry in entries {
        match entry {
            JournalEntry::Usage(record) => records.push(&**record),
            JournalEntry::Audit(entry) => audits.push(&**entry),
            JournalEntry::Sum(sum) => {
                let at = sum.moment();
                uses.note(&sum.key_id, at);
                let whose = (&sum.key_id, &sum.account_id);
                windows.count(whose, at, sum.requests, sum.usage.total_tokens());
                sums.count_sum(sum);
            }
        }
    }
    let new = match pace {
        Pace::Bulk => match usage::insert_new(tx, &records).await? {
            Some(new) => new,
            None => return Ok(false),
        },
        Pace::Single => usage::insert_new_singly(tx, &records).await?,
    };
    for record in new {
        let whose = (&record.key_id, &record.account_id);
        uses.note(&record.key_id, record.started_at);
        windows.count(whose, record.started_at, 1, record.usage.total_tokens());
        sums.count_record(record);
    }
    windows.store(tx).await?;
    sums.store(tx).await?;
    uses.store(tx).await?;
    audit::append(tx, seal, &audits).await?;
    Ok(true)
}
