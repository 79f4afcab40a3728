//! `GET /api/v1/auth/token`: the key that was presented, without the key itself.

use http::Response;
use serde_json::{Value, json};
use sluice_core::clock::Moment;
use sluice_core::organisation::Subject;
use sluice_gateway::limits::{AllowanceView, Bound, Meter, Quantity};
use sluice_gateway::principal::Principal;

use crate::body::ResponseBody;
use crate::error::ApiError;
use crate::router::Api;
use crate::routes;

pub(crate) fn show(api: &Api, principal: &Principal) -> Result<Response<ResponseBody>, ApiError> {
    let key = &principal.key;
    let now = api.gateway().clock().moment();
    let subjects = &principal.subjects;
    let allowances = principal.views(now);
    let of = |is_of: fn(&Subject) -> bool| {
        let bound = subjects.bounds().iter().find(|bound| is_of(&bound.subject));
        bound.map(|bound| figures(bound, now))
    };
    let body = json!({
        "object": "token",
        "valid": true,
        "key": {
            "prefix": principal.secret.prefix,
            "name": key.name,
            "class": key.class.as_str(),
            "permissions": {
                "scopes": key.scopes,
                "models": key.models,
                "regions": key.regions,
                "suite": principal.suite.as_str(),
                "max_tokens": key.max_tokens,
                "minimum_security_level": key.minimum_level.max(principal.account.minimum_level),
                "zero_retention": key.zero_retention || principal.account.zero_retention,
            },
            "created_at": key.created_at.to_rfc3339(),
            "expires_at": principal.expires_at().map(|at| at.to_rfc3339()),
        },
        "account": { "name": principal.account.name, "tier": principal.account.tier.as_str() },
        "limits": {
            "key": of(|subject| matches!(subject, Subject::Key(_))),
            "account": of(|subject| matches!(subject, Subject::Account(_))),
            "allowances": allowances.iter().map(AllowanceView::to_json).collect::<Vec<_>>(),
        },
    });
    Ok(routes::json(body.to_string().into_bytes()))
}

/// The figures of a class or tier, as they are known by their settings; null where there is none.
fn figures(bound: &Bound, now: Moment) -> Value {
    let limit = |quantity: &Quantity| {
        let of_it = bound.allowances.iter().filter(|it| it.hard && it.quantity == *quantity);
        of_it.map(|allowance| allowance.limit).min()
    };
    let requests = limit(&Quantity::Used(Meter::REQUESTS_AN_HOUR));
    let (_, requests_used) = bound.ledger.window(&Meter::REQUESTS_AN_HOUR, now.wall);
    json!({
        "requests_per_hour": requests,
        "requests_remaining": requests.map(|limit| limit.saturating_sub(requests_used)),
        "tokens_per_day": limit(&Quantity::Used(Meter::TOKENS_A_DAY)),
        "tokens_used_today": bound.ledger.tokens_used(now.wall),
        "concurrent_requests": limit(&Quantity::Concurrency),
        "requests_in_flight": bound.ledger.in_flight(now.steady),
    })
}
