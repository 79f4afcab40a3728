//! What somebody without a key, or with the smallest one, must not be able to use up: connections,
//! memory, the event loop.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::net::{SocketAddr, TcpListener};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use sluice_testkit::{
    Ask, Client, Config, Event, FakeUpstream, Gate, Reply, Script, Sluice, Step, answers, until,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

async fn provider() -> FakeUpstream {
    FakeUpstream::start(Script::json(&answers::completion("Hello"))).await
}

fn config(upstream: &FakeUpstream) -> Config {
    Config::default().mock(upstream)
}

fn small() -> Ask {
    Ask::chat(&json!({ "model": "mock", "messages": [{ "role": "user", "content": "Hello!" }] }))
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A metric's value, 0 where it is not there yet.
async fn metric(address: SocketAddr, name: &str) -> u64 {
    let text = Client::new(address).reply(Ask::get("/metrics")).await.text().to_owned();
    let line = text.lines().find(|line| line.split(' ').next() == Some(name));
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

/// Connections that say nothing, the beginning of something, and only that they speak HTTP/2.
async fn silent(address: SocketAddr, count: usize) -> Vec<TcpStream> {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let mut connections = Vec::new();
    for number in 0..count {
        let mut connection = TcpStream::connect(address).await.unwrap();
        let said = [b"".as_slice(), b"P", b"PRI * HTTP/2.0", PREFACE][number % 4];
        // It may have made room for others meanwhile.
        let _ = connection.write_all(said).await;
        connections.push(connection);
    }
    connections
}

fn descriptors(soft: Option<u64>) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = soft.or(maximum);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
}

#[tokio::test]
async fn connections_that_say_nothing_keep_nobody_out() {
    let upstream = provider().await;
    // The server begins with few descriptors and may have more.
    descriptors(Some(512));
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    descriptors(None);
    let held = silent(sluice.address(), 1_100).await;
    assert_eq!(sluice.client().reply(small().key(sluice.key())).await.status, 200);
    drop(held);

    // At the bound of one address those that said nothing make room, and answers under way go on.
    let gate = Gate::default();
    let script = Script::stream()
        .send(answers::opening(&["Hello"]))
        .then(Step::Wait(gate.clone()))
        .send(answers::ending())
        .then(Step::Close);
    let slow = FakeUpstream::start(script).await;
    let metrics = free_address();
    let bounds = "max_connections = 60\nmax_connections_per_address = 50";
    let config = config(&upstream)
        .server(bounds)
        .metrics(metrics)
        .provider("slow", &slow.base_url())
        .model("slow", "\"slow\"");
    let sluice = Sluice::start(BINARY, &config).await;
    let body = json!({
        "model": "slow", "stream": true, "messages": [{ "role": "user", "content": "Hello!" }],
    });
    let mut events = sluice.stream(sluice.key(), &body).await;
    assert_eq!(events.next_text().await, "Hello");
    let _held = silent(sluice.address(), 200).await;
    assert_eq!(sluice.client().reply(small().key(sluice.key())).await.status, 200);
    assert!(metric(metrics, "sluice_connections").await <= 50);
    let made_room = metric(metrics, "sluice_closed_connections_total{reason=\"made_room\"}").await;
    assert!(made_room >= 150, "{made_room}");
    gate.open();
    while let Some(event) = events.next().await {
        if event == Event::Done {
            let told = || sluice.stderr().matches("too many connections").count();
            // What a process has logged is read beside the test.
            until("the log tells of them", async || (told() > 0).then_some(())).await;
            let told = told();
            assert!((1..20).contains(&told), "the log is bounded: {told} lines");
            return;
        }
    }
    unreachable!("an answer under way was cut off");
}

#[tokio::test]
async fn a_million_tiny_messages_are_refused_and_keep_nobody_waiting() {
    let upstream = provider().await;
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    let tiny = vec![json!({ "role": "user", "content": "" }); 300_000];
    let ask = Ask::chat(&json!({ "model": "mock", "messages": tiny })).key(sluice.key());
    let client = sluice.client();
    let greedy = async || {
        let reply: Reply = client.reply(ask.clone()).await;
        assert_eq!(reply.error(), (400, "validation_error".into(), "invalid_parameter".into()));
        let expected = "`messages` is a list with 300000 messages; expected at most 10000";
        assert_eq!(reply.json()["error"]["message"], expected);
        assert_eq!(reply.json()["error"]["param"], "messages");
    };
    let others = async || {
        for _ in 0..20 {
            assert_eq!(client.reply(small().key(sluice.key())).await.status, 200);
        }
    };
    tokio::join!(greedy(), greedy(), greedy(), others());
    let reply = client.reply(small().key(sluice.key())).await;
    // The large ones were work, and count.
    let left = 10_000 - 3 - 21;
    assert_eq!(reply.header("x-ratelimit-remaining"), left.to_string());
}

#[tokio::test]
async fn unfinished_bodies_stay_within_their_memory_and_let_others_through() {
    const MIB: u64 = 1 << 20;
    let upstream = provider().await;
    let metrics = free_address();
    let config = config(&upstream).server("body_memory_mib = 32").metrics(metrics);
    let sluice = Sluice::start(BINARY, &config).await;
    let head = format!(
        "POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        sluice.key(),
        31 * MIB
    );
    let part = vec![b' '; 2 << 20];
    let mut uploads = Vec::new();
    for _ in 0..40 {
        let mut upload = TcpStream::connect(sluice.address()).await.unwrap();
        upload.write_all(head.as_bytes()).await.unwrap();
        upload.write_all(&part).await.unwrap();
        uploads.push(upload);
    }
    // Each that is read on holds at least what has arrived, so that no more than sixteen fit.
    let refused = "sluice_refused_requests_total{code=\"server_overloaded\"}";
    until("most of the uploads to be refused", async || {
        assert!(metric(metrics, "sluice_request_body_bytes").await <= 32 * MIB);
        (metric(metrics, refused).await >= 24).then_some(())
    })
    .await;
    assert!(metric(metrics, "sluice_request_body_bytes").await > 0);
    // One by one: each is told so, and when to try again. Others are served meanwhile.
    assert_eq!(sluice.client().reply(small().key(sluice.key())).await.status, 200);
    let mut told = 0;
    for upload in &mut uploads {
        if upload.shutdown().await.is_err() {
            continue;
        }
        let mut answer = Vec::new();
        let _ = upload.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer).to_lowercase();
        told += usize::from(
            answer.starts_with("http/1.1 503")
                && answer.contains("\r\nretry-after: 2\r\n")
                && answer.contains("\"code\":\"server_overloaded\""),
        );
    }
    assert!(told >= 24, "{told}");
    drop(uploads);
    until("the memory to be given back", async || {
        (metric(metrics, "sluice_request_body_bytes").await == 0).then_some(())
    })
    .await;
}
