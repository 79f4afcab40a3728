//! What is wrong with a body that could not be taken apart.
//!
//! Parsing stops at the first problem without naming the place; here the body is read again,
//! slowly, until the place is found. Nothing of it is kept: a body that is wrong may be a large one.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use sluice_core::json::scan::{Cursor, Elements, Raw, Scan, ScanError, ScanProblem, read};

use super::fields::{kind_of, missing, wrong_type};
use crate::error::{ApiError, BODY};

/// The error for `body`, whose reading failed with `error`.
pub(super) fn diagnose(body: &str, error: &ScanError) -> ApiError {
    match serde_json::from_str::<Checked>(body) {
        Ok(Checked) => {
            find(body).unwrap_or_else(|| ApiError::InvalidJson { problem: reason(body, error) })
        }
        Err(error) => ApiError::InvalidJson { problem: error.to_string() },
    }
}

/// A body's two lists.
#[derive(Default)]
struct Outline<'a> {
    messages: Option<Raw<'a>>,
    tools: Option<Raw<'a>>,
}

impl<'a> Scan<'a> for Outline<'a> {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        let mut outline = Self::default();
        cursor.object(|cursor, name| {
            let value = Option::<Raw<'a>>::scan(cursor)?;
            match &*name {
                "messages" => outline.messages = value,
                "tools" => outline.tools = value,
                _ => {}
            }
            Ok(())
        })?;
        Ok(outline)
    }
}

/// The members of a tool that have to be of one type.
#[derive(Default)]
struct ToolOutline<'a> {
    kind: Option<Raw<'a>>,
    function: Option<Raw<'a>>,
}

impl<'a> Scan<'a> for ToolOutline<'a> {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        let mut outline = Self::default();
        cursor.object(|cursor, name| {
            let value = Option::<Raw<'a>>::scan(cursor)?;
            match &*name {
                "type" => outline.kind = value,
                "function" => outline.function = value,
                _ => {}
            }
            Ok(())
        })?;
        Ok(outline)
    }
}

fn find(body: &str) -> Option<ApiError> {
    let whole: Raw<'_> = read(body).ok()?;
    if kind_of(whole) != OBJECT {
        return Some(wrong_type(BODY, whole, OBJECT));
    }
    let outline: Outline<'_> = whole.read().ok()?;
    if let Some(messages) = outline.messages {
        if kind_of(messages) != ARRAY {
            return Some(wrong_type("messages", messages, "an array of messages"));
        }
        let wrong = first(messages, |i, message| {
            let is_object = kind_of(message) == OBJECT;
            (!is_object).then(|| wrong_type(&format!("messages[{i}]"), message, OBJECT))
        });
        if wrong.is_some() {
            return wrong;
        }
    }
    let tools = outline.tools?;
    if kind_of(tools) != ARRAY {
        return Some(wrong_type("tools", tools, "an array of tools"));
    }
    first(tools, |i, tool| {
        if kind_of(tool) != OBJECT {
            return Some(wrong_type(&format!("tools[{i}]"), tool, OBJECT));
        }
        let outline: ToolOutline<'_> = tool.read().ok()?;
        let Some(kind) = outline.kind else {
            return Some(missing(format!("tools[{i}].type"), STRING));
        };
        if kind_of(kind) != STRING {
            return Some(wrong_type(&format!("tools[{i}].type"), kind, STRING));
        }
        let function = outline.function.filter(|function| kind_of(*function) != OBJECT)?;
        Some(wrong_type(&format!("tools[{i}].function"), function, OBJECT))
    })
}

const OBJECT: &str = "an object";
const ARRAY: &str = "an array";
const STRING: &str = "a string";

/// The first error that `judge` finds among the elements of `list`.
fn first(
    list: Raw<'_>,
    mut judge: impl FnMut(usize, Raw<'_>) -> Option<ApiError>,
) -> Option<ApiError> {
    let mut elements = Elements::begin(list.get()).ok()?;
    let mut i = 0;
    while elements.next_at().ok()?.is_some() {
        if let Some(error) = judge(i, elements.read().ok()?) {
            return Some(error);
        }
        i += 1;
    }
    None
}

/// Why `text` could not be read: in serde's words where it is no JSON, else by the place. Neither
/// shows a value.
pub(super) fn reason(text: &str, error: &ScanError) -> String {
    if let ScanProblem::Duplicate(_) | ScanProblem::Members(_) = error.problem {
        return error.to_string();
    }
    match serde_json::from_str::<Checked>(text) {
        Err(error) => error.to_string(),
        Ok(Checked) => format!("at line {} column {}", error.line, error.column),
    }
}

/// Any JSON value, read in full as `serde_json::Value` reads it, and forgotten at once.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self, A::Error> {
        while let Some(Self) = elements.next_element()? {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while let Some((Self, Self)) = members.next_entry()? {}
        Ok(self)
    }
}
