//! Finds the places of a text that are worth a look, at memory speed: most code, logs and prose say
//! nothing to a model.
//!
//! A place is worth a look where phrases stand, in whatever case, whose weights add up to
//! [`ENOUGH`] within [`TOGETHER`] bytes; where letters stand apart (`i g n o r e`); and where another
//! alphabet than the Latin one is used. Which phrases, and what each weighs, is learnt
//! (`cargo xtask train injection`): enough to find what the model would find, so few that little
//! harmless text is looked at.

mod pass;
mod strange;

use std::ops::Range;
use std::sync::LazyLock;

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};

use self::pass::{BLOCK, KEY, Marks, STRIDE, Table, fold};
use self::strange::{is_foreign, spaced_letters};

/// From this sum of weights on a place is worth a look.
pub const ENOUGH: u32 = 64;
/// How near to each other phrases stand that count together, in bytes.
pub const TOGETHER: usize = 240;
/// How long a phrase is at least, in bytes: it has four keys.
pub const SHORTEST: usize = KEY + STRIDE - 1;
/// How long it is at most.
pub const LONGEST: usize = 16;
/// How many bytes a key has.
pub const KEY_BYTES: usize = KEY;
/// How far around a phrase the text is looked at, in bytes.
const AROUND: usize = 140;
/// So many phrases are remembered to be counted together.
const REMEMBERED: usize = 8;
/// Bits by which the keys of phrases are found.
const BUCKET_BITS: u32 = 12;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// The bit of each of eight bytes that tells capital letters from small ones.
const FOLD: u64 = 0x2020_2020_2020_2020;
/// What stands for a space in the list of phrases, whose lines nobody shall trim.
const SPACE: char = '·';

static USUAL: LazyLock<Prefilter> =
    LazyLock::new(|| Prefilter::parse(include_str!("../../../models/phrases.txt")));

/// Makes the tables that every text needs.
pub(super) fn warm() {
    LazyLock::force(&USUAL);
}

/// A phrase with what it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighted {
    /// The phrase in lower case, of [`SHORTEST`] to [`LONGEST`] bytes.
    pub phrase: Vec<u8>,
    /// What it adds to a place's sum.
    pub weight: u32,
    /// Where in it the first of its four keys begins: where its bytes are rare in other text.
    pub offset: usize,
}

/// Finds the places of texts that are worth a look.
pub struct Prefilter {
    /// The widest instructions that the processor has.
    level: Level,
    table: Table,
    /// The keys that phrases are known by, sorted by their hashes.
    keys: Vec<Key>,
    /// Where in `keys` those with a hash begin.
    starts: Box<[u16; BUCKETS + 1]>,
    phrases: Vec<Phrase>,
}

/// A few bytes of a phrase.
#[derive(Clone, Copy)]
struct Key {
    key: u64,
    offset: u16,
    phrase: u16,
}

/// A phrase as it is compared: its first and its last eight bytes, folded.
struct Phrase {
    head: u64,
    /// Which bits of the first eight bytes it has.
    mask: u64,
    tail: u64,
    /// Where the last eight bytes begin.
    tail_at: usize,
    weight: u32,
}

impl Prefilter {
    /// The phrases that come with the filter.
    pub fn usual() -> &'static Self {
        &USUAL
    }

    /// Reads a list: on each line a weight, an offset and the phrase.
    pub fn parse(list: &str) -> Self {
        let phrases: Vec<Weighted> = list.lines().filter_map(Weighted::parse).collect();
        Self::new(&phrases)
    }

    /// A filter that looks for `phrases`.
    pub fn new(phrases: &[Weighted]) -> Self {
        let fits = |phrase: &&Weighted| {
            let length = phrase.phrase.len();
            (SHORTEST..=LONGEST).contains(&length) && phrase.offset + SHORTEST <= length
        };
        let phrases: Vec<&Weighted> =
            phrases.iter().filter(fits).take(usize::from(u16::MAX) / STRIDE).collect();
        let mut keys = Vec::new();
        for (i, phrase) in phrases.iter().enumerate() {
            for offset in phrase.offset..phrase.offset + STRIDE {
                let key = fold(eight(&phrase.phrase, offset));
                keys.push(Key { key, offset: offset as u16, phrase: i as u16 });
            }
        }
        keys.sort_by_key(|key| bucket(key.key));
        let mut starts = Box::new([0; BUCKETS + 1]);
        for (hash, start) in starts.iter_mut().enumerate() {
            *start = keys.partition_point(|key| bucket(key.key) < hash) as u16;
        }
        let table = Table::new(keys.iter().map(|key| key.key));
        let phrases = phrases.into_iter().map(Phrase::new).collect();
        Self { level: Level::new(), table, keys, starts, phrases }
    }

    /// The places of `text` that are worth a look, in order, apart from each other.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        dispatch!(self.level, simd => self.places_with(simd, text))
    }

    #[inline(always)]
    fn places_with<S: Simd>(&self, simd: S, text: &str) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        let (recent, places) = (Recent::default(), Vec::new());
        let mut reader = Reader { filter: self, text, recent, places };
        for from in (0..bytes.len()).step_by(BLOCK) {
            let last;
            let seen = match bytes[from..].first_chunk() {
                Some(seen) => seen,
                None => {
                    last = padded(&bytes[from..]);
                    &last
                }
            };
            let marks = self.table.marks(simd, seen);
            let is_foreign = !marks.is_ascii && is_foreign(simd, seen);
            if is_foreign || marks.may_be_spaced && spaced_letters(&seen[..BLOCK]) {
                reader.open(from);
            }
            if marks.keys != 0 {
                reader.read(from, &marks);
            }
        }
        reader.places
    }
}

/// Reads a text whose keys are marked.
struct Reader<'a> {
    filter: &'a Prefilter,
    text: &'a str,
    recent: Recent,
    places: Vec<Range<usize>>,
}

impl Reader<'_> {
    /// Opens a place wherever phrases of the block at `from` make the sum large enough.
    #[inline(never)]
    fn read(&mut self, from: usize, marks: &Marks) {
        let bytes = self.text.as_bytes();
        let filter = self.filter;
        let mut marked = marks.keys;
        while marked != 0 {
            let at = from + STRIDE * marked.trailing_zeros() as usize;
            marked &= marked - 1;
            let key = fold(eight(bytes, at));
            let hash = bucket(key) % BUCKETS;
            let range = usize::from(filter.starts[hash])..usize::from(filter.starts[hash + 1]);
            for known in &filter.keys[range] {
                if known.key != key {
                    continue;
                }
                let phrase = &filter.phrases[usize::from(known.phrase)];
                if phrase.begins(bytes, at, known.offset)
                    && self.recent.add(at, known.phrase, phrase.weight) >= ENOUGH
                {
                    self.open(at);
                }
            }
        }
    }

    /// Opens a place around `hit`, which is not before those that were opened already.
    #[cold]
    fn open(&mut self, hit: usize) {
        let Range { start: from, end: to } = widened(self.text, &(hit..hit), AROUND);
        match self.places.last_mut() {
            Some(last) if from <= last.end => last.end = to.max(last.end),
            _ => self.places.push(from..to),
        }
    }
}

/// The latest phrases, each with where it was last seen and what it weighs.
#[derive(Default)]
struct Recent {
    seen: [(usize, u16, u32); REMEMBERED],
    next: usize,
}

impl Recent {
    /// Adds a phrase that stands at `at`, and gives what it and those around weigh together.
    #[inline]
    fn add(&mut self, at: usize, phrase: u16, weight: u32) -> u32 {
        let mut sum = weight;
        let mut slot = None;
        for (i, (seen_at, seen, weight)) in self.seen.iter().enumerate() {
            if *weight == 0 {
                continue;
            }
            if *seen == phrase {
                slot = Some(i);
            } else if at - seen_at <= TOGETHER {
                sum += weight;
            }
        }
        let slot = slot.unwrap_or_else(|| {
            self.next += 1;
            (self.next - 1) % REMEMBERED
        });
        self.seen[slot % REMEMBERED] = (at, phrase, weight);
        sum
    }
}

impl Phrase {
    fn new(weighted: &Weighted) -> Self {
        let bytes = &weighted.phrase;
        let length = bytes.len();
        let mask = u64::MAX >> (u64::BITS - 8 * length.min(8) as u32);
        let head = (u64::from_le_bytes(padded(bytes)) | FOLD) & mask;
        let tail_at = length.saturating_sub(8);
        let tail = (u64::from_le_bytes(padded(&bytes[tail_at..])) | FOLD) & mask;
        Self { head, mask, tail, tail_at, weight: weighted.weight }
    }

    /// Whether the phrase stands so that its byte `offset` is at `at`.
    #[inline]
    fn begins(&self, bytes: &[u8], at: usize, offset: u16) -> bool {
        let Some(start) = at.checked_sub(usize::from(offset)) else { return false };
        let same = |at, part| (eight(bytes, at) | FOLD) & self.mask == part;
        same(start, self.head) && (self.tail_at == 0 || same(start + self.tail_at, self.tail))
    }
}

impl Weighted {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, ' ');
        let (weight, offset) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let phrase = parts.next()?.replace(SPACE, " ").into_bytes();
        Some(Self { phrase, weight, offset })
    }

    /// Its line in the list.
    pub fn to_line(&self) -> String {
        let phrase = String::from_utf8_lossy(&self.phrase).replace(' ', &SPACE.to_string());
        format!("{} {} {phrase}", self.weight, self.offset)
    }
}

/// The first bytes of `bytes`, and zeros behind their end.
fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    for (to, from) in padded.iter_mut().zip(bytes) {
        *to = *from;
    }
    padded
}

/// The eight bytes at `at`, and zeros behind the end.
#[inline]
fn eight(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => u64::from_le_bytes(padded(bytes.get(at..).unwrap_or_default())),
    }
}

fn bucket(key: u64) -> usize {
    (key.wrapping_mul(0xc4ce_b9fe_1a85_ec53) >> (u64::BITS - BUCKET_BITS)) as usize
}

/// `place` with so many bytes more on either side.
pub(super) fn widened(text: &str, place: &Range<usize>, by: usize) -> Range<usize> {
    let from = floor(text, place.start.saturating_sub(by));
    from..ceil(text, place.end.saturating_add(by).min(text.len()))
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests;
