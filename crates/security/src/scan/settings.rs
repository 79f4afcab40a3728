//! What a deployment adds to the detectors, and what can be wrong with it.

/// What a deployment adds to the detectors.
#[derive(Debug, Clone, Default)]
pub struct ScannerSettings {
    /// Terms that are never to leave, such as names of customers. Found as whole words, in any case.
    pub terms: Vec<String>,
    /// Patterns that are never to leave, as regular expressions.
    pub patterns: Vec<String>,
    /// Values that are never redacted.
    pub allow: Vec<String>,
    /// Values that no detector redacts. What terms and patterns find is redacted all the same: whoever
    /// names these values need not be who set those.
    pub exceptions: Vec<String>,
}

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting}[{index}]: {problem}")]
pub struct SettingsProblem {
    /// Which setting: `terms`, `patterns`, `allow` or `exceptions`.
    pub setting: &'static str,
    /// Which of its entries.
    pub index: usize,
    /// What is wrong with it.
    pub problem: String,
}
