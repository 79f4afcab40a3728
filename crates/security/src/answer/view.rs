//! A channel's text as it is meant: what is escaped in JSON is read without its escapes, and places
//! in it lead back to places in the text as it was written.

use std::borrow::Cow;
use std::ops::Range;

use crate::restore::Surrounding;

/// A text as it is meant.
pub(super) struct View<'a> {
    pub(super) text: Cow<'a, str>,
    /// Behind each escape: the place in the view, and that in the text as written.
    marks: Vec<(usize, usize)>,
    /// Places in the view of the quotes that begin and end JSON's strings.
    quotes: Vec<usize>,
    plain: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(written: &'a str, surrounding: Surrounding) -> Self {
        let (marks, quotes) = (Vec::new(), Vec::new());
        match surrounding {
            Surrounding::Text => Self { text: Cow::Borrowed(written), marks, quotes, plain: true },
            Surrounding::JsonString => Self::unescaped(written),
        }
    }

    fn unescaped(written: &'a str) -> Self {
        let bytes = written.as_bytes();
        let (mut marks, mut quotes) = (Vec::new(), Vec::new());
        let mut text = String::new();
        let mut copied = 0;
        let mut at = 0;
        while let Some(next) = memchr::memchr2(b'\\', b'"', &bytes[at..]) {
            at += next;
            if bytes[at] == b'"' {
                quotes.push(text.len() + at - copied);
                at += 1;
                continue;
            }
            let Some((character, length)) = unescape(&written[at..]) else {
                at += 1;
                continue;
            };
            text.push_str(&written[copied..at]);
            text.push(character);
            at += length;
            copied = at;
            marks.push((text.len(), at));
        }
        if marks.is_empty() {
            return Self { text: Cow::Borrowed(written), marks, quotes, plain: false };
        }
        text.push_str(&written[copied..]);
        Self { text: Cow::Owned(text), marks, quotes, plain: false }
    }

    /// The place in the text as written that a place in the view stands for.
    pub(super) fn written(&self, at: usize) -> usize {
        let behind = self.marks.partition_point(|(view, _)| *view <= at);
        match behind.checked_sub(1).map(|mark| self.marks[mark]) {
            Some((view, written)) => written + (at - view),
            None => at,
        }
    }

    /// The place in the view of a place in the text as written, which is not within an escape.
    pub(super) fn viewed(&self, written: usize) -> usize {
        let behind = self.marks.partition_point(|(_, mark)| *mark <= written);
        match behind.checked_sub(1).map(|mark| self.marks[mark]) {
            Some((view, mark)) => (view + (written - mark)).min(self.text.len()),
            None => written,
        }
    }

    /// Whether the text is no JSON.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// The quotes within `range` that begin and end JSON's strings.
    pub(super) fn quotes(&self, range: Range<usize>) -> &[usize] {
        let from = self.quotes.partition_point(|quote| *quote < range.start);
        let to = self.quotes.partition_point(|quote| *quote < range.end);
        &self.quotes[from..to.max(from)]
    }
}

/// The character of the escape that `text` begins with, and the escape's length.
fn unescape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'u' => {
            let first = unit(text)?;
            let pair = [Some(first), text.get(6..).and_then(unit)];
            let units = pair.into_iter().flatten();
            let character = char::decode_utf16(units).next()?.unwrap_or('\u{FFFD}');
            return Some((character, 6 * character.len_utf16()));
        }
        _ => return None,
    };
    Some((character, 2))
}

/// The UTF-16 unit of the escape `\uXXXX` that `text` begins with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then_some(())?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_lead_back_to_what_was_written() {
        let written = r#"{"a":"x\n\"q\" \u00e9\ud83d\ude80 z"}"#;
        let view = View::new(written, Surrounding::JsonString);
        assert_eq!(view.text, "{\"a\":\"x\n\"q\" é🚀 z\"}");
        let quotes: Vec<_> = view.quotes(0..99).iter().map(|at| view.written(*at)).collect();
        let expected: Vec<_> = [1, 3, 5].into_iter().chain([written.len() - 2]).collect();
        assert_eq!(quotes, expected);
        let word = |word: &str| view.text.find(word).unwrap();
        let place = |word_start: usize, length: usize| {
            &written[view.written(word_start)..view.written(word_start + length)]
        };
        assert_eq!(place(word("é"), 2), r"\u00e9");
        assert_eq!(place(word("🚀"), 4), r"\ud83d\ude80");
        assert_eq!(place(word("q\""), 1), "q");
    }

    proptest! {
        #[test]
        fn any_string_is_read_as_serde_reads_it(text in ".{0,40}", tail in "[\\\\ud83n\"a ]{0,12}") {
            let written = serde_json::to_string(&text).unwrap();
            let view = View::new(&written, Surrounding::JsonString);
            prop_assert_eq!(&view.text[1..view.text.len() - 1], text);
            for (at, _) in view.text.char_indices() {
                prop_assert!(written.is_char_boundary(view.written(at)));
                prop_assert_eq!(view.viewed(view.written(at)), at);
            }
            let view = View::new(&tail, Surrounding::JsonString);
            for (at, _) in view.text.char_indices() {
                prop_assert!(tail.is_char_boundary(view.written(at)));
            }
        }
    }
}
