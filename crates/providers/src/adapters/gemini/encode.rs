//! A chat request as a `GenerateContentRequest`.

use bytes::Bytes;
use http::Request;
use sluice_core::chat::{ChatRequest, ResponseFormat, Tool, ToolChoice};
use sluice_core::json::JsonText;

use super::contents::conversation;
use super::generation::Generation;
use super::unsupported;
use super::wire::{
    FunctionCallingConfig, FunctionDeclaration, GenerateContentRequest, GenerationConfig,
    ToolConfig, Tools,
};
use crate::endpoint::Target;
use crate::error::Unsupported;
use crate::request;

/// Most texts in `stopSequences`.
const STOPS: usize = 5;
/// Largest `candidateCount`.
const CANDIDATES: u32 = 8;
/// Largest `logprobs`.
const TOP_LOGPROBS: u32 = 20;

/// Members without a name in Sluice's vocabulary that change what is generated, so that leaving
/// them out would answer another request than the one that was asked. Others only hint, or speak
/// of OpenAI's own housekeeping.
const UNKNOWN_TO_GEMINI: [&str; 5] =
    ["logit_bias", "functions", "function_call", "audio", "web_search_options"];

/// The HTTP request for `chat`.
pub(super) fn encode(chat: &ChatRequest, target: &Target) -> Result<Request<Bytes>, Unsupported> {
    let generation = Generation::of(&target.upstream_model);
    refuse_unknown(chat)?;
    let conversation = conversation(&chat.messages, generation)?;
    let body = GenerateContentRequest {
        system_instruction: conversation.system_instruction,
        contents: conversation.contents,
        tools: tools(&chat.tools)?,
        tool_config: tool_config(chat)?,
        generation_config: generation_config(chat, target, generation)?,
    };
    let body = serde_json::to_vec(&body)
        .map_err(|_| unsupported("messages", "cannot be written as JSON"))?;
    request::post(target, &path(&target.upstream_model, chat.stream), body)
}

/// The method's path. A name with a slash (`tunedModels/…`) says its collection itself.
fn path(model: &str, stream: bool) -> String {
    let collection = if model.contains('/') { "" } else { "models/" };
    let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    format!("/v1beta/{collection}{model}:{method}")
}

fn refuse_unknown(chat: &ChatRequest) -> Result<(), Unsupported> {
    for member in &chat.extra {
        let is_empty = member.value.is_null() || matches!(member.value.as_str(), "{}" | "[]");
        if UNKNOWN_TO_GEMINI.contains(&&*member.name) && !is_empty {
            return Err(unsupported(&*member.name, "has no counterpart in Gemini"));
        }
        let wants_text_only = || member.value.decode::<Vec<String>>().is_ok_and(|m| m == ["text"]);
        if member.name == "modalities" && !is_empty && !wants_text_only() {
            return Err(unsupported("modalities", "asks for more than text"));
        }
    }
    Ok(())
}

fn tools(tools: &[Tool]) -> Result<Vec<Tools<'_>>, Unsupported> {
    let mut function_declarations = Vec::with_capacity(tools.len());
    for (index, tool) in tools.iter().enumerate() {
        if tool.other.is_some() {
            let reason = "is not of type `function`, the only one that Gemini takes";
            return Err(unsupported(format!("tools[{index}]"), reason));
        }
        function_declarations.push(FunctionDeclaration {
            name: tool.name.decode(),
            description: tool.description.as_ref().map(JsonText::decode),
            parameters_json_schema: tool.parameters.as_ref().filter(|schema| !schema.is_null()),
        });
    }
    if function_declarations.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![Tools { function_declarations }])
}

fn tool_config(chat: &ChatRequest) -> Result<Option<ToolConfig<'_>>, Unsupported> {
    if chat.tools.is_empty() {
        return match &chat.tool_choice {
            Some(ToolChoice::Required | ToolChoice::Function(_)) => {
                Err(unsupported("tool_choice", "asks for a call, but `tools` is empty"))
            }
            _ => Ok(None),
        };
    }
    if chat.parallel_tool_calls == Some(false) && chat.tool_choice != Some(ToolChoice::None) {
        let reason = "is false, but Gemini cannot be kept from calling several functions in a turn";
        return Err(unsupported("parallel_tool_calls", reason));
    }
    let mut allowed_function_names = Vec::new();
    let mode = match &chat.tool_choice {
        None => return Ok(None),
        Some(ToolChoice::Auto) => "AUTO",
        Some(ToolChoice::None) => "NONE",
        Some(ToolChoice::Required) => "ANY",
        Some(ToolChoice::Function(name)) => {
            allowed_function_names.push(name.decode());
            "ANY"
        }
        Some(ToolChoice::Other(_)) => {
            return Err(unsupported("tool_choice", "has a form that Gemini has no counterpart of"));
        }
    };
    Ok(Some(ToolConfig {
        function_calling_config: FunctionCallingConfig { mode, allowed_function_names },
    }))
}

fn generation_config<'a>(
    chat: &'a ChatRequest,
    target: &Target,
    generation: Generation,
) -> Result<GenerationConfig<'a>, Unsupported> {
    if chat.stop.len() > STOPS {
        return Err(unsupported("stop", format!("holds more than {STOPS} texts, Gemini's limit")));
    }
    if chat.n > CANDIDATES {
        return Err(unsupported("n", format!("is more than {CANDIDATES}, Gemini's limit")));
    }
    if chat.top_logprobs.is_some_and(|top| top > TOP_LOGPROBS) {
        let reason = format!("is more than {TOP_LOGPROBS}, Gemini's limit");
        return Err(unsupported("top_logprobs", reason));
    }
    let Ok(seed) = chat.seed.map(i32::try_from).transpose() else {
        return Err(unsupported("seed", "does not fit into Gemini's 32 bits"));
    };
    let thinking_config = match chat.reasoning_effort {
        Some(effort) => generation.thinking(&target.upstream_model, effort)?,
        None => None,
    };
    let (response_mime_type, response_json_schema) = match &chat.response_format {
        None | Some(ResponseFormat::Text) => (None, None),
        Some(ResponseFormat::JsonObject) => (Some("application/json"), None),
        Some(ResponseFormat::JsonSchema { schema, .. }) => {
            (Some("application/json"), schema.as_ref())
        }
        Some(ResponseFormat::Other(_)) => {
            return Err(unsupported("response_format", "has a form that Gemini does not know"));
        }
    };
    if response_mime_type.is_some() && !chat.tools.is_empty() && generation < Generation::Three {
        let reason = "asks for JSON together with `tools`, which Gemini takes from version 3 on";
        return Err(unsupported("response_format", reason));
    }
    Ok(GenerationConfig {
        candidate_count: (chat.n > 1).then_some(chat.n),
        stop_sequences: chat.stop.iter().map(JsonText::decode).collect(),
        max_output_tokens: target.max_tokens,
        temperature: chat.temperature,
        top_p: chat.top_p,
        seed,
        presence_penalty: chat.presence_penalty,
        frequency_penalty: chat.frequency_penalty,
        response_logprobs: chat.logprobs.then_some(true),
        logprobs: chat.top_logprobs.filter(|top| chat.logprobs && *top > 0),
        response_mime_type,
        response_json_schema,
        thinking_config,
    })
}
