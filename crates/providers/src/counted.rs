//! What a provider counted, where it can be read at all.
//!
//! An answer must not be lost for its bill: figures that are negative, too large for 64 bits or no
//! figures at all count as missing, and Sluice counts for itself.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A provider's figures; `None` where they are not in its documented format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted<T>(pub(crate) Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Counted<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.get()).ok()))
    }
}

#[cfg(test)]
mod tests {
    use sluice_core::event::StreamEvent;
    use sluice_core::usage::Usage;

    use crate::adapter::Adapter;
    use crate::adapters::anthropic::AnthropicMessages;
    use crate::adapters::gemini::GeminiGenerateContent;
    use crate::adapters::openai::OpenAiChat;
    use crate::framing::sse::Frame;

    const NONSENSE: [&str; 7] =
        ["-1", "1.5", "1e400", "18446744073709551616", "\"many\"", "[]", "{\"a\":{}}"];

    /// The answers of each dialect with `{}` in place of a count: whole, and streamed up to the
    /// frame that counts.
    fn dialects() -> [(Box<dyn Adapter>, &'static str, &'static str); 3] {
        [
            (
                Box::new(OpenAiChat),
                r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":{},"completion_tokens":2}}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":{},"completion_tokens":2}}"#,
            ),
            (
                Box::new(AnthropicMessages),
                r#"{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":{},"output_tokens":2}}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":{},"output_tokens":2}}"#,
            ),
            (
                Box::new(GeminiGenerateContent),
                r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":{},"candidatesTokenCount":2}}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":{},"candidatesTokenCount":2}}"#,
            ),
        ]
    }

    fn whole(adapter: &dyn Adapter, text: &str) -> Option<Usage> {
        let body = bytes::Bytes::from(text.to_owned());
        adapter.decode(body).unwrap_or_else(|error| panic!("{text}: {error}")).usage
    }

    fn streamed(adapter: &dyn Adapter, data: &str) -> Option<Usage> {
        let mut events = Vec::new();
        let frame = Frame { event: "".into(), data: data.to_owned().into() };
        let mut decoder = adapter.stream_decoder();
        decoder.frame(&frame, &mut events).unwrap_or_else(|error| panic!("{data}: {error}"));
        events.into_iter().find_map(|event| match event {
            StreamEvent::Usage(usage) => Some(usage),
            _ => None,
        })
    }

    #[test]
    fn no_answer_is_lost_for_a_count_that_is_none() {
        for (adapter, body, frame) in dialects() {
            for nonsense in NONSENSE {
                let adapter = &*adapter;
                assert_eq!(whole(adapter, &body.replace("{}", nonsense)), None, "{nonsense}");
                assert_eq!(streamed(adapter, &frame.replace("{}", nonsense)), None, "{nonsense}");
            }
            for text in [body, frame] {
                let largest = text.replace("{}", &u64::MAX.to_string());
                let usage = match text == body {
                    true => whole(&*adapter, &largest),
                    false => streamed(&*adapter, &largest),
                };
                let usage = usage.expect("a count of 64 bits");
                assert_eq!((usage.prompt_tokens(), usage.total_tokens()), (u64::MAX, u64::MAX));
            }
        }
    }
}
