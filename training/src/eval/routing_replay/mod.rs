//! Replays public outcome data through the decision: would a router have chosen well?
//!
//! The data says how each model of a pool did on each prompt. What a router knows of the models is
//! learnt from some of the prompts and judged on others: on other folds of the same benchmarks
//! ("seen"), and on benchmarks of which nothing was learnt ("unseen").

mod artefact;
mod dominance;
mod members;
mod outcomes;
mod score;
mod seen;
mod unseen;

use std::path::Path;

use anyhow::Result;

/// The pool whose figures may be passed on; the other one is for tuning.
const PUBLISHED: &str = "llmrouter9";

/// What to do with the figures of the model cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Artefact {
    /// Compare them with what the replay gives.
    Check,
    /// Write them anew.
    Write,
}

/// Replays the outcome data in `folder`: Markdown tables, and the figures of the model cards.
pub(crate) fn replay(folder: &Path, artefact: Artefact) -> Result<()> {
    let (pools, hash) = outcomes::read(folder)?;
    for (name, pool) in &pools {
        println!("### {name}: {} prompts, {} models\n", pool.rows.len(), pool.models.len());
        tables(pool);
        println!("#### {name}, were the task of each benchmark known\n");
        tables(&pool.with_known_tasks());
    }
    artefact::run(&pools, &hash, artefact)
}

fn tables(pool: &outcomes::Pool) {
    seen::print(pool);
    unseen::print(pool);
    dominance::print(pool);
}
