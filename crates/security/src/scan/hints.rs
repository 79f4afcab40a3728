//! What arithmetic on the masks of neighbouring blocks tells: where a detector has to look.
//!
//! Eight blocks at once, each with its neighbours: shifts see 64 bytes before a block and behind it.
//! There are next to no branches here, as what a block has is hard to foretell.

use std::ops::{BitAnd, BitOr, Not, Shl, Shr};

use fearless_simd::prelude::*;
use fearless_simd::u64x8;

use super::masks::{CHUNK, Masks, Row};

/// How many characters in a row, one of them a digit, are worth a look. Vendors' tokens are longer;
/// the shortest values that are told by a vendor's name before them have 14.
pub(super) const LONG_RUN: u32 = 14;

/// How many blocks are looked at at once.
const LANES: usize = 8;

/// Where detectors have to look, in each block of a chunk or in one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints<Bits = u64> {
    /// A word may stand there that leads to a secret.
    pub(super) words: Bits,
    /// First dashes of `-----`.
    pub(super) rules: Bits,
    /// Dashes that begin a flag of one letter or `--user`.
    pub(super) flags: Bits,
    /// `@` behind something.
    pub(super) ats: Bits,
    /// One for each run of at least [`LONG_RUN`] characters of tokens with a digit: where its digit is
    /// known and its length is reached.
    pub(super) long: Bits,
    /// First digits of groups of digits that may be somebody's number.
    pub(super) dense: Bits,
    /// First dots of three between digits, no more than four bytes from one to the next: dotted quads.
    pub(super) quads: Bits,
    /// What IPv6 and network interfaces' addresses have between hexadecimal digits: two colons near
    /// each other, five dashes that are three bytes apart, two dots that are five bytes apart.
    pub(super) groups: Bits,
}

impl Hints<[u64; CHUNK]> {
    /// The hints in the first `count` blocks of a chunk. `is_open` says whether a long run that has no digit yet goes
    /// on from chunk to chunk.
    #[inline(always)]
    pub(super) fn of<S: Simd>(
        simd: S,
        chunk: &Masks<Row>,
        count: usize,
        has_numbers: bool,
        is_open: &mut bool,
    ) -> Self {
        let mut hints = Self::default();
        let mut waiting = [0; CHUNK];
        for from in (0..count.min(CHUNK)).step_by(LANES) {
            let wide = Masks::<Wide<S>>::of_chunk(simd, chunk, from);
            let long = wide.long_runs();
            let (rules, flags) = wide.rules_and_flags();
            let stores = [
                (&mut hints.words, wide.words),
                (&mut hints.rules, rules),
                (&mut hints.flags, flags),
                (&mut hints.ats, wide.ats & !((wide.ats | wide.blanks) << 1)),
                (&mut hints.long, long & wide.digits_within()),
                (&mut waiting, long & !wide.digits_within()),
                (&mut hints.dense, wide.numbers()),
                (&mut hints.quads, wide.dotted_quads()),
                (&mut hints.groups, wide.groups()),
            ];
            for (row, bits) in stores {
                bits.current.store_slice(&mut row[from..from + LANES]);
            }
        }
        for (i, long) in hints.long.iter_mut().enumerate().take(count) {
            *long |= chunk.digits_of_open_runs(i + 1, waiting[i], is_open);
        }
        for (i, dense) in hints.dense.iter_mut().enumerate().take(count) {
            *dense = if has_numbers { chunk.dense_numbers(i + 1, *dense) } else { 0 };
        }
        hints
    }

    /// The hints of a block of the chunk.
    #[inline(always)]
    pub(super) fn block(&self, i: usize) -> Hints {
        Hints {
            words: self.words[i],
            rules: self.rules[i],
            flags: self.flags[i],
            ats: self.ats[i],
            long: self.long[i],
            dense: self.dense[i],
            quads: self.quads[i],
            groups: self.groups[i],
        }
    }

    /// Which of the first `count` blocks have any.
    #[inline(always)]
    pub(super) fn blocks(&self, count: usize) -> u32 {
        let mut blocks = 0;
        for i in 0..CHUNK {
            let secrets = self.words[i] | self.rules[i] | self.flags[i];
            let others = self.ats[i] | self.dense[i] | self.quads[i] | self.groups[i];
            blocks |= u32::from(secrets | self.long[i] | others != 0) << i;
        }
        blocks & ((1 << count) - 1)
    }
}

impl<S: Simd> Masks<Wide<S>> {
    /// The masks of the blocks of a chunk from `from` on.
    #[inline(always)]
    fn of_chunk(simd: S, chunk: &Masks<Row>, from: usize) -> Self {
        Self {
            letters: Wide::of(simd, &chunk.letters, from),
            small: Wide::of(simd, &chunk.small, from),
            digits: Wide::of(simd, &chunk.digits, from),
            hexadecimal: Wide::of(simd, &chunk.hexadecimal, from),
            tokens: Wide::of(simd, &chunk.tokens, from),
            blanks: Wide::of(simd, &chunk.blanks, from),
            dashes: Wide::of(simd, &chunk.dashes, from),
            dots: Wide::of(simd, &chunk.dots, from),
            colons: Wide::of(simd, &chunk.colons, from),
            commas: Wide::of(simd, &chunk.commas, from),
            ats: Wide::of(simd, &chunk.ats, from),
            words: Wide::of(simd, &chunk.words, from),
        }
    }

    /// Where a run of characters of tokens has become [`LONG_RUN`] long.
    #[inline(always)]
    fn long_runs(&self) -> Wide<S> {
        let two = self.tokens & self.tokens << 1;
        let four = two & two << 2;
        let eight = four & four << 4;
        let long = eight & eight << (LONG_RUN - 8);
        long & !(long << 1)
    }

    /// Where one of the last [`LONG_RUN`] characters is a digit.
    #[inline(always)]
    fn digits_within(&self) -> Wide<S> {
        let two = self.digits | self.digits << 1;
        let four = two | two << 2;
        let eight = four | four << 4;
        eight | eight << (LONG_RUN - 8)
    }

    #[inline(always)]
    fn rules_and_flags(&self) -> (Wide<S>, Wide<S>) {
        let dashes = self.dashes;
        let starts = dashes & !(self.tokens << 1);
        let pairs = dashes & dashes >> 1;
        let fours = pairs & pairs >> 2;
        let flags = starts & (self.letters | dashes) >> 1;
        (starts & fours & dashes >> 4, flags & !fours)
    }

    /// Where groups of digits begin, those behind letters of hashes and identifiers left out: a number
    /// may stand behind two small letters or some capitals (`DE89…`, `AB123456C`, `gb29…`).
    #[inline(always)]
    fn numbers(&self) -> Wide<S> {
        let alphanumeric = self.letters | self.digits;
        let capitals = self.letters & !self.small;
        let behind_capitals = capitals.behind_runs_from(capitals & !(alphanumeric << 1));
        let behind_two = self.small << 1 & self.small << 2 & !(alphanumeric << 3);
        let behind_others = self.letters << 1 & !(behind_capitals | behind_two);
        self.digits & !(self.digits << 1 | behind_others)
    }

    #[inline(always)]
    fn dotted_quads(&self) -> Wide<S> {
        let between = self.dots & self.digits << 1 & self.digits >> 1;
        let pairs = between & (between >> 2 | between >> 3 | between >> 4);
        pairs & (pairs >> 2 | pairs >> 3 | pairs >> 4)
    }

    #[inline(always)]
    fn groups(&self) -> Wide<S> {
        let Self { hexadecimal, colons, dots, dashes, .. } = *self;
        let parts = self.letters | self.digits | colons;
        let colons = colons & parts << 1 & parts >> 1;
        let near = colons >> 1 | colons >> 2 | colons >> 3 | colons >> 4 | colons >> 5;
        // Most are those of paths (`std::fmt`): a letter of another word is near.
        let others = self.tokens & !dashes & !hexadecimal;
        let before = (others | hexadecimal & (others | hexadecimal & others << 1) << 1) << 1;
        let behind = (others | hexadecimal & others >> 1) >> 1;
        let colons = colons & near & !(before | behind);

        let three = dashes & dashes >> 3 & dashes >> 6;
        let dashes = three & three >> 6 & !(dashes >> 1);

        let dots = dots & dots >> 5 & hexadecimal << 1 & hexadecimal >> 1;
        colons | dashes | dots
    }
}

impl Masks<Row> {
    /// Where long runs have their first digit in the block at `place`, if they had none when they
    /// became long. That is so for the `waiting` ones.
    #[inline(always)]
    fn digits_of_open_runs(&self, place: usize, waiting: u64, is_open: &mut bool) -> u64 {
        let (tokens, digits) = (self.tokens[place], self.digits[place]);
        // The sum carries from where a run without a digit became long to the first byte that is
        // none of its letters: its digit, or its end.
        let wordy = tokens & !digits;
        let (sum, overflow) = wordy.overflowing_add(waiting);
        let (sum, overflow_too) = sum.overflowing_add(u64::from(*is_open));
        *is_open = overflow | overflow_too;
        sum & !wordy & digits
    }

    /// Which of the groups of digits in the block at `place` that begin at `starts` may be somebody's
    /// number. At least `DENSE` are in the next `STRETCH` bytes, and so many with nothing but marks
    /// between them. A letter beside them may be the number's; before it there are `LETTERED` digits at
    /// least, or the number began before.
    #[inline(always)]
    fn dense_numbers(&self, place: usize, mut starts: u64) -> u64 {
        const DENSE: u32 = 6;
        const LETTERED: u32 = 5;
        const STRETCH: u64 = (1 << 18) - 1;
        let (digits, next_digits) = (self.digits[place], self.digits[place + 1]);
        // Somebody's number has two digits side by side.
        if starts == 0
            || digits.count_ones() + (next_digits & STRETCH).count_ones() < DENSE
            || digits & (digits >> 1 | next_digits << 63) == 0
        {
            return 0;
        }
        let (previous, current, next) = (self.get(place - 1), self.get(place), self.get(place + 1));
        let behind_letter = back(current.letters, previous.letters);
        let ends = |masks: &Masks| {
            masks.tokens & !masks.digits & !masks.dashes | masks.colons | masks.commas
        };
        let (ends, next_ends) = (ends(&current), ends(&next));
        let joins = |masks: &Masks| masks.digits | masks.dashes;
        let beside = current.letters & back(joins(&current), joins(&previous));
        let next_beside = next.letters & back(joins(&next), joins(&current));
        let mut dense = 0;
        while starts != 0 {
            let i = starts.trailing_zeros();
            let digits = ahead(digits, next_digits, i);
            let end = ahead(ends, next_ends, i);
            // Everything up to the first end, the end left out.
            let run = end.wrapping_sub(1) & !end;
            let beside = ahead(beside, next_beside, i) & run.wrapping_add(1);
            let many = (digits & STRETCH).count_ones() >= DENSE;
            let many_in_run = (digits & run).count_ones() >= DENSE;
            let word = ahead(current.tokens, next.tokens, i);
            let in_word = (digits & word & !word.wrapping_add(1)).count_ones();
            let lettered = beside != 0 && in_word >= LETTERED || behind_letter >> i & 1 != 0;
            dense |= u64::from(many & (many_in_run | lettered)) << i;
            starts &= starts - 1;
        }
        dense
    }

    /// How many characters of tokens stand before byte `i` of the block at `place`, which is one, and
    /// how many from it on, as far as can be seen from here.
    #[inline]
    pub(super) fn run_around(&self, place: usize, i: u32) -> (usize, usize) {
        let join = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let (before, here, behind) =
            (self.tokens[place - 1], self.tokens[place], self.tokens[place + 1]);
        let before = join(here, before) << (63 - i);
        let behind = join(behind, here) >> i;
        (before.leading_ones().saturating_sub(1) as usize, behind.trailing_ones() as usize)
    }

    /// Whether a letter stands before byte `i` of the block at `place`.
    #[inline]
    pub(super) fn is_behind_letter(&self, place: usize, i: u32) -> bool {
        back(self.letters[place], self.letters[place - 1]) >> i & 1 != 0
    }
}

/// The bits of the places before.
#[inline(always)]
fn back(bits: u64, previous: u64) -> u64 {
    bits << 1 | previous >> 63
}

/// The bits of the `k` places behind each place; `k` is below 64.
#[inline(always)]
fn ahead(bits: u64, next: u64, k: u32) -> u64 {
    bits >> k | (next << 1) << (63 - k)
}

/// The bits of eight blocks, each with those of the block before it and of the one behind it. What is
/// further away counts as zeros: only `current` is right after a shift.
#[derive(Clone, Copy)]
struct Wide<S: Simd> {
    previous: u64x8<S>,
    current: u64x8<S>,
    next: u64x8<S>,
}

impl<S: Simd> Wide<S> {
    /// The blocks of a row from `from` on.
    #[inline(always)]
    fn of(simd: S, row: &Row, from: usize) -> Self {
        Self {
            previous: u64x8::from_slice(simd, &row[from..from + LANES]),
            current: u64x8::from_slice(simd, &row[from + 1..from + 1 + LANES]),
            next: u64x8::from_slice(simd, &row[from + 2..from + 2 + LANES]),
        }
    }

    /// First places behind those runs that begin at `begins` or in the block before.
    #[inline(always)]
    fn behind_runs_from(self, begins: Self) -> Self {
        // The sum carries from the first byte of a run to the first behind it.
        let sum = self.current + begins.current + (self.previous >> 63);
        Self { current: sum & !self.current, ..self }
    }
}

impl<S: Simd> Shl<u32> for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn shl(self, k: u32) -> Self {
        Self {
            previous: self.previous << k,
            current: self.current << k | self.previous >> (64 - k),
            next: self.next << k | self.current >> (64 - k),
        }
    }
}

impl<S: Simd> Shr<u32> for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn shr(self, k: u32) -> Self {
        Self {
            previous: self.previous >> k | self.current << (64 - k),
            current: self.current >> k | self.next << (64 - k),
            next: self.next >> k,
        }
    }
}

impl<S: Simd> BitAnd for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self {
            previous: self.previous & other.previous,
            current: self.current & other.current,
            next: self.next & other.next,
        }
    }
}

impl<S: Simd> BitOr for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self {
            previous: self.previous | other.previous,
            current: self.current | other.current,
            next: self.next | other.next,
        }
    }
}

impl<S: Simd> Not for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self { previous: !self.previous, current: !self.current, next: !self.next }
    }
}
