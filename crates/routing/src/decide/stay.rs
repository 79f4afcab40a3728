//! Whether a session stays with its model.

use super::{First, MOST_CONTENDERS, Reason};
use crate::decide::utility::Score;

use arrayvec::ArrayVec;

/// The model of a session, and what holds it there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// Its place among the contenders.
    pub contender: usize,
    /// Tokens of the prompt that its provider still has in its cache.
    pub cached_tokens: f64,
    /// Why this request cannot go anywhere else.
    pub lock: Option<Lock>,
    /// Whether the conversation has turned to another task, so that nothing but the cache holds it.
    pub released: bool,
    /// How many turns in a row a lesser model could have done.
    pub lesser_turns: u8,
    /// What is left of the session's highest complexity: it escalates fast and falls back slowly.
    pub lasting_complexity: f32,
}

/// Why a request cannot leave its session's model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// The results of functions that this model called.
    ToolCalls,
    /// Thoughts that only its provider can read.
    SignedThinking,
    /// `previous_response_id`: the conversation lies at its provider.
    PreviousResponse,
}

impl Lock {
    /// The word in headers, records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolCalls => "locked_tool_calls",
            Self::SignedThinking => "locked_signed_thinking",
            Self::PreviousResponse => "locked_previous_response",
        }
    }
}

/// How much better another model has to be: less is a trifle, which is not worth a change.
const TRIFLE: f64 = 0.005;
/// A gain that is worth an immediate change to a lesser model.
const MUCH: f64 = 0.1;
/// After so many turns in a row that a lesser model could have done, it gets the session.
const LESSER_TURNS: u8 = 3;

/// Who answers a session's further turn. What it would cost to lose the cached prefix is in the
/// utilities already; this adds that it takes more than a trifle to change.
pub(super) fn stay_or_go(
    held: &Held,
    best: usize,
    scores: &ArrayVec<Score, MOST_CONTENDERS>,
) -> First {
    let stays = First::new(held.contender, Reason::Session);
    let (other, own) = (&scores[best], &scores[held.contender]);
    let gain = other.utility - own.utility;
    if best == held.contender || gain <= 0.0 {
        return stays;
    }
    if held.released {
        return First::new(best, Reason::Released);
    }
    if gain <= TRIFLE {
        return stays;
    }
    if other.quality > own.quality {
        return First::new(best, Reason::Escalated);
    }
    // Nothing is lost by going, or it got so slow that staying is what costs.
    if (other.quality - own.quality).abs() < f64::EPSILON || gain > MUCH {
        return First::new(best, Reason::Faster);
    }
    let lesser_turns = held.lesser_turns.saturating_add(1);
    if lesser_turns >= LESSER_TURNS {
        First::new(best, Reason::FellBack)
    } else {
        First { lesser_turns, ..stays }
    }
}
