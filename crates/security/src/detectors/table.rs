//! Tables: CSV, tab-separated, Markdown, SQL's `INSERT` and `COPY`.
//!
//! The name of a column is the hint; whoever knows it is given the cells below it.

use super::secrets::quoted;

/// The longest header and row.
const LINE: usize = 400;
/// How many rows are read for one header.
const ROWS: usize = 20_000;
const MOST_COLUMNS: usize = 24;

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Comma,
    Semicolon,
    Tab,
    Pipe,
    Colon,
}

impl Sign {
    pub(crate) fn byte(self) -> u8 {
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
pub(crate) fn may_end_column(bytes: &[u8], end: usize) -> bool {
    let mut behind = end;
    while behind < end + 3 && bytes.get(behind).is_some_and(|b| is_around_name(*b)) {
        behind += 1;
    }
    matches!(bytes.get(behind), Some(b',' | b';' | b'\t' | b'|' | b'\n' | b'\r' | b')'))
}

/// The same for a name that begins at `start`.
pub(crate) fn may_begin_column(bytes: &[u8], start: usize) -> bool {
    let mut before = start;
    while before > 0 && start - before < 3 && is_around_name(bytes[before - 1]) {
        before -= 1;
    }
    let byte = before.checked_sub(1).map(|i| bytes[i]);
    matches!(byte, None | Some(b',' | b';' | b'\t' | b'|' | b'\n' | b'('))
}

/// The same where other words of the column's name may stand before: `| Admin password |`. Commas are
/// left out, since sentences have them as well.
pub(crate) fn may_begin_wordy_column(bytes: &[u8], start: usize, end: usize) -> bool {
    /// How long those words may be.
    const LONGEST: usize = 32;
    let is_of_name =
        |b: u8| b.is_ascii_alphanumeric() || b >= 0x80 || matches!(b, b' ' | b'-' | b'_' | b'*');
    let is_sign = |b: Option<&u8>| matches!(b, Some(b';' | b'\t' | b'|'));
    let blanks = bytes[end..].iter().take(24).take_while(|b| **b == b' ').count();
    let behind = end + blanks;
    // A semicolon that ends its line ends a statement.
    let ends_line = |at: usize| matches!(bytes.get(at), None | Some(b'\n' | b'\r' | b' '));
    let is_before_sign =
        is_sign(bytes.get(behind)) && !(bytes[behind] == b';' && ends_line(behind + 1));
    if !is_before_sign && !matches!(bytes.get(behind), Some(b'\n' | b'\r')) {
        return false;
    }
    let before = &bytes[start.saturating_sub(LONGEST)..start];
    let words = before.iter().rev().take_while(|b| is_of_name(**b)).count();
    let first = start - words;
    let opens_line = first == 0 || bytes[first - 1] == b'\n';
    first > 0 && is_sign(bytes.get(first - 1)) || opens_line && is_before_sign
}

fn is_around_name(byte: u8) -> bool {
    matches!(byte, b'"' | b'`' | b'*' | b' ' | b']' | b'[')
}

/// The last table: where its header began, and up to where its rows were read. Rows are no headers, so
/// that each is read once for each column.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Last {
    header: usize,
    until: usize,
}

impl Last {
    /// Up to where the table's rows were read.
    pub(crate) fn until(self) -> usize {
        self.until
    }
}

/// Calls `visit` with the place of each cell below the name that begins at `start`, where it is one of
/// a header. Returns how many bytes were looked at.
pub(crate) fn below(
    text: &str,
    start: usize,
    last: &mut Last,
    visit: &mut dyn FnMut(usize, usize),
) -> usize {
    let bytes = text.as_bytes();
    let from = start.saturating_sub(LINE);
    let before = &bytes[from..start];
    let open = memchr::memrchr2(b'\n', b'(', before);
    let line = open.map_or(from, |i| from + i + 1);
    if start < last.until && line != last.header {
        return 64;
    }
    let mut column = Column { bytes, visit };
    if line > 0 && bytes[line - 1] == b'(' {
        let read = column.of_statement(line, start);
        *last = Last { header: line, until: line + read };
        return 128 + read;
    }
    // A line that began too far before is none of names.
    if open.is_none() && from > 0 {
        return 128;
    }
    let stretch = &bytes[line..bytes.len().min(line + LINE)];
    let Some(length) = memchr::memchr(b'\n', stretch) else { return 128 };
    let read = length + column.of_lines(line, line + length, start);
    *last = Last { header: line, until: line + read };
    128 + read
}

struct Column<'a> {
    bytes: &'a [u8],
    visit: &'a mut dyn FnMut(usize, usize),
}

impl Column<'_> {
    /// Rows of lines below the header `line..end`, which has the column at `at`.
    fn of_lines(&mut self, line: usize, end: usize, at: usize) -> usize {
        let bytes = self.bytes;
        let header = &bytes[line..end];
        let Some((sign, columns)) = header_sign(header) else { return 32 };
        let nth = header[..at - line].iter().filter(|b| **b == sign.byte()).count();
        // Jira's headers have two signs where its rows have one.
        let is_doubled = header.trim_ascii_start().starts_with(b"||");
        let (nth, columns) =
            if is_doubled { (nth / 2, columns.div_ceil(2)) } else { (nth, columns) };
        let mut row = end + 1;
        for _ in 0..ROWS {
            let stretch = &bytes[row.min(bytes.len())..bytes.len().min(row + LINE)];
            let length = memchr::memchr(b'\n', stretch).unwrap_or(stretch.len());
            // What a client of a database draws below a header.
            if row == end + 1 && length > 2 && stretch[..length].iter().all(is_of_line) {
                row += length + 1;
                continue;
            }
            let cells = cells(&stretch[..length], sign);
            let Some(cell) = cells.get(nth) else { break };
            // Who copies cells leaves out what is empty at their ends.
            let is_shorter = matches!(sign, Sign::Tab | Sign::Semicolon) && cells.len() < columns;
            if cells.len() != columns && !is_shorter || length == LINE {
                break;
            }
            self.push(row + cell.0, row + cell.1);
            row += length + 1;
        }
        row - end
    }

    /// `INSERT INTO t (a, password) VALUES ('x', '…')`, `COPY t (a, password) FROM stdin;`.
    fn of_statement(&mut self, line: usize, at: usize) -> usize {
        let bytes = self.bytes;
        let before = &bytes[line.saturating_sub(96)..line - 1];
        let names = &bytes[line..bytes.len().min(line + LINE)];
        let Some(close) = memchr::memchr(b')', names) else { return 64 };
        if line + close < at {
            return 64;
        }
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
            return 128 + self.of_copy(behind + head + end + 1, (nth, columns));
        }
        if !(starts(b"values") && (has(b"insert ") || has(b"replace ") || has(b"into "))) {
            return 96 + before.len();
        }
        self.of_tuples(behind + head + "values".len(), nth) + 96
    }

    fn of_copy(&mut self, start: usize, (nth, columns): (usize, usize)) -> usize {
        let bytes = self.bytes;
        let mut row = start;
        for _ in 0..ROWS {
            let stretch = &bytes[row.min(bytes.len())..bytes.len().min(row + LINE)];
            let length = memchr::memchr(b'\n', stretch).unwrap_or(stretch.len());
            let cells = cells(&stretch[..length], Sign::Tab);
            let Some(cell) = cells.get(nth) else { break };
            let is_over = row >= bytes.len() || length == LINE || stretch.starts_with(b"\\.");
            if is_over || cells.len() != columns {
                break;
            }
            self.push(row + cell.0, row + cell.1);
            row += length + 1;
        }
        row - start
    }

    /// `('x', 1, '…'), (…)`
    fn of_tuples(&mut self, start: usize, nth: usize) -> usize {
        let bytes = self.bytes;
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
                        let Some((from, to, behind)) = quoted(bytes, at) else {
                            return at - start;
                        };
                        if argument == nth && depth == 1 {
                            self.push(from, to);
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

    fn push(&mut self, start: usize, end: usize) {
        if end > start {
            (self.visit)(start, end);
        }
    }
}

fn is_of_line(byte: &u8) -> bool {
    matches!(byte, b'-' | b'+' | b'=' | b'|' | b':' | b' ' | b'\r')
}

/// What stands between a header's names, and how many there are.
fn header_sign(header: &[u8]) -> Option<(Sign, usize)> {
    // Names may have commas where something rarer separates them.
    let signs = [Sign::Tab, Sign::Semicolon, Sign::Pipe, Sign::Comma];
    let is_drawn = header.trim_ascii_start().first() == Some(&b'|');
    let found = || signs.into_iter().find(|sign| header.contains(&sign.byte()));
    let sign = if is_drawn { Sign::Pipe } else { found()? };
    let names = header.split(|b| *b == sign.byte());
    let mut count = 0;
    for name in names {
        count += 1;
        let name = name.trim_ascii();
        let letters = name.iter().filter(|b| b.is_ascii_alphabetic() || **b >= 0x80).count();
        let is_name =
            |b: &u8| b.is_ascii_alphanumeric() || b"_-. \"`*/#()[]',%&?:".contains(b) || *b >= 0x80;
        // Markdown's rows begin and end with the sign.
        // The corner of a table may be empty.
        let is_edge = name.is_empty() && (sign == Sign::Pipe || sign == Sign::Tab && count == 1);
        if !is_edge && (letters == 0 || name.len() > 40 || !name.iter().all(is_name)) {
            return None;
        }
    }
    // Behind an indentation there is no corner.
    let has_corner = sign == Sign::Tab && header.first() == Some(&b'\t');
    let fewest = if has_corner { 3 } else { 2 };
    (fewest..=MOST_COLUMNS).contains(&count).then_some((sign, count))
}

/// Where the cells of a row are, without blanks, quotes and marks around.
pub(crate) fn cells(row: &[u8], sign: Sign) -> Vec<(usize, usize)> {
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
