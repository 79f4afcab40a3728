//! An instance of a JSON Schema: arguments of a call, or a JSON answer.
//!
//! Follows `type`, `properties`, `required`, `enum`, `const`, `items`, `prefixItems`, the bounds
//! of numbers, texts and arrays, `multipleOf`, `uniqueItems`, `minProperties`, `pattern`, the usual
//! `format`s, local `$ref`s, `allOf`, `anyOf`, `oneOf`. Does not follow `not`, `if`, `contains`,
//! `patternProperties` or `dependentRequired`. Required members are filled, and all members where
//! the schema requires none; recursion ends as early as the schema allows.

use serde_json::{Map, Value, json};

use super::layers::Layers;
use super::material::Material;
use super::pattern;

/// From this depth on, everything optional is left out.
const DEEP: u32 = 6;
/// At this depth a schema that demands more has no finite instance.
const BOTTOM: u32 = 32;
/// Values that one instance may have; a schema can ask for exponentially many.
const MOST_VALUES: u32 = 2_000;
/// Longest array or text that a bound can ask for.
const LONGEST: u64 = 4_096;

/// An instance of `schema`, filled from `material`.
pub(super) fn instance(schema: &Value, material: &mut Material<'_>) -> Value {
    let mut builder = Builder { root: schema, material, values: 0 };
    builder.value(schema, Place { name: "", nth: 0, depth: 0 })
}

/// Where in the instance a value stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The member's name; an array's elements have the array's.
    name: &'a str,
    /// The position in an array whose elements have to differ, else 0.
    nth: u64,
    depth: u32,
}

struct Builder<'a, 'm, 'p> {
    root: &'a Value,
    material: &'m mut Material<'p>,
    values: u32,
}

impl<'a> Builder<'a, '_, '_> {
    fn value(&mut self, schema: &'a Value, place: Place<'_>) -> Value {
        self.values += 1;
        if place.depth > BOTTOM || self.values > MOST_VALUES {
            return Value::Null;
        }
        let schema = Layers::of(self.root, schema, self.is_deep(place));
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let values = schema.list("enum");
        if !values.is_empty() {
            let nth = usize::try_from(place.nth).unwrap_or(0) % values.len();
            return values[nth].clone();
        }
        match schema.kind() {
            "object" => self.object(&schema, place),
            "array" => self.array(&schema, place),
            "integer" => self.number(&schema, place, true),
            "number" => self.number(&schema, place, false),
            "boolean" => Value::Bool(place.nth.is_multiple_of(2)),
            "null" => Value::Null,
            _ => Value::String(self.text(&schema, place)),
        }
    }

    fn is_deep(&self, place: Place<'_>) -> bool {
        place.depth >= DEEP || self.values > MOST_VALUES / 2
    }

    fn object(&mut self, schema: &Layers<'a>, place: Place<'_>) -> Value {
        let properties = schema.properties();
        let required = schema.required();
        let least = schema.count("minProperties").unwrap_or(0).min(LONGEST);
        let all = required.is_empty() && !self.is_deep(place);
        let mut object = Map::new();
        // The order of `properties` is the one that people wrote down.
        for &(name, property) in &properties {
            if (all || required.contains(&name)) && !object.contains_key(name) {
                object.insert(name.to_owned(), self.member(property, name, place));
            }
        }
        // A required member that is not described may hold what `additionalProperties` allows.
        let other = schema.get("additionalProperties").unwrap_or(&Value::Null);
        for name in required {
            if !object.contains_key(name) {
                object.insert(name.to_owned(), self.member(other, name, place));
            }
        }
        for (name, property) in properties {
            if (object.len() as u64) < least && !object.contains_key(name) {
                object.insert(name.to_owned(), self.member(property, name, place));
            }
        }
        for number in 1..=least.saturating_sub(object.len() as u64) {
            let name = format!("member_{number}");
            let value = self.member(other, &name, place);
            object.insert(name, value);
        }
        Value::Object(object)
    }

    fn member(&mut self, schema: &'a Value, name: &str, place: Place<'_>) -> Value {
        self.value(schema, Place { name, nth: place.nth, depth: place.depth + 1 })
    }

    fn array(&mut self, schema: &Layers<'a>, place: Place<'_>) -> Value {
        let least = schema.count("minItems").unwrap_or(0);
        let most = schema.count("maxItems").unwrap_or(LONGEST).min(LONGEST);
        let first = schema.list("prefixItems");
        let described = first.len() as u64;
        let items = schema.get("items").unwrap_or(&Value::Null);
        let length = match items {
            Value::Bool(false) => described,
            _ if self.is_deep(place) => least,
            _ => described.max(1).max(least),
        };
        let differ = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let elements = (0..length.min(most)).map(|index| {
            let described = usize::try_from(index).ok().and_then(|index| first.get(index));
            let nth = if differ { index } else { 0 };
            self.value(
                described.unwrap_or(items),
                Place { name: place.name, nth, depth: place.depth + 1 },
            )
        });
        Value::Array(elements.collect())
    }

    fn number(&mut self, schema: &Layers<'a>, place: Place<'_>, whole: bool) -> Value {
        let unit = schema.get("multipleOf").and_then(Value::as_f64).filter(|unit| *unit > 0.0);
        let step = unit.unwrap_or(1.0);
        let on_grid = whole || unit.is_some();
        let inside = if on_grid { step } else { 0.5 };
        let low = schema.limit("minimum", "exclusiveMinimum", inside);
        let high = schema.limit("maximum", "exclusiveMaximum", -inside);
        let further = place.nth as f64 * step;
        let mut number = self.material.number(place.name).unwrap_or(1.0) + further;
        if low.is_some_and(|low| number < low) || high.is_some_and(|high| number > high) {
            number = match (low, high) {
                (Some(low), Some(high)) if low > high => middle(schema).unwrap_or(low),
                (Some(low), _) => low + further,
                (None, high) => high.unwrap_or(number) - further,
            };
        }
        if on_grid {
            let up = (number / step).ceil() * step;
            let too_high = high.is_some_and(|high| up > high);
            number = if too_high { (number / step).floor() * step } else { up };
        }
        if number.fract() == 0.0 && number.abs() < 9e15 {
            #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
            return json!(number as i64);
        }
        json!(number)
    }

    fn text(&mut self, schema: &Layers<'a>, place: Place<'_>) -> String {
        let length =
            |key| schema.count(key).and_then(|length| usize::try_from(length.min(LONGEST)).ok());
        let least = length("minLength").unwrap_or(0);
        let format = schema.get("format").and_then(Value::as_str);
        if let Some(text) = format.and_then(|format| formatted(format, place.nth)) {
            return text;
        }
        let pattern = schema.get("pattern").and_then(Value::as_str);
        if let Some(text) = pattern.and_then(|pattern| pattern::example(pattern, least)) {
            return text;
        }
        let mut text = self.material.text(place.name);
        let mark = if place.nth == 0 { String::new() } else { format!(" {}", place.nth + 1) };
        if let Some(most) = length("maxLength") {
            text = text.chars().take(most.saturating_sub(mark.len())).collect();
        }
        text.push_str(&mark);
        let missing = least.saturating_sub(text.chars().count());
        text.extend(std::iter::repeat_n('.', missing));
        text
    }
}

/// The middle of a range, which is inside it even where the bounds are excluded.
fn middle(schema: &Layers<'_>) -> Option<f64> {
    let low = schema.limit("minimum", "exclusiveMinimum", f64::MIN_POSITIVE)?;
    let high = schema.limit("maximum", "exclusiveMaximum", -f64::MIN_POSITIVE)?;
    Some(f64::midpoint(low, high))
}

/// An example of a `format` (JSON Schema validation, section 7.3), a different one for each `nth`.
fn formatted(format: &str, nth: u64) -> Option<String> {
    let digit = nth % 10;
    Some(match format {
        "date-time" => format!("2030-01-0{}T12:00:00Z", digit.max(1)),
        "date" => format!("2030-01-0{}", digit.max(1)),
        "time" => format!("12:00:0{digit}Z"),
        "duration" => format!("PT{}M", nth + 1),
        "email" | "idn-email" => format!("simulated{nth}@example.org"),
        "hostname" | "idn-hostname" => format!("host{nth}.example.org"),
        "ipv4" => format!("192.0.2.{}", nth % 255),
        "ipv6" => format!("2001:db8::{nth:x}"),
        "uri" | "url" | "iri" | "uri-reference" => format!("https://example.org/{nth}"),
        "uuid" => format!("00000000-0000-4000-8000-{nth:012x}"),
        _ => return None,
    })
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
