//! The look of a whole text, as bits.

use super::shape::{Class, Counts, Line};
use super::text::Turn;

/// What may apply to a text.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(super) enum Look {
    Code,
    MostlyCode,
    Log,
    Diff,
    Items,
    EndsAsking,
    Asks,
    EndsWithColon,
    Fenced,
    Link,
    Arrow,
    OtherScript,
    StartsSmall,
    ManyDigits,
    Quotes,
    Short,
    Long,
    Paragraphs,
    Equals,
    Latex,
    Choices,
    CodeFirst,
    CodeLast,
    Exclaims,
    Ticks,
    EndsWithStop,
    Blank,
    FirstAsks,
}

/// Lines of each kind, counted.
#[derive(Default)]
pub(super) struct Looks {
    pub(super) lines: u32,
    code: u32,
    log: u32,
    diff: u32,
    items: u32,
    prose: u32,
    blanks: u32,
    choices: u32,
    first: Option<Line>,
    last: Option<Line>,
    first_asks: bool,
    counts: Counts,
}

impl Looks {
    pub(super) fn line(&mut self, line: &str, counts: &Counts, kind: Line) {
        self.counts.add(counts);
        match kind {
            Line::Blank => {
                self.blanks += 1;
                return;
            }
            Line::Prose => self.prose += 1,
            Line::Code => self.code += 1,
            Line::Log => self.log += 1,
            Line::Diff => self.diff += 1,
            Line::Item => self.items += 1,
        }
        self.lines += 1;
        if self.first.is_none() {
            self.first = Some(kind);
            self.first_asks = line.trim_ascii_end().ends_with(['?', '？', '؟']);
        }
        self.last = Some(kind);
        let bytes = line.as_bytes();
        let is_choice = bytes.len() > 2
            && bytes[0].is_ascii_uppercase()
            && bytes[0] < b'F'
            && matches!(bytes[1], b'.' | b')');
        self.choices += u32::from(is_choice);
    }

    /// The bits that are set.
    pub(super) fn of(&self, text: &str, turn: &Turn) -> u32 {
        let text = text.trim_ascii();
        let bytes = text.as_bytes();
        let count = |class: Class| self.counts.get(class);
        let code = self.code + self.diff + self.log;
        let mut looks = 0;
        let mut set = |look: Look, applies: bool| looks |= u32::from(applies) << look as u32;
        set(Look::Code, self.code > 0);
        set(Look::MostlyCode, code > self.prose + self.items);
        set(Look::Log, self.log > 0);
        set(Look::Diff, self.diff > 0);
        set(Look::Items, self.items > 1);
        set(Look::EndsAsking, text.ends_with(['?', '？', '؟']));
        set(Look::Asks, count(Class::Asking) > 0);
        set(Look::EndsWithColon, bytes.last() == Some(&b':'));
        set(Look::Fenced, turn.fences > 0);
        set(Look::Link, text.contains("://"));
        set(Look::Arrow, text.contains('→') || text.contains("->") || text.contains("=>"));
        set(Look::OtherScript, count(Class::Foreign) * 4 > bytes.len());
        set(Look::StartsSmall, bytes.first().is_some_and(u8::is_ascii_lowercase));
        set(Look::ManyDigits, count(Class::Digit) * 12 > bytes.len());
        set(Look::Quotes, count(Class::Quote) > 1);
        set(Look::Short, bytes.len() < 60);
        set(Look::Long, bytes.len() > 700);
        set(Look::Paragraphs, self.blanks > 0);
        set(Look::Equals, count(Class::Equals) > 0);
        set(Look::Latex, count(Class::Backslash) + count(Class::Caret) > 1);
        set(Look::Choices, self.choices > 1);
        set(Look::CodeFirst, self.first.is_some_and(is_code));
        set(Look::CodeLast, self.last.is_some_and(is_code));
        set(Look::Exclaims, count(Class::Exclaiming) > 0);
        set(Look::Ticks, count(Class::Tick) > 1);
        set(Look::EndsWithStop, bytes.last() == Some(&b'.'));
        set(Look::Blank, bytes.is_empty());
        set(Look::FirstAsks, self.first_asks);
        looks
    }
}

fn is_code(line: Line) -> bool {
    matches!(line, Line::Code | Line::Log | Line::Diff)
}
