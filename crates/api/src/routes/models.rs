//! `GET /api/v1/models`, and `GET /api/v1/models/{id}`, which OpenAI's clients ask for too.

use http::Response;
use serde::Serialize;
use sluice_gateway::catalog::Model;
use sluice_gateway::error::ChatError;
use sluice_gateway::principal::Principal;

use crate::body::ResponseBody;
use crate::error::ApiError;
use crate::router::Api;
use crate::routes::json;

#[derive(Serialize)]
struct List<'a> {
    object: &'static str,
    data: Vec<Entry<'a>>,
}

/// The four documented fields, and what clients such as OpenRouter's read beside them.
#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    owned_by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    /// The simulator's models say so wherever they appear.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    simulated: bool,
}

pub(crate) fn list(api: &Api, principal: &Principal) -> Result<Response<ResponseBody>, ApiError> {
    let gateway = api.gateway();
    let models = gateway.models(principal);
    let data = models.iter().map(|model| Entry::of(model, gateway.created(model))).collect();
    Ok(json(serde_json::to_vec(&List { object: "list", data }).unwrap_or_default()))
}

/// One model. Clients write the slash of `svc/auto` as `%2F`, or as it is.
pub(crate) fn show(
    api: &Api,
    principal: &Principal,
    id: &str,
) -> Result<Response<ResponseBody>, ApiError> {
    let id = id.replace("%2F", "/").replace("%2f", "/").replace("%3A", ":").replace("%3a", ":");
    let models = api.gateway().models(principal);
    let model = models
        .iter()
        .find(|model| model.id.as_str() == id)
        .ok_or_else(|| ChatError::UnknownModel { model: id.chars().take(100).collect() })?;
    Ok(json(
        serde_json::to_vec(&Entry::of(model, api.gateway().created(model))).unwrap_or_default(),
    ))
}

impl<'a> Entry<'a> {
    fn of(model: &'a Model, created: u64) -> Self {
        Self {
            id: model.id.as_str(),
            object: "model",
            created,
            owned_by: &model.owned_by,
            context_length: model.context_window,
            max_completion_tokens: model.output_limit,
            simulated: model.simulated,
        }
    }
}
