//! OpenAI chat completions, and every service that speaks its dialect.
//!
//! Wire format: the OpenAI API reference, "Chat completions" and "Streaming". Services that differ
//! by a URL and a flag are entries of `presets.toml`, not code.
//!
//! A request that came in this dialect leaves as it came: its members are copied, and only those
//! that Sluice has something to say about are written anew.

mod classify;
mod decode;
mod encode;
mod stream;
#[cfg(test)]
mod tests;
mod wire;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use sluice_core::answer::ChatAnswer;
use sluice_core::chat::ChatRequest;
use sluice_core::sealed::SealedPlaces;

use crate::adapter::{Adapter, DecodeError, StreamDecoder};
use crate::endpoint::{Endpoint, Target};
use crate::error::{ProviderError, Unsupported};

/// The OpenAI chat-completions dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiChat;

impl Adapter for OpenAiChat {
    fn takes_back(&self, endpoint: &Endpoint) -> SealedPlaces {
        let quirks = endpoint.quirks;
        SealedPlaces { thoughts: quirks.sealed_thoughts, calls: quirks.sealed_calls }
    }

    fn encode(&self, chat: &ChatRequest, target: &Target) -> Result<Request<Bytes>, Unsupported> {
        encode::encode(chat, target)
    }

    fn decode(&self, body: Bytes) -> Result<ChatAnswer, DecodeError> {
        decode::decode(body)
    }

    fn stream_decoder(&self) -> Box<dyn StreamDecoder> {
        Box::new(stream::OpenAiStream::default())
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
}
