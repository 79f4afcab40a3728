//! The parts of OpenAI's wire format that whole and streamed answers share.

use bytestring::ByteString;
use serde_json::value::RawValue;
use sluice_core::answer::FinishReason;
use sluice_core::chat::ReasoningBlock;
use sluice_core::json::{JsonText, Member, RawJson};
use sluice_core::usage::Usage;
use sluice_core::wire::Str;
use sluice_core::wire_object;

use crate::error::MalformedAnswer;

wire_object! {
    /// What a message and a delta both say.
    pub(super) struct WireMessage<'a> {
        role: Str<'a>,
        content: &'a RawValue,
        refusal: &'a RawValue,
        reasoning: &'a RawValue,
        reasoning_content: &'a RawValue,
        reasoning_details: &'a RawValue,
        tool_calls: Vec<WireToolCall<'a>>,
    }
}

wire_object! {
    pub(super) struct WireToolCall<'a> {
        index: u32,
        id: &'a RawValue,
        kind = "type": Str<'a>,
        function: WireFunction<'a>,
        extra_content: &'a RawValue,
    }
}

wire_object! {
    pub(super) struct WireFunction<'a> {
        name: &'a RawValue,
        arguments: &'a RawValue,
    }
}

wire_object! {
    pub(super) struct WireUsage<'a> {
        prompt_tokens: u64,
        completion_tokens: u64,
        total_tokens: u64,
        prompt_tokens_details: WirePromptDetails<'a>,
        completion_tokens_details: WireCompletionDetails<'a>,
        prompt_cache_hit_tokens: u64,
    }
}

wire_object! {
    pub(super) struct WirePromptDetails<'a> {
        cached_tokens: u64,
        cache_write_tokens: u64,
        cache_creation_tokens: u64,
    }
}

wire_object! {
    pub(super) struct WireCompletionDetails<'a> {
        reasoning_tokens: u64,
    }
}

impl WireUsage<'_> {
    /// OpenAI's figures, sorted into disjoint classes.
    ///
    /// `prompt_tokens` include the cached ones. `completion_tokens` include the reasoning ones,
    /// except where the total says that they come on top (xAI counts so).
    pub(super) fn usage(&self) -> Usage {
        let prompt = self.prompt_tokens.unwrap_or(0);
        let details = self.prompt_tokens_details.as_ref();
        let cache_read = details
            .and_then(|details| details.cached_tokens)
            .or(self.prompt_cache_hit_tokens)
            .unwrap_or(0)
            .min(prompt);
        let cache_write = details
            .and_then(|details| details.cache_write_tokens.or(details.cache_creation_tokens))
            .unwrap_or(0)
            .min(prompt - cache_read);
        let completion = self.completion_tokens.unwrap_or(0);
        let reasoning = self
            .completion_tokens_details
            .as_ref()
            .and_then(|details| details.reasoning_tokens)
            .unwrap_or(0);
        let on_top = reasoning > 0
            && self.total_tokens
                == Some(prompt.saturating_add(completion).saturating_add(reasoning));
        let (output, reasoning) = if on_top {
            (completion, reasoning)
        } else {
            let reasoning = reasoning.min(completion);
            (completion - reasoning, reasoning)
        };
        Usage {
            uncached_input: prompt - cache_read - cache_write,
            cache_read,
            cache_write,
            output,
            reasoning,
        }
    }
}

/// The reason for stopping that a word stands for. Services have words of their own.
pub(super) fn finish_reason(word: &str) -> FinishReason {
    match word {
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "content_filter" => FinishReason::ContentFilter,
        _ => FinishReason::Stop,
    }
}

/// A string of `source`, as the literal that it is there.
pub(super) fn text(
    source: &ByteString,
    raw: &RawValue,
    what: &'static str,
) -> Result<JsonText, MalformedAnswer> {
    if raw.get().starts_with('"') {
        Ok(JsonText::trusted_literal(source.slice_ref(raw.get())))
    } else {
        Err(MalformedAnswer(format!("{what} is not a string")))
    }
}

/// An optional string of `source`.
pub(super) fn opt_text(
    source: &ByteString,
    raw: Option<&RawValue>,
    what: &'static str,
) -> Result<Option<JsonText>, MalformedAnswer> {
    raw.map(|raw| text(source, raw, what)).transpose()
}

/// A value of `source`, as it is there.
pub(super) fn raw(source: &ByteString, raw: &RawValue) -> RawJson {
    RawJson::trusted(source.slice_ref(raw.get()))
}

/// Members without a name of ours.
pub(super) fn members(source: &ByteString, rest: &[(Str<'_>, &RawValue)]) -> Vec<Member> {
    rest.iter()
        .map(|(name, value)| Member { name: ByteString::from(&**name), value: raw(source, value) })
        .collect()
}

/// The content and the thoughts of a message or delta.
#[derive(Default)]
pub(super) struct Said {
    pub(super) content: Option<JsonText>,
    pub(super) reasoning: Option<JsonText>,
}

/// Reads `content` and the two names under which services send thoughts.
///
/// Mistral's thinking models send `content` as an array of `text` and `thinking` parts (Mistral
/// documentation, "Reasoning").
pub(super) fn said(
    source: &ByteString,
    message: &WireMessage<'_>,
) -> Result<Said, MalformedAnswer> {
    let thought = message.reasoning_content.or(message.reasoning);
    let mut said = Said { content: None, reasoning: opt_text(source, thought, "reasoning")? };
    match message.content {
        Some(content) if content.get().starts_with('[') => {
            let parts: Vec<ContentPart> = serde_json::from_str(content.get())
                .map_err(|_| MalformedAnswer("content is neither a string nor parts".into()))?;
            let (mut answer, mut thoughts) = (String::new(), String::new());
            for part in &parts {
                part.collect(&mut answer, &mut thoughts, 0);
            }
            if !thoughts.is_empty() {
                said.reasoning = Some(JsonText::plain(thoughts));
            }
            said.content = (!answer.is_empty()).then(|| JsonText::plain(answer));
        }
        content => said.content = opt_text(source, content, "content")?,
    }
    Ok(said)
}

#[derive(serde::Deserialize)]
struct ContentPart {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<Vec<ContentPart>>,
}

impl ContentPart {
    fn collect(&self, answer: &mut String, thoughts: &mut String, depth: u8) {
        if let Some(text) = &self.text {
            if depth == 0 { &mut *answer } else { &mut *thoughts }.push_str(text);
        }
        if depth < 4 {
            for part in self.thinking.iter().flatten() {
                part.collect(answer, thoughts, depth + 1);
            }
        }
    }
}

/// Signed or encrypted thoughts, as OpenRouter writes them in `reasoning_details`. Entries of
/// other types are dropped: nobody wants them back.
pub(super) fn reasoning_details(raw: Option<&RawValue>) -> Vec<ReasoningBlock> {
    #[derive(serde::Deserialize)]
    struct Entry {
        #[serde(rename = "type")]
        kind: String,
        text: Option<String>,
        signature: Option<String>,
        data: Option<String>,
    }
    let entries: Vec<Entry> =
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    entries
        .into_iter()
        .filter_map(|entry| match entry.kind.as_str() {
            "reasoning.text" => Some(ReasoningBlock::Text {
                text: entry.text.unwrap_or_default().into(),
                signature: entry.signature.map(JsonText::from),
            }),
            "reasoning.encrypted" => {
                entry.data.map(|data| ReasoningBlock::Redacted { data: data.into() })
            }
            _ => None,
        })
        .collect()
}

/// `extra_content.google.thought_signature` of a tool call.
pub(super) fn thought_signature(raw: Option<&RawValue>) -> Option<JsonText> {
    #[derive(serde::Deserialize)]
    struct Extra {
        google: Option<Google>,
    }
    #[derive(serde::Deserialize)]
    struct Google {
        thought_signature: Option<String>,
    }
    let extra: Extra = serde_json::from_str(raw?.get()).ok()?;
    extra.google?.thought_signature.map(JsonText::from)
}
