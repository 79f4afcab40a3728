//! The first page after signing in: what is left to do, and how things are.

mod view;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sluice_core::clock::{DAY_MILLIS, UnixMillis};
use sluice_core::organisation::Holder;
use sluice_gateway::admin::Verb;
use sluice_gateway::catalog::Model;
use sluice_gateway::connect::request;
use sluice_gateway::health::ProviderState;
use sluice_gateway::records::Period;
use sluice_gateway::{KeyRecord, PersonRecord, RecordsFilter, Turn};

use crate::components::{Code, Cost, Count, Figure, Moment, Money, Query, Share, Span};
use crate::format;
use crate::layout::Head;
use crate::pages::keys::{Around, spend};
use crate::pages::requests::FAILED;
use crate::pages::requests::row::RequestRow;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page};
use view::{Home, Matter, OwnKey, Step};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[get("/", Access::SignedIn, |ask| Box::pin(show(ask)))];

/// Rows of the latest requests, and of one's own keys.
const ROWS: usize = 8;

async fn show(ask: Arc<Ask>) -> Answer {
    let session = ask.session()?;
    let admin = ask.admin()?;
    let calendar = ask.calendar();
    let permissions = admin.permissions().await?;
    let around = Around::of(&ask, permissions.organisation());
    let keys = if session.may_at_all(Verb::SeeKey) { admin.keys().await? } else { Vec::new() };
    let uses = admin.last_uses(keys.iter().map(|key| &key.id)).await?;
    let mut rows = Vec::new();
    let mut figures = Vec::new();
    if session.may_at_all(Verb::SeeRecords) {
        let records = admin.records(None).await?;
        let since = UnixMillis(ask.now.0.saturating_sub(DAY_MILLIS));
        let period = Period { since, until: UnixMillis(ask.now.0.saturating_add(1)) };
        let total = records.total(period).await?;
        let latest = records.page(&RecordsFilter::default(), &Turn::First, 8).await?;
        rows = latest.records.iter().map(|it| RequestRow::of(it, &calendar)).collect();
        figures = vec![
            Figure::new("Spend, 24 h", Money(total.cost)).link("/overview?period=24h"),
            Figure::new("Requests", Count(total.requests)).link("/requests"),
            Figure::new("Failed", Share(total.outcomes.errors(), total.requests))
                .link(Query::new("/requests", "").with("outcome", FAILED)),
            Figure::new("First token, p95", Span(total.first_tokens.permille(950))),
        ];
    }
    let has_own = own_keys(&session.person, &keys).next().is_some();
    let spend = if has_own { spend(&ask).await?.unwrap_or_default() } else { HashMap::new() };
    let was_used = !rows.is_empty() || keys.iter().any(|key| uses.contains_key(&key.id));
    let steps = steps(&ask, &keys, was_used)?;
    let view = Home {
        head: Head::new("Home").stamp(session.account().name.clone()),
        // Before the first request there is nothing to be seen.
        figures: if was_used { figures } else { Vec::new() },
        steps,
        matters: matters(&ask, &around, &keys, &session.person),
        may_make: session.may_at_all(Verb::CreateKey),
        keys: own_keys(&session.person, &keys)
            .map(|key| OwnKey {
                id: key.id.to_string(),
                name: key.name.as_str().into(),
                cost: Cost(Some(spend.get(&key.id).copied().unwrap_or_default())),
                last_used: uses.get(&key.id).map(|at| Moment::ago(&calendar, *at)),
            })
            .take(ROWS)
            .collect(),
        rows,
        base_url: ask.shared.deployment.base_url().into(),
    };
    page(&ask, &view)
}

fn own_keys<'k>(
    person: &PersonRecord,
    keys: &'k [KeyRecord],
) -> impl Iterator<Item = &'k KeyRecord> {
    let own = Holder::Person(person.id.clone());
    keys.iter().filter(move |key| key.holder.as_ref() == Some(&own) && key.revoked_at.is_none())
}

/// What is left to do after the first start; nothing once all is done, or for those who may not do it.
fn steps(ask: &Ask, keys: &[KeyRecord], was_used: bool) -> Result<Vec<Step>, Failure> {
    let session = ask.session()?;
    if !session.may_at_all(Verb::CreateKey) {
        return Ok(Vec::new());
    }
    let may_connect = session.may_at_all(Verb::CreateProvider);
    let snapshot = ask.shared.gateway.snapshot().clone();
    // Routers and second names run nowhere themselves: what they stand for counts.
    let runs = |model: &&Arc<Model>| !model.deployments.is_empty();
    let has_provider = snapshot.catalog.models().iter().filter(runs).any(|it| !it.simulated);
    let has_key = keys.iter().any(|key| key.is_valid_at(ask.now));
    let done = [has_provider, has_key, was_used];
    if done.iter().all(|it| *it) {
        return Ok(Vec::new());
    }
    let command = request::first(&ask.shared.deployment.base_url(), "svc/auto");
    let next = done.iter().position(|it| !it);
    let step = |at: usize, title, text: &str, action| Step {
        title,
        text: text.to_owned(),
        is_done: done.get(at).copied().unwrap_or(false),
        action: (next == Some(at)).then_some(action),
        code: None,
    };
    Ok(vec![
        step(
            0,
            "Connect a provider",
            "Sluice found no key in its environment and no model server on this machine. Until then \
             the simulator answers.",
            match may_connect {
                true => ("Connect a provider", "/providers/new"),
                // Operators connect them.
                false => ("See the providers", "/providers"),
            },
        ),
        step(
            1,
            "Make a key",
            "Programs and assistants come with a service key. It is shown once, with the set-up of \
             your client.",
            ("Make key", "/keys/new"),
        ),
        Step {
            code: (next == Some(2)).then(|| Code::new("Command", command)),
            ..step(
                2,
                "Send the first request",
                "This ticks itself off when the request has arrived.",
                ("Open the playground", "/playground"),
            )
        },
    ])
}

/// What somebody should look at.
fn matters(
    ask: &Ask,
    around: &Around<'_>,
    keys: &[KeyRecord],
    person: &PersonRecord,
) -> Vec<Matter> {
    let mut matters = Vec::new();
    let snapshot = ask.shared.gateway.snapshot().clone();
    for (id, provider) in &snapshot.providers {
        let (class, says) = match provider.health.state(ask.now) {
            ProviderState::Failing => ("bad", "does not answer; requests go elsewhere."),
            ProviderState::Resting => ("warn", "asked to be left alone for a while."),
            _ => continue,
        };
        let action = ("Providers", "/providers".to_owned());
        matters.push(Matter { class, what: id.as_str().into(), says: says.to_owned(), action });
    }
    matters.extend(near_limits(ask, around, own_keys(person, keys)));
    let is_due = |key: &&KeyRecord| around.due(key) == crate::components::State::Bad;
    for key in keys.iter().filter(is_due).take(ROWS) {
        matters.push(Matter {
            class: "warn",
            what: key.name.as_str().into(),
            says: format!("has a secret that is older than {} days.", around.rotate_after_days),
            action: ("Rotate", format!("/keys/{}", key.id)),
        });
    }
    matters
}

/// From this share on, in percent, a limit is said to be near.
const NEAR: u64 = 80;

/// The limits of one's own keys, and of what they belong to, that are near. Each is told once, though
/// several keys have it.
fn near_limits<'k>(
    ask: &Ask,
    around: &Around<'_>,
    keys: impl Iterator<Item = &'k KeyRecord>,
) -> Vec<Matter> {
    let mut told = HashSet::new();
    let mut matters = Vec::new();
    for key in keys.take(ROWS) {
        for view in ask.shared.gateway.allowances(key, ask.now) {
            let used = view.used.unwrap_or(0).saturating_add(view.reserved.unwrap_or(0));
            let limit = view.allowance.limit;
            let is_near = u128::from(used) * 100 >= u128::from(limit) * u128::from(NEAR);
            let what = view.allowance.what();
            if !is_near || !told.insert((view.subject.clone(), what)) {
                continue;
            }
            let is_over = used >= limit;
            matters.push(Matter {
                class: if is_over { "bad" } else { "warn" },
                what: around.subject(&view.subject, key),
                says: format!(
                    "has used {} of its {what}{}.",
                    format::percent(used, limit),
                    match (is_over, view.allowance.hard) {
                        (true, true) => ": requests are refused",
                        _ => "",
                    }
                ),
                action: ("See the limit", format!("/keys/{}", key.id)),
            });
        }
    }
    matters
}
