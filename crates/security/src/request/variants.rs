//! Values in disguise: in base64, hexadecimal or URL encoding, with invisible characters between
//! their own, or written in letters that only look like Latin ones.
//!
//! A stretch that decodes to text is scanned as that text; where something is in it, the stretch is
//! found as it stands. What decodes to anything else (an image, a hash, an identifier) is dropped
//! after its first few bytes. Everything is looked at once for each level of encoding, of which
//! there are [`DEEPEST`].

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use super::data_url::{beginning_of_text, decoded_text, is_binary};
use super::encoding::{
    self, base64_blocks, base64_run, begins_as_text, escaped_byte, is_base64_digit,
    places_in_percent,
};
use super::reader::TOLD_BY_CONTEXT;
use crate::finding::{Finding, settle};
use crate::kind::Kinds;
use crate::scan::Scans;

/// How many encodings around each other are taken off.
const DEEPEST: usize = 2;
/// Shorter base64 holds nothing by which it could be told.
const SHORTEST: usize = 16;
/// No value is shorter.
const SHORTEST_VALUE: usize = 5;
/// Lines of base64 are at least this long where a value goes on in the next.
const SHORTEST_LINE: usize = 60;
/// How far around an escape a URL is looked at.
const LONGEST_URL: usize = 4096;
/// How far around a disguised character a value may reach.
const REACH: usize = 2048;

/// The rule for a value in base64 or hexadecimal digits.
const BASE64: &str = "base64";
/// The rule for a value with `%xx` in it.
const PERCENT: &str = "url_encoded";
/// The rule for a value with invisible or foreign characters.
const LOOKALIKE: &str = "lookalike";

/// Whether a finding is of a value in disguise.
pub(super) fn is_disguised(finding: &Finding) -> bool {
    [BASE64, PERCENT, LOOKALIKE].contains(&finding.rule)
}

/// Adds what of `kinds` is in `text` in disguise.
pub(super) fn find(scanner: &Scans<'_>, text: &str, kinds: Kinds, findings: &mut Vec<Finding>) {
    let search = Search { scanner, kinds };
    let before = findings.len();
    search.disguised(text, DEEPEST, findings);
    if findings.len() > before {
        settle(findings);
    }
}

struct Search<'s> {
    scanner: &'s Scans<'s>,
    kinds: Kinds,
}

impl Search<'_> {
    /// What is in `text`, plain and in up to `depth` encodings.
    fn all(&self, text: &str, depth: usize) -> Vec<Finding> {
        let mut findings = self.scanner.scan(text, self.kinds);
        if depth > 0 {
            self.disguised(text, depth, &mut findings);
            settle(&mut findings);
        }
        findings
    }

    fn disguised(&self, text: &str, depth: usize, findings: &mut Vec<Finding>) {
        self.base64(text, depth, findings);
        self.percent(text, depth, findings);
        self.lookalikes(text, findings);
    }

    fn base64(&self, text: &str, depth: usize, findings: &mut Vec<Finding>) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(within) = base64_blocks(bytes, at) {
            let before = bytes[at..within].iter().rev();
            let start = within - before.take_while(|byte| is_base64_digit(**byte)).count();
            let end = start + base64_run(&bytes[start..]);
            at = end;
            let stretch = start..end;
            if stretch.len() < SHORTEST {
                continue;
            }
            // In a path or a URL, other words are joined to it by what is a digit of base64, too.
            let last = text[stretch.clone()].rfind('/').map_or(start, |slash| start + slash + 1);
            let last = (last > start && end - last >= SHORTEST).then_some(last..end);
            for stretch in std::iter::once(stretch).chain(last) {
                let (range, Some(decoded)) = decoded(text, stretch) else { continue };
                at = at.max(range.end);
                let inside = self.all(&decoded, depth - 1);
                // A secret is what the stretch as a whole is taken for, if it holds one.
                if let Some(first) = inside.iter().min_by_key(|f| (!f.kind.is_secret(), f.start)) {
                    let (start, end) = (range.start, range.end);
                    findings.push(Finding { start, end, kind: first.kind, rule: BASE64 });
                    break;
                }
            }
        }
    }

    fn percent(&self, text: &str, depth: usize, findings: &mut Vec<Finding>) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(escape) = memchr(b'%', &bytes[at..]).map(|n| at + n) {
            if escaped_byte(&bytes[escape..]).is_none() {
                at = escape + 1;
                continue;
            }
            let is_outside =
                |c: char| c.is_whitespace() || c.is_control() || "\"'<>`\\".contains(c);
            let from = text.ceil_char_boundary(at.max(escape.saturating_sub(LONGEST_URL)));
            let to = text.floor_char_boundary(text.len().min(escape + LONGEST_URL));
            let before = &text[from..escape];
            let start = before
                .rfind(is_outside)
                .map_or(from, |n| from + n + before[n..].chars().next().map_or(1, char::len_utf8));
            let end = text[escape..to].find(is_outside).map_or(to, |n| escape + n);
            at = end.max(escape + 1);
            let encoded = &text[start..end];
            let decoded = encoding::percent(encoded);
            if decoded.len() < SHORTEST_VALUE {
                continue;
            }
            let inside = self.all(&decoded, depth - 1);
            let places = places_in_percent(encoded, inside.iter().flat_map(|f| [f.start, f.end]));
            for (finding, place) in inside.iter().zip(places.chunks_exact(2)) {
                let (from, to) = (place[0], place[1]);
                // What is plain itself may only be told by what is around it: `password%3Dhunter2`.
                if to - from > finding.end - finding.start || finding.kind.is_secret() {
                    let (start, end) = (start + from, start + to);
                    findings.push(Finding { start, end, rule: PERCENT, ..*finding });
                }
            }
        }
    }

    fn lookalikes(&self, text: &str, findings: &mut Vec<Finding>) {
        // Words of a language in another script are no names in Latin letters.
        let kinds = self.kinds.without(TOLD_BY_CONTEXT);
        for window in lookalike_windows(text) {
            let folded = Folded::new(text, window.clone());
            for finding in self.scanner.scan(&folded.text, kinds) {
                let (start, end) = (folded.place(finding.start), folded.place(finding.end));
                let is_whole =
                    (start > window.start || start == 0) && (end < window.end || end == text.len());
                let is_changed = text[start..end] != folded.text[finding.range()];
                if is_whole && is_changed {
                    findings.push(Finding { start, end, rule: LOOKALIKE, ..finding });
                }
            }
        }
    }
}

/// The text behind a stretch of base64 or hexadecimal digits, and all of the stretch: where lines
/// are as long as in a file, it goes on in the next one.
fn decoded(text: &str, stretch: Range<usize>) -> (Range<usize>, Option<String>) {
    let bytes = text.as_bytes();
    let digits = &bytes[stretch.clone()];
    if digits.iter().all(u8::is_ascii_hexdigit) {
        let decoded = encoding::hex(digits).and_then(|bytes| String::from_utf8(bytes).ok());
        let is_text = |text: &String| !text.bytes().any(is_binary);
        return (stretch, decoded.filter(is_text));
    }
    if !begins_as_text(digits) {
        return (stretch, None);
    }
    let mut lines = Cow::Borrowed(digits);
    let mut end = stretch.end;
    let mut length = digits.len();
    while length >= SHORTEST_LINE && length.is_multiple_of(4) {
        let line_break = match &bytes[end..] {
            _ if bytes[..end].ends_with(b"=") => break,
            [b'\r', b'\n', ..] => 2,
            [b'\n', ..] => 1,
            _ => break,
        };
        let start = end + line_break;
        length = base64_run(&bytes[start..]);
        if length == 0 {
            break;
        }
        end = start + length;
        lines.to_mut().extend_from_slice(&bytes[start..end]);
    }
    if lines.len() == digits.len() {
        return (stretch, decoded_text(digits));
    }
    // What comes last may be something else than text, and must not hide what comes before.
    (stretch.start..end, decoded_text(&lines).or_else(|| beginning_of_text(&lines)))
}

/// Where in `text` characters stand that are not what they seem, with what is around them.
fn lookalike_windows(text: &str) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    if text.is_ascii() {
        return windows;
    }
    for (at, c) in text.char_indices() {
        if c.is_ascii() || fold(c) == Fold::Keep {
            continue;
        }
        let start = text.floor_char_boundary(at.saturating_sub(REACH));
        let end = text.ceil_char_boundary(text.len().min(at + REACH));
        match windows.last_mut() {
            Some(last) if last.end >= start => last.end = end,
            _ => windows.push(start..end),
        }
    }
    windows
}

/// A text in plain Latin letters, and where its parts stood.
struct Folded {
    text: String,
    /// Behind each character that was changed: its place here, and where it stood.
    changes: Vec<(usize, usize)>,
}

impl Folded {
    fn new(text: &str, window: Range<usize>) -> Self {
        let start = window.start;
        let mut folded =
            Self { text: String::with_capacity(window.len()), changes: vec![(0, start)] };
        for (at, c) in text[window].char_indices() {
            match fold(c) {
                Fold::Keep => folded.text.push(c),
                Fold::Remove => folded.changed(start + at + c.len_utf8()),
                Fold::To(ascii) => {
                    folded.text.push(char::from(ascii));
                    folded.changed(start + at + c.len_utf8());
                }
            }
        }
        folded
    }

    fn changed(&mut self, end: usize) {
        self.changes.push((self.text.len(), end));
    }

    /// Where what is at `place` here stood.
    fn place(&self, place: usize) -> usize {
        let next = self.changes.partition_point(|(here, _)| *here <= place);
        let (here, there) = self.changes[next.saturating_sub(1)];
        there + (place - here)
    }
}

/// What a character seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fold {
    /// Itself.
    Keep,
    /// Nothing: nobody sees it.
    Remove,
    /// This one.
    To(u8),
}

fn fold(c: char) -> Fold {
    let digit = |first: char| Fold::To(b'0' + (c as u32 - first as u32) as u8 % 10);
    match c {
        '\0'..='\u{7f}' => Fold::Keep,
        // Soft hyphens, joiners, marks of direction, fillers, selectors of variants.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{e0100}'..='\u{e01ef}' => Fold::Remove,
        // Tags are an invisible copy of ASCII.
        '\u{e0020}'..='\u{e007e}' => Fold::To((c as u32 - 0xe0000) as u8),
        '\u{e0000}'..='\u{e007f}' => Fold::Remove,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Fold::To(b' '),
        '\u{2010}'..='\u{2012}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => Fold::To(b'-'),
        '\u{2024}' | '\u{ff61}' => Fold::To(b'.'),
        '\u{ff01}'..='\u{ff5e}' => Fold::To((c as u32 - 0xfee0) as u8),
        '\u{660}'..='\u{669}' => digit('\u{660}'),
        '\u{6f0}'..='\u{6f9}' => digit('\u{6f0}'),
        '\u{966}'..='\u{96f}' => digit('\u{966}'),
        // Mathematical letters and digits, style after style; letters in circles.
        '\u{1d400}'..='\u{1d6a3}' => letter((c as u32 - 0x1d400) % 52),
        '\u{1d7ce}'..='\u{1d7ff}' => digit('\u{1d7ce}'),
        '\u{24b6}'..='\u{24e9}' => letter(c as u32 - 0x24b6),
        _ => cyrillic_or_greek(c),
    }
}

fn letter(index: u32) -> Fold {
    let first = if index < 26 { b'A' } else { b'a' };
    Fold::To(first + (index % 26) as u8)
}

/// Letters that look like Latin ones in most typefaces.
fn cyrillic_or_greek(c: char) -> Fold {
    let latin = match c {
        'А' | 'Α' => b'A',
        'В' | 'Β' => b'B',
        'С' => b'C',
        'Е' | 'Ε' => b'E',
        'Ԍ' => b'G',
        'Н' | 'Η' => b'H',
        'І' | 'Ι' => b'I',
        'Ј' => b'J',
        'К' | 'Κ' => b'K',
        'М' | 'Μ' => b'M',
        'Ν' => b'N',
        'О' | 'Ο' => b'O',
        'Р' | 'Ρ' => b'P',
        'Ԛ' => b'Q',
        'Ѕ' => b'S',
        'Т' | 'Τ' => b'T',
        'Ԝ' => b'W',
        'Х' | 'Χ' => b'X',
        'У' | 'Ү' | 'Υ' => b'Y',
        'Ζ' => b'Z',
        'а' | 'α' => b'a',
        'с' => b'c',
        'ԁ' => b'd',
        'е' => b'e',
        'һ' => b'h',
        'і' | 'ι' => b'i',
        'ј' => b'j',
        'κ' => b'k',
        'ӏ' => b'l',
        'о' | 'ο' => b'o',
        'р' | 'ρ' => b'p',
        'ԛ' => b'q',
        'ѕ' => b's',
        'υ' => b'u',
        'ν' => b'v',
        'ԝ' => b'w',
        'х' | 'χ' => b'x',
        'у' => b'y',
        _ => return Fold::Keep,
    };
    Fold::To(latin)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{EMAIL, TOKEN};
    use super::*;
    use crate::kind::Kind;
    use crate::scan::{Scanner, ScannerSettings};

    fn found(text: &str) -> Vec<(&str, Kind, &'static str)> {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let mut findings = Vec::new();
        let kinds = Kinds::of(&[Kind::Secret, Kind::Email]);
        find(&Scans::new(&scanner), text, kinds, &mut findings);
        findings.retain(is_disguised);
        findings.iter().map(|f| (&text[f.range()], f.kind, f.rule)).collect()
    }

    fn base64(text: &str) -> String {
        encoding::to_base64(text.as_bytes(), b"")
    }

    fn hex(text: &str) -> String {
        text.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn lookalikes_are_listed_in_pairs() {
        for (from, to) in [('а', b'a'), ('К', b'K'), ('ӏ', b'l'), ('Α', b'A'), ('χ', b'x')] {
            assert_eq!(fold(from), Fold::To(to), "{from}");
        }
        assert_eq!(fold('ж'), Fold::Keep);
        assert_eq!(fold('Ａ'), Fold::To(b'A'));
        assert_eq!(fold('𝐀'), Fold::To(b'A'));
        assert_eq!(fold('𝟗'), Fold::To(b'9'));
        assert_eq!(fold('\u{e0041}'), Fold::To(b'A'));
    }

    #[test]
    fn stretches_are_found_as_they_stand() {
        let secret = format!("key {TOKEN}");
        let twice = base64(&base64(&secret));
        let wrapped = base64(&format!("{}\n{TOKEN}\n\n\n", "config line\n".repeat(12)));
        let lines: Vec<&str> =
            wrapped.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let lines = lines.join("\n");
        let mixed = format!("{lines}\n{}", base64("\0\u{1}binary"));
        let url = format!("{}%2F", EMAIL.replace('@', "%40"));
        let masked = url.strip_suffix("%2F").unwrap();
        let twice_url = EMAIL.replace('@', "%2540");
        let wide: String =
            TOKEN.chars().map(|c| char::from_u32(c as u32 + 0xfee0).unwrap()).collect();
        let parted: String = TOKEN.chars().flat_map(|c| [c, '\u{200b}']).collect();
        let greek = TOKEN.replace('A', "Α");
        for (stretch, kind, rule) in [
            (base64(&secret).as_str(), Kind::Secret, BASE64),
            (&base64(EMAIL), Kind::Email, BASE64),
            (&hex(&secret), Kind::Secret, BASE64),
            (&twice, Kind::Secret, BASE64),
            (&lines, Kind::Secret, BASE64),
            (&mixed, Kind::Secret, BASE64),
            (masked, Kind::Email, PERCENT),
            (&twice_url, Kind::Email, PERCENT),
            (&wide, Kind::Secret, LOOKALIKE),
            (&greek, Kind::Secret, LOOKALIKE),
            (&parted, Kind::Secret, LOOKALIKE),
        ] {
            for (before, after) in
                [("", ""), ("é x=", " y"), ("{\"", "\"}"), ("https://x.dev/", "?q")]
            {
                let text = format!("{before}{stretch}{after}");
                assert_eq!(found(&text), [(stretch, kind, rule)], "{text}");
            }
        }
    }

    #[test]
    fn what_is_plain_is_found_by_what_is_encoded_around_it() {
        for text in [format!("x%0A{TOKEN}%0Ay"), format!("?state=a%3D1%26key%3D{TOKEN}%26b")] {
            assert_eq!(found(&text), [(TOKEN, Kind::Secret, PERCENT)], "{text}");
        }
    }

    #[test]
    fn what_holds_nothing_is_left_alone() {
        for text in [
            "getUserAccountBalanceAndHistory",
            "src/components/forms/registration/index",
            "d41d8cd98f00b204e9800998ecf8427e",
            "aGVsbG8gd29ybGQsIHRoaXMgaXMgZmluZQ==",
            "100%25 of https://x.dev/a%20b%C3%A9?c=%7B%7D",
            "Привет, Россия! Καλημέρα. naïve — “quoted”\u{a0}café",
            "%E9t%E9",
            "%",
            "%4",
            "\u{200b}",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "([a-zA-Z0-9+/=%]{0,40}|\\PC{0,4}|%[0-9a-f]{2}|[аΑ\u{200b}\n]){0,30}") {
            for (stretch, ..) in found(&text) {
                prop_assert!(!stretch.is_empty());
            }
        }
    }
}
