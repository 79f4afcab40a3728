//! Reads a segment from where it was left.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::Path;

use crate::journal::{JournalEntry, line};

/// What was read of a segment in one go.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// The entries, in the order of writing.
    pub(crate) entries: Vec<JournalEntry>,
    /// Where to read on: behind the last whole line that was read.
    pub(crate) read_to: u64,
    /// Whole lines that were skipped, since they are not what was written.
    pub(crate) corrupt: u64,
    /// Whether the file's end was reached, but for a line that is torn or still being written.
    pub(crate) at_end: bool,
}

/// Reads up to `limit` entries from byte `from` on.
pub(crate) fn read_chunk(path: &Path, from: u64, limit: usize) -> io::Result<Chunk> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut chunk = Chunk { read_to: from, ..Chunk::default() };
    let mut bytes = Vec::new();
    while chunk.entries.len() < limit {
        bytes.clear();
        let read = reader.read_until(b'\n', &mut bytes)?;
        let Some(text) = bytes.strip_suffix(b"\n") else {
            chunk.at_end = true;
            break;
        };
        chunk.read_to += u64::try_from(read).unwrap_or(u64::MAX);
        match line::decode(text) {
            Some(entry) => chunk.entries.push(entry),
            None => chunk.corrupt += 1,
        }
    }
    Ok(chunk)
}
