//! What is wrong with a body that could not be taken apart.
//!
//! Parsing stops at the first problem without naming the place; here the body is read again,
//! slowly, until the place is found.

use serde_json::Value;
use sluice_core::json::scan::{ScanError, ScanProblem};

use super::fields::missing;
use crate::error::{ApiError, BODY};

/// The error for `body`, whose reading failed with `error`.
pub(super) fn diagnose(body: &str, error: &ScanError) -> ApiError {
    match serde_json::from_str::<Value>(body) {
        Ok(value) => {
            find(&value).unwrap_or_else(|| ApiError::InvalidJson { problem: reason(body, error) })
        }
        Err(error) => ApiError::InvalidJson { problem: error.to_string() },
    }
}

fn find(body: &Value) -> Option<ApiError> {
    if !body.is_object() {
        return Some(wrong(BODY, body, "an object"));
    }
    if let Some(messages) = body.get("messages").filter(|messages| !messages.is_null()) {
        let Some(messages) = messages.as_array() else {
            return Some(wrong("messages", messages, "an array of messages"));
        };
        for (i, message) in messages.iter().enumerate() {
            if !message.is_object() {
                return Some(wrong(&format!("messages[{i}]"), message, "an object"));
            }
        }
    }
    let tools = body.get("tools").filter(|tools| !tools.is_null())?;
    let Some(tools) = tools.as_array() else {
        return Some(wrong("tools", tools, "an array of tools"));
    };
    for (i, tool) in tools.iter().enumerate() {
        if !tool.is_object() {
            return Some(wrong(&format!("tools[{i}]"), tool, "an object"));
        }
        match tool.get("type") {
            None | Some(Value::Null) => {
                return Some(missing(format!("tools[{i}].type"), "a string"));
            }
            Some(Value::String(_)) => {}
            Some(kind) => return Some(wrong(&format!("tools[{i}].type"), kind, "a string")),
        }
        if let Some(function) = tool.get("function")
            && !function.is_object()
            && !function.is_null()
        {
            return Some(wrong(&format!("tools[{i}].function"), function, "an object"));
        }
    }
    None
}

fn wrong(field: &str, value: &Value, expected: &'static str) -> ApiError {
    let got = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    ApiError::InvalidType { field: field.to_owned(), got, expected }
}

/// Why `text` could not be read: in serde's words where it is no JSON, else by the place. Neither
/// shows a value.
pub(super) fn reason(text: &str, error: &ScanError) -> String {
    if let ScanProblem::Duplicate(_) = error.problem {
        return error.to_string();
    }
    match serde_json::from_str::<Value>(text) {
        Err(error) => error.to_string(),
        Ok(_) => format!("at line {} column {}", error.line, error.column),
    }
}
