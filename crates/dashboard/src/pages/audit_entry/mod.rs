//! One entry of the audit trail, with all that it holds.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_gateway::TrailEntry;
use sluice_gateway::admin::{AdminError, Verb};

use crate::components::{Code, Problem, Text};
use crate::format;
use crate::layout::Head;
use crate::pages::audit::entry::{self, Names};
use crate::pages::audit::thing;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page, page_with, post, sentence};
use view::{Content, Entry, Shown};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/audit/{id}", Access::May(Verb::SeeTrail), |ask| Box::pin(show(ask))),
    post("/audit/{id}/content", Access::May(Verb::ReadContent), |ask| Box::pin(content(ask))),
];

async fn show(ask: Arc<Ask>) -> Answer {
    let view = entry_of(&ask).await?;
    page(&ask, &view)
}

/// The same with what was sent and said. It is a form: whoever reads it leaves an entry.
async fn content(ask: Arc<Ask>) -> Answer {
    let found = ask.admin()?.read_content(None, ask.place("id")).await;
    let mut view = entry_of(&ask).await?;
    match found {
        Ok(content) => {
            view.content = Some(Content::Shown(Shown {
                request: Code::new("What the model was sent", readable(&content.request)),
                answer: content
                    .answer
                    .iter()
                    .map(|part| (part.kind.clone(), Text::from(part.text.as_str())))
                    .collect(),
                is_cut: content.is_cut(),
            }));
            page(&ask, &view)
        }
        Err(AdminError::NoSuchEntry { .. }) => Err(Failure::Missing),
        Err(error @ AdminError::NoContent { .. }) => {
            view.problem = Some(Problem::new(sentence(&error)));
            page_with(StatusCode::NOT_FOUND, &ask, &view)
        }
        Err(error) => Err(error.into()),
    }
}

/// A request as JSON with lines and indents, where it is whole.
fn readable(json: &str) -> String {
    let read = serde_json::from_str::<serde_json::Value>(json).ok();
    read.and_then(|it| serde_json::to_string_pretty(&it).ok()).unwrap_or_else(|| json.to_owned())
}

async fn entry_of(ask: &Ask) -> Result<Entry, Failure> {
    let found = ask.admin()?.trail_entry(None, ask.place("id")).await?;
    let chained = found.ok_or(Failure::Missing)?;
    let names = Names::of(ask).await?;
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
            thing(ask, &it.subject).await?.map(|path| ("What it was done to", path))
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
    let kept = chained.entry.request().and_then(|it| it.content_bytes);
    let may_read = ask.session()?.may_at_all(Verb::ReadContent);
    Ok(Entry {
        head: Head::new(verb)
            .below("Audit", "/audit")
            .stamp(ask.calendar().minute(chained.entry.at())),
        result: entry::result(&chained.entry),
        facts,
        link,
        changes: changes.map(|(name, was, is)| (name.into(), was.into(), is.into())).collect(),
        json: Code::new("As it was written", text),
        content: kept.map(|bytes| Content::Kept {
            size: format::count(bytes),
            path: may_read
                .then(|| format!("/audit/{}/content", Text::from(ask.place("id")).segment())),
        }),
        problem: None,
        csrf: ask.csrf(),
    })
}
