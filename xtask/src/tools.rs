//! Programs that the commands need: found, installed, or named with how to install them.

use std::os::unix::fs::MetadataExt;

use anyhow::{bail, ensure};

use crate::shell::{cargo, program, run, succeeds, tools_folder};

/// A cargo subcommand and the version that is installed where it is missing.
pub(crate) struct CargoTool {
    name: &'static str,
    version: &'static str,
}

/// Checks licences, duplicates, sources and advisories. Builds in under two minutes on two cores.
pub(crate) const CARGO_DENY: CargoTool = CargoTool { name: "cargo-deny", version: "0.20.2" };

/// Builds and runs fuzz targets.
pub(crate) const CARGO_FUZZ: CargoTool = CargoTool { name: "cargo-fuzz", version: "0.13.2" };

/// Makes sure that a cargo subcommand is there; a missing one is built into `target/tools`, without
/// optimisation: building takes far longer than what it does here.
pub(crate) fn need_cargo_tool(tool: &CargoTool) -> anyhow::Result<()> {
    if is_installed(tool.name) {
        return Ok(());
    }
    let install =
        ["install", tool.name, "--version", tool.version, "--locked", "--debug", "--root"];
    run(cargo(&install).arg(tools_folder()))
}

/// Makes sure that a program of the operating system is there. As root, a missing one is installed
/// from Debian's `package`; otherwise the error says what to install.
pub(crate) fn need_system_program(name: &str, package: &str) -> anyhow::Result<()> {
    if is_installed(name) {
        return Ok(());
    }
    install(&format!("`{name}`"), package)?;
    ensure!(is_installed(name), "`{name}` is still missing after installing `{package}`");
    Ok(())
}

/// As root, installs Debian's `package`, as `what` is missing; otherwise the error says what to
/// install.
pub(crate) fn install(what: &str, package: &str) -> anyhow::Result<()> {
    if !(is_root() && is_installed("apt-get")) {
        bail!("{what} is missing; install it, for example with `apt-get install {package}`");
    }
    run(program("apt-get").args(["update", "--quiet"]))?;
    run(program("apt-get")
        .args(["install", "--quiet", "--yes", "--no-install-recommends", package])
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Makes sure that the toolchain has a component, such as `clippy`.
pub(crate) fn need_component(subcommand: &str, component: &str) -> anyhow::Result<()> {
    if succeeds(&mut cargo(&[subcommand, "--version"])) {
        return Ok(());
    }
    run(program("rustup").args(["component", "add", component]))
}

/// Whether `name` is a program on the path.
pub(crate) fn is_installed(name: &str) -> bool {
    succeeds(program("sh").args(["-c", "command -v \"$0\"", name]))
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
