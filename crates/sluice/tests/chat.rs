//! Answers as callers get them: what they cost, where they were made, how they are kept open and
//! what happens when the caller hangs up.

use serde_json::{Value, json};
use sluice_testkit::{
    Ask, Config, Event, FakeUpstream, Gate, Script, Sluice, Step, answers, until,
};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

/// 19 tokens of prompt at 1 dollar a million, 10 of answer at 4.
const COST: f64 = 0.000_059;

async fn sluice(upstream: &FakeUpstream) -> Sluice {
    let base_url = upstream.base_url();
    let config = Config::default()
        .server("keep_alive_seconds = 1")
        .provider_in("east", &base_url, "us-east")
        .provider_in("europe", &base_url, "eu-west")
        .model("mock", r#"["east", "europe"]"#)
        .with("[[models]]\nid = \"unpriced\"\nprovider = \"east\"")
        .with("[[models]]\nid = \"renamed\"\nprovider = \"east\"\nupstream_model = \"theirs\"");
    Sluice::start(BINARY, &config).await
}

fn request(model: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": "Hello!" }] })
}

fn streaming(model: &str) -> Value {
    let mut request = request(model);
    request["stream"] = true.into();
    request["stream_options"] = json!({ "include_usage": true });
    request
}

fn hello() -> Script {
    Script::events(&(answers::opening(&["Hello", " there"]) + &answers::ending()))
}

/// Waits until there is a record that `is_it`.
async fn record(sluice: &Sluice, is_it: impl Fn(&Value) -> bool) -> Value {
    until("the usage record", async || sluice.usage().await.into_iter().find(|r| is_it(r))).await
}

#[tokio::test]
async fn a_whole_answer_tells_its_cost_and_is_recorded_with_it() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello there"))).await;
    let sluice = sluice(&upstream).await;
    let ask = Ask::chat(&request("mock"))
        .key(sluice.key())
        .header("x-title", "A test")
        .header("http-referer", "https://app.example.org");
    let reply = sluice.client().reply(ask).await;
    let answer = reply.json();
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["model"], "mock");
    assert_eq!(answer["choices"][0]["message"]["content"], "Hello there");
    assert_eq!(answer["usage"]["total_tokens"], 29);
    assert_eq!(answer["usage"]["cost_usd"].as_f64(), Some(COST));
    assert_eq!(answer["usage"]["cost"].as_f64(), Some(COST));
    let security = json!({
        "level": "standard",
        "data_residency": "us-east",
        "audit_id": answer["security"]["audit_id"],
        "zero_retention": false,
    });
    assert_eq!(answer["security"], security);
    assert!(answer["security"]["audit_id"].as_str().unwrap().starts_with("aud_"));
    for header in ["limit", "remaining", "reset", "window"] {
        assert!(reply.header(&format!("x-ratelimit-{header}")).parse::<u64>().is_ok(), "{header}");
    }

    let records = sluice.usage().await;
    assert_eq!(records.len(), 1);
    for (field, expected) in [
        ("request_id", json!(reply.request_id())),
        ("model", json!("mock")),
        ("provider", json!("east")),
        ("region", json!("us-east")),
        ("prompt_tokens", json!(19)),
        ("completion_tokens", json!(10)),
        ("cost_usd", json!(COST)),
        ("usage_source", json!("measured")),
        ("outcome", json!("completed")),
        ("app_title", json!("A test")),
        ("app_url", json!("https://app.example.org")),
        ("stream", json!(false)),
        ("attempts", json!(1)),
    ] {
        assert_eq!(records[0][field], expected, "{field}");
    }
    let seen = upstream.last();
    assert_eq!(seen.path, "/v1/chat/completions");
    assert_eq!(seen.header("authorization"), "Bearer sk-east");
    assert!(!seen.headers.iter().any(|(_, value)| value.contains("svc_ent_")), "{seen:?}");
}

#[tokio::test]
async fn a_streamed_answer_tells_the_same_in_its_last_chunk() {
    let upstream = FakeUpstream::start(hello()).await;
    let sluice = sluice(&upstream).await;
    let events = sluice.stream(sluice.key(), &streaming("mock")).await;
    let request_id = events.request_id();
    let said = events.rest().await;
    assert_eq!((said.text.as_str(), said.done), ("Hello there", true));
    let last = said.usage_chunk();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"]["cost_usd"].as_f64(), Some(COST));
    assert_eq!(last["security"]["data_residency"], "us-east");
    for chunk in &said.chunks {
        assert_eq!((&chunk["id"], &chunk["model"]), (&last["id"], &json!("mock")));
    }
    let record = &sluice.usage_of(&request_id).await[0];
    assert_eq!(record["cost_usd"].as_f64(), Some(COST));
    assert!(record["time_to_first_token_ms"].is_u64(), "{record}");
}

#[tokio::test]
async fn an_unknown_price_is_never_told_as_zero() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let sluice = sluice(&upstream).await;
    let reply = sluice.chat(sluice.key(), &request("unpriced")).await;
    assert_eq!(reply.json()["usage"]["cost_usd"], Value::Null);
    assert_eq!(sluice.usage_of(&reply.request_id()).await[0]["cost_usd"], Value::Null);
    upstream.follow(hello());
    let said = sluice.stream(sluice.key(), &streaming("unpriced")).await.rest().await;
    assert_eq!(said.usage_chunk()["usage"]["cost_usd"], Value::Null);
}

#[tokio::test]
async fn the_region_and_the_level_that_held_are_told() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let sluice = sluice(&upstream).await;
    let security = async |key: &str, model: &str, more: Value| {
        let mut request = request(model);
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let reply = sluice.chat(key, &request).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    };
    let answer = security(sluice.key(), "mock", json!({ "region": "eu-west" })).await;
    assert_eq!(answer["security"]["data_residency"], "eu-west");
    let seen = upstream.last();
    assert_eq!(seen.header("authorization"), "Bearer sk-europe");
    assert_eq!(seen.body["region"], Value::Null, "what is Sluice's is not passed on");
    let answer = security(sluice.key(), "mock", json!({ "security_level": "high" })).await;
    assert_eq!(answer["security"]["level"], "high");
    assert_eq!(upstream.last().body["security_level"], Value::Null);

    // The documented identifiers stand for a configured model; two of them are strict.
    for (id, level) in [
        ("svc/enterprise-coder-v1", "standard"),
        ("svc/secure-x-3-5-sonnet", "maximum"),
        ("svc/enterprise-x-4-turbo", "standard"),
        ("svc/compliance-assistant", "maximum"),
    ] {
        let answer = security(sluice.key(), id, json!({ "security_level": "standard" })).await;
        assert_eq!(answer["security"]["level"], level, "{id}");
        assert_eq!(answer["model"], "mock", "{id}");
        assert_eq!(upstream.last().body["model"], "mock", "{id}");
    }
    let strict = sluice.create_key(&["--security-level", "high"]).await;
    let answer = security(&strict, "mock", json!({ "security_level": "standard" })).await;
    assert_eq!(answer["security"]["level"], "high");
    let answer = security(sluice.key(), "renamed", json!({})).await;
    assert_eq!(
        (&answer["model"], &upstream.last().body["model"]),
        (&json!("renamed"), &json!("theirs"))
    );
    let usage = sluice.usage().await;
    let asked = |name: &str| usage.iter().any(|record| record["model_asked"] == name);
    assert!(asked("svc/secure-x-3-5-sonnet") && asked("renamed"));
}

#[tokio::test]
async fn a_caller_that_hangs_up_stops_the_provider_and_pays_for_what_was_generated() {
    let gate = Gate::default();
    let begun = Script::stream().send(answers::opening(&["Once upon", " a time"]));
    let upstream = FakeUpstream::start(begun.then(Step::Wait(gate))).await;
    let sluice = sluice(&upstream).await;
    let mut events = sluice.stream(sluice.key(), &streaming("mock")).await;
    let request_id = events.request_id();
    assert_eq!(events.next_text().await, "Once upon");
    drop(events);
    until("the provider's connection to be closed", async || upstream.last().hung_up.then_some(()))
        .await;
    let record = record(&sluice, |record| record["request_id"] == request_id.as_str()).await;
    assert_eq!(record["outcome"], "cancelled");
    assert_eq!(record["usage_source"], "estimated");
    assert!(record["prompt_tokens"].as_u64().unwrap() > 0, "{record}");
    assert!(record["completion_tokens"].as_u64().unwrap() > 0, "{record}");
    assert!(record["cost_usd"].as_f64().unwrap() > 0.0, "{record}");
    until("what it had reserved to be settled", async || {
        let token = sluice.get("/api/v1/auth/token", sluice.key()).await.json();
        let limits = &token["limits"]["key"];
        let settled = limits["requests_in_flight"] == 0;
        (settled && limits["tokens_used_today"] == record["total_tokens"]).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_before_a_whole_answer_does_so_too() {
    let upstream = FakeUpstream::start(Script::default().then(Step::Hang)).await;
    let sluice = sluice(&upstream).await;
    let (client, key) = (sluice.client(), sluice.key().to_owned());
    let ask = Ask::chat(&request("mock")).key(&key).header("x-title", "impatient");
    let asking = tokio::spawn(async move { client.attempt(ask).await.is_ok() });
    until("the provider to be asked", async || (!upstream.seen().is_empty()).then_some(())).await;
    asking.abort();
    until("the provider's connection to be closed", async || upstream.last().hung_up.then_some(()))
        .await;
    let record = record(&sluice, |record| record["app_title"] == "impatient").await;
    assert_eq!(record["outcome"], "cancelled");
    assert!(record["prompt_tokens"].as_u64().unwrap() > 0, "{record}");
}

#[tokio::test]
async fn comments_keep_a_stream_open_while_the_model_is_silent() {
    let (first, second) = (Gate::default(), Gate::default());
    let script = Script::default()
        .then(Step::Wait(first.clone()))
        .and(Script::stream())
        .send(answers::opening(&["Hel"]))
        .then(Step::Wait(second.clone()))
        .send(answers::event(&answers::text_chunk("lo")) + &answers::ending())
        .then(Step::Close);
    let upstream = FakeUpstream::start(script).await;
    let sluice = sluice(&upstream).await;
    let mut events = sluice.stream(sluice.key(), &streaming("mock")).await;
    // Before the provider has said anything, and between two pieces.
    for (gate, text) in [(first, "Hel"), (second, "lo")] {
        assert_eq!(events.next().await, Some(Event::Comment("keep-alive".into())));
        assert_eq!(events.next().await, Some(Event::Comment("keep-alive".into())));
        gate.open();
        assert_eq!(events.next_text().await, text);
    }
    let said = events.rest().await;
    assert!(said.done && said.error.is_none());
}

#[tokio::test]
async fn a_turn_with_a_tool_goes_there_and_back() {
    let call = answers::tool_call("get_weather", "{\"city\": \"Oslo\",\n \"unit\": \"°C\"}");
    let upstream = FakeUpstream::start(Script::json(&call)).await;
    let sluice = sluice(&upstream).await;
    let tool = json!({ "type": "function", "function": {
        "name": "get_weather",
        "parameters": { "type": "object", "properties": { "city": { "type": "string" } } },
    }});
    let mut body = request("mock");
    body["tools"] = json!([tool]);
    let answer = sluice.chat(sluice.key(), &body).await.json();
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
    let message = &answer["choices"][0]["message"];
    assert_eq!(message["tool_calls"], call["choices"][0]["message"]["tool_calls"]);
    assert_eq!(message["content"], Value::Null);

    upstream.follow(Script::json(&answers::completion("Cold.")));
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(message.clone());
    messages.push(json!({ "role": "tool", "tool_call_id": "call_abc123", "content": "-7" }));
    let answer = sluice.chat(sluice.key(), &body).await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], "Cold.");
    let sent = upstream.last().body;
    assert_eq!(sent["tools"], body["tools"]);
    assert_eq!(sent["messages"][1]["tool_calls"], message["tool_calls"]);
    assert_eq!(sent["messages"][2], body["messages"][2]);
}
