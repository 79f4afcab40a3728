use askama::Template;

use crate::components::{Csrf, Empty, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// What the command bar finds. One exact match leads there at once, without this page.
#[derive(Template)]
#[template(path = "pages/find/page.html")]
pub(crate) struct Find {
    pub(super) head: Head,
    pub(super) sought: Text,
    /// What it may be: kind, name, address.
    pub(super) found: Vec<(&'static str, Text, String)>,
    pub(super) empty: Empty,
    pub(super) csrf: Csrf,
}

impl View for Find {
    fn title(&self) -> String {
        "Find".into()
    }

    fn place(&self) -> Option<Place> {
        None
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Find)> {
    let make = |names: Names| {
        Find {
        head: Head::new("Find"),
        sought: names.of("review"),
        found: vec![
            ("key", names.of("ci-review"), "/keys/key_01m501".into()),
            ("team", names.of("Reviewers"), "/organisation/teams/team_07".into()),
            ("router", names.of("svc/review"), "/routers".into()),
        ],
        empty: Empty::new("Nothing is called that", "The bar finds pages, keys by name or by pasting one, people, teams, models, and requests and audit entries by their id.").action("All requests", "/requests"),
        csrf: sample::csrf(),
    }
    };
    let mut states = sample::in_all_names(make);
    states.insert(
        0,
        ("empty", Find { found: vec![], sought: "req_nosuch".into(), ..make(Names::Plain) }),
    );
    states
}
