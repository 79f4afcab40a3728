//! The first minute: no configuration, no account anywhere, and everything can be tried.

use serde_json::{Value, json};
use sluice_testkit::{Config, Sluice};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

fn request(model: &str, stream: bool) -> Value {
    json!({
        "model": model,
        "messages": [{ "role": "user", "content": "Grüße, \"世界\"!" }],
        "stream": stream,
    })
}

async fn simulated() -> Sluice {
    let provider = "[[providers]]\nid = \"simulator\"\nkind = \"simulator\"";
    Sluice::start(BINARY, &Config::default().with(provider)).await
}

#[tokio::test]
async fn without_a_provider_the_simulator_answers_and_says_so() {
    let mut sluice = Sluice::start(BINARY, &Config::default()).await;
    let banner = sluice.stdout();
    let key = sluice.key().to_owned();
    assert!(key.starts_with("svc_ent_"), "{banner}");
    for part in ["Base URL", "curl http://127.0.0.1:", &key] {
        assert!(banner.contains(part), "no {part} in {banner}");
    }
    let reply = sluice.get("/api/v1/models", &key).await;
    assert_eq!(reply.status, 200);
    // A machine that runs a model server is served by that one instead.
    if banner.contains("the simulator") {
        let models = reply.json();
        let models = models["data"].as_array().unwrap();
        assert!(models.iter().all(|model| model["simulated"] == true), "{models:?}");
        // The line to try.
        let reply = sluice.chat(&key, &request("svc/enterprise-x-4-turbo", false)).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.json()["system_fingerprint"], "simulated");
        assert_eq!(sluice.usage_of(&reply.request_id()).await[0]["simulated"], true);
    }
    // The key is shown once, and works on.
    assert_eq!(sluice.stop().await.code(), Some(0));
    sluice.start_again().await;
    assert!(!sluice.stdout().contains("svc_ent_"), "{}", sluice.stdout());
    assert_eq!(sluice.get("/api/v1/auth/token", &key).await.status, 200);
}

#[cfg(unix)]
#[tokio::test]
async fn the_master_key_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let sluice = simulated().await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&sluice.data_dir()) & 0o077, 0);
    assert_eq!(mode(&sluice.data_dir().join("master.key")) & 0o077, 0);
    for entry in std::fs::read_dir(sluice.data_dir()).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("master") {
            assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
        }
    }
}

#[tokio::test]
async fn the_echo_repeats_the_prompt() {
    let sluice = simulated().await;
    let answer = sluice.chat(sluice.key(), &request("demo/echo", false)).await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], "Grüße, \"世界\"!");
    let said = sluice.stream(sluice.key(), &request("demo/echo", true)).await.rest().await;
    assert_eq!((said.text.as_str(), said.done), ("Grüße, \"世界\"!", true));
}

#[tokio::test]
async fn the_simulator_calls_a_tool_and_takes_its_result() {
    let sluice = simulated().await;
    let tool = json!({ "type": "function", "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
            "required": ["city", "days"],
        },
    }});
    let mut body = request("demo/chat", false);
    body["tools"] = json!([tool]);
    body["tool_choice"] = "required".into();
    let answer = sluice.chat(sluice.key(), &body).await.json();
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls", "{answer}");
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(call["function"]["name"], "get_weather");
    let arguments: Value =
        serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
    assert!(arguments["city"].is_string() && arguments["days"].is_i64(), "{arguments}");

    body["tool_choice"] = "auto".into();
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(choice["message"].clone());
    messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": "Rain." }));
    let answer = sluice.chat(sluice.key(), &body).await.json();
    assert_eq!(answer["choices"][0]["finish_reason"], "stop", "{answer}");
}

#[tokio::test]
async fn a_model_that_is_not_its_own_is_not_answered_for() {
    let sluice = simulated().await;
    let reply = sluice.chat(sluice.key(), &request("gpt-4.1", false)).await;
    let expected = (404, "invalid_request_error".into(), "model_not_found".into());
    assert_eq!(reply.error(), expected);
}

#[tokio::test]
async fn a_model_is_as_old_as_its_first_day_here() {
    let mut sluice = simulated().await;
    let list = async |sluice: &Sluice| sluice.get("/api/v1/models", sluice.key()).await.json();
    let before = list(&sluice).await;
    for model in before["data"].as_array().unwrap() {
        assert!(model["created"].as_u64().unwrap() > 1_700_000_000, "{model}");
        let path = format!("/api/v1/models/{}", model["id"].as_str().unwrap());
        assert_eq!(&sluice.get(&path, sluice.key()).await.json(), model);
    }
    sluice.stop().await;
    sluice.start_again().await;
    assert_eq!(list(&sluice).await, before);
}
