//! What is wrong with a body that could not be taken apart.
//!
//! Parsing stops at the first problem without naming the place; here the body is read again,
//! slowly, until the place is found.

use serde_json::Value;

use super::fields::missing;
use crate::error::ApiError;

/// The error for `body`, whose parsing failed with `error`.
pub(super) fn diagnose(body: &str, error: &serde_json::Error) -> ApiError {
    let value: Value = match serde_json::from_str(body) {
        Ok(value) => value,
        Err(error) => return ApiError::InvalidJson { problem: described(&error) },
    };
    find(&value).unwrap_or_else(|| ApiError::InvalidJson { problem: described(error) })
}

fn find(body: &Value) -> Option<ApiError> {
    if !body.is_object() {
        return Some(wrong("the request body", body, "an object"));
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
            None | Some(Value::Null) => return Some(missing(format!("tools[{i}].type"), "a string")),
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

/// serde's words. They name members and places, never values: values of wrong types were found
/// above.
fn described(error: &serde_json::Error) -> String {
    if error.is_data() && !error.to_string().starts_with("duplicate field") {
        return format!("at line {} column {}", error.line(), error.column());
    }
    error.to_string()
}
