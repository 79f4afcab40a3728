//! What the fake upstream answers, told by the model's name, and how the load generator knows it.
//!
//! `bench-whole` is a whole answer, `bench-stream-100-5` one of 100 chunks, one each 5 ms. The
//! name carries the wish because it is all that reaches the upstream through every target.

use std::time::Duration;

use crate::stamp;

/// The text of a whole answer: some 50 tokens, as a short reply of a coding model has.
pub const WHOLE_TEXT: &str = "The loop ends one element early, since the upper bound is exclusive. \
Use an inclusive range, or compare with the length itself. I would also move the check before the \
allocation, so that an empty input costs nothing.";

/// What a model's name asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// One JSON object.
    Whole,
    /// Server-sent events.
    Stream {
        /// How many chunks carry text.
        chunks: usize,
        /// The pause before each chunk but the first; zero sends all of them in one write.
        delay: Duration,
    },
}

impl Plan {
    /// The plan that a request's body names, if it names one.
    pub fn of_request(body: &[u8]) -> Option<Self> {
        let at = memchr::memmem::find(body, b"\"bench-")? + 1;
        let length = memchr::memchr(b'"', &body[at..])?;
        Self::of_model(std::str::from_utf8(&body[at..at + length]).ok()?)
    }

    /// The plan that a model's name stands for.
    pub fn of_model(model: &str) -> Option<Self> {
        if model == "bench-whole" {
            return Some(Self::Whole);
        }
        let (chunks, delay) = model.strip_prefix("bench-stream-")?.split_once('-')?;
        let delay = Duration::from_millis(delay.parse().ok()?);
        Some(Self::Stream { chunks: chunks.parse().ok()?, delay })
    }
}

/// The whole answer's JSON.
pub fn whole() -> String {
    format!(
        r#"{{"id":"chatcmpl-bench","object":"chat.completion","created":1790000000,"model":"bench-whole","choices":[{{"index":0,"message":{{"role":"assistant","content":"{WHOLE_TEXT}","refusal":null}},"logprobs":null,"finish_reason":"stop"}}],"usage":{{"prompt_tokens":230,"completion_tokens":48,"total_tokens":278}},"system_fingerprint":"fp_bench"}}"#
    )
}

/// The event that opens a stream.
pub fn first_event() -> String {
    event(r#"{"role":"assistant","content":""}"#, "null")
}

/// An event with text: the time now, as a [`stamp`].
pub fn text_event() -> String {
    event(&format!(r#"{{"content":"{}"}}"#, stamp::text(stamp::now_ns())), "null")
}

/// The events that end a stream of `chunks` text events.
pub fn last_events(chunks: usize, usage_wanted: bool) -> String {
    let mut events = event("{}", r#""stop""#);
    if usage_wanted {
        let total = chunks + 230;
        events.push_str(&format!(
            "data: {{{HEAD}\"choices\":[],\"usage\":{{\"prompt_tokens\":230,\
             \"completion_tokens\":{chunks},\"total_tokens\":{total}}}}}\n\n"
        ));
    }
    events.push_str("data: [DONE]\n\n");
    events
}

/// The members that every chunk of a stream begins with.
const HEAD: &str = r#""id":"chatcmpl-bench","object":"chat.completion.chunk","created":1790000000,"model":"bench-stream","system_fingerprint":"fp_bench","#;

fn event(delta: &str, finish_reason: &str) -> String {
    format!(
        "data: {{{HEAD}\"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\
         \"finish_reason\":{finish_reason}}}]}}\n\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_says_what_to_answer() {
        let body = br#"{"messages":[],"model": "bench-stream-100-5","stream":true}"#;
        let delay = Duration::from_millis(5);
        assert_eq!(Plan::of_request(body), Some(Plan::Stream { chunks: 100, delay }));
        assert_eq!(Plan::of_model("bench-whole"), Some(Plan::Whole));
        assert_eq!(Plan::of_model("gpt-5"), None);
    }

    #[test]
    fn answers_are_json() {
        let events = first_event() + &text_event() + &last_events(1, true);
        for event in events.split_terminator("\n\n") {
            let data = event.strip_prefix("data: ").unwrap();
            if data != "[DONE]" {
                serde_json::from_str::<serde_json::Value>(data).unwrap();
            }
        }
        let whole: serde_json::Value = serde_json::from_str(&whole()).unwrap();
        assert_eq!(whole["choices"][0]["message"]["content"], WHOLE_TEXT);
    }
}
