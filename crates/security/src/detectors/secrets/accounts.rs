//! Lists of accounts: `user:password` in the lines behind a command or below the name of a file.

use super::assignment::push_if;
use super::calls::{REACH, push_word};
use super::grammar::{Join, Value};
use super::judge::Place;
use super::names::{Promise, Words};
use crate::finding::Finding;

/// How many lines a list of accounts may have.
const LINES: usize = 64;

/// `user:password` in the lines behind `chpasswd`: a heredoc, a list of cloud-init.
pub(super) fn accounts(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let mut at = end;
    for nth in 0..LINES {
        let stretch = &bytes[at..bytes.len().min(at + REACH)];
        let length = memchr::memchr(b'\n', stretch).unwrap_or(stretch.len());
        let line = stretch[..length].trim_ascii();
        let line = line.strip_prefix(b"- ").unwrap_or(line);
        let start = at + (line.as_ptr() as usize - bytes[at..].as_ptr() as usize);
        let colon = memchr::memchr(b':', line);
        let user = colon.map_or(&line[..0], |i| &line[..i]);
        let is_user = !user.is_empty()
            && user.iter().all(|b| b.is_ascii_alphanumeric() || b"_-.$".contains(b));
        match colon.filter(|_| is_user) {
            Some(colon) if line.len() > colon + 1 && line[colon + 1] != b' ' => {
                let range = (start + colon + 1, start + line.len());
                let words = Words::of("password");
                let place = Place { text, start: range.0, words: &words, name: "password" };
                let (start, end) = range;
                let value =
                    Value { start, end, join: Join::Directive, quote: None, quoted_name: false };
                push_if(&place, Promise::Password, value, out);
            }
            // `expire: false`, `list: |`
            Some(_) => {}
            None if nth > 0 => return at,
            None => {}
        }
        at += length + 1;
        if at >= bytes.len() {
            return bytes.len();
        }
    }
    at
}

/// The accounts below `/etc/rsyncd.secrets`, `# psk.txt`, `$ cat sasl_passwd`, `chap-secrets`: the name
/// of a file that ends its line. Returns where the last secret ends, if there
/// is one, and the cost.
pub(super) fn below_file_name(text: &str, end: usize, out: &mut Vec<Finding>) -> (usize, usize) {
    /// What it costs to judge a word.
    const COST_OF_A_ROW: usize = 160;
    let bytes = text.as_bytes();
    let rest = &bytes[end..];
    let rest = rest.strip_prefix(b".txt").unwrap_or(rest);
    if rest.first() != Some(&b'\n') {
        return (0, 8);
    }
    let line = &bytes[end.saturating_sub(64)..end];
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |i| i + 1)..];
    if !names_file(line) {
        return (0, 24);
    }
    let is_chap = line.ends_with(b"ap-secrets");
    let known = out.len();
    let mut at = bytes.len() - rest.len() + 1;
    let mut cost = 32;
    for _ in 0..LINES {
        let stretch = &bytes[at.min(bytes.len())..bytes.len().min(at + REACH)];
        let length = memchr::memchr(b'\n', stretch).unwrap_or(stretch.len());
        let row = stretch[..length].trim_ascii_end();
        // The next file has a list of its own.
        let is_over = row.is_empty()
            || row.starts_with(b"$ ")
            || names_file(row.strip_suffix(b".txt").unwrap_or(row));
        if is_over {
            break;
        }
        if !matches!(row[0], b'#' | b';') {
            let Some((from, to)) = secret_of_row(row, is_chap) else { break };
            push_word(text, (at + from, at + to), None, out);
            cost += COST_OF_A_ROW;
        }
        cost += length;
        at += length + 1;
    }
    (out.get(known..).and_then(<[Finding]>::last).map_or(0, |last| last.end), cost)
}

/// Whether `line`, without the file's extension, names a file of accounts at its end.
fn names_file(line: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] =
        [b"secrets", b"sasl_passwd", b"psk", b"passwords", b"users", b"smtp_auth", b"_passwd"];
    NAMES.iter().any(|known| line.ends_with(known))
        && (matches!(line[0], b'#' | b';' | b'/') || memchr::memmem::find(line, b"cat ").is_some())
}

/// Where the secret is in `user:…`, `[host]:587 user:…`, `user * … *`.
fn secret_of_row(row: &[u8], is_chap: bool) -> Option<(usize, usize)> {
    let mut words = row
        .split(|b| matches!(b, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - row.as_ptr() as usize, word));
    if is_chap {
        let (from, word) = words.nth(2)?;
        let quoted =
            usize::from(word.len() > 2 && word.starts_with(b"\"") && word.ends_with(b"\""));
        return Some((from + quoted, from + word.len() - quoted));
    }
    let (from, word) = words.next_back()?;
    let colon = memchr::memchr(b':', word).filter(|colon| *colon > 0)?;
    let is_user = word[..colon].iter().all(|b| b.is_ascii_alphanumeric() || b"_-.@+".contains(b));
    let is_whole = from == 0 || row.first() == Some(&b'[') || row[..from].contains(&b'.');
    (is_user && is_whole && word.len() > colon + 4).then_some((from + colon + 1, from + word.len()))
}

#[cfg(test)]
mod tests {
    use crate::kind::{Kind, Kinds};
    use crate::scan::{Scanner, ScannerSettings};

    #[test]
    fn lists_below_names_of_files_are_read_once() {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let read = |text: &str| scanner.scan(text, Kinds::of(&[Kind::Password])).len();
        // What stands behind so many names is read as well.
        for (row, in_row) in [("# a/users.secrets\n", 0), ("# psk\nkim:Kd82mLqZ7\n", 1)] {
            let text = row.repeat(2000) + "\nDB_PASSWORD=Zk3vT8wQ4\n";
            assert_eq!(read(&text), 2000 * in_row + 1, "{row}");
        }
        // What is no row of accounts ends the list, and is read by itself.
        let listed = "# secrets\nkim:Kd82mLqZ7\nDB_PASSWORD=Zk3vT8wQ4\nlee:Hn4tWq7Lx\n";
        assert_eq!(read(listed), 2);
    }
}
