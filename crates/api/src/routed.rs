//! What was decided before a model was asked, as callers are told: four headers on the answers of
//! routers, and one where a budget or a policy lowered the bound on generated tokens,
//! and one that says who is billed where there is a provider key beside the deployment's.

use http::{HeaderMap, HeaderName, HeaderValue};
use sluice_gateway::accounting::Decided;

const ROUTER: HeaderName = HeaderName::from_static("svc-router");
const TASK_TYPE: HeaderName = HeaderName::from_static("svc-task-type");
const COMPLEXITY: HeaderName = HeaderName::from_static("svc-complexity");
const ROUTE_REASON: HeaderName = HeaderName::from_static("svc-route-reason");
const BILLED_BY: HeaderName = HeaderName::from_static("svc-billed-by");
const MAX_TOKENS_LOWERED: HeaderName = HeaderName::from_static("svc-max-tokens-lowered");

/// Writes those headers that there is something to say in.
pub(crate) fn write_headers(decided: &Decided, headers: &mut HeaderMap) {
    if let Some(tokens) = decided.max_tokens_lowered {
        headers.insert(MAX_TOKENS_LOWERED, tokens.into());
    }
    if let Some(billed_by) = decided.billed_by {
        headers.insert(BILLED_BY, HeaderValue::from_static(billed_by.as_str()));
    }
    let Some(route) = &decided.route else { return };
    for (name, value) in [
        (ROUTER, route.router.to_string()),
        (TASK_TYPE, route.task_type.clone()),
        (COMPLEXITY, format!("{:.3}", route.complexity)),
        (ROUTE_REASON, route.reason.clone()),
    ] {
        // Words, identifiers and digits are a header's value; an identifier that is none is left out.
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sluice_core::routing::RouteRecord;

    use super::*;

    #[test]
    fn an_answer_says_who_chose_and_why() {
        let route = RouteRecord {
            router: "svc/auto".into(),
            policy: "balanced".to_owned(),
            task_type: "debug".to_owned(),
            certainty: 0.8,
            complexity: 0.4166,
            agent_step: false,
            reason: "best".to_owned(),
            candidates: Vec::new(),
        };
        let mut headers = HeaderMap::new();
        write_headers(&Decided::default(), &mut headers);
        assert!(headers.is_empty());
        let decided = Decided {
            route: Some(Arc::new(route)),
            max_tokens_lowered: Some(300),
            billed_by: None,
        };
        write_headers(&decided, &mut headers);
        for (name, value) in [
            ("svc-max-tokens-lowered", "300"),
            ("svc-router", "svc/auto"),
            ("svc-task-type", "debug"),
            ("svc-complexity", "0.417"),
            ("svc-route-reason", "best"),
        ] {
            assert_eq!(headers[name], value);
        }
    }
}
