//! What the adapters' tests share: requests from OpenAI's JSON, a target, and answers as JSON.
//!
//! Chat types print sizes and never content, so snapshots are taken of what is rendered here.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use sluice_core::answer::ChatAnswer;
use sluice_core::chat::{
    CacheBreakpoint, ChatRequest, Content, Message, Part, ReasoningBlock, ReasoningEffort,
    RequestOptions, ResponseFormat, Role, Tool, ToolCall, ToolChoice,
};
use sluice_core::event::StreamEvent;
use sluice_core::json::{JsonText, Member, RawJson};
use sluice_core::sealed::SealedPlaces;
use sluice_core::secret::Secret;
use sluice_core::source::{Dialect, Source};

use crate::adapter::{Adapter, StreamDecoder};
use crate::endpoint::{Auth, Endpoint, Quirks, Target};
use crate::error::StreamError;
use crate::framing::sse::SseDecoder;

/// A target for `model` at a provider that `adapter` speaks to, with the credential `test-key` in
/// the header `auth_header`. No bound on tokens is known.
pub(crate) fn target(
    adapter: impl Adapter + 'static,
    base_url: &str,
    auth_header: &str,
    model: &str,
) -> Target {
    Target {
        endpoint: Arc::new(Endpoint {
            id: "test".into(),
            adapter: Arc::new(adapter),
            base_url: base_url.to_owned(),
            query: String::new(),
            auth: Auth::Header(auth_header.to_owned()),
            credential: Some(Secret::new("test-key".to_owned())),
            headers: vec![(
                HeaderName::from_static("x-extra"),
                HeaderValue::from_static("from the configuration"),
            )],
            quirks: Quirks::default(),
            region: None,
        }),
        upstream_model: model.to_owned(),
        max_tokens: None,
        output_limit: None,
    }
}

/// The chat request that an OpenAI body stands for. It is for well-formed bodies: what it cannot
/// read panics.
pub(crate) fn chat(body: Value) -> ChatRequest {
    let Value::Object(mut body) = body else { panic!("a body is an object") };
    let mut take = |name: &str| body.remove(name).filter(|value| !value.is_null());
    let max_tokens = take("max_tokens");
    ChatRequest {
        model: take("model").map(string).unwrap_or_else(|| "m".to_owned()).into(),
        messages: list(take("messages")).into_iter().map(message).collect(),
        tools: list(take("tools")).into_iter().map(tool).collect(),
        tool_choice: take("tool_choice").map(tool_choice),
        parallel_tool_calls: take("parallel_tool_calls").and_then(|v| v.as_bool()),
        response_format: take("response_format").map(response_format),
        max_tokens: take("max_completion_tokens").or(max_tokens).map(number),
        temperature: take("temperature").and_then(|v| v.as_f64()),
        top_p: take("top_p").and_then(|v| v.as_f64()),
        frequency_penalty: take("frequency_penalty").and_then(|v| v.as_f64()),
        presence_penalty: take("presence_penalty").and_then(|v| v.as_f64()),
        stop: match take("stop") {
            Some(Value::Array(stops)) => stops.into_iter().map(text).collect(),
            Some(stop) => vec![text(stop)],
            None => Vec::new(),
        },
        seed: take("seed").and_then(|v| v.as_i64()),
        n: take("n").map_or(1, number),
        logprobs: take("logprobs").and_then(|v| v.as_bool()).unwrap_or(false),
        top_logprobs: take("top_logprobs").map(number),
        reasoning_effort: take("reasoning_effort")
            .and_then(|v| ReasoningEffort::parse(v.as_str()?)),
        user: take("user").map(text),
        stream: take("stream").and_then(|v| v.as_bool()).unwrap_or(false),
        include_usage: take("stream_options")
            .is_some_and(|options| options["include_usage"] == json!(true)),
        options: RequestOptions::default(),
        extra: members(body),
        source: Source {
            dialect: Dialect::OpenAiChat,
            members: Vec::new(),
            body_bytes: 0,
            reader: |_| None,
        },
        unread: SealedPlaces::NONE,
    }
}

fn message(message: Value) -> Message {
    let Value::Object(mut message) = message else { panic!("a message is an object") };
    let mut take = |name: &str| message.remove(name).filter(|value| !value.is_null());
    Message {
        role: Role::parse(&string(take("role").expect("a role"))).expect("a known role"),
        content: match take("content") {
            None => Content::None,
            Some(Value::Array(parts)) => Content::Parts(parts.into_iter().map(part).collect()),
            Some(content) => Content::Text(text(content)),
        },
        name: take("name").map(text),
        tool_calls: list(take("tool_calls")).into_iter().map(tool_call).collect(),
        tool_call_id: take("tool_call_id").map(text),
        reasoning: list(take("reasoning_details")).into_iter().map(reasoning).collect(),
        cache_breakpoint: take("cache_control").map(|mark| breakpoint(&mark)),
        extra: members(message),
    }
}

fn part(part: Value) -> Part {
    let cache_breakpoint = part.get("cache_control").map(breakpoint);
    match part["type"].as_str().expect("a part's type") {
        "text" => Part::Text { text: text(part["text"].clone()), cache_breakpoint },
        "image_url" => Part::Image {
            url: text(part["image_url"]["url"].clone()),
            detail: part["image_url"].get("detail").cloned().map(text),
            cache_breakpoint,
        },
        kind => Part::Other { kind: kind.into(), raw: raw(&part) },
    }
}

fn tool_call(call: Value) -> ToolCall {
    ToolCall {
        id: text(call["id"].clone()),
        name: text(call["function"]["name"].clone()),
        arguments: text(call["function"]["arguments"].clone()),
        signature: call["extra_content"]["google"].get("thought_signature").cloned().map(text),
        cache_breakpoint: call.get("cache_control").map(breakpoint),
    }
}

fn reasoning(block: Value) -> ReasoningBlock {
    match block["type"].as_str() {
        Some("reasoning.encrypted") => {
            ReasoningBlock::Redacted { data: text(block["data"].clone()) }
        }
        _ => ReasoningBlock::Text {
            text: text(block["text"].clone()),
            signature: block.get("signature").cloned().map(text),
        },
    }
}

fn tool(tool: Value) -> Tool {
    let function = &tool["function"];
    let other = tool["type"] != json!("function");
    Tool {
        name: if other { "".into() } else { text(function["name"].clone()) },
        description: function.get("description").cloned().map(text),
        parameters: function.get("parameters").map(raw),
        strict: function.get("strict").and_then(Value::as_bool),
        cache_breakpoint: tool.get("cache_control").map(breakpoint),
        other: other.then(|| raw(&tool)),
    }
}

fn tool_choice(choice: Value) -> ToolChoice {
    match choice.as_str() {
        Some("auto") => ToolChoice::Auto,
        Some("none") => ToolChoice::None,
        Some("required") => ToolChoice::Required,
        _ if choice["type"] == json!("function") => {
            ToolChoice::Function(text(choice["function"]["name"].clone()))
        }
        _ => ToolChoice::Other(raw(&choice)),
    }
}

fn response_format(format: Value) -> ResponseFormat {
    let schema = &format["json_schema"];
    match format["type"].as_str() {
        Some("text") => ResponseFormat::Text,
        Some("json_object") => ResponseFormat::JsonObject,
        Some("json_schema") => ResponseFormat::JsonSchema {
            name: text(schema["name"].clone()),
            description: schema.get("description").cloned().map(text),
            schema: schema.get("schema").map(raw),
            strict: schema.get("strict").and_then(Value::as_bool),
        },
        _ => ResponseFormat::Other(raw(&format)),
    }
}

fn breakpoint(mark: &Value) -> CacheBreakpoint {
    CacheBreakpoint { ttl: mark.get("ttl").cloned().map(|ttl| string(ttl).into()) }
}

fn members(members: Map<String, Value>) -> Vec<Member> {
    members
        .into_iter()
        .map(|(name, value)| Member { name: name.into(), value: raw(&value) })
        .collect()
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(values)) => values,
        Some(_) => panic!("expected an array"),
        None => Vec::new(),
    }
}

/// A string in the form that a parser gives it: the literal that was received.
fn text(value: Value) -> JsonText {
    assert!(value.is_string(), "expected a string, found {value}");
    JsonText::trusted_literal(value.to_string().into())
}

fn string(value: Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn number(value: Value) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number")
}

fn raw(value: &Value) -> RawJson {
    RawJson::from_value(value).expect("a value")
}

/// A whole answer as JSON, for snapshots.
pub(crate) fn answer_json(answer: &ChatAnswer) -> Value {
    let choices = answer.choices.iter().map(|choice| {
        let message = &choice.message;
        object([
            ("index", json!(choice.index)),
            ("content", json!(message.content)),
            ("reasoning", json!(message.reasoning)),
            ("reasoning_details", blocks(&message.reasoning_details)),
            ("refusal", json!(message.refusal)),
            (
                "tool_calls",
                message
                    .tool_calls
                    .iter()
                    .map(|call| {
                        object([
                            ("id", json!(call.id)),
                            ("name", json!(call.name)),
                            ("arguments", json!(call.arguments)),
                            ("signature", json!(call.signature)),
                        ])
                    })
                    .collect(),
            ),
            ("finish_reason", json!(choice.finish_reason.as_str())),
            ("logprobs", json!(choice.logprobs)),
            ("extra", extra(&message.extra)),
        ])
    });
    object([
        ("id", json!(&*answer.id)),
        ("upstream_model", json!(&*answer.upstream_model)),
        ("choices", choices.collect()),
        ("usage", json!(answer.usage)),
        ("extra", extra(&answer.extra)),
    ])
}

/// Stream events as JSON, for snapshots.
pub(crate) fn events_json(events: &[StreamEvent]) -> Value {
    events.iter().map(event_json).collect()
}

fn event_json(event: &StreamEvent) -> Value {
    match event {
        StreamEvent::Start(head) => json!({
            "start": object([
                ("id", json!(&*head.id)),
                ("upstream_model", json!(&*head.upstream_model)),
                ("extra", extra(&head.extra)),
            ])
        }),
        StreamEvent::Delta(delta) => json!({
            "delta": object([
                ("choice", json!((delta.choice > 0).then_some(delta.choice))),
                ("content", json!(delta.content)),
                ("reasoning", json!(delta.reasoning)),
                ("reasoning_details", blocks(&delta.reasoning_details)),
                ("refusal", json!(delta.refusal)),
                (
                    "tool_calls",
                    delta
                        .tool_calls
                        .iter()
                        .map(|call| {
                            object([
                                ("index", json!(call.index)),
                                ("id", json!(call.id)),
                                ("name", json!(call.name)),
                                ("arguments", json!(call.arguments)),
                                ("signature", json!(call.signature)),
                            ])
                        })
                        .collect(),
                ),
                ("finish_reason", json!(delta.finish_reason.map(|reason| reason.as_str()))),
                ("logprobs", json!(delta.logprobs)),
                ("extra", extra(&delta.extra)),
            ])
        }),
        StreamEvent::Usage(usage) => json!({ "usage": usage }),
        StreamEvent::End => json!("end"),
    }
}

fn blocks(blocks: &[ReasoningBlock]) -> Value {
    blocks
        .iter()
        .map(|block| match block {
            ReasoningBlock::Text { text, signature } => {
                object([("text", json!(text)), ("signature", json!(signature))])
            }
            ReasoningBlock::Redacted { data } => object([("redacted", json!(data))]),
        })
        .collect()
}

fn extra(members: &[Member]) -> Value {
    Value::Object(
        members
            .iter()
            .map(|member| (member.name.to_string(), member.value.decode().expect("valid JSON")))
            .collect(),
    )
}

/// An object of the members that say something.
fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    members
        .into_iter()
        .filter(|(_, value)| !empty(value))
        .map(|(name, value)| (name.to_owned(), value))
        .collect::<Map<_, _>>()
        .into()
}

/// What a recorded stream's `bytes` come to when they arrive in pieces that end at `cuts`.
pub(crate) fn replay(
    mut decoder: Box<dyn StreamDecoder>,
    bytes: &[u8],
    cuts: &[usize],
) -> (Vec<StreamEvent>, Result<(), StreamError>) {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.push(bytes.len());
    cuts.sort_unstable();
    let mut framing = SseDecoder::new(1 << 20);
    let (mut frames, mut events, mut at) = (Vec::new(), Vec::new(), 0);
    for cut in cuts {
        framing.push(Bytes::copy_from_slice(&bytes[at..cut]), &mut frames).expect("frames");
        at = cut;
    }
    framing.finish(&mut frames).expect("a last frame");
    for frame in &frames {
        if let Err(error) = decoder.frame(frame, &mut events) {
            return (events, Err(error));
        }
    }
    decoder.end(&mut events);
    (events, Ok(()))
}
