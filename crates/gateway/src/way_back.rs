//! The filter's part of an answer: what the model said is analysed, then what was redacted is put
//! back; and what of all that is written down.

use std::sync::Arc;

use sluice_core::answer::ChatAnswer;
use sluice_core::event::Delta;
use sluice_core::filtering::{FilterAction, FilterRecord};
use sluice_core::outcome::Outcome;
use sluice_security::answer::{AnswerAction, AnswerGuard};
use sluice_security::map::RedactionMap;
use sluice_security::restore::{Restorer, Surrounding};

/// The filter's part of one request's answer.
pub(crate) struct WayBack {
    /// What the filter did with the request.
    request: FilterRecord,
    guard: Box<AnswerGuard>,
    map: Arc<RedactionMap>,
}

impl WayBack {
    /// The way back of a request with which the filter did what `request` says.
    pub(crate) fn new(request: FilterRecord, guard: AnswerGuard, map: Arc<RedactionMap>) -> Self {
        Self { request, guard: Box::new(guard), map }
    }

    /// Makes of a whole answer what the caller sees.
    pub(crate) fn whole(&mut self, answer: &mut ChatAnswer) {
        self.guard.whole(answer);
    }

    /// Appends to `out` what the caller sees of one step, or of earlier ones that were held back.
    pub(crate) fn delta(&mut self, delta: Delta, out: &mut Vec<Delta>) {
        self.guard.delta(delta, out);
    }

    /// The answer is over, or broke off: what was held back comes out.
    pub(crate) fn finish(&mut self, out: &mut Vec<Delta>) {
        self.guard.finish(out);
    }

    /// A provider's words about the request, such as an error that quotes it, with its values.
    pub(crate) fn quote(&self, text: &str) -> String {
        let mut restorer = Restorer::new(self.map.clone(), Surrounding::Text);
        let mut restored = String::with_capacity(text.len());
        restorer.push(text, &mut restored);
        restorer.finish(&mut restored);
        restored
    }

    /// What the filter did with the request, and with the answer so far.
    pub(crate) fn record(&self) -> FilterRecord {
        let mut record = self.request.clone();
        let report = self.guard.report();
        let action = match report.action {
            AnswerAction::Pass | AnswerAction::Restore => FilterAction::Pass,
            AnswerAction::Withhold => FilterAction::Withhold,
            AnswerAction::Block => FilterAction::Block,
        };
        record.action = record.action.max(action);
        record.flags.extend(report.flags.iter().map(|flag| flag.as_str().to_owned()));
        record
    }

    /// How a complete answer ended.
    pub(crate) fn outcome(&self) -> Outcome {
        if self.record().action == FilterAction::Block {
            Outcome::Blocked
        } else {
            Outcome::Completed
        }
    }
}
