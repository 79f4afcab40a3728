//! From causes to HTTP: which line of the error table ([`sluice_gateway::reference::errors`]) a cause is.
//!
//! Shape: `{"error": {"message", "type", "param", "code"}}`, all four always there, `param` null
//! where none, as the OpenAI SDKs read it.

use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use sluice_core::filtering::FilterRecord;
use sluice_core::json::write_escaped;
use sluice_core::organisation::KeyScope;
use sluice_gateway::error::{AUDIT_RETRY, ChatError, Unanswered};
use sluice_gateway::limits::LimitExceeded;
use sluice_gateway::principal::Unrecognised;
use sluice_gateway::reference::{ErrorLine, errors};

use crate::body::ResponseBody;
use crate::filtered;

/// How messages call the body as a whole; it is no field, so that `param` is null.
pub(crate) const BODY: &str = "request body";

/// Everything that a caller can be told instead of an answer.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// Nobody was recognised.
    #[error(transparent)]
    Unrecognised(#[from] Unrecognised),
    /// The key is known, and may not be used for now.
    #[error("{0}; whoever administers this gateway can resume it")]
    Suspended(String),
    /// The key is not for this.
    #[error(
        "this key has not the scope `{}`; use another key, or have the scope added to it", .0.as_str()
    )]
    MissingScope(KeyScope),
    /// Too many attempts, requests or tokens.
    #[error(transparent)]
    Limited(#[from] LimitExceeded),
    /// The body is no JSON text.
    #[error("the request body is not valid JSON: {problem}")]
    InvalidJson {
        /// Where and what.
        problem: String,
    },
    /// A mandatory field is missing.
    #[error("`{field}` is missing; expected {expected}")]
    MissingField {
        /// The field's path.
        field: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// A field has another type than documented.
    #[error("`{field}` is {got}; expected {expected}")]
    InvalidType {
        /// The field's path.
        field: String,
        /// What it is.
        got: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A value is out of its bounds.
    #[error("`{field}` is {value}; expected {expected}")]
    InvalidParameter {
        /// The field's path.
        field: String,
        /// The value that was sent.
        value: String,
        /// The bounds.
        expected: String,
    },
    /// No such path.
    #[error("there is no {method} {path}; the endpoints are {endpoints}")]
    NotFound {
        /// The request's method.
        method: String,
        /// The request's path.
        path: String,
        /// What there is.
        endpoints: &'static str,
    },
    /// The path does not take the method.
    #[error("{path} takes {allowed}, not {method}")]
    MethodNotAllowed {
        /// The request's path.
        path: &'static str,
        /// What it takes.
        allowed: &'static str,
        /// The request's method.
        method: String,
    },
    /// The body is not JSON by its content type, or is compressed.
    #[error("{problem}; send `Content-Type: application/json`, uncompressed")]
    UnsupportedMediaType {
        /// What it is instead.
        problem: String,
    },
    /// The body is longer than the server takes.
    #[error(
        "the request body is larger than {limit_mib} MiB, the limit of this server \
         (`server.request_body_limit_mib`)"
    )]
    RequestTooLarge {
        /// The limit.
        limit_mib: usize,
    },
    /// The body did not arrive.
    #[error("the request body did not arrive in {} s", .0.as_secs())]
    RequestTimeout(Duration),
    /// The bodies of other requests fill the memory that there is for them.
    #[error(
        "the requests under way fill this server's memory for request bodies ({budget_mib} MiB, \
         half of it for one key; `server.body_memory_mib`); retry in {} s", OVERLOADED.as_secs()
    )]
    Overloaded {
        /// The budget.
        budget_mib: usize,
    },
    /// The server is about to stop.
    #[error("this server is shutting down; retry in 1 s")]
    ShuttingDown,
    /// The gateway has no answer; what the filter did with the request, where it came so far.
    #[error("{0}")]
    Chat(ChatError, Option<Box<FilterRecord>>),
}

/// When it is worth trying again where too many bodies are held: large requests take seconds.
const OVERLOADED: Duration = Duration::from_secs(2);

impl From<ChatError> for ApiError {
    fn from(error: ChatError) -> Self {
        Self::Chat(error, None)
    }
}

impl From<Box<Unanswered>> for ApiError {
    fn from(unanswered: Box<Unanswered>) -> Self {
        Self::Chat(unanswered.error, unanswered.filter.map(Box::new))
    }
}

impl ApiError {
    /// Status, `error.type`, `error.code`.
    pub fn wire(&self) -> (StatusCode, &'static str, &str) {
        let line = self.line();
        let code = match self {
            Self::Chat(ChatError::Rejected { code: Some(code), too_long: false, .. }, _) => code,
            _ => line.code,
        };
        let status = StatusCode::from_u16(line.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, line.kind, code)
    }

    /// What logs and metrics call it: a code of the API reference. What a provider calls it is for the
    /// caller alone, since it may quote the request.
    pub(crate) fn known_code(&self) -> &'static str {
        self.line().code
    }

    /// Its line in the error table of the API reference.
    fn line(&self) -> ErrorLine {
        match self {
            Self::Unrecognised(_) => errors::INVALID_API_KEY,
            Self::Suspended(_) => errors::KEY_SUSPENDED,
            Self::MissingScope(_) => errors::INSUFFICIENT_PERMISSIONS,
            // No waiting helps: it is the request that has to change.
            Self::Chat(ChatError::Limited(exceeded), _) if exceeded.too_large.is_some() => {
                errors::INVALID_PARAMETER
            }
            Self::Limited(_)
            | Self::Chat(ChatError::Limited(_) | ChatError::UpstreamRateLimited { .. }, _) => {
                errors::RATE_LIMIT_EXCEEDED
            }
            Self::InvalidJson { .. } => errors::INVALID_JSON,
            Self::MissingField { .. } => errors::MISSING_FIELD,
            Self::InvalidType { .. } => errors::INVALID_TYPE,
            Self::InvalidParameter { .. } | Self::Chat(ChatError::OutOfBounds { .. }, _) => {
                errors::INVALID_PARAMETER
            }
            Self::NotFound { .. } => errors::NOT_FOUND,
            Self::MethodNotAllowed { .. } => errors::METHOD_NOT_ALLOWED,
            Self::UnsupportedMediaType { .. } => errors::UNSUPPORTED_MEDIA_TYPE,
            Self::RequestTooLarge { .. } => errors::REQUEST_TOO_LARGE,
            Self::RequestTimeout(_) => errors::REQUEST_TIMEOUT,
            Self::Overloaded { .. } => errors::SERVER_OVERLOADED,
            Self::ShuttingDown => errors::NO_MODEL_AVAILABLE,
            Self::Chat(error, _) => match error {
                ChatError::UnknownModel { .. } => errors::MODEL_NOT_FOUND,
                ChatError::NotPermitted { .. } => errors::INSUFFICIENT_PERMISSIONS,
                ChatError::RegionUnavailable { .. } => errors::REGION_UNAVAILABLE,
                ChatError::Unsupported { .. } => errors::UNSUPPORTED_BY_MODEL,
                ChatError::Rejected { too_long: true, .. } => errors::CONTEXT_LENGTH_EXCEEDED,
                ChatError::Rejected { .. } => errors::PROVIDER_REJECTED,
                ChatError::Blocked { .. } | ChatError::ContentBlocked { .. } => {
                    errors::CONTENT_BLOCKED
                }
                ChatError::Upstream { .. } => errors::UPSTREAM_ERROR,
                ChatError::UpstreamTimeout { .. } => errors::UPSTREAM_TIMEOUT,
                ChatError::NoModelAvailable { .. } | ChatError::ShuttingDown => {
                    errors::NO_MODEL_AVAILABLE
                }
                ChatError::AuditUnavailable => errors::AUDIT_UNAVAILABLE,
                ChatError::OutOfBounds { .. }
                | ChatError::Limited(_)
                | ChatError::UpstreamRateLimited { .. }
                | ChatError::Internal => errors::INTERNAL_ERROR,
            },
        }
    }

    /// Whether a provider was asked: such a request is counted by how it ended.
    pub(crate) fn is_the_providers(&self) -> bool {
        matches!(
            self,
            Self::Chat(
                ChatError::Rejected { .. }
                    | ChatError::ContentBlocked { .. }
                    | ChatError::Upstream { .. }
                    | ChatError::UpstreamTimeout { .. }
                    | ChatError::ShuttingDown
                    | ChatError::UpstreamRateLimited { .. },
                _
            )
        )
    }

    /// The request's field that is at fault.
    fn param(&self) -> Option<&str> {
        match self {
            Self::MissingField { field, .. }
            | Self::InvalidType { field, .. }
            | Self::InvalidParameter { field, .. } => (field != BODY).then_some(field),
            Self::Chat(error, _) => match error {
                ChatError::UnknownModel { .. } => Some("model"),
                ChatError::NotPermitted { field, .. } => Some(field),
                ChatError::OutOfBounds { field, .. } | ChatError::Unsupported { field, .. } => {
                    Some(field)
                }
                ChatError::RegionUnavailable { .. } => Some("region"),
                ChatError::Rejected { param, .. } => param.as_deref(),
                _ => None,
            },
            _ => None,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited(exceeded) => exceeded.retry_after,
            Self::Chat(ChatError::Limited(exceeded), _) => {
                exceeded.retry_after.filter(|_| exceeded.too_large.is_none())
            }
            Self::Chat(
                ChatError::UpstreamRateLimited { retry_after, .. }
                | ChatError::NoModelAvailable { retry_after, .. },
                _,
            ) => Some(*retry_after),
            Self::Overloaded { .. } => Some(OVERLOADED),
            Self::Chat(ChatError::AuditUnavailable, _) => Some(AUDIT_RETRY),
            Self::ShuttingDown | Self::Chat(ChatError::ShuttingDown, _) => {
                Some(Duration::from_secs(1))
            }
            Self::Chat(ChatError::Upstream { retry_after, .. }, _) => *retry_after,
            _ => None,
        }
    }

    /// Appends the error as `{"error": {…}}`; with `security` beside it where the filter did
    /// something that the headers could not tell.
    pub(crate) fn write_json(&self, news: Option<&FilterRecord>, out: &mut Vec<u8>) {
        let (_, kind, code) = self.wire();
        out.extend_from_slice(b"{\"error\":{\"message\":");
        write_escaped(&self.to_string(), out);
        out.extend_from_slice(b",\"type\":");
        write_escaped(kind, out);
        out.extend_from_slice(b",\"param\":");
        match self.param() {
            Some(param) => write_escaped(param, out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"code\":");
        write_escaped(code, out);
        out.push(b'}');
        if let Some(filter) = news {
            filtered::write_security(filter, out);
        }
        out.push(b'}');
    }

    /// The whole HTTP response.
    pub(crate) fn into_response(self) -> Response<ResponseBody> {
        let mut body = Vec::with_capacity(256);
        self.write_json(None, &mut body);
        let mut response = Response::new(ResponseBody::whole(body));
        *response.status_mut() = self.wire().0;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(wait) = self.retry_after() {
            // Whole seconds, never too early.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        if let Self::MethodNotAllowed { allowed, .. } = &self {
            headers.insert(ALLOW, HeaderValue::from_static(allowed));
        }
        if let Self::Chat(_, Some(filter)) = &self {
            filtered::write_headers(filter, headers);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use sluice_gateway::reference::ERRORS;

    use super::*;

    #[test]
    fn a_providers_own_code_is_for_the_caller_alone() {
        let error = ApiError::from(ChatError::Rejected {
            message: "no".to_owned(),
            code: Some("a_quoted_word".to_owned()),
            param: None,
            too_long: false,
        });
        assert_eq!(error.wire().2, "a_quoted_word");
        assert_eq!(error.known_code(), errors::PROVIDER_REJECTED.code);
    }

    /// The table has no line that no cause comes to.
    #[test]
    fn every_line_of_the_table_is_some_causes() {
        let source = include_str!("error.rs");
        for line in ERRORS {
            let name = line.code.to_uppercase();
            assert!(source.contains(&format!("errors::{name}")), "{name}");
        }
    }
}
