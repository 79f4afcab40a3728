//! The words of a sentence, without the signs around them.

use crate::detectors::words::{WordList, sorted};

/// Words that join one part of a sentence to the next.
static CONJUNCTIONS: WordList = WordList::new(&sorted([
    "and", "but", "und", "et", "y", "e", "en", "och", "og", "ja", "i", "a", "és", "и", "і", "та",
    "ve", "και", "và", "dan", "ir", "un",
]));

/// A word of prose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The word without quotes and the like.
    pub(super) written: &'a str,
    /// What was taken away behind it.
    pub(super) behind: &'a str,
    /// Whether quotes or the like were around it.
    pub(super) is_quoted: bool,
    /// How many lines end between the word before and this one.
    pub(super) lines_before: usize,
}

impl Chunk<'_> {
    /// Whether it is the only word of its line, or what one of a chat says.
    pub(super) fn is_alone(&self, text: &str) -> bool {
        /// What is read on either side: a speaker's name is shorter.
        const REACH: usize = 64;
        let from = text.floor_char_boundary(self.start.saturating_sub(REACH));
        let to = text.ceil_char_boundary((self.end + REACH).min(text.len()));
        let before = &text[from..self.start];
        let line = before.rsplit('\n').next().unwrap_or(before).trim();
        let behind = text[self.end..to].split('\n').next().unwrap_or_default().trim();
        let is_speaker = line.ends_with(['>', ':', ']']) && !line.contains(' ') && line.len() < 32;
        (line.is_empty() || is_speaker || matches!(line, "-" | "*")) && behind.len() < 2
    }

    /// Whether it ends a line or a part of a sentence.
    pub(super) fn ends_clause(&self, text: &str) -> bool {
        if self.behind.contains([',', ';', '.', ')', '，', '。', '、']) {
            return true;
        }
        // Conjunctions are short.
        const REACH: usize = 32;
        let to = text.floor_char_boundary(text.len().min(self.end + REACH));
        let behind = text[self.end..to].trim_start_matches([' ', '\r']);
        behind.is_empty() || behind.starts_with(['\n', '(', '/']) || {
            let next = behind.split([' ', '\n']).next().unwrap_or(behind);
            CONJUNCTIONS.has(next)
        }
    }

    /// Whether brackets and a semicolon behind it end a statement.
    pub(super) fn ends_statement(&self) -> bool {
        self.behind.contains(");") || self.behind.contains("))") || self.written.contains(");")
    }

    /// Whether no sentence has such a word.
    pub(super) fn is_code(&self) -> bool {
        // Most words are seen to be none at once: all that follows has one of these.
        let is_sign = |b: u8| {
            matches!(
                b,
                b'(' | b'{' | b'}' | b'=' | b':' | b';' | b'[' | b'&' | b'|' | b'<' | b'>' | b'+'
            )
        };
        if !self.written.bytes().any(is_sign) {
            return !self.behind.is_empty() && self.ends_statement();
        }
        // Of what was to what is now.
        if matches!(self.written, "->" | "=>") {
            return false;
        }
        let has = |parts: &[&str]| parts.iter().any(|part| self.written.contains(part));
        matches!(self.written, "=" | "|" | "==" | "+" | "!=")
            || has(&[
                "()", "(\"", "('", "{", "}", "=>", "->", "::", "!=", "==", "};", "[]", "&&", "||",
                "</", "/>",
            ])
            || self.ends_statement()
            || self.written.len() > 1 && has(&["=", ";"])
    }
}

/// Reads words from one place to another.
pub(super) struct Chunks<'a> {
    text: &'a str,
    at: usize,
    limit: usize,
}

impl<'a> Chunks<'a> {
    pub(super) fn new(text: &'a str, at: usize, limit: usize) -> Self {
        Self { text, at, limit: limit.min(text.len()) }
    }
}

/// What may stand around a word.
const OPENING: [char; 12] = ['"', '\'', '`', '*', '(', '[', '“', '”', '„', '«', '‘', '「'];
const CLOSING: [char; 18] =
    ['"', '\'', '`', '*', ')', ']', '“', '”', '»', '’', '」', '.', ',', ':', ';', '。', '，', '、'];
const QUOTES: [char; 10] = ['"', '\'', '`', '“', '”', '„', '«', '‘', '「', '*'];
/// No word is longer.
const LONGEST: usize = 600;

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut lines = 0;
        // `\n` of a text within a string counts as well.
        loop {
            match bytes.get(self.at..)? {
                [b'\n', ..] => (lines, self.at) = (lines + 1, self.at + 1),
                [b' ' | b'\t' | b'\r', ..] => self.at += 1,
                [b'\\', b'n', ..] => (lines, self.at) = (lines + 1, self.at + 2),
                [] => return None,
                _ => break,
            }
        }
        if self.at >= self.limit {
            return None;
        }
        let stretch = &bytes[self.at..bytes.len().min(self.at + LONGEST)];
        let ends = |i: usize| {
            matches!(stretch[i], b' ' | b'\t' | b'\r' | b'\n')
                || stretch[i] == b'\\' && matches!(stretch.get(i + 1), Some(b'n' | b'r' | b't'))
                || matches!(
                    stretch.get(i..i + 3),
                    Some([0xE3, 0x80, 0x81 | 0x82] | [0xEF, 0xBC, 0x8C | 0x9A | 0x81])
                )
        };
        let mut length = (0..stretch.len()).find(|i| ends(*i)).unwrap_or(stretch.len());
        if stretch.get(length).is_some_and(|b| *b >= 0x80) {
            length += 3;
        }
        let start = self.at;
        let end = text.floor_char_boundary(start + length.max(1)).max(start);
        let end = if end == start { text.ceil_char_boundary(start + 1) } else { end };
        self.at = end;
        Some(stripped(text, start, end, lines))
    }
}

fn stripped(text: &str, start: usize, end: usize, lines_before: usize) -> Chunk<'_> {
    let whole = &text[start..end];
    // Most words have no signs around them.
    let is_plain = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    if is_plain(whole.as_bytes().first()) && is_plain(whole.as_bytes().last()) {
        return Chunk { start, end, written: whole, behind: "", is_quoted: false, lines_before };
    }
    let opened = whole.trim_start_matches(OPENING);
    let before = &whole[..whole.len() - opened.len()];
    // What a quote opened goes on to the quote that closes it.
    let quote = before.chars().next_back().filter(|c| QUOTES.contains(c) && *c != '*');
    let closing = quote.map(|quote| match quote {
        '“' | '„' => '”',
        '«' => '»',
        '‘' => '’',
        '「' => '」',
        same => same,
    });
    if let Some(close) = closing
        && let Some(length) = opened.rfind([close, '“'])
        // RST has two on either side.
        && let length = opened[..length].trim_end_matches(close).len()
        && length > 0
    {
        let start = start + before.len();
        let written = &opened[..length];
        let behind = &opened[length..];
        return Chunk {
            start,
            end: start + length,
            written,
            behind,
            is_quoted: true,
            lines_before,
        };
    }
    // Stars belong to the value, but for those that make it bold.
    let bold = before.len() - before.trim_end_matches('*').len();
    let mut written = opened;
    loop {
        let shorter = written.trim_end_matches(|c| CLOSING.contains(&c) && c != '*');
        let shorter = shorter.trim_end_matches(['，', '：', '！']);
        if shorter.len() == written.len() {
            break;
        }
        written = shorter;
    }
    let is_bold = bold > 0 && written.ends_with(&"*".repeat(bold));
    if is_bold {
        written = &written[..written.len() - bold];
    }
    // `!` and `?` are read as part of a value; they end sentences all the same.
    let behind = &opened[written.len()..];
    let behind = if behind.is_empty() && written.ends_with(['?', '!']) {
        &written[written.len() - 1..]
    } else {
        behind
    };
    let start = start + before.len();
    let end = start + written.len();
    Chunk { start, end, written, behind, is_quoted: is_bold, lines_before }
}
