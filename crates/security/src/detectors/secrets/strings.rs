//! Strings of code: their quotes, what stands before them, and bytes that are listed one by one.

use super::grammar::{GAP, LONGEST, Reader};

/// What may stand between the join and the quote: `b"`, `@"`, `new String("`, `Some("`, `["`.
pub(super) fn skip_wrapping(reader: &mut Reader<'_>) {
    let start = *reader;
    if reader.skip(b"ConvertTo-SecureString ") {
        reader.skip(b"-String ");
        return;
    }
    // Strings of binary data in Erlang.
    reader.skip(b"<<");
    let mut opened = false;
    for len in 0..40 {
        let byte = reader.peek();
        if matches!(byte, b'"' | b'\'' | b'`')
            || byte == b'\\' && matches!(reader.ahead(1), b'"' | b'\'')
        {
            let before = reader.bytes[reader.at - 1];
            let is_encoding = reader.bytes[..reader.at].ends_with(b".encode(");
            if !is_encoding
                && (len <= 2
                    || matches!(before, b'(' | b'[' | b'{')
                    || before.is_ascii_whitespace())
            {
                return;
            }
            break;
        }
        let is_new = byte == b' ' && reader.bytes[..reader.at].ends_with(b"new");
        // Lists and calls may go on in the next line.
        opened |= matches!(byte, b'[' | b'(');
        let is_new = is_new || opened && (byte.is_ascii_whitespace() || byte == b'{');
        let is_call = byte == b' ' && reader.ahead(1) == b'(' && len > 2;
        let is_part = is_call
            || byte.is_ascii_alphanumeric()
            || byte == b'|' && opened
            || matches!(byte, b'@' | b'(' | b'[' | b':' | b'.' | b'_' | b'&' | b'$' | b'!')
            || byte == b']' && reader.bytes[reader.at - 1] == b'['
            // `r#"…"#`
            || byte == b'#' && matches!(reader.ahead(1), b'"' | b'#');
        if !is_new && !is_part {
            break;
        }
        reader.at += 1;
    }
    *reader = start;
}

/// The same, if it is within what a call makes of it: `b"…"`, `[]byte("…")`, `GetBytes("…")`.
pub(super) fn wrapped(bytes: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    let mut reader = Reader { bytes, at, limit: bytes.len().min(at + GAP) };
    if at > 0 {
        skip_wrapping(&mut reader);
    }
    quoted(bytes, reader.at)
}

/// The string that begins with the quote at `at`: its inside, and where the next thing begins.
pub(in crate::detectors) fn quoted(bytes: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    let mut reader = Reader { bytes, at, limit: bytes.len().min(at + GAP) };
    let (quote, slashes) = reader.quote().filter(|(quote, _)| *quote != b'`')?;
    let end = end_of_quoted(bytes, reader.at, quote, slashes)?;
    // A quote behind backslashes may be closed by one without.
    Some((reader.at, end, (end + slashes + 1).min(bytes.len())))
}

/// Where the string that began with `quote` behind `slashes` backslashes ends.
pub(super) fn end_of_quoted(
    bytes: &[u8],
    start: usize,
    quote: u8,
    slashes: usize,
) -> Option<usize> {
    let stretch = &bytes[start..bytes.len().min(start + LONGEST)];
    let (mut run, mut skipped) = (0, 0);
    for (i, &byte) in stretch.iter().enumerate() {
        match byte {
            b'\\' => {
                run += 1;
                continue;
            }
            // `''` is one quote within a string of YAML or SQL.
            b'\'' if byte == quote && is_doubled(stretch, i) => skipped = i + 1,
            _ if skipped == i && i > 0 => {}
            // As many backslashes as before the first quote; more belong to the value.
            _ if byte == quote && (run <= slashes || slashes == 0 && run % 2 == 0) => {
                return Some(start + i - run.min(slashes));
            }
            b'\n' if quote != b'`' => return None,
            _ => {}
        }
        run = 0;
    }
    None
}

/// Whether the quote at `i` and the one behind it stand for one of them, in the middle of a string.
fn is_doubled(stretch: &[u8], i: usize) -> bool {
    let is_inside = |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_alphanumeric());
    i > 0
        && stretch.get(i + 1) == Some(&b'\'')
        && stretch[i - 1] != b'\\'
        && is_inside(stretch.get(i + 2))
        && stretch[i - 1] != b'\''
}

/// `R"(…)"`: the inside of a raw string of C++, whose quote was just before `start`.
pub(super) fn raw(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    if start < 2 || bytes[start - 2] != b'R' || bytes.get(start) != Some(&b'(') {
        return None;
    }
    let stretch = &bytes[start + 1..bytes.len().min(start + LONGEST)];
    let length = memchr::memmem::find(stretch, b")\"")?;
    (length > 0).then_some((start + 1, start + 1 + length))
}

/// How many bytes a key has at least.
const FEWEST_BYTES: usize = 12;

/// `[0xdc, 0x2a, …]`, `new byte[] { 0xdc, … }`: where the numbers of a list begin and end.
pub(super) fn bytes_one_by_one(reader: &Reader<'_>) -> Option<(usize, usize)> {
    let is_opener = |b: &u8| b.is_ascii_alphanumeric() || b"[](){}&. <>:".contains(b);
    let head = &reader.rest()[..reader.rest().len().min(40)];
    let opened = memchr::memchr2(b'{', b'[', head).or_else(|| memchr::memchr(b'(', head))?;
    let zero = memchr::memmem::find(head, b"0x")?;
    if zero < opened || !head[..zero].iter().all(|b| is_opener(b) || b.is_ascii_whitespace()) {
        return None;
    }
    let start = reader.at + zero;
    let stretch = &reader.bytes[start..reader.bytes.len().min(start + LONGEST)];
    let (mut at, mut end, mut count) = (0, 0, 0);
    while stretch[at..].starts_with(b"0x") {
        let digits = stretch[at + 2..].iter().take(3).take_while(|b| b.is_ascii_hexdigit()).count();
        if !(1..=2).contains(&digits) {
            return None;
        }
        end = at + 2 + digits;
        count += 1;
        let gap = |b: &u8| *b == b',' || b.is_ascii_whitespace();
        at = end + stretch[end..].iter().take(24).take_while(|b| gap(b)).count();
    }
    (count >= FEWEST_BYTES).then_some((start, start + end))
}
