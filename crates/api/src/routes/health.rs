//! `GET /api/v1/health`: how the components and the providers are doing.

use http::Response;
use serde_json::{Map, json};
use sluice_gateway::health::ProviderState;

use crate::body::ResponseBody;
use crate::error::ApiError;
use crate::router::Api;
use crate::routes;

pub(crate) fn show(api: &Api) -> Result<Response<ResponseBody>, ApiError> {
    let gateway = api.gateway();
    let now = gateway.now();
    let journal = gateway.journal_is_healthy();
    let database = gateway.database_is_healthy();
    let audit = gateway.keeps_audits();
    let mut degraded = !journal || !database || !audit;
    let mut providers = Map::new();
    for (id, provider) in &gateway.snapshot().providers {
        let state = provider.health.state(now);
        degraded |= matches!(state, ProviderState::Failing | ProviderState::Resting);
        providers.insert(id.to_string(), json!({ "status": state.as_str() }));
    }
    let status = |ok: bool| json!({ "status": if ok { "ok" } else { "failing" } });
    let body = json!({
        "status": if degraded { "degraded" } else { "ok" },
        "components": {
            "journal": status(journal),
            "database": status(database),
            "audit": status(audit),
        },
        "providers": providers,
    });
    Ok(routes::json(body.to_string().into_bytes()))
}
