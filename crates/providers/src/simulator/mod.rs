//! The simulator: a built-in provider, so that everything can be tried without an account and
//! without a network.
//!
//! It stands where the network would, as an [`Upstream`], and speaks OpenAI's chat-completions
//! format, so whatever is said to it takes the way of a real request. Its models ([`MODELS`]) say
//! that they are simulated, in their names, their texts and every answer's
//! `"system_fingerprint": "simulated"`. It never answers for a model that is not its own (404,
//! `model_not_found`). The same request gets the same bytes, apart from `created`.
//!
//! | Model | Answers with |
//! | --- | --- |
//! | `demo/chat` | a description of the request; tool calls that fit their schemas; JSON that fits a schema |
//! | `demo/echo` | the last user message, exactly |
//! | `demo/reasoner` | what `demo/chat` would, after thinking |
//!
//! It follows `n`, `seed`, `stop`, `max_tokens`, `logprobs`, `tool_choice`, `parallel_tool_calls`,
//! `response_format`, `reasoning_effort`, `stream` and `stream_options`, and counts tokens of its
//! own. A line such as `simulate: cut` in the last user message orders a failure ([`TRIGGERS`]).
//! `docs/simulator.md` is the page for users.

mod body;
mod compose;
mod exchange;
mod hash;
mod layers;
mod material;
mod models;
mod pace;
mod pattern;
mod reply;
mod request;
mod schema;
mod stream;
mod tokens;
mod tools;
mod triggers;
mod wire;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Request, Response};
use http_body_util::BodyExt;
use sluice_core::clock::Clock;

pub use self::models::{Behaviour, MODELS, SimulatedModel, find};
pub use self::pace::Pace;
pub use self::triggers::{TRIGGERS, Trigger};

use self::body::PacedBody;
use self::exchange::Exchange;
use crate::upstream::{Sending, TransportError, Upstream, UpstreamBody};

/// The simulator's name as a provider.
pub const PROVIDER: &str = "simulator";

/// A base URL for the simulator's endpoint. Nothing is ever sent there: the name is reserved for
/// names that do not exist (RFC 2606).
pub const BASE_URL: &str = "http://simulator.invalid/v1";

/// The built-in provider.
pub struct Simulator {
    clock: Arc<dyn Clock>,
    pace: Pace,
}

impl Simulator {
    /// A simulator that stamps its answers by `clock` and answers at `pace`.
    pub fn new(clock: Arc<dyn Clock>, pace: Pace) -> Self {
        Self { clock, pace }
    }
}

impl Upstream for Simulator {
    /// Answers in process. Only a trigger makes this fail.
    fn send(&self, request: Request<Bytes>) -> Sending {
        let created = self.clock.now().seconds();
        let pace = self.pace;
        Box::pin(async move {
            let answer = match exchange::take(&request, created, pace) {
                Exchange::Answer(answer) => answer,
                Exchange::Refused => {
                    let reason = "the simulator was asked to refuse".to_owned();
                    return Err(TransportError::Connect(reason));
                }
            };
            if !answer.wait.is_zero() {
                tokio::time::sleep(answer.wait).await;
            }
            let body: UpstreamBody = PacedBody::new(answer.pieces).boxed_unsync();
            let mut response = Response::new(body);
            *response.status_mut() = answer.status;
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
            if let Some(seconds) = answer.retry_after_seconds {
                headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            Ok(response)
        })
    }
}

#[cfg(test)]
mod tests;
