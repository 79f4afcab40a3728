//! Finds everything in a text, in one pass.
//!
//! Ordinary text has next to nothing to find, so what costs is to see that. Two passes look for
//! hints at many times the speed of an automaton: [`masks`] turns each block of 64 bytes into bits
//! and derives places by arithmetic (an `@`, dense digits, dotted quads, groups of colons, long
//! words with a digit), and a vectorised searcher finds the words that stand before secrets
//! ([`Secrets`]). Only there a detector looks at the text, forwards and backwards within bounds, so
//! that no text costs more than a fixed multiple of its length.

mod labels;
mod masks;
mod settings;
mod uuid;

use std::cell::Cell;

use crate::detectors::personal::{addresses, email, labelled, numbers};
use crate::detectors::secrets::{Look, Secrets};
use crate::detectors::terms::Terms;
use crate::finding::{Finding, settle};
use crate::kind::{Kind, Kinds};
use crate::names;
use labels::Labels;
use masks::{BEHIND, BLOCK, Masks, Runs, Window};
pub use settings::{ScannerSettings, SettingsProblem};

/// The longest run of characters that is looked at as one word.
const LONGEST_RUN: usize = 4096;

/// Finds everything in a text, in one pass.
#[derive(Debug)]
pub struct Scanner {
    secrets: Secrets,
    labels: Labels,
    terms: Terms,
}

impl Scanner {
    /// A scanner with a deployment's own terms and patterns.
    pub fn new(settings: &ScannerSettings) -> Result<Self, SettingsProblem> {
        let (secrets, labels) = (Secrets::new(), Labels::new());
        Ok(Self { secrets, labels, terms: Terms::new(settings)? })
    }

    /// Everything of `kinds` in `text`: in order, without overlaps.
    pub fn scan(&self, text: &str, kinds: Kinds) -> Vec<Finding> {
        let mut findings = Vec::new();
        self.scan_into(text, kinds, &mut findings);
        findings
    }

    /// [`Self::scan`] into a list that is used again; what was in it goes.
    pub fn scan_into(&self, text: &str, kinds: Kinds, findings: &mut Vec<Finding>) -> Coverage {
        self.scan_with(text, kinds, &mut 0, findings)
    }

    /// [`Self::scan_into`], with what earlier texts cost beyond their share.
    fn scan_with(
        &self,
        text: &str,
        kinds: Kinds,
        debt: &mut usize,
        findings: &mut Vec<Finding>,
    ) -> Coverage {
        findings.clear();
        let look = kinds.iter().any(Kind::is_secret).then(|| self.secrets.look(text, *debt));
        let mut pass = Pass {
            text,
            kinds,
            look,
            numbers: kinds.intersects(NUMBERS),
            numbers_until: 0,
            dots_until: 0,
            colons_until: 0,
            runs_until: 0,
            findings,
        };
        pass.run();
        let look = pass.look.take();
        let mut coverage = Coverage::Whole;
        if let Some(mut look) = look {
            self.secrets.rare(&mut look, findings);
            coverage = look.coverage();
            *debt = look.debt();
        }
        if kinds.intersects(LABELLED) {
            self.labels.each(text, |at| labelled::confirm(text, at, kinds, findings));
        }
        if kinds.intersects(NAMES) {
            names::find(text, kinds, findings);
        }
        if kinds.contains(Kind::Term) {
            self.terms.find(text, findings);
        }
        findings.retain(|finding| kinds.contains(finding.kind));
        self.terms.retain_not_allowed(text, findings);
        settle(findings);
        coverage
    }
}

/// How much of a text was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Everything.
    Whole,
    /// Not every name that may be a secret's: the text has so many that all of them would cost too
    /// much. Secrets may be left in it.
    Partial,
}

/// Scans of one request: together they may cost so much, and either all of them saw everything or
/// the request was not read.
#[derive(Debug)]
pub(crate) struct Scans<'s> {
    scanner: &'s Scanner,
    debt: Cell<usize>,
    coverage: Cell<Coverage>,
}

impl<'s> Scans<'s> {
    pub(crate) fn new(scanner: &'s Scanner) -> Self {
        Self { scanner, debt: Cell::new(0), coverage: Cell::new(Coverage::Whole) }
    }

    /// [`Scanner::scan`].
    pub(crate) fn scan(&self, text: &str, kinds: Kinds) -> Vec<Finding> {
        let (mut findings, mut debt) = (Vec::new(), self.debt.get());
        if self.scanner.scan_with(text, kinds, &mut debt, &mut findings) == Coverage::Partial {
            self.coverage.set(Coverage::Partial);
        }
        self.debt.set(debt);
        findings
    }

    /// How much was looked at of all texts so far.
    pub(crate) fn coverage(&self) -> Coverage {
        self.coverage.get()
    }
}

/// Kinds that are stretches of digits.
const NUMBERS: Kinds = Kinds::of(&[Kind::Phone, Kind::Card, Kind::NationalId, Kind::Iban]);
/// Kinds that words and their order tell.
const NAMES: Kinds = Kinds::of(&[Kind::Person, Kind::Address, Kind::Location, Kind::Organization]);
/// Kinds that a word before them tells.
const LABELLED: Kinds =
    Kinds::of(&[Kind::BirthDate, Kind::Licence, Kind::MedicalId, Kind::PostalCode]);
const ADDRESSES: Kinds = Kinds::of(&[Kind::IpAddress, Kind::PrivateIp]);

/// One pass over a text's blocks.
struct Pass<'t, 'f> {
    text: &'t str,
    kinds: Kinds,
    look: Option<Look<'t>>,
    numbers: bool,
    // Up to where each kind of detector has looked.
    numbers_until: usize,
    dots_until: usize,
    colons_until: usize,
    runs_until: usize,
    findings: &'f mut Vec<Finding>,
}

impl Pass<'_, '_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut runs = Runs::default();
        let mut previous = Masks::default();
        let mut current = masks_at(bytes, 0);
        let mut base = 0;
        while base < bytes.len() {
            let next = masks_at(bytes, base + BLOCK);
            let window = Window { previous: &previous, current: &current, next: &next };
            self.block(base, &window, &mut runs);
            previous = current;
            current = next;
            base += BLOCK;
        }
    }

    #[inline(always)]
    fn block(&mut self, base: usize, window: &Window<'_>, runs: &mut Runs) {
        if let Some(look) = &mut self.look {
            let mut keywords = window.current.keywords;
            while keywords != 0 {
                look.keyword(base + keywords.trailing_zeros() as usize, self.findings);
                keywords &= keywords - 1;
            }
            let (mut rules, mut flags) = window.rules_and_flags();
            while rules != 0 {
                look.rule(base + rules.trailing_zeros() as usize, self.findings);
                rules &= rules - 1;
            }
            while flags != 0 {
                look.flag(base + flags.trailing_zeros() as usize, self.findings);
                flags &= flags - 1;
            }
        }
        let mut ats = window.current.ats;
        while ats != 0 {
            self.at_sign(base + ats.trailing_zeros() as usize);
            ats &= ats - 1;
        }
        let mut long = runs.next(window);
        while long != 0 {
            let i = long.trailing_zeros();
            self.long_run(base, i, window);
            long &= long - 1;
        }
        if self.numbers {
            let known = self.numbers_until.saturating_sub(base);
            let from = if known < BLOCK { u64::MAX << known } else { 0 };
            let mut dense = window.dense_numbers(from);
            while dense != 0 {
                let i = dense.trailing_zeros();
                self.dense_number(base + i as usize, window.is_behind_letter(i));
                dense &= dense - 1;
            }
        }
        let mut quads = window.dotted_quads();
        while quads != 0 {
            self.dotted_quad(base + quads.trailing_zeros() as usize);
            quads &= quads - 1;
        }
        let mut groups = window.colon_groups() | window.dash_groups();
        while groups != 0 {
            self.hex_groups(base + groups.trailing_zeros() as usize);
            groups &= groups - 1;
        }
    }

    /// An `@`: the middle of an address, unless something else begins with it.
    fn at_sign(&mut self, at: usize) {
        let bytes = self.text.as_bytes();
        let has_before = at > 0 && !bytes[at - 1].is_ascii_whitespace();
        if has_before && self.kinds.contains(Kind::Email) {
            email::confirm(self.text, at, self.findings);
        }
    }

    /// A long run of characters of tokens that includes byte `i` of the block at `base`.
    fn long_run(&mut self, base: usize, i: u32, window: &Window<'_>) {
        let at = base + i as usize;
        if at < self.runs_until {
            return;
        }
        let bytes = self.text.as_bytes();
        let is_token = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        // Most runs begin and end within what the masks show.
        let (before, behind) = window.run_around(i);
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
        let until = numbers::confirm(self.text, at, self.kinds, self.findings);
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
        let until = addresses::dots(self.text, start, self.kinds, self.findings);
        self.dots_until = until.max(start + 1);
    }

    /// The first colon or dash of something like `fe80::1` or `00:1b:44:11:3a:b7`.
    fn hex_groups(&mut self, at: usize) {
        if at < self.colons_until
            || !self.kinds.intersects(ADDRESSES.with(Kinds::of(&[Kind::Mac])))
            || !is_in_hexadecimal(self.text.as_bytes(), at)
        {
            return;
        }
        let until = addresses::colons(self.text, at, self.kinds, self.findings);
        self.colons_until = until.max(at + 1);
    }
}

/// The masks of the block at `base`, as if zeros followed the text.
#[inline(always)]
fn masks_at(bytes: &[u8], base: usize) -> Masks {
    match bytes.get(base..).and_then(<[u8]>::first_chunk) {
        Some(block) => Masks::of(block),
        None if base >= bytes.len() => Masks::default(),
        None => last_masks(&bytes[base..]),
    }
}

#[cold]
fn last_masks(rest: &[u8]) -> Masks {
    let mut block = [0; BLOCK + BEHIND];
    block[..rest.len()].copy_from_slice(rest);
    Masks::of(&block)
}

/// Whether up to six capital letters, or two small ones, stand before `at` as a word of their own:
/// `DE89…`, `AB123456C`, `gb29…`. Other letters before digits are those of hashes and identifiers.
fn begins_with_capitals(text: &str, at: usize) -> bool {
    let before = || text.as_bytes()[..at].iter().rev().take(7);
    let capitals = before().take_while(|b| b.is_ascii_uppercase()).count();
    let small = before().take_while(|b| b.is_ascii_lowercase()).count();
    let is_outside = |letters: usize| {
        let outer = at.checked_sub(letters + 1).map(|i| text.as_bytes()[i]);
        !outer.is_some_and(|b| b.is_ascii_alphanumeric())
    };
    (1..=6).contains(&capitals) && is_outside(capitals) || small == 2 && is_outside(2)
}

/// Whether only hexadecimal digits or colons stand around the colon or dash at `at`, as far as the
/// next ones. Paths such as `std::fmt` fail here.
fn is_in_hexadecimal(bytes: &[u8], at: usize) -> bool {
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
