//! A fake provider over real sockets: it does what its script says, byte by byte, and remembers
//! what it was asked and whether the other side hung up.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::gate::Gate;

/// One step of a script.
#[derive(Debug, Clone)]
pub enum Step {
    /// Sends bytes, in one write.
    Send(Bytes),
    /// Sends bytes, each in a packet of its own.
    Dribble(Bytes),
    /// Sends bytes so many times, or until the other side hangs up.
    Flood(Bytes, usize),
    /// Waits until the test opens the gate, or the other side hangs up.
    Wait(Gate),
    /// Says nothing for so long: a provider's own slowness, for those who measure it.
    Delay(Duration),
    /// Says nothing until the other side hangs up.
    Hang,
    /// Breaks the connection off with a reset.
    Reset,
    /// Closes the connection in order.
    Close,
}

/// What a provider does with one request: bytes of HTTP, and everything else that can happen.
/// After the last step the connection takes the next request.
#[derive(Debug, Clone, Default)]
pub struct Script(Vec<Step>);

impl Script {
    /// Answers 200 with this JSON.
    pub fn json(body: &Value) -> Self {
        Self::answer("200 OK", &["content-type: application/json"], &body.to_string())
    }

    /// Answers with this status line, these headers and this body.
    pub fn answer(status: &str, headers: &[&str], body: &str) -> Self {
        let length = format!("content-length: {}", body.len());
        let head = head(status, &[headers, &[&length]].concat());
        Self::default().send(head + body)
    }

    /// Begins to answer 200 with a body of so many bytes, none of which are sent yet.
    pub fn head(content_type: &str, length: usize) -> Self {
        let headers =
            [format!("content-type: {content_type}"), format!("content-length: {length}")];
        Self::default().send(head("200 OK", &[&headers[0], &headers[1]]))
    }

    /// Begins to answer 200 with events, in a body that ends with the connection.
    pub fn stream() -> Self {
        let headers = ["content-type: text/event-stream; charset=utf-8", "connection: close"];
        Self::default().send(head("200 OK", &headers))
    }

    /// Answers 200 with these events, and ends in order.
    pub fn events(events: &str) -> Self {
        Self::stream().send(events.to_owned()).then(Step::Close)
    }

    /// And then sends this.
    #[must_use]
    pub fn send(self, bytes: impl Into<Bytes>) -> Self {
        self.then(Step::Send(bytes.into()))
    }

    /// And then does this.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }

    /// And then everything that `other` does.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The same, all of its bytes sent one at a time.
    #[must_use]
    pub fn dribbled(self) -> Self {
        let dribbled = |step| match step {
            Step::Send(bytes) => Step::Dribble(bytes),
            other => other,
        };
        Self(self.0.into_iter().map(dribbled).collect())
    }
}

fn head(status: &str, headers: &[&str]) -> String {
    format!("HTTP/1.1 {status}\r\n{}\r\n\r\n", headers.join("\r\n"))
}

/// A request that the provider saw.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The path.
    pub path: String,
    /// The headers, names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    /// Whether the other side hung up before the script's end.
    pub hung_up: bool,
    /// How many bytes were sent in answer.
    pub sent: usize,
}

impl Seen {
    /// A header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// A fake provider. Dropped, it is gone.
#[derive(Debug)]
pub struct FakeUpstream {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    /// What it does instead for who presents a key.
    scripts_of_keys: Mutex<Vec<(String, Script)>>,
    seen: Mutex<Vec<Seen>>,
}

impl FakeUpstream {
    /// A provider that follows `script` with each request.
    pub async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            scripts_of_keys: Mutex::default(),
            seen: Mutex::default(),
        });
        let state = shared.clone();
        let accepting = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                tokio::spawn(serve(stream, state.clone()));
            }
        });
        Self { address, shared, accepting }
    }

    /// Where it is: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it does from the next request on.
    pub fn follow(&self, script: Script) {
        *lock(&self.shared.script) = script;
    }

    /// What it does from the next request on for who presents `key` as a bearer credential.
    pub fn follow_for(&self, key: &str, script: Script) {
        let mut scripts = lock(&self.shared.scripts_of_keys);
        scripts.retain(|(known, _)| known != key);
        scripts.push((key.to_owned(), script));
    }

    /// Everything that it was asked, in order of arrival.
    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.shared.seen).clone()
    }

    /// What it was asked last.
    pub fn last(&self) -> Seen {
        self.seen().pop().expect("the provider was asked")
    }
}

impl Drop for FakeUpstream {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let mut read = Vec::new();
    while let Some(seen) = next_request(&mut stream, &mut read).await {
        let of_key = {
            let scripts = lock(&shared.scripts_of_keys);
            let presented = seen.header("authorization");
            let of = scripts.iter().find(|(key, _)| presented.strip_prefix("Bearer ") == Some(key));
            of.map(|(_, script)| script.clone())
        };
        let script = of_key.unwrap_or_else(|| lock(&shared.script).clone());
        let number = {
            let mut all = lock(&shared.seen);
            all.push(seen);
            all.len() - 1
        };
        for step in script.0 {
            let mut sent = 0;
            let gone = follow(&mut stream, step, &mut sent).await;
            let seen = &mut lock(&shared.seen)[number];
            seen.sent += sent;
            match gone {
                Some(Gone::Away) => {
                    seen.hung_up = true;
                    return;
                }
                Some(Gone::Ours) => return,
                None => {}
            }
        }
    }
}

/// Whose doing it is that a connection is over.
enum Gone {
    Away,
    Ours,
}

async fn follow(stream: &mut TcpStream, step: Step, sent: &mut usize) -> Option<Gone> {
    let pieces: Vec<Bytes> = match step {
        Step::Send(bytes) => vec![bytes],
        Step::Dribble(bytes) => (0..bytes.len()).map(|at| bytes.slice(at..=at)).collect(),
        Step::Flood(bytes, times) => vec![bytes; times],
        Step::Wait(gate) => {
            tokio::select! {
                () = gate.passed() => return None,
                () = hung_up(stream) => return Some(Gone::Away),
            }
        }
        Step::Delay(delay) => {
            tokio::time::sleep(delay).await;
            return None;
        }
        Step::Hang => {
            hung_up(stream).await;
            return Some(Gone::Away);
        }
        Step::Reset => {
            // What was sent before goes out first; then the reset takes the place of the end.
            stream.set_zero_linger().unwrap();
            return Some(Gone::Ours);
        }
        Step::Close => return Some(Gone::Ours),
    };
    for piece in pieces {
        if stream.write_all(&piece).await.is_err() {
            return Some(Gone::Away);
        }
        *sent += piece.len();
    }
    None
}

async fn hung_up(stream: &mut TcpStream) {
    let mut more = [0; 64];
    while let Ok(1..) = stream.read(&mut more).await {}
}

/// The next request on a connection; `None` where it is closed. `read` holds what came early.
async fn next_request(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<Seen> {
    loop {
        if let Some((seen, length)) = parse(read) {
            read.drain(..length);
            return Some(seen);
        }
        if !matches!(stream.read_buf(read).await, Ok(1..)) {
            return None;
        }
    }
}

/// The request at the beginning of `read` and its length, where all of it has come.
fn parse(read: &[u8]) -> Option<(Seen, usize)> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(begin) = request.parse(read).unwrap() else { return None };
    let headers: Vec<(String, String)> = request
        .headers
        .iter()
        .map(|h| (h.name.to_ascii_lowercase(), String::from_utf8_lossy(h.value).into_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let end = begin + length.map_or(0, |(_, length)| length.parse::<usize>().unwrap());
    let body = serde_json::from_slice(read.get(begin..end)?).unwrap_or(Value::Null);
    let path = request.path.unwrap_or("").to_owned();
    Some((Seen { path, headers, body, hung_up: false, sent: 0 }, end))
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
