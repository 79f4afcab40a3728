//! National identity numbers that are all digits.
//!
//! Many of these are eleven digits or so with one check digit: one in ten of all such numbers
//! passes. Therefore only forms that nothing else has stand alone; for the others a word must name
//! the number.

use super::checksums::{luhn, mod_11_10, remainder, value, verhoeff, weighted};
use super::run::{Digits, Run, Separator, Shape};
use crate::detectors::personal::context::{
    self, AE, AR, AT, AU, BALTIC, BE, BG, BR, CA, CH, CN, CZ, Context, DE, DK, FR, GR, HR, ID,
    IDENTITY, IL, IN, JP, KR, MY, NL, NO, OTHER, PERSONAL, PK, PL, PT, RO, RU, SE, TH, TR, Topics,
    UA, ZA,
};

/// One country's number.
struct Scheme {
    /// The words that name it.
    words: Topics,
    digits: usize,
    check: fn(&[u8]) -> bool,
}

const SCHEMES: &[Scheme] = &[
    Scheme { words: DE, digits: 11, check: |d| d[0] != b'0' && mod_11_10(d) },
    Scheme { words: DE | AT, digits: 10, check: austrian },
    Scheme { words: FR, digits: 15, check: french },
    Scheme { words: NL, digits: 9, check: dutch },
    Scheme { words: BE, digits: 11, check: belgian },
    Scheme { words: PL, digits: 11, check: polish },
    Scheme { words: SE, digits: 10, check: |d| luhn(d) && month_day(&d[2..6], 60) },
    Scheme { words: SE, digits: 12, check: |d| luhn(&d[2..]) && month_day(&d[4..8], 60) },
    Scheme { words: NO | SE, digits: 11, check: norwegian },
    Scheme { words: DK, digits: 10, check: |d| day_month(&d[..4]) },
    Scheme { words: PT, digits: 9, check: portuguese },
    Scheme { words: BR, digits: 11, check: brazilian },
    Scheme { words: IN, digits: 12, check: |d| d[0] >= b'2' && verhoeff(d) },
    Scheme { words: AU, digits: 9, check: australian_tax },
    Scheme { words: AU, digits: 10, check: australian_medicare },
    Scheme { words: CA, digits: 9, check: luhn },
    Scheme { words: CN, digits: 18, check: chinese },
    Scheme { words: KR, digits: 13, check: korean },
    Scheme { words: JP, digits: 12, check: japanese },
    Scheme { words: ZA | IDENTITY, digits: 13, check: |d| luhn(d) && month_day(&d[2..6], 0) },
    Scheme { words: CH, digits: 13, check: swiss },
    Scheme { words: TR, digits: 11, check: turkish },
    Scheme { words: CZ, digits: 10, check: |d| remainder(d, 11) == 0 },
    Scheme { words: RO, digits: 13, check: romanian },
    Scheme { words: IL | IDENTITY, digits: 9, check: luhn },
    Scheme { words: AR, digits: 11, check: argentine },
    Scheme { words: RU, digits: 11, check: russian_insurance },
    Scheme { words: RU, digits: 12, check: russian_tax },
    Scheme { words: UA, digits: 10, check: ukrainian },
    Scheme { words: BG, digits: 10, check: bulgarian },
    Scheme { words: GR, digits: 11, check: |d| luhn(d) && day_month(&d[..4]) },
    Scheme { words: HR, digits: 11, check: mod_11_10 },
    Scheme { words: BALTIC, digits: 11, check: |d| month_day(&d[3..7], 0) },
    Scheme { words: TH, digits: 13, check: thai },
    Scheme { words: ID, digits: 16, check: |d| day_month(&d[6..10]) },
    Scheme { words: MY, digits: 12, check: |d| month_day(&d[2..6], 0) },
    Scheme { words: PK, digits: 13, check: |d| d[0] != b'0' },
    Scheme { words: AE, digits: 15, check: |d| d.starts_with(b"784") && luhn(d) },
];

/// The number of groups of the number that begins with group `first`.
pub(super) fn find(
    run: &Run<'_>,
    first: usize,
    words: &mut dyn FnMut() -> Context,
) -> Option<usize> {
    if !free_before(run, first) {
        return None;
    }
    if let Some(groups) = alone(run, first) {
        return Some(groups);
    }
    // The words cost less than the check digits of all countries.
    let words = words();
    if !words.has(NAMES) {
        return None;
    }
    named(run, first, words).or_else(|| generic(run, first, words))
}

/// Every word that names an identity number.
pub(super) const NAMES: Topics = IDENTITY | !0 << 16;

fn free_before(run: &Run<'_>, first: usize) -> bool {
    let start = run.groups()[first].start;
    if first > 0 {
        return run.groups()[first].before == Separator::Space;
    }
    let before = context::byte_before(run.bytes, start);
    !run.plus
        && context::starts_word(run.bytes, start)
        && !matches!(before, b'-' | b'.' | b'/' | b'$' | b'@' | b'%')
}

fn free_after(run: &Run<'_>, last: usize) -> bool {
    let end = run.groups()[last].end;
    let dashed = context::byte(run.bytes, end) == b'-'
        && context::byte(run.bytes, end + 1).is_ascii_alphanumeric();
    let ends = context::ends_word(run.bytes, end) && !dashed;
    ends && matches!(run.after(last), Separator::None | Separator::Space)
}

/// A form of numbers.
pub(super) struct Form {
    /// How long its groups are.
    pub(super) lengths: &'static [usize],
    shape: Shape,
    /// What stands between them.
    separators: &'static [Separator],
    /// Whether the check digits are right.
    check: fn(&[u8]) -> bool,
}

impl Form {
    const fn of(
        lengths: &'static [usize],
        separators: &'static [Separator],
        check: fn(&[u8]) -> bool,
    ) -> Self {
        Self { lengths, shape: Shape::of(lengths), separators, check }
    }
}

/// What nothing else has.
pub(super) static FORMS: [Form; 20] = {
    use Separator::{Dash, Dot, Slash, Space};
    [
        Form::of(&[18], &[], chinese),
        Form::of(&[3, 3, 3, 2], &[Dot, Dot, Dash], brazilian),
        Form::of(&[3, 4, 4, 2], &[Dot, Dot, Dot], swiss),
        Form::of(&[2, 2, 2, 3, 2], &[Dot, Dot, Dash, Dot], belgian),
        Form::of(&[6, 7], &[Dash], korean),
        Form::of(&[1, 2, 2, 2, 3, 3, 2], &[Space; 6], french),
        Form::of(&[2, 8, 1], &[Dash, Dash], argentine),
        Form::of(&[3, 4, 7, 1], &[Dash, Dash, Dash], |d| d.starts_with(b"784") && luhn(d)),
        Form::of(&[2, 3, 3, 3], &[Space, Space, Space], |d| d[0] != b'0' && mod_11_10(d)),
        Form::of(&[4, 6], &[Space], austrian),
        Form::of(&[6, 4], &[Dash], |d| luhn(d) && month_day(&d[2..6], 60)),
        Form::of(&[3, 3, 3, 2], &[Dash, Dash, Space], russian_insurance),
        Form::of(&[1, 4, 5, 2, 1], &[Dash; 4], thai),
        Form::of(&[5, 7, 1], &[Dash, Dash], |d| matches!(d[0], b'1'..=b'7')),
        Form::of(&[6, 5], &[Space], |d| norwegian(d) && day_month(&d[..4])),
        Form::of(&[8, 4], &[Dash], |d| luhn(&d[2..]) && month_day(&d[4..8], 60)),
        Form::of(&[6, 4], &[Slash], czech),
        Form::of(&[2, 3, 3, 1], &[Dot, Dot, Dash], chilean),
        Form::of(&[1, 3, 3, 1], &[Dot, Dot, Dash], chilean),
        Form::of(&[4, 4, 4], &[Space, Space], |d| d[0] >= b'2' && verhoeff(d)),
    ]
};

/// The number of groups of a number in a form that nothing else has.
fn alone(run: &Run<'_>, first: usize) -> Option<usize> {
    let length = run.groups()[first].len();
    if !matches!(length, 1..=6 | 8 | 18) {
        return None;
    }
    let form = FORMS.iter().find(|form| {
        let end = first + form.lengths.len();
        run.has(first, form.shape)
            && run.joined(first, form.separators)
            && free_after(run, end - 1)
            && Digits::of(run, first, end).is_some_and(|digits| (form.check)(digits.as_bytes()))
    })?;
    Some(form.lengths.len())
}

/// The number of groups of a number that a word names and whose check digits are right.
fn named(run: &Run<'_>, first: usize, words: Context) -> Option<usize> {
    let most = run.groups().len().min(first + 7) - first;
    let mut total = 0;
    for groups in 1..=most {
        total += run.groups()[first + groups - 1].len();
        if total > 18 {
            return None;
        }
        if total < 9 || !free_after(run, first + groups - 1) {
            continue;
        }
        let digits = Digits::of(run, first, first + groups)?;
        let digits = digits.as_bytes();
        let same = digits.iter().all(|digit| *digit == digits[0]);
        let mut schemes = SCHEMES.iter().filter(|scheme| scheme.digits == total);
        // Somebody's identity number, and the check digits of one country are right.
        let is_named = |scheme: &Scheme| words.has(scheme.words) || is_identity(words);
        if !same && schemes.any(|scheme| is_named(scheme) && (scheme.check)(digits)) {
            return Some(groups);
        }
    }
    None
}

/// A number of no known scheme, directly behind words such as `national identity number`.
fn generic(run: &Run<'_>, first: usize, words: Context) -> Option<usize> {
    let group = run.groups()[first];
    let separator = run.after(first);
    let same = |next: &&super::run::Group| next.before == separator && separator != Separator::None;
    let groups = 1 + run.groups()[first + 1..].iter().take_while(same).take(5).count();
    let digits = Digits::of(run, first, first + groups)?;
    let whole = (7..=14).contains(&digits.as_bytes().len()) && free_after(run, first + groups - 1);
    let text = digits.as_bytes();
    let series = text.windows(2).all(|pair| pair[0] == pair[1] || pair[0] + 1 == pair[1]);
    if !whole || series {
        return None;
    }
    // A program's constants are bare numbers, too, and their names have words such as `pps`.
    let end = run.groups()[first + groups - 1].end;
    let quoted = matches!(context::byte(run.bytes, end), b'"' | b'\'')
        || super::cells::words(run.bytes, group.start, end).is_some_and(|above| above.has(NAMES));
    let label = context::byte_before(run.bytes, group.start.saturating_sub(1)) == b':';
    if !quoted && context::in_code(run.bytes, group.start) && !label {
        return None;
    }
    let country = words.nearest >> 16 != 0 && words.nearest & OTHER == 0;
    (country || is_identity(words)).then_some(groups)
}

/// Whether the words speak of somebody's identity number: `id` alone does not.
fn is_identity(words: Context) -> bool {
    words.is(IDENTITY) && (!words.is(OTHER) || words.has(PERSONAL))
}

/// Whether `digits` are a month and a day; some countries add `shift` to the day.
fn month_day(digits: &[u8], shift: u32) -> bool {
    let (month, day) = (remainder(&digits[..2], 100), remainder(&digits[2..4], 100));
    let day = if shift > 0 && day > shift { day - shift } else { day };
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn day_month(digits: &[u8]) -> bool {
    let (day, month) = (remainder(&digits[..2], 100), remainder(&digits[2..4], 100));
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn dutch(d: &[u8]) -> bool {
    let sum = weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]);
    sum % 11 == value(d[8])
}

fn belgian(d: &[u8]) -> bool {
    // For people born from 2000 on, a 2 is put before the nine digits.
    let (number, check) = (remainder(&d[..9], 97), remainder(&d[9..], 100));
    let newer = (remainder(b"2000000000", 97) + number) % 97;
    (97 - number == check || 97 - newer == check) && remainder(&d[2..4], 100) <= 52
}

fn chilean(d: &[u8]) -> bool {
    let weights = [2, 3, 4, 5, 6, 7, 2, 3];
    let (check, number) = (value(d[d.len() - 1]), &d[..d.len() - 1]);
    let sum: u32 = number.iter().rev().zip(weights).map(|(d, weight)| value(*d) * weight).sum();
    check == (11 - sum % 11) % 11
}

/// A year, a month to which 50 is added for women, and a day.
fn czech(d: &[u8]) -> bool {
    let month = remainder(&d[2..4], 100) % 50;
    (1..=12).contains(&month)
        && (1..=31).contains(&remainder(&d[4..6], 100))
        && remainder(d, 11) == 0
}

fn argentine(d: &[u8]) -> bool {
    let kind = matches!(&d[..2], b"20" | b"23" | b"24" | b"27" | b"30" | b"33" | b"34");
    let rest = weighted(d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    kind && value(d[10]) == (11 - rest) % 11
}

fn russian_insurance(d: &[u8]) -> bool {
    let sum = weighted(&d[..9], &[9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101 % 100;
    sum == remainder(&d[9..], 100)
}

fn russian_tax(d: &[u8]) -> bool {
    let first = weighted(d, &[7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    let second = weighted(d, &[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    first == value(d[10]) && second == value(d[11])
}

fn ukrainian(d: &[u8]) -> bool {
    // The fifth weight counts down: -1 modulo 11.
    weighted(d, &[10, 5, 7, 9, 4, 6, 10, 5, 7]) % 11 % 10 == value(d[9])
}

fn bulgarian(d: &[u8]) -> bool {
    weighted(d, &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == value(d[9])
}

fn thai(d: &[u8]) -> bool {
    let sum = weighted(d, &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    (11 - sum % 11) % 10 == value(d[12])
}

fn french(d: &[u8]) -> bool {
    let sex = matches!(d[0], b'1' | b'2' | b'3' | b'4' | b'7' | b'8');
    sex && 97 - remainder(&d[..13], 97) == remainder(&d[13..], 100)
}

fn austrian(d: &[u8]) -> bool {
    let sum = weighted(d, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]);
    day_month(&d[4..8]) && sum % 11 == value(d[3])
}

fn polish(d: &[u8]) -> bool {
    let sum = weighted(d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]);
    // The century is added to the month in twenties.
    sum.is_multiple_of(10) && (1..=12).contains(&(remainder(&d[2..4], 100) % 20))
}

fn norwegian(d: &[u8]) -> bool {
    let first = weighted(d, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]);
    let second = weighted(d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]);
    first.is_multiple_of(11) && second.is_multiple_of(11)
}

fn portuguese(d: &[u8]) -> bool {
    let rest = weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    value(d[8]) == if rest < 2 { 0 } else { 11 - rest }
}

fn brazilian(d: &[u8]) -> bool {
    let check = |sum: u32| sum * 10 % 11 % 10;
    let first = check(weighted(&d[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]));
    let second = check(weighted(&d[..10], &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]));
    value(d[9]) == first && value(d[10]) == second && d[1..].iter().any(|b| *b != d[0])
}

fn australian_tax(d: &[u8]) -> bool {
    weighted(d, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11)
}

fn australian_medicare(d: &[u8]) -> bool {
    matches!(d[0], b'2'..=b'6') && weighted(d, &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == value(d[8])
}

fn chinese(d: &[u8]) -> bool {
    let weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2, 1];
    let year = remainder(&d[6..10], 10_000);
    d[0] != b'0'
        && d[0] <= b'8'
        && (1900..=2030).contains(&year)
        && month_day(&d[10..14], 0)
        && weighted(d, &weights) % 11 == 1
}

fn korean(d: &[u8]) -> bool {
    let sum = weighted(&d[..12], &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    month_day(&d[2..6], 0) && (11 - sum % 11) % 10 == value(d[12])
}

fn japanese(d: &[u8]) -> bool {
    let rest = weighted(&d[..11], &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    value(d[11]) == if rest < 2 { 0 } else { 11 - rest }
}

fn swiss(d: &[u8]) -> bool {
    let sum = weighted(d, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]);
    d.starts_with(b"756") && sum.is_multiple_of(10)
}

fn turkish(d: &[u8]) -> bool {
    let odd = weighted(d, &[1, 0, 1, 0, 1, 0, 1, 0, 1]);
    let even = weighted(d, &[0, 1, 0, 1, 0, 1, 0, 1]);
    let sum: u32 = d[..10].iter().map(|digit| value(*digit)).sum();
    d[0] != b'0' && (odd * 7 + 90 - even) % 10 == value(d[9]) && sum % 10 == value(d[10])
}

fn romanian(d: &[u8]) -> bool {
    let rest = weighted(&d[..12], &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
    value(d[12]) == if rest == 10 { 1 } else { rest } && month_day(&d[3..7], 0)
}
