//! What the routing bench decides about: requests of 2 KB, a router, and deployments with a past.

use std::sync::Arc;
use std::time::Duration;

use arrayvec::ArrayVec;
use sluice_core::chat::{ChatRequest, Message, Role};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{ModelId, ProviderId};
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::money::{Price, TokenPrice};
use sluice_routing::catalog::{Capabilities, Deployment, Model};
use sluice_routing::classify::Judgement;
use sluice_routing::decide::{
    Contender, Decision, Exclusion, Held, MOST_CONTENDERS, Needs, Situation, decide, exclusion,
};
use sluice_routing::quality::Quality;
use sluice_routing::router::{Member, Policy, Router};
use sluice_routing::session::{self, Return, Session, Sessions};
use sluice_routing::speed::{DeploymentSpeed, Pace};

use crate::texts::ordinary;

/// Bytes of a request's text.
const TEXT_BYTES: usize = 2000;
/// How many requests of each kind of text there are.
const OF_EACH: usize = 100;
/// When everything happens.
const NOW: UnixMillis = UnixMillis(1_790_000_000_000);
/// Tokens of a request of 2 KB.
const INPUT_TOKENS: f64 = 500.0;

/// A router with its deployments' speeds and its sessions.
pub struct World {
    router: Router,
    speeds: Vec<Arc<DeploymentSpeed>>,
    sessions: Sessions,
}

impl World {
    /// A router of so many members, each at one provider, that have answered for a while.
    pub fn new(members: usize) -> Self {
        let members = (0..members).map(|i| Member::new(Arc::new(model(i)), 1.0)).collect();
        let mut router = Router::new("svc/auto", Policy::Balanced, members);
        (router.max_cost, router.max_first_token_ms) = (Some(1.0), Some(60_000.0));
        let speeds = (0..router.members.len()).map(past).collect();
        Self { router, speeds, sessions: Sessions::new(10_000) }
    }

    /// Remembers that the first member has every second of these requests.
    pub fn remember(&self, chats: &[ChatRequest], judge: impl Fn(&ChatRequest) -> Judgement) {
        for chat in chats.iter().step_by(2) {
            let Some(key) = key(chat) else { continue };
            let judgement = judge(chat);
            let session = Session {
                model: ModelId::from("model-0"),
                provider: ProviderId::from("provider-0"),
                last_asked: UnixMillis(NOW.0 - 60_000),
                prompt_tokens: INPUT_TOKENS,
                task: Some(judgement.task()),
                lasting_complexity: judgement.complexity,
                lesser_turns: 0,
            };
            self.sessions.put(key, session);
        }
    }

    /// Hard filters, health and speed of every member.
    pub fn contenders(&self) -> ArrayVec<Contender, MOST_CONTENDERS> {
        let needs = Needs {
            suite: Suite::Standard,
            region: None,
            level: SecurityLevel::Standard,
            input_tokens: INPUT_TOKENS,
            output_tokens: 4096.0,
            vision: false,
            tools: false,
            json_schema: false,
        };
        let members = self.router.members.iter().zip(&self.speeds).enumerate();
        let contender = |(i, (member, speed)): (usize, (&Member, &Arc<DeploymentSpeed>))| {
            let expected = speed.expected(INPUT_TOKENS, member.prior, NOW);
            Contender {
                member: i,
                deployment: 0,
                exclusion: exclusion(&needs, &member.model, None, |_| true)
                    .or_else(|| speed.failing(NOW).map(Exclusion::Failing)),
                pace: expected.pace,
                stale: expected.stale,
            }
        };
        members.map(contender).take(MOST_CONTENDERS).collect()
    }

    /// The request's session, and what holds it there.
    pub fn held(&self, chat: &ChatRequest, judgement: &Judgement) -> (u64, Option<Held>) {
        let key = key(chat);
        let held = key.and_then(|key| self.sessions.get(key)).and_then(|session| {
            let members = &self.router.members;
            let contender = members.iter().position(|m| m.model.id == session.model)?;
            let request = Return {
                judgement,
                now: NOW,
                idle_allowed_ms: session::idle_allowed_ms(chat),
                lock: session::lock(chat),
            };
            session.hold(contender, true, &request)
        });
        (key.unwrap_or_default(), held)
    }

    /// The decision.
    pub fn decide(
        &self,
        contenders: &[Contender],
        judgement: &Judgement,
        (session, held): (u64, Option<Held>),
    ) -> Decision {
        let situation = Situation {
            judgement,
            input_tokens: INPUT_TOKENS,
            output_bound: None,
            effort: None,
            held,
            session,
            chance: session | 1,
        };
        decide(&self.router, contenders, &situation)
    }
}

fn key(chat: &ChatRequest) -> Option<u64> {
    session::key(7, "key_bench", session::Named::default(), chat, true)
}

/// A deployment that has answered short and long prompts; each is a little slower than the last.
fn past(i: usize) -> Arc<DeploymentSpeed> {
    let speed = Arc::new(DeploymentSpeed::default());
    for second in 0..60 {
        let at = UnixMillis(NOW.0 - 60_000 + second * 1000);
        let input_tokens = [500.0, 3000.0, 12_000.0][(second % 3) as usize];
        let mut call = speed.begin(input_tokens, true, Pace::default(), at);
        let first_token = Duration::from_millis(300 + 30 * i as u64 + 37 * (second % 11));
        call.first_token(first_token, at);
        call.answered(200, first_token + Duration::from_millis(2000 + 100 * i as u64), at);
    }
    speed
}

/// The dearer, the better.
fn model(i: usize) -> Model {
    let price = TokenPrice(100_000 * (i as u64 + 1));
    Model {
        id: ModelId::from(format!("model-{i}").as_str()),
        created: 0,
        owned_by: "lab".to_owned(),
        context_window: Some(128_000),
        output_limit: Some(8192),
        capabilities: Capabilities::default(),
        price: Some(Price {
            input: price,
            cache_read: TokenPrice(price.0 / 10),
            cache_write: price,
            output: TokenPrice(price.0 * 4),
            reasoning: TokenPrice(price.0 * 4),
            version: "bench".into(),
        }),
        price_source: None,
        suite: Suite::Basic,
        minimum_level: SecurityLevel::Standard,
        simulated: false,
        alias_of: None,
        quality: Some(Quality::even(0.6 + 0.01 * i as f64)),
        pace: None,
        deployments: vec![Deployment {
            provider: ProviderId::from(format!("provider-{i}").as_str()),
            upstream_model: "up".to_owned(),
            region: None,
        }],
    }
}

/// Requests of 2 KB each: code, prose, JSON.
pub fn chats() -> Vec<ChatRequest> {
    let mut chats = Vec::new();
    for text in ordinary(TEXT_BYTES * OF_EACH) {
        let mut rest = text.text.as_str();
        for _ in 0..OF_EACH {
            let (piece, left) = rest.split_at(rest.floor_char_boundary(TEXT_BYTES));
            chats.push(chat(piece));
            rest = left;
        }
    }
    chats
}

fn chat(text: &str) -> ChatRequest {
    let messages = vec![
        Message::new(Role::System, "You are a careful assistant for software developers."),
        Message::new(Role::User, text),
    ];
    ChatRequest { stream: true, ..ChatRequest::new("svc/auto", messages) }
}
