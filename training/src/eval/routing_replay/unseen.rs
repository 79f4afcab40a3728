//! Benchmarks of which nothing was learnt: a router must not do worse there than the model that
//! is the most accurate elsewhere.

use std::collections::BTreeSet;

use sluice_routing::router::Policy;

use super::members::{choose, contenders, router};
use super::outcomes::Pool;
use super::score::Score;

/// One benchmark left out.
struct LeftOut<'a> {
    bench: &'a str,
    rows: usize,
    routed: Score,
    single: Score,
}

fn leave_out<'a>(pool: &'a Pool, policy: Policy, bench: &'a str) -> LeftOut<'a> {
    let router = router(pool, policy, |row| row.bench != bench);
    let contenders = contenders(&router);
    let mean = |of: usize| {
        let seen = pool.rows.iter().filter(|row| row.bench != bench);
        Score::of(seen.map(|row| (row.outcomes[of].score, row.outcomes[of].cost))).accuracy
    };
    let best = (0..pool.models.len()).max_by(|a, b| mean(*a).total_cmp(&mean(*b))).unwrap_or(0);
    let rows = || pool.rows.iter().filter(|row| row.bench == bench);
    let chosen = rows().filter_map(|row| {
        let first = *choose(&router, &contenders, row, 0).order.first()?;
        Some((row.outcomes[first].score, row.outcomes[first].cost))
    });
    LeftOut {
        bench,
        rows: rows().count(),
        routed: Score::of(chosen),
        single: Score::of(rows().map(|row| (row.outcomes[best].score, row.outcomes[best].cost))),
    }
}

pub(super) fn print(pool: &Pool) {
    let benches: BTreeSet<&str> = pool.rows.iter().map(|row| row.bench.as_str()).collect();
    println!("| left out | prompts | accuracy, balanced | best single elsewhere | difference |");
    println!("| --- | --- | --- | --- | --- |");
    let (mut sum, mut of_benches, mut count) = (0.0, 0.0, 0.0);
    for bench in &benches {
        let left_out = leave_out(pool, Policy::Balanced, bench);
        let gain = left_out.routed.accuracy - left_out.single.accuracy;
        #[expect(clippy::cast_precision_loss, reason = "some hundred rows")]
        let rows = left_out.rows as f64;
        sum += gain * rows;
        count += rows;
        of_benches += gain;
        println!(
            "| {} | {} | {:.3} | {:.3} | {gain:+.3} |",
            left_out.bench, left_out.rows, left_out.routed.accuracy, left_out.single.accuracy,
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "a dozen benchmarks")]
    let of_benches = of_benches / benches.len() as f64;
    println!("| all prompts | {count} | | | {:+.3} |", sum / count);
    println!("| mean of benchmarks | | | | {of_benches:+.3} |\n");
}
