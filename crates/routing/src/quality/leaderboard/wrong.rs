//! What can be wrong with a file of figures.

use std::fmt;

use super::super::line::LEAST_COMMON;
use super::MOST_BYTES;
use crate::task::TaskType;

/// Where in a file something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line, counted from 1.
    Line(u64),
    /// The model at this place of a JSON file, which has no lines to speak of, counted from 1.
    Entry(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Entry(entry) => write!(f, "model {entry}"),
        }
    }
}

/// What is wrong with a file: the line, the column, and what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Wrong {
    /// There is nothing in it.
    #[error("it is empty; it needs column names and a line for each model")]
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
    #[error("{line}: `{column}` is {value:?}; write a number, or leave it empty")]
    Number {
        /// Where it is.
        line: Place,
        /// Its name.
        column: String,
        /// What stands there.
        value: String,
    },
    /// A column has the name of another one.
    #[error("the first line names `{0}` twice; keep one of the columns")]
    DoubleColumn(String),
    /// A figure is out of bounds.
    #[error("{line}: `{column}` is {value}; write {bounds}")]
    Bounds {
        /// Where it is.
        line: Place,
        /// Its name.
        column: String,
        /// What stands there.
        value: f64,
        /// What may stand there.
        bounds: &'static str,
    },
    /// Some figures are shares, some are percent.
    #[error(
        "{share} has a share ({share_value}) and {percent} a percentage ({percent_value}); \
         write all figures from 0 to 1, or all from 0 to 100"
    )]
    Mixed {
        /// Where the first figure between 0 and 1 is.
        share: Place,
        /// That figure.
        share_value: f64,
        /// Where the first figure over 1 is.
        percent: Place,
        /// That figure.
        percent_value: f64,
    },
    /// Two lines are about the same model.
    #[error("{first} and {second} are both about {model}; keep one of them")]
    Twice {
        /// The earlier one.
        first: Place,
        /// The later one.
        second: Place,
        /// The model, as it is recognised.
        model: String,
    },
    /// A line without a model, or with something else that nobody can read.
    #[error("{line}: {problem}")]
    Line {
        /// Where it is.
        line: Place,
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

pub(super) fn task_words() -> String {
    TaskType::ALL.map(TaskType::as_str).join(", ")
}
