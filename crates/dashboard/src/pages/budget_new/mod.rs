//! The form that sets a budget, and what it would have done yesterday.

pub(crate) mod read;
mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_gateway::admin::Verb;
use sluice_gateway::limits::{Limited, Measure, Window};

use crate::components::{Code, Field, Kind, Problem, Text};
use crate::format;
use crate::layout::Head;
use crate::web::{Access, Answer, Ask, Fields, Route, get, page, page_with, post, see_other};
use read::Wrong;
use view::BudgetForm;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/budgets/new", Access::May(Verb::SetBudget), |ask| Box::pin(show(ask))),
    post("/budgets/new/try", Access::May(Verb::SetBudget), |ask| Box::pin(rehearse(ask))),
    post("/budgets/new", Access::May(Verb::SetBudget), |ask| Box::pin(set(ask))),
];

/// What has a budget: the word in the form, and what people call it.
pub(crate) const KINDS: [(&str, &str); 6] = [
    ("account", "the account"),
    ("department", "a department"),
    ("team", "a team"),
    ("person", "a person"),
    ("service", "a service"),
    ("key", "a key"),
];

async fn show(ask: Arc<Ask>) -> Answer {
    page(&ask, &form(&ask, None, None))
}

async fn rehearse(ask: Arc<Ask>) -> Answer {
    let found = match read::budget(&ask.form) {
        Err(wrong) => Err(wrong),
        Ok(wish) => match ask.admin()?.rehearse_budget(&wish).await {
            Ok(found) => Ok((wish.hard, found)),
            Err(error) => Err(Wrong::of(error)?),
        },
    };
    match found {
        Err(wrong) => refused(&ask, &wrong),
        Ok((is_hard, found)) => {
            let would = if is_hard { "It would have refused" } else { "It would have noted" };
            let requests = format::plural(found.requests, "request", "requests");
            let told =
                format!("{would} {} of {requests} of yesterday.", format::count(found.refused));
            page(&ask, &form(&ask, None, Some(told)))
        }
    }
}

async fn set(ask: Arc<Ask>) -> Answer {
    let wrong = match read::budget(&ask.form) {
        Err(wrong) => wrong,
        Ok(wish) => match ask.admin()?.set_budget(wish).await {
            Ok((budget, None)) => return see_other(format!("/budgets/{}?done=set", budget.id)),
            Ok((budget, Some(_))) => {
                return see_other(format!("/budgets/{}?done=changed", budget.id));
            }
            Err(error) => Wrong::of(error)?,
        },
    };
    refused(&ask, &wrong)
}

fn refused(ask: &Ask, wrong: &Wrong) -> Answer {
    page_with(StatusCode::UNPROCESSABLE_ENTITY, ask, &form(ask, Some(wrong), None))
}

/// The form with what was given so far, by the form or by a link.
fn form(ask: &Ask, wrong: Option<&Wrong>, told: Option<String>) -> BudgetForm {
    let given = &ask.form;
    let marked = |field: Field, name: &str| match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    };
    let value = |name: &str, default: &str| match given.some(name) {
        Some(value) => value.to_owned(),
        None => Some(ask.asked(name)).filter(|it| !it.is_empty()).unwrap_or(default).to_owned(),
    };
    let select = |name: &'static str, label, values: &[(&str, &str)], default: &str| {
        let values: Vec<(&str, Text)> =
            values.iter().map(|(word, text)| (*word, Text::from(*text))).collect();
        marked(Field::select(name, label, &values, &value(name, default)), name)
    };
    let line = |kind, name: &'static str, label: &str| {
        marked(Field::new(kind, name, label).value(value(name, "")), name)
    };
    BudgetForm {
        head: Head::new("Set a budget").below("Budgets", "/budgets"),
        told,
        problem: wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone())),
        whose: vec![
            select("kind", "For", &KINDS, "account"),
            line(Kind::Line, "name", "Which")
                .placeholder("platform")
                .hint("Its name, e-mail address or id. Empty for the account."),
        ],
        limit: vec![
            select(
                "measure",
                "Limits",
                &[
                    (Measure::Usd.as_str(), "US dollars"),
                    (Measure::Tokens.as_str(), "tokens"),
                    (Measure::Requests.as_str(), "requests"),
                    (Limited::CONCURRENCY, "requests at once"),
                ],
                Measure::Usd.as_str(),
            ),
            line(Kind::Number, "limit", "Limit")
                .placeholder("500")
                .hint("0 refuses everything.")
                .required(),
            select(
                "window",
                "For how long",
                &[
                    (Window::Hour.as_str(), "an hour"),
                    (Window::FiveHours.as_str(), "five hours from the first use"),
                    (Window::Day.as_str(), "a day"),
                    (Window::Week.as_str(), "a week, from Monday"),
                    (Window::Month.as_str(), "a month"),
                    (Window::Total.as_str(), "for ever"),
                    (read::SESSION, "each session, until it was idle for 24 hours"),
                ],
                Window::Month.as_str(),
            )
            .hint("For requests at once, only sessions matter."),
            line(Kind::Line, "zone", "Time zone")
                .placeholder("UTC")
                .hint("Whose calendar it follows, such as Europe/Berlin."),
            select(
                "hard",
                "Beyond it",
                &[("hard", "requests are refused"), ("soft", "requests are only noted")],
                "hard",
            ),
        ],
        command: Code::new("As command", command(given)),
        csrf: ask.csrf(),
    }
}

/// The same at the command line.
fn command(given: &Fields) -> String {
    let whose = read::whose(given);
    let word = |name: &str, default: &str| given.some(name).unwrap_or(default).to_owned();
    let measure = word("measure", "usd");
    let mut command = format!("sluice budgets set --for {whose} --measure {measure}");
    let window = word("window", "month");
    if window == read::SESSION {
        command += " --each-session";
    } else if measure != Limited::CONCURRENCY {
        command += &format!(" --window {}", if window == "five_hours" { "5h" } else { &window });
    }
    command += &format!(" --limit {}", read::digits(given.some("limit").unwrap_or("N")));
    if let Some(zone) = given.some("zone") {
        command += &format!(" --zone {zone}");
    }
    if given.get("hard") == "soft" {
        command += " --soft";
    }
    command
}
