//! Calls providers, one after the other, within one time budget.
//!
//! Another provider is asked only before the first content has come: afterwards the caller has
//! seen a part of an answer that nobody else could continue.

use std::future::{Future, poll_fn};
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
use tokio::time::{Instant, timeout_at};

use crate::accounting::{Accounting, Meter};
use crate::call::TimedCall;
use crate::error::ChatError;
use crate::plan::Candidate;
use crate::snapshot::Timeouts;

/// When a rate-limited provider that does not say so is worth asking again.
const USUAL_RETRY: Duration = Duration::from_secs(5);
/// Longest wait for the body of an error.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(5);

/// A request on its way to a provider.
pub(crate) struct Dispatch<'a> {
    pub(crate) chat: &'a ChatRequest,
    pub(crate) candidates: &'a [Candidate],
    pub(crate) timeouts: Timeouts,
    pub(crate) accounting: &'a Accounting,
    /// When the whole request has to be over.
    pub(crate) deadline: Instant,
}

/// A failure, and how it is recorded.
pub(crate) struct Failure {
    pub(crate) error: ChatError,
    pub(crate) outcome: Outcome,
    /// Nothing was sent to anybody.
    pub(crate) unsent: bool,
}

/// Whoever answered, and with what.
pub(crate) struct Answered<'a, T> {
    pub(crate) candidate: &'a Candidate,
    pub(crate) answer: T,
    pub(crate) call: TimedCall,
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
    ) -> Result<Answered<'_, ChatAnswer>, Failure> {
        let mut answered = self
            .first_to_answer(meter, async |candidate, response| {
                let body = call::read_whole(response.into_body(), call::LONGEST_ANSWER).await?;
                candidate.target.endpoint.adapter.decode(body).map_err(|error| match error {
                    DecodeError::Malformed(error) => ReadError::Malformed(error),
                    DecodeError::Provider(error) => ReadError::Provider(error),
                })
            })
            .await?;
        let tokens = match &answered.answer.usage {
            Some(usage) => usage.completion_tokens(),
            None => rough_tokens(&answered.answer),
        };
        answered.call.answered(tokens);
        Ok(answered)
    }

    /// A stream from the first candidate whose first content comes.
    pub(crate) async fn stream(
        &self,
        meter: &mut Meter,
    ) -> Result<Answered<'_, OpenStream>, Failure> {
        let mut answered = self
            .first_to_answer(meter, async |candidate, response| {
                let mut events = EventStream::open(response, &*candidate.target.endpoint.adapter)?;
                let mut first = Vec::new();
                while !first.iter().any(has_content) {
                    if !poll_fn(|cx| events.poll_events(cx, &mut first)).await? {
                        break;
                    }
                }
                if first.iter().any(has_content) {
                    Ok(OpenStream { events, first })
                } else {
                    let problem = "the stream ended before it said anything".to_owned();
                    Err(TransportError::Lost(problem).into())
                }
            })
            .await?;
        answered.call.first_token();
        Ok(answered)
    }

    async fn first_to_answer<T>(
        &self,
        meter: &mut Meter,
        read: impl AsyncFn(&Candidate, Response<UpstreamBody>) -> Result<T, ReadError>,
    ) -> Result<Answered<'_, T>, Failure> {
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
            let (tokens, is_another) = (meter.prompt_tokens(), i + 1 < self.candidates.len());
            let (streamed, clock) = (self.chat.stream, &self.accounting.clock);
            let begun = TimedCall::begin(candidate, tokens, streamed, is_another, clock);
            let Some(mut call) = begun else { continue };
            meter.attempt(candidate);
            let attempt = self.attempt(candidate, request, &read);
            let now = || self.accounting.clock.now();
            let provider = candidate.target.endpoint.id.as_str();
            match self.in_time(attempt).await {
                Ok(answer) => {
                    candidate.provider.health.answered(now());
                    self.accounting.metrics.attempted(provider, "ok");
                    return Ok(Answered { candidate, answer, call });
                }
                Err(error) => {
                    meter.attempt_failed();
                    candidate.provider.health.failed(error.kind, error.retry_after, now());
                    if error.kind.is_the_providers() {
                        call.failed();
                    } else {
                        call.forget();
                    }
                    self.accounting.metrics.attempted(provider, result_label(error.kind));
                    tracing::warn!(
                        provider,
                        model = candidate.model.id.as_str(),
                        kind = ?error.kind,
                        status = error.status,
                        "provider call failed"
                    );
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
            (None, Some((candidate, error))) => unsent(unsupported_error(candidate, error)),
            (None, None) => unsent(ChatError::Internal),
        })
    }

    async fn attempt<T>(
        &self,
        candidate: &Candidate,
        request: Request<Bytes>,
        read: &impl AsyncFn(&Candidate, Response<UpstreamBody>) -> Result<T, ReadError>,
    ) -> Result<T, ProviderError> {
        let response = candidate.provider.upstream.send(request).await.map_err(transport_error)?;
        let status = response.status();
        if !status.is_success() {
            let (head, body) = response.into_parts();
            let wait = tokio::time::timeout(ERROR_BODY_WAIT, call::read_error(body));
            let body = wait.await.unwrap_or_default();
            let target = &candidate.target;
            return Err(target.endpoint.adapter.classify(status, &head.headers, &body, target));
        }
        read(candidate, response).await.map_err(read_error)
    }

    /// The attempt, or a timeout: of a stream's first content, or of the whole request.
    async fn in_time<T>(
        &self,
        attempt: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        let mut deadline = self.deadline;
        if self.chat.stream {
            deadline = deadline.min(Instant::now() + self.timeouts.first_token);
        }
        timeout_at(deadline, attempt).await.unwrap_or_else(|_| {
            let message = if self.chat.stream {
                "the provider did not begin to answer in time"
            } else {
                "the provider did not answer in time"
            };
            Err(own_error(ProviderErrorKind::Timeout, message.to_owned()))
        })
    }
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

fn has_content(event: &StreamEvent) -> bool {
    match event {
        StreamEvent::Delta(delta) => delta.says_something() || delta.finish_reason.is_some(),
        StreamEvent::End => true,
        StreamEvent::Start(_) | StreamEvent::Usage(_) => false,
    }
}

fn own_error(kind: ProviderErrorKind, message: String) -> ProviderError {
    ProviderError { kind, status: None, message, code: None, param: None, retry_after: None }
}

fn transport_error(error: TransportError) -> ProviderError {
    own_error(ProviderErrorKind::Connection, error.to_string())
}

/// What a failed read means; also for a stream that breaks off later.
pub(crate) fn read_error(error: ReadError) -> ProviderError {
    match error {
        ReadError::Provider(error) => error,
        ReadError::Transport(error) => transport_error(error),
        ReadError::TooLong(_) | ReadError::Malformed(_) => {
            own_error(ProviderErrorKind::ServerError, error.to_string())
        }
    }
}

fn unsent(error: ChatError) -> Failure {
    Failure { error, outcome: Outcome::UpstreamError, unsent: true }
}

fn unsupported_error(candidate: &Candidate, error: Unsupported) -> ChatError {
    ChatError::Unsupported {
        field: error.field,
        reason: error.reason,
        model: candidate.model.id.to_string(),
    }
}

/// What the caller is told of a provider's failure.
pub(crate) fn failure(candidate: &Candidate, error: ProviderError) -> Failure {
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
    Failure { error, outcome, unsent: false }
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
mod tests {
    use sluice_core::chat::ChatRequest;
    use sluice_core::usage::UsageSource;
    use sluice_storage::JournalEntry;

    use super::*;
    use crate::chat::Answer;
    use crate::testing::{
        DONE, HELLO, House, NOW, Script, Step, TIMEOUTS, WHOLE, chat, says, script, seconds,
        streamed,
    };

    const BAD: &str =
        r#"{"error":{"message":"m","type":"invalid_request_error","param":"n","code":"c"}}"#;

    fn status(status: u16, body: &str) -> Script {
        Script { status, ..script([says(0, body)]) }
    }

    fn is_whole(answer: &Result<Answer, ChatError>) -> bool {
        matches!(answer, Ok(Answer::Whole(_)))
    }

    #[tokio::test(start_paused = true)]
    async fn another_provider_is_asked_where_that_can_help() {
        for (first, helps) in [
            (status(500, "{}"), true),
            (status(401, "{}"), true),
            (status(404, "{}"), true),
            (status(429, "{}"), true),
            (status(413, "{}"), true),
            (status(200, "{\"half\":"), true),
            (status(400, BAD), false),
            (status(400, r#"{"error":{"code":"content_filter"}}"#), false),
        ] {
            let house = House::new(TIMEOUTS);
            house.expect(first);
            house.expect_of_second(script([says(0, WHOLE)]));
            let answer = house.ask(chat("Hello?")).await;
            assert_eq!(is_whole(&answer), helps);
            let record = house.record();
            if helps {
                assert_eq!((record.outcome, record.attempts), (Outcome::Completed, 2));
                assert_eq!(record.provider.unwrap().as_str(), "second");
                assert_eq!(record.usage.total_tokens(), 10);
            } else {
                assert_eq!((record.outcome, record.attempts), (Outcome::Rejected, 1));
                assert_eq!(record.usage.total_tokens(), 0);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_goes_elsewhere_only_before_its_first_content() {
        let role =
            "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
        for first in [
            script([says(0, role), Step::Breaks(seconds(1))]),
            script([says(0, role)]),
            script([says(0, "data: {\"error\":\"m\"}\n\n")]),
            script([says(0, role), Step::Hangs]),
        ] {
            let house = House::new(TIMEOUTS);
            house.expect(first);
            house.expect_of_second(script([says(0, HELLO), says(0, DONE)]));
            let Ok(Answer::Stream(mut stream)) = house.ask(streamed()).await else { panic!() };
            let mut pieces = Vec::new();
            while poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {}
            let record = house.record();
            assert_eq!((record.outcome, record.attempts), (Outcome::Completed, 2));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn all_attempts_share_one_time() {
        let house = House::new(Timeouts { total: seconds(30), ..TIMEOUTS });
        let began = Instant::now();
        house.expect(Script { head: seconds(10), ..status(500, "{}") });
        let error = house.ask(chat("Hello?")).await.err().unwrap();
        assert_eq!(began.elapsed(), seconds(30));
        assert_eq!(
            error,
            ChatError::UpstreamTimeout {
                message: "provider `second`: the provider did not answer in time".to_owned()
            }
        );
        assert_eq!(house.record().outcome, Outcome::UpstreamTimeout);
    }

    #[tokio::test(start_paused = true)]
    async fn a_whole_answer_that_nobody_waits_for_is_written_down_once() {
        let house = House::new(TIMEOUTS);
        assert!(tokio::time::timeout(seconds(1), house.ask(chat("Hello?"))).await.is_err());
        let record = house.record();
        assert_eq!(record.outcome, Outcome::Cancelled);
        assert_eq!(record.usage_source, UsageSource::Estimated);
    }

    #[tokio::test(start_paused = true)]
    async fn what_no_provider_counted_is_counted_here() {
        let house = House::new(TIMEOUTS);
        house.expect(script([says(0, r#"{"choices":[{"message":{"content":"one two three"}}]}"#)]));
        assert!(is_whole(&house.ask(chat("Hello?")).await));
        let record = house.record();
        assert_eq!((record.usage_source, record.usage.output), (UsageSource::Estimated, 3));
        assert!(record.usage.uncached_input > 0);
    }

    /// No identity, and nothing derived from content: only the sum counts on.
    #[tokio::test(start_paused = true)]
    async fn zero_retention_leaves_a_sum() {
        let house = House::new(TIMEOUTS);
        house.expect(script([says(0, WHOLE)]));
        let mut chat: ChatRequest = chat("Hello?");
        chat.options.zero_retention = true;
        assert!(is_whole(&house.ask(chat).await));
        match house.entries().as_slice() {
            [JournalEntry::Sum(sum)] => {
                assert_eq!((sum.requests, sum.usage.total_tokens()), (1, 10));
                assert_eq!(sum.hour, NOW.seconds() - NOW.seconds() % 3_600);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(house.principal.subjects.key.tokens_used(NOW), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn an_audited_request_leaves_an_entry_beside_its_record() {
        let house = House::new(TIMEOUTS);
        house.expect(script([says(0, WHOLE)]));
        let mut chat: ChatRequest = chat("Hello?");
        chat.options.audit_enabled = true;
        let Ok(Answer::Whole(answer)) = house.ask(chat).await else { panic!() };
        match house.entries().as_slice() {
            [JournalEntry::Usage(record), JournalEntry::Audit(entry)] => {
                assert_eq!(entry.audit_id, answer.1.audit_id);
                assert_eq!(record.audit_id.as_ref(), Some(&entry.audit_id));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_code_is_told_only_where_it_is_a_plain_word() {
        for (code, is) in [("bad_tool-1.0", true), ("", false), ("two words", false), ("\"", false)]
        {
            assert_eq!(is_word(code), is, "{code}");
        }
        assert!(!is_word(&"x".repeat(65)));
    }
}
