//! From a router to candidates: gathers what the decision needs, and keeps what it said.

use arrayvec::ArrayVec;
use sluice_core::chat::ChatRequest;
use sluice_core::clock::UnixMillis;
use sluice_core::routing::{RouteCandidate, RouteRecord};
use sluice_routing::classify::{self, Judgement};
use sluice_routing::decide::{
    Contender, Decision, Exclusion, Held, MOST_CONTENDERS, Situation, decide,
};
use sluice_routing::router::Router;
use sluice_routing::session::{self, Return, Session, Sessions, Turn};

use crate::eligible::Refused;
use crate::error::ChatError;
use crate::plan::{Asked, Candidate, Plan};
use crate::principal::Principal;
use crate::request::RequestContext;

/// How many sessions one process remembers: about 20 MB.
const MOST_SESSIONS: usize = 100_000;
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

/// A session's turn under way.
pub(crate) struct OpenTurn {
    key: u64,
    turn: Turn,
    prompt_tokens: f64,
}

impl Asked<'_> {
    /// Chooses among the members of `router`.
    pub(crate) fn route(&self, router: &Router) -> Result<Plan, ChatError> {
        let now = self.context.arrived_at;
        let judgement = classify::judge(self.wanted.chat);
        let contenders = self.contenders(router, now);
        let key = self.session_key();
        let known = key.and_then(|key| self.conversations.sessions.get(key));
        let held =
            known.as_ref().and_then(|session| self.held(session, router, &contenders, &judgement));
        let situation = Situation {
            judgement: &judgement,
            input_tokens: self.wanted.input_tokens(),
            output_bound: self.wanted.chat.max_tokens.map(f64::from),
            effort: self.wanted.chat.reasoning_effort,
            held,
            session: key.unwrap_or_else(|| fastrand::u64(..)),
            chance: fastrand::u64(1..),
        };
        let decision = decide(router, &contenders, &situation);
        if decision.order.is_empty() {
            let refused: Vec<Refused<'_>> = contenders
                .iter()
                .zip(&decision.exclusions)
                .filter_map(|(contender, why)| {
                    let model = &router.members[contender.member].model;
                    let provider = &model.deployments[contender.deployment].provider;
                    why.map(|why| Refused { model, provider, why })
                })
                .collect();
            return Err(self.wanted.nobody(&router.id, &refused));
        }
        let mut candidates = Vec::with_capacity(decision.order.len().min(MOST_CANDIDATES));
        for i in decision.order.iter().take(MOST_CANDIDATES) {
            candidates.extend(self.candidates(router, &contenders[*i])?);
        }
        let mut turn = Turn::new(known.as_ref(), held.as_ref(), &judgement, &decision);
        if self.wanted.policy.retention.is_zero() {
            turn = turn.without_content();
        }
        let prompt_tokens = self.wanted.input_tokens();
        let turn = key.map(|key| OpenTurn { key, turn, prompt_tokens });
        let record = Some(self.record(router, &contenders, &judgement, &decision));
        Ok(Plan { candidates, record, turn })
    }

    /// Every member at each of its providers, with what stands against it.
    fn contenders(&self, router: &Router, now: UnixMillis) -> ArrayVec<Contender, MOST_CONTENDERS> {
        let needs = self.wanted.needs();
        let mut contenders = ArrayVec::new();
        for (member, of) in router.members.iter().enumerate() {
            let speeds = self.snapshot.speeds.of(&of.model.id);
            for (deployment, at) in of.model.deployments.iter().enumerate() {
                let (Some(provider), Some(speed)) =
                    (self.snapshot.providers.get(&at.provider), speeds.get(deployment))
                else {
                    continue;
                };
                // What one key meets says nothing about another.
                let own = self.principal.own_key(&at.provider).filter(|own| {
                    own.provider.is_some() && !own.gives_way(&of.model.id, deployment, now)
                });
                let provider = own.and_then(|own| own.provider.as_ref()).unwrap_or(provider);
                let speed = match own {
                    Some(own) => &own.speed(&of.model.id, deployment),
                    None => speed,
                };
                let exclusion = self
                    .exclusion(&needs, &of.model, at)
                    .or_else(|| provider.health.rests_for(now).map(Exclusion::Resting))
                    .or_else(|| speed.failing(now).map(Exclusion::Failing));
                let expected = speed.expected(self.wanted.input_tokens(), of.prior, now);
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

    /// What names the conversation; without content where nothing of it may be kept.
    fn session_key(&self) -> Option<u64> {
        let named = self.context.named();
        let may_hash = !self.wanted.policy.retention.is_zero();
        let whose = self.principal.key.id.as_str();
        session::key(self.conversations.secret, whose, named, self.wanted.chat, may_hash)
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
            idle_allowed_ms: session::idle_allowed_ms(self.wanted.chat),
            lock: session::lock(self.wanted.chat),
        };
        session.hold(contender, caches, &request)
    }

    fn candidates(
        &self,
        router: &Router,
        contender: &Contender,
    ) -> Result<impl Iterator<Item = Candidate>, ChatError> {
        let model = &router.members[contender.member].model;
        let bound = self.output_bound(model)?;
        Ok(Candidate::all(self, model, contender.deployment, bound))
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
                basis: Some(router.members[contender.member].quality.basis),
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
    /// The session of a request that counts against a budget of each session. It is held in memory;
    /// a request that nothing names a session of belongs to the one that all such have together.
    pub(crate) fn session(
        &self,
        whose: &Principal,
        chat: &ChatRequest,
        by: &RequestContext,
    ) -> u64 {
        let key = whose.key.id.as_str();
        session::key(self.secret, key, by.named(), chat, true)
            .unwrap_or_else(|| session::nameless(self.secret, key))
    }

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
