//! From a request's bytes to the answer that is to be given, without waiting for anything.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request as HttpRequest, StatusCode};
use serde_json::{Value, json};

use super::body::{Piece, Pieces};
use super::compose;
use super::hash;
use super::models::{self, Behaviour, MODELS, SimulatedModel};
use super::pace::{Pace, Timing};
use super::reply::Reply;
use super::request::Request;
use super::stream::Chunks;
use super::triggers::{Failure, Fault, Wishes};
use super::wire::{self, Head};

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream; charset=utf-8";

/// How the simulator takes a request.
pub(super) enum Exchange {
    /// It refuses the connection.
    Refused,
    /// It answers.
    Answer(Answer),
}

/// An answer.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) content_type: &'static str,
    pub(super) retry_after_seconds: Option<u32>,
    /// How long the head takes.
    pub(super) wait: Duration,
    pub(super) pieces: Pieces,
}

/// Takes a request: `POST …/chat/completions` or `GET …/models`. `created` is in seconds since the
/// Unix epoch.
pub(super) fn take(http: &HttpRequest<Bytes>, created: u64, pace: Pace) -> Exchange {
    let path = http.uri().path();
    if http.method() == Method::POST && path.ends_with("/chat/completions") {
        return chat(http.body(), created, pace);
    }
    if http.method() == Method::GET && path.ends_with("/models") {
        return json_answer(StatusCode::OK, &model_list());
    }
    refuse(StatusCode::NOT_FOUND, "The simulator has no such endpoint.", Some("unknown_url"))
}

fn chat(body: &Bytes, created: u64, pace: Pace) -> Exchange {
    let request = match Request::parse(body) {
        Ok(request) => request,
        Err(problem) => return refuse(StatusCode::BAD_REQUEST, &problem, None),
    };
    let Some(model) = models::find(&request.model) else {
        let message = "The simulator has no such model; its own are in GET /models.";
        return refuse(StatusCode::NOT_FOUND, message, Some("model_not_found"));
    };
    let prompt_tokens = request.prompt_tokens();
    if prompt_tokens > model.context_window.into() {
        let message = format!(
            "This model's maximum context length is {} tokens. However, your messages resulted in \
             {prompt_tokens} tokens.",
            model.context_window,
        );
        return refuse(StatusCode::BAD_REQUEST, &message, Some("context_length_exceeded"));
    }
    let wishes = match model.behaviour {
        Behaviour::Echo => Wishes::default(),
        Behaviour::Chat | Behaviour::Reason => Wishes::read(&request.last_user_text()),
    };
    if let Some(failure) = wishes.failure {
        return fail(failure, request.streams());
    }
    let key = hash::stable(&[body]);
    let replies = compose::replies(&request, model, &wishes, key, prompt_tokens);
    let head = Head { id: fresh_id(), created, model: model.id, logprobs: request.logprobs() };
    let timing = Timing::of(model, pace, wishes.delay);
    let usage = wire::usage(prompt_tokens, &replies);
    if !request.streams() {
        return whole(&head, &replies, &usage, timing, wishes.fault);
    }
    let usage = request.include_usage().then_some(usage);
    Exchange::Answer(Answer {
        status: StatusCode::OK,
        content_type: EVENT_STREAM,
        retry_after_seconds: None,
        wait: Duration::ZERO,
        pieces: Box::new(Chunks::new(head, replies, usage, timing, wishes.fault)),
    })
}

/// An id that no other answer has: whoever keeps answers by their ids must not lose one, even
/// though the same request gets the same content.
fn fresh_id() -> String {
    static RANDOM: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("chatcmpl-sim{:016x}", RANDOM.hash_one(count))
}

/// A whole answer, given when its last token would have been.
fn whole(
    head: &Head,
    replies: &[Reply],
    usage: &Value,
    timing: Timing,
    fault: Option<Fault>,
) -> Exchange {
    let body = wire::completion(head, replies, usage);
    let half = body.slice(..body.len() / 2);
    let data = |bytes| Piece::Data(bytes, Duration::ZERO);
    let pieces = match fault {
        None => vec![data(body)],
        Some(Fault::Cut) => vec![data(half), Piece::Lost],
        Some(Fault::Short) => vec![data(half)],
        Some(Fault::Stall) => vec![data(half), Piece::Stall],
        Some(Fault::ErrorEvent) => {
            return fail(Failure::Status { status: 500, retry_after_seconds: None }, false);
        }
    };
    let longest = replies.iter().map(Reply::tokens).max().unwrap_or(0);
    Exchange::Answer(Answer {
        status: StatusCode::OK,
        content_type: JSON,
        retry_after_seconds: None,
        wait: timing.token(longest),
        pieces: Box::new(pieces.into_iter()),
    })
}

fn fail(failure: Failure, streams: bool) -> Exchange {
    match failure {
        Failure::Refused => Exchange::Refused,
        Failure::Malformed => {
            let broken = r#"data: {"id": "chatcmpl-"#;
            let (content_type, text) = match streams {
                true => (EVENT_STREAM, format!("{broken}\n\n")),
                false => (JSON, broken.trim_start_matches("data: ").to_owned()),
            };
            Exchange::Answer(Answer { content_type, ..at_once(StatusCode::OK, Bytes::from(text)) })
        }
        Failure::Status { status, retry_after_seconds } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let (kind, code) = match status.as_u16() {
                401 => ("authentication_error", Some("invalid_api_key")),
                403 => ("permission_error", None),
                429 => ("rate_limit_error", Some("rate_limit_exceeded")),
                400..=499 => ("invalid_request_error", None),
                _ => ("server_error", None),
            };
            let message =
                format!("The simulator was asked to fail with status {}.", status.as_u16());
            let body = wire::error_body(&message, kind, code).to_string();
            Exchange::Answer(Answer { retry_after_seconds, ..at_once(status, Bytes::from(body)) })
        }
    }
}

fn refuse(status: StatusCode, message: &str, code: Option<&str>) -> Exchange {
    json_answer(status, &wire::error_body(message, "invalid_request_error", code))
}

fn json_answer(status: StatusCode, body: &Value) -> Exchange {
    Exchange::Answer(at_once(status, Bytes::from(body.to_string())))
}

fn at_once(status: StatusCode, body: Bytes) -> Answer {
    Answer {
        status,
        content_type: JSON,
        retry_after_seconds: None,
        wait: Duration::ZERO,
        pieces: Box::new(std::iter::once(Piece::Data(body, Duration::ZERO))),
    }
}

fn model_list() -> Value {
    let entry = |model: &SimulatedModel| json!({"id": model.id, "object": "model", "created": 0, "owned_by": "simulator"});
    json!({"object": "list", "data": MODELS.iter().map(entry).collect::<Vec<_>>()})
}
