//! What the models say.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ask, prompt, with};
use crate::simulator::MODELS;

#[test]
fn the_same_request_gets_the_same_bytes_under_another_id() {
    for model in MODELS {
        for stream in [false, true] {
            let body = with(
                prompt(model.id, "Hello"),
                json!({"stream": stream, "n": 2, "logprobs": true}),
            );
            let answer = || {
                let text = String::from_utf8(ask(&body).body).unwrap();
                let begin = text.find("chatcmpl-").unwrap();
                let id = text[begin..].split('"').next().unwrap().to_owned();
                (text.replace(&id, "ID"), id)
            };
            let ((first, one), (second, other)) = (answer(), answer());
            assert_eq!(first, second, "{body}");
            assert_ne!(one, other, "{body}");
        }
    }
}

#[test]
fn a_stream_says_what_the_whole_answer_says() {
    let bodies = [
        prompt("demo/chat", "Hello"),
        prompt("demo/echo", "Grüße 👩‍👩‍👧\n\n  日本"),
        prompt("demo/reasoner", "Hello"),
        prompt("demo/chat", "simulate: refusal"),
        with(
            prompt("demo/chat", "Hi"),
            json!({"n": 3, "seed": 7, "logprobs": true, "top_logprobs": 2}),
        ),
        with(prompt("demo/reasoner", "get_weather and get_time"), json!({"tools": weather()})),
        with(prompt("demo/reasoner", "Hello"), json!({"max_tokens": 25})),
        with(prompt("demo/chat", "Hello"), json!({"response_format": {"type": "json_object"}})),
        with(prompt("demo/echo", ""), json!({"n": 2})),
    ];
    for body in bodies {
        let mut whole = ask(&body).json();
        // Identifiers come from the request's bytes, which differ by `stream`.
        let choices = whole["choices"].as_array_mut().unwrap();
        choices.iter_mut().for_each(erase_call_ids);
        let options = json!({"stream": true, "stream_options": {"include_usage": true}});
        let chunks = ask(&with(body.clone(), options)).chunks();
        for choice in whole["choices"].as_array().unwrap() {
            let mut streamed = assemble(&chunks, choice["index"].as_u64().unwrap());
            erase_call_ids(&mut streamed);
            assert_eq!(streamed, *choice, "{body}");
        }
        let last = chunks.last().unwrap();
        assert_eq!((&last["usage"], &last["choices"]), (&whole["usage"], &json!([])), "{body}");
        assert!(chunks.iter().all(|chunk| chunk["system_fingerprint"] == "simulated"));
        assert!(chunks.iter().all(|chunk| chunk["id"] == chunks[0]["id"]));
    }
}

#[test]
fn usage_comes_in_a_stream_only_if_asked_for() {
    let chunks = ask(&with(prompt("demo/chat", "Hello"), json!({"stream": true}))).chunks();
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));
}

proptest! {
    #[test]
    fn the_echo_is_exact(text in any::<String>(), more in any::<String>()) {
        let parts = json!([{"type": "text", "text": text}, {"type": "text", "text": more}]);
        let body = json!({"model": "demo/echo", "messages": [
            {"role": "user", "content": "earlier"},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": "later"},
        ]});
        let expected = format!("{text}{more}");
        let whole = ask(&body).json();
        prop_assert_eq!(whole["choices"][0]["message"]["content"].as_str(), Some(expected.as_str()));
        let chunks = ask(&with(body, json!({"stream": true}))).chunks();
        let streamed = assemble(&chunks, 0);
        prop_assert_eq!(streamed["message"]["content"].as_str(), Some(expected.as_str()));
    }
}

#[test]
fn the_echo_takes_no_triggers() {
    let answer = ask(&prompt("demo/echo", "simulate: error 500")).json();
    assert_eq!(answer["choices"][0]["message"]["content"], "simulate: error 500");
}

#[test]
fn answers_say_that_they_are_simulated() {
    for seed in 0..8 {
        let answer = ask(&with(prompt("demo/chat", "Hi"), json!({"seed": seed, "n": 4}))).json();
        let choices = answer["choices"].as_array().unwrap();
        let texts: Vec<_> =
            choices.iter().map(|c| c["message"]["content"].as_str().unwrap()).collect();
        assert!(texts.iter().all(|text| text.to_lowercase().contains("simulated")), "{texts:?}");
        let mut distinct = texts.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 4, "{texts:?}");
        assert_eq!(answer["system_fingerprint"], "simulated");
        assert_eq!(answer["created"], 1_700_000_000);
    }
}

#[test]
fn max_tokens_ends_with_length_and_is_counted() {
    for field in ["max_tokens", "max_completion_tokens"] {
        let answer =
            ask(&with(prompt("demo/echo", "one two three four"), json!({field: 2}))).json();
        assert_eq!(answer["choices"][0]["message"]["content"], "one two");
        assert_eq!(answer["choices"][0]["finish_reason"], "length");
        assert_eq!(answer["usage"]["completion_tokens"], 2);
    }
}

#[test]
fn stop_ends_before_the_stop_text() {
    for stop in [json!(" three"), json!(["four", " three"])] {
        let answer =
            ask(&with(prompt("demo/echo", "one two three four"), json!({"stop": stop}))).json();
        assert_eq!(answer["choices"][0]["message"]["content"], "one two");
        assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    }
}

#[test]
fn tools_are_called_and_their_results_are_quoted() {
    let ask_for = "get_weather for \"Paris\", and get_time";
    let first = ask(&with(prompt("demo/chat", ask_for), json!({"tools": weather()}))).json();
    let choice = &first["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], Value::Null);
    let calls = choice["message"]["tool_calls"].as_array().unwrap();
    assert_eq!(calls[0]["function"]["name"], "get_weather");
    assert_eq!(calls[0]["function"]["arguments"], r#"{"city":"Paris","unit":"celsius"}"#);
    assert_eq!(calls[1]["function"], json!({"name": "get_time", "arguments": "{}"}));
    assert_ne!(calls[0]["id"], calls[1]["id"]);

    let second = ask(&json!({"model": "demo/chat", "tools": weather(), "messages": [
        {"role": "user", "content": ask_for},
        choice["message"],
        {"role": "tool", "tool_call_id": calls[0]["id"], "content": "22 degrees"},
        {"role": "tool", "tool_call_id": calls[1]["id"], "content": [{"type": "text", "text": "noon"}]},
    ]}))
    .json();
    let text = second["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("`get_weather`: 22 degrees"), "{text}");
    assert!(text.contains("`get_time`: noon"), "{text}");
}

#[test]
fn json_answers_fit_their_schema() {
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "steps": {"type": "array", "items": {"type": "integer"}}},
        "required": ["name", "steps"],
        "additionalProperties": false,
    });
    let format = json!({"type": "json_schema", "json_schema": {"name": "plan", "schema": schema}});
    let answer =
        ask(&with(prompt("demo/chat", "Plan \"tea\" in 4"), json!({"response_format": format})));
    let content = answer.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    assert_eq!(
        serde_json::from_str::<Value>(&content).unwrap(),
        json!({"name": "tea", "steps": [4]})
    );
}

#[test]
fn the_reasoner_thinks_as_much_as_it_is_told() {
    let tokens = |effort: &str| {
        let answer =
            ask(&with(prompt("demo/reasoner", "Hi"), json!({"reasoning_effort": effort}))).json();
        let details = &answer["usage"]["completion_tokens_details"];
        details["reasoning_tokens"].as_u64().unwrap()
    };
    assert_eq!(tokens("none"), 0);
    assert!(tokens("low") < tokens("medium") && tokens("medium") < tokens("high"));
}

#[test]
fn logprobs_are_plausible() {
    let more = json!({"logprobs": true, "top_logprobs": 3});
    let answer = ask(&with(prompt("demo/echo", "a b é"), more)).json();
    let entries = answer["choices"][0]["logprobs"]["content"].as_array().unwrap().clone();
    let tokens: Vec<_> = entries.iter().map(|entry| entry["token"].as_str().unwrap()).collect();
    assert_eq!(tokens, ["a", " b", " é"]);
    assert_eq!(entries[2]["bytes"], json!([32, 195, 169]));
    for entry in &entries {
        let top = entry["top_logprobs"].as_array().unwrap();
        assert_eq!((top.len(), &top[0]["logprob"]), (3, &entry["logprob"]));
        let sum: f64 = top.iter().map(|entry| entry["logprob"].as_f64().unwrap().exp()).sum();
        assert!(sum <= 1.0, "{sum}");
    }
}

#[test]
fn the_length_can_be_ordered() {
    for tokens in [1, 20, 3_000] {
        let answer = ask(&prompt("demo/chat", &format!("simulate: tokens {tokens}"))).json();
        assert_eq!(answer["usage"]["completion_tokens"], tokens);
        assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    }
}

/// Puts the choice with this index of a stream together again, as SDKs do.
fn assemble(chunks: &[Value], index: u64) -> Value {
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    let mut finish = Value::Null;
    let mut logprobs = Vec::new();
    let append = |to: &mut Value, more: &Value| {
        if let Some(more) = more.as_str() {
            *to = json!(to.as_str().unwrap_or_default().to_owned() + more);
        }
    };
    for choice in chunks.iter().flat_map(|chunk| chunk["choices"].as_array().unwrap()) {
        if choice["index"] != index {
            continue;
        }
        let delta = &choice["delta"];
        for key in ["content", "refusal", "reasoning_content"] {
            if delta[key].is_string() {
                append(&mut message[key], &delta[key]);
            }
        }
        for step in delta["tool_calls"].as_array().into_iter().flatten() {
            if message.get("tool_calls").is_none() {
                message["tool_calls"] = json!([]);
            }
            let calls = message["tool_calls"].as_array_mut().unwrap();
            let at = usize::try_from(step["index"].as_u64().unwrap()).unwrap();
            if at == calls.len() {
                calls.push(
                    json!({"id": step["id"], "type": step["type"], "function": step["function"]}),
                );
            } else {
                append(&mut calls[at]["function"]["arguments"], &step["function"]["arguments"]);
            }
        }
        logprobs.extend(choice["logprobs"]["content"].as_array().into_iter().flatten().cloned());
        if !choice["finish_reason"].is_null() {
            finish = choice["finish_reason"].clone();
        }
    }
    let logprobs = match logprobs.is_empty() {
        true => Value::Null,
        false => json!({"content": logprobs, "refusal": null}),
    };
    json!({"index": index, "message": message, "logprobs": logprobs, "finish_reason": finish})
}

fn erase_call_ids(choice: &mut Value) {
    for call in choice["message"]["tool_calls"].as_array_mut().into_iter().flatten() {
        assert!(call["id"].as_str().unwrap().starts_with("call_"));
        call["id"] = json!("call");
    }
}

fn weather() -> Value {
    json!([
        {"type": "function", "function": {"name": "get_weather", "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "kelvin"]}},
            "required": ["city", "unit"],
        }}},
        {"type": "function", "function": {"name": "get_time"}},
    ])
}
