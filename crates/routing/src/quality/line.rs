//! How figures of one scale become those of another.

use super::leaderboard::Wrong;

/// The least number of models that two scales need in common.
pub const LEAST_COMMON: usize = 5;

/// How the figures of one scale become those of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// What one unit is worth.
    pub slope: f64,
    /// What zero is worth.
    pub shift: f64,
}

impl Line {
    /// The line that gives the first figures of `pairs` the mean and the spread of the second ones.
    ///
    /// Not that of least squares, which would draw everything to the mean as far as both disagree.
    pub fn through(pairs: &[(f64, f64)]) -> Result<Self, Wrong> {
        let too_few = Wrong::TooFewKnown { found: pairs.len() };
        if pairs.len() < LEAST_COMMON {
            return Err(too_few);
        }
        #[expect(clippy::cast_precision_loss, reason = "some hundred models")]
        let count = pairs.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
        let spread = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>().sqrt();
        let of_x = spread(&|pair| (pair.0 - x).powi(2));
        let of_y = spread(&|pair| (pair.1 - y).powi(2));
        if of_x <= f64::EPSILON {
            return Err(too_few);
        }
        let slope = of_y / of_x;
        Ok(Self { slope, shift: y - slope * x })
    }

    /// The figure on the other scale.
    pub fn at(self, figure: f64) -> f64 {
        self.shift + self.slope * figure
    }
}

/// The logarithm of the odds of a share; what is all but certain counts as 99 %.
pub fn logit(share: f64) -> f64 {
    let share = share.clamp(0.01, 0.99);
    (share / (1.0 - share)).ln()
}

/// The share that has these odds.
pub fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_gives_mean_and_spread() {
        let pairs = [(1.0, 10.0), (2.0, 30.0), (3.0, 20.0), (4.0, 60.0), (5.0, 80.0)];
        let line = Line::through(&pairs).unwrap();
        let shown: Vec<f64> = pairs.iter().map(|pair| line.at(pair.0)).collect();
        assert!((shown.iter().sum::<f64>() - 200.0).abs() < 1e-9);
        let spread = |figures: &[f64]| figures.iter().map(|of| (of - 40.0).powi(2)).sum::<f64>();
        let wanted: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
        assert!((spread(&shown) - spread(&wanted)).abs() < 1e-6);
        assert_eq!(Line::through(&pairs[..4]), Err(Wrong::TooFewKnown { found: 4 }));
        assert!(Line::through(&[(1.0, 2.0); 9]).is_err(), "all alike say nothing");
    }

    proptest! {
        #[test]
        fn odds_and_shares_lead_to_each_other(share in 0.01_f64..0.99) {
            prop_assert!((logistic(logit(share)) - share).abs() < 1e-9);
        }
    }
}
