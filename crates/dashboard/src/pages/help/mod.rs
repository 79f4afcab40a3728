//! The reference of this deployment's API and how its clients are set up, out of the tables that the
//! API itself goes by.

mod view;

use std::sync::Arc;

use sluice_gateway::admin::Verb;
use sluice_gateway::connect::{self, CLIENTS, Guide};
use sluice_gateway::reference::{
    self as table, BUDGET, ENDPOINTS, ERRORS, EVERY_RESPONSE, FILTER, Header, ROUTER, SCHEMAS,
};

use crate::components::{Code, Count, Escaped, Markup, Tabs, Text};
use crate::layout::Head;
use crate::pages::key_new::{Client, guide};
use crate::web::{Access, Answer, Ask, Reply, Route, get, page};
use view::{Endpoint, ErrorLine, FieldLine, Help, Object, Part, Reference};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/help", Access::SignedIn, |ask| Box::pin(show(ask))),
    get("/help/clients", Access::SignedIn, |ask| Box::pin(clients(ask))),
    get("/openapi.json", Access::Anyone, |ask| Box::pin(document(ask))),
];

/// So many models are named; their own page has all.
const MOST_MODELS: usize = 60;

/// Where the API is.
struct Place {
    base_url: String,
}

impl Place {
    fn of(ask: &Ask) -> Self {
        Self { base_url: ask.shared.deployment.base_url() }
    }
}

async fn show(ask: Arc<Ask>) -> Answer {
    let gateway = &ask.shared.gateway;
    // What the reader may use, as far as they may ask at all.
    let principal = gateway.principal_of(&ask.session()?.person, None);
    let models = principal.map(|it| gateway.models(&it)).unwrap_or_default();
    let models = models.iter().map(|it| Text::from(it.id.as_str())).collect();
    let may_make = ask.session()?.may_at_all(Verb::CreateKey);
    page(&ask, &reference(&Place::of(&ask), models, may_make))
}

async fn clients(ask: Arc<Ask>) -> Answer {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let base_url = Place::of(&ask).base_url;
    let principal = ask.shared.gateway.principal_of(&ask.session()?.person, None);
    let models = principal.map(|it| ask.shared.gateway.models(&it)).unwrap_or_default();
    let client = |client: &'static connect::Client| {
        let model = connect::suitable_model(&models, client.kind)?;
        let catalog = &snapshot.catalog;
        let deployment = connect::Deployment::of(base_url.clone(), None, model, catalog);
        Some(guide(&Guide::new(client, &deployment)))
    };
    let may_make = ask.session()?.may_at_all(Verb::CreateKey);
    page(&ask, &clients_view(CLIENTS.iter().filter_map(client).collect(), may_make))
}

async fn document(ask: Arc<Ask>) -> Answer {
    Ok(Reply::json(&table::openapi(&Place::of(&ask).base_url)))
}

fn clients_view(clients: Vec<Client>, may_make: bool) -> Help {
    view("/help/clients", Part::Clients(clients), may_make)
}

fn reference(here: &Place, mut models: Vec<Text>, may_make: bool) -> Help {
    let more_models = models.len().saturating_sub(MOST_MODELS) as u64;
    models.truncate(MOST_MODELS);
    let headers = [EVERY_RESPONSE, FILTER, ROUTER, BUDGET];
    let reference = Reference {
        address: Code::new("Base address", here.base_url.as_str()),
        models,
        more_models: Count(more_models),
        endpoints: ENDPOINTS.iter().map(|it| endpoint(it, here)).collect(),
        objects: SCHEMAS.iter().map(object).collect(),
        errors: ERRORS.iter().map(error).collect(),
        headers: headers.iter().copied().flatten().map(header).collect(),
    };
    view("/help", Part::Reference(Box::new(reference)), may_make)
}

fn view(path: &str, part: Part, may_make: bool) -> Help {
    Help {
        head: Head::new("Help")
            .stamp(concat!("The API of this deployment, version ", env!("CARGO_PKG_VERSION"))),
        tabs: Tabs::parts(
            "Parts of the help",
            &[
                ("Reference", "/help"),
                ("Set up a client", "/help/clients"),
                ("openapi.json", "/openapi.json"),
            ],
            path,
        ),
        part,
        may_make,
    }
}

fn endpoint(endpoint: &'static table::Endpoint, here: &Place) -> Endpoint {
    let url = format!("{}{}", here.base_url, endpoint.short_path());
    let mut command = format!("curl \"{url}\" \\\n  -H \"Authorization: Bearer $SLUICE_API_KEY\"");
    if let Some((_, example)) = endpoint.request {
        command.push_str(" \\\n  -H \"Content-Type: application/json\"");
        command.push_str(&format!(" \\\n  -d '{example}'"));
    }
    let parameter = |it: &table::Parameter| (it.name, it.place, prose(it.says));
    Endpoint {
        id: endpoint.id,
        method: endpoint.method,
        path: endpoint.short_path(),
        says: prose(endpoint.summary),
        scope: endpoint.scope.map_or("any", |scope| scope.as_str()),
        parameters: endpoint.parameters.iter().map(parameter).collect(),
        example: Code::new("Request", command),
        request: endpoint.request.map(|(name, _)| name),
        answer: Code::new("200", endpoint.answer.1),
        object: endpoint.answer.0,
        events: endpoint.events,
        errors: endpoint.errors.iter().map(|it| it.code).collect(),
    }
}

fn object(schema: &table::Schema) -> Object {
    let field = |it: &table::Field| FieldLine {
        name: it.name,
        kind: prose(&it.kind.in_words()),
        is_required: it.is_required,
        says: prose(it.says),
    };
    Object {
        name: schema.name,
        says: prose(schema.says),
        fields: schema.fields.iter().map(field).collect(),
    }
}

fn error(line: &table::ErrorLine) -> ErrorLine {
    let table::ErrorLine { status, kind, code, .. } = *line;
    ErrorLine { status, kind, code, when: prose(line.when), fix: prose(line.fix) }
}

fn header(header: &Header) -> (&'static str, Markup) {
    (header.name, prose(header.says))
}

/// A line of the manual as markup: `code`, **bold**, and of links only their words.
fn prose(text: &str) -> Markup {
    let mut written = String::with_capacity(text.len() + 32);
    for (place, part) in text.split('`').enumerate() {
        if place % 2 == 1 {
            written.push_str(&format!("<code>{}</code>", Escaped(part)));
            continue;
        }
        for (place, part) in part.split("**").enumerate() {
            let words = Escaped(&without_links(part)).to_string();
            written.push_str(&if place % 2 == 1 { format!("<b>{words}</b>") } else { words });
        }
    }
    Markup(written)
}

fn without_links(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((words, after)) = link.split_once("](") else { break };
        let Some((_, after)) = after.split_once(')') else { break };
        written.push_str(before);
        written.push_str(words);
        rest = after;
    }
    written + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_manual_becomes_markup() {
        let line = "**extension**: see [a.md](a.md#b), `x < y` & `z`";
        let expected = "<b>extension</b>: see a.md, <code>x &lt; y</code> &amp; <code>z</code>";
        assert_eq!(prose(line), Markup(expected.to_owned()));
        assert_eq!(prose("a list [1] of"), Markup("a list [1] of".to_owned()));
    }
}
