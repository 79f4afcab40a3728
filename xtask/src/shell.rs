//! Running other programs from the repository's root.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Where tools that a command installs are kept: beside the build, so that a cache of `target`
/// keeps them, too.
pub(crate) fn tools_folder() -> PathBuf {
    target_folder().join("tools")
}

/// Where cargo builds.
pub(crate) fn target_folder() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// `program`, to be run in the root. Programs that [`crate::tools`] installed are found first.
pub(crate) fn program(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    let mut folders = vec![tools_folder().join("bin")];
    if let Some(path) = std::env::var_os("PATH") {
        folders.extend(std::env::split_paths(&path));
    }
    if let Ok(path) = std::env::join_paths(folders) {
        command.env("PATH", path);
    }
    command
}

/// `cargo` with arguments: the one that runs this command, since a shim on the path may choose
/// another toolchain.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

/// Runs `command` with its output shown; a failing exit code is an error.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    println!("$ {}", shown(command));
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    ensure!(status.success(), "{}: {status}", shown(command));
    Ok(())
}

/// Runs `command` silently; whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// Runs `command` and gives back its standard output, without the last line end.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    ensure!(output.status.success(), "{}: {}", shown(command), output.status);
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// The command as a person would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let mut words = vec![program.to_string_lossy()];
    words.extend(command.get_args().map(|word| word.to_string_lossy()));
    words.join(" ")
}
