//! Requests as they end.

mod view;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_util::stream;
use sluice_gateway::admin::Verb;
use sluice_gateway::live::LiveEvent;
use sluice_gateway::{RecordsFilter, Sight, Turn};
use tokio::time::{MissedTickBehavior, interval};

use crate::layout::Head;
use crate::pages::requests::period::Chosen;
use crate::pages::requests::row::RequestRow;
use crate::pages::requests::{chips, filter, understood, unless_slow};
use crate::web::{Access, Answer, Ask, Failure, Reply, Route, get, page};
use view::Live;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/live", Access::May(Verb::SeeRecords), |ask| Box::pin(show(ask))),
    get("/live/events", Access::May(Verb::SeeRecords), |ask| Box::pin(events(ask))),
];

/// Rows that are there before the first event.
const ROWS: u32 = 25;
/// How often a silent connection gets a sign of life, and is asked whether it may go on.
const TICK: Duration = Duration::from_secs(10);

async fn show(ask: Arc<Ask>) -> Answer {
    let admin = ask.admin()?;
    let records = admin.records(None).await?;
    let query = understood(&ask.query);
    // What is offered is what the last day had.
    let day = filter(&query, &Chosen::of(&ask, "24h"));
    let facets = unless_slow(records.facets(&day)).await?.unwrap_or_default();
    let latest = records.page(&wanted(&ask), &Turn::First, ROWS).await?;
    let calendar = ask.calendar();
    let session = ask.session()?;
    let view = Live {
        head: Head::new("Live").stamp(format!("{} · requests as they end", session.account().name)),
        source: query.at("/live/events"),
        filters: query.filters("", chips(&query, &facets)),
        may_ask: session.may_at_all(Verb::CreateKey),
        rows: latest.records.iter().map(|it| RequestRow::of(it, &calendar)).collect(),
    };
    page(&ask, &view)
}

/// The rows as server-sent events, for as long as the reader may see them.
async fn events(ask: Arc<Ask>) -> Answer {
    let sight = sight(&ask).await?;
    let feed = ask.shared.gateway.live().listen(sight.clone());
    let wanted = wanted(&ask);
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let start = (ask, feed, ticks, sight, wanted);
    let events = stream::unfold(start, |(ask, mut feed, mut ticks, seen, wanted)| async move {
        let text = loop {
            tokio::select! {
                event = feed.next() => match written(&ask, &wanted, event) {
                    Some(text) => break text,
                    None => continue,
                },
                _ = ticks.tick() => {
                    if ask.shared.gateway.is_draining() || !may_go_on(&ask, &seen).await {
                        return None;
                    }
                    break ": still here\n\n".to_owned();
                }
            }
        };
        Some((Ok::<_, Infallible>(text), (ask, feed, ticks, seen, wanted)))
    });
    Ok(Reply::of("text/event-stream", Body::from_stream(events)))
}

async fn sight(ask: &Ask) -> Result<Sight, Failure> {
    Ok(ask.admin()?.records(None).await?.sight().clone())
}

/// Whether the session is still there, and sees the same. Where it sees something else now, the
/// browser asks anew.
async fn may_go_on(ask: &Ask, seen: &Sight) -> bool {
    let now = ask.shared.clock.now();
    let Some(token) = ask.session_token() else { return false };
    let session = ask.shared.people.peek(token, now).await;
    session.ok().flatten().is_some_and(|session| session.may_at_all(Verb::SeeRecords))
        && sight(ask).await.is_ok_and(|sight| sight == *seen)
}

/// What the address filters by, whenever it was.
fn wanted(ask: &Ask) -> RecordsFilter {
    let query = understood(&ask.query);
    let filter = filter(&query, &Chosen::of(ask, "24h"));
    RecordsFilter { since: None, until: None, id_prefix: None, ..filter }
}

/// An event as it is sent; nothing of a request that is not wanted.
fn written(ask: &Ask, wanted: &RecordsFilter, event: LiveEvent) -> Option<String> {
    Some(match event {
        LiveEvent::Lost(count) => format!("event: lost\ndata: {count}\n\n"),
        LiveEvent::Finished(finished) if !wanted.admits(&finished.record) => return None,
        LiveEvent::Finished(finished) => {
            let calendar = ask.calendar().at(ask.shared.clock.now());
            let row = RequestRow::of_record(&finished.record, &finished.key_name, &calendar);
            // A line of data each: the reader puts them together again.
            let lines: String =
                row.to_string().lines().map(|line| format!("data: {line}\n")).collect();
            format!("event: request\n{lines}\n")
        }
    })
}
