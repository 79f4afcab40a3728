use askama::Template;

use crate::components::{Badge, Csrf, Field, Kind, Problem, State, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// One provider key.
#[derive(Template)]
#[template(path = "pages/provider_key/page.html")]
pub(crate) struct ProviderKey {
    pub(super) head: Head,
    pub(super) id: String,
    pub(super) state: Badge,
    pub(super) notice: Option<(&'static str, &'static str)>,
    pub(super) problem: Option<Problem>,
    pub(super) facts: Vec<(&'static str, Text)>,
    pub(super) may_change: bool,
    pub(super) settings: Vec<Field>,
    /// The key that takes its place.
    pub(super) secret: Field,
    pub(super) csrf: Csrf,
}

impl View for ProviderKey {
    fn title(&self) -> String {
        self.head.title.brief()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Providers)
    }
}

fn make(names: Names) -> ProviderKey {
    ProviderKey {
        head: Head::new(names.of("team Compilers"))
            .below("Provider keys", "/provider-keys")
            .stamp("pky_01 at openai"),
        id: "pky_01".into(),
        state: Badge::new(State::Good, "ok"),
        notice: None,
        problem: None,
        facts: vec![
            ("Provider", names.of("openai")),
            ("Sent to", "https://api.openai.com/v1".into()),
            ("Ends in", "…aB3x".into()),
            ("Added", "12 Nov 09:30".into()),
        ],
        may_change: true,
        settings: vec![
            Field::new(Kind::Switch(false), "falls_back", "Fall back")
                .hint("Use the deployment's key where this one fails."),
            Field::new(Kind::Switch(true), "counts", "Count in budgets"),
        ],
        secret: Field::new(Kind::Password, "secret", "Another key").required(),
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, ProviderKey)> {
    let mut states = sample::in_all_names(make);
    let problem = Some(Problem::new("It answered 401: Incorrect API key provided."));
    states.push(("refused", ProviderKey { problem, ..make(Names::Plain) }));
    states.push(("read-only", ProviderKey { may_change: false, ..make(Names::Plain) }));
    states
}
