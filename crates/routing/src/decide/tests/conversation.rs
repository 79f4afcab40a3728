//! A conversation that a scenario plays: it keeps its session and its clock as the gateway does.

use std::sync::Arc;

use sluice_core::clock::UnixMillis;
use sluice_core::ids::ProviderId;

use crate::classify::Judgement;
use crate::decide::{Contender, Decision, Lock, Situation, decide};
use crate::quality::Quality;
use crate::router::{Member, Policy, Router};
use crate::session::{IDLE_MS, Return, Session, Turn};
use crate::testing;

/// Two models, one good and dear, one lesser and cheap, as fast as each other.
pub(super) fn strong_and_cheap() -> (Router, Vec<Contender>) {
    let strong = testing::model("strong", Some((3.0, 15.0)), Quality::even(0.9));
    let cheap = testing::model("cheap", Some((0.1, 0.4)), Quality::even(0.7));
    let router = testing::router(Policy::Balanced, vec![(strong, 1.0), (cheap, 1.0)]);
    (router, testing::contenders(&[(800.0, 80.0), (800.0, 80.0)]))
}

/// The quality of a member, changed.
pub(super) fn set_quality(router: &mut Router, member: usize, quality: f64) {
    let model = Arc::clone(&router.members[member].model);
    router.members[member] = Member { quality: Quality::even(quality), ..Member::new(model, 1.0) };
}

pub(super) struct Conversation {
    pub(super) router: Router,
    pub(super) contenders: Vec<Contender>,
    pub(super) now: UnixMillis,
    pub(super) session: Option<Session>,
    /// Tokens of the prompt, which grows with each turn.
    pub(super) prompt_tokens: f64,
}

impl Conversation {
    pub(super) fn new((router, contenders): (Router, Vec<Contender>)) -> Self {
        let now = UnixMillis(1_800_000_000_000);
        Self { router, contenders, now, session: None, prompt_tokens: 4000.0 }
    }

    /// The next turn, a minute later: who answers, and why.
    pub(super) fn turn(
        &mut self,
        judgement: &Judgement,
        lock: Option<Lock>,
    ) -> (String, &'static str) {
        self.now.0 += 60_000;
        let decision = self.decide(judgement, lock);
        self.prompt_tokens += 1000.0;
        let model = &self.router.members[self.contenders[decision.order[0]].member].model;
        (model.id.to_string(), decision.reason.unwrap().as_str())
    }

    pub(super) fn decide(&mut self, judgement: &Judgement, lock: Option<Lock>) -> Decision {
        let request = Return { judgement, now: self.now, idle_allowed_ms: IDLE_MS, lock };
        let held = self.session.as_ref().and_then(|session| {
            let of_session =
                |c: &Contender| self.router.members[c.member].model.id == session.model;
            let contender = self.contenders.iter().position(of_session)?;
            session.hold(contender, true, &request)
        });
        let situation = Situation {
            judgement,
            input_tokens: self.prompt_tokens,
            output_bound: None,
            effort: None,
            held,
            session: 1,
            chance: 0,
        };
        let decision = decide(&self.router, &self.contenders, &situation);
        let turn = Turn::new(self.session.as_ref(), held.as_ref(), judgement, &decision);
        let first = &self.contenders[decision.order[0]];
        self.session = Some(turn.answered(
            self.router.members[first.member].model.id.clone(),
            ProviderId::from("one"),
            self.now,
            self.prompt_tokens,
        ));
        decision
    }
}
