//! What a deployment's figures have to say, told call by call.

mod calls;
mod mistakes;
mod properties;
mod spells;

use std::sync::Arc;
use std::time::Duration;

use sluice_core::clock::UnixMillis;

use super::{DeploymentSpeed, Expected, Pace};

const NOW: UnixMillis = UnixMillis(1_790_000_000_000);
const PRIOR: Pace = Pace { first_token_ms: 900.0, tokens_per_second: 60.0 };
/// Tokens of a short prompt.
const SHORT: f64 = 300.0;

fn later(ms: u64) -> UnixMillis {
    UnixMillis(NOW.0 + ms)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn new() -> Arc<DeploymentSpeed> {
    Arc::default()
}

/// A deployment that has had so many streamed answers: first token, tokens, total.
fn after(times: u32, first_token: u64, tokens: u64, total: u64) -> Arc<DeploymentSpeed> {
    let deployment = new();
    for _ in 0..times {
        stream(&deployment, first_token, tokens, total, NOW);
    }
    deployment
}

fn stream(
    deployment: &Arc<DeploymentSpeed>,
    first_token: u64,
    tokens: u64,
    total: u64,
    now: UnixMillis,
) {
    let mut call = deployment.begin(SHORT, true, PRIOR, now);
    call.first_token(ms(first_token), now);
    call.answered(tokens, ms(total), now);
}

fn expected(deployment: &Arc<DeploymentSpeed>) -> Expected {
    deployment.expected(SHORT, PRIOR, NOW)
}

fn first_token(deployment: &Arc<DeploymentSpeed>) -> f64 {
    expected(deployment).pace.first_token_ms
}

#[track_caller]
fn near(found: f64, wanted: f64, share: f64) {
    assert!((found / wanted - 1.0).abs() <= share, "{found} instead of {wanted}");
}
