//! One turn of a conversation: what holds it, and what it leaves behind.

use sluice_core::clock::UnixMillis;
use sluice_core::ids::{ModelId, ProviderId};

use super::{CACHED_MS, IDLE_MS, Session};
use crate::classify::Judgement;
use crate::decide::{Decision, Held, Lock};
use crate::task::TaskType;

/// What a turn leaves of the session's highest complexity.
const LASTING: f32 = 0.8;
/// From this probability on, another task is another task.
const CLEARLY: f32 = 0.6;
/// Below this probability, the session's own task is over.
const HARDLY: f32 = 0.1;

/// What a request that goes on with a session comes with.
#[derive(Debug, Clone, Copy)]
pub struct Return<'a> {
    /// What it asks for.
    pub judgement: &'a Judgement,
    /// When it came.
    pub now: UnixMillis,
    /// How long the session may have been idle: [`super::idle_allowed_ms`].
    pub idle_allowed_ms: u64,
    /// What keeps it at the session's model: [`super::lock`].
    pub lock: Option<Lock>,
}

/// What a session remembers of a turn that is under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// What the conversation is about now; `None` where nothing of its content may be kept.
    pub task: Option<TaskType>,
    /// What counts as its highest complexity now.
    pub lasting_complexity: f32,
    /// How many turns in a row a lesser model could have done.
    pub lesser_turns: u8,
}

impl Session {
    /// What holds a request at the session's model, which is the one at `contender`, whose provider
    /// `caches` prompts or not. `None` once nothing does: it was idle for too long.
    pub fn hold(&self, contender: usize, caches: bool, request: &Return<'_>) -> Option<Held> {
        let idle = self.idle_ms(request.now);
        // A lock does not open by waiting: the model's call is still open when a slow function is done.
        if idle > request.idle_allowed_ms && request.lock.is_none() {
            return None;
        }
        // Who asks for a long-lived cache pays for it, and gets it.
        let asked_for = request.idle_allowed_ms > IDLE_MS;
        let lives = idle <= if asked_for { request.idle_allowed_ms } else { CACHED_MS };
        Some(Held {
            contender,
            cached_tokens: if caches && lives { self.prompt_tokens } else { 0.0 },
            lock: request.lock,
            released: self.has_turned(request.judgement),
            lesser_turns: self.lesser_turns,
            lasting_complexity: self.lasting(),
        })
    }

    /// What counts as the session's complexity in its next turn.
    pub fn lasting(&self) -> f32 {
        self.lasting_complexity * LASTING
    }

    /// Whether the conversation has clearly turned to another task.
    pub fn has_turned(&self, judgement: &Judgement) -> bool {
        let Some(own) = self.task else { return false };
        !judgement.agent_step
            && judgement.task() != own
            && judgement.certainty() >= CLEARLY
            && judgement.probabilities[own.index()] < HARDLY
    }

    /// How long it has been idle at `now`, in milliseconds.
    pub fn idle_ms(&self, now: UnixMillis) -> u64 {
        now.0.saturating_sub(self.last_asked.0)
    }
}

impl Turn {
    /// The turn of a request that was judged and decided so, in the session `before`, if any.
    pub fn new(
        before: Option<&Session>,
        held: Option<&Held>,
        judgement: &Judgement,
        decision: &Decision,
    ) -> Self {
        let held = held.filter(|held| !held.released);
        let lasting = held.map_or(0.0, |held| held.lasting_complexity);
        // A vague question does not change what a conversation is about.
        let task = match before {
            Some(before) if held.is_some() && judgement.certainty() < CLEARLY => before.task,
            _ => Some(judgement.task()),
        };
        Self {
            task,
            lasting_complexity: judgement.complexity.max(lasting),
            lesser_turns: decision.lesser_turns,
        }
    }

    /// The same without what was made from content: only where the conversation is, not what about.
    #[must_use]
    pub fn without_content(self) -> Self {
        Self { task: None, lasting_complexity: 0.0, lesser_turns: 0 }
    }

    /// The session once `model` at `provider` has answered what was asked at `asked`.
    pub fn answered(
        &self,
        model: ModelId,
        provider: ProviderId,
        asked: UnixMillis,
        prompt_tokens: f64,
    ) -> Session {
        Session {
            model,
            provider,
            last_asked: asked,
            prompt_tokens,
            task: self.task,
            lasting_complexity: self.lasting_complexity,
            lesser_turns: self.lesser_turns,
        }
    }
}
