//! Asking before something is done that cannot be undone.

use askama::Template;
use sluice_gateway::admin::as_read;

use super::form::{Csrf, Field};
use super::text::{Markup, Text};

/// A question before a deed, confirmed by writing a name. It stands in a `<dialog>`, and without
/// script on a page of its own at the same address as its link.
#[derive(Debug, Clone, Template)]
#[template(path = "components/dialog.html")]
pub struct Confirm {
    /// Of the element.
    pub id: &'static str,
    /// Where the form goes.
    pub action: String,
    /// What is going to be done: `Revoke ci-review`.
    pub title: Text,
    /// What follows from it, a sentence each.
    pub consequences: Vec<String>,
    /// What else has to be said, such as how long the old secret works.
    pub fields: Vec<Field>,
    /// What has to be written to confirm; `None` where a press is enough.
    pub name: Option<Text>,
    /// What the button says: `Revoke`.
    pub verb: &'static str,
    /// Whether it takes something away.
    pub is_dangerous: bool,
    /// What was wrong with the last attempt.
    pub error: Option<String>,
    /// Where to go instead.
    pub back: String,
    /// What proves that the form is ours.
    pub csrf: Csrf,
}

impl Confirm {
    /// What was wrong, as text: names may stand in it.
    fn says(&self) -> Option<Markup> {
        self.error.as_deref().map(Markup::from)
    }

    /// What stands in front of the name, in bold.
    fn wanted(&self) -> Option<Markup> {
        self.name.as_ref().map(Text::whole)
    }
}

/// What a page says where something else was written to confirm.
pub(crate) const NOT_ITS_NAME: &str = "What you wrote is not its name. Nothing was done.";

/// Whether what was written to confirm is the name that the question shows. Both are compared as a
/// page shows them: nobody can type a character that is not seen, or knows of a second space. Of a
/// name that shows nothing there is nothing to write.
pub(crate) fn is_confirmed(written: &str, name: &str) -> bool {
    as_read(written) == as_read(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_confirmed_as_it_is_read() {
        for (written, name) in [
            ("prod", "prod"),
            ("prod", "prod\u{200b}"),
            ("\u{202e}prod", "prod"),
            ("ci review", "ci  review"),
            ("ci\u{a0}review ", "ci review"),
            (" ", "\u{200b}"),
        ] {
            assert!(is_confirmed(written, name), "{written:?} {name:?}");
        }
        for (written, name) in [("", "prod"), ("Prod", "prod"), ("cireview", "ci review")] {
            assert!(!is_confirmed(written, name), "{written:?} {name:?}");
        }
    }
}
