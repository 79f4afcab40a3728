use proptest::prelude::*;
use sluice_core::answer::{AnswerMessage, Choice};
use sluice_core::event::ToolCallDelta;

use super::*;

fn cut(tokens: u64) -> Cut {
    let most = FewestTokens::up_to;
    Cut { output: most(tokens), reasoning: most(tokens), open: Vec::new() }
}

fn says(choice: u32, text: &str) -> Delta {
    Delta { choice, content: Some(JsonText::plain(text.to_owned())), ..Delta::default() }
}

/// What is left of a text that comes in these pieces.
fn streamed(tokens: u64, pieces: &[&str]) -> (String, bool) {
    let (mut cut, mut left) = (cut(tokens), String::new());
    for piece in pieces {
        let mut delta = says(0, piece);
        let is_over = cut.delta(&mut delta);
        left.push_str(&delta.content.unwrap().decode());
        if is_over {
            return (left, true);
        }
    }
    (left, false)
}

fn answer(texts: &[&str]) -> ChatAnswer {
    let choice = |(index, text): (u32, &&str)| Choice {
        index,
        message: AnswerMessage {
            content: Some(JsonText::plain((*text).to_owned())),
            ..AnswerMessage::default()
        },
        finish_reason: FinishReason::Stop,
        logprobs: None,
        extra: Vec::new(),
    };
    ChatAnswer {
        id: "".into(),
        upstream_model: "".into(),
        choices: (0..).zip(texts).map(choice).collect(),
        usage: None,
        extra: Vec::new(),
    }
}

/// Texts as models write them, and such as have few tokens for their length.
fn samples() -> Vec<String> {
    let prose = "The quick brown fox jumps over the lazy dog, and nobody minds very much. ";
    let code = "fn main() {\n    let total: u64 = items.iter().map(|item| item.price).sum();\n}\n";
    let json = r#"{"name":"value","list":[1,2,3],"nested":{"deep":true,"other":null}},"#;
    let chinese = "今天天气很好，我们一起去公园散步吧。机器学习模型可以理解自然语言。";
    let base64 = "TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsuQ0hBTkdFRA0K5ZOI5ZOI";
    let table = "| a | b |\n|---|---|\n| 1 | 2 |\n";
    [prose, code, json, chinese, base64, table, " ", "\n", "=", "─", "no ", "ab", "。", "😀"]
        .iter()
        .map(|unit| unit.repeat(20_000 / unit.len()))
        .collect()
}

/// The promise: an answer that keeps to its bound, in the tokens of a real vocabulary, is whole.
#[test]
fn an_answer_within_its_bound_is_never_cut() {
    for text in samples() {
        let tokens = bpe_openai::o200k_base().count(&text) as u64;
        let (left, is_cut) = streamed(tokens, &[&text]);
        assert!(!is_cut && left == text, "{} of {tokens} tokens", &text[..30]);
    }
}

#[test]
fn an_endless_answer_is_cut_whatever_it_says() {
    for text in samples() {
        let text = text.repeat(20);
        let tokens = bpe_openai::o200k_base().count(&text) as u64;
        let bound = 100;
        let (left, is_cut) = streamed(bound * PATIENCE + SLACK, &[&text]);
        assert!(is_cut && text.starts_with(&left), "{}", &text[..30]);
        let told = bpe_openai::o200k_base().count(&left) as u64;
        assert!(told < tokens && told <= bound * 128, "{}: {told} tokens", &text[..30]);
    }
}

#[test]
fn every_open_choice_ends_at_its_bound() {
    let mut cut = cut(4);
    assert!(!cut.delta(&mut says(0, "one ")));
    assert!(!cut.delta(&mut says(1, "one ")));
    let mut done = Delta { choice: 1, ..Delta::default() };
    done.finish_reason = Some(FinishReason::Stop);
    assert!(!cut.delta(&mut done));
    assert!(!cut.delta(&mut says(2, "")));
    let mut delta = says(0, "a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh");
    assert!(cut.delta(&mut delta));
    let ends: Vec<_> = cut.ends().map(|end| (end.choice, end.finish_reason)).collect();
    assert_eq!(ends, [(0, Some(FinishReason::Length)), (2, Some(FinishReason::Length))]);
}

#[test]
fn thoughts_and_calls_have_bounds_too() {
    let flood = || Some(JsonText::plain("word by word ".repeat(100)));
    let call = ToolCallDelta { arguments: flood(), ..ToolCallDelta::default() };
    for delta in [
        Delta { reasoning: flood(), ..Delta::default() },
        Delta { refusal: flood(), ..Delta::default() },
        Delta { tool_calls: vec![call], ..Delta::default() },
    ] {
        assert!(cut(20).delta(&mut delta.clone()));
        assert!(!cut(2_000).delta(&mut delta.clone()));
    }
}

#[test]
fn a_whole_answer_is_cut_as_a_stream_is() {
    for text in samples() {
        let mut whole = answer(&[&text, "more"]);
        assert!(cut(50).whole(&mut whole));
        let (left, _) = streamed(50, &[&text]);
        let [first, second] = &whole.choices[..] else { panic!() };
        assert_eq!(first.message.content.as_ref().unwrap().decode(), left);
        assert!(second.message.content.as_ref().unwrap().is_empty());
        assert_eq!(first.finish_reason, FinishReason::Length);
    }
    let mut whole = answer(&["short"]);
    assert!(!cut(50).whole(&mut whole));
    assert_eq!(whole.choices[0].finish_reason, FinishReason::Stop);
}

proptest! {
    #[test]
    fn where_it_is_cut_does_not_depend_on_the_pieces(
        text in "[a-d é世😀\\n=]{0,400}",
        tokens in 0_u64..60,
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let ends: Vec<usize> =
            (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        let mut places: Vec<usize> = places.iter().map(|place| *place.get(&ends)).collect();
        places.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for place in places.into_iter().chain([text.len()]) {
            pieces.push(&text[from..place]);
            from = place;
        }
        let (left, is_cut) = streamed(tokens, &pieces);
        prop_assert_eq!(streamed(tokens, &[&text]), (left.clone(), is_cut));
        prop_assert!(text.starts_with(&left) && is_cut != (left == text));
    }
}
