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
/// The same where nothing leads to it but its end of a sentence's part.
const NEAR: usize = 4;

/// The number behind `PIN`, and others in the same sentence ("… and 4413 for the phone").
pub(super) fn pin(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> Looked {
    let bytes = text.as_bytes();
    let is_word = |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut until = 0;
    let end = start + text[start..end].trim_end().len();
    // `PINs` is a word as well.
    let behind = end + usize::from(bytes.get(end) == Some(&b's'));
    let is_within = start > 0 && is_word(bytes.get(start - 1)) || is_word(bytes.get(behind));
    if is_within || !matches!(bytes.get(behind), Some(b' ' | b':' | b'-' | b',' | 0x80.. | b'*')) {
        return Looked { cost: 16, until };
    }
    let (mut said, mut last) = (true, String::new());
    for (i, chunk) in Chunks::new(text, behind, behind + HEADING).take(WORDS).enumerate() {
        let written = chunk.written;
        if chunk.lines_before > 0 && !said || chunk.is_code() {
            break;
        }
        // What a code is for stands between it and its name: "the pin of the alarm 9057, …".
        let is_near = || {
            i <= NEAR
                && chunk.ends_clause(text)
                && !is_year(written)
                && (!words::is_preposition(&last) || written.ends_with(['#', '*']))
        };
        if is_opener(written)
            && (said || until > 0 && !is_year(written) || is_near())
            && !is_usual(written)
            && !is_postal(text, (start, end), (chunk.start, chunk.end))
        {
            // The sign that a keypad wants first is part of the code.
            let sign = text[..chunk.start].ends_with(" *") || text[..chunk.start].ends_with(" #");
            let start = chunk.start - usize::from(sign);
            out.push(Finding { start, end: chunk.end, kind: Kind::Password, rule: "speech" });
            until = chunk.end;
        }
        last = written.to_lowercase();
        said = words::is_saying(&last)
            || chunk.behind.ends_with([':', '：'])
            || i == 0 && last.trim_end_matches(':') == "code";
        if chunk.behind.contains('.') {
            break;
        }
    }
    Looked { cost: 320, until }
}

/// What a keypad takes: digits, perhaps with its two signs around, or with capitals.
pub(super) fn is_opener(written: &str) -> bool {
    let inner = written.trim_matches(['*', '#']);
    let digits = inner.bytes().filter(u8::is_ascii_digit).count();
    let capitals = inner.bytes().filter(u8::is_ascii_uppercase).count();
    let is_mixed = capitals > 0 && digits >= 3 && capitals <= 2 && inner.len() <= 6;
    (4..=8).contains(&inner.len())
        && digits + capitals == inner.len()
        && (capitals == 0 || is_mixed)
}

pub(super) fn is_year(written: &str) -> bool {
    written.len() == 4 && (written.starts_with("19") || written.starts_with("20"))
}

/// Whether the number behind the `PIN` at `start..end` is India's postal index number: six digits at
/// once behind it, in an address.
pub(super) fn is_postal(
    text: &str,
    (start, end): (usize, usize),
    (from, to): (usize, usize),
) -> bool {
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
    let number = &text[from..to];
    if number.len() != 6 || number.starts_with(['0', '9']) || !text[end..from].bytes().all(is_joint)
    {
        return false;
    }
    let before = text.floor_char_boundary(start.saturating_sub(REACH));
    let behind = text.ceil_char_boundary((to + REACH).min(text.len()));
    let is_of_address =
        |word: &str| WORDS.binary_search(&word.to_ascii_lowercase().as_str()).is_ok();
    [&text[before..start], &text[to..behind]]
        .into_iter()
        .any(|part| part.split(|c: char| !c.is_alphabetic()).any(is_of_address))
}

/// What stands for a PIN in documentation.
pub(super) fn is_usual(written: &str) -> bool {
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
    let mut behind = text[end..text.ceil_char_boundary(text.len().min(end + 32))]
        .trim_start_matches([' ', '-', '_']);
    // "two-factor", "phrase" and others lead elsewhere.
    let lead = behind.len();
    for word in ["verification ", "login ", "security ", "sign-in ", "2FA ", "access "] {
        behind = behind.strip_prefix(word).unwrap_or(behind);
    }
    let lead = if behind.starts_with(['c', 'C']) { behind.len() } else { lead };
    for word in ["code", "Code", "CODE"] {
        behind = behind.strip_prefix(word).unwrap_or(behind);
    }
    if behind.len() == lead {
        return Looked { cost: 12, until: 0 };
    }
    let gap = text[end..].len() - text[end..].trim_start_matches([' ', '-', '_']).len();
    below(text, end + gap + 4, out)
}

/// The codes behind a word for them that ends at `heading`.
pub(super) fn below(text: &str, heading: usize, out: &mut Vec<Finding>) -> Looked {
    let known = out.len();
    let mut codes: Vec<Chunk<'_>> = Vec::new();
    let (mut is_open, mut is_said) = (false, false);
    let mut chunks = Chunks::new(text, heading, heading + LIST).peekable();
    while let Some(mut chunk) = chunks.next() {
        // `4821 5093`: two groups with a blank between.
        if is_group(chunk.written)
            && let Some(next) = chunks.next_if(|next| {
                next.start == chunk.end + 1 && next.lines_before == 0 && is_group(next.written)
            })
        {
            chunk.end = next.end;
            chunk.written = &text[chunk.start..next.end];
        }
        let number = chunk.written.trim_end_matches(['.', ')']);
        let is_bullet =
            matches!(chunk.written, "-" | "*" | "•" | "+" | "" | "|" | "x" | "X" | "☐" | "☑" | "□")
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

fn is_group(written: &str) -> bool {
    written.len() == 4 && written.bytes().all(|b| b.is_ascii_digit())
}

/// Whether the word "codes" that ends at `end` is about those for who has lost the second factor.
pub(super) fn are_for_recovery(text: &str, start: usize, end: usize) -> bool {
    /// How far before and behind the word is read.
    const REACH: usize = 40;
    #[rustfmt::skip]
    const SAID: &[&str] = &[
        "recover", "restore", "backup", "back-up", "scratch", "emergency", "one-time", "single-use",
        "2fa", "mfa", "two-factor", "2-step", "two-step", "secours", "récup", "recup", "respaldo",
        "emerg", "notfall", "wiederherst", "ersatz", "einmal", "herstel", "reserve", "uso único",
        "unique", "recuper",
    ];
    let from = text.ceil_char_boundary(start.saturating_sub(REACH));
    let to = text.floor_char_boundary(text.len().min(end + REACH));
    let around = text[from..to].to_lowercase();
    SAID.iter().any(|said| around.contains(said))
}

/// Groups of four that authenticators show a seed in, `JBSW Y3DP EHPK 3PXP`: where those that begin at
/// `at` end.
pub(super) fn seed(text: &str, at: usize) -> Option<usize> {
    const GROUPS: usize = 16;
    let bytes = &text.as_bytes()[at..];
    let is_upper = bytes.iter().take(4).all(|b| !b.is_ascii_lowercase());
    let is_base32 = |b: &u8| {
        matches!(b, b'2'..=b'7')
            || if is_upper { b.is_ascii_uppercase() } else { b.is_ascii_lowercase() }
    };
    let (mut groups, mut length) = (0, 0);
    while groups < GROUPS {
        let group = bytes.get(length..length + 4).filter(|group| group.iter().all(is_base32));
        if group.is_none() || bytes.get(length + 4).is_some_and(u8::is_ascii_alphanumeric) {
            break;
        }
        groups += 1;
        length += 5;
        if bytes.get(length - 1) != Some(&b' ') {
            break;
        }
    }
    let end = at + length.saturating_sub(1);
    let digits = text.as_bytes()[at..end.max(at)].iter().filter(|b| b.is_ascii_digit()).count();
    (groups >= 4 && digits > 0).then_some(end)
}

/// `kd82m-lqpz3`, `4821 5093`, `a81b2c9d`
fn is_recovery_code(written: &str) -> bool {
    if written.len() == 9 && written.as_bytes()[4] == b' ' {
        return true;
    }
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
