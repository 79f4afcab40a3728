//! Runs the real binary: in a folder of its own, with a configuration file, until it is ready.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::answers;
use crate::ask::{Ask, Reply};
use crate::beside::Beside;
use crate::client::Client;
use crate::config::Config;
use crate::events::Events;
use crate::upstream::{FakeUpstream, Script};
use crate::wait::until;

/// A server that runs, and its folder. Dropped, both are gone.
#[derive(Debug)]
pub struct Sluice {
    binary: PathBuf,
    folder: TempDir,
    /// The key that the first start printed.
    first_key: String,
    running: Running,
}

/// A command that has ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said besides.
    pub stderr: String,
}

impl Sluice {
    /// Starts `binary` with `config`, and waits until it is ready.
    pub async fn start(binary: &str, config: &Config) -> Self {
        Self::start_on(binary, config, |_| {}).await
    }

    /// The same, on a data folder that `prepare` makes at the path that it is given.
    pub async fn start_on(binary: &str, config: &Config, prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        prepare(&folder.path().join("data"));
        let binary = PathBuf::from(binary);
        std::fs::write(folder.path().join("sluice.toml"), config.text()).unwrap();
        let running = Running::start(&binary, folder.path()).await;
        let first_key = word_after(&running.out.text(), "Key        ").unwrap_or_default();
        Self { binary, folder, first_key, running }
    }

    /// Starts `binary` with `config` and one model more, `mock`, whose provider says "Hello there".
    pub async fn with_mock(binary: &str, config: Config) -> (Self, FakeUpstream) {
        let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello there"))).await;
        (Self::start(binary, &config.mock(&upstream)).await, upstream)
    }

    /// A server beside this one, on the same configuration.
    pub fn beside(&self, arguments: &[&str]) -> Beside {
        Beside::start(&self.binary, &self.config_file(), arguments)
    }

    /// Starts it again on the same folder, after it has ended.
    pub async fn start_again(&mut self) {
        self.running = Running::start(&self.binary, self.folder.path()).await;
    }

    /// The key that it printed at its first start: of class enterprise.
    pub fn key(&self) -> &str {
        &self.first_key
    }

    /// A client of it.
    pub fn client(&self) -> Client {
        Client::new(self.running.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.running.address
    }

    /// The configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.folder.path().join("sluice.toml")
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder that holds its configuration, its data and its temporary files, and nothing else.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Replaces the configuration file.
    pub fn reconfigure(&self, config: &Config) {
        // Written beside and renamed, so that nobody reads half of it.
        let beside = self.folder.path().join("next.toml");
        std::fs::write(&beside, config.text()).unwrap();
        std::fs::rename(beside, self.config_file()).unwrap();
    }

    /// The process.
    pub fn process_id(&self) -> u32 {
        self.running.child.id()
    }

    /// What it has printed since it was started last.
    pub fn stdout(&self) -> String {
        self.running.out.text()
    }

    /// What it has logged since it was started last.
    pub fn stderr(&self) -> String {
        self.running.err.text()
    }

    /// Sends it a signal: `TERM`, `HUP`.
    pub fn signal(&self, name: &str) {
        send_signal(&self.running.child, name);
    }

    /// Kills it at once, as a crash does.
    pub async fn kill(&mut self) {
        self.running.child.kill().unwrap();
        self.ended().await;
    }

    /// Tells it to stop, and waits until it has.
    pub async fn stop(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.ended().await
    }

    /// Waits until it has ended.
    pub async fn ended(&mut self) -> ExitStatus {
        let child = &mut self.running.child;
        until("the server to end", async || child.try_wait().unwrap()).await
    }

    /// Runs a command on the same configuration.
    pub async fn cli(&self, arguments: &[&str]) -> Finished {
        self.cli_given(arguments, "").await
    }

    /// The same, with this on its standard input.
    pub async fn cli_given(&self, arguments: &[&str], input: &str) -> Finished {
        let mut command = command(&self.binary, self.folder.path());
        command.args(arguments).arg("--config").arg(self.config_file());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let input = input.to_owned();
        let run = move || {
            let mut child = command.spawn().unwrap();
            // One that reads nothing may have ended already.
            let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
            child.wait_with_output().unwrap()
        };
        let ran = tokio::task::spawn_blocking(run).await.unwrap();
        Finished {
            code: ran.status.code(),
            stdout: String::from_utf8(ran.stdout).unwrap(),
            stderr: String::from_utf8(ran.stderr).unwrap(),
        }
    }

    /// Starts a command, for tests that end it before it has ended.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = command(&self.binary, self.folder.path());
        command.args(arguments).arg("--config").arg(self.config_file());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Runs a command, given as a line of words, that is to succeed. Returns what it printed.
    pub async fn done(&self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let run = self.cli(&words).await;
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        run.stdout.trim().to_owned()
    }

    /// Makes a key with these arguments, and waits until the running server honours it.
    pub async fn create_key(&self, arguments: &[&str]) -> String {
        self.create_named_key("test", arguments).await
    }

    /// The same, under a name of its own.
    pub async fn create_named_key(&self, name: &str, arguments: &[&str]) -> String {
        let made = self.cli(&[&["keys", "create", "--name", name], arguments].concat()).await;
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let key = made.stdout.trim_end().to_owned();
        until("the server to honour a new key", async || {
            let reply = self.get("/api/v1/auth/token", &key).await;
            (reply.status == 200).then_some(())
        })
        .await;
        key
    }

    /// Asks the model `mock` so many times. Each answer comes, whatever becomes of its record.
    pub async fn ask(&self, times: usize) {
        for _ in 0..times {
            assert_eq!(self.chat(self.key(), &greeting()).await.status, 200);
        }
    }

    /// Waits until the model `mock` answers `key` with this status, and returns what the answer says.
    pub async fn answers_with(&self, key: &str, status: u16) -> String {
        until("the running server to notice", async || {
            let reply = self.chat(key, &greeting()).await;
            (reply.status == status).then(|| reply.text().to_owned())
        })
        .await
    }

    /// Waits until `/readyz` says that it takes requests, or that it does not.
    pub async fn is_ready(&self, ready: bool) {
        until("/readyz to change", async || {
            let reply = self.client().attempt(Ask::get("/readyz")).await.ok()?;
            (reply.status == if ready { 200 } else { 503 }).then_some(())
        })
        .await;
    }

    /// The usage records, the latest first.
    pub async fn usage(&self) -> Vec<Value> {
        self.json_lines(&["usage", "list", "--json"]).await
    }

    /// The usage records of one request.
    pub async fn usage_of(&self, request_id: &str) -> Vec<Value> {
        let mut records = self.usage().await;
        records.retain(|record| record["request_id"] == request_id);
        records
    }

    /// What a command prints as JSON, an object a line.
    pub async fn json_lines(&self, arguments: &[&str]) -> Vec<Value> {
        let listed = self.cli(arguments).await;
        assert_eq!(listed.code, Some(0), "{}", listed.stderr);
        listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// `GET path` with `key`.
    pub async fn get(&self, path: &str, key: &str) -> Reply {
        self.client().reply(Ask::get(path).key(key)).await
    }

    /// A chat request with `key`, answered whole.
    pub async fn chat(&self, key: &str, body: &Value) -> Reply {
        self.client().reply(Ask::chat(body).key(key)).await
    }

    /// A chat request with `key`, answered event by event where the body asks for it.
    pub async fn stream(&self, key: &str, body: &Value) -> Events {
        self.client().events(Ask::chat(body).key(key)).await
    }
}

/// One run of the server.
#[derive(Debug)]
struct Running {
    child: Child,
    address: SocketAddr,
    out: Heard,
    err: Heard,
}

impl Running {
    async fn start(binary: &Path, folder: &Path) -> Self {
        let mut child = command(binary, folder)
            .args(["serve", "--config", "sluice.toml"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (out, err) = (Heard::default(), Heard::default());
        out.listen(child.stdout.take().unwrap());
        err.listen(child.stderr.take().unwrap());
        let address = until("the server to say where it listens", async || {
            if let Some(status) = child.try_wait().unwrap() {
                panic!("the server did not start ({status}): {}{}", out.text(), err.text());
            }
            let said = out.text();
            // The last line of what it prints: the key is heard as well then.
            said.contains("Set up a client").then_some(())?;
            let url = word_after(&said, "Base URL   ")?;
            url.split('/').nth(2)?.parse::<SocketAddr>().ok()
        })
        .await;
        let running = Self { child, address, out, err };
        if running.out.text().contains("http://") {
            let client = Client::new(address);
            until("the server to be ready", async || {
                let reply = client.attempt(Ask::get("/readyz")).await.ok()?;
                (reply.status == 200).then_some(())
            })
            .await;
        }
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary in `folder`, without the environment's providers, and with temporary files there.
fn command(binary: &Path, folder: &Path) -> Command {
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command = Command::new(binary);
    command.current_dir(folder).env_clear().env("TMPDIR", temporary);
    command
}

/// The smallest request to the model `mock`.
fn greeting() -> Value {
    json!({ "model": "mock", "messages": [{ "role": "user", "content": "Hello!" }] })
}

pub(crate) fn send_signal(child: &Child, name: &str) {
    // The standard library sends no signals but KILL; a shell has the rest built in.
    let line = format!("kill -{name} {}", child.id());
    let status = Command::new("sh").args(["-c", &line]).status().unwrap();
    assert!(status.success(), "{line}");
}

/// What a process has said so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<String>>);

impl Heard {
    /// Notes each line that comes out of `pipe`.
    pub(crate) fn listen(&self, pipe: impl Read + Send + 'static) {
        let lines = self.0.clone();
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            let mut line = String::new();
            while let Ok(1..) = pipe.read_line(&mut line) {
                lines.lock().unwrap_or_else(PoisonError::into_inner).push_str(&line);
                line.clear();
            }
        });
    }

    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The word that follows `label`, where its line is complete.
fn word_after(text: &str, label: &str) -> Option<String> {
    let (line, _) = text.split_once(label)?.1.split_once('\n')?;
    line.split_whitespace().next().map(str::to_owned)
}
