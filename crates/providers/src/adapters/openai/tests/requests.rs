//! Requests: what leaves as it came, and what is written anew.

use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sluice_core::chat::ChatRequest;
use sluice_core::json::RawJson;
use sluice_core::sealed::SealedPlaces;
use sluice_core::wire::Str;

use super::{Members, chat, source, target};
use crate::adapter::Adapter;
use crate::adapters::openai::OpenAiChat;
use crate::endpoint::{Auth, Quirks, Target};
use crate::presets;

const EVERYTHING: &str = include_str!("../examples/request-everything.json");
const PLAIN: &str = include_str!("../examples/request-plain.json");

/// The body that is sent for a client's `body`.
fn sent(body: &str, target: &Target) -> String {
    let request = OpenAiChat.encode(&chat(body), target).expect("a request");
    String::from_utf8(request.into_body().to_vec()).expect("UTF-8")
}

fn bounded(quirks: Quirks, max_tokens: u32) -> Target {
    Target { max_tokens: Some(max_tokens), ..target("gpt-4.1-2025-04-14", quirks) }
}

/// The members of a JSON object, each with the text of its value.
fn members(json: &str) -> Vec<(String, String)> {
    let members: Members<'_> = serde_json::from_str(json).expect("an object");
    let member = |(name, value): &(Str<'_>, &RawValue)| (name.to_string(), value.get().to_owned());
    members.rest.iter().map(member).collect()
}

fn value_of(json: &str, name: &str) -> Option<String> {
    members(json).into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

#[test]
fn requests_keep_their_bytes_and_say_what_has_to_be_said() {
    let quirks = |kind| presets::find(kind).expect("a preset").quirks;
    for (name, body, target) in [
        ("request_plain", PLAIN, target("gpt-4.1-2025-04-14", Quirks::default())),
        ("request_everything", EVERYTHING, bounded(Quirks::default(), 32_768)),
        ("request_openai", EVERYTHING, bounded(quirks("openai"), 32_768)),
        ("request_mistral", EVERYTHING, bounded(quirks("mistral"), 32_768)),
        ("request_groq", EVERYTHING, bounded(quirks("groq"), 32_768)),
        ("request_vllm", EVERYTHING, bounded(quirks("vllm"), 32_768)),
    ] {
        insta::assert_snapshot!(name, sent(body, &target));
    }
}

#[test]
fn a_request_has_an_address_and_headers() {
    let request =
        OpenAiChat.encode(&chat(PLAIN), &target("m", Quirks::default())).expect("a request");
    assert_eq!(request.method(), "POST");
    assert_eq!(request.uri(), "https://api.openai.com/v1/chat/completions");
    assert_eq!(request.headers()["content-type"], "application/json");
    assert_eq!(request.headers()["authorization"], "test-key");
    assert!(request.headers()["authorization"].is_sensitive());
    assert_eq!(request.headers()["x-extra"], "from the configuration");

    let mut azure = target("my deployment", Quirks { model_in_path: true, ..Quirks::default() });
    let endpoint = std::sync::Arc::get_mut(&mut azure.endpoint).expect("the only one");
    endpoint.base_url = "https://res.openai.azure.com/openai".to_owned();
    endpoint.query = "api-version=2024-10-21".to_owned();
    endpoint.auth = Auth::Bearer;
    azure.upstream_model = "my-deployment".to_owned();
    let request = OpenAiChat.encode(&chat(PLAIN), &azure).expect("a request");
    assert_eq!(
        request.uri(),
        "https://res.openai.azure.com/openai/deployments/my-deployment/chat/completions\
         ?api-version=2024-10-21"
    );
    assert_eq!(request.headers()["authorization"], "Bearer test-key");
}

#[test]
fn the_bound_on_tokens_has_the_name_that_the_service_knows() {
    let older = r#"{"model":"m","messages":[],"max_tokens":9}"#;
    let newer = r#"{"model":"m","messages":[],"max_completion_tokens":9}"#;
    let both = r#"{"model":"m","messages":[],"max_completion_tokens":9,"max_tokens":7}"#;
    let new_quirk = Quirks { max_completion_tokens: true, ..Quirks::default() };
    let old_quirk = Quirks { max_tokens: true, ..Quirks::default() };
    for (body, quirks, name) in [
        (older, Quirks::default(), "max_tokens"),
        (newer, Quirks::default(), "max_completion_tokens"),
        (both, Quirks::default(), "max_completion_tokens"),
        (older, new_quirk, "max_completion_tokens"),
        (newer, old_quirk, "max_tokens"),
        (both, old_quirk, "max_tokens"),
    ] {
        let json: Value = serde_json::from_str(&sent(body, &bounded(quirks, 5))).unwrap();
        let expected = json!({"model": "gpt-4.1-2025-04-14", "messages": [], name: 5});
        assert_eq!(json, expected, "{body}");
    }
}

#[test]
fn the_usage_of_a_stream_is_asked_for_where_the_service_can_be_asked() {
    let quiet = Quirks { no_stream_options: true, ..Quirks::default() };
    for (options, quirks, expected) in [
        ("", Quirks::default(), Some(r#"{"include_usage":true}"#)),
        (r#","stream_options":null"#, Quirks::default(), Some(r#"{"include_usage":true}"#)),
        (
            r#","stream_options":{"include_usage":false,"x":1}"#,
            Quirks::default(),
            Some(r#"{"include_usage":true,"x":1}"#),
        ),
        (r#","stream_options":{"include_usage":true}"#, quiet, None),
    ] {
        let body = format!(r#"{{"model":"m","messages":[],"stream":true{options}}}"#);
        let sent = sent(&body, &target("m", quirks));
        assert_eq!(value_of(&sent, "stream_options").as_deref(), expected, "{sent}");
    }
    let sent =
        sent(r#"{"model":"m","messages":[],"stream":false}"#, &target("m", Quirks::default()));
    assert_eq!(value_of(&sent, "stream_options"), None);
}

#[test]
fn messages_are_written_anew_only_where_the_service_refuses_them() {
    let untouched = r#"[ {"role":"user","content":"a\u0062"} ]"#;
    let strict = Quirks { no_developer_role: true, no_cache_control: true, ..Quirks::default() };
    let body = format!(r#"{{"model":"m","messages":{untouched}}}"#);
    assert_eq!(value_of(&sent(&body, &target("m", strict)), "messages").unwrap(), untouched);

    let touched = r#"[ {"role":"developer","content":"x"}, {"role":"user", "content":"a\u0062"} ]"#;
    let body = format!(r#"{{"model":"m","messages":{touched}}}"#);
    assert_eq!(
        value_of(&sent(&body, &target("m", strict)), "messages").unwrap(),
        r#"[{"role":"system","content":"x"},{"role":"user", "content":"a\u0062"}]"#,
    );
    assert_eq!(
        value_of(&sent(&body, &target("m", Quirks::default())), "messages").unwrap(),
        touched
    );

    for marked in [
        r#"{"role":"user","content":"x","cache_control":{"type":"ephemeral"}}"#,
        r#"{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}"#,
        r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"cache_control":{"type":"ephemeral"}}]}"#,
    ] {
        let body = format!(r#"{{"model":"m","messages":[{marked}]}}"#);
        assert!(!sent(&body, &target("m", strict)).contains("cache_control"), "{marked}");
        assert!(sent(&body, &target("m", Quirks::default())).contains(marked));
    }
    let tools =
        r#"[{"type":"function","function":{"name":"f"},"cache_control":{"type":"ephemeral"}}]"#;
    let body = format!(r#"{{"model":"m","messages":[],"tools":{tools}}}"#);
    assert_eq!(
        value_of(&sent(&body, &target("m", strict)), "tools").unwrap(),
        r#"[{"type":"function","function":{"name":"f"}}]"#
    );
    assert_eq!(value_of(&sent(&body, &target("m", Quirks::default())), "tools").unwrap(), tools);
}

/// Any JSON text, with any space in it.
fn json_text() -> impl Strategy<Value = String> {
    let space = "[ \\t\\n\\r]{0,2}";
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,2})?",
        any::<String>().prop_map(|text| Value::from(text).to_string()),
        Just(r#""\u00e9\/\ud83d\ude80\ud800""#.to_owned()),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..4), space).prop_map(|(items, space)| format!(
                "[{space}{}{space}]",
                items.join(&format!("{space},{space}"))
            )),
            (prop::collection::vec(("[a-z]{0,6}", inner), 0..4), space).prop_map(
                |(items, space)| {
                    let item = |(name, value): (String, String)| {
                        format!("\"{name}\"{space}:{space}{value}")
                    };
                    let items: Vec<String> = items.into_iter().map(item).collect();
                    format!("{{{space}{}{space}}}", items.join(&format!("{space},{space}")))
                }
            ),
        ]
    })
}

proptest! {
    #[test]
    fn every_member_that_nobody_touched_keeps_its_bytes(
        unknown in prop::collection::vec(json_text(), 0..6),
        space in "[ \\t\\n\\r]{0,2}",
        model_at in 0..6_usize,
    ) {
        let mut parts: Vec<String> = unknown
            .iter()
            .enumerate()
            .map(|(i, value)| format!("\"x_{i}\"{space}:{space}{value}"))
            .collect();
        parts.insert(model_at.min(parts.len()), "\"model\":\"a\"".to_owned());
        let body = format!("{{{}}}", parts.join(&format!("{space},{space}")));
        let mut chat = chat("{}");
        chat.source = source(&body);
        let request = OpenAiChat.encode(&chat, &target("b", Quirks::default())).unwrap();
        let sent = String::from_utf8(request.into_body().to_vec()).unwrap();
        let mut expected = members(&body);
        for (name, value) in &mut expected {
            if name == "model" {
                *value = "\"b\"".to_owned();
            }
        }
        prop_assert_eq!(members(&sent), expected);
    }
}

#[test]
fn what_another_provider_sealed_is_left_out() {
    let body = json!({"model": "m", "temperature": 0.5, "messages": [
        {"role": "user", "content": "Say \"signature\"."},
        {"role": "assistant", "content": null, "reasoning_details": [
            {"type": "reasoning.text", "text": "Hm.", "signature": "abc", "index": 0},
            {"type": "reasoning.encrypted", "data": "abc"}],
         "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "abc", "other": 1}}}]},
    ]});
    let thoughts = SealedPlaces { thoughts: true, calls: false };
    let calls = SealedPlaces { thoughts: false, calls: true };
    let quirks = |places: SealedPlaces| Quirks {
        sealed_thoughts: places.thoughts,
        sealed_calls: places.calls,
        ..Quirks::default()
    };
    for unread in [SealedPlaces::NONE, thoughts, calls, thoughts.and(calls)] {
        for own in [SealedPlaces::NONE, thoughts, calls, thoughts.and(calls)] {
            let target = target("m", quirks(own));
            let chat = ChatRequest { unread, ..chat(&body.to_string()) };
            let request = OpenAiChat.encode(&chat, &target).expect("a request");
            let sent: Value = serde_json::from_slice(request.body()).expect("JSON");
            let mut expected = body["messages"].clone();
            let foreign = unread.without(own);
            if foreign.thoughts {
                expected[1]["reasoning_details"] = json!([
                    {"type": "reasoning.text", "text": "Hm.", "index": 0},
                    {"type": "reasoning.encrypted"}]);
            }
            if foreign.calls {
                expected[1]["tool_calls"][0]["extra_content"] = json!({"google": {"other": 1}});
            }
            assert_eq!(sent["messages"], expected, "{unread:?} {own:?}");
        }
    }
}

#[test]
fn what_cannot_be_rid_of_sealed_values_is_not_sent() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let body = format!(
        r#"[{{"role":"assistant","x":{deep},"reasoning_details":[{{"signature":"abc"}}]}}]"#
    );
    let mut chat = chat(r#"{"messages": [{"role": "assistant", "content": "x"}]}"#);
    chat.source.members[0].value = RawJson::trusted(body.into());
    chat.unread = SealedPlaces { thoughts: true, calls: false };
    let refused = OpenAiChat.encode(&chat, &target("m", Quirks::default())).expect_err("too deep");
    assert_eq!(refused.field, "messages[0]");
}
