//! One entry of the audit trail, with all that it holds.

mod view;

use std::sync::Arc;

use sluice_gateway::TrailEntry;
use sluice_gateway::admin::Verb;

use crate::components::{Code, Text};
use crate::format;
use crate::layout::Head;
use crate::pages::audit::entry::{self, Names};
use crate::pages::audit::thing;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page};
use view::Entry;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] =
    &[get("/audit/{id}", Access::May(Verb::SeeTrail), |ask| Box::pin(show(ask)))];

async fn show(ask: Arc<Ask>) -> Answer {
    let found = ask.admin()?.trail_entry(None, ask.place("id")).await?;
    let chained = found.ok_or(Failure::Missing)?;
    let names = Names::of(&ask).await?;
    let [actor, surface, verb, subject] = names.words(&chained.entry);
    let mut facts: Vec<(&'static str, Text)> = vec![
        ("Id", chained.entry.audit_id().into()),
        ("Number", format::count(chained.seq).into()),
        ("Time", ask.calendar().exact(chained.entry.at()).into()),
        ("Who", actor.into()),
        ("Where", surface.into()),
        ("What", verb.as_str().into()),
        ("To what", subject.into()),
    ];
    let link = match &chained.entry {
        TrailEntry::Administration(it) => {
            facts.push(("Named", it.subject.as_str().into()));
            thing(&ask, &it.subject).await?.map(|path| ("What it was done to", path))
        }
        TrailEntry::Request(it) => {
            facts.push(("Outcome", it.outcome.as_str().into()));
            facts.push(("Model", it.model.as_ref().map_or("–", |id| id.as_str()).into()));
            facts.push(("Provider", it.provider.as_ref().map_or("–", |id| id.as_str()).into()));
            facts.push(("Region", it.region.map_or("–", |it| it.as_str()).into()));
            facts.push(("Level", it.level.as_str().into()));
            let id = it.request_id.as_ref();
            id.map(|id| ("The request", format!("/requests/{}", Text::from(id.as_str()).segment())))
        }
    };
    facts.push(("Hash", chained.hash.as_str().into()));
    let changes = entry::changes(&chained.entry).into_iter();
    let text = serde_json::to_string_pretty(&entry::json(&chained)).unwrap_or_default();
    let view = Entry {
        head: Head::new(verb)
            .below("Audit", "/audit")
            .stamp(ask.calendar().minute(chained.entry.at())),
        result: entry::result(&chained.entry),
        facts,
        link,
        changes: changes.map(|(name, was, is)| (name.into(), was.into(), is.into())).collect(),
        json: Code::new("As it was written", text),
    };
    page(&ask, &view)
}
