//! The way back: what the model said is analysed, then what was redacted is restored.
//!
//! An [`AnswerGuard`] takes one request's answer, whole or as a stream, with every place in which
//! text can be: content, reasoning, refusals, the arguments of calls, members without a name. Each
//! is a channel of its own. A stream is judged as the whole answer would be: where a channel is cut
//! for the analysis depends on its text alone.
//!
//! What is noticed goes into the report: new secrets and personal data, ways out to hosts that the
//! request did not name, commands that do harm, signs that an attack was obeyed. The level's rule for
//! answers is for new secrets and ways out alone; everything else is flagged at every level, since
//! withholding it would break more answers than it saves callers.
//!
//! - A text in which nothing changes keeps its bytes.
//! - At `standard`, nothing is held back but what may become a placeholder. At the higher levels,
//!   text waits for the verdict on its segment (a few words, a line where there is a link, a command
//!   or a value in it; at most 2 KiB), so that what is withheld never left.
//! - What is withheld is replaced by a mark that says so. A placeholder on its way to a foreign host
//!   stays as it is: the model's own word, that tells nothing.
//! - At `maximum`, an answer ends in front of what is noticed, with `content_filter`, and its calls are
//!   dropped. Calls leave with the end of the answer: none leaves in part.
//! - Signed thoughts are restored as any text: redacting them again in the next turn gives the bytes
//!   that were signed. Where something is withheld from one, its signature goes too.
//! - Where the analysis itself fails, the answer ends with `content_filter` ([`guard`]).
//! - Log probabilities name the model's own tokens. They pass where nothing changes, and go with the
//!   texts that were changed; at the higher levels they always go, since they would tell what is
//!   withheld.

mod chance;
mod channel;
mod choice;
mod commands;
mod examine;
mod exfiltration;
mod guard;
mod links;
mod obeyed;
#[cfg(test)]
mod properties;
mod report;
mod request;
mod secrets;
#[cfg(test)]
mod tests;
mod triggers;
mod view;
mod window;

use std::sync::Arc;

use sluice_core::answer::ChatAnswer;
use sluice_core::event::Delta;
use sluice_core::source::SourceMember;

use self::choice::Answer;
use self::examine::Examiner;
pub use self::guard::{AnswerGuard, Judge};
pub use self::report::{AnswerAction, AnswerReport, Counts};
pub(crate) use self::triggers::warm;
use crate::level::{Action, Rules};
use crate::map::RedactionMap;
use crate::scan::Scanner;

/// What an answer is judged by.
#[derive(Clone)]
pub struct GuardParts {
    /// Finds secrets and personal data.
    pub scanner: Arc<Scanner>,
    /// What the request's placeholders stand for.
    pub map: Arc<RedactionMap>,
    /// What the request's level stands for.
    pub rules: Rules,
    /// The request as its caller sent it, before anything was redacted.
    pub request: Vec<SourceMember>,
    /// Whether the request looked like an attack on the model.
    pub suspect: bool,
}

/// All of one request's answers.
struct Answers {
    map: Arc<RedactionMap>,
    action: Action,
    examiner: Examiner,
    /// By index; there are few.
    begun: Vec<(u32, Answer)>,
}

impl Answers {
    fn new(parts: GuardParts) -> Self {
        let map = Arc::clone(&parts.map);
        let action = parts.rules.answer;
        Self { map, action, examiner: Examiner::new(parts), begun: Vec::new() }
    }
}

impl Judge for Answers {
    fn whole(&mut self, answer: &mut ChatAnswer) {
        for choice in &mut answer.choices {
            Answer::new(&self.map, self.action).whole(choice, &mut self.examiner);
        }
        Answer::new(&self.map, self.action).members(&mut answer.extra, &mut self.examiner);
        if self.examiner.take_stop() {
            answer.extra.clear();
            self.examiner.report.act(AnswerAction::Block);
        }
    }

    fn delta(&mut self, delta: Delta, out: &mut Vec<Delta>) {
        let index = delta.choice;
        let at = self.begun.iter().position(|(choice, _)| *choice == index);
        let at = at.unwrap_or_else(|| {
            self.begun.push((index, Answer::new(&self.map, self.action)));
            self.begun.len() - 1
        });
        self.begun[at].1.delta(delta, &mut self.examiner, out);
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        for (index, answer) in &mut self.begun {
            answer.finish(*index, &mut self.examiner, out);
        }
    }

    fn has_failed(&self) -> bool {
        self.examiner.has_failed()
    }

    fn report(&self) -> AnswerReport {
        self.examiner.report
    }
}
