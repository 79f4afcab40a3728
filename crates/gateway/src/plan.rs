//! Which deployments can answer a request, in order, and why the others cannot.

use std::sync::Arc;

use sluice_core::chat::{ChatRequest, Content, Part, ResponseFormat};
use sluice_core::clock::UnixMillis;
use sluice_core::policy::EffectivePolicy;
use sluice_core::region::Region;
use sluice_providers::endpoint::Target;
use sluice_routing::catalog::Model;

use crate::error::ChatError;
use crate::principal::Principal;
use crate::snapshot::{Provider, Snapshot};

/// A deployment that can answer.
#[derive(Clone)]
pub struct Candidate {
    /// The model.
    pub model: Arc<Model>,
    /// Its provider.
    pub provider: Provider,
    /// Where requests are processed.
    pub region: Option<Region>,
    /// What the adapter encodes for.
    pub target: Target,
}

/// The deployments of `model` that can answer `chat`, the best first.
pub fn candidates(
    snapshot: &Snapshot,
    principal: &Principal,
    chat: &ChatRequest,
    model: &Arc<Model>,
    policy: &EffectivePolicy,
    max_tokens: Option<u32>,
    now: UnixMillis,
) -> Result<Vec<Candidate>, ChatError> {
    check_capabilities(chat, model)?;
    let allowed = principal.key.regions.as_deref();
    let mut found = Vec::with_capacity(model.deployments.len());
    for deployment in &model.deployments {
        let in_region = match policy.region {
            Some(region) => deployment.region == Some(region),
            None => allowed.is_none_or(|allowed| {
                deployment.region.is_some_and(|region| allowed.contains(&region))
            }),
        };
        let Some(provider) = snapshot.providers.get(&deployment.provider) else { continue };
        if in_region {
            found.push(Candidate {
                model: model.clone(),
                region: deployment.region,
                target: Target {
                    endpoint: provider.endpoint.clone(),
                    upstream_model: deployment.upstream_model.clone(),
                    max_tokens,
                    output_limit: model.output_limit,
                },
                provider: provider.clone(),
            });
        }
    }
    if found.is_empty() {
        return Err(nowhere(model, policy.region, allowed));
    }
    // Whoever asked to be left alone is asked last, and still asked when nobody else is there.
    found.sort_by_key(|candidate| candidate.provider.health.is_resting(now));
    Ok(found)
}

fn nowhere(model: &Model, region: Option<Region>, allowed: Option<&[Region]>) -> ChatError {
    let regions = model.regions();
    match region.or_else(|| allowed.and_then(|allowed| allowed.first().copied())) {
        Some(region) => {
            ChatError::RegionUnavailable { model: model.id.to_string(), region, regions }
        }
        None => ChatError::NoModelAvailable {
            model: model.id.to_string(),
            reasons: "it has no configured provider".to_owned(),
            retry_after: std::time::Duration::from_secs(60),
        },
    }
}

/// What the catalogue knows that the model cannot do is refused here, by name, before anything is
/// sent.
fn check_capabilities(chat: &ChatRequest, model: &Model) -> Result<(), ChatError> {
    let unsupported = |field: String, reason: &str| {
        Err(ChatError::Unsupported {
            field,
            reason: reason.to_owned(),
            model: model.id.to_string(),
        })
    };
    if model.capabilities.tools == Some(false) && !chat.tools.is_empty() {
        return unsupported("tools".to_owned(), "asks for function calls");
    }
    if model.capabilities.json_schema == Some(false)
        && matches!(chat.response_format, Some(ResponseFormat::JsonSchema { .. }))
    {
        return unsupported("response_format".to_owned(), "asks for an answer by JSON schema");
    }
    if model.capabilities.vision == Some(false) {
        for (i, message) in chat.messages.iter().enumerate() {
            let Content::Parts(parts) = &message.content else { continue };
            if let Some(j) = parts.iter().position(|part| matches!(part, Part::Image { .. })) {
                return unsupported(format!("messages[{i}].content[{j}]"), "holds an image");
            }
        }
    }
    Ok(())
}
