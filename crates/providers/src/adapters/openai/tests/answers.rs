//! Whole answers.

use serde_json::json;
use sluice_core::usage::Usage;

use crate::adapter::{Adapter, DecodeError};
use crate::adapters::openai::OpenAiChat;
use crate::error::ProviderErrorKind;
use crate::testing;

#[test]
fn answers_are_translated() {
    for (name, example) in [
        ("answer_text", include_str!("../examples/answer-text.json")),
        ("answer_tools", include_str!("../examples/answer-tools.json")),
        ("answer_mistral", include_str!("../examples/answer-mistral.json")),
        ("answer_deepseek", include_str!("../examples/answer-deepseek.json")),
        ("answer_xai", include_str!("../examples/answer-xai.json")),
        ("answer_openrouter", include_str!("../examples/answer-openrouter.json")),
    ] {
        let answer = OpenAiChat.decode(example.into()).expect("an answer");
        insta::assert_json_snapshot!(name, testing::answer_json(&answer));
    }
}

#[test]
fn text_leaves_as_the_literal_that_came() {
    let answer =
        OpenAiChat.decode(include_str!("../examples/answer-text.json").into()).expect("an answer");
    let mut literal = Vec::new();
    answer.choices[0].message.content.as_ref().expect("content").write_literal(&mut literal);
    assert_eq!(literal, br#""Hello! How can I assist you \u0074oday?""#);
}

#[test]
fn each_token_is_in_one_class() {
    let usage = |json: serde_json::Value| {
        let body = json!({"choices": [{"message": {"content": "x"}}], "usage": json});
        OpenAiChat.decode(body.to_string().into()).expect("an answer").usage
    };
    let details = |cached: u64, reasoning: u64, total: u64| {
        json!({
            "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        })
    };
    let of = |uncached_input, cache_read, output, reasoning| {
        Some(Usage { uncached_input, cache_read, cache_write: 0, output, reasoning })
    };
    assert_eq!(usage(json!(null)), None);
    assert_eq!(usage(json!({})), of(0, 0, 0, 0));
    assert_eq!(usage(details(4, 2, 15)), of(6, 4, 3, 2));
    // On top, as xAI counts.
    assert_eq!(usage(details(4, 7, 22)), of(6, 4, 5, 7));
    // Figures that contradict each other never make more tokens than there are.
    assert_eq!(usage(details(99, 99, 15)), of(0, 10, 0, 5));
    assert_eq!(
        usage(json!({"prompt_tokens": 10, "prompt_cache_hit_tokens": 8, "completion_tokens": 1})),
        of(2, 8, 1, 0)
    );
    let written = json!({
        "prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 3, "cache_creation_tokens": 4}
    });
    assert_eq!(
        usage(written),
        Some(Usage { uncached_input: 3, cache_read: 3, cache_write: 4, output: 0, reasoning: 0 })
    );
}

#[test]
fn reasons_for_stopping_are_translated() {
    for (reason, expected) in [
        ("\"stop\"", "stop"),
        ("\"eos\"", "stop"),
        ("\"length\"", "length"),
        ("\"model_length\"", "length"),
        ("\"max_tokens\"", "length"),
        ("\"tool_calls\"", "tool_calls"),
        ("\"function_call\"", "tool_calls"),
        ("\"content_filter\"", "content_filter"),
        ("\"a_new_reason\"", "stop"),
        ("null", "stop"),
    ] {
        let body =
            format!(r#"{{"choices":[{{"message":{{"content":"a"}},"finish_reason":{reason}}}]}}"#);
        let answer = OpenAiChat.decode(body.into()).expect("an answer");
        assert_eq!(answer.choices[0].finish_reason.as_str(), expected, "{reason}");
    }
}

#[test]
fn a_body_that_is_no_answer_is_an_error_without_content() {
    for body in [
        "",
        "<html>secret</html>",
        "{}",
        "[\"secret\"]",
        r#"{"choices": []}"#,
        r#"{"choices": [{"message": {"content": "", "role": "assistant"}}]}"#,
        r#"{"choices": "secret"}"#,
        r#"{"choices": [{"index": 0, "text": "secret"}]}"#,
        r#"{"choices": [{"message": {"content": 7, "x": "secret"}}]}"#,
        r#"{"choices": [{"message": {"content": ["secret"]}}]}"#,
        r#"{"choices": [{"message": {"content": "secret"#,
        r#"{"choices": [{"message": {"tool_calls": [{"id": 1}]}}]}"#,
    ] {
        match OpenAiChat.decode(body.into()) {
            Err(DecodeError::Malformed(error)) => {
                assert!(!error.to_string().contains("secret"), "{error}");
            }
            other => panic!("{body}: {other:?}"),
        }
    }
    assert!(matches!(OpenAiChat.decode(b"\xff{}".to_vec().into()), Err(DecodeError::Malformed(_))));
}

#[test]
fn an_error_with_a_good_status_is_an_error() {
    let body =
        r#"{"error":{"code":429,"message":"Rate limited upstream","metadata":{}},"user_id":"u"}"#;
    match OpenAiChat.decode(body.into()) {
        Err(DecodeError::Provider(error)) => {
            assert_eq!(error.kind, ProviderErrorKind::RateLimited);
            assert_eq!(error.message, "Rate limited upstream");
        }
        other => panic!("{other:?}"),
    }
}
