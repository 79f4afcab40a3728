//! One pass over a text: masks of its blocks, and detectors where these give hints.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};

use super::grams::BLOCK;
use super::hints::Hints;
use super::masks::{CHUNK, Masks, Row};
use super::uuid;
use crate::detectors::personal::{addresses, email, numbers};
use crate::detectors::secrets::Look;
use crate::detectors::{Budget, COST_OF_A_VALUE};
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};

/// The longest run of characters that is looked at as one word.
const LONGEST_RUN: usize = 4096;

/// Kinds that are stretches of digits.
const NUMBERS: Kinds = Kinds::of(&[Kind::Phone, Kind::Card, Kind::NationalId, Kind::Iban]);
const ADDRESSES: Kinds = Kinds::of(&[Kind::IpAddress, Kind::PrivateIp]);

/// One pass over a text's blocks.
pub(super) struct Pass<'t, 'f> {
    text: &'t str,
    kinds: Kinds,
    look: Option<Look<'t>>,
    budget: &'t Budget,
    numbers: bool,
    // Up to where each kind of detector has looked.
    numbers_until: usize,
    dots_until: usize,
    colons_until: usize,
    runs_until: usize,
    findings: &'f mut Vec<Finding>,
}

impl<'t, 'f> Pass<'t, 'f> {
    /// A pass that looks for `kinds`, and for secrets where there is a `look`.
    pub(super) fn new(
        text: &'t str,
        kinds: Kinds,
        look: Option<Look<'t>>,
        budget: &'t Budget,
        findings: &'f mut Vec<Finding>,
    ) -> Self {
        Self {
            text,
            kinds,
            look,
            budget,
            numbers: kinds.intersects(NUMBERS),
            numbers_until: 0,
            dots_until: 0,
            colons_until: 0,
            runs_until: 0,
            findings,
        }
    }

    /// Looks at all of the text, as far as the budget reaches.
    pub(super) fn run(mut self, level: Level) -> Option<Look<'t>> {
        dispatch!(level, simd => self.blocks(simd));
        self.look
    }

    /// Everything that is called from here for each block is inlined, so that it is made of the
    /// instructions of `S`. What looks at hints is not: hints are rare, and it would make the loop
    /// large.
    #[inline(always)]
    fn blocks<S: Simd>(&mut self, simd: S) {
        let bytes = self.text.as_bytes();
        let mut is_open = false;
        let mut chunk = Masks::<Row>::default();
        chunk.set(1, Masks::at(simd, bytes, 0));
        let mut base = 0;
        while base < bytes.len() && !self.budget.is_exceeded() {
            let count = (bytes.len() - base).div_ceil(BLOCK).min(CHUNK);
            for place in 1..=count {
                chunk.set(place + 1, Masks::at(simd, bytes, base + place * BLOCK));
            }
            let hints = Hints::of(simd, &chunk, count, self.numbers, &mut is_open);
            let mut blocks = hints.blocks(count);
            while blocks != 0 {
                let i = blocks.trailing_zeros() as usize;
                self.block(base + i * BLOCK, &chunk, i + 1, &hints.block(i));
                blocks &= blocks - 1;
            }
            chunk.set(0, chunk.get(count));
            chunk.set(1, chunk.get(count + 1));
            base += count * BLOCK;
        }
    }

    /// Looks at a block with hints, whose masks are at `place` of `chunk`.
    #[inline(never)]
    fn block(&mut self, base: usize, chunk: &Masks<Row>, place: usize, hints: &Hints) {
        if let Some(look) = &mut self.look {
            each(hints.words, |i| look.word(base + i as usize, self.findings));
            each(hints.rules, |i| look.rule(base + i as usize, self.findings));
            each(hints.flags, |i| look.flag(base + i as usize, self.findings));
        }
        each(hints.ats, |i| self.at_sign(base + i as usize));
        each(hints.long, |i| self.long_run(base, i, chunk.run_around(place, i)));
        each(hints.dense, |i| {
            self.dense_number(base + i as usize, chunk.is_behind_letter(place, i));
        });
        each(hints.quads, |i| self.dotted_quad(base + i as usize));
        each(hints.groups, |i| self.hex_groups(base + i as usize));
    }

    /// A look cost so much, or what a value costs where it led to more than the `found` findings
    /// before it.
    fn spend(&self, found: usize, nanoseconds: usize) {
        let is_in_vain = self.findings.len() == found;
        self.budget.spend(if is_in_vain { nanoseconds } else { COST_OF_A_VALUE });
    }

    /// An `@`: the middle of an address, unless something else begins with it.
    fn at_sign(&mut self, at: usize) {
        let bytes = self.text.as_bytes();
        let has_before = at > 0 && !bytes[at - 1].is_ascii_whitespace();
        if has_before && self.kinds.contains(Kind::Email) && self.budget.has(at) {
            let cost = email::confirm(self.text, at, self.findings);
            self.budget.spend(cost);
        }
    }

    /// A long run of characters of tokens that includes byte `i` of the block at `base`.
    /// `before` of them are in sight before it, `behind` from it on.
    fn long_run(&mut self, base: usize, i: u32, (before, behind): (usize, usize)) {
        let at = base + i as usize;
        if at < self.runs_until {
            return;
        }
        let bytes = self.text.as_bytes();
        let is_token = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        // Most runs begin and end within what the masks show.
        let mut start = at.saturating_sub(before);
        if before >= BLOCK {
            let floor = at.saturating_sub(LONGEST_RUN).min(start);
            start -= bytes[floor..start].iter().rev().take_while(|b| is_token(b)).count();
        }
        let start = start.max(self.runs_until);
        let mut end = at + behind;
        if behind >= BLOCK {
            let ahead = bytes[end..].iter().take(LONGEST_RUN);
            end += ahead.take_while(|b| is_token(b)).count();
        }
        self.runs_until = end;
        let is_uuid = end - start == uuid::LENGTH && uuid::begins(bytes, start);
        if is_uuid {
            self.numbers_until = self.numbers_until.max(end);
        }
        if let Some(look) = &mut self.look {
            look.run(start, end, is_uuid, self.findings);
        }
    }

    /// The first digit of a place with many digits.
    fn dense_number(&mut self, at: usize, behind_letter: bool) {
        if at < self.numbers_until || behind_letter && !begins_with_capitals(self.text, at) {
            return;
        }
        if let Some(end) = uuid::end(self.text.as_bytes(), at) {
            self.numbers_until = end;
            return;
        }
        if !self.budget.has(at) {
            return;
        }
        let until = numbers::confirm(self.text, at, self.kinds, self.budget, self.findings);
        self.numbers_until = until.max(at + 1);
    }

    /// The first dot of something like `1.2.3.4`.
    fn dotted_quad(&mut self, at: usize) {
        let bytes = self.text.as_bytes();
        let digits = bytes[..at].iter().rev().take(4).take_while(|b| b.is_ascii_digit()).count();
        let start = at - digits;
        if start < self.dots_until || !self.kinds.intersects(ADDRESSES) {
            return;
        }
        if !self.budget.has(at) {
            return;
        }
        let found = self.findings.len();
        let until = addresses::dots(self.text, start, self.kinds, self.findings);
        self.spend(found, addresses::COST);
        self.dots_until = until.max(start + 1);
    }

    /// The first colon or dash of something like `fe80::1` or `00:1b:44:11:3a:b7`.
    fn hex_groups(&mut self, at: usize) {
        if at < self.colons_until
            || !self.kinds.intersects(ADDRESSES.with(Kinds::of(&[Kind::Mac])))
            || !is_in_hexadecimal(self.text.as_bytes(), at)
            || !self.budget.has(at)
        {
            return;
        }
        let found = self.findings.len();
        let until = addresses::colons(self.text, at, self.kinds, self.findings);
        self.spend(found, addresses::COST + until.saturating_sub(at));
        self.colons_until = until.max(at + 1);
    }
}

/// Calls `look` for each bit.
#[inline(always)]
fn each(mut bits: u64, mut look: impl FnMut(u32)) {
    while bits != 0 {
        look(bits.trailing_zeros());
        bits &= bits - 1;
    }
}

/// Whether up to six capital letters, or two small ones, stand before `at` as a word of their own:
/// `DE89…`, `AB123456C`, `gb29…`. Other letters before digits are those of hashes and identifiers.
pub(super) fn begins_with_capitals(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let is_outside = |letters: usize| {
        let outer = at.checked_sub(letters + 1).map(|i| before[i]);
        !outer.is_some_and(|b| b.is_ascii_alphanumeric())
    };
    // Hashes have no end of small letters before digits.
    if let [.., one, other] = before
        && other.is_ascii_lowercase()
    {
        return one.is_ascii_lowercase() && is_outside(2);
    }
    let capitals = before.iter().rev().take(7).take_while(|b| b.is_ascii_uppercase()).count();
    (1..=6).contains(&capitals) && is_outside(capitals)
}

/// Whether only hexadecimal digits or colons stand around the colon or dash at `at`, as far as the
/// next ones. Paths such as `std::fmt` fail here.
pub(super) fn is_in_hexadecimal(bytes: &[u8], at: usize) -> bool {
    let digits = |bytes: &mut dyn Iterator<Item = &u8>| -> bool {
        for byte in bytes.take(5) {
            if !byte.is_ascii_hexdigit() {
                return !byte.is_ascii_alphanumeric() && *byte != b'_';
            }
        }
        true
    };
    digits(&mut bytes[..at].iter().rev()) && digits(&mut bytes[at + 1..].iter())
}
