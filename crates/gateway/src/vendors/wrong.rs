//! What is wrong with a setting, and what to do about it.

use std::fmt;

/// One thing that is wrong. Never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The setting, by the name of the configuration file.
    pub key: String,
    /// What is wrong with it.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

impl Wrong {
    /// Something that is wrong with `key`.
    pub fn new(key: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { key: key.into(), what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for Wrong {
    /// ``base_url` is no URL; write …`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}; {}", self.key, self.what, self.fix)
    }
}

/// All of it in one sentence each.
pub(crate) fn listed(problems: &[Wrong]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
