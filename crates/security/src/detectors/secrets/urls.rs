//! Passwords in URLs: `postgres://app:secret@db/orders`, `redis://:secret@cache`, `https://token@host`.

use super::value::{self, Shape};
use super::webhooks;
use crate::finding::Finding;
use crate::kind::Kind;

/// The longest user and password before the `@`.
const LONGEST: usize = 256;

/// Looks behind the `://` at `at`. Returns up to where it has looked.
pub(super) fn confirm(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let start = at + 3;
    // `https\://` in a file of properties.
    let is_escaped = bytes[..at].ends_with(b"\\") && !bytes[..at].ends_with(b"\\\\");
    let scheme = at - usize::from(is_escaped);
    if scheme == 0 || !bytes[scheme - 1].is_ascii_alphanumeric() {
        return start;
    }
    let stretch = &bytes[start..bytes.len().min(start + LONGEST)];
    let ends = |b: &u8| {
        matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'|')
            || *b == b'\\' && !is_escaped
    };
    let authority = stretch.iter().take_while(|b| **b != b'/' && !ends(b)).count();
    let Some(sign) = memchr::memrchr(b'@', &stretch[..authority])
        .or_else(|| at_behind_slash(stretch, authority, ends))
    else {
        return match webhooks::path(stretch, authority) {
            Some(path) => webhooks::confirm(text, start + path, out),
            None => webhooks::behind_host(text, start + authority, out),
        };
    };
    let user_info = &stretch[..sign];
    let Some(colon) = memchr::memchr(b':', user_info) else {
        bare_token(text, start, start + sign, out);
        return start + sign;
    };
    let (from, to) = (start + colon + 1, start + sign);
    let Some(password) = text.get(from..to) else { return to };
    if is_password(password, text.get(start..from - 1).unwrap_or(""), &bytes[to + 1..]) {
        out.push(Finding { start: from, end: to, kind: Kind::Password, rule: "url_password" });
    } else if password == "x-oauth-basic" || password.is_empty() {
        bare_token(text, start, from - 1, out);
    }
    to
}

/// `user:pass/word@host`: an `@` behind a slash counts where a colon is before the slash that no port
/// follows.
fn at_behind_slash(stretch: &[u8], authority: usize, ends: impl Fn(&u8) -> bool) -> Option<usize> {
    let colon = memchr::memchr(b':', &stretch[..authority])?;
    if stretch[colon + 1..authority].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let path = stretch[authority..].iter().take(64).take_while(|b| !ends(b)).count();
    memchr::memchr(b'@', &stretch[authority..authority + path]).map(|i| authority + i)
}

/// `https://ghp_…@github.com`, `https://<key>@sentry.io`.
fn bare_token(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) {
    let Some(token) = text.get(start..end) else { return };
    let shape = Shape::of(token);
    if shape.len >= 20 && shape.digits > 0 && shape.is_random() && shape.specials == 0 {
        out.push(Finding { start, end, kind: Kind::Secret, rule: "url_token" });
    }
}

fn is_password(password: &str, user: &str, host: &[u8]) -> bool {
    if password.is_empty()
        || value::is_reference(password)
        || password.starts_with(['$', '{', '[', '<', '%', '*'])
            && !Shape::of(password).is_random()
            && Shape::of(password).digits == 0
    {
        return false;
    }
    let shape = Shape::of(password);
    if shape.spaces > 0 || shape.len > 200 {
        return false;
    }
    if shape.is_random() {
        return true;
    }
    if value::is_stand_in(password) || password.eq_ignore_ascii_case(user) {
        return false;
    }
    // Hosts of documentation and of the machine itself seldom have a password worth the name.
    let is_example = host.starts_with(b"example.") || host.starts_with(b"host");
    if is_example && shape.digits + shape.specials == 0 {
        return false;
    }
    shape.len >= 4 && (shape.digits + shape.specials > 0 || shape.len >= 6)
}
