//! Which deployments can answer a request, in order, and why the others cannot.

use std::sync::Arc;

use sluice_core::money::Price;
use sluice_core::region::Region;
use sluice_core::routing::RouteRecord;
use sluice_core::sealed::SealedPlaces;
use sluice_providers::endpoint::Target;
use sluice_routing::catalog::Model;
use sluice_routing::decide::Exclusion;
use sluice_routing::speed::DeploymentSpeed;
use sluice_storage::{BilledBy, ProviderKeyUse};

use crate::eligible::{Refused, Wanted};
use crate::error::ChatError;
use crate::policy::OutputBound;
use crate::principal::Principal;
use crate::provider_keys::OwnKey;
use crate::request::RequestContext;
use crate::route::{Conversations, OpenTurn};
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
    /// Whether a budget or a policy has lowered the bound on generated tokens.
    pub is_lowered: bool,
    /// How fast it has been.
    pub speed: Arc<DeploymentSpeed>,
    /// The provider key beside the deployment's, and who is billed: this one is used, or the
    /// deployment's after it.
    pub own: Option<(Arc<OwnKey>, BilledBy)>,
    /// What budgets of money count where the model's price is not known.
    pub fallback: Option<Arc<Price>>,
}

impl Candidate {
    /// The deployment at this place of `model`, asked with the principal's own provider key where there
    /// is one, and with the deployment's, where that may be; none where its provider is gone. The own key
    /// goes first, unless it gives way.
    pub(crate) fn all(
        asked: &Asked<'_>,
        model: &Arc<Model>,
        deployment: usize,
        bound: OutputBound,
    ) -> impl Iterator<Item = Self> {
        let candidate = Self::new(asked.snapshot, model, deployment, bound);
        let own = candidate
            .as_ref()
            .and_then(|candidate| asked.principal.own_key(&candidate.target.endpoint.id).cloned());
        let (first, second) = match (candidate, own) {
            (Some(candidate), Some(own)) => {
                let with_own = own.provider.as_ref().map(|provider| Self {
                    target: Target {
                        endpoint: provider.endpoint.clone(),
                        ..candidate.target.clone()
                    },
                    provider: provider.clone(),
                    speed: own.speed(&model.id, deployment),
                    own: Some((own.clone(), BilledBy::Provider)),
                    ..candidate.clone()
                });
                let gives_way = own.gives_way(&model.id, deployment, asked.context.arrived_at);
                let with_deployments = own
                    .falls_back
                    .then(|| Self { own: Some((own.clone(), BilledBy::Deployment)), ..candidate });
                match gives_way {
                    true => (with_deployments, with_own),
                    false => (with_own, with_deployments),
                }
            }
            (candidate, _) => (candidate, None),
        };
        first.into_iter().chain(second)
    }

    /// The bound on generated tokens, where a budget or a policy lowered it.
    pub(crate) fn max_tokens_lowered(&self) -> Option<u32> {
        self.target.max_tokens.filter(|_| self.is_lowered)
    }

    /// How its use stands to a provider key beside the deployment's.
    pub(crate) fn provider_key(&self) -> Option<ProviderKeyUse> {
        self.own.as_ref().map(|(own, billed_by)| own.usage(*billed_by))
    }

    /// The price by which budgets of money count; `None` where they do not.
    pub(crate) fn counted_price(&self) -> Option<&Price> {
        let price = self.model.price.as_ref().or(self.fallback.as_deref());
        price.filter(|_| !self.is_uncounted())
    }

    /// Whether budgets of money leave out what it costs.
    pub(crate) fn is_uncounted(&self) -> bool {
        matches!(&self.own, Some((own, BilledBy::Provider)) if own.is_uncounted())
    }

    fn new(
        snapshot: &Snapshot,
        model: &Arc<Model>,
        deployment: usize,
        bound: OutputBound,
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
                max_tokens: bound.tokens,
                output_limit: model.output_limit,
            },
            is_lowered: bound.is_lowered,
            provider,
            speed,
            own: None,
            fallback: snapshot.rules.fallback_price.clone(),
        })
    }
}

/// Where a request goes.
pub(crate) struct Plan {
    /// Who can answer, the best first.
    pub(crate) candidates: Vec<Candidate>,
    /// A router's decision, for people; `None` where a model was asked.
    pub(crate) record: Option<RouteRecord>,
    /// What the session is told when somebody has answered.
    pub(crate) turn: Option<OpenTurn>,
}

/// A request that wants to be planned.
pub(crate) struct Asked<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) conversations: &'a Conversations,
    pub(crate) principal: &'a Principal,
    pub(crate) context: &'a RequestContext,
    pub(crate) wanted: Wanted<'a>,
}

impl Asked<'_> {
    /// Where a request for the model, which may be a router, goes.
    pub(crate) fn plan(&self) -> Result<Plan, ChatError> {
        match &self.wanted.model.router {
            Some(router) => self.route(router),
            None => {
                let candidates = self.deployments(&self.wanted.model.answering)?;
                Ok(Plan { candidates, record: None, turn: None })
            }
        }
    }

    /// The bound on generated tokens where `model` answers.
    pub(crate) fn output_bound(&self, model: &Model) -> Result<OutputBound, ChatError> {
        let Wanted { ruling, chat, .. } = self.wanted;
        OutputBound::of(ruling, self.principal.key.max_tokens, chat, model)
    }

    /// The deployments of a model that was asked for by its name, in the order of preference.
    fn deployments(&self, model: &Arc<Model>) -> Result<Vec<Candidate>, ChatError> {
        let needs = self.wanted.needs();
        let bound = self.output_bound(model)?;
        let mut found = Vec::with_capacity(model.deployments.len());
        let mut refused = Vec::new();
        for (place, at) in model.deployments.iter().enumerate() {
            match self.exclusion(&needs, model, at) {
                // There is no other model, and its provider counts better than an estimate does.
                None | Some(Exclusion::ContextWindow(_)) => {
                    found.extend(Candidate::all(self, model, place, bound));
                }
                Some(why) => refused.push(Refused { model, provider: &at.provider, why }),
            }
        }
        if found.is_empty() {
            return Err(self.wanted.nobody(&model.id, &refused));
        }
        // Whoever asked to be left alone is asked last, and still asked when nobody else is there.
        let now = self.context.arrived_at;
        found.sort_by_key(|candidate| candidate.provider.health.is_resting(now));
        Ok(found)
    }
}

/// The sealed values that one of `candidates` at least wants back as they were. The others do not get
/// them.
pub(crate) fn taken_back(candidates: &[Candidate]) -> SealedPlaces {
    let places = candidates.iter().map(|candidate| candidate.target.endpoint.takes_back());
    places.fold(SealedPlaces::NONE, SealedPlaces::and)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use sluice_core::level::SecurityLevel;
    use sluice_core::policy::{EffectivePolicy, Retention};
    use sluice_core::region::Region::{AsiaPacific, EuWest, UsEast};
    use sluice_providers::error::ProviderErrorKind;
    use sluice_routing::catalog::Catalog;

    use super::*;
    use crate::policy::AskedModel;
    use crate::snapshot::Speeds;
    use crate::testing::{
        NOW, Scripted, TIMEOUTS, chat, context, deployment, filter, model, principal, provider,
        rules, ruling,
    };

    fn snapshot() -> Snapshot {
        let upstream = Arc::new(Scripted::default());
        let provider = |id: &str| (id.into(), provider(id, upstream.clone()));
        let catalog = Catalog::new([Model::clone(&spread())]);
        Snapshot {
            given: Arc::default(),
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
        Arc::make_mut(&mut principal.key).regions = allowed;
        principal.ruling = ruling(&principal, &snapshot.rules);
        let mut chat = chat("");
        chat.max_tokens = Some(5);
        let policy = EffectivePolicy {
            level: SecurityLevel::Standard,
            region,
            audit: false,
            audit_enabled: false,
            retention: Retention::Records,
        };
        let (asked, answering) = (spread(), spread());
        let model = AskedModel { asked, answering, router: None, is_own: false };
        let asked = Asked {
            snapshot,
            conversations: &Conversations::new(0),
            principal: &principal,
            context: &context(),
            wanted: Wanted {
                ruling: &principal.ruling,
                suite: principal.suite,
                model: &model,
                chat: &chat,
                policy,
                prompt_tokens: 1,
            },
        };
        let found = asked.plan()?.candidates;
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
}
