//! What was used, what it cost, and how well it went, beside the period before.

mod view;

use std::sync::Arc;

use sluice_gateway::Figures;
use sluice_gateway::admin::Verb;
use sluice_gateway::health::ProviderState;
use sluice_gateway::records::{Breakdown, Bucket, Overview as Found, Step};

use crate::charts::{Bars, Series, Slot, Unit};
use crate::components::{
    Badge, Cost, Count, Empty, Figure, Money, Query, Share, Span, State, Text, Tokens, Trend,
};
use crate::format::{self, Calendar};
use crate::layout::Head;
use crate::pages::requests::period::Chosen;
use crate::pages::requests::{ANY, FAILED};
use crate::web::{Access, Answer, Ask, Reply, Route, get, page};
use view::{Overview, ProviderLine, UseLine};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/overview", Access::May(Verb::SeeRecords), |ask| Box::pin(show(ask))),
    get("/overview.csv", Access::May(Verb::SeeRecords), |ask| Box::pin(csv(ask))),
];

/// The largest parts of each kind.
const TOP: u32 = 8;
const DEFAULT: &str = "14d";

async fn show(ask: Arc<Ask>) -> Answer {
    let chosen = Chosen::of(&ask, DEFAULT);
    let admin = ask.admin()?;
    let records = admin.records(None).await?;
    let found = records.overview(chosen.period, chosen.step, &ask.zone(), TOP).await?;
    let is_empty = found.total.requests == 0;
    let text = "What your keys use is summed up here: spend, requests, tokens, errors and times.";
    let empty = Empty::new("Nothing was used in this period", text);
    let empty = match ask.session()?.may_at_all(Verb::CreateKey) {
        true => empty.action("Open the playground", "/playground"),
        false => empty,
    };
    let view = Overview {
        head: Head::new("Overview").stamp(chosen.stamp(&ask)?),
        periods: ask.query.periods(DEFAULT),
        figures: figures(&found, &chosen.requests()),
        spend: spend(&ask, &chosen, &found.buckets),
        models: uses(&chosen, "model", &found.by_model),
        keys: uses(&chosen, "key", &found.by_key),
        apps: uses(&chosen, "app", &found.by_app),
        providers: providers(&ask),
        empty: is_empty.then_some(empty),
    };
    page(&ask, &view)
}

async fn csv(ask: Arc<Ask>) -> Answer {
    let chosen = Chosen::of(&ask, DEFAULT);
    let admin = ask.admin()?;
    let records = admin.records(None).await?;
    let filter = chosen.period.filter();
    let buckets = records.usage(&filter, chosen.step, &ask.zone(), ask.now).await?;
    Ok(Reply::csv("overview", spend(&ask, &chosen, &buckets).to_csv()))
}

fn figures(found: &Found, requests: &Query) -> Vec<Figure> {
    let (now, before) = (&found.total, &found.before);
    let series = |of: fn(&Figures) -> u64| -> Vec<u64> {
        found.buckets.iter().map(|bucket| of(&bucket.figures)).collect()
    };
    let change =
        |figure: Figure, of: fn(&Figures) -> u64, is_bad: bool, shown: fn(u64) -> String| {
            let (new, old) = (of(now), of(before));
            if old == 0 {
                return figure;
            }
            let trend = match new.cmp(&old) {
                std::cmp::Ordering::Greater if is_bad => Trend::Worse,
                std::cmp::Ordering::Greater => Trend::Up,
                std::cmp::Ordering::Less if is_bad => Trend::Better,
                std::cmp::Ordering::Less => Trend::Down,
                std::cmp::Ordering::Equal => Trend::Same,
            };
            let share = format::percent(new.abs_diff(old), old);
            figure.change(trend, format!("{share} from {}", shown(old)))
        };
    let p95 = |figures: &Figures| figures.first_tokens.permille(950).unwrap_or(0);
    let errors: fn(&Figures) -> u64 = |it| it.outcomes.errors();
    let money: fn(u64) -> String = |it| format::money(sluice_core::money::PicoUsd(it));
    let tokens: fn(&Figures) -> u64 = |it| it.tokens_in().saturating_add(it.tokens_out());
    let spend = Figure::new("Spend", Money(now.cost)).spark(&series(|it| it.cost.0));
    let spend = match now.unpriced_requests {
        0 => spend,
        some => spend.note(format!("{} without a known price", format::count(some))),
    };
    let count = Figure::new("Requests", Count(now.requests))
        .link(requests.here())
        .spark(&series(|it| it.requests));
    let count = match now.outcomes.summed {
        0 => count,
        some => count.note(format!("{} without records: zero retention", format::count(some))),
    };
    let failed = Figure::new("Failed", Share(errors(now), now.requests))
        .link(requests.with("outcome", FAILED))
        .spark(&series(errors));
    vec![
        change(spend.link(requests.here()), |it| it.cost.0, false, money),
        change(count, |it| it.requests, false, format::count),
        change(
            Figure::new("Tokens", Tokens(tokens(now))).link(requests.here()).spark(&series(tokens)),
            tokens,
            false,
            format::compact,
        ),
        share_changed(failed, (errors(now), now.requests), (errors(before), before.requests)),
        change(
            Figure::new("First token, p95", Span(now.first_tokens.permille(950))),
            p95,
            true,
            format::duration,
        ),
        Figure::new("Filtered", Share(now.filtered_requests, now.requests))
            .link(requests.with("filter", ANY)),
    ]
}

/// How a share of failures was before. The shares are compared: more requests fail more often.
fn share_changed(figure: Figure, now: (u64, u64), before: (u64, u64)) -> Figure {
    if before.1 == 0 {
        return figure;
    }
    // a/b against c/d as a*d against c*b, which is exact.
    let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let trend = match product(now.0, before.1).cmp(&product(before.0, now.1)) {
        std::cmp::Ordering::Greater => Trend::Worse,
        std::cmp::Ordering::Less => Trend::Better,
        std::cmp::Ordering::Equal => Trend::Same,
    };
    figure.change(trend, format!("from {}", format::percent(before.0, before.1)))
}

fn spend(ask: &Ask, chosen: &Chosen, buckets: &[Bucket]) -> Bars {
    let calendar = ask.calendar();
    let slot = |bucket: &Bucket| {
        let (label, name) = labels(&calendar, chosen.step, bucket);
        let link = Chosen::of_bar(&Query::new("/requests", ""), bucket);
        Slot { label, name, values: vec![bucket.figures.cost.0], link: Some(link) }
    };
    Bars {
        id: "spend",
        title: "Spend".to_owned(),
        unit: Unit::Money,
        series: vec![Series { name: "spend".into(), colour: 1 }],
        slots: buckets.iter().map(slot).collect(),
        csv: ask.query.at("/overview.csv"),
        is_low: false,
    }
}

/// What stands below a bar, and in its title.
pub(crate) fn labels(calendar: &Calendar, step: Step, bucket: &Bucket) -> (String, String) {
    match step {
        Step::Hour => {
            let hour = calendar.clock(bucket.since).chars().take(2).collect();
            (hour, calendar.minute(bucket.since))
        }
        Step::Day => {
            let day = calendar.day(bucket.since);
            (day.split(' ').next().unwrap_or_default().to_owned(), day)
        }
    }
}

fn uses(chosen: &Chosen, filter: &str, parts: &Breakdown) -> Vec<UseLine> {
    let query = chosen.requests();
    let some = parts.top.iter().filter(|part| part.figures.requests > 0);
    let line = |part: &sluice_gateway::records::NamedPart| {
        let name = part.name.clone().unwrap_or_else(|| part.value.clone());
        UseLine {
            name: if name.is_empty() { Text::from("none") } else { name.into() },
            link: (!part.value.is_empty()).then(|| query.with(filter, &part.value)),
            requests: Count(part.figures.requests),
            cost: Cost(Some(part.figures.cost)),
            errors: Share(part.figures.outcomes.errors(), part.figures.requests),
        }
    };
    let mut lines: Vec<UseLine> = some.map(line).collect();
    if parts.rest.requests > 0 {
        lines.push(UseLine {
            name: "all others".into(),
            link: None,
            requests: Count(parts.rest.requests),
            cost: Cost(Some(parts.rest.cost)),
            errors: Share(parts.rest.outcomes.errors(), parts.rest.requests),
        });
    }
    lines
}

fn providers(ask: &Ask) -> Vec<ProviderLine> {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let mut lines: Vec<_> = snapshot.providers.iter().collect();
    lines.sort_by_key(|(id, _)| id.as_str().to_owned());
    let line =
        |(id, provider): (&sluice_core::ids::ProviderId, &sluice_gateway::snapshot::Provider)| {
            ProviderLine {
                name: id.as_str().into(),
                state: health_badge(provider.health.state(ask.now)),
            }
        };
    lines.into_iter().map(line).collect()
}

/// How a provider is doing, in its colour.
pub(crate) fn health_badge(state: ProviderState) -> Badge {
    match state {
        ProviderState::Ok => Badge::new(State::Good, "answers"),
        ProviderState::Unknown => Badge::new(State::Plain, "not asked yet"),
        ProviderState::Resting => Badge::new(State::Warn, "resting"),
        ProviderState::Failing => Badge::new(State::Bad, "failing"),
    }
}
