//! Google Gemini, `generateContent` and `streamGenerateContent`.
//!
//! Wire format: the Gemini API reference, "Generating content", and its guides on function calling,
//! thinking, thought signatures, file input and structured outputs (`v1beta`).
//!
//! What Gemini cannot express is refused before anything is sent. What only hints (an image's
//! `detail`, a tool's `strict`, a speaker's `name`, `user`, `metadata`, `store`, `service_tier`) is
//! left out, and so are cache breakpoints: Gemini caches prompts by itself, and counts what it read
//! from its cache. Thoughts of earlier turns are not sent back; the signatures of function calls
//! are, since Gemini 3 demands them.

mod classify;
mod contents;
mod decode;
mod encode;
mod finish;
mod generation;
mod logprobs;
mod media;
mod stream;
#[cfg(test)]
mod tests;
mod wire;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use serde::Deserialize;
use sluice_core::answer::ChatAnswer;
use sluice_core::chat::ChatRequest;
use sluice_core::sealed::SealedPlaces;

use crate::adapter::{Adapter, DecodeError, StreamDecoder};
use crate::endpoint::{Endpoint, Target};
use crate::error::{MalformedAnswer, ProviderError, Unsupported};
use crate::request;

/// The Gemini `generateContent` dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct GeminiGenerateContent;

impl Adapter for GeminiGenerateContent {
    fn takes_back(&self, _: &Endpoint) -> SealedPlaces {
        SealedPlaces { thoughts: false, calls: true }
    }

    fn encode(&self, chat: &ChatRequest, target: &Target) -> Result<Request<Bytes>, Unsupported> {
        encode::encode(chat, target)
    }

    fn decode(&self, body: Bytes) -> Result<ChatAnswer, DecodeError> {
        decode::decode(body)
    }

    fn stream_decoder(&self) -> Box<dyn StreamDecoder> {
        Box::new(stream::GeminiStream::default())
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

    /// "models.list", which gives 1 000 at most.
    fn list_models(&self, endpoint: &Endpoint) -> Result<Request<Bytes>, Unsupported> {
        request::get(endpoint, "/v1beta/models?pageSize=1000")
    }

    fn listed_models(&self, body: &[u8]) -> Result<Vec<String>, MalformedAnswer> {
        #[derive(Deserialize)]
        struct List {
            #[serde(default)]
            models: Vec<Listed>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Listed {
            name: String,
            #[serde(default)]
            supported_generation_methods: Vec<String>,
        }
        let list: List = serde_json::from_slice(body)
            .map_err(|_| MalformedAnswer("it is no list of models".to_owned()))?;
        let chats = |model: &Listed| {
            model.supported_generation_methods.iter().any(|method| method == "generateContent")
        };
        let bare = |model: Listed| match model.name.strip_prefix("models/") {
            Some(name) => name.to_owned(),
            None => model.name,
        };
        Ok(list.models.into_iter().filter(chats).map(bare).collect())
    }
}

/// The refusal of a request that Gemini cannot express.
fn unsupported(field: impl Into<String>, reason: impl Into<String>) -> Unsupported {
    Unsupported { field: field.into(), reason: reason.into() }
}
