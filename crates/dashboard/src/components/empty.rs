//! What stands where nothing is yet: what will be here, and the one next step.

use askama::Template;

use super::code::Code;

/// An empty state.
#[derive(Debug, Clone, Template)]
#[template(path = "components/empty.html")]
pub struct Empty {
    title: String,
    text: String,
    action: Option<(String, String)>,
    code: Option<Code>,
}

impl Empty {
    /// What will be here.
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), action: None, code: None }
    }

    /// The next step as a button.
    #[must_use]
    pub fn action(self, verb: impl Into<String>, path: impl Into<String>) -> Self {
        Self { action: Some((verb.into(), path.into())), ..self }
    }

    /// The next step as a command.
    #[must_use]
    pub fn code(self, code: Code) -> Self {
        Self { code: Some(code), ..self }
    }
}
