//! What beside a number says that it is somebody's: an e-mail address, a name, a label of one letter.

use crate::detectors::personal::classes::{self, mask};
use crate::detectors::personal::context;

/// How far an e-mail address may be on either side.
const NEAR: usize = 64;

/// Whether the number from `start` to `end` stands where people write how they are reached.
pub(super) fn is_contact(bytes: &[u8], start: usize, end: usize) -> bool {
    is_labelled(bytes, start)
        || is_behind_name(bytes, start) && !is_dated(&bytes[start..end])
        || !is_day(&bytes[start..end]) && is_beside_mail(bytes, start, end)
}

/// `10 2025`: the day and the year of a date in letters, in a list of changes.
fn is_day(number: &[u8]) -> bool {
    matches!(number, [a, b, b' ', b'1' | b'2', b'9' | b'0', _, _] if a.is_ascii_digit() && b.is_ascii_digit())
}

/// `Visual Studio 17 2022`, `Thu July 31 2014`: the year of a product or a date, or too few digits for a
/// phone.
fn is_dated(number: &[u8]) -> bool {
    let digits = number.iter().filter(|byte| byte.is_ascii_digit()).count();
    let year = number.len().checked_sub(4).and_then(|at| number.get(at..));
    digits < 8 || digits < 10 && year.is_some_and(|y| y.starts_with(b"19") || y.starts_with(b"20"))
}

/// `p: 051-563-4577 | f: …`, as under letters.
fn is_labelled(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(4)..start];
    let label = before.strip_suffix(b" ").unwrap_or(before);
    let [rest @ .., letter, b':' | b'.'] = label else { return false };
    let letter = letter.to_ascii_lowercase();
    let is_first = rest.last().is_none_or(|byte| matches!(byte, b'\n' | b' ' | b'|' | b',' | b'/'));
    is_first && matches!(letter, b'p' | b't' | b'm' | b'f' | b'c' | b'h' | b'w' | b'o')
}

/// `Jianguo Xu 0571-8548 5069`: two words with capitals directly before.
fn is_behind_name(bytes: &[u8], start: usize) -> bool {
    let floor = start.saturating_sub(64);
    let led = behind_leaders(bytes, floor, start);
    let mut at = led.unwrap_or(start);
    let mut words = 0;
    while words < 2 {
        let blank = bytes[floor..at].iter().rev().take_while(|b| matches!(b, b' ' | b',' | b':'));
        let blank = blank.count();
        let letters = bytes[floor..at - blank].iter().rev();
        let letters = letters.take_while(|b| b.is_ascii_alphabetic() || **b >= 0x80 || **b == b'-');
        let letters = letters.count();
        let touches = blank == 0 && (words > 0 || led.is_none());
        if touches || blank > 2 || letters < 2 {
            return false;
        }
        at -= blank + letters;
        let capital = bytes[at].is_ascii_uppercase() || bytes[at] >= 0x80;
        let small = bytes[at + 1..at + letters].iter().all(|b| !b.is_ascii_uppercase());
        // Words of one case are headings, but directories have family names in capitals.
        let is_family = led.is_some() && words == 1;
        if !capital || !small && !is_family {
            return false;
        }
        words += 1;
    }
    !context::byte_before(bytes, at).is_ascii_alphanumeric()
}

/// Where a name would end that dots or a dash lead from to the number at `start`:
/// `Whittaker, Darcy ........ 02 9843 6892`, `Darcy Whittaker - 02 9843 6892`.
fn behind_leaders(bytes: &[u8], floor: usize, start: usize) -> Option<usize> {
    let before = bytes[floor..start].strip_suffix(b" ")?;
    let dots = before.iter().rev().take_while(|byte| **byte == b'.').count();
    let rest = match dots {
        0 => before.strip_suffix(b" -").or_else(|| before.strip_suffix(" –".as_bytes()))?,
        3.. => &before[..before.len() - dots],
        _ => return None,
    };
    Some(floor + rest.trim_ascii_end().len())
}

/// Whether an e-mail address stands on the same line, near.
fn is_beside_mail(bytes: &[u8], start: usize, end: usize) -> bool {
    let (mut padded_before, mut padded_after) = ([0; NEAR], [0; NEAR]);
    let before = classes::before(bytes, start, &mut padded_before);
    let after = classes::ahead(bytes, end, &mut padded_after);
    let ats = |window: &[u8; NEAR]| mask(window, |b| classes::either(b, b'@', b'@'));
    if ats(before) | ats(after) == 0 {
        return false;
    }
    let line_before = memchr::memrchr(b'\n', before).map_or(&before[..], |at| &before[at + 1..]);
    let line_after = memchr::memchr(b'\n', after).map_or(&after[..], |at| &after[..at]);
    let is_address = |line: &[u8], at: usize| {
        let word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        word(at.checked_sub(1).and_then(|i| line.get(i))) && word(line.get(at + 1))
    };
    let has = |line: &[u8]| memchr::memchr_iter(b'@', line).any(|at| is_address(line, at));
    has(line_before) || has(line_after)
}
