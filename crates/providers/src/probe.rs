//! Whether a provider can be reached with its credential, and which models it lists.
//!
//! One cheap call: its list of models where it has one, else an answer of one token. What fails is told
//! in the provider's words, without the credential, and with what to do about it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use sluice_core::chat::{ChatRequest, Message, Role};
use tokio::time::{Instant, timeout};

use crate::call::{ReadError, read_error, read_whole};
use crate::endpoint::{Endpoint, Target};
use crate::error::{MalformedAnswer, ProviderError, ProviderErrorKind, Unsupported, quote};
use crate::presets::{Preset, WireDialect};
use crate::request;
use crate::simulator::MODELS;
use crate::upstream::{TransportError, Upstream};

/// How long a provider may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest list of models that is read, in bytes.
const LONGEST_LIST: usize = 16 << 20;

/// A provider that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// How long it took.
    pub after: Duration,
    /// The models that it lists; `None` where it has no list.
    pub models: Option<Vec<String>>,
}

/// Why a provider did not answer as it should.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// It refused or failed.
    #[error("it answered {}: {}", status_of(.0), .0.message)]
    Provider(ProviderError),
    /// It could not be reached, or it hung up.
    #[error("{0}")]
    Transport(#[from] TransportError),
    /// It took too long.
    #[error("it did not answer within {} s", PATIENCE.as_secs())]
    Timeout,
    /// It answered something else.
    #[error("{0}")]
    Malformed(#[from] MalformedAnswer),
    /// It cannot be asked.
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
    /// It has no list of models, and none of its models is known here.
    #[error("it has no list of models")]
    NoList,
}

fn status_of(error: &ProviderError) -> String {
    error.status.map_or_else(|| "with an error".to_owned(), |status| status.to_string())
}

impl ProbeError {
    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        let kind = match self {
            Self::Provider(error) => error.kind,
            Self::Transport(_) => ProviderErrorKind::Connection,
            Self::Timeout => ProviderErrorKind::Timeout,
            Self::NoList => return "add a model of it, and try again",
            Self::Malformed(_) | Self::Unsupported(_) => ProviderErrorKind::BadRequest,
        };
        match kind {
            ProviderErrorKind::Credential => {
                "give it a credential that is valid there, and has money"
            }
            ProviderErrorKind::Connection => {
                "look at its base_url, and whether this machine may connect to it"
            }
            ProviderErrorKind::RateLimited => "the credential is good; wait, and try again",
            ProviderErrorKind::ModelNotFound => {
                "look at its base_url, and at upstream_model of its models"
            }
            ProviderErrorKind::Unavailable
            | ProviderErrorKind::ServerError
            | ProviderErrorKind::Timeout => "the provider has trouble; try again later",
            ProviderErrorKind::BadRequest
            | ProviderErrorKind::ContextLength
            | ProviderErrorKind::ContentBlocked => "look at its kind and its base_url",
        }
    }
}

/// Asks the provider at `endpoint` something cheap that its credential has to be good for. `preset` is
/// its kind, and `known` are names of its models, for a provider without a list.
pub async fn reach(
    endpoint: &Arc<Endpoint>,
    preset: &Preset,
    known: &[String],
    upstream: &dyn Upstream,
) -> Result<Reached, ProbeError> {
    let began = Instant::now();
    // Where the list is for everybody, it says nothing of the credential.
    if let Some(path) = &preset.check
        && preset.base_url.as_ref() == Some(&endpoint.base_url)
    {
        send(request::get(endpoint, path)?, endpoint, "", upstream).await?;
        return Ok(Reached { after: began.elapsed(), models: None });
    }
    let model = match (list(endpoint, preset, upstream).await, known.first()) {
        (Err(ProbeError::NoList), Some(model)) => model,
        (models, _) => return Ok(Reached { after: began.elapsed(), models: Some(models?) }),
    };
    let after = answer(endpoint, model, upstream).await?;
    Ok(Reached { after, models: None })
}

/// Asks one model for an answer of one token; how long that took.
pub async fn answer(
    endpoint: &Arc<Endpoint>,
    model: &str,
    upstream: &dyn Upstream,
) -> Result<Duration, ProbeError> {
    let began = Instant::now();
    let mut chat = ChatRequest::new(model, vec![Message::new(Role::User, "Hi")]);
    chat.max_tokens = Some(1);
    let target = target(endpoint, model);
    let request = endpoint.adapter.encode(&chat, &target)?;
    send(request, endpoint, model, upstream).await?;
    Ok(began.elapsed())
}

/// The names of the models that the provider at `endpoint` lists, sorted.
pub async fn list(
    endpoint: &Arc<Endpoint>,
    preset: &Preset,
    upstream: &dyn Upstream,
) -> Result<Vec<String>, ProbeError> {
    if preset.dialect == WireDialect::Simulator {
        return Ok(MODELS.iter().map(|model| model.id.to_owned()).collect());
    }
    let request = endpoint.adapter.list_models(endpoint)?;
    let body = match send(request, endpoint, "", upstream).await {
        Err(ProbeError::Provider(ProviderError { status: Some(404 | 405 | 501), .. })) => {
            return Err(ProbeError::NoList);
        }
        body => body?,
    };
    let mut models = endpoint.adapter.listed_models(&body)?;
    models.sort_unstable();
    models.dedup();
    Ok(models)
}

fn target(endpoint: &Arc<Endpoint>, model: &str) -> Target {
    Target {
        endpoint: endpoint.clone(),
        upstream_model: model.to_owned(),
        max_tokens: Some(1),
        output_limit: None,
    }
}

async fn send(
    request: Request<Bytes>,
    endpoint: &Arc<Endpoint>,
    model: &str,
    upstream: &dyn Upstream,
) -> Result<Bytes, ProbeError> {
    let answered = async {
        let (head, body) = upstream.send(request).await?.into_parts();
        if head.status == StatusCode::OK {
            return read_whole(body, LONGEST_LIST).await.map_err(|error| match error {
                ReadError::Transport(error) => ProbeError::Transport(error),
                ReadError::Provider(error) => ProbeError::Provider(error),
                other => ProbeError::Malformed(MalformedAnswer(other.to_string())),
            });
        }
        let body = read_error(body).await;
        let adapter = &endpoint.adapter;
        let mut error =
            adapter.classify(head.status, &head.headers, &body, &target(endpoint, model));
        // Headers may hold secrets as well.
        for (_, value) in &endpoint.headers {
            error.message = quote(&error.message, value.to_str().ok());
        }
        Err(ProbeError::Provider(error))
    };
    timeout(PATIENCE, answered).await.unwrap_or(Err(ProbeError::Timeout))
}
