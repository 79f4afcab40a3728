//! Numbers and codes behind a word that names them.

use crate::detectors::personal::context::{byte, ends_word, starts_word};

/// What is expected behind a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Licence,
    Passport,
    /// A number of the health system, directly behind its name.
    Medical,
    /// The same behind a word that needs `id`, `number` or the like to speak of a number.
    NamedMedical,
    Postal,
}

/// How far behind the word the value may start.
const REACH: usize = 40;
/// The longest value.
const LONGEST: usize = 24;

/// The place of the value behind the word that ends at `end`.
pub(super) fn behind(bytes: &[u8], end: usize, value: Value) -> Option<(usize, usize)> {
    let limit = bytes.len().min(end + REACH);
    let mut named = false;
    let mut lines = 0;
    let mut i = end;
    while i < limit {
        let byte = bytes[i];
        if byte.is_ascii_alphanumeric() {
            if starts_word(bytes, i)
                && let Some(end) = read(bytes, i, value, named)
            {
                return Some((i, end));
            }
            let word_end = word_end(bytes, i, limit);
            let word = &bytes[i..word_end];
            if !leads(word, value, &mut named) {
                // `passeport présenté : 69DX65150`
                let is_paper = matches!(value, Value::Passport | Value::Licence);
                i = behind_colon(bytes, word_end, limit).filter(|_| is_paper)?;
                continue;
            }
            i = word_end;
            continue;
        }
        match byte {
            b'#' => named = true,
            b'\n' => lines += 1,
            b'{' | b'}' | b';' | b'<' | b'(' if value != Value::Postal && byte != b'(' => {
                return None;
            }
            _ => {}
        }
        if lines > 1 {
            return None;
        }
        i += 1;
    }
    None
}

/// Behind the colon that ends a label of a word or two, where a value is directly behind it.
fn behind_colon(bytes: &[u8], at: usize, limit: usize) -> Option<usize> {
    const WORDS: usize = 16;
    let rest = &bytes[at..limit.min(at + WORDS)];
    let colon = rest
        .iter()
        .position(|byte| !(byte.is_ascii_alphabetic() || *byte == b' ' || *byte >= 0x80))?;
    rest[colon..].starts_with(b": ").then_some(at + colon + 2)
}

/// The end of the value at `start`, where a table's column says what it is.
pub(super) fn whole(bytes: &[u8], start: usize, value: Value) -> Option<usize> {
    read(bytes, start, value, true)
}

/// The end of the letters or digits at `at`; a capital behind a small letter starts a word.
fn word_end(bytes: &[u8], at: usize, limit: usize) -> usize {
    let mut end = at + 1;
    while end < limit && bytes[end].is_ascii_alphanumeric() {
        if bytes[end].is_ascii_uppercase() && bytes[end - 1].is_ascii_lowercase() {
            break;
        }
        end += 1;
    }
    end
}

/// Whether `word` may stand between the word and its value; sets `named` where it says that a number
/// follows.
pub(super) fn leads(word: &[u8], value: Value, named: &mut bool) -> bool {
    let mut lower = [0; 14];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    match &*lower {
        b"number" | b"numbers" | b"num" | b"no" | b"nr" | b"id" | b"ids" | b"identifier"
        | b"nummer" | b"numero" | b"code" | b"codes" | b"mrn" | b"nbr" | b"numbered" => {
            *named = true;
            true
        }
        b"is" | b"was" | b"the" | b"my" | b"his" | b"her" | b"s" | b"of" | b"and" | b"it"
        | b"ist" | b"lautet" | b"es" | b"est" | b"e" | b"n" | b"t" | b"with" | b"as" | b"for"
        | b"issued" | b"value" | b"area" | b"a" | b"d" | b"en" | b"please" | b"me" | b"its"
        | b"sure" => true,
        b"record" | b"policy" | b"member" | b"plan" | b"card" | b"chart" | b"account"
        | b"group" | b"insurance" | b"subscriber" | b"claim" | b"health" | b"service"
        | b"beneficiary" => {
            matches!(value, Value::Medical | Value::NamedMedical)
        }
        b"ennummer" | b"nummern" | b"ertennummer" | b"tennummer" | b"ungsnummer" | b"umber"
        | b"o" | b"r" => {
            *named = true;
            true
        }
        b"book" | b"details" | b"expires" => value == Value::Passport,
        _ => false,
    }
}

/// The end of the value at `start`.
fn read(bytes: &[u8], start: usize, value: Value, named: bool) -> Option<usize> {
    if value == Value::Postal {
        return postal(bytes, start);
    }
    let (end, digits, letters) = token(bytes, start);
    let length = digits + letters;
    let fits = match value {
        Value::Licence => (5..=19).contains(&length) && digits >= 4,
        Value::Passport => (6..=12).contains(&length) && digits >= 5,
        Value::Medical => (5..=16).contains(&length) && digits >= 4,
        Value::NamedMedical => named && (5..=18).contains(&length) && digits >= 4,
        Value::Postal => false,
    };
    fits.then_some(end)
}

/// The letters and digits from `start` on, with single dashes between and spaces between digits:
/// their end, how many are digits and how many letters. Letters must be capitals, as other words are
/// not, or all of the token small (`d1234567`).
fn token(bytes: &[u8], start: usize) -> (usize, usize, usize) {
    let limit = bytes.len().min(start + LONGEST);
    let (mut digits, mut letters) = (0, 0);
    let mut end = start;
    let mut i = start;
    while i < limit {
        let byte = bytes[i];
        if byte.is_ascii_digit() {
            digits += 1;
        } else if byte.is_ascii_alphabetic() {
            letters += 1;
        } else {
            let before = bytes[i - 1];
            let next = super::byte(bytes, i + 1);
            let dashed = byte == b'-' && next.is_ascii_alphanumeric();
            let spaced = byte == b' ' && before.is_ascii_digit() && next.is_ascii_digit();
            if !dashed && !spaced {
                break;
            }
            i += 1;
            continue;
        }
        i += 1;
        end = i;
    }
    let hexadecimal = bytes[start..end].starts_with(b"0x");
    if hexadecimal || !ends_word(bytes, end) { (end, 0, 0) } else { (end, digits, letters) }
}

/// Postal codes: `94103`, `94103-1234`, `SW1A 1AA`, `K1A 0B1`, `1012 AB`, `80331`, `01-234`.
fn postal(bytes: &[u8], start: usize) -> Option<usize> {
    let shape = |pattern: &[u8]| {
        let end = start + pattern.len();
        let here = bytes.get(start..end)?;
        let fits = here.iter().zip(pattern).all(|(byte, kind)| match kind {
            b'9' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_alphabetic(),
            other => byte == other,
        });
        (fits && ends_word(bytes, end) && byte(bytes, end) != b'-').then_some(end)
    };
    const PATTERNS: [&[u8]; 22] = [
        b"99999-9999",
        b"99999 9999",
        b"99999-999",
        b"99999",
        b"A9A 9A9",
        b"A9A-9A9",
        b"A9A9A9",
        b"9999 AA",
        b"9999AA",
        b"AA9A 9AA",
        b"AA99 9AA",
        b"AA9 9AA",
        b"A99 9AA",
        b"A9 9AA",
        b"A9A 9AA",
        b"99-999",
        b"999 99",
        b"999-9999",
        b"9999-999",
        b"999999",
        b"9999",
        b"AA99AA",
    ];
    PATTERNS.into_iter().find_map(shape)
}
