//! A server in a temporary folder.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::programs::{hand_over, program, psql};

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is in it is thrown away: it need not survive, and the log of each test's database must not
/// fill the disk.
const THROWN_AWAY: [&str; 7] = [
    "fsync=off",
    "max_connections=300",
    "shared_buffers=64MB",
    "wal_level=minimal",
    "max_wal_senders=0",
    "min_wal_size=32MB",
    "max_wal_size=64MB",
];

/// A running server. Dropped, it and its data are gone.
#[derive(Debug)]
pub struct Server {
    folder: TempDir,
    port: u16,
    settings: Vec<String>,
    /// `None` while it is stopped.
    child: Option<Child>,
}

impl Server {
    /// Starts one on a free port. Everything in it is UTF-8, and its superuser is `postgres`.
    pub fn start() -> Self {
        Self::start_with(&[], |_| {})
    }

    /// The same with settings of its own, such as `ssl=on`; `prepare` may put files into its data
    /// folder first.
    pub fn start_with(settings: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::Builder::new().prefix("sluice-postgres-").tempdir().unwrap();
        let password = folder.path().join("password");
        std::fs::write(&password, PASSWORD).unwrap();
        hand_over(folder.path());
        let data = folder.path().join("data");
        let mut initdb = program("initdb");
        initdb.arg("--pgdata").arg(&data).arg("--pwfile").arg(&password);
        initdb.args(["--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8"]);
        initdb.args(["--locale=C.UTF-8", "--no-sync", "--no-instructions"]);
        let made = initdb.current_dir(folder.path()).output().unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        prepare(&data);
        hand_over(&data);
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        let mut server = Self { folder, port: free_port(), settings, child: None };
        server.start_again();
        server
    }

    /// The address of its superuser's database.
    pub fn url(&self) -> String {
        format!("postgres://postgres:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    /// Where it keeps its data.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Stops it: open transactions are rolled back, and connections are cut.
    pub fn stop(&mut self) {
        self.end("INT");
    }

    /// Stops it as a crash does. What was committed is there when it starts again.
    pub fn crash(&mut self) {
        self.end("QUIT");
    }

    fn end(&mut self, signal: &str) {
        let Some(mut child) = self.child.take() else { return };
        let line = format!("kill -{signal} {}", child.id());
        let _ = Command::new("sh").args(["-c", &line]).status();
        let until = Instant::now() + PATIENCE;
        while let Ok(None) = child.try_wait() {
            if Instant::now() > until {
                let _ = child.kill();
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Starts it again on the same port with the same data.
    pub fn start_again(&mut self) {
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let mut postgres = program("postgres");
        postgres.arg("-D").arg(self.data_dir()).args(["-k", "", "-h", "127.0.0.1"]);
        postgres.args(["-p", &self.port.to_string()]);
        for setting in THROWN_AWAY {
            postgres.args(["-c", setting]);
        }
        for setting in &self.settings {
            postgres.args(["-c", setting]);
        }
        postgres.current_dir(self.folder.path()).stdin(Stdio::null());
        let mut child = postgres.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        let until = Instant::now() + PATIENCE;
        while psql(&self.url(), "SELECT 1").is_err() {
            let ended = child.try_wait().unwrap();
            if ended.is_some() || Instant::now() > until {
                let said = std::fs::read_to_string(self.folder.path().join("log"));
                panic!("PostgreSQL does not start ({ended:?}): {}", said.unwrap_or_default());
            }
            sleep(Duration::from_millis(30));
        }
        self.child = Some(child);
    }
}

/// The superuser's: no secret, as the server lives for one run of tests on this machine.
const PASSWORD: &str = "only-for-tests";

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}
