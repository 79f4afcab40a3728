//! What the way back did with an answer.

use std::fmt;

use crate::flag::{Flag, Flags};
use crate::kind::Kind;

/// What was done with an answer, the strongest of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AnswerAction {
    /// It passed as the model gave it.
    #[default]
    Pass,
    /// Redacted values were put back.
    Restore,
    /// A part was kept back.
    Withhold,
    /// It was ended.
    Block,
}

impl AnswerAction {
    /// The word in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Restore => "restore",
            Self::Withhold => "withhold",
            Self::Block => "block",
        }
    }
}

impl fmt::Display for AnswerAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How many there were of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([u32; Kind::ALL.len()]);

impl Counts {
    /// Counts one more.
    pub(super) fn add(&mut self, kind: Kind) {
        let count = &mut self.0[kind as usize];
        *count = count.saturating_add(1);
    }

    /// How many there were of `kind`.
    pub fn of(&self, kind: Kind) -> u32 {
        self.0[kind as usize]
    }

    /// The kinds that there were, in the kinds' order.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, u32)> {
        Kind::ALL.into_iter().map(|kind| (kind, self.of(kind))).filter(|(_, count)| *count > 0)
    }

    /// Whether there was nothing.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// What was noticed in an answer, and what was done about it. No content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerReport {
    /// What was noticed.
    pub flags: Flags,
    /// The strongest thing that was done.
    pub action: AnswerAction,
    /// Values that were put back.
    pub restored: Counts,
    /// Values that were kept back, and placeholders that were left as they are.
    pub withheld: Counts,
}

impl AnswerReport {
    pub(super) fn flag(&mut self, flag: Flag) {
        self.flags.raise(flag);
    }

    pub(super) fn act(&mut self, action: AnswerAction) {
        self.action = self.action.max(action);
    }

    pub(super) fn restored(&mut self, kind: Kind) {
        self.restored.add(kind);
        self.act(AnswerAction::Restore);
    }

    pub(super) fn withheld(&mut self, kind: Kind) {
        self.withheld.add(kind);
        self.act(AnswerAction::Withhold);
    }
}
