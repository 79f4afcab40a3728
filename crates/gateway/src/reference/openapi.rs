//! The table as an OpenAPI 3.1 document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    ENDPOINTS, EVERY_RESPONSE, Endpoint, ErrorLine, Header, Parameter, SCHEMAS, Schema, errors,
};

/// The document of the deployment at `base_url` (`https://sluice.example.org/api/v1`).
pub fn openapi(base_url: &str) -> Value {
    let mut paths = Map::new();
    for endpoint in ENDPOINTS {
        let path = paths.entry(endpoint.short_path()).or_insert_with(|| json!({}));
        path[endpoint.method.to_lowercase()] = operation(endpoint);
    }
    let schemas = SCHEMAS.iter().map(|schema| (schema.name.to_owned(), object(schema)));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Sluice",
            "description": "A gateway before language models, in the dialect of OpenAI's chat completions.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "servers": [{ "url": base_url }],
        "security": [{ "bearer": [] }, { "header": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas.collect::<Map<_, _>>(),
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "a service key: `svc_ent_…`" },
                "header": { "type": "apiKey", "in": "header", "name": "svc-api-key" },
            },
        },
    })
}

fn operation(endpoint: &Endpoint) -> Value {
    let mut responses = Map::new();
    let mut content = json!({ "application/json": media(endpoint.answer) });
    if let Some(events) = endpoint.events {
        // What an event holds; a stream of them has no schema of its own in this version.
        content["text/event-stream"] = json!({ "schema": reference(events) });
    }
    let own = endpoint.headers.iter().copied().flatten();
    responses.insert(
        "200".to_owned(),
        json!({
            "description": endpoint.summary,
            "headers": headers(EVERY_RESPONSE.iter().chain(own)),
            "content": content,
        }),
    );
    let mut by_status: BTreeMap<u16, Vec<&ErrorLine>> = BTreeMap::new();
    for error in errors::EVERYWHERE.iter().chain(endpoint.errors) {
        by_status.entry(error.status).or_default().push(error);
    }
    for (status, errors) in by_status {
        let lines = errors.iter().map(|error| format!("`{}`: {}", error.code, error.when));
        responses.insert(
            status.to_string(),
            json!({
                "description": lines.collect::<Vec<_>>().join("\n\n"),
                "headers": headers(EVERY_RESPONSE),
                "content": { "application/json": { "schema": reference("Error") } },
            }),
        );
    }
    let mut operation = json!({
        "operationId": endpoint.id,
        "summary": endpoint.summary,
        "responses": responses,
    });
    if let Some(scope) = endpoint.scope {
        operation["description"] = format!("The key needs the scope `{}`.", scope.as_str()).into();
    }
    if !endpoint.parameters.is_empty() {
        operation["parameters"] = endpoint.parameters.iter().map(parameter).collect();
    }
    if let Some(request) = endpoint.request {
        let content = json!({ "application/json": media(request) });
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    operation
}

fn media((name, example): (&str, &str)) -> Value {
    let example: Value = serde_json::from_str(example).unwrap_or_default();
    json!({ "schema": reference(name), "example": example })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.says,
        "schema": { "type": "string" },
    })
}

fn headers<'h>(headers: impl IntoIterator<Item = &'h Header>) -> Value {
    let header = |it: &Header| {
        let value = json!({ "description": it.says, "schema": { "type": "string" } });
        (it.name.to_owned(), value)
    };
    headers.into_iter().map(header).collect::<Map<_, _>>().into()
}

fn object(schema: &Schema) -> Value {
    let field = |it: &super::Field| {
        let mut kind = it.kind.to_json();
        kind["description"] = it.says.into();
        (it.name.to_owned(), kind)
    };
    let required = schema.fields.iter().filter(|field| field.is_required);
    json!({
        "type": "object",
        "description": schema.says,
        "properties": schema.fields.iter().map(field).collect::<Map<_, _>>(),
        "required": required.map(|field| field.name).collect::<Vec<_>>(),
    })
}
