//! A request in OpenAI's dialect, made of the caller's own bytes.

use bytes::Bytes;
use http::Request;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sluice_core::chat::{ChatRequest, Content, Message, Part, Role};
use sluice_core::json::write_escaped;
use sluice_core::sealed::SealedPlaces;
use sluice_core::source::{Dialect, OWN_MEMBERS};

use crate::endpoint::Target;
use crate::error::Unsupported;
use crate::request::post;

pub(super) fn encode(chat: &ChatRequest, target: &Target) -> Result<Request<Bytes>, Unsupported> {
    let body = match chat.source.dialect {
        Dialect::OpenAiChat => splice(chat, target)?,
    };
    let path = if target.endpoint.quirks.model_in_path {
        format!("/deployments/{}/chat/completions", target.upstream_model)
    } else {
        "/chat/completions".to_owned()
    };
    post(target, &path, body)
}

/// The caller's members in the caller's order; only what has to change is written anew.
fn splice(chat: &ChatRequest, target: &Target) -> Result<Vec<u8>, Unsupported> {
    let quirks = target.endpoint.quirks;
    let mut object = ObjectWriter::with_capacity(chat.source.body_bytes + 128);
    let mut bound_name = None;
    for member in &chat.source.members {
        let name = &*member.name;
        let value = member.value.as_str();
        match name {
            "model" => object.text("model", &target.upstream_model),
            "max_tokens" | "max_completion_tokens" if !member.value.is_null() => {
                // Both at once say the same thing; the newer name wins.
                if bound_name != Some("max_completion_tokens") {
                    bound_name = Some(name);
                }
            }
            "stream_options" if chat.stream => {}
            "messages" => match reworked_messages(chat, target, value)? {
                Some(messages) => object.raw(name, &messages),
                None => object.raw(name, value),
            },
            "tools" if quirks.no_cache_control => match reworked_tools(chat, value) {
                Some(tools) => object.raw(name, &tools),
                None => object.raw(name, value),
            },
            _ if OWN_MEMBERS.contains(&name) => {}
            _ if quirks.no_unknown_members && chat.extra.iter().any(|m| m.name == name) => {}
            _ => object.raw(name, value),
        }
    }
    if let Some(max_tokens) = target.max_tokens {
        let name = match bound_name {
            _ if quirks.max_completion_tokens => "max_completion_tokens",
            _ if quirks.max_tokens => "max_tokens",
            Some(name) => name,
            None => "max_completion_tokens",
        };
        object.raw(name, &max_tokens.to_string());
    }
    if chat.stream && !quirks.no_stream_options {
        object.raw("stream_options", &stream_options(chat));
    }
    Ok(object.finish())
}

/// The caller's `stream_options` with the usage asked for: it is billed from the stream's end.
fn stream_options(chat: &ChatRequest) -> String {
    let sent = chat.source.members.iter().find(|member| member.name == "stream_options");
    let mut options: Map<String, Value> =
        sent.and_then(|member| member.value.decode().ok()).unwrap_or_default();
    options.insert("include_usage".to_owned(), Value::Bool(true));
    Value::Object(options).to_string()
}

/// The messages with what this service refuses taken out; `None` where nothing is to be done, so
/// that the caller's bytes stay.
fn reworked_messages(
    chat: &ChatRequest,
    target: &Target,
    json: &str,
) -> Result<Option<String>, Unsupported> {
    let quirks = target.endpoint.quirks;
    let foreign = chat.unread.without(target.endpoint.takes_back());
    let has_sealed = foreign != SealedPlaces::NONE && may_hold_sealed(json, foreign);
    let developer = |message: &Message| quirks.no_developer_role && message.role == Role::Developer;
    let breakpoints = |message: &Message| quirks.no_cache_control && has_breakpoint(message);
    let rewritten = |message: &Message| developer(message) || breakpoints(message);
    if !has_sealed && !chat.messages.iter().any(rewritten) {
        return Ok(None);
    }
    let Ok(raw) = serde_json::from_str::<Vec<&RawValue>>(json) else { return Ok(None) };
    let mut out = String::with_capacity(json.len());
    for (index, (message, raw)) in chat.messages.iter().zip(raw).enumerate() {
        out.push(if out.is_empty() { '[' } else { ',' });
        let is_sealed = has_sealed && may_hold_sealed(raw.get(), foreign);
        if !rewritten(message) && !is_sealed {
            out.push_str(raw.get());
            continue;
        }
        let mut value: Value = serde_json::from_str(raw.get()).map_err(|_| Unsupported {
            field: format!("messages[{index}]"),
            reason: "is nested too deeply to be rewritten for this service".to_owned(),
        })?;
        if developer(message) {
            value["role"] = Value::from("system");
        }
        if breakpoints(message) {
            drop_breakpoints(&mut value);
        }
        if is_sealed {
            drop_sealed(&mut value, foreign);
        }
        out.push_str(&value.to_string());
    }
    out.push(']');
    Ok(Some(out))
}

/// The tools without `cache_control`; `None` where there is none.
fn reworked_tools(chat: &ChatRequest, json: &str) -> Option<String> {
    if !chat.tools.iter().any(|tool| tool.cache_breakpoint.is_some()) {
        return None;
    }
    let mut tools: Vec<Value> = serde_json::from_str(json).ok()?;
    for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
        tool.shift_remove("cache_control");
    }
    Some(Value::Array(tools).to_string())
}

fn has_breakpoint(message: &Message) -> bool {
    let in_parts = match &message.content {
        Content::Parts(parts) => parts.iter().any(|part| match part {
            Part::Text { cache_breakpoint, .. } | Part::Image { cache_breakpoint, .. } => {
                cache_breakpoint.is_some()
            }
            Part::Other { .. } => false,
        }),
        _ => false,
    };
    in_parts
        || message.cache_breakpoint.is_some()
        || message.tool_calls.iter().any(|call| call.cache_breakpoint.is_some())
}

fn drop_breakpoints(message: &mut Value) {
    let mut drop_from = |value: &mut Value| {
        if let Some(object) = value.as_object_mut() {
            object.shift_remove("cache_control");
        }
    };
    drop_from(message);
    for list in ["content", "tool_calls"] {
        if let Some(entries) = message.get_mut(list).and_then(Value::as_array_mut) {
            entries.iter_mut().for_each(&mut drop_from);
        }
    }
}

/// Whether messages may hold something at one of `places`. The filter leaves nothing unread under a
/// name that is written with escapes.
fn may_hold_sealed(json: &str, places: SealedPlaces) -> bool {
    let has = |name: &str| memchr::memmem::find(json.as_bytes(), name.as_bytes()).is_some();
    places.thoughts && has("\"reasoning_details\"") || places.calls && has("\"thought_signature\"")
}

/// Takes out what another provider sealed: this one could not read it, and nobody else has.
fn drop_sealed(message: &mut Value, places: SealedPlaces) {
    if places.thoughts {
        let details = list(message, "reasoning_details");
        for detail in details.iter_mut().filter_map(Value::as_object_mut) {
            detail.shift_remove("signature");
            detail.shift_remove("data");
        }
    }
    if places.calls {
        for call in list(message, "tool_calls") {
            let google = call.get_mut("extra_content").and_then(|extra| extra.get_mut("google"));
            if let Some(google) = google.and_then(Value::as_object_mut) {
                google.shift_remove("thought_signature");
            }
        }
    }
}

/// The elements of a list in an object; none where it is no list.
fn list<'v>(object: &'v mut Value, name: &str) -> &'v mut [Value] {
    object.get_mut(name).and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

/// Writes one JSON object, member by member.
struct ObjectWriter(Vec<u8>);

impl ObjectWriter {
    fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    fn name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        write_escaped(name, &mut self.0);
        self.0.push(b':');
    }

    fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        self.0.extend_from_slice(json.as_bytes());
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        write_escaped(text, &mut self.0);
    }

    fn finish(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0
    }
}
