//! What the header of a table says about the number in one of its cells, in CSV, tab-separated text,
//! Markdown and SQL's `INSERT`.

use crate::detectors::personal::context::{self, Context};

/// The longest row and header.
const LINE: usize = 256;
/// How many rows may stand between a header and a cell, where the header is not the text's first line.
const ROWS: usize = 6;
const FARTHEST: usize = 48;

/// What the words above the number from `start` to `end` speak of; `None` where it is in no cell.
pub(super) fn words(bytes: &[u8], start: usize, end: usize) -> Option<Context> {
    let (from, to) = if in_statement(bytes, start, end) {
        column_of_statement(bytes, start)?
    } else {
        column_above(bytes, start, sign(bytes, start, end)?)?
    };
    let words = context::before(bytes, to, (to - from).min(FARTHEST));
    (words != Context::default()).then_some(words)
}

/// Whether nothing but the text from `start` to `end` is in a cell.
pub(super) fn is_cell(bytes: &[u8], start: usize, end: usize) -> bool {
    sign(bytes, start, end).is_some()
}

/// What separates the cell from its neighbours, if nothing but the number is in it.
fn sign(bytes: &[u8], start: usize, end: usize) -> Option<u8> {
    let quoted = context::byte_before(bytes, start) == b'"' && context::byte(bytes, end) == b'"';
    let (start, end) = if quoted { (start - 1, end + 1) } else { (start, end) };
    let (mut before, mut after) = (context::byte_before(bytes, start), context::byte(bytes, end));
    if before == b' ' && after == b' ' {
        (before, after) = (context::byte_before(bytes, start - 1), context::byte(bytes, end + 1));
        return (before == b'|' && after == b'|').then_some(b'|');
    }
    let is_sign = |byte: u8| matches!(byte, b',' | b';' | b'\t' | b'|');
    let is_edge = |byte: u8| matches!(byte, 0 | b'\n' | b'\r');
    match (before, after) {
        (sign, other) if is_sign(sign) && (other == sign || is_edge(other)) => Some(sign),
        (edge, sign) if is_edge(edge) && is_sign(sign) => Some(sign),
        _ => None,
    }
}

/// The header's cell above the one at `at`.
fn column_above(bytes: &[u8], at: usize, sign: u8) -> Option<(usize, usize)> {
    let row = line_start(bytes, at)?;
    let nth = count(&bytes[row..at], sign);
    let is_header =
        |line: &[u8]| memchr::memchr(sign, line).is_some() && !line.iter().any(u8::is_ascii_digit);
    let first_end = memchr::memchr(b'\n', &bytes[..bytes.len().min(LINE)])?;
    let all = nth + count(&bytes[at..line_end(bytes, at)], sign);
    let mut header = (0, first_end);
    if row == 0 || !is_header(&bytes[..first_end]) || count(&bytes[..first_end], sign) != all {
        let mut line = row;
        header = (0..ROWS).find_map(|_| {
            let end = line.checked_sub(1)?;
            line = line_start(bytes, end)?;
            // Markdown's rule has no letters.
            let above = &bytes[line..end];
            let named = above.iter().any(u8::is_ascii_alphabetic);
            (named && is_header(above) && count(above, sign) == all).then_some((line, end))
        })?;
    }
    nth_cell(bytes, header, nth, sign)
}

/// The place of the cell `nth` in the line.
fn nth_cell(
    bytes: &[u8],
    (start, end): (usize, usize),
    nth: usize,
    sign: u8,
) -> Option<(usize, usize)> {
    let mut from = start;
    for _ in 0..nth {
        from += memchr::memchr(sign, &bytes[from..end])? + 1;
    }
    let to = memchr::memchr(sign, &bytes[from..end]).map_or(end, |i| from + i);
    Some((from, to))
}

fn count(line: &[u8], sign: u8) -> usize {
    memchr::memchr_iter(sign, line).count()
}

/// Where the line of `at` begins, if it is not too long.
fn line_start(bytes: &[u8], at: usize) -> Option<usize> {
    let floor = at.saturating_sub(LINE);
    match memchr::memrchr(b'\n', &bytes[floor..at]) {
        Some(i) => Some(floor + i + 1),
        None => (floor == 0).then_some(0),
    }
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    let limit = bytes.len().min(at + LINE);
    memchr::memchr(b'\n', &bytes[at..limit]).map_or(limit, |i| at + i)
}

/// Whether the number is a value between quotes that a list has.
fn in_statement(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = context::byte_before(bytes, start.saturating_sub(1));
    context::byte_before(bytes, start) == b'\''
        && context::byte(bytes, end) == b'\''
        && matches!(before, b'(' | b' ' | b',')
        && matches!(context::byte(bytes, end + 1), b',' | b')')
}

/// The name of the column of the value at `at`: `INSERT INTO t (a, b) VALUES ('x', '…'`.
fn column_of_statement(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let floor = at.saturating_sub(LINE);
    let before = &bytes[floor..at];
    let open = memchr::memrchr(b'(', before)?;
    let nth = count(&before[open..], b',');
    let head = before[..open].trim_ascii_end();
    let values = head.len().checked_sub(6).map(|from| &head[from..])?;
    if !values.eq_ignore_ascii_case(b"values") {
        return None;
    }
    let names = head[..head.len() - 6].trim_ascii_end().strip_suffix(b")")?;
    let from = memchr::memrchr(b'(', names)? + 1;
    nth_cell(bytes, (floor + from, floor + names.len()), nth, b',')
}
