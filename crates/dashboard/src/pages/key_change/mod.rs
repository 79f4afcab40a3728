//! The form that changes a key.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::clock::UnixMillis;
use sluice_gateway::KeyRecord;
use sluice_gateway::admin::{KeyChange as Change, KeyMove, Permissions, Verb};

use crate::components::{Drawn, Problem, Text};
use crate::layout::Head;
use crate::pages::key::key;
use crate::pages::key_new::read::{self, Wrong};
use crate::pages::key_new::{Form, form, owners, teams};
use crate::pages::organisation::deeds::permitted;
use crate::web::{
    Access, Answer, Ask, Failure, Fields, Route, get, page, page_with, post, see_other,
};
use view::KeyChange;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/keys/{id}/change", Access::May(Verb::ChangeKey), |ask| Box::pin(show(ask))),
    post("/keys/{id}/change", Access::May(Verb::ChangeKey), |ask| Box::pin(change(ask))),
];

async fn show(ask: Arc<Ask>) -> Answer {
    let key = changeable(&ask).await?;
    let view = view(&ask, &key, &as_typed(&key), None).await?;
    page(&ask, &view)
}

/// The key of the address, if the reader may change it.
async fn changeable(ask: &Ask) -> Result<KeyRecord, Failure> {
    let key = key(ask).await?;
    permitted(&ask.admin()?.permissions().await?, Verb::ChangeKey, &key.clone().into())?;
    if key.revoked_at.is_some() {
        let why = "This key was revoked, which is for good. Make a new one.".to_owned();
        return Err(Failure::Bad(StatusCode::UNPROCESSABLE_ENTITY, why));
    }
    Ok(key)
}

async fn view(
    ask: &Ask,
    key: &KeyRecord,
    given: &Fields,
    wrong: Option<&Wrong>,
) -> Result<KeyChange, Failure> {
    let permissions = ask.admin()?.permissions().await?;
    let Form { problem, mut main, may, filter, limits, csrf, .. } =
        form(ask, &permissions, given, wrong)?;
    if !may_move(ask, &permissions, key)? {
        main.truncate(2);
    }
    Ok(KeyChange {
        head: Head::new(format!("Change {}", key.name))
            .below("API keys", "/keys")
            .below(key.name.as_str(), format!("/keys/{}", key.id)),
        id: key.id.to_string(),
        problem,
        drawn: Drawn::of(&as_typed(key)),
        main,
        may,
        filter,
        limits,
        csrf,
    })
}

/// Whether the reader may give the key to somebody else, and sees whose it is: what a list does not
/// have would be lost by saving.
fn may_move(ask: &Ask, permissions: &Permissions, key: &KeyRecord) -> Result<bool, Failure> {
    let own = &ask.session()?.person;
    let has = |list: Vec<(String, Text)>, value: &str| list.iter().any(|(it, _)| it == value);
    Ok(permissions.may(Verb::MoveKey, &key.clone().into())
        && has(owners(permissions, own, true), &holder(key))
        && has(teams(permissions, own, true), &team(key)))
}

fn holder(key: &KeyRecord) -> String {
    key.holder.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn team(key: &KeyRecord) -> String {
    key.team_id.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// Where a form moves the key to; `None`: it stays. Fields that it does not have change nothing.
fn wished_move(form: &Fields, key: &KeyRecord) -> Option<KeyMove> {
    let moved = |name: &str, old: String| {
        let new = form.get(name);
        (form.has(name) && new != old).then(|| form.some(name).map(str::to_owned))
    };
    let wish = KeyMove { team: moved("team", team(key)), holder: moved("owner", holder(key)) };
    (wish != KeyMove::default()).then_some(wish)
}

/// A key as its form would be filled in.
fn as_typed(key: &KeyRecord) -> Fields {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("name", &key.name)
        .append_pair("class", key.class.as_str())
        .append_pair("owner", &holder(key))
        .append_pair("team", &team(key));
    for scope in &key.scopes {
        form.append_pair("scopes", scope.as_str());
    }
    for model in key.models.iter().flatten() {
        form.append_pair("models", model);
    }
    for region in key.regions.iter().flatten() {
        form.append_pair("regions", region.as_str());
    }
    form.append_pair("region", key.region.map_or("", |it| it.as_str()))
        .append_pair("minimum_level", key.minimum_level.as_str())
        .append_pair("max_tokens", key.max_tokens.as_str());
    for (name, is) in [("zero_retention", key.zero_retention), ("audit", key.audit)] {
        if is {
            form.append_pair(name, "on");
        }
    }
    for (name, figure) in
        [("requests_per_hour", key.requests_per_hour), ("tokens_per_day", key.tokens_per_day)]
    {
        form.append_pair(name, &figure.map_or_else(String::new, |it| it.to_string()));
    }
    form.append_pair("expires_at", &last_day(key));
    Fields::parse(form.finish().as_bytes())
}

/// The last day on which a key works, of UTC; empty where it has no end.
fn last_day(key: &KeyRecord) -> String {
    let Some(end) = key.expires_at else { return String::new() };
    let last = UnixMillis(end.0.saturating_sub(1)).to_rfc3339();
    last.split('T').next().unwrap_or_default().to_owned()
}

/// What a form asks to change. The hour at which a key ends, which it cannot show, stays.
fn wish(ask: &Ask, key: &KeyRecord) -> Result<Change, Wrong> {
    let new = read::key(&ask.form)?;
    let sorted = |models: &Option<Vec<String>>| {
        let mut models = models.clone();
        if let Some(models) = &mut models {
            models.sort();
        }
        models
    };
    Ok(Change {
        name: Some(new.name),
        class: Some(new.class),
        account: None,
        scopes: Some(new.scopes),
        models: (sorted(&new.models) != sorted(&key.models)).then_some(new.models),
        regions: Some(new.regions),
        region: Some(new.region),
        minimum_level: Some(new.minimum_level),
        zero_retention: Some(new.zero_retention),
        audit: Some(new.audit),
        max_tokens: Some(new.max_tokens),
        requests_per_hour: Some(new.requests_per_hour),
        tokens_per_day: Some(new.tokens_per_day),
        expires_at: (ask.form.get("expires_at") != last_day(key)).then_some(new.expires_at),
    })
}

async fn change(ask: Arc<Ask>) -> Answer {
    let key = changeable(&ask).await?;
    let typed = as_typed(&key);
    if !Drawn::of(&typed).fits(&ask.form) {
        let problem = Some(Problem::new(Drawn::CHANGED));
        let view = KeyChange { problem, ..view(&ask, &key, &typed, None).await? };
        return page_with(StatusCode::CONFLICT, &ask, &view);
    }
    let snapshot = ask.shared.gateway.snapshot().clone();
    let wrong = match wish(&ask, &key) {
        Err(wrong) => wrong,
        Ok(wish) => {
            let admin = ask.admin()?;
            let (id, catalog) = (key.id.as_str(), Some(&snapshot.catalog));
            let done = match wished_move(&ask.form, &key) {
                Some(to) => admin.move_and_change_key(id, to, wish, catalog).await,
                None => admin.change_key(id, wish, catalog).await,
            };
            match done {
                Ok(_) => return see_other(format!("/keys/{}?done=changed", key.id)),
                Err(error) => Wrong::of(error)?,
            }
        }
    };
    let view = view(&ask, &key, &ask.form, Some(&wrong)).await?;
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
}
