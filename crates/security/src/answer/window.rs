//! Cuts a channel's text into the segments that are examined.
//!
//! Where a segment ends depends on the text alone and never on how it came: a stream is judged as
//! the whole answer would be. A segment ends at the end of a line or of a statement that goes on over
//! lines; where text waits for its verdict, at the end of a word too, unless what stands there calls
//! for the whole line. No segment is longer than its [`Measure`].

use super::triggers::{Need, REACH};
use crate::restore::Surrounding;

/// How long segments are, and how much of the text in front of one is examined with it.
#[derive(Debug, Clone, Copy)]
struct Measure {
    /// Shorter ones are not cut off: a bound on how often the text in front is examined again.
    least: usize,
    /// No segment is longer.
    most: usize,
    look_back: usize,
}

/// For text that passes at once: the later it is examined, the less is examined again. Longer too than
/// the longest secret by far: names whose values end with the segment are read to there, each of them.
const PASSING: Measure = Measure { least: 1024, most: 8192, look_back: 384 };
/// For text that waits.
const WAITING: Measure = Measure { least: 64, most: MOST_WAITING, look_back: 256 };
/// The most that waits for its verdict, in bytes.
pub(super) const MOST_WAITING: usize = 2048;

/// A channel's text that has not been examined, and the end of what has been.
pub(super) struct Window {
    surrounding: Surrounding,
    /// Whether the text waits for its verdict.
    waits: bool,
    text: String,
    /// Where the text that was not examined begins.
    from: usize,
    /// Up to where an end has been looked for.
    searched: usize,
    /// Whether the segment holds something that has to be seen together with the rest of its line.
    needs_line: bool,
    /// Up to where that has been asked.
    asked: usize,
}

impl Window {
    pub(super) fn new(surrounding: Surrounding, waits: bool) -> Self {
        let text = String::new();
        Self { surrounding, waits, text, from: 0, searched: 0, needs_line: false, asked: 0 }
    }

    fn measure(&self) -> Measure {
        if self.waits { WAITING } else { PASSING }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Bytes that were not examined.
    pub(super) fn pending(&self) -> usize {
        self.text.len() - self.from
    }

    /// The end of the next segment, which is all that is there where the text is over. `need` says
    /// how much of the rest of its line has to be seen together with a text.
    pub(super) fn segment_end(&mut self, over: bool, need: impl Fn(&str) -> Need) -> Option<usize> {
        let end = self.complete_segment(need);
        end.or_else(|| (over && self.pending() > 0).then_some(self.text.len()))
    }

    fn complete_segment(&mut self, need: impl Fn(&str) -> Need) -> Option<usize> {
        let Measure { least, most, .. } = self.measure();
        let most = self.from + most;
        loop {
            let next = self.next_mark();
            if next.unwrap_or(self.text.len()) >= most {
                return Some(self.forced_end(most));
            }
            let Some(at) = next else {
                self.searched = self.text.len();
                return None;
            };
            let rest = &self.text.as_bytes()[at..];
            let (length, ends_line) = match (rest, self.surrounding) {
                ([b'\\'], Surrounding::JsonString) => {
                    self.searched = at;
                    return None;
                }
                ([b'\\', b'n', ..], Surrounding::JsonString) => (2, true),
                ([b'\\', b'u', tail @ ..], Surrounding::JsonString) => {
                    if tail.len() < 4 {
                        self.searched = at;
                        return None;
                    }
                    self.searched = self.text.ceil_char_boundary(at + 6);
                    continue;
                }
                ([b'\\', ..], Surrounding::JsonString) => {
                    self.searched = self.text.ceil_char_boundary(at + 2);
                    continue;
                }
                ([first, ..], _) => (1, *first == b'\n'),
                ([], _) => return None,
            };
            self.searched = at + length;
            if self.searched - self.from < least {
                continue;
            }
            if ends_line {
                if !goes_on(&self.text[self.from..at]) {
                    return Some(self.searched);
                }
            } else if self.waits && !self.needs_line && at >= self.asked + REACH {
                // What was asked before is not asked again, but for what was too near the end.
                let again = self.asked.saturating_sub(2 * REACH).max(self.from);
                let again = self.text.floor_char_boundary(again);
                self.asked = at;
                match need(&self.text[again..self.searched]) {
                    Need::Nothing => return Some(self.searched),
                    Need::More => {}
                    Need::Line => self.needs_line = true,
                }
            }
        }
    }

    /// The place of the next character at which a segment may end, or that has to be stepped over.
    fn next_mark(&self) -> Option<usize> {
        let rest = &self.text.as_bytes()[self.searched..];
        let found = match (self.surrounding, self.waits) {
            (Surrounding::Text, false) => memchr::memchr(b'\n', rest),
            (Surrounding::Text, true) => memchr::memchr3(b'\n', b' ', b'\t', rest),
            (Surrounding::JsonString, _) => memchr::memchr3(b'\n', b' ', b'\\', rest),
        };
        found.map(|at| self.searched + at)
    }

    /// Where a segment ends that would become too long: at its last white space, else right there.
    fn forced_end(&self, most: usize) -> usize {
        let segment = &self.text.as_bytes()[self.from..most];
        match memchr::memrchr2(b'\n', b' ', segment) {
            Some(at) => self.from + at + 1,
            // Not within an escape.
            None => self.text.floor_char_boundary(most).max(self.searched),
        }
    }

    /// The segment up to `end` with the text in front of it, and where in that the segment begins.
    pub(super) fn examined(&self, end: usize) -> (&str, usize) {
        let start = match self.from.checked_sub(self.measure().look_back) {
            None => 0,
            // From the next white space on: not within a word or an escape.
            Some(start) => {
                let start = self.text.floor_char_boundary(start);
                let space = memchr::memchr2(b'\n', b' ', &self.text.as_bytes()[start..self.from]);
                space.map_or(self.from, |at| start + at + 1)
            }
        };
        (&self.text[start..end], self.from - start)
    }

    /// The segment up to `end`.
    pub(super) fn segment(&self, end: usize) -> &str {
        &self.text[self.from..end]
    }

    /// The segment up to `end` has been examined.
    pub(super) fn advance(&mut self, end: usize) {
        self.from = end;
        self.searched = self.searched.max(end);
        self.needs_line = false;
        self.asked = end;
        let kept = 2 * self.measure().look_back;
        if self.from > 4 * kept {
            let gone = self.text.floor_char_boundary(self.from - kept);
            self.text.drain(..gone);
            self.from -= gone;
            self.searched -= gone;
            self.asked -= gone;
        }
    }
}

/// Whether the statement at the end of `text` goes on in the next line.
fn goes_on(text: &str) -> bool {
    let line = text.trim_end_matches([' ', '\t', '\r']);
    // A key's first line tells whether it is one.
    line.ends_with("PRIVATE KEY-----")
        || line.ends_with(['\\', '(', '[', '{', ',', '+', '|', '&', '='])
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    fn segments(pieces: &[&str], surrounding: Surrounding, waits: bool) -> Vec<String> {
        let mut window = Window::new(surrounding, waits);
        let mut segments = Vec::new();
        let mut take = |window: &mut Window, over| {
            while let Some(end) = window.segment_end(over, |text| {
                if text.contains("://") { Need::Line } else { Need::Nothing }
            }) {
                segments.push(window.segment(end).to_owned());
                let (examined, from) = window.examined(end);
                assert_eq!(&examined[from..], window.segment(end));
                window.advance(end);
            }
        };
        for piece in pieces {
            window.push(piece);
            take(&mut window, false);
        }
        take(&mut window, true);
        segments
    }

    fn pieces(text: &str, cuts: &[usize]) -> Vec<String> {
        let mut places: Vec<_> =
            cuts.iter().map(|cut| text.floor_char_boundary(cut % (text.len() + 1))).collect();
        places.sort_unstable();
        places.push(text.len());
        let mut from = 0;
        places.into_iter().map(|to| text[std::mem::replace(&mut from, to)..to].to_owned()).collect()
    }

    #[test]
    fn lines_words_and_statements_are_kept_together() {
        let text = format!("{} see https://a.b/c for this\nand\n", "word ".repeat(15));
        let cut = segments(&[&text], Surrounding::Text, true);
        assert_eq!(cut[0], "word ".repeat(13));
        assert_eq!(cut[1], "word word  see https://a.b/c for this\nand\n");
        let curl =
            "curl https://a.b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/1/2 \\\n  -d x\n";
        assert_eq!(segments(&[curl], Surrounding::Text, true), [curl]);
        let long = "x".repeat(9000);
        let cut = segments(&[&long], Surrounding::Text, false);
        assert_eq!(cut.iter().map(String::len).collect::<Vec<_>>(), [8192, 808]);
    }

    /// A bound on the bytes that are examined or asked about, whatever the text is made of: at least
    /// 64 new bytes are examined with 256 before them, and 24 new ones asked about with 48.
    #[test]
    fn no_text_is_examined_again_and_again() {
        let units =
            ["\n", " ", "\\", "\\n", "key ", "https://a.io/ ", "(\n", "curl \\\n", "q", "é"];
        let both = [false, true]
            .map(|waits| [(waits, Surrounding::Text), (waits, Surrounding::JsonString)]);
        for (unit, (waits, surrounding)) in
            units.iter().flat_map(|unit| both.as_flattened().iter().map(move |case| (unit, *case)))
        {
            let text = unit.repeat(60_000 / unit.len());
            for answer in [Need::Nothing, Need::More, Need::Line] {
                let looked = Cell::new(0);
                let mut window = Window::new(surrounding, waits);
                for piece in text.as_bytes().chunks(8 * unit.len()) {
                    window.push(std::str::from_utf8(piece).unwrap());
                    let need = |text: &str| {
                        looked.update(|bytes| bytes + text.len());
                        answer
                    };
                    while let Some(end) = window.segment_end(false, need) {
                        looked.update(|bytes| bytes + window.examined(end).0.len());
                        window.advance(end);
                    }
                }
                let looked = looked.get();
                assert!(looked < 9 * text.len(), "{unit:?} {waits} {answer:?}: {looked}");
            }
        }
    }

    proptest! {
        #[test]
        fn where_a_segment_ends_does_not_depend_on_the_pieces(
            text in "([a-z]{1,9}[ \n,]|://|\\\\n|\\\\\\\\|\\\\u00e9|\\\\\"|é|[a-z]{500}){0,120}",
            cuts in prop::collection::vec(any::<usize>(), 0..20),
            waits: bool,
            json: bool,
        ) {
            let surrounding = if json { Surrounding::JsonString } else { Surrounding::Text };
            let pieces = pieces(&text, &cuts);
            let pieces: Vec<&str> = pieces.iter().map(|piece| &**piece).collect();
            let whole = segments(&[&text], surrounding, waits);
            prop_assert_eq!(whole.concat(), text.as_str());
            prop_assert!(whole.iter().all(|segment| segment.len() <= PASSING.most + 6));
            prop_assert_eq!(segments(&pieces, surrounding, waits), whole);
        }
    }
}
