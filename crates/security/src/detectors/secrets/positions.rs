//! Values made by chance that only what stands around them tells: compared with what a request sent,
//! behind a user's name, at the end of a line of configuration.

use super::calls::push_behind;
use super::directives;
use super::grammar::{self, Join};
use super::names::{self, Promise, Words};
use super::value::Shape;
use crate::finding::Finding;
use crate::kind::Kind;

/// How far a line is looked at before a value, and behind it.
const REACH: usize = 128;

/// Looks at the long run `start..end`, which has a digit. Whether it was a secret.
#[inline]
pub(super) fn run(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> bool {
    let bytes = text.as_bytes();
    let Some(before) = start.checked_sub(1).map(|i| bytes[i]) else { return false };
    match before {
        b'"' | b'\'' => quoted(text, start, out),
        b':' => behind_colon(text, start, end, out),
        b' ' | b'\t' => at_end_of_line(text, start, end, out),
        _ => false,
    }
}

fn quoted(text: &str, start: usize, out: &mut Vec<Finding>) -> bool {
    let bytes = text.as_bytes();
    let mut at = start - 1;
    while at > 0 && bytes[at - 1] == b' ' {
        at -= 1;
    }
    if matches!(bytes.get(at.wrapping_sub(1)), Some(b'(' | b'@')) && is_of_header(bytes, start) {
        return push(text, start, Promise::Secret, out);
    }
    let is_compared = match at.checked_sub(1).map(|i| bytes[i]) {
        Some(b'=') => {
            let sign = &bytes[at.saturating_sub(3)..at];
            (sign.ends_with(b"==") || sign.ends_with(b"!=")) && is_of_request(before(bytes, at))
        }
        Some(b'(') => {
            let line = before(bytes, at);
            has_comparison(line)
                || (line.ends_with(b"quals(") || line.ends_with(b"eq(")) && (is_of_request(line))
                || is_compared_behind(bytes, start)
        }
        Some(b',') => {
            let is_behind_user = user_before(&bytes[..at - 1]).is_some_and(|user| {
                let head = before(bytes, at - 3 - user.len());
                is_account(user) && (!is_generic(user) || ends_in_host(head))
            });
            if is_behind_user {
                return push(text, start, Promise::Password, out);
            }
            // A key and its secret.
            let is_as_long = |least: usize| {
                grammar::quoted(bytes, start - 1).is_some_and(|(from, to, _)| to - from >= least)
            };
            let is_behind_key = out.last().is_some_and(|found| {
                found.kind == Kind::Secret
                    && found.end + 2 == at
                    && found.end - found.start >= 32
                    && is_as_long(found.end - found.start)
            });
            if is_behind_key {
                return push(text, start, Promise::Secret, out);
            }
            has_comparison(before(bytes, at))
        }
        _ => false,
    };
    is_compared && push(text, start, Promise::Secret, out)
}

/// The line up to `at`, as far as it is looked at.
fn before(bytes: &[u8], at: usize) -> &[u8] {
    let stretch = &bytes[at.saturating_sub(REACH)..at];
    &stretch[memchr::memrchr(b'\n', stretch).map_or(0, |i| i + 1)..]
}

/// Calls that compare secrets so that their time tells nothing.
fn has_comparison(line: &[u8]) -> bool {
    const CALLS: [&[u8]; 8] = [
        b"compare_digest(",
        b"imingSafeEqual(",
        b"ConstantTimeCompare(",
        b"hash_equals(",
        b"secure_compare(",
        b"onstant_time_eq(",
        b"FixedTimeEquals(",
        b"constant_time_compare(",
    ];
    // Most lines have no call.
    memchr::memrchr_iter(b'(', line).take(3).any(|open| {
        let name = &line[..=open];
        CALLS.iter().any(|call| name.ends_with(call))
    })
}

/// Whether the line reads what somebody sent, and is no test of what is sent.
fn is_of_request(line: &[u8]) -> bool {
    const SENT: [&[u8]; 14] = [
        b"query",
        b"Query",
        b"args",
        b"param",
        b"Param",
        b"header",
        b"Header",
        b"_GET[",
        b"_POST[",
        b"_REQUEST[",
        b"_SERVER[",
        b"form[",
        b"cookies",
        b"FormValue(",
    ];
    let has = |words: &[&[u8]]| words.iter().any(|w| memchr::memmem::find(line, w).is_some());
    has(&SENT) && !has(&[b"assert", b"Assert", b"expect(", b"etag", b"ETag", b"ssert("])
}

/// `"…".equals(request.getHeader(`
fn is_compared_behind(bytes: &[u8], start: usize) -> bool {
    let Some((_, _, behind)) = grammar::quoted(bytes, start - 1) else { return false };
    let rest = &bytes[behind..bytes.len().min(behind + REACH)];
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    line.starts_with(b".equals(") && is_of_request(line)
}

/// `setValue("…", forHTTPHeaderField: "X-Api-Key")`
fn is_of_header(bytes: &[u8], start: usize) -> bool {
    let Some((_, _, behind)) = grammar::quoted(bytes, start - 1) else { return false };
    let rest = &bytes[behind..];
    let rest = rest.strip_prefix(b",").unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b" forHTTPHeaderField:") else { return false };
    let at = bytes.len() - rest.len();
    let skipped = rest.iter().take(2).take_while(|b| matches!(b, b' ' | b'@')).count();
    grammar::quoted(bytes, at + skipped)
        .and_then(|(from, to, _)| std::str::from_utf8(&bytes[from..to]).ok())
        .is_some_and(|name| names::promise(&Words::of(name), None).is_some())
}

/// The word in quotes that ends `before`.
fn user_before(before: &[u8]) -> Option<&str> {
    let (quote, inside) = before.split_last().filter(|(b, _)| matches!(b, b'"' | b'\''))?;
    let stretch = &inside[inside.len().saturating_sub(48)..];
    let open = memchr::memrchr(*quote, stretch)?;
    std::str::from_utf8(&stretch[open + 1..]).ok()
}

/// Whether it is a name that accounts have, or an address.
fn is_account(user: &str) -> bool {
    #[rustfmt::skip]
    const ACCOUNTS: [&str; 40] = [
        "admin", "administrator", "root", "user", "app", "svc", "service", "deploy", "deployer",
        "ro", "rw", "readonly", "reader", "writer", "report", "reporting", "reports", "backup",
        "guest", "operator", "monitor", "monitoring", "postgres", "mysql", "oracle", "sa", "dba",
        "ftp", "sftp", "ldap", "bot", "ci", "jenkins", "grafana", "batch", "etl", "sysadmin",
        "system", "owner", "replicator",
    ];
    // `user_id`, `service-name`: what an account has beside its password.
    #[rustfmt::skip]
    const OF_OTHERS: [&str; 20] = [
        "id", "ids", "uuid", "guid", "uid", "ref", "hash", "name", "version", "number", "no", "type",
        "slug", "sid", "session", "digest", "etag", "cursor", "url", "path",
    ];
    let last = user.rsplit(['_', '-', '.']).next().unwrap_or(user);
    if OF_OTHERS.iter().any(|other| other.eq_ignore_ascii_case(last)) {
        return false;
    }
    if user.len() > 24 && !user.contains('@') {
        return false;
    }
    let is_word = user.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@\\".contains(&b));
    is_word
        && (2..=48).contains(&user.len())
        && (user.find('@').is_some_and(|at| user[at..].contains('.'))
            || user.split(['_', '-', '.', '\\']).any(|part| {
                let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
                ACCOUNTS.iter().any(|account| account.eq_ignore_ascii_case(part))
            }))
}

/// Whether it is a word that texts have for much else than an account: `"user", "…"` has an id.
fn is_generic(user: &str) -> bool {
    #[rustfmt::skip]
    const GENERIC: [&str; 22] = [
        "user", "app", "service", "deploy", "ro", "rw", "readonly", "reader", "writer", "report",
        "reporting", "reports", "backup", "guest", "operator", "monitor", "monitoring", "bot", "ci",
        "batch", "system", "owner",
    ];
    let word = user.trim_end_matches(|c: char| c.is_ascii_digit());
    GENERIC.iter().any(|generic| generic.eq_ignore_ascii_case(word))
}

/// Whether a port or a host ends `head`: `socks5 host 1080`, `("db.internal", `.
fn ends_in_host(head: &[u8]) -> bool {
    let is_quote = |b: &u8| matches!(b, b'"' | b'\'');
    let is_between = |b: &u8| b.is_ascii_whitespace() || is_quote(b) || matches!(b, b'(' | b',');
    let end = head.iter().rposition(|b| !is_between(b)).map_or(0, |i| i + 1);
    let start = head[..end].iter().rposition(is_between).map_or(0, |i| i + 1);
    let word = &head[start..end];
    let is_port = (2..=5).contains(&word.len()) && word.iter().all(u8::is_ascii_digit);
    let is_of_host = |b: &u8| b.is_ascii_alphanumeric() || b".-:[]".contains(b);
    let has_dot = word.windows(3).any(|w| w[1] == b'.' && w[0] != b'.' && w[2] != b'.');
    // Of code, `log.info(` and `request.id,` have a dot as well.
    let behind = &head[end..];
    let is_of_code =
        behind.contains(&b'(') || behind.contains(&b',') && !behind.iter().any(is_quote);
    start > 0 && (is_port || has_dot && !is_of_code && word.iter().all(is_of_host))
}

/// `[mail.corp]:587 user:…`, and `name:…` below the name of a file of secrets.
fn behind_colon(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> bool {
    let bytes = text.as_bytes();
    if !matches!(bytes.get(end), None | Some(b'\n' | b'\r' | b' ')) {
        return false;
    }
    let line = before(bytes, start - 1);
    let user = line.iter().rev().take_while(|b| is_of_user(**b)).count();
    let head = &line[..line.len() - user];
    let is_relay = || {
        let host = head.trim_ascii_end();
        let port = host.iter().rev().take_while(|b| b.is_ascii_digit()).count();
        let host = &host[..host.len() - port];
        head.first() == Some(&b'[') && head.len() > host.len() && {
            let host = host.strip_suffix(b":").unwrap_or(host);
            host.ends_with(b"]") && !host.contains(&b' ')
        }
    };
    let is_listed = || {
        let above = &bytes[start.saturating_sub(2 * REACH)..start - line.len() - 1];
        [&b"psk"[..], b".secrets", b"PSK"]
            .iter()
            .any(|word| memchr::memmem::find(above, word).is_some())
    };
    let is_user = user > 1 && (head.is_empty() && is_listed() || is_relay());
    is_user && push_bare(text, start, end, Promise::Password, out)
}

fn is_of_user(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@')
}

/// `socks5 host 1080 user …`, `HidServAuth name.onion …`: what ends a line of configuration behind the
/// name of an account or of a hidden service.
fn at_end_of_line(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> bool {
    let bytes = text.as_bytes();
    if !matches!(bytes.get(end), None | Some(b'\n' | b'\r' | b'"')) {
        return false;
    }
    // Digests have letters of one kind.
    let run = &bytes[start..end];
    if !run.iter().any(u8::is_ascii_uppercase) || !run.iter().any(u8::is_ascii_lowercase) {
        return false;
    }
    let line = before(bytes, start);
    if bytes.get(end) == Some(&b'"') {
        return memchr::memmem::find(line, b"secure_link_md5").is_some()
            && push_bare(text, start, end, Promise::Secret, out);
    }
    let head = line.trim_ascii_end();
    let user = head.iter().rev().take_while(|b| !b.is_ascii_whitespace()).count();
    let Ok(user) = std::str::from_utf8(&head[head.len() - user..]) else { return false };
    let is_bare = !user.contains(['_', '-', '@']);
    let is_told = user.ends_with(".onion")
        || is_account(user) && (!is_bare || ends_in_host(&head[..head.len() - user.len()]));
    let words = || directives::words(head).is_some_and(|count| (2..=6).contains(&count));
    is_told && words() && push_bare(text, start, end, Promise::Password, out)
}

fn push(text: &str, start: usize, promise: Promise, out: &mut Vec<Finding>) -> bool {
    let Some((from, to, _)) = grammar::quoted(text.as_bytes(), start - 1) else { return false };
    let is_random = text.get(from..to).is_some_and(|written| {
        let shape = Shape::of(written);
        let is_mixed = !shape.is_hex && shape.letters() > 3 && shape.joints < 3;
        shape.is_random() && (is_mixed || promise == Promise::Secret)
    });
    is_random && push_behind(text, (from, to), promise, (Join::Call, Some(b'"')), out)
}

fn push_bare(
    text: &str,
    start: usize,
    end: usize,
    promise: Promise,
    out: &mut Vec<Finding>,
) -> bool {
    Shape::of(&text[start..end]).is_random()
        && push_behind(text, (start, end), promise, (Join::Call, None), out)
}
