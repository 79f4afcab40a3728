//! Providers on bad days: each fault gives the documented error, frees what the request had
//! reserved, and is in the usage records exactly once, with its outcome.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use serde_json::{Value, json};
use sluice_testkit::{
    Config, Event, FakeUpstream, Gate, Reply, Script, Sluice, Step, answers, until,
};
use tokio::net::TcpSocket;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

/// The provider's key, which no answer may show.
const CREDENTIAL: &str = "sk-lab";

const UPSTREAM_ERROR: (u16, &str, &str) = (502, "api_error", "upstream_error");
const UPSTREAM_TIMEOUT: (u16, &str, &str) = (504, "api_error", "upstream_timeout");
const RATE_LIMITED: (u16, &str, &str) = (429, "rate_limit_error", "rate_limit_exceeded");

/// A server whose one provider is `upstream`.
async fn sluice(upstream: &FakeUpstream, sections: &str) -> Sluice {
    Sluice::start(BINARY, &Config::default().mock(upstream).with(sections)).await
}

fn request(stream: bool) -> Value {
    json!({
        "model": "mock",
        "messages": [{ "role": "user", "content": "Hello!" }],
        "max_tokens": 100,
        "stream": stream,
    })
}

/// A request that gets an HTTP error instead of an answer: it is the documented one, names no
/// credential, and leaves one record and nothing else.
async fn fails(sluice: &Sluice, stream: bool, expected: (u16, &str, &str), outcome: &str) -> Reply {
    let reply = sluice.chat(sluice.key(), &request(stream)).await;
    let (status, kind, code) = reply.error();
    assert_eq!((status, &*kind, &*code), expected, "{}", reply.text());
    assert!(!reply.text().contains(CREDENTIAL), "{}", reply.text());
    assert_eq!(reply.json()["error"]["param"], Value::Null);
    settled(sluice, &reply.request_id(), outcome).await;
    reply
}

/// A stream that says "Hello", and then does `fault`: one error event, no end mark, one record.
async fn breaks(
    sluice: &Sluice,
    upstream: &FakeUpstream,
    fault: &[Step],
    expected: (u16, &str, &str),
    outcome: &str,
) -> Value {
    // What came together with the fault might count as never said.
    let heard = Gate::default();
    let script =
        Script::stream().send(answers::opening(&["Hello"])).then(Step::Wait(heard.clone()));
    upstream.follow(fault.iter().cloned().fold(script, Script::then));
    let mut events = sluice.stream(sluice.key(), &request(true)).await;
    assert_eq!(events.next_text().await, "Hello");
    heard.open();
    let request_id = events.request_id();
    let said = events.rest().await;
    assert_eq!((said.text.as_str(), said.done, said.cut), ("", false, false));
    let error = said.error.unwrap();
    assert_eq!((&error["type"], &error["code"]), (&json!(expected.1), &json!(expected.2)));
    assert!(!error.to_string().contains(CREDENTIAL), "{error}");
    settled(sluice, &request_id, outcome).await;
    error
}

/// Exactly one record with this outcome; nothing under way, and no token reserved.
async fn settled(sluice: &Sluice, request_id: &str, outcome: &str) {
    let usage = sluice.usage().await;
    let own: Vec<&Value> = usage.iter().filter(|r| r["request_id"] == request_id).collect();
    assert_eq!(own.len(), 1, "records of {request_id}: {own:?}");
    assert_eq!(own[0]["outcome"], outcome);
    let known = usage.iter().map(|record| record["total_tokens"].as_u64().unwrap());
    // What limits count of calls that may be billed though nothing came of them.
    let assumed = usage.iter().map(|record| record["assumed"]["tokens"].as_u64().unwrap_or(0));
    let used: u64 = known.chain(assumed).sum();
    let token = sluice.get("/api/v1/auth/token", sluice.key()).await.json();
    for subject in ["key", "account"] {
        let limits = &token["limits"][subject];
        assert_eq!(limits["requests_in_flight"], 0, "{subject}: {limits}");
        assert_eq!(limits["tokens_used_today"], used, "{subject}: {limits}");
    }
}

#[tokio::test]
async fn a_refused_connection() {
    // A bound socket that does not listen: nobody else can take its port.
    let deaf = TcpSocket::new_v4().unwrap();
    deaf.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let base_url = format!("http://{}/v1", deaf.local_addr().unwrap());
    let config = Config::default().provider("lab", &base_url).model("mock", "\"lab\"");
    let sluice = Sluice::start(BINARY, &config).await;
    for stream in [false, true] {
        fails(&sluice, stream, UPSTREAM_ERROR, "upstream_error").await;
    }
}

#[tokio::test]
async fn faults_before_an_answer() {
    let upstream = FakeUpstream::start(Script::default()).await;
    let sluice = sluice(&upstream, "").await;
    let whole = answers::completion("Hello there").to_string();
    let cut_body = Script::head("application/json", whole.len()).send(whole[..40].to_owned());
    let json = |body: &str| Script::answer("200 OK", &["content-type: application/json"], body);
    let page = "<html><body>It works! sk-lab</body></html>";
    let html = Script::answer("200 OK", &["content-type: text/html"], page);
    let html_500 = Script::answer("500 Internal Server Error", &["content-type: text/html"], page);
    for (name, stream, script) in [
        ("reset before the first byte", false, Script::default().then(Step::Reset)),
        ("reset before the first byte", true, Script::default().then(Step::Reset)),
        ("closed before the first byte", false, Script::default().then(Step::Close)),
        ("closed before the first byte", true, Script::default().then(Step::Close)),
        ("reset inside the body", false, cut_body.clone().then(Step::Reset)),
        ("closed inside the body", false, cut_body.then(Step::Close)),
        ("reset before the first event", true, Script::stream().then(Step::Reset)),
        ("ended before the first event", true, Script::stream().then(Step::Close)),
        ("malformed JSON", false, json(&whole[..whole.len() - 1])),
        ("JSON of another kind", false, json("[1, 2, 3]")),
        ("no JSON at all", true, Script::events("data: {broken\n\n")),
        ("a page instead of an answer", false, html.clone()),
        ("a page instead of events", true, html),
        ("a whole answer instead of events", true, json(&whole)),
        ("500 with a page", false, html_500.clone()),
        ("500 with a page", true, html_500),
    ] {
        println!("{name}, stream: {stream}");
        upstream.follow(script);
        let reply = fails(&sluice, stream, UPSTREAM_ERROR, "upstream_error").await;
        assert!(!reply.text().contains("<html>"), "{name}: {}", reply.text());
    }
}

#[tokio::test]
async fn a_provider_that_quotes_the_credential() {
    let upstream = FakeUpstream::start(Script::default()).await;
    let sluice = sluice(&upstream, "").await;
    let message = format!("Incorrect API key provided: {CREDENTIAL}. You can find it elsewhere.");
    let error = json!({ "error": { "message": message, "type": "server_error", "code": null } });
    let json = ["content-type: application/json"];
    for status in ["401 Unauthorized", "500 Internal Server Error", "200 OK"] {
        println!("{status}");
        upstream.follow(Script::answer(status, &json, &error.to_string()));
        let reply = fails(&sluice, false, UPSTREAM_ERROR, "upstream_error").await;
        // A refused credential is told without the provider's words.
        let quoted = reply.text().contains("Incorrect API key");
        assert_eq!(quoted, !status.starts_with("401"), "{}", reply.text());
    }
    upstream.follow(Script::events(&answers::event(&error)));
    fails(&sluice, true, UPSTREAM_ERROR, "upstream_error").await;
    let late = [Step::Send(answers::event(&error).into())];
    breaks(&sluice, &upstream, &late, UPSTREAM_ERROR, "upstream_error").await;
}

#[tokio::test]
async fn faults_inside_a_stream() {
    let upstream = FakeUpstream::start(Script::default()).await;
    let sluice = sluice(&upstream, "").await;
    let send = |text: &'static str| Step::Send(text.into());
    for (name, fault) in [
        ("reset after the first event", vec![Step::Reset]),
        ("ended without an end mark", vec![Step::Close]),
        ("cut inside an event", vec![send("data: {\"id\":\"chatcmpl-123\",\"cho"), Step::Close]),
        ("a malformed chunk", vec![send("data: {broken\n\n"), Step::Hang]),
        ("a chunk of another kind", vec![send("data: {\"choices\":7}\n\n"), Step::Hang]),
    ] {
        println!("{name}");
        breaks(&sluice, &upstream, &fault, UPSTREAM_ERROR, "upstream_error").await;
    }
    let finished =
        answers::opening(&["Hello"]) + &answers::event(&answers::chunk(json!({}), Some("stop")));
    // Some services leave the end mark out; an answer that has its reason for stopping is whole.
    upstream.follow(Script::events(&finished));
    let said = sluice.stream(sluice.key(), &request(true)).await.rest().await;
    assert_eq!((said.text.as_str(), said.done, said.error), ("Hello", true, None));
}

#[tokio::test]
async fn a_provider_that_is_too_slow() {
    let timeouts = "[timeouts]\nfirst_token_seconds = 1\nidle_seconds = 1\ntotal_seconds = 2";
    let upstream = FakeUpstream::start(Script::default().then(Step::Hang)).await;
    let sluice = sluice(&upstream, timeouts).await;
    let hung_up = async |attempts: usize| {
        until("the provider's connection to be closed", async || {
            let seen = upstream.seen();
            (seen.len() == attempts && seen.iter().all(|seen| seen.hung_up)).then_some(())
        })
        .await;
    };
    fails(&sluice, false, UPSTREAM_TIMEOUT, "upstream_timeout").await;
    hung_up(1).await;
    fails(&sluice, true, UPSTREAM_TIMEOUT, "upstream_timeout").await;
    hung_up(2).await;
    upstream.follow(Script::stream().send(": still thinking\n\n").then(Step::Hang));
    fails(&sluice, true, UPSTREAM_TIMEOUT, "upstream_timeout").await;
    upstream.follow(Script::head("application/json", 500).send("{").then(Step::Hang));
    fails(&sluice, false, UPSTREAM_TIMEOUT, "upstream_timeout").await;
    let error =
        breaks(&sluice, &upstream, &[Step::Hang], UPSTREAM_TIMEOUT, "upstream_timeout").await;
    assert!(error["message"].as_str().unwrap().contains("said nothing for 1 s"), "{error}");
    hung_up(5).await;
}

#[tokio::test]
async fn an_answer_that_takes_too_long_altogether() {
    let timeouts = "[timeouts]\nfirst_token_seconds = 1\nidle_seconds = 600\ntotal_seconds = 1";
    let upstream = FakeUpstream::start(Script::default()).await;
    let sluice = sluice(&upstream, timeouts).await;
    let error =
        breaks(&sluice, &upstream, &[Step::Hang], UPSTREAM_TIMEOUT, "upstream_timeout").await;
    assert!(error["message"].as_str().unwrap().contains("longer than 1 s"), "{error}");
}

#[tokio::test]
async fn one_byte_at_a_time_is_an_answer_all_the_same() {
    let whole = Script::json(&answers::completion("Grüße, 世界"));
    let upstream = FakeUpstream::start(whole.dribbled()).await;
    let sluice = sluice(&upstream, "").await;
    let reply = sluice.chat(sluice.key(), &request(false)).await;
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "Grüße, 世界");
    settled(&sluice, &reply.request_id(), "completed").await;

    let events = answers::opening(&["Grüße", ", 世界"]) + &answers::ending();
    upstream.follow(Script::events(&events).dribbled());
    let events = sluice.stream(sluice.key(), &request(true)).await;
    let request_id = events.request_id();
    let said = events.rest().await;
    assert_eq!((said.text.as_str(), said.done), ("Grüße, 世界", true));
    settled(&sluice, &request_id, "completed").await;
}

#[tokio::test]
async fn a_provider_that_wants_fewer_requests() {
    let upstream = FakeUpstream::start(Script::default()).await;
    let sluice = sluice(&upstream, "").await;
    let error = json!({ "error": {
        "message": "Rate limit reached for requests",
        "type": "requests",
        "param": null,
        "code": "rate_limit_exceeded",
    }});
    for (header, wait) in
        [("retry-after: 7", "7"), ("retry-after-ms: 1500", "2"), ("x-nothing: 0", "5")]
    {
        for stream in [false, true] {
            let headers = ["content-type: application/json", header];
            let script = Script::answer("429 Too Many Requests", &headers, &error.to_string());
            upstream.follow(script);
            let reply = fails(&sluice, stream, RATE_LIMITED, "upstream_error").await;
            assert_eq!(reply.header("retry-after"), wait, "{header}");
            assert!(reply.text().contains("Rate limit reached"), "{}", reply.text());
        }
    }
}

#[tokio::test]
async fn a_provider_that_refuses_the_request() {
    let error = json!({ "error": {
        "message": "Invalid schema for function 'f'",
        "type": "invalid_request_error",
        "param": "tools[0].function.parameters",
        "code": "invalid_function_parameters",
    }});
    let json = ["content-type: application/json"];
    let upstream =
        FakeUpstream::start(Script::answer("400 Bad Request", &json, &error.to_string())).await;
    let sluice = sluice(&upstream, "").await;
    let reply = sluice.chat(sluice.key(), &request(false)).await;
    let expected = (400, "invalid_request_error".into(), "invalid_function_parameters".into());
    assert_eq!(reply.error(), expected);
    assert_eq!(reply.json()["error"]["param"], "tools[0].function.parameters");
    settled(&sluice, &reply.request_id(), "rejected").await;
}

#[tokio::test]
async fn a_hundred_megabytes() {
    const MEGABYTE: usize = 1 << 20;
    let upstream = FakeUpstream::start(Script::default()).await;
    let sluice = sluice(&upstream, "").await;
    let flood = Step::Flood("x".repeat(MEGABYTE).into(), 100);
    let whole = Script::head("application/json", 100 * MEGABYTE + 2).send("\"");
    let event = Script::stream().send("data: \"");
    for (stream, script) in [(false, whole), (true, event)] {
        upstream.follow(script.then(flood.clone()).then(Step::Hang));
        let reply = fails(&sluice, stream, UPSTREAM_ERROR, "upstream_error").await;
        assert!(reply.text().contains("longer than"), "{}", reply.text());
    }
    let late = [Step::Send("data: \"".into()), flood, Step::Hang];
    let error = breaks(&sluice, &upstream, &late, UPSTREAM_ERROR, "upstream_error").await;
    assert!(error["message"].as_str().unwrap().contains("longer than"), "{error}");

    let seen = until("the provider to notice", async || {
        let seen = upstream.seen();
        seen.iter().all(|seen| seen.hung_up).then_some(seen)
    })
    .await;
    for seen in seen {
        // 32 MiB of a whole answer or 16 MiB of an event, and what the sockets hold.
        assert!(seen.sent < 60 * MEGABYTE, "{} bytes were taken", seen.sent);
    }
    // Buffers double on their way to 32 MiB, and the allocator keeps some of what it had; three
    // times 100 MB never fit in there.
    if let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", sluice.process_id())) {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak_kib: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak_kib < 256 << 10, "{peak_kib} KiB at the peak");
    }
}

#[tokio::test]
async fn another_provider_of_the_model_steps_in_before_the_first_content() {
    let first = FakeUpstream::start(Script::default()).await;
    let second = FakeUpstream::start(Script::default()).await;
    let config = Config::default()
        .provider("lab", &first.base_url())
        .provider("lab-2", &second.base_url())
        .model("mock", r#"["lab", "lab-2"]"#);
    let sluice = Sluice::start(BINARY, &config).await;

    first.follow(Script::answer("503 Service Unavailable", &[], ""));
    second.follow(Script::json(&answers::completion("Hello")));
    let reply = sluice.chat(sluice.key(), &request(false)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let record = &sluice.usage_of(&reply.request_id()).await[0];
    assert_eq!((&record["provider"], &record["attempts"]), (&json!("lab-2"), &json!(2)));
    settled(&sluice, &reply.request_id(), "completed").await;

    let role = answers::opening(&[]);
    let answer = answers::opening(&["Hello"]) + &answers::ending();
    second.follow(Script::events(&answer));
    for script in [
        Script::default().then(Step::Reset),
        // Who is about to speak is no content yet.
        Script::stream().send(role).then(Step::Reset),
    ] {
        first.follow(script);
        let events = sluice.stream(sluice.key(), &request(true)).await;
        let request_id = events.request_id();
        let said = events.rest().await;
        assert_eq!((said.text.as_str(), said.done, said.error), ("Hello", true, None));
        settled(&sluice, &request_id, "completed").await;
        // A good answer in between: after three failures in a row it would not be asked.
        first.follow(Script::json(&answers::completion("Hello")));
        assert_eq!(sluice.chat(sluice.key(), &request(false)).await.status, 200);
    }

    // After the first content there is no way back.
    let asked = second.seen().len();
    breaks(&sluice, &first, &[Step::Reset], UPSTREAM_ERROR, "upstream_error").await;
    assert_eq!(second.seen().len(), asked);
    // What is wrong with the request is wrong everywhere.
    let error = json!({ "error": { "message": "no", "type": "invalid_request_error" } });
    first.follow(Script::answer("400 Bad Request", &[], &error.to_string()));
    let reply = sluice.chat(sluice.key(), &request(false)).await;
    assert_eq!(reply.status, 400);
    assert_eq!(second.seen().len(), asked);
}

#[tokio::test]
async fn a_silent_provider_gets_a_comment_and_a_late_error_is_an_event() {
    let gate = Gate::default();
    let script = Script::default().then(Step::Wait(gate.clone()));
    let upstream = FakeUpstream::start(script.then(Step::Reset)).await;
    let config = Config::default()
        .server("keep_alive_seconds = 1")
        .provider("lab", &upstream.base_url())
        .model("mock", "\"lab\"");
    let sluice = Sluice::start(BINARY, &config).await;
    let mut events = sluice.stream(sluice.key(), &request(true)).await;
    assert_eq!(events.next().await, Some(Event::Comment("keep-alive".into())));
    gate.open();
    let request_id = events.request_id();
    let said = events.rest().await;
    assert_eq!(said.error.unwrap()["code"], "upstream_error");
    assert!(!said.done);
    settled(&sluice, &request_id, "upstream_error").await;
}

#[tokio::test]
async fn a_whole_answer_that_hangs_leaves_time_for_another_provider() {
    let first = FakeUpstream::start(Script::default().then(Step::Hang)).await;
    let second = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default()
        .provider("lab", &first.base_url())
        .provider("lab-2", &second.base_url())
        .model("mock", r#"["lab", "lab-2"]"#)
        .with("[timeouts]\nwhole_answer_seconds = 1");
    let sluice = Sluice::start(BINARY, &config).await;
    let reply = sluice.chat(sluice.key(), &request(false)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let record = &sluice.usage_of(&reply.request_id()).await[0];
    assert_eq!((&record["provider"], &record["attempts"]), (&json!("lab-2"), &json!(2)));
    let told = format!("request_id={}", reply.request_id());
    let log = sluice.stderr();
    let line = log.lines().find(|line| line.contains("provider call failed")).unwrap();
    for part in [&*told, "provider=\"lab\"", "timeout", "did not answer in time"] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[tokio::test]
async fn an_end_mark_alone_is_no_answer() {
    let upstream = FakeUpstream::start(Script::events("data: [DONE]\n\n")).await;
    let sluice = sluice(&upstream, "").await;
    let reply = fails(&sluice, true, UPSTREAM_ERROR, "upstream_error").await;
    assert!(reply.text().contains("before it said anything"), "{}", reply.text());
}

#[tokio::test]
async fn a_provider_whose_streams_break_off_degrades_the_health() {
    let upstream = FakeUpstream::start(Script::default()).await;
    let sluice = sluice(&upstream, "").await;
    let health = async || sluice.get("/api/v1/health", sluice.key()).await.json();
    for _ in 0..3 {
        assert_eq!(health().await["status"], "ok");
        breaks(&sluice, &upstream, &[Step::Reset], UPSTREAM_ERROR, "upstream_error").await;
    }
    let now = health().await;
    assert_eq!(
        (&now["status"], &now["providers"]["lab"]["status"]),
        (&json!("degraded"), &json!("failing"))
    );
}

#[tokio::test]
async fn a_count_that_cannot_be_locks_nobody_out_and_survives_a_restart() {
    let mut whole = answers::completion("Hello there");
    whole["usage"]["prompt_tokens"] = json!(u64::MAX);
    whole["usage"]["completion_tokens"] = json!(u64::MAX);
    let upstream = FakeUpstream::start(Script::json(&whole)).await;
    let mut sluice = sluice(&upstream, "").await;
    for _ in 0..2 {
        let reply = sluice.chat(sluice.key(), &request(false)).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(reply.json()["usage"]["total_tokens"].as_u64().unwrap() < 100);
        settled(&sluice, &reply.request_id(), "completed").await;
        let record = &sluice.usage_of(&reply.request_id()).await[0];
        assert_eq!(record["usage_source"], "estimated", "{record}");
    }
    sluice.stop().await;
    sluice.start_again().await;
    assert_eq!(sluice.chat(sluice.key(), &request(false)).await.status, 200);
    let days = sluice.cli(&["usage", "days"]).await;
    assert_eq!(days.code, Some(0), "{}", days.stderr);
}

#[tokio::test]
async fn an_answer_that_goes_past_its_bound_is_cut() {
    let chunk = answers::event(&answers::text_chunk(&"word ".repeat(100)));
    let script = Script::stream().send(answers::opening(&[]));
    let script = script.then(Step::Flood(chunk.into(), 100_000)).then(Step::Hang);
    let upstream = FakeUpstream::start(script).await;
    let sluice = sluice(&upstream, "").await;
    let events = sluice.stream(sluice.key(), &request(true)).await;
    let request_id = events.request_id();
    let said = events.rest().await;
    assert_eq!((said.done, said.error), (true, None));
    assert!((100..1_000).contains(&said.text.matches("word").count()), "{}", said.text);
    let last = said.chunks.last().unwrap();
    assert_eq!(last["choices"][0]["finish_reason"], "length", "{last}");
    until("the provider to notice", async || upstream.last().hung_up.then_some(())).await;
    settled(&sluice, &request_id, "completed").await;
    let record = &sluice.usage_of(&request_id).await[0];
    assert_eq!(
        (&record["completion_tokens"], &record["usage_source"]),
        (&json!(100), &json!("estimated"))
    );
}
