//! Social security and taxpayer numbers of the United States.

use super::checksums::remainder;
use super::run::{Digits, Run, Separator};
use crate::detectors::personal::context::{self, Context, US};

/// The number of groups of the number that begins with group `first`.
pub(super) fn find(
    run: &Run<'_>,
    first: usize,
    words: &mut dyn FnMut() -> Context,
) -> Option<usize> {
    let groups = if run.shape(first, &[3, 2, 4]) {
        3
    } else if run.shape(first, &[9]) || run.shape(first, &[3, 6]) {
        if run.groups()[first].len() == 9 { 1 } else { 2 }
    } else {
        return None;
    };
    let separator = if groups == 1 { Separator::None } else { run.after(first) };
    let bytes = run.bytes;
    let (start, end) = (run.groups()[first].start, run.groups()[first + groups - 1].end);
    let before = context::byte_before(bytes, start);
    let free = context::starts_word(bytes, start)
        && context::ends_word(bytes, end)
        && !matches!(before, b'-' | b'.' | b'+' | b'/' | b'$' | b'@' | b'%')
        && !(context::byte(bytes, end) == b'-'
            && context::byte(bytes, end + 1).is_ascii_alphanumeric())
        && matches!(run.after(first + groups - 1), Separator::None | Separator::Space)
        && (first == 0 || run.groups()[first].before == Separator::Space)
        && run.joined_by(first, first + groups, separator);
    if !free {
        return None;
    }
    let digits = Digits::of(run, first, first + groups)?;
    let digits = digits.as_bytes();
    let area = remainder(&digits[..3], 1000);
    let assigned = area != 0 && area != 666 && &digits[3..5] != b"00" && &digits[5..] != b"0000";
    let group = remainder(&digits[3..5], 100);
    // From 900 on there are only individual taxpayers' numbers, with groups of their own.
    let taxpayer = area < 900 || (50..=99).contains(&group);
    let known = match (groups, separator) {
        (3, Separator::Dash) => assigned && taxpayer || words().is(US),
        (3, Separator::Space | Separator::Dot) => {
            // Spaces in a string of its own are those of no other number.
            let quote = |byte: u8| matches!(byte, b'"' | b'\'');
            let alone = separator == Separator::Space
                && taxpayer
                && quote(before)
                && context::byte(bytes, end) == before;
            assigned && (alone || words().has(US))
        }
        _ => assigned && words().is(US),
    };
    (known && !is_sample(digits)).then_some(groups)
}

/// Numbers of advertisements and handbooks, which belong to nobody.
fn is_sample(digits: &[u8]) -> bool {
    let same = |part: &[u8]| part.iter().all(|digit| *digit == part[0]);
    let same = same(&digits[..3]) && same(&digits[3..5]) && same(&digits[5..]);
    let samples: [&[u8]; 4] = [b"123456789", b"987654321", b"078051120", b"219099999"];
    same || samples.contains(&digits) || digits.starts_with(b"98765432")
}
