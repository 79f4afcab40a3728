//! Without any quality given: what a new deployment gets that names its models and nothing else.
//!
//! The table of qualities is fitted anew for each pool, to the outcomes of the other ones: nothing
//! was learnt of its benchmarks, nor of what its models make of them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use sluice_routing::quality::Basis;
use sluice_routing::quality::table::{PriceLine, QualityTable};
use sluice_routing::router::Policy;

use super::members::{choose, contenders, router_without};
use super::outcomes::Pool;
use super::score::Score;
use super::seen::singles;
use crate::quality::{self, Fitted, boards};

/// Prints how routers choose in each pool, and how the table orders the models of LiveBench.
pub(super) fn print(pools: &BTreeMap<String, Pool>, leaderboards: &Path) -> Result<()> {
    let given = boards::read(leaderboards)?;
    println!("### Without any quality given\n");
    for (name, pool) in pools {
        let others: Vec<(&str, &Pool)> = pools
            .iter()
            .filter(|(other, _)| *other != name)
            .map(|(other, pool)| (other.as_str(), pool))
            .collect();
        let fitted = quality::fit(&given, &others)?;
        println!("#### {name}: {}\n", bases(pool, &fitted));
        pool_table(pool, &fitted);
    }
    quality::livebench::print(leaderboards, &quality::fit(&given, &all(pools))?, &given.prices)
}

fn all(pools: &BTreeMap<String, Pool>) -> Vec<(&str, &Pool)> {
    pools.iter().map(|(name, pool)| (name.as_str(), pool)).collect()
}

/// What the qualities of a pool rest on.
fn bases(pool: &Pool, fitted: &Fitted) -> String {
    let router = router_without(pool, Policy::Balanced, &fitted.table(), fitted.record.price);
    let count = |basis| {
        let members = router.members.iter().filter(|member| member.quality.basis == basis);
        let count = members.count();
        (count > 0).then(|| format!("{count} by {}", Basis::as_str(basis)))
    };
    Basis::ALL.into_iter().filter_map(count).collect::<Vec<_>>().join(", ")
}

/// What a router of `policy` chooses in `pool`.
fn routed(pool: &Pool, policy: Policy, table: &QualityTable, line: PriceLine) -> Score {
    let router = router_without(pool, policy, table, line);
    let contenders = contenders(&router);
    let chosen = pool.rows.iter().enumerate().filter_map(|(i, row)| {
        let first = *choose(&router, &contenders, row, i as u64).order.first()?;
        Some((row.outcomes[first].score, row.outcomes[first].cost))
    });
    Score::of(chosen)
}

fn pool_table(pool: &Pool, fitted: &Fitted) {
    let (table, price) = (fitted.table(), fitted.record.price);
    let singles = singles(pool);
    println!("| chosen by | accuracy | $ per 1 000 | best single no dearer |");
    println!("| --- | --- | --- | --- |");
    let line = |name: &str, score: Score| {
        let affordable = singles.iter().filter(|single| single.cost <= score.cost * 1.001);
        let best = affordable.map(|single| single.accuracy).fold(0.0, f64::max);
        println!("| {name} | {:.3} | {:.4} | {best:.3} |", score.accuracy, score.cost);
    };
    for policy in [Policy::Balanced, Policy::Fastest, Policy::Strongest] {
        line(policy.as_str(), routed(pool, policy, &table, price));
    }
    let nothing = QualityTable::default();
    line("balanced, by price alone", routed(pool, Policy::Balanced, &nothing, price));
    let best = |by: fn(&Score) -> f64| {
        (0..singles.len()).max_by(|a, b| by(&singles[*a]).total_cmp(&by(&singles[*b])))
    };
    for (name, by) in [
        ("best single", (|score| score.accuracy) as fn(&Score) -> f64),
        ("dearest", |score| score.cost),
        ("cheapest", |score| -score.cost),
    ] {
        if let Some(of) = best(by) {
            line(&format!("{name} ({})", pool.models[of]), singles[of]);
        }
    }
    let every = pool.rows.iter().flat_map(|row| row.outcomes.iter().map(|of| (of.score, of.cost)));
    line("at random", Score::of(every));
    println!();
}
