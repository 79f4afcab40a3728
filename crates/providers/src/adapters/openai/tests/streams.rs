//! Streamed answers.

use proptest::prelude::*;
use sluice_core::event::StreamEvent;

use crate::adapter::Adapter;
use crate::adapters::openai::OpenAiChat;
use crate::error::{ProviderErrorKind, StreamError};
use crate::testing;

const STREAMS: [(&str, &str); 6] = [
    ("text", include_str!("../examples/stream-text.sse")),
    ("tools", include_str!("../examples/stream-tools.sse")),
    ("mistral", include_str!("../examples/stream-mistral.sse")),
    ("deepseek", include_str!("../examples/stream-deepseek.sse")),
    ("azure", include_str!("../examples/stream-azure.sse")),
    ("openrouter_error", include_str!("../examples/stream-openrouter-error.sse")),
];

fn replay(bytes: &str) -> (Vec<StreamEvent>, Result<(), StreamError>) {
    testing::replay(OpenAiChat.stream_decoder(), bytes.as_bytes(), &[])
}

fn ends(events: &[StreamEvent]) -> usize {
    events.iter().filter(|event| matches!(event, StreamEvent::End)).count()
}

#[test]
fn streams_are_translated() {
    for (name, stream) in STREAMS {
        let (events, end) = replay(stream);
        insta::assert_json_snapshot!(format!("stream_{name}"), testing::events_json(&events));
        match end {
            Ok(()) => {
                assert!(matches!(events.last(), Some(StreamEvent::End)), "{name}");
                assert_eq!(ends(&events), 1, "{name}");
            }
            Err(StreamError::Provider(error)) => {
                assert_eq!(name, "openrouter_error");
                assert_eq!(error.kind, ProviderErrorKind::ServerError);
                assert_eq!(error.message, "Provider disconnected unexpectedly");
                assert_eq!(ends(&events), 0);
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn a_stream_without_its_mark_is_complete_only_when_every_answer_was_finished() {
    let stream = STREAMS[0].1;
    let without_mark = stream.replace("data: [DONE]\n\n", "");
    assert_eq!(ends(&replay(&without_mark).0), 1);
    // One of the two answers was never finished.
    let half = stream.find(r#"{"index":1,"delta":{},"#).expect("the second end");
    let cut = &stream[..stream[..half].rfind("data:").expect("its frame")];
    let (events, end) = replay(cut);
    assert!(end.is_ok());
    assert_eq!(ends(&events), 0);
    for cut in 0..stream.find("\"finish_reason\":\"length\"").expect("an end") {
        if stream.is_char_boundary(cut) {
            assert_eq!(ends(&replay(&stream[..cut]).0), 0, "cut at byte {cut}");
        }
    }
}

#[test]
fn nothing_is_heard_after_the_end() {
    let after = r#"data: {"choices":[{"index":0,"delta":{"content":"late"}}]}"#;
    let (events, end) = replay(&format!("{}{after}\n\n", STREAMS[1].1));
    assert!(end.is_ok());
    assert!(matches!(events.last(), Some(StreamEvent::End)));
    assert_eq!(ends(&events), 1);
}

/// Some services repeat an empty reason with each chunk.
#[test]
fn an_empty_reason_is_no_reason() {
    let chunk = r#"data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":""}]}"#;
    let (events, _) = replay(&format!("{chunk}\n\n"));
    assert_eq!(ends(&events), 0);
    assert!(events.iter().all(|event| !matches!(
        event,
        StreamEvent::Delta(delta) if delta.finish_reason.is_some()
    )));
}

#[test]
fn errors_in_a_stream_are_told() {
    for (data, kind) in [
        (r#"{"error":{"message":"m","type":"server_error"}}"#, ProviderErrorKind::ServerError),
        (r#"{"error":{"message":"m","code":429}}"#, ProviderErrorKind::RateLimited),
        (r#"{"error":{"message":"m","type":"rate_limit_error"}}"#, ProviderErrorKind::RateLimited),
        (r#"{"error":{"message":"m","code":502}}"#, ProviderErrorKind::Unavailable),
        (r#"{"error":"m"}"#, ProviderErrorKind::ServerError),
        (
            r#"{"error":{"message":"m","type":"invalid_request_error"}}"#,
            ProviderErrorKind::BadRequest,
        ),
    ] {
        for frame in [format!("data: {data}\n\n"), format!("event: error\ndata: {data}\n\n")] {
            match replay(&frame).1 {
                Err(StreamError::Provider(error)) => {
                    assert_eq!((error.kind, error.message.as_str()), (kind, "m"), "{data}");
                }
                other => panic!("{data}: {other:?}"),
            }
        }
    }
}

#[test]
fn malformed_chunks_are_told_without_content() {
    for data in [
        "data: secret",
        "data: {\"choices\": \"secret\"}",
        "data: {\"choices\":[{\"delta\":{\"content\":[\"secret\"]}}]}",
        "data: {\"choices\":[{\"delta\":{\"content\":1,\"x\":\"secret\"}}]}",
        "data: {\"choices\":[{\"delta\":{\"content\":\"secret",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":\"secret\"}]}}]}",
        "data: [\"secret\"]",
    ] {
        match replay(data).1 {
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
            let (events, end) = testing::replay(OpenAiChat.stream_decoder(), bytes, cuts);
            (testing::events_json(&events), end.map_err(|error| error.to_string()))
        };
        prop_assert_eq!(events(&cuts), events(&[]));
    }
}
