//! Schemas and the instances that they get, reviewed by eye and against a validator.

use serde_json::{Value, json};

use super::super::material::Material;
use super::instance;

const PROMPT: &str = "Weather in \"Paris\" for 3 days, unit: kelvin.";

fn check(schema: &Value, expected: &Value) {
    let made = instance(schema, &mut Material::of(PROMPT, &[]));
    assert_eq!(made, *expected, "{schema}");
}

#[test]
fn members_come_from_the_prompt() {
    check(
        &json!({
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1, "maximum": 7},
                "unit": {"type": "string"},
                "verbose": {"type": "boolean"},
            },
            "required": ["city", "days", "unit"],
            "additionalProperties": false,
        }),
        &json!({"city": "Paris", "days": 3, "unit": "kelvin"}),
    );
}

#[test]
fn where_nothing_is_required_everything_is_filled() {
    check(
        &json!({"properties": {"unit": {"enum": ["celsius", "kelvin"]}, "exact": {"type": "boolean"}}}),
        &json!({"unit": "celsius", "exact": true}),
    );
    check(&json!({"type": "object"}), &json!({}));
    check(&json!({"type": "object", "properties": {}}), &json!({}));
}

#[test]
fn scalars_keep_their_bounds() {
    let cases = [
        (json!({"type": "integer"}), json!(3)),
        (json!({"type": "integer", "minimum": 10}), json!(10)),
        (json!({"type": "integer", "maximum": -1}), json!(-1)),
        (json!({"type": "integer", "exclusiveMinimum": 3}), json!(4)),
        (json!({"type": "number", "minimum": 3, "exclusiveMinimum": true}), json!(3.5)),
        (json!({"type": "number", "exclusiveMaximum": 3}), json!(2.5)),
        (json!({"type": "integer", "multipleOf": 5}), json!(5)),
        (json!({"type": "number", "exclusiveMinimum": 0, "maximum": 0.3}), json!(0.15)),
        (json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.5)),
        (json!({"type": "integer", "multipleOf": 5, "maximum": 4}), json!(0)),
        (json!({"type": "number", "minimum": 0.2, "maximum": 0.4}), json!(0.2)),
        (json!({"type": "string", "maxLength": 2}), json!("Pa")),
        (json!({"type": "string", "minLength": 8}), json!("Paris...")),
        (json!({"type": "string", "pattern": "^[a-z]{2}-[0-9]+$"}), json!("aa-1")),
        (json!({"type": "string", "format": "date"}), json!("2030-01-01")),
        (json!({"type": "string", "format": "email"}), json!("simulated0@example.org")),
        (json!({"type": ["null", "string"]}), json!("Paris")),
        (json!({"type": "null"}), json!(null)),
        (json!({"const": {"a": 1}}), json!({"a": 1})),
        (json!({"enum": [null, 2]}), json!(null)),
        (json!(true), json!("Paris")),
        (json!({}), json!("Paris")),
    ];
    for (schema, expected) in cases {
        check(&schema, &expected);
    }
}

#[test]
fn arrays_have_their_lengths() {
    let cases = [
        (json!({"type": "array", "items": {"type": "integer"}}), json!([3])),
        (json!({"type": "array", "items": {"type": "integer"}, "minItems": 3}), json!([3, 1, 1])),
        (json!({"type": "array", "maxItems": 0}), json!([])),
        (
            json!({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": true}),
            json!(["a", "b"]),
        ),
        (
            json!({"items": {"type": "string", "maxLength": 4}, "minItems": 2, "uniqueItems": true}),
            json!(["Pari", "We 2"]),
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "null"}], "items": false}),
            json!([true, null]),
        ),
    ];
    for (schema, expected) in cases {
        check(&schema, &expected);
    }
}

#[test]
fn references_and_combinations_are_followed() {
    check(
        &json!({
            "$ref": "#/$defs/trip",
            "$defs": {
                "trip": {"type": "object", "properties": {"to": {"$ref": "#/$defs/a~1b"}}, "required": ["to"]},
                "a/b": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            },
        }),
        &json!({"to": "Paris"}),
    );
    check(
        &json!({
            "allOf": [
                {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
                {"properties": {"b": {"const": "x"}}, "required": ["b"]},
            ],
            "type": "object",
        }),
        &json!({"a": 3, "b": "x"}),
    );
    check(
        &json!({"type": "object", "required": ["b"], "minProperties": 2}),
        &json!({"b": "Paris", "member_1": PROMPT}),
    );
}

#[test]
fn recursion_ends_where_the_schema_lets_it() {
    let list = json!({
        "type": "object",
        "properties": {
            "value": {"const": 1},
            "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
            "children": {"type": "array", "items": {"$ref": "#"}},
        },
        "required": ["value", "next", "children"],
    });
    let made = instance(&list, &mut Material::of("", &[]));
    assert!(holds(&made), "{made}");

    fn holds(node: &Value) -> bool {
        let children = node["children"].as_array().is_some_and(|nodes| nodes.iter().all(holds));
        node["value"] == 1 && children && (node["next"].is_null() || holds(&node["next"]))
    }
}

#[test]
fn hostile_schemas_end() {
    let schemas = [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}, "required": ["a", "b"]}),
        json!({"type": "array", "items": {"$ref": "#"}, "minItems": 1_000_000_000}),
        json!({"type": "string", "minLength": 1_000_000_000}),
        json!({"type": "string", "pattern": "((((a{99}){99}){99}){99})"}),
        json!({"type": "object", "minProperties": u64::MAX}),
        json!({"type": "wrong", "enum": [], "required": 7, "properties": 8}),
    ];
    for schema in schemas {
        let made = instance(&schema, &mut Material::of(PROMPT, &[]));
        assert!(made.to_string().len() < 1_000_000, "{schema}");
    }
}
