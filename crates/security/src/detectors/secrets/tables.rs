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

/// The same of a column that has passwords, whatever its name is.
pub(super) fn of_passwords(
    text: &str,
    start: usize,
    last: &mut Last,
    out: &mut Vec<Finding>,
) -> usize {
    let column = Column::of_passwords(text);
    table::below(text, start, last, &mut |from, to| column.push(from, to, out))
}

/// The last table of HTML: where the row of its headers begins, and up to where its rows were read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LastOfMarkup {
    header: usize,
    until: usize,
}

/// The same of HTML, where the name `start..end` ends a cell of a row of headers. Returns how many
/// bytes were looked at.
pub(super) fn of_markup(
    text: &str,
    (start, end): (usize, usize),
    last: &mut LastOfMarkup,
    out: &mut Vec<Finding>,
) -> usize {
    /// How long a row may be, and a cell of it.
    const ROW: usize = 1200;
    const CELL: usize = 160;
    const ROWS: usize = 500;
    /// How long the name of a column may be.
    const NAME: usize = 48;
    let bytes = text.as_bytes();
    let around = &bytes[text.ceil_char_boundary(start.saturating_sub(NAME))..end];
    let Some(open) = memchr::memrchr(b'>', around) else { return 64 };
    let name = text[end - around.len() + open + 1..end].trim_ascii();
    let words = Words::of(name);
    let Some(promise) = names::promise(&words, None).filter(|promise| *promise != Promise::Key)
    else {
        return 96;
    };
    let before = &bytes[start.saturating_sub(ROW)..start];
    let Some(row) = memchr::memmem::rfind(before, b"<tr") else { return 96 };
    let header = start - before.len() + row;
    // Rows are no headers, so that each is read once for each column.
    if start < last.until && header != last.header {
        return 128;
    }
    let above = &before[..row];
    let above = &above[memchr::memmem::rfind(above, b"<table").unwrap_or(0)..];
    let is_first = || memchr::memmem::find(above, b"<tr").is_none();
    if !bytes[end..].starts_with(b"</th") && !is_first() {
        return 160;
    }
    let nth = cells_of_markup(&before[row..]).count().saturating_sub(1);
    let column = Column { text, name, words, promise };
    let mut at = end;
    for _ in 0..ROWS {
        let stretch = &bytes[at..bytes.len().min(at + ROW)];
        let Some(from) = memchr::memmem::find(stretch, b"<tr") else { break };
        // Another table has names of its own.
        if memchr::memmem::find(&stretch[..from], b"<table").is_some() {
            break;
        }
        let stretch = &stretch[from..];
        let length = memchr::memmem::find(stretch, b"</tr").unwrap_or(stretch.len());
        let row = &stretch[..length];
        if let Some(cell) = cells_of_markup(row).nth(nth) {
            let mut from = cell;
            // Whatever else is opened in the cell: `<td><code>…`.
            while row.get(from) == Some(&b'<') && row.get(from + 1) != Some(&b'/') {
                let tag = &row[from..row.len().min(from + CELL)];
                let Some(length) = memchr::memchr(b'>', tag) else { break };
                from += length + 1;
            }
            let content = &row[from..row.len().min(from + CELL)];
            let length = memchr::memchr(b'<', content).unwrap_or(content.len());
            let offset = row.as_ptr() as usize - bytes.as_ptr() as usize;
            column.push(offset + from, offset + from + length, out);
        }
        at += from + length.max(3);
    }
    *last = LastOfMarkup { header, until: at };
    128 + (at - end) + before.len()
}

/// Where the contents of the cells of a row of HTML begin.
fn cells_of_markup(row: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memmem::find_iter(row, b"<t").filter_map(|at| {
        let is_cell = matches!(row.get(at + 2), Some(b'd' | b'h'))
            && matches!(row.get(at + 3), Some(b'>' | b' '));
        let length = is_cell.then(|| memchr::memchr(b'>', &row[at..]))??;
        Some(at + length + 1)
    })
}

struct Column<'a> {
    text: &'a str,
    name: &'a str,
    words: Words<'a>,
    promise: Promise,
}

impl<'a> Column<'a> {
    fn of_passwords(text: &'a str) -> Self {
        let words = Words::of("password");
        Self { text, name: "password", words, promise: Promise::Password }
    }

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
        let column = Column::of_passwords(text);
        column.push(line + cells[4].0, line + row.trim_ascii_end().len(), out);
    }
    line + row.len()
}

#[cfg(test)]
mod tests {
    use crate::kind::{Kind, Kinds};
    use crate::scan::{Scanner, ScannerSettings};

    fn found(text: &str) -> Vec<String> {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let found = scanner.scan(text, Kinds::of(&[Kind::Secret, Kind::Password]));
        found.iter().map(|finding| text[finding.range()].to_owned()).collect()
    }

    #[test]
    fn finds_the_column_of_passwords() {
        let values = ["Lw2pQz9Rm4", "Heron7731x"];
        for table in [
            "| Dienst | Benutzer | Kennwort |\n|---|---|---|\n| Mail | kim | # |\n| NAS | lee | # |",
            "| Сервис | Логин | Пароль |\n|---|---|---|\n| почта | kim | # |\n| NAS | lee | # |",
            "| 장비 | 계정 | 비밀번호 |\n|---|---|---|\n| CCTV | kim | # |\n| NAS | lee | # |",
            "Thiết bị\tTài khoản\tMật khẩu\nCamera\tkim\t#\nMáy in\tlee\t#",
            "|| Model || Admin login || Admin password ||\n| HP | kim | # |\n| Epson | lee | # |",
            " id | login | plain_password | active\n----+---+---+---\n 1 | kim | # | t\n 2 | lee | # | t\n",
            "<table><tr><th>Host</th><th>Password</th></tr>\n<tr><td>a</td><td>#</td></tr>\n\
             <tr><td>b</td><td><code>#</code></td></tr></table>",
            "<table><tr><td>Host</td><td>Admin password</td></tr><tr><td>a</td><td>#</td></tr>\
             <tr><td>b</td><td>#</td></tr></table>",
            "<tr><th>Password</th></tr><tr><td>#</td></tr></table>\
             <table><tr><th>Host</th><th>Password</th></tr><tr><td>b</td><td>#</td></tr></table>",
            "\tuser\tpassword\tnotes\nnas\tkim\t#\nfw\tlee\t#\tsince May\n",
            "site;identifiant;mot_de_passe;remarque\nx;kim;#;à changer\ny;lee;#",
        ] {
            let text = table.replacen('#', values[0], 1).replacen('#', values[1], 1);
            assert_eq!(found(&text), values, "{text}");
        }
    }

    #[test]
    fn leaves_tables_alone_that_describe() {
        for table in [
            "| Field | Admin password |\n|---|---|\n| type | string |\n| length | 12 |",
            "<table><tr><th>Password</th><th>Length</th></tr><tr><td>string</td><td>12</td></tr></table>",
            "    return token;\n    let user7 = kim77;\n",
            "<td>password</td><td>varchar</td>",
            "<table><tr><th>Key</th><th>Summary</th></tr><tr><td>PROJ-1234</td><td>x</td></tr></table>",
            "<table><tr><th>Author</th></tr><tr><td>kim77</td></tr></table>",
            "<table><tr><th>Passenger</th></tr><tr><td>kim77</td></tr></table>",
            "<table><tr><th>Keyboard</th></tr><tr><td>K380-x2</td></tr></table>",
            "<table><tr><td>a</td></tr><tr><td>password</td></tr><tr><td>kim77</td></tr></table>",
        ] {
            assert!(found(table).is_empty(), "{table}");
        }
    }
    #[test]
    fn many_rows_of_names_in_html_are_no_flood() {
        for row in [
            "<tr><td>db_password</td><td>varchar</td></tr>",
            "<tr><th>db_password</th><td>varchar</td></tr>",
        ] {
            let text = row.repeat(3000) + " password = \"Lw2pQz9Rm4\"";
            assert_eq!(found(&text), ["Lw2pQz9Rm4"], "{row}");
        }
    }
}
