#[path = "../../examples/api_docs/markdown.rs"]
mod markdown;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::*;
use crate::reference;
use markdown::fill;

#[test]
fn a_path_leads_to_its_endpoint() {
    for (path, expected) in [
        ("/api/v1/models", Some((Operation::Models, ""))),
        ("/api/v1/models/svc/auto", Some((Operation::Model, "svc/auto"))),
        ("/api/v1/chat/completions", Some((Operation::Chat, ""))),
        ("/api/v1/models/", None),
        ("/api/v1/models/{id}", Some((Operation::Model, "{id}"))),
        ("/api/v1/model", None),
        ("/api/v1", None),
        ("", None),
    ] {
        let found = find(path).map(|(endpoint, place)| (endpoint.operation, place));
        assert_eq!(found, expected, "{path}");
    }
}

/// Every place that refers to another, in an object or list at any depth.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_object_is_used_and_every_reference_leads_somewhere() {
    let document = openapi("https://sluice.example.org/api/v1");
    let mut referred = BTreeSet::new();
    references(&document, &mut referred);
    let objects = SCHEMAS.iter().map(|it| format!("#/components/schemas/{}", it.name));
    assert_eq!(referred, objects.collect());
}

#[test]
fn names_and_paths_are_unique() {
    let ids: BTreeSet<&str> = ENDPOINTS.iter().map(|it| it.id).collect();
    let paths: BTreeSet<_> = ENDPOINTS.iter().map(|it| (it.method, it.path)).collect();
    let codes: BTreeSet<_> = ERRORS.iter().map(|it| it.code).collect();
    assert_eq!((ids.len(), paths.len()), (ENDPOINTS.len(), ENDPOINTS.len()));
    assert_eq!((codes.len(), ERRORS.len()), (ERRORS.len(), errors::NAMES.len()));
    for schema in SCHEMAS {
        let names: BTreeSet<_> = schema.fields.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), schema.fields.len(), "{}", schema.name);
    }
    for endpoint in ENDPOINTS {
        assert!(endpoint.path.starts_with(BASE), "{}", endpoint.path);
        let places = endpoint.parameters.iter().filter(|it| it.place == "path").count();
        assert_eq!(places, endpoint.path.matches('{').count(), "{}", endpoint.path);
    }
}

/// Whether an example has the shape of an object of the table.
fn fits(value: &Value, name: &str) {
    let schema = schema(name).unwrap();
    let members = value.as_object().unwrap();
    for field in schema.fields {
        match members.get(field.name) {
            None => assert!(!field.is_required, "{name} has no {}", field.name),
            Some(value) => value_fits(value, field.kind, &format!("{name}.{}", field.name)),
        }
    }
    for member in members.keys() {
        assert!(schema.fields.iter().any(|it| it.name == member), "{name} has {member}");
    }
}

fn value_fits(value: &Value, kind: Kind, place: &str) {
    let is_one = match kind {
        Kind::Text => value.is_string(),
        Kind::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Kind::Integer(..) => value.is_i64() || value.is_u64(),
        Kind::Number(..) | Kind::AnyNumber => value.is_number(),
        Kind::Boolean => value.is_boolean(),
        Kind::Object => value.is_object(),
        Kind::Map(of) => {
            let members = value.as_object().unwrap();
            members.values().for_each(|it| value_fits(it, *of, place));
            true
        }
        Kind::List(of) | Kind::Some(of) => {
            value.as_array().unwrap().iter().for_each(|it| value_fits(it, *of, place));
            true
        }
        Kind::Of(name) => {
            fits(value, name);
            true
        }
        // The first of them is the usual one.
        Kind::Either(kinds) => return value_fits(value, kinds[0], place),
        Kind::OrNull(_) if value.is_null() => true,
        Kind::OrNull(of) => return value_fits(value, *of, place),
    };
    assert!(is_one, "{place} is {value}");
}

#[test]
fn examples_are_what_their_objects_say() {
    for endpoint in ENDPOINTS {
        for (name, example) in [Some(endpoint.answer), endpoint.request].into_iter().flatten() {
            fits(&serde_json::from_str(example).unwrap(), name);
        }
    }
}

#[test]
fn the_manual_has_these_tables() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(fill(&page).unwrap() == page, "write it again: cargo xtask api-docs");
    for name in
        ["endpoints", "headers", "filter-headers", "router-headers", "budget-headers", "errors"]
    {
        assert!(page.contains(&format!("<!-- table {name} -->")), "{name}");
    }
    assert!(fill("<!-- table errors -->").is_err());
    assert!(fill("<!-- table none --><!-- end -->").is_err());
}
