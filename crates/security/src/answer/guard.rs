//! The answer's guard: judges, and ends the answer where judging fails.
//!
//! No part of the analysis is known to panic. If one does, what it was about has been neither read
//! nor restored, and whatever follows cannot be trusted to be: the answer ends with
//! `content_filter`, at every level, as what fails here looks for secrets and puts them back. So
//! does an answer that is such a flood of what detectors stop at that not all of it was searched.
//! What no secret depends on is let fail on its own where the level says so
//! ([`CloseForSecrets`](crate::level::FailureAction::CloseForSecrets)).

use std::fmt;

use sluice_core::answer::{AnswerMessage, ChatAnswer, Choice, FinishReason};
use sluice_core::event::Delta;

use super::report::{AnswerAction, AnswerReport};
use super::{Answers, GuardParts};
use crate::flag::Flag;
use crate::request::guarded;

/// Decides what of a request's answer may reach the caller, and how.
pub trait Judge: Send {
    /// A whole answer.
    fn whole(&mut self, answer: &mut ChatAnswer);

    /// One step of a stream. What may go on is appended to `out`: possibly nothing yet, possibly
    /// several steps. Everything that was held back of an answer leaves before or with its finish
    /// reason.
    fn delta(&mut self, delta: Delta, out: &mut Vec<Delta>);

    /// The stream is over, or broke off: what was held back comes out.
    fn finish(&mut self, out: &mut Vec<Delta>);

    /// Whether there is something that was not judged: then nothing of the last step may go on.
    fn has_failed(&self) -> bool {
        false
    }

    /// What was noticed and done so far.
    fn report(&self) -> AnswerReport;
}

/// Analyses and restores the answer to one request.
pub struct AnswerGuard {
    judge: Box<dyn Judge>,
    has_failed: bool,
    /// A stream's answers by index, and whether each has ended; there are few.
    answers: Vec<(u32, bool)>,
}

impl AnswerGuard {
    /// A guard for the answer to one request.
    pub fn new(parts: GuardParts) -> Self {
        Self::with(Box::new(Answers::new(parts)))
    }

    /// A guard that lets `judge` decide.
    pub fn with(judge: Box<dyn Judge>) -> Self {
        Self { judge, has_failed: false, answers: Vec::new() }
    }

    /// Analyses and restores a whole answer.
    pub fn whole(&mut self, answer: &mut ChatAnswer) {
        if guarded(|| self.judge.whole(answer)).is_ok() && !self.judge.has_failed() {
            return;
        }
        self.has_failed = true;
        answer.extra.clear();
        for choice in &mut answer.choices {
            *choice = Choice {
                index: choice.index,
                message: AnswerMessage::default(),
                finish_reason: FinishReason::ContentFilter,
                logprobs: None,
                extra: Vec::new(),
            };
        }
    }

    /// One step of a stream; see [`Judge::delta`].
    pub fn delta(&mut self, delta: Delta, out: &mut Vec<Delta>) {
        let index = delta.choice;
        if !self.answers.iter().any(|(known, _)| *known == index) {
            self.answers.push((index, false));
        }
        self.step(out, |judge, out| judge.delta(delta, out));
    }

    /// The stream is over, or broke off: what was held back comes out.
    pub fn finish(&mut self, out: &mut Vec<Delta>) {
        self.step(out, |judge, out| judge.finish(out));
    }

    /// What was noticed and done so far.
    pub fn report(&self) -> AnswerReport {
        let mut report = self.judge.report();
        if self.has_failed {
            report.flag(Flag::FilterFailed);
            report.act(AnswerAction::Block);
        }
        report
    }

    /// Whether the analysis failed, and the answer was ended for it.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    fn step(&mut self, out: &mut Vec<Delta>, step: impl FnOnce(&mut dyn Judge, &mut Vec<Delta>)) {
        let before = out.len();
        if !self.has_failed {
            if guarded(|| step(&mut *self.judge, out)).is_ok() && !self.judge.has_failed() {
                self.note_ends(&out[before..]);
                return;
            }
            self.has_failed = true;
            out.truncate(before);
        }
        for (choice, is_over) in &mut self.answers {
            if !std::mem::replace(is_over, true) {
                let finish_reason = Some(FinishReason::ContentFilter);
                out.push(Delta { choice: *choice, finish_reason, ..Delta::default() });
            }
        }
    }

    fn note_ends(&mut self, out: &[Delta]) {
        for delta in out.iter().filter(|delta| delta.finish_reason.is_some()) {
            for (_, is_over) in self.answers.iter_mut().filter(|(known, _)| *known == delta.choice)
            {
                *is_over = true;
            }
        }
    }
}

impl fmt::Debug for AnswerGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerGuard").field("report", &self.report()).finish_non_exhaustive()
    }
}
