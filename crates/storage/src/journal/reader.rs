//! Reads a segment from where it was left.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom};

use crate::journal::line::{self, JournalSeal, SegmentSeal};
use crate::journal::{JournalEntry, Segment};

/// So many bytes are read in one go where only some entries are wanted: content can be long.
const CHUNK_BYTES: u64 = 8 * 1024 * 1024;

/// What was read of a segment in one go.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// The entries, in the order of writing.
    pub(crate) entries: Vec<JournalEntry>,
    /// Where to read on: behind the last whole line that was read.
    pub(crate) read_to: u64,
    /// Whole lines that were skipped, since they are not what was written there.
    pub(crate) corrupt: u64,
    /// Lines that were taken over, but stand elsewhere than where they were written.
    pub(crate) moved: u64,
    /// Whether the file's end was reached, but for a line that is torn or still being written.
    pub(crate) at_end: bool,
}

/// Which lines count.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    /// What is on those that do.
    pub(crate) seal: JournalSeal,
    /// Whether those of a version that knew no seals do, too.
    pub(crate) old_lines: bool,
}

impl Reading {
    /// Reads up to `limit` entries of a segment from byte `from` on, of some megabytes at most.
    pub(crate) fn chunk(&self, segment: &Segment, from: u64, limit: usize) -> io::Result<Chunk> {
        let mut chunk = Chunk { read_to: from, ..Chunk::default() };
        let mut lines = Lines::of(File::open(&segment.path)?, from)?;
        let seal = self.seal.of_segment(&segment.name);
        // Offsets rise: a line that stands behind itself or a later one was repeated or moved.
        let mut next = 0;
        let most = if limit == usize::MAX { u64::MAX } else { CHUNK_BYTES };
        while chunk.entries.len() < limit && chunk.read_to - from < most {
            let Some(line) = lines.next()? else {
                chunk.at_end = true;
                break;
            };
            let at = chunk.read_to;
            chunk.read_to += line.len() as u64 + 1;
            match self.entry(&seal, line, &mut next) {
                Some((written_at, entry)) => {
                    chunk.entries.push(entry);
                    chunk.moved += u64::from(written_at.is_some_and(|written| written != at));
                }
                None => chunk.corrupt += 1,
            }
        }
        Ok(chunk)
    }

    /// The entry in a line, and where it was written if the line says so. `next` is the first
    /// offset that is not behind it.
    fn entry(
        &self,
        seal: &SegmentSeal,
        line: &[u8],
        next: &mut u64,
    ) -> Option<(Option<u64>, JournalEntry)> {
        if let Some(sealed) = seal.open(line) {
            let offset = u64::from(sealed.offset);
            if offset < *next {
                return None;
            }
            *next = offset + 1;
            return Some((Some(offset), parse(sealed.json)?));
        }
        let json = self.old_lines.then(|| line::open_old(line)).flatten()?;
        Some((None, parse(json)?))
    }
}

/// Whole lines of an open segment from byte `from` on, each as its JSON; those without the seal
/// are left out.
pub(super) fn sealed_lines(
    file: impl Read + Seek,
    from: u64,
    seal: &SegmentSeal,
    mut each: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut lines = Lines::of(file, from)?;
    while let Some(line) = lines.next()? {
        if let Some(sealed) = seal.open(line) {
            each(sealed.json);
        }
    }
    Ok(())
}

/// Whole lines, without their line breaks.
struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read + Seek> Lines<R> {
    fn of(mut file: R, from: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(from))?;
        Ok(Self { reader: BufReader::with_capacity(64 * 1024, file), line: Vec::new() })
    }

    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        self.reader.read_until(b'\n', &mut self.line)?;
        Ok(self.line.strip_suffix(b"\n"))
    }
}

/// The entry that a line's JSON is. It is checked for UTF-8 as a whole, and not string by string.
fn parse(json: &[u8]) -> Option<JournalEntry> {
    serde_json::from_str(std::str::from_utf8(json).ok()?).ok()
}
