//! OpenAI's answer format: whole, as chunks, and errors.
//!
//! Source: the OpenAI API reference, "The chat completion object", "The chat completion chunk
//! object"; `reasoning_content` as DeepSeek, vLLM and others add it.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::hash;
use super::reply::{Reply, Segment, SegmentKind};
use super::tokens;

/// What stands on every answer: no provider but this one sends such a fingerprint.
const FINGERPRINT: &str = "simulated";
/// Words that stand beside a token as alternatives to it.
const ALTERNATIVES: [&str; 20] = [
    " the", " a", " of", " and", " to", " in", " is", " that", " it", " for", " on", " with",
    " as", " this", " by", " an", " or", " not", " be", " at",
];

/// What all parts of one answer share.
pub(super) struct Head {
    pub(super) id: String,
    /// Seconds since the Unix epoch.
    pub(super) created: u64,
    pub(super) model: &'static str,
    /// How many alternatives a token's log probability comes with, where those are wanted.
    pub(super) logprobs: Option<usize>,
}

/// `usage` of an answer with these replies.
pub(super) fn usage(prompt_tokens: u64, replies: &[Reply]) -> Value {
    let completion_tokens: u64 = replies.iter().map(Reply::tokens).sum();
    let reasoning_tokens: u64 = replies.iter().map(Reply::reasoning_tokens).sum();
    json!({
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

/// A whole answer.
pub(super) fn completion(head: &Head, replies: &[Reply], usage: &Value) -> Bytes {
    let choices: Vec<Value> = replies
        .iter()
        .enumerate()
        .map(|(index, reply)| {
            json!({
                "index": index,
                "message": message(reply),
                "logprobs": head.logprobs.map(|most| whole_logprobs(reply, most)),
                "finish_reason": reply.finish.as_str(),
            })
        })
        .collect();
    let body = json!({
        "id": head.id,
        "object": "chat.completion",
        "created": head.created,
        "model": head.model,
        "choices": choices,
        "usage": usage,
        "system_fingerprint": FINGERPRINT,
    });
    Bytes::from(body.to_string())
}

fn message(reply: &Reply) -> Value {
    let text = |kind: &SegmentKind| {
        let segment = reply.segments.iter().find(|segment| segment.kind == *kind);
        segment.map(|segment| segment.text.as_str())
    };
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), json!(text(&SegmentKind::Content)));
    message.insert("refusal".to_owned(), json!(text(&SegmentKind::Refusal)));
    if let Some(reasoning) = text(&SegmentKind::Reasoning) {
        message.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    let calls: Vec<Value> = reply
        .segments
        .iter()
        .filter_map(|segment| match &segment.kind {
            SegmentKind::Call { id, name, .. } => Some(json!({
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": segment.text},
            })),
            _ => None,
        })
        .collect();
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Value::Object(message)
}

/// The first step of a choice.
pub(super) fn role_delta(reply: &Reply) -> Value {
    let speaks = reply.segments.iter().any(|segment| segment.kind == SegmentKind::Content);
    json!({"role": "assistant", "content": speaks.then_some(""), "refusal": null})
}

/// The step that opens a call; `None` for a segment that needs no opening.
pub(super) fn open_delta(segment: &Segment) -> Option<Value> {
    let SegmentKind::Call { index, id, name } = &segment.kind else {
        return None;
    };
    let function = json!({"name": name, "arguments": ""});
    Some(
        json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
    )
}

/// The step that adds `token` to a segment.
pub(super) fn token_delta(segment: &Segment, token: &str) -> Value {
    match &segment.kind {
        SegmentKind::Reasoning => json!({"reasoning_content": token}),
        SegmentKind::Content => json!({"content": token}),
        SegmentKind::Refusal => json!({"refusal": token}),
        SegmentKind::Call { index, .. } => {
            json!({"tool_calls": [{"index": index, "function": {"arguments": token}}]})
        }
    }
}

/// The `logprobs` of a step that adds `token`, at byte `at` of a segment.
pub(super) fn token_logprobs(segment: &Segment, token: &str, at: usize, most: usize) -> Value {
    let entry = || json!([logprob(token, at, most)]);
    match segment.kind {
        SegmentKind::Content => json!({"content": entry(), "refusal": null}),
        SegmentKind::Refusal => json!({"content": null, "refusal": entry()}),
        SegmentKind::Reasoning | SegmentKind::Call { .. } => Value::Null,
    }
}

/// One chunk of a choice, as an event.
pub(super) fn chunk(head: &Head, choice: Value, include_usage: bool) -> Bytes {
    let mut body = chunk_body(head, json!([choice]));
    if include_usage && let Some(body) = body.as_object_mut() {
        body.insert("usage".to_owned(), Value::Null);
    }
    event(&body)
}

/// One entry of a chunk's `choices`.
pub(super) fn chunk_choice(
    index: usize,
    delta: Value,
    logprobs: Value,
    finish: Option<&str>,
) -> Value {
    json!({"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish})
}

/// The last chunk where usage was asked for.
pub(super) fn usage_chunk(head: &Head, usage: &Value) -> Bytes {
    let mut body = chunk_body(head, json!([]));
    if let Some(body) = body.as_object_mut() {
        body.insert("usage".to_owned(), usage.clone());
    }
    event(&body)
}

/// The end mark.
pub(super) fn done() -> Bytes {
    Bytes::from_static(b"data: [DONE]\n\n")
}

/// An error in the middle of a stream.
pub(super) fn error_event() -> Bytes {
    event(&error_body("The simulator was asked to fail in mid-stream.", "server_error", None))
}

/// An error in OpenAI's shape.
pub(super) fn error_body(message: &str, kind: &str, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn chunk_body(head: &Head, choices: Value) -> Value {
    json!({
        "id": head.id,
        "object": "chat.completion.chunk",
        "created": head.created,
        "model": head.model,
        "system_fingerprint": FINGERPRINT,
        "choices": choices,
    })
}

fn event(body: &Value) -> Bytes {
    Bytes::from(format!("data: {body}\n\n"))
}

fn whole_logprobs(reply: &Reply, most: usize) -> Value {
    let of = |kind: &SegmentKind| {
        let segment = reply.segments.iter().find(|segment| segment.kind == *kind)?;
        let mut at = 0;
        let entries = tokens::split(&segment.text).map(|token| {
            let entry = logprob(token, at, most);
            at += token.len();
            entry
        });
        Some(Value::Array(entries.collect()))
    };
    json!({"content": of(&SegmentKind::Content), "refusal": of(&SegmentKind::Refusal)})
}

/// A plausible log probability: the token has one half to nearly all of the probability, and each
/// alternative half of what is left.
fn logprob(token: &str, at: usize, most: usize) -> Value {
    let entry = |token: &str, probability: f64| {
        let logprob = (probability.ln() * 1e6).round() / 1e6;
        json!({"token": token, "logprob": logprob, "bytes": token.as_bytes()})
    };
    let thousandths = hash::stable(&[token.as_bytes(), &(at as u64).to_le_bytes()]) % 500;
    let chosen = (500.0 + thousandths as f64) / 1000.0;
    let mut left = 1.0 - chosen;
    let mut top = vec![entry(token, chosen)];
    for alternative in ALTERNATIVES.iter().filter(|alternative| **alternative != token) {
        left /= 2.0;
        top.push(entry(alternative, left));
    }
    top.truncate(most);
    let mut logprob = entry(token, chosen);
    logprob["top_logprobs"] = Value::Array(top);
    logprob
}
