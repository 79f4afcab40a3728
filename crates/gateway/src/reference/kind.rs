//! What a field holds: as JSON Schema, and in words.

use serde_json::{Value, json};

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Any text.
    Text,
    /// One of these texts.
    Word(&'static [&'static str]),
    /// A whole number, from and to.
    Integer(Option<i64>, Option<i64>),
    /// A number, from and to.
    Number(f64, f64),
    /// A number of no bounds.
    AnyNumber,
    /// True or false.
    Boolean,
    /// An object of any members.
    Object,
    /// An object whose members are all of this.
    Map(&'static Kind),
    /// A list.
    List(&'static Kind),
    /// A list of at least one.
    Some(&'static Kind),
    /// An object of the table.
    Of(&'static str),
    /// Any of several.
    Either(&'static [Kind]),
    /// This or null.
    OrNull(&'static Kind),
}

impl Kind {
    /// As JSON Schema.
    pub fn to_json(self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::Word([word]) => json!({ "type": "string", "const": word }),
            Self::Word(words) => json!({ "type": "string", "enum": words }),
            Self::Integer(from, to) => {
                let mut schema = json!({ "type": "integer" });
                if let Some(from) = from {
                    schema["minimum"] = from.into();
                }
                if let Some(to) = to {
                    schema["maximum"] = to.into();
                }
                schema
            }
            Self::Number(from, to) => json!({ "type": "number", "minimum": from, "maximum": to }),
            Self::AnyNumber => json!({ "type": "number" }),
            Self::Boolean => json!({ "type": "boolean" }),
            Self::Object => json!({ "type": "object" }),
            Self::Map(of) => json!({ "type": "object", "additionalProperties": of.to_json() }),
            Self::List(of) => json!({ "type": "array", "items": of.to_json() }),
            Self::Some(of) => json!({ "type": "array", "items": of.to_json(), "minItems": 1 }),
            Self::Of(name) => json!({ "$ref": format!("#/components/schemas/{name}") }),
            Self::Either(kinds) => {
                json!({ "anyOf": kinds.iter().map(|kind| kind.to_json()).collect::<Vec<_>>() })
            }
            Self::OrNull(of) => json!({ "anyOf": [of.to_json(), { "type": "null" }] }),
        }
    }

    /// In words: `integer, 1 to 4096`.
    pub fn in_words(self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Word([word]) => format!("`{word}`"),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                words.join(", ")
            }
            Self::Integer(Some(from), Some(to)) => format!("integer, {from} to {to}"),
            Self::Integer(Some(from), None) => format!("integer, at least {from}"),
            Self::Integer(..) => "integer".to_owned(),
            Self::Number(from, to) => format!("number, {from:.1} to {to:.1}"),
            Self::AnyNumber => "number".to_owned(),
            Self::Boolean => "boolean".to_owned(),
            Self::Object | Self::Map(_) => "object".to_owned(),
            Self::List(of) | Self::Some(of) => match of {
                Self::Of(name) => format!("array of {name}"),
                Self::Text => "array of strings".to_owned(),
                _ => "array".to_owned(),
            },
            Self::Of(name) => name.to_owned(),
            Self::Either(kinds) => {
                let words: Vec<String> = kinds.iter().map(|kind| kind.in_words()).collect();
                words.join(" or ")
            }
            Self::OrNull(of) => format!("{} or null", of.in_words()),
        }
    }
}
