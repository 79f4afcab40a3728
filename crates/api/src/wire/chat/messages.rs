//! Messages and their parts.

use bytestring::ByteString;
use sluice_core::chat::{CacheBreakpoint, Content, Message, Part, ReasoningBlock, Role, ToolCall};
use sluice_core::json::scan::{Bounded, Raw, Scan};
use sluice_core::json::{JsonText, Member, RawJson};
use sluice_core::scan_object;
use sluice_core::wire::Str;

use super::fields::{kind_of, missing, out_of_bounds, raw, text, too_many, wrong_type};
use super::problem::reason;
use super::top::WireMessage;
use crate::error::ApiError;

scan_object! {
    struct WirePart<'a> {
        kind = "type": Raw<'a>,
        text: Raw<'a>,
        image_url: Raw<'a>,
        cache_control: Raw<'a>,
    }
}

scan_object! {
    struct WireImage<'a> {
        url: Raw<'a>,
        detail: Raw<'a>,
    }
}

scan_object! {
    struct WireCall<'a> {
        id: Raw<'a>,
        kind = "type": Raw<'a>,
        function: Raw<'a>,
        cache_control: Raw<'a>,
        extra_content: Raw<'a>,
    }
}

scan_object! {
    struct WireCalled<'a> {
        name: Raw<'a>,
        arguments: Raw<'a>,
    }
}

const ROLES: &str = "one of \"system\", \"developer\", \"user\", \"assistant\", \"tool\"";
const CONTENT: &str = "a string or an array of content parts";

/// Content parts that all messages of a request may have together; as many calls of tools, and as
/// many pieces of thoughts.
const PIECES: usize = 50_000;

/// What all messages of a request have together, so far.
#[derive(Default)]
pub(super) struct Counts {
    parts: usize,
    calls: usize,
    thoughts: usize,
}

pub(super) fn message(
    i: usize,
    wire: &WireMessage<'_>,
    body: &ByteString,
    counts: &mut Counts,
) -> Result<Message, ApiError> {
    let path = |name: &str| format!("messages[{i}].{name}");
    let Some(role) = wire.role else { return Err(missing(path("role"), ROLES)) };
    let role = role_of(role, &path("role"))?;
    let content = content(i, role, wire, body, &mut counts.parts)?;
    let tool_call_id = match wire.tool_call_id {
        Some(id) => Some(text(&path("tool_call_id"), id, body)?),
        None if role == Role::Tool => {
            return Err(missing(path("tool_call_id"), "the id of the call that this answers"));
        }
        None => None,
    };
    let name = wire.name.map(|name| text(&path("name"), name, body)).transpose()?;
    Ok(Message {
        role,
        content,
        name,
        tool_calls: wire
            .tool_calls
            .map(|calls| tool_calls(&path("tool_calls"), calls, body, &mut counts.calls))
            .transpose()?
            .unwrap_or_default(),
        tool_call_id,
        reasoning: reasoning(wire.reasoning_details, &mut counts.thoughts)?,
        cache_breakpoint: breakpoint(wire.cache_control),
        extra: members(&wire.rest, body),
    })
}

fn role_of(value: Raw<'_>, field: &str) -> Result<Role, ApiError> {
    let literal = value.get();
    let word: Str<'_> =
        serde_json::from_str(literal).map_err(|_| wrong_type(field, value, ROLES))?;
    if let Some(role) = Role::parse(&word) {
        return Ok(role);
    }
    let hint = match &*word {
        "function" => format!("{ROLES} (results of functions have the role \"tool\")"),
        _ => ROLES.to_owned(),
    };
    Err(out_of_bounds(field, literal, hint))
}

fn content(
    i: usize,
    role: Role,
    wire: &WireMessage<'_>,
    body: &ByteString,
    count: &mut usize,
) -> Result<Content, ApiError> {
    let field = || format!("messages[{i}].content");
    let Some(value) = wire.content else {
        // A turn that only calls functions says nothing; clients send `null` or leave it out.
        return if role == Role::Assistant {
            Ok(Content::None)
        } else {
            Err(missing(field(), CONTENT))
        };
    };
    match value.get().as_bytes().first() {
        Some(b'"') => Ok(Content::Text(JsonText::trusted_literal(body.slice_ref(value.get())))),
        Some(b'[') => parts(&field(), value, body, count).map(Content::Parts),
        _ => Err(wrong_type(&field(), value, CONTENT)),
    }
}

fn parts(
    field: &str,
    value: Raw<'_>,
    body: &ByteString,
    count: &mut usize,
) -> Result<Vec<Part>, ApiError> {
    let elements = elements(field, value, count, "content parts")?;
    let mut parts = Vec::with_capacity(elements.len());
    for (j, element) in elements.into_iter().enumerate() {
        parts.push(part(&format!("{field}[{j}]"), element, body)?);
    }
    Ok(parts)
}

fn part(path: &str, element: Raw<'_>, body: &ByteString) -> Result<Part, ApiError> {
    // Old clients write a text part as a bare string.
    if element.get().starts_with('"') {
        return Ok(Part::Text { text: text(path, element, body)?, cache_breakpoint: None });
    }
    let wire: WirePart<'_> = object(path, element)?;
    let kind_field = || format!("{path}.type");
    let Some(kind) = wire.kind else { return Err(missing(kind_field(), "a string")) };
    let kind = text(&kind_field(), kind, body)?;
    let cache_breakpoint = breakpoint(wire.cache_control);
    match &*kind.decode() {
        "text" => {
            let field = format!("{path}.text");
            let Some(value) = wire.text else { return Err(missing(field, "a string")) };
            Ok(Part::Text { text: text(&field, value, body)?, cache_breakpoint })
        }
        "image_url" => {
            let field = format!("{path}.image_url");
            let Some(value) = wire.image_url else {
                return Err(missing(field, "an object with a `url`"));
            };
            if value.get().starts_with('"') {
                let url = image_url(&field, value, body)?;
                return Ok(Part::Image { url, detail: None, cache_breakpoint });
            }
            let image: WireImage<'_> = object(&field, value)?;
            let url_field = format!("{field}.url");
            let Some(url) = image.url else {
                return Err(missing(url_field, "an https: or data: URL"));
            };
            let url = image_url(&url_field, url, body)?;
            let detail = image
                .detail
                .map(|detail| text(&format!("{field}.detail"), detail, body))
                .transpose()?;
            Ok(Part::Image { url, detail, cache_breakpoint })
        }
        kind => Ok(Part::Other { kind: kind.into(), raw: raw(element, body) }),
    }
}

fn image_url(field: &str, value: Raw<'_>, body: &ByteString) -> Result<JsonText, ApiError> {
    let url = text(field, value, body)?;
    let decoded = url.decode();
    if ["https://", "http://", "data:"].iter().any(|scheme| decoded.starts_with(scheme)) {
        return Ok(url);
    }
    // It may be a whole image: its beginning says enough.
    let value = match decoded.char_indices().nth(8) {
        Some((end, _)) => format!("\"{}…\"", &decoded[..end]),
        None => format!("\"{decoded}\""),
    };
    Err(out_of_bounds(field, &value, "an https: or data: URL"))
}

fn tool_calls(
    field: &str,
    value: Raw<'_>,
    body: &ByteString,
    count: &mut usize,
) -> Result<Vec<ToolCall>, ApiError> {
    let elements = elements(field, value, count, "calls of tools")?;
    let mut calls = Vec::with_capacity(elements.len());
    for (j, element) in elements.into_iter().enumerate() {
        let path = format!("{field}[{j}]");
        let wire: WireCall<'_> = object(&path, element)?;
        let Some(id) = wire.id else { return Err(missing(format!("{path}.id"), "a string")) };
        let function_field = format!("{path}.function");
        let Some(function) = wire.function else {
            return Err(missing(function_field, "an object with `name` and `arguments`"));
        };
        let called: WireCalled<'_> = object(&function_field, function)?;
        let name_field = format!("{function_field}.name");
        let Some(name) = called.name else { return Err(missing(name_field, "a string")) };
        calls.push(ToolCall {
            id: text(&format!("{path}.id"), id, body)?,
            name: text(&name_field, name, body)?,
            arguments: match called.arguments {
                Some(arguments) => text(&format!("{function_field}.arguments"), arguments, body)?,
                None => "".into(),
            },
            signature: signature(wire.extra_content),
            cache_breakpoint: breakpoint(wire.cache_control),
        });
    }
    Ok(calls)
}

/// The elements of a list, which add to the `count` of all such lists.
fn elements<'a>(
    field: &str,
    value: Raw<'a>,
    count: &mut usize,
    what: &str,
) -> Result<Vec<Raw<'a>>, ApiError> {
    let list: Bounded<Raw<'a>, PIECES> =
        value.read().map_err(|_| wrong_type(field, value, "an array"))?;
    counted(list, count, what)
}

/// A list's elements, where all such lists of the request together have not too many.
fn counted<'a>(
    list: Bounded<Raw<'a>, PIECES>,
    count: &mut usize,
    what: &str,
) -> Result<Vec<Raw<'a>>, ApiError> {
    *count += list.count;
    if *count > PIECES {
        return Err(too_many("messages", *count, PIECES, what));
    }
    Ok(list.elements)
}

fn object<'a, T: Scan<'a>>(field: &str, value: Raw<'a>) -> Result<T, ApiError> {
    value.read().map_err(|error| {
        if kind_of(value) == "an object" {
            ApiError::InvalidJson { problem: format!("`{field}`: {}", reason(value.get(), &error)) }
        } else {
            wrong_type(field, value, "an object")
        }
    })
}

/// `cache_control: {"type": "ephemeral", "ttl"?}`, as Anthropic's clients write it.
pub(super) fn breakpoint(value: Option<Raw<'_>>) -> Option<CacheBreakpoint> {
    #[derive(serde::Deserialize)]
    struct CacheControl {
        ttl: Option<String>,
    }
    let control: CacheControl = serde_json::from_str(value?.get()).ok()?;
    Some(CacheBreakpoint { ttl: control.ttl.map(ByteString::from) })
}

/// Thoughts that a client gives back, as OpenRouter writes them in `reasoning_details`. Pieces of
/// one streamed thought come one after the other and end with its signature.
fn reasoning(value: Option<Raw<'_>>, count: &mut usize) -> Result<Vec<ReasoningBlock>, ApiError> {
    #[derive(serde::Deserialize)]
    struct Entry {
        #[serde(rename = "type")]
        kind: String,
        text: Option<String>,
        signature: Option<String>,
        data: Option<String>,
    }
    let Some(Ok(list)) = value.map(Raw::read::<Bounded<Raw<'_>, PIECES>>) else {
        return Ok(Vec::new());
    };
    let entries = counted(list, count, "pieces of thoughts")?;
    let entries: Result<Vec<Entry>, _> =
        entries.into_iter().map(|entry| serde_json::from_str(entry.get())).collect();
    let Ok(entries) = entries else { return Ok(Vec::new()) };
    let mut blocks = Vec::new();
    let mut thought = String::new();
    for entry in entries {
        match (entry.kind.as_str(), entry.data) {
            ("reasoning.text", _) => {
                thought.push_str(entry.text.as_deref().unwrap_or(""));
                if let Some(signature) = entry.signature {
                    blocks.push(ReasoningBlock::Text {
                        text: std::mem::take(&mut thought).into(),
                        signature: Some(signature.into()),
                    });
                }
            }
            ("reasoning.encrypted", Some(data)) => {
                blocks.push(ReasoningBlock::Redacted { data: data.into() });
            }
            _ => {}
        }
    }
    if !thought.is_empty() {
        blocks.push(ReasoningBlock::Text { text: thought.into(), signature: None });
    }
    Ok(blocks)
}

/// `extra_content.google.thought_signature`, as Gemini's own OpenAI endpoint writes it.
fn signature(value: Option<Raw<'_>>) -> Option<JsonText> {
    #[derive(serde::Deserialize)]
    struct Extra {
        google: Google,
    }
    #[derive(serde::Deserialize)]
    struct Google {
        thought_signature: String,
    }
    let extra: Extra = serde_json::from_str(value?.get()).ok()?;
    Some(JsonText::plain(extra.google.thought_signature))
}

/// Members without a name of ours.
pub(super) fn members(rest: &[(Str<'_>, Raw<'_>)], body: &ByteString) -> Vec<Member> {
    rest.iter()
        .map(|(name, value)| Member {
            name: ByteString::from(&**name),
            value: RawJson::trusted(body.slice_ref(value.get())),
        })
        .collect()
}
