//! Asking a model or router, and seeing what it saw.
//!
//! A question goes the way of every request: through the API ([`crate::web::Api`]), as the person who
//! asks. Nothing of a conversation is kept here; the page brings along what came before.

mod answer;
mod question;
mod view;

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, BodyDataStream};
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use serde_json::{Map, Value};
use sluice_core::chat::Role;
use sluice_gateway::UsageRecord;
use sluice_gateway::admin::Verb;
use sluice_gateway::connect::request;
use sluice_gateway::watch::{Piece, Watch};

use crate::components::{Code, Cost, Count, Span, Text, Tokens};
use crate::pages::request::why;
use crate::pages::requests::row::outcome_badge;
use crate::web::{
    Access, Answer, Ask, Failure, Fields, Largest, Question, Reply, Route, get, page, page_with,
    post,
};
use answer::Said;
use view::{Facts, Kept, Shown, Told, Turn};

pub(crate) use view::samples;

/// Whoever may have keys of their own may ask without one.
const ACCESS: Access = Access::May(Verb::CreateKey);

pub(crate) const ROUTES: &[Route] = &[
    get("/playground", ACCESS, |ask| Box::pin(show(ask))),
    post("/playground", ACCESS, |ask| Box::pin(whole(ask))).up_to(CONVERSATION),
    post("/playground/stream", ACCESS, |ask| Box::pin(stream(ask))).up_to(CONVERSATION),
];

/// A conversation travels with each question, and each of its letters as up to nine bytes. This is room
/// for more than the models take at once.
const CONVERSATION: Largest = Largest {
    bytes: 16 << 20,
    says: "The conversation is too long; shorten the message, or begin a new conversation.",
};

async fn show(ask: Arc<Ask>) -> Answer {
    page(&ask, &question::view(&ask, &Fields::default(), Vec::new(), "").await?)
}

/// A question that the page has sent off, and what is learnt of it.
struct Asked {
    ask: Arc<Ask>,
    body: Map<String, Value>,
    watch: Arc<Watch>,
}

impl Asked {
    async fn send(
        ask: &Arc<Ask>,
        is_stream: bool,
    ) -> Result<(Self, http::Response<Body>), Failure> {
        let principal = question::principal(ask, &ask.form)?;
        let body = question::body(&ask.form, is_stream);
        let watch = Arc::new(Watch::default());
        let question = Question {
            principal,
            body: serde_json::to_vec(&body).unwrap_or_default(),
            address: ask.visitor.address,
            watch: watch.clone(),
        };
        let response = ask.shared.api.chat(question).await;
        Ok((Self { ask: ask.clone(), body, watch }, response))
    }

    /// The turn, when the answer is over.
    fn turn(&self, said: Said) -> Turn {
        let sent = self.watch.sent();
        let answer = match sent {
            Some(sent) => sent.put_back(&said.text).into_iter().map(Shown::of).collect(),
            None => vec![Shown { text: said.text.as_str().into(), kind: None }],
        };
        let answer: Vec<Shown> = answer.into_iter().filter(|it| !it.text.is_empty()).collect();
        let record = self.watch.record();
        let model = match record.and_then(|(record, _)| record.model.as_ref()) {
            Some(model) => model.as_str(),
            None if said.model.is_empty() => self.ask.form.get("model"),
            None => &said.model,
        };
        let base_url = self.ask.shared.deployment.base_url();
        let told = Told {
            seen: sent.into_iter().flat_map(|sent| sent.messages()).map(seen).collect(),
            kept: sent
                .into_iter()
                .flat_map(|sent| sent.kept())
                .map(|it| Kept {
                    kind: it.kind.replace('_', " "),
                    value: it.value.into(),
                    placeholder: it.placeholder.into(),
                    put_back: Count(count(&answer, it.value)),
                })
                .collect(),
            flags: record.map(|(it, _)| flags(it)).unwrap_or_default(),
            route: record.and_then(|(record, _)| Some(why(record, record.route.as_ref()?))),
            code: vec![
                Code::new("curl", request::curl(&base_url, &self.body)),
                Code::new("Python", request::python(&base_url, &self.body)),
            ],
            facts: record.map(|(record, is_kept)| facts(record, is_kept)),
        };
        Turn {
            asked: question::prompt(&self.ask.form).into(),
            model: model.into(),
            thoughts: said.thoughts.into(),
            answer,
            problem: said.problem,
            told: Some(Box::new(told)),
        }
    }
}

/// Without a script: the page with the answer.
async fn whole(ask: Arc<Ask>) -> Answer {
    let (asked, response) = Asked::send(&ask, false).await?;
    let turn = asked.turn(Said::whole(response).await);
    let status = turn.problem.as_ref().map_or(200, |problem| problem.status);
    let mut turns: Vec<Turn> = question::earlier(&ask.form).into_iter().map(earlier).collect();
    // What was not answered stands in its field again.
    let prompt = if turn.goes_on() { String::new() } else { question::prompt(&ask.form) };
    turns.push(turn);
    let view = question::view(&ask, &ask.form, turns, &prompt).await?;
    page_with(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), &ask, &view)
}

/// A turn that the page has brought along.
fn earlier((asked, answered): (&str, &str)) -> Turn {
    Turn {
        asked: asked.into(),
        model: "Answer".into(),
        thoughts: Text::default(),
        answer: vec![Shown { text: answered.into(), kind: None }],
        problem: None,
        told: None,
    }
}

/// With a script, as server-sent events: `text` with more of the answer, each a JSON string, and at
/// the end `turn` with all of it as the page would have it. When the browser leaves, the answer is
/// dropped, and with it the provider's call.
async fn stream(ask: Arc<Ask>) -> Answer {
    let (asked, response) = Asked::send(&ask, true).await?;
    if !response.status().is_success() {
        let last = event("turn", &asked.turn(Said::whole(response).await).to_string());
        return Ok(Reply::of("text/event-stream", last));
    }
    let coming = Coming {
        asked,
        said: Said::default(),
        body: Some(response.into_body().into_data_stream()),
    };
    let events = stream::unfold(coming, |coming| coming.next());
    Ok(Reply::of("text/event-stream", Body::from_stream(events)))
}

/// An answer that is coming.
struct Coming {
    asked: Asked,
    said: Said,
    /// `None`: it is over.
    body: Option<BodyDataStream>,
}

impl Coming {
    async fn next(mut self) -> Option<(Result<String, Infallible>, Self)> {
        let text = match self.body.as_mut()?.next().await {
            Some(Ok(bytes)) => match self.said.more(&bytes) {
                // The provider is silent, or thinks.
                news if news.is_empty() => ": still here\n\n".to_owned(),
                news => event("text", &news),
            },
            _ => {
                self.body = None;
                self.said.end();
                let said = std::mem::take(&mut self.said);
                event("turn", &self.asked.turn(said).to_string())
            }
        };
        Some((Ok(text), self))
    }
}

/// A server-sent event that carries a text as JSON, which is one line.
fn event(name: &str, text: &str) -> String {
    format!("event: {name}\ndata: {}\n\n", Value::from(text))
}

fn seen((role, pieces): (Role, Vec<Piece<'_>>)) -> (&'static str, Vec<Shown>) {
    (role.as_str(), pieces.into_iter().map(Shown::of).collect())
}

impl Shown {
    fn of(piece: Piece<'_>) -> Self {
        Self { text: piece.text.into(), kind: piece.kind }
    }
}

fn count(answer: &[Shown], value: &str) -> u64 {
    answer.iter().filter(|it| it.kind.is_some() && it.text.plain() == value).count() as u64
}

fn flags(record: &UsageRecord) -> Vec<String> {
    record.filter.flags.iter().map(|flag| flag.replace('_', " ")).collect()
}

fn facts(record: &UsageRecord, is_kept: bool) -> Facts {
    Facts {
        outcome: outcome_badge(record.outcome),
        cost: Cost(record.cost),
        tokens_in: Tokens(record.usage.prompt_tokens()),
        tokens_out: Tokens(record.usage.completion_tokens()),
        first_token: Span(record.time_to_first_token_ms),
        duration: Span(Some(record.duration_ms)),
        level: record.level.as_str(),
        request: is_kept.then(|| record.request_id.to_string()),
    }
}
