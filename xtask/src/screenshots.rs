//! `cargo xtask screenshots`: every page of the dashboard in its sample states, drawn by a real
//! browser, in three widths, light and dark.
//!
//! The pictures are for looking at. What a machine can tell is told as well: a page that is wider
//! than its window, what axe finds serious, an error on the console, a violation of the content
//! security policy.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;

use crate::shell::{cargo, program, root, run, target_folder};
use crate::tools;

/// What to draw.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Draw only these widths, in pixels.
    #[arg(long, value_delimiter = ',', default_value = "390,1200,1600")]
    widths: Vec<u32>,
    /// Draw only these states, such as `typical`.
    #[arg(long, value_delimiter = ',')]
    states: Vec<String>,
    /// Draw only these themes: light, dark.
    #[arg(long, value_delimiter = ',', default_value = "light,dark")]
    themes: Vec<String>,
    /// Draw only these pages. All by default.
    pages: Vec<String>,
}

/// Sees to the browser and installs what drives it; the folder of these packages.
pub(crate) fn packages() -> anyhow::Result<PathBuf> {
    tools::need_system_program("node", "nodejs")?;
    tools::need_system_program("npm", "npm")?;
    tools::need_system_program("chromium", "chromium")?;
    let packages = target_folder().join("browser");
    fs::create_dir_all(&packages)?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(root().join("tests/browser").join(file), packages.join(file))?;
    }
    let install = ["ci", "--silent", "--no-audit", "--no-fund", "--prefix"];
    run(program("npm").args(install).arg(&packages))?;
    Ok(packages)
}

/// Writes the pages and draws them into `target/screenshots`.
pub(crate) fn draw(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = target_folder().join("screenshots");
    let pages = folder.join("pages");
    if pages.exists() {
        fs::remove_dir_all(&pages).with_context(|| format!("{}", pages.display()))?;
    }
    let build = ["run", "--quiet", "--locked", "--package", "sluice-dashboard", "--example"];
    run(cargo(&build).args(["states", "--"]).arg(&pages))?;
    let packages = packages()?;
    let widths = arguments.widths.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let mut browser = program("node");
    browser.env("SLUICE_BROWSER_PACKAGES", packages);
    browser.arg("tests/browser/screenshots.mjs").arg(&folder);
    browser.args([widths, arguments.themes.join(","), arguments.states.join(",")]);
    run(browser.args([arguments.pages.join(",")]))?;
    println!("The pictures are in {}.", folder.display());
    Ok(())
}
