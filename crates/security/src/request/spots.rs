//! Where in a block's bytes its findings stand.

use sluice_core::json::places_in_literal;

use super::compose::{Items, Unit};
use super::edits::{Edit, Replacement, edits};
use super::known::{Plain, Spot};
use super::offset_in;
use crate::finding::Finding;

/// What stands for any placeholder.
const ANY: &str = "Q";

/// The findings of unit `n` of a block whose bytes are `block`. `text` is what the unit says, and
/// `layout` where that came from.
pub(super) fn spots(
    block: &str,
    n: usize,
    unit: &Unit<'_>,
    text: &str,
    layout: &[Items],
    findings: &[Finding],
) -> Vec<Spot> {
    let spot = |finding: &Finding| Spot::new(n, finding, None);
    let mut spots: Vec<Spot> = findings.iter().map(spot).collect();
    let replacement = |finding: &Finding| Replacement { range: finding.range(), with: ANY };
    let replacements: Vec<Replacement<'_>> = findings.iter().map(replacement).collect();
    let mut in_pieces = vec![false; spots.len()];
    let mut changes = Vec::new();
    for (piece, items) in unit.pieces.iter().zip(layout) {
        // The name of a member stands elsewhere.
        let at = Some(offset_in(block, piece.text)).filter(|at| *at < block.len());
        changes.clear();
        edits(items, piece.text, &replacements, 0, &mut changes);
        for Edit { range, with, begins } in &changes {
            let Some(spot) = spots.get_mut(begins.start) else { continue };
            if begins.is_empty() {
                // A value goes on here that began in another piece.
                in_pieces[begins.start] = true;
            } else if let Some(at) = at
                && begins.len() == 1
                && with == ANY
            {
                let value = text.get(spot.finding().range()).unwrap_or_default();
                spot.plain = Plain::new(block, at + range.start..at + range.end, value);
            }
        }
    }
    for (spot, _) in spots.iter_mut().zip(in_pieces).filter(|(_, in_pieces)| *in_pieces) {
        spot.plain = None;
    }
    spots
}

/// The same for a text that is what `literal` says ([`Composed::is_flat`](super::compose::Composed)),
/// of which nothing has to be taken apart: there are a million findings in the worst of them.
pub(super) fn spots_in_literal(
    block: &str,
    n: usize,
    literal: &str,
    text: &str,
    findings: &[Finding],
) -> Vec<Spot> {
    let at = offset_in(block, literal) + 1;
    let inside = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    let spot = |finding: &Finding, start: usize, end: usize| {
        let range = at + start..at + end;
        // Every escape is longer than what it stands for.
        let plain = if end - start == finding.end - finding.start {
            Some(Plain::verbatim(range))
        } else {
            Plain::new(block, range, text.get(finding.range()).unwrap_or_default())
        };
        Spot::new(n, finding, plain)
    };
    if inside.len() == text.len() {
        return findings.iter().map(|f| spot(f, f.start, f.end)).collect();
    }
    let places = places_in_literal(inside, findings.iter().flat_map(|f| [f.start, f.end]));
    let (places, _) = places.as_chunks();
    findings.iter().zip(places).map(|(f, [start, end])| spot(f, *start, *end)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::compose::{Composer, Form, Piece};
    use super::*;
    use crate::kind::Kind;

    proptest! {
        #[test]
        fn a_flat_text_has_the_places_of_any_other(
            said in "([a-z]{0,9}|[\\\\\"\n\té🚀\u{1}]){0,9}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let block = format!("{{\"content\":{}}}", Value::from(said.as_str()));
            let literal = &block[11..block.len() - 1];
            let pieces = vec![Piece { before: "", text: literal, form: Form::Literal }];
            let unit = Unit { pieces, ..Unit::default() };
            let mut composer = Composer::default();
            prop_assume!(composer.compose(&unit).is_flat);
            let (text, layout) = composer.layout(&unit);
            prop_assert_eq!(text, said.as_str());
            let mut places: Vec<usize> =
                cuts.iter().map(|cut| said.floor_char_boundary(cut.index(said.len() + 1))).collect();
            places.sort_unstable();
            places.dedup();
            let (pairs, _) = places.as_chunks();
            let finding = |[start, end]: &[usize; 2]| {
                Finding { start: *start, end: *end, kind: Kind::Email, rule: "test" }
            };
            let findings: Vec<Finding> = pairs.iter().map(finding).collect();
            let places = |spots: Vec<Spot>| -> Vec<_> {
                let plain = |spot: &Spot| spot.plain.map(|p| (p.range(), p.value(&block).into_owned()));
                spots.iter().map(|spot| (spot.finding(), plain(spot))).collect()
            };
            let flat = places(spots_in_literal(&block, 0, literal, text, &findings));
            prop_assert_eq!(flat, places(spots(&block, 0, &unit, text, &layout, &findings)));
        }
    }
}
