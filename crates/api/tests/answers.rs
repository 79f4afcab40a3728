//! Answers as they leave: the exact bytes of bodies and chunks, and the headers around them.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

mod common;

use common::{Answered, House, NOW};
use http::Request;
use http::header::{AUTHORIZATION, ORIGIN};
use serde_json::{Value, json};

const GOOD: &str = r#"{"model":"mock","messages":[{"role":"user","content":"hi"}]}"#;

fn with(member: &str) -> String {
    format!("{},{member}}}", &GOOD[..GOOD.len() - 1])
}

/// The bytes that come back when a provider answers `body`.
async fn whole(request: &str, body: &Value) -> String {
    let house = House::new();
    house.expect(200, "application/json", &body.to_string());
    let answered = house.chat(request.to_owned()).await;
    assert_eq!(answered.status, 200, "{}", answered.body);
    assert_eq!(answered.header("content-type"), Some("application/json"));
    assert!(house.all_was_sent());
    known(answered.body)
}

/// The bytes that come back when a provider streams `chunks` and the end mark.
async fn streamed(member: &str, chunks: &[Value]) -> String {
    let mut body = events(chunks);
    body.push_str("data: [DONE]\n\n");
    stream_of(member, &body).await
}

async fn stream_of(member: &str, body: &str) -> String {
    let house = House::new();
    house.expect(200, "text/event-stream", body);
    let answered = house.chat(with(&format!("\"stream\":true{member}"))).await;
    assert_eq!(answered.status, 200, "{}", answered.body);
    assert_eq!(answered.header("content-type"), Some("text/event-stream"));
    assert_eq!(answered.header("cache-control"), Some("no-cache"));
    assert_eq!(answered.header("x-accel-buffering"), Some("no"));
    known(answered.body)
}

/// The text with the audit entry's name, which is new each time, as a fixed one.
fn known(text: String) -> String {
    const NAMED: &str = "\"audit_id\":\"aud_";
    match text.find(NAMED) {
        Some(at) => {
            let name = at + NAMED.len();
            format!("{}…{}", &text[..name], &text[name + 26..])
        }
        None => text,
    }
}

fn events(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

fn chunk(delta: Value, finish_reason: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    json!({"id": "chatcmpl-1", "model": "mock-2026", "choices": [choice]})
}

const USAGE: &str = r#"{"prompt_tokens":30,"completion_tokens":12,"total_tokens":42,
    "prompt_tokens_details":{"cached_tokens":10},"completion_tokens_details":{"reasoning_tokens":5}}"#;

fn usage() -> Value {
    serde_json::from_str(USAGE).unwrap()
}

/// The JSON of each event but the end mark.
fn parsed(stream: &str) -> Vec<Value> {
    stream
        .split("\n\n")
        .filter_map(|event| event.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[tokio::test]
async fn a_whole_answer_has_every_member_that_clients_rely_on() {
    let text = json!({
        "id": "chatcmpl-1", "model": "mock-2026", "system_fingerprint": "fp_1",
        "choices": [{"message": {"content": "Héllo \"you\"\n"}, "finish_reason": "stop"}],
        "usage": usage(),
    });
    insta::assert_snapshot!("whole_text", whole(GOOD, &text).await);

    let tools = json!({
        "id": "chatcmpl-1",
        "choices": [{
            "message": {
                "content": null,
                "reasoning_content": "A tool fits.",
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "A tool fits.", "signature": "s"},
                    {"type": "reasoning.encrypted", "data": "d"},
                ],
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}},
                    {"id": "call_2", "type": "function", "function": {"name": "g", "arguments": "{}"},
                     "extra_content": {"google": {"thought_signature": "t"}}},
                ],
            },
            "finish_reason": "tool_calls",
        }],
        "usage": usage(),
    });
    insta::assert_snapshot!("whole_tools", whole(GOOD, &tools).await);

    let two = json!({
        "id": "chatcmpl-1",
        "choices": [
            {"index": 0, "message": {"content": "a"}, "finish_reason": "length",
             "logprobs": {"content": [], "refusal": null}},
            {"index": 1, "message": {"content": null, "refusal": "No."}, "finish_reason": "content_filter"},
        ],
        "usage": usage(),
    });
    insta::assert_snapshot!("whole_two", whole(&with("\"n\":2"), &two).await);
}

#[tokio::test]
async fn an_unknown_price_is_null_and_never_zero() {
    let body = json!({
        "id": "chatcmpl-1",
        "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}],
        "usage": usage(),
    });
    let priced: Value = serde_json::from_str(&whole(GOOD, &body).await).unwrap();
    // 20 · 1 + 10 · 0.10 + 12 · 4 micro-dollars.
    assert_eq!(priced["usage"]["cost_usd"], json!(0.000_069));
    assert_eq!(priced["usage"]["cost"], priced["usage"]["cost_usd"]);
    let free = whole(&GOOD.replace("mock", "mock-free"), &body).await;
    assert!(free.contains(r#""cost_usd":null}"#), "{free}");
}

/// What a provider says in Sluice's own words is not passed on as Sluice's.
#[tokio::test]
async fn a_provider_cannot_speak_for_sluice() {
    let body = json!({
        "id": "chatcmpl-1", "security": {"level": "none"}, "provider": "x",
        "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}],
    });
    let answer = whole(GOOD, &body).await;
    assert_eq!(answer.matches("\"security\":").count(), 1, "{answer}");
    assert_eq!(answer.matches("\"usage\":").count(), 1, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["provider"], "x");
    assert_eq!(
        answer["security"],
        json!({"level": "standard", "data_residency": "us-east", "audit_id": "aud_…", "zero_retention": false})
    );
}

#[tokio::test]
async fn security_tells_what_held_for_the_request() {
    let house = House::new();
    let body = r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    house.expect(200, "application/json", body);
    let wishes = with(r#""security_level":"high","region":"us-east","audit_enabled":true"#);
    let answer = house.chat(wishes).await.json();
    assert_eq!(answer["security"]["level"], "high");
    assert!(answer["security"]["audit_id"].as_str().unwrap().starts_with("aud_"));
    // The strictest wins, and the answering model is named, not the asked one.
    house.expect(200, "application/json", body);
    let answer =
        house.chat(with(r#""zero_retention":true"#).replace("mock", "svc/secure")).await.json();
    assert_eq!(answer["model"], "mock");
    assert_eq!(
        answer["security"],
        json!({"level": "maximum", "data_residency": "us-east", "audit_id": "", "zero_retention": true})
    );
}

#[tokio::test]
async fn chunks_have_every_member_that_clients_rely_on() {
    let text = [
        chunk(json!({"role": "assistant", "content": ""}), None),
        chunk(json!({"content": "Hé"}), None),
        chunk(json!({"content": "llo"}), None),
        chunk(json!({}), Some("stop")),
    ];
    insta::assert_snapshot!("stream_text", streamed("", &text).await);

    let mut with_usage = text.to_vec();
    with_usage.push(json!({"id": "chatcmpl-1", "choices": [], "usage": usage()}));
    let member = r#","stream_options":{"include_usage":true}"#;
    insta::assert_snapshot!("stream_usage", streamed(member, &with_usage).await);

    let call = |index, id: Option<&str>, name: Option<&str>, arguments| {
        let function = match name {
            Some(name) => json!({"name": name, "arguments": arguments}),
            None => json!({"arguments": arguments}),
        };
        let mut call = json!({"index": index, "function": function});
        if let Some(id) = id {
            call["id"] = id.into();
            call["type"] = "function".into();
        }
        json!({"tool_calls": [call]})
    };
    let tools = [
        chunk(json!({"role": "assistant", "content": null, "reasoning": "Hm."}), None),
        chunk(call(0, Some("call_1"), Some("f"), ""), None),
        chunk(call(0, None, None, "{\"a\":"), None),
        chunk(call(0, None, None, "1}"), None),
        chunk(call(1, Some("call_2"), Some("g"), "{}"), None),
        chunk(json!({}), Some("tool_calls")),
    ];
    insta::assert_snapshot!("stream_tools", streamed("", &tools).await);

    let second = json!({"id": "chatcmpl-1", "choices": [
        {"index": 1, "delta": {"content": "b"}, "finish_reason": null,
         "logprobs": {"content": [], "refusal": null}}]});
    let second_end = json!({"id": "chatcmpl-1", "choices": [{"index": 1, "delta": {"refusal": "No."}, "finish_reason": "length"}]});
    let two = [
        chunk(json!({"role": "assistant", "content": "a"}), None),
        second,
        chunk(json!({}), Some("stop")),
        second_end,
    ];
    insta::assert_snapshot!("stream_two", streamed(",\"n\":2", &two).await);
}

#[tokio::test]
async fn all_chunks_have_one_name_and_one_time() {
    for id in ["chatcmpl-1", ""] {
        let body: Vec<Value> = [("a", None), ("b", None), ("", Some("stop"))]
            .into_iter()
            .map(|(text, end)| {
                let mut chunk = chunk(json!({"content": text}), end);
                chunk["id"] = id.into();
                chunk
            })
            .collect();
        let chunks = parsed(&streamed(r#","stream_options":{"include_usage":true}"#, &body).await);
        assert_eq!(chunks.len(), 4);
        let name = chunks[0]["id"].as_str().unwrap();
        assert!(name.starts_with("chatcmpl-"), "{name}");
        for (i, chunk) in chunks.iter().enumerate() {
            assert_eq!(chunk["id"], name);
            assert_eq!(chunk["created"], NOW.seconds());
            assert_eq!(chunk["object"], "chat.completion.chunk");
            assert_eq!(chunk["model"], "mock");
            assert_eq!(chunk["usage"].is_null(), i < 3);
        }
        assert_eq!(chunks[3]["choices"], json!([]));
    }
}

#[tokio::test]
async fn a_stream_that_breaks_ends_with_an_error_and_without_the_mark() {
    let begun = events(&[chunk(json!({"content": "a"}), None)]);
    for (rest, expected) in [
        ("", "provider `lab`: the answer was cut off before its end"),
        ("data: {\"error\":{\"message\":\"m\",\"code\":500}}\n\n", "provider `lab`: m"),
        (
            "data: {\n\n",
            "provider `lab`: malformed answer: a chunk: the JSON text ends early, at line 1 column 1",
        ),
    ] {
        let stream = stream_of("", &format!("{begun}{rest}")).await;
        let events = parsed(&stream);
        let error = events.last().unwrap();
        assert_eq!(
            error,
            &json!({"error": {"message": expected, "type": "api_error", "param": null, "code": "upstream_error"}})
        );
        assert!(!stream.contains("[DONE]"));
        assert!(stream.ends_with("\n\n"));
        assert!(!stream.contains("finish_reason\":\"stop"), "{stream}");
    }
}

/// As long as nothing has come, a failure is an HTTP status and no stream.
#[tokio::test]
async fn a_stream_that_never_begins_is_an_error() {
    let house = House::new();
    house.expect(
        200,
        "text/event-stream",
        "data: {\"error\":{\"message\":\"m\",\"code\":429}}\n\n",
    );
    let answered = house.chat(with("\"stream\":true")).await;
    assert_eq!(answered.status, 429);
    assert_eq!(answered.header("content-type"), Some("application/json"));
    house.expect(200, "text/event-stream", "data: [DO");
    assert_eq!(house.chat(with("\"stream\":true")).await.status, 502);
}

fn rate(answered: &Answered) -> [u64; 4] {
    ["limit", "remaining", "reset", "window"]
        .map(|name| answered.header(&format!("x-ratelimit-{name}")).unwrap().parse().unwrap())
}

#[tokio::test]
async fn the_headers_describe_the_request_window() {
    let house = House::new();
    let hour_ends = 1_795_255_200;
    assert_eq!(rate(&house.get("/api/v1/models").await), [10_000, 10_000, hour_ends, 3_600]);
    house.expect(200, "application/json", r#"{"choices":[{"message":{"content":"a"}}]}"#);
    assert_eq!(rate(&house.chat(GOOD).await), [10_000, 9_999, hour_ends, 3_600]);
    // A request that was never sent takes nothing.
    assert_eq!(rate(&house.chat("{").await), [10_000, 9_999, hour_ends, 3_600]);
    // Streams tell it too.
    let done = events(&[chunk(json!({"content": "a"}), Some("stop"))]);
    house.expect(200, "text/event-stream", &done);
    assert_eq!(rate(&house.chat(with("\"stream\":true")).await)[1], 9_998);
    house.clock.advance(std::time::Duration::from_secs(1_800));
    assert_eq!(
        rate(&house.get("/api/v1/health").await),
        [10_000, 10_000, hour_ends + 3_600, 3_600]
    );
    // The tighter of key and account is told.
    let request = Request::get("/api/v1/models")
        .header(AUTHORIZATION, format!("Bearer {}", house.key("one request")));
    assert_eq!(rate(&house.send(request.body("").unwrap()).await)[..2], [1, 1]);
}

#[tokio::test]
async fn an_unknown_key_is_told_of_its_addresss_window() {
    let house = House::new();
    let guess = async || {
        let request = Request::get("/api/v1/models").header(AUTHORIZATION, "Bearer sk-1");
        house.send(request.body("").unwrap()).await
    };
    let minute_ends = NOW.seconds() + 60;
    for left in (0..60).rev() {
        let answered = guess().await;
        assert_eq!(answered.status, 401);
        assert_eq!(rate(&answered), [60, left, minute_ends, 60]);
    }
    let answered = guess().await;
    assert_eq!(
        answered.error_line(),
        "429 rate_limit_error rate_limit_exceeded -: this address has reached its limit of 60 \
         failed sign-ins a minute; retry in 60 s"
    );
    assert_eq!(answered.header("retry-after"), Some("60"));
    assert_eq!(rate(&answered), [60, 0, minute_ends, 60]);
    // A good key is never refused for what others did.
    assert_eq!(house.get("/api/v1/models").await.status, 200);
}

#[tokio::test]
async fn either_header_presents_a_key() {
    let house = House::new();
    let key = house.key("documented");
    for headers in [
        vec![("authorization", format!("Bearer {key}"))],
        vec![("authorization", format!("bearer  {key} "))],
        vec![("authorization", key.to_owned())],
        vec![("svc-api-key", key.to_owned())],
        vec![("svc-api-key", key.to_owned()), ("authorization", "Bearer sk-1".to_owned())],
        vec![("svc-api-key", key.to_owned()), ("authorization", format!("Bearer {key}"))],
        vec![("svc-api-key", " ".to_owned()), ("authorization", format!("Bearer {key}"))],
    ] {
        let mut request = Request::get("/api/v1/auth/token");
        for (name, value) in &headers {
            request = request.header(*name, value);
        }
        let answered = house.send(request.body("").unwrap()).await;
        assert_eq!(answered.status, 200, "{}", answered.body);
        assert!(!answered.body.contains(key), "the key itself is never told");
    }
}

#[tokio::test]
async fn models_token_and_health_have_their_documented_form() {
    let house = House::new();
    insta::assert_snapshot!("models", house.get("/api/v1/models").await.body);
    insta::assert_json_snapshot!("token", house.get("/api/v1/auth/token").await.json());
    insta::assert_snapshot!("health", house.get("/api/v1/health").await.body);
    let model = house.get("/api/v1/models/svc%2Fsecure").await.json();
    assert_eq!(model["id"], "svc/secure");
    let unknown = house.get("/api/v1/models/nobody").await.error_line();
    assert!(unknown.starts_with("404 invalid_request_error model_not_found model: "), "{unknown}");
}

/// Only what the key may use is listed.
#[tokio::test]
async fn models_are_those_of_the_key() {
    let house = House::new();
    for (key, expected) in [
        ("two models", vec!["mock", "mock-free"]),
        ("small account", vec!["mock", "mock-free", "mock-plain", "svc/secure"]),
    ] {
        let request = Request::get("/api/v1/models")
            .header(AUTHORIZATION, format!("Bearer {}", house.key(key)));
        let models = house.send(request.body("").unwrap()).await.json();
        let ids: Vec<&str> =
            models["data"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap()).collect();
        assert_eq!(ids, expected);
    }
}

#[tokio::test]
async fn health_tells_a_provider_that_fails() {
    let house = House::new();
    for _ in 0..3 {
        assert_eq!(house.chat(GOOD).await.status, 502);
    }
    let health = house.get("/api/v1/health").await.json();
    assert_eq!(health["status"], "degraded");
    assert_eq!(health["providers"]["lab"]["status"], "failing");
}

#[tokio::test]
async fn probes_need_no_key_and_tell_when_to_stop() {
    let house = House::new();
    let probe = async |path: &str| {
        let answered = house.send(Request::get(path).body("").unwrap()).await;
        (answered.status, answered.body)
    };
    assert_eq!(probe("/livez").await, (200, "ok\n".to_owned()));
    assert_eq!(probe("/readyz").await, (200, "ok\n".to_owned()));
    house.gateway.drain();
    assert_eq!(probe("/livez").await.0, 200);
    assert_eq!(probe("/readyz").await, (503, "not ready\n".to_owned()));
    let refused = house.chat(GOOD).await;
    assert_eq!(
        refused.error_line(),
        "503 api_error no_model_available -: this server is shutting down; retry in 1 s"
    );
    assert_eq!(refused.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn browsers_of_other_origins_are_let_in_only_where_configured() {
    let ask = async |house: &House, method: &str, origin: &str| {
        let mut request = Request::builder()
            .method(method)
            .uri("/api/v1/models")
            .header(ORIGIN, origin)
            .header(AUTHORIZATION, format!("Bearer {}", house.key("documented")));
        if method == "OPTIONS" {
            request = request.header("access-control-request-method", "GET");
        }
        house.send(request.body("").unwrap()).await
    };
    let allowed =
        |answered: &Answered| answered.header("access-control-allow-origin").map(str::to_owned);
    let off = House::new();
    assert_eq!(allowed(&ask(&off, "GET", "https://a.example").await), None);
    assert_eq!(ask(&off, "OPTIONS", "https://a.example").await.status, 405);

    let on = House::with_cors(&["https://a.example"]);
    let answered = ask(&on, "GET", "https://a.example").await;
    assert_eq!(allowed(&answered).as_deref(), Some("https://a.example"));
    assert_eq!(answered.header("vary"), Some("origin"));
    assert_eq!(allowed(&ask(&on, "GET", "https://b.example").await), None);
    assert_eq!(allowed(&ask(&on, "GET", "https://a.example.evil").await), None);
    // A browser's question beforehand carries no key.
    let question = Request::builder()
        .method("OPTIONS")
        .uri("/api/v1/chat/completions")
        .header(ORIGIN, "https://a.example")
        .header("access-control-request-method", "POST");
    let answered = on.send(question.body("").unwrap()).await;
    assert_eq!(answered.status, 204);
    assert_eq!(answered.header("access-control-allow-methods"), Some("GET, POST"));
    assert!(answered.header("access-control-allow-headers").unwrap().contains("authorization"));
    // Errors too, or a browser could not read them.
    let refused = Request::get("/api/v1/models").header(ORIGIN, "https://a.example");
    let answered = on.send(refused.body("").unwrap()).await;
    assert_eq!(answered.status, 401);
    assert!(allowed(&answered).is_some());

    let any = House::with_cors(&["*"]);
    let answered = ask(&any, "GET", "https://b.example").await;
    assert_eq!(allowed(&answered).as_deref(), Some("https://b.example"));
}

#[tokio::test]
async fn each_request_has_a_name_of_its_own() {
    let house = House::new();
    let mut names = std::collections::HashSet::new();
    for _ in 0..20 {
        let answered = house.get("/api/v1/models").await;
        assert!(names.insert(answered.header("x-request-id").unwrap().to_owned()));
    }
}
