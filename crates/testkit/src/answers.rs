//! Answers in OpenAI's documented form, to build scripts from.
//!
//! After the examples of the API reference, "Create chat completion" (whole, streamed, functions).

use serde_json::{Value, json};

/// What [`completion`] and [`usage_chunk`] count for the prompt.
pub const PROMPT_TOKENS: u64 = 19;
/// What they count for the answer.
pub const COMPLETION_TOKENS: u64 = 10;

/// A whole answer that says `text`.
pub fn completion(text: &str) -> Value {
    completion_of(json!({ "role": "assistant", "content": text, "refusal": null }), "stop")
}

/// A whole answer that calls a function.
pub fn tool_call(name: &str, arguments: &str) -> Value {
    let call = json!({
        "id": "call_abc123",
        "type": "function",
        "function": { "name": name, "arguments": arguments },
    });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    completion_of(message, "tool_calls")
}

fn completion_of(message: Value, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion",
        "created": 1_741_569_952,
        "model": "gpt-4.1-2025-04-14",
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": finish_reason,
        }],
        "usage": usage(),
        "service_tier": "default",
    })
}

fn usage() -> Value {
    json!({
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": COMPLETION_TOKENS,
        "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
        "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 },
        "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0 },
    })
}

/// A chunk of a streamed answer. An empty `delta` with a reason is the last one of its choice.
pub fn chunk(delta: Value, finish_reason: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-123",
        "object": "chat.completion.chunk",
        "created": 1_694_268_190,
        "model": "gpt-4o-mini",
        "system_fingerprint": "fp_44709d6fcb",
        "choices": [{
            "index": 0,
            "delta": delta,
            "logprobs": null,
            "finish_reason": finish_reason,
        }],
    })
}

/// A chunk that says `text`.
pub fn text_chunk(text: &str) -> Value {
    chunk(json!({ "content": text }), None)
}

/// The chunk that counts, as `stream_options.include_usage` asks for it.
pub fn usage_chunk() -> Value {
    let mut counted = chunk(json!({}), None);
    counted["choices"] = json!([]);
    counted["usage"] = usage();
    counted
}

/// One server-sent event.
pub fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// The beginning of a streamed answer: the role, then `texts`.
pub fn opening(texts: &[&str]) -> String {
    let role = chunk(json!({ "role": "assistant", "content": "" }), None);
    let rest: String = texts.iter().map(|text| event(&text_chunk(text))).collect();
    event(&role) + &rest
}

/// Its end: why it stopped, what it used, the end mark.
pub fn ending() -> String {
    event(&chunk(json!({}), Some("stop"))) + &event(&usage_chunk()) + "data: [DONE]\n\n"
}
