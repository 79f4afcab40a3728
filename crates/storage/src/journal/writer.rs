//! Appends to the journal.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::StorageError;
use crate::journal::{JournalEntry, line, segments};
use crate::open::{create_data_dir, journal_dir};

/// A segment that has grown to this size is followed by a new one.
const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;

/// What is kept in memory at most while the disk refuses.
const BACKLOG_BYTES: usize = 32 * 1024 * 1024;

/// A buffer that grew past this size for one large append is given back.
const BUFFER_BYTES: usize = 64 * 1024;

thread_local! {
    /// Lines are serialised here, outside the lock and without an allocation.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The journal, open for appending. There is one in a process, and one process a data folder.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    segment_bytes: u64,
    writing: Mutex<Writing>,
    written: AtomicBool,
    synced: AtomicBool,
}

#[derive(Debug)]
struct Writing {
    /// The segment that is written to; `None` until the first append and after a torn write.
    segment: Option<Arc<File>>,
    /// Its length.
    length: u64,
    /// The number of the next segment.
    next: u64,
    /// Whole lines that could not be written yet.
    backlog: Vec<u8>,
    /// Files that hold what has not been synced yet.
    unsynced: Vec<Arc<File>>,
    /// Whether a file was created since the folder was synced.
    folder_unsynced: bool,
}

impl Journal {
    /// Opens the journal in a data folder. The caller holds the [`crate::DataLock`].
    ///
    /// Appends go to a new segment, never behind what a crash may have torn.
    pub fn open(data_dir: &Path) -> Result<Self, StorageError> {
        Self::open_with(data_dir, SEGMENT_BYTES)
    }

    fn open_with(data_dir: &Path, segment_bytes: u64) -> Result<Self, StorageError> {
        let dir = journal_dir(data_dir);
        create_data_dir(&dir)?;
        let present = segments::list(&dir).map_err(StorageError::file(
            "list the journal",
            &dir,
            "run sluice as the user that owns the folder",
        ))?;
        let next = present.last().map_or(1, |segment| segment.number + 1);
        Ok(Self {
            dir,
            segment_bytes,
            writing: Mutex::new(Writing {
                segment: None,
                length: 0,
                next,
                backlog: Vec::new(),
                unsynced: Vec::new(),
                folder_unsynced: false,
            }),
            written: AtomicBool::new(true),
            synced: AtomicBool::new(true),
        })
    }

    /// Appends entries with one system call.
    ///
    /// An error means that they are not on disk *yet*: they are kept in memory and written before
    /// the next ones, or by the next [`Journal::sync`]. Only when 32 MiB wait already are they
    /// lost, which is an error of kind [`ErrorKind::OutOfMemory`].
    pub fn append(&self, entries: &[JournalEntry]) -> io::Result<()> {
        BUFFER.with_borrow_mut(|buffer| {
            buffer.clear();
            for entry in entries {
                line::encode(entry, buffer)?;
            }
            let result = self.write(buffer);
            if buffer.capacity() > BUFFER_BYTES {
                *buffer = Vec::new();
            }
            result
        })
    }

    /// Whether everything that was appended is written, and the last sync succeeded.
    pub fn healthy(&self) -> bool {
        self.written.load(Ordering::Relaxed) && self.synced.load(Ordering::Relaxed)
    }

    /// Makes what was appended survive a power cut; writes first what could not be written.
    ///
    /// Blocks for as long as the disk takes, and holds up no append meanwhile.
    pub fn sync(&self) -> io::Result<()> {
        let (files, folder) = {
            let mut writing = self.lock();
            if !writing.backlog.is_empty() {
                let result = writing.write_backlog(&self.dir, self.segment_bytes);
                self.written.store(result.is_ok(), Ordering::Relaxed);
                result?;
            }
            (std::mem::take(&mut writing.unsynced), std::mem::take(&mut writing.folder_unsynced))
        };
        // An append from here on marks its file again: this sync may or may not cover it.
        let result = self.sync_files(&files, folder);
        self.synced.store(result.is_ok(), Ordering::Relaxed);
        if result.is_err() {
            let mut writing = self.lock();
            for file in files {
                writing.mark_unsynced(file);
            }
            writing.folder_unsynced |= folder;
        }
        result
    }

    fn sync_files(&self, files: &[Arc<File>], folder: bool) -> io::Result<()> {
        for file in files {
            file.sync_data()?;
        }
        // Windows knows no syncing of folders.
        if folder && cfg!(unix) {
            File::open(&self.dir)?.sync_all()?;
        }
        Ok(())
    }

    fn write(&self, lines: &[u8]) -> io::Result<()> {
        let mut writing = self.lock();
        let result = if writing.backlog.is_empty() {
            match writing.write_lines(&self.dir, self.segment_bytes, lines) {
                Ok(()) => return Ok(()),
                Err(Partly { whole, error }) => {
                    writing.backlog.extend_from_slice(&lines[whole..]);
                    Err(error)
                }
            }
        } else if writing.backlog.len() + lines.len() > BACKLOG_BYTES {
            Err(io::Error::new(ErrorKind::OutOfMemory, "too much waits for the disk already"))
        } else {
            writing.backlog.extend_from_slice(lines);
            writing.write_backlog(&self.dir, self.segment_bytes)
        };
        self.written.store(writing.backlog.is_empty(), Ordering::Relaxed);
        result
    }

    fn lock(&self) -> MutexGuard<'_, Writing> {
        // A thread that panicked here left whole lines behind or none: the state is sound.
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write that did not go through.
struct Partly {
    /// Bytes of whole lines that did.
    whole: usize,
    /// Why the rest did not.
    error: io::Error,
}

impl Writing {
    fn write_lines(&mut self, dir: &Path, segment_bytes: u64, lines: &[u8]) -> Result<(), Partly> {
        let file = self.segment(dir, segment_bytes).map_err(|error| Partly { whole: 0, error })?;
        self.mark_unsynced(Arc::clone(&file));
        let written = loop {
            match (&*file).write(lines) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Partly { whole: 0, error }),
                Ok(written) => break written,
            }
        };
        self.length += u64::try_from(written).unwrap_or(u64::MAX);
        if written == lines.len() {
            return Ok(());
        }
        // The disk filled up in the middle of a line: what follows goes to another segment.
        self.segment = None;
        let error = io::Error::new(ErrorKind::StorageFull, "the disk took a part of the lines");
        Err(Partly { whole: line::whole_lines(&lines[..written]), error })
    }

    fn write_backlog(&mut self, dir: &Path, segment_bytes: u64) -> io::Result<()> {
        let backlog = std::mem::take(&mut self.backlog);
        match self.write_lines(dir, segment_bytes, &backlog) {
            Ok(()) => Ok(()),
            Err(Partly { whole, error }) => {
                self.backlog = backlog;
                self.backlog.drain(..whole);
                Err(error)
            }
        }
    }

    /// The segment to write to: a new one at the start, after a torn write, and when one is full.
    fn segment(&mut self, dir: &Path, segment_bytes: u64) -> io::Result<Arc<File>> {
        if let Some(file) = &self.segment
            && self.length < segment_bytes
        {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(segments::create(dir, self.next)?);
        self.next += 1;
        self.length = 0;
        self.folder_unsynced = true;
        self.segment = Some(Arc::clone(&file));
        Ok(file)
    }

    fn mark_unsynced(&mut self, file: Arc<File>) {
        if !self.unsynced.iter().any(|marked| Arc::ptr_eq(marked, &file)) {
            self.unsynced.push(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{list, read_chunk};
    use crate::sums::UsageSum;

    fn entry(requests: u64) -> JournalEntry {
        JournalEntry::Sum(UsageSum {
            key_id: "k".into(),
            account_id: "a".into(),
            hour: 0,
            requests,
            usage: Default::default(),
            cost: None,
        })
    }

    fn written(data_dir: &Path) -> Vec<JournalEntry> {
        let segments = list(&journal_dir(data_dir)).unwrap();
        let chunks = segments.iter().map(|it| read_chunk(&it.path, 0, usize::MAX).unwrap());
        chunks.flat_map(|chunk| chunk.entries).collect()
    }

    #[test]
    fn entries_are_read_in_the_order_of_writing_over_segments_and_restarts() {
        let dir = tempfile::tempdir().unwrap();
        for restart in 0..3 {
            let journal = Journal::open_with(dir.path(), 300).unwrap();
            for i in 0..10 {
                journal.append(&[entry(restart * 10 + i)]).unwrap();
            }
            journal.sync().unwrap();
            assert!(journal.healthy());
        }
        assert_eq!(written(dir.path()), (0..30).map(entry).collect::<Vec<_>>());
        assert!(list(&journal_dir(dir.path())).unwrap().len() > 6);
    }

    #[test]
    fn what_the_disk_refuses_is_written_later_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        std::fs::remove_dir_all(journal_dir(dir.path())).unwrap();
        journal.append(&[entry(0)]).unwrap_err();
        journal.append(&[entry(1), entry(2)]).unwrap_err();
        assert!(!journal.healthy());
        journal.sync().unwrap_err();

        create_data_dir(&journal_dir(dir.path())).unwrap();
        journal.sync().unwrap();
        assert!(journal.healthy());
        journal.append(&[entry(3)]).unwrap();
        assert_eq!(written(dir.path()), (0..4).map(entry).collect::<Vec<_>>());
    }

    #[test]
    fn threads_append_whole_lines() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open_with(dir.path(), 10_000).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let journal = &journal;
                scope.spawn(move || {
                    for i in 0..200 {
                        journal.append(&[entry(thread * 200 + i)]).unwrap();
                    }
                });
            }
        });
        let mut requests: Vec<u64> = written(dir.path())
            .into_iter()
            .map(|entry| match entry {
                JournalEntry::Sum(sum) => sum.requests,
                other => panic!("{other:?}"),
            })
            .collect();
        requests.sort_unstable();
        assert_eq!(requests, (0..800).collect::<Vec<_>>());
    }
}
