//! A split by weights that is the same for all of a session, and moves as few sessions as possible
//! when a member goes or comes: weighted rendezvous hashing.
//!
//! Each session draws a number for each member; the one with the highest `-weight / ln(number)`
//! has it (Mosharaf et al., "Weighted Distributed Hash Tables", 2014). Only ratios of weights count,
//! so that they need not sum to anything.

use arrayvec::ArrayVec;

use super::utility::Score;
use super::{Contender, MOST_CONTENDERS};
use crate::router::Router;

/// Sorts `order` by the session's draws, and the deployments of one member by their utility;
/// members of weight 0 are last.
pub(super) fn sort(
    router: &Router,
    contenders: &[Contender],
    scores: &[Score],
    session: u64,
    order: &mut [usize],
) {
    let draws: ArrayVec<f64, MOST_CONTENDERS> = contenders
        .iter()
        .map(|contender| {
            let member = &router.members[contender.member];
            draw(member.weight, session ^ name_hash(member.model.id.as_str()))
        })
        .collect();
    order.sort_unstable_by(|a, b| {
        let of_member = draws[*b].total_cmp(&draws[*a]);
        let of_deployment = || scores[*b].utility.total_cmp(&scores[*a].utility);
        of_member.then_with(of_deployment).then(a.cmp(b))
    });
}

fn draw(weight: f64, seed: u64) -> f64 {
    // 52 bits and a half: a number between 0 and 1 that is neither, whatever the bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what a double holds")]
    let number = ((mixed(seed) >> 12) as f64 + 0.5) / (1u64 << 52) as f64;
    -weight.max(0.0) / number.ln()
}

/// A number by which splits tell names apart: FNV-1a.
pub fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the number.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_a_number_whatever_the_bits() {
        for seed in [0, 1, u64::MAX, 0x9e37_79b9_7f4a_7c15_u64.wrapping_neg()] {
            assert!(draw(1.0, seed).is_finite(), "{seed}");
            assert!(draw(1.0, seed) > 0.0, "{seed}");
            assert_eq!(draw(0.0, seed), 0.0, "{seed}");
        }
    }
}
