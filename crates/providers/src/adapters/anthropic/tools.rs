//! Functions that the model may call, and whether it has to.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};
use sluice_core::chat::{ChatRequest, Tool as ChatTool, ToolChoice as ChatToolChoice};
use sluice_core::json::RawJson;

use super::model::Model;
use super::unsupported;
use super::wire::{CacheControl, Text, Tool, ToolChoice};
use crate::error::Unsupported;

/// The tools of a request.
pub(super) fn tools<'a>(tools: &'a [ChatTool], model: Model) -> Result<Vec<Tool<'a>>, Unsupported> {
    let mut all = Vec::with_capacity(tools.len());
    for (index, tool) in tools.iter().enumerate() {
        if let Some(other) = &tool.other {
            if !is_anthropics_own(other) {
                let reason = "is neither a function nor one of Anthropic's own tools";
                return Err(unsupported(format!("tools[{index}]"), reason));
            }
            all.push(Tool::Anthropic(other));
            continue;
        }
        let strict = tool.strict.unwrap_or(false);
        if strict && !model.takes_schemas() {
            let field = format!("tools[{index}].function.strict");
            return Err(unsupported(field, "is set, but this model holds arguments to no schema"));
        }
        let Some(input_schema) = input_schema(tool.parameters.as_ref()) else {
            let field = format!("tools[{index}].function.parameters");
            return Err(unsupported(field, "is not a JSON Schema of an object"));
        };
        all.push(Tool::Function {
            name: Text::new(&tool.name),
            description: tool.description.as_ref().map(Text::new),
            input_schema,
            strict,
            cache_control: CacheControl::of(tool.cache_breakpoint.as_ref()),
        });
    }
    Ok(all)
}

/// The schema of a function's arguments. OpenAI takes none at all, and one without a type, for an
/// object; Anthropic wants the word.
fn input_schema(parameters: Option<&RawJson>) -> Option<Cow<'_, RawJson>> {
    #[derive(Deserialize)]
    struct Schema {
        r#type: Option<Value>,
    }
    let Some(parameters) = parameters.filter(|parameters| !parameters.is_null()) else {
        let empty = RawJson::trusted(r#"{"type":"object","properties":{}}"#.into());
        return Some(Cow::Owned(empty));
    };
    if parameters.decode::<Schema>().ok()?.r#type.is_some() {
        return Some(Cow::Borrowed(parameters));
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.extend(parameters.decode::<Map<String, Value>>().ok()?);
    RawJson::from_value(&schema).ok().map(Cow::Owned)
}

/// Whether a tool that is not a function is Anthropic's: their types end in a date
/// (`web_search_20250305`).
fn is_anthropics_own(tool: &RawJson) -> bool {
    #[derive(Deserialize)]
    struct Kind {
        r#type: String,
    }
    let Ok(Kind { r#type }) = tool.decode() else {
        return false;
    };
    r#type
        .rsplit_once('_')
        .is_some_and(|(_, date)| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether and which function has to be called.
pub(super) fn choice(chat: &ChatRequest) -> Result<Option<ToolChoice<'_>>, Unsupported> {
    let disable_parallel_tool_use = chat.parallel_tool_calls == Some(false);
    Ok(match &chat.tool_choice {
        Some(ChatToolChoice::Auto | ChatToolChoice::None) if chat.tools.is_empty() => None,
        None if disable_parallel_tool_use && !chat.tools.is_empty() => {
            Some(ToolChoice::Auto { disable_parallel_tool_use })
        }
        None => None,
        Some(ChatToolChoice::Auto) => Some(ToolChoice::Auto { disable_parallel_tool_use }),
        Some(ChatToolChoice::None) => Some(ToolChoice::None),
        Some(ChatToolChoice::Required) => Some(ToolChoice::Any { disable_parallel_tool_use }),
        Some(ChatToolChoice::Function(name)) => {
            Some(ToolChoice::Tool { name: Text::new(name), disable_parallel_tool_use })
        }
        Some(ChatToolChoice::Other(_)) => {
            let reason = "is neither auto, none, required nor a function, which Anthropic takes";
            return Err(unsupported("tool_choice", reason));
        }
    })
}
