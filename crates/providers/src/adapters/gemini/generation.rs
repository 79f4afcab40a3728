//! What a model's name says about what it takes.
//!
//! The API is one, but its models differ: thinking is set by a budget of tokens in Gemini 2.5 and by
//! a level from Gemini 3 on, and only Gemini 3 and later demand signatures of thoughts back.
//! Sources: the Gemini API guides "Gemini thinking", "Thought signatures", "OpenAI compatibility"
//! (its table of `reasoning_effort`), "File input methods".

use sluice_core::chat::ReasoningEffort;

use super::unsupported;
use super::wire::ThinkingConfig;
use crate::error::Unsupported;

/// A generation of models, as far as the wire format cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Generation {
    /// Gemini 1 and 2.0, Gemma up to 3: they do not think and fetch no addresses.
    Early,
    /// Gemini 2.5.
    Two5,
    /// Gemini 3 and later. Also every name that says no version, since those (`gemini-flash-latest`)
    /// stand for the newest.
    Three,
}

impl Generation {
    /// The generation of the model `name` (`gemini-2.5-flash`, `models/gemini-3-pro-preview`).
    pub(super) fn of(name: &str) -> Self {
        let name = bare(name);
        if let Some(version) = name.strip_prefix("gemini-") {
            return match version.as_bytes() {
                [b'1', b'-' | b'.', ..] | [b'2', b'-', ..] | [b'2', b'.', b'0', ..] => Self::Early,
                [b'2', b'.', ..] => Self::Two5,
                _ if matches!(version, "pro" | "pro-vision" | "ultra") => Self::Early,
                _ => Self::Three,
            };
        }
        match name.strip_prefix("gemma-") {
            Some(version) if version.starts_with(['1', '2', '3']) => Self::Early,
            _ => Self::Three,
        }
    }

    /// How `model`, which is of this generation, is asked to think with `effort`.
    pub(super) fn thinking(
        self,
        model: &str,
        effort: ReasoningEffort,
    ) -> Result<Option<ThinkingConfig>, Unsupported> {
        let refused = |reason: &str| {
            let effort = effort.as_str();
            Err(unsupported("reasoning_effort", format!("is `{effort}`, but {reason}")))
        };
        let is_pro = bare(model).split('-').any(|word| word == "pro");
        match (self, effort) {
            (Self::Early, ReasoningEffort::None) => Ok(None),
            (Self::Early, _) => refused("this model does not think"),
            (Self::Two5, ReasoningEffort::None) if !is_pro => Ok(Some(ThinkingConfig::budget(0))),
            (_, ReasoningEffort::None) => {
                refused("this model always thinks; the least is `minimal`")
            }
            (Self::Two5, effort) => Ok(Some(ThinkingConfig::budget(budget(effort, is_pro)))),
            (Self::Three, effort) => {
                let is_3_0_pro = bare(model).starts_with("gemini-3-pro");
                Ok(Some(ThinkingConfig::level(level(effort, is_pro, is_3_0_pro))))
            }
        }
    }
}

/// Tokens that a model of Gemini 2.5 may think with. The most that each takes is 24 576, and 32 768
/// for the Pro model.
fn budget(effort: ReasoningEffort, is_pro: bool) -> u32 {
    match effort {
        ReasoningEffort::None => 0,
        ReasoningEffort::Minimal | ReasoningEffort::Low => 1024,
        ReasoningEffort::Medium => 8192,
        ReasoningEffort::High => 24_576,
        ReasoningEffort::XHigh if is_pro => 32_768,
        ReasoningEffort::XHigh => 24_576,
    }
}

/// The level of Gemini 3: Pro models know no `MINIMAL`, and Gemini 3.0 Pro no `MEDIUM` either.
fn level(effort: ReasoningEffort, is_pro: bool, is_3_0_pro: bool) -> &'static str {
    match effort {
        ReasoningEffort::None | ReasoningEffort::Minimal if !is_pro => "MINIMAL",
        ReasoningEffort::None | ReasoningEffort::Minimal | ReasoningEffort::Low => "LOW",
        ReasoningEffort::Medium if !is_3_0_pro => "MEDIUM",
        ReasoningEffort::Medium | ReasoningEffort::High | ReasoningEffort::XHigh => "HIGH",
    }
}

/// The name without the collection it stands in (`models/`).
fn bare(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_generation() {
        let check = |name: &str, generation| assert_eq!(Generation::of(name), generation, "{name}");
        check("gemini-1.5-pro-002", Generation::Early);
        check("gemini-pro", Generation::Early);
        check("models/gemini-2.0-flash", Generation::Early);
        check("gemma-3-27b-it", Generation::Early);
        check("gemini-2.5-flash-lite", Generation::Two5);
        check("models/gemini-2.5-pro", Generation::Two5);
        check("gemini-3-pro-preview", Generation::Three);
        check("gemini-3.5-flash", Generation::Three);
        check("gemini-10-flash", Generation::Three);
        check("gemini-flash-latest", Generation::Three);
    }

    #[test]
    fn an_effort_becomes_what_the_model_takes() {
        use ReasoningEffort::{High, Low, Medium, Minimal, None as Never, XHigh};
        let said = |model: &str, effort| match Generation::of(model).thinking(model, effort) {
            Ok(None) => "-".to_owned(),
            Ok(Some(config)) => serde_json::to_string(&config).unwrap(),
            Err(refusal) => refusal.to_string(),
        };
        let check = |model: &str, effort, expected: &str| {
            let told = said(model, effort);
            let told = told.replace(r#","includeThoughts":true"#, "");
            assert_eq!(told, expected, "{model} {effort:?}");
        };
        check("gemini-2.0-flash", Never, "-");
        check(
            "gemini-2.0-flash",
            Low,
            "`reasoning_effort` is `low`, but this model does not think",
        );
        check("gemini-2.5-flash", Never, r#"{"thinkingBudget":0,"includeThoughts":false}"#);
        check("gemini-2.5-flash", Minimal, r#"{"thinkingBudget":1024}"#);
        check("gemini-2.5-flash", Medium, r#"{"thinkingBudget":8192}"#);
        check("gemini-2.5-flash", XHigh, r#"{"thinkingBudget":24576}"#);
        check("gemini-2.5-pro", XHigh, r#"{"thinkingBudget":32768}"#);
        let always = "`reasoning_effort` is `none`, but this model always thinks; the least is \
                      `minimal`";
        check("gemini-2.5-pro", Never, always);
        check("gemini-3-flash-preview", Never, always);
        check("gemini-3-flash-preview", Minimal, r#"{"thinkingLevel":"MINIMAL"}"#);
        check("gemini-3-pro-preview", Minimal, r#"{"thinkingLevel":"LOW"}"#);
        check("gemini-3-pro-preview", Medium, r#"{"thinkingLevel":"HIGH"}"#);
        check("gemini-3.1-pro-preview", Medium, r#"{"thinkingLevel":"MEDIUM"}"#);
        check("gemini-3.5-flash", High, r#"{"thinkingLevel":"HIGH"}"#);
    }
}
