//! Which deployments can answer a request, in order, and why the others cannot.

use std::sync::Arc;

use sluice_core::chat::{ChatRequest, Content, Part, ResponseFormat};
use sluice_core::clock::UnixMillis;
use sluice_core::policy::EffectivePolicy;
use sluice_core::region::Region;
use sluice_core::sealed::SealedPlaces;
use sluice_providers::endpoint::Target;
use sluice_routing::catalog::Model;
use sluice_routing::speed::DeploymentSpeed;

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
    /// How fast it has been.
    pub speed: Arc<DeploymentSpeed>,
}

impl Candidate {
    /// The deployment at this place of `model`; `None` where its provider is gone.
    pub(crate) fn new(
        snapshot: &Snapshot,
        model: &Arc<Model>,
        deployment: usize,
        max_tokens: Option<u32>,
    ) -> Option<Self> {
        let speed = snapshot.speeds.of(&model.id).get(deployment)?.clone();
        let deployment = model.deployments.get(deployment)?;
        let provider = snapshot.providers.get(&deployment.provider)?.clone();
        Some(Self {
            model: model.clone(),
            region: deployment.region,
            target: Target {
                endpoint: provider.endpoint.clone(),
                upstream_model: deployment.upstream_model.clone(),
                max_tokens,
                output_limit: model.output_limit,
            },
            provider,
            speed,
        })
    }
}

/// The deployments of `model` that can answer `chat`, the best first.
pub fn candidates(
    snapshot: &Snapshot,
    (principal, chat, policy): (&Principal, &ChatRequest, &EffectivePolicy),
    model: &Arc<Model>,
    max_tokens: Option<u32>,
    now: UnixMillis,
) -> Result<Vec<Candidate>, ChatError> {
    check_capabilities(chat, model)?;
    let allowed = principal.key.regions.as_deref();
    let mut found = Vec::with_capacity(model.deployments.len());
    for (i, deployment) in model.deployments.iter().enumerate() {
        let in_region = match policy.region {
            Some(region) => deployment.region == Some(region),
            None => allowed.is_none_or(|allowed| {
                deployment.region.is_some_and(|region| allowed.contains(&region))
            }),
        };
        if in_region {
            found.extend(Candidate::new(snapshot, model, i, max_tokens));
        }
    }
    if found.is_empty() {
        return Err(nowhere(model, policy.region, allowed));
    }
    // Whoever asked to be left alone is asked last, and still asked when nobody else is there.
    found.sort_by_key(|candidate| candidate.provider.health.is_resting(now));
    Ok(found)
}

/// The sealed values that one of `candidates` at least wants back as they were. The others do not get
/// them.
pub(crate) fn taken_back(candidates: &[Candidate]) -> SealedPlaces {
    let places = candidates.iter().map(|candidate| candidate.target.endpoint.takes_back());
    places.fold(SealedPlaces::NONE, SealedPlaces::and)
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use sluice_core::level::SecurityLevel;
    use sluice_core::policy::Retention;
    use sluice_core::region::Region::{AsiaPacific, EuWest, UsEast};
    use sluice_providers::error::ProviderErrorKind;
    use sluice_routing::catalog::{Capabilities, Catalog};

    use super::*;
    use crate::snapshot::Speeds;
    use crate::testing::{
        NOW, Scripted, TIMEOUTS, chat, deployment, filter, model, principal, provider, rules,
    };

    fn snapshot() -> Snapshot {
        let upstream = Arc::new(Scripted::default());
        let provider = |id: &str| (id.into(), provider(id, upstream.clone()));
        let catalog = Catalog::new([Model::clone(&spread())]);
        Snapshot {
            speeds: Speeds::new(&catalog, None),
            catalog,
            providers: HashMap::from(["a", "b", "c"].map(provider)),
            rules: rules(),
            timeouts: TIMEOUTS,
            filter: filter(),
        }
    }

    /// Runs at `a` in the east, at `b` in Europe, at `c` nobody knows where, and at one that is gone.
    fn spread() -> Arc<Model> {
        let deployments = vec![
            deployment("gone", Some(UsEast)),
            deployment("a", Some(UsEast)),
            deployment("b", Some(EuWest)),
            deployment("c", None),
        ];
        Arc::new(Model { deployments, ..model("m") })
    }

    fn plan(
        snapshot: &Snapshot,
        allowed: Option<Vec<Region>>,
        region: Option<Region>,
    ) -> Result<Vec<String>, ChatError> {
        let mut principal = principal();
        principal.key.regions = allowed;
        let policy = EffectivePolicy {
            level: SecurityLevel::Standard,
            region,
            audit: false,
            retention: Retention::Records,
        };
        let found =
            candidates(snapshot, (&principal, &chat(""), &policy), &spread(), Some(5), NOW)?;
        assert!(found.iter().all(|candidate| candidate.target.max_tokens == Some(5)));
        Ok(found.iter().map(|candidate| candidate.target.endpoint.id.to_string()).collect())
    }

    #[test]
    fn a_request_goes_only_where_it_may() {
        let snapshot = snapshot();
        for (allowed, region, expected) in [
            (None, None, Ok(vec!["a", "b", "c"])),
            (None, Some(UsEast), Ok(vec!["a"])),
            (None, Some(EuWest), Ok(vec!["b"])),
            (None, Some(AsiaPacific), Err(AsiaPacific)),
            // Where nobody knows is nowhere that was allowed.
            (Some(vec![EuWest, UsEast]), None, Ok(vec!["a", "b"])),
            (Some(vec![EuWest]), None, Ok(vec!["b"])),
            (Some(vec![AsiaPacific]), None, Err(AsiaPacific)),
            (Some(vec![EuWest]), Some(EuWest), Ok(vec!["b"])),
        ] {
            let found = plan(&snapshot, allowed.clone(), region);
            match expected {
                Ok(ids) => assert_eq!(found.unwrap(), ids, "{allowed:?} {region:?}"),
                Err(region) => assert_eq!(
                    found,
                    Err(ChatError::RegionUnavailable {
                        model: "m".to_owned(),
                        region,
                        regions: vec![UsEast, EuWest],
                    })
                ),
            }
        }
    }

    #[test]
    fn whoever_rests_is_asked_last() {
        let snapshot = snapshot();
        let health = &snapshot.providers["a"].health;
        health.failed(ProviderErrorKind::RateLimited, Some(Duration::from_secs(5)), NOW);
        assert_eq!(plan(&snapshot, None, None).unwrap(), ["b", "c", "a"]);
        assert_eq!(plan(&snapshot, None, Some(UsEast)).unwrap(), ["a"], "still asked");
    }

    #[test]
    fn what_the_model_cannot_do_is_refused_by_name() {
        use sluice_core::chat::Tool;
        let tool = Tool {
            name: "f".into(),
            description: None,
            parameters: None,
            strict: None,
            cache_breakpoint: None,
            other: None,
        };
        let mut with_tool = chat("");
        with_tool.tools.push(tool);
        let mut with_schema = chat("");
        with_schema.response_format = Some(ResponseFormat::JsonSchema {
            name: "s".into(),
            description: None,
            schema: None,
            strict: None,
        });
        let mut with_image = chat("");
        let image = Part::Image { url: "data:,".into(), detail: None, cache_breakpoint: None };
        with_image.messages[0].content = Content::Parts(vec![image]);
        for (chat, field) in [
            (&with_tool, "tools"),
            (&with_schema, "response_format"),
            (&with_image, "messages[0].content[0]"),
        ] {
            for (can, refused) in [(Some(false), true), (Some(true), false), (None, false)] {
                let capabilities = Capabilities {
                    tools: can,
                    json_schema: can,
                    vision: can,
                    ..Default::default()
                };
                let model = Model { capabilities, ..model("m") };
                match check_capabilities(chat, &model) {
                    Ok(()) => assert!(!refused, "{field}"),
                    Err(ChatError::Unsupported { field: told, .. }) => {
                        assert!(refused);
                        assert_eq!(told, field);
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    }
}
