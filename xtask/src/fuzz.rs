//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/`, each for a while.

use std::path::PathBuf;

use anyhow::{Context, bail, ensure};

use crate::shell::{program, root, run, succeeds};
use crate::tools;

/// What to run, and for how long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Seconds for each target.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Run only these targets. All by default.
    targets: Vec<String>,
}

/// Runs the targets one after the other; the first that finds something ends the command.
pub(crate) fn run_targets(arguments: &Arguments) -> anyhow::Result<()> {
    if !succeeds(program("rustup").args(["run", "nightly", "cargo", "--version"])) {
        bail!(
            "fuzzing takes a nightly toolchain (for the sanitizer); \
             install one with `rustup toolchain install nightly --profile minimal`"
        );
    }
    tools::need_cargo_tool(&tools::CARGO_FUZZ)?;
    let all = targets()?;
    for name in &arguments.targets {
        ensure!(all.contains(name), "no target is called `{name}`; there are {}", all.join(", "));
    }
    for name in &all {
        if arguments.targets.is_empty() || arguments.targets.contains(name) {
            println!("\n=== {name}, {} s ===", arguments.seconds);
            let seconds = format!("-max_total_time={}", arguments.seconds);
            // `CARGO` names this command's own toolchain, which cargo-fuzz would call.
            let mut fuzz = program("rustup");
            fuzz.args(["run", "nightly", "cargo", "fuzz", "run", name]).arg(corpus(name)?);
            fuzz.args(seeds(name)).args(["--", &seconds, "-verbosity=0", "-print_funcs=0"]);
            run(fuzz.env_remove("CARGO"))?;
        }
    }
    Ok(())
}

/// The names of the targets: one file each.
fn targets() -> anyhow::Result<Vec<String>> {
    let folder = root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for file in folder.read_dir().with_context(|| format!("{}", folder.display()))? {
        let path = file?.path();
        if let Some(name) = path.file_stem().filter(|_| path.extension().is_some_and(|e| e == "rs"))
        {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Where the inputs that a target found interesting are kept for its next run.
fn corpus(target: &str) -> anyhow::Result<PathBuf> {
    let folder = root().join("fuzz/corpus").join(target);
    std::fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
    Ok(folder)
}

/// Folders of inputs to begin with: the recorded examples of the dialects that a target reads.
/// From nothing, the fuzzer would spend its minute on finding out what JSON is.
fn seeds(target: &str) -> Vec<PathBuf> {
    let dialects = match target {
        "sse" | "chat_request" | "redact" | "base64" | "percent" | "data_url" | "lookalike"
        | "nested_json" => vec!["openai", "anthropic", "gemini"],
        _ => target.strip_suffix("_stream").into_iter().collect(),
    };
    let adapters = root().join("crates/providers/src/adapters");
    let folders = dialects.into_iter().map(|dialect| adapters.join(dialect).join("examples"));
    folders.filter(|folder| folder.is_dir()).collect()
}
