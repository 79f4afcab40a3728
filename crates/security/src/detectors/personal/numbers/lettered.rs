//! National identity numbers of digits and letters.

use super::checksums::{remainder, value};
use super::{First, cells};
use crate::detectors::personal::classes::{self, lowest, mask};
use crate::detectors::personal::context::{self, ES, FI, IDENTITY, IE, IN, IT, MX, OTHER, SG, UK};

/// How far before a number a word may stand that says what it is.
const REACH: usize = 48;
/// The longest number.
const LONGEST: usize = 18;

/// The place of the number that has these digits as its first.
#[inline]
pub(super) fn find(first: First<'_>) -> Option<(usize, usize)> {
    let (bytes, before, next) = (first.bytes, first.before(), first.next());
    let behind = before.is_ascii_alphabetic();
    let spaced = before == b' ' && first.at > 1 && bytes[first.at - 2].is_ascii_alphabetic();
    if (behind || spaced)
        && let Some(place) = british(bytes, first.at)
    {
        return Some(place);
    }
    // What begins with its digits has letters behind them.
    if !behind && !matches!(next, b'-' | b'+') && !next.is_ascii_alphabetic() {
        return None;
    }
    in_a_word(bytes, first.at)
}

/// The place of the number that is the word of letters, digits and dashes around `at`.
fn in_a_word(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    const AHEAD: usize = 20;
    let mut padded = [0; 32];
    let window = classes::ahead(bytes, at, &mut padded);
    let letters = mask(window, classes::letters) & lowest(AHEAD);
    let plain = mask(window, classes::digits) & lowest(AHEAD) | letters;
    // Of a hash, all that follows is letters and digits.
    if plain & lowest(LONGEST + 1) == lowest(LONGEST + 1) {
        return None;
    }
    let dashes = mask(window, |b| classes::either(b, b'-', b'+')) & plain >> 1;
    let length = (plain | dashes).trailing_ones() as usize;
    let word_start = word_start(bytes, at);
    let end = at + length;
    // Apart from the British one, a number is one word without spaces.
    let word = &bytes[word_start..end];
    if !(8..=LONGEST).contains(&word.len())
        || word_start == at && letters & lowest(length) == 0
        || !context::starts_word(bytes, word_start)
    {
        return None;
    }
    let before = context::byte_before(bytes, word_start);
    let after = context::byte(bytes, end);
    if matches!(before, b'-' | b'/' | b'.' | b'@') || matches!(after, b'/' | b'@' | b'_') {
        return None;
    }
    let plain = plain.trailing_ones() as usize >= length;
    let scheme = if plain { plain_scheme(word) } else { dashed_scheme(word) };
    let found = match scheme {
        Some((_, true)) => true,
        Some((topics, false)) => {
            context::before(bytes, word_start, REACH).has(topics)
                || cells::words(bytes, word_start, end).is_some_and(|words| words.has(topics))
        }
        None => {
            plain && is_any(word) && {
                let words = context::before(bytes, word_start, REACH);
                (words.is(IDENTITY) || words.nearest >> 16 != 0) && !words.is(OTHER)
            }
        }
    };
    found.then_some((word_start, end))
}

/// Whether `word` has the form of many identity cards' numbers: capitals and digits, mostly digits.
fn is_any(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let small = word.iter().any(u8::is_ascii_lowercase);
    (8..=14).contains(&word.len()) && digits >= 5 && !small
}

/// The start of the letters and digits before `at`.
fn word_start(bytes: &[u8], at: usize) -> usize {
    let floor = at.saturating_sub(7);
    let letters = bytes[floor..at].iter().rev().take_while(|b| b.is_ascii_alphabetic()).count();
    at - letters
}

/// United Kingdom: `AB 12 34 56 C`.
fn british(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let spaced = usize::from(context::byte_before(bytes, at) == b' ');
    let start = at.checked_sub(2 + spaced)?;
    let prefix = [bytes[start], bytes[start + 1]];
    let allowed = |letter: u8| {
        letter.is_ascii_uppercase() && !matches!(letter, b'D' | b'F' | b'I' | b'Q' | b'U' | b'V')
    };
    if !allowed(prefix[0]) || !allowed(prefix[1]) || prefix[1] == b'O' {
        return None;
    }
    if matches!(&prefix, b"BG" | b"GB" | b"NK" | b"KN" | b"TN" | b"NT" | b"ZZ") {
        return None;
    }
    let mut end = at;
    let mut spaces = 0;
    for pair in 0..3 {
        if pair > 0 && bytes.get(end) == Some(&b' ') {
            spaces += 1;
            end += 1;
        }
        let digits = bytes.get(end..end + 2)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        end += 2;
    }
    if bytes.get(end) == Some(&b' ') {
        end += 1;
    }
    if !matches!(bytes.get(end), Some(b'A'..=b'D')) {
        return None;
    }
    end += 1;
    if !context::starts_word(bytes, start) || !context::ends_word(bytes, end) {
        return None;
    }
    let found = spaces == 2 || context::before(bytes, start, REACH).has(UK | IDENTITY);
    found.then_some((start, end))
}

/// What words name the number and whether it stands without them.
fn plain_scheme(word: &[u8]) -> Option<(u64, bool)> {
    let upper = |byte: u8| byte.is_ascii_uppercase();
    let digits = |range: &[u8]| range.iter().all(u8::is_ascii_digit);
    match word.len() {
        // Spain: eight digits, or X, Y or Z and seven, and a letter.
        9 if upper(word[8]) && digits(&word[1..8]) => {
            let first = match word[0] {
                digit if digit.is_ascii_digit() => digit,
                b'X' => b'0',
                b'Y' => b'1',
                b'Z' => b'2',
                b'S' | b'T' | b'F' | b'G' | b'M' => return singaporean(word),
                _ => return None,
            };
            let mut number = [first; 8];
            number[1..].copy_from_slice(&word[1..8]);
            let letter = b"TRWAGMYFPDXBNJZSQVHLCKE"[remainder(&number, 23) as usize];
            let not_hexadecimal = !word[8].is_ascii_hexdigit();
            (letter == word[8])
                .then_some((ES | IDENTITY, not_hexadecimal && !digits(&word[..1])))
                .or_else(|| irish(word))
        }
        // Ireland: seven digits, a check letter, perhaps one more letter.
        8 | 9 if digits(&word[..7]) && word[7..].iter().all(|b| upper(*b)) => irish(word),
        // China: seventeen digits and an X for ten.
        18 if digits(&word[..17]) && matches!(word[17], b'X' | b'x') => chinese(word),
        // Mexico: four letters, a date, six letters, a letter or digit, a digit.
        18 if word[..4].iter().all(|b| upper(*b)) && digits(&word[4..10]) => {
            let rest = word[10..16].iter().all(|b| upper(*b)) && word[17].is_ascii_digit();
            (rest && matches!(word[10], b'H' | b'M' | b'X')).then_some((MX, true))
        }
        // Mexico's tax number of persons: letters of the name, the second one a vowel, a date, a check.
        13 if word[..4].iter().all(|b| upper(*b)) && digits(&word[4..10]) => {
            let (month, day) = (remainder(&word[6..8], 100), remainder(&word[8..10], 100));
            let dated = (1..=12).contains(&month) && (1..=31).contains(&day);
            let checked = word[10..].iter().all(|b| upper(*b) || b.is_ascii_digit());
            (dated && checked && b"AEIOUX".contains(&word[1])).then_some((MX, false))
        }
        16 => italian(word).then_some((IT, true)),
        // India's tax number: five letters, four digits, a letter; the fourth letter is a class.
        10 if word[..5].iter().all(|b| upper(*b)) && digits(&word[5..9]) && upper(word[9]) => {
            // A person's has a P there.
            b"ABCFGHLJPT".contains(&word[3]).then_some((IN | IDENTITY, word[3] == b'P'))
        }
        _ => None,
    }
}

/// Finland: `131052-308T`.
fn dashed_scheme(word: &[u8]) -> Option<(u64, bool)> {
    if let [digits @ .., b'-', letter] = word
        && digits.len() == 8
        && digits.iter().all(u8::is_ascii_digit)
        && letter.is_ascii_uppercase()
    {
        let expected = b"TRWAGMYFPDXBNJZSQVHLCKE"[remainder(digits, 23) as usize];
        return (expected == *letter).then_some((ES | IDENTITY, true));
    }
    if word.len() != 11 || !matches!(word[6], b'-' | b'+') {
        return None;
    }
    let mut number = [0; 9];
    number[..6].copy_from_slice(&word[..6]);
    number[6..].copy_from_slice(&word[7..10]);
    if !number.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (day, month) = (remainder(&number[..2], 100), remainder(&number[2..4], 100));
    let dated = (1..=31).contains(&day) && (1..=12).contains(&month);
    let check = b"0123456789ABCDEFHJKLMNPRSTUVWXY"[remainder(&number, 31) as usize];
    (dated && check == word[10]).then_some((FI, check.is_ascii_alphabetic()))
}

fn singaporean(word: &[u8]) -> Option<(u64, bool)> {
    let sum: u32 = word[1..8]
        .iter()
        .zip([2, 7, 6, 5, 4, 3, 2])
        .map(|(digit, weight)| value(*digit) * weight)
        .sum();
    let (shift, letters): (u32, &[u8]) = match word[0] {
        b'S' => (0, b"JZIHGFEDCBA"),
        b'T' => (4, b"JZIHGFEDCBA"),
        b'F' => (0, b"XWUTRQPNMLK"),
        b'G' => (4, b"XWUTRQPNMLK"),
        _ => (3, b"XWUTRQPNJLK"),
    };
    let letter = letters[((sum + shift) % 11) as usize];
    (letter == word[8]).then_some((SG | IDENTITY, false))
}

fn irish(word: &[u8]) -> Option<(u64, bool)> {
    let digits: u32 = word[..7].iter().zip((2..=8).rev()).map(|(d, w)| value(*d) * w).sum();
    let extra = match word.get(8) {
        Some(letter) if *letter != b'W' => u32::from(letter - b'A' + 1) * 9,
        _ => 0,
    };
    let sum = digits + extra;
    let letter = b"WABCDEFGHIJKLMNOPQRSTUV"[(sum % 23) as usize];
    (letter == word[7]).then_some((IE, false))
}

fn chinese(word: &[u8]) -> Option<(u64, bool)> {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let sum: u32 = word.iter().zip(WEIGHTS).map(|(digit, weight)| value(*digit) * weight).sum();
    let year = remainder(&word[6..10], 10_000);
    let dated = (1900..=2030).contains(&year);
    // The remainder of the sum and the check digit ten together is one.
    ((sum + 10) % 11 == 1 && dated).then_some((IDENTITY, true))
}

/// Italy's codice fiscale, which has letters and digits in fixed places and a check letter.
fn italian(word: &[u8]) -> bool {
    // Characters at odd places count by this table, at even ones by their rank.
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let letter = |i: usize| word[i].is_ascii_alphabetic();
    // Digits may be replaced by letters where two people would get the same number.
    let shape = (0..6).all(letter) && word[6].is_ascii_digit() && letter(8) && letter(11);
    if !shape || !letter(15) {
        return false;
    }
    let sum: u32 = word[..15]
        .iter()
        .enumerate()
        .map(|(i, byte)| {
            let rank = match byte {
                b'0'..=b'9' => u32::from(byte - b'0'),
                _ => u32::from(byte.to_ascii_uppercase() - b'A'),
            };
            if i % 2 == 0 { ODD[rank as usize] } else { rank }
        })
        .sum();
    sum % 26 == u32::from(word[15].to_ascii_uppercase() - b'A')
}
