//! Numbers of people: phones, payment cards, bank accounts, national identities.
//!
//! What these have in common is a stretch of digit groups. It is read once; then each group in turn
//! may begin a number, the kinds with the strongest structure first. Structure alone decides where
//! it is strong (check digits, issuer ranges, `+49 …`); where it is weak, the words around must
//! say what the number is. Dates, times, versions, identifiers and fractions are nothing.

mod calling_codes;
mod card;
mod checksums;
mod iban;
mod lettered;
mod national;
mod phone;
mod run;
mod ssn;
#[cfg(test)]
mod tests;

use super::context::{self, Context};
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};
use run::{Run, Separator};

/// How far before a number a word may stand that says what it is.
const REACH: usize = 48;

/// A number has so many digits at least.
const FEWEST: usize = 6;

/// Looks at the number-like stretch whose first digit is at `at` and pushes what it is to `out`.
/// Returns up to where it has looked: at least `at + 1`.
pub(crate) fn confirm(text: &str, at: usize, kinds: Kinds, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    if !bytes.get(at).is_some_and(u8::is_ascii_digit) {
        return at + 1;
    }
    if kinds.contains(Kind::Iban)
        && let Some((start, end)) = iban::find(bytes, at)
    {
        out.push(Finding { start, end, kind: Kind::Iban, rule: "iban" });
        return end.max(at + 1);
    }
    if kinds.contains(Kind::NationalId)
        && let Some((start, end)) = lettered::find(bytes, at)
    {
        out.push(Finding { start, end, kind: Kind::NationalId, rule: "national_id" });
        return end.max(at + 1);
    }
    // Nearly all digits end here, before all of a stretch is read.
    if let Some(end) = run::lone_end(bytes, at, FEWEST) {
        return end;
    }
    let run = Run::read(bytes, at);
    if run.digits() >= FEWEST {
        search(&run, kinds, out);
    }
    run.end()
}

/// Tries every group of `run` as the first of a number.
fn search(run: &Run<'_>, kinds: Kinds, out: &mut Vec<Finding>) {
    let mut last = run.groups().len();
    // The hour of a time behind the stretch: `2025-03-03 10:11`.
    if context::byte(run.bytes, run.end()) == b':'
        && context::byte(run.bytes, run.end() + 1).is_ascii_digit()
    {
        last -= 1;
    }
    let mut first = 0;
    while first < last {
        if let Some(groups) = date(run, first) {
            first += groups;
            continue;
        }
        first += match number(run, first, kinds, out) {
            Some(finding) => {
                let end = finding.end;
                out.push(finding);
                run.groups()[first..].iter().take_while(|group| group.start < end).count()
            }
            None => 1,
        };
    }
}

/// The number that begins with group `first`.
fn number(run: &Run<'_>, first: usize, kinds: Kinds, out: &[Finding]) -> Option<Finding> {
    let mut known: Option<Context> = None;
    let start = run.start_of(first);
    let mut words = || {
        *known.get_or_insert_with(|| match first {
            0..=2 => context::before(run.bytes, start, REACH),
            // Behind other numbers there are no words.
            _ => Context::default(),
        })
    };
    let digits_only = |groups: usize, kind, rule| {
        let end = run.groups()[first + groups - 1].end;
        Finding { start: run.groups()[first].start, end, kind, rule }
    };
    if kinds.contains(Kind::Card)
        && let Some(groups) = card::find(run, first, &mut words)
    {
        return Some(digits_only(groups, Kind::Card, "card"));
    }
    // So many groups are a table's row.
    if run.is_full() {
        return None;
    }
    if kinds.contains(Kind::NationalId) {
        if let Some(groups) = ssn::find(run, first, &mut words) {
            return Some(digits_only(groups, Kind::NationalId, "us_ssn"));
        }
        if let Some(groups) = national::find(run, first, &mut words) {
            return Some(digits_only(groups, Kind::NationalId, "national_id"));
        }
    }
    if kinds.contains(Kind::Phone) {
        let previous = out.last().filter(|f| f.kind == Kind::Phone && f.end + 8 > start);
        let (start, end) = phone::find(run, first, previous.is_some(), &mut words)?;
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
