//! Model cards of routers: reference information, six fields each.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sluice_core::ids::ModelId;
use sluice_core::money::Price;

use crate::quality::Basis;
use crate::router::{Member, Policy, Router, Stability};

/// The figures of the cards as `cargo xtask eval routing --write` leaves them.
pub const BENCHMARKS: &str = include_str!("../models/benchmarks.json");

/// What a router is, in six fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// What a caller puts in `model`.
    pub id: ModelId,
    /// RouterArena's score of accuracy and cost, 0 to 100: what routers of this policy got when
    /// public outcomes were replayed ([`Benchmarks`]), not what these members would get. `None`
    /// where the policy was not measured.
    pub benchmark_score: Option<f64>,
    /// What it chooses from.
    pub included_models: Vec<ModelId>,
    /// When that was last changed: `2026-11-01`.
    pub last_changed: String,
    /// What the operator says; else whether its choices rest on known figures.
    pub stability: Stability,
    /// What its models cost.
    pub pricing_tier: PricingTier,
}

/// What a router's models cost: three parts prompt and one part answer, in US dollars per million
/// tokens, as the mean of the members (by weight in a weighted split).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PricingTier {
    /// Nothing.
    Free,
    /// Less than one dollar.
    Low,
    /// One to five dollars.
    Medium,
    /// More than five dollars.
    High,
    /// The price of a member is unknown.
    Unknown,
}

/// Where the benchmark scores are from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Benchmarks {
    /// `replayed`: no model was asked; the choice was compared with recorded outcomes.
    pub method: String,
    /// The outcomes.
    pub data: String,
    /// BLAKE3 hash of their file, as hexadecimal digits.
    pub blake3: String,
    /// When they were replayed.
    pub date: String,
    /// The models that were chosen from.
    pub models: Vec<String>,
    /// One for each policy.
    pub policies: Vec<PolicyScore>,
}

/// What routers of one policy got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyScore {
    /// The policy.
    pub policy: String,
    /// The share of prompts that were answered well, 0 to 1.
    pub accuracy: f64,
    /// US dollars per 1 000 requests.
    pub cost_per_1000: f64,
    /// RouterArena's score of both, 0 to 1.
    pub accuracy_cost_score: f64,
    /// The accuracy beyond that of single models, two of them mixed at best, at the same cost.
    pub against_best_single: f64,
}

impl Benchmarks {
    /// What is committed.
    pub fn committed() -> Result<Self, serde_json::Error> {
        serde_json::from_str(BENCHMARKS)
    }

    /// What routers of `policy` got.
    pub fn of(&self, policy: Policy) -> Option<&PolicyScore> {
        self.policies.iter().find(|score| score.policy == policy.as_str())
    }

    /// What stands below a card: how its score came about, and what routing was worth.
    pub fn note(&self) -> String {
        let Self { method, data, blake3, date, .. } = self;
        let mut note = format!(
            "Benchmark score: {method} on {data} (BLAKE3 {blake3}), {date}, with other models than \
             yours; that of a split is of an even one over all of them.\n\
             Accuracy against the best single model at equal cost, in points:"
        );
        for PolicyScore { policy, against_best_single, .. } in &self.policies {
            let _ = write!(note, " {policy} {:+.1},", against_best_single * 100.0);
        }
        note.pop();
        note
    }
}

impl Card {
    /// The card of `router`, whose members were `last_changed` on that day.
    pub fn of(router: &Router, last_changed: &str, benchmarks: &Benchmarks) -> Self {
        let score = benchmarks.of(router.policy).map(|found| found.accuracy_cost_score);
        Self {
            id: router.id.clone(),
            benchmark_score: score.map(|score| (score * 1000.0).round() / 10.0),
            included_models: router.members.iter().map(|of| of.model.id.clone()).collect(),
            last_changed: last_changed.to_owned(),
            stability: router.stability.unwrap_or_else(|| stability(router)),
            pricing_tier: PricingTier::of(router),
        }
    }
}

/// Stable where the price and the quality of every member are known (of a weighted split, the
/// price). Elsewhere choices rest on guesses, and may change once they are known.
fn stability(router: &Router) -> Stability {
    let is_known = router.members.iter().all(|member| {
        member.model.price.is_some()
            && (!member.quality.basis.is_guess() || router.policy == Policy::Weighted)
    });
    if is_known { Stability::Stable } else { Stability::Preview }
}

/// What the qualities of a router's members rest on, in words: `1 by yours (as you say), 2 by prior
/// (public leaderboards)`. `None` for a weighted split, which does not look at them.
pub fn rests_on(router: &Router) -> Option<String> {
    if router.policy == Policy::Weighted || router.members.is_empty() {
        return None;
    }
    let of_basis = |basis: Basis| {
        let members = router.members.iter().filter(|member| member.quality.basis == basis);
        let count = members.count();
        (count > 0).then(|| format!("{count} by {} ({})", basis.as_str(), basis.meaning()))
    };
    let parts: Vec<String> = Basis::ALL.into_iter().filter_map(of_basis).collect();
    Some(parts.join(", "))
}

/// The members of which nobody has measured the quality itself, but for simulated ones.
pub fn guesses(router: &Router) -> impl Iterator<Item = &Member> {
    let members = router.members.iter().filter(|member| !member.model.simulated);
    members.filter(|member| member.quality.basis.is_guess())
}

impl PricingTier {
    /// The word on cards.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Unknown => "unknown",
        }
    }

    fn of(router: &Router) -> Self {
        let (mut sum, mut weights) = (0.0, 0.0);
        for member in &router.members {
            let Some(price) = &member.model.price else { return Self::Unknown };
            let weight = if router.policy == Policy::Weighted { member.weight } else { 1.0 };
            sum += weight * blended(price);
            weights += weight;
        }
        if weights <= 0.0 {
            return Self::Unknown;
        }
        match sum / weights {
            mean if mean <= 0.0 => Self::Free,
            mean if mean < 1.0 => Self::Low,
            mean if mean <= 5.0 => Self::Medium,
            _ => Self::High,
        }
    }
}

/// Three parts prompt and one part answer, in US dollars per million tokens.
fn blended(price: &Price) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a price of a token is a small number")]
    let blended = (price.input.0 as f64 * 3.0 + price.output.0 as f64) / 4.0 / 1e6;
    blended
}

#[cfg(test)]
mod tests;
