//! Bodies that are no request.

/// Whole bodies.
pub(crate) const BODIES: &[(&str, &str)] = &[
    (
        "",
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: EOF while parsing a value at line 1 column 0",
    ),
    (
        "{",
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: EOF while parsing an object at line 1 column 1",
    ),
    (
        r#"{"model":"mock""#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: EOF while parsing an object at line 1 column 15",
    ),
    (
        r#"{"model":"mo"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: EOF while parsing a string at line 1 column 12",
    ),
    (
        r#"{"model":"mock","messages":[{"role":"user","content":"hi"}]}}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: trailing characters at line 1 column 61",
    ),
    (
        r#"{"model":"mock","messages":[{"role":"user","content":"hi"}]} {}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: trailing characters at line 1 column 62",
    ),
    (
        "[]",
        "400 invalid_request_error invalid_type -: `request body` is an array; expected an object",
    ),
    (
        "null",
        "400 invalid_request_error invalid_type -: `request body` is null; expected an object",
    ),
    (
        r#""x""#,
        "400 invalid_request_error invalid_type -: `request body` is a string; expected an object",
    ),
    (
        "5",
        "400 invalid_request_error invalid_type -: `request body` is a number; expected an object",
    ),
    (
        "{'model':'mock'}",
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: key must be a string at line 1 column 2",
    ),
    (
        r#"{"model":"mock",}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: trailing comma at line 1 column 17",
    ),
    (
        r#"{"model":"mock" "messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: expected `,` or `}` at line 1 column 17",
    ),
    (
        r#"{model:"mock"}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: key must be a string at line 1 column 2",
    ),
    (
        r#"// hi\n{}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: expected value at line 1 column 1",
    ),
    (
        r#"{"model":"mock","temperature":NaN,"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: expected value at line 1 column 31",
    ),
    (
        r#"{"model":"mock","temperature":01,"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: invalid number at line 1 column 32",
    ),
    (
        "{}",
        "400 invalid_request_error missing_field model: `model` is missing; expected the id of a model or router, such as one of GET /models",
    ),
    (
        r#"{"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error missing_field model: `model` is missing; expected the id of a model or router, such as one of GET /models",
    ),
    (
        r#"{"model":null,"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error missing_field model: `model` is missing; expected the id of a model or router, such as one of GET /models",
    ),
    (
        r#"{"model":5,"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_type model: `model` is a number; expected a string",
    ),
    (
        r#"{"model":"","messages":[{"role":"user","content":"hi"}]}"#,
        "400 validation_error invalid_parameter model: `model` is \"\"; expected the id of a model or router",
    ),
    (
        r#"{"model":"mock"}"#,
        "400 invalid_request_error missing_field messages: `messages` is missing; expected an array with at least one message",
    ),
    (
        r#"{"model":"gpt-9","messages":[{"role":"user","content":"hi"}]}"#,
        "404 invalid_request_error model_not_found model: model `gpt-9` is not served here; GET /api/v1/models lists those that are",
    ),
    (
        r#"{"model":"Mock","messages":[{"role":"user","content":"hi"}]}"#,
        "404 invalid_request_error model_not_found model: model `Mock` is not served here; GET /api/v1/models lists those that are",
    ),
    (
        r#"{"model":"mock","model":"mock","messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: duplicate field `model` at line 1 column 23",
    ),
    (
        "{\"model\":\"mock\",\"messages\":[{\"role\":\"user\",\"content\":\"a\\u0001\"}],\"x\":\"\u{1}\"}",
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: control character (\\u0000-\\u001F) found while parsing a string at line 1 column 71",
    ),
];
