//! What a request asks for, in thirteen words.

use serde::{Deserialize, Serialize};

/// How many task types there are.
pub const TASK_TYPES: usize = 13;

/// What the latest turn of a conversation asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskType {
    /// Write something new: a function, a query, a component, a script.
    Code,
    /// Change existing code without a fault being the reason: refactor, rename, port.
    Edit,
    /// Something is wrong: find it or fix it.
    Debug,
    /// Write or extend tests.
    Test,
    /// Judge code, a design or a text.
    Review,
    /// Text about software: README, docstring, changelog, commit message.
    Document,
    /// Decide before doing: architecture, roadmap, choice between options.
    Plan,
    /// Make software or a technical concept understood.
    Explain,
    /// Shell, version control, build, deploy, configure, operate machines.
    Ops,
    /// Calculation, proof, logic.
    Math,
    /// Facts and advice outside software.
    Knowledge,
    /// Creative or business text.
    Write,
    /// Given text in, text out: summarise, translate, extract.
    Transform,
}

impl TaskType {
    /// Every task type, in the order of a [`crate::classify::Judgement`]'s probabilities.
    pub const ALL: [Self; TASK_TYPES] = [
        Self::Code,
        Self::Edit,
        Self::Debug,
        Self::Test,
        Self::Review,
        Self::Document,
        Self::Plan,
        Self::Explain,
        Self::Ops,
        Self::Math,
        Self::Knowledge,
        Self::Write,
        Self::Transform,
    ];

    /// The word on the wire, in records and in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Edit => "edit",
            Self::Debug => "debug",
            Self::Test => "test",
            Self::Review => "review",
            Self::Document => "document",
            Self::Plan => "plan",
            Self::Explain => "explain",
            Self::Ops => "ops",
            Self::Math => "math",
            Self::Knowledge => "knowledge",
            Self::Write => "write",
            Self::Transform => "transform",
        }
    }

    /// The task type that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.as_str() == word)
    }

    /// Its place in [`TaskType::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// How many tokens an answer usually has, at medium complexity: what a request of this kind
    /// is expected to cost before anybody has answered it.
    pub fn usual_answer_tokens(self) -> f64 {
        match self {
            Self::Code | Self::Test => 700.0,
            Self::Plan => 900.0,
            Self::Explain | Self::Review | Self::Document | Self::Write => 500.0,
            Self::Edit | Self::Debug | Self::Math => 450.0,
            Self::Knowledge => 350.0,
            Self::Ops | Self::Transform => 250.0,
        }
    }
}
