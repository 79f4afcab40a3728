use serde_json::json;

use super::*;
use crate::quality::Quality;
use crate::testing;

fn card(router: &Router) -> Card {
    Card::of(router, "2026-11-01", &Benchmarks::committed().unwrap())
}

fn pair(policy: Policy, prices: [Option<(f64, f64)>; 2], weights: [f64; 2]) -> Router {
    let model = |(i, price): (usize, Option<(f64, f64)>)| {
        (testing::model(["a", "b"][i], price, Quality::even(0.8)), weights[i])
    };
    testing::router(policy, prices.into_iter().enumerate().map(model).collect())
}

#[test]
fn a_card_has_exactly_the_six_fields() {
    let router = pair(Policy::Balanced, [Some((1.0, 4.0)), Some((0.5, 2.0))], [1.0, 1.0]);
    let score = Benchmarks::committed().unwrap().of(Policy::Balanced).unwrap().clone();
    assert_eq!(
        serde_json::to_value(card(&router)).unwrap(),
        json!({
            "id": "svc/auto",
            "benchmark_score": (score.accuracy_cost_score * 1000.0).round() / 10.0,
            "included_models": ["a", "b"],
            "last_changed": "2026-11-01",
            "stability": "stable",
            "pricing_tier": "medium",
        })
    );
}

#[test]
fn every_policy_has_a_figure_and_its_source() {
    let benchmarks = Benchmarks::committed().unwrap();
    assert_eq!(benchmarks.policies.len(), Policy::ALL.len());
    for policy in Policy::ALL {
        let router = pair(policy, [Some((1.0, 4.0)), None], [1.0, 1.0]);
        let of_policy = benchmarks.of(policy).unwrap().accuracy_cost_score;
        let on_card = card(&router).benchmark_score.unwrap();
        assert!((on_card - of_policy * 100.0).abs() <= 0.05 + 1e-9, "{policy:?}");
    }
    let unmeasured = Benchmarks { policies: Vec::new(), ..benchmarks.clone() };
    let router = pair(Policy::Balanced, [None; 2], [1.0, 1.0]);
    assert_eq!(Card::of(&router, "2026-11-01", &unmeasured).benchmark_score, None);
    let note = benchmarks.note();
    assert!(
        note.starts_with("Benchmark score: replayed on llmrouter9 of multimodel_train"),
        "{note}"
    );
    assert!(note.contains(&benchmarks.blake3) && note.contains(&benchmarks.date), "{note}");
    assert_eq!((benchmarks.blake3.len(), benchmarks.date.len()), (64, 10));
}

#[test]
fn the_tier_is_the_members_mean_price() {
    use PricingTier::{Free, High, Low, Medium, Unknown};
    let (cheap, dear) = (Some((0.1, 0.5)), Some((10.0, 50.0)));
    for (policy, prices, weights, expected) in [
        (Policy::Balanced, [Some((0.0, 0.0)); 2], [1.0, 1.0], Free),
        (Policy::Balanced, [cheap; 2], [1.0, 1.0], Low),
        (Policy::Balanced, [cheap, Some((3.0, 15.0))], [1.0, 1.0], Medium),
        (Policy::Balanced, [cheap, dear], [1.0, 0.0], High),
        (Policy::Weighted, [cheap, dear], [1.0, 0.0], Low),
        (Policy::Weighted, [cheap, dear], [0.9, 0.1], Medium),
        (Policy::Weighted, [cheap, dear], [0.0, 0.0], Unknown),
        (Policy::Balanced, [cheap, None], [1.0, 1.0], Unknown),
    ] {
        assert_eq!(PricingTier::of(&pair(policy, prices, weights)), expected, "{prices:?}");
    }
}

#[test]
fn guesses_make_a_preview() {
    let prices = [Some((1.0, 4.0)), Some((0.5, 2.0))];
    for (policy, expected) in
        [(Policy::Balanced, Stability::Preview), (Policy::Weighted, Stability::Stable)]
    {
        let mut router = pair(policy, prices, [1.0, 1.0]);
        router.members[1].quality = Quality::guess(None);
        assert_eq!(card(&router).stability, expected);
        router.members[1].quality = Quality::even(0.7);
        assert_eq!(card(&router).stability, Stability::Stable);
    }
    let unpriced = pair(Policy::Weighted, [Some((1.0, 4.0)), None], [1.0, 1.0]);
    assert_eq!(card(&unpriced).stability, Stability::Preview);
    let labelled = Router { stability: Some(Stability::Deprecated), ..unpriced };
    assert_eq!(card(&labelled).stability, Stability::Deprecated, "the operator knows better");
}
