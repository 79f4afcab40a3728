//! Benchmarks that the members' quality was learnt on, by other prompts of them.

use sluice_routing::router::Policy;

use super::members::{choose, contenders, router};
use super::outcomes::Pool;
use super::score::{Score, single_at};

/// How many folds the data comes in.
const FOLDS: usize = 5;

/// What the router gets that learns on four folds and is judged on the fifth, for all five.
pub(super) fn routed(pool: &Pool, policy: Policy) -> Score {
    let mut outcomes = Vec::with_capacity(pool.rows.len());
    for fold in 0..FOLDS {
        let router = router(pool, policy, |row| row.fold != fold);
        let contenders = contenders(&router);
        for (i, row) in pool.rows.iter().enumerate().filter(|(_, row)| row.fold == fold) {
            if let Some(first) = choose(&router, &contenders, row, i as u64).order.first() {
                outcomes.push((row.outcomes[*first].score, row.outcomes[*first].cost));
            }
        }
    }
    Score::of(outcomes.into_iter())
}

/// What each model gets alone.
pub(super) fn singles(pool: &Pool) -> Vec<Score> {
    let single = |of: usize| {
        Score::of(pool.rows.iter().map(|row| (row.outcomes[of].score, row.outcomes[of].cost)))
    };
    (0..pool.models.len()).map(single).collect()
}

pub(super) fn print(pool: &Pool) {
    let singles = singles(pool);
    println!("| chosen by | accuracy | $ per 1 000 | S | against single models at that cost |");
    println!("| --- | --- | --- | --- | --- |");
    let line = |name: &str, score: Score| {
        let gain = score.accuracy - single_at(score.cost, &singles);
        println!(
            "| {name} | {:.3} | {:.4} | {:.3} | {gain:+.3} |",
            score.accuracy,
            score.cost,
            score.arena()
        );
    };
    for policy in Policy::ALL {
        line(policy.as_str(), routed(pool, policy));
    }
    let best = |by: fn(&Score) -> f64| {
        (0..singles.len()).max_by(|a, b| by(&singles[*a]).total_cmp(&by(&singles[*b])))
    };
    for (name, by) in [
        ("best single by S", Score::arena as fn(&Score) -> f64),
        ("most accurate single", |score| score.accuracy),
        ("cheapest", |score| -score.cost),
    ] {
        if let Some(of) = best(by) {
            line(&format!("{name} ({})", pool.models[of]), singles[of]);
        }
    }
    let every = pool.rows.iter().flat_map(|row| row.outcomes.iter().map(|o| (o.score, o.cost)));
    line("at random", Score::of(every));
    let oracle = pool.rows.iter().filter_map(|row| {
        let better = |a: &&_, b: &&_| {
            let (a, b): (&super::outcomes::Outcome, &super::outcomes::Outcome) = (a, b);
            a.score.total_cmp(&b.score).then(b.cost.total_cmp(&a.cost))
        };
        row.outcomes.iter().max_by(better).map(|outcome| (outcome.score, outcome.cost))
    });
    line("oracle", Score::of(oracle));
    println!();
}
