//! Answers, whole and streamed, and failures.

use http::{HeaderMap, StatusCode};
use proptest::prelude::*;
use serde_json::json;
use sluice_core::event::StreamEvent;

use super::{AnthropicMessages, target};
use crate::adapter::{Adapter, DecodeError};
use crate::error::{ProviderErrorKind, StreamError};
use crate::testing;

const STREAMS: [(&str, &str); 4] = [
    ("text", include_str!("../examples/stream-text.sse")),
    ("tools", include_str!("../examples/stream-tools.sse")),
    ("thinking", include_str!("../examples/stream-thinking.sse")),
    ("error", include_str!("../examples/stream-error.sse")),
];

#[test]
fn answers_are_translated() {
    for (name, example) in [
        ("answer_text", include_str!("../examples/answer-text.json")),
        ("answer_tools", include_str!("../examples/answer-tools.json")),
        ("answer_refusal", include_str!("../examples/answer-refusal.json")),
    ] {
        let answer = AnthropicMessages.decode(example.into()).expect("an answer");
        insta::assert_json_snapshot!(name, testing::answer_json(&answer));
    }
}

#[test]
fn a_body_that_is_no_answer_is_an_error_without_content() {
    for body in ["", "<html>secret</html>", "{}", r#"{"content": "secret"}"#, "[\"secret\"]"] {
        match AnthropicMessages.decode(body.into()) {
            Err(DecodeError::Malformed(error)) => {
                assert!(!error.to_string().contains("secret"), "{error}");
            }
            other => panic!("{body}: {other:?}"),
        }
    }
    let body =
        r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#;
    match AnthropicMessages.decode(body.into()) {
        Err(DecodeError::Provider(error)) => assert_eq!(error.kind, ProviderErrorKind::Unavailable),
        other => panic!("{other:?}"),
    }
}

#[test]
fn stop_reasons_are_translated() {
    for (reason, expected) in [
        ("\"end_turn\"", "stop"),
        ("\"stop_sequence\"", "stop"),
        ("\"pause_turn\"", "stop"),
        ("\"max_tokens\"", "length"),
        ("\"model_context_window_exceeded\"", "length"),
        ("\"tool_use\"", "tool_calls"),
        ("\"refusal\"", "content_filter"),
        ("\"a_new_reason\"", "stop"),
        ("null", "stop"),
    ] {
        let body = format!(r#"{{"type": "message", "content": [], "stop_reason": {reason}}}"#);
        let answer = AnthropicMessages.decode(body.into()).expect("an answer");
        assert_eq!(answer.choices[0].finish_reason.as_str(), expected, "{reason}");
    }
}

#[test]
fn streams_are_translated() {
    for (name, stream) in STREAMS {
        let (events, end) =
            testing::replay(AnthropicMessages.stream_decoder(), stream.as_bytes(), &[]);
        insta::assert_json_snapshot!(format!("stream_{name}"), testing::events_json(&events));
        match end {
            Ok(()) => assert!(matches!(events.last(), Some(StreamEvent::End)), "{name}"),
            Err(StreamError::Provider(error)) => {
                assert_eq!(name, "error");
                assert_eq!(error.kind, ProviderErrorKind::Unavailable);
                assert_eq!(error.message, "Overloaded");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn a_cut_stream_has_no_end() {
    let stream = STREAMS[0].1;
    let cut = stream.find("event: message_stop").expect("an end mark");
    let decoder = AnthropicMessages.stream_decoder();
    let (events, end) = testing::replay(decoder, &stream.as_bytes()[..cut], &[]);
    assert!(end.is_ok());
    assert!(!events.iter().any(|event| matches!(event, StreamEvent::End)));
}

#[test]
fn malformed_events_are_told_without_content() {
    for data in [
        "data: {\"type\": \"content_block_delta\", \"delta\": \"secret",
        "data: {\"type\": \"content_block_delta\", \"index\": \"secret\"}",
        "data: {\"type\": \"content_block_delta\", \"index\": 4, \"delta\": {\"text\": \"secret\"}}",
        "data: {\"type\": \"content_block_start\", \"index\": 0, \"content_block\": {\"type\": \"tool_use\"}}",
        "data: secret",
    ] {
        let (_, end) = testing::replay(AnthropicMessages.stream_decoder(), data.as_bytes(), &[]);
        match end {
            Err(StreamError::Malformed(error)) => {
                assert!(!error.to_string().contains("secret"), "{error}");
            }
            other => panic!("{data}: {other:?}"),
        }
    }
}

proptest! {
    #[test]
    fn a_stream_means_the_same_however_it_is_cut(
        stream in 0..STREAMS.len(),
        cuts in prop::collection::vec(any::<usize>(), 0..40),
    ) {
        let bytes = STREAMS[stream].1.as_bytes();
        let events = |cuts: &[usize]| {
            let (events, end) = testing::replay(AnthropicMessages.stream_decoder(), bytes, cuts);
            (testing::events_json(&events), end.map_err(|error| error.to_string()))
        };
        prop_assert_eq!(events(&cuts), events(&[]));
    }
}

#[test]
fn failures_are_sorted_by_who_is_at_fault() {
    use ProviderErrorKind::{
        BadRequest, ContentBlocked, ContextLength, Credential, ModelNotFound, RateLimited,
        ServerError, Timeout, Unavailable,
    };
    let cases = [
        (400, "invalid_request_error", "max_tokens: Field required", BadRequest),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            ContextLength,
        ),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000",
            ContextLength,
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the API.",
            Credential,
        ),
        (
            400,
            "invalid_request_error",
            "Output blocked by content filtering policy",
            ContentBlocked,
        ),
        (401, "authentication_error", "invalid x-api-key", Credential),
        (402, "billing_error", "Payment required", Credential),
        (403, "permission_error", "not allowed", Credential),
        (404, "not_found_error", "model: claude-sonet", ModelNotFound),
        (413, "request_too_large", "Request exceeds the maximum size", ContextLength),
        (429, "rate_limit_error", "slow down", RateLimited),
        (500, "api_error", "Internal server error", ServerError),
        (504, "timeout_error", "Request timed out", Timeout),
        (529, "overloaded_error", "Overloaded", Unavailable),
    ];
    let classify = |status: u16, body: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "3".parse().unwrap());
        let status = StatusCode::from_u16(status).unwrap();
        AnthropicMessages.classify(status, &headers, body.as_bytes(), &target("claude-opus-5"))
    };
    for (status, code, message, kind) in cases {
        let body = json!({"type": "error", "error": {"type": code, "message": message}});
        let error = classify(status, &body.to_string());
        assert_eq!(error.kind, kind, "{status} {message}");
        assert_eq!((error.message.as_str(), error.code.as_deref()), (message, Some(code)));
        assert_eq!(error.retry_after.map(|after| after.as_secs()), Some(3));
    }
    for (status, kind) in [
        (400, BadRequest),
        (401, Credential),
        (404, ModelNotFound),
        (413, ContextLength),
        (429, RateLimited),
        (500, ServerError),
        (503, Unavailable),
        (504, Timeout),
        (529, Unavailable),
    ] {
        for body in ["", "<html>Bad gateway</html>", "{}", "null"] {
            let error = classify(status, body);
            assert_eq!(error.kind, kind, "{status} {body}");
            assert_eq!(error.message, format!("the provider answered {status} without a message"));
        }
    }
    let quoting = json!({"error": {"type": "api_error", "message": "the key test-key is odd"}});
    assert_eq!(classify(500, &quoting.to_string()).message, "the key *** is odd");
}
