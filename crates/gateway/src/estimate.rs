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
        let prompt_tokens = fixed_tokens.saturating_add(self.tokens(text_bytes));
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
        let seen = (tokens.saturating_mul(1 << 20) / estimate.text_bytes).clamp(1 << 16, 1 << 20);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sluice_core::json::RawJson;

    use super::*;
    use crate::testing::chat;

    fn of(bytes: usize) -> ChatRequest {
        chat(&"x".repeat(bytes))
    }

    #[test]
    fn a_prompt_is_taken_for_its_bytes_its_images_and_its_framing() {
        let ratio = Ratio::default();
        // 3.6 bytes a token.
        assert_eq!(ratio.estimate(&of(3_600)).prompt_tokens, 1_000 - 1 + MESSAGE_TOKENS);
        let mut with_image = of(0);
        with_image.messages[0].content = Content::Parts(vec![
            Part::Text { text: "x".repeat(36).into(), cache_breakpoint: None },
            Part::Image {
                url: format!("data:{}", "x".repeat(1 << 20)).into(),
                detail: None,
                cache_breakpoint: None,
            },
            Part::Other { kind: "file".into(), raw: RawJson::trusted("\"x\"".into()) },
        ]);
        let estimate = ratio.estimate(&with_image);
        assert_eq!(
            (estimate.text_bytes, estimate.fixed_tokens),
            (39, IMAGE_TOKENS + MESSAGE_TOKENS)
        );
    }

    #[test]
    fn an_agents_wish_reserves_no_more_than_it_will_use() {
        let ratio = Ratio::default();
        for (max_tokens, n, answer) in [
            (None, 1, USUAL_ANSWER),
            (Some(10), 1, 10),
            (Some(10), 3, 30),
            (Some(32_000), 1, MOST_RESERVED),
            (Some(u32::MAX), 128, MOST_RESERVED * 128),
        ] {
            let chat = ChatRequest { max_tokens, n, ..of(100) };
            let estimate = ratio.estimate(&chat);
            assert_eq!(estimate.reserve - estimate.prompt_tokens, answer);
        }
    }

    #[test]
    fn short_prompts_teach_nothing() {
        let ratio = Ratio::default();
        let before = ratio.estimate(&of(10_000));
        ratio.learn(&ratio.estimate(&of(399)), 1_000_000);
        assert_eq!(ratio.estimate(&of(10_000)), before);
    }

    #[test]
    fn models_learn_apart() {
        let calibration = Calibration::default();
        let (a, b) = (calibration.ratio(&"a".into()), calibration.ratio(&"b".into()));
        for _ in 0..50 {
            a.learn(&a.estimate(&of(1_000)), 900);
        }
        assert!(a.estimate(&of(1_000)).prompt_tokens > 2 * b.estimate(&of(1_000)).prompt_tokens);
        assert!(Arc::ptr_eq(&a, &calibration.ratio(&"a".into())));
    }

    proptest! {
        #[test]
        fn the_estimate_comes_to_what_providers_count(
            bytes_a_token in 1.1..14.0_f64,
            lengths in prop::collection::vec(1_000..200_000_usize, 120),
        ) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "test figures")]
            let count = |bytes: usize| (bytes as f64 / bytes_a_token) as u64 + MESSAGE_TOKENS;
            let ratio = Ratio::default();
            for bytes in lengths {
                let chat = of(bytes);
                ratio.learn(&ratio.estimate(&chat), count(bytes));
            }
            let (estimated, counted) = (ratio.estimate(&of(100_000)).prompt_tokens, count(100_000));
            let off = estimated.abs_diff(counted);
            prop_assert!(off * 100 <= counted * 3, "{estimated} for {counted}");
        }

        #[test]
        fn no_figure_breaks_the_ratio(
            figures in prop::collection::vec((any::<u64>(), 400..1_000_usize), 0..100),
        ) {
            let ratio = Ratio::default();
            for (tokens, bytes) in figures {
                ratio.learn(&ratio.estimate(&of(bytes)), tokens);
            }
            // At least one token in sixteen bytes, at most one a byte.
            let tokens = ratio.estimate(&of(16_000)).prompt_tokens;
            prop_assert!((990..=16_004).contains(&tokens), "{tokens}");
        }
    }

    #[test]
    fn texts_are_counted_and_long_ones_extrapolated() {
        assert_eq!(count_tokens("", 0), 0);
        assert_eq!(count_tokens("one two three", 13), 3);
        assert_eq!(count_tokens("one two three", 130), 30);
    }
}
