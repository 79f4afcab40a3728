//! That there is no place in a request where a string goes unread: a request with every member of
//! the chat schema, in which each string in turn, and each name, holds a secret.

use serde_json::{Map, Value, json};

use super::tests::{filter, send, subject};
use super::*;

fn template() -> Value {
    let arguments = json!({"city": "x", "list": ["x", {"deep": "x"}], "nested": "{\"a\":\"x\"}"});
    json!({
        "model": "m",
        "stream": false,
        "messages": [
            {"role": "system", "content": "x", "name": "x", "cache_control": {"type": "ephemeral", "ttl": "x"}},
            {"role": "developer", "content": [{"type": "text", "text": "x", "cache_control": {"type": "x"}}]},
            {"role": "user", "name": "x", "content": [
                "x",
                {"type": "text", "text": "x", "annotations": [{"type": "x", "url": "x"}]},
                {"type": "text", "text": "x"},
                {"type": "image_url", "image_url": {"url": "x", "detail": "x"}},
                {"type": "input_audio", "input_audio": {"data": "x", "format": "x"}},
                {"type": "file", "file": {"file_data": "x", "filename": "x", "file_id": "x"}},
                {"type": "document", "title": "x", "context": "x", "source": {"type": "x", "media_type": "x", "data": "x"}},
                {"type": "video_url", "video_url": {"url": "x"}},
                {"type": "refusal", "refusal": "x"},
                {"type": "new", "text": "x", "new": {"x": ["x"]}},
                {"type": {"type": "x"}, "text": ["x"]},
                [["x"]],
            ]},
            {"role": "assistant", "content": "x", "refusal": "x", "reasoning": "x", "reasoning_content": "x",
                "reasoning_details": [{"type": "x", "text": "x", "summary": "x", "data": "x", "signature": "x",
                    "id": "x", "format": "x"}],
                "audio": {"id": "x"}, "annotations": [{"url": "x"}],
                "tool_calls": [
                    {"id": "x", "type": "function", "index": 0, "cache_control": {"type": "x"},
                        "function": {"name": "x", "arguments": arguments.to_string(), "strict": "x"}},
                    {"id": "x", "type": "custom", "custom": {"name": "x", "input": "x"}},
                    {"id": ["x"], "type": {"x": "x"}, "function": "x"},
                ]},
            {"role": "assistant", "tool_calls": ["x", {"function": ["x"]}]},
            {"role": "assistant", "tool_calls": "x", "content": {"x": "x"}},
            {"role": "assistant", "content": null, "function_call": {"name": "x", "arguments": "x"}},
            {"role": "tool", "tool_call_id": "x", "name": "x", "content": "x"},
            {"role": "tool", "tool_call_id": ["x"], "content": [{"type": "text", "text": "x"}]},
            {"role": "function", "name": "x", "content": arguments.to_string()},
            {"role": ["x"]},
            "x",
        ],
        "tools": [
            {"type": "function", "cache_control": {"type": "x"}, "function": {"name": "x", "description": "x",
                "strict": "x", "parameters": {"type": "object", "title": "x", "required": ["x"], "properties":
                    {"city": {"type": ["x"], "enum": ["x"], "default": "x", "description": "x"}}}}},
            {"type": "custom", "custom": {"name": "x", "description": "x",
                "format": {"type": "x", "grammar": {"syntax": "x", "definition": "x"}}}},
            {"type": "web_search", "name": "x", "user_location": {"city": "x"}},
            {"type": ["x"], "function": "x"},
            "x",
        ],
        "tool_choice": {"type": "function", "function": {"name": "x"}},
        "functions": [{"name": "x", "description": "x", "parameters": {"x": "x"}}],
        "function_call": {"name": "x"},
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "description": "x",
            "schema": {"type": "x", "const": "x"}, "strict": true}},
        "reasoning_effort": "x",
        "reasoning": {"effort": "x", "summary": "x"},
        "stop": ["x", "x"],
        "user": "x",
        "metadata": {"x": "x"},
        "stream_options": {"include_obfuscation": "x"},
        "prediction": {"type": "content", "content": [{"type": "text", "text": "x"}]},
        "modalities": ["x"],
        "logit_bias": {"x": 1},
        "audio": {"voice": "x", "format": "x"},
        "web_search_options": {"user_location": {"approximate": {"city": "x"}}},
        "service_tier": "x",
        "prompt_cache_key": "x",
        "safety_identifier": "x",
        "temperature": "x",
        "seed": ["x"],
        "provider": {"order": ["x"]},
    })
}

/// Secrets that differ from each other in all their characters.
struct Tokens(u64, Vec<String>);

impl Tokens {
    fn next(&mut self) -> String {
        let mut token = "AKIA".to_owned();
        // A letter and a digit in turn: no token has a word in it.
        for i in 0..16 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let letters: &[u8] = [b"BCDFGHJKLMNPRSTVWXZ".as_slice(), b"234567"][i % 2];
            token.push(char::from(letters[(self.0 >> 33) as usize % letters.len()]));
        }
        self.1.push(token.clone());
        token
    }
}

/// Every string of `value`.
fn strings<'v>(value: &'v mut Value, into: &mut Vec<&'v mut String>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(values) => values.iter_mut().for_each(|value| strings(value, into)),
        Value::Object(object) => object.values_mut().for_each(|value| strings(value, into)),
        _ => {}
    }
}

/// The template's strings: `change` gets each in turn, with its number.
fn with_strings(mut change: impl FnMut(usize, &mut String)) -> Value {
    let mut request = template();
    let sent = request.as_object_mut().unwrap().iter_mut();
    let mut places = Vec::new();
    // The model's name is written anew for each provider.
    for (_, value) in sent.filter(|(name, _)| *name != "model") {
        strings(value, &mut places);
    }
    for (i, text) in places.into_iter().enumerate() {
        change(i, text);
    }
    request
}

/// Unknown members in every object, nested and with secrets for names.
fn with_names(value: Value, tokens: &mut Tokens) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(|v| with_names(v, tokens)).collect(),
        Value::Object(object) => {
            let members = object.into_iter().map(|(name, value)| (name, with_names(value, tokens)));
            let mut object: Map<String, Value> = members.collect();
            let inner = json!([tokens.next(), {tokens.next(): tokens.next()}]);
            object.insert(tokens.next(), json!({tokens.next(): inner}));
            object.insert("x_unknown".to_owned(), json!([[tokens.next()]]));
            Value::Object(object)
        }
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => {
                Value::from(with_names(inner, tokens).to_string())
            }
            _ => Value::String(text),
        },
        other => other,
    }
}

/// What a text ends with, for a message.
fn tail(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(200))..]
}

fn check(request: &Value, tokens: &Tokens) {
    for level in [SecurityLevel::Standard, SecurityLevel::High] {
        let sent = send(&filter(), &request.to_string(), &subject(level)).unwrap();
        for token in &tokens.1 {
            let left = sent.body.split(token).collect::<Vec<_>>();
            assert!(left.len() == 1, "{token} is left behind {}", tail(left[0]));
        }
        assert_eq!(sent.filtered.map.redactions().len(), tokens.1.len());
        assert!(serde_json::from_str::<Value>(&sent.body).is_ok());
    }
}

#[test]
fn each_string_alone_is_read() {
    let mut count = 0;
    with_strings(|_, _| count += 1);
    assert!(count > 130, "{count}");
    for nth in 0..count {
        let mut tokens = Tokens(nth as u64, Vec::new());
        let request = with_strings(|i, text| {
            if i == nth {
                *text = tokens.next();
            }
        });
        check(&request, &tokens);
    }
}

#[test]
fn all_strings_and_names_together_are_read() {
    let mut tokens = Tokens(1, Vec::new());
    let request = with_strings(|_, text| {
        let is_of_the_protocol = text.len() > 1 && !text.starts_with('{');
        if !is_of_the_protocol && !text.starts_with('{') {
            *text = tokens.next();
        }
    });
    let request = with_names(request, &mut tokens);
    assert!(tokens.1.len() > 600, "{}", tokens.1.len());
    check(&request, &tokens);
}

#[test]
fn a_name_behind_what_is_sealed_is_read() {
    // 64 digits of base64 and more may be a signature: as a value, not as a name.
    let mut tokens = Tokens(2, Vec::new());
    let mut long = || {
        let random: String = (0..5).map(|_| tokens.next()).collect();
        format!("sk-ant-api03-{}AA", &random[..93])
    };
    let names = [long(), long(), long()];
    let details =
        json!([{"signature": 1, &names[0]: 1}, {"signature": {&names[1]: 1}}, {&names[2]: 1}]);
    let request = json!({"messages": [{"role": "assistant", "reasoning_details": details}]});
    check(&request, &Tokens(0, names.to_vec()));
}
