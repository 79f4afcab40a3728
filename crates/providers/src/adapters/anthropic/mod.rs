//! Anthropic Messages: `POST /v1/messages`.
//!
//! Wire format: the Anthropic API reference, "Messages" and "Streaming messages", version
//! `2023-06-01`, and its guides on tool use, vision, prompt caching, extended and adaptive thinking
//! and structured outputs.
//!
//! What a request may hold depends on the model's generation (`model.rs` has the table). What cannot
//! be expressed is refused before anything is sent; what is only a hint (an image's `detail`, a
//! speaker's `name`, `seed`, `store`, `service_tier`, `metadata` but for `user_id`) is left out.
//! The choices that were open:
//!
//! - All system and developer messages go, in order, to the front, into `system`: only the newest
//!   models take instructions in mid-conversation.
//! - `json_object` is refused: Anthropic holds an answer to a schema or to nothing.
//! - `temperature` over 1 is refused, and so is any sampling parameter that the model has given up.
//!   The value 1 is Anthropic's own default and is left out everywhere.
//! - Penalties are refused unless they are 0, which is no penalty.
//! - Without a bound on tokens, which Anthropic demands, the model's own limit is sent, else one
//!   that every model of the generation takes.
//! - Thinking is asked for by `reasoning_effort` (`thinking.rs`). A sampling parameter beside it that
//!   Anthropic does not take while a model thinks is refused.
//! - Of more than four cache breakpoints four stay (`breakpoints.rs`).

mod breakpoints;
mod classify;
mod conversation;
mod decode;
mod encode;
mod media;
mod model;
mod stream;
#[cfg(test)]
mod tests;
mod thinking;
mod tools;
mod wire;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use sluice_core::answer::ChatAnswer;
use sluice_core::chat::ChatRequest;
use sluice_core::sealed::SealedPlaces;

use crate::adapter::{Adapter, DecodeError, StreamDecoder};
use crate::endpoint::{Endpoint, Target};
use crate::error::{ProviderError, Unsupported};
use crate::request;

/// The Anthropic Messages dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnthropicMessages;

impl Adapter for AnthropicMessages {
    fn takes_back(&self, _: &Endpoint) -> SealedPlaces {
        SealedPlaces { thoughts: true, calls: false }
    }

    fn encode(&self, chat: &ChatRequest, target: &Target) -> Result<Request<Bytes>, Unsupported> {
        encode::encode(chat, target)
    }

    fn decode(&self, body: Bytes) -> Result<ChatAnswer, DecodeError> {
        decode::decode(body)
    }

    fn stream_decoder(&self) -> Box<dyn StreamDecoder> {
        Box::new(stream::MessagesStream::default())
    }

    fn classify(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        target: &Target,
    ) -> ProviderError {
        classify::classify(status, headers, body, target)
    }

    /// "List models", which gives 1 000 at most.
    fn list_models(&self, endpoint: &Endpoint) -> Result<Request<Bytes>, Unsupported> {
        let mut request = request::get(endpoint, "/v1/models?limit=1000")?;
        let version = HeaderValue::from_static(encode::VERSION);
        request.headers_mut().entry("anthropic-version").or_insert(version);
        Ok(request)
    }
}

/// A refusal that names `field`.
fn unsupported(field: impl Into<String>, reason: impl Into<String>) -> Unsupported {
    Unsupported { field: field.into(), reason: reason.into() }
}
