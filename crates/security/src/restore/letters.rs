//! Reads a placeholder's letters over what a model or a formatter may have put between them.
//!
//! Undone are:
//!
//! - invisible characters: soft hyphen, zero-width space and joiners, word joiner, byte order mark,
//!   also as HTML (`&shy;`, `&#8203;`, `<wbr>`) or as a JSON escape (`\u200b`);
//! - a break: a line feed, a carriage return or both, as a character, as the two characters `\n`, or
//!   as `<br>`; in front of it up to three blanks, hyphens or a backslash (a shell's continued
//!   line); behind it indentation and marks of diffs, quotes and comments
//!   (`+ - > / # * | ; ! %`);
//! - in surrogates: a backslash in front of punctuation, as markdown and regular expressions write
//!   it; `%40` in an e-mail address's place in a URL (the value is then percent-encoded, too); a
//!   card's digits grouped in another way.
//!
//! Blanks in a placeholder never are: `QMAIL 4F7K` is two words. All of it together is bounded, so
//! that no text keeps a restorer waiting.

/// Bytes that may stand between the letters of one word, all gaps together.
pub(crate) const LONGEST_GAPS: usize = 64;
/// Bytes of the longest of the tokens below: a cut one is held beyond the other bounds.
pub(crate) const LONGEST_TOKEN: usize = 10;
/// What may stand in front of a break, in characters.
const BEFORE_BREAK: usize = 3;
/// How deep JSON inside JSON may escape a break.
const BACKSLASHES: usize = 4;

/// What reading a letter gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letter {
    /// A letter, digit or punctuation of a word, in upper case.
    Is(u8),
    /// The text ends before one could be told.
    Cut,
    /// Something that stands in no word.
    Other,
}

/// The letters of what may be a word.
pub(crate) struct Letters<'t> {
    text: &'t [u8],
    at: usize,
    /// What is left of [`LONGEST_GAPS`].
    spare: usize,
    /// Whether single blanks may group the letters: the digits of a card.
    is_grouped: bool,
    /// Whether one was percent-encoded.
    percent: bool,
}

impl<'t> Letters<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        let is_grouped = matches!(text, [b'9', ..]);
        Self { text, at: 0, spare: LONGEST_GAPS, is_grouped, percent: false }
    }

    /// How many bytes were read.
    pub(crate) fn read(&self) -> usize {
        self.at
    }

    /// Whether any of the letters was percent-encoded.
    pub(crate) fn percent(&self) -> bool {
        self.percent
    }

    /// The next letter, over any gap in front of it.
    pub(crate) fn next(&mut self) -> Letter {
        match self.text.get(self.at) {
            Some(byte) if is_letter(*byte) => {
                self.at += 1;
                Letter::Is(byte.to_ascii_uppercase())
            }
            Some(b' ' | b'-') if self.is_grouped => self.next_group(),
            Some(_) => self.next_over_gap(),
            None => Letter::Cut,
        }
    }

    /// The next digit of a card, over the one blank that groups it.
    fn next_group(&mut self) -> Letter {
        match self.text.get(self.at + 1) {
            Some(byte) if byte.is_ascii_digit() && self.spare > 0 => {
                self.spare -= 1;
                self.at += 2;
                Letter::Is(*byte)
            }
            Some(_) => self.next_over_gap(),
            None => Letter::Cut,
        }
    }

    #[cold]
    fn next_over_gap(&mut self) -> Letter {
        let mut breaks = 0;
        let mut before_break = 0;
        loop {
            let rest = &self.text[self.at..];
            let length = match (token(rest), breaks) {
                (Token::Letter, 0) if before_break > 0 => return Letter::Other,
                (Token::At, 0) if before_break == 0 => {
                    self.percent = true;
                    self.at += AT.len();
                    return Letter::Is(b'@');
                }
                (Token::Letter, _) => {
                    self.at += 1;
                    return Letter::Is(rest[0].to_ascii_uppercase());
                }
                (Token::Invisible(length), _)
                | (Token::Blank(length) | Token::Mark(length), 1..) => length,
                (Token::Blank(length), 0) if before_break < BEFORE_BREAK => {
                    before_break += 1;
                    length
                }
                // Two, since `\r\n` comes in many spellings.
                (Token::Break(length), 0..2) => {
                    breaks += 1;
                    length
                }
                (Token::Cut, _) => return Letter::Cut,
                _ => return Letter::Other,
            };
            match self.spare.checked_sub(length) {
                Some(spare) => self.spare = spare,
                None => return Letter::Other,
            }
            self.at += length;
        }
    }
}

/// Whether a byte stands in words: letters and digits, and the punctuation of surrogates.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'@' | b':')
}

/// What stands between letters, with its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// Nothing: a letter comes.
    Letter,
    /// An `@` in a URL.
    At,
    Invisible(usize),
    Break(usize),
    /// Something that stands on either side of a break.
    Blank(usize),
    /// Something that stands behind a break only.
    Mark(usize),
    /// The text ends within it.
    Cut,
    Other,
}

/// Entities of HTML, in lower case: their upper case is as good.
const ENTITIES: [(&str, Token); 5] = [
    ("&shy;", Token::Invisible(5)),
    ("&zwj;", Token::Invisible(5)),
    ("&zwnj;", Token::Invisible(6)),
    ("&#173;", Token::Invisible(6)),
    ("&#8203;", Token::Invisible(7)),
];

/// Tags of HTML.
const TAGS: [(&str, Token); 6] = [
    ("<wbr>", Token::Invisible(5)),
    ("<wbr/>", Token::Invisible(6)),
    ("<wbr />", Token::Invisible(7)),
    ("<br>", Token::Break(4)),
    ("<br/>", Token::Break(5)),
    ("<br />", Token::Break(6)),
];

/// Tokens that are one character beyond ASCII.
const CHARACTERS: [(&str, Token); 8] = [
    ("\u{ad}", Token::Invisible(2)),
    ("\u{200b}", Token::Invisible(3)),
    ("\u{200c}", Token::Invisible(3)),
    ("\u{200d}", Token::Invisible(3)),
    ("\u{2060}", Token::Invisible(3)),
    ("\u{feff}", Token::Invisible(3)),
    // A hyphen, and the one at which a line may not be broken but that looks the same.
    ("\u{2010}", Token::Blank(3)),
    ("\u{2011}", Token::Blank(3)),
];

/// What of all this a JSON escape may spell.
const ESCAPED: [(&str, Token); 8] = [
    ("u00ad", Token::Invisible(5)),
    ("u200b", Token::Invisible(5)),
    ("u200c", Token::Invisible(5)),
    ("u200d", Token::Invisible(5)),
    ("u2060", Token::Invisible(5)),
    ("ufeff", Token::Invisible(5)),
    ("u000a", Token::Break(5)),
    ("u000d", Token::Break(5)),
];

/// An `@`, percent-encoded.
const AT: &str = "%40";

/// What `text` begins with.
fn token(text: &[u8]) -> Token {
    match text.first() {
        None => Token::Cut,
        Some(byte) if is_letter(*byte) => Token::Letter,
        Some(b'\n' | b'\r') => Token::Break(1),
        Some(b' ' | b'\t' | b'-') => Token::Blank(1),
        Some(b'+' | b'>' | b'/' | b'#' | b'*' | b'|' | b';' | b'!') => Token::Mark(1),
        Some(b'%') => match one_of(&[(AT, Token::At)], text) {
            Token::Other => Token::Mark(1),
            token => token,
        },
        Some(b'\\') => escape(text),
        Some(b'&') => one_of(&ENTITIES, text),
        Some(b'<') => one_of(&TAGS, text),
        Some(0xc2 | 0xe2 | 0xef) => one_of(&CHARACTERS, text),
        Some(_) => Token::Other,
    }
}

/// What the backslashes that `text` begins with escape.
fn escape(text: &[u8]) -> Token {
    let slashes = text.iter().take_while(|b| **b == b'\\').count();
    if slashes > BACKSLASHES {
        return Token::Other;
    }
    let escaped = &text[slashes..];
    match escaped.first() {
        None => Token::Cut,
        Some(b'n' | b'r' | b'\n' | b'\r') => Token::Break(slashes + 1),
        Some(b't') => Token::Blank(slashes + 1),
        Some(b'u') => match one_of(&ESCAPED, escaped) {
            Token::Invisible(length) => Token::Invisible(slashes + length),
            Token::Break(length) => Token::Break(slashes + length),
            other => other,
        },
        // The letter itself comes next.
        Some(b'.' | b'@' | b':') => Token::Invisible(slashes),
        Some(_) => Token::Other,
    }
}

/// Which of `tokens`, written in lower case, `text` begins with.
fn one_of(tokens: &[(&str, Token)], text: &[u8]) -> Token {
    let mut found = Token::Other;
    for (spelling, token) in tokens {
        let same = spelling.bytes().zip(text).take_while(|(a, b)| *a == b.to_ascii_lowercase());
        let length = same.count();
        if length == spelling.len() {
            return *token;
        }
        if length == text.len() {
            found = Token::Cut;
        }
    }
    found
}
