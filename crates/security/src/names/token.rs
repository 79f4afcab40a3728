//! Words of a text and what stands between them.

use super::gazetteer::{Flags, Gazetteer, ends_like_a_street};
use super::key::{self, Key};
use super::word;

/// What a word looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Shape {
    /// `word`
    Lower,
    /// `Word`, `O'Brien`, `Jean-Pierre`
    Capital,
    /// `WORD`
    Upper,
    /// `W`
    Initial,
    /// `12`, `123456`
    Number,
    /// `1234567`
    LongNumber,
    /// `12B`, `KW6`
    Mixed,
    /// `wordWord`, `WordWord`
    Camel,
    /// `word_word`, `word1`
    Identifier,
}

impl Shape {
    /// Whether a name can begin with such a word.
    #[inline]
    pub(super) const fn is_capital(self) -> bool {
        matches!(self, Self::Capital | Self::Upper | Self::Initial)
    }

    /// Whether it has digits and can be a part of an address.
    #[inline]
    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Number | Self::Mixed)
    }
}

/// What stands between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Gap {
    /// One space.
    Space,
    /// Several spaces or a tab.
    Spaces,
    /// The end of a line.
    Line,
    /// The end of a paragraph, or the text's beginning or end.
    Paragraph,
    /// `, `
    Comma,
    /// `,` with nothing behind it.
    TightComma,
    /// `,` at the end of a line.
    CommaLine,
    /// `. `
    Stop,
    /// `.` with nothing behind it.
    Dot,
    /// `!`, `?`
    Exclamation,
    /// `:` and what may follow it.
    Colon,
    /// A dash, or a hyphen with space around it.
    Dash,
    /// A quotation mark alone.
    Quote,
    /// Quotation marks around a comma: the next value of a list.
    NextValue,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `<` or `>`
    Angle,
    /// `=`
    Equals,
    /// `/` or `@`
    Slash,
    /// `&` or `+`
    And,
    /// `'s `, a genitive.
    Genitive,
    /// Anything else.
    Other,
}

impl Gap {
    /// Whether a sentence or a line begins behind it.
    #[inline]
    pub(super) const fn begins(self) -> bool {
        matches!(
            self,
            Self::Line | Self::Paragraph | Self::Stop | Self::Exclamation | Self::CommaLine
        )
    }

    /// Four groups for the model's transitions: words of one name, of one list, of neighbouring lines,
    /// of different things.
    #[inline]
    pub(super) const fn group(self) -> usize {
        match self {
            Self::Space | Self::Dot | Self::And => 0,
            Self::Comma | Self::TightComma | Self::Stop | Self::Slash | Self::Spaces => 1,
            Self::Line | Self::CommaLine => 2,
            _ => 3,
        }
    }
}

/// A word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// Its first byte.
    pub(super) start: usize,
    /// Behind its last byte.
    pub(super) end: usize,
    /// Its hash, in whatever case.
    pub(super) hash: u32,
    /// What is known about it.
    pub(super) flags: Flags,
    /// What it looks like.
    pub(super) shape: Shape,
    /// What stands in front of it.
    pub(super) gap: Gap,
    /// What kind of key it is the value of.
    pub(super) key: Key,
    /// Whether it can be a part of a name at all; all others have no label.
    pub(super) possible: bool,
}

/// A table of what bytes are in words.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            0x80..=0xff => OTHER,
            _ => 0,
        };
        byte += 1;
    }
    classes
};
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const UNDERSCORE: u8 = 8;
const OTHER: u8 = 16;

/// Whether words have such a byte.
#[inline]
pub(super) const fn is_word_byte(byte: u8) -> bool {
    CLASSES[byte as usize] != 0
}

/// The longest word that can be a part of a name, in bytes.
const LONGEST: usize = 48;

/// Reads words from a text, one after the other.
pub(super) struct Tokenizer<'a> {
    text: &'a str,
    gazetteer: &'a Gazetteer,
    at: usize,
    key: Key,
    /// A word's hash and range when a key may follow from it.
    previous: Option<(usize, usize)>,
    /// In training, hides a part of the gazetteer; 0 hides nothing.
    hide: u32,
}

impl<'a> Tokenizer<'a> {
    pub(super) fn new(text: &'a str, gazetteer: &'a Gazetteer, at: usize, hide: u32) -> Self {
        Self { text, gazetteer, at, key: Key::None, previous: None, hide }
    }

    /// Behind the last byte that was read.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes on at `at`, without what it knows from before.
    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
        self.key = Key::None;
        self.previous = None;
    }

    /// The next word that begins before `limit`.
    #[inline]
    pub(super) fn next(&mut self, limit: usize) -> Option<Token> {
        let bytes = self.text.as_bytes();
        let gap_start = self.at;
        let (start, bits) = loop {
            while self.at < bytes.len() && !is_word_byte(bytes[self.at]) {
                self.at += 1;
                // `\n` in a string is the end of a line, not a word that begins with `n`.
                if bytes[self.at - 1] == b'\\'
                    && matches!(bytes.get(self.at), Some(b'n' | b't' | b'r'))
                {
                    self.at += 1;
                }
            }
            if self.at >= limit.min(bytes.len()) {
                // The marks belong to the gap in front of the word that comes later.
                self.at = gap_start;
                return None;
            }
            let start = self.at;
            let bits = self.word();
            if bits != 0 {
                break (start, bits);
            }
        };
        let gap = self.gap(gap_start, start);
        let text = &self.text[start..self.at];
        let mut hash = word::hash_in(self.text, start, self.at);
        let mut flags = self.gazetteer.look_up(hash);
        let shape = shape(text, bits);
        if bits & JOINED != 0 {
            flags = flags.with(self.flags_of_parts(text));
        }
        if self.hide != 0 && flags.any(Flags::NAMES) && hidden(hash, self.hide) {
            flags = flags.without(Flags::NAMES);
            hash = hash.rotate_left(13) ^ self.hide;
        }
        if bits & (DIGIT | UNDERSCORE) == 0 && !flags.any(Flags::PERSON) && ends_like_a_street(text)
        {
            flags = flags.with(Flags::STREET_END);
        }
        self.previous = Some((start, self.at));
        Some(Token { start, end: self.at, hash, flags, shape, gap, key: self.key, possible: false })
    }

    /// Reads the word at `self.at` and says of what kinds of bytes it is; 0 where there is none.
    #[inline]
    fn word(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut bits = 0;
        while let Some(byte) = bytes.get(self.at) {
            let class = CLASSES[usize::from(*byte)];
            if class == OTHER {
                let c = self.text[self.at..].chars().next().unwrap_or(' ');
                let joins = matches!(c, '’' | '‑' | '‐') && joins(bytes, self.at, c.len_utf8());
                if joins {
                    bits |= JOINED;
                } else if c.is_alphabetic() || matches!(c, '\u{300}'..='\u{36f}') {
                    bits |= if c.is_uppercase() { UPPER | OTHER } else { LOWER | OTHER };
                } else {
                    if self.at == start {
                        self.at += c.len_utf8();
                        return 0;
                    }
                    break;
                }
                self.at += c.len_utf8();
                continue;
            }
            if class == 0 {
                if matches!(byte, b'\'' | b'-') && joins(bytes, self.at, 1) && self.at > start {
                    bits |= JOINED;
                    self.at += 1;
                    continue;
                }
                break;
            }
            bits |= class;
            self.at += 1;
        }
        bits
    }

    /// `Jean-Pierre` is known by its parts, `Anna-Seghers-Weg` by its last one.
    fn flags_of_parts(&self, text: &str) -> Flags {
        let of_all = Flags::PERSON.with(Flags::PLACE);
        let mut flags = Flags::default();
        let mut last = Flags::default();
        for part in text.split(['-', '\'', '’', '‑', '‐']).filter(|part| part.len() > 2).take(5)
        {
            last = self.gazetteer.look_up(word::hash(part));
            flags = flags.with(Flags(last.0 & of_all.0));
        }
        if last.any(Flags::STREET) { flags.with(Flags::STREET_END) } else { flags }
    }

    /// What stands in `start..end`. Keeps track of the key that the next word belongs to.
    #[inline]
    fn gap(&mut self, start: usize, end: usize) -> Gap {
        let gap = &self.text.as_bytes()[start..end];
        if gap == b" " || self.is_before_article(gap, end) {
            return Gap::Space;
        }
        if start == 0 {
            return if gap.iter().any(|b| !b.is_ascii_whitespace()) {
                self.long_gap(gap, true)
            } else {
                Gap::Paragraph
            };
        }
        self.long_gap(gap, false)
    }

    /// Whether the apostrophe is that of the article in `van 't Hof`.
    fn is_before_article(&self, gap: &[u8], end: usize) -> bool {
        let next = self.text.as_bytes().get(end..end + 2);
        matches!(gap, b" '" | b" \xE2\x80\x99") && matches!(next, Some(b"t " | b"T "))
    }

    fn long_gap(&mut self, gap: &[u8], first: bool) -> Gap {
        let seen = Marks::of(gap);
        if seen.lines > 0 || seen.has(Marks::SEMICOLON | Marks::BRACE) {
            self.key = Key::None;
        }
        let value = seen.has(Marks::COLON | Marks::EQUALS) && !seen.has(Marks::TWICE);
        let markup = seen.has(Marks::ANGLE) && !seen.has(Marks::SLASH) && gap.len() <= 2;
        if let (true, Some((from, to))) = (value || markup, self.previous)
            && seen.lines == 0
        {
            self.key = key::classify(&self.text[from..to]);
        } else if seen.has(Marks::QUOTE) && seen.has(Marks::COMMA) || seen.has(Marks::ANGLE) {
            self.key = Key::None;
        }
        if first {
            return Gap::Paragraph;
        }
        seen.gap(gap)
    }
}

/// A hyphen or apostrophe joins letters on both sides; `'s` is none of the word's.
fn joins(bytes: &[u8], at: usize, width: usize) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphabetic() || *b >= 0x80);
    let next = at + width;
    let genitive = bytes[at] != b'-'
        && matches!(bytes.get(next), Some(b's' | b'S'))
        && !letter(bytes.get(next + 1));
    at > 0 && letter(bytes.get(at - 1)) && letter(bytes.get(next)) && !genitive
}

/// Beside [`CLASSES`]: hyphens or apostrophes inside.
const JOINED: u8 = 32;

/// In training, one name in four is unknown, another one for each `hide`: the model has to learn
/// what surrounds names and what they look like, not only who is who.
fn hidden(hash: u32, hide: u32) -> bool {
    (hash ^ hide).wrapping_mul(0x9E37_79B1) >> 30 == 0
}

fn shape(text: &str, bits: u8) -> Shape {
    let bytes = text.as_bytes();
    if bits & UNDERSCORE != 0 || text.len() > LONGEST {
        return Shape::Identifier;
    }
    if bits & DIGIT != 0 {
        return match bits & (LOWER | UPPER | OTHER) {
            0 if text.len() <= 6 => Shape::Number,
            0 if bits & JOINED != 0 && text.len() <= 9 => Shape::Number,
            0 => Shape::LongNumber,
            _ if text.len() <= 5 && bytes[0].is_ascii_digit()
                || bits & LOWER == 0 && text.len() <= 5 =>
            {
                Shape::Mixed
            }
            _ => Shape::Identifier,
        };
    }
    if bits & UPPER == 0 {
        return Shape::Lower;
    }
    let upper_first = text.chars().next().is_some_and(char::is_uppercase);
    if bits & LOWER == 0 {
        return if text.chars().nth(1).is_none() { Shape::Initial } else { Shape::Upper };
    }
    if !upper_first {
        return Shape::Camel;
    }
    // `McDonald`, `DeVito`, `O'Brien` and `Jean-Pierre` are names; `FooBar` is not.
    let mut previous = ' ';
    let mut letters = 0;
    for c in text.chars() {
        if c.is_uppercase() && previous.is_lowercase() {
            let head = &bytes[..letters.min(3)];
            if !matches!(
                head,
                b"Mc" | b"Mac" | b"De" | b"Di" | b"La" | b"Le" | b"Du" | b"Van" | b"Fitz"
            ) {
                return Shape::Camel;
            }
        }
        letters += c.len_utf8();
        previous = c;
    }
    Shape::Capital
}

/// Which marks are in a gap.
struct Marks {
    bits: u32,
    lines: u32,
}

impl Marks {
    const COMMA: u32 = 1;
    const STOP: u32 = 1 << 1;
    const EXCLAMATION: u32 = 1 << 2;
    const COLON: u32 = 1 << 3;
    const SEMICOLON: u32 = 1 << 4;
    const QUOTE: u32 = 1 << 5;
    const OPEN: u32 = 1 << 6;
    const CLOSE: u32 = 1 << 7;
    const ANGLE: u32 = 1 << 8;
    const EQUALS: u32 = 1 << 9;
    const SLASH: u32 = 1 << 10;
    const AND: u32 = 1 << 11;
    const DASH: u32 = 1 << 12;
    const SPACE: u32 = 1 << 13;
    const BRACE: u32 = 1 << 14;
    const OTHER: u32 = 1 << 15;
    /// `::`, `==`, `//`: an operator, not a key's.
    const TWICE: u32 = 1 << 16;

    /// The marks of `gap`; of a long one the first and the last.
    fn of(gap: &[u8]) -> Self {
        const ENOUGH: usize = 24;
        let mut marks = Self { bits: 0, lines: 0 };
        if gap.len() <= 2 * ENOUGH {
            marks.add(gap);
        } else {
            marks.add(&gap[..ENOUGH]);
            marks.add(&gap[gap.len() - ENOUGH..]);
        }
        marks
    }

    fn add(&mut self, gap: &[u8]) {
        let mut previous = 0;
        for byte in gap {
            let bit = match byte {
                b' ' | b'\t' => Self::SPACE,
                b'\r' => 0,
                b'\n' => {
                    self.lines += 1;
                    0
                }
                b'n' | b'r' | b't' if previous == b'\\' => {
                    self.lines += u32::from(*byte == b'n');
                    0
                }
                b',' => Self::COMMA,
                b'.' => Self::STOP,
                b'!' | b'?' => Self::EXCLAMATION,
                b':' => Self::COLON,
                b';' => Self::SEMICOLON,
                b'"' | b'\'' | b'`' => Self::QUOTE,
                b'(' => Self::OPEN,
                b')' => Self::CLOSE,
                b'<' | b'>' => Self::ANGLE,
                b'=' => Self::EQUALS,
                b'/' | b'@' => Self::SLASH,
                b'&' | b'+' => Self::AND,
                b'-' => Self::DASH,
                b'{' | b'}' => Self::BRACE,
                b'\\' => 0,
                // The first byte of typographic quotation marks and dashes; their kind is guessed.
                0xE2 => Self::QUOTE,
                0xC2 => Self::OTHER,
                0x80..=0xBF => 0,
                _ => Self::OTHER,
            };
            if *byte == previous && matches!(byte, b':' | b'=' | b'/') {
                self.bits |= Self::TWICE;
            }
            self.bits |= bit;
            previous = *byte;
        }
    }

    const fn has(&self, bits: u32) -> bool {
        self.bits & bits != 0
    }

    fn gap(&self, gap: &[u8]) -> Gap {
        let spaced = self.has(Self::SPACE);
        if self.lines > 1 {
            return Gap::Paragraph;
        }
        if self.lines == 1 {
            return match self.bits & !Self::SPACE {
                Self::COMMA => Gap::CommaLine,
                bits if bits & (Self::QUOTE | Self::BRACE | Self::SEMICOLON) != 0 => Gap::Other,
                _ => Gap::Line,
            };
        }
        match self.bits & !Self::SPACE {
            0 => Gap::Spaces,
            Self::COMMA if spaced => Gap::Comma,
            Self::COMMA => Gap::TightComma,
            Self::STOP if spaced => Gap::Stop,
            Self::STOP => Gap::Dot,
            Self::QUOTE if !spaced && gap.len() == 1 => Gap::Quote,
            Self::QUOTE if gap.starts_with(b"'") => Gap::Genitive,
            Self::DASH => Gap::Dash,
            Self::AND => Gap::And,
            Self::SLASH => Gap::Slash,
            bits if bits & Self::QUOTE != 0 && bits & Self::COMMA != 0 => Gap::NextValue,
            bits if bits & Self::EQUALS != 0 => Gap::Equals,
            bits if bits & Self::COLON != 0 => Gap::Colon,
            bits if bits & Self::ANGLE != 0 => Gap::Angle,
            bits if bits & Self::EXCLAMATION != 0 => Gap::Exclamation,
            bits if bits & Self::OPEN != 0 => Gap::Open,
            bits if bits & Self::CLOSE != 0 => Gap::Close,
            bits if bits & Self::QUOTE != 0 => Gap::Quote,
            _ => Gap::Other,
        }
    }
}
