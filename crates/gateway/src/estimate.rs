//! How many tokens a prompt has, about, before anybody has counted.
//!
//! An exact count of 100 KB takes 9 ms, more than everything else together. So a model's tokens
//! per byte are learnt from what its provider counted, and a reservation needs a multiplication.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use sluice_core::chat::{ChatRequest, Content, Part};
use sluice_core::ids::ModelId;

/// Tokens that an image is taken for. Providers charge some 85 to 2 000.
const IMAGE_TOKENS: u64 = 1_000;
/// Tokens that a message takes beside its text.
const MESSAGE_TOKENS: u64 = 4;
/// Tokens of the answer that are reserved when the request names no bound.
const USUAL_ANSWER: u64 = 1_024;
/// Most tokens of the answer that are reserved. An agent asks for 32 000 and uses a few hundred;
/// reserving them all would refuse its next turns for nothing.
const MOST_RESERVED: u64 = 4_096;
/// Answers up to this many bytes are counted exactly when the provider did not count.
pub(crate) const COUNTED_BYTES: usize = 64 << 10;

/// A ratio before anything was learnt: tokens per 2²⁰ bytes, at 3.6 bytes a token.
const FIRST_RATIO: u32 = 291_271;

/// What a request will probably use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes of text in the prompt.
    pub text_bytes: u64,
    /// Tokens of the prompt that do not come from text: images, message framing.
    pub fixed_tokens: u64,
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of prompt and answer to reserve.
    pub reserve: u64,
}

/// Tokens per byte, by model, as their providers count.
#[derive(Debug, Default)]
pub struct Calibration(RwLock<HashMap<ModelId, Arc<Ratio>>>);

/// Tokens per 2²⁰ bytes of one model's prompts.
#[derive(Debug)]
pub struct Ratio(AtomicU32);

impl Calibration {
    /// The ratio of `model`, shared by all its requests.
    pub fn ratio(&self, model: &ModelId) -> Arc<Ratio> {
        if let Some(ratio) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(model) {
            return ratio.clone();
        }
        let mut ratios = self.0.write().unwrap_or_else(PoisonError::into_inner);
        ratios.entry(model.clone()).or_default().clone()
    }
}

impl Default for Ratio {
    fn default() -> Self {
        Self(AtomicU32::new(FIRST_RATIO))
    }
}

impl Ratio {
    /// What `chat` will probably use.
    pub fn estimate(&self, chat: &ChatRequest) -> Estimate {
        let (text_bytes, fixed_tokens) = measure(chat);
        let prompt_tokens = fixed_tokens + self.tokens(text_bytes);
        let answer = chat.max_tokens.map_or(USUAL_ANSWER, u64::from).min(MOST_RESERVED);
        let answers = answer.saturating_mul(u64::from(chat.n));
        Estimate {
            text_bytes,
            fixed_tokens,
            prompt_tokens,
            reserve: prompt_tokens.saturating_add(answers),
        }
    }

    /// Learns from a prompt that its provider counted.
    ///
    /// A moving average of one sixteenth. Short prompts teach nothing: their framing outweighs
    /// their text. A figure far off (images, a provider's own additions) counts as the nearest
    /// believable one.
    pub fn learn(&self, estimate: &Estimate, prompt_tokens: u64) {
        if estimate.text_bytes < 400 {
            return;
        }
        let tokens = prompt_tokens.saturating_sub(estimate.fixed_tokens);
        let seen = ((tokens << 20) / estimate.text_bytes).clamp(1 << 16, 1 << 20);
        let seen = u32::try_from(seen).unwrap_or(u32::MAX);
        let old = self.0.load(Ordering::Relaxed);
        self.0.store(old - old / 16 + seen / 16, Ordering::Relaxed);
    }

    fn tokens(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(u64::from(self.0.load(Ordering::Relaxed))) >> 20
    }
}

/// Bytes of text, and tokens of everything else.
fn measure(chat: &ChatRequest) -> (u64, u64) {
    let (mut bytes, mut fixed) = (0, 0);
    for message in &chat.messages {
        fixed += MESSAGE_TOKENS;
        match &message.content {
            Content::None => {}
            Content::Text(text) => bytes += text.size(),
            Content::Parts(parts) => {
                for part in parts {
                    match part {
                        Part::Text { text, .. } => bytes += text.size(),
                        Part::Image { .. } => fixed += IMAGE_TOKENS,
                        Part::Other { raw, .. } => bytes += raw.as_str().len().min(16_384),
                    }
                }
            }
        }
        for call in &message.tool_calls {
            bytes += call.name.size() + call.arguments.size();
        }
    }
    for tool in &chat.tools {
        bytes += tool.name.size() + tool.description.as_ref().map_or(0, |text| text.size());
        bytes += tool.parameters.as_ref().map_or(0, |schema| schema.as_str().len());
    }
    (bytes as u64, fixed)
}

/// Tokens of `text`, exactly, by the o200k vocabulary; extrapolated past [`COUNTED_BYTES`].
///
/// The vocabulary is loaded when it is first needed: most deployments never need it.
pub(crate) fn count_tokens(text: &str, total_bytes: usize) -> u64 {
    if text.is_empty() {
        return 0;
    }
    let counted = bpe_openai::o200k_base().count(text) as u64;
    counted.saturating_mul(total_bytes as u64) / text.len() as u64
}
