//! A process under valgrind's callgrind, told when to count.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use super::super::target::SEARCH_PATH;
use crate::shell::{program, succeeds};

/// What callgrind calls its files, in the folder that the process was started in.
const FILE: &str = "callgrind.out.";

/// Gives commands to a process that runs under callgrind.
pub(super) struct Callgrind {
    process: u32,
}

impl Callgrind {
    /// The process with this number.
    pub(super) fn of(process: u32) -> Self {
        Self { process }
    }

    /// Instructions count from now on.
    pub(super) fn begin(&self) -> anyhow::Result<()> {
        self.tell(&["instrumentation", "on"])
    }

    /// Forgets what was counted.
    pub(super) fn zero(&self) -> anyhow::Result<()> {
        self.tell(&["zero"])
    }

    /// The instructions since the last call of `zero`, of all threads. The dump's files are in
    /// `folder`, and are removed.
    pub(super) fn dump(&self, folder: &Path) -> anyhow::Result<u64> {
        self.tell(&["dump"])?;
        // `callgrind.out.<process>` is for what is left at the end; dumps have a number behind it.
        let dump = format!("{FILE}{}.", self.process);
        let mut total = None;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with(&dump) {
                continue;
            }
            let text = fs::read_to_string(entry.path())?;
            let count = text.lines().find_map(|line| line.strip_prefix("totals: "));
            let count: u64 = count.context("a dump without its totals")?.trim().parse()?;
            *total.get_or_insert(0) += count;
            fs::remove_file(entry.path())?;
        }
        total.context("callgrind wrote no dump")
    }

    fn tell(&self, command: &[&str]) -> anyhow::Result<()> {
        let process = format!("--pid={}", self.process);
        let mut vgdb = program("vgdb");
        // It finds valgrind's pipes by variables that the target does not have either.
        vgdb.arg(process).args(command).env_clear().env("PATH", SEARCH_PATH);
        let told = succeeds(&mut vgdb);
        ensure!(told, "vgdb could not tell valgrind to `{}`", command.join(" "));
        Ok(())
    }
}
