//! Columns of a table whose name announces what is in them: `name;dob;zip` and the rows below.

use super::values::{self, Value};
use super::{Label, dates};
use crate::detectors::personal::context::byte;
use crate::detectors::table::{self, Last};
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};
use crate::names::Column;

/// The longest name of a column before and behind the word that announces something.
const BEFORE: usize = 24;
const BEHIND: usize = 40;

/// Pushes what stands below the column whose name has the word `at..end`. Returns how many bytes were
/// looked at.
pub(super) fn confirm(
    text: &str,
    (at, end): (usize, usize),
    (label, kind): (Label, Kind),
    last: &mut Last,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = text.as_bytes();
    let is_name = |b: &&u8| b.is_ascii_alphanumeric() || b"_-. #/".contains(b) || **b >= 0x80;
    let to = end + bytes[end..].iter().take(BEHIND).take_while(is_name).count();
    if !table::may_end_column(bytes, to) {
        return 0;
    }
    let from = at - bytes[..at].iter().rev().take(BEFORE).take_while(is_name).count();
    let (Some(before), Some(behind)) = (text.get(from..at), text.get(end..to)) else { return 0 };
    let Some(rule) = rule(label, before, behind) else { return 0 };
    if !table::may_begin_column(bytes, from) {
        return 0;
    }
    table::below(text, from, last, &mut |start, end| {
        let value_end = match label {
            Label::Birth => dates::at(text, start).map(|(_, end)| end),
            Label::Passport => values::whole(bytes, start, Value::Passport),
            Label::Medical | Label::MedicalThing => values::whole(bytes, start, Value::Medical),
            Label::Postal => values::whole(bytes, start, Value::Postal),
            _ => values::whole(bytes, start, Value::Licence),
        };
        // A time may stand behind a date.
        let is_whole = |to: &usize| {
            *to == end
                || label == Label::Birth && *to < end && matches!(byte(bytes, *to), b'T' | b' ')
        };
        if let Some(end) = value_end.filter(is_whole) {
            out.push(Finding { start, end, kind, rule });
        }
    })
}

/// Whether the word at `at` ends like a column's name or in ` is `: a cheap look.
pub(super) fn may_name(bytes: &[u8], at: usize) -> bool {
    let letters = bytes[at..].iter().take(16).take_while(|b| b.is_ascii_alphabetic()).count();
    let end = at + letters;
    table::may_end_column(bytes, end) || bytes[end..].starts_with(b" is ")
}

/// Pushes the names or addresses below the column whose name has the word `at..end`. Returns how many
/// bytes were looked at.
pub(super) fn confirm_names(
    text: &str,
    (at, end): (usize, usize),
    kinds: Kinds,
    last: &mut Last,
    out: &mut Vec<Finding>,
) -> usize {
    const REST: usize = 16;
    let bytes = text.as_bytes();
    let is_name = |b: &&u8| b.is_ascii_alphanumeric() || b"_-. ".contains(b) || **b >= 0x80;
    let to = end + bytes[end..].iter().take(REST).take_while(is_name).count();
    if !table::may_end_column(bytes, to) {
        return 0;
    }
    let from = at - bytes[..at].iter().rev().take(BEFORE).take_while(is_name).count();
    if !table::may_begin_column(bytes, from) {
        return 0;
    }
    let Some(name) = text.get(from..to) else { return 0 };
    let header = header(text, from);
    if !header.contains([',', ';', '\t', '|']) {
        return 0;
    }
    let Some(column) = Column::of(name, header) else { return 0 };
    table::below(text, from, last, &mut |start, end| {
        let Some(cell) = text.get(start..end) else { return };
        if let Some(kind) = column.kind(cell).filter(|kind| kinds.contains(*kind)) {
            out.push(Finding { start, end, kind, rule: "column" });
        }
    })
}

/// The names of the columns beside the one at `at`.
fn header(text: &str, at: usize) -> &str {
    const REACH: usize = 200;
    let bytes = text.as_bytes();
    let before = &bytes[at.saturating_sub(REACH)..at];
    let start = memchr::memrchr2(b'\n', b'(', before).map_or(0, |i| i + 1);
    let behind = &bytes[at..bytes.len().min(at + REACH)];
    let end = memchr::memchr2(b'\n', b')', behind).unwrap_or(behind.len());
    text.get(at - before.len() + start..at + end).unwrap_or_default()
}

/// The rule for a column that is named so; `None` where the words beside the label make it something
/// else: `license_key`, `birth_place`, `member_since`.
fn rule(label: Label, before: &str, behind: &str) -> Option<&'static str> {
    let is_apart = |c: char| !c.is_alphanumeric();
    let mut named = false;
    let leads = behind
        .split(is_apart)
        .filter(|word| !word.is_empty())
        .all(|word| values::leads(word.as_bytes(), Value::NamedMedical, &mut named));
    let owner = before.trim_matches(is_apart).to_ascii_lowercase();
    let drives = || {
        owner.is_empty() || ["driv", "conduc", "operator"].iter().any(|word| owner.contains(word))
    };
    match label {
        Label::Birth => Some("birth_date"),
        Label::Licence if leads && drives() => Some("driving_licence"),
        Label::DrivingLicence if leads => Some("driving_licence"),
        Label::Passport if leads => Some("passport"),
        Label::Medical if leads => Some("medical"),
        Label::MedicalThing if leads && named => Some("medical"),
        Label::Postal if leads => Some("postal_code"),
        _ => None,
    }
}
