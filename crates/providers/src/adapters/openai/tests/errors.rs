//! Failures.

use http::{HeaderMap, StatusCode};

use super::target;
use crate::adapter::Adapter;
use crate::adapters::openai::OpenAiChat;
use crate::endpoint::Quirks;
use crate::error::{ProviderError, ProviderErrorKind};

fn classify(status: u16, body: &str) -> ProviderError {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", "3".parse().unwrap());
    let status = StatusCode::from_u16(status).unwrap();
    OpenAiChat.classify(status, &headers, body.as_bytes(), &target("m", Quirks::default()))
}

#[test]
fn failures_are_sorted_by_who_is_at_fault() {
    use ProviderErrorKind::{
        BadRequest, ContentBlocked, ContextLength, Credential, ModelNotFound, RateLimited,
        ServerError, Timeout, Unavailable,
    };
    for (status, body, kind, message) in [
        // OpenAI
        (
            400,
            r#"{"error":{"message":"Invalid type","type":"invalid_request_error","param":"messages","code":null}}"#,
            BadRequest,
            "Invalid type",
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            ContextLength,
            "This model's maximum context length is 128000 tokens.",
        ),
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided: test-key.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            Credential,
            "Incorrect API key provided: ***.",
        ),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
            ModelNotFound,
            "The model `x` does not exist",
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
            RateLimited,
            "Rate limit reached",
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            Credential,
            "You exceeded your current quota",
        ),
        (
            500,
            r#"{"error":{"message":"The server had an error","type":"server_error"}}"#,
            ServerError,
            "The server had an error",
        ),
        // Azure OpenAI
        (
            400,
            r#"{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            ContentBlocked,
            "The response was filtered",
        ),
        // Mistral
        (
            422,
            r#"{"object":"error","message":{"detail":[{"loc":["body"],"msg":"bad"}]},"type":"invalid_request_error","code":null}"#,
            BadRequest,
            r#"{"detail":[{"loc":["body"],"msg":"bad"}]}"#,
        ),
        (422, r#"{"detail":[{"msg":"bad"}]}"#, BadRequest, r#"[{"msg":"bad"}]"#),
        (401, r#"{"message":"Unauthorized","request_id":"r"}"#, Credential, "Unauthorized"),
        // DeepSeek
        (
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#,
            Credential,
            "Insufficient Balance",
        ),
        // OpenRouter
        (
            502,
            r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"x"}}}"#,
            Unavailable,
            "Provider returned error",
        ),
        // xAI
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"Model not found: x"}"#,
            BadRequest,
            "Model not found: x",
        ),
        // Ollama
        (
            404,
            r#"{"error":"model \"x\" not found, try pulling it first"}"#,
            ModelNotFound,
            "model \"x\" not found, try pulling it first",
        ),
        // vLLM, before and after it took OpenAI's form
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}"#,
            ContextLength,
            "This model's maximum context length is 4096 tokens.",
        ),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist.","type":"NotFoundError","param":null,"code":404}}"#,
            ModelNotFound,
            "The model `x` does not exist.",
        ),
        // llama.cpp
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            ContextLength,
            "the request exceeds the available context size",
        ),
        (
            503,
            r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
            Unavailable,
            "Loading model",
        ),
        (408, r#"{"error":{"message":"slow"}}"#, Timeout, "slow"),
        (413, r#"{"error":{"message":"large"}}"#, ContextLength, "large"),
    ] {
        let error = classify(status, body);
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{status} {body}");
        assert_eq!(error.status, Some(status));
        assert_eq!(error.retry_after.map(|after| after.as_secs()), Some(3));
    }
}

#[test]
fn a_failure_without_a_message_is_sorted_by_its_status() {
    use ProviderErrorKind::{
        BadRequest, ContextLength, Credential, ModelNotFound, RateLimited, ServerError, Timeout,
        Unavailable,
    };
    for (status, kind) in [
        (400, BadRequest),
        (401, Credential),
        (402, Credential),
        (403, Credential),
        (404, ModelNotFound),
        (408, Timeout),
        (413, ContextLength),
        (422, BadRequest),
        (429, RateLimited),
        (500, ServerError),
        (502, Unavailable),
        (503, Unavailable),
        (504, Timeout),
        (529, Unavailable),
        (302, ServerError),
    ] {
        for body in ["", "<html>Bad gateway</html>", "{}", "null", "[]", "{\"error\":null}"] {
            let error = classify(status, body);
            assert_eq!(error.kind, kind, "{status} {body}");
            let begins = format!("the provider answered {status}");
            assert!(error.message.starts_with(&begins), "{}", error.message);
            assert!(error.message.ends_with("without a message"), "{}", error.message);
        }
    }
}

#[test]
fn code_and_field_are_kept() {
    let body = r#"{"error":{"message":"m","type":"t","param":"tools[0]","code":"bad_tool"}}"#;
    let error = classify(400, body);
    assert_eq!(error.code.as_deref(), Some("bad_tool"));
    assert_eq!(error.param.as_deref(), Some("tools[0]"));
}
