//! What one request can come to at most, and whether a provider's own count can be true.
//!
//! A count locks a key or an account for the rest of the day, so it is believed only as far as it
//! is possible. What is not is replaced by Sluice's own count, and the record says `estimated`.

use sluice_core::chat::{ChatRequest, Content, Part};
use sluice_core::source::{CHAT_MEMBERS, OWN_MEMBERS};
use sluice_core::usage::Usage;

use crate::plan::Candidate;

/// Tokens that a provider adds to a prompt: its template, and instructions of its own for tools.
const PROVIDERS_OWN: u64 = 4_096;
/// Room of a model of which nothing is known. No model has more, in prompt or answer.
const LARGEST_WINDOW: u64 = 2_000_000;

/// The most tokens that one request can come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Of its prompt.
    pub(crate) prompt: u64,
    /// Of what the caller sees of all its answers: `max_tokens`, else the model's own limit.
    pub(crate) output: u64,
    /// Of what the model thinks for all its answers. Some services do not count thoughts against
    /// `max_tokens`; the model's own limit holds for them all the same.
    pub(crate) reasoning: u64,
}

impl Bounds {
    /// What `chat`, as it is sent to `candidate`, can come to.
    pub(crate) fn of(chat: &ChatRequest, candidate: &Candidate) -> Self {
        let window = candidate.model.context_window.map_or(LARGEST_WINDOW, u64::from);
        let own_limit = candidate.model.output_limit.map_or(window, u64::from);
        let limit = candidate.target.max_tokens.map_or(own_limit, u64::from);
        let choices = u64::from(chat.n.max(1));
        // A token stands for at least a byte of what was sent.
        let prompt = if is_text(chat) {
            (chat.source.body_bytes as u64).saturating_add(PROVIDERS_OWN)
        } else {
            window
        };
        Self {
            prompt,
            output: limit.saturating_mul(choices),
            reasoning: own_limit.max(limit).saturating_mul(choices),
        }
    }

    /// `claimed` as far as it is possible, and whether all of it is. In place of the rest stand
    /// Sluice's own estimate of the prompt and its own count of the answer.
    pub(crate) fn believe(
        &self,
        claimed: Usage,
        own_prompt: u64,
        own_answer: impl FnOnce() -> u64,
    ) -> (Usage, bool) {
        let (prompt, answer) =
            (self.prompt_is_possible(&claimed), self.answer_is_possible(&claimed));
        let mut usage = claimed;
        if !prompt {
            usage.uncached_input = own_prompt.min(self.prompt);
            (usage.cache_read, usage.cache_write) = (0, 0);
        }
        if !answer {
            usage.output = own_answer().min(self.answer());
            usage.reasoning = 0;
        }
        (usage, prompt && answer)
    }

    /// All generated tokens, seen and thought.
    pub(crate) fn answer(&self) -> u64 {
        self.output.saturating_add(self.reasoning)
    }

    /// Whether a provider can have counted so many tokens of a prompt. None has none.
    fn prompt_is_possible(&self, claimed: &Usage) -> bool {
        (1..=self.prompt).contains(&claimed.prompt_tokens())
    }

    /// Whether a provider can have generated so many tokens. Some go a little past their bound.
    pub(crate) fn answer_is_possible(&self, claimed: &Usage) -> bool {
        let with_slack = |bound: u64| bound.saturating_add(bound / 8).saturating_add(64);
        claimed.output <= with_slack(self.output) && claimed.reasoning <= with_slack(self.reasoning)
    }
}

/// Whether the bytes of `chat` bound its tokens: it has no images or files, and asks for nothing that
/// brings text of its own, such as a search.
fn is_text(chat: &ChatRequest) -> bool {
    let parts = chat.messages.iter().filter_map(|message| match &message.content {
        Content::Parts(parts) => Some(parts),
        Content::None | Content::Text(_) => None,
    });
    let known = |name: &str| CHAT_MEMBERS.contains(&name) || OWN_MEMBERS.contains(&name);
    parts.flatten().all(|part| matches!(part, Part::Text { .. }))
        && chat.tools.iter().all(|tool| tool.other.is_none())
        && chat.source.members.iter().all(|member| known(&member.name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOUNDS: Bounds = Bounds { prompt: 5_000, output: 100, reasoning: 8_192 };

    fn usage(uncached_input: u64, output: u64, reasoning: u64) -> Usage {
        Usage { uncached_input, output, reasoning, ..Usage::default() }
    }

    #[test]
    fn what_is_possible_is_believed_and_the_rest_is_counted_here() {
        for (claimed, believed, all) in [
            (usage(50, 100, 0), usage(50, 100, 0), true),
            (usage(5_000, 1, 8_192), usage(5_000, 1, 8_192), true),
            // A token too many is no lie.
            (usage(50, 101, 0), usage(50, 101, 0), true),
            (usage(5_001, 3, 0), usage(40, 3, 0), false),
            (usage(0, 3, 0), usage(40, 3, 0), false),
            (usage(50, 6_000_000, 0), usage(50, 7, 0), false),
            (usage(50, 3, 6_000_000), usage(50, 7, 0), false),
            (usage(u64::MAX, u64::MAX, u64::MAX), usage(40, 7, 0), false),
        ] {
            assert_eq!(BOUNDS.believe(claimed, 40, || 7), (believed, all), "{claimed:?}");
        }
        let cached = Usage { cache_read: u64::MAX, cache_write: u64::MAX, ..usage(1, 1, 0) };
        assert_eq!(BOUNDS.believe(cached, 40, || 7), (usage(40, 1, 0), false));
    }

    proptest! {
        #[test]
        fn nothing_that_a_provider_says_comes_to_more_than_the_bounds(
            figures in any::<[u64; 5]>(),
            own in any::<[u64; 2]>(),
        ) {
            let [uncached_input, cache_read, cache_write, output, reasoning] = figures;
            let claimed = Usage { uncached_input, cache_read, cache_write, output, reasoning };
            let (usage, _) = BOUNDS.believe(claimed, own[0], || own[1]);
            prop_assert!(usage.prompt_tokens() <= 5_000);
            prop_assert!(usage.completion_tokens() <= (100 + 8_192) * 9 / 8 + 128);
        }
    }
}
