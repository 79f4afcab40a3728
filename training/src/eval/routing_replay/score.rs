//! Accuracy, cost, and RouterArena's figure for both.

/// Of prompts that somebody answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    /// The mean score, 0 to 1.
    pub(super) accuracy: f64,
    /// US dollars per 1 000 requests.
    pub(super) cost: f64,
}

impl Score {
    /// The mean of `(score, cost)`.
    pub(super) fn of(outcomes: impl Iterator<Item = (f64, f64)>) -> Self {
        let (mut count, mut score, mut cost) = (0.0, 0.0, 0.0);
        for outcome in outcomes {
            count += 1.0;
            score += outcome.0;
            cost += outcome.1;
        }
        Self { accuracy: score / count, cost: 1000.0 * cost / count }
    }

    /// RouterArena's score of accuracy and cost (arXiv 2510.00202): a weighted harmonic mean of the
    /// accuracy and of where the cost lies, in logarithms, between 200 and 0.0044 dollars.
    pub(super) fn arena(&self) -> f64 {
        const B: f64 = 0.1;
        let cheapness =
            (200_f64.log2() - self.cost.max(0.0044).log2()) / (200_f64.log2() - 0.0044_f64.log2());
        (1.0 + B) * self.accuracy * cheapness / (B * self.accuracy + cheapness)
    }
}

/// The accuracy that single models reach at `cost`: the best of them that is not dearer, or two
/// of them in turn, in the shares that cost as much.
pub(super) fn single_at(cost: f64, singles: &[Score]) -> f64 {
    let affordable = singles.iter().filter(|single| single.cost <= cost);
    let mut best = affordable.clone().map(|single| single.accuracy).fold(0.0, f64::max);
    for cheap in affordable {
        for dear in singles.iter().filter(|single| single.cost > cost) {
            let share = (cost - cheap.cost) / (dear.cost - cheap.cost);
            best = best.max(cheap.accuracy + share * (dear.accuracy - cheap.accuracy));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(accuracy: f64, cost: f64) -> Score {
        Score { accuracy, cost }
    }

    #[test]
    fn the_arena_score_is_as_published() {
        assert!((score(1.0, 0.0044).arena() - 1.0).abs() < 1e-9);
        assert!(score(0.8, 200.0).arena().abs() < 1e-9);
        // Halving the cost is worth a little accuracy, and only a little.
        let base = score(0.7, 0.2).arena();
        assert!(
            base < score(0.7, 0.1).arena() && score(0.7, 0.1).arena() < score(0.72, 0.2).arena()
        );
    }

    #[test]
    fn single_models_are_mixed_where_that_is_better() {
        let singles = [score(0.6, 1.0), score(0.8, 3.0), score(0.5, 2.0)];
        for (cost, expected) in [(0.5, 0.0), (1.0, 0.6), (2.0, 0.7), (3.0, 0.8), (9.0, 0.8)] {
            assert!((single_at(cost, &singles) - expected).abs() < 1e-9, "{cost}");
        }
    }
}
