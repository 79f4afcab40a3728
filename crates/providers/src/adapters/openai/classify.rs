//! What an error of an OpenAI-compatible service means.
//!
//! OpenAI's form is `{"error": {"message", "type", "param", "code"}}`; services also send
//! `{"error": "text"}`, `{"message": …}`, `{"detail": …}` or a page of HTML.

use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::endpoint::Target;
use crate::error::{ProviderError, ProviderErrorKind, quote, retry_after};
use crate::request::credential;

pub(super) fn classify(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    target: &Target,
) -> ProviderError {
    let said =
        serde_json::from_slice::<Value>(body).map(|body| Said::of(&body)).unwrap_or_default();
    let message = match said.message.as_deref() {
        Some(message) => quote(message, credential(target)),
        None => format!("the provider answered {status} without a message"),
    };
    ProviderError {
        kind: said.kind(Some(status)),
        status: Some(status.as_u16()),
        message,
        code: said.code,
        param: said.param,
        retry_after: retry_after(headers),
    }
}

/// An error that came where an answer was expected; `json` is the value of its `error` member.
///
/// No credential is at hand here; a provider that accepted the request does not quote it.
pub(super) fn error_in_body(json: &str) -> ProviderError {
    let error = serde_json::from_str::<Value>(json).unwrap_or(Value::Null);
    let said = Said::of(&serde_json::json!({ "error": error }));
    let status = said
        .code
        .as_deref()
        .and_then(|code| code.parse::<u16>().ok())
        .and_then(|code| StatusCode::from_u16(code).ok());
    ProviderError {
        kind: said.kind(status),
        status: status.map(|status| status.as_u16()),
        message: quote(said.message.as_deref().unwrap_or("the provider gave no message"), None),
        code: said.code,
        param: said.param,
        retry_after: None,
    }
}

#[derive(Default)]
struct Said {
    message: Option<String>,
    kind: Option<String>,
    code: Option<String>,
    param: Option<String>,
}

impl Said {
    fn of(body: &Value) -> Self {
        let error = body.get("error").unwrap_or(body);
        let text = |value: Option<&Value>| match value {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(value @ (Value::Array(_) | Value::Object(_))) => Some(value.to_string()),
            _ => None,
        };
        let message = match error {
            Value::String(text) => Some(text.clone()),
            error => ["message", "detail", "msg"].iter().find_map(|name| text(error.get(name))),
        };
        Self {
            message,
            kind: text(error.get("type")),
            code: text(error.get("code")),
            param: error.get("param").and_then(Value::as_str).map(str::to_owned),
        }
    }

    fn kind(&self, status: Option<StatusCode>) -> ProviderErrorKind {
        let has = |needles: &[&str]| {
            [&self.code, &self.kind]
                .into_iter()
                .flatten()
                .any(|word| needles.contains(&word.as_str()))
        };
        let message = self.message.as_deref().unwrap_or("").to_ascii_lowercase();
        if has(&["context_length_exceeded", "request_too_large", "string_above_max_length"])
            || message.contains("maximum context length")
            || message.contains("context window")
            || message.contains("exceeds the available context size")
        {
            return ProviderErrorKind::ContextLength;
        }
        if has(&["content_filter", "content_policy_violation", "moderation_blocked"]) {
            return ProviderErrorKind::ContentBlocked;
        }
        if has(&["insufficient_quota", "billing_hard_limit_reached", "invalid_api_key"]) {
            return ProviderErrorKind::Credential;
        }
        match status.map(|status| status.as_u16()) {
            Some(401..=403) => ProviderErrorKind::Credential,
            Some(404) => ProviderErrorKind::ModelNotFound,
            Some(408 | 504) => ProviderErrorKind::Timeout,
            Some(413) => ProviderErrorKind::ContextLength,
            Some(429) => ProviderErrorKind::RateLimited,
            Some(502 | 503 | 529) => ProviderErrorKind::Unavailable,
            Some(400..=499) => ProviderErrorKind::BadRequest,
            Some(_) => ProviderErrorKind::ServerError,
            None if has(&["rate_limit_exceeded", "rate_limit_error"]) => {
                ProviderErrorKind::RateLimited
            }
            None if has(&["invalid_request_error"]) => ProviderErrorKind::BadRequest,
            None => ProviderErrorKind::ServerError,
        }
    }
}
