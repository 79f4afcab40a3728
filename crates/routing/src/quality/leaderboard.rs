//! Leaderboards as files: what is read of them, and how their figures get onto the scale of ours.
//!
//! | Format | Known by its columns | Figures |
//! | --- | --- | --- |
//! | Arena | `model`, `full`, `coding`, `math` | ratings: 400 points are odds of ten to one |
//! | aider | `model`, `pass_rate_1`, `pass_rate_2` | percent of coding exercises solved |
//! | Vectara | `model`, `hallucination_percent` | percent of summaries with invented facts |
//! | LiveBench | `model`, and its tasks (`zebra_puzzle`, …) | percent |
//! | plain | `model`, and task types or `average`; or `model`, `task`, `share` | shares, or percent |
//!
//! A plain file says what share of ordinary requests a model does well, and is taken at its word.
//! The figures of a leaderboard are relative to its exercises: [`Board::strength`] brings them to a
//! scale without ends, from which a [`Line`] leads to that of models that both know.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use sluice_core::chat::ReasoningEffort;

use super::line::{LEAST_COMMON, logit};
use super::name::{ModelName, effort_of_thousands};
use crate::task::TaskType;

/// The most bytes of a file; the largest leaderboards have some hundred kilobytes.
pub const MOST_BYTES: usize = 16 << 20;

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
const ARENA: [(&[TaskType], &[&[&str]]); 6] = {
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
const LIVEBENCH: [(&str, &[&str]); 7] = [
    ("Reasoning", &["theory_of_mind", "zebra_puzzle", "spatial", "logic_with_navigation"]),
    ("Coding", &["code_generation", "code_completion"]),
    ("Agentic Coding", &["javascript", "typescript", "python"]),
    ("Mathematics", &["AMPS_Hard", "integrals_with_game", "math_comp", "olympiad"]),
    ("Data Analysis", &["consecutive_events", "tablejoin", "tablereformat"]),
    ("Language", &["connections", "plot_unscrambling", "typos"]),
    ("IF", &["paraphrase", "simplify", "story_generation", "summarize"]),
];

/// The groups of LiveBench that a task type is judged by; all of them where there is none like it.
fn livebench_groups(task: TaskType) -> &'static [&'static str] {
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

/// Columns that are known and say nothing of quality.
const ASIDE: [&str; 33] = [
    "edit_format",
    "percent_cases_well_formed",
    "reasoning_effort",
    "thinking_tokens",
    "seconds_per_case",
    "total_cost",
    "test_cases",
    "date",
    "answer_percent",
    "summary_words",
    "multiturn",
    "if",
    "expert",
    "long_user",
    "industry_business_and_management_and_financial_operations",
    "english",
    "german",
    "french",
    "spanish",
    "russian",
    "chinese",
    "japanese",
    "korean",
    "full_low",
    "full_high",
    "source",
    "effort",
    "model",
    "sources",
    "organization",
    "license",
    "votes",
    "notes",
];

/// What is wrong with a file: the line, the column, and what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Wrong {
    /// There is nothing in it.
    #[error("it is empty; it needs a line of column names and a line for each model")]
    Empty,
    /// It is longer than [`MOST_BYTES`].
    #[error("it has {0} bytes; a leaderboard has at most {MOST_BYTES}")]
    TooLong(usize),
    /// It is no table.
    #[error("{0}")]
    Table(String),
    /// Nobody knows what these columns are.
    #[error(
        "its columns are of no known leaderboard ({columns}); it needs `model` and the columns of \
         Arena, aider, Vectara or LiveBench, or of a plain file: task types ({}) and `average`",
        task_words()
    )]
    Columns {
        /// Those that nobody knows.
        columns: String,
    },
    /// A field is no number.
    #[error("line {line}: `{column}` is {value:?}; write a number, or leave it empty")]
    Number {
        /// Counted from 1.
        line: u64,
        /// Its name.
        column: String,
        /// What stands there.
        value: String,
    },
    /// A figure is out of bounds.
    #[error("line {line}: `{column}` is {value}; write {bounds}")]
    Bounds {
        /// Counted from 1.
        line: u64,
        /// Its name.
        column: String,
        /// What stands there.
        value: f64,
        /// What may stand there.
        bounds: &'static str,
    },
    /// Some figures are shares, some are percent.
    #[error(
        "line {share} has a share ({share_value}) and line {percent} a percentage ({percent_value}); \
         write all figures from 0 to 1, or all from 0 to 100"
    )]
    Mixed {
        /// The line of the first figure between 0 and 1.
        share: u64,
        /// That figure.
        share_value: f64,
        /// The line of the first figure over 1.
        percent: u64,
        /// That figure.
        percent_value: f64,
    },
    /// Two lines are about the same model.
    #[error("lines {first} and {second} are both about {model}; keep one of them")]
    Twice {
        /// The earlier line.
        first: u64,
        /// The later line.
        second: u64,
        /// The model, as it is recognised.
        model: String,
    },
    /// A line without a model, or with something else that nobody can read.
    #[error("line {line}: {problem}")]
    Line {
        /// Counted from 1.
        line: u64,
        /// What is wrong, and the fix.
        problem: String,
    },
    /// Too few models of the board are known to tell what its figures are worth.
    #[error(
        "only {found} of its models are known with figures of their own, and {LEAST_COMMON} are \
         needed to tell what its figures are worth; write shares of requests done well into a plain \
         file instead"
    )]
    TooFewKnown {
        /// How many there are.
        found: usize,
    },
}

fn task_words() -> String {
    TaskType::ALL.map(TaskType::as_str).join(", ")
}

/// A leaderboard that was read.
#[derive(Debug, Clone)]
pub struct Board {
    /// Whose format it has.
    pub format: Format,
    /// Its models.
    pub rows: Vec<BoardRow>,
}

/// A model on a board.
#[derive(Debug, Clone)]
pub struct BoardRow {
    /// Its name there.
    pub name: String,
    /// What that name says.
    pub known: Option<ModelName>,
    /// The thinking effort that it was measured at, where the board says so.
    pub effort: Option<ReasoningEffort>,
    /// The day of the figures (`2026-11-01`), where the board says so.
    pub date: Option<String>,
    /// Where a plain file has its figures from, where it says so.
    pub source: Option<String>,
    /// The line in the file, counted from 1.
    pub line: u64,
    /// The figures by column.
    figures: BTreeMap<String, f64>,
}

impl BoardRow {
    /// The text that stands for the model in a table: what it is recognised as, or else its name in
    /// small letters.
    pub fn key(&self) -> String {
        match &self.known {
            Some(known) if !known.is_quantised() => known.key(),
            _ => self.name.to_lowercase(),
        }
    }

    /// A figure as it stands in the file.
    pub fn figure(&self, column: &str) -> Option<f64> {
        self.figures.get(column).copied()
    }

    fn mean(&self, columns: &[&str]) -> Option<f64> {
        let mut sum = 0.0;
        for column in columns {
            sum += self.figure(column)?;
        }
        #[expect(clippy::cast_precision_loss, reason = "a handful")]
        let count = columns.len() as f64;
        (count > 0.0).then(|| sum / count)
    }
}

impl Board {
    /// Reads a file.
    pub fn read(text: &str) -> Result<Self, Wrong> {
        if text.len() > MOST_BYTES {
            return Err(Wrong::TooLong(text.len()));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            // Leaderboards leave out the last fields of models that were not asked everything.
            .flexible(true)
            .from_reader(text.as_bytes());
        let table = |error: csv::Error| Wrong::Table(error.to_string());
        let columns: Vec<String> =
            reader.headers().map_err(table)?.iter().map(str::to_owned).collect();
        if columns.iter().all(String::is_empty) {
            return Err(Wrong::Empty);
        }
        let format = Format::of(&columns)?;
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(table)?;
            let line = record.position().map_or(0, csv::Position::line);
            if record.len() > columns.len() {
                let problem = format!(
                    "it has {} fields, and the first line names {}; put quotes around a field \
                     with a comma",
                    record.len(),
                    columns.len()
                );
                return Err(Wrong::Line { line, problem });
            }
            let fields = columns.iter().map(String::as_str).zip(record.iter());
            rows.push(row(format, line, fields)?);
        }
        if rows.is_empty() {
            return Err(Wrong::Empty);
        }
        let mut board = Self { format, rows };
        if format == Format::Plain {
            board.rows = joined(board.rows)?;
            board.as_shares()?;
        }
        board.refuse_doubles()?;
        Ok(board)
    }

    /// How strong the board takes a model to be at a kind of task, on a scale that only the board
    /// has: an odds ratio's logarithm. `None` where it says nothing of it.
    pub fn strength(&self, row: &BoardRow, task: TaskType) -> Option<f64> {
        match self.format {
            Format::Arena => arena_rating(row, task).map(|rating| rating * POINT),
            Format::Aider => {
                let is_code = matches!(
                    task,
                    TaskType::Code | TaskType::Edit | TaskType::Debug | TaskType::Test
                );
                // Of the refactorings there is only a first try.
                let solved = row.figure("pass_rate_2").or(row.figure("pass_rate_1"))?;
                is_code.then(|| logit(solved / 100.0))
            }
            Format::Vectara => {
                let invented = row.figure("hallucination_percent")?;
                (task == TaskType::Transform).then(|| logit(1.0 - invented / 100.0))
            }
            Format::LiveBench => {
                let wanted = livebench_groups(task);
                let groups = LIVEBENCH
                    .iter()
                    .filter(|(group, _)| wanted.is_empty() || wanted.contains(group));
                let figures: Vec<f64> =
                    groups.filter_map(|(_, columns)| row.mean(columns)).collect();
                let count = if wanted.is_empty() { LIVEBENCH.len() } else { wanted.len() };
                #[expect(clippy::cast_precision_loss, reason = "a handful")]
                let mean = figures.iter().sum::<f64>() / count as f64;
                (figures.len() == count).then(|| logit(mean / 100.0))
            }
            Format::Plain => row.figure(task.as_str()).or(row.figure("average")).map(logit),
        }
    }

    /// The mean of a group of LiveBench's tasks, in percent; for judging.
    pub fn livebench_group(row: &BoardRow, group: &str) -> Option<f64> {
        let (_, columns) = LIVEBENCH.iter().find(|(name, _)| *name == group)?;
        row.mean(columns)
    }

    /// Whether all figures are shares or all are percent; makes them shares.
    fn as_shares(&mut self) -> Result<(), Wrong> {
        let (mut share, mut percent) = (None, None);
        for row in &self.rows {
            for value in row.figures.values().copied() {
                if value > 0.0 && value < 1.0 {
                    share.get_or_insert((row.line, value));
                } else if value > 1.0 {
                    percent.get_or_insert((row.line, value));
                }
            }
        }
        match (share, percent) {
            (Some((share, share_value)), Some((percent, percent_value))) => {
                return Err(Wrong::Mixed { share, share_value, percent, percent_value });
            }
            (None, Some(_)) => {
                for value in self.rows.iter_mut().flat_map(|row| row.figures.values_mut()) {
                    *value /= 100.0;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// aider runs a model with several formats of edits: its best run counts. Elsewhere two lines
    /// with one name are a mistake.
    fn refuse_doubles(&mut self) -> Result<(), Wrong> {
        let mut seen: BTreeMap<(String, Option<ReasoningEffort>), usize> = BTreeMap::new();
        let mut kept: Vec<BoardRow> = Vec::with_capacity(self.rows.len());
        for row in std::mem::take(&mut self.rows) {
            let name = match self.format {
                Format::Plain => row.key(),
                _ => row.name.clone(),
            };
            match seen.entry((name, row.effort)) {
                Entry::Vacant(new) => {
                    new.insert(kept.len());
                    kept.push(row);
                }
                Entry::Occupied(old) if self.format == Format::Aider => {
                    let earlier = &mut kept[*old.get()];
                    let solved = |row: &BoardRow| row.figure("pass_rate_2").unwrap_or(-1.0);
                    if solved(&row) > solved(earlier) {
                        *earlier = row;
                    }
                }
                Entry::Occupied(old) => {
                    return Err(Wrong::Twice {
                        first: kept[*old.get()].line,
                        second: row.line,
                        model: row.key(),
                    });
                }
            }
        }
        self.rows = kept;
        Ok(())
    }
}

/// What Arena's rating of `row` at `task` is; `None` where it has none, or the task is none of its
/// categories.
pub fn arena_rating(row: &BoardRow, task: TaskType) -> Option<f64> {
    if task == TaskType::Transform {
        return row.figure("if").or(row.figure("full"));
    }
    let (_, ways) = ARENA.iter().find(|(tasks, _)| tasks.contains(&task))?;
    ways.iter().find_map(|columns| row.mean(columns))
}

/// Odds of ten to one are 400 points of a rating.
const POINT: f64 = std::f64::consts::LN_10 / 400.0;

impl Format {
    /// The format that has these columns.
    fn of(columns: &[String]) -> Result<Self, Wrong> {
        let has = |name: &str| columns.iter().any(|column| column == name);
        let is_task = |name: &str| TaskType::parse(name).is_some() || name == "average";
        let is_livebench = |name: &str| LIVEBENCH.iter().any(|(_, tasks)| tasks.contains(&name));
        let format = if !has("model") {
            None
        } else if has("full") && has("coding") {
            Some(Self::Arena)
        } else if has("pass_rate_1") {
            Some(Self::Aider)
        } else if has("hallucination_percent") {
            Some(Self::Vectara)
        } else if columns.iter().any(|column| is_livebench(column)) {
            Some(Self::LiveBench)
        } else if columns.iter().any(|column| is_task(column)) || has("task") && has("share") {
            Some(Self::Plain)
        } else {
            None
        };
        let is_known = |name: &str| {
            let counts = match format {
                Some(Self::Arena) => {
                    ARENA.iter().any(|(_, ways)| ways.iter().any(|way| way.contains(&name)))
                }
                Some(Self::Aider) => name == "pass_rate_1" || name == "pass_rate_2",
                Some(Self::Vectara) => name == "hallucination_percent",
                Some(Self::LiveBench) => is_livebench(name),
                Some(Self::Plain) => is_task(name) || name == "task" || name == "share",
                None => false,
            };
            counts || ASIDE.contains(&name)
        };
        let unknown: Vec<&str> =
            columns.iter().map(String::as_str).filter(|name| !is_known(name)).collect();
        match format {
            // A leaderboard may have grown a column; in a plain file it is a task type misspelt.
            Some(format) if format != Self::Plain || unknown.is_empty() => Ok(format),
            _ => Err(Wrong::Columns { columns: unknown.join(", ") }),
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
    fn bounds(self) -> (std::ops::RangeInclusive<f64>, &'static str) {
        match self {
            Self::Arena => (0.0..=4_000.0, "a rating from 0 to 4000"),
            Self::Plain => (0.0..=100.0, "a share from 0 to 1 or a percentage from 0 to 100"),
            Self::Aider | Self::Vectara | Self::LiveBench => {
                (0.0..=100.0, "a percentage from 0 to 100")
            }
        }
    }
}

fn row<'a>(
    format: Format,
    line: u64,
    fields: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<BoardRow, Wrong> {
    let mut row = BoardRow {
        name: String::new(),
        known: None,
        effort: None,
        date: None,
        source: None,
        line,
        figures: BTreeMap::new(),
    };
    let (mut task, mut thinking) = (None, None);
    for (column, text) in fields {
        if text.is_empty() {
            continue;
        }
        match column {
            "model" => text.clone_into(&mut row.name),
            "date" => row.date = Some(text.to_owned()),
            "source" | "sources" => row.source = Some(text.to_owned()),
            "task" => task = Some(text),
            "effort" | "reasoning_effort" => {
                let effort = ReasoningEffort::parse(text);
                let problem = || {
                    format!(
                        "`{column}` is {text:?}; write none, minimal, low, medium, high or xhigh"
                    )
                };
                row.effort = Some(effort.ok_or_else(|| Wrong::Line { line, problem: problem() })?);
            }
            "thinking_tokens" => thinking = Some(effort_of_budget(number(line, column, text)?)),
            _ if ASIDE.contains(&column) && !(format == Format::Arena && column == "if") => {}
            _ => {
                let value = number(line, column, text)?;
                let (range, bounds) = format.bounds();
                if !range.contains(&value) {
                    let column = column.to_owned();
                    return Err(Wrong::Bounds { line, column, value, bounds });
                }
                row.figures.insert(column.to_owned(), value);
            }
        }
    }
    if row.name.is_empty() {
        return Err(Wrong::Line { line, problem: "`model` is empty; name the model".into() });
    }
    if let Some(task) = task {
        if TaskType::parse(task).is_none() && task != "average" {
            let problem = format!("{task:?} is no task type; write average, {}", task_words());
            return Err(Wrong::Line { line, problem });
        }
        if let Some(share) = row.figures.remove("share") {
            row.figures.insert(task.to_owned(), share);
        }
    }
    row.known = ModelName::parse(&row.name);
    let named = row.known.as_ref().and_then(ModelName::effort);
    row.effort = row.effort.or(thinking).or(named);
    Ok(row)
}

/// The effort that a budget of so many tokens stands for.
fn effort_of_budget(tokens: f64) -> ReasoningEffort {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 and more")]
    let thousands = (tokens / 1_000.0).clamp(0.0, 1e6) as u32;
    effort_of_thousands(thousands)
}

fn number(line: u64, column: &str, text: &str) -> Result<f64, Wrong> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| Wrong::Number { line, column: column.to_owned(), value: text.to_owned() })
}

/// The lines of a plain file with one task each, joined by model.
fn joined(rows: Vec<BoardRow>) -> Result<Vec<BoardRow>, Wrong> {
    let mut joined: Vec<BoardRow> = Vec::new();
    let mut places: BTreeMap<(String, Option<ReasoningEffort>), usize> = BTreeMap::new();
    for row in rows {
        match places.entry((row.key(), row.effort)) {
            Entry::Vacant(new) => {
                new.insert(joined.len());
                joined.push(row);
            }
            Entry::Occupied(old) => {
                let first = &mut joined[*old.get()];
                for (column, value) in row.figures {
                    if first.figures.insert(column.clone(), value).is_some() {
                        let model = format!("{} at {column}", first.key());
                        return Err(Wrong::Twice { first: first.line, second: row.line, model });
                    }
                }
            }
        }
    }
    Ok(joined)
}

#[cfg(test)]
mod tests;
