//! Reading single values, each with an error that names the field, what it is and what it should
//! be.

use bytestring::ByteString;
use sluice_core::json::scan::Raw;
use sluice_core::json::{JsonText, RawJson};

use crate::error::ApiError;

/// What a JSON value is, in words.
pub(super) fn kind_of(value: Raw<'_>) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The error for a value of another type.
pub(super) fn wrong_type(field: &str, value: Raw<'_>, expected: &'static str) -> ApiError {
    ApiError::InvalidType { field: field.to_owned(), got: kind_of(value), expected }
}

/// The error for a value out of bounds.
pub(super) fn out_of_bounds(field: &str, value: &str, expected: impl Into<String>) -> ApiError {
    let value = match value.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    };
    ApiError::InvalidParameter { field: field.to_owned(), value, expected: expected.into() }
}

/// The error for a list of `count` where `most` are taken.
pub(super) fn too_many(field: &str, count: usize, most: usize, what: &str) -> ApiError {
    ApiError::InvalidParameter {
        field: field.to_owned(),
        value: format!("a list with {count} {what}"),
        expected: format!("at most {most}"),
    }
}

/// The error for a value that is not there.
pub(super) fn missing(field: impl Into<String>, expected: &'static str) -> ApiError {
    ApiError::MissingField { field: field.into(), expected }
}

/// A number from `least` to `most`.
pub(super) fn number(
    field: &str,
    value: Raw<'_>,
    (least, most): (f64, f64),
) -> Result<f64, ApiError> {
    if kind_of(value) != "a number" {
        return Err(wrong_type(field, value, "a number"));
    }
    // One that no floating-point number can hold is out of bounds as well.
    match serde_json::from_str::<f64>(value.get()) {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => {
            let expected = format!("a number from {least:.1} to {most:.1}");
            Err(out_of_bounds(field, value.get(), expected))
        }
    }
}

/// An integer from `least` to `most`.
pub(super) fn integer(
    field: &str,
    value: Raw<'_>,
    (least, most): (i64, i64),
) -> Result<i64, ApiError> {
    let text = value.get();
    let first = text.as_bytes().first().copied().unwrap_or(b' ');
    if !(first.is_ascii_digit() || first == b'-') || text.contains(['.', 'e', 'E']) {
        return Err(wrong_type(field, value, "an integer"));
    }
    let expected = || match (least, most) {
        (i64::MIN, i64::MAX) => "an integer of 64 bits".to_owned(),
        (_, most) if most == i64::from(u32::MAX) => MAX_TOKENS_BOUNDS.to_owned(),
        (least, most) => format!("an integer from {least} to {most}"),
    };
    match text.parse::<i64>() {
        Ok(integer) if (least..=most).contains(&integer) => Ok(integer),
        _ => Err(out_of_bounds(field, text, expected())),
    }
}

/// The bounds of the one integer whose upper bound depends on the key.
const MAX_TOKENS_BOUNDS: &str = "an integer from 1 to 4096, or to the model's own output limit \
                                 with a key made by `sluice keys create --max-tokens model`";

/// `true` or `false`.
pub(super) fn boolean(field: &str, value: Raw<'_>) -> Result<bool, ApiError> {
    match value.get() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong_type(field, value, "true or false")),
    }
}

/// A string, as the literal that it is in `body`.
pub(super) fn text(field: &str, value: Raw<'_>, body: &ByteString) -> Result<JsonText, ApiError> {
    if value.get().starts_with('"') {
        Ok(JsonText::trusted_literal(body.slice_ref(value.get())))
    } else {
        Err(wrong_type(field, value, "a string"))
    }
}

/// A string that is one of a few words.
pub(super) fn word<T>(
    field: &str,
    value: Raw<'_>,
    parse: impl Fn(&str) -> Option<T>,
    words: &'static str,
) -> Result<T, ApiError> {
    let text: String =
        serde_json::from_str(value.get()).map_err(|_| wrong_type(field, value, words))?;
    parse(&text).ok_or_else(|| out_of_bounds(field, value.get(), words))
}

/// Any value, as it is in `body`.
pub(super) fn raw(value: Raw<'_>, body: &ByteString) -> RawJson {
    RawJson::trusted(body.slice_ref(value.get()))
}
