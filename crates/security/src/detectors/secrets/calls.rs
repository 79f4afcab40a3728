//! Secrets that only their position tells: arguments of calls, words of commands, rows of a list.
//!
//! A rare word is the hint ([`super::rare`]). The shape must be a password's or a key's: a variable, a
//! type or a message in the same place is none.

use super::assignment::push_if;
use super::directives;
use super::grammar::{self, Join, Value};
use super::judge::{Place, Verdict};
use super::names::{Promise, Words};
use super::value::Shape;
use crate::finding::Finding;
use crate::kind::Kind;

/// How far behind its hint a position may be.
pub(super) const REACH: usize = 320;

/// Pushes `start..end` if it can be what was promised.
fn push(
    text: &str,
    (start, end): (usize, usize),
    promise: Promise,
    quote: Option<u8>,
    out: &mut Vec<Finding>,
) -> bool {
    let join = if quote.is_some() { Join::Call } else { Join::Tight };
    start < end && push_behind(text, (start, end), promise, (join, quote), out)
}

/// The same behind `join`, in quotes or not.
pub(super) fn push_behind(
    text: &str,
    (start, end): (usize, usize),
    promise: Promise,
    (join, quote): (Join, Option<u8>),
    out: &mut Vec<Finding>,
) -> bool {
    let name = if promise == Promise::Password { "password" } else { "secret" };
    let words = Words::of(name);
    let place = Place { text, start, words: &words, name };
    let value = Value { start, end, join, quote, quoted_name: false };
    push_if(&place, promise, value, out) == Verdict::Secret
}

/// The arguments of the call whose parenthesis is before `at`, one after the other: where the string
/// is, if the argument is one, and what it begins with.
struct Arguments<'a> {
    bytes: &'a [u8],
    at: usize,
    limit: usize,
}

impl<'a> Arguments<'a> {
    fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, limit: bytes.len().min(at + REACH) }
    }
}

impl Iterator for Arguments<'_> {
    type Item = Option<(usize, usize)>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { bytes, limit, .. } = *self;
        while self.at < limit && bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        if self.at >= limit || matches!(bytes[self.at], b')' | b';') {
            return None;
        }
        let quoted = grammar::wrapped(bytes, self.at).filter(|(_, end, _)| *end < limit);
        let mut at = quoted.map_or(self.at, |(_, _, behind)| behind);
        // What is behind the string belongs to its argument: `"…".getBytes()`, `"a" + b`.
        let mut depth = 0_usize;
        let mut is_sum = false;
        while at < limit {
            match bytes[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => break,
                b')' | b']' | b'}' => depth -= 1,
                b',' if depth == 0 => break,
                b'+' => is_sum = true,
                b'\n' if depth == 0 && quoted.is_none() => break,
                b'"' | b'\'' => {
                    let Some((_, _, behind)) = grammar::quoted(bytes, at) else {
                        self.at = limit;
                        return None;
                    };
                    at = behind;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        // A wrapping call closes behind its string.
        if quoted.is_some() && bytes.get(at) == Some(&b')') && bytes.get(at + 1) == Some(&b',') {
            at += 1;
        }
        self.at = at + usize::from(bytes.get(at) == Some(&b','));
        Some(quoted.filter(|_| !is_sum).map(|(start, end, _)| (start, end)))
    }
}

/// The argument number `nth`, from 0, of the call whose parenthesis is before `at`.
pub(super) fn argument(
    text: &str,
    at: usize,
    nth: usize,
    promise: Promise,
    out: &mut Vec<Finding>,
) -> usize {
    let mut arguments = Arguments::new(text.as_bytes(), at);
    let found = arguments.by_ref().nth(nth).flatten();
    if let Some(range) = found {
        push(text, range, promise, Some(b'"'), out);
        return range.1;
    }
    at
}

/// `ldap_bind($c, "cn=…", "…")`, `simple_bind_s("cn=…", "…")`
pub(super) fn bind(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let rest = &text.as_bytes()[at..];
    for call in [&b"("[..], b"_s(", b"_sync("] {
        if rest.starts_with(call) {
            return connect(text, at + call.len(), out);
        }
    }
    at
}

/// `user:…@tcp(host:3306)/db`: `at` is the sign.
pub(super) fn dsn(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let before = &bytes[at.saturating_sub(96)..at];
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'=');
    let pair = before.iter().rev().take_while(|b| !ends(b)).count();
    let pair = &before[before.len() - pair..];
    if let Some(colon) = memchr::memchr(b':', pair).filter(|colon| *colon > 0) {
        push(text, (at - pair.len() + colon + 1, at), Promise::Password, Some(b'"'), out);
    }
    at + 1
}

/// `Cookie: theme=dark; session=…`: values of the cookies that keep somebody logged in.
pub(super) fn cookies(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    const NAMES: &[&[u8]] = &[b"sess", b"sid", b"auth", b"token", b"jwt", b"remember", b"login"];
    let bytes = text.as_bytes();
    let stretch = &bytes[end..bytes.len().min(end + 4 * REACH)];
    let stops = |b: &u8| matches!(b, b'\n' | b'\r' | b'"' | b'\'' | b'\\');
    let line = &stretch[..stretch.iter().position(stops).unwrap_or(stretch.len())];
    let mut at = end;
    for pair in line.split(|b| *b == b';') {
        let start = at;
        at += pair.len() + 1;
        let Some(sign) = memchr::memchr(b'=', pair).filter(|sign| *sign < 64) else { continue };
        let name = pair[..sign].to_ascii_lowercase();
        let is_session = NAMES.iter().any(|word| memchr::memmem::find(&name, word).is_some());
        let (from, to) = (start + sign + 1, start + pair.trim_ascii_end().len());
        if is_session && to >= from + 16 && memchr::memmem::find(&name, b"csrf").is_none() {
            push(text, (from, to), Promise::Secret, Some(b'"'), out);
        }
    }
    end + line.len()
}

/// The key in `jwt.sign(payload, "…")`. `at` is behind the dot.
pub(super) fn jwt(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let rest = &text.as_bytes()[at..];
    for call in [&b"sign("[..], b"verify(", b"encode(", b"decode("] {
        if rest.starts_with(call) {
            return argument(text, at + call.len(), 1, Promise::Secret, out);
        }
    }
    at
}

/// `sqlplus user/…@host`
pub(super) fn behind_slash(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let mut at = at;
    for _ in 0..4 {
        let Some((from, to, quote)) = word(bytes, at) else { return at };
        let word = &bytes[from..to];
        if let Some(slash) = memchr::memchr(b'/', word).filter(|slash| *slash > 0) {
            let end = memchr::memrchr(b'@', &word[slash..]).map_or(to, |sign| from + slash + sign);
            push_word(text, (from + slash + 1, end), quote, out);
            return to;
        }
        at = to + usize::from(quote.is_some());
        if bytes.get(at) == Some(&b'\n') {
            return at;
        }
    }
    at
}

/// `user name …` and `quote PASS …` in the lines behind `ftp -n`.
pub(super) fn ftp(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let stretch = &bytes[end..bytes.len().min(end + REACH)];
    for word_before in [&b"\nuser "[..], b"\nquote PASS ", b"\nquote pass "] {
        let Some(found) = memchr::memmem::find(stretch, word_before) else { continue };
        let mut at = end + found + word_before.len();
        if word_before.starts_with(b"\nuser") {
            let Some((_, to, quote)) = word(bytes, at) else { continue };
            at = to + usize::from(quote.is_some());
        }
        if bytes.get(at) == Some(&b'\n') {
            continue;
        }
        if let Some((from, to, quote)) = word(bytes, at) {
            push_word(text, (from, to), quote, out);
        }
    }
    end
}

/// A user and a password side by side among the arguments behind `at`: `('host', 22, 'user', '…')`.
pub(super) fn connect(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let mut before: Option<&str> = None;
    for (nth, argument) in Arguments::new(text.as_bytes(), at).enumerate().take(8) {
        let Some((start, end)) = argument else {
            before = None;
            continue;
        };
        let Some(written) = text.get(start..end) else { return at };
        if before.is_some_and(is_user)
            && nth > 0
            && !is_plain(written)
            && push(text, (start, end), Promise::Password, Some(b'"'), out)
        {
            return end;
        }
        before = Some(written);
    }
    at
}

pub(super) fn is_user(word: &str) -> bool {
    (2..=64).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@\\=, ".contains(&b))
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Whether it is as well the name of a host, a database, a topic: a password that nothing but its
/// position tells has a digit and something else.
pub(super) fn is_plain(written: &str) -> bool {
    // `home/room12/Status`
    if written.contains('/') && !written.bytes().any(|b| b"!@#$%^&*?~+=".contains(&b)) {
        return true;
    }
    if Shape::of(written).is_random() {
        return false;
    }
    let digits = written.bytes().filter(u8::is_ascii_digit).count();
    // `Topic12`, `queue44`
    let word = written.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_numbered = word.len() + digits == written.len()
        && digits < 4
        && word.bytes().skip(1).all(|b| b.is_ascii_lowercase());
    if is_numbered {
        return true;
    }
    let specials = written.bytes().any(|b| !b.is_ascii_alphanumeric() && !b"_-.:/".contains(&b));
    let has_upper = written.bytes().any(|b| b.is_ascii_uppercase());
    let is_mixed =
        digits >= 2 && (specials || has_upper || !written.contains(['-', '.', '/', ':']));
    !(is_mixed || specials && digits > 0 || super::passphrase::is_passphrase(written, false))
}

/// The arguments of a format with a user and a password: `"%s:%s@tcp(…)", "user", "…"`. `at` is in
/// the format.
pub(super) fn format(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let stretch = &bytes[at..bytes.len().min(at + REACH)];
    let Some(close) = stretch.iter().position(|b| matches!(b, b'"' | b'\'' | b'\n')) else {
        return at;
    };
    let behind = at + close + 1;
    let comma =
        bytes.get(behind..).and_then(|rest| rest.iter().position(|b| !b.is_ascii_whitespace()));
    match comma.map(|i| behind + i).filter(|i| matches!(bytes[*i], b',' | b'%')) {
        Some(comma) => {
            let open =
                bytes[comma + 1..].iter().take(4).take_while(|b| b" (\n".contains(b)).count();
            connect(text, comma + 1 + open, out)
        }
        None => behind,
    }
}

/// The word or string behind a directive at `at`.
pub(super) fn directive(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let start = at + directives::forms(&bytes[at..bytes.len().min(at + 64)]);
    let before = &bytes[at.saturating_sub(48)..at];
    let line = memchr::memrchr(b'\n', before).map_or(before, |i| &before[i + 1..]);
    let is_snmp = [&b"snmp"[..], b"rocommunity", b"rwcommunity", b"SNMP"]
        .iter()
        .any(|word| memchr::memmem::find(line, word).is_some());
    let Some((from, to, quote)) = word(bytes, start).filter(|_| is_snmp) else { return at };
    let known = out.len();
    push_word(text, (from, to), quote, out);
    // A community needs no digit.
    let shape = text.get(from..to).map(Shape::of).unwrap_or_default();
    let is_drawn = shape.upper > 1 && shape.lower > 1 && shape.humps > 2 && shape.wordiness < 5.5;
    if out.len() == known && is_drawn && shape.len >= 8 && shape.letters() == shape.len {
        out.push(Finding { start: from, end: to, kind: Kind::Secret, rule: "assignment" });
    }
    to
}

/// Pushes what stands where only a secret can, if it is no plain word.
pub(super) fn push_word(
    text: &str,
    (from, to): (usize, usize),
    quote: Option<u8>,
    out: &mut Vec<Finding>,
) {
    let Some(written) = text.get(from..to) else { return };
    let has = |is: fn(&u8) -> bool| written.bytes().any(|b| is(&b));
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        || has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
        || has(|b| b"!$%&*?+~^@#".contains(b));
    if is_mixed && !push(text, (from, to), Promise::Password, quote, out) {
        push(text, (from, to), Promise::Secret, quote, out);
    }
}

/// The word that begins at `at`, without its quotes.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<(usize, usize, Option<u8>)> {
    let blanks = bytes.get(at..)?.iter().take(16).take_while(|b| matches!(b, b' ' | b'\t')).count();
    let at = at + blanks;
    if let Some((start, end, _)) = grammar::quoted(bytes, at) {
        return Some((start, end, Some(b'"')));
    }
    let rest = &bytes[at..bytes.len().min(at + REACH)];
    let ends =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'\\' | b'`' | b'<' | b'|');
    let length = rest.iter().take_while(|b| !ends(b)).count();
    (length > 0).then_some((at, at + length, None))
}

/// `%any : PSK "…"`, `bob : EAP "…"`: the string that ends the hint.
pub(super) fn ipsec(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let before = bytes[start.saturating_sub(8)..start].trim_ascii_end();
    let before = before.strip_suffix(b"X").map_or(before, <[u8]>::trim_ascii_end);
    if !before.ends_with(b":") {
        return end;
    }
    let Some((from, to, behind)) = grammar::quoted(bytes, end - 1) else { return end };
    push_word(text, (from, to), Some(b'"'), out);
    behind
}

/// `send "…\r"` behind `expect "…assword:"`. `end` is behind the opening quote or parenthesis.
pub(super) fn send(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let before = &bytes[start.saturating_sub(REACH)..start];
    let line = memchr::memrchr(b'\n', before).unwrap_or(0);
    let prompt = &before[memchr::memrchr(b'\n', &before[..line]).unwrap_or(0)..];
    let asks = [&b"assword"[..], b"assphrase"];
    if !asks.iter().any(|word| memchr::memmem::rfind(prompt, word).is_some()) {
        return end;
    }
    let open = if bytes[end - 1] == b'(' { end } else { end - 1 };
    let Some((from, mut to, behind)) = grammar::quoted(bytes, open) else { return end };
    while bytes[from..to].ends_with(b"\\r") || bytes[from..to].ends_with(b"\\n") {
        to -= 2;
    }
    push_word(text, (from, to), Some(b'"'), out);
    behind
}

/// `echo '…' | sudo -S`, `echo user:… | chpasswd`: what is piped into a program that reads a password.
pub(super) fn echo(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    const READERS: &[&[u8]] = &[
        b"kinit",
        b"sudo -S",
        b"-S ",
        b"--stdin",
        b"-stdin",
        b"chpasswd",
        b"passwd",
        b"cryptsetup",
        b"--passphrase-fd",
        b"smbpasswd",
        b"su -",
        b"vncpasswd",
    ];
    let bytes = text.as_bytes();
    let stretch = &bytes[end..bytes.len().min(end + REACH)];
    let line = &stretch[..memchr::memchr(b'\n', stretch).unwrap_or(stretch.len())];
    let Some(pipe) = memchr::memchr(b'|', line) else { return end };
    let command = &line[pipe..];
    if !READERS.iter().any(|reader| memchr::memmem::find(command, reader).is_some()) {
        return end;
    }
    let mut from = end;
    for flag in [&b"-n "[..], b"-e ", b"-ne ", b"-en "] {
        from += if bytes[from..].starts_with(flag) { flag.len() } else { 0 };
    }
    let Some((mut from, to, quote)) = word(bytes, from).filter(|(_, to, _)| *to <= end + pipe)
    else {
        return end;
    };
    if let Some(colon) = memchr::memchr(b':', &bytes[from..to])
        && memchr::memmem::find(command, b"chpasswd").is_some()
    {
        from += colon + 1;
    }
    push_word(text, (from, to), quote, out);
    to
}

/// `net use Z: \\host\share … /user:X`: the word among them that can be a password.
pub(super) fn net_use(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let stretch = &bytes[end..bytes.len().min(end + REACH)];
    let line = &stretch[..memchr::memchr(b'\n', stretch).unwrap_or(stretch.len())];
    let mut at = end;
    if let Some(rest) = line.strip_prefix(b"r ") {
        // `net user name password`
        let name = rest.iter().take_while(|b| !b.is_ascii_whitespace()).count();
        at = end + 2 + name;
        if rest.starts_with(b"/") || rest.get(name + 1) == Some(&b'/') {
            return end;
        }
    } else if memchr::memmem::find(line, b"\\\\").is_none() {
        return end;
    }
    while let Some((from, to, quote)) =
        word_of_windows(bytes, at).filter(|(_, to, _)| *to <= end + line.len())
    {
        let first = bytes[from];
        if !matches!(first, b'/' | b'\\' | b'*') && bytes[to - 1] != b':' {
            push_word(text, (from, to), quote, out);
        }
        at = to + usize::from(quote.is_some());
    }
    end + line.len()
}

/// A word of a command line of Windows, where backslashes are as any other sign.
fn word_of_windows(bytes: &[u8], at: usize) -> Option<(usize, usize, Option<u8>)> {
    let blanks = bytes.get(at..)?.iter().take(16).take_while(|b| matches!(b, b' ' | b'\t')).count();
    let at = at + blanks;
    let rest = &bytes[at..bytes.len().min(at + REACH)];
    if rest.first() == Some(&b'"') {
        let length = memchr::memchr(b'"', &rest[1..]).filter(|length| *length > 0)?;
        return Some((at + 1, at + 1 + length, Some(b'"')));
    }
    let length = rest.iter().take_while(|b| !b.is_ascii_whitespace()).count();
    (length > 0).then_some((at, at + length, None))
}

/// `createUser name SHA "…" AES "…"`: all strings of the line.
pub(super) fn snmp_user(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let stretch = &bytes[end..bytes.len().min(end + REACH)];
    let until = end + memchr::memchr(b'\n', stretch).unwrap_or(stretch.len());
    let mut at = end;
    let mut is_next = false;
    while let Some((from, to, quote)) = word(bytes, at).filter(|(_, to, _)| *to <= until) {
        let written = &bytes[from..to];
        if is_next {
            push_word(text, (from, to), quote, out);
        }
        let is_algorithm = [&b"MD5"[..], b"DES", b"AES", b"SHA"]
            .iter()
            .any(|name| written.starts_with(name) && written.len() < 10);
        is_next = is_algorithm && quote.is_none();
        at = to + usize::from(quote.is_some());
    }
    until
}

/// `getKey("alias", "…".toCharArray())`: a string that Java's keys are opened with, among the arguments
/// behind `open`.
pub(super) fn characters(text: &str, open: usize, out: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let stretch = &bytes[open..bytes.len().min(open + 96)];
    let line = &stretch[..memchr::memchr(b'\n', stretch).unwrap_or(stretch.len())];
    let Some(close) = memchr::memmem::find(line, b"\".toCharArray()") else { return };
    if let Some(quote) = memchr::memrchr(b'"', &line[..close]) {
        push_word(text, (open + quote + 1, open + close), Some(b'"'), out);
    }
}

/// `("admin", "…")`: what stands behind the name of an account in a list of strings.
pub(super) fn account(text: &str, start: usize, out: &mut Vec<Finding>) -> usize {
    let quote = start.checked_sub(1).filter(|i| matches!(text.as_bytes()[*i], b'"' | b'\''));
    quote.map_or(start, |quote| connect(text, quote, out))
}

/// `/msg NickServ IDENTIFY …`
pub(super) fn identify(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let before = &bytes[at.saturating_sub(48)..at];
    let is_service = memchr::memmem::find(before, b"Serv").is_some()
        || memchr::memmem::find(before, b"serv").is_some();
    let Some((from, to, quote)) = word(bytes, at).filter(|_| is_service) else { return at };
    // The name of the account may stand before it.
    let (from, to, quote) = word(bytes, to).unwrap_or((from, to, quote));
    push_word(text, (from, to), quote, out);
    to
}
