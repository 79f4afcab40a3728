//! Why a candidate ended: the API reference, "FinishReason".

use sluice_core::answer::FinishReason;

use crate::error::{ProviderError, ProviderErrorKind};

/// Why a candidate ended.
#[derive(Debug, Clone)]
pub(super) enum Finish {
    /// Done; whether with an answer or with calls, only its parts say.
    Stop,
    /// It reached the bound on tokens.
    Length,
    /// A filter stopped it.
    Filter,
    /// There is no usable answer; Gemini's word for why.
    Failed(String),
}

impl Finish {
    /// Reads a `finishReason`; `None` where it says that the candidate goes on.
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "" | "FINISH_REASON_UNSPECIFIED" => return None,
            "STOP" => Self::Stop,
            "MAX_TOKENS" => Self::Length,
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => Self::Filter,
            // `MALFORMED_FUNCTION_CALL`, `UNEXPECTED_TOOL_CALL`, `OTHER` and whatever is new: to
            // take one for an end would pass a broken answer off as a finished one.
            failure => Self::Failed(failure.to_owned()),
        })
    }

    /// The finish reason, or the failure, of a candidate that has called functions or has not.
    pub(super) fn reason(self, has_called: bool) -> Result<FinishReason, ProviderError> {
        let word = match self {
            Self::Stop if has_called => return Ok(FinishReason::ToolCalls),
            Self::Stop => return Ok(FinishReason::Stop),
            Self::Length => return Ok(FinishReason::Length),
            Self::Filter => return Ok(FinishReason::ContentFilter),
            Self::Failed(word) => word,
        };
        // Gemini's own message quotes what the model wrote, so it is not passed on.
        let (kind, message) = match word.as_str() {
            "MISSING_THOUGHT_SIGNATURE" => (
                ProviderErrorKind::BadRequest,
                "a function call in the conversation lacks its thought signature".to_owned(),
            ),
            "MALFORMED_FUNCTION_CALL" => (
                ProviderErrorKind::ServerError,
                "the model wrote a function call that cannot be read".to_owned(),
            ),
            "UNEXPECTED_TOOL_CALL" => (
                ProviderErrorKind::ServerError,
                "the model called a function that it was not offered".to_owned(),
            ),
            other => (
                ProviderErrorKind::ServerError,
                format!("the model stopped without a usable answer ({other})"),
            ),
        };
        let (status, param, retry_after) = (None, None, None);
        Err(ProviderError { kind, status, message, code: Some(word), param, retry_after })
    }
}
