//! A user and a password side by side behind a name that says so: `creds = ("deploy", "…")`,
//! `login=deploy:…`, `user, password = "deploy", "…"`.

use super::calls;
use super::grammar::{self, Value};
use super::value::Shape;
use crate::finding::Finding;

/// How far the first string is from the name, and how far the pairs reach.
const GAP: usize = 112;
const REACH: usize = 1024;
/// How many strings are read.
const MOST: usize = 64;

/// Whether a name says that a user and a password follow.
pub(super) fn is_of_pair(name: &str) -> bool {
    #[rustfmt::skip]
    const TAILS: [&[u8]; 19] = [
        b"auth", b"auth_basic", b"authenticate", b"authentication", b"authenticationtoken",
        b"authenticator", b"cred", b"creds", b"credential", b"credentials", b"credentials_t",
        b"login", b"logins", b"passwordcredential", b"pw_set", b"user_pass", b"userpass",
        b"userpassword", b"userpwd",
    ];
    let name = name.as_bytes();
    let last = name.last().map_or(0, u8::to_ascii_lowercase);
    // Most names end otherwise.
    if !matches!(last, b'h' | b'c' | b'e' | b'n' | b'r' | b'd' | b's' | b'l' | b't') {
        return false;
    }
    TAILS.iter().any(|tail| {
        tail.last() == Some(&last)
            && name.len() >= tail.len()
            && name[name.len() - tail.len()..].eq_ignore_ascii_case(tail)
    })
}

/// The passwords in the pairs behind the name that ends at `end`.
pub(super) fn behind(text: &str, end: usize, out: &mut Vec<(usize, usize)>) {
    let bytes = text.as_bytes();
    let head = &bytes[end..bytes.len().min(end + GAP)];
    let Some(first) = head.iter().position(|b| matches!(b, b'"' | b'\'' | b';')) else { return };
    let first = if head[first..].starts_with(b"'(") { first + 1 } else { first };
    let Some(quote) = head[first..].iter().position(|b| matches!(b, b'"' | b'\'' | b';')) else {
        return;
    };
    let first = first + quote;
    // Text inside a string has backslashes before its quotes.
    let slashes = head[..first].iter().rev().take_while(|b| **b == b'\\').count();
    let first = first - slashes;
    let gap = &head[..first];
    let is_direct = gap.iter().all(|b| b" =(:[{".contains(b));
    let opens = gap.iter().any(|b| matches!(b, b'(' | b'[' | b'{')) || gap.ends_with(b"= ");
    let lines = gap.iter().filter(|b| **b == b'\n').count();
    if !opens || lines > 1 || gap.contains(&b')') && !gap.contains(&b'{') {
        return;
    }
    let limit = bytes.len().min(end + REACH);
    let mut at = end + first;
    let mut before: Option<(usize, usize)> = None;
    for nth in 0..MOST {
        let string =
            if nth == 1 { grammar::wrapped(bytes, at) } else { grammar::quoted(bytes, at) };
        let Some((start, to, behind)) = string.filter(|(_, to, _)| *to < limit) else {
            return;
        };
        let Some(written) = text.get(start..to) else { return };
        let is_behind_user = before
            .and_then(|(from, to)| text.get(from..to))
            .is_some_and(|user| calls::is_user(user) && !user.contains(' '));
        let is_last = matches!(bytes.get(behind), None | Some(b')' | b'.' | b']'));
        let is_call = is_direct && gap.contains(&b'(') || gap.ends_with(b"[list ");
        let is_sure = is_call && nth == 1 && is_last;
        if is_behind_user && (is_sure || !calls::is_plain(written) || is_mixed(written)) {
            out.push((start, to));
            before = None;
        } else {
            before = Some((start, to));
        }
        // Up to the next string: within a pair, or in the next.
        let Some(rest) = bytes.get(behind..limit) else { return };
        let is_next = rest.starts_with(b", ")
            || rest.starts_with(b" \"")
            || rest.starts_with(b" \\")
            || rest.starts_with(b" '")
            || rest.starts_with(b",\"")
            || rest.starts_with(b",'")
            || rest.starts_with(b" to ")
            || rest.starts_with(b",\n");
        let between = rest
            .iter()
            .take(64)
            .take_while(|b| b.is_ascii_whitespace() || b",(){}[]".contains(b))
            .count();
        at = if rest.starts_with(b" to ") { behind + 4 } else { behind + between };
        let ends_pair = rest[..between].iter().any(|b| matches!(b, b')' | b'}' | b']'));
        if ends_pair {
            before = None;
            let goes_on = rest[..between].iter().any(|b| matches!(b, b'(' | b'{' | b'['))
                && rest[..between].contains(&b',');
            if !goes_on {
                return;
            }
        } else if !is_next {
            return;
        }
    }
}

/// Capitals, small letters and signs that no name has.
fn is_mixed(written: &str) -> bool {
    let has = |is: fn(u8) -> bool| written.bytes().any(is);
    written.len() >= 8
        && has(|b| b.is_ascii_uppercase())
        && has(|b| b.is_ascii_lowercase())
        && has(|b| b"!#$%^&*?~+".contains(&b))
        && !written.contains([' ', '/', '{', '(', '<'])
}

/// `user, password = "deploy", "…"`: the string in the place of the name `start..end` among others.
pub(super) fn unpacked(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let before = &bytes[start.saturating_sub(64)..start];
    if !before.ends_with(b", ") {
        return None;
    }
    let is_list = |b: &u8| b.is_ascii_alphanumeric() || b"_$, ".contains(b);
    let listed = before.iter().rev().take_while(|b| is_list(b)).count();
    let nth = before[before.len() - listed..].iter().filter(|b| **b == b',').count();
    let rest = bytes.get(end..)?;
    let rest = rest.strip_prefix(b")").unwrap_or(rest);
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    let rest = rest.strip_prefix(b"= ")?;
    let rest = rest.strip_prefix(b"(").unwrap_or(rest);
    let mut at = bytes.len() - rest.len();
    for i in 0..=nth {
        let (start, to, behind) = grammar::quoted(bytes, at)?;
        if i == nth {
            return Some((start, to));
        }
        at = behind + bytes.get(behind..)?.starts_with(b", ").then_some(2)?;
    }
    None
}

/// The password in `deploy:…`, as one value behind a name of a pair.
pub(super) fn within(text: &str, mut value: Value) -> Option<Value> {
    let written = text.get(value.start..value.end)?;
    let (user, password) = written.split_once(':')?;
    let is_user = (2..=64).contains(&user.len())
        && user.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@\\".contains(&b))
        && user.bytes().any(|b| b.is_ascii_alphabetic());
    // An id and its token are one value.
    if Shape::of(user).is_random() {
        return None;
    }
    if !is_user || password.len() < 4 || password.starts_with(['/', ':', ' ']) {
        return None;
    }
    value.start += user.len() + 1;
    Some(value)
}

/// Pushes what was found as passwords, through `push`.
pub(super) fn each(
    text: &str,
    end: usize,
    out: &mut Vec<Finding>,
    mut push: impl FnMut(usize, usize, &mut Vec<Finding>),
) -> bool {
    let mut found = Vec::new();
    behind(text, end, &mut found);
    let known = out.len();
    for (start, end) in found {
        push(start, end, out);
    }
    out.len() > known
}
