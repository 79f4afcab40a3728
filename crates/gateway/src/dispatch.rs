//! Calls providers, one after the other, within one time budget.
//!
//! Another provider is asked only before the first content has come: afterwards the caller has
//! seen a part of an answer that nobody else could continue.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use sluice_core::answer::ChatAnswer;
use sluice_core::chat::ChatRequest;
use sluice_core::event::StreamEvent;
use sluice_core::outcome::Outcome;
use sluice_providers::adapter::DecodeError;
use sluice_providers::call::{self, EventStream, ReadError};
use sluice_providers::error::{ProviderError, ProviderErrorKind, Unsupported, quote};
use sluice_providers::upstream::{TransportError, UpstreamBody};
use sluice_storage::BilledBy;
use tokio::time::{Instant, timeout_at};

use crate::accounting::{Accounting, Meter};
use crate::bounds::Bounds;
use crate::call::TimedCall;
use crate::cut::Cut;
use crate::error::{ChatError, Unanswered};
use crate::plan::Candidate;
use crate::snapshot::Timeouts;

/// When a rate-limited provider that does not say so is worth asking again.
const USUAL_RETRY: Duration = Duration::from_secs(5);
/// Longest wait for the body of an error.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(5);
/// Most events before the first content: they are all kept until it comes.
const MOST_EVENTS_WITHOUT_CONTENT: usize = 10_000;

/// A request on its way to a provider.
pub(crate) struct Dispatch<'a> {
    pub(crate) chat: &'a ChatRequest,
    pub(crate) candidates: &'a [Candidate],
    pub(crate) timeouts: Timeouts,
    pub(crate) accounting: &'a Accounting,
    /// When the whole request has to be over.
    pub(crate) deadline: Instant,
}

/// Why a call failed, and whether that is in Sluice's own words. A provider's may quote the request,
/// and no log may hold those.
pub(crate) struct CallFailure {
    pub(crate) error: ProviderError,
    pub(crate) own_words: bool,
    /// Whether the provider may bill the call: it was sent, and nobody said that it failed.
    pub(crate) may_be_billed: bool,
}

/// Whoever answered, and with what.
pub(crate) struct Answered<'a, T> {
    pub(crate) candidate: &'a Candidate,
    pub(crate) answer: T,
    pub(crate) call: TimedCall,
    /// What the answer can come to.
    pub(crate) bounds: Bounds,
}

/// A stream whose first content has come (or that is already over).
pub(crate) struct OpenStream {
    pub(crate) events: EventStream,
    /// What has come so far.
    pub(crate) first: Vec<StreamEvent>,
}

impl Dispatch<'_> {
    /// A whole answer from the first candidate that gives one.
    pub(crate) async fn whole(
        &self,
        meter: &mut Meter,
    ) -> Result<Answered<'_, ChatAnswer>, Unanswered> {
        let mut answered = self
            .first_to_answer(meter, async |candidate, response| {
                let body = call::read_whole(response.into_body(), call::LONGEST_ANSWER).await?;
                candidate.target.endpoint.adapter.decode(body).map_err(|error| match error {
                    DecodeError::Malformed(error) => ReadError::Malformed(error),
                    DecodeError::Provider(error) => ReadError::Provider(error),
                })
            })
            .await?;
        let bounds = answered.bounds;
        if Cut::new(&bounds).whole(&mut answered.answer) {
            meter.cut();
        }
        let tokens = match &answered.answer.usage {
            Some(usage) if bounds.answer_is_possible(usage) => usage.completion_tokens(),
            _ => rough_tokens(&answered.answer),
        };
        answered.call.answered(tokens);
        Ok(answered)
    }

    /// A stream from the first candidate whose first content comes.
    pub(crate) async fn stream(
        &self,
        meter: &mut Meter,
    ) -> Result<Answered<'_, OpenStream>, Unanswered> {
        let mut answered = self
            .first_to_answer(meter, async |candidate, response| {
                let mut events = EventStream::open(response, &*candidate.target.endpoint.adapter)?;
                let mut first = Vec::new();
                let mut seen = 0;
                while !first.iter().skip(seen).any(is_answer) {
                    seen = first.len();
                    if seen > MOST_EVENTS_WITHOUT_CONTENT {
                        return Err(ReadError::Provider(own_error(
                            ProviderErrorKind::ServerError,
                            format!("the stream said nothing in {seen} events"),
                        )));
                    }
                    if !poll_fn(|cx| events.poll_events(cx, &mut first)).await? {
                        let problem = "the stream ended before it said anything".to_owned();
                        return Err(TransportError::Lost(problem).into());
                    }
                }
                Ok(OpenStream { events, first })
            })
            .await?;
        answered.call.first_token();
        Ok(answered)
    }

    async fn first_to_answer<T>(
        &self,
        meter: &mut Meter,
        read: impl AsyncFn(&Candidate, Response<UpstreamBody>) -> Result<T, ReadError>,
    ) -> Result<Answered<'_, T>, Unanswered> {
        let mut unsupported = None;
        let mut failed = None;
        for (i, candidate) in self.candidates.iter().enumerate() {
            let request =
                match candidate.target.endpoint.adapter.encode(self.chat, &candidate.target) {
                    Ok(request) => request,
                    Err(error) => {
                        unsupported.get_or_insert((candidate, error));
                        continue;
                    }
                };
            let bounds = Bounds::of(self.chat, candidate);
            if !meter.still_fits(candidate, &bounds) {
                continue;
            }
            let later = self.candidates.get(i + 1..).unwrap_or_default();
            let (tokens, is_another) = (meter.prompt_tokens(), || self.is_one_able(later));
            let (streamed, clock) = (self.chat.stream, &self.accounting.clock);
            let begun = TimedCall::begin(candidate, tokens, streamed, is_another, clock);
            let Some(mut call) = begun else { continue };
            meter.attempt(candidate, bounds);
            let attempt = self.attempt(candidate, request, &read);
            let now = || self.accounting.clock.now();
            let provider = candidate.target.endpoint.id.as_str();
            match self.in_time(attempt, later).await {
                Ok(answer) => {
                    candidate.provider.health.began(now());
                    self.accounting.metrics.attempted(provider, "ok");
                    return Ok(Answered { candidate, answer, call, bounds });
                }
                Err(failure) => {
                    meter.attempt_failed(failure.may_be_billed);
                    failure.log(candidate, meter);
                    let error = failure.error;
                    let rest = error.retry_after.or_else(|| own_key_rests(candidate, error.kind));
                    candidate.provider.health.failed(error.kind, rest, now());
                    if error.kind.is_the_providers() {
                        call.failed();
                    } else {
                        call.forget();
                    }
                    self.accounting.metrics.attempted(provider, result_label(error.kind));
                    let go_on = error.kind.is_transient() && Instant::now() < self.deadline;
                    failed = Some((candidate, error));
                    if !go_on {
                        break;
                    }
                }
            }
        }
        Err(match (failed, unsupported) {
            (Some((candidate, error)), _) => failure(candidate, error),
            (None, Some((candidate, error))) => unsupported_error(candidate, error).into(),
            (None, None) => ChatError::Internal.into(),
        })
    }

    /// Whether one of `candidates` can express the request. It is written for that, once more than
    /// for sending it: so this is asked only where the answer matters.
    fn is_one_able(&self, candidates: &[Candidate]) -> bool {
        candidates.iter().any(|candidate| {
            candidate.target.endpoint.adapter.encode(self.chat, &candidate.target).is_ok()
        })
    }

    async fn attempt<T>(
        &self,
        candidate: &Candidate,
        request: Request<Bytes>,
        read: &impl AsyncFn(&Candidate, Response<UpstreamBody>) -> Result<T, ReadError>,
    ) -> Result<T, CallFailure> {
        let sent = candidate.provider.upstream.send(request).await;
        let response = sent.map_err(|error| CallFailure::from(ReadError::Transport(error)))?;
        let status = response.status();
        if !status.is_success() {
            let (head, body) = response.into_parts();
            let wait = tokio::time::timeout(ERROR_BODY_WAIT, call::read_error(body));
            let body = wait.await.unwrap_or_default();
            let target = &candidate.target;
            let error = target.endpoint.adapter.classify(status, &head.headers, &body, target);
            return Err(CallFailure { error, own_words: false, may_be_billed: false });
        }
        read(candidate, response).await.map_err(CallFailure::from)
    }

    /// The attempt, or a timeout: of a stream's first content, or of the whole request.
    ///
    /// Of a whole answer nothing is heard until it is there. Where one of the `later` candidates
    /// could be asked, this one has a time of its own, and leaves at least half of what there is.
    async fn in_time<T>(
        &self,
        attempt: impl Future<Output = Result<T, CallFailure>>,
        later: &[Candidate],
    ) -> Result<T, CallFailure> {
        let mut attempt = pin!(attempt);
        let now = Instant::now();
        let mut deadline = self.deadline;
        if self.chat.stream {
            deadline = deadline.min(now + self.timeouts.first_token);
        } else if !later.is_empty() {
            let half = deadline.saturating_duration_since(now) / 2;
            let early = now + half.min(self.timeouts.whole_answer);
            if let Ok(answer) = timeout_at(early, &mut attempt).await {
                return answer;
            }
            if self.is_one_able(later) {
                deadline = early;
            }
        }
        timeout_at(deadline, attempt).await.unwrap_or_else(|_| {
            let message = if self.chat.stream {
                "the provider did not begin to answer in time"
            } else {
                "the provider did not answer in time"
            };
            let error = own_error(ProviderErrorKind::Timeout, message.to_owned());
            Err(CallFailure { error, own_words: true, may_be_billed: true })
        })
    }
}

/// How long a provider key beside the deployment's is left alone that the provider refuses.
fn own_key_rests(candidate: &Candidate, kind: ProviderErrorKind) -> Option<Duration> {
    const REST: Duration = Duration::from_secs(60);
    let is_own = matches!(&candidate.own, Some((_, BilledBy::Provider)));
    (is_own && kind == ProviderErrorKind::Credential).then_some(REST)
}

/// How many tokens an answer has that nobody counted, for its speed.
fn rough_tokens(answer: &ChatAnswer) -> u64 {
    const BYTES_A_TOKEN: usize = 4;
    let texts = answer.choices.iter().flat_map(|choice| {
        let message = &choice.message;
        [&message.content, &message.reasoning].into_iter().flatten()
    });
    (texts.map(|text| text.size()).sum::<usize>() / BYTES_A_TOKEN) as u64
}

/// Whether an answer has begun: it says something, or why it says nothing. An end mark alone is no
/// answer.
fn is_answer(event: &StreamEvent) -> bool {
    match event {
        StreamEvent::Delta(delta) => delta.says_something() || delta.finish_reason.is_some(),
        StreamEvent::Start(_) | StreamEvent::Usage(_) | StreamEvent::End => false,
    }
}

/// A failure in Sluice's own words.
pub(crate) fn own_error(kind: ProviderErrorKind, message: String) -> ProviderError {
    ProviderError { kind, status: None, message, code: None, param: None, retry_after: None }
}

impl From<ReadError> for CallFailure {
    fn from(error: ReadError) -> Self {
        let (kind, may_be_billed) = match error {
            // Whoever says that it failed is believed, by whatever status.
            ReadError::Provider(error) => {
                return Self { error, own_words: false, may_be_billed: false };
            }
            ReadError::Transport(TransportError::Connect(_)) => {
                (ProviderErrorKind::Connection, false)
            }
            ReadError::Transport(TransportError::Lost(_)) => (ProviderErrorKind::Connection, true),
            ReadError::TooLong(_) | ReadError::Malformed(_) => {
                (ProviderErrorKind::ServerError, true)
            }
        };
        Self { error: own_error(kind, error.to_string()), own_words: true, may_be_billed }
    }
}

impl CallFailure {
    /// Tells the log, once: why, and of which request unless that may leave no trace.
    pub(crate) fn log(&self, candidate: &Candidate, meter: &Meter) {
        let Self { error, own_words, .. } = self;
        let request_id = meter.log_id();
        let code = error.code.as_deref().filter(|code| is_word(code) && request_id.is_some());
        tracing::warn!(
            request_id = request_id.map(tracing::field::display),
            provider = candidate.target.endpoint.id.as_str(),
            model = candidate.model.id.as_str(),
            kind = result_label(error.kind),
            status = error.status,
            code,
            reason = own_words.then_some(error.message.as_str()),
            "provider call failed"
        );
    }
}

fn unsupported_error(candidate: &Candidate, error: Unsupported) -> ChatError {
    ChatError::Unsupported {
        field: error.field,
        reason: error.reason,
        model: candidate.model.id.to_string(),
    }
}

/// What the caller is told of a provider's failure.
pub(crate) fn failure(candidate: &Candidate, error: ProviderError) -> Unanswered {
    let endpoint = &candidate.target.endpoint;
    let provider = &endpoint.id;
    let model = candidate.model.id.to_string();
    let kind = error.kind;
    // Whatever the provider quotes, wherever it does: its credential is never passed on.
    let credential = endpoint.credential.as_ref();
    let hide = |text: String| quote(&text, credential.map(|secret| secret.expose().as_str()));
    let error = ProviderError {
        message: hide(error.message),
        code: error.code.map(hide),
        param: error.param.map(hide),
        ..error
    };
    let error = match kind {
        ProviderErrorKind::BadRequest | ProviderErrorKind::ContextLength => ChatError::Rejected {
            message: error.message,
            code: error.code.filter(|code| is_word(code)),
            param: error.param,
            too_long: kind == ProviderErrorKind::ContextLength,
        },
        ProviderErrorKind::ContentBlocked => ChatError::ContentBlocked { message: error.message },
        ProviderErrorKind::RateLimited => ChatError::UpstreamRateLimited {
            model,
            message: error.message,
            retry_after: error.retry_after.unwrap_or(USUAL_RETRY).max(Duration::from_secs(1)),
        },
        ProviderErrorKind::Timeout => ChatError::UpstreamTimeout {
            message: format!("provider `{provider}`: {}", error.message),
        },
        ProviderErrorKind::Credential => ChatError::Upstream {
            // The provider's words quote the credential, masked in a way of its own.
            message: format!(
                "provider `{provider}` does not accept Sluice's credential{}",
                error.status.map(|status| format!(" (status {status})")).unwrap_or_default()
            ),
            retry_after: None,
        },
        ProviderErrorKind::ModelNotFound => ChatError::Upstream {
            message: format!("provider `{provider}` does not have `{model}`: {}", error.message),
            retry_after: None,
        },
        ProviderErrorKind::Unavailable
        | ProviderErrorKind::ServerError
        | ProviderErrorKind::Connection => ChatError::Upstream {
            message: format!("provider `{provider}`: {}", error.message),
            retry_after: error.retry_after,
        },
    };
    let outcome = match kind {
        ProviderErrorKind::Timeout => Outcome::UpstreamTimeout,
        ProviderErrorKind::BadRequest
        | ProviderErrorKind::ContextLength
        | ProviderErrorKind::ContentBlocked => Outcome::Rejected,
        _ => Outcome::UpstreamError,
    };
    Unanswered { error, outcome: Some(outcome), filter: None }
}

fn result_label(kind: ProviderErrorKind) -> &'static str {
    match kind {
        ProviderErrorKind::BadRequest => "bad_request",
        ProviderErrorKind::ContextLength => "context_length",
        ProviderErrorKind::ContentBlocked => "content_blocked",
        ProviderErrorKind::Credential => "credential",
        ProviderErrorKind::ModelNotFound => "model_not_found",
        ProviderErrorKind::RateLimited => "rate_limited",
        ProviderErrorKind::Unavailable => "unavailable",
        ProviderErrorKind::ServerError => "server_error",
        ProviderErrorKind::Timeout => "timeout",
        ProviderErrorKind::Connection => "connection",
    }
}

fn is_word(code: &str) -> bool {
    code.starts_with(|first: char| first.is_ascii_alphabetic())
        && code.len() <= 64
        && code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-' || b == b'.')
}

#[cfg(test)]
mod tests;
