//! Passwords in tables, and in lines of PostgreSQL's password file.
//!
//! The name of a column is the hint. What stands in that column of the following rows is judged as a
//! password or token; a table that describes settings has words there, and is left alone.

use super::assignment;
use super::grammar::{Join, Value};
use super::judge::Place;
use super::names::{self, Promise, Words};
use crate::detectors::table::{self, Last, Sign};
use crate::finding::Finding;

/// The longest line of a password file.
const LINE: usize = 400;

/// Looks at the table that has the column `start..end`. Returns how many bytes were looked at.
pub(super) fn confirm(
    text: &str,
    (start, end): (usize, usize),
    last: &mut Last,
    out: &mut Vec<Finding>,
) -> usize {
    let name = &text[text.ceil_char_boundary(start)..text.floor_char_boundary(end)];
    let words = Words::of(name);
    let Some(promise) = names::promise(&words, None).filter(|promise| *promise != Promise::Key)
    else {
        return 64;
    };
    let column = Column { text, name, words, promise };
    table::below(text, start, last, &mut |from, to| column.push(from, to, out))
}

struct Column<'a> {
    text: &'a str,
    name: &'a str,
    words: Words<'a>,
    promise: Promise,
}

impl Column<'_> {
    fn push(&self, start: usize, end: usize, out: &mut Vec<Finding>) {
        let place = Place { text: self.text, start, words: &self.words, name: self.name };
        let quote = Some(b'"');
        let value = Value { start, end, join: Join::Cell, quote, quoted_name: false };
        assignment::push_if(&place, self.promise, value, out);
    }
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
    let cells = table::cells(row, Sign::Colon);
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
