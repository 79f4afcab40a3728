//! International bank account numbers (ISO 13616): country, length, remainder 1 modulo 97.

use crate::detectors::Budget;
use crate::detectors::personal::context::{self, IBAN};

/// The longest IBAN.
const LONGEST: usize = 34;

/// The place of the IBAN that has the digit at `at` among its first.
pub(super) fn find(bytes: &[u8], at: usize, budget: &Budget) -> Option<(usize, usize)> {
    // Its check digits, the first digits of its account in one piece (`GB61VFHS8214`) or in groups
    // (`DE12 3456`, `GB61 VFHS 8214`).
    let offsets: &[usize] = match context::byte_before(bytes, at) {
        b'A'..=b'Z' | b'a'..=b'z' => &[2, 8],
        b' ' | b'-' => &[5, 10],
        _ => return None,
    };
    offsets.iter().find_map(|offset| read(bytes, at.checked_sub(*offset)?, budget))
}

/// The place of the IBAN that starts at `start`.
fn read(bytes: &[u8], start: usize, budget: &Budget) -> Option<(usize, usize)> {
    let head = bytes.get(start..start + 4)?;
    if !head[2].is_ascii_digit() || !head[3].is_ascii_digit() {
        return None;
    }
    let country = [head[0].to_ascii_uppercase(), head[1].to_ascii_uppercase()];
    let length = length(country)?;
    if !context::starts_word(bytes, start)
        || head[0].is_ascii_lowercase() != head[1].is_ascii_lowercase()
    {
        return None;
    }
    let mut account = [0; LONGEST];
    let mut count = 0;
    let mut end = start;
    while count < length {
        let byte = *bytes.get(end)?;
        let folded = FOLDED[usize::from(byte)];
        if folded != 0 {
            account[count] = folded;
            count += 1;
        } else if !matches!(byte, b' ' | b'-') || FOLDED[usize::from(bytes[end - 1])] == 0 {
            return None;
        }
        end += 1;
    }
    if !context::ends_word(bytes, end) {
        return None;
    }
    let account = &account[..length];
    if account[4..].iter().filter(|byte| byte.is_ascii_digit()).count() < 6 {
        return None;
    }
    if !is_valid(account) && !context::before(bytes, start, 24).is(IBAN) {
        budget.spend(100);
        return None;
    }
    Some((start, end))
}

/// Letters in upper case, digits as they are, 0 for everything else.
static FOLDED: [u8; 256] = {
    let mut folded = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_alphanumeric() {
            folded[byte] = (byte as u8).to_ascii_uppercase();
        }
        byte += 1;
    }
    folded
};

/// Letters count from ten on, the first four characters go to the end.
fn is_valid(account: &[u8]) -> bool {
    // A remainder takes long, so that it is taken once for many digits.
    const MANY: u64 = u64::MAX / 1000;
    let rest = account[4..].iter().chain(&account[..4]).fold(0_u64, |rest, byte| {
        let rest = if rest > MANY { rest % 97 } else { rest };
        match byte {
            b'0'..=b'9' => rest * 10 + u64::from(byte - b'0'),
            _ => rest * 100 + u64::from(byte - b'A') + 10,
        }
    });
    rest % 97 == 1
}

/// How long a country's IBANs are: the IBAN registry.
fn length(country: [u8; 2]) -> Option<usize> {
    Some(match &country {
        b"NO" => 15,
        b"BE" => 16,
        b"DK" | b"FI" | b"FK" | b"FO" | b"GL" | b"NL" | b"SD" => 18,
        b"MK" | b"SI" => 19,
        b"AT" | b"BA" | b"EE" | b"KZ" | b"LT" | b"LU" | b"XK" | b"MN" => 20,
        b"CH" | b"CR" | b"HR" | b"LI" | b"LV" => 21,
        b"BG" | b"BH" | b"DE" | b"GB" | b"GE" | b"IE" | b"ME" | b"RS" => 22,
        b"AE" | b"GI" | b"IL" | b"IQ" | b"TL" | b"OM" | b"SO" => 23,
        b"AD" | b"CZ" | b"ES" | b"MD" | b"PK" | b"RO" | b"SA" | b"SE" | b"SK" | b"TN" | b"VG" => 24,
        b"PT" | b"ST" | b"LY" => 25,
        b"IS" | b"TR" => 26,
        b"BI" | b"DJ" | b"FR" | b"GR" | b"IT" | b"MC" | b"MR" | b"SM" => 27,
        b"AL" | b"AZ" | b"BY" | b"CY" | b"DO" | b"GT" | b"HN" | b"HU" | b"LB" | b"NI" | b"PL"
        | b"SV" => 28,
        b"BR" | b"EG" | b"PS" | b"QA" | b"UA" => 29,
        b"JO" | b"KW" | b"MU" | b"YE" => 30,
        b"MT" | b"SC" => 31,
        b"LC" => 32,
        b"RU" => 33,
        _ => return None,
    })
}
