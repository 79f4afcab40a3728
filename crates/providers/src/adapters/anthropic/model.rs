//! What a model takes, by the generation that its name tells.
//!
//! Source: Anthropic's documentation, "Adaptive thinking", "Effort", "Structured outputs" and the
//! migration guides. In short:
//!
//! | Generation | Thinking | Sampling parameters | Schemas | Goes on after an assistant turn |
//! | --- | --- | --- | --- | --- |
//! | to 3.5 | no | both | no | yes |
//! | 3.7, 4.0 | with a budget | both | no | yes |
//! | 4.1, 4.5 | with a budget | one | yes | yes |
//! | 4.6 | adaptive | one | yes | no |
//! | 4.7, 4.8 | adaptive | none | yes | no |
//! | 5 and later | adaptive, also unasked; always with Fable and Mythos | none | yes | no |

/// One model, as far as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Model {
    /// Major and minor version; `None` for another maker's model behind the same API, of which
    /// nothing is known, so that nothing is refused in its name.
    version: Option<(u16, u16)>,
    /// Thinking cannot be turned off.
    pub(super) always_thinks: bool,
}

/// How a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingForm {
    /// It cannot.
    Never,
    /// By a number of tokens (`thinking.budget_tokens`).
    Budget,
    /// By a word (`output_config.effort`).
    Adaptive,
}

/// How many of `temperature` and `top_p` a model takes in one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sampling {
    /// Both.
    Both,
    /// Either.
    One,
    /// Neither.
    No,
}

impl Model {
    /// Reads a name as it stands at the provider: `claude-opus-4-5-20251101`,
    /// `claude-3-7-sonnet-latest`, `anthropic/claude-sonnet-4.6`. A Claude without a version in its
    /// name is taken for one of the newest.
    pub(super) fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let Some((_, rest)) = name.split_once("claude") else {
            return Self { version: None, always_thinks: false };
        };
        let mut words = rest.split(|c: char| !c.is_ascii_alphanumeric());
        // A longer number is a date.
        let number = |word: &str| word.parse::<u16>().ok().filter(|_| word.len() <= 2);
        let version = match words.by_ref().find_map(number) {
            Some(major) => (major, words.next().and_then(number).unwrap_or(0)),
            None => (u16::MAX, 0),
        };
        Self {
            version: Some(version),
            always_thinks: rest.contains("fable") || rest.contains("mythos"),
        }
    }

    fn is_before(self, version: (u16, u16)) -> bool {
        self.version.is_some_and(|own| own < version)
    }

    fn is_from(self, version: (u16, u16)) -> bool {
        self.version.is_some_and(|own| own >= version)
    }

    pub(super) fn thinking_form(self) -> ThinkingForm {
        if self.is_before((3, 7)) {
            ThinkingForm::Never
        } else if self.is_from((4, 6)) {
            ThinkingForm::Adaptive
        } else {
            ThinkingForm::Budget
        }
    }

    /// Whether it thinks without being asked to.
    pub(super) fn thinks_unasked(self) -> bool {
        self.is_from((5, 0))
    }

    /// Whether it knows the effort `xhigh`.
    pub(super) fn knows_xhigh(self) -> bool {
        self.is_from((4, 7))
    }

    /// Whether it leaves the text of its thoughts out unless a summary is asked for.
    pub(super) fn hides_its_thoughts(self) -> bool {
        self.is_from((4, 7))
    }

    pub(super) fn sampling(self) -> Sampling {
        if self.is_from((4, 7)) {
            Sampling::No
        } else if self.is_from((4, 1)) {
            Sampling::One
        } else {
            Sampling::Both
        }
    }

    /// Whether it holds answers and arguments to a JSON Schema.
    pub(super) fn takes_schemas(self) -> bool {
        !self.is_before((4, 1))
    }

    /// Whether it goes on with an assistant turn at the end of the conversation.
    pub(super) fn continues_its_turn(self) -> bool {
        !self.is_from((4, 6))
    }

    /// The bound on generated tokens where neither the request nor the catalogue has one.
    pub(super) fn default_max_tokens(self) -> u32 {
        if self.is_from((3, 7)) {
            32_000
        } else if self.is_from((3, 5)) {
            8_192
        } else {
            4_096
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_generation() {
        let cases = [
            ("claude-2.1", Some((2, 1))),
            ("claude-3-5-sonnet-20241022", Some((3, 5))),
            ("claude-3-7-sonnet-latest", Some((3, 7))),
            ("claude-opus-4-20250514", Some((4, 0))),
            ("claude-opus-4-1-20250805", Some((4, 1))),
            ("anthropic/claude-sonnet-4.6", Some((4, 6))),
            ("claude-sonnet-4-5@20250929", Some((4, 5))),
            ("us.anthropic.claude-opus-4-6-v1", Some((4, 6))),
            ("claude-fable-5", Some((5, 0))),
            ("claude-opus-5-5", Some((5, 5))),
            ("claude-sonnet-latest", Some((u16::MAX, 0))),
            ("mock-fast", None),
        ];
        for (name, version) in cases {
            assert_eq!(Model::of(name).version, version, "{name}");
        }
        assert!(Model::of("claude-fable-5").always_thinks);
    }

    #[test]
    fn a_model_of_another_maker_is_refused_nothing() {
        let model = Model::of("glm-5");
        assert_eq!(model.thinking_form(), ThinkingForm::Budget);
        assert_eq!(model.sampling(), Sampling::Both);
        assert!(model.takes_schemas() && model.continues_its_turn());
    }
}
