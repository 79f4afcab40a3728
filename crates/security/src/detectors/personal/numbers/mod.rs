//! Numbers of people: phones, payment cards, bank accounts, national identities.
//!
//! What these have in common is a stretch of digit groups. It is read once; then each group in turn
//! may begin a number, the kinds with the strongest structure first. Structure alone decides where
//! it is strong (check digits, issuer ranges, `+49 …`); where it is weak, the words around must
//! say what the number is. Dates, times, versions, identifiers and fractions are nothing.

mod beside;
mod calling_codes;
mod card;
mod cells;
mod checksums;
mod iban;
mod lettered;
mod national;
mod phone;
mod run;
mod shapes;
mod ssn;
#[cfg(test)]
mod tests;

use super::addresses::{Quad, Written};
use super::classes::{self, lowest, mask};
use super::context::{
    self, CARD, Context, NUMBER, PHONE, REACH as REACHED, Topics, has_letters_before,
};
use crate::detectors::{Budget, COST_OF_A_VALUE};
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};
use run::{Run, Separator};

/// How far before a number a word may stand that says what it is.
const REACH: usize = 48;

/// A number has so many digits at least.
const FEWEST: usize = 6;

/// Looks at the number-like stretch whose first digit is at `at` and pushes what it is to `out`.
/// Returns up to where it has looked: at least `at + 1`.
pub(crate) fn confirm(
    text: &str,
    at: usize,
    kinds: Kinds,
    budget: &Budget,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = text.as_bytes();
    if !bytes.get(at).is_some_and(u8::is_ascii_digit) {
        return at + 1;
    }
    let first = First { bytes, at, end: run::digits_end(bytes, at) };
    // A letter, a blank or a dash may stand within an account's or a person's number.
    let before = first.before();
    let is_within = before.is_ascii_alphabetic() || matches!(before, b' ' | b'-');
    let is_dotted = first.next() == b'.' && first.end - at <= 3;
    if is_dotted
        && !is_within
        && let Some(end) = dotted_quad(first, out)
    {
        budget.spend(24);
        return end;
    }
    if let Some(end) = lone_figure(first) {
        // The header of a table is looked at for what may be a phone's.
        let in_cell = end - at >= FEWEST_IN_CELL && cells::is_cell(bytes, at, end);
        budget.spend(if in_cell { 60 } else { 10 });
        return end;
    }
    if is_within
        && kinds.contains(Kind::Iban)
        && let Some((start, end)) = iban::find(bytes, at, budget)
    {
        out.push(Finding { start, end, kind: Kind::Iban, rule: "iban" });
        return end.max(at + 1);
    }
    if kinds.contains(Kind::NationalId)
        && let Some((start, end)) = lettered::find(first)
    {
        out.push(Finding { start, end, kind: Kind::NationalId, rule: "national_id" });
        return end.max(at + 1);
    }
    if is_dotted
        && is_within
        && let Some(end) = dotted_quad(first, out)
    {
        budget.spend(24);
        return end;
    }
    // Nearly all digits end here, before all of a stretch is read.
    if first.end - at < FEWEST && !run::goes_on(bytes, first.end, before == b'(') {
        budget.spend(12);
        return first.end;
    }
    stretch(bytes, at, kinds, budget, out)
}

/// Looks at all of the stretch whose first digit is at `at`.
fn stretch(
    bytes: &[u8],
    at: usize,
    kinds: Kinds,
    budget: &Budget,
    out: &mut Vec<Finding>,
) -> usize {
    let mut groups = run::NO_GROUPS;
    let run = Run::read(bytes, at, &mut groups);
    let found = out.len();
    let looks = if run.digits() >= FEWEST { search(&run, kinds, out) } else { 0 };
    let in_vain = 24 + 12 * run.groups().len() + 40 * looks;
    budget.spend(if out.len() == found { in_vain } else { COST_OF_A_VALUE });
    run.end()
}

/// The first digits of a stretch.
#[derive(Clone, Copy)]
struct First<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl First<'_> {
    fn before(&self) -> u8 {
        context::byte_before(self.bytes, self.at)
    }

    /// The byte behind the digits.
    fn next(&self) -> u8 {
        context::byte(self.bytes, self.end)
    }
}

/// The end of the figure that begins with these digits, if it is nobody's number: alone in its cell of
/// a table or a list, with no word near. Files of figures have hardly anything else.
fn lone_figure(first: First<'_>) -> Option<usize> {
    /// The fewest digits of a card.
    const CARD: usize = 12;
    let First { bytes, at, mut end } = first;
    let starts =
        matches!(first.before(), b',' | b'\n' | b'\t' | b';' | b'[' | b'|' | b' ' | b'-' | 0);
    let whole = end - at;
    if !starts || whole >= CARD {
        return None;
    }
    if first.next() == b'.' {
        // `00…` may be dialled before a country's code.
        let fraction = run::digits_end(bytes, end + 1) - (end + 1);
        if fraction == 0 || fraction >= 2 * CARD || whole > 1 && bytes[at] == b'0' {
            return None;
        }
        end += 1 + fraction;
    }
    let ends = matches!(
        context::byte(bytes, end),
        b',' | b'\n' | b'\r' | b'\t' | b';' | b']' | b'}' | b'|' | 0
    );
    let is_lone = ends && is_silent_around(bytes, at, end);
    let is_named = || {
        let words = cells::words(bytes, at, end);
        words.is_some_and(|words| words.has(TELLING))
    };
    (is_lone && (whole < FEWEST_IN_CELL || !is_named())).then_some(end)
}

/// The end of what is written like an IP address from these digits on, if nothing says that it is a
/// phone's or a person's number: no such number has a form that is known without words.
fn dotted_quad(first: First<'_>, out: &[Finding]) -> Option<usize> {
    let First { bytes, at, .. } = first;
    // What may be dialled before a number, and what the number may begin with.
    let before = first.before();
    let is_prefix =
        matches!(before, b'+' | b'(') || before == b' ' && at > 1 && bytes[at - 2] == b'+';
    if bytes[at] == b'0' || is_prefix {
        return None;
    }
    let Written { end, is_wide, has_lone_digit } = Quad::written(bytes, at)?;
    if run::goes_on(bytes, end, false) {
        return None;
    }
    // Nobody dials a single digit for itself, but for the first one. Most addresses end here.
    if has_lone_digit {
        return Some(end);
    }
    if !is_without_words_around(bytes, at, end, out) {
        return None;
    }
    // Three digits in the middle have also numbers that need no word but an e-mail address on their
    // line.
    (!is_wide || !beside::is_contact(bytes, at, end)).then_some(end)
}

/// Tries every group of `run` as the first of a number. Returns how many of them had to be looked at.
fn search(run: &Run<'_>, kinds: Kinds, out: &mut Vec<Finding>) -> usize {
    let mut last = run.groups().len();
    // The hour of a time behind the stretch: `2025-03-03 10:11`.
    if context::byte(run.bytes, run.end()) == b':'
        && context::byte(run.bytes, run.end() + 1).is_ascii_digit()
    {
        last -= 1;
    }
    let begins = run.begins();
    let mut is_silent = None;
    let (mut first, mut looks) = (0, 0);
    while first < last {
        if begins.dates >> first & 1 != 0
            && let Some(groups) = date(run, first)
        {
            first += groups;
            continue;
        }
        // Most groups have no form of their own, and no word that says what they are.
        if begins.numbers >> first & 1 == 0
            && *is_silent.get_or_insert_with(|| is_without_words(run, out))
        {
            let further = (begins.numbers | begins.dates) >> first >> 1;
            if further == 0 {
                break;
            }
            first += 1 + further.trailing_zeros() as usize;
            continue;
        }
        looks += 1;
        first += match number(run, first, kinds, out) {
            Some(finding) => {
                let end = finding.end;
                out.push(finding);
                is_silent = Some(false);
                run.groups()[first..].iter().take_while(|group| group.start < end).count()
            }
            None => 1,
        };
    }
    looks
}

/// The fewest digits for which a table's header is looked at.
const FEWEST_IN_CELL: usize = 7;
/// What says that a number is somebody's.
const TELLING: Topics = PHONE | REACHED | NUMBER | CARD | national::NAMES;

/// Whether nothing around `run` says that it is somebody's number.
fn is_without_words(run: &Run<'_>, out: &[Finding]) -> bool {
    // Six digits in one piece are nothing, whatever is said about them.
    let is_short = run.groups().len() == 1 && run.digits() == FEWEST;
    is_short || run.is_full() || is_without_words_around(run.bytes, run.start, run.end(), out)
}

/// The same of the number from `start` to `end`.
fn is_without_words_around(bytes: &[u8], start: usize, end: usize, out: &[Finding]) -> bool {
    if is_behind_phone(out, start) {
        return false;
    }
    if is_silent_around(bytes, start, end) {
        return cells::words(bytes, start, end).is_none_or(|words| !words.has(TELLING));
    }
    !(context::before(bytes, start, REACH).has(TELLING)
        || context::after(bytes, end, phone::BEHIND).has(TELLING)
        || phone::is_extended(bytes, end)
        || beside::is_contact(bytes, start, end)
        || cells::words(bytes, start, end).is_some_and(|words| words.has(TELLING)))
}

/// Whether there are neither letters nor what marks an extension around the number from `start` to
/// `end`.
fn is_silent_around(bytes: &[u8], start: usize, end: usize) -> bool {
    let mut padded = [0; 16];
    let behind = classes::ahead(bytes, end, &mut padded);
    let marks = mask(behind, |b| classes::word_bytes(b) | classes::either(b, b'#', b'#'));
    let is_marked = marks & lowest(phone::BEHIND) != 0;
    !is_marked && !has_letters_before(bytes, start, REACH)
}

/// Whether a phone number stands directly before `start`.
fn is_behind_phone(out: &[Finding], start: usize) -> bool {
    out.last().is_some_and(|last| last.kind == Kind::Phone && last.end + 8 > start)
}

/// The number that begins with group `first`.
fn number(run: &Run<'_>, first: usize, kinds: Kinds, out: &[Finding]) -> Option<Finding> {
    let mut known: Option<Context> = None;
    let start = run.start_of(first);
    // No other number has a plus directly before it.
    let is_phone =
        first == 0 && run.plus && context::byte_before(run.bytes, run.groups()[0].start) == b'+';
    let mut words = || {
        *known.get_or_insert_with(|| match first {
            0..=2 => {
                let words = context::before(run.bytes, start, REACH);
                let above = (words.nearest == 0 && first == 0)
                    .then(|| cells::words(run.bytes, start, run.end()))
                    .flatten();
                above.unwrap_or(words)
            }
            // Behind other numbers there are no words.
            _ => Context::default(),
        })
    };
    let digits_only = |groups: usize, kind, rule| {
        let end = run.groups()[first + groups - 1].end;
        Finding { start: run.groups()[first].start, end, kind, rule }
    };
    if !is_phone
        && kinds.contains(Kind::Card)
        && let Some(groups) = card::find(run, first, &mut words)
    {
        return Some(digits_only(groups, Kind::Card, "card"));
    }
    // So many groups are a table's row.
    if run.is_full() {
        return None;
    }
    if !is_phone && kinds.contains(Kind::NationalId) {
        if let Some(groups) = ssn::find(run, first, &mut words) {
            return Some(digits_only(groups, Kind::NationalId, "us_ssn"));
        }
        if let Some(groups) = national::find(run, first, &mut words) {
            return Some(digits_only(groups, Kind::NationalId, "national_id"));
        }
    }
    if kinds.contains(Kind::Phone) {
        let (start, end) = phone::find(run, first, is_behind_phone(out, start), &mut words)?;
        return Some(Finding { start, end, kind: Kind::Phone, rule: "phone" });
    }
    None
}

/// How many groups the date has that begins with group `first`.
fn date(run: &Run<'_>, first: usize) -> Option<usize> {
    let separator = run.after(first);
    if !matches!(separator, Separator::Dash | Separator::Slash | Separator::Dot) {
        return None;
    }
    let groups = run.groups().get(first..first + 3)?;
    if groups[2].before != separator || run.after(first + 2) == separator {
        return None;
    }
    let value = |i: usize| {
        let text = run.text(first + i);
        text.iter().take(5).fold(0, |n, digit| n * 10 + checksums::value(*digit))
    };
    let lengths = [groups[0].len(), groups[1].len(), groups[2].len()];
    let (year, a, b) = match lengths {
        [4, 1..=2, 1..=2] => (value(0), value(1), value(2)),
        [1..=2, 1..=2, 4] => (value(2), value(0), value(1)),
        _ => return None,
    };
    let possible = (1..=31).contains(&a) && (1..=31).contains(&b) && (a <= 12 || b <= 12);
    (possible && (1850..=2150).contains(&year)).then_some(3)
}
