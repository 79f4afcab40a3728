//! `cargo xtask api-docs`: writes the tables of `docs/api.md` anew from the table of the API.
//!
//! A test of `sluice-gateway` holds the committed page against that.

use crate::shell::{cargo, root, run};

/// Writes the page.
pub(crate) fn write() -> anyhow::Result<()> {
    let build = ["run", "--quiet", "--locked", "--package", "sluice-gateway", "--example"];
    run(cargo(&build).args(["api_docs", "--"]).arg(root().join("docs/api.md")))
}
