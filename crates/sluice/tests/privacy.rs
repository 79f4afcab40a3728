//! What must not be found anywhere: content, keys and, in zero-retention mode, who asked.
//!
//! Words that occur nowhere else go through every way that a request can take, and are then
//! searched for in all files, logs and metrics.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};
use sluice_testkit::{
    Ask, Client, Config, FakeUpstream, Gate, Script, Sluice, Step, answers, until,
};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

const PROMPT: &str = "canary-prompt-7f3a";
const ANSWER: &str = "canary-answer-91bc";
const TOOL: &str = "canary_tool_2d77";
const ARGUMENTS: &str = "canary-arguments-c04e";
const CREDENTIAL: &str = "sk-canary-credential-5e1d";
const GUESS: &str = "svc_ent_canaryguess8a6f";
/// What zero-retention mode must not keep either.
const APP: &str = "canary-app-b2d9";
const APP_URL: &str = "https://canary-url-e6f0.example.org";

/// A server with one provider, and metrics.
async fn sluice(upstream: &FakeUpstream) -> (Sluice, Client) {
    let metrics = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = Config::default()
        .metrics(metrics)
        .with(&format!(
            "[[providers]]\nid = \"lab\"\nkind = \"openai\"\nbase_url = \"{}\"\n\
             api_key = \"{CREDENTIAL}\"\nregion = \"us-east\"",
            upstream.base_url()
        ))
        .model("mock", "\"lab\"");
    (Sluice::start(BINARY, &config).await, Client::new(metrics))
}

fn request(options: &Value, stream: bool) -> Value {
    let mut request = json!({
        "model": "mock",
        "messages": [{ "role": "user", "content": PROMPT }],
        "tools": [{ "type": "function", "function": { "name": TOOL, "parameters": {} } }],
        "user": PROMPT,
        "metadata": { "note": PROMPT },
        "stream": stream,
    });
    request.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    request
}

/// Sends requests down every way: answered, refused, failed, cut, cancelled. Returns their
/// identifiers, and how many of them were sent to a provider.
async fn every_way(
    sluice: &Sluice,
    upstream: &FakeUpstream,
    key: &str,
    options: &Value,
) -> (Vec<String>, u64) {
    let ask = |body: &Value| {
        Ask::chat(body).key(key).header("x-title", APP).header("http-referer", APP_URL)
    };
    let mut ids = Vec::new();
    let quoted = json!({ "error": { "message": format!("what is {PROMPT} {CREDENTIAL}?") } });
    let quote =
        |status| Script::answer(status, &["content-type: application/json"], &quoted.to_string());
    let page = Script::answer("200 OK", &["content-type: text/html"], PROMPT);
    let whole = [
        (200, Script::json(&answers::completion(ANSWER))),
        (200, Script::json(&answers::tool_call(TOOL, &format!("{{\"a\":\"{ARGUMENTS}\"}}")))),
        (400, quote("400 Bad Request")),
        (502, quote("401 Unauthorized")),
        (429, quote("429 Too Many Requests")),
        (502, quote("500 Internal Server Error")),
        (502, quote("200 OK")),
        (502, page),
        (502, Script::default().then(Step::Reset)),
    ];
    let mut sent = 0;
    for (status, script) in whole {
        upstream.follow(script);
        let reply = sluice.client().reply(ask(&request(options, false))).await;
        assert_eq!(reply.status, status, "{}", reply.text());
        assert!(!reply.text().contains(CREDENTIAL), "{}", reply.text());
        ids.push(reply.request_id());
        sent += 1;
    }

    let opening = answers::opening(&[ANSWER]);
    let call = json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function",
        "function": { "name": TOOL, "arguments": ARGUMENTS } }] });
    let begun =
        Script::stream().send(opening.clone() + &answers::event(&answers::chunk(call, None)));
    let malformed = format!("data: {{\"choices\":\"{ANSWER}\"\n\n");
    let streams = [
        (true, begun.clone().send(answers::ending()).then(Step::Close)),
        (false, begun.clone().then(Step::Close)),
        (false, begun.clone().send(malformed).then(Step::Close)),
        (false, begun.clone().send(answers::event(&quoted)).then(Step::Close)),
    ];
    for (done, script) in streams {
        upstream.follow(script);
        let arriving = sluice.client().send(ask(&request(options, true))).await.unwrap();
        ids.push(arriving.header("x-request-id").to_owned());
        sent += 1;
        // What came in one piece with the fault may be an error from the start.
        if arriving.status == 200 {
            assert_eq!(arriving.events().rest().await.done, done);
        } else {
            assert!(!done);
        }
    }

    upstream.follow(begun.then(Step::Wait(Gate::default())));
    let mut events = sluice.client().events(ask(&request(options, true))).await;
    assert_eq!(events.next_text().await, ANSWER);
    ids.push(events.request_id());
    sent += 1;
    drop(events);
    until("the provider's connection to be closed", async || upstream.last().hung_up.then_some(()))
        .await;

    // Refused before anybody is asked.
    for (field, value) in [
        ("model", json!(PROMPT)),
        ("temperature", json!(PROMPT)),
        ("max_tokens", json!(99_999)),
        ("region", json!("asia-pacific")),
        ("messages", json!([{ "role": PROMPT, "content": PROMPT }])),
    ] {
        let mut body = request(options, false);
        body[field] = value;
        let reply = sluice.client().reply(ask(&body)).await;
        assert!(reply.status.is_client_error(), "{field}: {}", reply.text());
        ids.push(reply.request_id());
    }
    let reply = sluice.client().reply(ask(&json!(PROMPT))).await;
    assert_eq!(reply.status, 400);
    let reply = sluice.chat(GUESS, &request(options, false)).await;
    assert_eq!(reply.status, 401);
    (ids, sent)
}

/// Everything that the server has written: files, logs, metrics.
async fn traces(sluice: &Sluice, metrics: &Client) -> Vec<(String, Vec<u8>)> {
    let mut traces = vec![
        ("standard output".to_owned(), sluice.stdout().into_bytes()),
        ("the log".to_owned(), sluice.stderr().into_bytes()),
    ];
    // A server that has stopped has none.
    if let Ok(reply) = metrics.attempt(Ask::get("/metrics")).await {
        traces.push(("the metrics".to_owned(), reply.body.to_vec()));
    }
    files(&sluice.data_dir(), &mut traces);
    traces
}

fn files(folder: &Path, traces: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, traces);
        } else if let Ok(bytes) = std::fs::read(&path) {
            // A file that went away in the meantime holds nothing any more.
            traces.push((path.display().to_string(), bytes));
        }
    }
}

fn occurs(needle: &str, traces: &[(String, Vec<u8>)]) -> Option<String> {
    let needle = needle.as_bytes();
    let found = |bytes: &Vec<u8>| bytes.windows(needle.len()).any(|window| window == needle);
    traces.iter().find(|(_, bytes)| found(bytes)).map(|(name, _)| name.clone())
}

fn assert_absent(needles: &[&str], traces: &[(String, Vec<u8>)]) {
    for needle in needles {
        let place = occurs(needle, traces);
        assert_eq!(place, None, "{needle} was found");
    }
}

#[tokio::test]
async fn neither_content_nor_keys_are_found_anywhere() {
    let upstream = FakeUpstream::start(Script::default()).await;
    let (mut sluice, metrics) = sluice(&upstream).await;
    let key = sluice.create_key(&[]).await;
    let mut answered = Vec::new();
    for options in [
        json!({}),
        json!({ "audit_enabled": true }),
        json!({ "zero_retention": true }),
        json!({ "zero_retention": true, "audit_enabled": true }),
    ] {
        println!("{options}");
        answered.extend(every_way(&sluice, &upstream, &key, &options).await.0);
    }
    let secret = &key["svc_ent_".len() + 12..];
    let forbidden =
        [PROMPT, ANSWER, TOOL, ARGUMENTS, CREDENTIAL, "canaryguess", secret, "canary-credential"];
    assert_absent(&forbidden, &traces(&sluice, &metrics).await);
    assert!(sluice.stop().await.success());
    let traces = traces(&sluice, &metrics).await;
    assert_absent(&forbidden, &traces);
    // The search does find what is there: the app's name, a request's identifier, debug lines.
    for known in [APP, &answered[0], "request ended"] {
        assert!(occurs(known, &traces).is_some(), "{known} was not found");
    }
}

#[tokio::test]
async fn zero_retention_keeps_sums_and_nobodys_name() {
    let upstream = FakeUpstream::start(Script::default()).await;
    let (mut sluice, metrics) = sluice(&upstream).await;
    let asked = sluice.create_key(&[]).await;
    let forced = sluice.create_key(&["--zero-retention"]).await;
    let (mut ids, mut sums) = (Vec::new(), 0);
    for (key, options) in [
        (&asked, json!({ "zero_retention": true })),
        (&asked, json!({ "zero_retention": true, "audit_enabled": true })),
        (&forced, json!({})),
    ] {
        let (more, sent) = every_way(&sluice, &upstream, key, &options).await;
        ids.extend(more);
        sums += sent;
    }
    let mut forbidden: Vec<&str> = ids.iter().map(String::as_str).collect();
    forbidden.extend([APP, APP_URL, PROMPT, ANSWER]);
    assert_absent(&forbidden, &traces(&sluice, &metrics).await);
    assert_eq!(sluice.usage().await, Vec::<Value>::new());

    // Limits and cost count all the same.
    let token = sluice.get("/api/v1/auth/token", &forced).await.json();
    assert!(token["limits"]["key"]["tokens_used_today"].as_u64().unwrap() > 0, "{token}");
    until("all sums", async || {
        let days = sluice.json_lines(&["usage", "days", "--json"]).await;
        let requests: u64 = days.iter().map(|day| day["requests"].as_u64().unwrap()).sum();
        let cost: f64 = days.iter().map(|day| day["cost_usd"].as_f64().unwrap()).sum();
        assert!(requests <= sums, "{days:?}");
        (requests == sums && cost > 0.0).then_some(())
    })
    .await;
    assert!(sluice.stop().await.success());
    assert_absent(&forbidden, &traces(&sluice, &metrics).await);
}

#[tokio::test]
async fn the_answer_says_what_held() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion(ANSWER))).await;
    let (sluice, _metrics) = sluice(&upstream).await;
    let audited = sluice.create_key(&["--audit"]).await;
    for (key, options, zero_retention, has_entry) in [
        (sluice.key(), json!({}), false, true),
        (sluice.key(), json!({ "audit_enabled": true }), false, true),
        (sluice.key(), json!({ "zero_retention": true }), true, false),
        (&audited, json!({ "zero_retention": true }), true, true),
        (&audited, json!({ "audit_enabled": false }), false, true),
    ] {
        let security = &sluice.chat(key, &request(&options, false)).await.json()["security"];
        assert_eq!(security["zero_retention"], zero_retention, "{options}");
        assert_eq!(security["audit_id"] != "", has_entry, "{options}");
    }
}

#[tokio::test]
async fn what_callers_say_of_their_application_is_filtered_before_it_is_kept() {
    const TOKEN: &str = "ghp_mT4vQ8zKp2LxW9rB7nYc3DfH6sJ1aG5eU0iO";
    const MAIL: &str = "margarethe.quint@halvorsen-lindqvist.no";
    let upstream = FakeUpstream::start(Script::json(&answers::completion(ANSWER))).await;
    let (mut sluice, metrics) = sluice(&upstream).await;
    // The last one would be cut in two where a label is cut.
    let far = format!("{} {TOKEN}", "a".repeat(180));
    for (title, url) in [
        (format!("{APP} {TOKEN}"), format!("https://ci:{TOKEN}@app.example.org/")),
        (format!("{APP} of {MAIL}"), format!("https://app.example.org/?token={TOKEN}")),
        (far, format!("https://app.example.org/{}?key={TOKEN}", "a".repeat(140))),
    ] {
        // Once more: what is remembered of them has to say the same.
        for _ in 0..2 {
            let body = request(&json!({ "audit_enabled": true }), false);
            let ask = Ask::chat(&body).key(sluice.key()).header("x-title", &title);
            let reply = sluice.client().reply(ask.header("http-referer", &url)).await;
            assert_eq!(reply.status, 200);
            let record = &sluice.usage_of(&reply.request_id()).await[0];
            let kept = record["app_title"].as_str().unwrap();
            assert_eq!(kept.split_once(' ').unwrap().0, title.split_once(' ').unwrap().0);
            assert!(kept.chars().count() <= 200 && kept.contains('Q'), "{kept}");
        }
    }
    let title = "Caf\u{e9} \u{2615}";
    let ask = Ask::chat(&request(&json!({}), false)).key(sluice.key()).header("x-title", title);
    let reply = sluice.client().reply(ask).await;
    assert_eq!(sluice.usage_of(&reply.request_id()).await[0]["app_title"], title);
    // Entries are listed once they are in the database.
    until("an audit entry that names the application", async || {
        let entries = sluice.json_lines(&["audit", "list", "--json"]).await;
        let names = |entry: &Value| entry["app"].as_str().is_some_and(|app| app.contains(APP));
        entries.iter().any(names).then_some(())
    })
    .await;

    let forbidden = [TOKEN, &TOKEN[..20], MAIL];
    assert_absent(&forbidden, &traces(&sluice, &metrics).await);
    assert!(sluice.stop().await.success());
    let traces = traces(&sluice, &metrics).await;
    assert_absent(&forbidden, &traces);
    assert!(occurs(APP, &traces).is_some());
}
