//! A thousand sessions that begin at once spread over what is as good as the best.

use crate::decide::{Contender, Situation, decide};
use crate::quality::Quality;
use crate::router::{Policy, Router};
use crate::task::TaskType::Code;
use crate::testing::{self, judgement};

const SESSIONS: u64 = 1000;

fn twins(count: usize) -> Router {
    let names = ["a", "b", "c", "d"];
    let twin = |id| (testing::model(id, Some((1.0, 4.0)), Quality::even(0.8)), 1.0);
    testing::router(Policy::Balanced, names.into_iter().take(count).map(twin).collect())
}

/// As a random number of the gateway would be, the same in each run.
fn chance(session: u64) -> u64 {
    session.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
}

/// How many of the sessions each contender gets. Before each, `change` may change the contenders,
/// knowing how many they have already.
fn shares(
    router: &Router,
    contenders: &mut [Contender],
    chance: impl Fn(u64) -> u64,
    change: impl Fn(&mut Contender, u64),
) -> Vec<u64> {
    let judgement = judgement(Code, 0.5);
    let mut got = vec![0; contenders.len()];
    for session in 1..=SESSIONS {
        for (contender, in_flight) in contenders.iter_mut().zip(&got) {
            change(contender, *in_flight);
        }
        let situation = Situation { chance: chance(session), ..testing::situation(&judgement) };
        got[decide(router, contenders, &situation).order[0]] += 1;
    }
    got
}

#[test]
fn near_ties_share_what_begins_at_once() {
    let router = twins(4);
    // A few milliseconds more or less make no difference.
    let paces = [(800.0, 80.0), (810.0, 80.0), (805.0, 81.0), (799.0, 79.0)];
    let got = shares(&router, &mut testing::contenders(&paces), chance, |_, _| {});
    assert!(got.iter().all(|share| (200..=300).contains(share)), "{got:?}");
}

#[test]
fn whoever_is_much_slower_has_no_part_in_it() {
    let router = twins(4);
    let paces = [(800.0, 80.0), (810.0, 80.0), (805.0, 81.0), (9000.0, 20.0)];
    let got = shares(&router, &mut testing::contenders(&paces), chance, |_, _| {});
    assert!(got[3] == 0 && got[..3].iter().all(|share| *share > 270), "{got:?}");
}

#[test]
fn requests_in_flight_spread_them_even_without_chance() {
    let router = twins(3);
    let mut contenders = testing::contenders(&[(800.0, 80.0); 3]);
    // Each request in flight is expected to cost the next one ten milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "a thousand")]
    let loaded = |contender: &mut Contender, in_flight: u64| {
        contender.pace.first_token_ms = 800.0 + 10.0 * in_flight as f64;
    };
    let got = shares(&router, &mut contenders, |_| 0, loaded);
    assert!(got.iter().all(|share| (333..=334).contains(share)), "{got:?}");
}
