//! The one table from causes to HTTP: status, `error.type`, `error.code`.
//!
//! Shape: `{"error": {"message", "type", "param", "code"}}`, all four always there, `param` null
//! where none, as the OpenAI SDKs read it.

use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use sluice_core::filtering::FilterRecord;
use sluice_core::json::write_escaped;
use sluice_core::organisation::KeyScope;
use sluice_gateway::error::{ChatError, Unanswered};
use sluice_gateway::limits::LimitExceeded;
use sluice_gateway::principal::Unrecognised;

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
    /// Status, `error.type`, `error.code`: the error table of the API reference.
    pub fn wire(&self) -> (StatusCode, &'static str, &str) {
        const INVALID: &str = "invalid_request_error";
        const API: &str = "api_error";
        const PERMISSION: &str = "permission_error";
        match self {
            Self::Unrecognised(_) => {
                (StatusCode::UNAUTHORIZED, "authentication_error", "invalid_api_key")
            }
            Self::Suspended(_) => (StatusCode::FORBIDDEN, PERMISSION, "key_suspended"),
            Self::MissingScope(_) => {
                (StatusCode::FORBIDDEN, PERMISSION, "insufficient_permissions")
            }
            // No waiting helps: it is the request that has to change.
            Self::Chat(ChatError::Limited(exceeded), _) if exceeded.too_large.is_some() => {
                (StatusCode::BAD_REQUEST, "validation_error", "invalid_parameter")
            }
            Self::Limited(_)
            | Self::Chat(ChatError::Limited(_) | ChatError::UpstreamRateLimited { .. }, _) => {
                (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", "rate_limit_exceeded")
            }
            Self::InvalidJson { .. } => (StatusCode::BAD_REQUEST, INVALID, "invalid_json"),
            Self::MissingField { .. } => (StatusCode::BAD_REQUEST, INVALID, "missing_field"),
            Self::InvalidType { .. } => (StatusCode::BAD_REQUEST, INVALID, "invalid_type"),
            Self::InvalidParameter { .. } | Self::Chat(ChatError::OutOfBounds { .. }, _) => {
                (StatusCode::BAD_REQUEST, "validation_error", "invalid_parameter")
            }
            Self::NotFound { .. } => (StatusCode::NOT_FOUND, INVALID, "not_found"),
            Self::MethodNotAllowed { .. } => {
                (StatusCode::METHOD_NOT_ALLOWED, INVALID, "method_not_allowed")
            }
            Self::UnsupportedMediaType { .. } => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID, "unsupported_media_type")
            }
            Self::RequestTooLarge { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, INVALID, "request_too_large")
            }
            Self::RequestTimeout(_) => (StatusCode::REQUEST_TIMEOUT, INVALID, "request_timeout"),
            Self::Overloaded { .. } => (StatusCode::SERVICE_UNAVAILABLE, API, "server_overloaded"),
            Self::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, API, "no_model_available"),
            Self::Chat(error, _) => match error {
                ChatError::UnknownModel { .. } => {
                    (StatusCode::NOT_FOUND, INVALID, "model_not_found")
                }
                ChatError::NotPermitted { .. } => {
                    (StatusCode::FORBIDDEN, PERMISSION, "insufficient_permissions")
                }
                ChatError::RegionUnavailable { .. } => {
                    (StatusCode::BAD_REQUEST, INVALID, "region_unavailable")
                }
                ChatError::Unsupported { .. } => {
                    (StatusCode::BAD_REQUEST, INVALID, "unsupported_by_model")
                }
                ChatError::Rejected { too_long: true, .. } => {
                    (StatusCode::BAD_REQUEST, INVALID, "context_length_exceeded")
                }
                ChatError::Rejected { code, .. } => (
                    StatusCode::BAD_REQUEST,
                    INVALID,
                    code.as_deref().unwrap_or("provider_rejected"),
                ),
                ChatError::Blocked { .. } | ChatError::ContentBlocked { .. } => {
                    (StatusCode::BAD_REQUEST, INVALID, "content_blocked")
                }
                ChatError::Upstream { .. } => (StatusCode::BAD_GATEWAY, API, "upstream_error"),
                ChatError::UpstreamTimeout { .. } => {
                    (StatusCode::GATEWAY_TIMEOUT, API, "upstream_timeout")
                }
                ChatError::NoModelAvailable { .. } | ChatError::ShuttingDown => {
                    (StatusCode::SERVICE_UNAVAILABLE, API, "no_model_available")
                }
                ChatError::OutOfBounds { .. }
                | ChatError::Limited(_)
                | ChatError::UpstreamRateLimited { .. }
                | ChatError::Internal => (StatusCode::INTERNAL_SERVER_ERROR, API, "internal_error"),
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
