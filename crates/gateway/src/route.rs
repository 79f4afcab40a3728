//! From a router to candidates: gathers what the decision needs, and keeps what it said.

use std::time::Duration;

use arrayvec::ArrayVec;
use sluice_core::chat::{ChatRequest, Content, Part, ResponseFormat};
use sluice_core::clock::UnixMillis;
use sluice_core::policy::EffectivePolicy;
use sluice_core::region::Region;
use sluice_core::routing::{RouteCandidate, RouteRecord};
use sluice_routing::classify::{self, Judgement};
use sluice_routing::decide::{
    Contender, Decision, Exclusion, Held, MOST_CONTENDERS, Needs, Situation, decide, exclusion,
};
use sluice_routing::router::Router;
use sluice_routing::session::{self, Return, Session, Sessions, Turn};

use crate::error::ChatError;
use crate::plan::Candidate;
use crate::policy;
use crate::principal::Principal;
use crate::request::RequestContext;
use crate::snapshot::Snapshot;

/// How many sessions one process remembers: about 20 MB.
const MOST_SESSIONS: usize = 100_000;
/// When it is worth asking again where nobody knows better.
const USUAL_RETRY: Duration = Duration::from_secs(60);
/// How many candidates a plan has: dispatch hardly ever comes to the second.
const MOST_CANDIDATES: usize = 6;

/// What routers remember of conversations.
pub(crate) struct Conversations {
    sessions: Sessions,
    /// Keys the hash that names a session: nobody outside can make two sessions one.
    secret: u64,
}

impl Conversations {
    /// None yet. `secret` stays the same over restarts, so that splits do.
    pub(crate) fn new(secret: u64) -> Self {
        Self { sessions: Sessions::new(MOST_SESSIONS), secret }
    }
}

/// Where a request to a router goes.
pub(crate) struct Routed {
    /// Who can answer, the best first.
    pub(crate) candidates: Vec<Candidate>,
    /// The decision, for people.
    pub(crate) record: RouteRecord,
    /// What the session is told when somebody has answered.
    pub(crate) turn: Option<OpenTurn>,
}

/// A session's turn under way.
pub(crate) struct OpenTurn {
    key: u64,
    turn: Turn,
    prompt_tokens: f64,
}

/// What a router is asked with.
pub(crate) struct Asked<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) conversations: &'a Conversations,
    pub(crate) principal: &'a Principal,
    pub(crate) chat: &'a ChatRequest,
    pub(crate) policy: EffectivePolicy,
    pub(crate) context: &'a RequestContext,
    /// Tokens of the prompt, estimated.
    pub(crate) prompt_tokens: u64,
}

impl Asked<'_> {
    /// Chooses among the members of `router`.
    pub(crate) fn route(&self, router: &Router) -> Result<Routed, ChatError> {
        let now = self.context.arrived_at;
        let judgement = classify::judge(self.chat);
        let contenders = self.contenders(router, now);
        let key = self.session_key();
        let known = key.and_then(|key| self.conversations.sessions.get(key));
        let held =
            known.as_ref().and_then(|session| self.held(session, router, &contenders, &judgement));
        let situation = Situation {
            judgement: &judgement,
            input_tokens: self.input_tokens(),
            output_bound: self.chat.max_tokens.map(f64::from),
            held,
            session: key.unwrap_or_else(|| fastrand::u64(..)),
            chance: fastrand::u64(1..),
        };
        let decision = decide(router, &contenders, &situation);
        if decision.order.is_empty() {
            return Err(self.nobody(router, &contenders, &decision));
        }
        let mut candidates = Vec::with_capacity(decision.order.len().min(MOST_CANDIDATES));
        for i in decision.order.iter().take(MOST_CANDIDATES) {
            candidates.extend(self.candidate(router, &contenders[*i])?);
        }
        let mut turn = Turn::new(known.as_ref(), held.as_ref(), &judgement, &decision);
        if self.policy.retention.is_zero() {
            turn = turn.without_content();
        }
        let prompt_tokens = self.input_tokens();
        let turn = key.map(|key| OpenTurn { key, turn, prompt_tokens });
        let record = self.record(router, &contenders, &judgement, &decision);
        Ok(Routed { candidates, record, turn })
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate of some thousand tokens")]
    fn input_tokens(&self) -> f64 {
        self.prompt_tokens as f64
    }

    /// Every member at each of its providers, with what stands against it.
    fn contenders(&self, router: &Router, now: UnixMillis) -> ArrayVec<Contender, MOST_CONTENDERS> {
        let needs = self.needs();
        let allowed = self.principal.key.regions.as_deref();
        // Whoever named no region may go to any that the key allows.
        let may_be_in = |region: Option<Region>| {
            self.policy.region.is_some()
                || allowed.is_none_or(|allowed| region.is_some_and(|r| allowed.contains(&r)))
        };
        let mut contenders = ArrayVec::new();
        for (member, of) in router.members.iter().enumerate() {
            let speeds = self.snapshot.speeds.of(&of.model.id);
            for (deployment, at) in of.model.deployments.iter().enumerate() {
                let (Some(provider), Some(speed)) =
                    (self.snapshot.providers.get(&at.provider), speeds.get(deployment))
                else {
                    continue;
                };
                let exclusion = exclusion(&needs, &of.model, at.region, may_be_in)
                    .or_else(|| provider.health.rests_for(now).map(Exclusion::Resting))
                    .or_else(|| speed.failing(now).map(Exclusion::Failing));
                let expected = speed.expected(self.input_tokens(), of.prior, now);
                let contender = Contender {
                    member,
                    deployment,
                    exclusion,
                    pace: expected.pace,
                    stale: expected.stale,
                };
                if contenders.try_push(contender).is_err() {
                    return contenders;
                }
            }
        }
        contenders
    }

    fn needs(&self) -> Needs {
        let chat = self.chat;
        Needs {
            suite: self.principal.suite,
            region: self.policy.region,
            level: self.policy.level,
            input_tokens: self.input_tokens(),
            output_tokens: Needs::room(chat.max_tokens),
            vision: chat.messages.iter().any(|message| match &message.content {
                Content::Parts(parts) => parts.iter().any(|p| matches!(p, Part::Image { .. })),
                Content::None | Content::Text(_) => false,
            }),
            tools: !chat.tools.is_empty(),
            json_schema: matches!(chat.response_format, Some(ResponseFormat::JsonSchema { .. })),
        }
    }

    /// What names the conversation; without content where nothing of it may be kept.
    fn session_key(&self) -> Option<u64> {
        let named = self.context.session.as_deref();
        let may_hash = !self.policy.retention.is_zero();
        let whose = self.principal.key.id.as_str();
        session::key(self.conversations.secret, whose, named, self.chat, may_hash)
    }

    /// The session's model among the contenders, and what holds the request there.
    fn held(
        &self,
        session: &Session,
        router: &Router,
        contenders: &[Contender],
        judgement: &Judgement,
    ) -> Option<Held> {
        let model_of = |contender: &Contender| &router.members[contender.member].model;
        let contender = contenders
            .iter()
            .position(|c| {
                let model = model_of(c);
                model.id == session.model
                    && model.deployments[c.deployment].provider == session.provider
            })
            .or_else(|| contenders.iter().position(|c| model_of(c).id == session.model))?;
        let caches = model_of(&contenders[contender]).capabilities.prompt_cache != Some(false);
        let request = Return {
            judgement,
            now: self.context.arrived_at,
            idle_allowed_ms: session::idle_allowed_ms(self.chat),
            lock: session::lock(self.chat),
        };
        session.hold(contender, caches, &request)
    }

    fn candidate(
        &self,
        router: &Router,
        contender: &Contender,
    ) -> Result<Option<Candidate>, ChatError> {
        let model = &router.members[contender.member].model;
        let max_tokens = policy::max_tokens(self.principal, self.chat, model)?;
        Ok(Candidate::new(self.snapshot, model, contender.deployment, max_tokens))
    }

    /// Nobody can answer: what the request itself asks too much of is its own fault, everything
    /// else may be otherwise soon.
    fn nobody(&self, router: &Router, contenders: &[Contender], decision: &Decision) -> ChatError {
        let exclusions = decision.exclusions.iter().flatten();
        let model = router.id.to_string();
        let all = |is: fn(&Exclusion) -> bool| exclusions.clone().all(is);
        let unsupported = |field: &str, reason: &str| ChatError::Unsupported {
            field: field.to_owned(),
            reason: reason.to_owned(),
            model: model.clone(),
        };
        if !contenders.is_empty() {
            if all(|e| matches!(e, Exclusion::Tools)) {
                return unsupported("tools", "asks for function calls");
            }
            if all(|e| matches!(e, Exclusion::Vision)) {
                return unsupported("messages", "holds an image");
            }
            if all(|e| matches!(e, Exclusion::JsonSchema)) {
                return unsupported("response_format", "asks for an answer by JSON schema");
            }
        }
        if let Some(region) = self.policy.region
            && all(|e| matches!(e, Exclusion::Region(_)))
        {
            let of_members = router.members.iter().flat_map(|member| member.model.regions());
            let mut regions: Vec<Region> = of_members.collect();
            regions.sort_unstable();
            regions.dedup();
            return ChatError::RegionUnavailable { model, region, regions };
        }
        let wait = exclusions.clone().filter_map(Exclusion::passes_in).min();
        if !contenders.is_empty() && wait.is_none() {
            if all(|e| matches!(e, Exclusion::ContextWindow(_))) {
                return ChatError::Rejected {
                    message: format!(
                        "prompt and answer of about {:.0} tokens do not fit into any model of `{model}`",
                        self.input_tokens() + Needs::room(self.chat.max_tokens)
                    ),
                    code: None,
                    param: Some("messages".to_owned()),
                    too_long: true,
                };
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
        }
        let mut reasons: Vec<String> = Vec::new();
        for (contender, exclusion) in contenders.iter().zip(&decision.exclusions) {
            let model = &router.members[contender.member].model;
            let at = &model.deployments[contender.deployment].provider;
            reasons.extend(exclusion.map(|why| format!("{} at {at}: {why}", model.id)));
        }
        if reasons.is_empty() {
            reasons.push("none of its members has a configured provider".to_owned());
        }
        ChatError::NoModelAvailable {
            model,
            reasons: reasons.join("; "),
            retry_after: wait.map_or(USUAL_RETRY, Duration::from_secs),
        }
    }

    fn record(
        &self,
        router: &Router,
        contenders: &[Contender],
        judgement: &Judgement,
        decision: &Decision,
    ) -> RouteRecord {
        let candidate = |i: usize| {
            let (contender, score) = (&contenders[i], &decision.scores[i]);
            let model = &router.members[contender.member].model;
            RouteCandidate {
                model: model.id.clone(),
                provider: Some(model.deployments[contender.deployment].provider.clone()),
                utility: rounded(score.utility, 1e6),
                quality: rounded(score.quality, 1e4),
                cost_usd: score.priced.then(|| rounded(score.cost_usd, 1e9)),
                first_token_ms: rounded(score.first_token_ms, 1.0),
                seconds: rounded(score.seconds, 1e3),
                excluded: decision.exclusions[i].map(|why| why.as_str().to_owned()),
            }
        };
        let excluded = (0..contenders.len()).filter(|i| decision.exclusions[*i].is_some());
        RouteRecord {
            router: router.id.clone(),
            policy: router.policy.as_str().to_owned(),
            task_type: judgement.task().as_str().to_owned(),
            certainty: rounded(judgement.certainty().into(), 1e3),
            complexity: rounded(judgement.complexity.into(), 1e3),
            agent_step: judgement.agent_step,
            reason: decision.reason.map_or("", |reason| reason.as_str()).to_owned(),
            candidates: decision.order.iter().copied().chain(excluded).map(candidate).collect(),
        }
    }
}

impl Conversations {
    /// Somebody has answered: the session is theirs from here on.
    pub(crate) fn answered(&self, open: &OpenTurn, by: &Candidate, at: UnixMillis) {
        let (model, provider) = (by.model.id.clone(), by.target.endpoint.id.clone());
        let session = open.turn.answered(model, provider, at, open.prompt_tokens);
        self.sessions.put(open.key, session);
    }
}

/// Rounded to parts of one `unit`-th: what people and records need of a figure.
fn rounded(figure: f64, unit: f64) -> f64 {
    (figure * unit).round() / unit
}

#[cfg(test)]
mod tests;
