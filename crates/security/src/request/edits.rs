//! From places in a composed text back to the request's bytes.

use std::ops::Range;

use sluice_core::json::{places_in_literal, unescape};

use super::compose::{Item, Items};
use super::encoding::{self, Coding, places_in_percent};
use crate::finding::Finding;

/// A stretch of a text that is written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// Where it stands.
    pub(super) range: Range<usize>,
    /// What stands there afterwards.
    pub(super) with: String,
    /// Which of the replacements begin in it.
    pub(super) begins: Range<usize>,
}

/// A stretch of a composed text, and what takes its place.
#[derive(Debug)]
pub(super) struct Replacement<'a> {
    /// Where it stands.
    pub(super) range: Range<usize>,
    /// What takes its place: letters and digits.
    pub(super) with: &'a str,
}

/// A stretch of a composed text within which a value stands: what a literal says, or a number.
struct Leaf {
    composed: Range<usize>,
    is_name: bool,
    is_number: bool,
}

/// Cuts findings to what can be replaced: the inside of one literal, one whole number. Whatever is
/// found across several (a context that was taken for a value) is a value in each of them, names of
/// members apart. Only in a `joined` unit does a value go on from one literal to the next.
pub(super) fn clip(
    findings: &[Finding],
    layout: &[Items],
    text: &str,
    joined: bool,
) -> Vec<Finding> {
    let mut leaves = Vec::new();
    for items in layout {
        collect(items, false, findings, text, &mut leaves);
    }
    let mut clipped: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        let from = leaves.partition_point(|leaf| leaf.composed.end <= finding.start);
        let rest = leaves.get(from..).unwrap_or_default();
        let count = rest.partition_point(|leaf| leaf.composed.start < finding.end);
        let overlapped = rest.get(..count).unwrap_or_default();
        let is_single = count == 1;
        let mut last: Option<Finding> = None;
        for leaf in overlapped {
            if leaf.is_name && !is_single {
                continue;
            }
            let (start, end) = if leaf.is_number {
                (leaf.composed.start, leaf.composed.end)
            } else {
                (leaf.composed.start.max(finding.start), leaf.composed.end.min(finding.end))
            };
            match &mut last {
                Some(last) if joined && last.end == start => last.end = end,
                _ => {
                    clipped.extend(last);
                    last = Some(Finding { start, end, ..*finding });
                }
            }
        }
        clipped.extend(last);
    }
    crate::finding::settle(&mut clipped);
    clipped
}

fn collect(
    items: &[Item],
    is_name: bool,
    findings: &[Finding],
    text: &str,
    leaves: &mut Vec<Leaf>,
) {
    for item in items {
        match item {
            Item::Literal { is_name, items, .. } => {
                collect(items, *is_name, findings, text, leaves);
            }
            Item::Run { composed, editable: false, .. } => {
                let next = findings.partition_point(|f| f.end <= composed.start);
                if findings.get(next).is_some_and(|f| f.start < composed.end) {
                    numbers(text, composed, leaves);
                }
            }
            Item::Run { composed, .. } | Item::Encoded { composed, .. } => {
                leaves.push(Leaf { composed: composed.clone(), is_name, is_number: false });
            }
        }
    }
}

/// The numbers between the literals of a JSON text.
fn numbers(text: &str, composed: &Range<usize>, leaves: &mut Vec<Leaf>) {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    let mut rest = &text[composed.clone()];
    while let Some(skipped) = rest.find(is_of_number) {
        let start = composed.end - rest.len() + skipped;
        rest = &rest[skipped..];
        let length = rest.find(|c| !is_of_number(c)).unwrap_or(rest.len());
        // The `e` of `true` is none.
        if rest.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            let composed = start..start + length;
            leaves.push(Leaf { composed, is_name: false, is_number: true });
        }
        rest = &rest[length..];
    }
}

/// The edits of `text`, whose composed text came from `items`, that make `replacements` (in order).
/// `first` is the index of the first of them.
pub(super) fn edits(
    items: &[Item],
    text: &str,
    replacements: &[Replacement<'_>],
    first: usize,
    edits_out: &mut Vec<Edit>,
) {
    for item in items {
        let composed = item.composed();
        let from = replacements.partition_point(|r| r.range.end <= composed.start);
        let to = replacements.partition_point(|r| r.range.start < composed.end);
        let Some(within @ [_, ..]) = replacements.get(from..to) else { continue };
        let first = first + from;
        match item {
            Item::Run { at, editable, .. } => {
                for (i, replacement) in within.iter().enumerate() {
                    edits_out.push(in_run(replacement, composed, *at, *editable, first + i));
                }
            }
            Item::Literal { inside, items, .. } => {
                in_literal(inside, items, text, within, first, edits_out);
            }
            Item::Encoded { payload, coding, .. } => {
                let run = [Item::Run { at: 0, composed: composed.clone(), editable: true }];
                let encoded = &text[payload.clone()];
                match coding {
                    Coding::Base64 => {
                        let Some(decoded) = encoding::base64(encoded.as_bytes()) else { continue };
                        let decoded = String::from_utf8(decoded).unwrap_or_default();
                        let mut inner = Vec::new();
                        edits(&run, &decoded, within, first, &mut inner);
                        let with = encoding::to_base64(
                            apply(&decoded, &inner).as_bytes(),
                            encoded.as_bytes(),
                        );
                        let begins = begun(&inner);
                        edits_out.push(Edit { range: payload.clone(), with, begins });
                    }
                    Coding::Percent => {
                        let mut inner = Vec::new();
                        edits(&run, "", within, first, &mut inner);
                        let places = inner.iter().flat_map(|e| [e.range.start, e.range.end]);
                        let places = places_in_percent(encoded, places);
                        for (edit, place) in inner.into_iter().zip(places.chunks_exact(2)) {
                            let range = payload.start + place[0]..payload.start + place[1];
                            edits_out.push(Edit { range, ..edit });
                        }
                    }
                }
            }
        }
    }
}

/// A replacement in a stretch that is copied as it stands. Where it began further ahead, only the
/// rest of the value is taken out.
fn in_run(
    replacement: &Replacement<'_>,
    composed: &Range<usize>,
    at: usize,
    editable: bool,
    index: usize,
) -> Edit {
    let start = replacement.range.start.max(composed.start) - composed.start;
    let end = replacement.range.end.min(composed.end) - composed.start;
    let begins_here = replacement.range.start >= composed.start;
    let with = match (begins_here, editable) {
        (false, _) => String::new(),
        (true, true) => replacement.with.to_owned(),
        // A number: what takes its place is a string.
        (true, false) => format!("\"{}\"", replacement.with),
    };
    let begins = index..index + usize::from(begins_here);
    Edit { range: at + start..at + end, with, begins }
}

fn in_literal(
    inside: &Range<usize>,
    items: &[Item],
    text: &str,
    within: &[Replacement<'_>],
    first: usize,
    edits_out: &mut Vec<Edit>,
) {
    let literal = &text[inside.clone()];
    let mut inner = Vec::new();
    if !literal.contains('\\') {
        edits(items, literal, within, first, &mut inner);
        edits_out.extend(inner.into_iter().map(|edit| Edit {
            range: inside.start + edit.range.start..inside.start + edit.range.end,
            with: escaped(edit.with),
            ..edit
        }));
        return;
    }
    let mut decoded = Vec::with_capacity(literal.len());
    unescape(literal, &mut decoded);
    edits(items, &String::from_utf8_lossy(&decoded), within, first, &mut inner);
    let places = inner.iter().flat_map(|edit| [edit.range.start, edit.range.end]);
    let places = places_in_literal(literal, places);
    for (edit, place) in inner.into_iter().zip(places.chunks_exact(2)) {
        edits_out.push(Edit {
            range: inside.start + place[0]..inside.start + place[1],
            with: escaped(edit.with),
            ..edit
        });
    }
}

/// `text` as it stands inside a literal. Placeholders are letters and digits and need nothing.
fn escaped(text: String) -> String {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return text;
    }
    let mut literal = Vec::with_capacity(text.len() + 8);
    sluice_core::json::write_escaped(&text, &mut literal);
    let inside = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    String::from_utf8_lossy(inside).into_owned()
}

/// The replacements that begin in any of `edits`.
fn begun(edits: &[Edit]) -> Range<usize> {
    let mut begun = edits.iter().map(|edit| &edit.begins).filter(|begins| !begins.is_empty());
    let Some(first) = begun.next() else { return 0..0 };
    first.start..begun.next_back().map_or(first.end, |last| last.end)
}

/// `text` with `edits`, which are in order and do not overlap.
pub(super) fn apply(text: &str, edits: &[Edit]) -> String {
    apply_moving(text, edits.iter().map(|edit| (edit.range.clone(), edit.with.as_str())), &mut [])
}

/// `text` with something else in place of some ranges, which are in order and do not overlap;
/// `places` of the text, in order and within no range, become those of what is returned.
pub(super) fn apply_moving<'w>(
    text: &str,
    edits: impl Iterator<Item = (Range<usize>, &'w str)> + Clone,
    places: &mut [usize],
) -> String {
    let longer = |(range, with): (Range<usize>, &str)| with.len().saturating_sub(range.len());
    let longer: usize = edits.clone().map(longer).sum();
    let mut out = String::with_capacity(text.len() + longer);
    let mut at = 0;
    let mut places = places.iter_mut().peekable();
    let end = text.len();
    for (range, with) in edits {
        while let Some(place) = places.next_if(|place| **place <= range.start) {
            *place = out.len() + place.saturating_sub(at);
        }
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(with);
        at = range.end.max(at);
    }
    for place in places {
        *place = out.len() + (*place).min(end).saturating_sub(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Providers refuse a text part with nothing in it. Where a value goes on from one literal to the
/// next, all of a literal may have been the value: what takes its place goes on as well then, with
/// one character in each such literal. `edits` are those of each of the `literals`.
pub(super) fn leave_none_empty(
    literals: &[&str],
    replacements: &[Replacement<'_>],
    edits: &mut [Vec<Edit>],
) {
    for i in (1..literals.len().min(edits.len())).rev() {
        let (before, from) = edits.split_at_mut(i);
        let Some(own @ [first, ..]) = from.first().map(Vec::as_slice) else { continue };
        if !is_blank(&apply(literals[i], own)) {
            continue;
        }
        let goes_on = first.begins.start;
        let begins = before.iter_mut().flatten().find(|edit| edit.begins.contains(&goes_on));
        let last = begins.zip(replacements.get(goes_on)).and_then(|(edit, replacement)| {
            // What is encoded cannot be cut.
            let is_plain = edit.with.len() > 1 && replacement.with.starts_with(&edit.with);
            if is_plain { edit.with.pop() } else { None }
        });
        if let Some(edit) = from.first_mut().and_then(|own| own.first_mut()) {
            edit.with = last.unwrap_or('.').to_string();
        }
    }
}

/// Whether a literal says nothing but white space.
fn is_blank(literal: &str) -> bool {
    let mut said = Vec::with_capacity(literal.len());
    unescape(literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default(), &mut said);
    str::from_utf8(&said).is_ok_and(|said| said.trim().is_empty())
}
