//! What a router decided, as callers are told: four headers on its answers.

use http::{HeaderMap, HeaderName, HeaderValue};
use sluice_core::routing::RouteRecord;

const ROUTER: HeaderName = HeaderName::from_static("svc-router");
const TASK_TYPE: HeaderName = HeaderName::from_static("svc-task-type");
const COMPLEXITY: HeaderName = HeaderName::from_static("svc-complexity");
const ROUTE_REASON: HeaderName = HeaderName::from_static("svc-route-reason");

/// Writes the four headers, where a router was asked.
pub(crate) fn write_headers(route: Option<&RouteRecord>, headers: &mut HeaderMap) {
    let Some(route) = route else { return };
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
        write_headers(None, &mut headers);
        assert!(headers.is_empty());
        write_headers(Some(&route), &mut headers);
        for (name, value) in [
            ("svc-router", "svc/auto"),
            ("svc-task-type", "debug"),
            ("svc-complexity", "0.417"),
            ("svc-route-reason", "best"),
        ] {
            assert_eq!(headers[name], value);
        }
    }
}
