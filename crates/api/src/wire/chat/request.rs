//! From a body's bytes to a checked request. Every refusal names its field.

use bytes::Bytes;
use bytestring::ByteString;
use sluice_core::chat::{
    ChatRequest, ReasoningEffort, RequestOptions, ResponseFormat, Tool, ToolChoice,
};
use sluice_core::json::scan::{self, Bounded, Raw};
use sluice_core::json::{JsonText, Member};
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_core::scan_object;
use sluice_core::sealed::SealedPlaces;
use sluice_core::source::{CHAT_MEMBERS, Dialect, OWN_MEMBERS, Source};

use super::fields::{
    boolean, integer, missing, number, out_of_bounds, raw, text, too_many, word, wrong_type,
};
use super::messages::{Counts, breakpoint, message};
use super::problem::diagnose;
use super::top::{MESSAGES, TOOLS, Top, WireTool};
use crate::error::ApiError;

const EFFORTS: &str = "one of \"none\", \"minimal\", \"low\", \"medium\", \"high\", \"xhigh\"";

/// Texts at which an answer may be told to stop. Providers take four or five.
const STOPS: usize = 256;

/// A checked request from a body's bytes.
pub fn parse(body: Bytes) -> Result<ChatRequest, ApiError> {
    let body = ByteString::try_from(body)
        .map_err(|_| ApiError::InvalidJson { problem: "it is not valid UTF-8".to_owned() })?;
    read(body)
}

fn read(body: ByteString) -> Result<ChatRequest, ApiError> {
    let top: Top<'_> = scan::read(&body).map_err(|error| diagnose(&body, &error))?;
    let source = Source {
        dialect: Dialect::OpenAiChat,
        members: top.members(&body),
        body_bytes: body.len(),
        reader: |body| read(body).ok(),
    };
    chat(&top, &body, source)
}

fn chat(top: &Top<'_>, body: &ByteString, source: Source) -> Result<ChatRequest, ApiError> {
    let model = model(top, body)?;
    let Some(wire_messages) = &top.messages else {
        return Err(missing("messages", "an array with at least one message"));
    };
    if wire_messages.count == 0 {
        return Err(out_of_bounds("messages", "[]", "at least one message"));
    }
    if wire_messages.count > MESSAGES {
        return Err(too_many("messages", wire_messages.count, MESSAGES, "messages"));
    }
    let mut messages = Vec::with_capacity(wire_messages.count);
    let mut counts = Counts::default();
    for (i, wire) in wire_messages.elements.iter().enumerate() {
        messages.push(message(i, wire, body, &mut counts)?);
    }
    let mut tools = Vec::new();
    if let Some(wire_tools) = &top.tools {
        if wire_tools.count > TOOLS {
            return Err(too_many("tools", wire_tools.count, TOOLS, "tools"));
        }
        for (i, (wire, whole)) in wire_tools.elements.iter().enumerate() {
            tools.push(tool(i, wire, *whole, body)?);
        }
    }
    let number = |name: &str, bounds| top.value(name).map(|v| number(name, v, bounds)).transpose();
    let whole = |name: &str, bounds| top.value(name).map(|v| integer(name, v, bounds)).transpose();
    let flag = |name: &str| top.value(name).map(|v| boolean(name, v)).transpose();
    let small = |name: &str, bounds| {
        whole(name, bounds).map(|value| value.and_then(|value| u32::try_from(value).ok()))
    };
    if let Some(value) = top.value("metadata")
        && !value.get().starts_with('{')
    {
        return Err(wrong_type("metadata", value, "an object"));
    }
    let at_least_one = (1, i64::from(u32::MAX));
    let older = small("max_tokens", at_least_one)?;
    let newer = small("max_completion_tokens", at_least_one)?;
    Ok(ChatRequest {
        model,
        messages,
        tools,
        tool_choice: top.value("tool_choice").map(|v| tool_choice(v, body)).transpose()?,
        parallel_tool_calls: flag("parallel_tool_calls")?,
        response_format: top
            .value("response_format")
            .map(|v| response_format(v, body))
            .transpose()?,
        max_tokens: newer.or(older),
        temperature: number("temperature", (0.0, 2.0))?,
        top_p: number("top_p", (0.0, 1.0))?,
        frequency_penalty: number("frequency_penalty", (-2.0, 2.0))?,
        presence_penalty: number("presence_penalty", (-2.0, 2.0))?,
        stop: top.value("stop").map(|v| stop(v, body)).transpose()?.unwrap_or_default(),
        seed: whole("seed", (i64::MIN, i64::MAX))?,
        n: small("n", (1, 128))?.unwrap_or(1),
        logprobs: flag("logprobs")?.unwrap_or(false),
        top_logprobs: small("top_logprobs", (0, 20))?,
        reasoning_effort: reasoning_effort(top)?,
        user: top.value("user").map(|v| text("user", v, body)).transpose()?,
        stream: flag("stream")?.unwrap_or(false),
        include_usage: include_usage(top)?,
        options: options(top)?,
        extra: source
            .members
            .iter()
            .filter(|member| !is_known(&member.name))
            .map(|member| Member { name: member.name.clone(), value: member.value.clone() })
            .collect(),
        source,
        unread: SealedPlaces::NONE,
    })
}

/// Whether the vocabulary has a name for a member.
fn is_known(name: &str) -> bool {
    CHAT_MEMBERS.contains(&name) || OWN_MEMBERS.contains(&name)
}

fn model(top: &Top<'_>, body: &ByteString) -> Result<ByteString, ApiError> {
    let Some(value) = top.value("model") else {
        return Err(missing("model", "the id of a model or router, such as one of GET /models"));
    };
    let model = text("model", value, body)?;
    let model = model.decode();
    if model.is_empty() {
        return Err(out_of_bounds("model", "\"\"", "the id of a model or router"));
    }
    Ok(ByteString::from(&*model))
}

fn tool(
    i: usize,
    wire: &WireTool<'_>,
    whole: Raw<'_>,
    body: &ByteString,
) -> Result<Tool, ApiError> {
    let path = |name: &str| format!("tools[{i}].{name}");
    let Some(kind) = &wire.kind else { return Err(missing(path("type"), "a string")) };
    if &**kind != "function" {
        return Ok(provider_tool(whole, body));
    }
    let Some(function) = &wire.function else {
        return Err(missing(path("function"), "an object with a `name`"));
    };
    let Some(name) = function.name else {
        return Err(missing(path("function.name"), "a string"));
    };
    let parameters = match function.parameters {
        Some(value) if !value.get().starts_with('{') => {
            return Err(wrong_type(&path("function.parameters"), value, "a JSON Schema object"));
        }
        value => value.map(|value| raw(value, body)),
    };
    Ok(Tool {
        name: text(&path("function.name"), name, body)?,
        description: function
            .description
            .map(|value| text(&path("function.description"), value, body))
            .transpose()?,
        parameters,
        strict: function
            .strict
            .map(|value| boolean(&path("function.strict"), value))
            .transpose()?,
        cache_breakpoint: breakpoint(wire.cache_control),
        other: None,
    })
}

/// A tool of another type, kept whole.
fn provider_tool(whole: Raw<'_>, body: &ByteString) -> Tool {
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    let other = raw(whole, body);
    let name = other.decode::<Named>().map(|tool| tool.name).unwrap_or_default();
    Tool {
        name: name.into(),
        description: None,
        parameters: None,
        strict: None,
        cache_breakpoint: None,
        other: Some(other),
    }
}

fn tool_choice(value: Raw<'_>, body: &ByteString) -> Result<ToolChoice, ApiError> {
    const EXPECTED: &str = "\"auto\", \"none\", \"required\", or {\"type\": \"function\", \"function\": {\"name\": …}}";
    match value.get().as_bytes().first() {
        Some(b'"') => {
            return match &*text("tool_choice", value, body)?.decode() {
                "auto" => Ok(ToolChoice::Auto),
                "none" => Ok(ToolChoice::None),
                "required" => Ok(ToolChoice::Required),
                _ => Err(out_of_bounds("tool_choice", value.get(), EXPECTED)),
            };
        }
        Some(b'{') => {}
        _ => return Err(wrong_type("tool_choice", value, EXPECTED)),
    }
    scan_object! {
        struct Choice<'a> {
            kind = "type": Raw<'a>,
            function: Raw<'a>,
        }
    }
    scan_object! {
        struct Named<'a> {
            name: Raw<'a>,
        }
    }
    let choice: Choice<'_> =
        value.read().map_err(|_| wrong_type("tool_choice", value, EXPECTED))?;
    let kind = choice.kind.map(|kind| text("tool_choice.type", kind, body)).transpose()?;
    if kind.is_some_and(|kind| kind.decode() != "function") {
        return Ok(ToolChoice::Other(raw(value, body)));
    }
    let Some(function) = choice.function else {
        return Err(missing("tool_choice.function", "an object with a `name`"));
    };
    let named: Named<'_> = function
        .read()
        .map_err(|_| wrong_type("tool_choice.function", function, "an object with a `name`"))?;
    let Some(name) = named.name else {
        return Err(missing("tool_choice.function.name", "a string"));
    };
    Ok(ToolChoice::Function(text("tool_choice.function.name", name, body)?))
}

fn response_format(value: Raw<'_>, body: &ByteString) -> Result<ResponseFormat, ApiError> {
    scan_object! {
        struct Format<'a> {
            kind = "type": Raw<'a>,
            json_schema: Raw<'a>,
        }
    }
    scan_object! {
        struct Schema<'a> {
            name: Raw<'a>,
            description: Raw<'a>,
            schema: Raw<'a>,
            strict: Raw<'a>,
        }
    }
    let format: Format<'_> = value
        .read()
        .map_err(|_| wrong_type("response_format", value, "an object with a `type`"))?;
    let Some(kind) = format.kind else {
        return Err(missing(
            "response_format.type",
            "\"text\", \"json_object\" or \"json_schema\"",
        ));
    };
    match &*text("response_format.type", kind, body)?.decode() {
        "text" => Ok(ResponseFormat::Text),
        "json_object" => Ok(ResponseFormat::JsonObject),
        "json_schema" => {
            const FIELD: &str = "response_format.json_schema";
            let expected = "an object with `name` and `schema`";
            let Some(value) = format.json_schema else { return Err(missing(FIELD, expected)) };
            let schema: Schema<'_> =
                value.read().map_err(|_| wrong_type(FIELD, value, expected))?;
            let field = |name: &str| format!("{FIELD}.{name}");
            let Some(name) = schema.name else { return Err(missing(field("name"), "a string")) };
            if let Some(value) = schema.schema
                && !value.get().starts_with('{')
            {
                return Err(wrong_type(&field("schema"), value, "a JSON Schema object"));
            }
            Ok(ResponseFormat::JsonSchema {
                name: text(&field("name"), name, body)?,
                description: schema
                    .description
                    .map(|value| text(&field("description"), value, body))
                    .transpose()?,
                schema: schema.schema.map(|value| raw(value, body)),
                strict: schema.strict.map(|value| boolean(&field("strict"), value)).transpose()?,
            })
        }
        _ => Ok(ResponseFormat::Other(raw(value, body))),
    }
}

fn stop(value: Raw<'_>, body: &ByteString) -> Result<Vec<JsonText>, ApiError> {
    const EXPECTED: &str = "a string or an array of strings";
    match value.get().as_bytes().first() {
        Some(b'"') => Ok(vec![text("stop", value, body)?]),
        Some(b'[') => {
            let values: Bounded<Raw<'_>, STOPS> =
                value.read().map_err(|_| wrong_type("stop", value, EXPECTED))?;
            if values.count > STOPS {
                return Err(too_many("stop", values.count, STOPS, "texts"));
            }
            let text = |(i, value)| text(&format!("stop[{i}]"), value, body);
            values.elements.into_iter().enumerate().map(text).collect()
        }
        _ => Err(wrong_type("stop", value, EXPECTED)),
    }
}

/// `reasoning_effort`, or OpenRouter's `reasoning.effort`.
fn reasoning_effort(top: &Top<'_>) -> Result<Option<ReasoningEffort>, ApiError> {
    if let Some(value) = top.value("reasoning_effort") {
        return word("reasoning_effort", value, ReasoningEffort::parse, EFFORTS).map(Some);
    }
    scan_object! {
        struct Reasoning<'a> {
            effort: Raw<'a>,
        }
    }
    let Some(value) = top.value("reasoning") else { return Ok(None) };
    let reasoning: Reasoning<'_> =
        value.read().map_err(|_| wrong_type("reasoning", value, "an object"))?;
    let effort = reasoning.effort;
    effort
        .map(|effort| word("reasoning.effort", effort, ReasoningEffort::parse, EFFORTS))
        .transpose()
}

fn include_usage(top: &Top<'_>) -> Result<bool, ApiError> {
    scan_object! {
        struct StreamOptions<'a> {
            include_usage: Raw<'a>,
        }
    }
    let Some(value) = top.value("stream_options") else { return Ok(false) };
    let options: StreamOptions<'_> =
        value.read().map_err(|_| wrong_type("stream_options", value, "an object"))?;
    let flag = options.include_usage.map(|v| boolean("stream_options.include_usage", v));
    flag.transpose().map(|flag| flag.unwrap_or(false))
}

fn options(top: &Top<'_>) -> Result<RequestOptions, ApiError> {
    const LEVELS: &str = "one of \"standard\", \"high\", \"maximum\"";
    const REGIONS: &str = "one of \"us-east\", \"us-west\", \"eu-west\", \"asia-pacific\"";
    let flag = |name: &str| top.value(name).map(|v| boolean(name, v)).transpose();
    Ok(RequestOptions {
        security_level: top
            .value("security_level")
            .map(|v| word("security_level", v, SecurityLevel::parse, LEVELS))
            .transpose()?,
        region: top
            .value("region")
            .map(|v| word("region", v, Region::parse, REGIONS))
            .transpose()?,
        audit_enabled: flag("audit_enabled")?.unwrap_or(false),
        zero_retention: flag("zero_retention")?.unwrap_or(false),
    })
}
