//! The figures that routers are judged with.

use std::cmp::Ordering;

/// What the strong and the weak model made of a question, beside its score: who scores higher goes
/// to the strong model first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Routed {
    pub(crate) score: f32,
    pub(crate) strong: f32,
    pub(crate) weak: f32,
}

/// The average performance gap recovered (`RouteLLM`, arXiv 2406.18665): the area under the share
/// of the gap between weak and strong that is won back as more questions go to the strong model.
/// 0.5 is chance. Equal scores share their gain.
pub(crate) fn performance_gap(mut routed: Vec<Routed>) -> f64 {
    routed.sort_by(|a, b| b.score.total_cmp(&a.score));
    let gap = |part: &[Routed]| part.iter().map(|r| f64::from(r.strong - r.weak)).sum::<f64>();
    let whole = gap(&routed);
    let mut area = 0.0;
    let mut won = 0.0;
    for tied in routed.chunk_by(|a, b| a.score == b.score) {
        let gain = gap(tied);
        area += (won + gain / 2.0) * tied.len() as f64;
        won += gain;
    }
    area / routed.len() as f64 / whole
}

/// Spearman's rank correlation; equal values share their rank.
pub(crate) fn rank_correlation(pairs: &[(f32, f32)]) -> f64 {
    let first = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let second = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let middle = (pairs.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    product(&first, &second) / (product(&first, &first) * product(&second, &second)).sqrt()
}

fn ranks(values: &[f32]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = from as f64 + (tied.len() as f64 - 1.0) / 2.0;
        for i in tied {
            ranks[*i] = rank;
        }
        from += tied.len();
    }
    ranks
}

/// The share of pairs of a hard and an easy prompt in which the hard one scores higher; equal
/// scores count half. `together` says which pairs count.
pub(crate) fn ordered<T>(
    hard: &[(f32, T)],
    easy: &[(f32, T)],
    together: impl Fn(&T, &T) -> bool,
) -> (f64, usize) {
    let (mut right, mut count) = (0.0, 0);
    for (hard_score, hard) in hard {
        for (easy_score, _) in easy.iter().filter(|(_, easy)| together(hard, easy)) {
            count += 1;
            right += match hard_score.total_cmp(easy_score) {
                Ordering::Greater => 1.0,
                Ordering::Equal => 0.5,
                Ordering::Less => 0.0,
            };
        }
    }
    (right / count as f64, count)
}

/// The mean of each label's F1, over pairs of what is true and what was said.
pub(crate) fn macro_f1(pairs: &[(usize, usize)], labels: usize) -> f64 {
    let mut sum = 0.0;
    let mut count = 0.0;
    for label in 0..labels {
        let is = pairs.iter().filter(|(truth, _)| *truth == label).count();
        let said = pairs.iter().filter(|(_, said)| *said == label).count();
        let right = pairs.iter().filter(|(truth, said)| *truth == label && *said == label).count();
        if is > 0 {
            sum += 2.0 * right as f64 / (is + said) as f64;
            count += 1.0;
        }
    }
    sum / count
}

/// The mean of `values`.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_order_wins_the_gap_back_early_and_its_reverse_late() {
        let of = |scores: [f32; 4]| {
            let routed = scores.into_iter().zip([1.0, 1.0, 0.0, 0.0]);
            let routed = routed.map(|(score, strong)| Routed { score, strong, weak: 0.0 });
            performance_gap(routed.collect())
        };
        assert_eq!(of([4.0, 3.0, 2.0, 1.0]), 0.75);
        assert_eq!(of([1.0, 1.0, 1.0, 1.0]), 0.5);
        assert_eq!(of([1.0, 2.0, 3.0, 4.0]), 0.25);
    }

    #[test]
    fn a_rank_correlation_sees_order_and_nothing_else() {
        let of = |values: [f32; 4]| {
            let pairs: Vec<_> = values.into_iter().zip([1.0, 2.0, 3.0, 4.0]).collect();
            rank_correlation(&pairs)
        };
        assert_eq!(of([1.0, 10.0, 100.0, 1000.0]), 1.0);
        assert_eq!(of([4.0, 3.0, 2.0, 1.0]), -1.0);
        assert!(of([1.0, 1.0, 2.0, 2.0]) < 1.0);
    }

    #[test]
    fn pairs_in_order_are_counted_and_ties_count_half() {
        let hard = [(0.9, 10), (0.4, 20)];
        let easy = [(0.4, 10), (0.1, 20)];
        assert_eq!(ordered(&hard, &easy, |_, _| true), (3.5 / 4.0, 4));
        assert_eq!(ordered(&hard, &easy, |a, b| a == b), (1.0, 2));
    }

    #[test]
    fn a_label_that_is_never_said_counts_as_zero() {
        assert_eq!(macro_f1(&[(0, 0), (1, 1)], 3), 1.0);
        assert_eq!(macro_f1(&[(0, 0), (0, 0), (1, 0)], 3), 0.4);
    }
}
