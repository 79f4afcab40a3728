//! The decision: hard filters first, then one figure for each contender.
//!
//! The figure is a *utility*: the expected quality, 0 to 1, minus what cost, time and leaving the
//! session's model are worth. Nothing here allocates.

mod exclusion;
mod split;
mod spread;
mod stay;
mod utility;

use arrayvec::ArrayVec;
use sluice_core::chat::ReasoningEffort;

use crate::classify::Judgement;
use crate::router::{Policy, Router};
use crate::speed::Pace;
use crate::task::TaskType;

pub use exclusion::{Exclusion, Needs, exclusion};
pub use split::name_hash;
pub use stay::{Held, Lock};
pub use utility::{Score, utility};

/// The most contenders of one request: members times the providers that have them.
pub const MOST_CONTENDERS: usize = 128;

/// A member at one of its providers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contender {
    /// Its place among [`Router::members`].
    pub member: usize,
    /// Its place among the model's deployments.
    pub deployment: usize,
    /// Why it cannot answer this request.
    pub exclusion: Option<Exclusion>,
    /// How fast it is expected to be now.
    pub pace: Pace,
    /// Whether that is an old figure, or nobody's.
    pub stale: bool,
}

/// What a decision rests on beside the contenders.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// What the request asks for.
    pub judgement: &'a Judgement,
    /// Tokens of the prompt, estimated.
    pub input_tokens: f64,
    /// The request's bound on generated tokens.
    pub output_bound: Option<f64>,
    /// The thinking effort that the request asks for.
    pub effort: Option<ReasoningEffort>,
    /// The session's model and what holds it.
    pub held: Option<Held>,
    /// The session's number, for splits that stay the same. Any number where there is no session.
    pub session: u64,
    /// A random number; 0 asks for the same decision every time.
    pub chance: u64,
}

/// Why the first contender is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It has the highest utility.
    Best,
    /// It is as good as the best, and chance spread the load.
    NearTie,
    /// It is nearly as good as the best, and nobody has asked it for a while.
    Explored,
    /// It is the session's model, and leaving it is not worth it.
    Session,
    /// It is the session's model, which this request cannot leave.
    Locked(Lock),
    /// The session needs a better model from here on.
    Escalated,
    /// It is as good as the session's model, and the wait for that is too long.
    Faster,
    /// The session has done without its better model for several turns.
    FellBack,
    /// The conversation has turned to another task, which it does better.
    Released,
    /// The session's model cannot answer this request.
    Replaced,
    /// The task type is pinned to it.
    Pinned(TaskType),
    /// Its share of the split.
    Weighted,
    /// No other contender can answer.
    Only,
}

impl Reason {
    /// The word in headers, records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::NearTie => "near_tie",
            Self::Explored => "explored",
            Self::Session => "session",
            Self::Locked(lock) => lock.as_str(),
            Self::Escalated => "escalated",
            Self::Faster => "faster",
            Self::FellBack => "fell_back",
            Self::Released => "released",
            Self::Replaced => "replaced",
            Self::Pinned(_) => "pinned",
            Self::Weighted => "weighted",
            Self::Only => "only",
        }
    }
}

/// The contenders in order, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Places among the contenders, the best first; only of those that can answer.
    pub order: ArrayVec<usize, MOST_CONTENDERS>,
    /// What each contender scored, in the contenders' order.
    pub scores: ArrayVec<Score, MOST_CONTENDERS>,
    /// Why each cannot answer, in the contenders' order: what it came with, or too dear or slow.
    pub exclusions: ArrayVec<Option<Exclusion>, MOST_CONTENDERS>,
    /// Why the first is first; `None` where none can answer.
    pub reason: Option<Reason>,
    /// How many turns in a row the session could have done with a lesser model.
    pub lesser_turns: u8,
}

/// Puts `contenders` in order. Those past [`MOST_CONTENDERS`] are not looked at.
pub fn decide(router: &Router, contenders: &[Contender], situation: &Situation<'_>) -> Decision {
    let contenders = &contenders[..contenders.len().min(MOST_CONTENDERS)];
    let mut decision = Decision {
        order: ArrayVec::new(),
        scores: utility::scores(router, contenders, situation),
        exclusions: ArrayVec::new(),
        reason: None,
        lesser_turns: 0,
    };
    for (i, contender) in contenders.iter().enumerate() {
        let score = &decision.scores[i];
        let exclusion = contender.exclusion.or_else(|| exclusion::by_score(router, score));
        decision.exclusions.push(exclusion);
        if exclusion.is_none() {
            decision.order.push(i);
        }
    }
    if decision.order.is_empty() {
        return decision;
    }
    let Decision { order, scores, .. } = &mut decision;
    if router.policy == Policy::Weighted {
        split::sort(router, contenders, scores, situation.session, order);
    } else {
        // Ties keep the members' order, so that the same request always goes the same way.
        order.sort_unstable_by(|a, b| {
            scores[*b].utility.total_cmp(&scores[*a].utility).then(a.cmp(b))
        });
    }
    let first = first(router, contenders, situation, &decision);
    if let Some(place) = decision.order.iter().position(|i| *i == first.contender) {
        decision.order[..=place].rotate_right(1);
    }
    if let Reason::Locked(lock) = first.reason {
        same_model_next(contenders, &mut decision.order);
        if lock == Lock::PreviousResponse {
            // Nobody else has what was said before.
            let member = contenders[first.contender].member;
            decision.order.retain(|i| contenders[*i].member == member);
        }
    }
    decision.reason = Some(first.reason);
    decision.lesser_turns = first.lesser_turns;
    decision
}

/// Who is asked first.
struct First {
    contender: usize,
    reason: Reason,
    /// The session's new count of turns in a row that a lesser model could do.
    lesser_turns: u8,
}

impl First {
    fn new(contender: usize, reason: Reason) -> Self {
        Self { contender, reason, lesser_turns: 0 }
    }
}

fn first(
    router: &Router,
    contenders: &[Contender],
    situation: &Situation<'_>,
    decision: &Decision,
) -> First {
    let best = decision.order[0];
    let held = situation.held.filter(|held| held.contender < contenders.len());
    let of_member =
        |member: usize| decision.order.iter().copied().find(|i| contenders[*i].member == member);
    // Where the session's provider is out of order, its model at another one comes closest.
    let own = held.and_then(|held| match decision.exclusions[held.contender] {
        None => Some(held.contender),
        Some(_) => of_member(contenders[held.contender].member),
    });
    if let Some(held) = held
        && let (Some(own), Some(lock)) = (own, held.lock)
    {
        return First { lesser_turns: held.lesser_turns, ..First::new(own, Reason::Locked(lock)) };
    }
    if let [only] = decision.order[..] {
        return First::new(only, Reason::Only);
    }
    if router.policy == Policy::Weighted {
        // The split is the session's already; of the provider, the session has its cache.
        let same_member = |own: &usize| contenders[*own].member == contenders[best].member;
        return First::new(own.filter(same_member).unwrap_or(best), Reason::Weighted);
    }
    let task = situation.judgement.task();
    let is_sure = situation.judgement.certainty() >= SURE;
    let pinned =
        router.pins.iter().find(|(pinned, _)| is_sure && *pinned == task).and_then(|(_, model)| {
            let member = router.members.iter().position(|member| member.model.id == *model)?;
            let own = own.filter(|own| contenders[*own].member == member);
            own.or_else(|| of_member(member))
        });
    if let Some(pinned) = pinned {
        return First::new(pinned, Reason::Pinned(task));
    }
    match held {
        Some(held) if decision.exclusions[held.contender].is_none() => {
            stay::stay_or_go(&held, best, &decision.scores)
        }
        Some(_) => First::new(best, Reason::Replaced),
        None => {
            let (first, reason) = spread::spread(decision, contenders, situation.chance);
            First::new(first, reason)
        }
    }
}

/// From this probability on, a task is certain enough to be pinned.
const SURE: f32 = 0.5;

/// Behind a locked model comes the same model at its other providers, which understand more of
/// what it left in the conversation than any other model.
fn same_model_next(contenders: &[Contender], order: &mut [usize]) {
    let Some((first, rest)) = order.split_first_mut() else { return };
    let mut done = 0;
    for place in 0..rest.len() {
        if contenders[rest[place]].member == contenders[*first].member {
            rest[done..=place].rotate_right(1);
            done += 1;
        }
    }
}

#[cfg(test)]
mod tests;
