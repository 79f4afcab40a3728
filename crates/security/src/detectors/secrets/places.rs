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
        [b'\n', b'V', b' ', ..]
            if before.ends_with(b"password") || before.ends_with(b"passphrase") =>
        {
            Some(next_line(text, end + 1, out))
        }
        [b' ', ..] if before.ends_with(b"AUTH") => Some(command_of_login(text, end, out)),
        [b'\'' | b'+', ..]
            if before.ends_with(b"'psk2")
                || before.ends_with(b"'psk")
                || before.ends_with(b"'sae-mixed") =>
        {
            Some(key_of_network(text, end, out))
        }
        [b' ', b'F' | b'f', b'O' | b'o', b'R' | b'r', b' ', b'\'' | b'"' | b'`', ..]
            if before.ends_with(b"PASSWORD") || before.ends_with(b"password") =>
        {
            Some(set_for_user(text, end + 5, out))
        }
        [b' ', ..]
            if before.ends_with(b"change_password") || before.ends_with(b"user-password") =>
        {
            Some(last_of_command(text, end, out))
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

/// `SET PASSWORD FOR 'app'@'%' = '…'`: what is set for the user at `at`.
fn set_for_user(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let stretch = &bytes[at..bytes.len().min(at + LINE)];
    let line = &stretch[..memchr::memchr(b'\n', stretch).unwrap_or(stretch.len())];
    let Some(sign) = memchr::memmem::find(line, b" = ") else { return at };
    let mut value = at + sign + 3;
    // `PASSWORD('…')`
    if bytes[value..].starts_with(b"PASSWORD(") || bytes[value..].starts_with(b"password(") {
        value += "PASSWORD(".len();
    }
    let Some((from, to, Some(quote))) = word(bytes, value) else { return at };
    push_word(text, (from, to), Some(quote), out);
    to
}

/// `change_password user …`: the last word of the command.
fn last_of_command(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    const MOST_WORDS: usize = 4;
    let bytes = text.as_bytes();
    let (mut at, mut last) = (end, None);
    for nth in 0..MOST_WORDS {
        let Some((from, to, quote)) = word(bytes, at) else { break };
        at = to + usize::from(quote.is_some());
        last = (nth > 0).then_some((from, to, quote));
        if !bytes[at.min(bytes.len())..].starts_with(b" ") {
            break;
        }
    }
    if let Some((from, to, quote)) = last {
        push_word(text, (from, to), quote, out);
    }
    at
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

/// `option encryption 'psk2'` and `option key '…'` on the next line, as OpenWrt keeps them.
fn key_of_network(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let stretch = &text.as_bytes()[end..text.len().min(end + 64)];
    let Some(option) = memchr::memmem::find(stretch, b"option key ") else { return end };
    let at = end + option + "option key ".len();
    let Some((from, to, quote)) = word(text.as_bytes(), at) else { return end };
    push_word(text, (from, to), quote, out);
    to
}

/// `AUTH …`, `AUTH user …` on a line of its own, behind a prompt maybe, as Redis takes them.
fn command_of_login(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let before = bytes[end.saturating_sub(32)..end - 4].trim_ascii_end();
    let opens_line = match bytes[..end - 4].last() {
        None | Some(b'\n') => true,
        Some(b' ') => before.ends_with(b">"),
        _ => false,
    };
    if !opens_line {
        return end;
    }
    let stretch = &bytes[end..bytes.len().min(end + LINE)];
    let line = &stretch[..memchr::memchr(b'\n', stretch).unwrap_or(stretch.len())];
    let count = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    let mut at = end;
    for nth in 1..=count.min(2) {
        let Some((from, to, quote)) = word(bytes, at) else { return end };
        if nth == count {
            push_word(text, (from, to), quote, out);
        }
        at = to;
    }
    at
}

/// `ADMIN_PIN=…`: four to eight digits, which end there.
pub(super) fn pin(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let start = end + usize::from(matches!(bytes.get(end), Some(b'"' | b'\'')));
    let digits = bytes[start..].iter().take(9).take_while(|b| b.is_ascii_digit()).count();
    let to = start + digits;
    let ends =
        matches!(bytes.get(to), None | Some(b'\n' | b'\r' | b'"' | b'\'' | b' ' | b';' | b','));
    let is_drawn = bytes[start..to].windows(2).any(|two| two[0] != two[1])
        && !matches!(&bytes[start..to], b"1234" | b"12345" | b"123456" | b"12345678" | b"4321");
    if (4..=8).contains(&digits) && ends && is_drawn {
        out.push(Finding { start, end: to, kind: Kind::Password, rule: "pin" });
    }
    to
}

/// `V 12` and a value of twelve characters on the next line, as Subversion keeps them.
fn next_line(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let rest = &bytes[end + 2..bytes.len().min(end + LINE)];
    let digits = rest.iter().take(4).take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 || rest.get(digits) != Some(&b'\n') {
        return end;
    }
    let Some((from, to, quote)) = word(bytes, end + 2 + digits + 1) else { return end };
    push_word(text, (from, to), quote, out);
    to
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
