use askama::Template;

use crate::components::Confirm;
use crate::layout::{Place, View};
use crate::pages::key::revoke;
use crate::sample::{self, Names};

/// A question on a page of its own, where a browser has no script for a dialog.
#[derive(Template)]
#[template(path = "pages/confirm/page.html")]
pub(crate) struct Question {
    pub(crate) place: Place,
    pub(crate) question: Confirm,
}

impl View for Question {
    fn title(&self) -> String {
        self.question.title.brief()
    }

    fn place(&self) -> Option<Place> {
        Some(self.place)
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Question)> {
    let make = |names, error| Question { place: Place::Keys, question: revoke(names, error) };
    let mut states = sample::in_all_names(|names| make(names, None));
    states.push((
        "error",
        make(Names::Plain, Some("What you wrote is not its name. Nothing was done.".into())),
    ));
    states
}
