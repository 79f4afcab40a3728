//! The form that sets a policy.

mod read;
mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::level::SecurityLevel;
use sluice_core::policy::PolicyRules;
use sluice_core::region::Region;
use sluice_gateway::admin::{AdminError, PolicyView, Verb, name_of};
use sluice_gateway::policy::rules_of;

use crate::components::{Code, Drawn, Field, Kind, Problem, Text};
use crate::layout::Head;
use crate::pages::budget_new::KINDS;
use crate::pages::budget_new::read::{Wrong, whose};
use crate::web::{
    Access, Answer, Ask, Failure, Fields, Route, get, page, page_with, post, see_other,
};
use view::PolicyForm;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/policies/set", Access::May(Verb::SetPolicy), |ask| Box::pin(begin(ask))),
    post("/policies/set", Access::May(Verb::SetPolicy), |ask| Box::pin(set(ask))),
    get("/policies/{id}", Access::May(Verb::SeePolicy), |ask| Box::pin(show(ask))),
    post("/policies/{id}/remove", Access::May(Verb::SetPolicy), |ask| Box::pin(remove(ask))),
];

async fn begin(ask: Arc<Ask>) -> Answer {
    page(&ask, &form(&ask, None, &Fields::default(), None)?)
}

/// The policy of the address: `team:ID`, by ids alone.
async fn policy(ask: &Ask) -> Result<PolicyView, Failure> {
    let id = ask.place("id");
    match ask.admin()?.policy(id, None).await {
        Ok(found) if found.policy.subject.to_string() == id => Ok(found),
        Ok(_)
        | Err(
            AdminError::NamesNothing { .. } | AdminError::NoSuch { .. } | AdminError::NoSuchKey,
        ) => Err(Failure::Missing),
        Err(error) => Err(error.into()),
    }
}

async fn show(ask: Arc<Ask>) -> Answer {
    let known = policy(&ask).await?;
    let given = read::as_typed(&known.policy);
    page(&ask, &form(&ask, Some(&known), &given, None)?)
}

async fn set(ask: Arc<Ask>) -> Answer {
    let of = whose(&ask.form);
    // Who sets one from scratch may not know of the one that is there.
    let known = ask.admin()?.policy(&of, None).await;
    if let Ok(known) = &known
        && ask.form.some("drawn").is_some()
        && !drawn(Some(known)).fits(&ask.form)
    {
        let wrong = Wrong { field: None, text: Drawn::CHANGED.to_owned() };
        let now = read::as_typed(&known.policy);
        let view = form(&ask, Some(known), &now, Some(&wrong))?;
        return page_with(StatusCode::CONFLICT, &ask, &view);
    }
    let wrong = match read::rules(&ask.form) {
        Err(wrong) => wrong,
        Ok(rules) => {
            let snapshot = ask.shared.gateway.snapshot().clone();
            let change = |it: &mut PolicyRules| *it = rules;
            match ask.admin()?.set_policy(&of, None, Some(&snapshot.catalog), change).await {
                Ok(_) => return see_other("/policies?done=set"),
                Err(error) => read::wrong(error)?,
            }
        }
    };
    let known = known.ok();
    let view = form(&ask, known.as_ref(), &ask.form, Some(&wrong))?;
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
}

async fn remove(ask: Arc<Ask>) -> Answer {
    let known = policy(&ask).await?;
    let change = |it: &mut PolicyRules| *it = PolicyRules::default();
    match ask.admin()?.set_policy(ask.place("id"), None, None, change).await {
        Ok(_) => see_other("/policies?done=removed"),
        Err(error) => {
            let wrong = read::wrong(error)?;
            let view = form(&ask, Some(&known), &read::as_typed(&known.policy), Some(&wrong))?;
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
        }
    }
}

fn drawn(known: Option<&PolicyView>) -> Drawn {
    known.map_or_else(Drawn::default, |it| Drawn::of(&it.policy.rules))
}

/// The form with what was given so far.
fn form(
    ask: &Ask,
    known: Option<&PolicyView>,
    given: &Fields,
    wrong: Option<&Wrong>,
) -> Result<PolicyForm, Failure> {
    let session = ask.session()?;
    let marked = |field: Field, name: &str| match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    };
    let text = |kind, name: &'static str, label: &str| {
        marked(Field::new(kind, name, label).value(given.get(name)), name)
    };
    let select = |name: &'static str, label, values: &[(&str, Text)], default: &str| {
        marked(Field::select(name, label, values, given.some(name).unwrap_or(default)), name)
    };
    let switch = |name: &'static str, label| Field::new(Kind::Switch(given.has(name)), name, label);
    let mut kinds: Vec<(&str, Text)> =
        KINDS.iter().map(|(word, text)| (*word, Text::from(*text))).collect();
    if session.may_at_all(Verb::SetDeploymentPolicy) {
        kinds.insert(0, ("deployment", "the deployment".into()));
    }
    let mut levels = vec![("", Text::from("as others say"))];
    levels.extend(SecurityLevel::ALL.iter().map(|it| (it.as_str(), it.as_str().into())));
    let regions: Vec<(&str, Text)> =
        Region::ALL.iter().map(|it| (it.as_str(), it.as_str().into())).collect();
    let mut region = vec![("", Text::from("as others say"))];
    region.extend(regions.iter().cloned());
    let chosen: Vec<&str> = given.all("regions").collect();
    let is_files = known.is_some_and(|it| it.policy.is_the_files());
    let may_set = session.may_at_all(Verb::SetPolicy) && !is_files;
    let title = match known.and_then(|it| it.whose.as_ref()) {
        Some(record) => format!("Policy of {}", name_of(record)),
        None if known.is_some() => "Policy of the deployment".to_owned(),
        None => "Set a policy".to_owned(),
    };
    Ok(PolicyForm {
        head: Head::new(title).below("Policies", "/policies"),
        problem: wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone())),
        notice: is_files.then_some("The configuration file has this policy. Change it there."),
        drawn: drawn(known),
        may_set,
        removes: known
            .filter(|it| may_set && !it.policy.rules.is_empty())
            .map(|it| it.policy.subject.to_string()),
        whose: vec![
            select("kind", "For", &kinds, "account"),
            text(Kind::Line, "name", "Which")
                .placeholder("platform")
                .hint("Its name, e-mail address or id. Empty for the account and the deployment."),
        ],
        may: vec![
            text(Kind::Area, "models", "Models and routers").placeholder("svc/auto").hint(
                "One a line; lab/* stands for all that begin so. A router that is named may ask all of \
                 its members. Empty: all.",
            ),
            marked(Field::checks("regions", "Regions", &regions, &chosen), "regions")
                .hint("None ticked: every region."),
            select("region", "Region, where a request names none", &region, ""),
            text(Kind::Number, "max_output_tokens", "Most tokens of an answer")
                .hint("A larger wish is lowered. Empty: the model's own.")
                .unit("tokens"),
        ],
        kept: vec![
            switch("zero_retention", "Zero retention")
                .hint("Nothing about the requests is stored but sums."),
            switch("audit", "Audit entry for each request"),
        ],
        filter: vec![
            select("level", "Lowest security level", &levels, ""),
            text(Kind::Area, "terms", "Terms that must not leave").hint("One a line."),
            text(Kind::Area, "patterns", "Patterns that must not leave")
                .hint("Regular expressions, one a line."),
            text(Kind::Area, "redact", "Kinds that are redacted at every level")
                .placeholder("person")
                .hint("One a line, such as person, location, organization."),
            text(Kind::Area, "exceptions", "Values that are not redacted").hint(
                "One a line. What terms and patterns name is redacted all the same. Where several \
                 policies have such a list, those that are in all of them.",
            ),
        ],
        command: Code::new("As command", command(given)),
        csrf: ask.csrf(),
    })
}

/// The same at the command line.
fn command(given: &Fields) -> String {
    let mut command = format!("sluice policy set --for {}", whose(given));
    let rules = read::rules(given).unwrap_or_default();
    for (name, value) in rules_of(&rules) {
        let option = match name.as_str() {
            "patterns" => "pattern".to_owned(),
            other => other.replace('_', "-"),
        };
        match value {
            serde_json::Value::Bool(_) => command += &format!(" --{option}"),
            serde_json::Value::Array(entries) if option == "pattern" => {
                for entry in entries {
                    command += &format!(" --pattern '{}'", entry.as_str().unwrap_or_default());
                }
            }
            other => {
                let value = sluice_gateway::policy::shown(&other).replace(", ", ",");
                command += &format!(" --{option} '{value}'");
            }
        }
    }
    command
}
