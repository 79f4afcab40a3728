//! One call of a deployment, timed for its speed statistics.

use std::sync::Arc;
use std::time::Duration;

use sluice_core::clock::{Clock, UnixMillis};
use sluice_routing::speed::Call;
use tokio::time::Instant;

use crate::plan::Candidate;

/// One call of a deployment, timed. Dropped without an end, the caller has left.
pub(crate) struct TimedCall {
    call: Option<Call>,
    begun: Instant,
    clock: Arc<dyn Clock>,
}

impl TimedCall {
    /// A prompt of `prompt_tokens` tokens is about to be sent to `candidate`; `None` where that is
    /// failing, somebody else tries it already, and there `is_another`.
    pub(crate) fn begin(
        candidate: &Candidate,
        prompt_tokens: f64,
        streamed: bool,
        is_another: impl FnOnce() -> bool,
        clock: &Arc<dyn Clock>,
    ) -> Option<Self> {
        let (speed, now) = (&candidate.speed, clock.now());
        let prior = candidate.model.pace.unwrap_or_default();
        let call = match speed.begin_unless_failing(prompt_tokens, streamed, prior, now) {
            Ok(call) => call,
            Err(_) if is_another() => return None,
            Err(_) => speed.begin(prompt_tokens, streamed, prior, now),
        };
        Some(Self { call: Some(call), begun: Instant::now(), clock: clock.clone() })
    }

    /// The first content of a stream has come.
    pub(crate) fn first_token(&mut self) {
        let (after, now) = self.moment();
        if let Some(call) = &mut self.call {
            call.first_token(after, now);
        }
    }

    /// The answer is complete.
    pub(crate) fn answered(&mut self, output_tokens: u64) {
        let (after, now) = self.moment();
        if let Some(call) = self.call.take() {
            call.answered(output_tokens, after, now);
        }
    }

    /// The deployment failed, or did not answer in time.
    pub(crate) fn failed(&mut self) {
        let (after, now) = self.moment();
        if let Some(call) = self.call.take() {
            call.failed(after, now);
        }
    }

    /// The request was at fault: that says nothing about the deployment.
    pub(crate) fn forget(&mut self) {
        self.call = None;
    }

    fn moment(&self) -> (Duration, UnixMillis) {
        (self.begun.elapsed(), self.clock.now())
    }
}

impl Drop for TimedCall {
    fn drop(&mut self) {
        let (after, now) = self.moment();
        if let Some(call) = self.call.take() {
            call.given_up(after, now);
        }
    }
}
