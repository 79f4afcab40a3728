//! Judges the routers: task type and complexity on prompts that the model has not seen.

mod classification;

use std::path::Path;

use anyhow::Result;

/// Prints the tables.
pub(crate) fn run(folder: &Path) -> Result<()> {
    classification::run(folder)
}
