//! Whom a new session asks, of those that are as good as the best.
//!
//! Chance decides, so that a thousand sessions that begin at once do not all go to one place. It
//! never picks whoever is notably dearer than the best: a surprise on the bill is no load balancing.

use super::{Contender, Decision, Reason};

/// Those within this share of the best utility are as good as the best.
const NEAR: f64 = 0.01;
/// An old figure is worth renewing within this share of the best utility, …
const NEARLY: f64 = 0.03;
/// … once in so many new sessions.
const EXPLORE_ONE_IN: u64 = 50;
/// What a session may cost more than with the best, so that load is spread.
const DEARER: f64 = 1.1;

/// Who is asked, and why. A `chance` of 0 asks for the best.
pub(super) fn spread(
    decision: &Decision,
    contenders: &[Contender],
    chance: u64,
) -> (usize, Reason) {
    let best = decision.order[0];
    if chance == 0 {
        return (best, Reason::Best);
    }
    let of_best = decision.scores[best];
    // Utilities are shares of 1, but may come near 0, where a share of them would be nothing.
    let unit = of_best.utility.abs().max(0.1);
    let within = |share: f64| {
        decision.order.iter().copied().filter(move |i| {
            let score = &decision.scores[*i];
            score.utility >= of_best.utility - share * unit
                && score.cost_usd <= of_best.cost_usd * DEARER
        })
    };
    let draw = chance / EXPLORE_ONE_IN;
    let stale = || within(NEARLY).filter(|i| contenders[*i].stale);
    // Where the best itself is stale, asking it renews its figures.
    if chance.is_multiple_of(EXPLORE_ONE_IN)
        && !contenders[best].stale
        && let Some(pick) = nth(stale(), stale().count(), draw)
    {
        return (pick, Reason::Explored);
    }
    match nth(within(NEAR), within(NEAR).count(), draw) {
        Some(pick) if within(NEAR).count() > 1 => (pick, Reason::NearTie),
        _ => (best, Reason::Best),
    }
}

/// One of `places`, of which there are `count`, by `draw`.
fn nth(mut places: impl Iterator<Item = usize>, count: usize, draw: u64) -> Option<usize> {
    let pick = draw.checked_rem(count as u64)?;
    places.nth(usize::try_from(pick).unwrap_or(0))
}
