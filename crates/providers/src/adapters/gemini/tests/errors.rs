//! What failed statuses mean.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::{GeminiGenerateContent, target};
use crate::adapter::Adapter;
use crate::error::{ProviderError, ProviderErrorKind as Kind};

fn classify(status: u16, headers: &HeaderMap, body: &str) -> ProviderError {
    let status = StatusCode::from_u16(status).unwrap();
    GeminiGenerateContent.classify(status, headers, body.as_bytes(), &target("gemini-2.5-pro"))
}

#[test]
fn errors_are_classified() {
    let check = |status: u16, body: Value, kind: Kind, code: Option<&str>| {
        let error = classify(status, &HeaderMap::new(), &body.to_string());
        assert_eq!((error.kind, error.code.as_deref()), (kind, code), "{body}");
        assert_eq!(error.status, Some(status));
    };
    let error =
        |status: &str, message: &str| json!({ "error": { "status": status, "message": message } });
    let too_long =
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";
    check(400, error("INVALID_ARGUMENT", "No."), Kind::BadRequest, Some("INVALID_ARGUMENT"));
    check(
        400,
        json!([error("INVALID_ARGUMENT", too_long)]),
        Kind::ContextLength,
        Some("INVALID_ARGUMENT"),
    );
    check(
        400,
        json!({ "error": {
            "code": 400,
            "message": "API key not valid. Please pass a valid API key.",
            "status": "INVALID_ARGUMENT",
            "details": [{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
            }],
        } }),
        Kind::Credential,
        Some("API_KEY_INVALID"),
    );
    let place = "User location is not supported for the API use.";
    check(400, error("FAILED_PRECONDITION", place), Kind::Credential, Some("FAILED_PRECONDITION"));
    check(403, error("PERMISSION_DENIED", "No."), Kind::Credential, Some("PERMISSION_DENIED"));
    check(404, error("NOT_FOUND", "models/x is not found"), Kind::ModelNotFound, Some("NOT_FOUND"));
    check(500, error("INTERNAL", "Oops."), Kind::ServerError, Some("INTERNAL"));
    check(503, error("UNAVAILABLE", "Overloaded."), Kind::Unavailable, Some("UNAVAILABLE"));
    check(504, error("DEADLINE_EXCEEDED", "Late."), Kind::Timeout, Some("DEADLINE_EXCEEDED"));
    check(401, json!("nonsense"), Kind::Credential, None);
    check(429, json!({}), Kind::RateLimited, None);
    check(413, json!([]), Kind::BadRequest, None);
}

#[test]
fn an_error_says_when_to_come_back_and_which_field_is_wrong() {
    let body = json!({ "error": {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            { "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [] },
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s" },
        ],
    } });
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", HeaderValue::from_static("7"));
    let error = classify(429, &headers, &body.to_string());
    assert_eq!(error.kind, Kind::RateLimited);
    assert_eq!(error.retry_after, Some(Duration::from_millis(34_500)));
    let error = classify(503, &headers, "<html>Service Unavailable</html>");
    assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
    let silence = "the provider answered 503 Service Unavailable without a message";
    assert_eq!(error.message, silence);

    let body = json!({ "error": {
        "message": "Invalid value at 'generation_config.seed'; key test-key",
        "status": "INVALID_ARGUMENT",
        "details": [{
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{ "field": "generation_config.seed", "description": "Invalid" }],
        }],
    } });
    let error = classify(400, &HeaderMap::new(), &body.to_string());
    assert_eq!(error.param.as_deref(), Some("generation_config.seed"));
    assert_eq!(error.message, "Invalid value at 'generation_config.seed'; key ***");
}
