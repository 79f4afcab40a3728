//! What an error of the Gemini API means.
//!
//! Form: Google's API design guide, "Errors" (AIP-193): `{"error": {"code", "message", "status",
//! "details"}}`, in an array where the answer would have been a stream of JSON. The status words
//! and their causes: the Gemini API guide "Troubleshooting".

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::endpoint::Target;
use crate::error::{ProviderError, ProviderErrorKind, quote, retry_after};
use crate::request::credential;

/// The meaning of a failed status.
pub(super) fn classify(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    target: &Target,
) -> ProviderError {
    let body = serde_json::from_slice::<Value>(body).unwrap_or(Value::Null);
    let body = body.get(0).unwrap_or(&body);
    let mut error =
        read(body.get("error").unwrap_or(&Value::Null), Some(status), credential(target));
    error.retry_after = error.retry_after.or_else(|| retry_after(headers));
    error
}

/// An error that came where an answer was expected.
pub(super) fn error_in_body(error: &RawValue) -> ProviderError {
    let error = serde_json::from_str::<Value>(error.get()).unwrap_or(Value::Null);
    let status = error
        .get("code")
        .and_then(Value::as_u64)
        .and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok());
    read(&error, status, None)
}

/// Reads the value of `error`. A message that quotes `credential` is given without it; where an
/// error comes instead of an answer none is at hand, but there the provider has accepted it.
fn read(error: &Value, status: Option<StatusCode>, credential: Option<&str>) -> ProviderError {
    let text = |name| error.get(name).and_then(Value::as_str);
    let details = Details::of(error);
    let message = text("message").filter(|message| !message.is_empty());
    let kind = kind(text("status"), details.reason, message.unwrap_or(""), status);
    ProviderError {
        kind,
        status: status.map(|status| status.as_u16()),
        message: match (message, status) {
            (Some(message), _) => quote(message, credential),
            (None, Some(status)) => format!("the provider answered {status} without a message"),
            (None, None) => "the provider gave no message".to_owned(),
        },
        code: details.reason.or_else(|| text("status")).map(str::to_owned),
        param: details.field.map(str::to_owned),
        retry_after: details.retry_after,
    }
}

fn kind(
    word: Option<&str>,
    reason: Option<&str>,
    message: &str,
    status: Option<StatusCode>,
) -> ProviderErrorKind {
    if matches!(reason, Some("API_KEY_INVALID" | "API_KEY_EXPIRED")) {
        return ProviderErrorKind::Credential;
    }
    match word {
        Some("INVALID_ARGUMENT" | "OUT_OF_RANGE" | "UNIMPLEMENTED") => bad_request(message),
        // The key's country or billing, not the request.
        Some("FAILED_PRECONDITION" | "UNAUTHENTICATED" | "PERMISSION_DENIED") => {
            ProviderErrorKind::Credential
        }
        Some("NOT_FOUND") => ProviderErrorKind::ModelNotFound,
        Some("RESOURCE_EXHAUSTED") => ProviderErrorKind::RateLimited,
        Some("UNAVAILABLE" | "ABORTED") => ProviderErrorKind::Unavailable,
        Some("DEADLINE_EXCEEDED") => ProviderErrorKind::Timeout,
        Some("INTERNAL" | "UNKNOWN" | "DATA_LOSS" | "CANCELLED") => ProviderErrorKind::ServerError,
        _ => match status.map(|status| status.as_u16()) {
            Some(401..=403) => ProviderErrorKind::Credential,
            Some(404) => ProviderErrorKind::ModelNotFound,
            Some(408 | 504) => ProviderErrorKind::Timeout,
            Some(429) => ProviderErrorKind::RateLimited,
            Some(502 | 503 | 529) => ProviderErrorKind::Unavailable,
            Some(400..=499) => bad_request(message),
            _ => ProviderErrorKind::ServerError,
        },
    }
}

/// What a refused request is refused for; for these, Gemini says it in words only: "The input token
/// count (1200293) exceeds the maximum number of tokens allowed (1048576)."
fn bad_request(message: &str) -> ProviderErrorKind {
    let message = message.to_ascii_lowercase();
    if message.contains("token count") && message.contains("exceeds") {
        return ProviderErrorKind::ContextLength;
    }
    if message.contains("api key not valid") || message.contains("api key expired") {
        return ProviderErrorKind::Credential;
    }
    ProviderErrorKind::BadRequest
}

/// What `details` say.
#[derive(Default)]
struct Details<'a> {
    /// `ErrorInfo.reason`.
    reason: Option<&'a str>,
    /// The first of `BadRequest.fieldViolations`.
    field: Option<&'a str>,
    /// `RetryInfo.retryDelay`.
    retry_after: Option<Duration>,
}

impl<'a> Details<'a> {
    fn of(error: &'a Value) -> Self {
        let mut found = Self::default();
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            let text = |name| detail.get(name).and_then(Value::as_str);
            let kind = text("@type").and_then(|kind| kind.rsplit('.').next());
            match kind {
                Some("ErrorInfo") => found.reason = text("reason"),
                Some("BadRequest") => {
                    found.field =
                        detail.pointer("/fieldViolations/0/field").and_then(Value::as_str);
                }
                Some("RetryInfo") => found.retry_after = text("retryDelay").and_then(duration),
                _ => {}
            }
        }
        found
    }
}

/// A duration as protocol buffers write it in JSON: `34.5s`.
fn duration(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds.min(86_400.0)).ok()
}
