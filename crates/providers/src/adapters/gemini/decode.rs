//! A whole answer, and what it shares with a streamed one: parts, blocked prompts, names of calls.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use bytestring::ByteString;
use serde::Serialize;
use serde_json::value::RawValue;
use sluice_core::answer::{AnswerMessage, ChatAnswer, Choice};
use sluice_core::chat::ToolCall;
use sluice_core::json::{JsonText, Member, RawJson};

use super::classify::error_in_body;
use super::finish::Finish;
use super::logprobs::logprobs;
use super::wire::{AnswerCall, AnswerPart, Blob, Candidate, GenerateContentResponse};
use crate::adapter::DecodeError;
use crate::error::{MalformedAnswer, ProviderError, ProviderErrorKind};

/// Reads a whole answer.
pub(super) fn decode(body: Bytes) -> Result<ChatAnswer, DecodeError> {
    let source = ByteString::try_from(body)
        .map_err(|_| MalformedAnswer("the body is not valid UTF-8".into()))?;
    let answer = parse(&source)?;
    if let Some(error) = answer.error {
        return Err(DecodeError::Provider(error_in_body(error)));
    }
    if let Some(blocked) = blocked(&answer) {
        return Err(DecodeError::Provider(blocked));
    }
    let candidates = answer.candidates.unwrap_or_default();
    if candidates.is_empty() {
        return Err(MalformedAnswer("`candidates` is missing or empty".into()).into());
    }
    let id = answer.response_id.unwrap_or_default();
    let mut choices = Vec::with_capacity(candidates.len());
    for candidate in &candidates {
        choices.push(decode_choice(&source, candidate, &id)?);
    }
    choices.sort_by_key(|choice| choice.index);
    Ok(ChatAnswer {
        id: id.into(),
        upstream_model: answer.model_version.unwrap_or_default().into(),
        choices,
        usage: answer.usage_metadata.and_then(|counted| counted.0?.usage()),
        extra: Vec::new(),
    })
}

fn decode_choice(
    source: &ByteString,
    candidate: &Candidate<'_>,
    response_id: &str,
) -> Result<Choice, DecodeError> {
    let index = candidate.index;
    let mut ids = CallIds::new(response_id, source, index);
    let said = said(source, candidate, &mut ids)?;
    let finish_reason = candidate.finish_reason.as_deref().and_then(Finish::of);
    let Some(finish) = finish_reason else {
        let missing = format!("candidate {index} has no `finishReason`");
        return Err(MalformedAnswer(missing).into());
    };
    let content = match said.content {
        // OpenAI's clients expect a text, if an empty one, where no function is called.
        None if said.tool_calls.is_empty() => Some("".into()),
        content => content,
    };
    Ok(Choice {
        index,
        finish_reason: finish.reason(ids.given > 0).map_err(DecodeError::Provider)?,
        message: AnswerMessage {
            content,
            reasoning: said.reasoning,
            tool_calls: said.tool_calls,
            extra: said.extra,
            ..AnswerMessage::default()
        },
        logprobs: candidate.logprobs_result.as_ref().and_then(logprobs),
        extra: Vec::new(),
    })
}

/// Reads a `GenerateContentResponse`.
pub(super) fn parse(source: &str) -> Result<GenerateContentResponse<'_>, MalformedAnswer> {
    serde_json::from_str(source).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Eof => "the JSON text ends early",
            serde_json::error::Category::Data => "a member has another type than documented",
            _ => "not a JSON text",
        };
        MalformedAnswer(format!("{what}, at line {} column {}", error.line(), error.column()))
    })
}

/// The error that an answer without candidates stands for where the prompt was blocked.
pub(super) fn blocked(answer: &GenerateContentResponse<'_>) -> Option<ProviderError> {
    if answer.candidates.as_ref().is_some_and(|candidates| !candidates.is_empty()) {
        return None;
    }
    let reason = answer.prompt_feedback.as_ref()?.block_reason.clone()?;
    Some(ProviderError {
        kind: ProviderErrorKind::ContentBlocked,
        status: None,
        message: format!("the prompt was blocked ({reason})"),
        code: Some(reason),
        param: None,
        retry_after: None,
    })
}

/// What one candidate says, whole or in one step.
#[derive(Default)]
pub(super) struct Said {
    pub(super) content: Option<JsonText>,
    pub(super) reasoning: Option<JsonText>,
    pub(super) tool_calls: Vec<ToolCall>,
    /// Generated images: `images`, in the form that OpenRouter gave it.
    pub(super) extra: Vec<Member>,
}

/// Sorts a candidate's parts.
///
/// A signature on a text is left out: Gemini recommends to send it back but does not demand it, and
/// the OpenAI wire has no place for it.
pub(super) fn said(
    source: &ByteString,
    candidate: &Candidate<'_>,
    ids: &mut CallIds,
) -> Result<Said, MalformedAnswer> {
    let mut said = Said::default();
    let mut images = Vec::new();
    let parts = candidate.content.as_ref().and_then(|content| content.parts.as_ref());
    for part in parts.into_iter().flatten() {
        if let Some(raw) = part.text {
            let text = literal(source, raw, "a part's text")?;
            let is_thought = part.thought == Some(true);
            append(if is_thought { &mut said.reasoning } else { &mut said.content }, text);
        }
        if let Some(call) = &part.function_call {
            said.tool_calls.push(tool_call(source, part, call, ids)?);
        }
        if let Some(blob) = &part.inline_data {
            images.push(Image::of(blob));
        }
    }
    if !images.is_empty() {
        let value = RawJson::from_value(&images)
            .map_err(|_| MalformedAnswer("an image cannot be written as JSON".into()))?;
        said.extra.push(Member { name: "images".into(), value });
    }
    Ok(said)
}

fn tool_call(
    source: &ByteString,
    part: &AnswerPart<'_>,
    call: &AnswerCall<'_>,
    ids: &mut CallIds,
) -> Result<ToolCall, MalformedAnswer> {
    let Some(name) = call.name else {
        return Err(MalformedAnswer("a function call has no name".into()));
    };
    let signature = part.thought_signature;
    Ok(ToolCall {
        id: ids.take(call.id.map(|id| literal(source, id, "a function call's id")).transpose()?),
        name: literal(source, name, "a function call's name")?,
        arguments: compact(call.args.map_or("{}", RawValue::get)).into(),
        signature: signature.map(|raw| literal(source, raw, "a thought signature")).transpose()?,
        cache_breakpoint: None,
    })
}

/// Names for the calls of one candidate, where Gemini gives none (before version 3).
///
/// A name has to be unique within a conversation. There is no chance here, so it is made of the
/// answer's own name, or else of a fingerprint of what was received.
pub(super) struct CallIds {
    prefix: String,
    /// How many calls there have been.
    pub(super) given: u32,
}

impl CallIds {
    /// Names for candidate `index` of the answer `response_id`, which `source` is from.
    pub(super) fn new(response_id: &str, source: &str, index: u32) -> Self {
        // Anthropic takes these characters only, should the conversation go on there.
        let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let mut prefix: String = response_id.chars().filter(allowed).take(40).collect();
        if prefix.is_empty() {
            let mut hasher = DefaultHasher::new();
            source.hash(&mut hasher);
            prefix = format!("{:016x}", hasher.finish());
        }
        if index > 0 {
            prefix = format!("{prefix}_{index}");
        }
        Self { prefix, given: 0 }
    }

    fn take(&mut self, own: Option<JsonText>) -> JsonText {
        let number = self.given;
        self.given += 1;
        match own {
            Some(id) if !id.is_empty() => id,
            _ => format!("call_{}_{number}", self.prefix).into(),
        }
    }
}

/// A string literal of `source`, as it stands.
fn literal(source: &ByteString, raw: &RawValue, what: &str) -> Result<JsonText, MalformedAnswer> {
    if !raw.get().starts_with('"') {
        return Err(MalformedAnswer(format!("{what} is not a string")));
    }
    Ok(JsonText::trusted_literal(source.slice_ref(raw.get())))
}

/// Appends `text` to what is there already.
fn append(to: &mut Option<JsonText>, text: JsonText) {
    if text.is_empty() {
        return;
    }
    *to = Some(match to.take() {
        None => text,
        Some(before) => (before.decode().into_owned() + &text.decode()).into(),
    });
}

/// A JSON text without the space between its tokens: Gemini indents whole answers, and arguments
/// are a text inside a text for OpenAI's clients.
fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut is_escaped) = (false, false);
    for c in json.chars() {
        if !in_string && c.is_ascii_whitespace() {
            continue;
        }
        if c == '"' && !is_escaped {
            in_string = !in_string;
        }
        is_escaped = in_string && c == '\\' && !is_escaped;
        out.push(c);
    }
    out
}

/// A generated image, as OpenRouter's clients expect it.
#[derive(Serialize)]
struct Image {
    #[serde(rename = "type")]
    kind: &'static str,
    image_url: ImageUrl,
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

impl Image {
    fn of(blob: &Blob<'_>) -> Self {
        let url = format!("data:{};base64,{}", blob.mime_type, blob.data);
        Self { kind: "image_url", image_url: ImageUrl { url } }
    }
}
