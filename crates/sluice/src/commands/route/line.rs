//! One line of input: a chat request, and what to choose from.
//!
//! Everything that is no member of `explain`'s own goes through the same code as a request to the
//! API, so that a line means what the request would.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead};

use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;
use sluice_api::wire::chat::parse;
use sluice_core::chat::ChatRequest;

/// A request to decide about.
pub(super) struct Question {
    /// What its answer is told by.
    pub(super) id: Value,
    /// The router that it names.
    pub(super) router: Option<String>,
    /// What to choose from instead of the router's own members.
    pub(super) candidates: Option<Value>,
    /// The request.
    pub(super) chat: ChatRequest,
}

/// What is wrong with a line: names the field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine(pub(super) String);

impl BadLine {
    /// `field` is wrong: what it is, and what it should be.
    pub(super) fn field(field: impl fmt::Display, what: impl fmt::Display) -> Self {
        Self(format!("`{field}` {what}"))
    }
}

/// Reads the next line that is not empty into `line`; its number counts from 1. `None` at the end.
pub(super) fn next(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    number: &mut u64,
) -> io::Result<Option<()>> {
    loop {
        line.clear();
        if input.read_until(b'\n', line)? == 0 {
            return Ok(None);
        }
        *number += 1;
        if !line.trim_ascii().is_empty() {
            return Ok(Some(()));
        }
    }
}

/// A line's question. A request without a `model` is one to `router`.
pub(super) fn question(line: &[u8], router: &str) -> Result<Question, BadLine> {
    let text = std::str::from_utf8(line.trim_ascii())
        .map_err(|_| BadLine("is not valid UTF-8".to_owned()))?;
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(text)
        .map_err(|error| BadLine(format!("is no JSON object: {}", in_one_line(&error))))?;
    let mut own = |name: &str| -> Option<Value> {
        let value: Value = serde_json::from_str(members.remove(name)?.get()).ok()?;
        (!value.is_null()).then_some(value)
    };
    let id = own("id").unwrap_or(Value::Null);
    let candidates = own("candidates");
    let router_asked = match own("router") {
        None => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err(BadLine::field("router", "is no string; expected a router's id")),
    };

    let mut body = Vec::with_capacity(line.len() + 64);
    body.push(b'{');
    if members.get("model").is_none_or(|model| model.get() == "null") {
        members.remove("model");
        body.extend_from_slice(format!("\"model\":{}", Value::from(router)).as_bytes());
    }
    for (name, value) in &members {
        if body.len() > 1 {
            body.push(b',');
        }
        body.extend_from_slice(Value::from(name.as_str()).to_string().as_bytes());
        body.push(b':');
        body.extend_from_slice(value.get().as_bytes());
    }
    body.push(b'}');
    let chat = parse(Bytes::from(body)).map_err(|error| BadLine(error.to_string()))?;
    Ok(Question { id, router: router_asked, candidates, chat })
}

/// An error of JSON without the line that it always has: each text is one line of the input.
pub(super) fn in_one_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", ", column ")
}
