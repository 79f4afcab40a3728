//! The seam between Sluice and a provider's dialect.

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use serde::Deserialize;
use sluice_core::answer::ChatAnswer;
use sluice_core::chat::ChatRequest;
use sluice_core::event::StreamEvent;
use sluice_core::sealed::SealedPlaces;

use crate::endpoint::{Endpoint, Target};
use crate::error::{MalformedAnswer, ProviderError, StreamError, Unsupported};
use crate::framing::sse::Frame;
use crate::request;

/// One provider's dialect: translates between our chat types and its wire format.
///
/// Does no I/O: one transport sends, times out and traces for all adapters.
pub trait Adapter: Send + Sync {
    /// The sealed values that the provider at `endpoint` gave out itself and wants back as they were.
    fn takes_back(&self, endpoint: &Endpoint) -> SealedPlaces;

    /// The HTTP request for `chat`, or why this provider cannot express it.
    ///
    /// Nothing has been sent when this fails, so the caller gets a 400 that names the field. What
    /// stands at [`ChatRequest::unread`] is sent only to a provider that takes it back.
    fn encode(&self, chat: &ChatRequest, target: &Target) -> Result<Request<Bytes>, Unsupported>;

    /// A whole (not streamed) answer with a successful status.
    fn decode(&self, body: Bytes) -> Result<ChatAnswer, DecodeError>;

    /// A decoder for one streamed answer; it remembers open tool calls and usage between frames.
    fn stream_decoder(&self) -> Box<dyn StreamDecoder>;

    /// What a failed status means: who is at fault, and whether another attempt can help.
    ///
    /// `target` gives the credential, so that it can be taken out of a message that quotes it.
    fn classify(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        target: &Target,
    ) -> ProviderError;

    /// The HTTP request for the provider's own list of models.
    fn list_models(&self, endpoint: &Endpoint) -> Result<Request<Bytes>, Unsupported> {
        request::get(endpoint, "/models")
    }

    /// The names in such a list, of those that can chat as far as it says so. Most lists have
    /// OpenAI's form ("List models").
    fn listed_models(&self, body: &[u8]) -> Result<Vec<String>, MalformedAnswer> {
        #[derive(Deserialize)]
        struct List {
            data: Vec<Listed>,
        }
        #[derive(Deserialize)]
        struct Listed {
            id: String,
        }
        let list: List = serde_json::from_slice(body)
            .map_err(|_| MalformedAnswer("it is no list of models".to_owned()))?;
        Ok(list.data.into_iter().map(|model| model.id).collect())
    }
}

/// Why a body with a successful status is no answer.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It is not in the provider's format.
    #[error(transparent)]
    Malformed(#[from] MalformedAnswer),
    /// It is an error after all (some providers answer 200 with an error body).
    #[error("the provider answered 200 with an error: {0}")]
    Provider(ProviderError),
}

/// Decodes one streamed answer, frame by frame.
pub trait StreamDecoder: Send {
    /// Appends the events that `frame` stands for to `events`.
    fn frame(&mut self, frame: &Frame, events: &mut Vec<StreamEvent>) -> Result<(), StreamError>;

    /// The connection ended. Appends [`StreamEvent::End`] if by the provider's own rules the
    /// answer was complete and the mark has not been given yet; nothing where it was cut.
    fn end(&mut self, events: &mut Vec<StreamEvent>);
}
