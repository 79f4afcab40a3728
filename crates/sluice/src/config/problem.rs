//! What is wrong with a configuration: every problem at once, each with its key and its fix.

use std::fmt;

pub(crate) use sluice_gateway::vendors::nearest;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The file, as it was named; `None` where there is no file.
    pub(crate) file: Option<String>,
    /// The line, from 1; with a column where the file is no TOML.
    pub(crate) line: Option<usize>,
    /// The column, from 1.
    pub(crate) column: Option<usize>,
    /// The key's path (`models[2].price.input`, entries counted from 0); empty where the whole
    /// file is meant.
    pub(crate) key: String,
    /// What is wrong. Never holds a secret, nor what a variable was replaced with.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) fix: String,
}

impl fmt::Display for Problem {
    /// `sluice.toml:12: server.listen: "here" is no address and port`, and the fix below it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            if let Some(column) = self.column {
                write!(f, "{column}:")?;
            }
            f.write_str(" ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.what)?;
        if !self.fix.is_empty() {
            write!(f, "\n    fix: {}", self.fix)?;
        }
        Ok(())
    }
}

/// All that is wrong, in the order of the file. Displayed as one paragraph each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a problem.
    pub(crate) fn add(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }

    /// Puts the problems into the order of the file.
    pub(crate) fn sort(&mut self) {
        self.0.sort_by_key(|problem| (problem.line, problem.column));
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}
