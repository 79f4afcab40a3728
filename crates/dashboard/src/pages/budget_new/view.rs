use askama::Template;

use crate::components::{Code, Csrf, Field, Kind, Problem};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// The form that sets a budget.
#[derive(Template)]
#[template(path = "pages/budget_new/page.html")]
pub(crate) struct BudgetForm {
    pub(super) head: Head,
    /// What it would have done.
    pub(super) told: Option<String>,
    pub(super) problem: Option<Problem>,
    pub(super) whose: Vec<Field>,
    pub(super) limit: Vec<Field>,
    pub(super) command: Code,
    pub(super) csrf: Csrf,
}

impl View for BudgetForm {
    fn title(&self) -> String {
        "Set a budget".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Budgets)
    }
}

fn make(names: Names) -> BudgetForm {
    BudgetForm {
        head: Head::new("Set a budget").below("Budgets", "/budgets"),
        told: None,
        problem: None,
        whose: vec![
            Field::select("kind", "For", &[("team", "a team".into())], "team"),
            Field::new(Kind::Line, "name", "Which")
                .value(names.of("Compilers"))
                .hint("Its name, e-mail address or id. Empty for the account."),
        ],
        limit: vec![
            Field::select("measure", "Limits", &[("usd", "US dollars".into())], "usd"),
            Field::new(Kind::Number, "limit", "Limit")
                .value("600")
                .hint("0 refuses everything.")
                .required(),
            Field::select("window", "For how long", &[("month", "a month".into())], "month")
                .hint("For requests at once, only sessions matter."),
            Field::new(Kind::Line, "zone", "Time zone")
                .value("Europe/Berlin")
                .hint("Whose calendar it follows, such as Europe/Berlin."),
            Field::select(
                "hard",
                "Beyond it",
                &[
                    ("hard", "requests are refused".into()),
                    ("soft", "requests are only noted".into()),
                ],
                "hard",
            ),
        ],
        command: Code::new(
            "As command",
            "sluice budgets set --for team:Compilers --measure usd --window month --limit 600 \
             --zone Europe/Berlin",
        ),
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, BudgetForm)> {
    let mut states = sample::in_all_names(make);
    let told = "It would have refused 14 of 1,204 requests of yesterday.".to_owned();
    states.push(("tried", BudgetForm { told: Some(told), ..make(Names::Plain) }));
    let mut wrong = make(Names::Plain);
    wrong.limit[1] = Field::new(Kind::Number, "limit", "Limit")
        .value("many")
        .error("\"many\" is no amount of US dollars; write one such as 500 or 0.25.");
    states.push(("error", wrong));
    states
}
