//! A plain driver: fires every trigger by a simple pass. The reference that the engine is held
//! against, and what the tests use.

use super::{addresses, email, labelled, numbers};
use crate::detectors::Budget;
use crate::detectors::table::Last;
use crate::finding::{Finding, settle};
use crate::kind::{Kind, Kinds};

/// The kinds that a word before them tells.
const LABELLED: Kinds =
    Kinds::of(&[Kind::BirthDate, Kind::Licence, Kind::MedicalId, Kind::PostalCode]);

/// A place where a detector has to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// An `@`.
    At,
    /// The first digit of a place with many digits.
    Number,
    /// The first digit of dotted numbers.
    Dots,
    /// A colon or dash between hexadecimal digits.
    Colons,
    /// The start of a label's word.
    Label,
}

/// Everything of `kinds` that the detectors of this folder find in `text`.
pub(crate) fn scan(text: &str, kinds: Kinds) -> Vec<Finding> {
    let mut out = Vec::new();
    confirm(text, kinds, &triggers(text, kinds), &mut out);
    settle(&mut out);
    out
}

/// Calls the detectors at `triggers`.
pub(super) fn confirm(
    text: &str,
    kinds: Kinds,
    triggers: &[(usize, Trigger)],
    out: &mut Vec<Finding>,
) {
    let budget = Budget::new(kinds, 0);
    let (mut numbers_until, mut dots_until, mut colons_until) = (0, 0, 0);
    let mut table = Last::default();
    for (at, trigger) in triggers.iter().copied() {
        match trigger {
            Trigger::At if kinds.contains(Kind::Email) => _ = email::confirm(text, at, out),
            Trigger::Number if at >= numbers_until => {
                numbers_until = numbers::confirm(text, at, kinds, &budget, out);
            }
            Trigger::Dots if at >= dots_until => {
                dots_until = addresses::dots(text, at, kinds, out);
            }
            Trigger::Colons if at >= colons_until => {
                colons_until = addresses::colons(text, at, kinds, out);
            }
            Trigger::Label => _ = labelled::confirm(text, at, kinds, &mut table, out),
            _ => {}
        }
    }
}

/// The places in `text` where a detector has to look, in order.
pub(super) fn triggers(text: &str, kinds: Kinds) -> Vec<(usize, Trigger)> {
    let bytes = text.as_bytes();
    let labelled = kinds.intersects(LABELLED);
    let mut triggers = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        let first_digit = byte.is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit());
        if *byte == b'@' {
            triggers.push((at, Trigger::At));
        }
        if first_digit && is_dense(&bytes[at..]) {
            triggers.push((at, Trigger::Number));
        }
        if first_digit && is_dotted(&bytes[at..]) {
            triggers.push((at, Trigger::Dots));
        }
        let pair = |i: usize| bytes.get(i) == Some(byte);
        let colons = *byte == b':' && bytes[at + 1..].iter().take(5).any(|b| *b == b':');
        let dashes = *byte == b'-' && pair(at + 3) && pair(at + 6);
        let dots = *byte == b'.' && pair(at + 5);
        if colons || dashes || dots {
            triggers.push((at, Trigger::Colons));
        }
        let starts = at == 0 || !bytes[at - 1].is_ascii_lowercase() || byte.is_ascii_uppercase();
        if labelled && starts && begins_with_label(&bytes[at..]) {
            triggers.push((at, Trigger::Label));
        }
    }
    triggers
}

fn begins_with_label(bytes: &[u8]) -> bool {
    labelled::WORDS.iter().any(|word| {
        let here = bytes.get(..word.len());
        here.is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Whether six digits stand in the next sixteen bytes, with nothing but separators between.
fn is_dense(bytes: &[u8]) -> bool {
    let number = |byte: &&u8| byte.is_ascii_digit() || b" -./()".contains(byte) || **byte >= 0x80;
    let stretch = bytes.iter().take(18).take_while(number);
    stretch.filter(|byte| byte.is_ascii_digit()).count() >= 6
        || bytes.iter().take(14).filter(|byte| byte.is_ascii_digit()).count() >= 7
}

/// Whether up to three digits and a full stop with another digit follow.
fn is_dotted(bytes: &[u8]) -> bool {
    let digits = bytes.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    digits <= 3
        && bytes.get(digits) == Some(&b'.')
        && bytes.get(digits + 1).is_some_and(u8::is_ascii_digit)
}
