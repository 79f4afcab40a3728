//! What is known of one deployment's speed, and what that makes of the next call.
//!
//! Every answer is a sample, and so is every failure. An expectation is the mean of a mixture:
//! the samples of prompts of that size, then those of prompts of other sizes, then the prior.
//! Each gives way to the one before it as that gets samples, and comes back as they fade.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sluice_core::clock::UnixMillis;

use super::call::Call;
use super::health::{Claim, Health, Lease};
use super::histogram::{Histogram, Mass};
use super::silence::Silence;
use super::{Expected, Pace};

/// The input sizes that are told apart, by the most tokens of each; the last has no bound.
const BUCKETS: [f64; 3] = [1000.0, 8000.0, 32_000.0];
const BUCKET_COUNT: usize = BUCKETS.len() + 1;

/// How many samples the prior stands for beside those of other sizes, and both beside those of the
/// size in question.
const PRIOR_WEIGHT: f64 = 4.0;
/// What a sample is worth to the prompts of another size, by how many sizes they are apart.
const LENT: [f64; BUCKET_COUNT] = [1.0, 1.0 / 4.0, 1.0 / 16.0, 1.0 / 64.0];
/// With less than the weight of one fresh sample, a figure is stale.
const STALE_WEIGHT: f64 = 1.0;

/// What a failure counts for at least, as if a caller had waited that long for a first token. One
/// that is told at once costs its caller another attempt, and must not look like a fast answer.
const FAILURE_MS: f64 = 5000.0;
/// Tokens of an answer from which on its speed is a whole sample: those of a short answer come in
/// one packet, and say little.
const SURE_TOKENS: f64 = 64.0;
/// What a part of an answer's total time counts for: how it is split is a guess.
const SPLIT_WEIGHT: f64 = 0.5;
/// So many calls at once beyond the usual number make a new one wait about twice as long.
const ROOM: f64 = 8.0;

/// Milliseconds per token are kept in units of so many parts, as a histogram's least value is 1:
/// the fastest that is told apart is 32 000 tokens a second, the slowest one token in 16 seconds.
const PARTS: f64 = 32.0;

/// What is known of one deployment's speed and health, shared by all requests.
///
/// No lock and no allocation: every figure is an atomic that stands on its own.
#[derive(Debug, Default)]
pub struct DeploymentSpeed {
    sizes: [Size; BUCKET_COUNT],
    in_flight: AtomicU32,
    /// Calls in flight when each sample's call began, itself included.
    load: Histogram,
    health: Health,
}

/// What is known of prompts of one size.
#[derive(Debug, Default)]
struct Size {
    /// Milliseconds to the first token.
    first_token: Histogram,
    /// What failures count for, in milliseconds to a first token. They fade in half a minute: most
    /// are over soon, and those that are not close the deployment.
    failed: Histogram<4>,
    /// Milliseconds per token after it, in [`PARTS`]. Its mean is what a token takes; the mean of
    /// tokens per second would hardly see an answer that crawls.
    token: Histogram,
    silence: Silence,
}

/// A mixture of samples and prior.
struct Mixture {
    samples: Mass,
    /// How many samples are in it.
    evidence: f64,
}

impl DeploymentSpeed {
    /// What to expect of a prompt of `input_tokens` at `now`, where `prior` is what the catalogue
    /// says of the model.
    pub fn expected(&self, input_tokens: f64, prior: Pace, now: UnixMillis) -> Expected {
        let bucket = bucket(input_tokens);
        let first_token = self.first_token(bucket, prior, now);
        let crowding = self.crowding(now);
        // Who asks now will hardly be answered sooner than those who wait already.
        let silence = self.silence_ms(bucket, now);
        Expected {
            pace: Pace {
                first_token_ms: (first_token.samples.mean() * crowding).max(silence),
                tokens_per_second: 1000.0 / self.token_ms(bucket, prior, now),
            },
            stale: first_token.evidence < STALE_WEIGHT,
        }
    }

    /// Seconds until the deployment is tried again after failures in a row; `None` where it may be
    /// asked now.
    pub fn failing(&self, now: UnixMillis) -> Option<u64> {
        self.health.failing(now)
    }

    /// How many calls are under way.
    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// A call begins, whether the deployment is failing or not: where there is no other.
    ///
    /// `streamed` says whether a first token will be seen.
    pub fn begin(
        self: &Arc<Self>,
        input_tokens: f64,
        streamed: bool,
        prior: Pace,
        now: UnixMillis,
    ) -> Call {
        let lease = match self.health.claim(now) {
            Claim::Try(lease) => Some(lease),
            Claim::Open | Claim::Closed(_) => None,
        };
        self.call(input_tokens, streamed, prior, lease, now)
    }

    /// A call begins, unless the deployment is failing: of many that ask at the end of a pause, one
    /// is let through.
    ///
    /// # Errors
    ///
    /// Seconds until the deployment is tried again.
    pub fn begin_unless_failing(
        self: &Arc<Self>,
        input_tokens: f64,
        streamed: bool,
        prior: Pace,
        now: UnixMillis,
    ) -> Result<Call, u64> {
        let lease = match self.health.claim(now) {
            Claim::Open => None,
            Claim::Try(lease) => Some(lease),
            Claim::Closed(seconds) => return Err(seconds),
        };
        Ok(self.call(input_tokens, streamed, prior, lease, now))
    }

    fn call(
        self: &Arc<Self>,
        input_tokens: f64,
        streamed: bool,
        prior: Pace,
        lease: Option<Lease>,
        now: UnixMillis,
    ) -> Call {
        let bucket = bucket(input_tokens);
        let load = self.in_flight.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if streamed {
            self.sizes[bucket].silence.begin(now);
        }
        Call::new(Arc::clone(self), bucket, prior, load, streamed, lease)
    }

    /// A first token came after `ms`.
    pub(super) fn first_token_came(&self, bucket: usize, ms: f64, load: u32, now: UnixMillis) {
        self.sizes[bucket].first_token.add(ms, 1.0, now);
        self.load.add(f64::from(load), 1.0, now);
        self.sizes[bucket].silence.broken(now);
        self.health.content_came();
    }

    /// A streamed answer of `output_tokens` was complete `generation_ms` after its first token.
    pub(super) fn stream_ended(
        &self,
        bucket: usize,
        output_tokens: f64,
        generation_ms: f64,
        now: UnixMillis,
    ) {
        // The first token is there when that time begins.
        let tokens = output_tokens - 1.0;
        if tokens >= 1.0 {
            let weight = (tokens / SURE_TOKENS).min(1.0);
            self.sizes[bucket].token.add(generation_ms / tokens * PARTS, weight, now);
        }
        self.succeeded();
    }

    /// An answer of `output_tokens` came as a whole after `total_ms`.
    ///
    /// Nobody saw its first token. What was expected of both parts is stretched or shrunk alike, so
    /// that they take `total_ms` together: whole answers alone say no more, and a deployment that
    /// streams as well learns from the streams how the time is divided.
    pub(super) fn whole_came(
        &self,
        bucket: usize,
        output_tokens: f64,
        total_ms: f64,
        (prior, load): (Pace, u32),
        now: UnixMillis,
    ) {
        let tokens = (output_tokens - 1.0).max(0.0);
        let first_token_ms = self.first_token(bucket, prior, now).samples.mean();
        let token_ms = self.token_ms(bucket, prior, now);
        let stretch = total_ms / (first_token_ms + tokens * token_ms);
        let size = &self.sizes[bucket];
        size.first_token.add(first_token_ms * stretch, SPLIT_WEIGHT, now);
        if tokens >= 1.0 {
            let weight = SPLIT_WEIGHT * (tokens / SURE_TOKENS).min(1.0);
            size.token.add(token_ms * stretch * PARTS, weight, now);
        }
        self.load.add(f64::from(load), SPLIT_WEIGHT, now);
        self.succeeded();
    }

    /// An answer is complete. Where failures had closed the deployment, they are forgiven: it is as
    /// fast as its answers were.
    fn succeeded(&self) {
        if self.health.succeeded() {
            for size in &self.sizes {
                size.failed.clear();
            }
        }
    }

    /// A call failed after `ms`. It counts as a wait of that long, of [`FAILURE_MS`] or of what was
    /// expected anyway, whichever is longest: a failure is never good news.
    pub(super) fn call_failed(
        &self,
        bucket: usize,
        ms: f64,
        prior: Pace,
        lease: Option<Lease>,
        now: UnixMillis,
    ) {
        let ms = ms.max(FAILURE_MS).max(self.usual_wait(bucket, prior, now));
        self.sizes[bucket].failed.add(ms, 1.0, now);
        self.health.failed(lease, now);
    }

    /// A caller left after `ms` without a first token. All that is known is that it would have
    /// taken longer, which says something only where that was not expected.
    pub(super) fn wait_given_up(&self, bucket: usize, ms: f64, prior: Pace, now: UnixMillis) {
        if ms > self.usual_wait(bucket, prior, now) {
            self.sizes[bucket].first_token.add(ms, 1.0, now);
        }
    }

    /// A call is over, however it went.
    pub(super) fn call_ended(&self, bucket: usize, waiting: bool, unused: Option<Lease>) {
        self.in_flight
            .update(Ordering::Relaxed, Ordering::Relaxed, |calls| calls.saturating_sub(1));
        if waiting {
            self.sizes[bucket].silence.left();
        }
        if let Some(lease) = unused {
            self.health.gave_back(lease);
        }
    }

    fn first_token(&self, bucket: usize, prior: Pace, now: UnixMillis) -> Mixture {
        // Whoever is on trial is closed to all but one at a time, and that one has to be sent.
        let on_trial = self.health.is_on_trial();
        let waits = |size: &Size| {
            let mut waits = size.first_token.read(now);
            if !on_trial {
                waits.add_all(size.failed.read(now), 1.0);
            }
            waits
        };
        self.mixture(bucket, waits, prior.first_token_ms)
    }

    /// From here on a wait is bad news: longer than what is expected, and than the samples of that
    /// size alone, of which a new one displaces a part.
    fn usual_wait(&self, bucket: usize, prior: Pace, now: UnixMillis) -> f64 {
        let mut measured = self.sizes[bucket].first_token.read(now);
        measured.add_all(self.sizes[bucket].failed.read(now), 1.0);
        self.first_token(bucket, prior, now).samples.mean().max(measured.mean())
    }

    fn token_ms(&self, bucket: usize, prior: Pace, now: UnixMillis) -> f64 {
        let prior = 1000.0 / prior.tokens_per_second * PARTS;
        self.mixture(bucket, |size| size.token.read(now), prior).samples.mean() / PARTS
    }

    fn mixture(&self, bucket: usize, samples: impl Fn(&Size) -> Mass, prior: f64) -> Mixture {
        let mut mixed = samples(&self.sizes[bucket]);
        let mut lent = Mass::default();
        for (other, size) in self.sizes.iter().enumerate() {
            if other != bucket {
                lent.add_all(samples(size), LENT[other.abs_diff(bucket)]);
            }
        }
        let borrowed = lent.weight;
        let evidence = mixed.weight + borrowed;
        lent.add(prior, PRIOR_WEIGHT);
        mixed.add_all(lent, PRIOR_WEIGHT / (borrowed + PRIOR_WEIGHT));
        Mixture { samples: mixed, evidence }
    }

    /// How many times longer than usual a new call waits because of those that are under way.
    ///
    /// The samples were taken under a load, too, so that only what goes beyond it counts. It is
    /// what a crowd that comes all at once is seen by, before the first of it has an answer.
    fn crowding(&self, now: UnixMillis) -> f64 {
        let mut load = self.load.read(now);
        load.add(1.0, PRIOR_WEIGHT);
        let with_new = f64::from(self.in_flight()) + 1.0;
        ((ROOM + with_new) / (ROOM + load.mean())).max(1.0)
    }

    /// How long nobody whose prompt is of this size or smaller has got a first token, although
    /// somebody waits. Larger prompts may well take longer.
    fn silence_ms(&self, bucket: usize, now: UnixMillis) -> f64 {
        let longest = self.sizes[..=bucket].iter().map(|size| size.silence.ms(now)).max();
        #[expect(clippy::cast_precision_loss, reason = "minutes at most")]
        let ms = longest.unwrap_or(0) as f64;
        ms
    }
}

fn bucket(input_tokens: f64) -> usize {
    BUCKETS.iter().take_while(|most| input_tokens > **most).count()
}
