//! Dates behind a word that says that somebody was born.

use crate::detectors::personal::context::{byte, byte_before, ends_word, starts_word};

/// How far behind the word the date may start.
const REACH: usize = 56;

/// The place of the date that starts at `start`.
pub(super) fn at(text: &str, start: usize) -> Option<(usize, usize)> {
    let byte = *text.as_bytes().get(start)?;
    let starts = byte.is_ascii_digit() || byte.is_ascii_alphabetic();
    starts.then(|| read(text, start)).flatten().map(|end| (start, end))
}

/// The place of the date behind the word from `at` to `end`, or directly before it.
pub(super) fn behind(text: &str, at: usize, end: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(end + REACH);
    let mut i = end;
    let mut lines = 0;
    let mut others = 0;
    while i < limit {
        let byte = bytes[i];
        let starts = (byte.is_ascii_digit() || byte.is_ascii_alphabetic()) && starts_word(bytes, i);
        // The next such word looks at what is behind it: no date is read for many of them.
        if starts && says_born(&bytes[i..]) {
            break;
        }
        if starts && let Some(end) = read(text, i) {
            // The next line of a log begins with its time.
            let is_stamp = lines > 0 && is_timed(bytes, end);
            return (!is_stamp).then_some((i, end));
        }
        // A number that is no date: the words behind it are about something else.
        others += usize::from(starts && byte.is_ascii_digit());
        if others > 1 {
            break;
        }
        match byte {
            b'\n' => lines += 1,
            // `dob { Date.new(1963, 5, 10) }`
            b'{' if super::byte(bytes, i + 1) == b' ' => {}
            b'{' | b'}' => return before(bytes, at),
            // In a sentence it goes on about the same.
            b';' if super::byte(bytes, i + 1) != b' ' => return before(bytes, at),
            _ => {}
        }
        if lines > 1 {
            break;
        }
        i += 1;
    }
    before(bytes, at)
}

/// Whether a time follows the date that ends at `end`: `2025-08-19 02:16:34`.
fn is_timed(bytes: &[u8], end: usize) -> bool {
    matches!(bytes.get(end..end + 4), Some([b' ' | b'T', a, b, b':']) if a.is_ascii_digit() && b.is_ascii_digit())
}

fn says_born(bytes: &[u8]) -> bool {
    let begins =
        |word: &[u8]| bytes.get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word));
    begins(b"born") || begins(b"birth")
}

/// `1963-05-10 (date of birth)`: the date that ends just before the word.
fn before(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    // `date of birth` is found by its last word.
    let at = if bytes[..at].ends_with(b"date of ") { at - 8 } else { at };
    let mut end = at;
    let open = |byte: u8| matches!(byte, b' ' | b'(' | b'[' | b',' | b'-' | b':');
    while end > at.saturating_sub(4) && open(byte_before(bytes, end)) {
        end -= 1;
    }
    let part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'/' | b'.');
    let floor = end.saturating_sub(10);
    let mut start = end;
    while start > floor && part(bytes[start - 1]) {
        start -= 1;
    }
    let adjacent = byte_before(bytes, at) == b'(' && starts_word(bytes, start);
    (adjacent && numeric(bytes, start) == Some(end)).then_some((start, end))
}

/// The end of the date that starts at `start`.
fn read(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = match number(bytes, start) {
        Some((_, _, end)) => match byte(bytes, end) {
            b'-' | b'/' | b'.' => numeric(bytes, start).or_else(|| day_first(text, start)),
            b',' => listed(bytes, start),
            0x80.. => ideographic(text, start),
            _ => day_first(text, start),
        },
        None if bytes[start].is_ascii_digit() => compact(bytes, start),
        None => month_first(text, start),
    }?;
    // A time may follow: `T00:00:00Z`.
    let timed = byte(bytes, end) == b'T' && byte(bytes, end + 1).is_ascii_digit();
    (ends_word(bytes, end) || timed).then_some(end)
}

/// The number of up to four digits at `at`, and its end.
fn number(bytes: &[u8], at: usize) -> Option<(u32, usize, usize)> {
    let len = bytes.get(at..)?.iter().take(5).take_while(|b| b.is_ascii_digit()).count();
    if !(1..=4).contains(&len) {
        return None;
    }
    let value = bytes[at..at + len].iter().fold(0, |n, d| n * 10 + u32::from(d - b'0'));
    Some((value, len, at + len))
}

fn is_year(value: u32, digits: usize) -> bool {
    digits == 2 || digits == 4 && (1870..=2100).contains(&value)
}

fn is_day(value: u32) -> bool {
    (1..=31).contains(&value)
}

/// `1963-05-10`, `5/10/1963`, `10.05.63`, `10. 5. 1963`.
fn numeric(bytes: &[u8], start: usize) -> Option<usize> {
    let (a, a_len, end) = number(bytes, start)?;
    let separator = byte(bytes, end);
    if !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    let skip = |end: usize| {
        let spaced = separator == b'.' && byte(bytes, end + 1) == b' ';
        if spaced { end + 2 } else { end + 1 }
    };
    let (b, b_len, end) = number(bytes, skip(end))?;
    if byte(bytes, end) != separator {
        return None;
    }
    let (c, c_len, end) = number(bytes, skip(end))?;
    if byte(bytes, end) == separator && byte(bytes, end + 1).is_ascii_digit() || b_len > 2 {
        return None;
    }
    let date = if a_len == 4 {
        is_year(a, 4) && is_day(b) && is_day(c) && (b <= 12 || c <= 12) && c_len <= 2
    } else {
        let full = c_len == 4 || a_len == 2 && b_len == 2 || separator != b'.';
        is_year(c, c_len) && is_day(a) && is_day(b) && (a <= 12 || b <= 12) && a_len <= 2 && full
    };
    date.then_some(end)
}

/// `19630510`.
fn compact(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = bytes.get(start..start + 8)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = |range: std::ops::Range<usize>| {
        digits[range].iter().fold(0, |n, d| n * 10 + u32::from(d - b'0'))
    };
    let iso = is_year(value(0..4), 4) && (1..=12).contains(&value(4..6)) && is_day(value(6..8));
    let other = is_year(value(4..8), 4) && is_day(value(0..2)) && is_day(value(2..4));
    (iso || other).then_some(start + 8)
}

/// `date(1963, 5, 10)`, `{1963, 5, 10}`: what a constructor takes.
fn listed(bytes: &[u8], start: usize) -> Option<usize> {
    if !matches!(byte_before(bytes, start), b'(' | b'{') {
        return None;
    }
    let skip = |end: usize| {
        let spaced = usize::from(byte(bytes, end + 1) == b' ');
        (byte(bytes, end) == b',').then_some(end + 1 + spaced)
    };
    let (year, 4, end) = number(bytes, start)? else { return None };
    let (month, _, end) = number(bytes, skip(end)?)?;
    let (day, len, end) = number(bytes, skip(end)?)?;
    let fits = is_year(year, 4) && (1..=12).contains(&month) && is_day(day) && len <= 2;
    (fits && matches!(byte(bytes, end), b')' | b'}' | b',')).then_some(end)
}

/// `1963年5月10日`, `1963년 5월 10일`.
fn ideographic(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut end = start;
    for units in [["年", "년"], ["月", "월"], ["日", "일"]] {
        let blank = usize::from(end > start && byte(bytes, end) == b' ');
        let (_, _, at) = number(bytes, end + blank)?;
        let at = if byte(bytes, at) == b' ' { at + 1 } else { at };
        let rest = text.get(at..)?;
        let unit = units.into_iter().find(|unit| rest.starts_with(unit))?;
        end = at + unit.len();
    }
    Some(end)
}

/// `10 May 1963`, `10th of May, 1963`, `10. Mai 1963`, `10-May-63`, `10 de mayo de 1963`.
fn day_first(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (day, len, mut at) = number(bytes, start)?;
    if len > 2 || !is_day(day) {
        return None;
    }
    let suffixes: [&[u8]; 6] = [b"st", b"nd", b"rd", b"th", b"er", b"."];
    let has = |at: usize, word: &[u8]| {
        bytes.get(at..at + word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word))
    };
    if let Some(suffix) = suffixes.into_iter().find(|suffix| has(at, suffix)) {
        at += suffix.len();
    }
    // `10May1963`
    let joined = byte(bytes, at).is_ascii_alphabetic() && at == start + len;
    at = if joined { at } else { gap(bytes, at)? };
    for word in [&b"of "[..], b"de "] {
        if has(at, word) {
            at += word.len();
        }
    }
    at = month(text, at)?;
    if joined {
        let (year, len, end) = number(bytes, at)?;
        return (is_year(year, len) && len != 3).then_some(end);
    }
    year_behind(bytes, at)
}

/// `May 10, 1963`, `May 10th 1963`, `Sept. 3 1970`.
fn month_first(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let at = gap(bytes, month(text, start)?)?;
    let (day, len, mut at) = number(bytes, at)?;
    if len > 2 || !is_day(day) {
        return None;
    }
    for suffix in [&b"st"[..], b"nd", b"rd", b"th"] {
        if bytes.get(at..at + 2) == Some(suffix) {
            at += 2;
        }
    }
    year_behind(bytes, at)
}

/// The end of the year behind `at`, with what may stand between.
fn year_behind(bytes: &[u8], mut at: usize) -> Option<usize> {
    while matches!(byte(bytes, at), b'.' | b',') {
        at += 1;
    }
    at = gap(bytes, at)?;
    for word in [&b"of "[..], b"de ", b"del "] {
        if bytes.get(at..at + word.len()) == Some(word) {
            at += word.len();
        }
    }
    let apostrophe = usize::from(byte(bytes, at) == b'\'');
    let (year, len, end) = number(bytes, at + apostrophe)?;
    is_year(year, len).then_some(end)
}

/// What separates a date's words: one or two spaces, a dash, a slash.
fn gap(bytes: &[u8], at: usize) -> Option<usize> {
    match (byte(bytes, at), byte(bytes, at + 1)) {
        (b' ', b' ') => Some(at + 2),
        (b' ' | b'-' | b'/', _) => Some(at + 1),
        _ => None,
    }
}

/// The end of the month's name at `start`.
fn month(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let letters =
        bytes[start..].iter().take(13).take_while(|b| b.is_ascii_alphabetic() || **b >= 0x80);
    let len = letters.count();
    // Nearly all words end here: a month has a number behind it.
    let behind = start + len;
    let near = (behind..behind + 3).any(|at| byte(bytes, at).is_ascii_digit());
    let linked = byte(bytes, behind) == b' ' && byte(bytes, behind + 1) == b'd';
    if !(3..=12).contains(&len) || !near && !linked && byte(bytes, behind) != b',' {
        return None;
    }
    let rest = text.get(start..)?;
    let letters = rest.chars().take(12).take_while(|c| c.is_alphabetic());
    let len: usize = letters.map(char::len_utf8).sum();
    let mut lower = [0; 12];
    let name = &rest.as_bytes()[..len];
    let lower = lower.get_mut(..len)?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let name = std::str::from_utf8(lower).ok()?;
    let dot = usize::from(text.as_bytes().get(start + len) == Some(&b'.') && len <= 5);
    MONTHS.binary_search(&name).is_ok().then_some(start + len + dot)
}

/// The months' names and abbreviations in English, German, French, Spanish, Italian, Portuguese,
/// Dutch, the Scandinavian languages, Polish, Czech, Slovak, Hungarian, Romanian and Turkish. Sorted.
const MONTHS: &[&str] = &[
    "abr",
    "abril",
    "agosto",
    "août",
    "apr",
    "april",
    "aprile",
    "aprilie",
    "apríla",
    "aralık",
    "aug",
    "august",
    "augusta",
    "augusti",
    "augustus",
    "augusztus",
    "avril",
    "ağustos",
    "března",
    "czerwca",
    "dec",
    "december",
    "decembra",
    "decembrie",
    "dez",
    "dezember",
    "dic",
    "dicembre",
    "diciembre",
    "dubna",
    "déc",
    "décembre",
    "ekim",
    "enero",
    "eylül",
    "feb",
    "febbraio",
    "febr",
    "febrero",
    "februar",
    "februari",
    "februarie",
    "february",
    "február",
    "februára",
    "fevereiro",
    "février",
    "gennaio",
    "giugno",
    "grudnia",
    "haziran",
    "ianuarie",
    "iulie",
    "iunie",
    "jan",
    "janeiro",
    "januar",
    "januari",
    "january",
    "január",
    "januára",
    "janvier",
    "juillet",
    "juin",
    "jul",
    "julho",
    "juli",
    "julio",
    "july",
    "jun",
    "june",
    "junho",
    "juni",
    "junio",
    "júla",
    "július",
    "júna",
    "június",
    "kasım",
    "kesäkuuta",
    "května",
    "kwietnia",
    "ledna",
    "lipca",
    "listopada",
    "listopadu",
    "luglio",
    "lutego",
    "maart",
    "maggio",
    "mai",
    "maio",
    "maj",
    "maja",
    "mar",
    "marca",
    "march",
    "marco",
    "mars",
    "mart",
    "martie",
    "marts",
    "marzo",
    "março",
    "may",
    "mayo",
    "mayıs",
    "mei",
    "mája",
    "május",
    "március",
    "märz",
    "nisan",
    "noiembrie",
    "nov",
    "november",
    "novembra",
    "novembre",
    "novembro",
    "noviembre",
    "ocak",
    "oct",
    "october",
    "octobre",
    "octombrie",
    "octubre",
    "okt",
    "oktober",
    "október",
    "októbra",
    "ottobre",
    "outubro",
    "pazdziernika",
    "października",
    "prosince",
    "sep",
    "sept",
    "september",
    "septembra",
    "septembre",
    "septembrie",
    "septiembre",
    "setembro",
    "settembre",
    "sierpnia",
    "srpna",
    "stycznia",
    "szeptember",
    "temmuz",
    "wrzesnia",
    "września",
    "září",
    "április",
    "února",
    "července",
    "června",
    "října",
    "şubat",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        let unsorted = MONTHS.windows(2).find(|pair| pair[0] >= pair[1]);
        assert_eq!(unsorted, None);
    }
}
