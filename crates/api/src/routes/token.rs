//! `GET /api/v1/auth/token`: the key that was presented, without the key itself.

use http::Response;
use serde_json::{Value, json};
use sluice_gateway::limits::{RateView, UNLIMITED};
use sluice_gateway::principal::Principal;

use crate::body::ResponseBody;
use crate::error::ApiError;
use crate::router::Api;
use crate::routes;

pub(crate) fn show(api: &Api, principal: &Principal) -> Result<Response<ResponseBody>, ApiError> {
    let key = &principal.key;
    let now = api.gateway().now();
    let subjects = &principal.subjects;
    let limits = |ledger: &sluice_gateway::limits::Ledger,
                  limits: &sluice_gateway::limits::Limits| {
        let rate = ledger.rate(limits, now);
        json!({
            "requests_per_hour": limits.requests_per_hour,
            "requests_remaining": remaining(&rate),
            "tokens_per_day": limits.tokens_per_day,
            "tokens_used_today": ledger.tokens_used(now),
            "concurrent_requests": limits.concurrent_requests,
            "requests_in_flight": ledger.in_flight(now),
        })
    };
    let body = json!({
        "object": "token",
        "valid": true,
        "key": {
            "prefix": key.prefix,
            "name": key.name,
            "class": key.class.as_str(),
            "permissions": {
                "models": key.models,
                "regions": key.regions,
                "suite": principal.suite.as_str(),
                "max_tokens": key.max_tokens,
                "minimum_security_level": key.minimum_level.max(principal.account.minimum_level),
                "zero_retention": key.zero_retention || principal.account.zero_retention,
            },
            "created_at": key.created_at.to_rfc3339(),
            "expires_at": key.expires_at.map(|at| at.to_rfc3339()),
        },
        "account": { "name": principal.account.name, "tier": principal.account.tier.as_str() },
        "limits": {
            "key": limits(&subjects.key, &subjects.key_limits),
            "account": limits(&subjects.account, &subjects.account_limits),
        },
    });
    Ok(routes::json(body.to_string().into_bytes()))
}

/// Requests left in the window; null where there is no limit.
fn remaining(rate: &RateView) -> Value {
    if rate.limit == UNLIMITED { Value::Null } else { rate.remaining.into() }
}
