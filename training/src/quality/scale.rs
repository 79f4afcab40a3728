//! From ratings to shares: a curve through public outcomes.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use sluice_routing::quality::name::ModelName;
use sluice_routing::quality::table::Scale;
use sluice_routing::task::TaskType;

use super::coefficient;
use super::ratings::Ratings;
use crate::eval::routing_replay::{Pool, task_of};

/// What a model made of a benchmark: hundreds of points from 1300, the sum of scores, prompts.
struct Cell {
    bench: usize,
    points: f64,
    score: f64,
    prompts: f64,
}

/// What a hundred points are by the definition of the rating, where nothing else is known.
const ELO: f64 = std::f64::consts::LN_10 / 4.0;
/// How much that counts beside the outcomes.
const HELD: f64 = 20.0;
/// The most prompts that a model's outcomes of a benchmark count for.
const MOST_PROMPTS: f64 = 25.0;

/// How often the curve is drawn nearer; it stands still long before.
const ROUNDS: usize = 400;

/// One slope for all benchmarks of `pools`, and for each how hard it is; the level of an ordinary
/// request is their mean.
pub(super) fn fit(ratings: &Ratings, pools: &[(&str, &Pool)]) -> Result<Scale> {
    let mut benches: Vec<(&str, &str)> = Vec::new();
    let mut cells = Vec::new();
    for (name, pool) in pools {
        let mut sums: BTreeMap<(&str, usize), (f64, f64)> = BTreeMap::new();
        for row in &pool.rows {
            for (model, outcome) in row.outcomes.iter().enumerate() {
                let sum = sums.entry((&row.bench, model)).or_default();
                sum.0 += outcome.score;
                sum.1 += 1.0;
            }
        }
        for ((bench, model), (score, prompts)) in sums {
            let Some(rating) = rating(ratings, &pool.models[model], task_of(bench)) else {
                continue;
            };
            let place = benches.iter().position(|of| *of == (*name, bench)).unwrap_or_else(|| {
                benches.push((*name, bench));
                benches.len() - 1
            });
            cells.push(Cell { bench: place, points: (rating - 1_300.0) / 100.0, score, prompts });
        }
    }
    ensure!(cells.len() > benches.len(), "too few models of the outcomes have a rating");
    let mut slope = ELO;
    let mut levels = vec![0.0; benches.len()];
    for _ in 0..ROUNDS {
        let mut of_slope = (HELD * (ELO - slope), HELD);
        let mut of_levels = vec![(0.0, 1e-3); benches.len()];
        for cell in &cells {
            let odds: f64 = levels[cell.bench] + slope * cell.points;
            let share = 1.0 / (1.0 + (-odds).exp());
            let (miss, weight) =
                (cell.score - cell.prompts * share, cell.prompts * share * (1.0 - share));
            // What a model makes of a benchmark differs by more than chance from what its rating
            // says: a thousand prompts tell no more of the curve than some dozen.
            let counts = (MOST_PROMPTS / cell.prompts).min(1.0);
            let (miss, weight) = (counts * miss, counts * weight);
            of_slope.0 += miss * cell.points;
            of_slope.1 += weight * cell.points * cell.points;
            of_levels[cell.bench].0 += miss;
            of_levels[cell.bench].1 += weight;
        }
        // Half a step, since both are moved at once.
        slope += 0.5 * of_slope.0 / of_slope.1;
        for (level, (miss, weight)) in levels.iter_mut().zip(of_levels) {
            *level += 0.5 * miss / weight;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a dozen benchmarks")]
    let level = levels.iter().sum::<f64>() / levels.len() as f64;
    Ok(Scale {
        level: coefficient(level),
        slope: coefficient(slope),
        tenfold_price: coefficient(ratings.tenfold_price),
    })
}

/// The rating of a model of the outcomes, under the name that it has there.
fn rating(ratings: &Ratings, name: &str, task: TaskType) -> Option<f64> {
    let known = ModelName::parse(name)?;
    ratings.get(&known.key(), known.effort()).map(|of| of.by_task[task.index()])
}
