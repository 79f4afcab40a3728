//! The cards of the routers.

mod view;

use std::sync::Arc;

use sluice_gateway::admin::{RouterView, Verb};
use sluice_gateway::card::{Benchmarks, Card as Found, rests_on};
use sluice_gateway::vendors::Router;

use crate::components::{Badge, Empty, Share, State, Text};
use crate::layout::Head;
use crate::pages::providers::last_day;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page};
use view::{Card, Routers};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] =
    &[get("/routers", Access::May(Verb::SeeModel), |ask| Box::pin(list(ask)))];

/// What stands on a card where nobody says when its members were changed.
const UNKNOWN_DAY: &str = "unknown";
/// The models that a card tells the share of.
const TOP: usize = 4;

async fn list(ask: Arc<Ask>) -> Answer {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let benchmarks = Benchmarks::committed().map_err(|error| Failure::internal(&error))?;
    let session = ask.session()?;
    let mut cards = Vec::new();
    for router in snapshot.catalog.routers() {
        cards.push(card(&ask, router, &benchmarks).await?);
    }
    if session.may_at_all(Verb::SeeRouter) {
        for own in ask.admin()?.routers(&snapshot.given).await? {
            let path = Some(format!("/routers/{}", own.record.id));
            let whose = Some(own.whose_name().into());
            match &own.router {
                Some(router) => {
                    cards.push(Card { path, whose, ..card(&ask, router, &benchmarks).await? });
                }
                None => cards.push(Card { path, whose, ..left_out(&own) }),
            }
        }
    }
    let text = "The routers svc/auto, svc/orbit and svc/nebula are there as soon as a model is.";
    let empty = Empty::new("No routers yet", text);
    let may_add = session.may_at_all(Verb::CreateProvider);
    let view = Routers {
        head: Head::new("Routers").stamp(
            "A router is asked like a model, and picks one for each request by task, speed and \
             complexity.",
        ),
        cards,
        note: benchmarks.note(),
        may_ask: session.may_at_all(Verb::CreateKey),
        may_make: session.may_at_all(Verb::CreateRouter),
        notice: match ask.asked("done") {
            "removed" => Some("The router is removed."),
            _ => None,
        },
        empty: if may_add { empty.action("Connect a provider", "/providers/new") } else { empty },
    };
    page(&ask, &view)
}

async fn card(ask: &Ask, router: &Router, benchmarks: &Benchmarks) -> Result<Card, Failure> {
    let day = router.last_changed.as_deref().unwrap_or(UNKNOWN_DAY);
    let found = Found::of(router, day, benchmarks);
    let state = match found.stability.as_str() {
        "stable" => State::Good,
        "deprecated" => State::Bad,
        _ => State::Warn,
    };
    let policy = router.policy.as_str();
    Ok(Card {
        id: found.id.as_str().into(),
        path: None,
        whose: None,
        benchmark_tenths: found.benchmark_score.map(tenths),
        included_models: found.included_models.iter().map(|id| id.as_str().into()).collect(),
        last_changed: found.last_changed,
        stability: Badge::new(state, found.stability.as_str()),
        pricing_tier: found.pricing_tier.as_str().to_owned(),
        rests_on: rests_on(router),
        policy: policy.to_owned(),
        says: says(policy).to_owned(),
        mix: mix(ask, found.id.as_str(), TOP).await?,
    })
}

/// One that is not served.
fn left_out(own: &RouterView) -> Card {
    Card {
        id: own.record.name.as_str().into(),
        path: None,
        whose: None,
        benchmark_tenths: None,
        included_models: own.spec.members.iter().map(|id| id.as_str().into()).collect(),
        last_changed: UNKNOWN_DAY.to_owned(),
        stability: Badge::new(State::Bad, "not served"),
        pricing_tier: "unknown".to_owned(),
        rests_on: None,
        policy: own.spec.policy.as_str().to_owned(),
        says: own.left_out.clone().unwrap_or_default(),
        mix: Vec::new(),
    }
}

/// Which models answered what a router was asked in the last day, the first `top` of them.
pub(crate) async fn mix(ask: &Ask, id: &str, top: usize) -> Result<Vec<(Text, Share)>, Failure> {
    if !ask.session()?.may_at_all(Verb::SeeRecords) {
        return Ok(Vec::new());
    }
    let parts = ask.admin()?.records(None).await?.answered_by(id, last_day(ask)).await?;
    let all = parts.iter().map(|part| part.figures.requests).sum();
    let named = parts.iter().filter(|part| !part.value.is_empty() && part.value != id);
    let share = |requests| Share(requests, all);
    Ok(named
        .take(top)
        .map(|part| (part.value.as_str().into(), share(part.figures.requests)))
        .collect())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a score of 0 to 100")]
fn tenths(score: f64) -> u64 {
    (score.clamp(0.0, 100.0) * 10.0).round() as u64
}

fn says(policy: &str) -> &'static str {
    match policy {
        "balanced" => "Quality, cost and time.",
        "fastest" => "Cheap and fast first.",
        "strongest" => "Quality first.",
        _ => "By weights, the same for all of a session.",
    }
}
