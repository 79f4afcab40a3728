//! One call, from its beginning to its end.
//!
//! Whoever makes the call says what happened and how long after the beginning; what that counts for
//! is worked out here, in one place, since that arithmetic goes wrong so easily.

use std::sync::Arc;
use std::time::Duration;

use sluice_core::clock::UnixMillis;

use super::health::Lease;
use super::{DeploymentSpeed, Pace};

/// A call that is under way. All durations are from its beginning.
///
/// Dropped without an end, it only no longer counts as in flight: nothing was learnt.
#[derive(Debug)]
#[must_use = "a call that is dropped is over"]
pub struct Call {
    deployment: Arc<DeploymentSpeed>,
    bucket: usize,
    prior: Pace,
    /// Calls in flight when it began, itself included.
    load: u32,
    /// Whether somebody waits for its first token.
    waiting: bool,
    first_token_ms: Option<f64>,
    lease: Option<Lease>,
}

impl Call {
    pub(super) fn new(
        deployment: Arc<DeploymentSpeed>,
        bucket: usize,
        prior: Pace,
        load: u32,
        waiting: bool,
        lease: Option<Lease>,
    ) -> Self {
        Self { deployment, bucket, prior, load, waiting, first_token_ms: None, lease }
    }

    /// The first piece of content came `after`. Later pieces may be told as well, and do not count.
    pub fn first_token(&mut self, after: Duration, now: UnixMillis) {
        if self.first_token_ms.is_some() {
            return;
        }
        let ms = millis(after);
        self.first_token_ms = Some(ms);
        self.waiting = false;
        self.deployment.first_token_came(self.bucket, ms, self.load, now);
    }

    /// The answer of `output_tokens` tokens was complete `after`. Without a first token before, it
    /// came as a whole.
    pub fn answered(mut self, output_tokens: u64, after: Duration, now: UnixMillis) {
        #[expect(clippy::cast_precision_loss, reason = "a count of tokens")]
        let tokens = output_tokens as f64;
        let total_ms = millis(after);
        match self.first_token_ms {
            Some(first) => {
                let generation_ms = (total_ms - first).max(0.0);
                self.deployment.stream_ended(self.bucket, tokens, generation_ms, now);
            }
            None => {
                let context = (self.prior, self.load);
                self.deployment.whole_came(self.bucket, tokens, total_ms, context, now);
            }
        }
        self.lease = None;
    }

    /// The deployment failed `after`: an error that is not the caller's fault, or a timeout.
    pub fn failed(mut self, after: Duration, now: UnixMillis) {
        let lease = self.lease.take();
        self.deployment.call_failed(self.bucket, millis(after), self.prior, lease, now);
    }

    /// The caller left `after`.
    pub fn given_up(self, after: Duration, now: UnixMillis) {
        if self.waiting {
            self.deployment.wait_given_up(self.bucket, millis(after), self.prior, now);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.deployment.call_ended(self.bucket, self.waiting, self.lease.take());
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
