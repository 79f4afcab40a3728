//! Carries the journal into the database, each entry exactly once.
//!
//! A batch and the place up to which the journal has been read are stored in one transaction.
//! Wherever a crash hits, the next run goes on where the last finished transaction ended. What a
//! batch adds to the audit trail is sealed outside the database before the next one (`seal`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::audit::{self, AuditSeal, Contents, Position};
use crate::database::{Transaction, Value, sql};
use crate::error::StorageError;
use crate::journal::{Chunk, Journal, JournalEntry, JournalSeal, Reading, Segment, list};
use crate::master_key::MasterKey;
use crate::open::{Store, journal_dir};
use crate::rollup::{RollupAdditions, Series, number};
use crate::seal::{Outside, SealFile};
use crate::serving::{Holder, Serving};
use crate::sums::SumAdditions;
use crate::usage::{self, Numbered};
use crate::uses::UseAdditions;
use crate::windows::QuarterAdditions;

/// How far each segment has been read: a byte offset by file name.
pub(crate) type Positions = HashMap<String, u64>;

/// The single reader of the journal that writes to the database. There is one in a server.
pub struct Ingester {
    store: Store,
    dir: PathBuf,
    key: MasterKey,
    seal: AuditSeal,
    seal_file: SealFile,
    journal_seal: JournalSeal,
    contents: Contents,
    /// The journal of this process, once it is written to.
    journal: Option<Arc<Journal>>,
    known: Option<Known>,
    /// Who must be serving when a batch is stored; see [`crate::Serving`].
    holder: Option<Holder>,
    corrupt_lines: u64,
}

/// What is known of the data folder once it was looked at.
struct Known {
    positions: Positions,
    /// Where the audit trail ended, by the file outside the database.
    outside: Outside,
    /// Whether that file has to be written.
    seal_is_due: bool,
}

/// What became of a batch.
enum Stored {
    /// Some of its records are there already: they have to be added one by one.
    NotInBulk,
    /// It is in the database. The audit trail ends here now, if it has grown.
    Whole(Option<Position>),
    /// Nothing of it, for the database has read the segment up to another place: an earlier batch
    /// was stored although its answer was lost, or an older database was put back.
    Elsewhere(u64),
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
    /// Where it begins.
    from: u64,
    chunk: Chunk,
    /// Whether nothing will ever be written to the segment any more, and all of it was read.
    finished: bool,
}

impl Ingester {
    /// Entries in one transaction at most. Others can write in between.
    pub const BATCH: usize = 512;

    /// An ingester for the data folder of `store`. The caller holds the [`crate::DataLock`].
    pub fn new(store: Store, key: &MasterKey) -> Self {
        let dir = journal_dir(store.data_dir());
        let seal_file = SealFile::new(store.data_dir(), key);
        Self {
            store,
            dir,
            key: key.clone(),
            seal: AuditSeal::new(key),
            seal_file,
            journal_seal: JournalSeal::new(key),
            contents: Contents::new(key),
            journal: None,
            known: None,
            holder: None,
            corrupt_lines: 0,
        }
    }

    /// From now on, what stands in segments of `journal` that somebody removes is not lost: it is
    /// written again before the next batch.
    pub fn follow(&mut self, journal: Arc<Journal>) {
        self.journal = Some(journal);
    }

    /// From now on, nothing is stored once another server serves from the database.
    pub fn hold(&mut self, serving: &Serving) {
        self.holder = serving.holder();
    }

    /// Ingests one batch and returns how many entries it held; 0: there is nothing new.
    ///
    /// After an error the same entries are tried again by the next call.
    pub async fn run_once(&mut self) -> Result<usize, StorageError> {
        let places = self.store.check_places();
        if self.known.is_none() && places.is_ok() {
            let outside = self.store.outside(&self.seal_file).await?;
            let positions = load_positions(&self.store).await?;
            self.known = Some(Known { positions, outside, seal_is_due: false });
        }
        // Whoever removes the database may have removed the journal with it: what stands in there is
        // written again first, for it is gone with the process.
        let rescued = self.rescue().await;
        places?;
        rescued?;
        self.write_seal().await?;
        loop {
            let Some(batch) = self.next_batch().await? else { return Ok(0) };
            if !self.store_batch(&batch).await? {
                continue;
            }
            self.note_corrupt_lines(&batch);
            if batch.finished {
                self.forget(&batch.segment).await?;
            }
            self.write_seal().await?;
            if !batch.chunk.entries.is_empty() {
                return Ok(batch.chunk.entries.len());
            }
        }
    }

    async fn next_batch(&self) -> Result<Option<Batch>, StorageError> {
        let (positions, old_lines) = match &self.known {
            Some(known) => (known.positions.clone(), known.outside == Outside::NotYet),
            None => return Ok(None),
        };
        let reading = Reading { seal: self.journal_seal.clone(), old_lines };
        let dir = self.dir.clone();
        tokio::task::spawn_blocking(move || next_batch(&dir, &positions, &reading))
            .await
            .unwrap_or_else(|gone| Err(gone.into()))
            .map_err(StorageError::file(
                "read the journal",
                &self.dir,
                "check the disk and the folder's permissions",
            ))
    }

    /// Has segments that somebody removed written again. [`Ingester::run_once`] does so, too: this
    /// is for the end of a server, after the last run.
    pub async fn rescue(&self) -> Result<(), StorageError> {
        let Some(journal) = self.journal.clone() else { return Ok(()) };
        // As long as nothing is known, nothing of what this process wrote was ingested.
        let positions = self.known.as_ref().map(|it| it.positions.clone()).unwrap_or_default();
        let rescued = tokio::task::spawn_blocking(move || {
            journal.rescue(|name| positions.get(name).copied().unwrap_or(0))
        });
        let rescued = rescued.await.unwrap_or_else(|gone| Err(gone.into())).map_err(
            StorageError::file("write removed segments again", &self.dir, "check the disk"),
        )?;
        if rescued.segments > 0 {
            tracing::error!(
                segments = rescued.segments,
                lines = rescued.lines,
                unreadable = rescued.unreadable,
                "files of the journal were removed while they were in use; what stood in them was \
                 written again, but for those that could not be read"
            );
        }
        Ok(())
    }

    /// Seals the audit trail's end outside the database, if it has grown.
    async fn write_seal(&mut self) -> Result<(), StorageError> {
        let Some(Known { outside: Outside::Sealed(end), seal_is_due: true, .. }) = &self.known
        else {
            return Ok(());
        };
        self.seal_file.renew(self.store.data_dir(), end.clone()).await?;
        if let Some(known) = &mut self.known {
            known.seal_is_due = false;
        }
        Ok(())
    }

    /// Ends the time in which lines without a seal count: what a version without seals left is in
    /// the database. The file comes before the note of it, so that a crash in between is no harm.
    async fn begin_to_seal(&mut self) -> Result<(), StorageError> {
        if let Some(Known { outside: Outside::NotYet, .. }) = &self.known {
            let end = audit::end(&self.store, &self.seal).await?;
            self.seal_file.renew(self.store.data_dir(), end.clone()).await?;
            if let Some(known) = &mut self.known {
                known.outside = Outside::Sealed(end);
            }
        }
        self.store.note_seal_file().await?;
        if let Err(error) = self.key.note_sealed() {
            tracing::warn!(%error, "the master key's file cannot note that the trail is sealed");
        }
        Ok(())
    }

    /// Ingests everything that is there, and returns how many entries that were.
    ///
    /// A server runs it before it reads the windows of the limits, and before it opens the journal.
    /// The first time in a data folder, it begins to seal it.
    pub async fn run_to_end(&mut self) -> Result<usize, StorageError> {
        let mut total = 0;
        loop {
            match self.run_once().await? {
                0 => break,
                ingested => total += ingested,
            }
        }
        self.begin_to_seal().await?;
        Ok(total)
    }

    /// How much of the journal is not in the database yet, in bytes; 0 where that cannot be said.
    pub fn backlog_bytes(&self) -> u64 {
        let none = Positions::new();
        backlog(&self.dir, self.known.as_ref().map_or(&none, |known| &known.positions))
    }

    /// Lines that were skipped since this ingester was made, since they were not as written.
    pub fn corrupt_lines(&self) -> u64 {
        self.corrupt_lines
    }

    fn note_corrupt_lines(&mut self, batch: &Batch) {
        let Chunk { corrupt, moved, read_to, .. } = batch.chunk;
        self.corrupt_lines += corrupt;
        let segment = &batch.segment.name;
        if corrupt > 0 {
            tracing::error!(
                %segment,
                before_byte = read_to,
                lines = corrupt,
                "lines of the journal do not carry this data folder's seal, or were repeated; they \
                 were skipped"
            );
        }
        if moved > 0 {
            tracing::error!(
                %segment,
                before_byte = read_to,
                lines = moved,
                "lines of the journal are not where they were written; others were added or removed"
            );
        }
    }

    /// `false`: it was read from the wrong place, and nothing was stored.
    async fn store_batch(&mut self, batch: &Batch) -> Result<bool, StorageError> {
        let contents = self.contents.rows(&self.store, &batch.chunk.entries).await?;
        // A record that is there already is rare: a crash between two writes cannot cause one.
        let mut stored = self.try_store(batch, &contents, Pace::Bulk).await?;
        if let Stored::NotInBulk = stored {
            stored = self.try_store(batch, &contents, Pace::Single).await?;
        }
        let Some(known) = &mut self.known else { return Ok(true) };
        let read_to = match stored {
            Stored::Elsewhere(place) => place,
            _ => batch.chunk.read_to,
        };
        known.positions.insert(batch.segment.name.clone(), read_to);
        match stored {
            Stored::Elsewhere(_) => return Ok(false),
            Stored::Whole(Some(end)) if known.outside != Outside::NotYet => {
                known.outside = Outside::Sealed(end);
                known.seal_is_due = true;
            }
            _ => {}
        }
        Ok(true)
    }

    /// Stores a batch and the place behind it, or nothing of it.
    async fn try_store(
        &self,
        batch: &Batch,
        contents: &[Vec<Value>],
        pace: Pace,
    ) -> Result<Stored, StorageError> {
        const DOING: &str = "ingest the journal";
        let mut tx = self.store.begin_write(DOING).await?;
        if let Some(holder) = &self.holder {
            holder.check(&mut tx).await?;
        }
        let place = sql("SELECT read_to FROM journal_segments WHERE name = $1")
            .bind(&batch.segment.name)
            .fetch_optional(&mut tx)
            .await
            .map_err(StorageError::database(DOING))?;
        let place = place.map_or(Ok(0), |row| row.count("read_to"))?;
        if place != batch.from {
            tx.rollback(DOING).await?;
            return Ok(Stored::Elsewhere(place));
        }
        let entries = &batch.chunk.entries;
        // Only what is added to the trail is held against its seal.
        let outside = if entries.iter().any(|entry| matches!(entry, JournalEntry::Audit(_))) {
            self.latest_outside(&mut tx).await?
        } else {
            Outside::NotYet
        };
        let stored = store_entries(&mut tx, (&self.seal, &outside), entries, pace).await?;
        if let Stored::NotInBulk = stored {
            tx.rollback(DOING).await?;
            return Ok(stored);
        }
        Contents::write(&mut tx, contents.to_vec()).await?;
        sql("INSERT INTO journal_segments (name, read_to) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET read_to = excluded.read_to")
        .bind(&batch.segment.name)
        .bind(batch.chunk.read_to)
        .execute(&mut tx)
        .await
        .map_err(StorageError::database(DOING))?;
        tx.commit(DOING).await?;
        Ok(stored)
    }

    /// Where the audit trail ended, by what this ingester remembers or the file, whichever is later:
    /// administration seals its entries, too, and whoever cuts those off has to be found out.
    async fn latest_outside(&self, tx: &mut Transaction) -> Result<Outside, StorageError> {
        let known = self.known.as_ref().map_or(&Outside::NotYet, |known| &known.outside);
        let Outside::Sealed(remembered) = known else { return Ok(known.clone()) };
        Ok(match self.store.outside_in(tx, &self.seal_file).await? {
            Outside::Sealed(there) if there.seq > remembered.seq => Outside::Sealed(there),
            // A file that was removed or forged says less than what is remembered.
            _ => known.clone(),
        })
    }

    /// Deletes a segment of which everything is in the database.
    async fn forget(&mut self, segment: &Segment) -> Result<(), StorageError> {
        const DOING: &str = "forget a segment of the journal";
        if let Some(journal) = &self.journal {
            journal.forget(&segment.name);
        }
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
        sql("DELETE FROM journal_segments WHERE name = $1")
            .bind(&segment.name)
            .execute(self.store.database())
            .await
            .map_err(StorageError::database(DOING))?;
        if let Some(known) = &mut self.known {
            known.positions.remove(&segment.name);
        }
        Ok(())
    }
}

/// How far each segment has been read.
pub(crate) async fn load_positions(store: &Store) -> Result<Positions, StorageError> {
    const DOING: &str = "find the place in the journal";
    let rows = sql("SELECT name, read_to FROM journal_segments")
        .fetch_all(store.database())
        .await
        .map_err(StorageError::database(DOING))?;
    rows.iter().map(|row| Ok((row.string("name")?, row.count("read_to")?))).collect()
}

/// How much of a data folder's journal is not in the database yet, in bytes.
pub(crate) async fn backlog_of(store: &Store) -> Result<u64, StorageError> {
    Ok(backlog(&journal_dir(store.data_dir()), &load_positions(store).await?))
}

fn backlog(dir: &Path, positions: &Positions) -> u64 {
    let rest = list(dir).unwrap_or_default().into_iter().map(|segment| {
        let length = std::fs::metadata(&segment.path).map_or(0, |data| data.len());
        length.saturating_sub(positions.get(&segment.name).copied().unwrap_or(0))
    });
    rest.sum()
}

/// The earliest segment that has something to do.
fn next_batch(
    dir: &Path,
    positions: &Positions,
    reading: &Reading,
) -> std::io::Result<Option<Batch>> {
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
        let chunk = reading.chunk(&segment, from, Ingester::BATCH)?;
        let finished = chunk.at_end && Some(segment.number) != last;
        if finished || chunk.read_to > from {
            return Ok(Some(Batch { segment, from, chunk, finished }));
        }
    }
    Ok(None)
}

/// Stores entries and everything that is added up from them.
async fn store_entries(
    tx: &mut Transaction,
    (seal, outside): (&AuditSeal, &Outside),
    entries: &[JournalEntry],
    pace: Pace,
) -> Result<Stored, StorageError> {
    let mut records = Vec::with_capacity(entries.len());
    let mut audits = Vec::new();
    let mut sums = SumAdditions::default();
    let mut quarters = QuarterAdditions::default();
    let mut uses = UseAdditions::default();
    let mut rollup = RollupAdditions::default();
    for entry in entries {
        match entry {
            JournalEntry::Usage(record) => records.push(&**record),
            JournalEntry::Audit(entry) => audits.push((entry.audit_id.as_str(), &**entry)),
            JournalEntry::Sum(sum) => {
                let at = sum.moment();
                uses.note(&sum.key_id, at);
                quarters.count(sum.attribution(), at, sum.counted());
                sums.count_sum(sum);
                rollup.count_sum(sum);
            }
            JournalEntry::Window(began) => quarters.note_began(began),
            // It was made rows of already.
            JournalEntry::Content(_) => {}
        }
    }
    let of_records: Vec<Series> = records.iter().map(|it| Series::of_record(it)).collect();
    let mut series = rollup.series();
    let distinct: BTreeSet<&Series> = of_records.iter().collect();
    series.extend(distinct.iter().flat_map(|it| [(*it).clone(), it.of_key(), it.of_account()]));
    let numbers = number(tx, series).await?;
    let numbered = records.into_iter().zip(&of_records);
    let numbered: Vec<Numbered<'_>> =
        numbered.map(|(record, it)| (record, numbers.get(it).copied().unwrap_or(0))).collect();
    let new = match pace {
        Pace::Bulk => match usage::insert_new(tx, &numbered).await? {
            Some(new) => new,
            None => return Ok(Stored::NotInBulk),
        },
        Pace::Single => usage::insert_new_singly(tx, &numbered).await?,
    };
    let named: BTreeMap<i64, &Series> = numbers.iter().map(|(it, number)| (*number, it)).collect();
    for (record, number) in new {
        uses.note(&record.key_id, record.started_at);
        quarters.count(record.attribution(), record.started_at, record.counted());
        sums.count_record(record);
        if let Some(series) = named.get(&number) {
            rollup.count_record(record, series);
        }
    }
    rollup.store(tx, &numbers).await?;
    quarters.store(tx).await?;
    sums.store(tx).await?;
    uses.store(tx).await?;
    Ok(Stored::Whole(audit::append(tx, seal, outside, &audits).await?))
}
