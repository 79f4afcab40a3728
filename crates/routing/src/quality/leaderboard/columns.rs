//! The columns of the leaderboards: by which of them a file is known, and what they mean.

use super::wrong::Wrong;
use crate::task::TaskType;

/// Whose format it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `lmarena/arena-catalog`.
    Arena,
    /// `Aider-AI/aider`.
    Aider,
    /// `vectara/hallucination-leaderboard`.
    Vectara,
    /// `LiveBench/livebench.github.io`.
    LiveBench,
    /// Shares of ordinary requests done well: one's own evaluation.
    Plain,
}

/// Task types by column, in [`Format::Arena`]. The first that a row has counts.
pub(super) const ARENA: [(&[TaskType], &[&[&str]]); 6] = {
    use TaskType::{
        Code, Debug, Document, Edit, Explain, Knowledge, Math, Ops, Plan, Review, Test, Write,
    };
    [
        (
            &[Code, Edit, Debug, Test, Review, Ops],
            &[&["coding", "industry_software_and_it_services"], &["coding"], &["full"]],
        ),
        (&[Document, Explain], &[&["full", "industry_software_and_it_services"], &["full"]]),
        (&[Plan], &[&["hard_6", "industry_software_and_it_services"], &["hard_6"], &["full"]]),
        (&[Math], &[&["math", "industry_mathematical"], &["math"], &["full"]]),
        (&[Knowledge], &[&["full"]]),
        (
            &[Write],
            &[
                &["creative_writing", "industry_writing_and_literature_and_language"],
                &["creative_writing"],
                &["full"],
            ],
        ),
    ]
};

/// The tasks of LiveBench, by its own groups.
pub(super) const LIVEBENCH: [(&str, &[&str]); 7] = [
    ("Reasoning", &["theory_of_mind", "zebra_puzzle", "spatial", "logic_with_navigation"]),
    ("Coding", &["code_generation", "code_completion"]),
    ("Agentic Coding", &["javascript", "typescript", "python"]),
    ("Mathematics", &["AMPS_Hard", "integrals_with_game", "math_comp", "olympiad"]),
    ("Data Analysis", &["consecutive_events", "tablejoin", "tablereformat"]),
    ("Language", &["connections", "plot_unscrambling", "typos"]),
    ("IF", &["paraphrase", "simplify", "story_generation", "summarize"]),
];

/// The groups of LiveBench that a task type is judged by; all of them where there is none like it.
pub(super) fn livebench_groups(task: TaskType) -> &'static [&'static str] {
    match task {
        TaskType::Code | TaskType::Test => &["Coding", "Agentic Coding"],
        TaskType::Edit | TaskType::Debug | TaskType::Ops => &["Agentic Coding"],
        TaskType::Plan => &["Reasoning"],
        TaskType::Math => &["Mathematics"],
        TaskType::Write => &["IF", "Language"],
        TaskType::Transform => &["IF", "Data Analysis"],
        TaskType::Review | TaskType::Document | TaskType::Explain | TaskType::Knowledge => &[],
    }
}

/// What a file may say of a model beside its figures.
const ASIDE: [&str; 9] = [
    "model",
    "effort",
    "reasoning_effort",
    "thinking_tokens",
    "source",
    "date",
    "organization",
    "license",
    "notes",
];

impl Format {
    /// The format that has these columns.
    pub(super) fn of(columns: &[String]) -> Result<Self, Wrong> {
        let has = |name: &str| columns.iter().any(|column| column == name);
        let is_any = |format: Self| columns.iter().any(|column| format.counts(column));
        let format = if !has("model") {
            None
        } else if has("full") && has("coding") {
            Some(Self::Arena)
        } else if has("pass_rate_1") {
            Some(Self::Aider)
        } else if has("hallucination_percent") {
            Some(Self::Vectara)
        } else if is_any(Self::LiveBench) {
            Some(Self::LiveBench)
        } else if is_any(Self::Plain) || has("task") && has("share") {
            Some(Self::Plain)
        } else {
            None
        };
        let is_task_file = has("task") && has("share");
        let is_known = |name: &str| {
            Self::Plain.counts(name)
                || ASIDE.contains(&name)
                || (is_task_file && (name == "task" || name == "share"))
        };
        match format {
            // A leaderboard may have grown a column; in a plain file it is a task type misspelt.
            Some(format) if format != Self::Plain || columns.iter().all(|it| is_known(it)) => {
                Ok(format)
            }
            _ => {
                let unknown = columns.iter().map(String::as_str).filter(|name| !is_known(name));
                let columns = match unknown.collect::<Vec<_>>().join(", ") {
                    none if none.is_empty() => columns.join(", "),
                    unknown => unknown,
                };
                Err(Wrong::Columns { columns })
            }
        }
    }

    /// Whether the figures of a column count. The others are not even read.
    pub(super) fn counts(self, column: &str) -> bool {
        match self {
            Self::Arena => {
                let is_used = |ways: &[&[&str]]| ways.iter().any(|way| way.contains(&column));
                column == "if" || ARENA.iter().any(|(_, ways)| is_used(ways))
            }
            Self::Aider => column == "pass_rate_1" || column == "pass_rate_2",
            Self::Vectara => column == "hallucination_percent",
            Self::LiveBench => LIVEBENCH.iter().any(|(_, tasks)| tasks.contains(&column)),
            Self::Plain => column == "average" || TaskType::parse(column).is_some(),
        }
    }

    /// What its source is called.
    pub fn source(self) -> &'static str {
        match self {
            Self::Arena => "Arena",
            Self::Aider => "aider",
            Self::Vectara => "Vectara",
            Self::LiveBench => "LiveBench",
            Self::Plain => "own evaluation",
        }
    }

    /// What its figures may be.
    pub(super) fn bounds(self) -> (std::ops::RangeInclusive<f64>, &'static str) {
        match self {
            Self::Arena => (0.0..=4_000.0, "a rating from 0 to 4000"),
            Self::Plain => (0.0..=100.0, "a share from 0 to 1 or a percentage from 0 to 100"),
            Self::Aider | Self::Vectara | Self::LiveBench => {
                (0.0..=100.0, "a percentage from 0 to 100")
            }
        }
    }
}
