//! What arithmetic on the masks of neighbouring blocks tells: where a detector has to look.

use super::masks::Masks;

/// How many characters in a row, one of them a digit, are worth a look. Vendors' tokens are longer;
/// the shortest values that are told by a vendor's name before them have 14.
pub(super) const LONG_RUN: usize = 14;

/// A block with its neighbours.
pub(super) struct Window<'a> {
    pub(super) previous: &'a Masks,
    pub(super) current: &'a Masks,
    pub(super) next: &'a Masks,
}

impl Window<'_> {
    /// Whether any of the functions below but [`Self::dense_numbers`] may give a place: what each of
    /// them needs and is known soonest. Not 0 where that is so.
    #[inline(always)]
    pub(super) fn may_have_hints(&self) -> u64 {
        let Window { previous, current, next } = self;
        let (dots, colons, dashes) = (current.dots, current.colons, current.dashes);

        let dots_near = ahead(dots, next.dots, 2) | ahead(dots, next.dots, 3);
        let dots_near = dots_near | ahead(dots, next.dots, 4);
        let between_digits =
            back(current.digits, previous.digits, 1) & ahead(current.digits, next.digits, 1);
        let quads = dots & dots_near & between_digits;

        let hexadecimal = |masks: &Masks| masks.hexadecimal | masks.colons;
        let digits = hexadecimal(current);
        let between_digits =
            back(digits, hexadecimal(previous), 1) & ahead(digits, hexadecimal(next), 1);
        let groups = colons & between_digits;

        let begins = dashes & !back(current.tokens, previous.tokens, 1);
        let behind = current.letters | dashes;
        let flags = begins & ahead(behind, next.letters | next.dashes, 1);
        let addresses = dashes & ahead(dashes, next.dashes, 3) & ahead(dashes, next.dashes, 6);

        let addresses = addresses | dots & ahead(dots, next.dots, 5);

        current.words | current.ats | quads | groups | flags | addresses
    }

    /// First digits of groups of digits that may be somebody's number. At least `DENSE` are in the next
    /// `STRETCH` bytes, and so many with nothing but marks between them. A letter beside them may be
    /// the number's; before it there are `LETTERED` digits at least, or the number began before.
    #[inline(always)]
    pub(super) fn dense_numbers(&self) -> u64 {
        const DENSE: u32 = 6;
        const LETTERED: u32 = 5;
        const STRETCH: u64 = (1 << 18) - 1;
        let (current, next) = (self.current, self.next);
        // Somebody's number has two digits side by side.
        if current.digits & ahead(current.digits, next.digits, 1) == 0
            || current.digits.count_ones() + (next.digits & STRETCH).count_ones() < DENSE
        {
            return 0;
        }
        let behind_letter = back(current.letters, self.previous.letters, 1);
        let groups = current.digits & !back(current.digits, self.previous.digits, 1);
        let ends = |masks: &Masks| {
            masks.tokens & !masks.digits & !masks.dashes | masks.colons | masks.commas
        };
        let (ends, next_ends) = (ends(current), ends(next));
        let joins = |masks: &Masks| masks.digits | masks.dashes;
        let beside = current.letters & back(joins(current), joins(self.previous), 1);
        let next_beside = next.letters & back(joins(next), joins(current), 1);
        let mut dense = 0;
        let mut starts = groups & !(behind_letter & self.within_words());
        while starts != 0 {
            let i = starts.trailing_zeros();
            let digits = ahead_any(current.digits, next.digits, i);
            let end = ahead_any(ends, next_ends, i);
            // Everything up to the first end, the end left out.
            let run = end.wrapping_sub(1) & !end;
            let beside = ahead_any(beside, next_beside, i) & run.wrapping_add(1);
            let many = (digits & STRETCH).count_ones() >= DENSE;
            let many_in_run = (digits & run).count_ones() >= DENSE;
            let word = ahead_any(current.tokens, next.tokens, i);
            let in_word = (digits & word & !word.wrapping_add(1)).count_ones();
            let lettered = beside != 0 && in_word >= LETTERED || behind_letter >> i & 1 != 0;
            dense |= u64::from(many & (many_in_run | lettered)) << i;
            starts &= starts - 1;
        }
        dense
    }

    /// Where no word of two small letters and none of capitals ends: `DE89…`, `AB123456C`, `gb29…`.
    /// Other letters before digits are those of hashes and identifiers.
    #[inline(always)]
    pub(super) fn within_words(&self) -> u64 {
        let Window { previous, current, .. } = self;
        let alphanumeric = current.letters | current.digits;
        let alphanumeric_before = previous.letters | previous.digits;
        let capitals = current.letters & !current.small;
        let capitals_before = previous.letters & !previous.small;
        // The sum carries from where a word of capitals begins to the first byte behind it.
        let begins = capitals & !back(alphanumeric, alphanumeric_before, 1);
        let behind_capitals =
            capitals.wrapping_add(begins).wrapping_add(capitals_before >> 63) & !capitals;
        let behind_two = back(current.small, previous.small, 1)
            & back(current.small, previous.small, 2)
            & !back(alphanumeric, alphanumeric_before, 3);
        !(behind_capitals | behind_two)
    }

    /// How many characters of tokens stand before byte `i`, which is one, and how many from it on, as
    /// far as can be seen from here.
    #[inline]
    pub(super) fn run_around(&self, i: u32) -> (usize, usize) {
        let before = join(self.current.tokens, self.previous.tokens) << (63 - i);
        let behind = join(self.next.tokens, self.current.tokens) >> i;
        (before.leading_ones().saturating_sub(1) as usize, behind.trailing_ones() as usize)
    }

    /// Whether a letter stands before byte `i`.
    #[inline]
    pub(super) fn is_behind_letter(&self, i: u32) -> bool {
        back(self.current.letters, self.previous.letters, 1) >> i & 1 != 0
    }

    /// First dots of three between digits, no more than four bytes from one to the next: dotted quads.
    #[inline]
    pub(super) fn dotted_quads(&self) -> u64 {
        if self.current.dots == 0 {
            return 0;
        }
        let of = |masks: &Masks, before: u64, after: u64| {
            masks.dots & back(masks.digits, before, 1) & (masks.digits >> 1 | after << 63)
        };
        let here = of(self.current, self.previous.digits, self.next.digits);
        if here == 0 {
            return 0;
        }
        let after = of(self.next, self.current.digits, 0);
        let near = |bits: u64, next: u64| {
            ahead(bits, next, 2) | ahead(bits, next, 3) | ahead(bits, next, 4)
        };
        let pairs = here & near(here, after);
        let pairs_after = after & near(after, 0);
        pairs & near(pairs, pairs_after)
    }

    /// Colons with characters of tokens or another colon on both sides and another such colon near:
    /// what IPv6 and network interfaces' addresses have, but also paths in code and times.
    #[inline]
    pub(super) fn colon_groups(&self) -> u64 {
        let (colons, next) = (self.current.colons, self.next.colons);
        if colons == 0 || colons & (1..=5).fold(0, |near, k| near | ahead(colons, next, k)) == 0 {
            return 0;
        }
        let of = |masks: &Masks, before: &Masks, after: &Masks| {
            let alnum = masks.digits | masks.letters | masks.colons;
            let alnum_before = before.digits | before.letters | before.colons;
            let alnum_after = after.digits | after.letters | after.colons;
            masks.colons & back(alnum, alnum_before, 1) & ahead(alnum, alnum_after, 1)
        };
        let here = of(self.current, self.previous, self.next);
        let after = of(self.next, self.current, &Masks::default());
        let near = (1..=5).fold(0, |near, k| near | ahead(here, after, k));
        here & near
    }

    /// First dashes of `-----`, and dashes that begin a flag of one letter or `--user`.
    #[inline]
    pub(super) fn rules_and_flags(&self) -> (u64, u64) {
        let (dashes, next) = (self.current.dashes, self.next.dashes);
        if dashes == 0 {
            return (0, 0);
        }
        let before = back(self.current.tokens, self.previous.tokens, 1);
        let starts = dashes & !before;
        let letters = ahead(self.current.letters, self.next.letters, 1);
        let pairs = ahead(dashes, next, 1);
        let flags = starts & (letters | pairs);
        let by_4 = pairs & ahead(dashes, next, 2) & ahead(dashes, next, 3);
        (starts & by_4 & ahead(dashes, next, 4), flags & !by_4)
    }

    /// First dots of two that are five bytes apart, between hexadecimal digits: the same as Cisco's
    /// machines write them.
    #[inline]
    pub(super) fn dot_groups(&self) -> u64 {
        let Window { previous, current, next } = self;
        let apart = current.dots & ahead(current.dots, next.dots, 5);
        apart
            & back(current.hexadecimal, previous.hexadecimal, 1)
            & ahead(current.hexadecimal, next.hexadecimal, 1)
    }

    /// First dashes of five that are three bytes apart: network interfaces' addresses.
    #[inline]
    pub(super) fn dash_groups(&self) -> u64 {
        let (dashes, next) = (self.current.dashes, self.next.dashes);
        if dashes == 0 {
            return 0;
        }
        let apart = dashes & ahead(dashes, next, 3) & ahead(dashes, next, 6);
        apart & ahead(dashes, next, 9) & ahead(dashes, next, 12) & !ahead(dashes, next, 1)
    }
}

/// Where long runs of characters of tokens hold a digit, from block to block.
#[derive(Default)]
pub(super) struct Runs {
    // Of the block before: where so many characters of tokens end.
    two: u64,
    four: u64,
    eight: u64,
    long: u64,
    /// Whether a run without a digit so far goes on in the next block.
    open: bool,
}

impl Runs {
    /// One bit for each run of at least [`LONG_RUN`] with a digit: where its digit is known and its
    /// length is reached.
    #[inline(always)]
    pub(super) fn next(&mut self, window: &Window<'_>) -> u64 {
        let (current, previous) = (window.current, window.previous);
        let two = current.tokens & back(current.tokens, previous.tokens, 1);
        let four = two & back(two, self.two, 2);
        let eight = four & back(four, self.four, 4);
        let long = eight & back(eight, self.eight, LONG_RUN as u32 - 8);
        let reached = long & !back(long, self.long, 1);
        (self.two, self.four, self.eight, self.long) = (two, four, eight, long);
        if reached == 0 && !self.open {
            return 0;
        }
        let digits = join(current.digits, previous.digits);
        let by_2 = digits | digits << 1;
        let by_4 = by_2 | by_2 << 2;
        let by_8 = by_4 | by_4 << 4;
        let has_digit = ((by_8 | by_8 << (LONG_RUN - 8)) >> 64) as u64;
        // The sum carries from where a run without a digit became long to the first byte that is
        // none of its letters: its digit, or its end.
        let wordy = current.tokens & !current.digits;
        let (sum, overflow) = wordy.overflowing_add(reached & !has_digit);
        let (sum, overflow_too) = sum.overflowing_add(u64::from(self.open));
        self.open = overflow | overflow_too;
        (reached & has_digit) | (sum & !wordy & current.digits)
    }
}

/// The bits of the `k` places before each place.
#[inline(always)]
fn back(bits: u64, previous: u64, k: u32) -> u64 {
    bits << k | previous >> (64 - k)
}

/// The bits of the `k` places behind each place; `k` is 1 to 63.
#[inline(always)]
fn ahead(bits: u64, next: u64, k: u32) -> u64 {
    bits >> k | next << (64 - k)
}

/// The same for any `k` below 64.
#[inline(always)]
fn ahead_any(bits: u64, next: u64, k: u32) -> u64 {
    bits >> k | (next << 1) << (63 - k)
}

#[inline(always)]
fn join(current: u64, previous: u64) -> u128 {
    u128::from(current) << 64 | u128::from(previous)
}
