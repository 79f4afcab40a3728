//! Further secrets that only their position or their groups tell: settings of a command line, lines of
//! a file, keys of products.

use super::calls::{push_word, word};
use super::names::{self, Words};
use crate::finding::Finding;
use crate::kind::Kind;

/// How far a line is read.
const LINE: usize = 320;

/// What stands behind a name that ends at `end`, in places that have no sign between. Returns up to
/// where it has looked.
#[inline]
pub(super) fn behind_name(text: &str, end: usize, out: &mut Vec<Finding>) -> Option<usize> {
    let bytes = text.as_bytes();
    let (before, behind) = bytes.split_at_checked(end)?;
    match behind {
        [b' ', b's', b'e', b't', b' ', ..] if before.ends_with(b"user-secrets") => {
            Some(setting(text, end + 5, out))
        }
        [b' ', b'0'..=b'9', ..] if before.ends_with(b"Unseal Key") => {
            Some(unseal(text, end + 1, out))
        }
        [b'\n' | b'>', ..] if before.ends_with(b"auth-user-pass") => {
            Some(two_lines(text, end, out))
        }
        _ => None,
    }
}

/// `user-secrets set "Smtp:Password" "…"`: a name and its value.
fn setting(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let Some((from, to, quote)) = word(bytes, end) else { return end };
    let Some(name) = text.get(from..to) else { return end };
    let behind = to + usize::from(quote.is_some());
    let last = name.rsplit([':', '_', '.']).next().unwrap_or(name);
    if names::promise(&Words::of(last), None).is_none() {
        return behind;
    }
    let Some((from, to, quote)) = word(bytes, behind) else { return behind };
    push_word(text, (from, to), quote, out);
    to
}

/// A user's name and a password in the lines below a directive of OpenVPN.
fn two_lines(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let stretch = &text.as_bytes()[end..text.len().min(end + LINE)];
    let Ok(stretch) = std::str::from_utf8(stretch) else { return end };
    let Some(behind) = stretch.strip_prefix('>').unwrap_or(stretch).strip_prefix('\n') else {
        return end;
    };
    let Some((user, behind)) = behind.split_once('\n') else { return end };
    let password = behind.split('\n').next().unwrap_or(behind).trim_end();
    // The next directive has a value behind a blank, or is a tag.
    let is_word = |line: &str| !line.is_empty() && !line.contains([' ', '<', '#', '{']);
    if is_word(user.trim_end()) && is_word(password) {
        let from = password.as_ptr() as usize - text.as_ptr() as usize;
        push_word(text, (from, from + password.len()), None, out);
        return from + password.len();
    }
    end
}

/// `Unseal Key 1: …`
fn unseal(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let digits = bytes[end..].iter().take(3).take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 || bytes.get(end + digits) != Some(&b':') {
        return end;
    }
    let Some((from, to, quote)) = word(bytes, end + digits + 1) else { return end };
    push_word(text, (from, to), quote, out);
    to
}

/// Groups of one length that a product, a disk or an account is opened with: capitals and digits in
/// fours, fives or sixes, or eight times six digits.
pub(super) fn product_key(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> bool {
    const SHORTEST: usize = 23;
    const LONGEST: usize = 55;
    let run = &text.as_bytes()[start..end];
    // Most runs have no dash behind their first group.
    let Some(group) = run.iter().take(7).position(|b| *b == b'-') else { return false };
    if !(4..=6).contains(&group) || !(SHORTEST..=LONGEST).contains(&run.len()) {
        return false;
    }
    let (mut groups, mut mixed, mut letters) = (0, 0, 0);
    for part in run.split(|b| *b == b'-') {
        let digits = part.iter().filter(|b| b.is_ascii_digit()).count();
        let capitals = part.iter().filter(|b| b.is_ascii_uppercase()).count();
        if part.len() != group || digits + capitals != group {
            return false;
        }
        groups += 1;
        letters += capitals;
        mixed += usize::from(digits > 0 && capitals > 0);
    }
    let is_disk = group == 6 && groups == 8 && letters == 0;
    let is_product = groups >= if group == 5 { 4 } else { 5 } && mixed * 2 > groups && group < 6;
    if is_disk || is_product {
        out.push(Finding { start, end, kind: Kind::Secret, rule: "product_key" });
    }
    is_disk || is_product
}
