//! A server under measurement: its process, and what Linux tells about it in `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::shell::{program, succeeds};

/// How long a server may take to listen.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to end when asked to.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// A running server and its children; ended when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
}

/// CPU time that a server has used so far.
#[derive(Debug)]
pub(crate) struct CpuTime {
    /// To the nanosecond, of the threads that live.
    exact_seconds: f64,
    /// To the clock tick, of the threads that ended as well.
    coarse_seconds: f64,
    threads: BTreeSet<String>,
}

impl CpuTime {
    /// Seconds of user and system time since `before`.
    ///
    /// The exact count forgets a thread when it ends; then the coarse one is the better.
    pub(crate) fn since(&self, before: &Self) -> f64 {
        if before.threads.is_subset(&self.threads) {
            self.exact_seconds - before.exact_seconds
        } else {
            self.coarse_seconds - before.coarse_seconds
        }
    }
}

impl Server {
    /// Starts `command` and waits until it listens on `port`.
    pub(crate) fn start(command: &mut Command, port: u16) -> anyhow::Result<Self> {
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let mut server = Self { process };
        let begin = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Some(status) = server.process.try_wait()? {
                bail!("ended before it listened: {status}");
            }
            if begin.elapsed() > START_LIMIT {
                bail!("does not listen after {} s", START_LIMIT.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// CPU time so far, of all processes and threads.
    pub(crate) fn cpu(&self) -> anyhow::Result<CpuTime> {
        let mut time =
            CpuTime { exact_seconds: 0.0, coarse_seconds: 0.0, threads: BTreeSet::new() };
        for process in self.processes()? {
            let stat = fs::read_to_string(process.join("stat"))?;
            // The command's name, in parentheses, may hold spaces; fields 14 and 15 follow it.
            let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            let ticks = fields.split_whitespace().skip(11).take(2);
            // Linux shows a hundred ticks a second to programs, whatever it uses itself.
            time.coarse_seconds += ticks.flat_map(str::parse::<f64>).sum::<f64>() / 100.0;
            for thread in fs::read_dir(process.join("task"))? {
                let thread = thread?;
                // A thread may end while this reads.
                let Ok(stat) = fs::read_to_string(thread.path().join("schedstat")) else {
                    continue;
                };
                let nanoseconds = stat.split_whitespace().next().context("an empty schedstat")?;
                time.exact_seconds += nanoseconds.parse::<f64>()? / 1e9;
                time.threads.insert(thread.file_name().to_string_lossy().into_owned());
            }
        }
        Ok(time)
    }

    /// Resident memory now, in MB.
    pub(crate) fn resident_mb(&self) -> anyhow::Result<f64> {
        self.memory_mb("VmRSS:")
    }

    /// The most resident memory so far, in MB.
    pub(crate) fn peak_resident_mb(&self) -> anyhow::Result<f64> {
        self.memory_mb("VmHWM:")
    }

    fn memory_mb(&self, field: &str) -> anyhow::Result<f64> {
        let mut kilobytes = 0.0;
        for process in self.processes()? {
            let status = fs::read_to_string(process.join("status"))?;
            let line = status.lines().find_map(|line| line.strip_prefix(field));
            let value = line.and_then(|line| line.split_whitespace().next());
            kilobytes += value.with_context(|| format!("no {field} in status"))?.parse::<f64>()?;
        }
        Ok(kilobytes / 1024.0)
    }

    /// The server's process and its descendants, as folders of `/proc`.
    fn processes(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut open = vec![self.process.id().to_string()];
        while let Some(id) = open.pop() {
            let folder = PathBuf::from("/proc").join(id);
            for thread in fs::read_dir(folder.join("task"))? {
                let children = fs::read_to_string(thread?.path().join("children"));
                open.extend(children.unwrap_or_default().split_whitespace().map(str::to_owned));
            }
            found.push(folder);
        }
        Ok(found)
    }
}

impl Drop for Server {
    /// Asks the server to end, so that it can end its children, too; then insists.
    fn drop(&mut self) {
        succeeds(program("kill").arg(self.process.id().to_string()));
        let begin = Instant::now();
        while begin.elapsed() < STOP_LIMIT {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // Both fail only if it has ended meanwhile.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port of 127.0.0.1 that nobody listens on.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
