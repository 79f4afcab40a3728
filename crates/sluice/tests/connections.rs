//! How clients connect: TLS, HTTP/1.1 and HTTP/2.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use http::Version;
use serde_json::{Value, json};
use sluice_testkit::{
    Ask, Client, Config, Event, FakeUpstream, Gate, Script, Sluice, Step, answers, until,
};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

const CERTIFICATE: &[u8] = include_bytes!("tls/certificate.pem");

fn config(upstream: &FakeUpstream) -> Config {
    Config::default().provider("lab", &upstream.base_url()).model("mock", "\"lab\"")
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
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls");
        let files = format!(
            "tls_certificate_file = \"{folder}/certificate.pem\"\ntls_key_file = \"{folder}/key.pem\""
        );
        let sluice = Sluice::start(BINARY, &config(&upstream).server(&files)).await;
        assert!(sluice.stdout().contains("https://127.0.0.1"), "{}", sluice.stdout());
        let client = sluice.client().tls(CERTIFICATE, protocols);
        streams(&client, sluice.key(), &gate, version).await;
        // Who speaks plain HTTP to it gets no answer, and disturbs nobody.
        assert!(sluice.client().send(Ask::get("/livez")).await.is_err());
        assert_eq!(client.reply(Ask::get("/livez")).await.status, 200);
    }
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
