//! Passwords in tables: CSV, tab-separated, markdown, SQL's `INSERT` and `COPY`.
//!
//! The name of a column is the hint. What stands in that column of the following rows is judged as a
//! password or token; a table that describes settings has words there, and is left alone.

use super::assignment;
use super::grammar::{self, Join, Value};
use super::judge::Place;
use super::names::{self, Promise, Words};
use crate::finding::Finding;

/// The longest header and row.
const LINE: usize = 400;
/// How many rows are read for one header.
const ROWS: usize = 20_000;
const MOST_COLUMNS: usize = 24;

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Comma,
    Semicolon,
    Tab,
    Pipe,
    Colon,
}

impl Sign {
    fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            b',' => Self::Comma,
            b';' => Self::Semicolon,
            b'\t' => Self::Tab,
            b'|' => Self::Pipe,
            _ => return None,
        })
    }

    fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Pipe => b'|',
            Self::Colon => b':',
        }
    }
}

/// Whether a name that ends at `end` may be a header's: a cheap look at what follows.
#[inline]
pub(super) fn may_end_column(bytes: &[u8], end: usize) -> bool {
    let mut behind = end;
    while behind < end + 3 && bytes.get(behind).is_some_and(|b| is_around_name(*b)) {
        behind += 1;
    }
    matches!(bytes.get(behind), Some(b',' | b';' | b'\t' | b'|' | b'\n' | b'\r' | b')'))
}

/// The same for a name that begins at `start`.
pub(super) fn may_begin_column(bytes: &[u8], start: usize) -> bool {
    let mut before = start;
    while before > 0 && start - before < 3 && is_around_name(bytes[before - 1]) {
        before -= 1;
    }
    let byte = before.checked_sub(1).map(|i| bytes[i]);
    matches!(byte, None | Some(b',' | b';' | b'\t' | b'|' | b'\n' | b'('))
}

fn is_around_name(byte: u8) -> bool {
    matches!(byte, b'"' | b'`' | b'*' | b' ' | b']' | b'[')
}

/// The last table: where its header began, and up to where its rows were read. Rows are no headers, so
/// that each is read once for each column.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Last {
    header: usize,
    until: usize,
}

/// Looks at the table that has the column `start..end`. Returns how many bytes were looked at.
pub(super) fn confirm(
    text: &str,
    (start, end): (usize, usize),
    last: &mut Last,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = text.as_bytes();
    let name = &text[text.ceil_char_boundary(start)..text.floor_char_boundary(end)];
    let words = Words::of(name);
    let Some(promise) = names::promise(&words, None).filter(|promise| *promise != Promise::Key)
    else {
        return 64;
    };
    let from = start.saturating_sub(LINE);
    let before = &bytes[from..start];
    let open = memchr::memrchr2(b'\n', b'(', before);
    let line = open.map_or(from, |i| from + i + 1);
    if start < last.until && line != last.header {
        return 64;
    }
    let column = Column { text, name, words, promise };
    if line > 0 && bytes[line - 1] == b'(' {
        let read = column.of_statement(line, start, out);
        *last = Last { header: line, until: line + read };
        return 128 + read;
    }
    // A line that began too far before is none of names.
    if open.is_none() && from > 0 {
        return 128;
    }
    let stretch = &bytes[line..bytes.len().min(line + LINE)];
    let Some(length) = memchr::memchr(b'\n', stretch) else { return 128 };
    let read = length + column.of_lines(line, line + length, start, out);
    *last = Last { header: line, until: line + read };
    128 + read
}

struct Column<'a> {
    text: &'a str,
    name: &'a str,
    words: Words<'a>,
    promise: Promise,
}

impl Column<'_> {
    /// Rows of lines below the header `line..end`, which has the column at `at`.
    fn of_lines(&self, line: usize, end: usize, at: usize, out: &mut Vec<Finding>) -> usize {
        let bytes = self.text.as_bytes();
        let header = &bytes[line..end];
        let Some((sign, columns)) = header_sign(header) else { return 32 };
        let nth = header[..at - line].iter().filter(|b| **b == sign.byte()).count();
        let mut row = end + 1;
        for _ in 0..ROWS {
            let stretch = &bytes[row.min(bytes.len())..bytes.len().min(row + LINE)];
            let length = memchr::memchr(b'\n', stretch).unwrap_or(stretch.len());
            let cells = cells(&stretch[..length], sign);
            if cells.len() != columns || length == LINE {
                break;
            }
            self.push(row + cells[nth].0, row + cells[nth].1, out);
            row += length + 1;
        }
        row - end
    }

    /// `INSERT INTO t (a, password) VALUES ('x', '…')`, `COPY t (a, password) FROM stdin;`.
    fn of_statement(&self, line: usize, at: usize, out: &mut Vec<Finding>) -> usize {
        let bytes = self.text.as_bytes();
        let before = &bytes[line.saturating_sub(96)..line - 1];
        let names = &bytes[line..bytes.len().min(line + LINE)];
        let Some(close) = memchr::memchr(b')', names) else { return 64 };
        let columns = names[..close].iter().filter(|b| **b == b',').count() + 1;
        let nth = bytes[line..at].iter().filter(|b| **b == b',').count();
        let behind = line + close + 1;
        let head = bytes[behind..].iter().take(40).take_while(|b| b.is_ascii_whitespace()).count();
        let next = &bytes[behind + head..bytes.len().min(behind + head + 40)];
        let starts =
            |word: &[u8]| next.len() > word.len() && next[..word.len()].eq_ignore_ascii_case(word);
        if columns > MOST_COLUMNS {
            return 64;
        }
        let has = |word: &[u8]| {
            before.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
        };
        if starts(b"from stdin") && has(b"copy ") {
            let Some(end) = memchr::memchr(b'\n', next) else { return 128 };
            return 128 + self.of_copy(behind + head + end + 1, (nth, columns), out);
        }
        if !(starts(b"values") && (has(b"insert ") || has(b"replace "))) {
            return 96 + before.len();
        }
        self.of_tuples(behind + head + "values".len(), nth, out) + 96
    }

    fn of_copy(
        &self,
        start: usize,
        (nth, columns): (usize, usize),
        out: &mut Vec<Finding>,
    ) -> usize {
        let bytes = self.text.as_bytes();
        let mut row = start;
        for _ in 0..ROWS {
            let stretch = &bytes[row.min(bytes.len())..bytes.len().min(row + LINE)];
            let length = memchr::memchr(b'\n', stretch).unwrap_or(stretch.len());
            let cells = cells(&stretch[..length], Sign::Tab);
            if cells.len() != columns {
                break;
            }
            self.push(row + cells[nth].0, row + cells[nth].1, out);
            row += length + 1;
        }
        row - start
    }

    /// `('x', 1, '…'), (…)`
    fn of_tuples(&self, start: usize, nth: usize, out: &mut Vec<Finding>) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start;
        for _ in 0..ROWS {
            while bytes.get(at).is_some_and(|b| b.is_ascii_whitespace() || *b == b',') {
                at += 1;
            }
            if bytes.get(at) != Some(&b'(') {
                break;
            }
            let limit = bytes.len().min(at + 4 * LINE);
            let (mut argument, mut depth) = (0, 0);
            loop {
                match bytes[..limit].get(at) {
                    Some(b'(') => depth += 1,
                    Some(b')') => depth -= 1,
                    Some(b',') if depth == 1 => argument += 1,
                    Some(b'\'' | b'"') => {
                        let Some((from, to, behind)) = grammar::quoted(bytes, at) else {
                            return at - start;
                        };
                        if argument == nth && depth == 1 {
                            self.push(from, to, out);
                        }
                        at = behind;
                        continue;
                    }
                    None => return at - start,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        at - start
    }

    fn push(&self, start: usize, end: usize, out: &mut Vec<Finding>) {
        let place = Place { text: self.text, start, words: &self.words, name: self.name };
        let quote = Some(b'"');
        let value = Value { start, end, join: Join::Cell, quote, quoted_name: false };
        if end > start {
            assignment::push_if(&place, self.promise, value, out);
        }
    }
}

/// What stands between a header's names, and how many there are.
fn header_sign(header: &[u8]) -> Option<(Sign, usize)> {
    let sign = header.iter().copied().find_map(Sign::of)?;
    let names = header.split(|b| *b == sign.byte());
    let mut count = 0;
    for name in names {
        count += 1;
        let name = name.trim_ascii();
        let letters = name.iter().filter(|b| b.is_ascii_alphabetic() || **b >= 0x80).count();
        let is_name =
            |b: &u8| b.is_ascii_alphanumeric() || b"_-. \"`*/#()[]'".contains(b) || *b >= 0x80;
        // Markdown's rows begin and end with the sign.
        let is_edge = sign == Sign::Pipe && name.is_empty();
        if !is_edge && (letters == 0 || name.len() > 40 || !name.iter().all(is_name)) {
            return None;
        }
    }
    (2..=MOST_COLUMNS).contains(&count).then_some((sign, count))
}

/// Where the cells of a row are, without blanks, quotes and marks around.
fn cells(row: &[u8], sign: Sign) -> Vec<(usize, usize)> {
    let mut cells = Vec::new();
    let mut at = 0;
    while at <= row.len() && cells.len() <= MOST_COLUMNS {
        let rest = &row[at..];
        let opens = rest.first() == Some(&b'"') && sign != Sign::Pipe;
        let inside = if opens { memchr::memchr(b'"', &rest[1..]).map_or(0, |i| i + 1) } else { 0 };
        let length =
            memchr::memchr(sign.byte(), &rest[inside..]).map_or(rest.len(), |i| i + inside);
        let cell = &rest[..length];
        let is_mark = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'`' | b'\'');
        let marks = |b: &u8| is_mark(b) || sign == Sign::Pipe && *b == b'*';
        let before = cell.iter().take_while(|b| marks(b)).count();
        let behind = cell[before..].iter().rev().take_while(|b| marks(b)).count();
        cells.push((at + before, at + length - behind));
        at += length + 1;
    }
    cells
}

/// Looks at the sign before a port in a line of PostgreSQL's password file, `host:5432:db:user:…`.
/// Returns up to where it has looked.
pub(super) fn pgpass(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let before = &bytes[at.saturating_sub(96)..at];
    let line =
        memchr::memrchr(b'\n', before).map_or(at - before.len(), |i| at - before.len() + i + 1);
    let stretch = &bytes[line..bytes.len().min(line + LINE)];
    let row = &stretch[..memchr::memchr(b'\n', stretch).unwrap_or(stretch.len())];
    let row = &row[..memchr::memchr2(b'\\', b'"', row).unwrap_or(row.len())];
    let cells = cells(row, Sign::Colon);
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || b"._-*#/@".contains(b);
    let [host, port, database, user, _, ..] = cells[..] else { return at + 1 };
    let port = &row[port.0..port.1];
    let is_row = [host, database, user].iter().all(|cell| {
        let cell = &row[cell.0..cell.1];
        !cell.is_empty() && cell.iter().all(is_plain)
    });
    let is_port =
        port == b"*" || (4..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit);
    if is_row && is_port {
        // The password may have colons of its own, behind backslashes.
        let words = Words::of("password");
        let column = Column { text, name: "password", words, promise: Promise::Password };
        column.push(line + cells[4].0, line + row.trim_ascii_end().len(), out);
    }
    line + row.len()
}
