//! One model: what it can do and costs, how to use it, its settings and its removal.

mod change;
mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_gateway::admin::{ModelView, Verb};
use sluice_gateway::connect::request;

use crate::components::{Code, Confirm, Drawn, NOT_ITS_NAME, Problem, Text, is_confirmed};
use crate::format;
use crate::layout::{Head, Place};
use crate::pages::confirm::Question;
use crate::pages::models::{can, providers, regions, state};
use crate::web::{Access, Answer, Ask, Failure, Route, get, page, page_with, post, see_other};
use view::Model;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/models/{id}", Access::May(Verb::SeeModel), |ask| Box::pin(show(ask))),
    post("/models/{id}", Access::May(Verb::ChangeModel), |ask| Box::pin(set(ask))),
    get("/models/{id}/remove", Access::May(Verb::RemoveModel), |ask| Box::pin(ask_first(ask))),
    post("/models/{id}/remove", Access::May(Verb::RemoveModel), |ask| Box::pin(remove(ask))),
];

/// The model of the address.
async fn model(ask: &Ask) -> Result<ModelView, Failure> {
    let given = ask.shared.gateway.snapshot().given.clone();
    let all = ask.admin()?.models(&given).await?;
    all.into_iter().find(|it| it.id == ask.place("id")).ok_or(Failure::Missing)
}

async fn show(ask: Arc<Ask>) -> Answer {
    let found = model(&ask).await?;
    page(&ask, &shown(&ask, &found, None)?)
}

/// Changes what the database holds of it.
async fn set(ask: Arc<Ask>) -> Answer {
    let found = model(&ask).await?;
    if found.record.is_none() {
        return Err(Failure::Missing);
    }
    if !drawn(&found).fits(&ask.form) {
        let problem = Some(Problem::new(Drawn::CHANGED));
        let view = Model { problem, ..shown(&ask, &found, None)? };
        return page_with(StatusCode::CONFLICT, &ask, &view);
    }
    let given = ask.shared.gateway.snapshot().given.clone();
    let mut wished = change::spec(&found);
    let done = match change::apply(&ask.form, &mut wished) {
        Ok(()) => match ask.admin()?.change_model(&given, &found.id, |spec| *spec = wished).await {
            Ok(_) => Ok(()),
            Err(error) => Err(change::refusal(error)?),
        },
        Err(wrong) => Err(wrong),
    };
    if let Err(wrong) = done {
        let view = shown(&ask, &found, Some(&wrong))?;
        return page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view);
    }
    see_other(format!("/models/{}?done=changed", Text::from(found.id.as_str()).segment()))
}

/// What the form is drawn from: what is stored.
fn drawn(found: &ModelView) -> Drawn {
    Drawn::of(&found.record.as_ref().map(|record| &record.settings))
}

/// The page of a model, with the form as it was sent where something in it is wrong.
fn shown(ask: &Ask, found: &ModelView, wrong: Option<&change::Wrong>) -> Result<Model, Failure> {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let session = ask.session()?;
    let is_stored = found.record.is_some();
    let may_remove = is_stored && session.may_at_all(Verb::RemoveModel);
    let may_change = is_stored
        && session.may_at_all(Verb::ChangeModel)
        && found.model.as_ref().is_none_or(|it| it.alias_of.is_none());
    let snippet = request::first(&ask.shared.deployment.base_url(), &found.id);
    let fields = if may_change {
        change::fields(&change::spec(found), wrong.map(|_| &ask.form), wrong)
    } else {
        Vec::new()
    };
    Ok(Model {
        head: Head::new(found.id.as_str()).below("Models", "/models"),
        state: state(found, &snapshot, ask),
        id: found.id.as_str().into(),
        facts: facts(found),
        snippet: Code::new("curl", snippet),
        may_ask: session.may_at_all(Verb::CreateKey),
        notice: (ask.asked("done") == "changed").then_some("The change is in force."),
        problem: wrong.filter(|(at, _)| at.is_none()).map(|(_, text)| Problem::new(text.clone())),
        fields,
        drawn: drawn(found),
        csrf: ask.csrf(),
        remove: may_remove.then(|| removal(ask, found, None)),
    })
}

fn facts(found: &ModelView) -> Vec<(&'static str, Text)> {
    let listed = |words: Vec<String>| match words.as_slice() {
        [] => "unknown".to_owned(),
        words => words.join(", "),
    };
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    let mut facts: Vec<(&'static str, Text)> = vec![("From", found.origin.as_str().into())];
    if let Some(why) = &found.left_out {
        facts.push(("Not served", why.as_str().into()));
    }
    let Some(model) = found.model.as_deref() else { return facts };
    let tokens = |figure: Option<u32>| {
        figure.map_or_else(
            || "unknown".to_owned(),
            |it| format!("{} tokens", format::count(it.into())),
        )
    };
    if let Some(target) = &model.alias_of {
        facts.push(("Answered by", target.as_str().into()));
    } else {
        facts.push(("Providers", listed(providers(found)).into()));
        facts.push(("Regions", listed(owned(regions(found))).into()));
    }
    facts.push(("Made by", model.owned_by.as_str().into()));
    facts.push(("Context window", tokens(model.context_window).into()));
    facts.push(("Longest answer", tokens(model.output_limit).into()));
    let price = model.price.as_ref().map_or_else(
        || "unknown".to_owned(),
        |it| {
            format!(
                "${} prompt, ${} cached prompt, ${} answer, per million tokens",
                it.input, it.cache_read, it.output
            )
        },
    );
    facts.push(("Price", price.into()));
    if let Some(source) = &model.price_source {
        facts.push(("Price from", format!("{} {}", source.source, source.date).trim().into()));
    }
    facts.push(("Can", listed(owned(can(found))).into()));
    facts.push(("Suite", model.suite.as_str().into()));
    facts.push(("Lowest level", model.minimum_level.as_str().into()));
    facts
}

async fn ask_first(ask: Arc<Ask>) -> Answer {
    let found = model(&ask).await?;
    if found.record.is_none() {
        return Err(Failure::Missing);
    }
    page(&ask, &Question { place: Place::Models, question: removal(&ask, &found, None) })
}

async fn remove(ask: Arc<Ask>) -> Answer {
    let found = model(&ask).await?;
    if !is_confirmed(ask.form.get("confirm"), &found.id) {
        let why = NOT_ITS_NAME.to_owned();
        let question = removal(&ask, &found, Some(why));
        let view = Question { place: Place::Models, question };
        return page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view);
    }
    let given = ask.shared.gateway.snapshot().given.clone();
    ask.admin()?.remove_model(&given, &found.id).await?;
    see_other("/models?done=removed")
}

fn removal(ask: &Ask, found: &ModelView, error: Option<String>) -> Confirm {
    let id = Text::from(found.id.as_str());
    let path = format!("/models/{}", id.segment());
    Confirm {
        id: "remove",
        action: format!("{path}/remove"),
        title: Text::new(format!("Remove {}", found.id)),
        consequences: vec![
            "Requests for it are answered with 404, and routers go on without it.".to_owned(),
        ],
        fields: Vec::new(),
        name: Some(id),
        verb: "Remove",
        is_dangerous: true,
        error,
        back: path,
        csrf: ask.csrf(),
    }
}
