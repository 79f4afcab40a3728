//! How clients connect: TLS, HTTP/1.1 and HTTP/2.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::process::{Command, Output};

use http::Version;
use serde_json::{Value, json};
use sluice_testkit::{
    Ask, Client, Config, Event, FakeUpstream, Gate, Script, Sluice, Step, answers, until,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

const CERTIFICATE: &[u8] = include_bytes!("tls/certificate.pem");

fn config(upstream: &FakeUpstream) -> Config {
    Config::default().mock(upstream)
}

fn tls() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls");
    format!(
        "tls_certificate_file = \"{folder}/certificate.pem\"\ntls_key_file = \"{folder}/key.pem\""
    )
}

fn request() -> Value {
    json!({
        "model": "mock",
        "messages": [{ "role": "user", "content": "Hello!" }],
        "stream": true,
    })
}

/// A provider that says one word, waits at the gate, and says the rest.
async fn gated() -> (FakeUpstream, Gate) {
    let gate = Gate::default();
    let script = Script::stream()
        .send(answers::opening(&["Hello"]))
        .then(Step::Wait(gate.clone()))
        .send(answers::ending())
        .then(Step::Close);
    (FakeUpstream::start(script).await, gate)
}

/// A streamed answer over `client`: the first piece comes before the second exists.
async fn streams(client: &Client, key: &str, gate: &Gate, version: Version) {
    let arriving = client.send(Ask::chat(&request()).key(key)).await.unwrap();
    assert_eq!((arriving.status.as_u16(), arriving.version), (200, version));
    assert_eq!(arriving.header("content-type"), "text/event-stream");
    let mut events = arriving.events();
    assert_eq!(events.next_text().await, "Hello");
    gate.open();
    while let Some(event) = events.next().await {
        if event == Event::Done {
            assert_eq!(events.next().await, None);
            return;
        }
    }
    unreachable!("the stream ended without its end mark");
}

#[tokio::test]
async fn tls_with_either_version_of_http() {
    for (protocols, version) in [
        (&["h2", "http/1.1"][..], Version::HTTP_2),
        (&["http/1.1"], Version::HTTP_11),
        (&[], Version::HTTP_11),
    ] {
        println!("offering {protocols:?}");
        let (upstream, gate) = gated().await;
        let sluice = Sluice::start(BINARY, &config(&upstream).server(&tls())).await;
        assert!(sluice.stdout().contains("https://127.0.0.1"), "{}", sluice.stdout());
        let client = sluice.client().tls(CERTIFICATE, protocols);
        streams(&client, sluice.key(), &gate, version).await;
        // Who speaks plain HTTP to it gets no answer, and disturbs nobody.
        assert!(sluice.client().send(Ask::get("/livez")).await.is_err());
        assert_eq!(client.reply(Ask::get("/livez")).await.status, 200);
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_served_and_a_broken_one_is_not() {
    const RENEWED: &[u8] = include_bytes!("tls/renewed-certificate.pem");
    const RENEWED_KEY: &[u8] = include_bytes!("tls/renewed-key.pem");
    let (upstream, gate) = gated().await;
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
    std::fs::write(&certificate, CERTIFICATE).unwrap();
    std::fs::write(&key, include_bytes!("tls/key.pem")).unwrap();
    let files = format!("tls_certificate_file = {certificate:?}\ntls_key_file = {key:?}");
    let sluice = Sluice::start(BINARY, &config(&upstream).server(&files)).await;
    // A client of its own each time: one that comes again resumes what it had agreed on.
    let trusting = |certificate: &[u8]| sluice.client().tls(certificate, &["http/1.1"]);
    let alive =
        async |certificate: &[u8]| trusting(certificate).attempt(Ask::get("/livez")).await.is_ok();
    let mut events = trusting(CERTIFICATE).events(Ask::chat(&request()).key(sluice.key())).await;
    assert_eq!(events.next_text().await, "Hello");

    // A certificate whose key has not come yet: the old pair stays.
    std::fs::write(&certificate, RENEWED).unwrap();
    until("the log to say so", async || {
        sluice.stderr().contains("the certificate stays as it was").then_some(())
    })
    .await;
    assert!(sluice.stderr().contains("server.tls_certificate_file"), "{}", sluice.stderr());
    assert!(alive(CERTIFICATE).await && !alive(RENEWED).await);

    std::fs::write(&key, RENEWED_KEY).unwrap();
    until("the renewed certificate", async || alive(RENEWED).await.then_some(())).await;
    assert!(!alive(CERTIFICATE).await, "new connections have the new one");
    // What was under way goes on.
    gate.open();
    assert!(events.rest().await.done);
}

#[tokio::test]
async fn http2_without_tls() {
    let (upstream, gate) = gated().await;
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    streams(&sluice.client().http2(), sluice.key(), &gate, Version::HTTP_2).await;
    streams(&sluice.client(), sluice.key(), &gate, Version::HTTP_11).await;
}

#[tokio::test]
async fn a_client_that_hangs_up_over_http2_stops_the_provider() {
    let (upstream, _never_opened) = gated().await;
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    let mut events = sluice.client().http2().events(Ask::chat(&request()).key(sluice.key())).await;
    assert_eq!(events.next_text().await, "Hello");
    drop(events);
    until("the provider's connection to be closed", async || upstream.last().hung_up.then_some(()))
        .await;
}

/// The whole answer of a client that closes its sending side as soon as it has asked, to a provider
/// that has not answered by then.
async fn half_closed(body: &Value, script: Script, version: &str) -> String {
    let gate = Gate::default();
    let upstream =
        FakeUpstream::start(Script::default().then(Step::Wait(gate.clone())).and(script)).await;
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    let body = body.to_string();
    let head = format!(
        "POST /api/v1/chat/completions HTTP/{version}\r\nhost: x\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        sluice.key(),
        body.len()
    );
    let mut client = TcpStream::connect(sluice.address()).await.unwrap();
    client.write_all(head.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    until("the provider to be asked", async || (!upstream.seen().is_empty()).then_some(())).await;
    // The answer to the question whether anybody is there comes before the provider says anything.
    let mut first = [0; 12];
    if !body.contains("stream") {
        client.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 100");
    }
    gate.open();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(!upstream.last().hung_up);
    answer
}

#[tokio::test]
async fn a_client_that_half_closes_gets_its_answer() {
    let mut body = request();
    let script = Script::events(&(answers::opening(&["Hello"]) + &answers::ending()));
    let answer = half_closed(&body, script, "1.1").await;
    assert!(answer.contains("HTTP/1.1 200 OK\r\n") && answer.contains("[DONE]"), "{answer}");
    body.as_object_mut().unwrap().remove("stream");
    let answer = half_closed(&body, Script::json(&answers::completion("Hello")), "1.1").await;
    assert!(answer.contains("HTTP/1.1 200 OK\r\n") && answer.contains("\"Hello\""), "{answer}");
}

#[tokio::test]
async fn a_client_that_goes_away_before_its_answer_stops_the_provider() {
    for version in ["1.1", "1.1 over TLS", "2"] {
        println!("HTTP/{version}");
        let upstream = FakeUpstream::start(Script::default().then(Step::Hang)).await;
        let over_tls = version.ends_with("TLS");
        let server = if over_tls { tls() } else { String::new() };
        let sluice = Sluice::start(BINARY, &config(&upstream).server(&server)).await;
        let client = match version {
            "2" => sluice.client().http2(),
            _ if over_tls => sluice.client().tls(CERTIFICATE, &["http/1.1"]),
            _ => sluice.client(),
        };
        let mut body = request();
        for stream in [true, false] {
            body["stream"] = stream.into();
            let ask = Ask::chat(&body).key(sluice.key());
            let asked = upstream.seen().len() + 1;
            let client = client.clone();
            let asking = tokio::spawn(async move { client.attempt(ask).await.is_ok() });
            until("the provider to be asked", async || {
                (upstream.seen().len() == asked).then_some(())
            })
            .await;
            asking.abort();
            until("the provider's connection to be closed", async || {
                upstream.last().hung_up.then_some(())
            })
            .await;
        }
    }
}

#[tokio::test]
async fn an_error_over_http2_arrives_however_much_is_still_being_sent() {
    const TRIES: usize = 24;
    let (upstream, _gate) = gated().await;
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    let mut body = request();
    for kib in [1, 200, 3_000] {
        body["messages"][0]["content"] = "x".repeat(kib << 10).into();
        let refused =
            sluice.client().http2().reply(Ask::chat(&body).key("svc_ent_no_such_key")).await;
        assert_eq!(refused.error(), (401, "authentication_error".into(), "invalid_api_key".into()));
        let file = sluice.data_dir().join("body.json");
        std::fs::write(&file, body.to_string()).unwrap();
        for attempt in 0..TRIES {
            let url = format!("http://{}/api/v1/chat/completions", sluice.address());
            let data = format!("@{}", file.display());
            let key = format!("svc-api-key: {}", sluice.key());
            let mut curl = Command::new("curl");
            curl.args(["-sS", "--http2-prior-knowledge", &url, "--data-binary", &data]);
            curl.args(["-H", &key, "-H", "content-type: text/plain", "-H", "expect:"]);
            let run = tokio::task::spawn_blocking(move || curl.output());
            let Ok(Output { status, stdout, stderr }) = run.await.unwrap() else {
                println!("there is no curl here");
                break;
            };
            let stderr = String::from_utf8_lossy(&stderr);
            assert!(status.success(), "{kib} KiB, attempt {attempt}: {stderr}");
            let answer: Value = serde_json::from_slice(&stdout).unwrap();
            let code = &answer["error"]["code"];
            assert_eq!(code, "unsupported_media_type", "{kib} KiB, attempt {attempt}");
        }
    }
}
