//! Where an assistant's turn carries what a provider sealed.
//!
//! Providers sign and encrypt what a model thought, give it to the caller, and want it back in the
//! next turn as it was. Whoever gave it out is the only one who understands it.

/// Places of an assistant's turn, in OpenAI's dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SealedPlaces {
    /// `reasoning_details[].signature` and `reasoning_details[].data`.
    pub thoughts: bool,
    /// `tool_calls[].extra_content.google.thought_signature`.
    pub calls: bool,
}

impl SealedPlaces {
    /// No place at all.
    pub const NONE: Self = Self { thoughts: false, calls: false };

    /// These and those.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { thoughts: self.thoughts || other.thoughts, calls: self.calls || other.calls }
    }

    /// These without those.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self { thoughts: self.thoughts && !other.thoughts, calls: self.calls && !other.calls }
    }
}
