use askama::Template;

use crate::components::{Csrf, Drawn, Field, Kind, Problem};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// The form that changes a key.
#[derive(Template)]
#[template(path = "pages/key_change/page.html")]
pub(crate) struct KeyChange {
    pub(super) head: Head,
    pub(super) id: String,
    pub(super) problem: Option<Problem>,
    pub(super) drawn: Drawn,
    pub(super) main: Vec<Field>,
    /// What it may use.
    pub(super) may: Vec<Field>,
    /// How its requests are filtered.
    pub(super) filter: Vec<Field>,
    pub(super) limits: Vec<Field>,
    pub(super) csrf: Csrf,
}

impl View for KeyChange {
    fn title(&self) -> String {
        self.head.title.brief()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Keys)
    }
}

fn make(names: Names) -> KeyChange {
    KeyChange {
        head: Head::new(names.of("Change ci-review"))
            .below("API keys", "/keys")
            .below(names.of("ci-review"), "/keys/key_01m501"),
        id: "key_01m501".into(),
        problem: None,
        drawn: Drawn::default(),
        main: vec![
            Field::new(Kind::Line, "name", "Name").value(names.of("ci-review")).required(),
            Field::select(
                "class",
                "Class",
                &[("production", "production: 1,000 requests an hour".into())],
                "production",
            ),
        ],
        may: vec![
            Field::checks(
                "scopes",
                "May do",
                &[("chat", "ask models".into()), ("models", "list models".into())],
                &["chat"],
            ),
            Field::checks("models", "Models and routers", &[("auto", names.of("svc/auto"))], &[]),
        ],
        filter: vec![
            Field::select(
                "minimum_level",
                "Lowest security level",
                &[("high", "high".into())],
                "high",
            ),
            Field::new(Kind::Switch(true), "zero_retention", "Zero retention"),
        ],
        limits: vec![
            Field::new(Kind::Day, "expires_at", "Works until").value("2027-02-20"),
            Field::new(Kind::Number, "tokens_per_day", "Tokens a day")
                .value("100000")
                .unit("tokens"),
        ],
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, KeyChange)> {
    let mut states = sample::in_all_names(make);
    let mut wrong = make(Names::Plain);
    wrong.limits[1] = Field::new(Kind::Number, "tokens_per_day", "Tokens a day")
        .value("many")
        .error("\"many\" is no whole number; write one such as 1,000.");
    states.push(("error", wrong));
    states
}
