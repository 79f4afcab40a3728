//! The errors: one line for each code. `sluice-api` decides which cause is which line.

/// One error, as callers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorLine {
    /// The status.
    pub status: u16,
    /// `error.type`.
    pub kind: &'static str,
    /// `error.code`.
    pub code: &'static str,
    /// When it comes.
    pub when: &'static str,
    /// What helps.
    pub fix: &'static str,
    /// Whether it goes beyond the specified interface.
    pub is_extension: bool,
}

const INVALID: &str = "invalid_request_error";
const VALIDATION: &str = "validation_error";
const AUTHENTICATION: &str = "authentication_error";
const PERMISSION: &str = "permission_error";
const RATE: &str = "rate_limit_error";
const API: &str = "api_error";

macro_rules! errors {
    ($($name:ident $status:literal $kind:ident $code:literal $extension:literal $when:literal $fix:literal,)*) => {
        $(
            #[doc = $code]
            pub const $name: ErrorLine = ErrorLine {
                status: $status,
                kind: $kind,
                code: $code,
                when: $when,
                fix: $fix,
                is_extension: $extension,
            };
        )*

        /// Every error, by status.
        pub const ERRORS: &[ErrorLine] = &[$($name,)*];

        /// Their names in this table.
        #[cfg(test)]
        pub(super) const NAMES: &[&str] = &[$(stringify!($name),)*];
    };
}

errors! {
    INVALID_JSON 400 INVALID "invalid_json" true
        "the body is not valid JSON or UTF-8, has a member twice, or has an object with too many members"
        "mend the body where the message points",
    MISSING_FIELD 400 INVALID "missing_field" true
        "a mandatory field is missing"
        "send the field that `param` names",
    INVALID_TYPE 400 INVALID "invalid_type" true
        "a field has a wrong type"
        "send the type that the message names",
    INVALID_PARAMETER 400 VALIDATION "invalid_parameter" false
        "a value is out of its bounds, a list is too long (the message names the list, its length and the bound), or the request alone needs more tokens than the whole limit of its key or account (the message names the limit and the estimate; waiting does not help)"
        "send a value within the bounds that the message names",
    REGION_UNAVAILABLE 400 INVALID "region_unavailable" true
        "the model does not run in the region; the message lists the regions in which it does"
        "name one of these regions, or another model",
    UNSUPPORTED_BY_MODEL 400 INVALID "unsupported_by_model" true
        "the model or its provider's dialect cannot express the field"
        "leave the field out, or ask another model",
    CONTEXT_LENGTH_EXCEEDED 400 INVALID "context_length_exceeded" true
        "the provider says that the prompt is too long"
        "shorten the conversation, or ask a model with a larger context",
    CONTENT_BLOCKED 400 INVALID "content_blocked" false
        "Sluice's filter refused the request (the message names the place and the level), or the provider's own filter did"
        "remove what the message names; the same request will be refused again",
    PROVIDER_REJECTED 400 INVALID "provider_rejected" true
        "the provider refused the request for another reason; its message is quoted, without credentials. Where the provider has a code of its own, that is the code"
        "change what the provider's message names",
    INVALID_API_KEY 401 AUTHENTICATION "invalid_api_key" false
        "the key is missing, malformed, unknown, revoked or expired"
        "send a key that works; trying again does not help",
    KEY_SUSPENDED 403 PERMISSION "key_suspended" false
        "the key, or what it belongs to, is suspended; the message says why"
        "ask whoever administers the account to resume it",
    INSUFFICIENT_PERMISSIONS 403 PERMISSION "insufficient_permissions" false
        "the key has not the scope that the endpoint needs (`chat` or `models`), or the key or its account may not use the model (`param` is `model`) or the region (`region`)"
        "use another key, or have the permission added to this one",
    MODEL_NOT_FOUND 404 INVALID "model_not_found" true
        "there is no model of this name"
        "take an `id` of `GET /models`",
    NOT_FOUND 404 INVALID "not_found" true
        "there is no such path"
        "compare the base URL and the path with this page",
    METHOD_NOT_ALLOWED 405 INVALID "method_not_allowed" true
        "the path takes another method; `Allow` names it"
        "use the method that `Allow` names",
    REQUEST_TIMEOUT 408 INVALID "request_timeout" true
        "the body did not arrive in 120 seconds"
        "send it again, over a faster connection",
    REQUEST_TOO_LARGE 413 INVALID "request_too_large" true
        "the body is larger than `server.request_body_limit_mib`"
        "send less, or have the limit raised",
    UNSUPPORTED_MEDIA_TYPE 415 INVALID "unsupported_media_type" true
        "the body is not `application/json`, or is compressed"
        "send `Content-Type: application/json`, uncompressed",
    RATE_LIMIT_EXCEEDED 429 RATE "rate_limit_exceeded" false
        "a limit of the key, the account or the address is reached (the message names it and its setting), or every provider of the model is rate limited; with `Retry-After`"
        "wait for `Retry-After`, or have the limit raised",
    INTERNAL_ERROR 500 API "internal_error" true
        "a fault of Sluice itself; the log has the details under the `x-request-id`"
        "report it with the `x-request-id`",
    UPSTREAM_ERROR 502 API "upstream_error" true
        "the provider failed, broke off, cannot be reached, does not have the model, or refuses Sluice's credential"
        "try again later; where it stays, look at the provider's state",
    NO_MODEL_AVAILABLE 503 API "no_model_available" true
        "Sluice is stopping, or the model has no provider at all; with `Retry-After`"
        "wait for `Retry-After`, or ask another model",
    AUDIT_UNAVAILABLE 503 API "audit_unavailable" true
        "the request has to be audited (`audit_enabled`, or a policy asks for it), and the server's disk is full or fails; with `Retry-After`"
        "have the operator make room; a request that need not be audited goes on",
    SERVER_OVERLOADED 503 API "server_overloaded" true
        "the bodies of other requests fill the memory for bodies (`server.body_memory_mib`), or those of the same key fill half of it; with `Retry-After`"
        "wait for `Retry-After`",
    UPSTREAM_TIMEOUT 504 API "upstream_timeout" true
        "the provider was too slow"
        "try again, or ask for a shorter answer",
}

/// What may come from every endpoint, or in place of it.
pub const EVERYWHERE: &[ErrorLine] = &[
    INVALID_API_KEY,
    KEY_SUSPENDED,
    INSUFFICIENT_PERMISSIONS,
    NOT_FOUND,
    METHOD_NOT_ALLOWED,
    RATE_LIMIT_EXCEEDED,
    INTERNAL_ERROR,
];

/// What may come from asking a model.
pub const CHAT: &[ErrorLine] = &[
    INVALID_JSON,
    MISSING_FIELD,
    INVALID_TYPE,
    INVALID_PARAMETER,
    REGION_UNAVAILABLE,
    UNSUPPORTED_BY_MODEL,
    CONTEXT_LENGTH_EXCEEDED,
    CONTENT_BLOCKED,
    PROVIDER_REJECTED,
    MODEL_NOT_FOUND,
    REQUEST_TIMEOUT,
    REQUEST_TOO_LARGE,
    UNSUPPORTED_MEDIA_TYPE,
    UPSTREAM_ERROR,
    NO_MODEL_AVAILABLE,
    SERVER_OVERLOADED,
    UPSTREAM_TIMEOUT,
];
