//! The audit trail: an entry for each request, without content, and tampering
//! shows.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use serde_json::{Value, json};
use sluice_testkit::{Config, FakeUpstream, Script, Sluice, answers, until};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

fn request(more: Value) -> Value {
    let mut request = json!({
        "model": "mock",
        "messages": [{ "role": "user", "content": "Hello!" }],
        "audit_enabled": true,
    });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request
}

async fn sluice() -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().mock(&upstream);
    (Sluice::start(BINARY, &config).await, upstream)
}

/// The trail, the earliest entry first, once it holds so many.
async fn trail(sluice: &Sluice, entries: usize) -> Vec<Value> {
    until("the audit entries", async || {
        let list = ["audit", "list", "--json", "--oldest-first", "--kind", "request"];
        let trail = sluice.json_lines(&list).await;
        assert!(trail.len() <= entries, "{trail:?}");
        (trail.len() == entries).then_some(trail)
    })
    .await
}

#[tokio::test]
async fn each_audited_request_has_its_entry() {
    let (sluice, upstream) = sluice().await;
    let audit_id = async |more: Value| {
        let reply = sluice.chat(sluice.key(), &request(more)).await;
        (reply.request_id(), reply.json()["security"]["audit_id"].clone())
    };
    let (request_id, first) = audit_id(json!({})).await;
    let (_, second) = audit_id(json!({ "zero_retention": true })).await;
    upstream.follow(Script::answer("500 Internal Server Error", &[], ""));
    let failed = sluice.chat(sluice.key(), &request(json!({}))).await;
    // One that leaves no trace and asks for none has none.
    let silent = json!({ "audit_enabled": false, "zero_retention": true });
    sluice.chat(sluice.key(), &request(silent)).await;

    let trail = trail(&sluice, 3).await;
    for (field, expected) in [
        ("audit_id", first.clone()),
        ("request_id", json!(request_id)),
        ("model", json!("mock")),
        ("provider", json!("lab")),
        ("region", json!("us-east")),
        ("remote_addr", json!("127.0.0.1")),
        ("outcome", json!("completed")),
        ("zero_retention", json!(false)),
        ("cost_usd", json!(0.000_059)),
    ] {
        assert_eq!(trail[0][field], expected, "{field}");
    }
    for (field, expected) in [
        ("audit_id", second),
        ("request_id", Value::Null),
        ("remote_addr", Value::Null),
        ("usage", Value::Null),
        ("cost_usd", Value::Null),
        ("zero_retention", json!(true)),
    ] {
        assert_eq!(trail[1][field], expected, "{field}");
    }
    assert_eq!(trail[2]["request_id"], failed.request_id());
    assert_eq!(trail[2]["outcome"], "upstream_error");
    let record = &sluice.usage_of(&request_id).await[0];
    assert_eq!(record["audit_id"], first);
}

#[tokio::test]
async fn tampering_shows() {
    let (mut sluice, _upstream) = sluice().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let reply = sluice.chat(sluice.key(), &request(json!({}))).await;
        ids.push(reply.json()["security"]["audit_id"].as_str().unwrap().to_owned());
    }
    trail(&sluice, 3).await;
    assert!(sluice.stop().await.success());
    let verified = sluice.cli(&["audit", "verify", "--json"]).await;
    assert_eq!(verified.code, Some(0), "{}", verified.stderr);
    let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
    // The first start's account, key and link for the owner are the first three entries.
    assert_eq!((&verified["intact"], &verified["entries"]), (&json!(true), &json!(6)));

    // Behind the database's back: another model in the second entry's text.
    let mut changed = 0;
    for entry in std::fs::read_dir(sluice.data_dir()).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_file() {
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        let name = format!("\"audit_id\":\"{}\"", ids[1]);
        let places = find(&bytes, name.as_bytes());
        for place in &places {
            let model = find(&bytes[*place..], b"\"model_asked\":\"mock\"")[0];
            let last = place + model + "\"model_asked\":\"moc".len();
            bytes[last] = b'x';
            changed += 1;
        }
        if !places.is_empty() {
            std::fs::write(&path, bytes).unwrap();
        }
    }
    assert!(changed > 0, "the entry's text was not found in any file");
    let listed = sluice.json_lines(&["audit", "list", "--json", "--audit-id", &ids[1]]).await;
    assert_eq!(listed[0]["model_asked"], "mocx");
    let verified = sluice.cli(&["audit", "verify", "--json"]).await;
    assert_eq!(verified.code, Some(1), "{}", verified.stdout);
    let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!((&verified["intact"], &verified["broken"]["seq"]), (&json!(false), &json!(5)));
    let told = sluice.cli(&["audit", "verify"]).await;
    assert!(told.stdout.contains("tampered with at entry 5"), "{}", told.stdout);
}

fn find(haystack: &[u8], needle: &[u8]) -> Vec<usize> {
    let windows = haystack.windows(needle.len()).enumerate();
    windows.filter(|(_, window)| *window == needle).map(|(place, _)| place).collect()
}
