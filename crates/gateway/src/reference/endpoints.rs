//! The endpoints, in the order of the reference.

use sluice_core::organisation::KeyScope;

use super::headers::{BUDGET, FILTER, ROUTER};
use super::{Endpoint, Operation, Parameter, errors};

/// What stands before every endpoint's own path: the base URL's path.
pub const BASE: &str = "/api/v1";

/// Every endpoint.
pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        operation: Operation::Models,
        id: "models",
        method: "GET",
        path: "/api/v1/models",
        summary: "lists the models that the key may use",
        is_extension: false,
        scope: Some(KeyScope::Models),
        parameters: &[],
        request: None,
        answer: (
            "ModelList",
            r#"{
  "object": "list",
  "data": [
    {"id": "openai/gpt-5-mini", "object": "model", "created": 1754524800, "owned_by": "openai", "context_length": 272000, "max_completion_tokens": 128000}
  ]
}"#,
        ),
        events: None,
        headers: &[],
        errors: &[],
    },
    Endpoint {
        operation: Operation::Model,
        id: "model",
        method: "GET",
        path: "/api/v1/models/{id}",
        summary: "shows one of them",
        is_extension: true,
        scope: Some(KeyScope::Models),
        parameters: &[Parameter {
            name: "id",
            place: "path",
            says: "a model's `id`; a slash in it may be written as it is or as `%2F`",
        }],
        request: None,
        answer: (
            "Model",
            r#"{"id": "openai/gpt-5-mini", "object": "model", "created": 1754524800, "owned_by": "openai"}"#,
        ),
        events: None,
        headers: &[],
        errors: &[errors::MODEL_NOT_FOUND],
    },
    Endpoint {
        operation: Operation::Token,
        id: "token",
        method: "GET",
        path: "/api/v1/auth/token",
        summary: "shows what the key may do, and what is left of its limits",
        is_extension: false,
        scope: None,
        parameters: &[],
        request: None,
        answer: (
            "Token",
            r#"{
  "object": "token", "valid": true,
  "key": {
    "prefix": "svc_ent_th0N", "name": "first key", "class": "enterprise",
    "permissions": {"scopes": ["chat", "models"], "models": null, "regions": null, "suite": "full", "max_tokens": "model", "minimum_security_level": "standard", "zero_retention": false},
    "created_at": "2026-11-21T01:52:51Z", "expires_at": null
  },
  "account": {"name": "default", "tier": "highest"},
  "limits": {
    "key": {"requests_per_hour": null, "requests_remaining": null, "tokens_per_day": null, "tokens_used_today": 0, "concurrent_requests": null, "requests_in_flight": 0},
    "account": {"requests_per_hour": 10000, "requests_remaining": 10000, "tokens_per_day": 1000000, "tokens_used_today": 0, "concurrent_requests": 200, "requests_in_flight": 0},
    "allowances": [
      {"subject": "account:acc_4fGk", "measure": "tokens", "window": "day", "time_zone": "UTC", "limit": 1000000, "hard": true, "each_session": false, "used": 0, "reserved": 0, "left": 1000000, "reset": 1795305600, "resets_at": "2026-11-22T00:00:00Z", "source": "tier", "setting": "limits.highest.tokens_per_day", "binds": true}
    ]
  }
}"#,
        ),
        events: None,
        headers: &[],
        errors: &[],
    },
    Endpoint {
        operation: Operation::Health,
        id: "health",
        method: "GET",
        path: "/api/v1/health",
        summary: "shows the state of components and providers",
        is_extension: false,
        scope: None,
        parameters: &[],
        request: None,
        answer: (
            "Health",
            r#"{
  "status": "ok",
  "components": {"journal": {"status": "ok"}, "database": {"status": "ok"}},
  "providers": {"openai": {"status": "ok"}, "lab": {"status": "unknown"}}
}"#,
        ),
        events: None,
        headers: &[],
        errors: &[],
    },
    Endpoint {
        operation: Operation::Chat,
        id: "chat",
        method: "POST",
        path: "/api/v1/chat/completions",
        summary: "asks a model",
        is_extension: false,
        scope: Some(KeyScope::Chat),
        parameters: &[
            Parameter {
                name: "HTTP-Referer",
                place: "header",
                says: "the calling application's address, for usage records and the audit trail",
            },
            Parameter {
                name: "X-Title",
                place: "header",
                says: "the calling application's name, for the same",
            },
            Parameter {
                name: "svc-session-id",
                place: "header",
                says: "names the conversation, whose requests a router then keeps with one model, and which \
                       counts against budgets of each session. Without it: `session_id` in the body, \
                       `x-session-id`, `x-claude-code-session-id`, `session-id`, `x-session-affinity`, \
                       `prompt_cache_key` in the body; else the system prompt with the first user message",
            },
        ],
        request: Some((
            "ChatRequest",
            r#"{"model": "svc/auto", "messages": [{"role": "user", "content": "Say hello."}]}"#,
        )),
        answer: (
            "Completion",
            r#"{
  "id": "chatcmpl-01m7", "object": "chat.completion", "created": 1795225974, "model": "demo/chat",
  "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello.", "refusal": null}, "logprobs": null, "finish_reason": "stop"}],
  "usage": {
    "prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10,
    "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
    "cost_usd": 0.0000016, "cost": 0.0000016
  },
  "security": {"level": "high", "data_residency": "eu-west", "audit_id": "aud_01m7", "zero_retention": false}
}"#,
        ),
        events: Some("Chunk"),
        headers: &[FILTER, ROUTER, BUDGET],
        errors: errors::CHAT,
    },
];
