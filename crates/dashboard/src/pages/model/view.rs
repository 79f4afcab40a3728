use askama::Template;

use crate::components::{Badge, Code, Confirm, Csrf, Drawn, Field, Kind, Problem, State, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// One model.
#[derive(Template)]
#[template(path = "pages/model/page.html")]
pub(crate) struct Model {
    pub(super) head: Head,
    pub(super) state: Badge,
    pub(super) id: Text,
    pub(super) facts: Vec<(&'static str, Text)>,
    /// How it is asked.
    pub(super) snippet: Code,
    /// Whether the reader may ask models here, and make keys.
    pub(super) may_ask: bool,
    /// After a change.
    pub(super) notice: Option<&'static str>,
    /// What is wrong with the form as a whole.
    pub(super) problem: Option<Problem>,
    /// What can be changed; none for what the database does not hold.
    pub(super) fields: Vec<Field>,
    pub(super) drawn: Drawn,
    pub(super) csrf: Csrf,
    /// Only for what is in the database.
    pub(super) remove: Option<Confirm>,
}

impl View for Model {
    fn title(&self) -> String {
        self.head.title.brief()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Models)
    }
}

fn make(names: Names) -> Model {
    let id = names.of("lab/qwen3-32b");
    Model {
        head: Head::new(id.clone()).below("Models", "/models"),
        state: Badge::new(State::Good, "answers"),
        facts: vec![
            ("From", "database".into()),
            ("Providers", names.of("lab")),
            ("Regions", "eu-west".into()),
            ("Context window", "40,960 tokens".into()),
            ("Price", "unknown".into()),
            ("Can", "tools".into()),
        ],
        may_ask: true,
        snippet: Code::new("curl", "curl http://localhost:8080/api/v1/chat/completions"),
        notice: None,
        problem: None,
        fields: vec![
            Field::new(Kind::Line, "upstream_model", "Name at the provider").value("qwen3-32b"),
            Field::new(Kind::Number, "price_input", "Price of prompts").unit("$ per million"),
            Field::new(Kind::Number, "price_output", "Price of answers").unit("$ per million"),
            Field::new(Kind::Number, "context_window", "Context window")
                .value("40960")
                .unit("tokens"),
        ],
        drawn: Drawn::default(),
        csrf: sample::csrf(),
        remove: Some(Confirm {
            id: "remove",
            action: "/models/lab%2Fqwen3-32b/remove".into(),
            title: Text::new(format!("Remove {}", id.plain())),
            consequences: vec![
                "Requests for it are answered with 404, and routers go on without it.".into(),
            ],
            fields: vec![],
            name: Some(id.clone()),
            verb: "Remove",
            is_dangerous: true,
            error: None,
            back: "/models/lab%2Fqwen3-32b".into(),
            csrf: sample::csrf(),
        }),
        id,
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Model)> {
    let mut states = sample::in_all_names(make);
    states.push(("read-only", Model { remove: None, fields: vec![], ..make(Names::Plain) }));
    states.push((
        "error",
        Model {
            fields: vec![
                Field::new(Kind::Number, "price_input", "Price of prompts")
                    .value("two")
                    .unit("$ per million")
                    .error("Not an amount: write 2.50 for $2.50."),
            ],
            ..make(Names::Plain)
        },
    ));
    states
}
