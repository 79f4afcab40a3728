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
mod without;

use std::path::Path;

use anyhow::Result;

pub(crate) use self::outcomes::{Pool, read, task_of};

/// The pool whose figures may be passed on; the other one is for tuning.
const PUBLISHED: &str = "llmrouter9";

/// Where leaderboards lie, from the folder of outcomes.
const QUALITY: &str = "../quality";

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
    without::print(&pools, &folder.join(QUALITY))?;
    artefact::run(&pools, &hash, artefact)
}

/// The part of [`replay`] where nobody says how good the models are.
pub(crate) fn without_quality(folder: &Path) -> Result<()> {
    without::print(&outcomes::read(folder)?.0, &folder.join(QUALITY))
}

fn tables(pool: &outcomes::Pool) {
    seen::print(pool);
    unseen::print(pool);
    dominance::print(pool);
}
