//! A line of the journal: `crc32hex json\n`.
//!
//! JSON text holds no line break, so that a reader finds its place again after anything that is
//! not a line, and the checksum tells a line from what a crash left of one.

use std::io;

use crate::journal::JournalEntry;

/// Digits of the checksum and the space behind it.
const HEAD: usize = 9;

/// Appends an entry's line to `buffer`; on an error the buffer is as it was.
pub(super) fn encode(entry: &JournalEntry, buffer: &mut Vec<u8>) -> io::Result<()> {
    let start = buffer.len();
    buffer.extend_from_slice(b"00000000 ");
    if let Err(error) = serde_json::to_writer(&mut *buffer, entry) {
        buffer.truncate(start);
        return Err(error.into());
    }
    let checksum = hex(crc32fast::hash(&buffer[start + HEAD..]));
    buffer[start..start + checksum.len()].copy_from_slice(&checksum);
    buffer.push(b'\n');
    Ok(())
}

/// The entry in a line (without its line break), or `None` where it is not one.
pub(super) fn decode(line: &[u8]) -> Option<JournalEntry> {
    let (head, json) = line.split_at_checked(HEAD)?;
    let (checksum, space) = head.split_at(HEAD - 1);
    if space != b" " || checksum != hex(crc32fast::hash(json)) {
        return None;
    }
    serde_json::from_slice(json).ok()
}

/// How many bytes of `written`, the beginning of some lines, are whole lines.
pub(super) fn whole_lines(written: &[u8]) -> usize {
    written.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1)
}

/// Eight hexadecimal digits.
fn hex(checksum: u32) -> [u8; HEAD - 1] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'0'; HEAD - 1];
    let nibbles = checksum.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    for (digit, nibble) in text.iter_mut().zip(nibbles) {
        *digit = DIGITS[usize::from(nibble)];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_written_as_eight_digits() {
        assert_eq!(&hex(0xab), b"000000ab");
        assert_eq!(&hex(0xdead_beef), b"deadbeef");
    }

    #[test]
    fn whole_lines_are_told_from_a_torn_one() {
        for (written, whole) in [("", 0), ("ab", 0), ("a\n", 2), ("a\nb", 2), ("a\nb\n", 4)] {
            assert_eq!(whole_lines(written.as_bytes()), whole, "{written:?}");
        }
    }
}
