//! Private keys in all their armours: PEM, OpenSSH, PGP, PuTTY.

use crate::finding::Finding;
use crate::kind::Kind;

/// The longest key: RSA of 16384 bits has 13 KB.
const LONGEST: usize = 24 * 1024;
/// How much of a body there must be for it to be a key and not a mention of one.
const SHORTEST_BODY: usize = 32;
const DASHES: &[u8] = b"-----";

/// Looks at the `BEGIN ` at `at`. Returns up to where it has looked.
pub(super) fn armoured(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let behind = at + "BEGIN ".len();
    let Some(start) = at.checked_sub(DASHES.len()).filter(|i| &bytes[*i..at] == DASHES) else {
        return behind;
    };
    let label = &bytes[behind..bytes.len().min(behind + 48)];
    let len = label
        .iter()
        .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b' '))
        .count();
    let label = &label[..len];
    if !(label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK"))
        || !bytes[behind + len..].starts_with(DASHES)
    {
        return behind + len;
    }
    let body = behind + len + DASHES.len();
    let stretch = &bytes[body..bytes.len().min(body + LONGEST)];
    let (body_end, end) = match memchr::memmem::find(stretch, DASHES) {
        Some(dashes) if stretch[dashes..].starts_with(b"-----END ") => {
            let tail = &stretch[dashes + 9..];
            let close = memchr::memmem::find(&tail[..tail.len().min(64)], DASHES);
            (dashes, close.map_or(dashes, |i| dashes + 9 + i + DASHES.len()))
        }
        Some(dashes) => {
            let end = body_without_end(&stretch[..dashes]);
            (end, end)
        }
        None => {
            let end = body_without_end(stretch);
            (end, end)
        }
    };
    if !is_body(&stretch[..body_end]) {
        return body;
    }
    let end = text.floor_char_boundary(body + end);
    out.push(Finding { start, end, kind: Kind::PrivateKey, rule: "private_key" });
    end
}

/// Where a key that was cut off ends: at the first line that is none of base64.
fn body_without_end(stretch: &[u8]) -> usize {
    let belongs = |b: &u8| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'+' | b'/'
                    | b'='
                    | b'\n'
                    | b'\r'
                    | b'\\'
                    | b'"'
                    | b','
                    | b' '
                    | b'\t'
                    | b'\''
                    | b':'
                    | b'-'
            )
    };
    let mut end = 0;
    for line in stretch.split_inclusive(|b| *b == b'\n') {
        let word = line
            .iter()
            .filter(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
            .count();
        let spaces = line.trim_ascii().iter().filter(|b| **b == b' ').count();
        let is_line = line.iter().all(belongs)
            && (word >= 16 || end == 0 || line.trim_ascii().is_empty())
            && spaces < 4;
        if !is_line {
            break;
        }
        end += line.len();
    }
    stretch[..end].trim_ascii_end().len()
}

/// Whether there are enough characters of base64 close together.
fn is_body(body: &[u8]) -> bool {
    let is_base64 = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let head = &body[..body.len().min(4096)];
    let dots = memchr::memmem::find(head, b"...").is_some();
    let longest = head.split(|b| !is_base64(b)).map(<[u8]>::len).max().unwrap_or(0);
    longest >= SHORTEST_BODY && !(dots && longest < 64)
}

/// Looks at the `Private-Lines: ` of a PuTTY key at `at`.
pub(super) fn putty(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let stretch = &bytes[at..bytes.len().min(at + LONGEST)];
    // The end of the line, which may be written as in a string.
    let head = &stretch[..stretch.len().min(32)];
    let in_string = memchr::memmem::find(head, b"\\n");
    let Some(line) = in_string.map(|i| i + 1).or_else(|| memchr::memchr(b'\n', stretch)) else {
        return at + 1;
    };
    let body = &stretch[line + 1..];
    let end = memchr::memmem::find(body, b"Private-MAC").unwrap_or_else(|| body_without_end(body));
    let mut key = body[..end].trim_ascii_end();
    for end in [&b"\\n"[..], b"\\r"] {
        key = key.strip_suffix(end).unwrap_or(key);
    }
    if !is_body(key) {
        return at + 1;
    }
    let start = at + line + 1;
    let end = text.floor_char_boundary(start + key.len());
    out.push(Finding { start, end, kind: Kind::PrivateKey, rule: "putty_key" });
    end
}
