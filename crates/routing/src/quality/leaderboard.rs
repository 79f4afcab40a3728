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
//! Each as CSV; Arena's also as the JSON and aider's as the YAML that they publish (`sheet`).
//!
//! A plain file says what share of ordinary requests a model does well, and is taken at its word.
//! The figures of a leaderboard are relative to its exercises: [`Board::strength`] brings them to a
//! scale without ends, from which a [`Line`](super::line::Line) leads to that of models that both know.

mod columns;
mod sheet;
mod wrong;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use sluice_core::chat::ReasoningEffort;
use sluice_core::clock::UnixMillis;

pub use self::columns::Format;
use self::columns::{ARENA, LIVEBENCH, livebench_groups};
use self::sheet::Sheet;
use self::wrong::task_words;
pub use self::wrong::{Place, Wrong};
use super::line::logit;
use super::name::{ModelName, effort_of_thousands};
use crate::task::TaskType;

/// The most bytes of a file; the largest leaderboards have some hundred kilobytes.
pub const MOST_BYTES: usize = 16 << 20;

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
    /// Where in the file it is.
    pub place: Place,
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
        let sheet = Sheet::read(text.strip_prefix('\u{feff}').unwrap_or(text))?;
        let mut seen = BTreeSet::new();
        if let Some(double) = sheet.columns.iter().find(|it| !it.is_empty() && !seen.insert(*it)) {
            return Err(Wrong::DoubleColumn(double.clone()));
        }
        let format = Format::of(&sheet.columns)?;
        let rows = sheet.lines.iter().map(|(place, fields)| {
            let columns = sheet.columns.iter().map(String::as_str);
            row(format, *place, columns.zip(fields.iter().map(String::as_str)))
        });
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            return Err(Wrong::Empty);
        }
        let mut board = Self { format, rows };
        if format == Format::Plain {
            if sheet.columns.iter().any(|column| column == "task") {
                board.rows = joined(board.rows)?;
            }
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
                let solved = solved(row)?;
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
                    share.get_or_insert((row.place, value));
                } else if value > 1.0 {
                    percent.get_or_insert((row.place, value));
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
    /// with one name are a mistake, but for what several sources say of it in a plain file.
    fn refuse_doubles(&mut self) -> Result<(), Wrong> {
        let mut seen: BTreeMap<(String, Option<ReasoningEffort>, Option<String>), usize> =
            BTreeMap::new();
        let mut kept: Vec<BoardRow> = Vec::with_capacity(self.rows.len());
        for row in std::mem::take(&mut self.rows) {
            let name = match self.format {
                Format::Plain => row.key(),
                _ => row.name.clone(),
            };
            match seen.entry((name, row.effort, row.source.clone())) {
                Entry::Vacant(new) => {
                    new.insert(kept.len());
                    kept.push(row);
                }
                Entry::Occupied(old) if self.format == Format::Aider => {
                    let earlier = &mut kept[*old.get()];
                    if solved(&row) > solved(earlier) {
                        *earlier = row;
                    }
                }
                Entry::Occupied(old) => {
                    return Err(Wrong::Twice {
                        first: kept[*old.get()].place,
                        second: row.place,
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

/// The percentage of exercises that aider solved with a model, at the last try: of refactorings
/// there is only a first one.
fn solved(row: &BoardRow) -> Option<f64> {
    row.figure("pass_rate_2").or(row.figure("pass_rate_1"))
}

/// Odds of ten to one are 400 points of a rating.
const POINT: f64 = std::f64::consts::LN_10 / 400.0;

fn row<'a>(
    format: Format,
    place: Place,
    fields: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<BoardRow, Wrong> {
    let mut row = BoardRow {
        name: String::new(),
        known: None,
        effort: None,
        date: None,
        source: None,
        place,
        figures: BTreeMap::new(),
    };
    let (mut task, mut share, mut thinking) = (None, None, None);
    for (column, text) in fields {
        if text.is_empty() {
            continue;
        }
        match column {
            "model" => text.clone_into(&mut row.name),
            "date" if is_day(text) => row.date = Some(text.to_owned()),
            "date" if format == Format::Plain => {
                let problem = format!("`date` is {text:?}; write a day, such as 2026-11-21");
                return Err(Wrong::Line { line: place, problem });
            }
            "source" => row.source = Some(text.to_owned()),
            "task" => task = Some(text),
            "effort" | "reasoning_effort" => {
                let effort = ReasoningEffort::parse(text);
                let problem = || {
                    format!(
                        "`{column}` is {text:?}; write none, minimal, low, medium, high or xhigh"
                    )
                };
                row.effort =
                    Some(effort.ok_or_else(|| Wrong::Line { line: place, problem: problem() })?);
            }
            "thinking_tokens" => thinking = Some(effort_of_budget(number(place, column, text)?)),
            "share" if format == Format::Plain => {
                share = Some(figure(format, place, column, text)?);
            }
            _ if format.counts(column) => {
                let value = figure(format, place, column, text)?;
                row.figures.insert(column.to_owned(), value);
            }
            _ => {}
        }
    }
    let wrong = |problem: String| Err(Wrong::Line { line: place, problem });
    if row.name.is_empty() {
        return wrong("`model` is empty; name the model".into());
    }
    match (task, share) {
        (Some(task), Some(share)) if task == "average" || TaskType::parse(task).is_some() => {
            row.figures.insert(task.to_owned(), share);
        }
        (Some(task), Some(_)) => {
            return wrong(format!("{task:?} is no task type; write average, {}", task_words()));
        }
        (None, Some(_)) => return wrong("`task` is empty; write average or a task type".into()),
        (_, None) => {}
    }
    if format == Format::Plain && row.figures.is_empty() {
        return wrong(format!(
            "it says nothing of {}; write a figure, or leave the line out",
            row.name
        ));
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

/// A figure within the bounds of the format.
fn figure(format: Format, line: Place, column: &str, text: &str) -> Result<f64, Wrong> {
    let value = number(line, column, text)?;
    let (range, bounds) = format.bounds();
    if !range.contains(&value) {
        return Err(Wrong::Bounds { line, column: column.to_owned(), value, bounds });
    }
    Ok(value)
}

/// Whether a text is a day, such as `2026-11-21`.
pub fn is_day(text: &str) -> bool {
    text.len() == 10 && UnixMillis::parse(text).is_some()
}

fn number(line: Place, column: &str, text: &str) -> Result<f64, Wrong> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| Wrong::Number { line, column: column.to_owned(), value: text.to_owned() })
}

/// The lines of a plain file with one task each, joined by model.
fn joined(rows: Vec<BoardRow>) -> Result<Vec<BoardRow>, Wrong> {
    let mut joined: Vec<BoardRow> = Vec::new();
    let mut places = BTreeMap::new();
    for row in rows {
        match places.entry((row.key(), row.effort, row.source.clone())) {
            Entry::Vacant(new) => {
                new.insert(joined.len());
                joined.push(row);
            }
            Entry::Occupied(old) => {
                let first: &mut BoardRow = &mut joined[*old.get()];
                for (column, value) in row.figures {
                    if first.figures.insert(column.clone(), value).is_some() {
                        let model = format!("{} at {column}", first.key());
                        return Err(Wrong::Twice { first: first.place, second: row.place, model });
                    }
                }
            }
        }
    }
    Ok(joined)
}

#[cfg(test)]
mod tests;
