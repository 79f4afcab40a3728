//! A line of the journal: `seal offset json\n`, seal and offset in hexadecimal.
//!
//! JSON text holds no line break, so that a reader finds its place again after anything that is
//! not a line. The seal is a keyed BLAKE3 hash (under the master key, for this segment) of the
//! offset and the JSON: it tells a line from what a crash left of one, and from what somebody
//! wrote who does not have the master key. The offset is where the writer put the line, so that
//! lines that were moved or repeated show.
//!
//! Versions before the seals wrote `crc32hex json\n`. Such lines count only until a data folder's
//! first start under this version; see `seal`.

use std::io;

use crate::journal::JournalEntry;
use crate::json;
use crate::master_key::MasterKey;

/// Bytes of the seal: nobody guesses 128 bits.
const SEAL: usize = 16;
/// Digits of seal and offset, and the space behind them.
const HEAD: usize = 2 * SEAL + 8 + 1;
/// Digits of an old line's checksum and the space behind it.
const OLD_HEAD: usize = 9;

/// Seals the journal's lines.
#[derive(Clone)]
pub(crate) struct JournalSeal([u8; 32]);

impl std::fmt::Debug for JournalSeal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl JournalSeal {
    pub(crate) fn new(key: &MasterKey) -> Self {
        Self(*key.derive("journal-lines").expose())
    }

    /// What seals the lines of one segment: a line of another one does not fit.
    pub(super) fn of_segment(&self, name: &str) -> SegmentSeal {
        SegmentSeal(*blake3::keyed_hash(&self.0, name.as_bytes()).as_bytes())
    }
}

/// Seals the lines of one segment.
pub(super) struct SegmentSeal([u8; 32]);

impl std::fmt::Debug for SegmentSeal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl SegmentSeal {
    /// The seal and the offset, as they stand in the line.
    fn head(&self, offset: u32, json: &[u8]) -> [u8; HEAD] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&offset.to_be_bytes()).update(json);
        let mut bytes = [0; SEAL + 4];
        bytes[..SEAL].copy_from_slice(&hasher.finalize().as_bytes()[..SEAL]);
        bytes[SEAL..].copy_from_slice(&offset.to_be_bytes());
        let mut head = [b' '; HEAD];
        hex(&bytes, &mut head);
        head
    }

    /// What a line (without its line break) says, if this seal is on it.
    pub(super) fn open<'l>(&self, line: &'l [u8]) -> Option<Sealed<'l>> {
        let (head, json) = line.split_at_checked(HEAD)?;
        let digits = std::str::from_utf8(&head[2 * SEAL..HEAD - 1]).ok()?;
        let offset = u32::from_str_radix(digits, 16).ok()?;
        // Whoever can write lines cannot see how long this comparison takes.
        (self.head(offset, json) == head).then_some(Sealed { offset, json })
    }
}

/// A line that the writer wrote.
pub(super) struct Sealed<'l> {
    /// Where it was written.
    pub(super) offset: u32,
    /// The entry.
    pub(super) json: &'l [u8],
}

/// The entry in a line of a version that knew no seals, or `None` where it is not one.
pub(super) fn open_old(line: &[u8]) -> Option<&[u8]> {
    let (head, json) = line.split_at_checked(OLD_HEAD)?;
    let mut expected = [b' '; OLD_HEAD];
    hex(&crc32fast::hash(json).to_be_bytes(), &mut expected);
    (expected == head).then_some(json)
}

/// Lines on their way to a segment. They are sealed when it is known where they go.
#[derive(Debug, Default)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    ends: Vec<End>,
}

/// Where a line ends.
#[derive(Debug, Clone, Copy)]
struct End {
    /// The byte behind its line break.
    at: usize,
    /// Whether it is the last line of its request.
    ends_request: bool,
}

impl Lines {
    /// No lines, without memory for more than `capacity` bytes.
    pub(super) fn clear(&mut self, capacity: usize) {
        if self.bytes.capacity() > capacity {
            *self = Self::default();
        }
        self.bytes.clear();
        self.ends.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Their bytes; sealed after [`Lines::seal`].
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many requests end in them.
    pub(super) fn requests(&self) -> usize {
        self.ends.iter().filter(|end| end.ends_request).count()
    }

    /// Adds what one request left, or nothing of it.
    pub(super) fn push(&mut self, entries: &[JournalEntry]) -> io::Result<()> {
        let (bytes, lines) = (self.bytes.len(), self.ends.len());
        for (number, entry) in entries.iter().enumerate() {
            self.bytes.extend_from_slice(&[b' '; HEAD]);
            if let Err(error) = json::append(entry, &mut self.bytes) {
                self.bytes.truncate(bytes);
                self.ends.truncate(lines);
                return Err(error.into());
            }
            let is_window = matches!(entry, JournalEntry::Window(_));
            self.end_line(number + 1 == entries.len() && !is_window);
        }
        Ok(())
    }

    /// Adds an entry that was a line before.
    pub(super) fn push_json(&mut self, json: &[u8]) {
        self.bytes.extend_from_slice(&[b' '; HEAD]);
        self.bytes.extend_from_slice(json);
        // The audit entry and the content come with the record or the sum of their request; a window is
        // no request.
        let others: [&[u8]; 3] = [b"{\"audit\"", b"{\"content\"", b"{\"window\""];
        self.end_line(!others.iter().any(|other| json.starts_with(other)));
    }

    fn end_line(&mut self, ends_request: bool) {
        self.bytes.push(b'\n');
        self.ends.push(End { at: self.bytes.len(), ends_request });
    }

    /// Adds all of `other`.
    pub(super) fn append(&mut self, other: &Self) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| End { at: end.at + before, ..*end }));
    }

    /// Leaves out the lines that are whole in the first `written` bytes.
    pub(super) fn drop_written(&mut self, written: usize) {
        let whole = self.ends.partition_point(|end| end.at <= written);
        let Some(last) = whole.checked_sub(1).map(|last| self.ends[last].at) else { return };
        self.ends.drain(..whole);
        self.bytes.drain(..last);
        for end in &mut self.ends {
            end.at -= last;
        }
    }

    /// Seals the lines for a segment in which they begin at `offset`.
    pub(super) fn seal(&mut self, seal: &SegmentSeal, offset: u64) {
        let mut start = 0;
        for end in &self.ends {
            let (head, json) = self.bytes[start..end.at - 1].split_at_mut(HEAD);
            // A segment of 16 MiB is followed by another, and an append has at most 32 MiB.
            let at = u32::try_from(offset + start as u64).unwrap_or(u32::MAX);
            head.copy_from_slice(&seal.head(at, json));
            start = end.at;
        }
    }
}

/// Writes `bytes` as hexadecimal digits to the front of `text`.
fn hex(bytes: &[u8], text: &mut [u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (byte, pair) in bytes.iter().zip(text.chunks_exact_mut(2)) {
        pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Lines {
        let mut lines = Lines::default();
        for text in texts {
            lines.push_json(text.as_bytes());
        }
        lines
    }

    fn seal() -> SegmentSeal {
        JournalSeal([7; 32]).of_segment("a")
    }

    #[test]
    fn a_sealed_line_opens_under_its_segment_alone_and_says_where_it_was_written() {
        let mut lines = lines(&["{}", "{\"a\":1}"]);
        lines.seal(&seal(), 1000);
        let text = String::from_utf8(lines.bytes().to_vec()).unwrap();
        let opened: Vec<(u32, &[u8])> = text
            .lines()
            .map(|line| seal().open(line.as_bytes()).unwrap())
            .map(|sealed| (sealed.offset, sealed.json))
            .collect();
        assert_eq!(opened, [(1000, &b"{}"[..]), (1000 + 44, &b"{\"a\":1}"[..])]);

        let line = text.lines().next().unwrap().as_bytes();
        assert!(JournalSeal([7; 32]).of_segment("b").open(line).is_none());
        assert!(JournalSeal([8; 32]).of_segment("a").open(line).is_none());
        for place in 0..line.len() {
            let mut changed = line.to_vec();
            changed[place] ^= 1;
            assert!(seal().open(&changed).is_none(), "byte {place}");
            assert!(seal().open(&line[..place]).is_none(), "cut at {place}");
        }
    }

    #[test]
    fn a_line_of_an_old_version_is_told_by_its_checksum() {
        let line = format!("{:08x} {{}}", crc32fast::hash(b"{}"));
        assert_eq!(open_old(line.as_bytes()), Some(&b"{}"[..]));
        assert_eq!(open_old(b"00000000 {}"), None);
        assert_eq!(open_old(b""), None);
    }

    #[test]
    fn what_is_written_whole_is_left_out_and_a_torn_line_stays() {
        let (one, two) = (HEAD + 3, 2 * (HEAD + 3));
        let cases =
            [(0, "ab"), (one - 1, "ab"), (one, "b"), (two - 1, "b"), (two, ""), (two + 1, "")];
        for (written, left) in cases {
            let mut lines = lines(&["aa", "bb"]);
            lines.drop_written(written);
            let jsons = lines.bytes().chunks(HEAD + 3).map(|line| char::from(line[HEAD]));
            assert_eq!(jsons.collect::<String>(), left, "{written} bytes");
            assert_eq!(lines.requests(), left.len());
        }
    }
}
