//! Persons of one name that are told by what stands beside them: `Amara's laptop`, `// Amara asked for
//! it`, `Amara [10:02 AM] hello`.

use super::gazetteer::Flags;
use super::token::{Gap, Shape, Token};

/// What belongs to somebody.
const THINGS: [&str; 36] = [
    "laptop",
    "notebook",
    "phone",
    "iphone",
    "ipad",
    "ipod",
    "macbook",
    "imac",
    "mbp",
    "airpods",
    "airpod",
    "watch",
    "tablet",
    "kindle",
    "galaxy",
    "pixel",
    "computer",
    "pc",
    "desktop",
    "workstation",
    "printer",
    "desk",
    "office",
    "home",
    "house",
    "flat",
    "apartment",
    "birthday",
    "headphones",
    "earbuds",
    "buds",
    "tv",
    "car",
    "email",
    "mailbox",
    "calendar",
];

/// What a person does of whom a comment tells.
const DEEDS: [&str; 34] = [
    "asked",
    "said",
    "says",
    "wants",
    "wanted",
    "needs",
    "needed",
    "told",
    "reported",
    "requested",
    "suggested",
    "noticed",
    "complained",
    "called",
    "wrote",
    "thinks",
    "insisted",
    "confirmed",
    "approved",
    "forgot",
    "promised",
    "prefers",
    "hat",
    "hatte",
    "sagt",
    "sagte",
    "möchte",
    "wollte",
    "meint",
    "dit",
    "veut",
    "dice",
    "dijo",
    "quiere",
];

/// How many words the name has that begins with `tokens[0]`; `None` where nothing beside it tells.
pub(super) fn person(text: &str, tokens: &[Token]) -> Option<usize> {
    const WORDS: usize = 3;
    let first = tokens.first()?;
    let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
    if is_slashed(text, tokens) {
        return Some(2);
    }
    if first.shape == Shape::Capital && is_addressed(text, first) {
        let more = tokens[1..].iter().take(WORDS - 1);
        let more = more.take_while(|t| t.gap == Gap::Space && t.shape == Shape::Capital);
        return Some(1 + more.count());
    }
    if first.shape != Shape::Capital || first.flags.any(plain) || first.end - first.start < 3 {
        return None;
    }
    let known = first.flags.any(Flags::PERSON);
    if known && (owns(text, first) || !first.flags.any(Flags::PLACES) && does(text, first)) {
        return Some(1);
    }
    let begins = first.gap.begins() || first.gap == Gap::Other && is_at_line(text, first);
    let rest = tokens[1..].iter().take(WORDS - 1);
    let words = 1 + rest
        .take_while(|token| {
            token.gap == Gap::Space && token.shape == Shape::Capital && !token.flags.any(plain)
        })
        .count();
    (begins && is_dated(text, &tokens[words - 1])).then_some(words)
}

/// `κύριε Παπαδόπουλε`, `госпожа Иванова`: titles of other alphabets.
fn is_addressed(text: &str, word: &Token) -> bool {
    const TITLES: [&str; 12] = [
        "κύριε ",
        "κυρία ",
        "κύριο ",
        "κύριος ",
        "κ. ",
        "г-н ",
        "г-жа ",
        "господин ",
        "госпожа ",
        "пан ",
        "пані ",
        "пане ",
    ];
    let before = &text[..word.start];
    let is_whole = |rest: &str| !rest.ends_with(char::is_alphanumeric);
    text.as_bytes()[word.start] >= 0x80
        && TITLES.iter().any(|title| before.strip_suffix(title).is_some_and(is_whole))
}

/// `OKAFOR/AMARA`: a passenger, as airlines write it.
fn is_slashed(text: &str, tokens: &[Token]) -> bool {
    let [family, given, ..] = tokens else { return false };
    let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
    let bytes = text.as_bytes();
    let is_mark = |byte: Option<&u8>| matches!(byte, Some(b'/' | b'.' | b'-' | b'_' | b':' | b'@'));
    family.shape == Shape::Upper
        && given.shape == Shape::Upper
        && given.gap == Gap::Slash
        && given.start == family.end + 1
        && bytes[family.end] == b'/'
        && family.end - family.start > 2
        && given.end - given.start > 2
        && !family.flags.any(plain)
        && !given.flags.any(plain)
        && (given.flags.any(Flags::FIRST) || family.flags.any(Flags::LAST))
        && !is_mark(bytes.get(given.end))
        && !is_mark(family.start.checked_sub(1).map(|i| &bytes[i]))
}

fn is_at_line(text: &str, word: &Token) -> bool {
    text[..word.start].ends_with('\n')
}

/// `Amara's laptop`
fn owns(text: &str, word: &Token) -> bool {
    let rest = &text[word.end..];
    let rest = rest.strip_prefix("'s ").or_else(|| rest.strip_prefix("’s "));
    rest.is_some_and(|rest| is_one_of(rest, &THINGS))
}

/// `// Amara asked`
fn does(text: &str, word: &Token) -> bool {
    let before = &text[..word.start];
    let comment = ["// ", "# ", "-- ", "/* ", "<!-- "].iter().any(|mark| before.ends_with(mark));
    comment && text[word.end..].strip_prefix(' ').is_some_and(|rest| is_one_of(rest, &DEEDS))
}

/// Whether `rest` begins with one of `words`.
fn is_one_of(rest: &str, words: &[&str]) -> bool {
    let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    let word = &rest[..length];
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// `Amara [10:02`: who says something in a chat, and when.
fn is_dated(text: &str, word: &Token) -> bool {
    let rest = text.as_bytes()[word.end..].strip_prefix(b" ");
    let rest = rest.map(|rest| rest.strip_prefix(b" ").unwrap_or(rest));
    let time = rest.and_then(|rest| rest.strip_prefix(b"["));
    let Some(time) = time else { return false };
    let digits = time.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    (1..=2).contains(&digits)
        && time.get(digits) == Some(&b':')
        && time
            .get(digits + 1..digits + 3)
            .is_some_and(|minutes| minutes.iter().all(u8::is_ascii_digit))
}
