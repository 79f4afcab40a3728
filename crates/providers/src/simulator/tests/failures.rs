//! What the simulator refuses, and failures to order.

use serde_json::{Value, json};

use super::{ask, post, prompt, read, simulator, with};
use crate::simulator::Pace;
use crate::upstream::{TransportError, Upstream};

#[test]
fn what_is_not_its_own_is_refused_in_openais_shape() {
    let check = |body: &str, status: u16, code: Value| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let read = runtime.block_on(read(Pace::Instant, post(body)));
        let error = &read.json()["error"];
        assert_eq!((read.status.as_u16(), &error["code"]), (status, &code), "{body}");
        assert_eq!(error["type"], "invalid_request_error");
        assert!(error["message"].is_string() && error.get("param").is_some());
    };
    check(&prompt("gpt-5", "Hi").to_string(), 404, json!("model_not_found"));
    check(&prompt("demo/other", "Hi").to_string(), 404, json!("model_not_found"));
    check("{", 400, Value::Null);
    check(r#"{"model":"demo/chat"}"#, 400, Value::Null);
    check(r#"{"model":"demo/chat","messages":[]}"#, 400, Value::Null);
    check(&with(prompt("demo/chat", "Hi"), json!({"n": 0})).to_string(), 400, Value::Null);
    let long = "日".repeat(1_000_001);
    check(&prompt("demo/echo", &long).to_string(), 400, json!("context_length_exceeded"));
}

#[test]
fn errors_are_answered_when_asked_for() {
    for (text, status, retry_after) in [
        ("simulate: error 503", 503, None),
        ("simulate: 429 7", 429, Some("7")),
        ("simulate: 429", 429, Some("2")),
    ] {
        let read = ask(&prompt("demo/chat", text));
        assert_eq!(
            (read.status.as_u16(), read.retry_after.as_deref()),
            (status, retry_after),
            "{text}"
        );
        assert!(read.json()["error"]["message"].is_string());
    }
}

#[test]
fn faults_strike_halfway() {
    let streamed = |text: &str| ask(&with(prompt("demo/chat", text), json!({"stream": true})));
    for (text, lost) in
        [("simulate: cut", true), ("simulate: short", false), ("simulate: stream error", false)]
    {
        let read = streamed(text);
        let body = String::from_utf8(read.body).unwrap();
        assert!(body.contains("simulated") || body.contains("Simulated"), "{text}");
        assert!(!body.contains("[DONE]"), "{text}");
        assert_eq!(read.lost, lost, "{text}");
        assert_eq!(body.contains(r#"data: {"error":"#), text == "simulate: stream error", "{text}");
    }
    let whole = ask(&prompt("demo/chat", "simulate: cut"));
    assert!(whole.lost && serde_json::from_slice::<Value>(&whole.body).is_err());
    assert_eq!(ask(&prompt("demo/chat", "simulate: stream error")).status, 500);
}

#[tokio::test]
async fn a_refused_connection_is_a_transport_error() {
    let sent = simulator(Pace::Instant).send(post(prompt("demo/chat", "simulate: refuse"))).await;
    assert!(matches!(sent, Err(TransportError::Connect(_))));
}
