//! What an error of Anthropic's means.
//!
//! Form: `{"type": "error", "error": {"type", "message"}, "request_id"}`. Source: the Anthropic API
//! reference, "Errors". The type decides, or the status where there is none (a gateway's page of
//! HTML). Some causes share the type `invalid_request_error` and are told apart by their message.

use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::endpoint::Target;
use crate::error::{ProviderError, ProviderErrorKind, quote, retry_after};
use crate::request::credential;

#[derive(Deserialize)]
struct Body {
    error: WireError,
}

#[derive(Deserialize, Default)]
struct WireError {
    r#type: Option<String>,
    message: Option<String>,
}

pub(super) fn classify(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    target: &Target,
) -> ProviderError {
    let error = serde_json::from_slice::<Body>(body).map(|body| body.error).unwrap_or_default();
    let message = match error.message.as_deref().map(str::trim) {
        Some(message) if !message.is_empty() => quote(message, credential(target)),
        _ => format!("the provider answered {} without a message", status.as_u16()),
    };
    ProviderError {
        kind: kind(&error, Some(status)),
        status: Some(status.as_u16()),
        message,
        code: error.r#type,
        param: None,
        retry_after: retry_after(headers),
    }
}

/// An error that came where an answer was expected: the value of the member `error`. A provider
/// that accepted the request does not quote its credential, and none is at hand here.
pub(super) fn error_in_answer(error: Option<&RawValue>) -> ProviderError {
    let error: WireError =
        error.and_then(|error| serde_json::from_str(error.get()).ok()).unwrap_or_default();
    let message = error.message.as_deref().unwrap_or("the provider gave no message");
    ProviderError {
        kind: kind(&error, None),
        status: None,
        message: quote(message, None),
        code: error.r#type,
        param: None,
        retry_after: None,
    }
}

fn kind(error: &WireError, status: Option<StatusCode>) -> ProviderErrorKind {
    let message = error.message.as_deref().unwrap_or("").to_ascii_lowercase();
    match error.r#type.as_deref() {
        Some("invalid_request_error") => of_invalid_request(&message),
        Some("authentication_error" | "billing_error" | "permission_error") => {
            ProviderErrorKind::Credential
        }
        Some("not_found_error") => ProviderErrorKind::ModelNotFound,
        Some("request_too_large") => ProviderErrorKind::ContextLength,
        Some("rate_limit_error") => ProviderErrorKind::RateLimited,
        Some("timeout_error") => ProviderErrorKind::Timeout,
        Some("overloaded_error") => ProviderErrorKind::Unavailable,
        Some("api_error") => ProviderErrorKind::ServerError,
        _ => match status.map(|status| status.as_u16()) {
            Some(401..=403) => ProviderErrorKind::Credential,
            Some(404) => ProviderErrorKind::ModelNotFound,
            Some(408 | 504) => ProviderErrorKind::Timeout,
            Some(413) => ProviderErrorKind::ContextLength,
            Some(429) => ProviderErrorKind::RateLimited,
            Some(502 | 503 | 529) => ProviderErrorKind::Unavailable,
            Some(400..=499) => of_invalid_request(&message),
            _ => ProviderErrorKind::ServerError,
        },
    }
}

fn of_invalid_request(message: &str) -> ProviderErrorKind {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    if says(&["prompt is too long", "exceed context limit", "context window"]) {
        ProviderErrorKind::ContextLength
    } else if says(&["credit balance", "api usage limits"]) {
        ProviderErrorKind::Credential
    } else if says(&["content filtering policy"]) {
        ProviderErrorKind::ContentBlocked
    } else {
        ProviderErrorKind::BadRequest
    }
}
