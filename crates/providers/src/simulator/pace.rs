//! When each token is due.

use std::time::Duration;

use super::models::SimulatedModel;

/// Whether the simulator takes its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// As real models do, by the figures in [`super::MODELS`].
    #[default]
    Realistic,
    /// At once, for tests and benchmarks. A delay that a trigger asks for is still kept.
    Instant,
}

/// The timing of one answer, counted from when the request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timing {
    time_to_first_token: Duration,
    /// Tokens a second; `None` for as fast as they are read.
    rate: Option<u32>,
}

impl Timing {
    /// The timing of `model`, its first token `delay` later than usual.
    pub(super) fn of(model: &SimulatedModel, pace: Pace, delay: Duration) -> Self {
        match pace {
            Pace::Realistic => Self {
                time_to_first_token: model.time_to_first_token + delay,
                rate: Some(model.tokens_per_second.max(1)),
            },
            Pace::Instant => Self { time_to_first_token: delay, rate: None },
        }
    }

    /// When the token with this number is due. The role comes as number 0 together with the first
    /// token, number 1.
    pub(super) fn token(&self, number: u64) -> Duration {
        let Some(rate) = self.rate else {
            return self.time_to_first_token;
        };
        let micros = number.saturating_sub(1).saturating_mul(1_000_000) / u64::from(rate);
        self.time_to_first_token + Duration::from_micros(micros)
    }
}
