//! The filter's part of an answer: what the model said is analysed, then what was redacted is put
//! back; and what of all that is written down.

use std::sync::Arc;

use sluice_core::answer::ChatAnswer;
use sluice_core::event::Delta;
use sluice_core::filtering::{FilterAction, FilterRecord};
use sluice_core::outcome::Outcome;
use sluice_security::answer::{AnswerAction, AnswerGuard, AnswerReport};
use sluice_security::flag::Flag;
use sluice_security::map::RedactionMap;
use sluice_security::restore::{Restorer, Surrounding};

/// The filter's part of one request's answer.
pub(crate) struct WayBack {
    /// What the filter did with the request.
    request: FilterRecord,
    guard: Box<AnswerGuard>,
    map: Arc<RedactionMap>,
    /// Whether the log has been told that the filter failed on the answer.
    logged: bool,
}

impl WayBack {
    /// The way back of a request with which the filter did what `request` says.
    pub(crate) fn new(request: FilterRecord, guard: AnswerGuard, map: Arc<RedactionMap>) -> Self {
        Self { request, guard: Box::new(guard), map, logged: false }
    }

    /// Makes of a whole answer what the caller sees.
    pub(crate) fn whole(&mut self, answer: &mut ChatAnswer) {
        self.guard.whole(answer);
        self.log_failure();
    }

    /// Appends to `out` what the caller sees of one step, or of earlier ones that were held back.
    pub(crate) fn delta(&mut self, delta: Delta, out: &mut Vec<Delta>) {
        self.guard.delta(delta, out);
        if self.guard.has_failed() {
            self.log_failure();
        }
    }

    /// The answer is over, or broke off: what was held back comes out.
    pub(crate) fn finish(&mut self, out: &mut Vec<Delta>) {
        self.guard.finish(out);
        self.log_failure();
    }

    /// A provider's words about the request, such as an error that quotes it, with its values.
    pub(crate) fn quote(&self, text: &str) -> String {
        let mut restorer = Restorer::new(self.map.clone(), Surrounding::Text);
        let mut restored = String::with_capacity(text.len());
        restorer.push(text, &mut restored);
        restorer.finish(&mut restored);
        restored
    }

    /// What the request's placeholders stand for.
    pub(crate) fn map(&self) -> &Arc<RedactionMap> {
        &self.map
    }

    /// What the filter did with the request, and with the answer so far.
    pub(crate) fn record(&self) -> FilterRecord {
        let mut record = self.request.clone();
        let report = self.guard.report();
        record.action = self.request.action.max(action(&report));
        let known = record.flags.len();
        for flag in report.flags.iter().map(|flag| flag.as_str()) {
            // The filter can fail on both.
            if !record.flags[..known].iter().any(|known| known == flag) {
                record.flags.push(flag.to_owned());
            }
        }
        record
    }

    /// How a complete answer ended.
    pub(crate) fn outcome(&self) -> Outcome {
        let action = self.request.action.max(action(&self.guard.report()));
        if action == FilterAction::Block { Outcome::Blocked } else { Outcome::Completed }
    }

    fn log_failure(&mut self) {
        if self.logged || !self.guard.report().flags.contains(Flag::FilterFailed) {
            return;
        }
        self.logged = true;
        // Without the request's id: it may be one that must leave no trace.
        if self.guard.has_failed() {
            tracing::error!("the security filter failed on an answer; the answer was ended");
        } else {
            tracing::error!("a part of the security filter failed on an answer; it went on");
        }
    }
}

/// What records call what was done with an answer.
fn action(report: &AnswerReport) -> FilterAction {
    match report.action {
        AnswerAction::Pass | AnswerAction::Restore => FilterAction::Pass,
        AnswerAction::Withhold => FilterAction::Withhold,
        AnswerAction::Block => FilterAction::Block,
    }
}

#[cfg(test)]
mod tests {
    use sluice_core::answer::FinishReason;
    use sluice_security::answer::Judge;

    use super::*;

    /// Fails on everything.
    struct Broken;

    impl Judge for Broken {
        fn whole(&mut self, _: &mut ChatAnswer) {
            panic!("broken");
        }

        fn delta(&mut self, _: Delta, _: &mut Vec<Delta>) {
            panic!("broken");
        }

        fn finish(&mut self, _: &mut Vec<Delta>) {
            panic!("broken");
        }

        fn report(&self) -> AnswerReport {
            AnswerReport::default()
        }
    }

    #[test]
    fn an_answer_that_the_filter_fails_on_is_recorded_as_blocked() {
        let request = FilterRecord {
            action: FilterAction::Redact,
            flags: vec!["prompt_injection".to_owned(), FilterRecord::FAILED.to_owned()],
            ..FilterRecord::default()
        };
        for request in [FilterRecord::default(), request] {
            let guard = AnswerGuard::with(Box::new(Broken));
            let mut way_back = WayBack::new(request, guard, Arc::default());
            assert_eq!(way_back.outcome(), Outcome::Completed);
            let mut out = Vec::new();
            let content = Some("unread".into());
            way_back.delta(Delta { content, ..Delta::default() }, &mut out);
            way_back.finish(&mut out);
            assert_eq!(out.len(), 1);
            assert_eq!(out[0].finish_reason, Some(FinishReason::ContentFilter));
            let record = way_back.record();
            assert_eq!(
                (way_back.outcome(), record.action),
                (Outcome::Blocked, FilterAction::Block)
            );
            assert_eq!(record.flags.iter().filter(|flag| *flag == FilterRecord::FAILED).count(), 1);
        }
    }
}
