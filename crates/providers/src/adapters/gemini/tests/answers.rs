//! Answers: whole ones and streams.

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};
use sluice_core::event::StreamEvent;

use super::{GeminiGenerateContent, example};
use crate::adapter::{Adapter, DecodeError};
use crate::error::StreamError;
use crate::testing::{answer_json, events_json, replay};

fn streamed(recording: &str, cuts: &[usize]) -> (Vec<StreamEvent>, Result<(), StreamError>) {
    replay(GeminiGenerateContent.stream_decoder(), recording.as_bytes(), cuts)
}

fn whole(body: &'static str) -> Result<Value, DecodeError> {
    GeminiGenerateContent.decode(Bytes::from_static(body.as_bytes())).map(|a| answer_json(&a))
}

#[test]
fn whole_answers_are_read() {
    insta::assert_json_snapshot!("answer_text", whole(example!("answer_text.json")).unwrap());
    insta::assert_json_snapshot!("answer_calls", whole(example!("answer_calls.json")).unwrap());
    let logprobs = whole(example!("answer_logprobs.json")).unwrap();
    insta::assert_json_snapshot!("answer_logprobs", logprobs);
    insta::assert_json_snapshot!("answer_image", whole(example!("answer_image.json")).unwrap());
}

#[test]
fn a_whole_answer_ends_as_gemini_says() {
    let finish = |reason: &str| {
        let parts = json!([{ "text": "x" }]);
        let body = json!({
            "candidates": [{ "content": { "parts": parts }, "finishReason": reason }]
        });
        match GeminiGenerateContent.decode(Bytes::from(body.to_string())) {
            Ok(answer) => answer.choices[0].finish_reason.as_str().to_owned(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(finish("STOP"), "stop");
    assert_eq!(finish("MAX_TOKENS"), "length");
    for filtered in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"]
    {
        assert_eq!(finish(filtered), "content_filter", "{filtered}");
    }
    let failed = "the provider answered 200 with an error: ";
    assert_eq!(
        finish("MALFORMED_FUNCTION_CALL"),
        format!("{failed}ServerError: the model wrote a function call that cannot be read")
    );
    assert_eq!(
        finish("SOMETHING_NEW"),
        format!("{failed}ServerError: the model stopped without a usable answer (SOMETHING_NEW)")
    );
    assert_eq!(
        finish("FINISH_REASON_UNSPECIFIED"),
        "malformed answer: candidate 0 has no `finishReason`"
    );
}

#[test]
fn what_is_no_answer_is_said_without_quoting_it() {
    let check = |body: &'static str, expected: &str| {
        assert_eq!(whole(body).expect_err(expected).to_string(), expected);
    };
    check(
        "{\"candidates\":[{\"index\":",
        "malformed answer: the JSON text ends early, at line 1 column 24",
    );
    check(
        "{\"responseId\": [\"secret\"]}",
        "malformed answer: a member has another type than documented, at line 1 column 15",
    );
    check("<html>", "malformed answer: not a JSON text, at line 1 column 1");
    check("{}", "malformed answer: `candidates` is missing or empty");
    check(
        r#"{"candidates":[{"content":{"parts":[{"text":7}]},"finishReason":"STOP"}]}"#,
        "malformed answer: a part's text is not a string",
    );
    check(
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4}}"#,
        "the provider answered 200 with an error: ContentBlocked: the prompt was blocked (SAFETY)",
    );
    check(
        r#"{"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}"#,
        "the provider answered 200 with an error: ServerError: An internal error has occurred.",
    );
}

/// Recorded streams, by name.
const STREAMS: [(&str, &str); 8] = [
    ("text", example!("text.sse")),
    ("thoughts_and_call", example!("thoughts_and_call.sse")),
    ("candidates", example!("candidates.sse")),
    ("filtered", example!("filtered.sse")),
    ("blocked", example!("blocked.sse")),
    ("malformed_call", example!("malformed_call.sse")),
    ("error", example!("error.sse")),
    ("cut", example!("cut.sse")),
];

/// What a stream came to: its events, and the error that ended it.
fn told(outcome: (Vec<StreamEvent>, Result<(), StreamError>)) -> Value {
    let error = outcome.1.err().map(|error| error.to_string());
    json!({ "events": events_json(&outcome.0), "error": error })
}

#[test]
fn streams_are_read() {
    for (name, recording) in STREAMS {
        insta::assert_json_snapshot!(format!("stream_{name}"), told(streamed(recording, &[])));
    }
}

proptest! {
    #[test]
    fn a_stream_reads_the_same_wherever_it_is_cut(
        which in 0..STREAMS.len(),
        cuts in proptest::collection::vec(0_usize..4096, 0..12),
    ) {
        let (_, recording) = STREAMS[which];
        prop_assert_eq!(told(streamed(recording, &cuts)), told(streamed(recording, &[])));
    }
}

#[test]
fn a_stream_that_breaks_off_anywhere_has_no_end() {
    let recording = example!("thoughts_and_call.sse");
    let last = recording.trim_end().len();
    for cut in (0..last).filter(|cut| recording.is_char_boundary(*cut)) {
        let (events, _) = streamed(&recording[..cut], &[]);
        let has_end = events.iter().any(|event| matches!(event, StreamEvent::End));
        assert!(!has_end, "cut at byte {cut}");
    }
}
