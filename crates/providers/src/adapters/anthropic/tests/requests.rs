//! Requests.

use serde_json::{Value, json};

use super::{AnthropicMessages, target};
use crate::adapter::Adapter;
use crate::endpoint::Target;
use crate::error::Unsupported;
use crate::testing;

/// What is sent for an OpenAI body whose `model` is the upstream model.
fn encode(body: Value) -> Result<Value, Unsupported> {
    let chat = testing::chat(body);
    let mut target = target(&chat.model);
    target.max_tokens = chat.max_tokens;
    let request = AnthropicMessages.encode(&chat, &target)?;
    Ok(serde_json::from_slice(request.body()).expect("a JSON body"))
}

#[test]
fn requests_are_translated() {
    for (name, example) in [
        ("request_tools", include_str!("../examples/request-tools.json")),
        ("request_schema", include_str!("../examples/request-schema.json")),
        ("request_plain", include_str!("../examples/request-plain.json")),
    ] {
        let body = encode(serde_json::from_str(example).expect("JSON")).expect("a request");
        insta::assert_json_snapshot!(name, body);
    }
}

#[test]
fn a_request_is_addressed_and_signed() {
    let chat = testing::chat(json!({
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": true,
    }));
    let request = AnthropicMessages.encode(&chat, &target("claude-opus-5")).expect("a request");
    assert_eq!(request.method(), "POST");
    assert_eq!(request.uri(), "https://api.anthropic.com/v1/messages");
    for (name, value) in [
        ("x-api-key", "test-key"),
        ("anthropic-version", "2023-06-01"),
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
        ("x-extra", "from the configuration"),
    ] {
        assert_eq!(request.headers()[name], value, "{name}");
    }
    assert!(request.headers()["x-api-key"].is_sensitive());
}

#[test]
fn untouched_text_keeps_its_bytes() {
    let mut chat = testing::chat(json!({"messages": [{"role": "user", "content": "?"}]}));
    let literal = r#""caf\u00e9 \/ \t""#;
    chat.messages[0].content = sluice_core::chat::Content::Text(
        sluice_core::json::JsonText::trusted_literal(literal.into()),
    );
    let request = AnthropicMessages.encode(&chat, &target("claude-opus-5")).expect("a request");
    let body = std::str::from_utf8(request.body()).expect("UTF-8");
    assert!(body.contains(literal), "{body}");
}

#[test]
fn a_bound_on_tokens_is_always_sent() {
    let chat = testing::chat(json!({"messages": [{"role": "user", "content": "Hi"}]}));
    let sent = |max_tokens, output_limit, model| {
        let target = Target { max_tokens, output_limit, ..target(model) };
        let request = AnthropicMessages.encode(&chat, &target).expect("a request");
        serde_json::from_slice::<Value>(request.body()).expect("JSON")["max_tokens"].clone()
    };
    assert_eq!(sent(Some(100), Some(64_000), "claude-opus-5"), 100);
    assert_eq!(sent(None, Some(64_000), "claude-opus-5"), 64_000);
    assert_eq!(sent(None, None, "claude-opus-5"), 32_000);
    assert_eq!(sent(None, None, "claude-3-haiku-20240307"), 4_096);
    assert_eq!(sent(None, None, "mock-fast"), 4_096);
}

#[test]
fn what_anthropic_cannot_express_is_refused_by_name() {
    let user = json!({"role": "user", "content": "Hi"});
    let with = |model: &str, member: Value| {
        let mut body = json!({"model": model, "messages": [user]});
        body.as_object_mut().unwrap().extend(member.as_object().unwrap().clone());
        encode(body)
    };
    let old = "claude-3-5-sonnet-latest";
    let mid = "claude-sonnet-4-5";
    let new = "claude-opus-5";
    let part = |part: Value| json!({"messages": [{"role": "user", "content": [part]}]});
    let image = |url: &str| part(json!({"type": "image_url", "image_url": {"url": url}}));
    let call = |arguments: &str| json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}});
    let function = |function: Value| json!({"tools": [{"type": "function", "function": function}]});
    let cases = [
        (mid, json!({"n": 2}), "n"),
        (mid, json!({"logprobs": true}), "logprobs"),
        (mid, json!({"top_logprobs": 3}), "top_logprobs"),
        (mid, json!({"frequency_penalty": 0.5}), "frequency_penalty"),
        (mid, json!({"presence_penalty": -0.5}), "presence_penalty"),
        (mid, json!({"logit_bias": {"50256": -100}}), "logit_bias"),
        (mid, json!({"modalities": ["text", "audio"]}), "modalities"),
        (mid, json!({"audio": {"voice": "alloy", "format": "wav"}}), "audio"),
        (mid, json!({"functions": [{"name": "f"}]}), "functions"),
        (mid, json!({"web_search_options": {}}), "web_search_options"),
        (mid, json!({"temperature": 1.5}), "temperature"),
        (new, json!({"temperature": 0.5}), "temperature"),
        (mid, json!({"temperature": 0.5, "reasoning_effort": "low"}), "temperature"),
        (mid, json!({"temperature": 0.5, "top_p": 0.5}), "top_p"),
        (mid, json!({"top_p": 0.5, "reasoning_effort": "low"}), "top_p"),
        (new, json!({"top_p": 0.5}), "top_p"),
        (old, json!({"reasoning_effort": "low"}), "reasoning_effort"),
        ("claude-fable-5", json!({"reasoning_effort": "none"}), "reasoning_effort"),
        (mid, json!({"stop": ["END", " \n"]}), "stop[1]"),
        (mid, json!({"response_format": {"type": "json_object"}}), "response_format"),
        (mid, json!({"response_format": {"type": "grammar"}}), "response_format"),
        (
            mid,
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}),
            "response_format.json_schema.schema",
        ),
        (
            old,
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}),
            "response_format",
        ),
        (mid, json!({"tool_choice": {"type": "allowed_tools"}}), "tool_choice"),
        (mid, json!({"tools": [{"type": "custom", "custom": {"name": "x"}}]}), "tools[0]"),
        (old, function(json!({"name": "f", "strict": true})), "tools[0].function.strict"),
        (mid, function(json!({"name": "f", "parameters": 5})), "tools[0].function.parameters"),
        (
            mid,
            part(json!({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}})),
            "messages[0].content[0]",
        ),
        (
            mid,
            part(json!({"type": "file", "file": {"file_id": "file-1"}})),
            "messages[0].content[0].file",
        ),
        (
            mid,
            part(json!({"type": "file", "file": {"file_data": "data:text/csv;base64,YQ=="}})),
            "messages[0].content[0].file",
        ),
        (mid, image("http://example.com/a.png"), "messages[0].content[0].image_url.url"),
        (mid, image("data:image/svg+xml;base64,PHN2Zz4="), "messages[0].content[0].image_url.url"),
        (mid, image("data:image/png,raw"), "messages[0].content[0].image_url.url"),
        (
            mid,
            json!({"messages": [user, {"role": "assistant", "content": [
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
            ]}]}),
            "messages[1].content[0]",
        ),
        (
            mid,
            json!({"messages": [user, {"role": "assistant", "tool_calls": [call("{}"), call("{\"a\":")]}]}),
            "messages[1].tool_calls[1].function.arguments",
        ),
        (
            mid,
            json!({"messages": [user, {"role": "assistant", "tool_calls": [call("[1]")]}]}),
            "messages[1].tool_calls[0].function.arguments",
        ),
        (
            mid,
            json!({"messages": [user, {"role": "tool", "content": "x"}]}),
            "messages[1].tool_call_id",
        ),
        (mid, json!({"messages": [{"role": "system", "content": "x"}]}), "messages"),
        (mid, json!({"messages": [{"role": "user", "content": " \n"}]}), "messages"),
        (mid, json!({"messages": [{"role": "assistant", "content": "x"}, user]}), "messages[0]"),
        (new, json!({"messages": [user, {"role": "assistant", "content": "x"}]}), "messages[1]"),
    ];
    for (model, member, field) in cases {
        match with(model, member.clone()) {
            Err(refusal) => assert_eq!(refusal.field, field, "{member}: {refusal}"),
            Ok(body) => panic!("{member} was sent to {model}: {body}"),
        }
    }
}

#[test]
fn hints_are_left_out() {
    let body = encode(json!({
        "model": "claude-opus-5",
        "messages": [{"role": "user", "content": "Hi"}],
        "seed": 1, "store": true, "service_tier": "flex", "prompt_cache_key": "k",
        "temperature": 1.0, "top_p": 1.0, "logit_bias": {}, "modalities": ["text"],
        "metadata": {"team": "blue"}, "response_format": {"type": "text"},
    }))
    .expect("a request");
    let names: Vec<_> = body.as_object().unwrap().keys().collect();
    assert_eq!(names, ["model", "max_tokens", "messages"]);
}

#[test]
fn an_effort_becomes_what_the_model_understands() {
    let think = |model: &str, effort: &str, more: Value| {
        let mut body = json!({
            "model": model, "reasoning_effort": effort, "max_tokens": 10_000,
            "messages": [{"role": "user", "content": "Hi"}],
        });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let sent = encode(body).expect("a request");
        (sent["thinking"].clone(), sent["output_config"]["effort"].clone())
    };
    let none = Value::Null;
    let nothing = json!({});
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    let summarized = json!({"type": "adaptive", "display": "summarized"});
    let forced = json!({
        "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required",
    });
    let loop_without_thoughts = json!({"messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ]});
    let cases = [
        ("claude-3-5-haiku-latest", "none", &nothing, none.clone(), none.clone()),
        ("claude-sonnet-4-5", "minimal", &nothing, budget(1024), none.clone()),
        ("claude-sonnet-4-5", "high", &nothing, budget(8000), none.clone()),
        ("claude-sonnet-4-5", "none", &nothing, none.clone(), none.clone()),
        ("claude-sonnet-4-5", "high", &json!({"max_tokens": 1024}), none.clone(), none.clone()),
        ("claude-sonnet-4-5", "high", &json!({"max_tokens": 1025}), budget(1024), none.clone()),
        ("claude-sonnet-4-5", "high", &forced, none.clone(), none.clone()),
        ("claude-sonnet-4-5", "high", &loop_without_thoughts, none.clone(), none.clone()),
        ("claude-opus-4-6", "xhigh", &nothing, json!({"type": "adaptive"}), json!("max")),
        ("claude-opus-4-8", "minimal", &nothing, summarized.clone(), json!("low")),
        ("claude-opus-4-8", "none", &nothing, none.clone(), none.clone()),
        ("claude-opus-5", "none", &nothing, json!({"type": "disabled"}), none.clone()),
        ("claude-opus-5", "xhigh", &loop_without_thoughts, summarized, json!("xhigh")),
        ("claude-opus-5", "medium", &forced, none, json!("medium")),
    ];
    for (model, effort, more, thinking, word) in cases {
        assert_eq!(think(model, effort, more.clone()), (thinking, word), "{model} {effort} {more}");
    }
}

#[test]
fn tool_choices_are_translated() {
    let choose = |choice: Value, parallel: Value| {
        let sent = encode(json!({
            "model": "claude-sonnet-4-5",
            "messages": [{"role": "user", "content": "Hi"}],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {"properties": {}}}}],
            "tool_choice": choice, "parallel_tool_calls": parallel,
        }))
        .expect("a request");
        assert_eq!(sent["tools"][0]["input_schema"], json!({"type": "object", "properties": {}}));
        sent["tool_choice"].clone()
    };
    let named = json!({"type": "function", "function": {"name": "f"}});
    let one = json!(false);
    assert_eq!(choose(Value::Null, Value::Null), Value::Null);
    assert_eq!(choose(json!("auto"), json!(true)), json!({"type": "auto"}));
    assert_eq!(choose(json!("none"), one.clone()), json!({"type": "none"}));
    assert_eq!(choose(json!("required"), Value::Null), json!({"type": "any"}));
    let (auto, any, tool) = (
        choose(Value::Null, one.clone()),
        choose(json!("required"), one.clone()),
        choose(named, one),
    );
    assert_eq!(auto, json!({"type": "auto", "disable_parallel_tool_use": true}));
    assert_eq!(any, json!({"type": "any", "disable_parallel_tool_use": true}));
    assert_eq!(tool, json!({"type": "tool", "name": "f", "disable_parallel_tool_use": true}));
}

#[test]
fn at_most_four_breakpoints_are_sent() {
    let mark = json!({"type": "ephemeral"});
    let marked =
        |role: &str, text: &str| json!({"role": role, "content": text, "cache_control": mark});
    let body = |shared: bool, automatic: bool| {
        let mut messages = vec![];
        if shared {
            messages.extend([marked("system", "s1"), marked("system", "s2")]);
        }
        messages.extend(
            (0..5).map(|i| marked(if i % 2 == 0 { "user" } else { "assistant" }, &format!("t{i}"))),
        );
        let automatic = automatic.then_some(&mark);
        let sent = encode(
            json!({"model": "claude-opus-5", "messages": messages, "cache_control": automatic}),
        )
        .expect("a request");
        let blocks = sent["system"].as_array().into_iter().flatten().chain(
            sent["messages"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|m| m["content"].as_array().unwrap()),
        );
        blocks
            .filter(|block| block.get("cache_control").is_some())
            .map(|block| block["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(body(true, false), ["s2", "t2", "t3", "t4"]);
    assert_eq!(body(true, true), ["s2", "t3", "t4"]);
    assert_eq!(body(false, false), ["t1", "t2", "t3", "t4"]);
}
