//! `GenerateContentRequest` and `GenerateContentResponse`, as far as Sluice writes and reads them.
//!
//! Names and shapes: the Gemini API reference (`v1beta`), "GenerateContentRequest", "Content",
//! "Part", "Tool", "GenerationConfig", "GenerateContentResponse", "UsageMetadata".

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sluice_core::json::RawJson;
use sluice_core::usage::Usage;

use crate::counted::Counted;

/// The body of both methods.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerateContentRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system_instruction: Option<Content<'a>>,
    pub(super) contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig<'a>>,
    pub(super) generation_config: GenerationConfig<'a>,
}

/// One turn.
#[derive(Serialize)]
pub(super) struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'static str>,
    pub(super) parts: Vec<Part<'a>>,
}

/// One part of a turn.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(flatten)]
    pub(super) data: PartData<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<Cow<'a, str>>,
}

impl<'a> From<PartData<'a>> for Part<'a> {
    fn from(data: PartData<'a>) -> Self {
        Self { data, thought_signature: None }
    }
}

/// What a part holds: exactly one of these.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum PartData<'a> {
    Text(Cow<'a, str>),
    InlineData(Blob<'a>),
    FileData(FileData<'a>),
    FunctionCall(FunctionCall<'a>),
    FunctionResponse(FunctionResponse<'a>),
}

/// Bytes in base64.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    #[serde(borrow)]
    pub(super) mime_type: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) data: Cow<'a, str>,
}

/// A file that Gemini fetches itself.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mime_type: Option<&'static str>,
    pub(super) file_uri: Cow<'a, str>,
}

/// A call by the model, in a request.
#[derive(Serialize)]
pub(super) struct FunctionCall<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) args: RawJson,
}

/// A call's result.
#[derive(Serialize)]
pub(super) struct FunctionResponse<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) response: FunctionResult<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<FunctionResponsePart<'a>>,
}

/// A result has to be an object: one that the function gave, or its text in one.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum FunctionResult<'a> {
    Object(RawJson),
    Text { result: Cow<'a, str> },
}

/// A picture in a result.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionResponsePart<'a> {
    pub(super) inline_data: Blob<'a>,
}

/// One entry of `tools`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tools<'a> {
    pub(super) function_declarations: Vec<FunctionDeclaration<'a>>,
}

/// A function that the model may call. `parametersJsonSchema` takes JSON Schema as it is, where the
/// older `parameters` wants a subset of OpenAPI's.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionDeclaration<'a> {
    pub(super) name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters_json_schema: Option<&'a RawJson>,
}

/// `toolConfig`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig<'a> {
    pub(super) function_calling_config: FunctionCallingConfig<'a>,
}

/// Whether and which function has to be called: `AUTO`, `NONE` or `ANY`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionCallingConfig<'a> {
    pub(super) mode: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) allowed_function_names: Vec<Cow<'a, str>>,
}

/// `generationConfig`.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) candidate_count: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stop_sequences: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logprobs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_json_schema: Option<&'a RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_config: Option<ThinkingConfig>,
}

/// How much to think: a budget or a level, never both.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
    include_thoughts: bool,
}

impl ThinkingConfig {
    /// Gemini 2.5: tokens to think with, 0 for none.
    pub(super) fn budget(tokens: u32) -> Self {
        Self { thinking_budget: Some(tokens), thinking_level: None, include_thoughts: tokens > 0 }
    }

    /// Gemini 3 and later.
    pub(super) fn level(level: &'static str) -> Self {
        Self { thinking_budget: None, thinking_level: Some(level), include_thoughts: true }
    }
}

/// A whole answer, or one step of a streamed one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerateContentResponse<'a> {
    #[serde(borrow)]
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    pub(super) prompt_feedback: Option<PromptFeedback>,
    pub(super) usage_metadata: Option<Counted<UsageMetadata>>,
    pub(super) model_version: Option<String>,
    pub(super) response_id: Option<String>,
    /// Where an error stands in the place of an answer.
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// One of the answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    /// Absent where it is 0.
    #[serde(default)]
    pub(super) index: u32,
    #[serde(borrow)]
    pub(super) content: Option<AnswerContent<'a>>,
    pub(super) finish_reason: Option<String>,
    pub(super) logprobs_result: Option<LogprobsResult>,
}

/// What the model said; a filtered answer may have no parts.
#[derive(Deserialize)]
pub(super) struct AnswerContent<'a> {
    #[serde(borrow)]
    pub(super) parts: Option<Vec<AnswerPart<'a>>>,
}

/// One part of what the model said. Texts stay the literals that came.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AnswerPart<'a> {
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    /// Whether the text is thought.
    pub(super) thought: Option<bool>,
    #[serde(borrow)]
    pub(super) thought_signature: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) function_call: Option<AnswerCall<'a>>,
    #[serde(borrow)]
    pub(super) inline_data: Option<Blob<'a>>,
}

/// A function call in an answer.
#[derive(Deserialize)]
pub(super) struct AnswerCall<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) args: Option<&'a RawValue>,
}

/// What Gemini's filter said of the prompt.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptFeedback {
    pub(super) block_reason: Option<String>,
}

/// The tokens of an answer's text, with how likely they were.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogprobsResult {
    /// The likeliest at each position.
    #[serde(default)]
    pub(super) top_candidates: Vec<TopCandidates>,
    /// The one that was chosen at each position.
    #[serde(default)]
    pub(super) chosen_candidates: Vec<LogprobsCandidate>,
}

/// The likeliest tokens at one position.
#[derive(Deserialize)]
pub(super) struct TopCandidates {
    #[serde(default)]
    pub(super) candidates: Vec<LogprobsCandidate>,
}

/// One token.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogprobsCandidate {
    #[serde(default)]
    pub(super) token: String,
    #[serde(default)]
    pub(super) log_probability: f64,
}

/// Tokens counted so far.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageMetadata {
    /// With those from the cache.
    prompt_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    /// Results of Gemini's own tools; not in the prompt's count.
    tool_use_prompt_token_count: Option<u64>,
    /// Without thoughts.
    pub(super) candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

impl UsageMetadata {
    /// The counts in classes that do not overlap; `None` where nothing was counted.
    pub(super) fn usage(self) -> Option<Usage> {
        let prompt = self.prompt_token_count?;
        let cached = self.cached_content_token_count.unwrap_or(0).min(prompt);
        let fresh = prompt - cached;
        Some(Usage {
            uncached_input: fresh.saturating_add(self.tool_use_prompt_token_count.unwrap_or(0)),
            cache_read: cached,
            cache_write: 0,
            output: self.candidates_token_count.unwrap_or(0),
            reasoning: self.thoughts_token_count.unwrap_or(0),
        })
    }
}
