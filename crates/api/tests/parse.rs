//! What a request's bytes come to: the typed view agrees with what any JSON reader sees, and the
//! members keep their text.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sluice_api::wire::chat::parse;
use sluice_core::chat::{ChatRequest, Content, Part, ResponseFormat, Role, ToolChoice};

/// One value's text, with any space and any escapes that JSON allows.
fn text_of(value: &Value, space: &str, escape: bool) -> String {
    match value {
        Value::String(text) => string_of(text, escape),
        Value::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| text_of(item, space, escape)).collect();
            format!("[{space}{}{space}]", items.join(&format!("{space},{space}")))
        }
        Value::Object(members) => object_of(members.iter(), space, escape, false),
        other => other.to_string(),
    }
}

fn object_of<'a>(
    members: impl Iterator<Item = (&'a String, &'a Value)>,
    space: &str,
    escape: bool,
    escape_names: bool,
) -> String {
    let member = |(name, value): (&String, &Value)| {
        let value = text_of(value, space, escape);
        format!("{}{space}:{space}{value}", string_of(name, escape_names))
    };
    let members: Vec<String> = members.map(member).collect();
    format!("{{{space}{}{space}}}", members.join(&format!("{space},{space}")))
}

/// A string literal; with `escape`, every third character is written as `\uXXXX`.
fn string_of(text: &str, escape: bool) -> String {
    if !escape {
        return Value::from(text).to_string();
    }
    let mut literal = String::from("\"");
    for (i, c) in text.chars().enumerate() {
        if i % 3 == 0 {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                literal.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            let plain = Value::from(c.to_string()).to_string();
            literal.push_str(&plain[1..plain.len() - 1]);
        }
    }
    literal + "\""
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,5}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn message() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec!["system", "developer", "user"]);
    let part = prop_oneof![
        any::<String>().prop_map(|text| json!({"type": "text", "text": text})),
        any::<String>().prop_map(|name| json!({
            "type": "image_url", "image_url": {"url": format!("data:{name}"), "detail": "low"}
        })),
        any::<String>()
            .prop_map(|data| json!({"type": "input_audio", "input_audio": {"data": data}})),
    ];
    prop_oneof![
        (role, any::<String>()).prop_map(|(role, text)| json!({"role": role, "content": text})),
        prop::collection::vec(part, 0..3)
            .prop_map(|parts| json!({"role": "user", "content": parts, "name": "a"})),
        (any::<String>(), any::<String>()).prop_map(|(id, arguments)| json!({
            "role": "assistant", "content": null, "x": 1,
            "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}],
        })),
        any::<String>()
            .prop_map(|text| json!({"role": "tool", "tool_call_id": "c", "content": text})),
    ]
}

/// The members of a good request, in any order.
fn members() -> impl Strategy<Value = Vec<(String, Value)>> {
    let optional = vec![
        ("max_tokens", json!(100)),
        ("temperature", json!(0.5)),
        ("top_p", json!(1)),
        ("n", json!(2)),
        ("seed", json!(-7)),
        ("stop", json!(["a\n", "é"])),
        ("user", json!("u\"1")),
        ("logprobs", json!(true)),
        ("top_logprobs", json!(3)),
        ("stream", json!(true)),
        ("stream_options", json!({"include_usage": true})),
        ("region", json!("eu-west")),
        ("security_level", json!("high")),
        ("audit_enabled", json!(true)),
        ("zero_retention", json!(false)),
        ("reasoning_effort", json!("low")),
        ("metadata", json!({"a": "b"})),
        ("parallel_tool_calls", json!(false)),
        ("tool_choice", json!({"type": "function", "function": {"name": "f"}})),
        (
            "response_format",
            json!({"type": "json_schema", "json_schema": {"name": "s", "schema": {}}}),
        ),
        ("frequency_penalty", Value::Null),
        (
            "tools",
            json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
                   {"type": "web_search", "name": "w", "x": [1]}]),
        ),
    ];
    let count = optional.len();
    (
        "[a-z/-]{1,12}",
        prop::collection::vec(message(), 1..4),
        prop::sample::subsequence(optional, 0..=count),
        prop::collection::vec(any_value(), 0..4),
    )
        .prop_map(|(model, messages, optional, unknown)| {
            let mut members = vec![
                ("model".to_owned(), Value::from(model)),
                ("messages".to_owned(), Value::from(messages)),
            ];
            members.extend(optional.into_iter().map(|(name, value)| (name.to_owned(), value)));
            let unknown = unknown.into_iter().enumerate();
            members.extend(unknown.map(|(i, value)| (format!("x_{i} é"), value)));
            members
        })
        .prop_shuffle()
}

/// Checks the typed view of `chat` against `body`, as any JSON reader sees it.
fn agrees(chat: &ChatRequest, body: &Map<String, Value>) {
    let at = |name: &str| body.get(name).unwrap_or(&Value::Null);
    assert_eq!(&*chat.model, at("model").as_str().unwrap());
    assert_eq!(chat.max_tokens.map(u64::from), at("max_tokens").as_u64());
    assert_eq!(chat.temperature, at("temperature").as_f64());
    assert_eq!(chat.top_p, at("top_p").as_f64());
    assert_eq!(chat.frequency_penalty, None);
    assert_eq!(u64::from(chat.n), at("n").as_u64().unwrap_or(1));
    assert_eq!(chat.seed, at("seed").as_i64());
    assert_eq!(json!(chat.stop), at("stop").as_array().map_or(json!([]), |stop| json!(stop)));
    assert_eq!(json!(chat.user), *at("user"));
    assert_eq!(chat.logprobs, *at("logprobs") == json!(true));
    assert_eq!(chat.stream, *at("stream") == json!(true));
    assert_eq!(chat.include_usage, body.contains_key("stream_options"));
    assert_eq!(json!(chat.options.region), *at("region"));
    assert_eq!(json!(chat.options.security_level), *at("security_level"));
    assert_eq!(chat.options.audit_enabled, *at("audit_enabled") == json!(true));
    assert_eq!(chat.parallel_tool_calls, at("parallel_tool_calls").as_bool());
    assert_eq!(
        matches!(&chat.tool_choice, Some(ToolChoice::Function(name)) if name.decode() == "f"),
        body.contains_key("tool_choice")
    );
    assert_eq!(
        matches!(&chat.response_format, Some(ResponseFormat::JsonSchema { schema: Some(_), .. })),
        body.contains_key("response_format")
    );
    if let Some(tools) = at("tools").as_array() {
        assert_eq!(chat.tools[0].name.decode(), "f");
        assert_eq!(
            chat.tools[0].parameters.as_ref().unwrap().decode::<Value>().unwrap(),
            json!({"type": "object"})
        );
        assert_eq!(chat.tools[1].name.decode(), "w");
        assert_eq!(chat.tools[1].other.as_ref().unwrap().decode::<Value>().unwrap(), tools[1]);
    }
    let unknown: Vec<&str> = chat.extra.iter().map(|member| &*member.name).collect();
    let expected: Vec<&String> = body.keys().filter(|name| name.starts_with("x_")).collect();
    assert_eq!(unknown, expected);
    let messages = at("messages").as_array().unwrap();
    assert_eq!(chat.messages.len(), messages.len());
    for (message, json) in chat.messages.iter().zip(messages) {
        assert_eq!(message.role.as_str(), json["role"]);
        match &message.content {
            Content::None => assert!(json["content"].is_null()),
            Content::Text(text) => assert_eq!(json!(text), json["content"]),
            Content::Parts(parts) => {
                assert_eq!(parts.len(), json["content"].as_array().unwrap().len());
                for (part, json) in parts.iter().zip(json["content"].as_array().unwrap()) {
                    match part {
                        Part::Text { text, .. } => assert_eq!(json!(text), json["text"]),
                        Part::Image { url, detail, .. } => {
                            assert_eq!(json!(url), json["image_url"]["url"]);
                            assert_eq!(json!(detail), json["image_url"]["detail"]);
                        }
                        Part::Other { kind, raw } => {
                            assert_eq!(**kind, *json["type"].as_str().unwrap());
                            assert_eq!(&raw.decode::<Value>().unwrap(), json);
                        }
                    }
                }
            }
        }
        assert_eq!(message.role == Role::Tool, message.tool_call_id.is_some());
        for call in &message.tool_calls {
            let json = &json["tool_calls"][0];
            assert_eq!(json!(call.id), json["id"]);
            assert_eq!(json!(call.arguments), json["function"]["arguments"]);
        }
    }
}

proptest! {
    #[test]
    fn every_member_keeps_its_text_and_its_meaning(
        members in members(),
        space in "[ \\t\\n\\r]{0,3}",
        escape in any::<bool>(),
        escape_names in any::<bool>(),
    ) {
        let pairs = members.iter().map(|(name, value)| (name, value));
        let body = format!("{space}{}{space}", object_of(pairs, &space, escape, escape_names));
        let chat = parse(Bytes::from(body.clone())).unwrap();
        let json: Map<String, Value> = serde_json::from_str(&body).unwrap();
        agrees(&chat, &json);
        let kept: Vec<(&str, &str)> = chat
            .source
            .members
            .iter()
            .map(|member| (&*member.name, member.value.as_str()))
            .collect();
        let texts: Vec<String> =
            members.iter().map(|(_, value)| text_of(value, &space, escape)).collect();
        let expected: Vec<(&str, &str)> =
            members.iter().zip(&texts).map(|((name, _), text)| (name.as_str(), text.as_str())).collect();
        prop_assert_eq!(kept, expected);
    }

    #[test]
    fn any_text_is_answered(body in any::<Vec<u8>>()) {
        let _ = parse(Bytes::from(body));
    }

    #[test]
    fn any_json_is_answered(value in any_value()) {
        let _ = parse(Bytes::from(value.to_string()));
        let request = json!({"model": value, "messages": [value], "tools": [value], "stop": value});
        let _ = parse(Bytes::from(request.to_string()));
    }
}

#[test]
fn a_debug_print_shows_no_content() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"secret one"}],
        "tools":[{"type":"function","function":{"name":"secret_two"}}],"user":"secret three",
        "metadata":{"a":"secret four"},"x":"secret five","stop":"secret six"}"#;
    let chat = parse(Bytes::from(body)).unwrap();
    assert!(!format!("{chat:?}").contains("secret"));
}

#[test]
fn a_role_may_be_written_with_escapes() {
    let body = r#"{"model":"m","messages":[{"role":"us\u0065r","content":"x"}]}"#;
    assert_eq!(parse(Bytes::from(body)).unwrap().messages[0].role, Role::User);
}

#[test]
fn a_marked_prompt_and_signed_thoughts_are_understood() {
    let body = r#"{"model":"m","messages":[
        {"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}, "b"]},
        {"role":"assistant","content":null,"reasoning_details":[
            {"type":"reasoning.text","text":"on"},{"type":"reasoning.text","text":"e","signature":"s"},
            {"type":"reasoning.encrypted","data":"d"},{"type":"reasoning.text","text":"open"}]}]}"#;
    let chat = parse(Bytes::from(body)).unwrap();
    let Content::Parts(parts) = &chat.messages[0].content else { panic!("parts") };
    let Part::Text { cache_breakpoint: Some(mark), .. } = &parts[0] else { panic!("a mark") };
    assert_eq!(mark.ttl.as_deref(), Some("1h"));
    assert!(matches!(&parts[1], Part::Text { text, .. } if text.decode() == "b"));
    use sluice_core::chat::ReasoningBlock as Block;
    assert_eq!(
        chat.messages[1].reasoning,
        [
            Block::Text { text: "one".into(), signature: Some("s".into()) },
            Block::Redacted { data: "d".into() },
            Block::Text { text: "open".into(), signature: None },
        ]
    );
}
