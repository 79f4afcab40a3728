//! One request: what it was, what it cost, why its model was chosen, what the filter did.

mod view;

use std::sync::Arc;

use sluice_core::ids::RequestId;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Holder;
use sluice_core::outcome::Outcome;
use sluice_core::routing::{RouteCandidate, RouteRecord};
use sluice_core::usage::Usage;
use sluice_gateway::admin::{Permissions, Verb};
use sluice_gateway::{
    Assumed, Record, RecordCursor, RecordsFilter, RecordsPage, SeenRecord, Turn, UsageRecord,
};

use crate::charts::{Step, Waterfall};
use crate::components::{Badge, Cost, Count, Figure, Share, Span, State, Text, Tokens};
use crate::format;
use crate::layout::Head;
use crate::pages::organisation::kinds;
use crate::pages::requests::period::Chosen;
use crate::pages::requests::row::outcome_badge;
use crate::web::{Access, Answer, Ask, Failure, Reply, Route, get, page};
use view::{Candidate, Request};

pub(crate) use view::{Route as Why, route as sample_route, samples};

pub(crate) const ROUTES: &[Route] =
    &[get("/requests/{id}", Access::May(Verb::SeeRecords), |ask| Box::pin(show(ask)))];

async fn show(ask: Arc<Ask>) -> Answer {
    let (id, is_file) = match ask.place("id").strip_suffix(".json") {
        Some(id) => (id, true),
        None => (ask.place("id"), false),
    };
    let id = RequestId::from(id);
    let admin = ask.admin()?;
    let records = admin.records(None).await?;
    let found = records.one(&id).await?.ok_or(Failure::Missing)?;
    if is_file {
        return Ok(Reply::json(&found.record));
    }
    let all = RecordsFilter::default();
    let here = || RecordCursor {
        at: found.record.started_at,
        request_id: found.record.request_id.clone(),
    };
    let (newer, older) = (Turn::Newer(here()), Turn::Older(here()));
    let (newer, older) =
        tokio::try_join!(records.page(&all, &newer, 1), records.page(&all, &older, 1))?;
    let neighbour = |page: &RecordsPage| {
        page.records.first().map(|it| format!("/requests/{}", it.record.request_id))
    };
    let permissions = admin.permissions().await?;
    let mut view = view(&ask, &found, &permissions);
    (view.newer, view.older) = (neighbour(&newer), neighbour(&older));
    page(&ask, &view)
}

fn view(ask: &Ask, seen: &SeenRecord, permissions: &Permissions) -> Request {
    let (record, calendar) = (&seen.record, ask.calendar());
    let id = record.request_id.to_string();
    let tokens = tokens(&record.usage);
    Request {
        head: Head::new("Request").below("Requests", "/requests").stamp(format!(
            "{} {}",
            calendar.second(record.started_at),
            calendar.zone_name()
        )),
        outcome: outcome_badge(record.outcome),
        problem: problem(record.outcome).map(str::to_owned),
        tags: tags(ask, seen, permissions),
        figures: vec![
            Figure::new("Cost", Cost(record.cost)).note(billing(record)),
            noted(
                Figure::new("Tokens in", Tokens(record.usage.prompt_tokens())),
                some(record.usage.cache_read).map(|it| format!("{it} from the cache")),
            ),
            noted(
                Figure::new("Tokens out", Tokens(record.usage.completion_tokens())),
                some(record.usage.reasoning).map(|it| format!("{it} of them reasoning")),
            ),
            noted(
                Figure::new("First token", Span(record.time_to_first_token_ms)),
                (record.attempts > 1).then(|| format!("{} attempts", record.attempts)),
            ),
            noted(
                Figure::new("Duration", Span(Some(record.duration_ms))),
                pace(record).map(|it| format!("{it} tokens a second")),
            ),
        ],
        steps: steps(record),
        attempts: u64::from(record.attempts),
        route: record.route.as_ref().map(|route| why(record, route)),
        redactions: record
            .filter
            .redactions
            .iter()
            .map(|(kind, count)| (Text::from(kind.replace('_', " ")), Count(*count)))
            .collect(),
        flags: record.filter.flags.iter().map(|flag| flag.replace('_', " ").into()).collect(),
        injection_permille: record.filter.injection_permille,
        tokens,
        facts: facts(record),
        audit: record.audit_id.clone(),
        may_see_trail: ask.session().is_ok_and(|it| it.may_at_all(Verb::SeeTrail)),
        newer: None,
        older: None,
        id,
    }
}

fn noted(figure: Figure, note: Option<String>) -> Figure {
    match note {
        Some(note) => figure.note(note),
        None => figure,
    }
}

/// A count in words, where there is any.
fn some(count: u64) -> Option<String> {
    (count > 0).then(|| format::count(count))
}

/// The tokens a second of an answer, from its first to its last; `None` where that is too short to
/// tell.
fn pace(record: &UsageRecord) -> Option<String> {
    const LEAST_MS: u64 = 100;
    let took = record.duration_ms.checked_sub(record.time_to_first_token_ms?)?;
    let tokens = record.usage.completion_tokens();
    (record.stream && took >= LEAST_MS && tokens > 1)
        .then(|| format::count(tokens.saturating_mul(1_000) / took))
}

/// What to say of a request that did not end well.
fn problem(outcome: Outcome) -> Option<&'static str> {
    Some(match outcome {
        Outcome::Completed => return None,
        Outcome::Cancelled => "The caller went away before the answer was whole.",
        Outcome::Rejected => {
            "The provider refused the request. Its message is in the caller's answer."
        }
        Outcome::Blocked => "The filter refused the request or stopped its answer.",
        Outcome::UpstreamError => "No provider answered. The next request tries them again.",
        Outcome::UpstreamTimeout => "No provider answered in time.",
        Outcome::InternalError => "Sluice failed. The server's log has the cause.",
    })
}

fn tags(
    ask: &Ask,
    seen: &SeenRecord,
    permissions: &Permissions,
) -> Vec<(&'static str, Text, Option<String>)> {
    let record = &seen.record;
    let like = Chosen::that_has(record.started_at, ask.now);
    let filtered = |name: &str, value: &str| Some(like.with(name, value));
    let key = seen.key_name.clone().unwrap_or_else(|| record.key_id.to_string());
    let mut tags: Vec<(&'static str, Text, Option<String>)> =
        vec![("key", key.into(), filtered("key", record.key_id.as_str()))];
    let company = permissions.organisation();
    // Of somebody whom the reader does not see, nothing is told.
    let seen = |verb, record: Record| {
        let is_seen = permissions.may(verb, &record);
        is_seen.then(|| (Text::from(kinds::name(&record)), kinds::path(&record)))
    };
    let holder = match &record.holder {
        Some(Holder::Person(id)) => company
            .people
            .get(id)
            .and_then(|it| seen(Verb::SeePerson, it.clone().into()))
            .map(|it| ("person", it)),
        Some(Holder::Service(id)) => company
            .services
            .get(id)
            .and_then(|it| seen(Verb::SeeService, it.clone().into()))
            .map(|it| ("service", it)),
        None => None,
    };
    tags.extend(holder.map(|(kind, (name, path))| (kind, name, Some(path))));
    let team = record.team_id.as_ref().and_then(|id| company.teams.get(id));
    let team = team.and_then(|it| seen(Verb::SeeTeam, it.clone().into()).map(|found| (it, found)));
    tags.extend(team.map(|(it, (name, _))| ("team", name, filtered("team", it.id.as_str()))));
    if let Some(app) = &record.app_title {
        tags.push(("app", app.as_str().into(), filtered("app", app)));
    }
    let asked = record.model_asked.as_str();
    tags.push(("asked", asked.into(), filtered("model", asked)));
    if let Some(model) = &record.model {
        tags.push(("served", model.as_str().into(), filtered("model", model.as_str())));
    }
    if let Some(provider) = &record.provider {
        let name = provider.as_str();
        tags.push(("provider", name.into(), filtered("provider", name)));
    }
    tags.push(("level", record.level.as_str().into(), None));
    if let Some(region) = record.region {
        tags.push(("region", region.as_str().into(), None));
    }
    tags
}

/// Where a cost comes from.
fn billing(record: &UsageRecord) -> String {
    match (&record.cost, &record.price_version) {
        (None, _) => "the price is not known".to_owned(),
        (Some(_), Some(version)) => format!("prices of {version}"),
        (Some(_), None) => String::new(),
    }
}

fn steps(record: &UsageRecord) -> Waterfall {
    let step = |name: &str, from_ms, to_ms, state, note: &str| Step {
        name: name.into(),
        from_ms,
        to_ms,
        state,
        note: note.into(),
    };
    let end = record.duration_ms;
    let state = match record.outcome {
        Outcome::Completed => State::Good,
        Outcome::Cancelled => State::Plain,
        Outcome::Rejected | Outcome::Blocked => State::Warn,
        _ => State::Bad,
    };
    let steps = match record.time_to_first_token_ms {
        Some(first) => vec![
            step("first token", 0, first, State::Good, ""),
            step("answer", first.min(end), end, state, if record.stream { "streamed" } else { "" }),
        ],
        None if record.attempts == 0 => Vec::new(),
        None => vec![step("answer", 0, end, state, "")],
    };
    Waterfall { steps }
}

fn tokens(usage: &Usage) -> Vec<(&'static str, Count, Share)> {
    let classes = [
        ("prompt", usage.uncached_input),
        ("from the cache", usage.cache_read),
        ("into the cache", usage.cache_write),
        ("answer", usage.output),
        ("reasoning", usage.reasoning),
    ];
    let all = usage.prompt_tokens().saturating_add(usage.completion_tokens());
    let some = classes.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(class, count)| (class, Count(count), Share(count, all))).collect()
}

fn facts(record: &UsageRecord) -> Vec<(&'static str, Text)> {
    let mut facts: Vec<(&'static str, Text)> = vec![
        ("Streamed", if record.stream { "yes" } else { "no" }.into()),
        ("Token figures", record.usage_source.as_str().into()),
        ("Filter", record.filter.action.as_str().into()),
    ];
    if let Some(url) = &record.app_url {
        facts.push(("Application's address", url.as_str().into()));
    }
    if let Some(tokens) = record.max_tokens_lowered {
        facts.push(("Bound on its answer", format!("{tokens} tokens, lowered by a budget").into()));
    }
    if !record.assumed.is_nothing() {
        let Assumed { tokens, cost } = record.assumed;
        let counted = format!("{tokens} tokens and {cost} US dollars more");
        facts.push(("Counted by limits", counted.into()));
    }
    if record.simulated {
        facts.push(("Simulated", "yes: no provider was paid".into()));
    }
    facts
}

/// Why a router took this model.
pub(crate) fn why(record: &UsageRecord, route: &RouteRecord) -> Why {
    let percent = |share: f64| format!("{:.0} %", share.clamp(0.0, 1.0) * 100.0);
    let agent = if route.agent_step { ", a step of an agent" } else { "" };
    Why {
        router: route.router.as_str().into(),
        policy: route.policy.clone().into(),
        reason: route.reason.replace('_', " ").into(),
        says: format!(
            "Task {} ({}), complexity {:.2}{agent}.",
            route.task_type.replace('_', " "),
            percent(route.certainty),
            route.complexity,
        ),
        candidates: candidates(record, &route.candidates),
    }
}

/// The candidates in the order in which they were tried. Whichever stands before the one that answered
/// was asked and did not; where none answered, as many were asked as there were attempts.
fn candidates(record: &UsageRecord, of: &[RouteCandidate]) -> Vec<Candidate> {
    let is_answer = |it: &RouteCandidate| {
        record.model.as_ref() == Some(&it.model)
            && (it.provider.is_none() || it.provider == record.provider)
    };
    let eligible = || of.iter().filter(|it| it.excluded.is_none());
    let attempts = usize::try_from(record.attempts).unwrap_or(usize::MAX);
    let mut to_fail = match eligible().position(is_answer) {
        Some(place) => place.min(attempts),
        None => attempts,
    };
    let candidate = |it: &RouteCandidate| {
        let has_answered = is_answer(it);
        let fate = match &it.excluded {
            _ if has_answered => Badge::new(State::Good, "answered"),
            Some(why) => Badge::new(State::Warn, why.replace('_', " ")),
            None if to_fail > 0 => {
                to_fail -= 1;
                Badge::new(State::Bad, "did not answer")
            }
            None => Badge::new(State::Plain, "not needed"),
        };
        shown(it, fate, has_answered)
    };
    of.iter().map(candidate).collect()
}

fn shown(candidate: &RouteCandidate, fate: Badge, has_answered: bool) -> Candidate {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to what fits")]
    let whole = |number: f64| number.clamp(0.0, 1e18).round() as u64;
    Candidate {
        model: candidate.model.as_str().into(),
        provider: candidate.provider.as_ref().map(|it| it.as_str().into()),
        quality: u16::try_from(whole(candidate.quality * 1_000.0)).unwrap_or(1_000),
        basis: candidate.basis,
        cost: Cost(candidate.cost_usd.map(|usd| PicoUsd(whole(usd * 1e12)))),
        first_token: Span(Some(whole(candidate.first_token_ms))),
        fate,
        has_answered,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What became of candidates A, B, C (left out) and D, where this one answered after so many
    /// attempts.
    fn fates(answered: Option<&str>, attempts: u32) -> Vec<bool> {
        let candidate = |model: &str, excluded: Option<&str>| {
            json!({
                "model": model, "provider": "lab", "utility": 0.5, "quality": 0.5, "cost_usd": null,
                "first_token_ms": 300.0, "seconds": 1.0, "excluded": excluded,
            })
        };
        let route: RouteRecord = serde_json::from_value(json!({
            "router": "svc/auto", "policy": "balanced", "task_type": "code", "certainty": 1.0,
            "complexity": 0.1, "agent_step": false, "reason": "best",
            "candidates": [
                candidate("a", None), candidate("b", None), candidate("d", None),
                candidate("c", Some("region")),
            ],
        }))
        .unwrap();
        let record: UsageRecord = serde_json::from_value(json!({
            "request_id": "r", "key_id": "k", "account_id": "a", "started_at": 0,
            "model_asked": "svc/auto", "model": answered, "provider": answered.map(|_| "lab"),
            "level": "standard", "stream": false, "usage": Usage::default(),
            "usage_source": "estimated", "duration_ms": 1,
            "outcome": if answered.is_some() { "completed" } else { "upstream_error" },
            "attempts": attempts,
        }))
        .unwrap();
        let shown = candidates(&record, &route.candidates);
        shown.iter().map(|it| it.fate.to_string().contains("did not answer")).collect()
    }

    #[test]
    fn whichever_was_tried_before_the_answer_did_not_answer() {
        assert_eq!(fates(Some("a"), 1), [false, false, false, false]);
        assert_eq!(fates(Some("b"), 2), [true, false, false, false]);
        assert_eq!(fates(Some("d"), 3), [true, true, false, false]);
        assert_eq!(fates(None, 2), [true, true, false, false]);
        // One was tried twice, or the provider of another model answered.
        assert_eq!(fates(Some("a"), 3), [false, false, false, false]);
        assert_eq!(fates(None, 9), [true, true, true, false]);
    }
}
