//! What the filter did with a request and its answer, as headers, records and metrics tell it:
//! words and numbers, never content.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The strongest thing that the filter did.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum FilterAction {
    /// Nothing was changed.
    #[default]
    Pass,
    /// Values were replaced on the way to the model, and restored on the way back.
    Redact,
    /// A part of the request was kept from the model, or a part of the answer from the caller.
    Withhold,
    /// The request was refused, or the answer stopped.
    Block,
}

impl FilterAction {
    /// Every action, from the mildest to the strongest.
    pub const ALL: [Self; 4] = [Self::Pass, Self::Redact, Self::Withhold, Self::Block];

    /// The word on the wire and in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Redact => "redact",
            Self::Withhold => "withhold",
            Self::Block => "block",
        }
    }

    /// The action that a word in a record stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}

/// What the filter did with a request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FilterRecord {
    /// The strongest thing that it did.
    pub action: FilterAction,
    /// How many different values were redacted, by kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub redactions: BTreeMap<String, u64>,
    /// What was noticed: `prompt_injection`, `secret_in_answer`, …
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// How much the request looks like an attack on the model, in thousandths.
    #[serde(skip_serializing_if = "is_zero")]
    pub injection_permille: u16,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &u16) -> bool {
    *number == 0
}

impl FilterRecord {
    /// The flag that says that the filter itself failed.
    pub const FAILED: &str = "filter_failed";

    /// Whether the filter itself failed.
    pub fn has_failed(&self) -> bool {
        self.flags.iter().any(|flag| flag == Self::FAILED)
    }

    /// Nothing but that the filter failed, and whether that stopped the request or its answer. It
    /// says something about the filter, and nothing about what was filtered.
    #[must_use]
    pub fn failure_only(&self) -> Self {
        if !self.has_failed() {
            return Self::default();
        }
        let is_blocked = self.action == FilterAction::Block;
        let action = if is_blocked { FilterAction::Block } else { FilterAction::Pass };
        Self { action, flags: vec![Self::FAILED.to_owned()], ..Self::default() }
    }

    /// Whether anything was done or noticed. A score alone is neither.
    pub fn has_findings(&self) -> bool {
        self.action != FilterAction::Pass || !self.redactions.is_empty() || !self.flags.is_empty()
    }

    /// Whether there is nothing to tell, not even a score.
    pub fn is_quiet(&self) -> bool {
        *self == Self::default()
    }
}
