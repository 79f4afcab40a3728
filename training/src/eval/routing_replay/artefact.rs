//! The figures of the model cards.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use sluice_routing::card::{BENCHMARKS, Benchmarks, PolicyScore};
use sluice_routing::router::Policy;

use super::outcomes::{FILE, Pool};
use super::score::single_at;
use super::{Artefact, PUBLISHED, seen};

/// Where the figures lie, from this package's folder.
const PLACE: &str = "../crates/routing/models/benchmarks.json";

/// Writes the figures, or says what differs.
pub(super) fn run(pools: &BTreeMap<String, Pool>, hash: &str, artefact: Artefact) -> Result<()> {
    let pool = pools.get(PUBLISHED).with_context(|| format!("no pool {PUBLISHED}"))?;
    let mut now = computed(pool, hash);
    match artefact {
        Artefact::Write => {
            now.date = jiff::Timestamp::now().to_string().chars().take(10).collect();
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PLACE);
            std::fs::write(&path, serde_json::to_string_pretty(&now)? + "\n")
                .with_context(|| format!("cannot write {}", path.display()))?;
            println!("wrote {}", path.display());
        }
        Artefact::Check => {
            let committed: Benchmarks = serde_json::from_str(BENCHMARKS)?;
            now.date.clone_from(&committed.date);
            ensure!(
                now == committed,
                "the model cards' figures are not what the replay gives: write them anew with \
                 `cargo xtask eval routing --write`\nreplayed: {now:#?}\ncommitted: {committed:#?}"
            );
            println!("The model cards have these figures.");
        }
    }
    Ok(())
}

fn computed(pool: &Pool, hash: &str) -> Benchmarks {
    let singles = seen::singles(pool);
    let rounded = |figure: f64| (figure * 1e4).round() / 1e4;
    let policies = Policy::ALL.map(|policy| {
        let score = seen::routed(pool, policy);
        PolicyScore {
            policy: policy.as_str().to_owned(),
            accuracy: rounded(score.accuracy),
            cost_per_1000: rounded(score.cost),
            accuracy_cost_score: rounded(score.arena()),
            against_best_single: rounded(score.accuracy - single_at(score.cost, &singles)),
        }
    });
    Benchmarks {
        method: "replayed".to_owned(),
        data: format!("{PUBLISHED} of {FILE}: {} prompts", pool.rows.len()),
        blake3: hash.to_owned(),
        date: String::new(),
        models: pool.models.clone(),
        policies: policies.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cards_figures_are_what_the_replay_gives() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = root.join(crate::eval::ROUTING_FOLDER);
        if !folder.join(FILE).exists() {
            println!("skipped: there is no data in {}", folder.display());
            return;
        }
        let (pools, hash) = super::super::outcomes::read(&folder).unwrap();
        run(&pools, &hash, Artefact::Check).unwrap();
    }
}
