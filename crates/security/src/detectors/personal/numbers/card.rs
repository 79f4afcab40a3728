//! Payment cards: issuer range, length and Luhn's check digit (ISO/IEC 7812).

use super::checksums::luhn;
use super::run::{Digits, Run, Separator};
use crate::detectors::personal::context::{self, CARD, Context};

/// How a card's number is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// In one piece.
    Whole,
    /// In the groups that are printed on the card.
    Grouped,
}

/// The number of groups of the card that begins with group `first`.
pub(super) fn find(
    run: &Run<'_>,
    first: usize,
    words: &mut dyn FnMut() -> Context,
) -> Option<usize> {
    let (groups, notation) = notation(run, first)?;
    let digits = Digits::of(run, first, first + groups)?;
    let digits = digits.as_bytes();
    let brand = brand(digits)?;
    if is_sample(digits) {
        return None;
    }
    let checked = luhn(digits);
    // A long number that happens to have an issuer's prefix and the right check digit is rare, but
    // one in ten of the numbers with that prefix: the looser the form, the more the words must say.
    let found = match (brand, checked, notation) {
        (Brand::Sure, true, Notation::Whole) => {
            !in_list(run.bytes, run.groups()[first].start, run.groups()[first].end)
                || words().has(CARD)
        }
        (_, true, Notation::Grouped) => !in_table(run, first, groups) || words().has(CARD),
        (Brand::Loose, true, Notation::Whole) => words().has(CARD),
        // A typing error or an invented number, where a word says that it is a card.
        (_, false, _) => matches!(digits.len(), 15 | 16) && words().is(CARD),
    };
    found.then_some(groups)
}

fn notation(run: &Run<'_>, first: usize) -> Option<(usize, Notation)> {
    const GROUPED: [&[usize]; 6] =
        [&[4, 4, 4, 4, 3], &[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 4, 1], &[4, 3, 3, 3]];
    let group = run.groups()[first];
    if (12..=19).contains(&group.len()) {
        return alone(run, first, 1).then_some((1, Notation::Whole));
    }
    if group.len() != 4 {
        return None;
    }
    let shape = GROUPED.into_iter().find(|shape| {
        let separator = run.after(first);
        matches!(separator, Separator::Space | Separator::Dash)
            && run.shape(first, shape)
            && run.joined_by(first, first + shape.len(), separator)
            && alone(run, first, shape.len())
    })?;
    Some((shape.len(), Notation::Grouped))
}

/// Whether the number stands for itself: no sign, no fraction, no part of a longer name.
fn alone(run: &Run<'_>, first: usize, groups: usize) -> bool {
    let bytes = run.bytes;
    let (start, end) = (run.groups()[first].start, run.groups()[first + groups - 1].end);
    let free_before = match context::byte_before(bytes, start) {
        b'.' | b'-' | b'+' | b'$' | b'@' | b'%' => false,
        b',' => first == 0 && !fraction_before(bytes, start),
        _ => first == 0 || run.groups()[first].before == Separator::Space,
    };
    let free_after = match run.after(first + groups - 1) {
        Separator::None => {
            let next = context::byte(bytes, end + 1);
            match context::byte(bytes, end) {
                b'%' | b'@' => false,
                b'-' => !next.is_ascii_alphanumeric(),
                _ => true,
            }
        }
        Separator::Space | Separator::Slash | Separator::Open => true,
        _ => false,
    };
    free_before
        && free_after
        && context::starts_word(bytes, start)
        && context::ends_word(bytes, end)
}

/// Whether the number is one of a program's arguments or of a list of numbers:
/// `f(5503284107318959, 446)`.
fn in_list(bytes: &[u8], start: usize, end: usize) -> bool {
    let back = |i: usize| start.checked_sub(i).map_or(0, |i| bytes[i]);
    let ahead = |i: usize| context::byte(bytes, end + i);
    let behind = back(1) == b'(' || back(1) == b' ' && back(2) == b',' && back(3).is_ascii_digit();
    let before =
        ahead(0) == b')' || ahead(0) == b',' && ahead(1) == b' ' && ahead(2).is_ascii_digit();
    behind && before
}

/// Whether the groups are a part of a table of codes: more groups like them stand beside.
fn in_table(run: &Run<'_>, first: usize, groups: usize) -> bool {
    let (start, end) = (run.groups()[first].start, run.groups()[first + groups - 1].end);
    let code = |from: Option<usize>| {
        let word = from.and_then(|from| run.bytes.get(from..from + 4)).unwrap_or_default();
        word.len() == 4
            && word.iter().all(u8::is_ascii_alphanumeric)
            && word.iter().any(u8::is_ascii_digit)
    };
    let spaced = |at: usize| matches!(context::byte(run.bytes, at), b' ' | b'\n');
    let behind = start > 0 && spaced(start - 1) && code(start.checked_sub(5));
    let before = spaced(end) && code(Some(end + 1)) && context::ends_word(run.bytes, end + 5);
    behind || before
}

/// Whether the comma before `start` is a decimal one: a single digit and no digit before it.
fn fraction_before(bytes: &[u8], start: usize) -> bool {
    let back = |i: usize| start.checked_sub(i).map_or(0, |i| bytes[i]);
    back(2) == b'0' && !back(3).is_ascii_digit()
}

/// How sure a prefix and a length make us.
#[derive(Clone, Copy)]
enum Brand {
    /// Narrow ranges in their usual length.
    Sure,
    /// Wide ranges and rare lengths.
    Loose,
}

/// The card schemes' ranges.
fn brand(digits: &[u8]) -> Option<Brand> {
    let prefix = |len: usize| digits[..len].iter().fold(0, |n, d| n * 10 + u32::from(d - b'0'));
    let (two, three, four) = (prefix(2), prefix(3), prefix(4));
    Some(match (digits.len(), four) {
        // Visa, Mastercard, Discover, JCB, UnionPay, Mir, RuPay, Elo.
        (16, 4000..=4999 | 5100..=5599 | 2221..=2720 | 6011 | 3528..=3589) => Brand::Sure,
        (16, _) if (644..=659).contains(&three) || two == 62 => Brand::Sure,
        (16, 2200..=2204 | 6060..=6069 | 6360..=6369 | 8100..=8199) => Brand::Loose,
        // American Express.
        (15, _) if two == 34 || two == 37 => Brand::Sure,
        // Diners Club.
        (14, _) if (300..=305).contains(&three) || matches!(two, 36 | 38 | 39) => Brand::Loose,
        // Visa's old and new lengths, long UnionPay, Discover and JCB numbers.
        (13 | 19, 4000..=4999) => Brand::Loose,
        (17..=19, 6011 | 3528..=3589 | 6200..=6299) => Brand::Loose,
        // Maestro and its relatives.
        (12..=19, 5000..=5099 | 5600..=5899 | 6300..=6399 | 6700..=6799) => Brand::Loose,
        _ => return None,
    })
}

/// The numbers that payment providers publish for tests, and those made of a few digits.
fn is_sample(digits: &[u8]) -> bool {
    let kinds = digits.iter().fold(0_u16, |seen, digit| seen | 1 << (digit - b'0')).count_ones();
    if kinds <= 3 {
        return true;
    }
    let zeros = digits.windows(7).any(|window| window == b"0000000");
    let samples: [&[u8]; 34] = [
        b"4012888888881881",
        b"4000056655665556",
        b"4917610000000000",
        b"4462030000000000",
        b"4005519200000004",
        b"4009348888881881",
        b"4012000033330026",
        b"4012000077777777",
        b"4217651111111119",
        b"4500600000000061",
        b"4005550000000001",
        b"4035501000000008",
        b"4360000001000005",
        b"4988438843884305",
        b"4166676667666746",
        b"4646464646464644",
        b"5200828282828210",
        b"5105105105105100",
        b"5454545454545454",
        b"5136333333333335",
        b"5585558555855583",
        b"5555341244441115",
        b"2223003122003222",
        b"2223000048410010",
        b"2222400070000005",
        b"6011000990139424",
        b"6011601160116611",
        b"6445644564456445",
        b"378282246310005",
        b"371449635398431",
        b"378734493671000",
        b"3566002020360505",
        b"30569309025904",
        b"4701322211111234",
    ];
    zeros || samples.contains(&digits)
}
