//! Appends to the journal.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::StorageError;
use crate::journal::line::{JournalSeal, Lines, SegmentSeal};
use crate::journal::reader::sealed_lines;
use crate::journal::{JournalEntry, segments};
use crate::master_key::MasterKey;
use crate::open::{create_data_dir, journal_dir};
use crate::place::Place;

/// A segment that has grown to this size is followed by a new one.
const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;

/// What is kept in memory at most while the disk refuses.
const BACKLOG_BYTES: usize = 32 * 1024 * 1024;

/// A buffer that grew past this size for one large append is given back.
const BUFFER_BYTES: usize = 64 * 1024;

thread_local! {
    /// Lines are serialised here, outside the lock and without an allocation.
    static BUFFER: RefCell<Lines> = RefCell::default();
}

/// The journal, open for appending. There is one in a process, and one process a data folder.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    segment_bytes: u64,
    seal: JournalSeal,
    writing: Mutex<Writing>,
    written: AtomicBool,
    synced: AtomicBool,
    roomy: AtomicBool,
}

#[derive(Debug)]
struct Writing {
    /// The segment that is written to; `None` until the first append and after a torn write.
    segment: Option<Arc<Open>>,
    /// Its length.
    length: u64,
    /// The number of the next segment.
    next: u64,
    /// The segments that this process wrote and that are not ingested yet.
    open: Vec<Arc<Open>>,
    /// Whole lines that could not be written yet.
    backlog: Lines,
    /// Requests whose lines there was no memory for.
    lost: usize,
    /// Why the last write did not go through.
    error: Option<String>,
    /// Segments that hold what has not been synced yet.
    unsynced: Vec<Arc<Open>>,
    /// Whether a file was created since the folder was synced.
    folder_unsynced: bool,
}

/// A segment that this process wrote.
#[derive(Debug)]
struct Open {
    name: String,
    file: File,
    seal: SegmentSeal,
    /// Where its file is; `None` where that cannot be said.
    place: Option<Place>,
}

/// What the journal could not write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwritten {
    /// Requests that wait in memory.
    pub waiting: usize,
    /// Requests that were lost, since too much waited already.
    pub lost: usize,
    /// Why.
    pub error: String,
}

/// What was saved of segments that somebody removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rescued {
    pub(crate) segments: usize,
    pub(crate) lines: usize,
    /// Segments that could not be read any more.
    pub(crate) unreadable: usize,
}

impl Journal {
    /// Opens the journal in a data folder. The caller holds the [`crate::DataLock`].
    ///
    /// Appends go to a new segment, never behind what a crash may have torn.
    pub fn open(data_dir: &Path, key: &MasterKey) -> Result<Self, StorageError> {
        Self::open_with(data_dir, key, SEGMENT_BYTES)
    }

    fn open_with(
        data_dir: &Path,
        key: &MasterKey,
        segment_bytes: u64,
    ) -> Result<Self, StorageError> {
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
            seal: JournalSeal::new(key),
            writing: Mutex::new(Writing {
                segment: None,
                length: 0,
                next,
                open: Vec::new(),
                backlog: Lines::default(),
                lost: 0,
                error: None,
                unsynced: Vec::new(),
                folder_unsynced: false,
            }),
            written: AtomicBool::new(true),
            synced: AtomicBool::new(true),
            roomy: AtomicBool::new(true),
        })
    }

    /// Appends what one request left, with one system call.
    ///
    /// An error means that it is not on disk *yet*: it is kept in memory and written before the
    /// next ones, or by the next [`Journal::sync`]. Only when 32 MiB wait already is it lost, which
    /// is an error of kind [`ErrorKind::OutOfMemory`]. [`Journal::unwritten`] counts both.
    pub fn append(&self, entries: &[JournalEntry]) -> io::Result<()> {
        BUFFER.with_borrow_mut(|lines| {
            lines.clear(BUFFER_BYTES);
            lines.push(entries)?;
            self.write(&mut self.lock(), lines)
        })
    }

    /// Whether everything that was appended is written, and the last sync succeeded.
    pub fn healthy(&self) -> bool {
        self.written.load(Ordering::Relaxed) && self.synced.load(Ordering::Relaxed)
    }

    /// Whether the disk had room for another segment when it was last asked, by [`Journal::sync`].
    pub fn has_room(&self) -> bool {
        self.roomy.load(Ordering::Relaxed)
    }

    /// What waits in memory, or was lost; `None`: everything is written.
    pub fn unwritten(&self) -> Option<Unwritten> {
        let writing = self.lock();
        let (waiting, lost) = (writing.backlog.requests(), writing.lost);
        let error = writing.error.clone().unwrap_or_default();
        (waiting + lost > 0).then_some(Unwritten { waiting, lost, error })
    }

    /// Makes what was appended survive a power cut; writes first what could not be written.
    ///
    /// Blocks for as long as the disk takes, and holds up no append meanwhile.
    pub fn sync(&self) -> io::Result<()> {
        self.roomy.store(
            free_bytes(&self.dir).is_none_or(|free| free >= SEGMENT_BYTES),
            Ordering::Relaxed,
        );
        let (segments, folder) = {
            let mut writing = self.lock();
            if !writing.backlog.is_empty() {
                let result = self.write(&mut writing, &mut Lines::default());
                result?;
            }
            (std::mem::take(&mut writing.unsynced), std::mem::take(&mut writing.folder_unsynced))
        };
        // An append from here on marks its file again: this sync may or may not cover it.
        let result = self.sync_files(&segments, folder);
        self.synced.store(result.is_ok(), Ordering::Relaxed);
        if result.is_err() {
            let mut writing = self.lock();
            for segment in segments {
                writing.mark_unsynced(segment);
            }
            writing.folder_unsynced |= folder;
        }
        result
    }

    fn sync_files(&self, segments: &[Arc<Open>], folder: bool) -> io::Result<()> {
        for segment in segments {
            segment.file.sync_data()?;
        }
        // Windows knows no syncing of folders.
        if folder && cfg!(unix) {
            File::open(&self.dir)?.sync_all()?;
        }
        Ok(())
    }

    /// Writes again what stands in segments that somebody removed: their files are still open
    /// here. `read_to` says how far a segment is in the database.
    ///
    /// The caller is the one who ingests, and does not at this moment: a line that is on its way
    /// into the database would be counted twice.
    pub(crate) fn rescue(&self, read_to: impl Fn(&str) -> u64) -> io::Result<Rescued> {
        let mut writing = self.lock();
        let gone = |it: &Arc<Open>| it.place.as_ref().is_some_and(|place| !place.holds());
        let removed: Vec<Arc<Open>> = writing.open.iter().filter(|it| gone(it)).cloned().collect();
        let mut rescued = Rescued { segments: removed.len(), ..Rescued::default() };
        if removed.is_empty() {
            return Ok(rescued);
        }
        let is_removed = |it: &Arc<Open>| removed.iter().any(|other| Arc::ptr_eq(it, other));
        writing.segment.take_if(|it| is_removed(it));
        writing.open.retain(|it| !is_removed(it));
        writing.unsynced.retain(|it| !is_removed(it));
        let mut lines = Lines::default();
        for it in removed {
            let read = sealed_lines(&it.file, read_to(&it.name), &it.seal, |json| {
                rescued.lines += 1;
                lines.push_json(json);
            });
            rescued.unreadable += usize::from(read.is_err());
        }
        self.write(&mut writing, &mut lines)?;
        Ok(rescued)
    }

    /// A segment is in the database, and about to be deleted.
    pub(crate) fn forget(&self, name: &str) {
        self.lock().open.retain(|segment| segment.name != name);
    }

    /// Writes what waits, then `lines`; keeps in memory what cannot be written.
    fn write(&self, writing: &mut Writing, lines: &mut Lines) -> io::Result<()> {
        let result = if writing.backlog.is_empty() {
            let result = self.write_lines(writing, lines);
            writing.backlog.append(lines);
            result
        } else if !lines.is_empty()
            && writing.backlog.bytes().len() + lines.bytes().len() > BACKLOG_BYTES
        {
            writing.lost += lines.requests();
            Err(io::Error::new(ErrorKind::OutOfMemory, "too much waits for the disk already"))
        } else {
            let mut waiting = std::mem::take(&mut writing.backlog);
            waiting.append(lines);
            let result = self.write_lines(writing, &mut waiting);
            writing.backlog = waiting;
            result
        };
        self.written.store(writing.backlog.is_empty(), Ordering::Relaxed);
        if let Err(error) = &result {
            writing.error = Some(error.to_string());
        }
        result
    }

    /// Writes lines and leaves those in `lines` that could not be written.
    fn write_lines(&self, writing: &mut Writing, lines: &mut Lines) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let segment = self.segment(writing)?;
        writing.mark_unsynced(Arc::clone(&segment));
        lines.seal(&segment.seal, writing.length);
        let written = loop {
            match (&segment.file).write(lines.bytes()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        writing.length += written as u64;
        let all = written == lines.bytes().len();
        lines.drop_written(written);
        if all {
            return Ok(());
        }
        // The disk filled up in the middle of a line: what follows goes to another segment.
        writing.segment = None;
        Err(io::Error::new(ErrorKind::StorageFull, "the disk took a part of the lines"))
    }

    /// The segment to write to: a new one at the start, after a torn write, and when one is full.
    fn segment(&self, writing: &mut Writing) -> io::Result<Arc<Open>> {
        if let Some(segment) = &writing.segment
            && writing.length < self.segment_bytes
        {
            return Ok(Arc::clone(segment));
        }
        let (name, file) = segments::create(&self.dir, writing.next)?;
        let place = Place::of(&self.dir.join(&name)).ok();
        let segment = Arc::new(Open { seal: self.seal.of_segment(&name), name, file, place });
        writing.next += 1;
        writing.length = 0;
        writing.folder_unsynced = true;
        writing.open.push(Arc::clone(&segment));
        writing.segment = Some(Arc::clone(&segment));
        Ok(segment)
    }

    fn lock(&self) -> MutexGuard<'_, Writing> {
        // A thread that panicked here left whole lines behind or none: the state is sound.
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the file system of a folder has left for this user; `None` where it cannot say.
fn free_bytes(dir: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(dir).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = dir;
        None
    }
}

impl Writing {
    fn mark_unsynced(&mut self, segment: Arc<Open>) {
        if !self.unsynced.iter().any(|marked| Arc::ptr_eq(marked, &segment)) {
            self.unsynced.push(segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Reading, list};
    use crate::sums::UsageSum;

    fn entry(requests: u64) -> JournalEntry {
        JournalEntry::Sum(UsageSum {
            key_id: "k".into(),
            account_id: "a".into(),
            department_id: None,
            team_id: None,
            holder: None,
            quarter: 0,
            model: None,
            requests,
            usage: Default::default(),
            cost: None,
            uncounted_cost: None,
            assumed: Default::default(),
        })
    }

    fn open(data_dir: &Path, segment_bytes: u64) -> Journal {
        let key = MasterKey::load_or_create(data_dir).unwrap();
        Journal::open_with(data_dir, &key, segment_bytes).unwrap()
    }

    fn written(data_dir: &Path) -> Vec<JournalEntry> {
        let key = MasterKey::load_or_create(data_dir).unwrap();
        let reading = Reading { seal: JournalSeal::new(&key), old_lines: false };
        let segments = list(&journal_dir(data_dir)).unwrap();
        let chunks = segments.iter().map(|it| reading.chunk(it, 0, usize::MAX).unwrap());
        chunks
            .inspect(|chunk| assert_eq!((chunk.corrupt, chunk.moved), (0, 0)))
            .flat_map(|chunk| chunk.entries)
            .collect()
    }

    #[test]
    fn entries_are_read_in_the_order_of_writing_over_segments_and_restarts() {
        let dir = tempfile::tempdir().unwrap();
        for restart in 0..3 {
            let journal = open(dir.path(), 300);
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
        let journal = open(dir.path(), SEGMENT_BYTES);
        // A file in the folder's place: no segment can be made.
        std::fs::remove_dir_all(journal_dir(dir.path())).unwrap();
        std::fs::write(journal_dir(dir.path()), "").unwrap();
        journal.append(&[entry(0)]).unwrap_err();
        journal.append(&[entry(1), entry(2)]).unwrap_err();
        assert!(!journal.healthy());
        journal.sync().unwrap_err();
        let unwritten = journal.unwritten().unwrap();
        assert_eq!((unwritten.waiting, unwritten.lost), (2, 0));
        assert!(!unwritten.error.is_empty());

        std::fs::remove_file(journal_dir(dir.path())).unwrap();
        journal.sync().unwrap();
        assert!(journal.healthy());
        assert_eq!(journal.unwritten(), None);
        journal.append(&[entry(3)]).unwrap();
        assert_eq!(written(dir.path()), (0..4).map(entry).collect::<Vec<_>>());
    }

    #[cfg(unix)]
    #[test]
    fn what_stands_in_removed_segments_is_written_again_but_for_what_was_ingested() {
        let dir = tempfile::tempdir().unwrap();
        let journal = open(dir.path(), 300);
        for i in 0..10 {
            journal.append(&[entry(i)]).unwrap();
        }
        assert_eq!(journal.rescue(|_| 0).unwrap(), Rescued::default(), "nothing is missing");
        let segments = list(&journal_dir(dir.path())).unwrap();
        assert!(segments.len() > 2);
        let first = std::fs::metadata(&segments[0].path).unwrap().len();
        let ingested = written(dir.path()).len() - {
            std::fs::remove_file(&segments[0].path).unwrap();
            written(dir.path()).len()
        };
        std::fs::remove_dir_all(journal_dir(dir.path())).unwrap();
        let read_to = |name: &str| if name == segments[0].name { first } else { 0 };
        let rescued = journal.rescue(read_to).unwrap();
        assert_eq!((rescued.segments, rescued.lines), (segments.len(), 10 - ingested));
        journal.append(&[entry(10)]).unwrap();
        let left: Vec<_> = (ingested as u64..=10).map(entry).collect();
        assert_eq!(written(dir.path()), left);
        assert_eq!(journal.rescue(|_| 0).unwrap(), Rescued::default());
    }

    #[test]
    fn threads_append_whole_lines() {
        let dir = tempfile::tempdir().unwrap();
        let journal = open(dir.path(), 10_000);
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
