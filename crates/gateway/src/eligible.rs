//! Which deployments could answer a request, and what is said where none can: the same for a model
//! that was asked for by its name and for the members of a router.

use std::sync::Arc;
use std::time::Duration;

use sluice_core::chat::{ChatRequest, Content, Part, ResponseFormat};
use sluice_core::ids::{ModelId, ProviderId};
use sluice_core::key::Suite;
use sluice_core::policy::EffectivePolicy;
use sluice_core::region::Region;
use sluice_routing::catalog::{Deployment, Model};
use sluice_routing::decide::{Exclusion, Needs, exclusion};

use crate::error::ChatError;
use crate::plan::Asked;
use crate::policy::{AskedModel, Ruling};
use crate::provider_keys::OwnKey;

/// When it is worth asking again where nobody knows better.
const USUAL_RETRY: Duration = Duration::from_secs(60);

/// A deployment that cannot answer.
pub(crate) struct Refused<'a> {
    pub(crate) model: &'a Model,
    pub(crate) provider: &'a ProviderId,
    pub(crate) why: Exclusion,
}

/// A request, and what its rules say about who may answer it, wherever it is in force.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) ruling: &'a Ruling,
    pub(crate) suite: Suite,
    /// What was named, and what that stands for.
    pub(crate) model: &'a AskedModel,
    pub(crate) chat: &'a ChatRequest,
    pub(crate) policy: EffectivePolicy,
    /// Tokens of the prompt, estimated.
    pub(crate) prompt_tokens: u64,
}

impl Asked<'_> {
    /// Why a deployment of `model` cannot answer, whatever its provider's health.
    pub(crate) fn exclusion(
        &self,
        needs: &Needs,
        model: &Model,
        at: &Deployment,
    ) -> Option<Exclusion> {
        let has_no_key = |own: &Arc<OwnKey>| !own.falls_back && own.provider.is_none();
        match self.wanted.exclusion(needs, model, at) {
            Some(Exclusion::Policy) => Some(Exclusion::Policy),
            _ if self.principal.own_key(&at.provider).is_some_and(has_no_key) => {
                Some(Exclusion::ProviderKey)
            }
            why => why,
        }
    }
}

impl Wanted<'_> {
    /// Tokens of the prompt, estimated.
    #[expect(clippy::cast_precision_loss, reason = "an estimate of some thousand tokens")]
    pub(crate) fn input_tokens(&self) -> f64 {
        self.prompt_tokens as f64
    }

    /// Whether some deployment could answer by the rules and by what is known of models; why none
    /// could, else. How providers are doing is not looked at.
    pub(crate) fn could_be_answered(&self) -> Result<(), ChatError> {
        let needs = self.needs();
        let router = self.model.router.as_deref();
        let members = router.into_iter().flat_map(|router| &router.members).map(|it| &it.model);
        let models = members.chain(router.is_none().then_some(&self.model.answering));
        let mut refused = Vec::new();
        for (model, at) in models.flat_map(|it| it.deployments.iter().map(move |at| (it, at))) {
            match self.exclusion(&needs, model, at) {
                None => return Ok(()),
                // A model that was asked for by its name is asked all the same.
                Some(Exclusion::ContextWindow(_)) if router.is_none() => return Ok(()),
                Some(why) => refused.push(Refused { model, provider: &at.provider, why }),
            }
        }
        Err(self.nobody(&self.model.answering.id, &refused))
    }

    /// What the request needs of whoever answers it.
    pub(crate) fn needs(&self) -> Needs {
        let chat = self.chat;
        Needs {
            suite: self.suite,
            region: self.policy.region,
            level: self.policy.level,
            input_tokens: self.input_tokens(),
            output_tokens: Needs::room(chat.max_tokens),
            vision: first_image(chat).is_some(),
            tools: !chat.tools.is_empty(),
            json_schema: matches!(chat.response_format, Some(ResponseFormat::JsonSchema { .. })),
        }
    }

    /// Why a deployment of `model` may not answer, or is not able to.
    pub(crate) fn exclusion(
        &self,
        needs: &Needs,
        model: &Model,
        at: &Deployment,
    ) -> Option<Exclusion> {
        let ruling = self.ruling;
        if !self.model.may_be_answered_by(&model.id, ruling) {
            return Some(Exclusion::Policy);
        }
        let allowed = ruling.allowed_regions.as_deref();
        // Whoever named no region may go to any that is allowed.
        let may_be_in = |region: Option<Region>| {
            self.policy.region.is_some()
                || allowed.is_none_or(|allowed| region.is_some_and(|r| allowed.contains(&r)))
        };
        exclusion(needs, model, at.region, may_be_in)
    }

    /// Nobody can answer what was asked of `id`: what the request itself asks too much of is its own
    /// fault, everything else may be otherwise soon.
    pub(crate) fn nobody(&self, id: &ModelId, refused: &[Refused<'_>]) -> ChatError {
        let model = id.to_string();
        // In another region the request may not be answered at all: what stands against the
        // deployments in its own region decides.
        let is_elsewhere = |why: &Exclusion| matches!(why, Exclusion::Region(_));
        let all_elsewhere = refused.iter().all(|it| is_elsewhere(&it.why));
        let exclusions = refused.iter().map(|it| &it.why);
        let exclusions = exclusions.filter(|why| all_elsewhere || !is_elsewhere(why));
        let all = |is: fn(&Exclusion) -> bool| !refused.is_empty() && exclusions.clone().all(is);
        if let Some(error) = self.unsupported(id, all) {
            return error;
        }
        let allowed = self.ruling.allowed_regions.as_ref().and_then(|it| it.first());
        if let Some(region) = self.policy.region.or(allowed.copied())
            && all(|e| matches!(e, Exclusion::Region(_)))
        {
            let mut regions: Vec<Region> =
                refused.iter().flat_map(|it| it.model.regions()).collect();
            regions.sort_unstable();
            regions.dedup();
            return ChatError::RegionUnavailable { model, region, regions };
        }
        let wait = exclusions.clone().filter_map(Exclusion::passes_in).min();
        let mut reasons: Vec<String> = refused
            .iter()
            .map(|Refused { model, provider, why }| format!("{} at {provider}: {why}", model.id))
            .collect();
        if reasons.is_empty() {
            reasons.push("none of its providers is configured".to_owned());
        }
        ChatError::NoModelAvailable {
            model,
            reasons: reasons.join("; "),
            retry_after: wait.map_or(USUAL_RETRY, Duration::from_secs),
        }
    }

    /// The request asks for something that nobody has. `all` says whether something stands against
    /// every deployment.
    fn unsupported(
        &self,
        id: &ModelId,
        all: impl Fn(fn(&Exclusion) -> bool) -> bool,
    ) -> Option<ChatError> {
        let unsupported = |field: &str, reason: &str| {
            let (field, reason) = (field.to_owned(), reason.to_owned());
            Some(ChatError::Unsupported { field, reason, model: id.to_string() })
        };
        if all(|e| matches!(e, Exclusion::Tools)) {
            return unsupported("tools", "asks for function calls");
        }
        if all(|e| matches!(e, Exclusion::Vision)) {
            let place = first_image(self.chat).unwrap_or_default();
            let field = format!("messages[{}].content[{}]", place.0, place.1);
            return unsupported(&field, "holds an image");
        }
        if all(|e| matches!(e, Exclusion::JsonSchema)) {
            return unsupported("response_format", "asks for an answer by JSON schema");
        }
        if all(|e| matches!(e, Exclusion::ContextWindow(_))) {
            return Some(ChatError::Rejected {
                message: format!(
                    "prompt and answer of about {:.0} tokens do not fit into any model of `{id}`",
                    self.input_tokens() + Needs::room(self.chat.max_tokens)
                ),
                code: None,
                param: Some("messages".to_owned()),
                too_long: true,
            });
        }
        let about_the_request = |e: &Exclusion| {
            matches!(
                e,
                Exclusion::ContextWindow(_)
                    | Exclusion::Vision
                    | Exclusion::Tools
                    | Exclusion::JsonSchema
            )
        };
        if all(about_the_request) {
            return unsupported("messages", "asks for what no one model of it can do together");
        }
        None
    }
}

/// Where the first image is: its message, and its part of that.
fn first_image(chat: &ChatRequest) -> Option<(usize, usize)> {
    chat.messages.iter().enumerate().find_map(|(message, it)| match &it.content {
        Content::Parts(parts) => {
            let part = parts.iter().position(|part| matches!(part, Part::Image { .. }))?;
            Some((message, part))
        }
        Content::None | Content::Text(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use sluice_core::chat::Tool;
    use sluice_core::level::SecurityLevel;
    use sluice_core::policy::Retention;
    use sluice_core::region::Region::{AsiaPacific, EuWest, UsEast};
    use sluice_routing::catalog::{Capabilities, Catalog};
    use std::collections::HashMap;

    use super::*;
    use crate::route::Conversations;
    use crate::snapshot::{Snapshot, Speeds};
    use crate::testing::{
        Scripted, TIMEOUTS, chat, context, deployment, filter, model, principal, provider, rules,
    };

    fn plan(chat: &ChatRequest, model: &Arc<Model>) -> Result<usize, ChatError> {
        plan_in(None, chat, model)
    }

    fn plan_in(
        region: Option<Region>,
        chat: &ChatRequest,
        model: &Arc<Model>,
    ) -> Result<usize, ChatError> {
        let catalog = Catalog::new([Model::clone(model)]);
        let (id, provider) = ("a".into(), provider("a", Arc::new(Scripted::default())));
        let snapshot = Snapshot {
            given: Arc::default(),
            speeds: Speeds::new(&catalog, None),
            catalog,
            providers: HashMap::from([(id, provider)]),
            rules: rules(),
            timeouts: TIMEOUTS,
            filter: filter(),
        };
        let policy = EffectivePolicy {
            level: SecurityLevel::Standard,
            region,
            audit: false,
            audit_enabled: false,
            retention: Retention::Records,
        };
        let (asked, answering) = (model.clone(), model.clone());
        let model = AskedModel { asked, answering, router: None, is_own: false };
        let asked = Asked {
            snapshot: &snapshot,
            conversations: &Conversations::new(0),
            principal: &principal(),
            context: &context(),
            wanted: Wanted {
                ruling: &Ruling::default(),
                suite: Suite::Full,
                model: &model,
                chat,
                policy,
                prompt_tokens: 1_000_000,
            },
        };
        asked.plan().map(|plan| plan.candidates.len())
    }

    /// Requests that ask for more than text, and the field that does.
    fn demanding() -> [(ChatRequest, &'static str); 3] {
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
        [
            (with_tool, "tools"),
            (with_schema, "response_format"),
            (with_image, "messages[0].content[0]"),
        ]
    }

    #[test]
    fn what_a_named_model_cannot_do_is_refused_by_name() {
        for (chat, field) in &demanding() {
            for (can, refused) in [(Some(false), true), (Some(true), false), (None, false)] {
                let capabilities = Capabilities {
                    tools: can,
                    json_schema: can,
                    vision: can,
                    ..Default::default()
                };
                let deployments = vec![deployment("a", None)];
                let model = Arc::new(Model { capabilities, deployments, ..model("m") });
                match plan(chat, &model) {
                    Ok(found) => assert!(!refused && found == 1, "{field}"),
                    Err(ChatError::Unsupported { field: told, .. }) => {
                        assert!(refused);
                        assert_eq!(told, *field);
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    }

    /// That it also runs where the request may not go changes nothing.
    #[test]
    fn what_a_model_of_several_regions_cannot_do_is_refused_by_name() {
        let can_nothing = Capabilities {
            tools: Some(false),
            json_schema: Some(false),
            vision: Some(false),
            ..Default::default()
        };
        let deployments = [EuWest, UsEast].map(|region| deployment("a", Some(region))).to_vec();
        let model = Arc::new(Model { capabilities: can_nothing, deployments, ..model("m") });
        for (chat, field) in &demanding() {
            for region in [EuWest, UsEast] {
                let refused = plan_in(Some(region), chat, &model);
                let Err(ChatError::Unsupported { field: told, .. }) = refused else {
                    panic!("{field} in {region:?}: {refused:?}");
                };
                assert_eq!(told, *field);
            }
            let elsewhere = plan_in(Some(AsiaPacific), chat, &model);
            assert!(matches!(elsewhere, Err(ChatError::RegionUnavailable { .. })));
        }
    }

    /// An estimate stands against a member of a router, since there are others.
    #[test]
    fn a_named_model_is_asked_whatever_the_estimate_of_its_prompt() {
        let deployments = vec![deployment("a", None)];
        let model = Arc::new(Model { context_window: Some(10), deployments, ..model("m") });
        assert_eq!(plan(&chat(""), &model), Ok(1));
    }

    #[test]
    fn a_model_without_a_provider_says_so() {
        let model = Arc::new(Model { deployments: Vec::new(), ..model("m") });
        let Err(ChatError::NoModelAvailable { reasons, .. }) = plan(&chat(""), &model) else {
            panic!("somebody answers");
        };
        assert_eq!(reasons, "none of its providers is configured");
    }
}
