//! Passwords on command lines: `curl -u user:pw`, `mysql -ppw`, `sshpass -p pw`.
//!
//! The hint is the dash of a flag; the program before it says whether the flag takes a password.

use super::grammar::{Bare, Join};
use super::value::{self, Shape};
use crate::finding::Finding;
use crate::kind::Kind;

/// How far before a flag its program may stand.
const REACH: usize = 240;
/// The longest user and password.
const LONGEST: usize = 192;

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `user:pw`
    UserAndPassword,
    /// `pw`
    Password,
}

/// Looks at the flag whose first dash is at `at`. Returns how many bytes were looked at, and up to
/// where no other flag need be looked at.
pub(super) fn confirm(text: &str, at: usize, out: &mut Vec<Finding>) -> (usize, usize) {
    let bytes = text.as_bytes();
    let Some((value, takes, programs)) = flag(bytes, at) else { return (4, at) };
    let Some((mut start, mut end)) = argument(bytes, value) else { return (8, at) };
    if end - start < 4 {
        return (24, at);
    }
    let command = command(bytes, at);
    let cost = 40 + 2 * command.len() + 2 * (end - start);
    if !programs.iter().any(|program| memchr::memmem::find(command, program).is_some()) {
        return (cost, at);
    }
    let mut user = "";
    if takes == Takes::UserAndPassword {
        let Some(pair) = text.get(start..end) else { return (cost, at) };
        let Some(colon) = pair.find(':') else { return (cost, at) };
        user = &pair[..colon];
        start += colon + 1;
        // `kevin:'pw'`
        if start == value + colon + 1
            && let Some(&quote @ (b'\'' | b'"')) = bytes.get(start)
            && let Some(len) =
                memchr::memchr(quote, &bytes[start + 1..bytes.len().min(start + LONGEST)])
        {
            (start, end) = (start + 1, start + 1 + len);
        }
        // `-u token:`: the user is the secret.
        if start >= end {
            let shape = Shape::of(user);
            let is_key = shape.len >= 8 && shape.digits > 0 && shape.letters() > 0;
            if is_key && !value::is_reference(user) && !value::is_stand_in(user) {
                let (start, end) = (start - 1 - user.len(), start - 1);
                out.push(Finding { start, end, kind: Kind::Secret, rule: "command_line" });
            }
            return (cost, end);
        }
    }
    if text.get(start..end).is_some_and(|password| is_password(password, user, takes)) {
        out.push(Finding { start, end, kind: Kind::Password, rule: "command_line" });
    }
    (cost, end)
}

type Programs = &'static [&'static [u8]];

/// Where the value of the flag at `at` begins, what it is, and whose flag it is.
fn flag(bytes: &[u8], at: usize) -> Option<(usize, Takes, Programs)> {
    const WEB: Programs = &[b"curl", b"wget", b"http ", b"https "];
    const DATABASE: Programs = &[b"mysql", b"mariadb", b"mongo", b"mysqldump"];
    const OTHERS: Programs = &[
        b"sshpass",
        b"docker login",
        b"podman login",
        b"mongo",
        b"mysql",
        b"redis-cli",
        b"az login",
        b"plink",
        b"oc login",
        b"isql",
    ];
    let before = at.checked_sub(1).map_or(b' ', |i| bytes[i]);
    if !matches!(before, b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'[') {
        return None;
    }
    const FLAGS: &[(&[u8], Takes, Programs)] = &[
        (b"-u", Takes::UserAndPassword, WEB),
        (b"-U", Takes::UserAndPassword, WEB),
        (b"--user", Takes::UserAndPassword, WEB),
        (b"--proxy-user", Takes::UserAndPassword, WEB),
        (b"-p", Takes::Password, OTHERS),
        (b"-a", Takes::Password, &[b"redis-cli"]),
    ];
    let rest = &bytes[at..];
    for &(flag, takes, mut programs) in FLAGS {
        let Some(behind) = rest.strip_prefix(flag) else { continue };
        let blanks = behind.iter().take_while(|b| matches!(b, b' ' | b'=')).count();
        if blanks == 0 {
            match (takes, flag.len()) {
                // `mysql -ppw`, `curl -uuser:pw`
                (Takes::Password, 2) => programs = DATABASE,
                (Takes::UserAndPassword, 2) => {}
                _ => continue,
            }
        }
        return Some((at + flag.len() + blanks, takes, programs));
    }
    None
}

/// The argument that begins at `at`, without its quotes.
fn argument(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = &bytes[at..bytes.len().min(at + LONGEST)];
    let slashes = rest.iter().take_while(|b| **b == b'\\').count();
    match rest.get(slashes)? {
        quote @ (b'"' | b'\'') => {
            let inner = &rest[slashes + 1..];
            let len = memchr::memchr(*quote, inner)?;
            let slashes_behind = inner[..len].iter().rev().take_while(|b| **b == b'\\').count();
            let start = at + slashes + 1;
            Some((start, start + len - slashes_behind))
        }
        _ => Some((
            at,
            Bare::default().end(&bytes[..bytes.len().min(at + LONGEST)], at, Join::Space),
        )),
    }
}

/// The command before the flag at `at`.
fn command(bytes: &[u8], at: usize) -> &[u8] {
    let before = &bytes[at.saturating_sub(REACH)..at];
    // Up to the start of the command; a line may go on behind a backslash.
    let mut from = before.len();
    while let Some(end) = memchr::memrchr(b'\n', &before[..from]) {
        if !before[..end].ends_with(b"\\") {
            break;
        }
        from = end;
    }
    let start = memchr::memrchr(b'\n', &before[..from]).map_or(0, |end| end + 1);
    let line = &before[start..];
    memchr::memrchr2(b'|', b';', line).map_or(line, |i| &line[i..])
}

fn is_password(password: &str, user: &str, takes: Takes) -> bool {
    if password.len() < 4
        || password.contains("://")
        || password.eq_ignore_ascii_case(user)
        || value::is_reference(password)
    {
        return false;
    }
    let shape = Shape::of(password);
    if shape.spaces > 0 || !shape.is_random() && value::is_stand_in(password) {
        return false;
    }
    // `-p 8080:80`, `-p22`: ports and other things that begin with the same letter.
    let numeric = shape.letters() == 0 && shape.specials < 2;
    if numeric && (shape.digits < 6 || takes == Takes::Password) {
        return false;
    }
    shape.digits + shape.specials > 0 || takes == Takes::UserAndPassword && shape.len >= 6
}
