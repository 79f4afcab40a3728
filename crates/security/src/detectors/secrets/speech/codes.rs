//! Codes of digits, and lists of codes for who has lost the second factor.

use super::Looked;
use super::sentence::{Chunk, Chunks};
use super::words;
use crate::finding::Finding;
use crate::kind::Kind;

/// How far a heading and the first code may be apart.
const HEADING: usize = 160;
/// How far a list is read.
const LIST: usize = 1200;
/// How many words a PIN may be away.
const WORDS: usize = 12;

/// The number behind `PIN`, and others in the same sentence ("… and 4413 for the phone").
pub(super) fn pin(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> Looked {
    let bytes = text.as_bytes();
    let is_word = |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut until = 0;
    // `PINs` is a word as well.
    let behind = end + usize::from(bytes.get(end) == Some(&b's'));
    let is_within = start > 0 && is_word(bytes.get(start - 1)) || is_word(bytes.get(behind));
    if is_within || !matches!(bytes.get(behind), Some(b' ' | b':' | b'-' | b',' | 0x80.. | b'*')) {
        return Looked { cost: 16, until };
    }
    let mut said = true;
    for chunk in Chunks::new(text, behind, behind + HEADING).take(WORDS) {
        let written = chunk.written;
        if chunk.lines_before > 0 && !said || chunk.is_code() {
            break;
        }
        let is_number =
            (4..=8).contains(&written.len()) && written.bytes().all(|b| b.is_ascii_digit());
        if is_number
            && (said || until > 0)
            && !is_usual(written)
            && !is_postal(text, (start, end), &chunk)
        {
            out.push(Finding {
                start: chunk.start,
                end: chunk.end,
                kind: Kind::Password,
                rule: "speech",
            });
            until = chunk.end;
        }
        let word = written.to_lowercase();
        said = words::is_saying(&word)
            || chunk.behind.ends_with([':', '：'])
            || word == "code"
            || word == "code:";
        if chunk.behind.contains('.') {
            break;
        }
    }
    Looked { cost: 320, until }
}

/// Whether the number behind the `PIN` at `start..end` is India's postal index number: six digits at
/// once behind it, in an address.
fn is_postal(text: &str, (start, end): (usize, usize), number: &Chunk<'_>) -> bool {
    /// What is read on either side.
    const REACH: usize = 64;
    /// Words of addresses, and where such numbers are. Sorted.
    const WORDS: &[&str] = &[
        "address",
        "andhra",
        "assam",
        "avenue",
        "bengal",
        "bengaluru",
        "bihar",
        "block",
        "chennai",
        "city",
        "colony",
        "delhi",
        "dist",
        "district",
        "flat",
        "floor",
        "goa",
        "gujarat",
        "haryana",
        "himachal",
        "house",
        "hyderabad",
        "india",
        "jharkhand",
        "karnataka",
        "kerala",
        "kolkata",
        "lane",
        "layout",
        "maharashtra",
        "marg",
        "mumbai",
        "nagar",
        "near",
        "odisha",
        "post",
        "pradesh",
        "pune",
        "punjab",
        "rajasthan",
        "road",
        "sector",
        "ship",
        "state",
        "street",
        "tamil",
        "tehsil",
        "telangana",
        "uttarakhand",
        "village",
        "ward",
    ];
    let is_joint = |b: u8| b.is_ascii_whitespace() || matches!(b, b':' | b'-' | b'*' | b'.');
    if number.written.len() != 6
        || number.written.starts_with(['0', '9'])
        || !text[end..number.start].bytes().all(is_joint)
    {
        return false;
    }
    let from = text.floor_char_boundary(start.saturating_sub(REACH));
    let to = text.ceil_char_boundary((number.end + REACH).min(text.len()));
    let is_of_address =
        |word: &str| WORDS.binary_search(&word.to_ascii_lowercase().as_str()).is_ok();
    [&text[from..start], &text[number.end..to]]
        .into_iter()
        .any(|part| part.split(|c: char| !c.is_alphabetic()).any(is_of_address))
}

/// What stands for a PIN in documentation.
fn is_usual(written: &str) -> bool {
    let first = written.as_bytes()[0];
    written.bytes().all(|b| b == first) || "123456789".contains(written) || written == "0123"
}

/// The code behind "verification code", or before it ("… is your verification code").
pub(super) fn one(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> Looked {
    let mut push = |start: usize, end: usize| {
        out.push(Finding { start, end, kind: Kind::Secret, rule: "speech" });
        Looked { cost: 256, until: 0 }
    };
    let line = &text[text.ceil_char_boundary(start.saturating_sub(60))..start];
    if let Some((before, _)) = line.rsplit_once(" is your ") {
        let code = before.rsplit([' ', '\n', '"']).next().unwrap_or(before);
        if is_code(code) {
            let at = start - line.len() + before.len() - code.len();
            return push(at, at + code.len());
        }
    }
    let mut said = true;
    for chunk in Chunks::new(text, end, end + HEADING).take(WORDS) {
        if chunk.is_code() || chunk.lines_before > 1 && !said {
            break;
        }
        if is_code(chunk.written) && said {
            return push(chunk.start, chunk.end);
        }
        said = words::is_saying(&chunk.written.to_lowercase())
            || chunk.behind.ends_with([':', '：'])
            || matches!(chunk.written, ":" | "：" | "是" | "は")
            || chunk.is_quoted;
    }
    Looked { cost: 320, until: 0 }
}

/// `181706`, `G-481516`, `481-516`
fn is_code(written: &str) -> bool {
    let digits = written.strip_prefix("G-").unwrap_or(written);
    let count = digits.bytes().filter(u8::is_ascii_digit).count();
    let joints = digits.bytes().filter(|b| *b == b'-').count();
    (4..=8).contains(&count) && joints < 2 && count + joints == digits.len() && !is_usual(digits)
}

/// The codes behind "recovery " or "backup": the words between say whether there are any.
pub(super) fn list(text: &str, end: usize, out: &mut Vec<Finding>) -> Looked {
    let mut behind = text[end..text.ceil_char_boundary(text.len().min(end + 16))]
        .trim_start_matches([' ', '-', '_']);
    // "two-factor", "phrase" and others lead elsewhere.
    let lead = behind.len();
    for word in ["code", "Code", "CODE"] {
        behind = behind.strip_prefix(word).unwrap_or(behind);
    }
    if behind.len() == lead {
        return Looked { cost: 12, until: 0 };
    }
    let heading =
        end + (text[end..].len() - text[end..].trim_start_matches([' ', '-', '_']).len()) + 4;
    let known = out.len();
    let mut codes: Vec<Chunk<'_>> = Vec::new();
    let (mut is_open, mut is_said) = (false, false);
    for chunk in Chunks::new(text, heading, heading + LIST) {
        let number = chunk.written.trim_end_matches(['.', ')']);
        let is_bullet = matches!(chunk.written, "-" | "*" | "•" | "+" | "" | "|")
            || number.len() < 3 && number.bytes().all(|b| b.is_ascii_digit());
        if is_recovery_code(chunk.written) {
            is_open |= is_said && chunk.written.contains('-');
            codes.push(chunk);
        } else if is_bullet
            || !codes.is_empty() && matches!(chunk.written, "and" | "or" | "und" | "et" | "y" | "e")
        {
            is_open |= chunk.behind.ends_with(':');
        } else if codes.is_empty() && chunk.start < heading + HEADING && !chunk.is_code() {
            is_open |= chunk.behind.ends_with(':') || chunk.written == "are";
        } else {
            break;
        }
        is_said = words::is_saying(&chunk.written.to_lowercase());
    }
    let length = codes.first().map_or(0, |code| code.written.len());
    let alike = codes.iter().filter(|code| code.written.len() == length).count();
    let with_digits =
        codes.iter().filter(|code| code.written.bytes().any(|b| b.is_ascii_digit())).count();
    let is_list = codes.len() >= 3
        || codes.len() >= 2 && is_open
        || codes.len() == 1 && is_open && with_digits == 1;
    if is_list && alike * 4 >= codes.len() * 3 && with_digits * 2 >= codes.len() {
        for code in &codes {
            out.push(Finding {
                start: code.start,
                end: code.end,
                kind: Kind::Secret,
                rule: "speech",
            });
        }
    }
    let until = out.get(known..).and_then(<[Finding]>::last).map_or(0, |last| last.end);
    Looked { cost: 256 + 24 * codes.len(), until }
}

/// `kd82m-lqpz3`, `4821 5093` without the blank, `a81b2c9d`
fn is_recovery_code(written: &str) -> bool {
    let letters = written.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = written.bytes().filter(u8::is_ascii_digit).count();
    let joints = written.bytes().filter(|b| *b == b'-').count();
    if letters + digits + joints != written.len() || !(6..=40).contains(&written.len()) {
        return false;
    }
    let upper = written.bytes().filter(u8::is_ascii_uppercase).count();
    if upper != 0 && upper != letters {
        return false;
    }
    let parts = || written.split('-');
    let first = parts().next().map_or(0, str::len);
    match joints {
        0 => digits > 0 && (letters > 0 && written.len() >= 8 || letters == 0),
        _ => (3..=8).contains(&first) && parts().all(|part| part.len().abs_diff(first) <= 1),
    }
}
