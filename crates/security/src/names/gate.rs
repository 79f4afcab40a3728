//! Walks a text fast and stops where something could be a name.
//!
//! The first pass classifies 64 bytes at a time and leaves a bit for every capitalised word and
//! the number of marks that code is full of. The second visits those words: a look into the
//! gazetteer tells nearly all of them off. What remains triggers a window, bounded on both sides, so
//! that any text takes linear time.

use fearless_simd::{Level, dispatch};

use super::blocks::{BLOCK, Block, classify};
use super::gazetteer::{Flags, Gazetteer};
use super::key::{self, Key};
use super::token::{Gap, Shape, Token, Tokenizer, is_word_byte};
use super::word;
use crate::detectors::Budget;
use crate::kind::{Kind, Kinds};

/// What surrounds a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Region {
    /// Sentences, letters, chats.
    Prose,
    /// Comments, and text with some marks of code around it.
    Mixed,
    /// Code, configuration, markup, data.
    Code,
    /// Sentences all in lower case.
    Lower,
}

/// Words around a place that could be a name.
pub(super) struct Window<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    /// The words, with the window's context on both sides.
    pub(super) tokens: &'a [Token],
    /// What surrounds them.
    pub(super) region: Region,
}

/// Blocks of a chunk, and those around it that its windows look at.
const CHUNK: usize = 128;
const AROUND: usize = 4;
/// So many marks in a thousand bytes of a chunk, and its sentences are comments.
const CODE_NEARBY: usize = 8;
/// Of a block of sentences so many bytes are letters and spaces.
const MOSTLY: u8 = 54;
/// How far a window looks back, in bytes.
const LOOK_BACK: usize = 48;
/// The longest window.
const LONGEST_BYTES: usize = 1024;
const LONGEST_TOKENS: usize = 96;
/// What a look at a word costs that is not a capitalised one.
const COST_OF_A_WORD: usize = 4;
/// A window ends behind so many words in a row that are no part of a name.
const QUIET_TOKENS: usize = 2;

/// Calls `visit` for every window of `text`, and `native` for every block of bytes with letters of
/// China, Japan or Korea.
pub(super) fn windows(
    text: &str,
    gazetteer: &Gazetteer,
    (kinds, hide): (Kinds, u32),
    budget: &Budget,
    native: &mut dyn FnMut(usize),
    mut visit: impl FnMut(&Window<'_>),
) {
    let mut gate = Gate {
        text,
        gazetteer,
        places: kinds.contains(Kind::Location) || kinds.contains(Kind::Organization),
        tokenizer: Tokenizer::new(text, gazetteer, 0, hide),
        tokens: Vec::new(),
        done: 0,
        budget,
    };
    let bytes = text.as_bytes();
    let blocks = bytes.len().div_ceil(BLOCK);
    let mut chunk = [Block::default(); CHUNK + 2 * AROUND];
    let mut first = 0;
    while first < blocks {
        let from = first.saturating_sub(AROUND);
        let to = (first + CHUNK + AROUND).min(blocks);
        let level = Level::new();
        dispatch!(level, simd => classify(simd, bytes, from * BLOCK, &mut chunk[..to - from]));
        let dense = density(&chunk[..to - from]) >= CODE_NEARBY;
        for i in first..(first + CHUNK).min(blocks) {
            let around = Around { blocks: &chunk[..to - from], at: i - from, dense };
            if chunk[i - from].capitals != 0 {
                gate.visit_capitals(chunk[i - from].capitals, i * BLOCK, around, &mut visit);
            }
            if chunk[i - from].is_native {
                native(i * BLOCK);
            }
            if !chunk[i - from].ascii_capitals && around.is_lower_prose() {
                gate.visit_lower(i * BLOCK, &mut visit);
            }
        }
        first += CHUNK;
    }
}

/// How many of a thousand bytes are marks of code.
fn density(blocks: &[Block]) -> usize {
    let marks: usize = blocks.iter().map(|block| usize::from(block.marks)).sum();
    marks * 1000 / (blocks.len() * BLOCK)
}

/// A block and its neighbours.
#[derive(Clone, Copy)]
struct Around<'a> {
    blocks: &'a [Block],
    at: usize,
    /// Whether there is code somewhere near.
    dense: bool,
}

impl Around<'_> {
    fn neighbours(&self, reach: usize) -> &[Block] {
        let end = (self.at + reach + 1).min(self.blocks.len());
        &self.blocks[self.at.saturating_sub(reach)..end]
    }

    fn region(&self) -> Region {
        // Of a thousand bytes of prose less than ten are such marks; of code fifty to two hundred.
        match density(self.neighbours(AROUND)) {
            0..10 if !self.dense => Region::Prose,
            0..40 => Region::Mixed,
            _ => Region::Code,
        }
    }

    /// Whether this is text all of whose words are in lower case, as people chat.
    fn is_lower_prose(&self) -> bool {
        let here = self.blocks[self.at];
        here.plain >= MOSTLY
            && here.marks == 0
            && !self.dense
            && self.neighbours(AROUND).iter().all(|block| !block.ascii_capitals && block.marks <= 1)
    }
}

/// Whether the word from `at` to `end` stands between digits as in `12/Mar/2024`: logs are full of it.
#[inline]
fn is_month(bytes: &[u8], at: usize, end: usize) -> bool {
    let is_sign = |byte: Option<&u8>| matches!(byte, Some(b'/' | b'-'));
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    is_sign(bytes.get(end))
        && is_digit(bytes.get(end + 1))
        && at >= 2
        && is_sign(bytes.get(at - 1))
        && is_digit(bytes.get(at - 2))
}

struct Gate<'a> {
    text: &'a str,
    gazetteer: &'a Gazetteer,
    /// Whether places and organisations are looked for.
    places: bool,
    /// Goes on behind the last window's words where the next window is near.
    tokenizer: Tokenizer<'a>,
    tokens: Vec<Token>,
    /// Everything before this byte was labelled.
    done: usize,
    budget: &'a Budget,
}

impl Gate<'_> {
    /// Visits the capitalised words of a block.
    fn visit_capitals(
        &mut self,
        mut capitals: u64,
        base: usize,
        around: Around<'_>,
        visit: &mut impl FnMut(&Window<'_>),
    ) {
        while capitals != 0 {
            let at = base + capitals.trailing_zeros() as usize;
            capitals &= capitals - 1;
            if at >= self.done && self.budget.has(at) && self.triggers(at, around) {
                self.window(at, around.region(), visit);
            }
        }
    }

    /// Whether the capitalised word at `at` could be a part of a name.
    #[inline]
    fn triggers(&self, at: usize, around: Around<'_>) -> bool {
        let bytes = self.text.as_bytes();
        if bytes.get(at + 1).is_some_and(u8::is_ascii_uppercase) {
            return self.triggers_in_capitals(at);
        }
        let lower_case = |c: char| !c.is_uppercase();
        if bytes[at] >= 0x80 && self.text[at..].chars().next().is_none_or(lower_case) {
            return false;
        }
        let (end, kind) = word_end(self.text, at);
        if kind == WordEnd::Identifier || end - at < 2 || is_month(bytes, at, end) {
            return false;
        }
        let flags = self.flags(at, end);
        if is_value(bytes, at)
            && !flags.any(Flags::ORDINARY.with(Flags::TECHNICAL))
            && self.triggers_as_value(at)
        {
            return true;
        }
        if flags.any(Flags::PERSON.with(Flags::STREET_END))
            && !flags.any(Flags::COMMON.with(Flags::TECHNICAL))
        {
            return true;
        }
        if self.places
            && flags.any(Flags::PLACES.with(Flags::ORGANIZATION))
            && !flags.any(Flags::COMMON)
        {
            return true;
        }
        // A word that nobody writes in lower case, or two capitalised ones in a row.
        let next = match bytes.get(end..end + 2) {
            Some([b' ', next]) => Some((end + 1, *next)),
            Some([b'.', b' ']) => bytes.get(end + 2).map(|next| (end + 2, *next)),
            _ => None,
        };
        match next {
            Some((_, b'0'..=b'9')) => {
                flags.any(Flags::UNIT) || !flags.any(Flags::COMMON.with(Flags::TECHNICAL))
            }
            Some((next, b'A'..=b'Z' | 0xC3..=0xDF)) => {
                let (next_end, kind) = word_end(self.text, next);
                if kind == WordEnd::Identifier {
                    return false;
                }
                let next_flags = self.flags(next, next_end);
                let ordinary = Flags::ORDINARY.with(Flags::TECHNICAL);
                flags.any(Flags::TITLE)
                    || next_flags.any(Flags::WAY) && !flags.any(ordinary)
                    || flags.any(Flags::PERSON.with(Flags::STREETS))
                    || next_flags.any(Flags::NAMES.without(Flags::UNIT))
                        && !next_flags.any(Flags::COMMON)
                    || !flags.any(ordinary) && !next_flags.any(ordinary)
            }
            _ => {
                !flags.any(Flags::ORDINARY.with(Flags::TECHNICAL))
                    && around.region() == Region::Prose
                    && kind == WordEnd::Word
                    || flags.any(Flags::TITLE)
                    || flags.any(Flags::WAY) && kind == WordEnd::Word
            }
        }
    }

    /// Whether the field's name in front of the word at `at` says that it is a name.
    #[inline(never)]
    fn triggers_as_value(&self, at: usize) -> bool {
        match key::before(self.text, at) {
            Key::PersonName | Key::Person | Key::Address => true,
            Key::Place | Key::Organization => self.places,
            _ => false,
        }
    }

    /// Whether the word at `at`, all in capitals, is a known name beside another word that could be
    /// one: `ANNA MEIER`, `MEIER Anna`, `MEIER^ANNA`.
    fn triggers_in_capitals(&self, at: usize) -> bool {
        const LONGEST: usize = 24;
        let bytes = self.text.as_bytes();
        let capitals = |from: usize| {
            letters_end(self.text, from, (from + LONGEST).min(bytes.len()), u8::is_ascii_uppercase)
        };
        let end = capitals(at);
        if end - at >= 2
            && !bytes.get(end).is_some_and(|byte| is_word_byte(*byte))
            && is_value(bytes, at)
        {
            let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
            if !self.flags(at, end).any(plain) && self.triggers_as_value(at) {
                return true;
            }
        }
        let next = match bytes.get(end..end + 2) {
            Some(b", ") => end + 2,
            Some([b' ' | b'^' | b'/', _]) => end + 1,
            _ => return false,
        };
        if end - at < 3 || !bytes.get(next).is_some_and(|b| b.is_ascii_uppercase() || *b >= 0xC3) {
            return false;
        }
        let mut next_end = capitals(next);
        let is_titled = bytes.get(next_end).is_some_and(u8::is_ascii_lowercase);
        if is_titled {
            next_end = word_end(self.text, next).0;
        }
        let closes = |byte: &u8| !is_word_byte(*byte) && *byte != b'(';
        if next_end - next < 3 || !bytes.get(next_end).is_none_or(closes) {
            return false;
        }
        let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
        let (flags, next) = (self.flags(at, end), self.flags(next, next_end));
        !flags.any(plain)
            && !next.any(plain)
            && if is_titled {
                flags.any(Flags::LAST) && next.any(Flags::FIRST)
            } else {
                flags.any(Flags::FIRST) || flags.any(Flags::LAST) && next.any(Flags::PERSON)
            }
    }

    fn flags(&self, start: usize, end: usize) -> Flags {
        let Some(text) = self.text.get(start..end) else {
            return Flags::default();
        };
        let flags = self.gazetteer.look_up(word::hash_in(self.text, start, end));
        if flags == Flags::default() && super::gazetteer::ends_like_a_street(text) {
            return Flags::STREET_END;
        }
        flags
    }

    /// Visits the words of a block that has no capital.
    fn visit_lower(&mut self, base: usize, visit: &mut impl FnMut(&Window<'_>)) {
        let bytes = self.text.as_bytes();
        let end = (base + BLOCK).min(bytes.len());
        let mut at = base;
        // A word that began in the block before was visited with it.
        while base > 0 && at < end && is_word_byte(bytes[at]) && is_word_byte(bytes[at - 1]) {
            at += 1;
        }
        while at < end {
            if !is_word_byte(bytes[at]) {
                let escape =
                    bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't'));
                at += 1 + usize::from(escape);
                continue;
            }
            let (word_end, kind) = word_end(self.text, at);
            let is_word = kind != WordEnd::Identifier && word_end - at > 1;
            if is_word && at >= self.done && self.budget.has(at) {
                self.budget.spend(COST_OF_A_WORD);
                let flags = self.flags(at, word_end);
                let strong = flags.any(Flags::PERSON.with(Flags::STREET).with(Flags::STREET_END))
                    && !flags.any(Flags::COMMON.with(Flags::TECHNICAL));
                let places = self.places && flags.any(Flags::PLACES) && !flags.any(Flags::ORDINARY);
                if strong || places || flags.any(Flags::TITLE) && !flags.any(Flags::COMMON) {
                    self.window(at, Region::Lower, visit);
                }
            }
            at = word_end.max(at + 1);
        }
    }

    /// Reads the words around `trigger` and visits them.
    fn window(&mut self, trigger: usize, region: Region, visit: &mut impl FnMut(&Window<'_>)) {
        let lower = region == Region::Lower;
        self.start_at(trigger);
        for token in &mut self.tokens {
            token.possible = may_be_possible(token, lower);
        }
        let limit = (trigger + LONGEST_BYTES).min(self.text.len());
        let mut quiet = 0;
        while (quiet < QUIET_TOKENS && self.tokens.len() < LONGEST_TOKENS)
            || self.tokenizer.at() <= trigger
        {
            let Some(mut token) = self.tokenizer.next(limit) else {
                break;
            };
            token.possible = may_be_possible(&token, lower);
            if token.start >= trigger {
                let joins = token.flags.any(Flags::PARTICLE.with(Flags::STREETS));
                quiet = if token.possible { 0 } else { quiet + usize::from(!joins) };
            }
            self.tokens.push(token);
        }
        settle_possible(&mut self.tokens, lower, self.done);
        let labelled = self.tokens.iter().rev().find(|token| token.possible);
        let triggering = self.tokens.iter().find(|token| token.end > trigger);
        let done = |token: Option<&Token>| token.map_or(trigger + 1, |token| token.end);
        self.done = done(labelled).max(done(triggering));
        visit(&Window { text: self.text, tokens: &self.tokens, region });
    }

    /// Keeps the last window's words where they are near, else begins a little before `trigger`.
    fn start_at(&mut self, trigger: usize) {
        let from = trigger.saturating_sub(LOOK_BACK);
        if self.tokenizer.at() >= from && !self.tokens.is_empty() {
            let far = self.tokens.iter().take_while(|token| token.start < from).count();
            // However near: a window has words of its own.
            let far = far.max(self.tokens.len().saturating_sub(LONGEST_TOKENS / 2));
            self.tokens.drain(..far);
            return;
        }
        let bytes = self.text.as_bytes();
        let mut from = from;
        while from > 0
            && from < trigger
            && (is_word_byte(bytes[from - 1]) || bytes[from - 1] == b'\\')
        {
            from += 1;
        }
        self.tokens.clear();
        self.tokenizer.go_to(from);
    }
}

/// Whether a word looks like a part of a name, whatever stands around it.
fn may_be_possible(token: &Token, lower: bool) -> bool {
    if lower && token.shape == Shape::Lower {
        return !token.flags.any(Flags::COMMON) || token.flags.any(Flags::STREETS);
    }
    token.shape.is_capital() || token.shape.is_number()
}

/// Decides which words can be parts of names, with their neighbours known.
fn settle_possible(tokens: &mut [Token], lower: bool, done: usize) {
    for i in 0..tokens.len() {
        let token = tokens[i];
        let follows = i > 0 && tokens[i - 1].possible && near(token.gap);
        let possible = match token.shape {
            Shape::Capital | Shape::Upper => {
                !token.flags.any(Flags::COMMON)
                    || token.flags.any(Flags::NAMES)
                    || follows
                    || leads(tokens, i + 1, lower, false)
            }
            // `A. Something` at a line's beginning is an answer to choose.
            Shape::Initial => {
                let listed = token.gap.begins()
                    && tokens.get(i + 1).is_some_and(|next| next.gap == Gap::Stop);
                !listed && (follows || leads(tokens, i + 1, lower, false))
            }
            Shape::Number | Shape::Mixed => follows || leads(tokens, i + 1, lower, true),
            Shape::Lower if lower && token.possible => {
                follows || !token.flags.any(Flags::COMMON) || leads(tokens, i + 1, lower, true)
            }
            Shape::Lower => {
                let street = token.flags.any(Flags::STREETS);
                let particle = token.flags.any(Flags::PARTICLE);
                street && (follows && !particle || leads(tokens, i + 1, lower, true))
                    || particle && follows && leads(tokens, i + 1, lower, true)
            }
            _ => false,
        };
        tokens[i].possible = possible && token.start >= done;
    }
}

/// Whether words with `gap` between them can belong together.
fn near(gap: Gap) -> bool {
    !matches!(gap, Gap::Paragraph | Gap::Other | Gap::Equals)
}

/// Whether a capitalised word is at `i`, or behind a few words of streets and particles: `rue de la
/// Paix`, `12 3rd Avenue`.
fn leads(tokens: &[Token], i: usize, lower: bool, through: bool) -> bool {
    const FEW: usize = 3;
    for token in tokens.iter().skip(i).take(FEW) {
        if !near(token.gap) {
            return false;
        }
        if token.shape.is_capital() || lower && token.possible && token.shape == Shape::Lower {
            return true;
        }
        let passes = token.shape.is_number()
            || token.shape == Shape::Lower && token.flags.any(Flags::STREETS.with(Flags::PARTICLE));
        if !through || !passes {
            return false;
        }
    }
    false
}

/// Whether a value could begin at `at`: behind `="`, `: `, `>`.
#[inline]
fn is_value(bytes: &[u8], at: usize) -> bool {
    let before = |i: usize| at.checked_sub(i).map_or(b' ', |i| bytes[i]);
    match before(1) {
        b'"' | b'\'' => matches!(before(2), b':' | b'=' | b' ' | b'[' | b'\\'),
        b' ' => matches!(before(2), b':' | b'='),
        b'=' | b':' | b'>' | b'{' => true,
        _ => false,
    }
}

/// How a capitalised word ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordEnd {
    /// Like a word of a sentence.
    Word,
    /// Among marks.
    Marks,
    /// Like a name in code: `Foo.bar`, `FooBar`, `Foo(`, `Foo::`, `Foo_`, `Foo1`.
    Identifier,
}

/// The end of the word at `at`, which is looked at up to a bounded length.
#[inline]
fn word_end(text: &str, at: usize) -> (usize, WordEnd) {
    const LONGEST: usize = 40;
    let bytes = text.as_bytes();
    let limit = (at + LONGEST).min(bytes.len());
    let mut end = letters_end(text, at, limit, u8::is_ascii_lowercase);
    let next = |i: usize| bytes.get(end + i).copied().unwrap_or(b' ');
    let kind = match next(0) {
        b' ' | b',' | b'\n' | b'!' | b'?' | b'\'' | b';' => WordEnd::Word,
        b'_' | b'0'..=b'9' | b'(' | b'[' | b'{' => WordEnd::Identifier,
        b'A'..=b'Z' => match &bytes[at..end] {
            b"Mc" | b"Mac" | b"De" | b"Di" | b"La" | b"Le" | b"Du" | b"Van" | b"Fitz" => {
                end = letters_end(text, end, limit, u8::is_ascii_alphabetic);
                WordEnd::Word
            }
            _ => WordEnd::Identifier,
        },
        b'.' if next(1).is_ascii_alphabetic() => WordEnd::Identifier,
        b':' if next(1) == b':' => WordEnd::Identifier,
        b'<' if next(1).is_ascii_alphabetic() => WordEnd::Identifier,
        b'.' | b':' => WordEnd::Word,
        _ => WordEnd::Marks,
    };
    (end, kind)
}

/// Behind the first letter at `at` and those letters that follow it, ASCII ones as `ascii` says.
#[inline]
fn letters_end(text: &str, at: usize, limit: usize, ascii: impl Fn(&u8) -> bool) -> usize {
    let bytes = text.as_bytes();
    let mut end = at;
    while end < limit {
        let byte = bytes[end];
        if byte < 0x80 {
            if end > at && !ascii(&byte) {
                break;
            }
            end += 1;
            continue;
        }
        let Some(c) = text.get(end..).and_then(|rest| rest.chars().next()) else {
            break;
        };
        if !c.is_alphabetic() && !matches!(c, '\u{300}'..='\u{36f}') {
            break;
        }
        end += c.len_utf8();
    }
    end
}
