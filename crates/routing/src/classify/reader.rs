//! Reads a turn's text once and tells its features.

use super::features::{Features, Kind};
use super::hash::pair;
use super::lexicon::{self, MOST_TAGS};
use super::looks::{Look, Looks};
use super::model::Size;
use super::shape::{self, Counts, Line};
use super::text::Turn;
use super::words::words;

/// Words at the beginning that count as the opening.
const OPENING: usize = 10;
/// Words at the end that count as the closing.
const CLOSING: usize = 8;

/// A word of prose: its hash, that of its first letters, and its meanings.
#[derive(Clone, Copy, Default)]
struct Word {
    hash: u32,
    stem: u32,
    tags: u32,
}

pub(super) struct Reader<'a> {
    features: &'a mut Features,
    looks: Looks,
    /// How many words of prose there were.
    count: usize,
    /// The latest ones, a ring.
    latest: [Word; CLOSING],
    before: Word,
    /// The latest word with a meaning.
    meant: u32,
    tags: u32,
    opening_tags: u32,
    first_tags: u32,
    code_tags: u32,
    tag_counts: [u8; MOST_TAGS],
}

impl<'a> Reader<'a> {
    pub(super) fn new(features: &'a mut Features) -> Self {
        Self {
            features,
            looks: Looks::default(),
            count: 0,
            latest: [Word::default(); CLOSING],
            before: Word::default(),
            meant: 0,
            tags: 0,
            opening_tags: 0,
            first_tags: 0,
            code_tags: 0,
            tag_counts: [0; MOST_TAGS],
        }
    }

    pub(super) fn read(mut self, turn: &Turn) {
        let text = turn.text();
        let mut before = Line::Blank;
        for line in text.lines() {
            let counts = Counts::of(line);
            let kind = shape::line(line, &counts, before);
            self.looks.line(line, &counts, kind);
            match kind {
                Line::Blank => {}
                Line::Prose | Line::Item => self.prose(line, kind),
                Line::Code | Line::Diff => self.others(line, Kind::InCode),
                Line::Log => self.others(line, Kind::InLog),
            }
            self.before = Word::default();
            before = kind;
        }
        self.closing();
        self.meanings();
        let looks = self.looks.of(text, turn);
        self.look(looks, turn);
    }

    /// Words that somebody wrote.
    fn prose(&mut self, line: &str, kind: Line) {
        words(line, |hash, stem| {
            let tags = lexicon::tags(hash);
            let word = Word { hash, stem, tags };
            self.features.word(Kind::Word, hash);
            if kind == Line::Item {
                self.features.word(Kind::InItem, hash);
            }
            if stem != hash {
                self.features.word(Kind::Stem, stem);
            }
            if self.before.hash != 0 {
                self.features.word(Kind::Pair, pair(self.before.stem, stem));
            }
            if self.count < OPENING {
                self.features.dense(Kind::Opening, hash);
                self.opening_tags |= tags;
                if self.count < 3 {
                    self.features.dense(Kind::First, pair(hash, self.count as u32));
                    self.first_tags |= tags;
                }
            }
            self.meaning(tags);
            self.latest[self.count % CLOSING] = word;
            self.count += 1;
            self.before = word;
        });
    }

    fn meaning(&mut self, tags: u32) {
        if tags == 0 {
            return;
        }
        self.tags |= tags;
        if self.meant != 0 {
            self.features.dense(Kind::TagPair, pair(self.meant, tags));
        }
        self.meant = tags;
        for tag in bits(tags) {
            let count = &mut self.tag_counts[tag as usize];
            *count = count.saturating_add(1);
        }
    }

    /// Words of code and of logs: which there are, not in which order.
    fn others(&mut self, line: &str, kind: Kind) {
        words(line, |hash, _| {
            self.features.word(kind, hash);
            self.code_tags |= lexicon::tags(hash);
        });
    }

    fn closing(&mut self) {
        let mut closing_tags = 0;
        for back in 0..CLOSING.min(self.count) {
            let word = self.latest[(self.count - 1 - back) % CLOSING];
            self.features.dense(Kind::Closing, word.hash);
            if back < 3 {
                self.features.dense(Kind::Last, pair(word.hash, back as u32));
            }
            closing_tags |= word.tags;
        }
        for tag in bits(closing_tags) {
            self.features.dense(Kind::ClosingTag, tag);
        }
    }

    fn meanings(&mut self) {
        for tag in bits(self.tags) {
            self.features.dense(Kind::Tag, tag);
            let count = u32::from(self.tag_counts[tag as usize]);
            self.features.dense(Kind::TagCount, pair(tag, count.ilog2()));
        }
        for tag in bits(self.opening_tags) {
            self.features.dense(Kind::OpeningTag, tag);
            for other in bits(self.opening_tags).take_while(|other| *other < tag) {
                self.features.dense(Kind::TagsTogether, pair(tag, other));
            }
        }
        for tag in bits(self.first_tags) {
            self.features.dense(Kind::FirstTag, tag);
        }
        for tag in bits(self.code_tags) {
            self.features.dense(Kind::CodeTag, tag);
        }
    }

    fn look(&mut self, looks: u32, turn: &Turn) {
        for look in bits(looks) {
            self.features.dense(Kind::Look, look);
            for tag in bits(self.opening_tags) {
                self.features.dense(Kind::LookTag, pair(look, tag));
            }
            for other in bits(looks).take_while(|other| *other < look) {
                self.features.dense(Kind::LookPair, pair(look, other));
            }
        }
        let length = log2(turn.text().len());
        let has_choices = looks & (1 << Look::Choices as u32) != 0;
        self.features.size = Size { log_length: length, has_choices };
        let bin = (length * 1.5) as u32;
        self.features.dense(Kind::Length, bin);
        self.features.dense(Kind::Length, pair(bin, looks & (1 << Look::Code as u32)));
        self.features.dense(Kind::Lines, self.looks.lines.min(63).ilog2_or_zero());
        let words = (self.count.min(1023) as u32).ilog2_or_zero();
        self.features.dense(Kind::Lines, 100 + words);
    }
}

/// The binary logarithm, straight between powers of two: the same bits on every machine.
fn log2(number: usize) -> f32 {
    let number = number.clamp(1, 1 << 20) as u32;
    let whole = number.ilog2();
    #[expect(clippy::cast_precision_loss, reason = "below 2^24")]
    let rest = number as f32 / (1_u32 << whole) as f32 - 1.0;
    whole as f32 + rest
}

trait LogOrZero {
    fn ilog2_or_zero(self) -> u32;
}

impl LogOrZero for u32 {
    fn ilog2_or_zero(self) -> u32 {
        self.checked_ilog2().unwrap_or(0)
    }
}

/// The places of the bits that are set, from the lowest on.
fn bits(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < 32).then_some(bit)
    })
}
