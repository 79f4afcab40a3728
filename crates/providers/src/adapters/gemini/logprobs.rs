//! Log probabilities in OpenAI's form.

use serde::Serialize;
use sluice_core::json::RawJson;

use super::wire::{LogprobsCandidate, LogprobsResult};

/// `logprobs` of an OpenAI choice; `None` where Gemini gave none.
///
/// Gemini gives the chosen token and the likeliest ones of each position in two lists, which go
/// side by side.
pub(super) fn logprobs(result: &LogprobsResult) -> Option<RawJson> {
    if result.chosen_candidates.is_empty() {
        return None;
    }
    let content = result
        .chosen_candidates
        .iter()
        .enumerate()
        .map(|(position, chosen)| Position {
            token: Token::of(chosen),
            top_logprobs: match result.top_candidates.get(position) {
                Some(top) => top.candidates.iter().map(Token::of).collect(),
                None => Vec::new(),
            },
        })
        .collect();
    RawJson::from_value(&Logprobs { content, refusal: None }).ok()
}

#[derive(Serialize)]
struct Logprobs<'a> {
    content: Vec<Position<'a>>,
    refusal: Option<()>,
}

#[derive(Serialize)]
struct Position<'a> {
    #[serde(flatten)]
    token: Token<'a>,
    top_logprobs: Vec<Token<'a>>,
}

#[derive(Serialize)]
struct Token<'a> {
    token: &'a str,
    logprob: f64,
    bytes: &'a [u8],
}

impl<'a> Token<'a> {
    fn of(candidate: &'a LogprobsCandidate) -> Self {
        let token = candidate.token.as_str();
        Self { token, logprob: candidate.log_probability, bytes: token.as_bytes() }
    }
}
