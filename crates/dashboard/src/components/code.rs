//! A block of code, with a button that copies it.

use askama::Template;

use super::text::Text;

/// A block of code. It reads from left to right, and turns nothing around it.
#[derive(Debug, Clone, Template)]
#[template(path = "components/code.html")]
pub struct Code {
    label: String,
    text: Text,
}

impl Code {
    /// `text` under a label such as a file's name.
    pub fn new(label: impl Into<String>, text: impl Into<Text>) -> Self {
        Self { label: label.into(), text: text.into() }
    }
}
