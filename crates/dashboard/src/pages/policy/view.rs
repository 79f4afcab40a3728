use askama::Template;

use crate::components::{Code, Csrf, Drawn, Field, Kind, Problem};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// The form that sets a policy.
#[derive(Template)]
#[template(path = "pages/policy/page.html")]
pub(crate) struct PolicyForm {
    pub(super) head: Head,
    pub(super) problem: Option<Problem>,
    pub(super) notice: Option<&'static str>,
    pub(super) drawn: Drawn,
    pub(super) may_set: bool,
    /// Whose policy can be removed, by id.
    pub(super) removes: Option<String>,
    pub(super) whose: Vec<Field>,
    /// What may be used.
    pub(super) may: Vec<Field>,
    /// What is kept.
    pub(super) kept: Vec<Field>,
    pub(super) filter: Vec<Field>,
    pub(super) command: Code,
    pub(super) csrf: Csrf,
}

impl View for PolicyForm {
    fn title(&self) -> String {
        self.head.title.brief()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Policies)
    }
}

fn make(names: Names) -> PolicyForm {
    PolicyForm {
        head: Head::new(names.of("Policy of Compilers")).below("Policies", "/policies"),
        problem: None,
        notice: None,
        drawn: Drawn::default(),
        may_set: true,
        removes: Some("team:team_1".into()),
        whose: vec![
            Field::select("kind", "For", &[("team", "a team".into())], "team"),
            Field::new(Kind::Line, "name", "Which").value(names.of("Compilers")),
        ],
        may: vec![
            Field::new(Kind::Area, "models", "Models and routers").value(names.of("svc/auto")),
            Field::checks(
                "regions",
                "Regions",
                &[("eu-west", "eu-west".into()), ("us-east", "us-east".into())],
                &["eu-west"],
            )
            .hint("None ticked: every region."),
            Field::new(Kind::Number, "max_output_tokens", "Most tokens of an answer")
                .value("8000")
                .unit("tokens"),
        ],
        kept: vec![
            Field::new(Kind::Switch(true), "zero_retention", "Zero retention")
                .hint("Nothing about the requests is stored but sums."),
        ],
        filter: vec![
            Field::select("level", "Lowest security level", &[("high", "high".into())], "high"),
            Field::new(Kind::Area, "terms", "Terms that must not leave").value(names.of("Orion")),
        ],
        command: Code::new("As command", "sluice policy set --for team:Compilers --level 'high'"),
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, PolicyForm)> {
    let mut states = sample::in_all_names(make);
    let notice = Some("The configuration file has this policy. Change it there.");
    states
        .push(("file", PolicyForm { notice, may_set: false, removes: None, ..make(Names::Plain) }));
    let mut wrong = make(Names::Plain);
    wrong.filter[1] = Field::new(Kind::Area, "patterns", "Patterns that must not leave")
        .value("(")
        .error("Patterns: number 1: unclosed group.");
    states.push(("error", wrong));
    states
}
