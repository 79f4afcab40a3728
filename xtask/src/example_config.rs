//! `cargo xtask example-config`: writes `sluice.example.toml` anew from the settings' comments.
//!
//! The binary prints it; a test of the binary holds the committed file against that.

use anyhow::Context;

use crate::shell::{cargo, output, root};

/// Writes the file.
pub(crate) fn run() -> anyhow::Result<()> {
    let example =
        output(&mut cargo(&["run", "--quiet", "--package", "sluice", "--", "example-config"]))?;
    let file = root().join("sluice.example.toml");
    std::fs::write(&file, format!("{example}\n"))
        .with_context(|| format!("cannot write {}", file.display()))?;
    println!("wrote {}", file.display());
    Ok(())
}
