//! Where in a block's bytes its findings stand.

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
    let spot = |finding: &Finding| Spot { unit: n, finding: *finding, plain: None };
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
                let value = text.get(spot.finding.range()).unwrap_or_default();
                spot.plain = Plain::new(block, at + range.start..at + range.end, value);
            }
        }
    }
    for (spot, _) in spots.iter_mut().zip(in_pieces).filter(|(_, in_pieces)| *in_pieces) {
        spot.plain = None;
    }
    spots
}
